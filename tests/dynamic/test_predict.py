"""Vectors at any time, features and scores of `DynamicSGNS`, against computations by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed import DynamicSGNS
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic import predict
from skbayesembed.dynamic.predict import Place, place_draws, place_of
from skbayesembed.sgns.counting import expected_negatives, window_pairs

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    # there is such a document on purpose
    pytest.mark.filterwarnings("ignore:.* no known word"),
    # of later documents, as some are on purpose
    pytest.mark.filterwarnings("ignore:.* are of times before the first period"),
]

V, K, T = 8, 2, 4
CENTRES = np.array([0.0, 1.0, 3.0, 4.0])
PRECISION, DIFFUSION = 2.0, 0.3


def fit(**parameters):
    data = make_dynamic_sgns(V, K, T, 600, times=CENTRES, empty_periods=[1], random_state=3)
    options = {
        "solver": "gibbs", "draws": 20, "warmup": 10, "chains": 2, "diffusion": DIFFUSION,
        "prior_precision": PRECISION, "random_state": 0, "token_pattern": r"\w+",
        "balance": False, "uncertainty": "model", **parameters,
    }  # fmt: skip
    return DynamicSGNS(K, **options).fit(data.pairs, times=CENTRES)


@pytest.fixture(scope="module")
def model():
    return fit()


@pytest.fixture(scope="module")
def learned():
    return fit(diffusion="learned", hyperprior=(3.0, 0.5))


def covariance(times, diffusion=DIFFUSION):
    """Of the process at any times."""
    distance = np.abs(np.subtract.outer(times, times))
    return np.exp(-0.5 * diffusion * PRECISION * distance) / PRECISION


@pytest.mark.parametrize("time", [-2.5, 1.0, 2.0, 2.9, 4.0, 4.5, 30.0])
def test_places_are_conditionals_of_the_prior(model, time):
    """Weights and variance are those of a Gaussian given its values at all periods."""
    place = place_of(model, time, DIFFUSION)
    joint = covariance(np.append(CENTRES, time))
    weights = np.linalg.solve(joint[:T, :T], joint[:T, T])
    found = np.zeros(T)
    for period, weight in place.parts:
        found[period] += weight
    np.testing.assert_allclose(found, weights, atol=1e-10)
    variance = joint[T, T] - weights @ joint[:T, T]
    np.testing.assert_allclose(place.variance, variance, atol=1e-10)
    several = place_of(model, time, np.array([0.1, DIFFUSION]))
    for (_, weight), (_, other) in zip(several.parts, place.parts, strict=True):
        np.testing.assert_allclose(np.broadcast_to(weight, 2)[1], other)


def test_draws_at_a_place(model):
    """Noise of the variance given: 120 draws of 16 entries, within 4.5 standard errors."""
    flat = model.posterior_.flat("rho")
    assert np.shares_memory(place_draws(model, "rho", Place([(2, 1.0)])), flat)
    np.testing.assert_array_equal(place_draws(model, "rho", Place([(2, 1.0)])), flat[:, 2])
    place = Place([(2, 0.4), (3, np.linspace(0, 1, 40))], np.full(40, 0.3))
    mean = 0.4 * flat[:, 2] + np.linspace(0, 1, 40)[:, None, None] * flat[:, 3]
    np.testing.assert_allclose(place_draws(model, "rho", place), mean)
    drawn = place_draws(model, "rho", place, np.random.default_rng(0))
    assert drawn.shape == (120, V, K), "three draws for each of 40: noise is more than a draw of it"
    noise = drawn - np.repeat(mean, 3, axis=0)
    np.testing.assert_allclose(noise.var(), 0.3, rtol=4.5 * (2 / noise.size) ** 0.5)


# Features ---------------------------------------------------------------------------------------

DOCUMENTS = [["x0", "x1", "x1", "new"], ["x5"], ["new"], [], ["x2", "x7"]]
WEIGHTS = np.zeros((5, V))
WEIGHTS[0, [0, 1]] = 1 / 3, 2 / 3
WEIGHTS[1, 5] = 1.0
WEIGHTS[4, [2, 7]] = 0.5


def features(model, with_std, **times):
    return model.set_params(features="mean_std" if with_std else "mean").transform(
        DOCUMENTS, **times
    )


def test_features_at_known_times(model):
    times = [0, 3, 3, 1, 4]
    periods = [0, 2, 2, 1, 3]
    flat = model.posterior_.flat("rho")
    draws = np.stack([flat[:, t] @ np.eye(K) for t in periods])
    each = np.einsum("dv,dsvk->sdk", WEIGHTS, draws)
    np.testing.assert_allclose(features(model, False, times=times), each.mean(axis=0), atol=1e-12)
    found = features(model, True, times=times)
    np.testing.assert_allclose(found[:, :K], each.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found[:, K:], each.std(axis=0, ddof=1), atol=1e-12)
    assert not found[2:4].any()
    alone = np.vstack(
        [model.transform(DOCUMENTS[i : i + 1], times=times[i : i + 1]) for i in range(5)]
    )
    np.testing.assert_allclose(alone, found, atol=1e-12)


@pytest.mark.parametrize("time", [-1.0, 2.0, 6.0])
def test_features_at_other_times(model, learned, time):
    for fitted in (model, learned):
        flat = fitted.posterior_.flat("rho")
        if fitted is learned:
            diffusion = learned.posterior_.flat("diffusion").ravel()
        else:
            diffusion = np.full(len(flat), DIFFUSION)
        each, variance = np.zeros((len(flat), 5, K)), np.zeros(len(flat))
        for s, rate in enumerate(diffusion):
            joint = covariance(np.append(CENTRES, time), rate)
            weights = np.linalg.solve(joint[:T, :T], joint[:T, T])
            each[s] = WEIGHTS @ np.einsum("t,tvk->vk", weights, flat[s])
            variance[s] = joint[T, T] - weights @ joint[:T, T]
        found = features(fitted, True, times=[time] * 5)
        np.testing.assert_allclose(found[:, :K], each.mean(axis=0), atol=1e-9)
        noise = variance.mean() * np.sum(WEIGHTS**2, axis=1)[:, None]
        expected = np.sqrt(each.var(axis=0, ddof=1) + noise)
        np.testing.assert_allclose(found[:, K:], expected, atol=1e-9)


def test_features_without_times(model):
    """Averaged over periods by their shares of the observed pairs: none of the empty one."""
    flat = model.posterior_.flat("rho")
    each = np.einsum("dv,stvk->sdk", WEIGHTS, flat[:, [0, 2, 3]]) / 3
    found = features(model, True)
    np.testing.assert_allclose(found[:, :K], each.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found[:, K:], each.std(axis=0, ddof=1), atol=1e-12)


# Scores -----------------------------------------------------------------------------------------


def by_hand(documents, probability):
    """Sum of log scores and the number of observations of documents of one time."""
    words = sorted({w for d in documents for w in d})
    ids = np.array([words.index(w) for d in documents for w in d])
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    positive = window_pairs(ids, offsets, len(words), window=5, window_weights="linear")
    negative = expected_negatives(positive, negative=1, ns_exponent=0.75).toarray()
    positive = positive.toarray()
    total = 0.0
    for i, a in enumerate(words):
        for j, b in enumerate(words):
            p = 0.5 if "new" in (a, b) else probability[int(a[1:]), int(b[1:])]
            total += positive[i, j] * np.log(p) + negative[i, j] * np.log(1 - p)
    return total, positive.sum() + negative.sum()


HELD_OUT = [["x0", "x1", "x1", "new"], ["x5", "x0"], ["x1"], ["x3", "x3", "x7"]]


def probabilities(model, t):
    rho, alpha = (model.posterior_.flat(name)[:, t] for name in ("rho", "alpha"))
    return expit(np.einsum("svk,swk->svw", rho, alpha)).mean(axis=0)


def test_score_at_known_times(model):
    times = [4, 0, 0, 4]
    parts = [
        by_hand([HELD_OUT[0], HELD_OUT[3]], probabilities(model, 3)),
        by_hand([HELD_OUT[1], HELD_OUT[2]], probabilities(model, 0)),
    ]
    total, n = np.sum(parts, axis=0)
    np.testing.assert_allclose(model.score(HELD_OUT, times=times), total / n, rtol=1e-9)


def test_score_without_times(model):
    mixture = np.mean([probabilities(model, t) for t in (0, 2, 3)], axis=0)
    total, n = by_hand(HELD_OUT, mixture)
    np.testing.assert_allclose(model.score(HELD_OUT), total / n, rtol=1e-9)


def test_few_draws_of_each_period_are_many_in_all(model, monkeypatch):
    monkeypatch.setattr(predict, "PREDICTIVE_DRAWS", 90)
    flat = [model.posterior_.flat(name) for name in ("rho", "alpha")]
    chosen = np.linspace(0, 39, 30).round().astype(int)
    mixture = 0.0
    for t in (0, 2, 3):
        rho, alpha = (f[chosen, t] for f in flat)
        mixture = mixture + expit(np.einsum("svk,swk->svw", rho, alpha)).mean(axis=0) / 3
    total, n = by_hand(HELD_OUT, mixture)
    np.testing.assert_allclose(model.score(HELD_OUT), total / n, rtol=1e-9)


def test_score_of_pair_counts(model):
    """Of all pairs as they are, a period at a time."""
    data = make_dynamic_sgns(V, K, T, 300, times=CENTRES, random_state=8)
    total = n = 0.0
    for t, pairs in enumerate(data.pairs):
        p = probabilities(model, t)
        total += np.sum(pairs.positive.toarray() * np.log(p))
        total += np.sum(pairs.negative.toarray() * np.log(1 - p))
        n += pairs.total
    np.testing.assert_allclose(model.score(data.pairs, times=CENTRES), total / n, rtol=1e-9)


def test_blocks_change_no_score(model, monkeypatch):
    first = model.score(HELD_OUT, times=[4, 0, 0, 9]), model.score(HELD_OUT)
    monkeypatch.setattr("skbayesembed.sgns.predict._CELLS", 3)
    second = model.score(HELD_OUT, times=[4, 0, 0, 9]), model.score(HELD_OUT)
    np.testing.assert_allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize("time", [2.0, 6.0])
def test_score_at_other_times(model, learned, time, monkeypatch):
    """Of the draws that are made there, three for each recorded one, with noise."""
    made = []

    def watch(estimator, name, place, rng=None):
        made.append(place_draws(estimator, name, place, rng))
        assert rng is not None and np.all(place.variance > 0)
        return made[-1]

    for fitted in (model, learned):
        score = fitted.score(HELD_OUT, times=[time] * 4)
        with monkeypatch.context() as patch:
            patch.setattr(predict, "place_draws", watch)
            made.clear()
            assert fitted.score(HELD_OUT, times=[time] * 4) == score
        rho, alpha = made
        assert len(rho) == 120 and not np.allclose(rho[0], rho[1])
        assert not np.allclose(rho[0] - rho[1], alpha[0] - alpha[1])
        total, n = by_hand(HELD_OUT, expit(np.einsum("svk,swk->svw", rho, alpha)).mean(axis=0))
        np.testing.assert_allclose(score, total / n, rtol=1e-9)
        # what else is scored does not matter
        both = fitted.score(HELD_OUT + HELD_OUT, times=[time] * 4 + [0] * 4)
        known = fitted.score(HELD_OUT, times=[0] * 4)
        np.testing.assert_allclose(both, 0.5 * (score + known), rtol=1e-12)


def test_far_away_the_prior_is_all_that_is_left(model):
    """Logits have a symmetric law there: every pair scores log 1/2, but for 120 draws' noise."""
    assert abs(model.score(HELD_OUT, times=[1e6] * 4) - np.log(0.5)) < 0.05
    np.testing.assert_allclose(features(model, True, times=[1e6] * 5)[:, :K], 0, atol=1e-12)
    spread = np.sqrt(np.sum(WEIGHTS**2, axis=1) / PRECISION)
    np.testing.assert_allclose(
        features(model, True, times=[1e6] * 5)[:, K:], np.repeat(spread[:, None], K, axis=1)
    )


