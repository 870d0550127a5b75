"""Conjugate gradients: ``A^-1 b`` for many right-hand sides in step, which are rows (m, n)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from ..common.interruption import undisturbed
from .laplace import Product, not_a_mode

# Directions of a block whose squared length is below this share of the largest are left out, by
# their type: less would be noise.
_APART = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-12}
# Steps of a block of right-hand sides whose directions and images are kept for others to learn
# from, which bounds what these take of memory.
STEPS_KEPT = 25
# Steps that flexible gradients remember.
MOST_STEPS = 16
# ``bent(d, pull, known)``: what A is taken for, above zero, along a direction with ``d'Ad = -1``;
# with the row b and what has been found x, ``d'b`` and ``b'x``.
Bent = Callable[[np.ndarray, float, float], float]


def column(values, like):
    """``values`` as a column that multiplies the rows of ``like``, in its type."""
    return np.asarray(values, dtype=like.dtype)[:, None]


def inverted(values):
    """One over each value; 0 for those that are not above 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=np.asarray(values) > 0.0)


def conjugate_gradients(
    product: Product,
    b: np.ndarray,
    *,
    tol: float | np.ndarray,
    max_iter: int,
    precondition: Product | None = None,
    rough: bool = False,
    bent: Bent | None = None,
) -> np.ndarray:
    """``A^-1`` times each row of ``b``.

    Parameters
    ----------
    product : callable
        A times rows (m, n); A symmetric positive definite.
    b : ndarray of shape (m, n)
    tol : float or ndarray of shape (m,)
        Norm of the residual relative to that of the row at which to stop; with a preconditioner M,
        both in the norm ``sqrt(r'Mr)``.
    max_iter : int
        Most products.
    precondition : callable, optional
        M times rows (m, n); symmetric, positive definite and near ``A^-1``.
    rough : bool, default=False
        Whether a row is to end with what has been found where A is not positive definite along its
        direction, the first one if nothing has, and after ``max_iter`` products.
    bent : callable, optional
        What A is taken for along directions in which it is not positive definite; all else that is
        found is conjugate to them.

    Returns
    -------
    ndarray of shape (m, n)

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite; not if ``rough``, or ``bent``.
    RuntimeError
        If ``max_iter`` products are not enough; not if ``rough``.
    """
    x, residual = np.zeros_like(b), b.copy()
    better = residual if precondition is None else precondition(residual)
    direction = better.copy()
    rr = _products(residual, better)
    aim, ended, known = tol * tol * rr, np.zeros(len(b), bool), np.zeros(len(b))
    for _ in range(max_iter):
        active = ~(rr <= aim) & ~ended
        if not np.any(active):
            return x
        image = product(direction)
        bend = _products(direction, image)
        bad = active & ~(bend > 0.0)
        if rough and np.any(bad):
            # the first direction is better than none
            first = bad & ~np.any(x, axis=1)
            x[first], ended = direction[first], ended | bad
            active &= ~bad
        size = np.divide(rr, bend, out=np.zeros(len(b)), where=active)
        taken = _taken(direction, bend, size, active, known, bent)
        x += column(taken, b) * direction
        residual -= column(size, b) * image
        better = residual if precondition is None else precondition(residual)
        rr, old = _products(residual, better), rr
        direction *= column(np.divide(rr, old, out=np.zeros(len(b)), where=active), b)
        direction += better
    if rough or np.all(rr <= aim):
        return x
    raise _unfinished(rr, max_iter)


