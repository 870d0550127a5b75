"""Minka's fixed point of the Dirichlet prior of documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from skbayesembed.topics.alpha import LEAST_ALPHA, digamma_difference, learn_alpha, minka_step


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    theta = rng.dirichlet([0.2, 0.5, 1.5], 400)
    counts = np.array([rng.multinomial(n, p) for n, p in zip(rng.poisson(30, 400), theta)])  # noqa: B905
    counts[7] = 0
    return counts


def log_likelihood(alpha, counts):
    n = counts.sum(axis=1)
    value = np.sum(gammaln(alpha.sum()) - gammaln(alpha.sum() + n))
    return value + np.sum(gammaln(counts + alpha) - gammaln(alpha))


@pytest.mark.parametrize("a", [1e-4, 0.3, 7.9, 1e4])
@pytest.mark.parametrize("n", [0.0, 0.4, 1.0, 12.0, 3e5])
def test_digamma_difference(a, n):
    expected = digamma(a + n) - digamma(a)
    assert digamma_difference(n, a) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("symmetric", [False, True])
def test_step(counts, symmetric):
    alpha = np.array([0.4, 1.0, 0.7])
    out = np.empty(3)
    minka_step(counts, alpha, symmetric, out)
    above = (digamma(counts + alpha) - digamma(alpha)).sum(axis=0)
    below = (digamma(counts.sum(axis=1) + alpha.sum()) - digamma(alpha.sum())).sum()
    above = np.full(3, above.mean()) if symmetric else above
    np.testing.assert_allclose(out, alpha * above / below)


@pytest.mark.parametrize("symmetric", [False, True])
def test_maximum(counts, symmetric):
    alpha = learn_alpha(counts, np.ones(3), symmetric=symmetric, max_iter=5000, tol=1e-9)

    def loss(x):
        return -log_likelihood(np.exp(np.broadcast_to(x, 3)), counts)

    best = minimize(loss, np.zeros(1 if symmetric else 3), method="Nelder-Mead", tol=1e-10)
    np.testing.assert_allclose(np.log(alpha), np.broadcast_to(best.x, 3), atol=1e-4)


def test_every_step_raises_the_likelihood(counts):
    alpha, values = np.array([3.0, 0.1, 1.0]), []
    for _ in range(20):
        values.append(log_likelihood(alpha, counts))
        alpha = learn_alpha(counts, alpha, max_iter=1)
    assert np.all(np.diff(values) > 0)


def test_fractions_and_topics_without_tokens(counts):
    halved = np.column_stack([0.5 * counts, np.zeros(len(counts))])
    alpha = learn_alpha(halved, np.ones(4))
    assert alpha[3] == LEAST_ALPHA and np.all(alpha[:3] > LEAST_ALPHA)
    np.testing.assert_array_equal(learn_alpha(np.zeros((3, 2)), [0.4, 2.0]), [0.4, 2.0])