# Approximations that are drawn from word by word ------------------------------------------------


class Normal:
    """Independent vectors around the posterior means, drawn with a seed."""

    def __init__(self, model):
        self.mean = {"rho": model.rho_, "alpha": model.alpha_}

    def draw_words(self, name, index, n, seed, periods=slice(None)):
        assert isinstance(periods, slice) or np.all(np.diff(periods) > 0)
        rng = np.random.default_rng(seed)
        mean = self.mean[name][periods][:, index]
        return mean + 0.1 * rng.standard_normal((n, *mean.shape))


@pytest.fixture
def drawn(model):
    fitted = fit()
    fitted.posterior_.approximation = Normal(fitted)
    return fitted


def test_few_recorded_draws_are_made_up_for(drawn, monkeypatch):
    """40 are recorded: 100 are drawn, 400 for a sweep block by block of words."""
    flat = drawn.posterior_.flat("rho")
    monkeypatch.setattr(predict, "_NUMBERS", 400 * 2 * K * 3)
    assert predict.sweep_chunk(drawn, 2) == 3
    found = predict.period_draws(drawn, "rho", 2)
    assert found.shape == (100, V, K)
    np.testing.assert_allclose(found.mean(axis=0), flat[:, 2].mean(axis=0), atol=0.05)
    noise = (found - drawn.rho_[2]).reshape(100, -1)
    assert np.abs(np.corrcoef(noise.T) - np.eye(V * K)).max() < 0.5
    assert drawn.score(HELD_OUT, times=[0, 4, 4, 9]) == drawn.score(HELD_OUT, times=[0, 4, 4, 9])
    assert len(drawn.similarity(0, 1).draws) == 1000
    # of the words that are shown as many as of any answer
    assert drawn.most_changed(3, min_pairs=1).n_draws == 1000
    assert repr(drawn.most_changed(3, min_pairs=1)) == repr(drawn.most_changed(3, min_pairs=1))
    with pytest.raises(ValueError, match="start must be before end, got 4 as start and 0 as end"):
        drawn.most_changed(3, start=4, end=0, min_pairs=1)
    block = [predict.sweep_draws(drawn, "rho", [0], np.arange(a, a + 3)) for a in (0, 3)]
    apart = np.corrcoef(*((b[:, 0] - b[:, 0].mean(axis=0)).ravel() for b in block))[0, 1]
    assert abs(apart) < 0.2, "the noise of a block is its own"
    assert drawn.most_similar(0, 3, period=4).n_draws == 100
    monkeypatch.setattr(predict, "FEWEST_DRAWS", 40)
    np.testing.assert_array_equal(predict.period_draws(drawn, "rho", 2), flat[:, 2])


@pytest.mark.parametrize("chunk", [3, V])
def test_periods_that_are_weighted_together_are_drawn_together(chunk, monkeypatch):
    """Their covariance over time counts, by dense matrices."""
    fitted = fit(solver="vi", draws=5)
    monkeypatch.setattr(predict, "FEWEST_DRAWS", 4000)
    monkeypatch.setattr(predict, "sweep_chunk", lambda *_: chunk)
    parts = [(0, 0.2), (2, 0.5), (3, 0.3)]
    found = place_draws(fitted, "alpha", Place(parts))
    assert found.shape == (4000, V, K)
    sites = fitted.approximation_
    weights = np.zeros(T)
    for t, weight in parts:
        weights[t] = weight
    prior = sites.prior.tridiagonal().dense()
    for w, k in np.ndindex(V, K):
        covariance = np.linalg.inv(prior + np.diag(sites.lam[1, :, w, k].astype(float)))
        sd = np.sqrt(weights @ covariance @ weights)
        np.testing.assert_allclose(found[:, w, k].std(), sd, rtol=0.06)
        mean = weights @ fitted.alpha_[:, w, k]
        np.testing.assert_allclose(found[:, w, k].mean(), mean, atol=0.07 * sd)
