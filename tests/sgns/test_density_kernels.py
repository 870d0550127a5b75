"""Kernels of the log density against slow numpy twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from skbayesembed.sgns import density_kernels as dk
from skbayesembed.sgns.gibbs import kernels as mk
from tests.helpers.sgns_twins import (
    compressed,
    loglik,
    table,
)


@pytest.mark.parametrize("chunk", [1, 3, 16])
def test_gradients(chunk):
    x, y, n, kappa = table()
    residual = kappa + n / 2 - n * expit(x @ y.T)
    gx, gy = np.empty_like(x), np.zeros_like(y)
    value = dk.gradient_dense(x, y, n, kappa, chunk, gx, gy)
    assert_allclose(value, loglik(x @ y.T, n, kappa), rtol=1e-12)
    assert_allclose(gx, residual @ y, rtol=1e-10, atol=1e-12)
    assert_allclose(gy, residual.T @ x, rtol=1e-10, atol=1e-12)
    indptr, indices, n_, kappa_ = compressed(n, kappa)
    gx2, gy2 = np.empty_like(x), np.zeros_like(y)
    value2 = dk.gradient_sparse(0, len(x), indptr, indices, x, y, n_, kappa_, gx2, gy2)
    assert_allclose(value2, value, rtol=1e-12)
    assert_allclose(gx2, gx, rtol=1e-10, atol=1e-12)
    assert_allclose(gy2, gy, rtol=1e-10, atol=1e-12)


def test_pair_logits_curvature_and_probabilities():
    x, y, n, _ = table()
    indptr, indices, _ = compressed(n)
    out = np.empty(indptr[5] - indptr[2])
    dk.pair_logits(2, 5, indptr, indices, x, y, out)
    assert_allclose(out, (x @ y.T)[2:5][n[2:5] > 0], rtol=1e-12)
    sums = np.zeros(n.shape, np.float32), np.zeros(n.shape, np.float32)
    mk.curvature_dense(x, y, 2, *sums)
    p = expit(x @ y.T)
    assert_allclose(sums[0], x @ y.T, rtol=1e-5)
    assert_allclose(sums[1], p * (1 - p), rtol=1e-5)
    total = np.zeros(n.shape)
    dk.sum_probabilities(x, y, 3, total)
    assert_allclose(total, p, rtol=1e-12)
