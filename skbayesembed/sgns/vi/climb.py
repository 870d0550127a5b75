"""Ascent of the bound along its gradient: diagonal covariances, negative counts as a product.

A sweep of coordinate ascent solves ``n_components`` equations for each word, at the cost of
``n_words^2 n_components^2``. The gradient of the bound by all means and all log variances costs
``n_words^2 n_components``: nine products of matrices, where that of the log density has three. A
quasi-Newton search takes some hundred of them and is far ahead: at 3,000 words and 50 components it
needed 19 CPU seconds, without maps, for a bound above that at which coordinate ascent ended after
90.

Before the first sweep components are turned to better `axes` and scaled, before each later one they
are mapped (`maps`), and variances settle anew. Once no map is better the search remembers its steps
from sweep to sweep: what is left are directions along which the bound hardly bends.

Of many words those that are rare meet by clusters (`clustered_bound`). The bound and its gradient
are made exact where a sweep starts (before variances settle), in its middle and where it ends.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...common import trial
from ...inference.ascent import Ascent
from ..clustered import ROUNDING, ClusteredModel
from ..preconditioner import Preconditioner
from .axes import nearest_axes
from .bound import PairBound, Words
from .clustered_bound import ClusteredBound
from .maps import best_map, map_bytes, slope_along
from .variational import SGNSVariational

# Steps of a sweep. Longer ones would go on without maps for long, shorter ones forget too often.
STEPS = 20
# Of these, those before which the preconditioner is brought up to date; more in the first sweep.
_REFRESHED, _REFRESHED_FIRST = (0,), (0, 2, 4, 7, 11)
# The one before which what is approximated is made exact, as it is at the start.
_CORRECTED = STEPS // 2
# Steps remembered, and the error of the bound in single precision, relative to its size.
_MEMORY, _ROUNDING = 6, 1e-7
# Updates of all variances, given the others, before the first sweep.
_SETTLING = 2
# Gradients that a search takes, and what takes as long: what a trial expects. By clusters one takes
# a quarter to a half of the time, and exact ones are then half as much again; sweeps are fewer.
_TYPICAL, _WITH_CORRECTIONS = 170, 1.2
# Bytes of the search for each number of the vectors of a side; measured.
_BYTES = 600


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


def climb_bytes(n_words, n_components):
    """Bytes of the search, or of what a map is found by, which is gone before a sweep."""
    return max(_BYTES * n_words * n_components, map_bytes(n_words, n_components))


class ClimbedVariational(SGNSVariational):
    """`Variational` of an `SGNSModel` of expected negatives: a sweep is `STEPS` steps of a search.

    Parameters
    ----------
    model : SGNSModel
        Of `ProductPairs`, as `starting.searched` has it.
    """

    steps = STEPS

    def __init__(self, model):
        super().__init__(model, "diag")
        # the pairs' part of the bound, exact where the last sweep ended
        self._exact = None

    @property
    def typical(self):
        """Gradients of an ascent, and what takes as long: trials count what corrections take."""
        dearer = trial.current() is not None and isinstance(self.model, ClusteredModel)
        return _TYPICAL * (_WITH_CORRECTIONS if dearer else 1.0)

    def settled(self, q):
        """Whether the bound tells that the search is over; trials do not move."""
        return trial.current() is None

    def update(self, q, run):
        """Climb ``steps`` steps; the bound where they end. In a trial, one gradient."""
        exact, self._exact = self._exact, None
        if trial.current() is not None:
            surface = BoundSurface(self, q, run)
            surface.gather()
            return surface.value_and_gradient()[0]
        # handed over: it is not to stay for the sweep
        surface, ascent = self._begun(
            q, run, None if q.steps is not None else self._mapped(q, run), exact
        )
        try:
            q.last = self._climb(surface, ascent, q)
        finally:
            surface.end()
        q.n_sweeps += 1
        return q.last

    def _mapped(self, q, run):
        """The factors after a map of their components; None where none is better.

        An interruption leaves those given as they are.
        """
        if not self.axes_matter:
            return None
        if q.along is not None:
            found = best_map(self, q, run)
            return None if found is None else self._moved(q, found)
        # far from the top, before the first sweep
        scaled = self._moved(q, self.scales(q))
        axes = nearest_axes(self, scaled, run)
        self.change_basis(scaled, axes)
        return None if axes is None else scaled

    def _moved(self, q, basis):
        """Copies of the factors in another basis."""
        moved = replace(
            q, mean=[m.copy() for m in q.mean], cov=[c.copy() for c in q.cov], log_det=[*q.log_det]
        )
        self.change_basis(moved, basis)
        return moved

    def _begun(self, q, run, mapped, exact=None):
        """Where a sweep starts, with settled variances: the surface and the search."""
        surface = BoundSurface(self, q, run, mapped, exact)
        if not surface.exact:
            surface.make_exact()
        surface.settle_variances(_SETTLING if q.n_sweeps == 0 else int(surface.mapped))
        # handed over: both lists together would be twice the memory
        known, q.steps = q.steps or (), None
        ascent = Ascent(surface, _MEMORY, surface.rounding, run, known=known)
        least = q.last - surface.rounding * abs(q.last)
        if surface.mapped and not ascent.value >= least:
            # the map was a loss; both surfaces together would be twice the memory
            del surface, ascent, mapped
            return self._begun(q, run, None)
        return surface, ascent

    def _climb(self, surface, ascent, q):
        """Climb ``steps`` steps; the bound where they end."""
        first = q.n_sweeps == 0
        for step in range(self.steps):
            if step == _CORRECTED and surface.approximated:
                surface.make_exact()
                ascent.value, ascent.gradient = surface.value_and_gradient()
            if step in (_REFRESHED_FIRST if first else _REFRESHED):
                surface.refresh()
            if not ascent.advance() and not _renewed(ascent, surface):
                break
        value, gradient = ascent.value, ascent.gradient
        if surface.approximated:
            surface.make_exact()
            value, gradient = surface.value_and_gradient()
        if first or surface.mapped:
            q.along = slope_along(surface.point[:2], gradient[:2])
        else:
            q.steps, q.along = ascent.known, None
            self._exact = surface.bound if surface.approximated else None
        return value

    def take_back(self, q):
        """Forget what only further sweeps would need."""
        q.steps = q.along = self._exact = None


def _renewed(ascent, surface):
    """Whether a step is found without what is remembered, where there was none with it."""
    if not ascent.known:
        return False
    ascent.forget()
    surface.refresh()
    return ascent.advance()


class BoundSurface:
    """`Surface` of the bound by means and log variances, in single precision.

    The Gamma factor of a learned precision is the optimal one wherever the bound is evaluated.
    Words are in the order of the model's residuals.

    Parameters
    ----------
    variational : ClimbedVariational
    q : Factors
        Where to start; they are set to the point by `end`.
    run : callable
        Maps a function over blocks of rows.
    mapped : Factors, optional
        Where to start instead.
    exact : PairBound or ClusteredBound, optional
        That is exact at these factors.

    Attributes
    ----------
    bound : PairBound or ClusteredBound
    mapped, exact : bool
        Whether these were given.
    point : ndarray of float32 of shape (4, n_words, n_components)
        Means of both sides, then log variances.
    approximated : bool
        Whether pairs of rare words enter by clusters.
    rounding : float
        Error of the bound, relative to its size.
    """

    def __init__(self, variational, q, run, mapped=None, exact=None):
        self._variational, self._given = variational, q
        self.mapped, self.exact = mapped is not None, exact is not None
        q = mapped if self.mapped else q
        # those of the last evaluation
        self._q = replace(q, mean=[*q.mean], cov=[*q.cov], log_det=[*q.log_det])
        model = variational.model
        self._residuals = residuals = model.residuals(run)
        self.approximated = isinstance(model, ClusteredModel)
        self.rounding = ROUNDING if self.approximated else _ROUNDING
        self.bound = exact or (ClusteredBound if self.approximated else PairBound)(residuals, run)
        self._preconditioner = Preconditioner(model.prior, residuals, np.float32, run=run)
        whole = np.stack([*q.mean, *(np.log(c) for c in q.cov)])
        self.point = np.take(whole.astype(np.float32), residuals.order, axis=1)

    def gather(self):
        """Take clusters as they are at the point, where there are any, and correct nothing."""
        self.bound.gather(*self._words())

    def make_exact(self):
        """Correct the bound and its gradient, so that they are exact at the point."""
        self.bound.correct(*self._words())

    # a step that leads far beyond is not taken
    @np.errstate(over="ignore", invalid="ignore")
    def value_and_gradient(self):
        """The bound at the point, and its gradient."""
        self._to_factors()
        variational, q = self._variational, self._q
        prior, tau = variational.model.prior, variational.tau(q)
        value, *sides = self.bound.sums(*self._words())
        gradient = np.empty_like(self.point)
        self._precision = []
        for side in (0, 1):
            mean = q.mean[side]
            inner = prior.apply(side, mean, tau) - prior.linear(side)
            slope, curvature, squares = np.split(sides[side], 3, axis=1)
            gradient[side] = slope - curvature * self.point[side] - inner
            precision = variational.prior_diagonal(side, q) + squares
            gradient[2 + side] = 0.5 - 0.5 * q.cov[side] * precision
            self._precision.append(precision)
        self._gradient = gradient
        return value + variational.rest(q), gradient

    def _words(self):
        return [Words(self.point[side], np.exp(self.point[2 + side])) for side in (0, 1)]

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
        vectors = np.ascontiguousarray(self.point[:2])
        self._residuals.gather(*vectors)
        self._preconditioner.refresh(vectors, self._gradient[:2])

    def precondition(self, x):
        """Multiply by an approximate inverse of the curvature, in place."""
        self._preconditioner.multiply(x[:2])
        # at its optimum, the bound bends by 1/2 along a log variance
        x[2:] *= np.float32(2.0)

    def end(self):
        """Leave the factors that were given at the point."""
        self._to_factors()
        q, order = self._q, self._residuals.order
        found = [np.empty_like(array) for array in (*q.mean, *q.cov, *q.log_det)]
        for own, ordered in zip(found, (*q.mean, *q.cov, *q.log_det), strict=True):
            own[order] = ordered
        # all at once: an interruption leaves those of the sweep before
        vars(self._given).update(
            mean=found[:2], cov=found[2:4], log_det=found[4:], shape=q.shape, rate=q.rate
        )
