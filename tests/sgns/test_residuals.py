"""Products with residuals and slopes in single precision: their formulas, tables, threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_expit

from skbayesembed import PairCounts
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.residuals import Residuals

V, K = 600, 3


@pytest.fixture(scope="module")
def counts():
    # more words than a block has, and words without pairs
    rng = np.random.default_rng(1)
    positive, negative = (rng.poisson(0.3, (V, V)) * 1.0 for _ in range(2))
    for count in (positive, negative):
        count[7] = 0.0
        count[:, 11] = 0.0
    return positive, negative


@pytest.fixture(scope="module", params=[DensePairs, SparsePairs])
def table(request, counts):
    return request.param(PairCounts(*map(sparse.csr_array, counts)))


@pytest.fixture
def vectors(rng_seed=3):
    rng = np.random.default_rng(rng_seed)
    return [rng.standard_normal((V, n)).astype(np.float32) for n in (K, K, 5, 2)]


def close(found, expected):
    # single precision: seven digits of sums of a few hundred terms
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_formulas(table, counts, vectors):
    x, y, z, u = vectors
    positive, negative = counts
    t = x.astype(float) @ y.T.astype(float)
    residual = positive - (positive + negative) * expit(t)
    slope = (positive + negative) * expit(t) * expit(-t)
    residuals = Residuals(table, serial)
    close(residuals.times(x, y, z), residual @ z)
    close(residuals.transposed(x, y, u), residual.T @ u)
    gradient = np.empty((2, V, K), np.float32)
    value = residuals.gradient(x, y, gradient)
    assert value == pytest.approx((positive * log_expit(t) + negative * log_expit(-t)).sum(), 1e-6)
    close(gradient, np.stack([residual @ y, residual.T @ x]))
    for found, expected in zip(residuals.slopes(x, y, z, u), (slope @ z, slope.T @ u), strict=True):
        close(found, expected)


def test_threads_change_no_bit(table, vectors):
    x, y, z, u = vectors
    found = []
    for n_threads in (1, 2, 3):
        with Workers(n_threads) as run:
            residuals = Residuals(table, run)
            gradient = np.empty((2, V, K), np.float32)
            value = residuals.gradient(x, y, gradient)
            found.append((value, gradient, *residuals.slopes(x, y, z, u)))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_extreme_logits(table, vectors):
    x, y = (100.0 * v for v in vectors[:2])
    gradient = np.empty((2, V, K), np.float32)
    assert np.isfinite(Residuals(table, serial).gradient(x, y, gradient))
    assert np.all(np.isfinite(gradient))
