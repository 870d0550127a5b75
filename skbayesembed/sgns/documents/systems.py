"""Linear systems with the curvature at a mode that keep vectors alone, no block of a word.

Blocks of words, which `laplace.curvature` makes, take ``V K^2`` numbers and ``V^2 K^2`` work. Here
products with the whole Hessian are made in one pass through all pairs, in tiles, and the
preconditioner is that of the search for the mode, with exchanges of components as flat as they are.
Conjugate gradients then take 30 products (1,500 words, 30 components), 50 (4,000 words, 100
components) or some 80 (20,000 words). Where what is solved for has no part along scales (answers
about balanced vectors have none), the maps of `laplace.soft` save none of them.
"""

from __future__ import annotations

import hashlib

import numpy as np

from ...inference.conjugate import Flexible, conjugate_gradients, flexible_gradients
from ...inference.threads import serial
from ..clustered import ClusteredResiduals, frequent_words, work_left
from ..clustered_curvature import ClusteredCurvature
from ..data import ProductPairs, table_rows
from ..laplace.hessian import Hessian
from ..preconditioner import Preconditioner
from ..residuals import EXPECTED, Residuals
from ..starting import separable

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
# Share of the expected negative observations that meet by clusters, and of the time of a product
# that products by clusters may take. Residual that these systems leave, and what they leave at the
# end of what may be left.
_RARE, _MOST_WORK = 0.2, 0.5
_ROUGH, _NEARLY = 0.3, 0.5
# What clusters take of a product, times words by components.
_BY_CLUSTERS = 12.0
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
    model, run
        As given.
    products : int
        Products with H so far, each with all right-hand sides that were solved for together.
    usual : int
        Products that a system usually takes.
    goes_on : bool
        Whether a solution that was interrupted goes on where it is asked for again.
    steps : list of list of (ndarray, float)
        Of each row of the last solution by the data, conjugate directions (2, n_words, K) and their
        curvatures; empty where they are not kept, and after another solution.
    """

    usual, goes_on = 50, False
    steps = ()

    def __init__(self, model, vectors, orbit, run=serial):
        self.model, self._orbit, self.run, self.products = model, orbit, run, 0
        self._prepare(vectors)

    def _prepare(self, vectors):
        model, run = self.model, self.run
        self._x = vectors.astype(np.float32)
        residuals = Residuals(model.pairs, run)
        self._pairs, self._hessian = residuals.products, None
        if not isinstance(model.pairs, ProductPairs):
            self._hessian = Hessian(model, vectors, run=run).single(run)
            self._expected = self._hessian.expected()
        self._preconditioner = _preconditioner(model.prior, residuals, self._x)

    def solve(self, gradients, tol=TOL, told=None, observed=True, bent=None):
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
        bent : callable, optional
            As of `conjugate_gradients`, of directions (2, n_words, K).

        Raises
        ------
        numpy.linalg.LinAlgError
            If H is not positive definite; not if ``bent``.
        """
        shape, self.steps = gradients.shape, ()

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

        rows = np.ascontiguousarray(gradients, dtype=np.float32).reshape(len(gradients), -1)
        limits = {"tol": tol, "max_iter": _MOST_PRODUCTS}
        if bent is not None:
            limits["bent"] = lambda row, *known: bent(row.reshape(shape[1:]), *known)
        found = self._found(rows, product, precondition, limits, observed)
        return self._projected(found.reshape(shape))

    def _found(self, rows, product, precondition, limits, observed):
        return conjugate_gradients(product, rows, precondition=precondition, **limits)

    def product(self, directions, observed=True):
        """H times directions (m, 2, n_words, K), in float32; or the Hessian that is expected."""
        if self._hessian is not None:
            hessian = self._hessian if observed else self._expected
            return hessian.product(directions)
        dx, dy = (np.ascontiguousarray(directions[:, side]) for side in (0, 1))
        out = np.empty_like(directions)
        self._pairs.curvature(*self._x, dx, dy, observed, out[:, 0], out[:, 1])
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


