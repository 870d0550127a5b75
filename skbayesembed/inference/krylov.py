"""``A^-1 b`` and ``A^(-1/2) z`` for a matrix A that is known by its products with vectors alone.

Many right-hand sides are worked on in step. They are the rows of arrays (m, n), which products take
and return, so that what a product reads of A serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from .conjugate import (
    block_conjugate_gradients,
    column,
    conjugate_gradients,
    independent,
    inverted,
    squares,
)
from .laplace import BipartiteGaussian, Product, WholeGaussian, not_a_mode

# Off-diagonal entries of a Lanczos matrix below this times its first diagonal entry, or below ten
# roundings of the type, are rounding error: the process has ended.
_LEAST_OFF, _ROUNDINGS = 1e-13, 10
# Errors are taken to fall at least this fast from look to look.
_SLOWEST = 0.99
# Residuals of solutions relative to the right-hand side, in single and in double precision.
_TOL_SINGLE, _TOL_DOUBLE = 1e-4, 1e-10
# Sums of unit vectors whose squared length is below this share of the largest are rounding; Ritz
# values below this bound belong to soft directions.
_TOLD_APART, _SOFT = 1e-4, 0.7
# What is left to solve for once these are known is stiff, so that residuals may be larger.
_LOOSER = 5.0
# A refinement that leaves more than this share of the residual before it is going nowhere.
_LEAST_REFINEMENT = 0.5


def inverse_root(
    product: Product,
    z: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    check: int = 2,
    keep: int = 1 << 30,
) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """``A^(-1/2)`` times each row of ``z``, each by a Lanczos process of its own.

    Lanczos vectors are not orthogonalized again: products of functions of A with a vector do not
    need it (Druskin & Knizhnerman 1991; Musco, Musco & Sidford 2018).

    Parameters
    ----------
    product : callable
        A times rows (m, n); A symmetric positive definite.
    z : ndarray of shape (m, n)
    tol : float
        Estimated error relative to the result, both in Euclidean norm, at which to stop. The error
        is estimated from the last changes of the result, as if they shrank geometrically.
    max_iter : int
        Most products.
    check : int
        Products between two looks at the error.
    keep : int
        Bytes of Lanczos vectors to keep; vectors beyond that are made a second time.

    Returns
    -------
    x : ndarray of shape (m, n)
    facts : list of m dict
        For each row ``products``, their number, and ``error``, the estimate.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite.
    """
    norms = np.linalg.norm(z, axis=1)
    least = max(_LEAST_OFF, _ROUNDINGS * np.finfo(z.dtype).eps)
    lanes = [_Lane(norm, least) for norm in norms]
    most = max(2, keep // z.nbytes)
    q, before = z * column(inverted(norms), z), None
    vectors, diagonals, off = [q], [], []
    for n in range(1, max_iter + 1):
        if all(lane.done for lane in lanes):
            break
        w = product(q)
        if before is not None:
            w -= column(off[-1], z) * before
        diagonals.append([lane.append(a, b) for lane, a, b in zip(lanes, q, w, strict=True)])
        w -= column(diagonals[-1], z) * q
        lengths = np.linalg.norm(w, axis=1)
        for lane, length in zip(lanes, lengths, strict=True):
            lane.look(float(length), n % check == 0 or n == max_iter, tol)
        off.append(np.where([lane.ended for lane in lanes], 0.0, lengths))
        before, q = q, w
        q *= column(inverted(off[-1]), z)
        if len(vectors) < most:
            vectors.append(q)
    return _combine(product, vectors, lanes, diagonals, off), [lane.facts for lane in lanes]


class _Lane:
    """The tridiagonal matrix of one Lanczos process, and coefficients of the result that it gives.

    The result is the sum of the coefficients (``weights``) times the Lanczos vectors. The process
    has ``ended`` when its vectors span the whole space that it can reach, and is ``done`` when the
    result is good enough.
    """

    def __init__(self, norm, least):
        # off-diagonal entries below ``least`` times the first diagonal one are rounding
        self.norm, self.least = float(norm), least
        self.diagonal, self.off, self.weights = [], [], np.zeros(0)
        # coefficients and their changes at the looks so far
        self.history, self.changes = [self.weights], [np.inf]
        self.facts = {"products": 0, "error": 0.0}
        self.done = self.ended = norm == 0.0

    def append(self, q, w):
        """Diagonal entry ``q . w`` of the next row."""
        value = float(np.vdot(q, w))
        if not self.done:
            self.diagonal.append(value)
        return value

    def look(self, length, due, tol):
        """Take the length of the next vector; estimate the error where that is due."""
        if self.done:
            return
        self.ended = length <= self.least * abs(self.diagonal[0])
        if due or self.ended:
            error = self._coefficients()
            self.facts = {"products": len(self.diagonal), "error": 0.0 if self.ended else error}
            self.done = self.ended or error <= tol
        self.off.append(length)

    def _coefficients(self):
        """Find the coefficients of the result; returns its estimated error.

        The result is compared with that of two looks before, since progress from one look to the
        next is too uneven to tell how much is left.
        """
        values, basis = _eigh_tridiagonal(self.diagonal, self.off)
        if values[0] <= 0.0:
            raise not_a_mode()
        self.weights = basis @ (basis[0] / np.sqrt(values))
        earlier = max(0, len(self.history) - 2)
        difference = self.weights.copy()
        difference[: self.history[earlier].size] -= self.history[earlier]
        size = float(np.linalg.norm(difference) / np.linalg.norm(self.weights))
        before = self.changes[earlier]
        ratio = min(size / before, _SLOWEST) if np.isfinite(before) else _SLOWEST
        self.history.append(self.weights)
        self.changes.append(size)
        return size * ratio / (1.0 - ratio)


def _eigh_tridiagonal(diagonal, off):
    """Eigenvalues, ascending, and eigenvectors of a symmetric tridiagonal matrix."""
    try:
        return linalg.eigh_tridiagonal(diagonal, off)
    except linalg.LinAlgError:
        # LAPACK's stemr now and then fails on matrices that are as good as any
        return linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1))


def _combine(product, vectors, lanes, diagonals, off):
    """Sums of coefficients times Lanczos vectors; those not kept are made again."""
    length = max(lane.weights.size for lane in lanes)
    weights = np.zeros((length, len(lanes)))
    for i, lane in enumerate(lanes):
        weights[: lane.weights.size, i] = lane.norm * lane.weights
    total = np.zeros_like(vectors[0])
    for w, q in zip(weights, vectors, strict=False):
        total += column(w, q) * q
    before, q = vectors[-2] if len(vectors) > 1 else None, vectors[-1]
    for n in range(len(vectors), length):
        # the same operations in the same order, so that vectors are the same to the last bit
        w = product(q)
        if before is not None:
            w -= column(off[n - 2], q) * before
        w -= column(diagonals[n - 1], q) * q
        w *= column(inverted(off[n - 1]), q)
        before, q = q, w
        total += column(weights[n], q) * q
    return total


def _joined(parts):
    """The rows of all arrays of a list, each of which is let go of once it is copied."""
    end = sum(len(part) for part in parts)
    out = np.empty((end, parts[0].shape[1]), parts[0].dtype)
    while parts:
        part = parts.pop()
        out[end - len(part) : end] = part
        end -= len(part)
    return out


class SoftInverse:
    """``M = I + Z (Lambda^-1 - I) Z'``: near ``A^-1`` where A is near I but along few directions.

    Z and Lambda are the softest Ritz vectors and values of A in the space of directions whose
    images under A are known.

    Parameters
    ----------
    seen : list of (ndarray, ndarray) of shape (m, n)
        As of `block_conjugate_gradients`; emptied.
    most : int
        Most directions.
    """

    def __init__(self, seen: list[tuple[np.ndarray, np.ndarray]], most: int) -> None:
        parts = [list(part) for part in zip(*seen, strict=True)]
        seen.clear()
        went, images = map(_joined, parts)
        scale = column(inverted(np.linalg.norm(went, axis=1)), went)
        went *= scale
        images *= scale
        basis = independent((went @ went.T).astype(np.float64), _TOLD_APART)
        bend = (went @ images.T).astype(np.float64)
        values, inner = np.linalg.eigh(basis.T @ (0.5 * (bend + bend.T)) @ basis)
        soft = np.flatnonzero((values > 0.0) & (values < _SOFT))[:most]
        self.vectors = (basis @ inner[:, soft]).T.astype(went.dtype) @ went
        self.gain = (1.0 / values[soft] - 1.0).astype(went.dtype)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """M times rows (m, n)."""
        return rows + ((rows @ self.vectors.T) * self.gain) @ self.vectors


class KrylovRoot:
    """``A^-1`` and a root of it, a matrix R with ``R R' = A^-1``, through products with A.

    Parameters
    ----------
    product : callable
        A times rows (m, n).
    factor : object, optional
        A matrix F that makes the condition number of ``F'AF`` smaller than that of A. Its methods
        ``apply`` and ``transpose`` multiply rows by F and by F'. The root is then
        ``F (F'AF)^(-1/2)``.
    dtype : dtype
        The type in which products are made, float32 or float64.
    tol : float
        Relative error of roots, see `inverse_root`.
    max_iter : int
        Most products for a root or a solution.
    keep : int
        Bytes of Lanczos vectors to keep at a time.
    solution_tol : float, optional
        Relative residual of solutions where `solve` is given none; by default what the type of the
        products allows, 1e-4 in float32 and 1e-10 in float64.
    recycle : int, default=0
        Most directions in which A is soft that later solutions learn from the first `solve`. Where
        A is near the identity but along these, a third of the products are enough; residuals along
        other directions may then be five times ``tol``.

    Attributes
    ----------
    facts : list of dict
        Number of products and estimated error of every row that a root was taken of.
    """

    def __init__(
        self,
        product: Product,
        factor: Any = None,
        *,
        dtype: DTypeLike = np.float64,
        tol: float = 1e-3,
        max_iter: int = 1000,
        keep: int = 1 << 30,
        solution_tol: float | None = None,
        recycle: int = 0,
    ) -> None:
        self.product, self.factor, self.dtype = product, factor, dtype
        if solution_tol is None:
            solution_tol = _TOL_SINGLE if dtype == np.float32 else _TOL_DOUBLE
        self.solution_tol, self.recycle = solution_tol, recycle
        self.soft: SoftInverse | None = None
        self.tol, self.max_iter, self.keep = tol, max_iter, keep
        self.facts: list[dict[str, Any]] = []

    def _inner(self, y):
        if self.factor is None:
            return self.product(y)
        return self.factor.transpose(self.product(self.factor.apply(y)))

    def root(self, z: np.ndarray) -> np.ndarray:
        """The root times each row of ``z``, (m, n)."""
        z = z.astype(self.dtype, copy=False)
        x, facts = inverse_root(
            self._inner, z, tol=self.tol, max_iter=self.max_iter, keep=self.keep
        )
        self.facts.extend(facts)
        return x if self.factor is None else self.factor.apply(x)

    def solve(self, b: np.ndarray, tol: float | None = None) -> np.ndarray:
        """``A^-1`` times each row of ``b``, (m, n).

        The residual relative to the row is at most ``tol``, by default ``solution_tol``.
        """
        b = b.astype(self.dtype, copy=False)
        tol = self.solution_tol if tol is None else tol
        b = b if self.factor is None else self.factor.transpose(b)
        most, soft = self.max_iter, self.soft
        if self.recycle > 0 and soft is None:
            x, seen = block_conjugate_gradients(self._inner, b, tol=tol, max_iter=most)
            if seen:
                self.soft = SoftInverse(seen, self.recycle)
        else:
            tol = tol if soft is None else _LOOSER * tol
            x = conjugate_gradients(self._inner, b, tol=tol, max_iter=most, precondition=soft)
        return x if self.factor is None else self.factor.apply(x)


class Refined:
    """A Gaussian in single precision whose solutions are refined by products in double.

    Arrays are those of target and context vectors, (m, 2, n_words, K): m of them at once.

    Parameters
    ----------
    rough : WholeGaussian or BipartiteGaussian
        N(0, H^-1) in single precision; its ``solve`` must leave small residuals.
    product : callable
        H times arrays (m, 2, n_words, K) in double precision.
    tol : float
        Norm of the residual of a solution relative to that of the right-hand side.
    project : callable, optional
        Removes from arrays (m, 2, n_words, K), in place, their part along null directions of H,
        along which a solution is arbitrary.
    """

    def __init__(
        self,
        rough: WholeGaussian | BipartiteGaussian,
        product: Product,
        *,
        tol: float = 1e-8,
        project: Callable[[np.ndarray], None] | None = None,
    ) -> None:
        self.rough, self.product, self.tol, self.project = rough, product, tol, project
        self.root = rough.root

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent draws, (n, 2, n_words, K)."""
        return self.rough.draw(n, rng)

    def solve(self, b: np.ndarray, lanes: int = 8) -> np.ndarray:
        """``H^-1`` times each of ``b``, (m, 2, n_words, K), ``lanes`` of them at a time.

        Raises
        ------
        RuntimeError
            If the residual falls too slowly: single precision does not resolve H.
        """
        out = np.empty(b.shape)
        for start in range(0, len(b), lanes):
            out[start : start + lanes] = self._solve(b[start : start + lanes])
        return out

    def _solve(self, b):
        b = b * self.rough.free
        if self.project is not None:
            self.project(b)
        x, residual = np.zeros(b.shape), b.copy()
        size = np.sqrt(squares(b))
        left, before = size, np.inf
        while np.any(left > self.tol * size):
            if np.any(left > np.maximum(self.tol * size, _LEAST_REFINEMENT * before)):
                worst = np.max(left / np.maximum(size, 1e-300))
                raise RuntimeError(f"Refining a solution left a relative residual of {worst:.3g}.")
            # scaled to unit length, so that single precision neither overflows nor underflows
            scale = np.where(left > 0.0, left, 1.0)[:, None, None, None]
            x += scale * self.rough.solve(residual / scale)
            residual = b - self.product(x)
            if self.project is not None:
                self.project(residual)
            left, before = np.sqrt(squares(residual)), left
        return x
