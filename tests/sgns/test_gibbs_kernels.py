"""Sweeps over rows against slow numpy twins, whole and block by block."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed.sgns.gibbs import gaussian_kernels as gk
from skbayesembed.sgns.gibbs import kernels as mk
from tests.helpers.sgns_twins import (
    NO_TABLE,
    TURN,
    compressed,
    metropolis_twin,
    priors,
    row_twin,
    table,
)


@pytest.mark.parametrize("n_steps", [0, 1, 3])
def test_metropolis_dense_against_twin(n_steps):
    x, y, n, kappa = table(seed=4)
    rng = np.random.default_rng(5)
    weight = (n * rng.uniform(0.1, 0.25, n.shape)).astype(np.float32)
    shift = (kappa * rng.uniform(0.8, 1.2, n.shape)).astype(np.float32)
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    movable[3] = False
    y32 = y.astype(np.float32)
    outer = np.empty((len(y), 6), np.float32)
    gk.outer_table(y32, outer)
    expected, taken = metropolis_twin(
        x, y, n, kappa, weight, shift, prior, pull, movable, n_steps, TURN, np.random.default_rng(6)
    )
    got, accepted = x.copy(), np.zeros(len(x))
    mk.metropolis_dense(
        got, mk.Given(y, y32, outer), mk.DenseTable(n, kappa, weight, shift),
        mk.RowPrior(prior, pull), movable, mk.Move(n_steps, TURN), 16, np.random.default_rng(6),
        accepted,
    )  # fmt: skip
    assert 0 < taken.sum() < len(x)
    assert_allclose(accepted, taken)
    # the Gaussian is built in single precision
    assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert_allclose(got[3], x[3])


@pytest.mark.parametrize("chunk", [1, 3, 16])
@pytest.mark.parametrize("n_steps", [0, 1, 3])
def test_metropolis_dense_chunk_by_chunk(n_steps, chunk):
    """A chunk draws the noise of its rows, then their uniforms: the twin is run chunk by chunk."""
    x, y, n, kappa = table(seed=4)
    rng = np.random.default_rng(5)
    weight = (n * rng.uniform(0.1, 0.25, n.shape)).astype(np.float32)
    shift = (kappa * rng.uniform(0.8, 1.2, n.shape)).astype(np.float32)
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    movable[3] = False
    y32 = y.astype(np.float32)
    outer = np.empty((len(y), 6), np.float32)
    gk.outer_table(y32, outer)
    rng = np.random.default_rng(6)
    tables = (n, kappa, weight, shift, prior, pull, movable)
    parts = [
        metropolis_twin(x[s], y, *(t[s] for t in tables), n_steps, TURN, rng)
        for s in (slice(a, a + chunk) for a in range(0, len(x), chunk))
    ]
    got, accepted = x.copy(), np.zeros(len(x))
    mk.metropolis_dense(
        got, mk.Given(y, y32, outer), mk.DenseTable(n, kappa, weight, shift),
        mk.RowPrior(prior, pull), movable, mk.Move(n_steps, TURN), chunk,
        np.random.default_rng(6), accepted,
    )  # fmt: skip
    assert_allclose(accepted, np.concatenate([p[1] for p in parts]))
    assert_allclose(got, np.vstack([p[0] for p in parts]), rtol=1e-4, atol=1e-5)
    assert_allclose(got[3], x[3])


@pytest.mark.parametrize("n_steps", [0, 2])
def test_metropolis_sparse_against_twin(n_steps):
    """One row at a time: the sparse kernel draws a row's numbers together."""
    x, y, n, kappa = table(seed=8)
    rng = np.random.default_rng(9)
    weight = (n * rng.uniform(0.1, 0.25, n.shape)).astype(np.float32)
    shift = (kappa * rng.uniform(0.8, 1.2, n.shape)).astype(np.float32)
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    got, accepted = x.copy(), np.zeros(len(x))
    mk.metropolis_sparse(
        0, len(x), got, mk.Given(y, y.astype(np.float32), NO_TABLE),
        mk.SparseTable(*compressed(n, kappa, weight, shift)), mk.RowPrior(prior, pull), movable,
        mk.Move(n_steps, TURN), np.random.default_rng(10), accepted,
    )  # fmt: skip
    rng, tables = np.random.default_rng(10), (n, kappa, weight, shift, prior, pull)
    for w in range(len(x)):
        expected, taken = row_twin(w, x, y, tables, movable, n_steps, rng)
        assert accepted[w] == taken
        assert_allclose(got[w], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n_steps", [0, 2])
def test_sparse_metropolis_from_the_middle(n_steps):
    x, y, n, kappa = table(seed=8)
    weight = (0.2 * n).astype(np.float32)
    shift = kappa.astype(np.float32)
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    movable[3] = False
    got, accepted = x.copy(), np.zeros(len(x))
    mk.metropolis_sparse(
        2, 6, got, mk.Given(y, y.astype(np.float32), NO_TABLE),
        mk.SparseTable(*compressed(n, kappa, weight, shift)), mk.RowPrior(prior, pull), movable,
        mk.Move(n_steps, TURN), np.random.default_rng(10), accepted,
    )  # fmt: skip
    rng, tables = np.random.default_rng(10), (n, kappa, weight, shift, prior, pull)
    for w in range(len(x)):
        expected = x[w]
        if 2 <= w < 6:
            expected, taken = row_twin(w, x, y, tables, movable, n_steps, rng)
            assert accepted[w] == taken
        assert_allclose(got[w], expected, rtol=1e-4, atol=1e-5)
    assert accepted[[0, 1, 3, 6]].sum() == 0 and accepted.sum() > 0


def test_gaussian_rows_against_formula():
    """With the noise known, the draw is m + L^-T noise."""
    x, y, n, kappa = table(seed=11)
    omega = n * 0.2
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    movable[2] = False
    expected = x.copy()
    rng = np.random.default_rng(12)
    for w in range(len(x)):
        precision = (y * omega[w][:, None]).T @ y + np.diag(prior[w])
        noise = rng.standard_normal(3)
        draw = np.linalg.solve(precision, kappa[w] @ y + pull[w])
        draw += np.linalg.solve(np.linalg.cholesky(precision).T, noise)
        if movable[w]:
            expected[w] = draw
    outer = np.empty((len(y), 6))
    gk.outer_table(y, outer)
    got = x.copy()
    linear = kappa @ y + pull
    mk.gaussian_dense(omega @ outer, linear, prior, movable, np.random.default_rng(12), got)
    assert_allclose(got, expected, rtol=1e-10)
    indptr, indices, n_, omega_, kappa_ = compressed(n, omega, kappa)
    got = x.copy()
    mk.gaussian_sparse(
        0,
        len(x),
        indptr,
        indices,
        omega_,
        kappa_,
        y,
        prior,
        pull,
        movable,
        np.random.default_rng(12),
        got,
    )
    # pairs without observations have kappa = 0, so both tables say the same
    assert_allclose(got, expected, rtol=1e-10)


def test_sparse_rows_from_the_middle():
    """Words 2:5 only, one of them held; the others stay untouched."""
    x, y, n, kappa = table(seed=11)
    omega = n * 0.2
    prior, pull = priors()
    movable = np.ones(len(x), bool)
    movable[3] = False
    indptr, indices, n_, omega_, kappa_ = compressed(n, omega, kappa)
    got = x.copy()
    mk.gaussian_sparse(
        2,
        5,
        indptr,
        indices,
        omega_[indptr[2] : indptr[5]],
        kappa_,
        y,
        prior,
        pull,
        movable,
        np.random.default_rng(12),
        got,
    )
    rng = np.random.default_rng(12)
    for w in range(len(x)):
        if w in (2, 3, 4):
            precision = (y * omega[w][:, None]).T @ y + np.diag(prior[w])
            noise = rng.standard_normal(3)
            draw = np.linalg.solve(precision, kappa[w] @ y + pull[w])
            draw += np.linalg.solve(np.linalg.cholesky(precision).T, noise)
        assert_allclose(got[w], draw if w in (2, 4) else x[w], rtol=1e-10)
