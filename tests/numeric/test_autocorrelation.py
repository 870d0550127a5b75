"""Whitening and the posterior of correlations against whole matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skbayesembed.numeric.autocorrelation import Autocorrelation, LeastSquaresInTime
from skbayesembed.regression_in_time import SlopesInTime

SIZES = (1, 3, 2, 4, 1, 2, 2, 3)


def problem(rng, sizes=SIZES):
    """A design of two columns, an outcome, units and their times, two of them the same."""
    index = np.repeat(np.arange(len(sizes)), sizes)
    times = np.array([1.0, 2.0, 2.0, 5.0, 6.0, 9.0, 9.5, 13.0])[: len(sizes)][index]
    x = np.column_stack([rng.normal(size=index.size), np.ones(index.size)])
    return x, rng.normal(size=index.size), index, times


def correlations(index, times, length, slow, unit):
    apart = np.abs(times[:, None] - times)
    process = np.exp(-apart / length) if length > 0 else np.eye(len(index))
    same = index[:, None] == index
    return slow * process + unit * same + (1 - slow - unit) * np.eye(len(index))


@pytest.mark.parametrize("sizes", [SIZES, (1,) * 8], ids=["several rows", "one row each"])
def test_against_whole_matrices(sizes):
    """Weights are restricted likelihoods, and rows are whitened by the Cholesky factor."""
    x, y, index, times = problem(np.random.default_rng(0), sizes)
    found = Autocorrelation(x, y, index, times)
    step, span = np.median(np.diff(np.unique(times[np.unique(index, return_index=True)[1]]))), 12.0
    units = (0.0, 0.1, 0.3, 0.5, 0.7) if max(sizes) > 1 else (0.0,)
    alone = [(0.0, 0.0, u) for u in (*units, *([0.9] if max(sizes) > 1 else []))]
    shares = [(s, u) for s in (0.1, 0.3, 0.5, 0.7, 0.9, 0.98) for u in units if s + u <= 0.985]
    lengths = np.geomspace(0.5 * step, 25 * span, 10)
    models = alone + [(h, *of) for h, of in itertools.product(lengths, shares)]
    line = (times - times.mean()) / times.std()
    log_p = []
    for model, with_line in itertools.product(models, (False, True)):
        cov = correlations(index, times, *model)
        z = np.column_stack([x, line]) if with_line else x
        inverse = np.linalg.inv(cov)
        left = y - z @ np.linalg.solve(z.T @ inverse @ z, z.T @ inverse @ y)
        log_p.append(
            -0.5 * np.linalg.slogdet(cov)[1]
            - 0.5 * np.linalg.slogdet(z.T @ inverse @ z)[1]
            - 0.5 * (len(y) - x.shape[1]) * np.log(left @ inverse @ left)
        )
        # half of the prior is that of independent units, of lengths it goes by 1 / sqrt(length)
        of_length = sum(other[0] ** -0.5 for other in models if other[0] > 0)
        prior = 0.5 / len(alone) if model[0] == 0 else 0.5 * model[0] ** -0.5 / of_length
        log_p[-1] += np.log(prior)
    p = np.exp(np.array(log_p) - max(log_p))
    p = np.where(p >= 0.01, p, 0.0)
    np.testing.assert_allclose(found.weights, p[p > 0] / p.sum(), rtol=1e-8)
    expected = np.array(list(itertools.product(models, (False, True))), dtype=object)[p > 0]
    for i in (0, len(expected) // 2, len(expected) - 1):
        model, with_line = expected[i]
        assert found.lines[i] == with_line
        factor = np.linalg.cholesky(correlations(index, times, *model))
        white = np.linalg.solve(factor, np.column_stack([x, y]))
        np.testing.assert_allclose(found.whiten(i, np.column_stack([x, y])), white, atol=1e-9)
    assert found.trend == pytest.approx(found.weights @ found.lines)
    means = np.array([index == unit for unit in range(len(sizes))]) / np.array(sizes)[:, None]
    expected_of = []
    for model, with_line in expected:
        z = np.column_stack([np.ones(len(sizes)), means @ line])[:, : 1 + with_line]
        away = np.eye(len(sizes)) - z @ np.linalg.pinv(z)
        cov = away @ means @ correlations(index, times, *model) @ means.T @ away
        expected_of.append(np.sum(np.diag(cov, 1)) / np.trace(cov))
    mean, ends = found.neighbors(0.9)
    assert mean == pytest.approx(found.weights @ np.array(expected_of))
    assert min(expected_of) - 1e-9 <= ends[0] < mean < ends[1] <= max(expected_of) + 1e-9


def test_regressions_on_draws_and_of_them_are_the_same():
    """Without error of features, of one outcome and of several."""
    rng = np.random.default_rng(3)
    x, y, index, times = problem(rng)
    order = rng.permutation(len(y))
    one = LeastSquaresInTime(x[order], y[order], index[order], times[order])
    mean, variance, influence = one.fit(np.column_stack([y, 2 * y])[order])
    draws = np.repeat(x[None, :, :1], 20, axis=0)
    other = SlopesInTime(draws, x[:, 1:], y, index, False, times)
    np.testing.assert_allclose(mean[:, 0], other.slopes)
    np.testing.assert_allclose(mean[:, 1], 2 * other.slopes)
    np.testing.assert_allclose(variance[:, 0], np.diag(other.by_units))
    np.testing.assert_allclose(variance[:, 1], 4 * np.diag(other.by_units))
    np.testing.assert_allclose(np.sum(influence**2, axis=0), variance)
    np.testing.assert_allclose(one.freedom, other.freedom)


def test_what_is_found():
    """Of a random walk neighbours correlate, of independent rows little, of a trend the line."""
    rng, n = np.random.default_rng(1), 80
    x = np.column_stack([rng.normal(size=n), np.ones(n)])
    index, times = np.arange(n), np.arange(n, dtype=float)
    walk = Autocorrelation(x, np.cumsum(rng.normal(size=n)), index, times)
    noise = rng.normal(size=n)
    alone = Autocorrelation(x, noise, index, times)
    rising = Autocorrelation(x, noise + 0.05 * times, index, times)
    mean, (low, high) = walk.neighbors(0.9)
    assert low <= mean <= high and low > 0.5
    assert alone.neighbors(0.9)[0] < 0.2 and alone.trend < 0.5 < 0.95 < rising.trend
    told = Autocorrelation(np.column_stack([x, times]), noise, index, times)
    assert np.isnan(told.trend) and not told.lines.any()
