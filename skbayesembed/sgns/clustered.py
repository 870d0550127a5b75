r"""The skip-gram posterior where rare words meet rare contexts cluster by cluster.

Pairs of two rare words are most pairs of a large vocabulary and have few of the observations. The
negative ones among them, ``n-_ij = l_i r_j``, enter by what a word sees of a cluster of contexts,
whose logits are taken for normal: ``sum_j r_j log(1 + exp(t_ij))`` is ``W_c E log(1 + exp(T))``,
with W the sum of ``r_j``, ``T ~ N(rho_i . mu_c, rho_i' Sigma_c rho_i)`` and mu, Sigma the weighted
moments of the cluster. In the derivatives, ``a_ic + b_ic (t_ij - rho_i . mu_c)`` then stands for
``sigma(t_ij)``, with a and b the means of ``sigma(T)`` and of its slope. A context sees clusters of
targets in the same way. All other observations are as they are.

What the gradients of rare words lack is found at some vectors now and then, and added from there
on (`ClusteredResiduals.correct`), so that the search ends at the mode of the exact density.

The likelihood does not see ``rho M`` with ``alpha M^-T``, and is flat along all such maps M, which
is ``rho' G_rho = (alpha' G_alpha)'`` for its gradient G. Neither what was added elsewhere nor two
sides that see each other by clusters of their own have this, and the search would run away along M.
It is restored by moving each word's gradient along ``n_i rho_i X``, or ``-n_j alpha_j X'``.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy import sparse
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from .data import cut_rows, table_rows
from .listed_kernels import listed_products, listed_table
from .model import SGNSModel
from .residuals import EXPECTED, Products, Residuals
from .surface import SGNSSurface

# Share of the expected negative observations that pairs of rare words have; what a pair that was
# seen takes, beside one of a whole table, and the share of the whole table's time that is left at
# most: with more, it does not pay.
_RARE, _LISTED, _MOST_WORK = 0.09, 4.0, 0.4
_CLUSTERS, _ITERATIONS = 16, 20
# The quadrature of expectations of normal logits, and the least variance of those, below which
# slopes would be rounding.
_NODES, _WEIGHTS = (values.astype(np.float32) for values in hermegauss(7))
_WEIGHTS /= _WEIGHTS.sum()
_LEAST_VARIANCE = 1e-4
# Values are those of neither side alone, and off by such a share: steps that change them by less
# are judged by their slopes.
_ROUNDING = 1e-5
# Sums of moments that are as good as zero, relative to the largest.
_FLAT = 1e-9
# Runs of rows, each with its own sums over contexts.
_BLOCKS = 8


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
    listed = _n_seen(pairs, order[n_frequent:]) / pairs.n_pairs
    if work + _LISTED * listed > _MOST_WORK:
        return None
    return np.sort(order[:n_frequent])


def _n_seen(pairs, words):
    """Positive pairs of some words with each other."""
    indptr, indices, _ = pairs.positive
    own = np.zeros(pairs.n_words, bool)
    own[words] = True
    rows = np.flatnonzero(own & (np.diff(indptr) > 0))
    return sum(int(own[indices[indptr[i] : indptr[i + 1]]].sum()) for i in rows)


class ClusteredModel(SGNSModel):
    """An `SGNSModel` whose search for the mode goes by the module, in single precision.

    Parameters
    ----------
    model : SGNSModel
        Of `ProductPairs`, without anchors.
    frequent : ndarray of int
        Words that are not rare, ascending.
    """

    def __init__(self, model, frequent):
        super().__init__(model.pairs, model.n_components, model.prior)
        self._frequent = frequent

    def surface(self, theta, dtype, run):
        """As of `SGNSModel`."""
        if dtype is np.float64:
            return super().surface(theta, dtype, run)
        vectors = [v.astype(np.float32) for v in self.unpack(theta).values()]
        residuals = ClusteredResiduals(self.pairs, self._frequent, vectors, run)
        return ClusteredSurface(self, theta, dtype, run, residuals)


class ClusteredSurface(SGNSSurface):
    """The `SGNSSurface` of a `ClusteredModel`."""

    rounding = _ROUNDING

    def correct(self):
        """As of `Corrected`."""
        self._residuals.correct(*self.point)
        return self.value_and_gradient()


class ClusteredResiduals(Residuals):
    """`Residuals` of pairs whose negative counts are a product, by the formulas of the module.

    Parameters
    ----------
    pairs : ProductPairs
    frequent : ndarray of int
        Words that are not rare, ascending.
    vectors : pair of ndarray of float32 of shape (n_words, n_components)
        Of targets and contexts, for the first clusters.
    run : callable
        Maps a function over blocks of rows.
    """

    def __init__(self, pairs, frequent, vectors, run):
        self.observations = [pairs.observations(side) for side in (0, 1)]
        self._weights = [n.astype(np.float32)[:, None] for n in self.observations]
        every = np.arange(pairs.n_words)
        self._rare, self._run = np.delete(every, frequent), run
        whole = pairs.table(np.float32)
        self._parts = [
            _Turned(every, frequent, whole, run),
            _Part(self._rare, frequent, whole, run),
        ]
        self._seen = _positives(self._rare, whole, run)
        self._factors = [factor[self._rare].astype(np.float32) for factor in pairs.factors]
        self._negatives, self._lacking = _negatives(*self._factors, run), None
        self.gather(*vectors)

    def gather(self, x, y):
        """Take clusters of these vectors."""
        own, (left, right) = self._rare, self._factors
        self._clusters = (
            _Clusters(y[own], left, right, self._run),
            _Clusters(x[own], right, left, self._run),
        )

    def correct(self, x, y):
        """Add to gradients from here on what those by clusters lack at ``x``, ``y``."""
        self.gather(x, y)
        x, y = x[self._rare], y[self._rare]
        self._lacking = np.empty((2, *x.shape), np.float32)
        self._negatives.residuals(x, y, y, x, *self._lacking)
        for lacking, (_, found) in zip(self._lacking, self._by_clusters(x, y, y, x), strict=True):
            lacking -= found

    def gradient(self, x, y, out):
        """As of `Residuals`; the log likelihood is the one without `correct`."""
        value = self._multiply(x, y, y, x, *out, self._lacking)
        _flatten(x, y, self._weights, out)
        return value

    def slopes(self, x, y, z, u):
        """As of `Residuals`."""
        sz, su = np.zeros_like(z), np.zeros_like(u)
        for part in self._parts:
            part.slopes(x, y, z, u, sz, su)
        own, (of_targets, of_contexts) = self._rare, self._clusters
        x, y, z, u = x[own], y[own], z[own], u[own]
        mine, others = np.empty_like(z), np.empty_like(u)
        self._seen.slopes(x, y, z, u, mine, others)
        mine += of_targets.slopes(x, y, z)
        others += of_contexts.slopes(y, x, u)
        sz[own] += mine
        su[own] += others
        return sz, su

    def _multiply(self, x, y, z, u, rz, ru, lacking=None):
        rz[:], ru[:] = 0.0, 0.0
        total = sum(part.residuals(x, y, z, u, rz, ru) for part in self._parts)
        # rare words with each other: rows are taken out and put back once
        own = self._rare
        x, y, z, u = x[own], y[own], z[own], u[own]
        sums = np.empty_like(z), np.empty_like(u)
        total += self._seen.residuals(x, y, z, u, *sums)
        by_clusters = self._by_clusters(x, y, z, u)
        for side, (out, (_, found)) in enumerate(zip(sums, by_clusters, strict=True)):
            out += found
            if lacking is not None:
                out += lacking[side]
        rz[own] += sums[0]
        ru[own] += sums[1]
        return total + float(np.mean([value for value, _ in by_clusters]))

    def _by_clusters(self, x, y, z, u):
        """By side: the log likelihood of pairs by clusters, and ``R z`` or ``R' u``."""
        of_targets, of_contexts = self._clusters
        return of_targets.residuals(x, y, z), of_contexts.residuals(y, x, u)


