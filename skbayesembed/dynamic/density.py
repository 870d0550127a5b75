"""The dynamic posterior as a log density of flat parameters, and its mode.

Trajectories are correlated over time and known with very different precision. Parameters are
therefore coordinates in which the posterior is about round: for each word and side one tridiagonal
matrix ``P + diag(information) = L L'`` of the prior's precision and the information that the data
are expected to have of an entry in each period, and ``z = L' x`` for a component's trajectory x.
The same matrix serves all components, so that rotations of vectors are rotations of coordinates.
"""

from __future__ import annotations

import numpy as np

from ..inference.mode import find_mode
from ..numeric.tridiagonal_kernels import (
    paths_factor,
    paths_from,
    paths_prior,
    paths_pull,
    paths_to,
)
from ..sgns.data import DENSE_ABOVE
from ..sgns.density_kernels import gradient_dense, gradient_sparse
from ..sgns.laplace.hessian_kernels import curvature_rows_dense, curvature_rows_sparse
from .density_kernels import product_pairs
from .model import SIDES

# Rows of logits at a time, as for static embeddings.
_ROWS = 128
# Start off the static vectors, in prior standard deviations: components that their mode lacks
# would else stay at a saddle.
_STIR = 1e-3


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

    def __init__(self, model, diffusion=None, dense=None):
        self.model = model
        self.shape = (model.n_periods, 2, model.n_words, model.n_components)
        self.n_parameters = int(np.prod(self.shape))
        self.scale = np.ones(self.n_parameters)
        self.precision = model.prior.tridiagonal(diffusion)
        self.periods = period_tables(model.pairs, dense)
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
        theta = np.empty(self.n_parameters)
        paths_to(self._center, self._inverse, self._below, self._flat(x), self._flat(theta))
        return theta

    def pack(self, arrays):
        """Flat parameters of ``{"rho", "alpha"}``, both (n_periods, n_words, n_components)."""
        return self.coordinates(np.stack([arrays[name] for name in SIDES], axis=1))

    def unpack(self, theta):
        """``{"rho", "alpha"}`` of flat parameters."""
        return named(self.vectors(theta))

    def logp_and_grad(self, theta, out):
        """Log posterior density up to a constant; its gradient into ``out``."""
        x = self.vectors(theta)
        gradient = np.zeros(self.shape)
        logp = self.likelihood(x, gradient)
        p = self.precision
        logp += paths_prior(p.diagonal, p.off, self._flat(x), self._flat(gradient))
        self.pull_back(gradient, out)
        return logp

    def likelihood(self, x, gradient):
        """Log likelihood of vectors; its gradient by them into ``gradient``, which is zero."""
        return sum(p.gradient(*x[p.period], *gradient[p.period]) for p in self.periods)

    def pull_back(self, gradient, out):
        """The gradient by the parameters, of that by the vectors."""
        paths_pull(self._inverse, self._below, self._flat(gradient), self._flat(out))

    def hvp(self, theta, v, out):
        """The Hessian of the log density at ``theta`` times ``v``, into ``out``."""
        out[:] = -Curvature(self, self.vectors(theta)).product(v[None])[0]

    def _flat(self, array):
        return array.reshape(self.shape[0], -1)


class Curvature:
    """Minus the Hessian of a `DynamicDensity` at vectors ``x`` of its shape."""

    def __init__(self, density, x):
        self.density, self.x = density, x
        self.pairs = [p.curvature(*x[p.period]) for p in density.periods]

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


