"""The data as variational inference sees them: expected log likelihoods of all periods.

Negative counts that are products (`RankOne`) stay products: their logits are made a block of rows
at a time, by matrix products in single precision.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...sgns.pairs import PairCounts, RankOne
from ..data import PeriodPairs
from . import kernels

# Rows of logits at a time, and blocks of work over all periods: more than threads, few enough that
# the contexts' sums that each brings along stay small. Neither depends on the number of threads.
_ROWS, _BLOCKS = 256, 16


class ExpectedPairs:
    """Expected log likelihood of the counts of all periods under independent Gaussian vectors.

    Parameters
    ----------
    counts : list of PairCounts
        One for each period, over the same words.

    Attributes
    ----------
    n_periods, n_words : int
    seen : ndarray of shape (2, n_periods, n_words)
        Observations of each target and each context, negative ones among them.
    """

    def __init__(self, counts):
        self.factors = [c.negative if isinstance(c.negative, RankOne) else None for c in counts]
        none = sparse.csr_array(counts[0].positive.shape)
        pairs = PeriodPairs(
            [
                PairCounts(c.positive, c.negative if factor is None else none)
                for c, factor in zip(counts, self.factors, strict=True)
            ],
            # there may be negatives alone, as products
            allow_none=True,
        )
        self.n_words, self.n_periods = pairs.n_words, pairs.n_periods
        self.indptr, self.indices = pairs.indptr, pairs.indices
        self.n = [n.astype(np.float32) for n in pairs.n]
        self.kappa = [kappa.astype(np.float32) for kappa in pairs.kappa]
        self.seen = np.stack([self._seen(pairs, side) for side in (0, 1)])
        self._blocks = self._cut()

    def evaluate(self, mean, variance, run):
        """Expected log likelihood, its gradient and curvature.

        Parameters
        ----------
        mean, variance : ndarray of float32 of shape (2, n_periods, n_words, n_components)
            Of targets and of contexts.
        run : callable
            Maps a function over blocks of work.

        Returns
        -------
        value : float
        gradient : ndarray like ``mean``
            By the means.
        curvature : ndarray like ``mean``
            Minus twice the gradient by the variances.
        """
        gradient, curvature = np.zeros_like(mean), np.zeros_like(mean)
        results = [[0.0, None] for _ in self._blocks]
        tasks = [
            (self, block, mean, variance, gradient, curvature, result)
            for block, result in zip(self._blocks, results, strict=True)
        ]
        run(_evaluate_block, tasks)
        for (t, *_), (_, part) in zip(self._blocks, results, strict=True):
            if part is not None:
                columns, first, second = part
                gradient[1, t, columns] += first
                curvature[1, t, columns] += second
        return float(sum(value for value, _ in results)), gradient, curvature

    def _seen(self, pairs, side):
        total = np.concatenate([[0.0], np.cumsum(pairs.n[side])])
        rows = np.diff(total[pairs.indptr[side]]).reshape(self.n_words, self.n_periods).T.copy()
        for t, factor in enumerate(self.factors):
            if factor is not None:
                factor = factor if side == 0 else factor.T
                rows[t] += factor.left * factor.right.sum()
        return rows

    def _cut(self):
        """Blocks (period, first word, end), the dearest first so that threads end together."""
        times = np.flatnonzero(self.seen[0].sum(axis=1) > 0)
        pieces = min(-(-_BLOCKS // times.size), -(-self.n_words // _ROWS))
        ends = np.linspace(0, self.n_words, pieces + 1).astype(int)
        work = (self.seen[0] > 0).sum(axis=1)
        return [
            (int(t), int(a), int(b))
            for t in times[np.argsort(-work[times], kind="stable")]
            for a, b in zip(ends[:-1], ends[1:], strict=True)
        ]


def _evaluate_block(data, block, mean, variance, gradient, curvature, result):
    t, start, stop = block
    value = 0.0
    factor = data.factors[t]
    if factor is not None:
        value, result[1] = _negatives(factor, block, mean, variance, gradient, curvature)
    for side in (0, 1):
        found = kernels.add_pairs(
            start, stop, t, data.indptr[side], data.indices[side], data.n[side], data.kappa[side],
            mean[side], variance[side], mean[1 - side], variance[1 - side],
            gradient[side], curvature[side],
        )  # fmt: skip
        value += found if side == 0 else 0.0
    result[0] = value


def _negatives(factor, block, mean, variance, gradient, curvature):
    """Terms of expected negatives: those of the block's targets are added, the contexts' returned.

    The variance of a logit is ``[m_x^2, v_x] . [v_y, m_y^2 + v_y]``.
    """
    t, start, stop = block
    k = mean.shape[-1]
    rows = start + np.flatnonzero(factor.left[start:stop])
    columns = np.flatnonzero(factor.right)
    right = factor.right[columns].astype(np.float32)
    y, vy = mean[1, t, columns], variance[1, t, columns]
    both = np.hstack([vy, y * y + vy])
    first, second = np.zeros_like(y), np.zeros_like(both)
    value = 0.0
    for i in range(0, rows.size, _ROWS):
        w = rows[i : i + _ROWS]
        x, vx = mean[0, t, w], variance[0, t, w]
        m, v = x @ y.T, np.hstack([x * x, vx]) @ both.T
        value += kernels.expected_block(m, v, factor.left[w].astype(np.float32), right)
        sums = v @ both
        gradient[0, t, w] += m @ y - sums[:, :k] * x
        curvature[0, t, w] += sums[:, k:]
        first += m.T @ x
        second += v.T @ np.hstack([vx, x * x + vx])
    first -= second[:, :k] * y
    return value, (columns, first, second[:, k:])
