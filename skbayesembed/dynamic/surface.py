"""The drifting skip-gram posterior as the search for its mode climbs it.

Its preconditioner knows of words and of time: in components that make the moments of the other
side's vectors diagonal, the information that a period has of a word is nearly diagonal, too, and
its diagonal, which is exact, with the prior's precision over time makes one tridiagonal matrix for
every word, side and component. (That of `DynamicDensity`, in whose coordinates chains move, has one
for each word and side.) Where the posterior is flat, along exchanges of components and scales of
both sides, it is so for all periods together: what `sgns.preconditioner` knows of the sums over
periods is added.
"""

from __future__ import annotations

import numpy as np

from ..inference.chains import serial
from ..numeric.tridiagonal import paths_factor
from ..numeric.tridiagonal_kernels import paths_from, paths_pull
from ..sgns.preconditioner import Preconditioner
from ..sgns.residuals import Residuals


class _Level:
    """The prior of vectors that are the same in all periods, as a preconditioner asks for it."""

    def __init__(self, density):
        _, _, self._n_words, k = density.shape
        self.tau = np.full(k, density.precision.apply(np.ones(density.shape[0])).sum())

    def diagonal(self, side):
        """The precision of every entry of a side."""
        return np.tile(self.tau, (self._n_words, 1))


class Pooled:
    """Residuals of all periods together, each at its own vectors, as of `sgns.residuals.Residuals`.

    Attributes
    ----------
    point : ndarray of float32 of shape (n_periods, 2, n_words, n_components)
    """

    def __init__(self, residuals, places):
        self._parts = list(zip(residuals, places, strict=True))
        self.observations = [sum(r.observations[side] for r in residuals) for side in (0, 1)]

    def times(self, x, y, z):
        """The sum over periods of ``R z``."""
        return sum(r.times(*self.point[t], z) for r, t in self._parts)

    def transposed(self, x, y, u):
        """The sum over periods of ``R' u``."""
        return sum(r.transposed(*self.point[t], u) for r, t in self._parts)

    def slopes(self, x, y, z, u):
        """The sums over periods of ``S z`` and ``S' u``."""
        found = [r.slopes(*self.point[t], z, u) for r, t in self._parts]
        return tuple(sum(side) for side in zip(*found, strict=True))


class DynamicSurface:
    """`Surface` of a `DynamicDensity`, in single or double precision.

    Parameters
    ----------
    density : DynamicDensity
    theta : ndarray of shape (n_parameters,)
        Where to start.
    dtype : {numpy.float32, numpy.float64}
    run : callable
        Maps a function over periods.

    Attributes
    ----------
    point : ndarray of shape (n_periods, 2, n_words, n_components)
        The vectors.
    """

    def __init__(self, density, theta, dtype, run):
        self._density, self._is_single = density, dtype is np.float32
        self._run = run
        self._residuals = [Residuals(p.table(), serial) for p in density.periods]
        places = [p.period for p in density.periods]
        self._pooled = Pooled(self._residuals, places)
        self._level = Preconditioner(_Level(density), self._pooled, dtype)
        self.point = density.vectors(theta).astype(dtype)
        self._scratch = np.zeros(density.shape)
        flat = (density.shape[0], self._scratch[0].size)
        self._inverse, self._below, self._none = np.empty(flat), np.zeros(flat), np.zeros(flat)

    def value_and_gradient(self):
        """Log density at the point, and its gradient."""
        gradient = np.zeros_like(self.point)
        if self._is_single:
            found = np.zeros(len(self._residuals))
            self._over_periods(self._fill_gradient, gradient, found)
            value = float(found.sum())
        else:
            value = self._density.likelihood(self.point, gradient, self._run)
        pull = self._density.precision.apply(self.point)
        value -= 0.5 * float(np.vdot(self.point, pull))
        gradient -= pull
        self._gradient = gradient
        return value, gradient

    def refresh(self):
        """Bring the preconditioner up to date with the point, which was evaluated last."""
        x = self.point.astype(np.float32, copy=False)
        self._pooled.point = x
        self._level.refresh(x.mean(axis=0), self._gradient.sum(axis=0))
        self._basis = [self._components(x, side) for side in (0, 1)]
        information = np.zeros(self._density.shape)
        self._over_periods(self._fill_information, x, information)
        p = self._density.precision
        information = information.reshape(self._none.shape)
        paths_factor(p.diagonal, p.off, information, self._inverse, self._below)

    def _over_periods(self, fill, *arrays):
        tasks = [(i, p.period, *arrays) for i, p in enumerate(self._density.periods)]
        self._run(fill, tasks)

    def _fill_gradient(self, i, t, gradient, found):
        found[i] = self._residuals[i].gradient(*self.point[t], gradient[t])

    def _fill_information(self, i, t, x, information):
        squares = [(x[t, 1 - side] @ self._basis[side]) ** 2 for side in (0, 1)]
        for side, seen in enumerate(self._residuals[i].slopes(*x[t], *squares)):
            information[t, side] = seen

    def _components(self, x, side):
        """Eigenvectors of the other side's moments, the observations of all periods together."""
        size = x.shape[-1]
        moments = np.zeros((size, size))
        for p, residuals in zip(self._density.periods, self._residuals, strict=True):
            y = x[p.period, 1 - side]
            weights = residuals.observations[1 - side].astype(np.float32)
            moments += y.T @ (y * weights[:, None])
        return np.linalg.eigh(moments)[1].astype(np.float32)

    def precondition(self, x):
        """Multiply by an approximate inverse of the curvature, in place."""
        turned, flat = self._scratch, self._none.shape
        level = self._level.flat(x.sum(axis=0))
        for side, basis in enumerate(self._basis):
            turned[:, side] = x[:, side] @ basis
        half = np.empty(flat)
        paths_pull(self._inverse, self._below, turned.reshape(flat), half)
        paths_from(self._none, self._inverse, self._below, half, turned.reshape(flat))
        for side, basis in enumerate(self._basis):
            x[:, side] = turned[:, side] @ basis.T
        x += level

    def end(self):
        """Flat parameters at the point."""
        return self._density.coordinates(self.point.astype(np.float64, copy=False))
