"""Regressions of vectors on covariates of units, and tests of the lengths of their coefficients."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import fdtrc, stdtr, stdtrit

from ..numeric.autocorrelation import LeastSquaresInTime, alternates
from ..numeric.regression import ClusteredLeastSquares, residuals
from ..posterior.in_time import InTime

# Units up to which all orders, and all signs, are taken: fewer than 10,000.
_ALL_ORDERS, _ALL_SIGNS = 7, 13
# Relative difference below which two sizes are one; share of a covariate that others must leave.
_ALIKE, _FLAT = 1e-10, 1e-10


class VectorFit(NamedTuple):
    """Regression of vectors.

    Attributes
    ----------
    coefficients : ndarray of shape (n_terms, K)
    influence : ndarray of shape (n_units, n_terms, K)
    freedom : ndarray of shape (n_terms, K)
        Degrees of freedom of the variance along each of the directions.
    directions : ndarray of shape (K, K)
        Orthonormal columns.
    facts : dict
        What tables tell of time.
    """

    coefficients: np.ndarray
    influence: np.ndarray
    freedom: np.ndarray
    directions: np.ndarray
    facts: dict

    def freedom_along(self, j, direction=None):
        """Degrees of freedom of the j-th coefficient's variance along a direction, or in all."""
        # weighted by what each direction adds to the variance
        weights = np.sum((self.influence[:, j] @ self.directions) ** 2, axis=0)
        if direction is not None:
            weights = weights * (direction @ self.directions) ** 2
        return np.average(self.freedom[j], weights=weights) if weights.any() else 1.0


def independent(matrix, vectors, index):
    """`VectorFit` where units are independent."""
    fit = ClusteredLeastSquares(matrix, index)
    k = vectors.shape[1]
    freedom = np.repeat(fit.freedom[:, None], k, axis=1)
    return VectorFit(*fit.fit(vectors), freedom, np.eye(k), {})


def in_time(matrix, vectors, index, times):
    """`VectorFit` where units may be autocorrelated, in each direction in its own way."""
    sizes = np.bincount(index)[:, None]
    of_unit = sparse.csr_array((np.ones(index.size), (index, np.arange(index.size))))
    means = (of_unit @ vectors) / sizes
    means -= means.mean(axis=0)
    spread, directions = np.linalg.eigh(means.T @ means)
    turned = vectors @ directions
    fit = LeastSquaresInTime(matrix, turned, index, times)
    coefficients, _, influence = fit.fit(turned)
    facts = _facts_of_time(fit.found, np.maximum(spread, 0.0))
    return VectorFit(
        coefficients @ directions.T, influence @ directions.T, fit.freedom, directions, facts
    )


def _facts_of_time(found, spread):
    """What was found in several directions, averaged by how much units vary along them."""
    deviations = found.alternation()
    here = np.isfinite(deviations)
    if not here.any():
        return {"autocorrelation": np.nan}
    weights = np.where(here, spread, 0.0)[here]
    values = InTime(found.neighbors(0.9)[0], found.positive, found.seen(), found.trend)
    facts = {
        name: float(np.average(value[here], weights=weights))
        for name, value in values._asdict().items()
        if isinstance(value, np.ndarray)
    }
    together = weights @ deviations[here] / np.linalg.norm(weights)
    return facts | {"alternating": bool(alternates(together))}


class Permuted(NamedTuple):
    """What a permutation test finds.

    Attributes
    ----------
    p : float
    least : float
        Smallest p that there might have been.
    n : int
        Number of permutations; of all there are, that which changes nothing is among them.
    """

    p: float
    least: float
    n: int


