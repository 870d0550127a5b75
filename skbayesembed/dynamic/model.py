"""The posterior of drifting skip-gram vectors: log density, gradient, curvature, starts and frame.

log p = sum_t sum_wv n+_wvt log sigma(rho_wt . alpha_vt) + n-_wvt log sigma(-rho_wt . alpha_vt)
        + log prior of the trajectories                  (Bamler & Mandt 2017; `priors`)

Rotating all vectors of all periods together leaves the density as it is. Periods cannot be rotated
one by one, because the prior ties them together.

The order of arrays, in the whole room, is periods, sides, words, components: all vectors together
are (n_periods, 2, n_words, K), targets (side 0) before contexts (side 1). One side alone, as it is
recorded under its name ``rho`` or ``alpha``, is (n_periods, n_words, K). Kernels work on one side
at a time and want it contiguous; therefore variational factors (``vi``) and tangents of rotations
(``laplace``) have the sides first, (2, n_periods, n_words, K). `named`, `by_side` and `by_period`
turn one order into another.

`DynamicDensity` has trajectories that are correlated over time and known with very different
precision. Its parameters are therefore coordinates in which the posterior is about round: for each
word and side one tridiagonal matrix ``P + diag(information) = L L'`` of the prior's precision and
the information that the data are expected to have of an entry in each period, and ``z = L' x`` for
a component's trajectory x. The same matrix serves all components, so that rotations of vectors are
rotations of coordinates. A learned diffusion is added to them in `hmc`.
"""

from __future__ import annotations

import copy

import numpy as np

from ..inference.mode import find_mode_only
from ..inference.threads import serial
from ..numeric.tridiagonal import paths_factor, paths_to
from ..numeric.tridiagonal_kernels import paths_from, paths_prior, paths_pull
from ..sgns.data import pair_table
from ..sgns.model import SGNSModel, canonical_rotation, pivot_contexts
from ..sgns.pairs import pooled_counts
from ..sgns.starting import search_start, searched
from .data import PeriodPairs, period_tables
from .surface import DynamicSurface

# Targets and contexts, in the order of the sides of all arrays.
SIDES = ("rho", "alpha")
# Coordinates of target vectors that are traced.
COORDINATES = 50
# A point near the static mode will do for a start.
_START_ITERATIONS, _START_TOL = 200, 1e-4
# Chains start within about so many posterior standard deviations of the static vectors, and no more
# than so many of the prior's.
_START_SPREAD, _WIDEST_START = 2.0, 0.5
# What an observation is taken to say of an entry there: the largest slope of the logistic function,
# 1/4, times a square of 1/4 of the other vector's entry.
_START_INFORMATION = 1 / 16


class DynamicModel:
    """Posterior of trajectories ``rho`` and ``alpha``, both (n_periods, n_words, K).

    Parameters
    ----------
    pairs : PeriodPairs
    n_components : int
    prior : DriftPrior
        Of as many periods as ``pairs``.
    pivots : ndarray of int of shape (n_components,)
        Contexts that define the frame of recorded draws.
    start : dict of ndarray of shape (n_words, n_components)
        ``rho`` and ``alpha`` around which chains start in every period, as `static_mode` has them.

    Raises
    ------
    ValueError
        If ``prior`` has another number of periods than ``pairs``.
    """

    def __init__(self, pairs, n_components, prior, pivots, start):
        if prior.n_periods != pairs.n_periods:
            raise ValueError(
                f"prior must be of the {pairs.n_periods} periods of the counts, "
                f"got gaps between {prior.n_periods}."
            )
        self.pairs = pairs
        self.n_components = n_components
        self.prior = prior
        self.pivots = pivots
        self.center = start
        # of words, for each side
        self.blocks = pairs.blocks(n_components)

    @classmethod
    def of_counts(cls, counts, n_components, prior, rng):
        """The posterior of counts of every period, with starts and pivots from their static mode.

        Parameters
        ----------
        counts : list of PairCounts
        n_components : int
        prior : DriftPrior
        rng : numpy.random.Generator
            For the start of the search for that mode.
        """
        pairs = PeriodPairs(counts)
        start = static_mode(counts, n_components, 1.0 / prior.variance, rng)
        pivots = pivot_contexts(start["alpha"], pairs.observations(1))
        return cls(pairs, n_components, prior, pivots, start)

    @property
    def n_words(self):
        return self.pairs.n_words

    @property
    def n_periods(self):
        return self.pairs.n_periods

    def start_near(self, rng):
        """A random start: dict of arrays (n_periods, n_words, K).

        The static vectors in every period, plus a trajectory that is drawn from the prior and
        shrunk to about the spread of the posterior. It is as smooth as trajectories of the prior
        are, so that it says nothing wrong about a learned diffusion.
        """
        deviation = np.sqrt(self.prior.variance)
        shape = (self.n_words, self.n_components)
        arrays = {}
        for side, name in enumerate(SIDES):
            seen = 1.0 / self.prior.variance + self.pairs.observations(side) * _START_INFORMATION
            shrink = np.minimum(_WIDEST_START, _START_SPREAD / np.sqrt(seen) / deviation)[:, None]
            arrays[name] = self.center[name] + shrink * self.prior.sample(rng, shape)
        return arrays

    def in_frame(self, alpha, *vectors):
        """Arrays of vectors turned by one rotation, the same in all periods.

        The frame is that in which the pivots' context vectors, averaged over periods, are lower
        triangular with a positive diagonal.

        Parameters
        ----------
        alpha : ndarray of shape (n_periods, n_words, n_components)
        *vectors : ndarray of shape (..., n_components)
        """
        rotation = canonical_rotation(alpha[:, self.pivots].mean(axis=0))
        return tuple(v @ rotation for v in vectors)

    def traces(self, monitored, rho, alpha):
        """What chains record of every draw, to see whether they mix.

        Returns
        -------
        dict
            ``logit`` of the ``monitored`` (period, target, context), and ``coordinate``: one
            component of the targets of the first of them, in the frame of recorded draws.
        """
        t, w, v = monitored.T
        logit = np.einsum("ij,ij->i", rho[t, w], alpha[t, v])
        (seen,) = self.in_frame(alpha, rho[t[:COORDINATES], w[:COORDINATES]])
        places = np.arange(len(seen))
        return {"logit": logit, "coordinate": seen[places, places % self.n_components]}


