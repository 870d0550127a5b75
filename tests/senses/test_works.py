"""Works as random effects of prevalences: densities, fits, readings, predictions."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import helmert
from scipy.special import log_softmax, logsumexp, softmax

from skbayesembed import DiSCSenseModel, load
from skbayesembed.datasets import make_senses
from skbayesembed.numeric.logistic_normal import mean_softmax
from skbayesembed.posterior.psis import notes_on_parameters, warn_of_tails
from skbayesembed.posterior.result_table import ResultTable
from skbayesembed.posterior.results import About, Result
from skbayesembed.senses.labels import work_indices
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.prevalences import on_prevalences_seen
from skbayesembed.senses.verdicts import (
    note_on_change_seen,
    on_change_seen,
    sentence_on_emergence,
    verdict_on_change,
)
from tests.senses.test_model import (
    KINDS,
    N_SENSES,
    prior_of,
    slow_log_levels,
    slow_log_prior,
    snippets,
    take_out_levels,
)

N_WORKS = 5
DATA = make_senses(
    90, 15, 2, n_periods=2, n_genres=2, unit_sd=1.0, n_units=8, kappa_chi=3.0, random_state=0
)
PLACES = {"times": DATA.times, "genres": DATA.genres}
GIVEN = PLACES | {"units": np.array([f"work {w}" for w in DATA.units])}


def model_of(kind, framed, seed=0):
    """A model whose works have snippets in several periods and genres, and a point."""
    rng = np.random.default_rng(seed)
    data = snippets(seed, labelled=True)
    works = np.concatenate([np.arange(N_WORKS), rng.integers(N_WORKS, size=data.n_snippets)])
    data = replace(data, works=works[: data.n_snippets])
    model = SenseModel(data, N_SENSES, prior_of(kind, unit_scale=0.7), power=0.6)
    arrays = model.draw_prior(rng)
    if framed:
        model.inform(arrays, model.information_at(arrays))
    return model, model.pack(arrays) + 0.3 * rng.normal(size=model.n_parameters)


def slow_log_likelihood(model, arrays):
    """Equation 9 with prevalences of works, a snippet at a time."""
    data, words = model.data, log_softmax(model.word_logits(arrays), axis=2)
    total = 0.0
    for d in range(data.n_snippets):
        t, entries = data.periods[d], slice(data.indptr[d], data.indptr[d + 1])
        logits = arrays["phi"][data.genres[d], t] + arrays["unit_effects"][data.works[d]]
        joint = log_softmax(logits) + words[:, t, data.words[entries]] @ data.counts[entries]
        label = data.labels[d]
        total += joint[label] if label >= 0 else logsumexp(joint)
    return total


@pytest.mark.parametrize(
    "kind",
    [k if k == "learned" else pytest.param(k, marks=pytest.mark.slow) for k in KINDS],
)
def test_gradient_against_finite_differences(kind):
    model, theta = model_of(kind, framed=True)
    gradient, room = np.empty((2, theta.size))
    model.logp_and_grad(theta, gradient)
    for i in range(theta.size):
        up, down = theta.copy(), theta.copy()
        up[i], down[i] = theta[i] + 1e-5, theta[i] - 1e-5
        change = model.logp_and_grad(up, room) - model.logp_and_grad(down, room)
        # the error of the quotient is of the order of the step squared
        assert abs(change / 2e-5 - gradient[i]) < 1e-6 * (1 + abs(gradient[i]))
    arrays = model.unpack(theta)
    np.testing.assert_allclose(model.pack(arrays), theta, atol=1e-10)
    np.testing.assert_allclose(model.log_likelihood(theta), slow_log_likelihood(model, arrays))


@pytest.mark.parametrize(
    ("kind", "framed"), [("disc", True), ("learned", False), ("learned", True)]
)
def test_density_against_dense_jacobians(kind, framed):
    """With normal effects less their level, whose own density integrates to one."""
    model, _ = model_of(kind, framed)
    rng, gaps = np.random.default_rng(1), []
    size = N_WORKS * N_SENSES
    for _ in range(4):
        arrays = model.draw_prior(rng)
        take_out_levels(model, arrays)
        theta = model.pack(arrays)

        def effects(y, theta=theta):
            return model.unpack(np.concatenate([theta[: -size - 1], y, theta[-1:]]))["unit_effects"]

        middle, s = effects(np.zeros(size)), np.exp(arrays["log_unit_sd"])
        moved = np.array([(effects(row) - middle).ravel() for row in np.eye(size)])
        u = arrays["unit_effects"] - arrays["unit_effects"].mean(axis=1, keepdims=True)
        expected = slow_log_prior(model, arrays) + slow_log_levels(model, arrays)
        expected -= 0.5 * np.sum(u**2) / s**2
        expected -= N_WORKS * (N_SENSES - 1) * np.log(s)
        # half-normal, with the Jacobian of the logarithm
        expected += np.log(s) - 0.5 * (s / 0.7) ** 2
        told = np.zeros((N_WORKS, N_SENSES))
        information = model._information_of_counts()["contexts"]
        if framed:
            told = model._works._sums
        else:
            np.add.at(told, model.data.contexts.works, 0.6 * information)
        own = s**-2 + told.mean(axis=1)
        level = np.mean(arrays["unit_effects"] - middle, axis=1)
        expected += np.sum(0.5 * np.log(own) - 0.5 * N_SENSES * own * level**2)
        expected += np.linalg.slogdet(moved)[1] + 0.6 * slow_log_likelihood(model, arrays)
        gaps.append(model.logp_and_grad(theta, np.empty(theta.size)) - expected)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-8)


def test_works_in_one_cell_are_told_of_together():
    """Information about phi: what is left of a dense precision, the effects taken out."""
    model, theta = model_of("disc", framed=False)
    contexts = model.data.contexts
    information = model.information_at(model.unpack(theta))
    found = model._works.about_phi(information, 0.6, model.data.n_periods)
    told, q = 0.6 * information["contexts"], (0.5 * 0.7) ** -2
    for k in range(N_SENSES):
        cells = contexts.genres * model.data.n_periods + contexts.periods
        cross = np.zeros((N_WORKS, found[..., k].size))
        cross[contexts.works, cells] = told[:, k]
        own = np.diag(q + cross.sum(axis=1))
        left = np.diag(cross.sum(axis=0)) - cross.T @ np.linalg.solve(own, cross)
        np.testing.assert_allclose(0.6 * found[..., k].ravel(), np.diag(left), atol=1e-12)


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("sd", [0.0, 0.5, 1.5])
def test_mean_of_softmaxes(n, sd):
    logits = np.linspace(1.0, -2.0, n) * np.ones((2, 1))
    z = np.random.default_rng(0).normal(size=(40_000, 1, n))
    p = softmax(logits + sd * z, axis=2)
    # five standard errors of the mean over z
    error = 5 * p.std(axis=0) / np.sqrt(len(z)) + 1e-7
    assert np.all(np.abs(mean_softmax(logits, sd) - p.mean(axis=0)) < error)


@pytest.mark.parametrize("sd", [0.0, 0.1, 1.0, 5.0])
def test_mean_of_softmaxes_is_exact(sd):
    # three logits, by a sum over their differences, whose trapezoids are exact to all digits
    z = np.linspace(-8.0, 8.0, 401)
    weights = np.exp(-0.5 * (z**2 + z[:, None] ** 2))[..., None]
    weights /= weights.sum()
    at = np.stack(np.broadcast_arrays(z, z[:, None]), axis=-1) @ helmert(3)
    for logits in ([0.0, 0.0, 0.0], [1.0, -2.0, 0.5], [12.0, 0.0, -3.0]):
        expected = (weights * softmax(logits + sd * at, axis=-1)).sum(axis=(0, 1))
        np.testing.assert_allclose(
            mean_softmax(np.array(logits), sd), expected, rtol=1e-5, atol=3e-8
        )


def test_mean_of_softmaxes_far_apart():
    logits = np.array([0.0, -30.0, -800.0])
    # where nothing saturates, a mean of lognormal variables
    lognormal = np.exp(-30.0 + 1.0)
    np.testing.assert_allclose(
        mean_softmax(logits, 1.0), [1.0, lognormal, 0.0], rtol=1e-4, atol=1e-300
    )
    np.testing.assert_array_equal(mean_softmax(np.zeros((2, 1)), 1.0), 1.0)


@pytest.fixture(scope="module", params=["hmc", pytest.param("gibbs", marks=pytest.mark.slow)])
def fitted(request):
    options = {"solver": request.param, "n_starts": 1, "thin": 2}
    if request.param == "gibbs":
        options["thin"] = 8
    model = DiSCSenseModel(2, draws=100, warmup=50, chains=2, random_state=0, **options)
    return model.fit(DATA.counts, **GIVEN)


def test_shares_of_snippets_beside_the_mean_over_units(fitted):
    """Against the probabilities of snippets with units, whose mean is near their share."""
    table = fitted.sense_info(2)
    cells = DATA.genres * 2 + DATA.times
    weights = np.bincount(cells, minlength=4) / cells.size
    seen = fitted.prevalence_info(units="seen").mean.reshape(2, 4)
    np.testing.assert_allclose(table.of_snippets, seen @ weights)
    np.testing.assert_allclose(table.of_snippets.sum(), 1.0)
    given = fitted.predict_proba(DATA.counts, **GIVEN).mean(axis=0)
    assert np.abs(table.of_snippets - given).max() < 0.05
    assert "of snippets" in repr(table) and "share: mean over all units" in repr(table)


def test_shares_of_snippets_leave_out_those_that_tell_nothing(fitted, monkeypatch):
    cells, works = np.array([[30, 0], [0, 10]]), np.array([[0, 0, 0, 30], [1, 1, 2, 10]])
    monkeypatch.setattr(fitted, "_told_cells", cells)
    monkeypatch.setattr(fitted, "_told_works", works)
    seen = fitted.prevalence_info(units="seen").mean
    expected = 0.75 * seen[:, 0, 0] + 0.25 * seen[:, 1, 1]
    np.testing.assert_allclose(fitted.sense_info(2).of_snippets, expected)
    # where none tells anything all count
    monkeypatch.setattr(fitted, "_told_cells", 0 * cells)
    monkeypatch.setattr(fitted, "_told_works", works[:0])
    np.testing.assert_allclose(fitted.sense_info(2).of_snippets.sum(), 1.0)


def test_a_file_with_some_draws_says_so(fitted, tmp_path):
    fitted.save(tmp_path / "few.npz", draws=100)
    few = load(tmp_path / "few.npz")
    for item in ("largest R-hat", "smallest effective sample size"):
        assert few.report().find(item) == fitted.report().find(item)
    assert few.report().find("draws").endswith("100 in each of 2 chains; 50 of them are kept, "
                                               "diagnostics are of all")  # fmt: skip
    assert "kept" not in fitted.report().find("draws")
    for model, thinned in ((fitted, False), (few, True)):
        for table in (
            model.prevalence_info(), model.prevalence_change(0, 0, 1), model.sense_words(2),
            model.sense_info(2), model.emergence(0, 0.5), model.posterior_.summary(),
        ):  # fmt: skip
            assert ("(from the draws that were kept" in repr(table)) == thinned
    # a second time the facts are of all draws still
    few.posterior_.attrs["all_rhat_of"] = "as it was"
    few.save(tmp_path / "again.npz", draws=100)
    assert load(tmp_path / "again.npz").report().find("largest R-hat") == "as it was"


def test_tables_of_words_do_not_allow_for_units(fitted):
    note = "(intervals are of the model alone: words of one unit are treated as independent)"
    for table in (
        fitted.sense_given_word(0), fitted.word_trajectory(0), fitted.sense_words(2),
    ):  # fmt: skip
        assert note in repr(table)
    for units in ("all", "seen", "new"):
        assert note not in repr(fitted.prevalence_change(0, 0, 1, units=units))
    named = copy.copy(fitted)
    named.units_name_ = "author"
    assert "words of one author are" in repr(named.sense_given_word(0))
    assert "(of 8 authors)" not in repr(named.sense_given_word(0))


def test_too_many_effective_parameters_are_told(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fitted.loo(DATA.counts, **GIVEN)
    told = "effective parameters per snippet, above 0.2: elpd is not reliable" in repr(found)
    assert told == (found.p_loo > 0.2 * found.n_snippets)
    with pytest.warns(UserWarning, match="otherwise use score"):
        warn_of_tails("snippets", 0.7, "use score")
    with pytest.warns(UserWarning, match="whatever the number of draws: use score") as caught:
        warn_of_tails("snippets", 0.7, "use score", hopeless=True)
    assert "More draws" not in str(caught[0].message)
    (line,) = notes_on_parameters(120.0, 90, "snippet", "use score")
    assert line.startswith("(1.3 effective parameters per snippet") and "use score)" in line
    assert notes_on_parameters(18.0, 90, "snippet", "use score") == []


def test_what_is_recorded(fitted):
    posterior = fitted.posterior_
    assert posterior["unit_effects"].shape == (2, 100, np.unique(DATA.units).size, 2)
    assert posterior["unit_sd"].shape == (2, 100)
    assert fitted.units_.tolist() == sorted(set(GIVEN["units"].tolist()))
    phi, sd = posterior.flat("phi"), posterior.flat("unit_sd")
    expected = mean_softmax(phi[7], sd[7])
    np.testing.assert_allclose(posterior.flat("prevalence")[7], expected, atol=1e-12)
    np.testing.assert_allclose(fitted.prevalence_, posterior.mean("prevalence").transpose(2, 0, 1))


def test_snippets_are_read_by_their_works(fitted):
    """Of a work seen by its own prevalences, of others by the mean over works."""
    model, posterior = fitted, fitted.posterior_
    phi, works, mean = (posterior.flat(name) for name in ("phi", "unit_effects", "prevalence"))
    units = GIVEN["units"].copy()
    units[::3] = "another"
    place = {unit: i for i, unit in enumerate(model.units_.tolist())}
    chi, theta = posterior.flat("chi"), posterior.flat("theta")
    words = log_softmax(chi[:, :, None] + theta[:, None], axis=3)
    expected, total = [], []
    for d, (g, t, unit) in enumerate(zip(DATA.genres, DATA.times, units, strict=True)):
        w = place.get(unit)
        log_prior = np.log(mean[:, g, t])
        if w is not None:
            log_prior = log_softmax(phi[:, g, t] + works[:, w], axis=1)
        joint = log_prior + words[:, :, t] @ DATA.counts[[d]].toarray()[0]
        expected.append(softmax(joint, axis=1).mean(axis=0))
        total.append(logsumexp(logsumexp(joint, axis=1)) - np.log(len(joint)))
    there = PLACES | {"units": units}
    np.testing.assert_allclose(model.predict_proba(DATA.counts, **there), expected, rtol=1e-8)
    found = model.score_samples(DATA.counts, **there)
    has_words = np.asarray(DATA.counts.sum(axis=1)).ravel() > 0
    np.testing.assert_allclose(found[has_words], np.array(total)[has_words], rtol=1e-8)
    new = ["another"] * len(units)
    without = model.predict_proba(DATA.counts, **PLACES)
    same = model.predict_proba(DATA.counts, **PLACES, units=new)
    np.testing.assert_allclose(same, without, rtol=1e-12)


def test_left_out_snippets_sum_to_the_likelihood(fitted):
    pytest.importorskip("arviz_base")
    tree = fitted.to_datatree(DATA.counts, **GIVEN)
    sums = tree["log_likelihood"]["snippets"].sum("snippet").values
    np.testing.assert_allclose(sums, fitted.posterior_.stats["log_likelihood"], rtol=1e-8)
    assert tree["posterior"]["unit_effects"].dims == ("chain", "draw", "unit", "sense")
    with pytest.raises(ValueError, match="X, times, genres and units must be the data"):
        fitted.loo(DATA.counts, **PLACES, units=GIVEN["units"][::-1])
    with pytest.raises(ValueError, match="fit was given units, .* of them: pass units= here too"):
        fitted.loo(DATA.counts, **PLACES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of Pareto shapes
        found = fitted.loo(DATA.counts, **GIVEN)
    assert found.n_units == fitted.units_.size
    assert f"although fit was told of {found.n_units} units" in repr(found)


def test_readings_say_whose_prevalences_they_are(fitted):
    posterior = fitted.posterior_
    phi, works, sd = (posterior.flat(name) for name in ("phi", "unit_effects", "unit_sd"))
    seen = fitted.prevalence_info(units="seen")
    here = (DATA.genres == 1) & (DATA.times == 0)
    index = np.searchsorted(fitted.units_, GIVEN["units"][here])
    expected = softmax(phi[:, None, 1, 0] + works[:, index], axis=2).mean(axis=(0, 1))
    np.testing.assert_allclose(seen.mean[:, 1, 0], expected, rtol=1e-10)
    new, mean = fitted.prevalence_info(units="new"), fitted.prevalence_info()
    assert mean.source == f"{seen.source}, other units" and "units other than those seen" in repr(
        mean
    )
    assert "independent" not in repr(mean)
    z = np.random.default_rng(0).normal(size=(200, *phi[:, 0, 0].shape))
    draws = softmax(phi[:, 1, 1] + sd[:, None] * z, axis=2)[..., 0]
    inside = np.mean((draws >= new.interval[0, 1, 1, 0]) & (draws <= new.interval[0, 1, 1, 1]))
    # of the draws of the posterior, each with new effects of its own
    assert abs(inside - 0.9) < 0.03
    np.testing.assert_allclose(new.mean, mean.mean, atol=0.02)
    assert (np.diff(new.interval)[..., 0] > np.diff(mean.interval)[..., 0]).all()
    assert "in one new unit" in repr(new)
    works = [[np.unique(GIVEN["units"][(DATA.genres == g) & (DATA.times == t)]).size
              for t in range(2)] for g in range(2)]  # fmt: skip
    assert new.n_units.tolist() == mean.n_units.tolist() == works and " units\n" in repr(new)
    change = fitted.prevalence_change(0, 0, 1, genre=fitted.genres_[1])
    assert change.units == tuple(works[1]) and f" from {works[1][0]} unit" in change.sentence
    named = copy.copy(fitted)
    named.units_name_ = "author"
    assert named.prevalence_change(0, 0, 1).sentence.count(" authors in ") == 2
    named.units_name_ = "oeuvre"
    assert named.prevalence_change(0, 0, 1).sentence.count(" units (oeuvre) in") == 1
    named.units_name_ = "author"
    said = named.prevalence_info().sentences.values()
    assert all(" snippets by " in text and " author" in text for text in said)
    both = named.prevalence_info(), named.prevalence_change(0, 0, 1)
    assert all(f"(of {fitted.units_.size} authors)" in repr(found) for found in both)
    both = [np.unique(GIVEN["units"][DATA.times == t]).size for t in range(2)]
    assert fitted.prevalence_change(0, 0, 1).units == tuple(both)
    assert "mean over all units" in repr(mean)
    np.testing.assert_array_equal(fitted.prevalence_interval(units="new"), new.interval)
    np.testing.assert_allclose(mean.seen, seen.mean, rtol=1e-12)
    assert seen.seen is None and not new.seen_outside.any() and "(by unit" not in repr(new)
    np.testing.assert_allclose(mean["seen"], seen.mean.ravel())
    # each unit of a cell counts once, whatever its snippets
    alike = mean.seen_alike
    for g in range(2):
        for t in range(2):
            cell = (DATA.genres == g) & (DATA.times == t)
            numbers = [
                np.flatnonzero(fitted.units_ == u)[0] for u in np.unique(GIVEN["units"][cell])
            ]
            phi, effects = (fitted.posterior_.flat(name) for name in ("phi", "unit_effects"))
            by_unit = softmax(phi[:, None, g, t] + effects[:, numbers], axis=-1)
            np.testing.assert_allclose(alike[:, g, t], by_unit.mean(axis=(0, 1)), rtol=1e-6)
    np.testing.assert_allclose(change.seen, seen.mean[0, 1, 1] - seen.mean[0, 1, 0])
    weights = np.bincount(DATA.genres) / len(DATA.genres)
    np.testing.assert_allclose(
        fitted.prevalence_change(0, 0, 1).seen, weights @ (seen.mean[0, :, 1] - seen.mean[0, :, 0])
    )


def of_units(fitted, g, t):
    """Numbers of the units of a cell, snippets of each, and their mean prevalences of sense 0."""
    cell = fitted._works[(fitted._works[:, 0] == g) & (fitted._works[:, 1] == t)]
    phi, effects = (fitted.posterior_.flat(name) for name in ("phi", "unit_effects"))
    own = softmax(phi[:, None, g, t] + effects[:, cell[:, 2]], axis=-1)[..., 0].mean(axis=0)
    return cell[:, 2], cell[:, 3], own


def test_units_seen_that_lie_outside_the_interval_are_told_of(fitted):
    """Of three units and more, in the table and in the sentence."""
    table = fitted.prevalence_info()
    inside = replace(table, seen_alike=table.mean, n_units=np.full((2, 2), 9))
    assert not inside.seen_outside.any()
    seen, n_units = table.mean.copy(), np.array([[9, 9], [2, 3]])
    sides = np.array([
        [np.sign(of_units(fitted, g, t)[2].mean() - table.mean[0, g, t]) for t in range(2)]
        for g in range(2)
    ])  # fmt: skip
    seen[0] = np.where(sides > 0, table.interval[0, ..., 1] + 0.1, table.interval[0, ..., 0] - 0.1)
    seen[1, 0, 0] = np.nan
    told = replace(table, seen_alike=seen, n_units=n_units)
    expected = np.zeros((2, 2, 2), bool)
    expected[0] = n_units >= 3
    np.testing.assert_array_equal(told.seen_outside, expected)
    assert not replace(told, n_draws=1).seen_outside.any()
    # of two genres
    assert len(table.sentences) == table.mean.size == 8
    key = 0, table.genres[1], table.periods[0]
    assert table.sentences[key].startswith(
        f"The prevalence of sense 0 in {key[1]} in {key[2]} (mean over all units) is "
        f"{table.mean[0, 1, 0]:.2f} (90% interval "
    )
    # a mean that its interval does not hold is told of, and no other
    told_of = "the mean is outside the interval, which holds the most probable values"
    outside = table.mean.copy()
    outside[0, 0, 0] = table.interval[0, 0, 0, 1] + 0.01
    assert told_of not in repr(table) and f"in 1 row {told_of}" in repr(
        replace(table, mean=outside)
    )
    line, *of_rows = on_prevalences_seen(fitted, told)
    assert "outside the interval in 3 rows with 3 units or more" in line and "report both" in line
    # rows are marked, and the units named that are furthest on the side of the mean by unit
    assert len(of_rows) == 3 and repr(told).count("  *  ") == 3 and "*" not in repr(inside)
    assert told.to_string(2).count("  *  ") == 1
    numbers, counts, own = of_units(fitted, 0, 0)
    side, mean = sides[0, 0], table.mean[0, 0, 0]
    n_named, first = np.sum(side * (own - mean) > 0), (side * own).argmax()
    assert (
        f"(sense 0 in {table.genres[0]} in {table.periods[0]}: of {own.size} units, furthest "
        f"{'above' if side > 0 else 'below'} the mean over all of {mean:.2f} "
        f"{'is' if n_named == 1 else 'are'} {fitted.units_[numbers[first]]} "
        f"{own[first]:.2f} ({counts[first]} snippet"
    ) in of_rows[0]
    # none on the other side of the mean
    assert of_rows[0].count(" snippet") == min(n_named, 3)
    assert on_prevalences_seen(fitted, inside) == []
    assert "  -  " in repr(told)
    change = fitted.prevalence_change(0, 0, 1)
    of_seen = fitted.prevalence_change(0, 0, 1, units="seen")
    np.testing.assert_allclose(change.seen, of_seen.mean)
    np.testing.assert_allclose(change.seen_interval, of_seen.interval)
    assert change.seen_verdict == of_seen.verdict and "seen_verdict" not in repr(change)
    assert ("In the units seen, with each snippet counted once," in change.sentence) == (
        change.seen_verdict != change.verdict
    )
    for verdict, seen_verdict, said in (
        ("not decided", "fell", "it fell: the change is {}."),
        ("fell", "not decided", "the change is {}, and its sign is not decided."),
        ("fell", "fell", ""),
    ):  # fmt: skip
        change.update(
            verdict=verdict, seen_verdict=seen_verdict, seen=-0.2, seen_alike=0.0, snippets=(30, 30)
        )
        change.update(seen_interval=np.array([-0.35, -0.09]), interval=np.array([-0.3, 0.1]))
        change.seen_prob_increase = 0.01
        text = on_change_seen(change)
        shown = said.format("-0.20 (90% interval -0.35 to -0.09)")
        whole = f" In the units seen, with each snippet counted once, {shown}"
        whole += " With each of them counted once, it is 0.00: those with most snippets differ "
        whole += "from the rest, and the first interval is about units as they might be."
        assert text == (whole if said else "")
    change.update(verdict="not decided", seen_verdict="fell", seen_alike=-0.2)
    assert "The two differ since the first interval is about units" in on_change_seen(change)
    change.update(verdict="fell", seen_verdict="fell", seen_prob_increase=0.04)
    assert ResultTable(change)["seen_verdict"].tolist() == ["probably fell"]
    for n, seen, said in ((3, 2.0, True), (2, 2.0, False), (3, np.nan, False), (3, 0.0, False)):
        change.update(seen=seen, seen_alike=seen, units=(9, n), interval=np.array([-0.5, 0.5]))
        text = on_change_seen(change)
        assert text == (
            " In the units seen, with each of them counted once, the change is +2.00, outside the "
            "interval."
            if said
            else ""
        )
        notes = note_on_change_seen(fitted, change)
        assert [n.endswith("report both)") for n in notes] == [True] * said


def test_shares_of_works_are_predicted(fitted):
    """Against snippets drawn one by one."""
    units = np.array(["new"] * 30 + ["work 0"] * 10 + ["other"])
    g, t = (int(x[GIVEN["units"] == "work 0"][0]) for x in (DATA.genres, DATA.times))
    there = {"times": np.full(41, t), "genres": np.full(41, g), "units": units}
    table = fitted.predict_shares(**there, prob=0.8)
    assert table.groups.tolist() == ["new", "other", "work 0"]
    assert table.n_snippets.tolist() == [30, 1, 10]
    np.testing.assert_array_equal(fitted.predict_shares(**there).draws, table.draws)
    posterior, rng = fitted.posterior_, np.random.default_rng(0)
    phi, works, sd = (posterior.flat(name) for name in ("phi", "unit_effects", "unit_sd"))
    w = fitted.units_.tolist().index("work 0")
    n, repeats = len(phi), 20
    for group, size in ((0, 30), (1, 1), (2, 10)):
        effect = works[:, w] if group == 2 else sd[:, None] * rng.normal(size=(repeats, n, 2))
        p = softmax(phi[:, g, t] + effect, axis=-1)[..., 0] * np.ones((repeats, 1))
        counted = rng.binomial(size, p) / size
        # draws are independent given those of the posterior, which both have in common
        error = 5 * counted.std() / np.sqrt(n)
        assert abs(table.draws[:, group, 0].mean() - counted.mean()) < error
        assert abs(table.draws[:, group, 0].std() - counted.std()) < 0.15 * counted.std() + 0.01
    cells = fitted.predict_shares(**PLACES)
    assert cells.n_snippets.sum() == 90
    assert len(cells.groups) == 4
    by = fitted.predict_shares(**GIVEN, by=DATA.times)
    assert by.mean.shape == (2, 2)


def test_samples_know_of_works(fitted):
    w = int(np.argmax(np.abs(fitted.posterior_.mean("unit_effects")[:, 0])))
    unit = fitted.units_[w]
    here = np.flatnonzero(GIVEN["units"] == unit)[0]
    place = {"times": int(DATA.times[here]), "genres": int(DATA.genres[here])}
    phi, works = fitted.posterior_.flat("phi"), fitted.posterior_.flat("unit_effects")
    own = softmax(phi[:, place["genres"], place["times"]] + works[:, w], axis=1).mean(axis=0)
    new = fitted.prevalence_[:, place["genres"], place["times"]]
    for given, expected in (({"units": unit}, own), ({}, new)):
        _, senses = fitted.sample(2000, **place, **given, random_state=0)
        # four standard errors
        assert abs(np.mean(senses == 0) - expected[0]) < 4 * np.sqrt(0.25 / 2000)


def test_a_saved_model_knows_its_works(fitted, tmp_path):
    fitted.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.units_.tolist() == fitted.units_.tolist()
    for which in ("seen", "new"):
        np.testing.assert_array_equal(
            again.prevalence_interval(units=which), fitted.prevalence_interval(units=which)
        )


@pytest.mark.parametrize("solver", ["vi", pytest.param("laplace", marks=pytest.mark.slow), "map"])
def test_other_solvers_agree(fitted, solver):
    """Within a posterior deviation or so: an approximation, and a point."""
    model = DiSCSenseModel(2, solver=solver, n_starts=1, draws=100, random_state=0)
    with pytest.warns(UserWarning, match=f"solver='{solver}' makes the differences between units"):
        model.fit(DATA.counts, **GIVEN)
    gap = np.abs(model.prevalence_ - fitted.prevalence_)
    assert (gap < 2 * fitted.posterior_["prevalence"].std(axis=(0, 1)).transpose(2, 0, 1)).all()


@pytest.mark.parametrize(
    ("options", "given", "match"),
    [
        (
            {"solver": "gibbs", "kernel": "uniform"},
            {},
            "kernel='uniform' is not available with units, .* use 'metropolis' or 'polya-gamma'",
        ),
        (
            {"solver": "gibbs", "kernel": "approximate"},
            {},
            "kernel='approximate' is not available with units",
        ),
        (
            {"kernel": "blockwise"},
            {},
            "kernel='blockwise' is not available with units, .* use 'hmc' or 'nuts'",
        ),
        ({}, {"units": ["one"] * 90}, "units must be two or more, got 1"),
        ({}, {"units": ["one"] * 3}, "units must have one label for each of the 90 snippets"),
    ],
)
def test_what_fit_refuses(options, given, match):
    with pytest.raises(ValueError, match=match):
        DiSCSenseModel(2, **options).fit(DATA.counts, **GIVEN | given)


def test_what_is_refused(fitted):
    plain = DiSCSenseModel(2, solver="map", n_starts=1, random_state=0).fit(DATA.counts, **PLACES)
    with pytest.raises(ValueError, match="units='new' needs a fit that was told of units"):
        plain.prevalence_info(units="new")
    with pytest.raises(ValueError, match="units must be None, as the estimator was fitted without"):
        plain.predict(DATA.counts, **GIVEN)
    with pytest.raises(ValueError, match="units must be"):
        fitted.prevalence_interval(units="old")
    with pytest.raises(ValueError, match="units need times of the snippets, too"):
        fitted.predict(DATA.counts, units=GIVEN["units"])
    with pytest.raises(ValueError, match="units must be labels like those of fit"):
        fitted.predict(DATA.counts, **PLACES, units=DATA.units)
    with pytest.raises(ValueError, match="times, genres, units or by must be given"):
        fitted.predict_shares()
    with pytest.raises(ValueError, match="times must"):
        fitted.predict_shares(times=[[1], [1, 2]])
    with pytest.raises(ValueError, match="units must have an entry for every snippet, got 'work 1"):
        fitted.predict_shares(units="work 1")
    with pytest.raises(ValueError, match="genres must be given"):
        fitted.predict_shares(times=DATA.times)
    # labels of works group snippets also where the model knows of none
    assert plain.predict_shares(**GIVEN).groups.tolist() == fitted.units_.tolist()


def test_changes_of_the_units_seen(fitted):
    """Of prevalences in the units that were given, whatever their number."""
    info = fitted.prevalence_info(units="seen")
    change = fitted.prevalence_change(0, 0, 1, genre=0, units="seen")
    np.testing.assert_allclose(change.mean, info.mean[0, 0, 1] - info.mean[0, 0, 0])
    assert "sense 0 in the units seen" in change.sentence and "seen" not in change
    assert "other units" not in repr(change)
    assert "in the units seen" in repr(fitted.emergence(0, 0.5, units="seen"))
    with pytest.raises(ValueError, match="units must be one of 'all'"):
        fitted.prevalence_change(0, 0, 1, units="some")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cells_without_units_are_told_of():
    """Figures of the units seen are means over all units there, and say so."""
    kept = (DATA.times == 0) | (DATA.genres == 0)
    model = DiSCSenseModel(2, n_starts=1, draws=60, warmup=40, chains=1, thin=1, random_state=0)
    model.fit(DATA.counts[kept], **{name: np.asarray(x)[kept] for name, x in GIVEN.items()})
    note = "(where no unit was seen, figures are means over all units)"
    seen, over_all = (model.prevalence_info(units=units) for units in ("seen", "all"))
    assert note in repr(seen) and note not in repr(over_all)
    np.testing.assert_allclose(seen.mean[:, 1, 1], over_all.mean[:, 1, 1])
    # an answer over all genres has the weight of each in every period
    for genre in (0, 1, None):
        change = model.prevalence_change(0, 0, 1, genre=genre, units="seen")
        assert (note in repr(change)) == (genre != 0)
        first = model.emergence(0, 0.5, genre=genre, units="seen")
        assert (note in repr(first)) == (genre != 0)


def test_few_snippets_and_few_units_are_no_data(fitted):
    change = fitted.prevalence_change(0, 0, 1)
    for n, n_units, works, few in (
        (30, 3, "all", False), (9, 3, "all", True), (30, 2, "all", True), (30, 2, "seen", False),
        (9, 2, "seen", True),
    ):  # fmt: skip
        change.update(snippets=(30, n), units=(5, n_units))
        assert (verdict_on_change(change, works) == "no data") == few, (n, n_units, works)
    assert verdict_on_change(SimpleNamespace(source="unmixed, other units"), "all") == "not mixed"
    table = fitted.prevalence_info()
    some = replace(table, n_snippets=np.array([[9, 30], [30, 30]]), n_units=np.full((2, 2), 3))
    np.testing.assert_array_equal(some.few, [[True, False], [False, False]])
    assert replace(some, n_units=np.full((2, 2), 2)).few.all()
    assert "fewer than 10 snippets or 3 units in 1 cell of genre and period, " in repr(some)


def test_emergence_in_a_new_unit_of_a_point_estimate():
    """New units vary, so that some of them may never have the sense where most do."""
    entries = {"proba": np.array([0.1, 0.6]), "never": 0.3, "periods": [1810, 1820]}
    about = About("first period in which the prevalence is above 0.2", source="point")
    assert "above 0.2 is 1820 (a" in sentence_on_emergence(Result(entries, about))
    entries |= {"proba": np.array([0.1, 0.1]), "never": 0.8}
    assert "above 0.2 does not exist" in sentence_on_emergence(Result(entries, about))


@pytest.mark.parametrize(
    "given, other",
    [
        (np.array(["2001-01-01", "2001-01-02"], dtype="datetime64[D]"), ["2001-01-01", "x"]),
        (["2001-01-01", "x"], np.array(["2001-01-01", "2001-01-02"], dtype="datetime64[D]")),
        (np.array([True, False]), ["True", "False"]),
    ],
)
def test_labels_of_another_kind_are_refused(given, other):
    """They would be new units, or could not be compared."""
    model = SimpleNamespace(units_=np.unique(given))
    assert sorted(work_indices(model, np.asarray(given), 2).tolist()) == [0, 1]
    with pytest.raises(ValueError, match="units must be labels like those of fit"):
        work_indices(model, other, 2)


def test_no_verdict_over_genres_that_are_others_at_the_two_ends():
    """Each has its weight in every period, and is extrapolated where it has no snippets."""
    rng = np.random.default_rng(0)
    cells = [(0, "A", 12), (1, "A", 12), (1, "B", 60), (2, "B", 60)]
    times = np.concatenate([[t] * n for t, _, n in cells])
    genres = np.concatenate([[g] * n for _, g, n in cells])
    shares = np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    counts = rng.multinomial(8, shares[(rng.random(times.size) < 0.5).astype(int)])
    model = DiSCSenseModel(2, solver="vi", n_starts=2, random_state=0)
    model.fit(counts, times=times, genres=genres)
    found = model.prevalence_change(0, 0, 2)
    assert found.snippets == (12, 60) and found.verdict == "no data"
    assert "too few data of some genres" in found.sentence
    assert "in 2 cells of genre and period" in repr(found)
    assert "2 A" in repr(found) and "0 B" in repr(found)
    # of each some, but at one end only: all of the change is extrapolated
    cells = [(0, "A", 60), (1, "B", 60), (0, "C", 12), (1, "C", 12)]
    times = np.concatenate([[t] * n for t, _, n in cells])
    genres = np.concatenate([[g] * n for _, g, n in cells])
    counts = rng.multinomial(8, shares[(rng.random(times.size) < 0.5).astype(int)])
    three = DiSCSenseModel(2, solver="vi", n_starts=2, random_state=0)
    three.fit(counts, times=times, genres=genres)
    assert three.prevalence_change(0, 0, 1).verdict == "no data"
    assert three.prevalence_change(0, 0, 1, genre="C").verdict != "no data"
    assert model.prevalence_change(0, 1, 2).verdict != "no data"
    assert "2 A" in repr(model.prevalence_change(0, 1, 2))
    assert "0 B" in repr(model.emergence(0, 0.5))
    assert model.prevalence_change(0, 1, 2, genre="B").verdict != "no data"


def test_snippets_without_a_known_word_are_no_data():
    """They are read as the prior has it: a period of them alone has none, nor its units."""
    rng = np.random.default_rng(0)
    texts = [rng.choice(["river", "water", "flood"], 6).tolist() for _ in range(30)]
    texts += [rng.choice(["money", "loan", "debt"], 6).tolist() for _ in range(30)]
    texts += [[] for _ in range(30)]
    times, units = np.repeat([0, 1, 2], 30), np.arange(90) // 6
    model = DiSCSenseModel(2, solver="gibbs", n_starts=2, draws=40, warmup=40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(texts, times=times, units=units)
    k = int(np.argmax(model.prevalence_[:, 0, 1]))
    found = model.prevalence_change(k, 1, 2)
    assert found.snippets == (30, 0) and found.units == (5, 0)
    assert np.isnan(found.seen) and np.isnan(found.seen_alike)
    if found.verdict != "not mixed":
        assert found.verdict == "no data"
    table = model.prevalence_info()
    assert table.n_snippets.tolist() == [[30, 30, 0]] and table.n_units.tolist() == [[5, 5, 0]]
    assert table.few.tolist() == [[False, False, True]]
    said = repr(model.sense_words(2, period=2))
    assert "fewer than 10 snippets in 1 period, 2: figures there rest mostly on neighboring" in said
    assert "fewer than 10 snippets in 1 period, 2" in repr(model.predict_shares(times=[2] * 4))


@pytest.mark.parametrize("solver", ["map", pytest.param("laplace", marks=pytest.mark.slow)])
def test_units_without_known_words_do_not_shrink_the_others(solver):
    """Nothing is known of their effects, which must not pull the size of effects to zero.

    Without such units it is the same to the tolerance of the search, or, of laplace, whose draws
    differ, within four Monte Carlo errors of two means of 4,000 draws with sd near 0.25.
    """

    def size(n_empty):
        counts = sparse.vstack([DATA.counts, sparse.csr_array((n_empty, DATA.counts.shape[1]))])
        places = {
            name: np.concatenate([x, x[:n_empty]])
            for name, x in (("times", DATA.times), ("genres", DATA.genres))
        }
        units = np.concatenate([DATA.units, 1000 + np.arange(n_empty)])
        model = DiSCSenseModel(2, solver=solver, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(counts.tocsr(), units=units, **places)
        return float(np.mean(model.posterior_["unit_sd"]))

    tolerance = {"map": 1e-3, "laplace": 4 * np.sqrt(2 / 4000) * 0.25}[solver]
    assert abs(size(60) - size(0)) < tolerance


def test_what_is_said_of_genres_and_periods_without_data():
    rng = np.random.default_rng(1)
    cells = [(0, "prose", 60), (2, "prose", 60), (0, "verse", 5), (2, "verse", 50)]
    times = np.concatenate([[t] * n for t, _, n in cells])
    genres = np.concatenate([[g] * n for _, g, n in cells])
    shares = np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    high = np.where(times == 0, 0.1, 0.9)
    counts = rng.multinomial(8, shares[(rng.random(times.size) < high).astype(int)])
    model = DiSCSenseModel(2, solver="laplace", n_starts=2, random_state=0)
    model.fit(counts, times=times, genres=genres)
    k = int(np.argmax(model.prevalence_[:, 0, 2]))
    found = model.prevalence_change(k, 0, 2)
    assert found.verdict == "rose"
    assert "Of the weight of genres 31 % has next to no data in one of the periods (0 verse)" in (
        found.sentence
    )
    emergence = model.emergence(k, 0.3)
    if np.argmax(emergence.proba) == 1:
        said = "There are next to no data in 1, where the model interpolates."
        assert said in emergence.sentence
    assert "0 verse" in repr(emergence) and "1 prose" in repr(emergence)
