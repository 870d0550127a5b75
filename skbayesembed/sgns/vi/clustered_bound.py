"""The pairs' part of the bound where rare words meet rare contexts cluster by cluster.

As in `sgns.clustered`: the negative observations of two rare words enter by what a word sees of a
cluster of contexts, whose logits are taken for normal and whose squares (`bound_kernels`) for their
mean. What all this lacks is found at some factors now and then (`ClusteredBound.correct`) and made
up for from there on: to slopes it is added, sums of ``omega``, which are positive, are multiplied.

The bound sees neither ``rho M`` with ``alpha M^-T`` in its logits nor their scales in its squares.
Sums of two sides that see each other by clusters of their own would tell such maps apart, and are
made not to.
"""

from __future__ import annotations

import numpy as np

from ..clustered import flatten
from ..clusters import Clusters, logits_of, nodes, subtract_scaled
from .bound import all_pairs, pair_sums, through
from .bound_kernels import LEAST_SQUARE, listed_bound

# What stands in for sums of zero.
_TINY = np.float32(1e-30)


class ClusteredBound:
    """`PairBound` by the formulas of the module.

    `correct` or `gather` comes before all else. Words are in the order of the residuals.

    Parameters
    ----------
    residuals : ClusteredResiduals
        Of the pairs, whose tables are used.
    run : callable
        Maps a function over blocks of rows.
    """

    def __init__(self, residuals, run):
        self._residuals, self._run = residuals, run

    def gather(self, x, y):
        """Take clusters of these factors, and correct nothing from here on."""
        self._clusters = self._residuals.clustered(_Clusters, x.mean, y.mean)
        self._lacking = None

    def correct(self, x, y):
        """Correct, from here on, by what those by clusters lack at these factors."""
        rare = self._residuals.rare
        self.gather(x, y)
        x, y = x.part(rare), y.part(rare)
        value, *exact = pair_sums(self._run, all_pairs, self._residuals.negatives.held, x, y)
        found, sides = self._by_clusters(x, y)
        k = x.mean.shape[1]
        for sums, by_clusters in zip(exact, sides, strict=True):
            sums[:, :k] -= by_clusters[:, :k]
            sums[:, k:] /= np.maximum(by_clusters[:, k:], _TINY)
        self._lacking = value - found, exact

    def sums(self, x, y):
        """As of `PairBound`."""
        of, run = self._residuals, self._run
        f, r = of.frequent, of.rare
        some, own = (x.part(f), y.part(f)), (x.part(r), y.part(r))
        first, of_contexts, of_some = pair_sums(run, all_pairs, of.of_frequent.held, y, some[0])
        second, of_own, others = pair_sums(run, all_pairs, of.with_frequent.held, own[0], some[1])
        third, *seen = pair_sums(run, _listed, of.seen.held, *own)
        fourth, unseen = self._corrected(*own)
        of_contexts[f] += others
        for sums, *parts in zip((of_own, of_contexts[r]), seen, unseen, strict=True):
            for part in parts:
                sums += part
        sides = np.concatenate([of_some, of_own]), of_contexts
        slopes = [sums[:, : x.mean.shape[1]] for sums in sides]
        flatten(x.mean, y.mean, of.weights, slopes, run)
        return first + second + third + fourth, *sides

    def _corrected(self, x, y):
        """`_by_clusters` with what these lack."""
        value, sides = self._by_clusters(x, y)
        if self._lacking is not None:
            lacking, of_sides = self._lacking
            value += lacking
            k = x.mean.shape[1]
            for sums, own in zip(sides, of_sides, strict=True):
                sums[:, :k] += own[:, :k]
                sums[:, k:] *= own[:, k:]
        _balance((x, y), sides)
        return value, sides

    def _by_clusters(self, x, y):
        """Of negative observations of rare words, by what both sides see of each other."""
        of_targets, of_contexts = self._clusters
        first, targets = of_targets.sums(x, y)
        second, contexts = of_contexts.sums(y, x)
        return 0.5 * (first + second), (targets, contexts)


def _balance(words, sides):
    """Make sums of ``omega`` see no scales of components, in place.

    Where means of a component grow by a factor on one side and fall by it on the other, the bound
    changes by the difference of the two totals here.
    """
    k = sides[0].shape[1] // 3
    totals = []
    for own, sums in zip(words, sides, strict=True):
        curvature, squares = sums[:, k : 2 * k], sums[:, 2 * k :]
        total = np.sum(own.mean**2 * curvature + own.variance * squares, axis=0, dtype=float)
        totals.append(np.maximum(total, _TINY))
    ratio = np.sqrt(totals[1] / totals[0])
    for sums, factor in zip(sides, (ratio, 1.0 / ratio), strict=True):
        sums[:, k:] *= np.tile(factor, 2).astype(np.float32)


class _Clusters(Clusters):
    """`Clusters` of the bound."""

    def sums(self, x, y):
        """The bound, and sums of those who see, as of `PairBound`."""
        out = np.empty((len(x.mean), 3 * x.mean.shape[1]), np.float32)
        found = self.over_rows(_sums, y.mean, y.squares(), x.mean, x.squares(), out)
        return float(sum(found)), out


def _sums(n, of, x, x_square, out):
    k = x.shape[1]
    mean, sd, turned = logits_of(x, of)
    variance, square = of.mean_z[:, :k], of.mean_z[:, k:]
    s = x_square @ np.hstack([square - variance, variance]).T
    bound, first, slope, omega = _normal_bound(mean, sd, s)
    out[:, k:] = (n * omega) @ of.mean_z
    slopes = out[:, :k]
    slopes[:] = -((n * first) @ of.mean)
    subtract_scaled(slopes, turned, n * slope)
    return -float(np.sum(n * bound, dtype=float))


def _normal_bound(mean, sd, s):
    """Expectations for normal T, of one negative observation of ``xi^2 = T^2 + s``.

    Of minus its bound, of ``1/2 + omega T`` and its slope, and of ``omega``.
    """
    found = np.zeros((4, *mean.shape), mean.dtype)
    for point, weight in nodes():
        t = mean + point * sd
        xi = np.sqrt(np.maximum(t * t + s, LEAST_SQUARE))
        e = np.exp(-xi)
        found[0] += weight * (0.5 * (t + xi) + np.log1p(e))
        omega = (0.5 * weight) * (1.0 - e) / ((1.0 + e) * xi)
        found[3] += omega
        omega *= t
        found[1] += omega
        found[2] += point * omega
    found[1] += 0.5
    found[2] /= sd
    return found


def _listed(block, *shared):
    return through(listed_bound, block, *shared)
