"""Filtering through the estimator: ``learning_method="filtering"`` and ``partial_fit``."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DynamicSGNS
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.vi.filtering import Filtering

OLD = ["the cat sat on the mat", "the dog sat on the rug"] * 15
NEW = ["the internet sat on the mat", "the cat met the internet"] * 15


@pytest.fixture(scope="module")
def sim():
    return make_dynamic_sgns(30, 2, 5, 6000, random_state=0)


def estimator(**changes):
    settings = {"prior_precision": 2.0, "diffusion": 0.02, "random_state": 0, "draws": 50}
    return DynamicSGNS(2, **settings | changes)


def of_text(**changes):
    return estimator(min_count=1, **changes)


def proba(model):
    logit = np.einsum("tik,tjk->tij", model.rho_, model.alpha_)
    return 1 / (1 + np.exp(-logit))


def error(model, sim):
    truth = 1 / (1 + np.exp(-np.einsum("tik,tjk->tij", sim.rho, sim.alpha)))
    return np.sqrt(np.mean((proba(model) - truth) ** 2))


@pytest.fixture(scope="module")
def filtered(sim):
    return estimator(learning_method="filtering").fit(sim.pairs, times=sim.times)


def test_period_by_period_is_the_fit_by_filtering(sim, filtered):
    parts = estimator()
    for batch in ([0, 1], [2], [3, 4]):
        parts.partial_fit([sim.pairs[i] for i in batch], times=sim.times[batch])
    # the random starts differ, and with them the frame
    np.testing.assert_allclose(proba(parts), proba(filtered), atol=0.01)
    assert parts.n_iter_ > 0 and parts.periods_.n_periods == 5
    np.testing.assert_allclose(parts.observed_, filtered.observed_)


def test_filtering_is_near_batch(sim, filtered):
    batch = estimator().fit(sim.pairs, times=sim.times)
    assert error(filtered, sim) < 1.1 * error(batch, sim)


@pytest.mark.slow
def test_batch_is_nearer_to_the_truth():
    """On average over data sets: on one of eight as above the filtered fit was the nearer one.

    Of 12 data sets the ratio of the errors had mean 1.08 and sd 0.06: with 16 the mean is five
    standard errors above 1.
    """
    ratios = []
    for seed in range(16):
        sim = make_dynamic_sgns(30, 2, 5, 2000, random_state=seed)
        filtered, batch = (
            estimator(learning_method=m, random_state=seed).fit(sim.pairs, times=sim.times)
            for m in ("filtering", "batch")
        )
        ratios.append(error(filtered, sim) / error(batch, sim))
    assert 1 < np.mean(ratios) < 1.2


def test_new_words_come_in_with_their_prior():
    model = of_text().partial_fit(OLD, times=[1990] * 30)
    assert model.rho_.shape == (1, 7, 2)
    before = model.rho_.copy()
    model.partial_fit(NEW, times=[1993] * 30)
    assert model.words_.tolist()[:7] == ["the", "on", "sat", "cat", "dog", "mat", "rug"]
    assert sorted(model.words_.tolist()[7:]) == ["internet", "met"]
    assert model.rho_.shape == (4, 9, 2)
    assert model.periods_.labels == [1990, 1991, 1992, 1993]
    # periods without documents lie between their neighbours
    internet = model.trajectory("internet")
    assert np.all(np.diff(internet.sd.mean(axis=1)) < 0)
    assert not np.array_equal(before, model.rho_[:1, :7])  # smoothed by what came later


def test_max_features_leaves_no_room_for_new_words():
    model = of_text(max_features=7).partial_fit(OLD, times=[1990] * 30)
    model.partial_fit(NEW, times=[1991] * 30)
    assert model.words_.size == 7


@pytest.mark.parametrize(
    ("options", "later", "n_periods"),
    [({}, 1993, 4), ({"bins": [1990, 1995, 2000, 2010]}, 1996, 3), ({"n_periods": 2}, 1998, 6)],
)
def test_periods_go_on(options, later, n_periods):
    times = [1990] * 15 + [1990 if "n_periods" not in options else 1993] * 15
    model = of_text(**options).partial_fit(OLD, times=times)
    model.partial_fit(NEW, times=[later] * 30)
    assert model.periods_.n_periods == n_periods
    assert np.isfinite(model.score(NEW, times=[later] * 30))


def test_periods_of_dates_go_on_with_their_names():
    times = ["1990-03-01"] * 15 + ["1993-03-01"] * 15
    model = of_text(n_periods=2).partial_fit(OLD, times=times)
    first = model.periods_.labels
    model.partial_fit(NEW, times=["1996-07-01"] * 30)
    assert model.periods_.labels[0] == first[0] == "[1990-03-01, 1991-08-31)"
    assert model.periods_.find(first[0]) == 0 and model.periods_.dates


def test_count_matrices():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (20, 6))
    model = of_text().partial_fit(X, times=[1] * 20).partial_fit(X, times=[3] * 20)
    assert model.rho_.shape == (3, 6, 2)
    assert model.transform(X, times=[3] * 20).shape == (20, 2)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :5], times=[4] * 20)


def test_a_batch_that_fails_leaves_what_was_learned(sim):
    model = estimator().partial_fit(sim.pairs[:2], times=[0, 1])
    before = model.rho_.copy()
    with pytest.raises(ValueError, match="times must be in periods after 1"):
        model.partial_fit(sim.pairs[2:], times=[1, 2, 3])
    with pytest.raises(ValueError, match="must be a list of PairCounts in every call"):
        model.partial_fit(OLD, times=[5] * 30)
    np.testing.assert_array_equal(model.rho_, before)
    # the name of the last period, though earlier ones would shift its place
    with pytest.raises(
        ValueError, match="after 1, the last that partial_fit has learned, got one in -9"
    ):
        model.partial_fit(sim.pairs[2:3], times=[-9])
    assert model.partial_fit(sim.pairs[2:3], times=[2]).rho_.shape[0] == 3


def test_text_and_counts_do_not_mix():
    counts = np.ones((3, 7))
    model = of_text().partial_fit(OLD, times=[1990] * 30)
    with pytest.raises(ValueError, match="X must be text or tokens .* got a count matrix"):
        model.partial_fit(counts, times=[1991] * 3)
    model.partial_fit([line.split() for line in NEW], times=[1991] * 30)
    assert model.rho_.shape == (2, 9, 2)
    model = of_text().partial_fit(counts, times=[1990] * 3)
    with pytest.raises(ValueError, match="X must be a count matrix .* got text or tokens"):
        model.partial_fit(OLD, times=[1991] * 30)


@pytest.mark.parametrize(
    ("name", "value"), [("n_components", 3), ("prior_precision", 1.0), ("diffusion", 0.5)]
)
def test_the_prior_stays_what_it_was(sim, name, value):
    model = estimator().partial_fit(sim.pairs[:2], times=[0, 1]).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"{name} must stay"):
        model.partial_fit(sim.pairs[2:3], times=[2])


def test_a_first_batch_without_pairs():
    model = of_text().partial_fit(["the", "cat", "dog"], times=[1989] * 3)
    with pytest.raises(ValueError, match="X has no pair of words"):
        model.transform(["the"])
    model.partial_fit(OLD, times=[1990] * 30)
    assert np.isfinite(model.transform(["the"])).all()


def test_an_interrupted_fit_keeps_the_periods_learned(sim, monkeypatch):
    learn, calls = Filtering.learn, []

    def interrupted(self, *args, **options):
        calls.append(args[0])
        if len(calls) == 3:
            raise KeyboardInterrupt
        learn(self, *args, **options)

    monkeypatch.setattr(Filtering, "learn", interrupted)
    with pytest.warns(RuntimeWarning, match="Interrupted"):
        model = estimator(learning_method="filtering").fit(sim.pairs, times=sim.times)
    assert model.posterior_.attrs["interrupted"] and len(model.elbo_) == 2
    sd = np.sqrt(model.approximation_.variance["rho"]).mean(axis=(1, 2))
    assert np.all(np.diff(sd[1:]) > 0)


def test_what_is_refused(sim):
    with pytest.raises(ValueError, match="needs times"):
        estimator().partial_fit(sim.pairs)
    with pytest.raises(AttributeError, match="partial_fit"):
        estimator(solver="gibbs").partial_fit(sim.pairs, times=sim.times)
    with pytest.raises(ValueError, match="learned"):
        estimator(diffusion="learned").partial_fit(sim.pairs, times=sim.times)


def test_fitted_anew_and_pickled(sim):
    model = estimator().partial_fit(sim.pairs[:2], times=[0, 1])
    copy = pickle.loads(pickle.dumps(model))
    for m in (model, copy):
        m.partial_fit(sim.pairs[2:3], times=[2])
    np.testing.assert_array_equal(model.rho_, copy.rho_)
    model.fit(sim.pairs, times=sim.times)
    fresh = clone(model).fit(sim.pairs, times=sim.times)
    np.testing.assert_array_equal(model.rho_, fresh.rho_)


def test_a_warning_is_of_the_periods_of_the_call(sim):
    model = estimator(max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model.partial_fit(sim.pairs[:2], times=[0, 1])
    model.set_params(max_iter=500, tol=1e-4).partial_fit(sim.pairs[2:3], times=[2])
    assert model.posterior_.attrs["converged"] is False


def texts_of(rng, n_topics, words):
    """Documents about one of some topics each, which have their own share of the words."""
    each, out = len(words) // n_topics, []
    for _ in range(40):
        weights, topic = np.full(len(words), 0.02), rng.integers(n_topics)
        weights[topic * each : (topic + 1) * each] += 1.0
        out.append(rng.choice(words, 20, p=weights / weights.sum()).tolist())
    return out


OPTIONS = {"n_components": 4, "window": 3, "min_count": 1, "diffusion": 0.2, "draws": 200}


@pytest.mark.parametrize(
    "seed", [104, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (107, 108))]
)
def test_structure_that_comes_later_is_found(seed):
    """Predicted means are a saddle: components that the first period prunes are zero."""
    rng, words = np.random.default_rng(seed), [f"w{i:02d}" for i in range(20)]
    texts = texts_of(rng, 1, words) + texts_of(rng, 2, words)
    found = []
    for how in ("filtering", "batch"):
        model = DynamicSGNS(
            **OPTIONS, learning_method=how, uncertainty="model", random_state=0
        ).fit(texts, times=np.repeat([0, 10], 40))
        proba = model.cooccurrence_proba([("w00", "w15"), ("w00", "w01")], periods=[10]).mean
        found.append(np.ravel(proba))
    # at the saddle the first were .22 to .27, where batch has .02 to .06
    np.testing.assert_allclose(found[0], found[1], atol=0.05)


def test_new_words_are_told_apart():
    """Of words that partial_fit has not met before, both sides are zero beforehand."""
    rng = np.random.default_rng(7)
    old = texts_of(rng, 1, [f"o{i}" for i in range(8)])
    new = texts_of(rng, 2, [f"n{i}" for i in range(8)])
    model = DynamicSGNS(**OPTIONS, random_state=0)
    model.partial_fit(old, times=[0] * 40).partial_fit(new, times=[10] * 40)
    together, apart = np.ravel(
        model.cooccurrence_proba([("n0", "n1"), ("n0", "n5")], periods=[10]).mean
    )
    assert together > 0.55 and apart < 0.1


def test_the_last_time_of_a_batch_stays_in_its_period():
    """Also when later periods are added behind it."""
    texts = ["aa bb cc dd ee ff"] * 20
    model = DynamicSGNS(1, n_periods=1, min_count=1, draws=5, random_state=0)
    model.partial_fit(texts, times=list(range(1851, 1871)))
    assert model.periods_.labels == ["1851-1870"]
    with pytest.raises(ValueError, match="times must be in periods after 1851-1870"):
        model.partial_fit(texts[:5], times=[1870] * 2 + [1875, 1880, 1889])
    model.partial_fit(texts[:3], times=[1875, 1880, 1889])
    assert model.periods_.labels == ["1851-1870", "1871-1889"]
    assert model.periods_.find(1870) == 0


def test_bins_of_learned_periods_stay():
    """What sites were learned of would be lost, or counted in other periods."""
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    model = DynamicSGNS(2, min_count=1, draws=10, random_state=0, bins=[1800, 1850, 1900])
    model.partial_fit(texts, times=[1810] * 30)
    for bins in ([1800, 1860, 1900], [1750, 1800, 1850, 1900]):
        with pytest.raises(ValueError, match="bins must begin with the 1 periods"):
            model.set_params(bins=bins).partial_fit(texts, times=[1870] * 30)
    model.set_params(bins=[1800, 1850, 1900, 1950]).partial_fit(texts, times=[1910] * 30)
    assert model.periods_.labels == ["1800-1849", "1850-1899", "1900-1949"]
    assert (model.observed_.sum(axis=1) > 0).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="n_periods"):
        model.set_params(bins=None, n_periods=3).partial_fit(texts, times=[1930] * 30)


def test_bins_may_be_fewer_behind_those_learned():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    options = {"min_count": 1, "draws": 10, "random_state": 0}
    model = DynamicSGNS(2, bins=[1800, 1850, 1900, 1950], **options)
    model.partial_fit(texts, times=[1810] * 30)
    model.set_params(bins=[1800, 1850, 1900]).partial_fit(texts, times=[1860] * 30)
    other = DynamicSGNS(2, bins=[1800, 1850, 1900], **options)
    other.partial_fit(texts, times=[1810] * 30).partial_fit(texts, times=[1860] * 30)
    np.testing.assert_array_equal(model.rho_, other.rho_)
    np.testing.assert_array_equal(model.observed_, other.observed_)


@pytest.mark.parametrize(
    "bins, more",
    [([1800, 1900], [1950]), ([1800.5, 1900.5], [1950]), (["2019-01-01", "2019-07-01"], ["2020"])],
)
def test_times_at_the_end_stay_in_their_period(bins, more):
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
    model = DynamicSGNS(2, min_count=1, draws=10, random_state=0, bins=bins)
    more = ["2020-01-01"] if more == ["2020"] else more
    model.partial_fit(texts, times=[bins[0]] * 15 + [bins[1]] * 15)
    with pytest.raises(ValueError, match="a time learned is equal to it"):
        model.set_params(bins=[*bins, *more]).partial_fit(texts, times=more * 30)
    model = DynamicSGNS(2, min_count=1, draws=10, random_state=0, bins=bins)
    model.partial_fit(texts, times=[bins[0]] * 30)
    model.set_params(bins=[*bins, *more]).partial_fit(texts, times=more * 30)
    assert model.periods_.n_periods == 2