def _positives(words, table, run):
    """All positive observations of some words with each other, `Products`."""
    whole = _compressed(_selected(table, words, words)[0])
    cuts = cut_rows(np.diff(whole[0]) + 1.0, _BLOCKS)
    tables = {cut: listed_table(*table_rows(whole, *cut), words.size) for cut in cuts}
    return Products((_listed_residuals, _listed_slopes), lambda a, b: tables[a, b], cuts, run)


def _negatives(left, right, run):
    """All negative observations of some words, `Products`."""
    none = np.zeros(left.size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
    cuts = cut_rows(np.ones(left.size), _BLOCKS)
    return Products(EXPECTED, functools.partial(table_rows, (*none, left, right)), cuts, run)


def _flatten(x, y, weights, gradient):
    """Make a gradient flat along maps of the components, in place.

    With ``G_x = rho' W rho``, ``G_y = alpha' V alpha``, X solves ``G_x X + X G_y = E``, where E is
    ``rho' g_rho - (alpha' g_alpha)'`` before.
    """
    first, second = gradient
    uneven = (x.T @ first).astype(float) - (second.T @ y).astype(float)
    (a, turn_x), (b, turn_y) = (
        np.linalg.eigh((v.T @ (w * v)).astype(float)) for v, w in zip((x, y), weights, strict=True)
    )
    sums = a[:, None] + b
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > _FLAT * sums.max())
    moved = turn_x @ (inverse * (turn_x.T @ uneven @ turn_y)) @ turn_y.T
    moved = moved.astype(x.dtype)
    first -= weights[0] * (x @ moved)
    second += weights[1] * (y @ moved.T)


class _Part:
    """All pairs of some words with some contexts.

    What products yield is added to arrays of all words.
    """

    def __init__(self, rows, columns, table, run):
        self._rows, self._columns = rows, columns
        counts, left, right = self._chosen(table)
        own = *_compressed(counts), left, right
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

    def _chosen(self, table):
        return _selected(table, self._rows, self._columns)


