"""Kernels of trajectories against dense linear algebra, and how often they do cubic work."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.dynamic.data import PeriodPairs
from skbayesembed.dynamic.gibbs import kernels
from skbayesembed.numeric.tridiagonal import Tridiagonal
from skbayesembed.sgns.pairs import PairCounts

V, K, T, EMPTY = 6, 3, 5, 2
PRECISION = Tridiagonal.ornstein_uhlenbeck([1.0, 2.0, 0.1, 4.0], 0.1, 0.7)


@pytest.fixture(scope="module")
def problem():
    """A table with a period without data and a word that is never seen, and vectors."""
    rng = np.random.default_rng(0)
    counts = []
    for t in range(T):
        positive, negative = rng.poisson(0.7, (2, V, V)) * (t != EMPTY)
        positive[4] = negative[4] = 0
        counts.append(PairCounts(positive, negative))
    pairs = PeriodPairs(counts)
    x, y = rng.normal(size=(2, T, V, K))
    omega = rng.gamma(1.0, 0.5, pairs.n_pairs)
    return pairs, x, y, omega


def entries(pairs, side, w, t):
    row = w * pairs.n_periods + t
    return np.arange(pairs.indptr[side][row], pairs.indptr[side][row + 1])


def dense_conditional(pairs, side, w, omega, y):
    """Precision and linear term of a word's trajectory, (T K, T K) and (T K,)."""
    precision = np.kron(PRECISION.dense(), np.eye(K))
    linear = np.zeros((T, K))
    for t in range(T):
        for e in entries(pairs, side, w, t):
            v = y[t, pairs.indices[side][e]]
            block = slice(t * K, (t + 1) * K)
            precision[block, block] += omega[e] * np.outer(v, v)
            linear[t] += pairs.kappa[side][e] * v
    return precision, linear.ravel()


def draw(pairs, side, start, stop, omega, y, rng, x):
    first, last = pairs.indptr[side][[start * T, stop * T]]
    kernels.draw_trajectories(
        start, stop, pairs.indptr[side], pairs.indices[side], omega[first:last],
        pairs.kappa[side], y, PRECISION.diagonal, PRECISION.off, rng, x,
    )  # fmt: skip


@pytest.mark.parametrize("side", [0, 1])
def test_logits(problem, side):
    pairs, x, y, _ = problem
    first, last = pairs.indptr[side][[2 * T, 5 * T]]
    out = np.empty(last - first)
    kernels.trajectory_logits(2, 5, pairs.indptr[side], pairs.indices[side], x, y, out)
    expected = [
        x[t, w] @ y[t, pairs.indices[side][e]]
        for w in range(2, 5)
        for t in range(T)
        for e in entries(pairs, side, w, t)
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize("side", [0, 1])
def test_draws_against_the_dense_twin(problem, side):
    """The same noise through a Cholesky factor of the whole precision; other words stay."""
    pairs, x, y, omega = problem
    moved = x.copy()
    draw(pairs, side, 2, 5, omega, y, np.random.default_rng(5), moved)
    rng = np.random.default_rng(5)
    for w in range(2, 5):
        precision, linear = dense_conditional(pairs, side, w, omega, y)
        factor = np.linalg.cholesky(precision)
        noise = rng.standard_normal((T, K))[::-1].ravel()  # the last period draws first
        expected = np.linalg.solve(factor.T, np.linalg.solve(factor, linear) + noise)
        np.testing.assert_allclose(moved[:, w], expected.reshape(T, K), rtol=1e-9, atol=1e-9)
    untouched = [0, 1, 5]
    np.testing.assert_array_equal(moved[:, untouched], x[:, untouched])


def test_draws_have_the_mean_and_the_covariance(problem):
    pairs, x, y, omega = problem
    n, w, rng = 6000, 1, np.random.default_rng(6)
    draws, out = np.empty((n, T * K)), x.copy()
    for i in range(n):
        draw(pairs, 0, w, w + 1, omega, y, rng, out)
        draws[i] = out[:, w].ravel()
    precision, linear = dense_conditional(pairs, 0, w, omega, y)
    expected = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(expected))
    error = (draws.mean(axis=0) - expected @ linear) / scale
    # 15 means with the standard error 1 / sqrt(n), 120 products with at most sqrt(2 / n)
    assert np.abs(error).max() < 4.5 / np.sqrt(n)
    error = (np.cov(draws.T) - expected) / np.outer(scale, scale)
    assert np.abs(error).max() < 4.5 * np.sqrt(2 / n)


def test_an_unseen_word_is_drawn_from_the_prior(problem):
    pairs, _, y, omega = problem
    precision, linear = dense_conditional(pairs, 0, 4, omega, y)
    np.testing.assert_array_equal(precision, np.kron(PRECISION.dense(), np.eye(K)))
    assert not linear.any()


def test_cubic_work_grows_linearly_in_the_periods(monkeypatch):
    """Calls on matrices (K, K) of the kernels' Python sources; there is no larger matrix."""
    calls = {"cholesky": 0, "invert_transposed": 0, "solve_lower": 0, "solve_upper": 0}

    def counting(name):
        kernel = getattr(kernels, name)

        def call(a, *rest):
            assert a.shape == (K, K)
            calls[name] += 1
            return kernel(a, *rest)

        return call

    for name in calls:
        monkeypatch.setattr(kernels, name, counting(name))
    for n_periods in (10, 20, 40):
        calls.update(dict.fromkeys(calls, 0))
        precision = Tridiagonal.ornstein_uhlenbeck(np.ones(n_periods - 1), 0.1, 1.0)
        blocks, linear = np.zeros((n_periods, K, K)), np.ones((n_periods, K))
        spare = np.empty((K, K)), np.empty((K, K))
        kernels.factor_trajectory.py_func(precision.diagonal, precision.off, blocks, linear, *spare)
        kernels.sample_trajectory.py_func(
            precision.off, blocks, linear, np.random.default_rng(0), np.empty(K)
        )
        assert calls == {
            "cholesky": n_periods,
            "invert_transposed": n_periods - 1,
            "solve_lower": 2 * n_periods - 1,
            "solve_upper": n_periods,
        }
