"""Gaussians at a mode: Newton's method to reach it, draws from N(0, H^-1), solutions of H x = b.

H is the negative Hessian of the log posterior at the mode. It comes as products, blocks or a
matrix; what model it belongs to is not known here. Two forms of H are served:

- any H (`WholeGaussian`), whitened by its diagonal blocks or not;
- ``[[D1, C], [C', D2]]`` with block-diagonal D1 and D2, as models with two sides have that interact
  with each other only (`BipartiteGaussian`). Whitened, it becomes ``[[I, B], [B', I]]``, and
  everything follows from ``S = I - B'B``. That has half the size and a smaller condition number: at
  most ``1 / (1 - b^2)`` against ``(1 + b) / (1 - b)``, b being the largest singular value of B.

The matrix of either is factorized (`CholeskyRoot`) or known by its products alone
(`krylov.KrylovRoot`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ..common.trial import Measured, laps

# The product of a matrix with an array, a new array of its shape.
Product = Callable[[np.ndarray], np.ndarray]

NOT_A_MODE = (
    "The Hessian of the log posterior is not negative definite at the point where the search for "
    "the mode ended{where}: this is no mode, and there is no Gaussian around it. Raise max_iter or "
    "lower tol so that the mode is reached, or use solver='gibbs' or solver='hmc', which need none."
)


# Rules of the trust region (Nocedal & Wright 2006, Algorithm 4.1). A step is judged by its gain
# relative to what the quadratic model promised: one above the least is taken, one below the poor
# shrinks the region, one above the good lets it grow where its border was met.
_LEAST_GAIN, _POOR, _GOOD = 0.1, 0.25, 0.75
_SHRINK, _GROW = 0.25, 2.0
# Shares of a step that are tried. Where none gains, the region shrinks to this share of the step.
_SHARES, _RETREAT = (1.0, 0.5, 0.25), 0.125
# The search ends where the region has become smaller than this.
_LEAST_RADIUS = 1e-12
# Differences of the objective below this, relative to it, are rounding.
_ROUNDING = 1e-12
# Products that a search takes: the median of benchmarks/cost.py.
_TYPICAL_PRODUCTS = 300
# Conjugate gradients stop when the residual, in the preconditioner's norm, has fallen to a share of
# what it was at the start. The share is as large as the gradient, so that Newton's method converges
# faster than linearly (Nocedal & Wright 2006, section 7.1), but within these two bounds.
_MOST_RESIDUAL, _LEAST_RESIDUAL = 0.1, 1e-3
# Curvature relative to the preconditioner's below which a direction counts as flat.
_FLAT = 1e-14


class NotAMode(np.linalg.LinAlgError):
    """An indefinite Hessian.

    Attributes
    ----------
    direction : ndarray or None
        ``d`` with ``d' H d = -1``, H minus the Hessian, or a step to a higher point where who
        raises it has looked for one; None where none is known.
    """

    direction: np.ndarray | None = None


def not_a_mode(where: str = "", direction: np.ndarray | None = None) -> NotAMode:
    """The error to raise for an indefinite Hessian; ``where`` is added to its message."""
    error = NotAMode(NOT_A_MODE.format(where=where))
    error.direction = direction
    return error


def check_reached(facts: Mapping[str, Any]) -> None:
    """Raise a LinAlgError where Newton's method, whose facts these are, did not reach the mode."""
    if not facts["converged"]:
        raise np.linalg.LinAlgError(
            f"Newton's method did not reach the mode in {facts['newton_steps']} steps from where "
            "L-BFGS ended, so there is no Gaussian around it. Raise prior_precision, with which it "
            "is nearer, raise max_iter or lower tol so that L-BFGS gets nearer to it, or use "
            "solver='gibbs' or solver='hmc'."
        )