def permutation_test(matrix, j, outcomes, index, n_permutations, rng):
    """Share of permutations of a covariate whose coefficient is as long, a `Permuted`.

    It is (1 + b) / (1 + m) for m random permutations, b of which are. Of few units all are taken.

    What the other covariates do not tell of it is permuted over units, where it is the same in all
    occurrences of a unit. Units with few occurrences are noisier, and a permutation that gives
    their covariates to others may be less noisy than what was observed: lengths are in units of
    their cluster-robust standard errors (Janssen 1997; DiCiccio & Romano 2017), with which the test
    is exact where units are alike and holds its level for many units that are not.

    Where a unit has several values, the signs of what units add to the coefficient under the
    hypothesis of no effect are changed at random (Hemerik, Goeman & Finos 2020).

    Parameters
    ----------
    matrix : ndarray of shape (n, n_terms)
    j : int
    outcomes : ndarray of shape (n, n_components)
    index : ndarray of int of shape (n,)
        Units.
    n_permutations : int
    rng : numpy.random.Generator
    """
    basis = np.linalg.qr(np.delete(matrix, j, axis=1))[0]
    x = residuals(basis, matrix[:, j])
    outcomes = residuals(basis, outcomes)
    n_units = int(index.max()) + 1
    of_unit = sparse.csr_array((np.ones(x.size), (index, np.arange(x.size))), (n_units, x.size))
    values = x[np.unique(index, return_index=True)[1]]
    if np.allclose(x, values[index], atol=1e-9 * np.abs(x).max()):
        size_of = _studentized(of_unit, basis, outcomes)
        observed = size_of(values)
        if every := n_units <= _ALL_ORDERS:
            orders = map(list, itertools.permutations(range(n_units)))
        else:
            orders = (rng.permutation(n_units) for _ in range(n_permutations))
        sizes = [size_of(values[order]) for order in orders]
    else:
        scores = of_unit @ (x[:, None] * outcomes)
        observed = np.linalg.norm(scores.sum(axis=0))
        if every := n_units <= _ALL_SIGNS:
            signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n_units)))
        else:
            signs = rng.choice([-1.0, 1.0], (n_permutations, n_units))
        sizes = np.linalg.norm(signs @ scores, axis=1)
    sizes, own, n = np.asarray(sizes), int(not every), len(sizes)
    # all that are as long as the longest, as where two equal values change places
    longest = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
    least = own + every * np.sum(sizes >= longest * (1 - _ALIKE))
    p = (own + np.sum(sizes >= observed * (1 - _ALIKE))) / (own + n)
    return Permuted(float(p), float(least / (own + n)), n)


def _studentized(of_unit, basis, outcomes):
    """A function of values of units: ``|b|^2`` over the trace of its covariance by units.

    b is the coefficient of these values beside the others, whose ``basis`` the ``outcomes`` have
    nothing of.

    Parameters
    ----------
    of_unit : csr_array of shape (n_units, n)
        Sums over units.
    basis : ndarray of shape (n, p)
        Orthonormal.
    outcomes : ndarray of shape (n, n_components)
    """
    sizes, sums, loads = of_unit.sum(axis=1), of_unit @ outcomes, of_unit @ basis
    # products of the basis with outcomes, and with itself, in each unit
    with_outcomes = np.stack([of_unit @ (b[:, None] * outcomes) for b in basis.T], axis=1)
    with_itself = np.stack([of_unit @ (b[:, None] * basis) for b in basis.T], axis=1)

    def size_of(values):
        # residuals of the values are v - basis @ told; their squares and products in each unit
        told = loads.T @ values
        squares = sizes * values**2 - 2.0 * values * (loads @ told) + with_itself @ told @ told
        curvature = squares.sum()
        if curvature <= _FLAT * (sizes @ values**2):
            # the other covariates tell all of it: no coefficient, which counts as a long one
            return np.inf
        coefficient = values @ sums / curvature
        scores = values[:, None] * sums - told @ with_outcomes - squares[:, None] * coefficient
        spread = np.sum(scores**2)
        length = coefficient @ coefficient * curvature**2
        return length / spread if spread > 0.0 else np.inf

    return size_of


def length(coefficient, covariance, freedom, prob, p):
    """Length of a coefficient less what noise adds, NaN for a standard error, interval and p.

    ``|b|^2 - tr V`` has the mean ``|beta|^2`` and the variance ``4 beta'V beta + 2 tr V^2``, of
    which ``4 b'Vb`` is ``2 tr V^2`` too large on average: it makes up for what V is not known by.
    """
    square = coefficient @ coefficient - np.trace(covariance)
    along = coefficient @ covariance @ coefficient
    error = np.sqrt(max(4 * along, 2 * np.sum(covariance**2)))
    reach = stdtrit(freedom, 0.5 + 0.5 * prob) * error
    low, mean, high = np.sqrt(np.maximum([square - reach, square, square + reach], 0.0))
    # where one unit decides, noise is not known, and nothing can be taken off for it
    return np.nan if np.isnan(reach) else mean, np.nan, (low, high), p


def length_test(coefficient, covariance, freedom):
    """p of a length: an F test of ``|b|^2 / tr V`` with Box's degrees of freedom.

    Those of the denominator are of one direction: what correlations in time are wrong by is the
    same in all of them, and does not average out.
    """
    trace = np.trace(covariance)
    if trace <= 0:
        return float(not coefficient.any())
    ratio = coefficient @ coefficient / trace
    return float(fdtrc(trace**2 / np.sum(covariance**2), freedom, ratio))


def projection(mean, error, freedom, prob):
    """A projection of a coefficient, its standard error, interval and p by Student's t."""
    reach = stdtrit(freedom, 0.5 + 0.5 * prob) * error
    p = 2 * stdtr(freedom, -abs(mean) / error) if error > 0 else float(mean == 0)
    return mean, error, (mean - reach, mean + reach), p
