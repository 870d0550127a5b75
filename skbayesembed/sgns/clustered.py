r"""The skip-gram posterior where rare words meet rare contexts cluster by cluster.

Pairs of two rare words are most pairs of a large vocabulary and have few of the observations. The
negative ones among them, ``n-_ij = l_i r_j``, enter by what a word sees of a cluster of contexts,
whose logits are taken for normal: ``sum_j r_j log(1 + exp(t_ij))`` is ``W_c E log(1 + exp(T))``,
with W the sum of ``r_j``, ``T ~ N(rho_i . mu_c, rho_i' Sigma_c rho_i)`` and mu, Sigma the weighted
moments of the cluster. In the derivatives, ``a_ic + b_ic (t_ij - rho_i . mu_c)`` then stands for
``sigma(t_ij)``, with a and b the means of ``sigma(T)`` and of its slope. All other observations are
as they are. A search for the mode that starts where this one ends takes a fourth of the steps.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ..inference.threads import serial
from .data import cut_rows, table_rows
from .model import SGNSModel
from .residuals import EXPECTED, SPARSE, Products, Residuals
from .surface import SGNSSurface

# Share of the expected negative observations that pairs of rare words have, and of all pairs that
# are left one by one at most: with more, it does not pay.
_RARE, _MOST_WORK = 0.05, 0.3
_CLUSTERS, _ITERATIONS = 16, 20
# The quadrature of expectations of normal logits, and the least variance of those, below which
# slopes would be rounding.
_NODES, _WEIGHTS = (values.astype(np.float32) for values in hermegauss(7))
_WEIGHTS /= _WEIGHTS.sum()
_LEAST_VARIANCE = 1e-4
# Runs of rows, each with its own sums over contexts, and contexts whose vectors fit in a cache:
# pairs take a fourth of the time then (45,000 words).
_BLOCKS, _CONTEXTS = 8, 3000


def frequent_words(pairs):
    """The most frequent words (ascending), all but the rare; None where clusters do not pay.

    Parameters
    ----------
    pairs : ProductPairs
    """
    order = pairs.by_frequency()
    left, right = (np.cumsum(factor[order]) for factor in pairs.factors)
    rare = (1.0 - left / left[-1]) * (1.0 - right / right[-1])
    n_frequent = 1 + int(np.argmax(rare <= _RARE))
    work = 1.0 - (1.0 - n_frequent / len(order)) ** 2
    if work > _MOST_WORK or rare[n_frequent - 1] == 0.0:
        return None
    return np.sort(order[:n_frequent])


class ClusteredModel(SGNSModel):
    """An `SGNSModel` whose density is that of the module, in single precision.

    Parameters
    ----------
    model : SGNSModel
        Of `ProductPairs`, without anchors.
    frequent : ndarray of int
        Words that are not rare, ascending.
    alpha : ndarray of shape (n_words, n_components)
        Context vectors, for the clusters.
    run : callable
        Maps a function over blocks of rows.
    """

    precisions = (np.float32,)

    def __init__(self, model, frequent, alpha, run):
        super().__init__(model.pairs, model.n_components, model.prior)
        self._residuals = ClusteredResiduals(model.pairs, frequent, alpha, run)

    def logp_and_grad(self, theta, out, tau=None, run=serial):
        """As of `SGNSModel`."""
        surface = self.surface(theta, np.float32, run)
        value, gradient = surface.value_and_gradient()
        out[:] = gradient.ravel()
        return value

    def surface(self, theta, dtype, run):
        """As of `SGNSModel`."""
        return SGNSSurface(self, theta, dtype, run, self._residuals)


class ClusteredResiduals(Residuals):
    """`Residuals` of pairs whose negative counts are a product, by the formulas of the module."""

    def __init__(self, pairs, frequent, alpha, run):
        self.observations = [pairs.observations(side) for side in (0, 1)]
        every = np.arange(pairs.n_words)
        self._rare = np.delete(every, frequent)
        whole = pairs.table(np.float32)
        self._parts = [
            _Part(frequent, every, whole, run),
            _Part(self._rare, frequent, whole, run),
            _PositivePart(self._rare, self._rare, whole, run),
        ]
        factors = [factor[self._rare].astype(np.float32) for factor in pairs.factors]
        self._clusters = _Clusters(alpha[self._rare], *factors, run)

    def _multiply(self, x, y, z, u, rz, ru):
        rz[:], ru[:] = 0.0, 0.0
        total = sum(part.residuals(x, y, z, u, rz, ru) for part in self._parts)
        own = self._rare
        likelihood, of_rows, of_columns = self._clusters.residuals(x[own], y[own], z[own], u[own])
        rz[own] += of_rows
        ru[own] += of_columns
        return total + likelihood

    def slopes(self, x, y, z, u):
        """As of `Residuals`."""
        sz, su = np.zeros_like(z), np.zeros_like(u)
        for part in self._parts:
            part.slopes(x, y, z, u, sz, su)
        own = self._rare
        of_rows, of_columns = self._clusters.slopes(x[own], y[own], z[own], u[own])
        sz[own] += of_rows
        su[own] += of_columns
        return sz, su


class _Part:
    """All pairs of some words with some contexts.

    What products yield is added to arrays of all words.
    """

    def __init__(self, rows, columns, table, run):
        self._rows, self._columns = rows, columns
        own = _selected(table, rows, columns)
        cuts = cut_rows(np.diff(own[0]) + float(columns.size), _BLOCKS)
        self._products = Products(EXPECTED, functools.partial(table_rows, own), cuts, run)

    def residuals(self, x, y, z, u, rz, ru):
        return self._add(self._products.residuals, x, y, z, u, rz, ru)

    def slopes(self, x, y, z, u, sz, su):
        self._add(self._products.slopes, x, y, z, u, sz, su)

    def _add(self, products, x, y, z, u, of_rows, of_columns):
        i, j = self._rows, self._columns
        mine = np.empty((i.size, z.shape[1]), x.dtype)
        others = np.empty((j.size, u.shape[1]), x.dtype)
        found = products(x[i], y[j], z[j], u[i], mine, others)
        of_rows[i] += mine
        of_columns[j] += others
        return found


class _PositivePart(_Part):
    """The positive observations of some words with some contexts, that many contexts at a time."""

    def __init__(self, rows, columns, table, run):
        self._rows, self._columns = rows, columns
        indptr, indices, positive, *_ = _selected(table, rows, columns)
        whole = sparse.csr_array((positive, indices, indptr), (rows.size, columns.size))
        cuts = cut_rows(np.ones(columns.size), -(-columns.size // _CONTEXTS))
        self._tables = [(a, b, _positive(*_compressed(whole[:, a:b]))) for a, b in cuts]
        seen = sum(np.diff(own[0]) for *_, own in self._tables)
        cuts = cut_rows(seen + 1.0, _BLOCKS)
        steps = tuple(functools.partial(_by_columns, step) for step in SPARSE)
        self._products = Products(steps, self._rows_of, cuts, run)

    def _rows_of(self, start, stop):
        return [(first, last, table_rows(own, start, stop)) for first, last, own in self._tables]


def _positive(indptr, indices, positive):
    """Counts n+ whose likelihood is that of n+ observations, all of them positive."""
    return indptr, indices, positive, np.float32(0.5) * positive


def _by_columns(step, block, x, y, z, u):
    """A step over tables of some columns each, whose vectors stay in the cache."""
    start, stop, tables = block
    of_rows = np.zeros((stop - start, z.shape[1]), x.dtype)
    of_columns = np.empty((len(z), u.shape[1]), x.dtype)
    total = 0.0
    for first, last, table in tables:
        own = slice(first, last)
        mine, of_columns[own], value = step((start, stop, table), x, y[own], z[own], u)
        of_rows += mine
        total += value
    return of_rows, of_columns, total


def _selected(table, rows, columns):
    """Some rows and columns, ascending, of a table of `ProductPairs`."""
    indptr, indices, positive, left, right = table
    whole = sparse.csr_array((positive, indices, indptr), (left.size, right.size))
    return *_compressed(whole[rows][:, columns]), left[rows], right[columns]


def _compressed(counts):
    """A csr_array as kernels take it."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data