def newton_mode(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    curvature: Callable[[np.ndarray], tuple[Product, Product]],
    x: np.ndarray,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    residual: float = _LEAST_RESIDUAL,
    verbose: int = 0,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Maximize a smooth function by trust-region Newton steps from a point near the maximum.

    Each step is found by preconditioned conjugate gradients, which stop at the border of the trust
    region or follow a direction of negative curvature to it (Steihaug 1983). So the search does
    not end at a saddle point.

    Parameters
    ----------
    objective : callable
        ``objective(x) -> (value, gradient)``.
    curvature : callable
        ``curvature(x) -> (product, precondition)``, two functions of a direction: the first
        multiplies it by the negative Hessian, the second by a positive definite approximation of
        the inverse of that.
    x : ndarray
        Start; gradient and directions have its shape, which may be any.
    tol : float
        The search has converged after a whole step before which the Newton decrement ``g' H^-1 g``,
        the squared distance to the mode in posterior standard deviations, was at most ``tol`` times
        the number of parameters. The step leaves about ``1e-6`` of that distance.
    max_iter : int
        Most steps tried.
    residual : float
        Share of the gradient that a step may leave, in the preconditioner's norm, however near the
        mode it begins.
    verbose : int
        Above zero, one line a step.

    Returns
    -------
    x : ndarray
        The point reached.
    facts : dict
        ``newton_steps``; ``cg_steps``, the products of all of them; ``decrement`` before the last
        step; ``converged``.
    """
    counted = laps("Newton's method", _TYPICAL_PRODUCTS)
    if counted is not None:
        curvature = _counting(curvature, counted)
    value, gradient = objective(x)
    product, precondition = curvature(x)
    radius = np.sqrt(x.size)
    cg_steps, steps, decrement, converged = 0, 0, np.inf, False
    while steps < max_iter and not converged:
        steps += 1
        step, bent, length, inside, n = _steihaug(product, precondition, gradient, radius, residual)
        cg_steps += n
        slope = float(np.vdot(gradient, step))
        predicted = slope - 0.5 * float(np.vdot(step, bent))
        if inside:
            decrement = slope
        taken, ratio, value, gradient = _advance(
            objective, x, step, (value, gradient), predicted, slope
        )
        if verbose:
            print(
                f"Newton step {steps}: {n} products, length {length:.3g}, slope {slope:.3g}, "
                f"share taken {taken:g}",
                flush=True,
            )
        if taken:
            x = x + taken * step
            converged = inside and taken == 1.0 and decrement <= tol * x.size
            if not converged:
                product, precondition = curvature(x)
        if taken < 1.0:
            radius = max(taken, _RETREAT) * length
        elif ratio < _POOR:
            radius = _SHRINK * length
        elif ratio > _GOOD and not inside:
            radius *= _GROW
        if radius < _LEAST_RADIUS:
            break
    if counted is not None:
        counted.end(ended=True)
    facts = {"newton_steps": steps, "cg_steps": cg_steps, "decrement": decrement}
    return x, {**facts, "converged": converged}


def _counting(curvature, counted):
    """``curvature`` whose products are counted by `trial.Laps`, which end the trial."""

    def counting(x):
        product, precondition = curvature(x)

        def counted_product(direction):
            out = product(direction)
            if counted.enough():
                counted.trial.product = counted.end(ended=False)
                raise Measured
            return out

        return counted_product, precondition

    return counting


def _advance(objective, x, step, here, predicted, slope):
    """Take a share of a step: returns the share, its gain over the prediction, value and gradient.

    Along curved valleys the whole step often fails where half of it or a quarter gains. Trying
    these costs one evaluation each, less than the products of another step.
    """
    value, gradient = here
    # rounding of the two values, so that tiny steps are not judged by it
    slack = _ROUNDING * max(1.0, abs(value))
    for share in _SHARES:
        trial, trial_gradient = objective(x + share * step)
        # gain of the quadratic model at this share of the step; ``predicted`` is that at its end
        expected = share * slope - share**2 * (slope - predicted)
        ratio = (trial - value + slack) / (expected + slack)
        if ratio > _LEAST_GAIN:
            return share, ratio, trial, trial_gradient
    return 0.0, ratio, value, gradient


def _steihaug(product, precondition, gradient, radius, least):
    """Step, H times it, its length, whether it ends inside the region, and number of products."""
    step, bent = np.zeros_like(gradient), np.zeros_like(gradient)
    residual = gradient.copy()
    z = precondition(residual)
    rz = float(np.vdot(residual, z))
    if rz == 0.0:
        return step, bent, 0.0, True, 0
    aim = rz * min(_MOST_RESIDUAL, max(least, np.sqrt(rz))) ** 2
    direction = z.copy()
    # squared norms of step and direction, and their product, in the preconditioner's norm
    ss, sd, dd = 0.0, 0.0, rz
    for n in range(1, 2 * gradient.size + 1):
        image = product(direction)
        bend = float(np.vdot(direction, image))
        size = rz / bend if bend > _FLAT * dd else np.inf
        if not ss + 2 * size * sd + size * size * dd < radius * radius:
            size = (-sd + np.sqrt(sd * sd + dd * (radius * radius - ss))) / dd
            step += size * direction
            bent += size * image
            return step, bent, radius, False, n
        step += size * direction
        bent += size * image
        residual -= size * image
        z = precondition(residual)
        rz, old = float(np.vdot(residual, z)), rz
        ss, sd = ss + 2 * size * sd + size * size * dd, (rz / old) * (sd + size * dd)
        if rz <= aim:
            break
        dd = rz + (rz / old) ** 2 * dd
        direction *= rz / old
        direction += z
    return step, bent, np.sqrt(ss), True, n


def whitening(blocks: np.ndarray) -> np.ndarray:
    """Replace positive definite blocks H_i by W_i with ``W_i H_i W_i' = I``.

    Parameters
    ----------
    blocks : ndarray of shape (n, K, K)
        Overwritten.

    Returns
    -------
    ndarray of shape (n, K, K)
        The same array, now with the lower triangular W_i.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a block is not positive definite.
    """
    for i in range(len(blocks)):
        lower, info = linalg.lapack.dpotrf(blocks[i], lower=1, clean=1)
        if info:
            raise not_a_mode(" (a diagonal block)")
        blocks[i] = linalg.lapack.dtrtri(lower, lower=1)[0]
    return blocks


def apply_blocks(blocks: np.ndarray, x: np.ndarray, transpose: bool = False) -> np.ndarray:
    """Multiply each vector by the block of its word.

    Parameters
    ----------
    blocks : ndarray of shape (n, K, K)
    x : ndarray of shape (n, K) or (m, n, K)
        Vector i, of each of m arrays, is multiplied by block i.
    transpose : bool
        Whether to multiply by the transposes of the blocks.

    Returns
    -------
    ndarray of the shape of ``x``
    """
    if x.ndim == 2:
        return np.matmul(blocks.transpose(0, 2, 1) if transpose else blocks, x[:, :, None])[:, :, 0]
    # word by word, all vectors of a word at once
    out = np.matmul(np.moveaxis(x, 0, 1), blocks if transpose else blocks.transpose(0, 2, 1))
    return np.ascontiguousarray(np.moveaxis(out, 1, 0))


class CholeskyRoot:
    """``A^-1`` and a root of it from the Cholesky factor of a matrix.

    Parameters
    ----------
    matrix : ndarray of shape (size, size)
        A; overwritten.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A is not positive definite.
    """

    def __init__(self, matrix: np.ndarray) -> None:
        try:
            # the transpose of a C-ordered array is what LAPACK overwrites without a copy
            self.upper = linalg.cholesky(matrix.T, lower=False, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise not_a_mode() from None

    def root(self, z: np.ndarray) -> np.ndarray:
        """A root R, ``R R' = A^-1``, times each row of ``z``, (n, size)."""
        return linalg.solve_triangular(self.upper, z.T, lower=False).T

    def solve(self, b: np.ndarray) -> np.ndarray:
        """``A^-1`` times each row of ``b``, (n, size)."""
        return linalg.cho_solve((self.upper, False), b.T).T

    def half(self, b: np.ndarray) -> np.ndarray:
        """A matrix F with ``F F' = b A^-1 b'``, for a matrix ``b`` of shape (n, size)."""
        return linalg.solve_triangular(self.upper, b.T, trans="T", lower=False).T

    def inverse(self) -> np.ndarray:
        """``A^-1`` as a matrix, (size, size)."""
        inverse, _ = linalg.lapack.dpotri(self.upper, lower=0)
        lower = np.tril_indices(len(inverse), -1)
        inverse[lower] = inverse.T[lower]
        return inverse


class WholeGaussian:
    """N(0, H^-1) over arrays (2, n_words, K), target vectors and context vectors.

    Parameters
    ----------
    root : CholeskyRoot or KrylovRoot
        Root of the inverse of H, or of that of ``W H W'`` where H is whitened.
    free : ndarray of bool of shape (2, n_words, K)
        Which entries vary; the others are zero in all draws and solutions.
    blocks : ndarray of shape (2, n_words, K, K), optional
        The whitening ``W``, see `whitening`; H is not whitened if not given.
    """

    def __init__(self, root: Any, free: np.ndarray, blocks: np.ndarray | None = None) -> None:
        self.root, self.free, self.blocks = root, free, blocks

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws, (n, 2, n_words, K)."""
        z = rng.standard_normal((n, *self.free.shape)) * self.free
        return self._unwhiten(self.root.root(z.reshape(n, -1)))

    def solve(self, b: np.ndarray) -> np.ndarray:
        """``H^-1`` times each of ``b``, (m, 2, n_words, K)."""
        b = b * self.free
        if self.blocks is not None:
            b = b.astype(self.blocks[0].dtype, copy=False)
            b = np.stack([apply_blocks(self.blocks[s], b[:, s]) for s in (0, 1)], axis=1)
        return self._unwhiten(self.root.solve(b.reshape(len(b), -1)))

    def _unwhiten(self, y):
        y = y.reshape(len(y), *self.free.shape)
        if self.blocks is not None:
            parts = [apply_blocks(self.blocks[s], y[:, s], transpose=True) for s in (0, 1)]
            y = np.stack(parts, axis=1)
        return y * self.free

    def block_covariances(self) -> np.ndarray:
        """Covariance of each vector, (2, n_words, K, K).

        Offered where H is factorized and not whitened.
        """
        _, n, k = self.free.shape
        inverse = self.root.inverse().reshape(2 * n, k, 2 * n, k)
        blocks = inverse[np.arange(2 * n), :, np.arange(2 * n)].reshape(2, n, k, k)
        return blocks * self.free[..., None] * self.free[..., None, :]


class MatrixCross:
    """The whitened block B that couples the two sides, as a matrix."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix

    def forward(self, second: np.ndarray) -> np.ndarray:
        """B times each row, (m, n_words * K), of the second side."""
        return second @ self.matrix.T

    def backward(self, first: np.ndarray) -> np.ndarray:
        """B' times each row, (m, n_words * K), of the first side."""
        return first @ self.matrix

    def schur(self) -> np.ndarray:
        """``S = I - B'B`` as a matrix."""
        out = self.matrix.T @ self.matrix
        np.negative(out, out=out)
        out[np.diag_indices_from(out)] += 1.0
        return out


class BipartiteGaussian:
    """N(0, H^-1) over arrays (2, n_words, K), where vectors of one side are not coupled by H.

    Parameters
    ----------
    blocks : list of two ndarray of shape (n_words, K, K)
        The whitening ``W`` of each side, with ``W D W' = I`` for the diagonal blocks D of H.
    cross : MatrixCross or an object with its methods
        B. ``forward`` takes rows (m, n_words * K) of the second side, ``backward`` of the first.
    root : CholeskyRoot or KrylovRoot
        Root of the inverse of ``S = I - B'B``, which belongs to the second side.
    free : ndarray of bool of shape (2, n_words, K)
        Which entries vary; the others are zero in all draws and solutions.
    """

    def __init__(
        self, blocks: Sequence[np.ndarray], cross: Any, root: Any, free: np.ndarray
    ) -> None:
        self.blocks, self.cross, self.root, self.free = blocks, cross, root, free

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws, (n, 2, n_words, K)."""
        z = rng.standard_normal((n, *self.free.shape)) * self.free
        second = self.root.root(z[:, 1].reshape(n, -1))
        return self._unwhiten(z[:, 0].reshape(n, -1) - self.cross.forward(second), second)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """``H^-1`` times each of ``b``, (m, 2, n_words, K)."""
        b = (b * self.free).astype(self.blocks[0].dtype, copy=False)
        first, second = (apply_blocks(self.blocks[s], b[:, s]).reshape(len(b), -1) for s in (0, 1))
        second = self.root.solve(second - self.cross.backward(first))
        return self._unwhiten(first - self.cross.forward(second), second)

    def _unwhiten(self, *sides):
        shape = (-1, *self.free.shape[1:])
        parts = [
            apply_blocks(w, y.reshape(shape).astype(w.dtype, copy=False), transpose=True)
            for w, y in zip(self.blocks, sides, strict=True)
        ]
        return np.stack(parts, axis=1) * self.free

    def block_covariances(self) -> np.ndarray:
        """Covariance of each vector, (2, n_words, K, K).

        Offered where B is a matrix and S is factorized.
        """
        _, n, k = self.free.shape
        inner = np.empty((2, n, k, k))
        inverse = self.root.inverse()
        for i in range(n):
            rows = slice(i * k, (i + 1) * k)
            inner[1, i] = inverse[rows, rows]
        # the first side's covariance is I + B S^-1 B', block by block
        half = self.root.half(self.cross.matrix)
        for i in range(n):
            rows = slice(i * k, (i + 1) * k)
            inner[0, i] = np.eye(k) + half[rows] @ half[rows].T
        for side in (0, 1):
            w = self.blocks[side]
            inner[side] = w.transpose(0, 2, 1) @ inner[side] @ w
        return inner * self.free[..., None] * self.free[..., None, :]
