"""Variational kernels against slow numpy twins."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.sgns.vi import kernels

RNG = np.random.default_rng(0)


def unpack(packed, d):
    out = np.zeros((d, d))
    out[np.tril_indices(d)] = packed
    return out + out.T - np.diag(np.diag(out))


def pack(matrix):
    return matrix[np.tril_indices(len(matrix))]


def covariances(n, d, full):
    """Random covariances and their stored form."""
    if full:
        root = RNG.standard_normal((n, d, d)) / d
        matrices = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(d)
        return matrices, np.array([pack(m) for m in matrices])
    variances = RNG.uniform(0.1, 1.0, (n, d))
    return np.array([np.diag(v) for v in variances]), variances


def slow_omega(square, n):
    xi = np.sqrt(square)
    return n * np.tanh(xi / 2) / (2 * xi)


@pytest.mark.parametrize("full", [True, False])
def test_second_moments(full):
    mean = RNG.standard_normal((4, 3))
    matrices, stored = covariances(4, 3, full)
    out = np.empty((4, 6))
    kernels.second_table(0, 4, mean, stored, full, out)
    expected = matrices + mean[:, :, None] * mean[:, None]
    np.testing.assert_allclose(out, [pack(m) for m in expected], rtol=1e-14)
    row = np.empty(6)
    kernels.pack_second(mean[0], stored[0], full, 2.0, row)
    np.testing.assert_allclose(row @ out[1], np.trace(expected[0] @ expected[1]), rtol=1e-13)


def test_bound_terms():
    square = np.concatenate([[1e-6, 1e-3, 1.0, 100.0, 1e6], RNG.uniform(0, 20, 30)])
    n = RNG.uniform(0, 5, square.size)
    omega = np.empty_like(square)
    total = kernels.bound_terms(square, n, omega)
    xi = np.sqrt(square)
    # below 1e-3, tanh(xi / 2) loses digits in numpy as well
    np.testing.assert_allclose(omega, slow_omega(square, n), rtol=1e-10)
    np.testing.assert_allclose(total, np.sum(n * np.logaddexp(xi / 2, -xi / 2)), rtol=1e-13)
    kernels.bound_terms(np.zeros(1), np.ones(1), omega[:1])
    assert omega[0] == pytest.approx(0.25, rel=1e-8)


def test_rows():
    a, b = RNG.standard_normal((2, 9))
    out = b.copy()
    kernels.add_row(0.3, a, out)
    np.testing.assert_allclose(out, b + 0.3 * a, rtol=1e-14)
    assert kernels.dot_row(a, b) == pytest.approx(a @ b, rel=1e-13)


def test_invert_factor():
    factor = np.tril(RNG.standard_normal((5, 5))) + 3 * np.eye(5)
    out = np.empty((5, 5))
    kernels.invert_factor(factor + np.triu(np.full((5, 5), 9.0), 1), out)
    np.testing.assert_allclose(out, np.linalg.inv(factor), atol=1e-14)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("fixed", [-1, 2, 3])
def test_solve_word(full, fixed):
    d = 4
    free = np.array([i for i in range(d) if i != fixed])
    root = RNG.standard_normal((d, d))
    matrix, prior, linear = root @ root.T, RNG.uniform(0.5, 1, free.size), RNG.standard_normal(d)
    mean, size = np.ones(d), d * (d + 1) // 2 if full else d
    cov, work, vector = np.zeros(size), np.empty((3, free.size, free.size)), np.empty(free.size)
    log_det = kernels.solve_word(
        pack(matrix), linear, prior, free, fixed, full, 1e-14, work, vector, mean, cov
    )
    precision = matrix[np.ix_(free, free)] + np.diag(prior)
    shift = linear[free] - (matrix[free, fixed] if fixed >= 0 else 0)
    np.testing.assert_allclose(mean[free], np.linalg.solve(precision, shift), rtol=1e-10)
    if fixed >= 0:
        assert mean[fixed] == 1.0
    expected = np.zeros((d, d))
    inverse = np.linalg.inv(precision) if full else np.diag(1 / np.diag(precision))
    expected[np.ix_(free, free)] = inverse
    found = unpack(cov, d) if full else np.diag(cov)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert log_det == pytest.approx(np.linalg.slogdet(inverse)[1], rel=1e-12)


def test_couple():
    mean, linear, tau = RNG.standard_normal((5, 3)), RNG.standard_normal(4), RNG.uniform(size=3)
    indptr, indices, data = np.array([0, 0, 2]), np.array([0, 4]), np.array([0.5, -2.0])
    out = linear.copy()
    kernels.couple(1, indptr, indices, data, tau, mean, out)
    expected = linear.copy()
    expected[:3] -= tau * (0.5 * mean[0] - 2.0 * mean[4])
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_mean_field_square():
    x, y = RNG.standard_normal((2, 4))
    p, q = RNG.uniform(size=(2, 4))
    first, second = np.outer(x, x) + np.diag(p), np.outer(y, y) + np.diag(q)
    assert kernels.mean_field_square(x, p, y, q) == pytest.approx(np.trace(first @ second))


def slow_ascend(mean, matrices, y, y_matrices, n, kappa, prior, shift, near, tau, full):
    """One side's update and the pairs' bound before it, word by word."""
    mean, out, log_det, bound = mean.copy(), [], [], 0.0
    seconds = y_matrices + y[:, :, None] * y[:, None]
    for w in range(len(mean)):
        own = matrices[w] + np.outer(mean[w], mean[w])
        square = np.einsum("ij,vji->v", own, seconds)
        xi = np.sqrt(square)
        linear = kappa[w] @ y
        bound += linear @ mean[w] - np.sum(n[w] * np.logaddexp(xi / 2, -xi / 2))
        precision = np.einsum("v,vij->ij", slow_omega(square, n[w]), seconds) + np.diag(prior[w])
        inverse = np.linalg.inv(precision) if full else np.diag(1 / np.diag(precision))
        mean[w] = np.linalg.solve(precision, linear + shift[w] - tau * (near[w] @ mean))
        out.append(inverse)
        log_det.append(np.linalg.slogdet(inverse)[1])
    return mean, np.array(out), np.array(log_det), bound


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize(
    "form, full",
    [("dense", True), ("dense", False), ("sparse", True), ("sparse", False), ("diagonal", False)],
)
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_ascend(coupled, form, full, dtype):
    n_words, d = 23, 3
    mean, y = RNG.standard_normal((2, n_words, d))
    matrices, cov = covariances(n_words, d, full)
    y_matrices, y_cov = covariances(n_words, d, full)
    n = RNG.poisson(1.0, (n_words, n_words)) * 1.5
    n[4] = 0.0  # a word without pairs
    kappa = n * RNG.uniform(-0.5, 0.5, n.shape)
    prior, shift = RNG.uniform(0.5, 2, (n_words, d)), RNG.standard_normal((n_words, d))
    near = np.zeros((n_words, n_words))
    if coupled:
        near[0, 5] = near[5, 0] = near[7, 6] = near[6, 7] = -0.3
    tau = RNG.uniform(0.5, 1, d)
    expected = slow_ascend(mean, matrices, y, y_matrices, n, kappa, prior, shift, near, tau, full)
    row, column = np.nonzero(near)
    links = (
        np.searchsorted(row, np.arange(n_words + 1)),
        np.ascontiguousarray(column),
        near[row, column],
    )
    log_det, bound = np.empty(n_words), np.zeros(3)
    second = np.empty((n_words, d * (d + 1) // 2), dtype)
    kernels.second_table(0, n_words, y, y_cov, full, second)
    empty = np.zeros(0)
    nothing = kernels.Memory(np.zeros((0, 0), dtype), np.zeros((0, 0)), empty, empty, False)
    shared = (
        kernels.WordPrior(prior, shift, tau, *links),
        kernels.Form(np.arange(d), -1, full, 1e-14),
        nothing,
    )
    side, opposite = kernels.Side(mean, cov, log_det), kernels.Opposite(y, second)
    seen = n > 0
    indptr = np.append(0, np.cumsum(seen.sum(axis=1)))
    indices = np.nonzero(seen)[1].astype(np.int32)
    dense = kernels.DenseCounts(n, kappa)
    sparse = kernels.SparseCounts(indptr, indices, n[seen], kappa[seen])
    diagonal = kernels.Opposite(y.astype(dtype), y_cov.astype(dtype))
    for block, (a, b) in enumerate(((0, 9), (9, 10), (10, n_words))):
        if form == "dense":
            kernels.ascend_dense(a, b, side, opposite, dense, *shared, 5, block, bound)
        elif form == "sparse":
            kernels.ascend_sparse(a, b, side, opposite, sparse, *shared, 4, block, bound)
        else:
            kernels.ascend_sparse_diagonal(a, b, side, diagonal, sparse, *shared, block, bound)
    # float32 tables: sums of some twenty terms, solved by matrices of condition below 100
    tolerance = {"rtol": 1e-9, "atol": 1e-11} if dtype == np.float64 else {"atol": 2e-4, "rtol": 0}
    np.testing.assert_allclose(mean, expected[0], **tolerance)
    found = cov if full else np.array([pack(np.diag(c)) for c in cov])
    np.testing.assert_allclose(found, [pack(m) for m in expected[1]], **tolerance)
    np.testing.assert_allclose(log_det, expected[2], **tolerance)
    assert bound.sum() == pytest.approx(expected[3], rel=1e-12 if dtype == np.float64 else 1e-6)
