"""Kernels of small Gaussians against formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed.numeric import cholesky_kernels as ck
from skbayesembed.sgns.gibbs import gaussian_kernels as gk


def test_small_gaussian_algebra():
    rng = np.random.default_rng(2)
    k = 6
    root = rng.normal(size=(k, k))
    a = root @ root.T + np.eye(k)
    prior = rng.uniform(1, 2, k)
    packed = a[np.tril_indices(k)]
    out = np.zeros((k, k))
    gk.unpack_precision(packed, prior, out)
    precision = a + np.diag(prior)
    assert_allclose(np.tril(out), np.tril(precision))
    ck.cholesky(out, 1e-14)
    lower = np.linalg.cholesky(precision)
    assert_allclose(np.tril(out), lower, rtol=1e-12)
    x = rng.normal(size=k)
    for kernel, expected in (
        (ck.solve_lower, np.linalg.solve(lower, x)),
        (ck.solve_upper, np.linalg.solve(lower.T, x)),
    ):
        got = x.copy()
        kernel(out, got)
        assert_allclose(got, expected, rtol=1e-11)
    got = np.empty(k)
    ck.multiply_upper(out, x, got)
    assert_allclose(got, lower.T @ x, rtol=1e-12)
    mean = rng.normal(size=k)
    gk.unwhiten(out, mean, x, got)
    assert_allclose(got, mean + np.linalg.solve(lower.T, x), rtol=1e-11)
    table_ = np.empty((4, k * (k + 1) // 2))
    y = rng.normal(size=(4, k))
    gk.outer_table(y, table_)
    assert_allclose(table_, [np.outer(v, v)[np.tril_indices(k)] for v in y])


def test_cholesky_lifts_lost_pivots():
    a = np.array([[1.0, 1.0], [1.0, 1.0]])
    ck.cholesky(a, 1e-6)
    assert np.all(np.isfinite(a)) and a[1, 1] == pytest.approx(1e-3)


def test_hamiltonian_pieces():
    rng = np.random.default_rng(3)
    k = 4
    root = rng.normal(size=(k, k))
    lower = np.linalg.cholesky(root @ root.T + np.eye(k))
    x, u, p, g, prior, pull = rng.normal(size=(6, k))
    expected = p + 0.3 * (np.linalg.solve(lower, g + pull - prior * x) + u)
    gk.kick(lower, g, prior, pull, x, u, p, 0.3)
    assert_allclose(p, expected, rtol=1e-12)
    angle = 0.4
    u0, p0 = u.copy(), p.copy()
    gk.rotate(u, p, np.cos(angle), np.sin(angle))
    assert_allclose(u, np.cos(angle) * u0 + np.sin(angle) * p0)
    assert_allclose(p, np.cos(angle) * p0 - np.sin(angle) * u0)
    mean, diff = rng.normal(size=(2, k))
    prior = np.abs(prior)
    for n_steps in (0, 2):
        before = gk.start_move(
            lower, mean, prior, pull, x, diff, n_steps, 0.6, 0.8, np.random.default_rng(7), u, p
        )
        potential = 0.5 * (prior * x * x).sum() - pull @ x
        noise = np.random.default_rng(7).standard_normal(k)
        white = lower.T @ (x - mean)
        if n_steps:
            assert_allclose(u, white, rtol=1e-12)
            assert_allclose(p, noise)
            assert before == pytest.approx(potential + 0.5 * noise @ noise)
        else:
            assert_allclose(u, 0.6 * white + 0.8 * noise)
            assert before == pytest.approx(potential - 0.5 * white @ white)
        energy = gk.end_energy(prior, pull, x, u, p, n_steps)
        sign, z = (1, p) if n_steps else (-1, u)
        assert energy == pytest.approx(potential + sign * 0.5 * z @ z)
