"""Each kernel against a slow numpy twin."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, log1p

from skbayesembed.numeric import cholesky_kernels as ck
from skbayesembed.sgns import density_kernels as dk
from skbayesembed.sgns import logistic_kernels as lk
from skbayesembed.sgns.gibbs import gaussian_kernels as gk
from skbayesembed.sgns.gibbs import kernels as mk

# every logit that matters, both signs, and far beyond what can occur
TURN = 2.2
NO_TABLE = np.zeros((0, 0), np.float32)
LOGITS = np.concatenate([np.linspace(-40, 40, 401), [0.0, -0.0, 750.0, -750.0, 1e-12, -1e-12]])


def table(n_rows=7, n_columns=11, k=3, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_rows, k)), rng.normal(size=(n_columns, k))
    n = rng.poisson(2.0, (n_rows, n_columns)) + 0.25 * rng.random((n_rows, n_columns))
    n[0, :3] = 0.0
    kappa = n * rng.uniform(-0.5, 0.5, n.shape)
    return x, y, n, kappa


def priors(n_rows=7, k=3, seed=20):
    """Precisions and linear terms, another for every row."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2.0, (n_rows, k)), rng.normal(size=(n_rows, k))


def loglik(t, n, kappa):
    return np.sum(kappa * t - n * (np.abs(t) / 2 + log1p(np.exp(-np.abs(t)))))


def compressed(n, *values):
    rows, columns = np.nonzero(n)
    indptr = np.searchsorted(rows, np.arange(n.shape[0] + 1)).astype(np.int64)
    return indptr, columns.astype(np.int32), *(v[rows, columns] for v in (n, *values))


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


def metropolis_twin(x, y, n, kappa, weight, shift, prior, pull, movable, n_steps, turn, rng):
    """One update of every row, written from the formulas of the docstring."""
    x = x.copy()
    accepted = np.zeros(len(x))
    k = x.shape[1]
    draws = []
    for w in range(len(x)):
        precision = (y * weight[w][:, None]).T @ y + np.diag(prior[w])
        lower = np.linalg.cholesky(precision)
        mean = np.linalg.solve(precision, shift[w] @ y + pull[w])

        def potential(z, w=w):
            return 0.5 * (prior[w] * z * z).sum() - pull[w] @ z - loglik(y @ z, n[w], kappa[w])

        def rest(z, u, lower=lower, w=w):
            gradient = (kappa[w] + n[w] / 2 - n[w] * expit(y @ z)) @ y + pull[w] - prior[w] * z
            return np.linalg.solve(lower, gradient) + u

        noise = rng.standard_normal(k)
        u = lower.T @ (x[w] - mean)
        if n_steps == 0:
            v = np.cos(turn) * u + np.sin(turn) * noise
            z = mean + np.linalg.solve(lower.T, v)
            ratio = potential(x[w]) - 0.5 * u @ u - potential(z) + 0.5 * v @ v
        else:
            p = noise.copy()
            before = potential(x[w]) + 0.5 * p @ p
            z = x[w].copy()
            angle = turn / n_steps
            for s in range(n_steps):
                p = p + (0.5 if s == 0 else 1.0) * angle * rest(z, u)
                u, p = np.cos(angle) * u + np.sin(angle) * p, np.cos(angle) * p - np.sin(angle) * u
                z = mean + np.linalg.solve(lower.T, u)
            p = p + 0.5 * angle * rest(z, u)
            ratio = before - potential(z) - 0.5 * p @ p
        draws.append((z, ratio))
    for w, (z, ratio) in enumerate(draws):
        if rng.random() < np.exp(min(ratio, 0)) and movable[w]:
            x[w] = z
            accepted[w] += 1
    return x, accepted


def row_twin(w, x, y, tables, movable, n_steps, rng):
    """`metropolis_twin` of row ``w`` alone: its vector, and whether the move was accepted."""
    one = slice(w, w + 1)
    tables = [t[one] for t in tables]
    moved, taken = metropolis_twin(x[one], y, *tables, movable[one], n_steps, TURN, rng)
    return moved[0], taken[0]


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