class _Turned(_Part):
    """As `_Part`, with contexts in the rows of the table: few words have smaller sums."""

    def _add(self, products, x, y, z, u, of_rows, of_columns):
        return super()._add(products, y, x, u, z, of_columns, of_rows)

    def _chosen(self, table):
        counts, left, right = _selected(table, self._columns, self._rows)
        return sparse.csr_array(counts.T), right, left


def _listed_residuals(block, x, y, z, u):
    return _listed(block, False, x, y, z, u)


def _listed_slopes(block, x, y, z, u):
    return _listed(block, True, x, y, z, u)


def _listed(block, bends, x, y, z, u):
    a, b, table = block
    of_rows = np.empty((b - a, z.shape[1]), x.dtype)
    of_columns = np.empty((len(z), u.shape[1]), x.dtype)
    value = listed_products(table, bends, x[a:b], y, z, u[a:b], of_rows, of_columns)
    return of_rows, of_columns, value


def _selected(table, rows, columns):
    """Positive counts of rows and columns, ascending, of a table of `ProductPairs`, and factors."""
    indptr, indices, positive, left, right = table
    whole = sparse.csr_array((positive, indices, indptr), (left.size, right.size))
    return whole[rows][:, columns], left[rows], right[columns]


def _compressed(counts):
    """A csr_array as kernels take it."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data


class _Moments(NamedTuple):
    """Of a cluster of words, and of further numbers z of each."""

    weight: np.float32
    mean: np.ndarray
    covariance: np.ndarray
    mean_z: np.ndarray
    with_z: np.ndarray  # covariance of vectors and z


class _Clusters:
    """Rare words of one side in clusters, and what those of the other side see of them.

    Parameters
    ----------
    vectors : ndarray of shape (n_rare, n_components)
        That tell the clusters.
    own, factor : ndarray of float32 of shape (n_rare,)
        Factors of the counts, of those who see and of those who are seen.
    run : callable
        Maps a function over blocks of work.
    """

    def __init__(self, vectors, own, factor, run):
        self._run, self._own, self._factor = run, own, factor
        n_clusters = min(_CLUSTERS, len(np.unique(vectors, axis=0)))
        # the sums of threads would be added in the order in which they end
        with threadpool_limits(limits=1):
            means = KMeans(n_clusters, n_init=1, max_iter=_ITERATIONS, random_state=0)
            labels = means.fit_predict(vectors)
        members = (np.flatnonzero(labels == c) for c in range(n_clusters))
        self._members = [m for m in members if factor[m].sum() > 0.0]
        self._rows = cut_rows(np.ones(own.size), _BLOCKS)

    def residuals(self, x, y, z):
        """The log likelihood, and ``R z``."""
        blocks = self._blocks(self._residuals_of, x, y, z)
        return sum(value for value, _ in blocks), np.vstack([found for _, found in blocks])

    def slopes(self, x, y, z):
        """``S z``, a slope being the mean over its cluster."""
        return np.vstack(self._blocks(self._slopes_of, x, y, z))

    def _blocks(self, function, x, y, z):
        if not z.shape[1]:
            return [function(rows, [], x, z) for rows in self._rows]
        clusters = self._over(self._moments, self._members, y, z)
        return self._over(function, self._rows, clusters, x, z)

    def _over(self, function, tasks, *shared):
        found = [None] * len(tasks)

        def call(i):
            found[i] = function(tasks[i], *shared)

        self._run(call, [(i,) for i in range(len(tasks))])
        return found

    def _moments(self, members, y, z):
        weights, z = self._factor[members], z[members]
        total = weights.sum()
        mean = weights @ y[members] / total
        apart = y[members] - mean
        weighted = apart.T * (weights / total)
        return _Moments(total, mean, weighted @ apart, weights @ z / total, weighted @ z)

    def _residuals_of(self, rows, clusters, x, z):
        start, stop = rows
        x, own = x[start:stop], self._own[start:stop]
        found = np.zeros((len(x), z.shape[1]), x.dtype)
        total = 0.0
        for of in clusters:
            softplus, a, b = _normal_logistic(x, of.mean, of.covariance)
            total -= float(of.weight) * float(np.dot(own.astype(float), softplus))
            moved = x @ of.with_z
            moved *= b[:, None]
            moved += a[:, None] * of.mean_z
            moved *= (of.weight * own)[:, None]
            found -= moved
        return total, found

    def _slopes_of(self, rows, clusters, x, z):
        start, stop = rows
        x, own = x[start:stop], self._own[start:stop]
        found = np.zeros((len(x), z.shape[1]), x.dtype)
        for of in clusters:
            slope = own * _normal_logistic(x, of.mean, of.covariance)[2]
            found += (of.weight * slope)[:, None] * of.mean_z
        return found


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
