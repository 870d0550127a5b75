"""Linear systems with the curvature at a mode that keep vectors alone, no block of a word.

Blocks of words, which `laplace.curvature` makes, take ``V K^2`` numbers and ``V^2 K^2`` work. Here
products with the whole Hessian are made in one pass through all pairs, in tiles, and the
preconditioner is that of the search for the mode, with exchanges of components as flat as they are.
Conjugate gradients then take 30 products (1,500 words, 30 components), 50 (4,000 words, 100
components) or some 80 (20,000 words). Where what is solved for has no part along scales (answers
about balanced vectors have none), the maps of `laplace.soft` save none of them.
"""

from __future__ import annotations

import numpy as np

from ...inference.krylov import conjugate_gradients
from ...inference.threads import gathered, serial
from ..data import ProductPairs, cut_rows, table_rows
from ..expected_kernels import curvature_products_expected
from ..laplace.hessian import Hessian
from ..preconditioner import Preconditioner
from ..residuals import Residuals

# Least curvature along exchanges that is told from none, relative to that of the words, and rounds
# of subspace iteration for the exchanges. With .1 and 2, as the search has it, half as many
# products more are needed; with twice as many directions, a tenth less.
_FLATTEST, _ROUNDS = 0.01, 6
# Residual that a solution may leave, relative to its right-hand side and in the norm of the
# preconditioner. Prior parts of two cosines then are within .2 % (4,000 words, 100 components) and
# sampling parts, by a like residual, within 2 % (1,500 words, 30 components); twenty times as much
# leaves them up to 40 % too small.
TOL = 2e-3
_MOST_PRODUCTS = 1000
# Runs of rows that products are made of; each has sums over all columns.
_RUNS = 8
# Rows of a product that is timed.
_TIMED_ROWS = 512


class Systems:
    """``H^+`` times gradients, H minus the Hessian of a log posterior at its mode.

    Parameters
    ----------
    model : SGNSModel
        Without anchors.
    vectors : ndarray of shape (2, n_words, n_components)
        The mode.
    orbit : Orbit
    run : callable, default=serial
        Maps a function over a list of argument tuples, possibly in threads.

    Attributes
    ----------
    model
        As given.
    run : callable
        As given; may be set to another.
    products : int
        Products with H so far, each with all right-hand sides that were solved for together.
    """

    def __init__(self, model, vectors, orbit, run=serial):
        self.model, self._orbit, self.run = model, orbit, run
        self._x = vectors.astype(np.float32)
        self._hessian = None
        if isinstance(model.pairs, ProductPairs):
            self._table = model.pairs.table(np.float32)
            self._cuts = cut_rows(model.pairs.row_work(0), _RUNS)
        else:
            self._hessian = Hessian(model, vectors, run=run).single(run)
            self._expected = self._hessian.expected()
        residuals = Residuals(model.pairs, run)
        gradient = np.empty_like(self._x)
        residuals.gradient(*self._x, gradient)
        for side in (0, 1):
            model.prior.add_gradient(side, self._x[side], gradient[side])
        options = {"flattest": _FLATTEST, "rounds": _ROUNDS}
        self._preconditioner = Preconditioner(model.prior, residuals, np.float32, **options)
        self._preconditioner.refresh(self._x, gradient)
        self.products = 0

    def solve(self, gradients, tol=TOL, told=None, observed=True):
        """``H^+`` times gradients (m, 2, n_words, K), float32 and at right angles to the orbit.

        Parameters
        ----------
        gradients : ndarray
            At right angles to the orbit.
        tol : float
            Residual that may be left, relative to the gradient, in the preconditioner's norm.
        told : callable, optional
            Called after each product.
        observed : bool
            Whether H is that of the data, or that which is expected.

        Raises
        ------
        numpy.linalg.LinAlgError
            If H is not positive definite.
        """
        shape = gradients.shape

        def product(rows):
            out = self.product(rows.reshape(shape), observed)
            self.products += 1
            if told is not None:
                told()
            return out.reshape(rows.shape)

        def precondition(rows):
            out = self._precondition(rows.reshape(shape))
            # only the observed one is null along the orbit
            return (self._projected(out) if observed else out).reshape(rows.shape)

        found = conjugate_gradients(
            product,
            np.ascontiguousarray(gradients, dtype=np.float32).reshape(len(gradients), -1),
            tol=tol,
            max_iter=_MOST_PRODUCTS,
            precondition=precondition,
        ).reshape(shape)
        return self._projected(found)

    def product(self, directions, observed=True):
        """H times directions (m, 2, n_words, K), in float32; or the Hessian that is expected."""
        if self._hessian is not None:
            hessian = self._hessian if observed else self._expected
            hessian.run = self.run
            return hessian.product(directions)
        dx, dy = (np.ascontiguousarray(directions[:, side]) for side in (0, 1))
        out = np.zeros_like(directions)

        def rows(start, stop):
            made = np.empty((len(dx), stop - start, dx.shape[2]), dx.dtype), np.empty_like(dy)
            table = table_rows(self._table, start, stop)
            given = self._x[0][start:stop], self._x[1], np.ascontiguousarray(dx[:, start:stop]), dy
            curvature_products_expected(0, stop - start, table, *given, observed, *made)
            return made

        found = gathered(self.run, rows, self._cuts)
        for (start, stop), (of_rows, of_columns) in zip(self._cuts, found, strict=True):
            out[:, 0, start:stop] = of_rows
            out[:, 1] += of_columns
        for image, direction in zip(out, directions, strict=True):
            for side in (0, 1):
                image[side] += self.model.prior.apply(side, direction[side])
        return out

    def _precondition(self, rows):
        out = rows.copy()
        for row in out:
            self._preconditioner.multiply(row)
        return out

    def _projected(self, rows):
        # one by one: the orbit works in double precision
        for row in rows:
            self._orbit.project(row)
        return rows


def seconds_of_product(model, clock):
    """CPU seconds by ``clock`` of a product with one direction, from some of its rows if many."""
    shape = model.n_words, model.n_components
    x = np.random.default_rng(0).standard_normal((2, *shape), dtype=np.float32)
    if not isinstance(model.pairs, ProductPairs):
        hessian = Hessian(model, x).single()
        return _timed(lambda: hessian.product(x), clock)
    end = min(_TIMED_ROWS, len(x[0]))
    table = table_rows(model.pairs.table(np.float32), 0, end)
    room = np.empty((1, end, shape[1]), x.dtype), np.empty((1, *shape), x.dtype)
    given = table, x[0, :end], x[1], x[:1, :end], x[1:]
    seconds = _timed(lambda: curvature_products_expected(0, end, *given, True, *room), clock)
    return seconds * len(x[0]) / end


def _timed(work, clock):
    work()
    begun = clock()
    work()
    return clock() - begun