class ClusteredSystems(Systems):
    """As `Systems`, with directions from systems by clusters, products with which take far less.

    Parameters
    ----------
    frequent : ndarray of int
        Words that are not rare, ascending.

    Attributes
    ----------
    rough_products : int
        Products by clusters so far.
    """

    usual, goes_on = 10, True

    def __init__(self, model, vectors, orbit, frequent, run=serial):
        self.rough_products, self._frequent = 0, frequent
        self._going: tuple[tuple[bool, bytes], Flexible] | None = None
        super().__init__(model, vectors, orbit, run)

    def _prepare(self, vectors):
        residuals = ClusteredResiduals(self.model.pairs, self._frequent, self.run)
        self._order = residuals.order
        self._x = np.ascontiguousarray(vectors[:, self._order], np.float32)
        residuals.correct(*self._x)
        prior = self.model.prior
        self._preconditioner = _preconditioner(prior, residuals, self._x)
        given = residuals, self._x, prior.tau, self._preconditioner.exchanges
        self._curvature = ClusteredCurvature(*given, self.run)

    def _found(self, rows, product, precondition, limits, observed):
        shape = len(rows), *self._x.shape

        def rough(rows):
            self.rough_products += 1
            return self._product(rows.reshape(shape), observed, False).reshape(rows.shape)

        def solve(rows, left):
            options = {"tol": np.maximum(_ROUGH, _NEARLY / left), "max_iter": _MOST_PRODUCTS}
            options |= {"precondition": precondition, "rough": True}
            return conjugate_gradients(rough, rows, **options)

        going = self._going_on(rows, observed)
        options = {"solve": solve, "precondition": precondition, "going": going}
        try:
            found = flexible_gradients(product, rows, **options, **limits)
        except Exception:
            # what has failed would fail again
            self._going = None
            raise
        if observed:
            self.steps = [[(d.reshape(shape[1:]), c) for d, c in row] for row in going.steps]
        else:
            # its steps are of no use
            self._going = None
        return found

    def _going_on(self, rows, observed):
        """Where the solution of these rows is; of the last ones alone."""
        key = observed, hashlib.blake2b(rows).digest()
        if self._going is None or self._going[0] != key:
            # what the others have of memory is free before
            self._going = None
            self._going = key, Flexible(rows)
        return self._going[1]

    def product(self, directions, observed=True):
        """As of `Systems`."""
        return self._product(directions, observed, True)

    def _product(self, directions, observed, exact):
        out = np.empty_like(directions)
        given = np.take(directions, self._order, axis=2)
        out[:, :, self._order] = self._curvature.product(given, observed, exact)
        return out

    def _precondition(self, rows):
        out = np.empty_like(rows)
        out[:, :, self._order] = super()._precondition(np.take(rows, self._order, axis=2))
        return out


def systems_at(model, vectors, orbit, run):
    """`Systems`, with clusters where these pay."""
    frequent = _frequent(model)
    if frequent is None:
        return Systems(model, vectors, orbit, run)
    return ClusteredSystems(model, vectors, orbit, frequent, run)


def _frequent(model):
    return frequent_words(model.pairs, _RARE, _MOST_WORK) if separable(model) else None


def slope_along(model, vectors, direction, run):
    """Slopes of a model's log density along a direction, a function of the place along it.

    Vectors and direction are of shape (2, n_words, K).
    """
    residuals = Residuals(model.pairs, run)
    x, dx = (a.astype(np.float32) for a in (vectors, direction))

    def slope(place):
        gradient = _gradient(model.prior, residuals, x + np.float32(place) * dx)
        return float(np.sum(np.einsum("swk,swk->sw", gradient, dx), dtype=float))

    return slope


def _gradient(prior, residuals, x):
    gradient = np.empty_like(x)
    residuals.gradient(*x, gradient)
    for side in (0, 1):
        prior.add_gradient(side, x[side], gradient[side])
    return gradient


def _preconditioner(prior, residuals, x):
    gradient = _gradient(prior, residuals, x)
    options = {"flattest": _FLATTEST, "rounds": _ROUNDS}
    made = Preconditioner(prior, residuals, np.float32, **options)
    made.refresh(x, gradient)
    return made


def rough_share(model):
    """What a product by clusters takes of one without; None where there are no clusters."""
    frequent = _frequent(model)
    if frequent is None:
        return None
    return work_left(model.pairs, frequent) + _BY_CLUSTERS * model.n_components / model.n_words


def seconds_of_product(model, clock):
    """CPU seconds by ``clock`` of a product with one direction, from some of its rows if many."""
    shape = model.n_words, model.n_components
    x = np.random.default_rng(0).standard_normal((2, *shape), dtype=np.float32)
    if not isinstance(model.pairs, ProductPairs):
        hessian = Hessian(model, x).single()
        return _timed(lambda: hessian.product(x), clock)
    end, curvature = min(_TIMED_ROWS, len(x[0])), EXPECTED[2]
    block = 0, end, table_rows(model.pairs.table(np.float32), 0, end)
    seconds = _timed(lambda: curvature(block, *x, x[:1], x[1:], True), clock)
    return seconds * len(x[0]) / end


def _timed(work, clock):
    work()
    begun = clock()
    work()
    return clock() - begun
