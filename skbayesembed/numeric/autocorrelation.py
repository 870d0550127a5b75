"""Residuals of a regression that may be autocorrelated in time: which correlations are probable."""

from __future__ import annotations

import numpy as np

from .filter_kernels import correlated, whiten
from .neighbors import Neighbors
from .regression import ClusteredLeastSquares

# Shares of the variance of the slow part; and those that only one in time may have: at the longest
# of lengths the rest is still smaller than a step of the process, as in a random walk.
_SLOW = (0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
_NEXT_TO_ALL = (0.995, 0.9995)
# Correlation lengths: from half a step to a random walk, and how far their logarithms are apart.
_SHORTEST, _LONGEST, _APART = 0.5, 25.0, 0.85
# Prior probability of independent units, and the power of the length that the others' goes by. Long
# memory that no data rule out adds much to the uncertainty of a trend, though little to others'
# (`benchmarks/regression.py time`).
_INDEPENDENT, _BY_LENGTH = 0.5, -0.5
# Share of the probability below which correlations are left out.
_LEAST = 0.01
# Standard deviations, below which one in a hundred independent series is.
_ALTERNATES = -2.33
# How often the variance of coefficients between correlations counts. Once would do if the prior
# were right on average. Of random walks it leaves intervals too narrow, as what covariates leave of
# them looks independent by chance (`benchmarks/regression.py time`).
COUNTS = 2.0
# What is below this share of something is rounding.
_SAME = 1e-9
# Share of the length of the line that others must leave, for it to be one more column.
_OWN = 0.1


class Autocorrelation:
    """Posterior of the correlations of residuals of a regression over time.

    Parameters
    ----------
    matrix : ndarray of shape (n, p)
        Columns that the outcome is regressed on, with a constant. Rows of a unit follow each other,
        and units are in the order of time.
    y : ndarray of shape (n,) or (n, K)
        An outcome, or several, each with correlations of its own.
    index : ndarray of int of shape (n,)
        Unit of each row.
    times : ndarray of shape (n,)
        Time of the unit of each row; two different ones at least.

    Attributes
    ----------
    weights : ndarray of shape (n_kept,) or (n_kept, K)
        Posterior probabilities of the correlations kept, of any outcome.
    lines : ndarray of bool of shape (n_kept,)
        Whether a straight line in time is among the columns.
    line : ndarray of shape (n,)
        The line, of mean zero and variance one.
    trend : float or ndarray of shape (K,)
        Posterior probability of the line; NaN where it is among the columns, all but a tenth of its
        length, or there are no units for it.
    positive : float or ndarray of shape (K,)
        Posterior probability that units are not independent; NaN where the columns leave no
        residuals of units.

    Raises
    ------
    ValueError
        If there are fewer than two units more than columns that differ between units.

    Notes
    -----
    The mean residual of a unit is the sum of a stationary Gaussian process in time with covariance
    ``exp(-|t - s| / length)`` and an error of its own, the smaller the more rows it has. Lengths
    lie between half a median step and 25 times the span of the times, shares of the process between
    0 and .9995, so that random walks are among them. The prior probability that there is no such
    process is one half, that of a length, on a logarithmic grid, goes by its inverse square root;
    shares have the same probability, and so have a straight line in time and none. Where sizes of
    units differ, those without a process may have effects of units, in shares up to .98. The
    coefficients and the scale are integrated out with flat priors (the restricted likelihood of the
    mean residuals, Harville 1974), that of the line with the weight of a unit information prior
    (Kass & Wasserman 1995).
    What has less than a hundredth of the probability of the most probable is left out.

    What rows of a unit have apart from their mean is left as it is, in the proportion to means that
    it has in least squares: it may have a structure that no model here knows, and is not to decide
    on its own.

    References
    ----------
    Harville (1974). Bayesian inference for variance components using only error contrasts.
    Biometrika 61(2).
    Kass & Wasserman (1995). A reference Bayesian test for nested hypotheses and its relationship to
    the Schwarz criterion. JASA 90.
    """

    def __init__(self, matrix, y, index, times):
        self._starts = np.flatnonzero(np.r_[True, index[1:] != index[:-1]])
        self._sizes = np.diff(np.r_[self._starts, len(y)])
        when = times[self._starts]
        if when[-1] == when[0]:
            raise ValueError(
                "times must differ between units, got the same mean time for all of them: leave "
                "them out, and units are treated as independent."
            )
        self._gaps = np.diff(when, prepend=when[0])
        self._next = Neighbors(self._gaps)
        # variances of means of independent rows, one on average
        self._own = (1.0 / self._sizes) / np.mean(1.0 / self._sizes)
        self.line = (times - when.mean()) / when.std()
        basis, line = self._basis(matrix), self.line[self._starts]
        if self._sizes.size < basis.shape[1] + 2:
            raise ValueError(
                f"times= needs two units more than there are terms and a constant, got "
                f"{self._sizes.size} units for {basis.shape[1]}: leave times out."
            )
        means = self._means(y.reshape(len(y), -1))
        left = np.linalg.norm(_beside(basis, means), axis=0)
        rest = left > _SAME * np.linalg.norm(y.reshape(len(y), -1), axis=0)
        kinds = (0, 1) if _adds(basis, line) else (0,)
        models = [(*model, kind) for model in self._models() for kind in kinds]
        p = np.zeros((len(models), rest.size))
        # where nothing is left that could be autocorrelated
        p[0, ~rest] = 1.0
        if rest.any():
            columns = np.column_stack([basis, line])
            p[:, rest] = self._posterior(models, columns, means[:, rest])
        kept = np.flatnonzero(p.max(axis=1) > 0)
        shape = (kept.size, *y.shape[1:])
        self._columns, self._outcomes = np.column_stack([basis, line]), means
        # by QR, which drops no column that is small beside the others
        rows = _beside(np.linalg.qr(matrix)[0], y.reshape(len(y), -1))
        self._left = self._means(rows)
        self._kept = [models[i] for i in kept]
        self.weights = p[kept].reshape(shape)
        self.lines = np.array([bool(models[i][-1]) for i in kept])
        alone = np.array([models[i][0] == 0 for i in kept])
        self._rest = rest.reshape(y.shape[1:])
        positive = np.minimum((~alone) @ self.weights, 1.0)
        self.positive = np.where(self._rest, positive, np.nan)[()]
        self.trend = np.where(self._rest & (len(kinds) > 1), self.lines @ self.weights, np.nan)[()]

    def _posterior(self, models, columns, means):
        """Probabilities of models (n_models, K), of which those that hardly count are zero."""
        log_p = np.array([self._log_density(columns, means, *model) for model in models])
        log_p += _log_prior(np.array([model[0] for model in models]))[:, None]
        p = np.exp(log_p - log_p.max(axis=0))
        p[p < _LEAST] = 0.0
        return p / p.sum(axis=0)

    def _means(self, columns):
        """Means of units."""
        return np.add.reduceat(columns, self._starts) / self._sizes[:, None]

    def _basis(self, matrix):
        """Orthonormal basis of the means of columns; not of those that differ within units only."""
        means, rows = self._means(matrix), np.sqrt(len(matrix))
        length = np.linalg.norm(means, axis=0)
        # against columns as they are: means of one that is centered by unit are rounding
        kept = length / np.sqrt(len(means)) > _SAME * np.linalg.norm(matrix, axis=0) / rows
        u, values, _ = np.linalg.svd(means[:, kept] / length[kept], full_matrices=False)
        return u[:, values > _SAME * values[0]]

    def _models(self):
        """Lengths and shares, all combinations; length zero is that of independent units."""
        yield 0.0, 0.0
        if np.ptp(self._sizes) > 0:
            # documents of a unit that are alike: means of many are not so much better known
            yield from ((0.0, slow) for slow in _SLOW)
        steps = self._gaps[self._gaps > 0]
        ends = _SHORTEST * np.median(steps), _LONGEST * steps.sum()
        for length in np.geomspace(*ends, 1 + int(np.ceil(np.log(ends[1] / ends[0]) / _APART))):
            yield from ((length, slow) for slow in (*_SLOW, *_NEXT_TO_ALL))

    def _log_density(self, columns, means, length, slow, line):
        """Log posterior densities (K,) but for a constant; the last of the columns is the line."""
        p = columns.shape[1]
        white, log_det = whiten(
            np.column_stack([columns, means]), self._steps(length), slow, (1.0 - slow) * self._own
        )
        q, r = np.linalg.qr(white[:, : p - 1 + line])
        left = _beside(q, white[:, p:])
        log_curvature = 2.0 * np.sum(np.log(np.abs(np.diag(r))))
        freedom = len(means) - p + 1
        return -0.5 * (log_det + log_curvature + freedom * np.log(np.sum(left**2, axis=0)))

    def _steps(self, length):
        """Correlations of the slow part with that of the unit before."""
        return np.exp(-self._gaps / length) if length > 0 else np.zeros(self._gaps.size)

    def rotate(self, columns):
        """Columns (n, c) with the mean of a unit, times the root of its size, for its first row.

        The others are contrasts: the map is orthogonal (a Householder reflection of each unit).
        """
        root = np.sqrt(self._sizes)[:, None]
        first = np.add.reduceat(columns, self._starts) / root
        shift = (columns[self._starts] - first) / np.where(root > 1.0, root - 1.0, 1.0)
        out = columns + np.repeat(shift, self._sizes, axis=0)
        out[self._starts] = first
        return out

    def views(self):
        """Correlations kept, each in both directions of time, with their weights.

        Yields the number of one, whether it is seen backward, and its weight, of shape () or (K,).
        What a unit adds hangs on the root of the covariance that whitens it, and so on the
        direction of the filter: both have one half.
        """
        for i, (length, _, _) in enumerate(self._kept):
            directions = (False, True) if length > 0 else (False,)
            for backward in directions:
                yield i, backward, self.weights[i] / len(directions)

    def whiten(self, i, backward, rotated):
        """Rotated columns, independent by the ``i``-th of the correlations kept."""
        means = rotated[self._starts] / np.sqrt(self._sizes)[:, None]
        out = rotated.copy()
        # where units are independent, as it was
        white = self._white(self._kept[i], backward, means)
        out[self._starts] = white / np.sqrt(np.mean(1.0 / self._sizes))
        return out

    def _white(self, model, backward, means):
        """Means of units, independent by the correlations of a model."""
        length, slow, _ = model
        steps, own = self._steps(length), (1.0 - slow) * self._own
        if not backward:
            return whiten(means, steps, slow, own)[0]
        steps = np.r_[1.0, steps[:0:-1]]
        return whiten(means[::-1].copy(), steps, slow, own[::-1].copy())[0][::-1]

    def neighbors(self, prob):
        """How much more units correlate with the next than independent ones, about mean and line.

        It is what the correlations lead to expect of the mean residuals of these units, ``sum e_i
        e_(i+1) / sum e_i^2``, less the same of independent units, which is negative: what is so
        slow that it hardly moves in the time they span does not count.

        Returns
        -------
        mean : float or ndarray of shape (K,)
        interval : ndarray of shape (2,) or (K, 2)
            Quantiles of the posterior with this probability between them. All are NaN where the
            columns leave no residuals of units.
        """
        found = np.array([self._more(*model) for model in self._kept])
        order = np.argsort(found, kind="stable")
        at = np.cumsum(self.weights[order].reshape(found.size, -1), axis=0)
        tails = 0.5 - 0.5 * prob, 0.5 + 0.5 * prob
        ends = np.array([[np.searchsorted(of, q) for q in tails] for of in at.T])
        interval = found[order][np.minimum(ends, found.size - 1)].reshape(*self._rest.shape, 2)
        mean = np.where(self._rest, found @ self.weights, np.nan)[()]
        return mean, np.where(self._rest[..., None], interval, np.nan)

    def seen(self):
        """Correlation of mean residuals of units, of least squares, with those of the next.

        Returns
        -------
        float or ndarray of shape (K,)
            NaN where the columns leave no residuals of units.
        """
        seen = self._next.correlation(self._left - self._left.mean(axis=0))
        return np.where(self._rest, seen.reshape(self._rest.shape), np.nan)[()]

    def alternation(self):
        """How much less alike white residuals of neighboring units are than independent ones.

        Returns
        -------
        float or ndarray of shape (K,)
            Their correlation less its mean, in standard deviations, averaged over the correlations
            kept: about standard normal where these are right, negative where neighbors differ, zero
            where times are so few that it is the same for all residuals. NaN where there are none.
        """
        found, p = np.zeros(self._outcomes.shape[1]), self._columns.shape[1]
        both = np.column_stack([self._columns, self._outcomes])
        for i, backward, weight in self.views():
            white = self._white(self._kept[i], backward, both)
            q = np.linalg.qr(white[:, : p - 1 + self.lines[i]])[0]
            mean, sd = self._next.moments(q)
            if sd > 0:
                found += weight * (self._next.correlation(_beside(q, white[:, p:])) - mean) / sd
        return np.where(self._rest, found.reshape(self._rest.shape), np.nan)[()]

    def facts(self):
        """What tables tell of one outcome, by the names of their attributes."""
        return {
            "autocorrelation": float(self.neighbors(0.9)[0]),
            "autocorrelated": float(self.positive),
            "residual_correlation": float(self.seen()),
            "trend": float(self.trend),
            "alternating": bool(alternates(self.alternation())),
        }

    def _more(self, length, slow, line):
        """Expected correlation of neighbors, less that of independent units; not below it."""
        if length == 0:
            return 0.0
        return max(self._neighbor(length, slow, line) - self._neighbor(0.0, 0.0, line), 0.0)

    def _neighbor(self, length, slow, line):
        steps, own = self._steps(length), (1.0 - slow) * self._own
        away = np.column_stack([np.ones(own.size), self.line[self._starts]][: 1 + line])
        basis = np.linalg.qr(away)[0]
        # what is left of the covariance of the units' means beside the constant and the line
        beside = slow * correlated(basis, steps) + own[:, None] * basis
        inner = basis.T @ beside
        variance = np.sum(slow + own) - np.trace(inner)
        along = self._next.products(basis)
        common = slow * steps[1:].sum() - 2.0 * np.sum(along * beside)
        return (common + np.sum((basis.T @ along) * inner)) / variance


def alternates(deviations):
    """Whether `Autocorrelation.alternation` is clearly negative."""
    return deviations < _ALTERNATES


def _log_prior(lengths):
    """Log prior probabilities of correlations with these lengths, zero where there is none."""
    weights = np.where(lengths > 0, np.where(lengths > 0, lengths, 1.0) ** _BY_LENGTH, 1.0)
    share = np.where(lengths > 0, 1.0 - _INDEPENDENT, _INDEPENDENT)
    total = np.where(lengths > 0, weights[lengths > 0].sum(), weights[lengths == 0].sum())
    return np.log(share * weights / total)


def in_time_order(index: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order in which rows of a unit follow each other and units do in time, and times in it.

    Parameters
    ----------
    index : ndarray of int of shape (n,)
        Unit of each row.
    times : ndarray of shape (n,)

    Returns
    -------
    order : ndarray of int of shape (n,)
    of_units : ndarray of shape (n,)
        Mean time of the unit of each row, in this order, less that of the first. Those that differ
        by rounding are the same.
    """
    means = np.bincount(index, times - times.min()) / np.bincount(index)
    by_time = np.argsort(means, kind="stable")
    gaps = np.diff(means[by_time], prepend=means[by_time[0]])
    gaps[gaps <= _SAME * np.ptp(means)] = 0.0
    means[by_time] = np.cumsum(gaps)
    order = np.lexsort((index, means[index]))
    return order, means[index][order]


class LeastSquaresInTime:
    """`ClusteredLeastSquares` averaged over the probable correlations of residuals in time.

    Variances are the mean of those by each of the correlations, and twice the variance of the
    coefficients between correlations.

    Parameters
    ----------
    matrix : ndarray of shape (n, p)
        With a constant.
    y : ndarray of shape (n,) or (n, K)
        Outcome by which correlations are judged, or several, each by itself.
    index : ndarray of int of shape (n,)
        Unit of each row.
    times : ndarray of shape (n,)

    Attributes
    ----------
    found : Autocorrelation
    freedom : ndarray of shape (p,) or (p, K)
        Satterthwaite's degrees of freedom, averaged.
    """

    def __init__(self, matrix, y, index, times):
        self._order, when = in_time_order(index, times)
        self._n_terms, index = matrix.shape[1], index[self._order]
        matrix = matrix[self._order]
        self.found = found = Autocorrelation(matrix, y[self._order], index, when)
        columns = found.rotate(np.column_stack([matrix, found.line]))
        self._fits = []
        for i, backward, weight in found.views():
            white = found.whiten(i, backward, columns)[:, : self._n_terms + found.lines[i]]
            self._fits.append((i, backward, weight, ClusteredLeastSquares(white, index)))
        here = slice(0, self._n_terms)
        self.freedom = sum(
            np.multiply.outer(fit.freedom[here], weight) for *_, weight, fit in self._fits
        )

    def fit(self, outcomes):
        """Coefficients of outcomes, their variances, and what each unit adds to them.

        Parameters
        ----------
        outcomes : ndarray of shape (n, K)
            Those that the correlations were judged by, or, where that was one, any.

        Returns
        -------
        coefficients, variances : ndarray of shape (p, K)
        influence : ndarray of shape (n_units, p, K)
            Averaged, and scaled so that its squares add up to the variances.
        """
        outcomes = self.found.rotate(outcomes[self._order])
        apart, weights, influence, within = [], [], 0.0, 0.0
        for i, backward, weight, fit in self._fits:
            b, u = fit.fit(self.found.whiten(i, backward, outcomes))
            b, u = b[: self._n_terms], u[:, : self._n_terms]
            apart.append(b)
            weights.append(weight)
            influence = influence + weight * u
            within = within + weight * np.sum(u**2, axis=0)
        apart, weights = np.array(apart), np.array(weights).reshape(len(weights), 1, -1)
        mean = np.sum(weights * apart, axis=0)
        variance = within + COUNTS * np.sum(weights * (apart - mean) ** 2, axis=0)
        length = np.sum(influence**2, axis=0)
        scale = np.divide(variance, length, out=np.ones_like(length), where=length > 0)
        return mean, variance, influence * np.sqrt(scale)


def _beside(basis, columns):
    """What a basis leaves of columns."""
    return columns - basis @ (basis.T @ columns)


def _adds(basis, column):
    """Whether a column is no linear combination of others, and rows are left for it."""
    left = _beside(basis, column)
    enough = len(column) > basis.shape[1] + 2
    return enough and bool(np.linalg.norm(left) > _OWN * np.linalg.norm(column))
