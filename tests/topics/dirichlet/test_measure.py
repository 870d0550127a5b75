"""Base measures: their density, its gradient, and moves that leave their posterior as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, polygamma
from scipy.stats import invgamma, norm

from skbayesembed.topics.dirichlet import measure_kernels
from skbayesembed.topics.dirichlet.measure import BaseMeasures, Tokens
from skbayesembed.topics.dirichlet.moves import Metric, climb, trajectory

V, E = 12, 3


def at_random(rng, k, n_background, n_words=V):
    """Measures, a base drawn from around their prior's means, and counts."""
    vectors = rng.normal(size=(n_words, E))
    measures = BaseMeasures(vectors, rng.normal(size=n_words), k, n_background)
    base = measures.start()
    base.theta += 0.5 * rng.normal(size=measures.n_free)
    counts = rng.poisson(3.0, (n_words, k)) * rng.integers(0, 8, (n_words, k))
    return measures, base, counts


@pytest.mark.parametrize("n", [1, 2, 8, 9, 500, 0.25, 3.7])
@pytest.mark.parametrize("b", [1e-6, 0.3, 31.9, 32.0, 40.0, 1e9, 1e28])
def test_log_rising(b, n):
    """Of large b too, where the difference of Gamma functions is nothing but rounding."""
    h = 1e-6 * b
    value, slope = measure_kernels.log_rising(b, n)
    if b < 1e6:
        known = gammaln(b + n) - gammaln(b)
    else:  # n (n - 1) / 2 b is all that is left of the series
        known = n * np.log(b) + 0.5 * n * (n - 1) / b
    np.testing.assert_allclose(value, known, rtol=1e-10, atol=1e-10)
    right, left = (measure_kernels.log_rising(x, n)[0] for x in (b + h, b - h))
    np.testing.assert_allclose(slope, b * (right - left) / (2 * h), rtol=1e-4)


@pytest.mark.parametrize("x", [1e-5, 0.4, 7.9, 60.0])
def test_trigamma(x):
    np.testing.assert_allclose(measure_kernels.trigamma(x), polygamma(1, x), rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 500])
@pytest.mark.parametrize("b", [1e-304, 1e-160, 1e-6, 0.3, 31.9, 32.0, 1e9, 1e28, 1e200])
def test_bend(b, n):
    """By the recurrence of psi'. A word far from its topic's has next to no pseudo-tokens there."""
    known = np.sum((b / (b + np.arange(n))) ** 2)
    np.testing.assert_allclose(measure_kernels.bend(b, float(n)), known, rtol=1e-9)


def test_metric_where_words_are_as_good_as_impossible():
    """Masses of nan once made chains of nan, of which nothing was left."""
    measures, base, counts = at_random(np.random.default_rng(0), 3, 0)
    measures.topic_vectors(base.theta)[0] *= 1e4
    blocks, diagonal = measures.information(base, Tokens.of(counts))
    assert np.linalg.eigvalsh(blocks).min() > 0
    assert np.isfinite(diagonal).all()
    assert diagonal.min() > 0


@pytest.mark.parametrize("n_background", [0, 1])
def test_density_and_gradient(n_background):
    measures, base, counts = at_random(np.random.default_rng(0), 4, n_background)
    counts = counts + 0.5 * (counts > 9)
    b, eta = measures.pseudo_tokens(base.theta)
    logits = measures.vectors @ measures.all_vectors(base.theta).T
    logits += measures.levels(base.theta)[:, None]
    np.testing.assert_allclose(b, eta * np.exp(logits - logsumexp(logits, axis=0)), rtol=1e-12)
    expected = np.sum(gammaln(b + counts) - gammaln(b))
    expected += np.sum(gammaln(eta) - gammaln(eta + counts.sum(axis=0)))
    tokens, gradient = Tokens.of(counts), np.empty(measures.n_free)
    nothing = Tokens.of(np.zeros_like(counts))
    found = measures.log_likelihood(base.theta, tokens)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    measures.log_density(base, tokens, gradient)
    numeric, h = np.empty_like(gradient), 1e-5
    for i in range(measures.n_free):
        values = []
        for sign in (1, -1):
            theta = base.theta.copy()
            theta[i] += sign * h
            values.append(measures.log_density(replace(base, theta=theta), tokens))
        numeric[i] = (values[0] - values[1]) / (2 * h)
    # a step of 1e-5 leaves third derivatives of 1e-10, and rounding of 1e-16 times 1e3 over 1e-5
    np.testing.assert_allclose(gradient, numeric, atol=1e-6 * np.abs(gradient).max())
    # the probabilities of topics become those of their base measures
    base.theta[-1] = 64.0
    found = measures.log_density(base, tokens, gradient) - measures.log_density(base, nothing)
    np.testing.assert_allclose(found, np.sum(counts * np.log(measures.measure(base.theta))))
    np.testing.assert_allclose(gradient[-1], -(64.0 - np.log(V)) / 4)


