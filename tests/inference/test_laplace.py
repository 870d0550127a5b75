"""Newton's method, roots of inverse matrices, Gaussians by precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed.inference.krylov import KrylovRoot
from skbayesembed.inference.laplace import (
    BipartiteGaussian,
    CholeskyRoot,
    MatrixCross,
    WholeGaussian,
    _advance,
    apply_blocks,
    newton_mode,
    whitening,
)


def spd(size, seed, low=0.05):
    """A symmetric matrix with eigenvalues from ``low`` to 2."""
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    return (basis * np.geomspace(low, 2.0, size)) @ basis.T


def root_of_inverse(matrix):
    values, basis = np.linalg.eigh(matrix)
    return (basis / np.sqrt(values)) @ basis.T


class Valley:
    """-sum of (x_i^2 - 1)^2 / 4 and a coupling: saddles and a minimum besides the modes."""

    def __call__(self, x):
        step = np.diff(x)
        gradient = x - x**3
        gradient[:-1] += 0.1 * step
        gradient[1:] -= 0.1 * step
        return -0.25 * float(np.sum((x**2 - 1) ** 2)) - 0.05 * float(step @ step), gradient

    def hessian(self, x):
        matrix = np.diag(3 * x**2 - 1)
        tie = np.diff(np.eye(x.size), axis=0)
        return matrix + 0.1 * tie.T @ tie

    def curvature(self, x):
        matrix = self.hessian(x)
        return lambda v: matrix @ v, lambda v: v / 2.2


def test_newton_leaves_a_saddle_for_a_mode():
    """From beside the point where all is flat, whose Hessian has the wrong sign."""
    valley = Valley()
    start = 1e-6 * np.random.default_rng(0).standard_normal(8)
    assert np.linalg.eigvalsh(valley.hessian(start)).min() < -0.5
    x, facts = newton_mode(valley, valley.curvature, start)
    assert facts["converged"]
    assert facts["decrement"] <= 1e-6
    assert np.abs(valley(x)[1]).max() < 1e-6
    assert np.linalg.eigvalsh(valley.hessian(x)).min() > 0.1


def test_newton_says_when_steps_are_too_few():
    valley = Valley()
    _, facts = newton_mode(valley, valley.curvature, np.full(8, 0.1), max_iter=2)
    assert not facts["converged"]
    assert facts["newton_steps"] == 2


def test_newton_at_a_mode_stays():
    valley = Valley()
    x, facts = newton_mode(valley, valley.curvature, np.ones(8))
    assert_allclose(x, 1.0)
    assert facts["converged"]


@pytest.mark.parametrize(("start", "share"), [(0.5, 1.0), (1.2, 0.5), (1.6, 0.25), (3.0, 0.0)])
def test_steps_too_long_are_taken_in_part(start, share):
    """Newton steps on -log cosh x, which overshoot beyond |x| = 1.09."""
    x = np.array([start])

    def objective(x):
        return -float(np.sum(np.log(np.cosh(x)))), -np.tanh(x)

    value, gradient = objective(x)
    step = gradient * np.cosh(x) ** 2
    slope = float(gradient @ step)
    taken, ratio, new, new_gradient = _advance(
        objective, x, step, (value, gradient), 0.5 * slope, slope
    )
    assert taken == share
    assert (ratio > 0.1) == (share > 0.0)
    expected, expected_gradient = objective(x + share * step)
    assert_allclose(new, expected)
    assert_allclose(new_gradient, expected_gradient)


def test_newton_on_a_quadratic_takes_its_step_and_one_to_see():
    matrix, mode = spd(20, 1), np.arange(20.0)
    x, facts = newton_mode(
        lambda x: (-0.5 * (x - mode) @ matrix @ (x - mode), -matrix @ (x - mode)),
        lambda x: (lambda v: matrix @ v, lambda v: np.linalg.solve(matrix, v)),
        mode + 0.5,
    )
    assert_allclose(x, mode, atol=1e-10)
    assert facts["newton_steps"] <= 3


def test_whitening_and_apply_blocks():
    blocks = np.stack([spd(4, seed) for seed in range(5)])
    w = whitening(blocks.copy())
    assert_allclose(
        w @ blocks @ w.transpose(0, 2, 1), np.broadcast_to(np.eye(4), w.shape), atol=1e-12
    )
    x = np.random.default_rng(0).standard_normal((3, 5, 4))
    for transpose in (False, True):
        m = w.transpose(0, 2, 1) if transpose else w
        expected = np.array([[m[i] @ v[i] for i in range(5)] for v in x])
        assert_allclose(apply_blocks(w, x, transpose), expected)
        assert_allclose(apply_blocks(w, x[0], transpose), expected[0])


def test_whitening_refuses_indefinite_blocks():
    with pytest.raises(np.linalg.LinAlgError, match="diagonal block"):
        whitening(np.stack([np.eye(2), -np.eye(2)]))


def test_cholesky_root():
    matrix = spd(12, 10)
    root = CholeskyRoot(matrix.copy())
    inverse = np.linalg.inv(matrix)
    z = root.root(np.eye(12))
    assert_allclose(z.T @ z, inverse, rtol=1e-9, atol=1e-9)
    assert_allclose(root.solve(np.eye(12)), inverse, rtol=1e-9, atol=1e-9)
    assert_allclose(root.inverse(), inverse, rtol=1e-9, atol=1e-9)
    b = np.random.default_rng(11).standard_normal((5, 12))
    assert_allclose(root.half(b) @ root.half(b).T, b @ inverse @ b.T, rtol=1e-9, atol=1e-9)


N, SIZE = 5, 2
FREE = np.random.default_rng(12).random((2, N, SIZE)) < 0.8


def bipartite_precision():
    """A precision without coupling inside a side, entries held as rows of the identity."""
    rng = np.random.default_rng(13)
    n = N * SIZE
    matrix = np.zeros((2 * n, 2 * n))
    cross = rng.standard_normal((n, n))
    # blocks of at least one beside a cross block of 0.8: eigenvalues of at least 0.2
    matrix[:n, n:] = 0.8 * cross / np.linalg.norm(cross, 2)
    matrix += matrix.T
    for i in range(2 * N):
        rows = slice(i * SIZE, (i + 1) * SIZE)
        matrix[rows, rows] = spd(SIZE, i, low=1.0)
    held = np.flatnonzero(~FREE.ravel())
    matrix[held] = 0.0
    matrix[:, held] = 0.0
    matrix[held, held] = 1.0
    assert np.linalg.eigvalsh(matrix).min() > 0.1
    return matrix


def gaussians(matrix):
    n = N * SIZE
    blocks = [
        whitening(
            np.stack(
                [matrix[i : i + SIZE, i : i + SIZE] for i in range(s * n, (s + 1) * n, SIZE)]
            ).copy()
        )
        for s in (0, 1)
    ]
    w = np.zeros_like(matrix)
    for i, block in enumerate(np.concatenate(blocks)):
        w[i * SIZE : (i + 1) * SIZE, i * SIZE : (i + 1) * SIZE] = block
    whitened = w @ matrix @ w.T
    cross = whitened[:n, n:]
    cross = MatrixCross(cross)
    schur = cross.schur()
    assert_allclose(schur, np.eye(n) - cross.matrix.T @ cross.matrix, atol=1e-12)

    def product(a):
        return lambda rows: rows @ a

    return {
        "dense": WholeGaussian(CholeskyRoot(matrix.copy()), FREE),
        "whole, krylov": WholeGaussian(KrylovRoot(product(whitened), tol=1e-8), FREE, blocks),
        "schur": BipartiteGaussian(blocks, cross, CholeskyRoot(schur.copy()), FREE),
        "bipartite, krylov": BipartiteGaussian(
            blocks, cross, KrylovRoot(product(schur), tol=1e-8), FREE
        ),
    }


@pytest.mark.parametrize("kind", ["dense", "whole, krylov", "schur", "bipartite, krylov"])
def test_gaussians(kind):
    """Draws: entries of the empirical covariance within five standard errors of the exact."""
    matrix = bipartite_precision()
    gaussian = gaussians(matrix)[kind]
    covariance = np.linalg.inv(matrix) * np.outer(FREE.ravel(), FREE.ravel())
    b = np.eye(2 * N * SIZE).reshape(-1, 2, N, SIZE)
    solved = gaussian.solve(b).reshape(len(b), -1)
    assert_allclose(solved, covariance, atol=1e-7)
    n_draws = 500
    draws = gaussian.draw(n_draws, np.random.default_rng(14))
    assert draws.shape == (n_draws, 2, N, SIZE)
    assert np.all(draws[:, ~FREE] == 0.0)
    empirical = draws.reshape(n_draws, -1)
    empirical = empirical.T @ empirical / n_draws
    variance = np.diag(covariance)
    error = np.sqrt((np.outer(variance, variance) + covariance**2) / n_draws)
    assert np.all(np.abs(empirical - covariance) <= 5 * error)
    if "krylov" not in kind:
        blocks = covariance.reshape(2 * N, SIZE, 2 * N, SIZE)
        words = np.arange(2 * N)
        expected = blocks[words, :, words].reshape(2, N, SIZE, SIZE)
        assert_allclose(gaussian.block_covariances(), expected, atol=1e-12)
