"""Pair tables: the counts of a model laid out for the kernels, once by target, once by context.

Side 0 has the targets in its rows, side 1 the contexts.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .counting import RankOne

# Share of word pairs observed above which blocks of the whole table beat lists of pairs.
DENSE_ABOVE = 0.2


def cut_rows(work, n_blocks):
    """Cut rows into at most ``n_blocks`` runs of about equal work: list of (start, stop)."""
    total = np.cumsum(work, dtype=float)
    cuts = np.searchsorted(total, total[-1] * np.arange(1, n_blocks) / n_blocks) + 1
    edges = np.unique(np.concatenate([[0], np.minimum(cuts, len(work)), [len(work)]]))
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def _writable(array):
    """The array itself, or a copy where a transport between processes made it read-only."""
    return array if array.flags.writeable else array.copy()


class PairTable:
    """What dense and sparse tables share.

    Attributes
    ----------
    n_words, n_pairs : int
        ``n_pairs`` counts the pairs with an observation; all pairs where dense.
    n, kappa : list of two ndarray
        Observations and ``n_positive - n / 2``, by side.
    """

    dense = False

    def blocks(self, n_components):
        """Blocks of rows for each side, cut by a rule that looks at the data only."""
        cost = self.n_pairs * n_components * (n_components + 60.0)
        most = min(64, max(1, self.n_words // 48))
        n_blocks = int(np.clip(np.ceil(cost / 2e8), 1, most))
        return [cut_rows(self.row_work(side) + 1.0, n_blocks) for side in (0, 1)]

    def curvature_sums(self):
        """Two float32 arrays of zeros, one number a pair, in the order of side 0."""
        return np.zeros_like(self.n[0], np.float32), np.zeros_like(self.n[0], np.float32)

    def __setstate__(self, state):
        for name, value in state.items():
            if isinstance(value, list):
                value = [_writable(v) for v in value]
            self.__dict__[name] = value


class DensePairs(PairTable):
    """All (n_words, n_words) pairs: ``n[side]`` and ``kappa[side]``, float64."""

    dense = True

    def __init__(self, counts):
        positive = counts.positive.toarray()
        total = counts.negative.toarray()
        total += positive
        positive -= 0.5 * total
        self.n = [total, np.ascontiguousarray(total.T)]
        self.kappa = [positive, np.ascontiguousarray(positive.T)]
        self.n_words = total.shape[0]
        self.n_pairs = total.size
        # rows of a block whose logits stay in the second-level cache
        self.chunk = max(16, 12_800 // self.n_words)

    def row_work(self, side):
        """Work of each row."""
        return np.full(self.n_words, float(self.n_words))

    def observations(self, side):
        """Number of observations in each row."""
        return self.n[side].sum(axis=1)

    def both_sides(self, array):
        """An array in the order of side 0, in the orders of both sides."""
        return [array, np.ascontiguousarray(array.T)]


def merged(positive, negative):
    """Counts of both signs as one sparse matrix, and the ``n`` and ``kappa`` of its entries."""
    both = sparse.csr_array(_times(positive, 1) + _times(negative, 1j))
    both.sort_indices()
    return both, both.data.real + both.data.imag, 0.5 * (both.data.real - both.data.imag)


def _times(counts, factor):
    parts = counts.data * complex(factor), counts.indices, counts.indptr
    return sparse.csr_array(parts, shape=counts.shape)


class SparsePairs(PairTable):
    """Observed pairs in compressed rows: ``indptr``, ``indices``, ``n``, ``kappa`` per side."""

    def __init__(self, counts):
        both, n, kappa = merged(counts.positive, counts.negative)
        n_words = both.shape[0]
        self.order = np.argsort(both.indices, kind="stable")
        rows = np.repeat(np.arange(n_words, dtype=np.int32), np.diff(both.indptr))
        by_column = np.bincount(both.indices, minlength=n_words)
        self.indptr = [
            both.indptr.astype(np.int64),
            np.concatenate([[0], np.cumsum(by_column)]).astype(np.int64),
        ]
        self.indices = [both.indices.astype(np.int32), rows[self.order]]
        self.n = self.both_sides(np.ascontiguousarray(n))
        self.kappa = self.both_sides(np.ascontiguousarray(kappa))
        self.n_words = n_words
        self.n_pairs = n.size

    def row_work(self, side):
        """Work of each row."""
        return np.diff(self.indptr[side]).astype(float)

    def observations(self, side):
        """Number of observations in each row."""
        total = np.concatenate([[0.0], np.cumsum(self.n[side])])
        return np.diff(total[self.indptr[side]])

    def both_sides(self, array):
        """An array in the order of side 0, in the orders of both sides."""
        return [array, array[self.order]]


def is_dense(counts):
    """Whether the whole table beats lists of pairs."""
    if isinstance(counts.negative, RankOne):
        return True
    n_pairs = counts.positive.nnz + counts.negative.nnz
    return n_pairs >= DENSE_ABOVE * counts.n_words**2


def table_bytes(counts, chains=0, plans=False):
    """Bytes of a pair table, and of what Gibbs sampling keeps beside it.

    Parameters
    ----------
    counts : PairCounts
    chains : int
        That tune steps at a time.
    plans : bool
        Whether there are plans of Polya-Gamma draws.
    """
    beside = chains * 6 * 4 + plans * 2 * 16
    if is_dense(counts):
        return counts.n_words**2 * (4 * 8 + beside)
    n_pairs = counts.positive.nnz + counts.negative.nnz
    # while it is made, pairs of both signs are joined as complex numbers
    return n_pairs * (2 * (4 + 8 + 8) + 8 + max(2 * 16, beside))


def pair_table(counts):
    """The table that suits the counts: `DensePairs` or `SparsePairs`."""
    return DensePairs(counts) if is_dense(counts) else SparsePairs(counts)
