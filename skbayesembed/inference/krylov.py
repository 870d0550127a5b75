"""``A^-1 b`` and ``A^(-1/2) z`` through products with A alone, for many right-hand sides in step.

Right-hand sides are rows: products take and return arrays (m, n), so that what a product reads of A
serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from .laplace import BipartiteGaussian, Product, WholeGaussian, not_a_mode


def inverse_root(
    product: Product,
    z: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    check: int = 2,
    keep: int = 1 << 30,
) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """``A^(-1/2)`` times each row of ``z`` by a Lanczos process of its own.

    Without reorthogonalisation, which functions of A do not need (Druskin & Knizhnerman 1991;
    Musco, Musco & Sidford 2018).

    Parameters
    ----------
    product : callable
        A times rows (m, n); A symmetric positive definite.
    z : ndarray of shape (m, n)
    tol : float
        Estimated error relative to the result, both in Euclidean norm, at which to stop. The error
        is estimated from the last changes of the result, supposing they shrink geometrically.
    max_iter : int
    check : int
        Products between two looks at the error.
    keep : int
        Bytes of Lanczos vectors to keep; those beyond are made twice.

    Returns
    -------
    x : ndarray of shape (m, n)
    facts : list of m dict
        ``products``, ``error`` (the estimate).

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite.
    """
    norms = np.linalg.norm(z, axis=1)
    least = max(1e-13, 10 * np.finfo(z.dtype).eps)
    lanes = [_Lane(norm, least) for norm in norms]
    most = max(2, keep // z.nbytes)
    q, before = z * _column(_inverted(norms), z), None
    vectors, diagonals, off = [q], [], []
    for n in range(1, max_iter + 1):
        if all(lane.done for lane in lanes):
            break
        w = product(q)
        if before is not None:
            w -= _column(off[-1], z) * before
        diagonals.append([lane.append(a, b) for lane, a, b in zip(lanes, q, w, strict=True)])
        w -= _column(diagonals[-1], z) * q
        lengths = np.linalg.norm(w, axis=1)
        for lane, length in zip(lanes, lengths, strict=True):
            lane.look(float(length), n % check == 0 or n == max_iter, tol)
        off.append(np.where([lane.ended for lane in lanes], 0.0, lengths))
        before, q = q, w
        q *= _column(_inverted(off[-1]), z)
        if len(vectors) < most:
            vectors.append(q)
    return _combine(product, vectors, lanes, diagonals, off), [lane.facts for lane in lanes]


class _Lane:
    """The tridiagonal matrix of one Lanczos process and the coefficients that it gives."""

    def __init__(self, norm, least):
        # off-diagonal entries below ``least`` times the diagonal are rounding
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
        """Find those of the result in the Lanczos vectors; the estimated error.

        They are compared over two looks: over one, progress is too uneven to tell what is left.
        """
        values, basis = linalg.eigh_tridiagonal(self.diagonal, self.off)
        if values[0] <= 0.0:
            raise not_a_mode()
        self.weights = basis @ (basis[0] / np.sqrt(values))
        earlier = max(0, len(self.history) - 2)
        difference = self.weights.copy()
        difference[: self.history[earlier].size] -= self.history[earlier]
        size = float(np.linalg.norm(difference) / np.linalg.norm(self.weights))
        before = self.changes[earlier]
        ratio = min(size / before, 0.99) if np.isfinite(before) else 0.99
        self.history.append(self.weights)
        self.changes.append(size)
        return size * ratio / (1.0 - ratio)


def _column(values, like):
    return np.asarray(values, dtype=like.dtype)[:, None]


def _inverted(values):
    return np.divide(1.0, values, out=np.zeros(len(values)), where=np.asarray(values) > 0.0)


def _combine(product, vectors, lanes, diagonals, off):
    """Sums of coefficients times Lanczos vectors; those not kept are made again."""
    length = max(lane.weights.size for lane in lanes)
    weights = np.zeros((length, len(lanes)))
    for i, lane in enumerate(lanes):
        weights[: lane.weights.size, i] = lane.norm * lane.weights
    total = np.zeros_like(vectors[0])
    for w, q in zip(weights, vectors, strict=False):
        total += _column(w, q) * q
    before, q = vectors[-2] if len(vectors) > 1 else None, vectors[-1]
    for n in range(len(vectors), length):
        # to the last bit as before
        w = product(q)
        if before is not None:
            w -= _column(off[n - 2], q) * before
        w -= _column(diagonals[n - 1], q) * q
        w *= _column(_inverted(off[n - 1]), q)
        before, q = q, w
        total += _column(weights[n], q) * q
    return total


def conjugate_gradients(
    product: Product, b: np.ndarray, *, tol: float, max_iter: int
) -> np.ndarray:
    """``A^-1`` times each row of ``b`` to a residual of ``tol`` times the row.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite.
    RuntimeError
        If ``max_iter`` products are not enough.
    """
    x, residual = np.zeros_like(b), b.copy()
    direction = residual.copy()
    rr = _squares(residual)
    aim = tol * tol * rr
    for _ in range(max_iter):
        active = rr > aim
        if not np.any(active):
            return x
        image = product(direction)
        bend = np.array([float(np.vdot(d, i)) for d, i in zip(direction, image, strict=True)])
        if np.any(bend[active] <= 0.0):
            raise not_a_mode()
        size = np.divide(rr, bend, out=np.zeros(len(b)), where=active)
        x += _column(size, b) * direction
        residual -= _column(size, b) * image
        rr, old = _squares(residual), rr
        direction *= _column(np.divide(rr, old, out=np.zeros(len(b)), where=active), b)
        direction += residual
    if np.all(rr <= aim):
        return x
    raise RuntimeError(
        f"Conjugate gradients left a residual of {np.sqrt(np.max(rr)):.3g} after {max_iter} "
        "products."
    )


def _squares(rows):
    return np.array([float(np.vdot(row, row)) for row in rows])


class KrylovRoot:
    """``A^-1`` and a root of it through products with A.

    Parameters
    ----------
    product : callable
        A times rows (m, n).
    factor : object, optional
        A factor F with ``F'AF`` of a smaller condition number than A: ``apply`` and ``transpose``
        take rows. The root is ``F (F'AF)^(-1/2)``.
    dtype : dtype
        In which the products are made.
    tol : float
        Of roots, see `inverse_root`.
    max_iter : int
    keep : int
        Bytes of Lanczos vectors to keep at a time.

    Attributes
    ----------
    facts : list of dict
        Products and estimated error of every root taken.
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
    ) -> None:
        self.product, self.factor, self.dtype = product, factor, dtype
        self.tol, self.max_iter, self.keep = tol, max_iter, keep
        self.facts: list[dict[str, Any]] = []

    def _inner(self, y):
        if self.factor is None:
            return self.product(y)
        return self.factor.transpose(self.product(self.factor.apply(y)))

    def root(self, z: np.ndarray) -> np.ndarray:
        """Rows of ``z`` times the root, (m, n)."""
        z = z.astype(self.dtype, copy=False)
        x, facts = inverse_root(
            self._inner, z, tol=self.tol, max_iter=self.max_iter, keep=self.keep
        )
        self.facts.extend(facts)
        return x if self.factor is None else self.factor.apply(x)

    def solve(self, b: np.ndarray, tol: float | None = None) -> np.ndarray:
        """``A^-1`` times rows of ``b``, (m, n), to what the precision allows."""
        b = b.astype(self.dtype, copy=False)
        if tol is None:
            tol = 1e-4 if self.dtype == np.float32 else 1e-10
        b = b if self.factor is None else self.factor.transpose(b)
        x = conjugate_gradients(self._inner, b, tol=tol, max_iter=self.max_iter)
        return x if self.factor is None else self.factor.apply(x)


