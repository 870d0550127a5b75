"""Kernels of the sense models' Gibbs sampler against slow twins and known distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logsumexp

from skbayesembed.numeric.tridiagonal import Tridiagonal
from skbayesembed.senses.gibbs import kernels
from skbayesembed.senses.gibbs import metropolis_kernels as metropolis
from skbayesembed.senses.replication import uniform_kernels as uniform
from skbayesembed.senses.table_kernels import SoftmaxTable
from tests.helpers.pg_moments import pg_mean, pg_variance

K, T, V = 3, 4, 5
CHAIN = Tridiagonal.autoregression(T, 0.8, 0.5)


def random_table(rng, spread=1.0):
    """Logits with counts, one row of them without any."""
    x = spread * rng.normal(size=(K, T, V))
    counts = rng.poisson(2.0, (K, T, V)).astype(float)
    counts[1, 2] = 0.0
    return x, counts


def gaussian_reversed(precision, linear, rng):
    """N(P^-1 linear, P^-1) from the upper Cholesky factor, the last coordinate's noise first."""
    lower = np.linalg.cholesky(precision)
    noise = rng.standard_normal(linear.size)[::-1]
    return np.linalg.solve(precision, linear) + np.linalg.solve(lower.T, noise)


def logistic_term(x, counts, k, t, v, rng, approximate):
    """Precision and linear term of one entry of a softmax row."""
    offset = logsumexp(np.delete(x[k, t], v))
    h = counts[k, t].sum()
    omega = kernels.polya_gamma(h, x[k, t, v] - offset, approximate, rng)
    return omega, counts[k, t, v] - h / 2 + omega * offset


@pytest.mark.parametrize("n", [1, 2, 6])
def test_draw_path(n):
    rng = np.random.default_rng(2)
    chain = Tridiagonal.autoregression(n, 0.8, 0.5)
    diagonal = chain.diagonal + rng.uniform(0, 3, n)
    linear, out = rng.normal(size=n), np.empty(n)
    precision = Tridiagonal(diagonal, chain.off).dense()
    expected = gaussian_reversed(precision, linear, np.random.default_rng(3))
    kernels.draw_path(
        diagonal, chain.off, linear, np.random.default_rng(3), np.empty(n), np.empty(n), out
    )
    np.testing.assert_allclose(out, expected, rtol=1e-11)


@pytest.mark.parametrize("approximate", [False, True])
def test_draw_walks(approximate):
    rng = np.random.default_rng(4)
    start, counts = random_table(rng)
    x, twin_rng = start.copy(), np.random.default_rng(5)
    for k in range(K):
        for v in range(V):
            diagonal, linear = CHAIN.diagonal.copy(), np.zeros(T)
            for t in range(T):
                if counts[k, t].sum() > 0:
                    omega, pull = logistic_term(x, counts, k, t, v, twin_rng, approximate)
                    diagonal[t] += omega
                    linear[t] += pull
            precision = Tridiagonal(diagonal, CHAIN.off).dense()
            x[k, :, v] = gaussian_reversed(precision, linear, twin_rng)
    table = SoftmaxTable.of(start)
    kernels.draw_walks(
        table, counts, counts.sum(axis=2), CHAIN.diagonal, CHAIN.off, approximate,
        np.random.default_rng(5),
    )  # fmt: skip
    np.testing.assert_allclose(table.x, x, rtol=1e-9)


@pytest.mark.parametrize("approximate", [False, True])
def test_draw_additive(approximate):
    rng = np.random.default_rng(6)
    _, counts = random_table(rng)
    chi, theta = rng.normal(size=(K, V)), rng.normal(size=(T, V))
    chi_twin, theta_twin, twin_rng = chi.copy(), theta.copy(), np.random.default_rng(7)
    x = chi[:, None] + theta
    for v in range(V):
        precision = np.zeros((T + K, T + K))
        precision[:T, :T] = CHAIN.dense()
        precision[T:, T:] = np.eye(K) / 1.25
        linear = np.zeros(T + K)
        for k in range(K):
            for t in range(T):
                if counts[k, t].sum() > 0:
                    omega, pull = logistic_term(x, counts, k, t, v, twin_rng, approximate)
                    both = np.zeros(T + K)
                    both[[t, T + k]] = 1.0
                    precision += omega * np.outer(both, both)
                    linear += pull * both
        new = gaussian_reversed(precision, linear, twin_rng)
        theta_twin[:, v], chi_twin[:, v] = new[:T], new[T:]
        x[:, :, v] = chi_twin[:, v, None] + theta_twin[:, v]
    table = SoftmaxTable.of(chi[:, None] + theta)
    kernels.draw_additive(
        chi, theta, table, counts, counts.sum(axis=2), 1 / 1.25, CHAIN.diagonal, CHAIN.off,
        approximate, np.random.default_rng(7),
    )  # fmt: skip
    np.testing.assert_allclose(chi, chi_twin, rtol=1e-9)
    np.testing.assert_allclose(theta, theta_twin, rtol=1e-9)
    np.testing.assert_allclose(table.x, x, rtol=1e-9)


