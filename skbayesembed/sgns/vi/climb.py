"""Ascent of the bound along its gradient: diagonal covariances, negative counts as a product.

A sweep of coordinate ascent solves ``n_components`` equations for each word, at the cost of
``n_words^2 n_components^2``. The gradient of the bound by all means and all log variances costs
``n_words^2 n_components``: nine products of matrices, where that of the log density has three. A
quasi-Newton search takes some hundred of them and is far ahead: at 3,000 words and 50 components it
needs 12 CPU seconds for a bound above that of 68 sweeps in 118.
"""

from __future__ import annotations

import numpy as np

from ...common import trial
from ...inference.ascent import Ascent
from ...inference.blocks import over
from ..data import joined
from ..preconditioner import Preconditioner
from ..residuals import Residuals
from .bound_kernels import bound_products
from .variational import SGNSVariational

# Steps of a sweep; then the scales of components are set anew and the search forgets its steps. A
# sweep is a fifth of a search: shorter ones forget too often, longer ones go on with old scales.
STEPS = 20
# Of these, those before which the preconditioner is brought up to date; more in the first sweep.
_REFRESHED, _REFRESHED_FIRST = (0,), (0, 2, 4, 7, 11)
# Steps remembered, and the error of the bound in single precision, relative to its size.
_MEMORY, _ROUNDING = 6, 1e-7
# Updates of all variances, given the others, before the first sweep.
_SETTLING = 2
# Gradients that a search takes, and what takes as long: what a trial expects.
_TYPICAL = 90
# Bytes of the search for each number of the vectors of a side; measured.
CLIMB_BYTES = 600


def climbs(estimator, product):
    """Whether the bound is climbed by its gradient.

    Precisions of single components are left to coordinate ascent, whose turns tell them apart.

    Parameters
    ----------
    estimator : BayesianSGNS
    product : bool
        Whether pairs are `ProductPairs`.
    """
    ard = isinstance(estimator.prior, str) and estimator.prior == "ard"
    return product and estimator.covariance == "diag" and not estimator.biases and not ard


class ClimbedVariational(SGNSVariational):
    """`Variational` of an `SGNSModel` of expected negatives: a sweep is `STEPS` steps of a search.

    Parameters
    ----------
    model : SGNSModel
        Of `ProductPairs`.
    """

    def __init__(self, model):
        super().__init__(model, "diag")

    # steps of an update, and updates of a trial, which are gradients
    steps, typical = STEPS, _TYPICAL

    def settled(self, q):
        """Whether the bound tells that the search is over; trials do not move."""
        return trial.current() is None

    def update(self, q, run):
        """Climb ``steps`` steps; the bound where they end. In a trial, one gradient."""
        if self.model.prior.rotates and q.n_sweeps:
            self.change_basis(q, self.scales(q))
        surface = BoundSurface(self, q, run)
        if trial.current() is not None:
            return surface.value_and_gradient()[0]
        first = q.n_sweeps == 0
        try:
            if first:
                surface.settle_variances(_SETTLING)
            ascent = Ascent(surface, _MEMORY, _ROUNDING, run)
            for step in range(self.steps):
                if step in (_REFRESHED_FIRST if first else _REFRESHED):
                    surface.refresh()
                if not ascent.advance():
                    break
        finally:
            surface.end()
        q.n_sweeps += 1
        q.last = ascent.value
        return q.last


class BoundSurface:
    """`Surface` of the bound by means and log variances, in single precision.

    The Gamma factor of a learned precision is the optimal one wherever the bound is evaluated.

    Parameters
    ----------
    variational : ClimbedVariational
    q : Factors
        Those of the last evaluation; changed in place.
    run : callable
        Maps a function over blocks of rows.

    Attributes
    ----------
    point : ndarray of float32 of shape (4, n_words, n_components)
        Means of both sides, then log variances.
    """

    def __init__(self, variational, q, run):
        self._variational, self._q, self._run = variational, q, run
        residuals = Residuals(variational.model.pairs, run)
        self._held = residuals.products.held
        prior = variational.model.prior
        self._preconditioner = Preconditioner(prior, residuals, np.float32, run=run)
        self.point = np.stack([*q.mean, *(np.log(c) for c in q.cov)]).astype(np.float32)

    def value_and_gradient(self):
        """The bound at the point, and its gradient."""
        self._to_factors()
        variational, q = self._variational, self._q
        prior, tau = variational.model.prior, variational.tau(q)
        value, slopes, curvatures, sums = self._pairs()
        gradient = np.empty_like(self.point)
        self._precision = []
        for side in (0, 1):
            mean = q.mean[side]
            inner = prior.apply(side, mean, tau) - prior.linear(side)
            gradient[side] = slopes[side] - curvatures[side] * self.point[side] - inner
            precision = variational.prior_diagonal(side, q) + sums[side]
            gradient[2 + side] = 0.5 - 0.5 * q.cov[side] * precision
            self._precision.append(precision)
        self._gradient = gradient
        return value + variational.rest(q), gradient

    def _pairs(self):
        """The pairs' part of the bound, and for both sides the sums that its slopes consist of.

        Of ``(kappa - omega t) y``, ``omega var(y)`` and ``omega E[y^2]``, over the pairs of a word.
        """
        (x, y), (x_var, y_var) = self.point[:2], np.exp(self.point[2:])
        n_words, k = x.shape
        x_square, y_square = np.hstack([x_var, x * x + x_var]), np.hstack([y * y, y_var])
        found = over(self._run, _products, self._held, (x, x_square, y, y_square))
        rows, columns = np.empty((2, n_words, 3 * k), np.float32)
        value = float(joined(found, rows, columns, self._run).sum())
        slopes = rows[:, :k], columns[:, :k]
        curvatures = rows[:, 2 * k :], columns[:, k : 2 * k]
        sums = rows[:, k : 2 * k] + rows[:, 2 * k :], columns[:, 2 * k :]
        return value, slopes, curvatures, sums

    def _to_factors(self):
        """Set the factors to the point."""
        q, variational = self._q, self._variational
        for side in (0, 1):
            q.mean[side] = self.point[side].astype(float)
            q.cov[side] = np.exp(self.point[2 + side].astype(float))
            q.log_det[side] = self.point[2 + side].sum(axis=1, dtype=float)
        if variational.model.prior.learned is not None:
            variational.update_tau(q)

    def settle_variances(self, n):
        """Every variance to its optimum given all other factors, ``n`` times."""
        for _ in range(n):
            self.value_and_gradient()
            for side in (0, 1):
                self.point[2 + side] = -np.log(self._precision[side])

    def refresh(self):
        """Bring the preconditioner up to date with the point, which was evaluated last."""
        self._preconditioner.refresh(np.ascontiguousarray(self.point[:2]), self._gradient[:2])

    def precondition(self, x):
        """Multiply by an approximate inverse of the curvature, in place."""
        self._preconditioner.multiply(x[:2])
        # at its optimum, the bound bends by 1/2 along a log variance
        x[2:] *= np.float32(2.0)

    def end(self):
        """Leave the factors at the point."""
        self._to_factors()
        return self.point


def _products(block, x, x_square, y, y_square):
    """Sums of a block's rows, its part of those of columns, and of the bound."""
    a, b, table = block
    widths = x.shape[1], x_square.shape[1]
    rows, columns = (
        tuple(np.empty((n, width), x.dtype) for width in widths) for n in (b - a, len(y))
    )
    value = bound_products(table, x[a:b], x_square[a:b], y, y_square, rows, columns)
    return np.hstack(rows), np.hstack(columns), value
