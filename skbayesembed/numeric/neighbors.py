"""Correlations of numbers with the next in time."""

from __future__ import annotations

import numpy as np

# Share below which a difference is one of rounding.
_SAME = 1e-10


class Neighbors:
    """Correlations of each of some numbers with the next in time.

    Those at one time have no order: correlations are means over all that they may have.

    Parameters
    ----------
    gaps : ndarray of shape (n,)
        Time since the one before; that of the first does not matter.
    """

    def __init__(self, gaps):
        first = gaps > 0
        first[0] = True
        self._starts = np.flatnonzero(first)
        self._times = np.cumsum(first) - 1
        self._sizes = np.diff(np.r_[self._starts, gaps.size])

    def products(self, columns):
        """A columns (n, c), where ``e'Ae`` is the sum of products of each with the next."""
        of_time = self._sizes[self._times][:, None]
        means = np.add.reduceat(columns, self._starts) / self._sizes[:, None]
        beside = np.pad(means, ((1, 1), (0, 0)))
        beside = 0.5 * (beside[:-2] + beside[2:])
        return means[self._times] + (beside[self._times] - columns) / of_time

    def correlation(self, left):
        """``e'Ae / e'e`` of residuals e (n, K) with mean zero, (K,)."""
        square = np.sum(left**2, axis=0)
        common = np.sum(left * self.products(left), axis=0)
        return np.divide(common, square, out=np.zeros_like(square), where=square > 0)

    def moments(self, basis):
        """Mean and standard deviation of `correlation` of independent rows beside a basis.

        The basis (n, p) is orthonormal; ``e'Ae / e'e`` is independent of ``e'e``. The deviation is
        zero where it is the same for all rows, as for two times with as many rows beside a line.
        """
        n, p = basis.shape
        along = self.products(basis)
        inner = basis.T @ along
        trace = -np.trace(inner)
        own = np.sum(1.0 - 1.0 / self._sizes) + 0.5 * np.sum(
            1.0 / (self._sizes[1:] * self._sizes[:-1])
        )
        square = own - 2.0 * np.sum(along**2) + np.sum(inner**2)
        mean = trace / (n - p)
        second = (trace**2 + 2.0 * square) / ((n - p) * (n - p + 2))
        variance = second - mean**2
        return mean, np.sqrt(variance) if variance > _SAME * second else 0.0
