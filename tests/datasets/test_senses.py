"""Simulated snippets against the truth they come with, and the truth against its prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binom, chi2, invgamma, kstest

from skbayesembed.datasets import make_senses

MODELS = ["disc", "scan", "gasc", "interaction", "edisc"]
# 1 in 1,000 data sets exceeds a bound; seeds are fixed
RARE = 1e-3


def unlikely(statistic, freedom):
    """Both tails: data that fit too well are as wrong."""
    tail = chi2.sf(statistic, freedom)
    return min(tail, 1 - tail) < RARE / 2


def standard_normal(*parts):
    """The sum of squares of standard normal numbers is chi-squared."""
    values = np.concatenate([np.ravel(p) for p in parts])
    return not unlikely(float(values @ values), values.size)


@pytest.mark.parametrize("model", MODELS)
def test_shapes_and_softmax(model):
    genres = 1 if model == "scan" else 2
    s = make_senses(
        101, 30, 4, n_periods=3, n_genres=genres, model=model, random_state=0
    )  # fmt: skip
    assert s.counts.shape == (101, 30)
    assert s.phi.shape == s.prevalence.shape == (genres, 3, 4)
    assert s.psi.shape == s.word_proba.shape == (4, 3, 30)
    assert np.array_equal(s.prevalence, softmax(s.phi, axis=2))
    assert np.array_equal(s.word_proba, softmax(s.psi, axis=2))
    for labels, n in ((s.times, 3), (s.genres, genres), (s.senses, 4)):
        assert labels.shape == (101,)
        assert labels.dtype == np.int64
        assert set(labels.tolist()) <= set(range(n))
    names = {"scan": set(), "gasc": set(), "disc": {"chi", "theta"}}
    names["interaction"] = names["disc"] | {"xi"}
    names["edisc"] = names["disc"] | {"sigma", "vectors"}
    assert set(s) & {"chi", "theta", "xi", "sigma", "vectors"} == names[model]


@pytest.mark.parametrize("model", ["disc", "interaction"])
def test_logits_are_sums_of_effects(model):
    s = make_senses(10, 40, model=model, interaction=0.25, random_state=1)
    expected = s.chi[:, None] + s.theta
    if model == "interaction":
        assert np.count_nonzero(s.xi.any(axis=(0, 1))) == 10
        assert np.count_nonzero(s.xi.all(axis=(0, 1))) == 10
        expected = expected + s.xi
    assert np.allclose(s.psi, expected, rtol=0, atol=1e-12)


def test_logits_are_products_of_vectors():
    s = make_senses(10, 40, model="edisc", n_dims=3, random_state=1)
    assert s.vectors.shape == (40, 3) and s.chi.shape == (3, 3) and s.theta.shape == (5, 3)
    expected = np.einsum("vm,ktm->ktv", s.vectors, s.chi[:, None] + s.theta) + s.sigma
    np.testing.assert_allclose(s.psi, expected, atol=1e-12)
    # the unit of vectors is their own
    wide = make_senses(10, 40, model="edisc", vectors=5 * s.vectors, random_state=1)
    np.testing.assert_allclose(wide.psi, s.psi, atol=1e-12)


def test_interaction_without_words_is_disc():
    plain = make_senses(50, 20, random_state=2)
    none = make_senses(50, 20, model="interaction", interaction=0.0, random_state=2)
    assert np.array_equal(none.psi, plain.psi)
    assert np.array_equal(none.counts.toarray(), plain.counts.toarray())


def test_snippets_are_spread_evenly():
    s = make_senses(103, n_periods=4, n_genres=3, random_state=0)
    cells = np.bincount(s.times * 3 + s.genres, minlength=12)
    assert set(cells) == {8, 9}
    assert np.all(np.diff(s.times) >= 0)
    few = make_senses(2, n_periods=4, random_state=0)
    assert few.times.tolist() == [0, 2]


def test_reproducible():
    first, again, other = (make_senses(80, 20, random_state=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.counts.toarray(), again.counts.toarray())
    assert np.array_equal(first.senses, again.senses)
    assert not np.array_equal(first.psi, other.psi)
    state = np.random.RandomState(0)
    one, two = (make_senses(80, 20, random_state=state) for _ in range(2))
    assert not np.array_equal(one.psi, two.psi)


def test_truth_does_not_depend_on_the_number_of_snippets():
    few, many = (make_senses(n, 20, mean_length=m, random_state=5) for n, m in ((10, 3), (500, 9)))
    assert np.array_equal(few.phi, many.phi)
    assert np.array_equal(few.psi, many.psi)


@pytest.mark.parametrize("model", ["disc", "interaction"])
def test_autoregressions_follow_algorithm_1(model):
    """Innovations over their standard deviation are standard normal, and so is the first period."""
    options = {"alpha_phi": 0.5, "alpha_theta": -0.7, "kappa_phi": 2.0, "kappa_theta": 0.3}
    s = make_senses(
        1, 3000, 4, n_periods=5, n_genres=200, model=model, interaction=1.0, kappa_chi=0.4,
        kappa_interaction=3.0, random_state=0, **options,
    )  # fmt: skip
    processes = [(s.phi, 0.5, 2.0), (s.theta, -0.7, 0.3)]
    if model == "interaction":
        processes.append((s.xi, -0.7, 3.0))
    for x, alpha, kappa in processes:
        start = x[..., 0, :] / np.sqrt(kappa / (1 - alpha**2))
        innovations = (x[..., 1:, :] - alpha * x[..., :-1, :]) / np.sqrt(kappa)
        assert standard_normal(start)
        assert standard_normal(innovations)
    assert standard_normal(s.chi / np.sqrt(0.4))


def test_embedded_effects_follow_their_prior():
    """Over their standard deviations, in units of the median distance of two words."""
    rho = 3.0 * np.random.default_rng(0).normal(size=(3000, 300))
    s = make_senses(
        1, 3000, 4, n_periods=5, model="edisc", vectors=rho, kappa_chi=0.4, kappa_theta=0.3,
        alpha_theta=-0.7, kappa_sigma=0.8, random_state=0,
    )  # fmt: skip
    # two of the words, 1,500 apart, are as far from each other as any two
    unit = 2 / np.median(np.sum((rho[1500:] - rho[:1500]) ** 2, axis=1))
    assert standard_normal(s.sigma / np.sqrt(0.8))
    # the medians of pairs have relative errors of 0.3 %, far below the 4 % of 1,200 squares
    assert standard_normal(s.chi / np.sqrt(0.4 * unit))
    assert standard_normal((s.theta[1:] + 0.7 * s.theta[:-1]) / np.sqrt(0.3 * unit))
    assert standard_normal(s.theta[0] / np.sqrt(0.3 * unit / (1 - 0.7**2)))


@pytest.mark.parametrize("model", ["scan", "gasc"])
def test_walks_follow_algorithm_2(model):
    genres = 1 if model == "scan" else 300
    s = make_senses(
        1, 3000, 50, n_periods=5, n_genres=genres, model=model, kappa_phi=0.7, kappa_psi=0.2,
        first_phi=5.0, first_psi=0.5, random_state=0,
    )  # fmt: skip
    for x, first, kappa in ((s.phi, 5.0, 0.7), (s.psi, 0.5, 0.2)):
        assert standard_normal(x[..., 0, :] / np.sqrt(first))
        assert standard_normal(np.diff(x, axis=-2) / np.sqrt(2 * kappa))
    assert s.kappa_phi == 0.7


def test_first_period_of_a_walk_is_about_that_of_disc():
    """By default 1.3 beside 0.25 / 0.19, 2.5 beside 1.25 + 0.25 / 0.19; sampling error 1 to 2 %."""
    disc, walk = (
        make_senses(1, 10_000, 8, n_genres=5000, model=model, random_state=0)
        for model in ("disc", "gasc")
    )
    for name in ("phi", "psi"):
        ratio = np.mean(walk[name][:, 0] ** 2) / np.mean(disc[name][:, 0] ** 2)
        assert abs(ratio - 1) < 0.08


@pytest.mark.slow
def test_kappa_phi_is_drawn():
    drawn = [
        make_senses(1, 2, 1, model="gasc", kappa_phi=(7, 3), random_state=seed).kappa_phi
        for seed in range(200)
    ]
    assert kstest(drawn, invgamma(7, scale=3).cdf).pvalue > RARE


def test_lengths_are_binomial():
    s = make_senses(20_000, 10, mean_length=4.2, window=6, random_state=0)
    lengths = s.counts.sum(axis=1).astype(int)
    observed = np.bincount(lengths, minlength=7)
    expected = 20_000 * binom.pmf(np.arange(7), 6, 0.7)
    assert observed[0] > 0
    assert not unlikely(((observed - expected) ** 2 / expected).sum(), 6)


def test_full_and_long_snippets():
    full = make_senses(20, 50, mean_length=14, random_state=0)
    assert set(full.counts.sum(axis=1)) == {14.0}
    long = make_senses(20, 50, mean_length=500, window=1000, random_state=0)
    assert abs(long.counts.sum(axis=1).mean() - 500) < 4 * np.sqrt(250 / 20)


@pytest.mark.parametrize("model", MODELS)
def test_senses_and_words_follow_the_truth(model):
    """Pearson's statistic over all cells; each is expected often enough."""
    genres = 1 if model == "scan" else 2
    s = make_senses(
        40_000, 8, 3, n_periods=3, n_genres=genres, model=model, kappa_chi=0.3, first_psi=0.3,
        first_phi=0.3, kappa_phi=0.1, kappa_theta=0.05, interaction=0.5, random_state=6,
    )  # fmt: skip
    observed = np.zeros(s.prevalence.shape)
    np.add.at(observed, (s.genres, s.times, s.senses), 1)
    expected = observed.sum(axis=2, keepdims=True) * s.prevalence
    assert expected.min() > 5
    assert not unlikely(((observed - expected) ** 2 / expected).sum(), genres * 3 * 2)

    words = np.zeros(s.word_proba.shape)
    np.add.at(words, (s.senses, s.times), s.counts.toarray())
    expected = words.sum(axis=2, keepdims=True) * s.word_proba
    assert expected.min() > 5
    assert not unlikely(((words - expected) ** 2 / expected).sum(), 3 * 3 * 7)