def static_mode(counts, n_components, prior_precision, rng):
    """The mode of static skip-gram on the counts of all periods together, or near it.

    Parameters
    ----------
    counts : list of PairCounts
    n_components : int
    prior_precision : float
    rng : numpy.random.Generator

    Returns
    -------
    dict of ndarray of shape (n_words, n_components)
    """
    pairs = pair_table(pooled_counts(counts))
    model = searched(SGNSModel(pairs, n_components, prior_precision))
    limits = {"max_iter": _START_ITERATIONS, "tol": _START_TOL}
    start = search_start(model, rng, serial, **limits)
    return model.unpack(find_mode_only(model, model.pack(start), **limits))


class DynamicDensity:
    """`LogDensity` of a `DynamicModel` with a given diffusion.

    Parameters
    ----------
    model : DynamicModel
    diffusion : float, optional
        In place of the prior's own.
    dense : bool, optional
        Whether periods are kept as whole tables; by default, those in which a fifth of all pairs
        is observed.
    tables : list of DensePeriod or SparsePeriod, optional
        The tables of periods with observations; by default they are made of the model's pairs.

    Attributes
    ----------
    n_parameters : int
    scale : ndarray of shape (n_parameters,)
        Ones.
    shape : tuple of int
        Of the vectors, and of their coordinates: (n_periods, 2, n_words, n_components).
    precision : Tridiagonal
        Of a component's trajectory under the prior.
    periods : list
        The tables of periods with observations, `DensePeriod` or `SparsePeriod`.
    """

    def __init__(self, model, diffusion=None, dense=None, tables=None):
        self.model = model
        self.shape = (model.n_periods, 2, model.n_words, model.n_components)
        self.n_parameters = int(np.prod(self.shape))
        self.scale = np.ones(self.n_parameters)
        self.precision = model.prior.tridiagonal(diffusion)
        self.periods = period_tables(model.pairs, dense) if tables is None else tables
        information = expected_information(model, self.periods)
        entries = np.repeat(information.reshape(model.n_periods, -1), model.n_components, axis=1)
        self._inverse, self._below = np.empty_like(entries), np.zeros_like(entries)
        p = self.precision
        paths_factor(p.diagonal, p.off, entries, self._inverse, self._below)
        self._center = np.zeros_like(entries)

    def vectors(self, theta):
        """Vectors of coordinates: ndarray of ``shape``."""
        x = np.empty(self.shape)
        paths_from(self._center, self._inverse, self._below, self._flat(theta), self._flat(x))
        return x

    def coordinates(self, x):
        """The inverse of `vectors`: ndarray of shape (n_parameters,)."""
        return paths_to(self._center, self._inverse, self._below, self._flat(x)).ravel()

    def pack(self, arrays):
        """Flat parameters of ``{"rho", "alpha"}``, both (n_periods, n_words, n_components)."""
        return self.coordinates(np.stack([arrays[name] for name in SIDES], axis=1))

    def unpack(self, theta):
        """``{"rho", "alpha"}`` of flat parameters."""
        return named(self.vectors(theta))

    def logp_and_grad(self, theta, out, run=serial):
        """Log posterior density up to a constant; its gradient into ``out``.

        ``run`` maps a function over periods.
        """
        x = self.vectors(theta)
        gradient = np.zeros(self.shape)
        logp = self.likelihood(x, gradient, run)
        p = self.precision
        logp += paths_prior(p.diagonal, p.off, self._flat(x), self._flat(gradient))
        self.pull_back(gradient, out)
        return logp

    def surface(self, theta, dtype, run):
        """The density around flat parameters, in single or double precision."""
        return DynamicSurface(self, theta, dtype, run)

    def likelihood(self, x, gradient, run=serial):
        """Log likelihood of vectors; its gradient by them into ``gradient``, which is zero."""
        found = np.zeros(len(self.periods))

        def fill(i, p):
            found[i] = p.gradient(*x[p.period], *gradient[p.period])

        run(fill, list(enumerate(self.periods)))
        return float(found.sum())

    def pull_back(self, gradient, out):
        """The gradient by the parameters, of that by the vectors."""
        paths_pull(self._inverse, self._below, self._flat(gradient), self._flat(out))

    def _flat(self, array):
        return array.reshape(self.shape[0], -1)


