"""Newton's method, roots of inverse matrices, Gaussians by precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbayesembed.inference.laplace import (
    BipartiteGaussian,
    CholeskyRoot,
    KrylovRoot,
    MatrixCross,
    WholeGaussian,
    apply_blocks,
    conjugate_gradients,
    inverse_root,
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


@pytest.mark.parametrize("keep", [1 << 20, 0])
def test_inverse_root(keep):
    """With all Lanczos vectors kept, or two of them and the others made again."""
    matrix = spd(60, 2)
    z = np.random.default_rng(3).standard_normal((6, 10))
    calls = []

    def product(x):
        calls.append(1)
        return (matrix @ x.ravel()).reshape(x.shape)

    x, facts = inverse_root(product, z, tol=1e-9, max_iter=200, keep=keep)
    expected = (root_of_inverse(matrix) @ z.ravel()).reshape(z.shape)
    assert_allclose(x, expected, atol=1e-8)
    assert facts["error"] <= 1e-9
    assert len(calls) == (facts["products"] if keep else 2 * facts["products"] - 2)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-5])
def test_inverse_root_estimates_its_error(tol):
    """The estimate is of the right order: the true error at most three times what is asked for."""
    matrix = spd(300, 4, low=1e-3)
    z = np.random.default_rng(5).standard_normal(300)
    x, facts = inverse_root(lambda v: matrix @ v, z, tol=tol, max_iter=300)
    expected = root_of_inverse(matrix) @ z
    assert np.linalg.norm(x - expected) < 3 * tol * np.linalg.norm(expected)
    assert facts["products"] < 300


def test_inverse_root_of_few_eigenvalues_and_of_zero():
    matrix = np.diag(np.repeat([0.5, 2.0], 5))
    z = np.ones(10)
    x, facts = inverse_root(lambda v: matrix @ v, z, tol=1e-12, max_iter=100)
    assert_allclose(x, np.repeat([2**0.5, 0.5**0.5], 5))
    assert facts["products"] == 2
    x, facts = inverse_root(lambda v: matrix @ v, 0 * z, tol=1e-12, max_iter=100)
    assert_allclose(x, 0.0)
    assert facts["products"] == 0


def test_indefinite_operators_are_errors():
    matrix = spd(20, 6) - 0.5 * np.eye(20)
    z = np.random.default_rng(7).standard_normal(20)
    with pytest.raises(np.linalg.LinAlgError, match="no mode"):
        inverse_root(lambda v: matrix @ v, z, tol=1e-8, max_iter=100)
    with pytest.raises(np.linalg.LinAlgError, match="no mode"):
        conjugate_gradients(lambda v: matrix @ v, z, tol=1e-8, max_iter=100)
    with pytest.raises(np.linalg.LinAlgError, match="no mode"):
        CholeskyRoot(matrix)


def test_conjugate_gradients():
    matrix = spd(40, 8)
    b = np.random.default_rng(9).standard_normal((4, 10))

    def product(x):
        return (matrix @ x.ravel()).reshape(x.shape)

    x = conjugate_gradients(product, b, tol=1e-10, max_iter=200)
    assert_allclose(x.ravel(), np.linalg.solve(matrix, b.ravel()), rtol=1e-6, atol=1e-8)
    assert_allclose(conjugate_gradients(product, 0 * b, tol=1e-10, max_iter=5), 0.0)
    with pytest.raises(RuntimeError, match="residual"):
        conjugate_gradients(product, b, tol=1e-10, max_iter=3)


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
    matrix[:n, n:] = 0.2 * rng.standard_normal((n, n))
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

    def product(a, shape):
        return lambda y: (a @ y.ravel()).reshape(shape)

    return {
        "dense": WholeGaussian(CholeskyRoot(matrix.copy()), FREE),
        "whole, krylov": WholeGaussian(
            KrylovRoot(product(whitened, FREE.shape), FREE.shape, tol=1e-8), FREE, blocks
        ),
        "schur": BipartiteGaussian(blocks, cross, CholeskyRoot(schur.copy()), FREE),
        "bipartite, krylov": BipartiteGaussian(
            blocks, cross, KrylovRoot(product(schur, (N, SIZE)), (N, SIZE), tol=1e-8), FREE
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
