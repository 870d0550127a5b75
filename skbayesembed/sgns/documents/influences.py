r"""How units pull along directions that are given: one answer's part of all influences.

The influence of a unit d on the gradient is s_d (`scores`). Along a direction z of all vectors it
is the number

    s_d . z = sum_wv [n_dwv (1 - sigma_wv) - negative d(r_w P'_v) sigma_wv] c_wv,
    c_wv = z(rho)_w . alpha_v + rho_w . z(alpha)_v,

of all units from one pass through the documents and one through all pairs of words: the negative
part is ``sum_w r_dw A_w + sum_v dP'_dv C_v`` with ``A_w = sum_v P'_v sigma_wv c_wv`` and
``C_v = sum_w r_w sigma_wv c_wv``.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...inference.threads import serial
from ..counting import noise_distribution
from ..data import ProductPairs, cut_rows
from ..pairs import PairCounts, RankOne
from ..residuals import Residuals
from .kernels import pulls_of_places

# Runs of places of a block of documents that threads share.
_RUNS = 8


class Influences:
    """Influences of units along directions, whose negative pairs are the expected ones.

    Parameters
    ----------
    pairs : iterable of Block
        Pairs of all documents; gone through now, and again for every question.
    units : Units
    n_words : int
    negative, ns_exponent : float
        As the model was fitted with.

    Attributes
    ----------
    unit_rows : csr_array of shape (n_units, n_words)
        Positive pairs of each target in each unit.
    """

    def __init__(self, pairs, units, n_words, *, negative, ns_exponent):
        self._pairs, self._units, self._shape = pairs, units, (units.n_units, n_words)
        self._negative, self._exponent = negative, ns_exponent
        self.unit_rows, self._unit_columns = self._tables()
        self._rows, self._columns = (
            np.asarray(table.sum(axis=0)).ravel() for table in (self.unit_rows, self._unit_columns)
        )
        self._noise = noise_distribution(self._columns, ns_exponent)

    def _tables(self):
        """Pairs of each target, and of each context, in each unit, both csr (n_units, n_words)."""
        units, words, counts = [], [], ([], [])
        for block in self._pairs:
            units.append(self._units.index[block.document].astype(np.int32))
            words.append(block.word.astype(np.int32))
            for side in (0, 1):
                counts[side].append(np.asarray(block.positive.sum(axis=1 - side)).ravel())
        places = np.concatenate(units), np.concatenate(words)
        tables = []
        for side in (0, 1):
            values = np.concatenate(counts[side])
            seen = values != 0
            entries = values[seen], tuple(p[seen] for p in places)
            tables.append(sparse.csr_array(sparse.coo_array(entries, shape=self._shape)))
        return tables

    def along(self, vectors, directions, run=serial):
        """``s_d . z`` of each unit and direction, (n_units, m).

        Parameters
        ----------
        vectors : ndarray of shape (2, n_words, n_components)
            The mode, ``rho`` and ``alpha``.
        directions : ndarray of shape (m, 2, n_words, n_components)
        run : callable, default=serial
            Maps a function over a list of argument tuples, possibly in threads.
        """
        x, y = vectors.astype(np.float32)
        zx, zy = (
            np.ascontiguousarray(np.moveaxis(directions[:, side], 0, 1), dtype=np.float32)
            for side in (0, 1)
        )
        out = self._positives(x, y, zx, zy, run)
        out -= self._negative * self._negatives(x, y, zx, zy, run)
        return out

    def _positives(self, x, y, zx, zy, run):
        out = np.zeros((self._shape[0], zx.shape[1]))
        for block in self._pairs:
            table, word = block.positive, block.word
            indptr, indices = table.indptr, table.indices
            pulled = np.empty((word.size, zx.shape[1]))
            given = indptr, indices, table.data.astype(np.float64, copy=False), word
            cuts = cut_rows(np.diff(indptr) + 1.0, _RUNS) if word.size else []
            run(pulls_of_places, [(*cut, *given, x, y, zx, zy, pulled) for cut in cuts])
            unit = self._units.index[block.document]
            for i, column in enumerate(pulled.T):
                out[:, i] += np.bincount(unit, column, minlength=len(out))
        return out

    def _negatives(self, x, y, zx, zy, run):
        n_words, m, k = zx.shape
        noise, rows = (a.astype(np.float32)[:, None] for a in (self._noise, self._rows))
        # probabilities of all pairs, up to their sign
        ones = np.ones(n_words)
        none = sparse.csr_array((n_words, n_words))
        sigmas = Residuals(ProductPairs(PairCounts(none, RankOne(ones, ones))), run)
        pushed = sigmas.both(
            x,
            y,
            np.hstack([noise * y, noise * zy.reshape(n_words, -1)]),
            np.hstack([rows * x, rows * zx.reshape(n_words, -1)]),
        )
        # both are minus the sums over the other side
        ahead, moved = zip(*(np.split(-p, [k], axis=1) for p in pushed), strict=True)
        sums = [
            np.einsum("wmk,wk->wm", z, a, dtype=np.float64)
            + np.einsum("wk,wmk->wm", v, b.reshape(n_words, m, k), dtype=np.float64)
            for z, a, v, b in zip((zx, zy), ahead, (x, y), moved, strict=True)
        ]
        share = np.divide(
            self._noise, self._columns, out=np.zeros(n_words), where=self._columns > 0
        )
        of_noise = self._unit_columns @ (share[:, None] * sums[1])
        of_noise -= np.outer(self._unit_columns @ share, self._noise @ sums[1])
        return self.unit_rows @ sums[0] + self._exponent * of_noise