class DensePeriod:
    """One period's pairs as whole tables of ``n`` and ``kappa``, (n_words, n_words)."""

    def __init__(self, period, n, kappa):
        self.period, self.n, self.kappa = period, n, kappa

    def gradient(self, rho, alpha, out_rho, out_alpha):
        """Log likelihood; its gradient into ``out_rho`` and added to ``out_alpha``."""
        return gradient_dense(rho, alpha, self.n, self.kappa, _ROWS, out_rho, out_alpha)

    def curvature(self, rho, alpha):
        """Slopes and residuals of the pairs."""
        slope, residual = np.empty_like(self.n), np.empty_like(self.n)
        curvature_rows_dense(rho, alpha, self.n, self.kappa, slope, residual)
        return slope, residual

    def product(self, rho, alpha, slope, residual, drho, dalpha, out_rho, out_alpha):
        """Minus the Hessian of the pairs times a direction, added to ``out``."""
        c = rho @ dalpha.T
        c += drho @ alpha.T
        c *= slope
        out_rho += c @ alpha - residual @ dalpha
        out_alpha += c.T @ rho - residual.T @ drho

    def sums(self, slope, squares):
        """``slope`` times ``squares`` (2, n_words) of the other side, by word of each side."""
        return slope @ squares[1], slope.T @ squares[0]

    def whole(self, pairs):
        """Slopes and residuals as whole tables."""
        return pairs


class SparsePeriod:
    """One period's observed pairs in compressed rows of targets."""

    def __init__(self, period, indptr, indices, n, kappa):
        self.period, self.n, self.kappa = period, n, kappa
        self.indptr, self.indices = indptr, indices
        self.n_words = indptr.size - 1

    def gradient(self, rho, alpha, out_rho, out_alpha):
        """As of `DensePeriod`."""
        table = 0, self.n_words, self.indptr, self.indices
        return gradient_sparse(*table, rho, alpha, self.n, self.kappa, out_rho, out_alpha)

    def curvature(self, rho, alpha):
        """As of `DensePeriod`, of the pairs in order."""
        slope, residual = np.empty_like(self.n), np.empty_like(self.n)
        table = 0, self.n_words, self.indptr, self.indices
        curvature_rows_sparse(*table, rho, alpha, self.n, self.kappa, slope, residual)
        return slope, residual

    def product(self, rho, alpha, slope, residual, drho, dalpha, out_rho, out_alpha):
        """As of `DensePeriod`."""
        product_pairs(
            self.indptr, self.indices, rho, alpha, slope, residual,
            drho, dalpha, out_rho, out_alpha,
        )  # fmt: skip

    def sums(self, slope, squares):
        """As of `DensePeriod`."""
        rows = np.repeat(np.arange(self.n_words), np.diff(self.indptr))
        return (
            np.bincount(rows, slope * squares[1][self.indices], self.n_words),
            np.bincount(self.indices, slope * squares[0][rows], self.n_words),
        )

    def whole(self, pairs):
        """As of `DensePeriod`."""
        rows = np.repeat(np.arange(self.n_words), np.diff(self.indptr))
        out = np.zeros((2, self.n_words, self.n_words))
        out[:, rows, self.indices] = pairs
        return out


def period_tables(pairs, dense=None):
    """Tables of the periods with observations, of a `PeriodPairs`.

    ``dense`` says whether they are whole; None leaves that to the share of pairs observed.
    """
    n_words, n_periods = pairs.n_words, pairs.n_periods
    per_row = np.diff(pairs.indptr[0])
    period = np.repeat(np.tile(np.arange(n_periods), n_words), per_row)
    tables = []
    for t in range(n_periods):
        seen = np.flatnonzero(period == t)
        if seen.size == 0:
            continue
        row = per_row[t::n_periods]
        n, kappa, columns = (a[0][seen] for a in (pairs.n, pairs.kappa, pairs.indices))
        if seen.size >= DENSE_ABOVE * n_words**2 if dense is None else dense:
            whole = np.zeros((2, n_words, n_words))
            whole[:, np.repeat(np.arange(n_words), row), columns] = n, kappa
            tables.append(DensePeriod(t, *whole))
        else:
            indptr = np.concatenate([[0], np.cumsum(row)]).astype(np.int64)
            tables.append(SparsePeriod(t, indptr, columns, n, kappa))
    return tables


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


def seek_mode(estimator, density, rng, warn):
    """Search for the mode from the static vectors in every period: parameters, facts."""
    model = density.model
    stir = _STIR * np.sqrt(model.prior.variance)
    start = {}
    for name in SIDES:
        near = model.center[name] + stir * rng.standard_normal(model.center[name].shape)
        start[name] = np.tile(near, (model.n_periods, 1, 1))
    return find_mode(
        density,
        density.pack(start),
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        verbose=estimator.verbose,
        warn=warn,
    )