def newton_proposal(x, offsets, counts, sizes, prior, design):
    """Mean, precision and log likelihood of the Newton step of one word from effects ``x``."""
    tilt = design @ x - offsets
    p = expit(tilt)
    information = sizes * p * (1 - p)
    precision = prior + design.T @ (information[:, None] * design)
    pull = counts - sizes * p + information * (design @ x)
    value = counts @ tilt - sizes @ np.logaddexp(0, tilt) - x @ prior @ x / 2
    return np.linalg.solve(precision, design.T @ pull), precision, value


@pytest.mark.parametrize("shared", [True, False])
def test_move_words(shared):
    """Against multivariate normal proposals of scipy, the effects of a word in one vector."""
    rng = np.random.default_rng(17)
    x, counts = random_table(rng)
    chi, theta = rng.normal(size=(K, V)), rng.normal(size=(T, V))
    if shared:
        x = chi[:, None] + theta
    table, kept = SoftmaxTable.of(x.copy()), (chi.copy(), theta.copy())
    accepted = metropolis.move_words(
        *kept, table, counts, counts.sum(axis=2), 0.8, CHAIN.diagonal, CHAIN.off, shared,
        np.random.default_rng(18),
    )  # fmt: skip

    rng, moves = np.random.default_rng(18), 0
    n_own = K if shared else 0
    prior = np.zeros((T + n_own, T + n_own))
    prior[:T, :T] = CHAIN.dense()
    prior[T:, T:] = 0.8 * np.eye(n_own)
    for rows in [range(K)] if shared else [[k] for k in range(K)]:
        design = np.tile(np.eye(T), (len(rows), 1))
        if shared:
            design = np.hstack([design, np.repeat(np.eye(K), T, axis=0)])
        sizes = counts[rows].sum(axis=2).ravel()
        for v in range(V):
            offsets = logsumexp(np.delete(x[rows], v, axis=2), axis=2).ravel()
            old = np.concatenate([theta[:, v], chi[:, v]]) if shared else x[rows[0], :, v]
            given = offsets, counts[rows][:, :, v].ravel(), sizes, prior, design
            mean, precision, old_value = newton_proposal(old, *given)
            noise = rng.standard_normal(old.size)[::-1]
            new = mean + np.linalg.solve(np.linalg.cholesky(precision).T, noise)
            back, back_precision, new_value = newton_proposal(new, *given)
            ratio = new_value - old_value
            ratio += stats.multivariate_normal(back, np.linalg.inv(back_precision)).logpdf(old)
            ratio -= stats.multivariate_normal(mean, np.linalg.inv(precision)).logpdf(new)
            if ratio > -rng.standard_exponential():
                moves += 1
                x[rows, :, v] = (design @ new).reshape(len(rows), T)
                if shared:
                    theta[:, v], chi[:, v] = new[:T], new[T:]
    assert 0 < accepted == moves < V * (1 if shared else K)
    np.testing.assert_allclose(table.x, x, rtol=1e-9)
    # sums of rows without counts are not kept up
    seen = counts.sum(axis=2) > 0
    np.testing.assert_allclose(table.log_sums()[seen], logsumexp(x, axis=2)[seen], rtol=1e-9)
    if shared:
        np.testing.assert_allclose(kept[0], chi, rtol=1e-9)
        np.testing.assert_allclose(kept[1], theta, rtol=1e-9)