def test_the_prior():
    """Densities of scipy; and what moves climb differs from it by constants alone."""
    measures, base, counts = at_random(np.random.default_rng(0), 4, 1)
    base.topic_variance, base.word_variance = 0.7, 0.4
    length = np.mean(np.sum(measures.vectors**2, axis=1))

    def known(theta):
        t, levels = measures.topic_vectors(theta), measures.levels(theta)
        return (
            norm.logpdf(t, 0, 0.7**0.5).sum()
            + norm.logpdf(levels, measures.offset, 0.4**0.5).sum()
            + norm.logpdf(theta[-1], np.log(V), 2.0)
            + invgamma.logpdf(0.7, 2.0, scale=1 / length)
            + invgamma.logpdf(0.4, 2.0, scale=0.25)
        )

    np.testing.assert_allclose(measures.log_prior(base), known(base.theta), rtol=1e-12)
    tokens, other = Tokens.of(counts), replace(base, theta=base.theta + 0.3)
    found = [
        measures.log_density(at, tokens) - measures.log_likelihood(at.theta, tokens)
        for at in (base, other)
    ]
    np.testing.assert_allclose(
        found[1] - found[0], known(other.theta) - known(base.theta), rtol=1e-9
    )


def test_the_background_has_no_vector():
    measures, base, _ = at_random(np.random.default_rng(0), 3, 1)
    levels = measures.levels(base.theta)
    np.testing.assert_array_equal(measures.all_vectors(base.theta)[0], 0.0)
    np.testing.assert_allclose(
        measures.measure(base.theta)[:, 0], np.exp(levels - logsumexp(levels)), rtol=1e-12
    )


def test_ascent_ends_near_the_mode():
    measures, base, counts = at_random(np.random.default_rng(1), 3, 1)
    tokens, gradient = Tokens.of(counts), np.empty(measures.n_free)
    before = measures.log_density(base, tokens, gradient)
    begun = gradient @ Metric.at(measures, base, tokens).solve(gradient)
    climb(measures, base, tokens, 200)
    assert measures.log_density(base, tokens, gradient) > before
    # twice what one more step would gain, about: masses are no Hessian, and ascent is rough
    left = gradient @ Metric.at(measures, base, tokens).solve(gradient)
    assert left < 0.05 * begun


def test_trajectories_leave_the_posterior_as_it_is():
    """Two topics of five words against draws of the prior, weighted by the words' probability."""
    rng = np.random.default_rng(2)
    vectors = np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    measures = BaseMeasures(vectors, np.zeros(5), 2, 0)
    tokens = Tokens.of(np.array([[4, 0], [0, 1], [1, 0], [2, 3], [0, 5]]))
    prior = 1 / np.sqrt(measures.precisions(measures.start()))

    def look(theta):
        t = measures.topic_vectors(theta)
        seen = np.array([t[0, 0], t[1, 0], *measures.levels(theta)[[0, 4]], theta[-1]])
        return np.concatenate([seen, seen**2])

    start, n = measures.start(), 5_000
    drawn = start.theta + prior * rng.normal(size=(n, measures.n_free))
    logs = np.array([measures.log_likelihood(theta, tokens) for theta in drawn])
    weights = np.exp(logs - logsumexp(logs))
    seen = np.array([look(theta) for theta in drawn])
    expected = weights @ seen
    error = np.sqrt(weights**2 @ (seen - expected) ** 2)

    base, found = measures.start(), []
    metric = Metric.at(measures, base, tokens)
    for _ in range(3_000):
        # steps so long that most are refused: what is not refused rightly is seen
        trajectory(measures, base, tokens, metric, 1.5, rng, n_steps=2)
        found.append(look(base.theta))
    blocks = np.array(found).reshape(40, 75, -1).mean(axis=1)
    error = np.hypot(error, blocks.std(axis=0, ddof=1) / np.sqrt(40))
    # ten numbers: beyond 4.5 errors (Student, 39 degrees of freedom) in one of 1,500 seeds
    assert np.all(np.abs(blocks.mean(axis=0) - expected) < 4.5 * error)


def test_variances_are_drawn_from_their_conditionals():
    """One over the variance has a gamma distribution, whose mean is shape over rate."""
    rng = np.random.default_rng(3)
    measures, base, _ = at_random(rng, 3, 1)
    own = measures.topic_vectors(base.theta).ravel()
    draws = np.empty((4_000, 2))
    for row in draws:
        measures.draw_variances(base, rng)
        row[:] = 1 / base.topic_variance, 1 / base.word_variance
    away = measures.levels(measures.away(base.theta))
    for column, scale, values in zip(
        draws.T, (measures.topic_scale, 0.25), (own, away), strict=True
    ):
        shape, rate = 2.0 + values.size / 2, scale + values @ values / 2
        error = np.sqrt(shape) / rate / np.sqrt(len(draws))
        assert abs(column.mean() - shape / rate) < 4.5 * error
