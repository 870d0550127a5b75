"""Differences of expected log predictive densities, and their standard errors."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from sklearn.utils import Bunch

from skbayesembed import BayesianSGNS, DiSCSenseModel
from skbayesembed.datasets import make_senses, make_sgns
from skbayesembed.metrics import compare_models

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed"),
    pytest.mark.filterwarnings("ignore:The chains are in different modes"),
    pytest.mark.filterwarnings("ignore:.* have a Pareto k above"),
]


def result(values, **more):
    values = np.asarray(values, dtype=float)
    return Bunch(elpd=values.sum(), se=1.0, pointwise=values, **more)


def test_differences_by_hand():
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=50), 0.1 * rng.normal(size=50)
    table = compare_models({"worse": result(a - 0.2 + noise), "better": result(a)})
    assert table.names.tolist() == ["better", "worse"]
    np.testing.assert_allclose(table.difference, [0, noise.sum() - 10])
    np.testing.assert_allclose(table.se_difference, [0, np.sqrt(50 * noise.var(ddof=1))])
    assert "worse" in repr(table) and len(table.to_frame()) == 2
    assert "chains" not in repr(table) and table.converged.tolist() == [None, None]
    assert table.verdict.tolist() == ["best", "worse"] == table.to_frame()["verdict"].tolist()
    assert "sum over 50 observations" in repr(table)
    assert "verdict: 'better' predicts best" in repr(table)


def test_verdicts_know_the_scale():
    a, noise = np.linspace(-2, -1, 50), np.sin(np.arange(50.0))
    near, far = a - 0.02 + 0.01 * noise, a - 1 + 0.01 * noise
    models = {"a": a, "same": a, "noisy": a - 0.02 + 0.2 * noise, "near": near, "far": far}
    table = compare_models({name: result(values) for name, values in models.items()})
    found = dict(zip(table.names.tolist(), table.verdict.tolist(), strict=True))
    others = {"same": "not told apart", "noisy": "not told apart", "near": "alike", "far": "worse"}
    assert found == {"a": "best"} | others
    line = repr(table).partition("verdict: ")[2]
    assert line == (
        "'a' scores best; 'same' and 'noisy' cannot be distinguished from it (differences below "
        "two standard errors); 'near' predicts alike (difference below 4)"
    )
    # means over units: a difference of any size is one where standard errors are small
    units = {n: Bunch(elpd=x.mean(), se=0.1, pointwise=x / 50, scores=x) for n, x in models.items()}
    table = compare_models(units)
    found = dict(zip(table.names.tolist(), table.verdict.tolist(), strict=True))
    assert found == {"a": "best"} | others | {"near": "worse"}
    assert "mean over 50 units" in repr(table) and "below 4" not in repr(table)
    with pytest.raises(ValueError, match="score_units of both"):
        compare_models({"a": units["a"], "near": result(near)})
    # of as many units, and of as many snippets, that are others
    for name in ("labels", "rows"):
        with pytest.raises(ValueError, match="'b' and 'a' must be of the same observations"):
            compare_models(
                {
                    one: Bunch(**units["a"], **{name: np.arange(50) + shift})
                    for one, shift in (("a", 0), ("b", 1))
                }
            )


def test_chains_that_have_not_mixed_are_marked():
    table = compare_models({"a": result([1.0, 2.0]), "b": result([0, 0.5], converged=False)})
    assert (
        repr(table).splitlines()[2].startswith("b") and "not mixed" in repr(table).splitlines()[2]
    )
    assert "leave such models out" in repr(table)
    assert table.to_frame()["converged"].tolist() == [None, False]
    # beside what has not mixed, none predicts best
    assert table.verdict.tolist() == ["not mixed"] * 2 == table.to_frame()["verdict"].tolist()
    assert "predicts best" not in repr(table)
    assert "verdict: none on 'b' (not mixed)" in repr(table)
    more = {"a": result([8.0, 9.0]), "b": result([1, 2.0]), "c": result([0, 1], converged=False)}
    table = compare_models(more)
    assert table.verdict.tolist() == ["best", "worse", "not mixed"]
    assert "predicts best" not in repr(table) and "verdict: worse than 'a', by" in repr(table)
    more["a"]["converged"] = False
    assert compare_models(more).verdict.tolist() == ["not mixed"] * 3


def test_no_verdict_on_estimates_that_are_not_reliable():
    a, b = np.linspace(-2, -1, 50), np.linspace(-3, -2, 50)
    fine, large = {"bad_share": 0.02, "p_loo": 10.0}, {"bad_share": 0.0, "p_loo": 10.1}
    table = compare_models({"a": result(a, **fine), "b": result(b, **fine)})
    assert table.verdict.tolist() == ["best", "worse"] and table.reliable.all()
    # the one that is not reliable is the best, or another
    for one, two in ((fine | {"bad_share": 0.13}, large), (large, fine), (fine, large)):
        table = compare_models({"a": result(a, **one), "b": result(b, converged=False, **two)})
        assert table.reliable.tolist() == [one == fine, two == fine]
        assert table.verdict.tolist() == ["not reliable"] * 2
        assert table.to_frame()["verdict"].tolist() == ["not reliable"] * 2
        text = repr(table)
        names = ["'a'", "'b'"][one == fine : 1 + (two != fine)]
        assert "predicts best" not in text
        assert (
            f"verdict: not reliable: {', '.join(names)} (" in text and "; use score_units" in text
        )
        assert ("bad k above 2 %" in text) == (one["bad_share"] == 0.13)
        assert "more than 0.2 effective parameters per observation)" in text
    few = {"bad_share": 0.004, "p_loo": 1.0}
    text = repr(compare_models({"a": result(a, **few), "b": result(b, **large)}))
    assert "<0.01" in text.splitlines()[1] and "0.00" in text.splitlines()[2]
    # means over units have no Pareto shapes
    units = {
        n: Bunch(elpd=x.mean(), se=0.1, pointwise=x / 50, scores=x)
        for n, x in {"a": a, "b": b}.items()
    }
    assert compare_models(units).reliable.all()


def test_sums_say_what_they_know_of_units():
    found = {"a": result([8.0, 9.0], n_units=7), "b": result([1.0, 2.0], n_units=7)}
    table = compare_models(found)
    assert table.n_units == 7
    assert "snippets treated as independent, although fit was told of 7 units" in repr(table)
    of_pairs = {name: one | {"n_observations": 2.0} for name, one in found.items()}
    text = repr(compare_models({name: Bunch(**one) for name, one in of_pairs.items()}))
    assert "pairs of words treated as independent, although they are of 7 units" in text
    assert "independent" not in repr(compare_models({"a": result([8, 9.0]), "b": result([1, 2.0])}))


def test_models_with_second_modes_are_marked():
    more = {"converged": False, "modes_that_matter": 3}
    found = {
        "a": result([1.0, 2.0]), "b": result([0, 0.5], modes_that_matter=2),
        "c": result([0, 0.25], **more), "d": result([0, 0.1], modes_that_matter=1),
    }  # fmt: skip
    table = compare_models(found)
    assert table.modes_that_matter.tolist() == [None, 2, 3, 1]
    rows = repr(table).splitlines()[1:5]
    assert table.verdict.tolist() == ["best", "one of several modes", "not mixed", "alike"]
    ends = [re.split(r"  +", row)[-1] for row in rows]
    assert ends[1:3] == ["1 of 2 modes", "not mixed, 1 of 3 modes"] and "mode" not in rows[3]
    assert "more than one mode of the posterior matters" in repr(table)
    assert "mode of" not in repr(compare_models({name: found[name] for name in "ad"}))


def test_standard_errors_are_not_rounded_away():
    a = np.linspace(-0.7, -0.6, 40) / 40
    noise = 1e-7 * np.sin(np.arange(40))
    text = repr(compare_models({"a": result(a), "b": result(a - noise)}))
    head, _, row = text.splitlines()[:3]
    assert len(set(re.split(r"  +", head))) == len(re.split(r"  +", head))
    assert float(row.split()[-1]) > 0


def test_a_difference_of_two_standard_errors_is_seen_on_its_side():
    # .0160 and .0104 in print are .02 and .01, as if it were two standard errors
    d = np.array([0.016 - 0.0104 * 20**0.5, 0.016 + 0.0104 * 20**0.5] * 10)
    d = 0.016 + (d - 0.016) * np.sqrt(19 / 20)
    scores = -30.0 + np.sin(np.arange(20.0))
    a, b = (
        Bunch(elpd=x.mean(), se=0.5, pointwise=x / 20, scores=x, scored="snippet")
        for x in (scores, scores - d)
    )
    table = compare_models({"a": a, "b": b})
    assert table.se_difference[1] == pytest.approx(0.0104) and table.verdict[1] == "not told apart"
    row = repr(table).splitlines()[2].split()
    assert row[-2:] == ["-0.016", "0.010"]
    assert "gain" not in repr(table) and np.isnan(table.gain).all()


def test_gain_over_guessing():
    guess = np.log(0.5)
    found = {
        name: Bunch(elpd=guess + gain, se=0.1, pointwise=np.full(4, (guess + gain) / 4),
                    scores=np.full(4, guess + gain), scored="pair of words")
        for name, gain in (("five", 0.003), ("twenty", 0.004))
    }  # fmt: skip
    table = compare_models(found)
    np.testing.assert_allclose(table.gain, [0.004, 0.003])
    assert "(gain over guessing: 0.0040 of 'twenty', of which 'five' has 75 %)" in repr(table)
    for one in found.values():
        one.elpd = one.elpd - 0.01
    assert "(gain over guessing: none)" in repr(compare_models(found))


def test_weights_are_repetitions():
    rng = np.random.default_rng(1)
    a, b, times = rng.normal(size=9), rng.normal(size=9), rng.integers(1, 5, size=9)
    pairs = np.arange(27).reshape(9, 3)
    found = [
        Bunch(elpd=times @ x, se=1.0, pointwise=x, weight=times.astype(float), pairs=pairs)
        for x in (a, b)
    ]
    one = compare_models({"a": found[0], "b": found[1]})
    other = compare_models({n: result(np.repeat(x, times)) for n, x in (("a", a), ("b", b))})
    np.testing.assert_allclose(one.se_difference, other.se_difference)


@pytest.fixture(scope="module")
def pairs():
    return make_sgns(n_words=12, n_components=2, n_pairs=30_000, random_state=0).pairs


@pytest.fixture(scope="module")
def fit(pairs):
    """Fits by their number of components and their seed."""

    @cache
    def fitted(k, seed=0):
        options = {"draws": 60, "warmup": 60, "chains": 2, "prior_precision": 1.0}
        return BayesianSGNS(k, solver="gibbs", random_state=seed, **options).fit(pairs)

    return fitted


def test_pairs_of_words(pairs, fit):
    models = {"one": fit(1), "two": fit(2)}
    found = {name: model.loo(pairs) for name, model in models.items()}
    for one in found.values():
        assert one.elpd == pytest.approx(one.weight @ one.pointwise)
        assert one.weight.sum() == pytest.approx(one.n_observations)
        assert one.pairs.shape == (one.n_evaluated, 3)
    table = compare_models(found)
    assert table.names[0] == "two", "the truth has two components"
    assert table.difference[1] < -2 * table.se_difference[1]
    assert "pointwise" not in models["one"].loo(pairs, pointwise=False)
    # a sample of observations: the same difference, up to its standard errors
    some = {n: m.loo(pairs, pointwise=True, max_pairs=100) for n, m in models.items()}
    sampled = compare_models(some)
    assert sampled.se_difference[1] > table.se_difference[1]
    error = np.hypot(sampled.se_difference[1], table.se_difference[1])
    assert abs(sampled.difference[1] - table.difference[1]) < 4 * error


def test_snippets():
    data = make_senses(60, 25, n_senses=2, n_periods=2, random_state=0)
    found = {}
    for k in (2, 3):
        model = DiSCSenseModel(
            k, solver="gibbs", draws=20, warmup=10, chains=2, n_starts=2, random_state=0
        ).fit(data.counts, times=data.times)
        found[f"{k} senses"] = model.loo(data.counts, times=data.times)
        assert "pointwise" not in model.loo(data.counts, times=data.times, pointwise=False)
        converged = model.posterior_.attrs["converged"]
        assert found[f"{k} senses"].converged == converged
        n_modes = model.posterior_.attrs["modes_that_matter"]
        assert found[f"{k} senses"].modes_that_matter == n_modes
        assert ("not mixed" in repr(found[f"{k} senses"])) == (not converged)
    table = compare_models(found)
    assert table.se_difference[0] == 0 < table.se_difference[1]


def test_refused(pairs, fit):
    with pytest.raises(ValueError, match="two or more names"):
        compare_models({"a": result([1, 2])})
    with pytest.raises(ValueError, match=r"'b' has no densities .* loo\(..., pointwise=True"):
        compare_models({"a": result([1, 2]), "b": Bunch(elpd=1.0, se=1.0)})
    with pytest.raises(ValueError, match="of the same observations"):
        compare_models({"a": result([1, 2]), "b": result([1, 2, 3])})
    model = fit(1)
    few = model.loo(pairs, pointwise=True, max_pairs=50)
    with pytest.raises(ValueError, match="of the same observations"):
        compare_models({"a": few, "b": fit(1, seed=1).loo(pairs, pointwise=True)})
    with pytest.raises(ValueError, match="pointwise must be True or False, got 'yes'"):
        model.loo(pairs, pointwise="yes")


def test_scores_of_other_observations_are_not_compared():
    scores = np.array([-1.0, -2.0])
    words, topics = (
        Bunch(pointwise=scores / 2, scores=scores, labels=np.arange(2), scored=per)
        for per in ("pair of words", "token")
    )
    with pytest.raises(ValueError, match="scored by different observations, 'token' and 'pair of"):
        compare_models({"sgns": words, "lda": topics})


def test_criteria_are_not_mixed():
    pointwise = np.array([-1.0, -2.0, -1.5])
    loo = Bunch(pointwise=pointwise, rows=np.arange(3), p_loo=0.1, elpd=-4.5)
    waic = Bunch(pointwise=pointwise, rows=np.arange(3), p_waic=0.1, elpd=-4.5)
    with pytest.raises(ValueError, match="of one criterion, got loo and waic"):
        compare_models({"two": waic, "three": loo})