def flexible_gradients(
    product: Product,
    b: np.ndarray,
    *,
    solve: Callable[[np.ndarray, np.ndarray], np.ndarray],
    precondition: Product,
    tol: float,
    max_iter: int,
    bent: Bent | None = None,
    going: Flexible | None = None,
) -> np.ndarray:
    """`conjugate_gradients` whose directions are solutions of systems with a matrix near A.

    These need not be exact, nor have the same error from step to step: directions are made
    conjugate to the last `MOST_STEPS` (Notay 2000, SIAM Journal on Scientific Computing 22(4)).

    Parameters
    ----------
    product, b, tol, max_iter, bent
        As of `conjugate_gradients`.
    solve : callable
        ``solve(rows, left)``: about ``A^-1`` times rows (m, n), whose residuals are ``left`` (m,)
        times what they may be.
    precondition : callable
        M of the norm that residuals are measured in.
    going : Flexible, optional
        Of the same b: those that were interrupted go on from there.

    Returns
    -------
    ndarray of shape (m, n)

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite; not if ``bent``.
    RuntimeError
        If ``max_iter`` products are not enough.
    """
    at = Flexible(b) if going is None else going
    while np.any(at.active):
        rr = _products(at.residual, precondition(at.residual))
        left = at.left(rr, tol)
        if not np.any(at.active):
            break
        if at.n_steps >= max_iter:
            raise _unfinished(rr, max_iter)
        direction = solve(np.where(at.active[:, None], at.residual, b.dtype.type(0.0)), left)
        at.make_conjugate(direction)
        image = product(direction)
        at.step(direction, image, bent)
    at.residual = at.residual[:, :0]
    return at.x.copy()


class Flexible:
    """Where `flexible_gradients` are: each step is taken wholly, or where Ctrl-C comes not at all.

    Parameters
    ----------
    b : ndarray of shape (m, n)

    Attributes
    ----------
    x, residual : ndarray of shape (m, n)
    active : ndarray of bool of shape (m,)
        Rows that have not converged.
    n_steps : int
        Products so far.
    """

    def __init__(self, b: np.ndarray) -> None:
        self.x, self.residual = np.zeros_like(b), b.copy()
        self.active, self.n_steps = np.ones(len(b), bool), 0
        self._rows = [_Seen(alone=len(b) == 1) for _ in b]
        self._aim, self._known = None, np.zeros(len(b))

    @property
    def steps(self) -> list[list[tuple[np.ndarray, float]]]:
        """Of each row the last `MOST_STEPS` that it took part in, ``(d, d'Ad)``.

        Conjugate directions, and what A was taken for along them.
        """
        return [row.steps for row in self._rows]

    def left(self, rr, tol):
        """Residuals of squared norms ``rr`` (m,), over what they may be; rows may end by it."""
        if self._aim is None:
            self._aim = tol * tol * rr
        self.active &= ~(rr <= self._aim)
        for i in np.flatnonzero(~self.active):
            self._rows[i].end()
        return np.sqrt(np.divide(rr, self._aim, out=np.ones(len(rr)), where=self.active))

    def make_conjugate(self, directions):
        """Make directions of active rows conjugate to those before, in place."""
        for i in np.flatnonzero(self.active):
            self._rows[i].make_conjugate(directions[i])

    def step(self, direction, image, bent):
        """Go along directions with these images."""
        active, known = self.active, self._known.copy()
        bend = _products(direction, image)
        size = np.where(active, _ratio(_products(direction, self.residual), bend), 0.0)
        taken = _taken(direction, bend, size, active, known, bent)
        curvature = _ratio(size * bend, taken)
        with undisturbed():
            self.x += column(taken, self.x) * direction
            self.residual -= column(size, self.x) * image
            for i in np.flatnonzero(active):
                self._rows[i].add(direction[i], image[i], bend[i], curvature[i])
            self._known, self.n_steps = known, self.n_steps + 1


class _Seen:
    """The last steps of a row: directions with their images, until the row has converged.

    Parameters
    ----------
    alone : bool
        Whether it is the only row; one of several is copied, or it would keep the others.

    Attributes
    ----------
    steps : list of (ndarray, float)
        Directions, and what the matrix was taken for along them.
    """

    def __init__(self, alone):
        self._alone, self._images, self.steps = alone, [], []

    def make_conjugate(self, direction):
        """Make a direction conjugate to those before, in place."""
        for (before, _), (image, bend) in zip(self.steps, self._images, strict=True):
            if bend != 0.0:
                direction -= direction.dtype.type(float(np.vdot(direction, image)) / bend) * before

    def add(self, direction, image, bend, curvature):
        if not self._alone:
            direction, image = direction.copy(), image.copy()
        self.steps = [*self.steps[1 - MOST_STEPS :], (direction, float(curvature))]
        self._images = [*self._images[1 - MOST_STEPS :], (image, bend)]

    def end(self):
        self._images = []


