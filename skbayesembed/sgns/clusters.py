"""Words in clusters, whose logits with a word are taken for normal: what it sees of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from sklearn.cluster import KMeans

from ..inference.threads import gathered, libraries

_CLUSTERS, _ITERATIONS = 16, 20
# The quadrature of expectations of normal logits, and the least variance of those, below which
# slopes would be rounding.
_NODES, _WEIGHTS = (values.astype(np.float32) for values in hermegauss(7))
_WEIGHTS /= _WEIGHTS.sum()
_LEAST_VARIANCE = 1e-4
# Rows that see all clusters at a time.
_ROWS = 1024


class Moments(NamedTuple):
    """Of clusters of words, and of further numbers z of each word."""

    weight: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    mean_z: np.ndarray
    with_z: np.ndarray | None = None  # covariances of vectors and z


class Clusters:
    """Words of one side in clusters, and those of the other side who see them.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_components)
        That tell the clusters.
    own, factor : ndarray of float32 of shape (n_words,)
        Factors of the counts, of those who see and of those who are seen.
    run : callable
        Maps a function over blocks of work.
    """

    def __init__(self, vectors, own, factor, run):
        self._run, self.own, self.factor = run, own, factor
        n_clusters = min(_CLUSTERS, len(np.unique(vectors, axis=0)))
        # the sums of threads would be added in the order in which they end
        with libraries().limit(limits=1):
            means = KMeans(n_clusters, n_init=1, max_iter=_ITERATIONS, random_state=0)
            labels = means.fit_predict(vectors)
        members = (np.flatnonzero(labels == c) for c in range(n_clusters))
        self.members = [m for m in members if factor[m].sum() > 0.0]

    def over_rows(self, function, y, z, *rows: Any) -> list:
        """``function(n, moments, *rows)`` for runs of rows: list of what is returned, in order.

        Parameters
        ----------
        function : callable
            It is given how often each of its rows meets a cluster, an array of shape (n_rows,
            n_clusters), and the `Moments` of the clusters.
        y : ndarray of shape (n_words, n_components)
            Vectors of the words in clusters.
        z : ndarray of shape (n_words, n)
            Further numbers of them; with ``y`` itself, `Moments` have no ``with_z``.
        *rows : ndarray of shape (n_words, n)
            Of those who see.
        """
        of = self.moments(y, z)

        def call(i):
            some = slice(i, i + _ROWS)
            n = self.own[some][:, None] * of.weight
            return function(n, of, *(array[some] for array in rows))

        return gathered(self._run, call, ((i,) for i in range(0, self.own.size, _ROWS)))

    def moments(self, y, z):
        """`Moments` of all clusters, as of `over_rows`."""
        found = gathered(self._run, self._moments, ((m, y, z) for m in self.members))
        return Moments(*(np.stack(values) for values in zip(*found, strict=True)))

    def _moments(self, members, y, z):
        weights = self.factor[members]
        total = weights.sum()
        mean = weights @ y[members] / total
        apart = y[members] - mean
        weighted = apart.T * (weights / total)
        if z is y:
            return total, mean, weighted @ apart, mean
        z = z[members]
        return total, mean, weighted @ apart, weights @ z / total, weighted @ z


def logits_of(x, of):
    """Means and standard deviations of the logits of rows with clusters, and what turns them.

    Parameters
    ----------
    x : ndarray of float32 of shape (n_rows, n_components)
    of : Moments

    Returns
    -------
    mean, sd : ndarray of shape (n_rows, n_clusters)
    turned : ndarray of shape (n_clusters, n_rows, n_components)
        The rows times the covariances.
    """
    turned = x @ of.covariance
    mean, sd = x @ of.mean.T, np.empty((len(x), len(of.mean)), x.dtype)
    for one, out in zip(turned, sd.T, strict=True):
        np.einsum("ij,ij->i", one, x, out=out)
    return mean, np.sqrt(np.maximum(sd, np.float32(_LEAST_VARIANCE)), out=sd), turned


def nodes():
    """Standard normal values and their weights, by which expectations are taken: pairs."""
    return zip(_NODES, _WEIGHTS, strict=True)


def subtract_scaled(out, turned, scales):
    """``out -= sum_c scales_c turned_c``; ``turned`` of `logits_of` is room for it."""
    for one, scale in zip(turned, scales.T, strict=True):
        one *= scale[:, None]
        out -= one


def normal_logistic(mean, sd):
    """E log(1 + e^T), E sigma(T) and E sigma'(T) for normal T."""
    found = np.zeros((3, *mean.shape), mean.dtype)
    for point, weight in nodes():
        t = mean + point * sd
        e = np.exp(-np.abs(t))
        sigma = np.where(t >= 0.0, np.float32(1.0), e)
        e += 1.0
        sigma /= e
        found[0] += weight * (np.maximum(t, 0.0) + np.log(e))
        sigma *= weight
        found[1] += sigma
        found[2] += point * sigma
    found[2] /= sd
    return found