class _Moments(NamedTuple):
    """Of a cluster of contexts, and of further numbers z of each."""

    weight: np.float32
    mean: np.ndarray
    apart: np.ndarray  # vectors less their mean
    covariance: np.ndarray
    mean_z: np.ndarray
    with_z: np.ndarray  # covariance of vectors and z


class _Clusters:
    """Rare contexts in clusters, and the negative observations of rare words with them.

    Parameters
    ----------
    alpha : ndarray of shape (n_rare, n_components)
        Vectors that tell the clusters.
    left, right : ndarray of float32 of shape (n_rare,)
        Factors of the counts.
    run : callable
        Maps a function over blocks of work.
    """

    def __init__(self, alpha, left, right, run):
        self._run, self._left, self._right = run, left, right
        n_clusters = min(_CLUSTERS, len(np.unique(alpha, axis=0)))
        # the sums of threads would be added in the order in which they end
        with threadpool_limits(limits=1):
            means = KMeans(n_clusters, n_init=1, max_iter=_ITERATIONS, random_state=0)
            labels = means.fit_predict(alpha)
        members = (np.flatnonzero(labels == c) for c in range(n_clusters))
        self._members = [m for m in members if right[m].sum() > 0.0]
        self._rows = cut_rows(np.ones(left.size), _BLOCKS)

    def residuals(self, x, y, z, u):
        """The log likelihood, ``R z`` and ``R' u``."""
        clusters = self._over(self._moments, self._members, y, z)
        blocks = self._over(self._row_block, self._rows, clusters, x, u)
        constant, linear = (sum(block[i] for block in blocks) for i in (2, 3))
        of_columns = np.zeros((len(y), u.shape[1]), y.dtype)
        own = list(zip(self._members, clusters, constant, linear, strict=True))
        self._over(self._spread, own, of_columns)
        return sum(block[1] for block in blocks), np.vstack([b[0] for b in blocks]), of_columns

    def slopes(self, x, y, z, u):
        """``S z`` and ``S' u``, a slope being the mean over its cluster."""
        clusters = self._over(self._moments, self._members, y, z)
        blocks = self._over(self._slope_block, self._rows, clusters, x, u)
        of_columns = np.zeros((len(y), u.shape[1]), y.dtype)
        for members, found in zip(self._members, sum(b[1] for b in blocks), strict=True):
            of_columns[members] = self._right[members, None] * found
        return np.vstack([block[0] for block in blocks]), of_columns

    def _over(self, function, tasks, *shared):
        found = [None] * len(tasks)

        def call(i):
            found[i] = function(tasks[i], *shared)

        self._run(call, [(i,) for i in range(len(tasks))])
        return found

    def _moments(self, members, y, z):
        weights, z = self._right[members], z[members]
        total = weights.sum()
        mean = weights @ y[members] / total
        apart = y[members] - mean
        weighted = apart.T * (weights / total)
        return _Moments(total, mean, apart, weighted @ apart, weights @ z / total, weighted @ z)

    def _row_block(self, rows, clusters, x, u):
        """Of some rows: ``R z``, their likelihood, and their parts of what `_spread` takes."""
        start, stop = rows
        x, u, left = x[start:stop], u[start:stop], self._left[start:stop]
        of_rows = np.zeros((len(x), clusters[0].mean_z.size), x.dtype)
        shape = len(clusters), u.shape[1]
        constant = np.zeros(shape, x.dtype)
        linear = np.zeros((shape[0], x.shape[1], shape[1]), x.dtype)
        total = 0.0
        for c, of in enumerate(clusters):
            softplus, a, b = _normal_logistic(x, of.mean, of.covariance)
            total -= float(of.weight) * float(np.dot(left.astype(float), softplus))
            if u.shape[1]:
                constant[c] = -(left * a) @ u
                np.matmul(x.T, (left * b)[:, None] * u, out=linear[c])
            if of.mean_z.size:
                moved = x @ of.with_z
                moved *= b[:, None]
                moved += a[:, None] * of.mean_z
                moved *= (of.weight * left)[:, None]
                of_rows -= moved
        return of_rows, total, constant, linear

    def _spread(self, task, of_columns):
        """What a cluster's rows sum up to, for each of its contexts."""
        members, of, constant, linear = task
        of_columns[members] = self._right[members, None] * (constant - of.apart @ linear)

    def _slope_block(self, rows, clusters, x, u):
        start, stop = rows
        x, u, left = x[start:stop], u[start:stop], self._left[start:stop]
        of_rows = np.zeros((len(x), clusters[0].mean_z.size), x.dtype)
        of_clusters = np.zeros((len(clusters), u.shape[1]), x.dtype)
        for c, of in enumerate(clusters):
            slope = left * _normal_logistic(x, of.mean, of.covariance)[2]
            of_rows += (of.weight * slope)[:, None] * of.mean_z
            of_clusters[c] = slope @ u
        return of_rows, of_clusters


def _normal_logistic(x, mean, covariance):
    """E log(1 + e^T), E sigma(T) and E sigma'(T), of ``T ~ N(x . mean, x' covariance x)``."""
    middle = x @ mean
    spread = np.einsum("ij,ij->i", x @ covariance, x)
    np.sqrt(np.maximum(spread, np.float32(_LEAST_VARIANCE)), out=spread)
    found = np.zeros((3, len(x)), x.dtype)
    for point, weight in zip(_NODES, _WEIGHTS, strict=True):
        t = middle + point * spread
        e = np.exp(-np.abs(t))
        sigma = np.where(t >= 0.0, np.float32(1.0), e)
        sigma /= 1.0 + e
        found[0] += weight * (np.maximum(t, 0.0) + np.log1p(e))
        sigma *= weight
        found[1] += sigma
        found[2] += point * sigma
    found[2] /= spread
    return found