def test_draw_senses():
    rng = np.random.default_rng(8)
    n = 40
    dense = rng.poisson(0.7, (n, V)).astype(float)
    dense[3] = 0.0
    of, words = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))])
    periods, genres = rng.integers(0, T, n), rng.integers(0, 2, n)
    labels = np.where(rng.random(n) < 0.2, rng.integers(0, K, n), -1)
    table = SoftmaxTable.of(3 * rng.normal(size=(K, T, V)))
    log_prevalence = np.log(rng.dirichlet(np.ones(K), (2, T)))
    senses, snippets, tokens = np.empty(n, int), np.empty((2, T, K)), np.empty((K, T, V))
    value = kernels.draw_senses(
        (indptr, words, dense[of, words], periods, genres, labels), log_prevalence, table.x,
        table.log_sums(), np.random.default_rng(9), senses, snippets, tokens,
    )  # fmt: skip

    twin_rng = np.random.default_rng(9)
    log_words = table.x - logsumexp(table.x, axis=2, keepdims=True)
    expected, twin, cells, cell_words = 0.0, [], 0 * snippets, 0 * tokens
    for d in range(n):
        t, g = periods[d], genres[d]
        a = log_prevalence[g, t] + log_words[:, t] @ dense[d]
        if labels[d] >= 0:
            expected += a[labels[d]]
            twin.append(labels[d])
        else:
            expected += logsumexp(a)
            p = np.exp(a - logsumexp(a))
            twin.append(int((twin_rng.random() >= np.cumsum(p)).sum()))
        cells[g, t, twin[-1]] += 1.0
        cell_words[twin[-1], t] += dense[d]
    assert len(set(twin)) == K
    np.testing.assert_array_equal(senses, twin)
    np.testing.assert_allclose(snippets, cells)
    np.testing.assert_allclose(tokens, cell_words)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_approximate_variable_has_two_moments_and_no_more():
    rng = np.random.default_rng(10)
    h, z, n = 9.0, 1.0, 40_000
    draws = np.array([kernels.polya_gamma(h, z, True, rng) for _ in range(n)])
    exact = np.array([kernels.polya_gamma(h, z, False, rng) for _ in range(n)])
    mean, sd = pg_mean(h, z), np.sqrt(pg_variance(h, z))
    for sample in (draws, exact):
        # the kurtosis of PG(1, z) is below 20: five standard errors of the variance
        assert abs(sample.mean() - mean) < 5 * sd / np.sqrt(n)
        assert abs(sample.var() / sd**2 - 1) < 5 * np.sqrt(20 / n)
    # three times as skewed: a sum of nine variables against one of them
    assert stats.skew(draws) > 2 * stats.skew(exact)


@pytest.mark.parametrize(
    "tilt",
    [
        pytest.param(-40.0, marks=pytest.mark.slow),
        -3.0,
        pytest.param(0.5, marks=pytest.mark.slow),
        40.0,
    ],
)
def test_bounds(tilt):
    """Against logits of the largest and the smallest of uniforms, and against rounding."""
    n, count, size = 20_000, 3.0, 10.0
    rng = np.random.default_rng(11)
    low, high = np.array([uniform.bounds(count, size, tilt, rng) for _ in range(n)]).T
    # the share of p below the largest is u^(1/3), that of 1 - p above the smallest u^(1/7)
    inside = np.exp(_log_expit(low) - _log_expit(tilt))
    outside = np.exp(_log_expit(-high) - _log_expit(-tilt))
    assert stats.kstest(inside**count, "uniform").pvalue > 1e-4
    assert stats.kstest(outside ** (size - count), "uniform").pvalue > 1e-4
    assert np.all(low <= tilt) and np.all(high >= tilt)


def _log_expit(x):
    return -np.logaddexp(0, -x)


def test_bounds_without_observations():
    rng = np.random.default_rng(0)
    assert uniform.bounds(0.0, 4.0, 0.0, rng)[0] == -np.inf
    assert uniform.bounds(4.0, 4.0, 0.0, rng)[1] == np.inf


@pytest.mark.parametrize(
    "low, high",
    [(-np.inf, np.inf), (-0.1, np.inf), (-1, 0.5), (-0.2, 9), (0.0, 0.3), (0.5, 3), (2, np.inf),
     (8, np.inf), (30, 30.001), (-np.inf, -5), (-3, -2.5), (-1e-9, 1e-9)],
)  # fmt: skip
def test_truncated_normal(low, high):
    rng = np.random.default_rng(12)
    draws = np.array([uniform.truncated_normal(low, high, rng) for _ in range(5000)])
    assert np.all((draws >= low) & (draws <= high))
    # twelve tests with fixed seeds: one in 800 would fail by chance
    assert stats.kstest(draws, stats.truncnorm(low, high).cdf).pvalue > 1e-4


