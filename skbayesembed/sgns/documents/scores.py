r"""The influence of units on the gradient of the log likelihood at the mode.

With a weight on each unit d, positive pairs are ``n = sum_d weight_d n_d``, and the expected
negative ones ``negative * r_w P'_v``, with the row sums r of n and the noise distribution P',
proportional to the context totals c to the power a (`counting.expected_negatives`). Both change
with the weight:

    d(r_w P'_v) = r_dw P'_v + r_w dP'_dv,
    dP'_dv = a P'_v (c_dv / c_v - sum_u P'_u c_du / c_u).

The influence of d is the derivative of the gradient by its weight,

    s_d = sum_wv [n_dwv (1 - sigma_wv) - negative d(r_w P'_v) sigma_wv] grad(rho_w . alpha_v).

It is linear in what d counts, so that sums of units with weights of their own are had as cheaply.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import expit

from ...inference.threads import serial
from .. import data
from ..counting import noise_distribution

# Weighted sums whose negative pairs are worked out in one matrix product.
_TOGETHER = 16
# Rows of probabilities at a time, and pairs.
_ROWS, _PAIRS = 512, 2**18


class ExpectedScores:
    """Influences of units whose negative pairs are the expected ones.

    Parameters
    ----------
    pairs : iterable of Block
        Pairs of all documents; gone through once.
    units : Units
    vectors : ndarray of shape (2, n_words, n_components)
        The mode, ``rho`` and ``alpha``.
    negative, ns_exponent : float
        As the model was fitted with.
    run : callable, default=serial
        Maps a function over a list of argument tuples, possibly in threads.

    Attributes
    ----------
    unit_rows : csr_array of shape (n_units, n_words)
        Positive pairs of each target in each unit.
    """

    def __init__(self, pairs, units, vectors, *, negative, ns_exponent, run=serial):
        self.vectors, self.units, self.run = vectors, units, run
        self.negative, self.exponent = negative, ns_exponent
        self._proba = Probabilities(vectors, run)
        self._read(pairs)
        sums = [np.asarray(table.sum(axis=0)).ravel() for table in self._tables]
        self._rows, self._columns = sums
        self._noise = noise_distribution(self._columns, ns_exponent)

    @property
    def unit_rows(self):
        """Positive pairs of each target in each unit, csr (n_units, n_words)."""
        return self._tables[0]

    def _read(self, pairs):
        """Go through the documents: pairs of words by unit, and what the positive ones pull."""
        n_words = self.vectors.shape[1]
        parts = [([], [], []), ([], [], [])]
        for block in pairs:
            unit = self.units.index[block.document]
            target, context = block.pair_words
            pull = block.positive.copy()
            pull.data *= 1.0 - self._proba.at(target, context)
            for side, (n, p) in enumerate(((block.positive, pull), (block.positive.T, pull.T))):
                keys, places = np.unique(unit * n_words + block.word, return_inverse=True)
                gather = sparse.csr_array((np.ones(places.size), (places, np.arange(places.size))))
                counts = gather @ np.asarray(n.sum(axis=1)).ravel()
                pulled = gather @ (p @ self.vectors[1 - side][block.word])
                for out, part in zip(parts[side], (keys, counts, pulled), strict=True):
                    out.append(part)
        self._pulls, self._tables = [], []
        shape = self.units.n_units, n_words
        for keys, counts, pulled in parts:
            unit, word = np.divmod(np.concatenate(keys), n_words)
            self._tables.append(sparse.csr_array((np.concatenate(counts), (unit, word)), shape))
            order = np.argsort(word, kind="stable")
            starts = np.searchsorted(word[order], np.arange(n_words + 1))
            self._pulls.append((unit[order], starts, np.concatenate(pulled)[order]))

    @cached_property
    def mean(self):
        """Influence of an average unit, (2, n_words, n_components)."""
        return mean_influence(self, self.units.n_units)

    def weighted(self, weights, dtype=np.float64):
        """Influences of weighted sums of units.

        Parameters
        ----------
        weights : ndarray of shape (m, n_units)
        dtype : dtype, default=float64

        Returns
        -------
        ndarray of shape (m, 2, n_words, n_components)
        """
        out = np.empty((len(weights), *self.vectors.shape), dtype)
        rows, columns = ((table.T @ weights.T).T for table in self._tables)
        firsts = range(0, len(weights), _TOGETHER)
        parts = [slice(first, first + _TOGETHER) for first in firsts]
        sums = self._static_sums()
        for p in parts:
            self._negatives(rows[p], columns[p], sums, out[p])
        self.run(self._positives, [(side, weights, out[:, side]) for side in (0, 1)])
        return out

    def _static_sums(self):
        """What negative pairs of one row sum and one noise probability push, (n_words, K) each."""
        rho, alpha = self.vectors
        return (
            self._proba.times(0, self._noise[:, None] * alpha),
            self._proba.times(1, self._rows[:, None] * rho),
        )

    def _negatives(self, rows, columns, sums, out):
        rho, alpha = self.vectors
        change = self._change_of_noise(columns)
        pushed = self._pushed(0, change, alpha, out.dtype)
        out[:, 0] = -self.negative * (rows[:, :, None] * sums[0] + self._rows[:, None] * pushed)
        pushed = self._pushed(1, rows, rho, out.dtype)
        out[:, 1] = -self.negative * (change[:, :, None] * sums[1] + self._noise[:, None] * pushed)

    def _pushed(self, side, factors, vectors, dtype):
        """Probabilities times ``factors_m * vectors`` for each row m of factors (m, n_words)."""
        n_words, k = vectors.shape
        moved = (factors.T[:, :, None] * vectors[:, None]).reshape(n_words, -1)
        moved = self._proba.times(side, moved.astype(dtype, copy=False))
        return moved.reshape(n_words, -1, k).swapaxes(0, 1)

    def _change_of_noise(self, columns):
        """Derivatives of P' along context totals (m, n_words) of weighted sums."""
        seen = self._columns > 0
        share = np.divide(columns, self._columns, out=np.zeros_like(columns), where=seen)
        return self.exponent * self._noise * (share - (share @ self._noise)[:, None])

    def _positives(self, side, weights, out):
        unit, starts, pulls = self._pulls[side]
        for word in range(len(starts) - 1):
            mine = slice(starts[word], starts[word + 1])
            out[:, word] += weights[:, unit[mine]] @ pulls[mine]