def _taken(directions, bends, sizes, active, known, bent):
    """Steps along directions: ``sizes`` where A is positive definite, else as ``bent`` says.

    What they add to ``b'x`` is added to ``known``.
    """
    steps = sizes.copy()
    for i in np.flatnonzero(active & ~(bends > 0.0)):
        length = np.sqrt(max(-bends[i], 0.0))
        direction = directions[i] / length if length > 0.0 else None
        if bent is None or direction is None:
            raise not_a_mode(direction=direction)
        # "sizes" are d'b over the bends, as all before is conjugate to d
        steps[i] /= -bent(direction, -sizes[i] * length, known[i])
    known += steps * sizes * bends
    return steps


def _ratio(above, below):
    """Zero where ``below`` is."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0.0)


def _unfinished(squares, max_iter):
    return RuntimeError(
        f"Conjugate gradients left a residual of {np.sqrt(np.max(squares)):.3g} after {max_iter} "
        "products."
    )


def block_conjugate_gradients(
    product: Product, b: np.ndarray, *, tol: float, max_iter: int
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """``A^-1`` times each row of ``b``, each sought along the directions of all of them.

    Where A is soft in a few directions that all rows have a part in, half the products of
    `conjugate_gradients` are enough (O'Leary 1980, Linear Algebra and its Applications 29). The
    directions of a step are made orthonormal, and those that tell nothing of their own are left
    out.

    Parameters
    ----------
    product, b, tol, max_iter
        As of `conjugate_gradients`; a product takes as many rows as there are directions.

    Returns
    -------
    x : ndarray of shape (m, n)
    seen : list of (ndarray, ndarray)
        Directions of the first `STEPS_KEPT` steps and A times these.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A turns out not to be positive definite.
    RuntimeError
        If ``max_iter`` products are not enough.
    """
    x, residual = np.zeros_like(b), b.copy()
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    rr = squares(residual)
    aim, directions = tol * tol * rr, residual
    for _ in range(max_iter):
        if np.all(rr <= aim):
            return x, seen
        directions = _orthonormal(directions)
        images = product(directions)
        if len(seen) < STEPS_KEPT:
            seen.append((directions, images))
        bend = (directions @ images.T).astype(np.float64)
        try:
            factor = linalg.cho_factor(0.5 * (bend + bend.T))
        except np.linalg.LinAlgError:
            raise not_a_mode() from None
        sizes = linalg.cho_solve(factor, directions @ residual.T).T.astype(b.dtype)
        x += sizes @ directions
        residual -= sizes @ images
        rr = squares(residual)
        overlap = linalg.cho_solve(factor, images @ residual.T).T.astype(b.dtype)
        directions = residual - overlap @ directions
    if np.all(rr <= aim):
        return x, seen
    raise _unfinished(rr, max_iter)


def _orthonormal(rows):
    """Orthonormal rows that span the given ones, as far as these can be told apart."""
    scale = inverted(np.linalg.norm(rows, axis=1))
    gram = (rows @ rows.T).astype(np.float64) * scale * scale[:, None]
    basis = scale[:, None] * independent(gram, _APART[rows.dtype])
    return basis.T.astype(rows.dtype) @ rows


def independent(gram, share):
    """Coefficients, in columns, of orthonormal sums of vectors with this Gram matrix.

    Sums whose squared length is below ``share`` of the largest are left out.
    """
    values, basis = np.linalg.eigh(gram)
    told = values > share * values[-1]
    return basis[:, told] / np.sqrt(values[told])


def _products(first, second):
    return np.array([float(np.vdot(a, b)) for a, b in zip(first, second, strict=True)])


def squares(rows):
    """Squared lengths of rows."""
    return _products(rows, rows)