def test_draw_between_survives_rounding():
    rng = np.random.default_rng(0)
    assert uniform.draw_between(0.0, 1.0, 2.0, 2.0, 2.0, rng) == 2.0
    above = np.nextafter(2.0, 3.0)
    assert 2.0 <= uniform.draw_between(0.0, 1.0, 2.0, above, 2.0, rng) <= above


def uniform_twin(x, counts, k, t, v, rng):
    """Bounds of one entry of a row."""
    offset = logsumexp(np.delete(x[k, t], v))
    p = expit(x[k, t, v] - offset)
    n, h = counts[k, t, v], counts[k, t].sum()
    low, high = -np.inf, np.inf
    if n > 0:
        u = p * np.exp(-rng.standard_exponential() / n)
        low = np.log(u / (1 - u)) + offset
    if h > n:
        u = 1 - (1 - p) * np.exp(-rng.standard_exponential() / (h - n))
        high = np.log(u / (1 - u)) + offset
    return low, high


def test_draw_walks_uniform():
    start, counts = random_table(np.random.default_rng(13))
    x, rng = start.copy(), np.random.default_rng(14)
    precision = CHAIN.dense()
    for k in range(K):
        for v in range(V):
            for t in range(T):
                low, high = uniform_twin(x, counts, k, t, v, rng)
                away = x[k, :, v].copy()
                away[t] = 0.0
                mean = -precision[t] @ away / precision[t, t]
                x[k, t, v] = uniform.draw_between(mean, precision[t, t], low, high, x[k, t, v], rng)
    table = SoftmaxTable.of(start)
    uniform.draw_walks_uniform(
        table, counts, counts.sum(axis=2), CHAIN.diagonal, CHAIN.off,
        np.random.default_rng(14),
    )  # fmt: skip
    np.testing.assert_allclose(table.x, x, rtol=1e-8)


def test_draw_effects_uniform():
    rng = np.random.default_rng(15)
    _, counts = random_table(rng)
    chi, theta = rng.normal(size=(K, V)), rng.normal(size=(T, V))
    twin_chi, twin_theta, twin_rng = chi.copy(), theta.copy(), np.random.default_rng(16)
    x = chi[:, None] + theta
    for k in range(K):
        for v in range(V):
            pairs = [uniform_twin(x, counts, k, t, v, twin_rng) for t in range(T)]
            low, high = zip(*pairs, strict=True)
            low, high = np.max(low - theta[:, v]), np.min(high - theta[:, v])
            twin_chi[k, v] = uniform.draw_between(0.0, 0.8, low, high, chi[k, v], twin_rng)
            x[k, :, v] = twin_chi[k, v] + theta[:, v]
    precision = CHAIN.dense()
    for v in range(V):
        for t in range(T):
            pairs = [uniform_twin(x, counts, k, t, v, twin_rng) for k in range(K)]
            low, high = zip(*pairs, strict=True)
            low, high = np.max(low - twin_chi[:, v]), np.min(high - twin_chi[:, v])
            away = twin_theta[:, v].copy()
            away[t] = 0.0
            mean = -precision[t] @ away / precision[t, t]
            twin_theta[t, v] = uniform.draw_between(
                mean, precision[t, t], low, high, theta[t, v], twin_rng
            )
            x[:, t, v] = twin_chi[:, v] + twin_theta[t, v]
    table = SoftmaxTable.of(chi[:, None] + theta)
    given = chi, theta, table, counts, counts.sum(axis=2)
    rng = np.random.default_rng(16)
    uniform.draw_sense_effects_uniform(*given, 0.8, rng)
    uniform.draw_time_effects_uniform(*given, CHAIN.diagonal, CHAIN.off, rng)
    np.testing.assert_allclose(chi, twin_chi, rtol=1e-8)
    np.testing.assert_allclose(theta, twin_theta, rtol=1e-8)
    np.testing.assert_allclose(table.x, x, rtol=1e-8)
