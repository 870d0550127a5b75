"""Slopes of `regress`, averaged over how residuals may be autocorrelated in time."""

from __future__ import annotations

import numpy as np

from ..numeric.autocorrelation import COUNTS, Autocorrelation, in_time_order
from ..numeric.noisy_regression import NoisyLeastSquares
from ..numeric.regression import has_rest

# Share of a combination of features that must not be error, for its slope to be corrected.
LEAST_RELIABLE = 0.3


class SlopesInTime:
    """Slopes on mean features and covariates, and the parts of their covariance.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n, k)
    known : ndarray of shape (n, p)
        Covariates.
    y : ndarray of shape (n,)
    index : ndarray of int of shape (n,)
        Unit of each row.
    classical : bool
        Whether slopes are corrected.
    when : ndarray of shape (n,) or None
        Times; None where units are independent.

    Attributes
    ----------
    plain : NoisyLeastSquares
        As if units were independent.
    slopes, freedom : ndarray of shape (k + p,)
    by_units, by_features : ndarray of shape (k + p, k + p)
    reliabilities : pair of ndarray of shape (k,)
    wrong_share : float
        Share of error in the combination of features that has most.
    wrong_feature : int
        The feature it is most of.
    """

    def __init__(self, draws, known, y, index, classical, when):
        self.plain = NoisyLeastSquares(draws, known, y, index, classical)
        self._found, self._of_time = None, when is not None
        self._n_terms = self.plain.matrix.shape[1]
        if when is not None and has_rest(self.plain.least.basis, y):
            parts, weights = self._whitened(draws, known, y, index, classical, when)
        else:
            parts, weights = [self._part(self.plain)], np.ones(1)
        shares = np.array([part[-2] for part in parts])
        self.wrong_share = float(weights @ shares)
        self.wrong_feature = parts[int(np.argmax(weights))][-1]
        if classical and np.any(shares <= 1.0 - LEAST_RELIABLE):
            # where next to nothing but error is left, corrected slopes are arbitrary
            weights = np.where(shares <= 1.0 - LEAST_RELIABLE, weights, 0.0)
            weights /= weights.sum()
        self._average(parts, weights)

    def _whitened(self, draws, known, y, index, classical, when):
        """Parts of fits on rows that are independent by each view of correlations, and weights."""
        order, when = in_time_order(index, when)
        n, (n_draws, _, k) = len(y), draws.shape
        index = index[order]
        columns = draws[:, order].transpose(1, 0, 2).reshape(n, -1)
        known, y = known[order], y[order]
        self._found = found = Autocorrelation(self.plain.matrix[order], y, index, when)
        parts, weights = [], []
        columns = found.rotate(columns)
        others = found.rotate(np.column_stack([known, found.line, y]))
        for i, backward, weight in found.views():
            white = found.whiten(i, backward, columns).reshape(n, n_draws, k).transpose(1, 0, 2)
            beside = found.whiten(i, backward, others)
            terms = beside[:, : known.shape[1] + found.lines[i]]
            fit = NoisyLeastSquares(white, terms, beside[:, -1], index, classical)
            parts.append(self._part(fit))
            weights.append(weight)
        return parts, np.array(weights)

    def _part(self, fit):
        """What is averaged of a fit, without the line: nothing of the size of the draws is kept."""
        here = slice(0, self._n_terms)
        return (
            fit.slopes[here], fit.by_units()[here, here], fit.by_features()[here, here],
            fit.least.freedom[here], np.array(fit.reliabilities), *fit.most_wrong(),
        )  # fmt: skip

    def _average(self, parts, weights):
        """Means by weight; what slopes differ in goes to the covariance by units, twice."""
        slopes, units, self.by_features, self.freedom, reliabilities = (
            np.tensordot(weights, np.array([part[i] for part in parts]), 1) for i in range(5)
        )
        apart = np.array([part[0] for part in parts]) - slopes
        self.slopes, self.by_units = slopes, units + COUNTS * (apart.T * weights) @ apart
        self.reliabilities = tuple(reliabilities)

    def in_time(self, prob):
        """What was found of time, by the names of a `Regression`; nothing without times."""
        if not self._of_time:
            return {}
        if self._found is None:
            return {"autocorrelation": np.nan}
        interval = self._found.neighbors(prob)[1]
        return {**self._found.facts(), "autocorrelation_interval": interval}
