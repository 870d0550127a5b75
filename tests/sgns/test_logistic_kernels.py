"""Elementwise kernels of the pair likelihood against slow numpy twins."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import expit

from skbayesembed.sgns import density_kernels as dk
from skbayesembed.sgns import logistic_kernels as lk
from tests.helpers.sgns_twins import (
    loglik,
)

LOGITS = np.concatenate([np.linspace(-40, 40, 401), [0.0, -0.0, 750.0, -750.0, 1e-12, -1e-12]])


def test_elementwise():
    rng = np.random.default_rng(0)
    n = rng.uniform(0, 5, LOGITS.size)
    kappa = n * rng.uniform(-0.5, 0.5, LOGITS.size)
    out = np.empty_like(LOGITS)
    lk.residuals(LOGITS, n, kappa, out)
    expected = kappa + n / 2 - n * expit(LOGITS)
    assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
    assert_allclose(lk.log_likelihood(LOGITS, n, kappa), loglik(LOGITS, n, kappa), rtol=1e-13)
    both = np.empty_like(LOGITS)
    value = lk.residuals_and_likelihood(LOGITS, n, kappa, both)
    assert_allclose(both, out, rtol=1e-13, atol=1e-14)
    assert_allclose(value, loglik(LOGITS, n, kappa), rtol=1e-13)
    total = np.zeros_like(LOGITS)
    dk.add_probabilities(LOGITS, total)
    assert_allclose(total, expit(LOGITS), rtol=1e-13, atol=1e-300)


def test_curvature_and_linearisation():
    rng = np.random.default_rng(1)
    n = rng.uniform(0, 5, LOGITS.size)
    kappa = n * rng.uniform(-0.5, 0.5, LOGITS.size)
    sums = np.zeros(LOGITS.size, np.float32), np.zeros(LOGITS.size, np.float32)
    for _ in range(2):
        lk.accumulate_curvature(LOGITS, *sums)
    p = expit(LOGITS)
    assert_allclose(sums[0], 2 * LOGITS, rtol=1e-6)
    assert_allclose(sums[1], 2 * p * expit(-LOGITS), rtol=1e-6)
    weight, shift = np.empty_like(sums[0]), np.empty_like(sums[0])
    lk.linearise(*sums, np.float32(0.5), n, kappa, weight, shift)
    assert_allclose(weight, n * p * expit(-LOGITS), rtol=1e-5)
    expected = kappa + n / 2 - n * p + n * p * expit(-LOGITS) * LOGITS
    assert_allclose(shift, expected, rtol=1e-4, atol=1e-5)