class Curvature:
    """Minus the Hessian of the log density of a `DynamicDensity` at vectors ``x`` of its shape."""

    def __init__(self, density, x):
        self.density, self.x = density, x
        self.pairs = [p.curvature(*x[p.period]) for p in density.periods]

    def expected(self):
        """The same with residuals at zero, which they are expected to be."""
        twin = copy.copy(self)
        periods = self.density.periods
        twin.pairs = [p.expected(pairs) for p, pairs in zip(periods, self.pairs, strict=True)]
        return twin

    def product(self, rows):
        """Its product with each row of coordinates, (m, n_parameters)."""
        out = np.empty_like(rows)
        for row, target in zip(rows, out, strict=True):
            self.density.pull_back(self.image(self.density.vectors(row)), target)
        return out

    def image(self, d):
        """Its product with vectors ``d``, by vectors."""
        out = self.density.precision.apply(d)
        for p, pairs in zip(self.density.periods, self.pairs, strict=True):
            t = p.period
            p.product(*self.x[t], *pairs, *d[t], *out[t])
        return out

    def block(self, t):
        """Its diagonal block of period ``t`` by vectors, a matrix of 2 * n_words * K rows.

        Beside it is ``precision.off`` times the identity, and further away nothing.
        """
        _, _, n_words, k = self.density.shape
        half = n_words * k
        out = np.zeros((2 * half, 2 * half))
        words, entries = np.arange(n_words), np.arange(k)
        for p, pairs in zip(self.density.periods, self.pairs, strict=True):
            if p.period != t:
                continue
            slope, residual = p.whole(pairs)
            for side, s in enumerate((slope, slope.T)):
                y = self.x[t, 1 - side]
                products = (y[:, :, None] * y[:, None]).reshape(n_words, k * k)
                part = out[side * half : (side + 1) * half, side * half : (side + 1) * half]
                part = part.reshape(n_words, k, n_words, k)
                part[words, :, words] = (s @ products).reshape(n_words, k, k)
            rho, alpha = self.x[t]
            cross = np.einsum("wv,vk,wl->wkvl", slope, alpha, rho)
            cross[:, entries, :, entries] -= residual
            out[:half, half:] = cross.reshape(half, half)
            out[half:, :half] = out[:half, half:].T
        out[np.diag_indices_from(out)] += self.density.precision.diagonal[t]
        return out


def expected_information(model, periods):
    """What the data are expected to say of an entry: precision, (n_periods, 2, n_words).

    The slopes of a word's pairs at the static vectors, times the mean square of an entry of the
    other side: that at the mode and the variance that the data are expected to leave.
    """
    rho, alpha = (np.ascontiguousarray(model.center[name]) for name in SIDES)
    at_mode = np.stack([np.mean(v**2, axis=1) for v in (rho, alpha)])
    slopes = [p.curvature(rho, alpha)[0] for p in periods]
    out = np.zeros((model.n_periods, 2, model.n_words))
    left = np.zeros_like(at_mode)
    for _ in range(3):
        for p, slope in zip(periods, slopes, strict=True):
            out[p.period] = p.sums(slope, at_mode + left)
        left = 1.0 / (1.0 / model.prior.variance + out.sum(axis=0))
    return out


def named(x):
    """Vectors (n_periods, 2, n_words, K) as ``{"rho", "alpha"}``."""
    return {name: np.ascontiguousarray(x[:, side]) for side, name in enumerate(SIDES)}


def by_side(x):
    """Copy of vectors (..., n_periods, 2, n_words, K) as (..., 2, n_periods * n_words, K)."""
    *lead, n_periods, _, n_words, k = x.shape
    return np.swapaxes(x, -4, -3).copy().reshape(*lead, 2, n_periods * n_words, k)


def by_period(x, shape):
    """The inverse of `by_side`, of the ``shape`` given."""
    *lead, n_periods, _, n_words, k = shape
    return np.swapaxes(x.reshape(*lead, 2, n_periods, n_words, k), -4, -3)
