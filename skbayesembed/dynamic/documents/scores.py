"""The influence of units on the gradient at the mode, period by period; what a period rests on."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from ...sgns.documents.scores import mean_influence

# Words whose covariances over periods are worked on at a time.
_WORDS = 256


class PeriodScores:
    """Influences of units on the vectors of all periods.

    A unit without documents in a period has no influence on what is seen there.

    Parameters
    ----------
    parts : list of (int, object, ndarray of int or None)
        A period, the scores of its units (as `sgns.documents.scores` has them), and which of all
        units they are; None where they are all.
    shape : tuple of int
        (n_periods, 2, n_words, n_components).
    n_units : int
    """

    def __init__(self, parts, shape, n_units):
        self.parts, self.shape, self.n_units = parts, shape, n_units

    @cached_property
    def mean(self):
        """Influence of an average unit, (n_periods, 2, n_words, n_components)."""
        return mean_influence(self, self.n_units)

    def weighted(self, weights, dtype=np.float64):
        """Influences of weighted sums of units.

        Parameters
        ----------
        weights : ndarray of shape (m, n_units)
        dtype : dtype, default=float64

        Returns
        -------
        ndarray of shape (m, n_periods, 2, n_words, n_components)
        """
        out = np.zeros((len(weights), *self.shape), dtype)
        for period, scores, present in self.parts:
            mine = weights if present is None else weights[:, present]
            out[:, period] = scores.weighted(mine, dtype)
        return out

    @cached_property
    def rows(self):
        """Positive pairs of each target in each unit: csr (n_units, n_words) of each period."""
        found = [sparse.csr_array((self.n_units, self.shape[2]))] * self.shape[0]
        for period, scores, present in self.parts:
            rows = scores.unit_rows
            if present is not None:
                places = present, np.arange(present.size)
                spread = sparse.csr_array(
                    (np.ones(present.size), places), shape=(self.n_units, present.size)
                )
                rows = sparse.csr_array(spread @ rows)
            found[period] = rows
        return found

    @property
    def unit_rows(self):
        """Those of all periods together, csr (n_units, n_words)."""
        return sum(self.rows[1:], self.rows[0])


def resting_units(rows, precision, information):
    """Effective number of units that a word's vector rests on in each period.

    By the prior a period also learns from its neighbors: of n_dw pairs of word w in unit d, as
    many as the covariance of the word's vectors in both periods is to that of its own. With the sum
    a_d of a unit over periods the effective number is ``(sum_d a_d)^2 / sum_d a_d^2``: that of the
    period's own units where vectors may move freely, of all units where they may not move.

    Parameters
    ----------
    rows : list of csr_array of shape (n_units, n_words)
        Positive pairs of each target in each unit, of each period.
    precision : ndarray of shape (n_periods, n_periods)
        Of an entry's trajectory under the prior.
    information : ndarray of shape (n_periods, n_words)
        What the data say of an entry of a target.

    Returns
    -------
    ndarray of shape (n_periods, n_words)
        Zero for a word without pairs.
    """
    n_periods, n_words = information.shape
    own = np.array([np.asarray(r.sum(axis=0)).ravel() for r in rows])
    shared = list(_shared_squares(rows))
    out = np.zeros((n_periods, n_words))
    for start in range(0, n_words, _WORDS):
        words = slice(start, start + _WORDS)
        seen = np.einsum("tw,ts->wts", information[:, words], np.eye(n_periods))
        reach = np.linalg.inv(precision + seen)
        total = np.einsum("wts,sw->tw", reach, own[:, words])
        squares = np.zeros_like(total)
        for s, r, products in shared:
            factor = 1.0 if s == r else 2.0
            squares += factor * (reach[:, :, s] * reach[:, :, r]).T * products[words]
        found = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
        out[:, words] = found
    return out


def _shared_squares(rows):
    """Sums over units of ``n_dsw n_drw`` for periods s <= r with units in common."""
    active = sparse.csr_array(np.array([np.diff(r.indptr) > 0 for r in rows], dtype=float))
    common = sparse.triu(active @ active.T, format="coo")
    for s, r in zip(common.row, common.col, strict=True):
        yield s, r, np.asarray(rows[s].multiply(rows[r]).sum(axis=0)).ravel()