class Probabilities:
    """Probabilities of all pairs at some vectors, kept where they are not too many.

    Parameters
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
    run : callable
        Maps a function over blocks of rows.
    """

    def __init__(self, vectors, run):
        self._vectors, self._run = vectors, run
        n_words = vectors.shape[1]
        self._cuts = [slice(a, min(a + _ROWS, n_words)) for a in range(0, n_words, _ROWS)]
        # of both sides, by precision
        self._kept = None
        if n_words <= data.KEPT_UPTO:
            table = expit(vectors[0] @ vectors[1].T)
            self._kept = {table.dtype: (table, table.T)}

    def at(self, targets, contexts):
        """Those of some pairs, (n,)."""
        if self._kept is not None:
            return self._kept[np.dtype(float)][0][targets, contexts]
        out = np.empty(len(targets))
        for first in range(0, len(out), _PAIRS):
            some = slice(first, first + _PAIRS)
            rho, alpha = self._vectors[0][targets[some]], self._vectors[1][contexts[some]]
            out[some] = expit(np.einsum("nk,nk->n", rho, alpha))
        return out

    def times(self, side, y):
        """``P y`` (side 0) or ``P' y`` (side 1) for y of shape (n_words, n), in its precision."""
        out = np.empty_like(y)

        def rows(c):
            np.matmul(self._rows(side, c, y.dtype), y, out=out[c])

        self._run(rows, [(c,) for c in self._cuts])
        return out

    def _rows(self, side, c, dtype):
        if self._kept is None:
            x, other = (self._vectors[s].astype(dtype, copy=False) for s in (side, 1 - side))
            return expit(x[c] @ other.T)
        if dtype not in self._kept:
            table = self._kept[np.dtype(float)][0].astype(dtype)
            self._kept[dtype] = (table, table.T)
        return self._kept[dtype][side][c]


class GivenScores:
    """Influences of units that are `PairCounts`, each with negative pairs of its own.

    Parameters
    ----------
    counts : iterable of PairCounts
        One for each unit, weighted already.
    vectors : ndarray of shape (2, n_words, n_components)
    """

    def __init__(self, counts, vectors):
        rho, alpha = vectors
        proba, pulls, rows = expit(rho @ alpha.T), [], []
        for one in counts:
            positive = one.positive.toarray()
            residual = positive - proba * (positive + one.negative.toarray())
            pulls.append([residual @ alpha, residual.T @ rho])
            rows.append(positive.sum(axis=1))
        self._pulls = np.array(pulls)
        self.unit_rows = sparse.csr_array(np.array(rows))

    @cached_property
    def mean(self):
        """As of `ExpectedScores`."""
        return mean_influence(self, len(self._pulls))

    def weighted(self, weights, dtype=np.float64):
        """As of `ExpectedScores`."""
        return np.tensordot(weights, self._pulls, axes=1).astype(dtype, copy=False)


def mean_influence(scores, n_units):
    """What an average unit has, of any scores, (2, n_words, n_components)."""
    return scores.weighted(np.full((1, n_units), 1.0 / n_units))[0]


def effective_units(unit_rows):
    """Effective number of units that each word was a target in, ndarray of shape (n_words,).

    ``(sum_d n_dw)^2 / sum_d n_dw^2`` for the pairs n_dw of word w in unit d: one where all are in
    a single unit, the number of units where all have the same. Zero for a word without pairs.
    """
    total = np.asarray(unit_rows.sum(axis=0)).ravel()
    squares = np.asarray(unit_rows.power(2).sum(axis=0)).ravel()
    return np.divide(total**2, squares, out=np.zeros(total.size), where=squares > 0)
