"""Scores of units of sampling against folds by hand."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GroupKFold

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA
from skbayesembed.metrics import compare_models, score_units
from tests.helpers.extras import optional

pd = optional("pandas")

RNG = np.random.default_rng(0)
TEXTS = [" ".join(f"w{i}" for i in row) for row in RNG.integers(9, size=(24, 12))]
UNITS = np.array(list("abcdefgh"))[np.arange(24) % 8]
MODEL = BayesianSGNS(2, solver="map", min_count=1, prior_precision=2.0, random_state=0)


def test_folds_by_hand():
    found = score_units(MODEL, TEXTS, UNITS, cv=2)
    assert found.labels.tolist() == list("abcdefgh")
    texts = np.array(TEXTS, dtype=object)
    for train, test in GroupKFold(2).split(TEXTS, groups=UNITS):
        model = BayesianSGNS(**MODEL.get_params()).fit(list(texts[train]), units=UNITS[train])
        for unit in set(UNITS[test]):
            score = model.score(list(texts[UNITS == unit]))
            assert found.scores[found.labels == unit] == pytest.approx(score)
    assert found.elpd == pytest.approx(found.scores.mean())
    assert found.se == pytest.approx(found.scores.std(ddof=1) / np.sqrt(8))


def test_differences_are_paired():
    found = {
        str(precision): score_units(MODEL.set_params(prior_precision=precision), TEXTS, UNITS, cv=2)
        for precision in (0.1, 2.0)
    }
    MODEL.set_params(prior_precision=2.0)
    table = compare_models(found)
    best, other = (found[name] for name in table.names)
    d = other.scores - best.scores
    assert table.difference[1] == pytest.approx(d.mean())
    assert table.se_difference[1] == pytest.approx(d.std(ddof=1) / np.sqrt(8))
    assert f"{table.elpd[0]:.4f}" in repr(table)
    assert "per pair of words; probabilities of 1/2 for all pairs score -0.6931)" in repr(table)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_warn_once(n_jobs):
    model = BayesianSGNS(2, solver="map", min_count=1, max_iter=1, prior_precision=2.0)
    with warnings.catch_warnings(record=True) as caught, parallel_config("threading"):
        warnings.simplefilter("always")
        score_units(model, TEXTS, UNITS, cv=4, n_jobs=n_jobs)
    (one,) = [w for w in caught if "he mode was not reached" in str(w.message)]
    assert str(one.message).endswith("(In 4 of 4 folds.)") and one.filename == __file__


def test_other_estimators_and_covariates():
    times = np.arange(24) % 4
    model = DynamicSGNS(2, solver="map", min_count=1, n_periods=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = score_units(model, TEXTS, UNITS, cv=2, times=times)
    assert np.all((found.scores > -3) & (found.scores < 0))
    counts = pd.DataFrame(RNG.poisson(1.0, (24, 6)), columns=[f"w{i}" for i in range(6)])
    vectors = RNG.normal(size=(6, 2))
    topics = GaussianLDA(2, embedding=vectors, solver="map", min_count=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = score_units(topics, counts, UNITS, cv=2)
        topics.set_params(solver="gibbs", draws=4, warmup=1, chains=2)
        chains = score_units(topics, counts, UNITS, cv=2)
    assert np.isfinite(found.scores).all() and found.scores.size == 8
    # whether so few draws have mixed hangs on the random numbers; a point estimate has no chains
    assert isinstance(chains.converged, bool) and "converged" not in found
    table = compare_models({"chains": chains, "point": found})
    assert ("not mixed" in repr(table)) == (not chains.converged)
    assert "of their scores, per token)" in repr(table)


def test_one_unit_cannot_be_held_out():
    texts = ["river water flood", "money loan account"] * 4
    model = DiSCSenseModel(2, solver="map", n_starts=1, random_state=0)
    with pytest.raises(ValueError, match=r"units must be two or more, .* got 1 \(\['Adams'\]\)"):
        score_units(model, texts, ["Adams"] * 8)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"units must be one for each of the 24 documents.*\(3,\)"):
        score_units(MODEL, TEXTS, [0, 1, 2])
    with pytest.raises(ValueError, match="cv must be at most the number of units, 8, got 9"):
        score_units(MODEL, TEXTS, UNITS, cv=9)
    with pytest.raises(ValueError, match="times must be one for each"):
        score_units(MODEL, TEXTS, UNITS, times=[1])


def test_the_first_fit_says_how_long_it_took(monkeypatch, capsys):
    """Once, so that those who wait know how long the others take."""
    monkeypatch.setattr("skbayesembed.metrics.units._BRIEF", -1.0)
    texts, options = ["the cat sat", "a dog sat"] * 6, {"solver": "map", "prior_precision": 1.0}
    model = BayesianSGNS(2, **options, min_count=1, random_state=0)
    score_units(model, texts, np.arange(12) // 2, cv=3)
    told = capsys.readouterr().err
    assert told.count("score_units: the first of 3 fits took") == 1
    assert told.count("score_units: 3 fits; once the first has ended") == 1
    assert told.index("score_units: 3 fits") < told.index("the first of 3 fits took")


def test_units_that_are_missing_are_refused():
    for units in (np.where(np.arange(24) % 3, np.arange(24.0), np.nan), ["a", "b", np.nan] * 8):
        with pytest.raises(ValueError, match="units must have a label for every one"):
            score_units(MODEL, TEXTS, units, cv=2)


def test_fits_are_given_units_only_where_there_are_some(monkeypatch):
    seen, fit = [], DiSCSenseModel.fit

    def noted(self, X, y=None, **given):
        seen.append(given.get("units"))
        return fit(self, X, y, **given)

    noted.__signature__ = inspect.signature(fit)
    monkeypatch.setattr(DiSCSenseModel, "fit", noted)
    model = DiSCSenseModel(2, solver="map", n_periods=2, min_count=1, n_starts=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        score_units(model, TEXTS, times=np.arange(24), cv=2)
        score_units(model, TEXTS, UNITS, times=np.arange(24), cv=2)
    assert [units is None for units in seen] == [True, True, False, False]


def test_missing_genres_and_times_reach_fit():
    """NumPy would make a label of one, and a number of what is behind a mask."""
    model = DiSCSenseModel(2, solver="map", min_count=1, n_starts=1, random_state=0)
    units = np.arange(24) % 4
    with pytest.raises(ValueError, match=r"genres must have no missing labels, got genres\["):
        score_units(model, TEXTS, units, cv=2, genres=["prose", float("nan"), "verse"] * 8)
    times = np.ma.masked_equal([1850, 9999, 1860] * 8, 9999)
    with pytest.raises(ValueError, match="none missing, got None in times"):
        score_units(model, TEXTS, units, cv=2, times=times)


@pytest.mark.filterwarnings("ignore")
def test_scores_of_other_words_are_not_compared():
    """Words that a sense model does not know cost it nothing."""
    units = np.arange(24) % 4
    found = {}
    for name, most in {"few": 2, "all": None, "again": None}.items():
        model = DiSCSenseModel(
            2, solver="map", min_count=1, n_starts=1, random_state=0, max_features=most
        )
        found[name] = score_units(model, TEXTS, units, cv=2)
    assert found["all"].vocabulary == found["again"].vocabulary
    compare_models({name: found[name] for name in ("all", "again")})
    with pytest.raises(ValueError, match="'all' and 'few' have different words: their scores"):
        compare_models({name: found[name] for name in ("few", "all")})


def test_units_with_nothing_to_score_are_left_out():
    """They cost no fit of the others."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a dog and a cat"] * 4
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    with pytest.warns(UserWarning, match="2 of 14 units .* have nothing to score"):
        found = score_units(model, [*texts, "cat", "the"], cv=3)
    assert found.labels.tolist() == list(range(12)) and np.isfinite(found.scores).all()
    assert found.elpd == pytest.approx(found.scores.mean())
    # of texts of two sorts in turn, each fold knows the words of the other sort
    texts = ["river water boat river", "money loan account money"] * 8
    vectors = dict(zip("river water boat money loan account".split(), np.eye(6), strict=True))
    model = GaussianLDA(2, embedding=vectors, solver="vi", min_count=1, random_state=0)
    with pytest.raises(ValueError, match="X must have two units with something to score"):
        score_units(model, texts, [i % 2 for i in range(16)], cv=2)


def test_what_intervals_alone_lack_is_not_told():
    """That modes of a hierarchy are narrow, which is alike for all that are compared."""
    model = DiSCSenseModel(2, solver="map", n_starts=2, min_count=1, random_state=0)
    snippets = ["river water flood", "money loan account"] * 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score_units(model, snippets, np.arange(24) % 6, cv=3)
    assert np.isfinite(found.scores).all()
    with pytest.warns(UserWarning, match="makes the differences between units too small"):
        model.fit(snippets, units=np.arange(24) % 6)