def test_corners():
    s = make_senses(5, 1, 1, n_periods=1, random_state=0)
    assert s.prevalence.tolist() == [[[1.0]]]
    assert s.word_proba.tolist() == [[[1.0]]]
    still = make_senses(5, 6, kappa_theta=0.0, kappa_phi=0.0, random_state=0)
    assert not still.theta.any()
    assert np.allclose(still.prevalence, 1 / 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_snippets": 0}, "n_snippets must be an integer >= 1"),
        ({"n_words": 2.0}, "n_words must be an integer"),
        ({"n_senses": True}, "n_senses must be an integer"),
        ({"n_periods": "3"}, "n_periods must be an integer"),
        ({"n_genres": 0}, "n_genres must be an integer"),
        ({"window": 0}, "window must be an integer"),
        ({"mean_length": 0}, "mean_length must be a number > 0 and <= 14"),
        ({"mean_length": 15}, "mean_length must be a number > 0 and <= 14"),
        ({"model": "lda"}, "model must be one of 'disc', 'scan', 'gasc', 'interaction'"),
        ({"model": "scan", "n_genres": 2}, "scan.*n_genres must be 1, got 2.*gasc"),
        ({"alpha_phi": 1.0}, "alpha_phi must be a number > -1 and < 1"),
        ({"alpha_theta": -1}, "alpha_theta must be a number > -1"),
        ({"kappa_chi": -1}, "kappa_chi must be a number >= 0"),
        ({"kappa_phi": "a"}, "kappa_phi must be a number"),
        ({"kappa_phi": (1, 2, 3)}, r"kappa_phi must be a number or \(shape, rate\)"),
        ({"kappa_phi": (0, 2)}, "shape of kappa_phi must be a number > 0"),
        ({"first_psi": np.inf}, "first_psi must be a number"),
        ({"interaction": 1.5}, "interaction must be a number >= 0 and <= 1"),
        ({"kappa_sigma": -1}, "kappa_sigma must be a number >= 0"),
        ({"n_dims": 0}, "n_dims must be an integer >= 1"),
        ({"model": "edisc", "vectors": np.eye(3)}, "a row for each of 200 words, got 3"),
        ({"model": "edisc", "n_words": 2, "vectors": np.ones((2, 3))}, "vectors must differ"),
        ({"model": "edisc", "n_words": 1}, "vectors must differ"),
        ({"model": "edisc", "vectors": [1.0]}, "vectors must be a 2-D array"),
        ({"random_state": np.random.default_rng(0)}, "random_state"),
    ],
)
def test_refuses(options, match):
    with pytest.raises(ValueError, match=match):
        make_senses(**options)