class Refined:
    """A Gaussian in single precision whose solutions are refined by products in double.

    Parameters
    ----------
    rough : WholeGaussian or BipartiteGaussian
        N(0, H^-1), of which ``solve`` leaves small residuals.
    product : callable
        H times arrays (m, 2, n, K) in double precision.
    tol : float
        Residual of solutions relative to the right-hand side.
    project : callable, optional
        Takes off arrays (m, 2, n, K), in place, their part along null directions of H, in which
        solutions are anything.
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
        """``n`` draws, (n, 2, n_words, K)."""
        return self.rough.draw(n, rng)

    def solve(self, b: np.ndarray, lanes: int = 8) -> np.ndarray:
        """``H^-1`` times each of ``b``, (m, 2, n_words, K), ``lanes`` of them at a time."""
        out = np.empty(b.shape)
        for start in range(0, len(b), lanes):
            out[start : start + lanes] = self._solve(b[start : start + lanes])
        return out

    def _solve(self, b):
        b = b * self.rough.free
        if self.project is not None:
            self.project(b)
        x, residual = np.zeros(b.shape), b.copy()
        size = np.sqrt(_squares(b))
        left, before = size, np.inf
        while np.any(left > self.tol * size):
            if np.any(left > np.maximum(self.tol * size, 0.5 * before)):
                worst = np.max(left / np.maximum(size, 1e-300))
                raise RuntimeError(f"Refining a solution left a relative residual of {worst:.3g}.")
            # of unit length, for the exponents of single precision
            scale = np.where(left > 0.0, left, 1.0)[:, None, None, None]
            x += scale * self.rough.solve(residual / scale)
            residual = b - self.product(x)
            if self.project is not None:
                self.project(residual)
            left, before = np.sqrt(_squares(residual)), left
        return x
