"""Products of positive observations in lists, against those of a whole table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_expit

from skbayesembed.sgns import listed_kernels
from skbayesembed.sgns.listed_kernels import listed_curvature, listed_products, listed_table

ROWS, COLUMNS, K = 40, 300, 5


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    table = rng.poisson(0.5, (ROWS, COLUMNS)).astype(np.float32)
    table[7] = 0.0
    return sparse.csr_array(table)


@pytest.mark.parametrize("bends", [False, True])
@pytest.mark.parametrize("run", [64, 512])
def test_products(counts, run, bends, monkeypatch):
    monkeypatch.setattr(listed_kernels, "RUN", run)
    rng = np.random.default_rng(1)
    x, u = (rng.standard_normal((ROWS, n)).astype(np.float32) for n in (K, 2))
    y, z = (rng.standard_normal((COLUMNS, n)).astype(np.float32) for n in (K, 3))
    table = listed_table(counts.indptr, counts.indices, counts.data, COLUMNS)
    rz, ru = np.full((ROWS, 3), 9.0, np.float32), np.full((COLUMNS, 2), 9.0, np.float32)
    value = listed_products(table, bends, x, y, z, u, rz, ru)
    n, t = counts.toarray(), x @ y.T
    weights = n * expit(-t) * (expit(t) if bends else 1.0)
    # sums of some hundred numbers in single precision
    np.testing.assert_allclose(rz, weights @ z, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ru, weights.T @ u, rtol=1e-4, atol=1e-4)
    assert value == pytest.approx(0.0 if bends else (n * log_expit(t)).sum(), rel=1e-5)


def test_runs_with_more_entries_than_are_gone_through_at_once():
    rng = np.random.default_rng(2)
    counts = sparse.csr_array(np.ones((60, 200), np.float32))
    x, y = (rng.standard_normal((n, K)).astype(np.float32) for n in (60, 200))
    table = listed_table(counts.indptr, counts.indices, counts.data, 200)
    rz, ru = np.empty((60, K), np.float32), np.empty((200, K), np.float32)
    listed_products(table, False, x, y, y, x, rz, ru)
    weights = expit(-(x @ y.T))
    np.testing.assert_allclose(rz, weights @ y, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(ru, weights.T @ x, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("run", [64, 512])
def test_products_with_the_curvature(counts, run, observed, monkeypatch):
    monkeypatch.setattr(listed_kernels, "RUN", run)
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((n, K)).astype(np.float32) for n in (ROWS, COLUMNS))
    dx, dy = (rng.standard_normal((2, n, K)).astype(np.float32) for n in (ROWS, COLUMNS))
    table = listed_table(counts.indptr, counts.indices, counts.data, COLUMNS)
    gx, gy = np.full_like(dx, 9.0), np.full_like(dy, 9.0)
    listed_curvature(table, observed, x, y, dx, dy, gx, gy)
    n, t = counts.toarray(), x @ y.T
    slopes, pulls = n * expit(t) * expit(-t), observed * n * expit(-t)
    for i in range(2):
        moved = slopes * (x @ dy[i].T + dx[i] @ y.T)
        # sums of some hundred numbers in single precision
        np.testing.assert_allclose(gx[i], moved @ y - pulls @ dy[i], rtol=1e-4, atol=3e-4)
        np.testing.assert_allclose(gy[i], moved.T @ x - pulls.T @ dx[i], rtol=1e-4, atol=3e-4)
