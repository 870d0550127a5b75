"""Pair tables: the counts of a model laid out for the kernels, once by target, once by context.

Side 0 has the targets in its rows, side 1 the contexts.
"""

from __future__ import annotations

import functools
import threading

import numpy as np
from scipy import sparse

from ..inference.blocks import Held
from .pairs import PairCounts, RankOne

# Share of word pairs observed above which blocks of the whole table beat lists of pairs.
DENSE_ABOVE = 0.2
# Words up to which whole tables are kept of counts whose negative part is a product: they take
# 130 MB at most, and gradients from them less time (half at 200 words, 85 % at 2,000, the same at
# 5,000).
TABLES_UPTO = 2000
# Words up to which numbers of all pairs are kept that are worked out once (slopes, residuals,
# probabilities): 2.4 GB in all. Beyond, they are made row by row whenever they are asked for.
KEPT_UPTO = 10_000

# Rows of a block at least, and blocks at most, where each has its own sums over columns, which are
# added in order, so that results do not depend on threads.
_BLOCK_ROWS, _MOST_BLOCKS = 256, 8

# Numbers of which sums over blocks are made at a time, for which there is room in the cache.
_SUMMED = 2**17

_MAKING = threading.Lock()


def cut_rows(work, n_blocks):
    """Cut rows into at most ``n_blocks`` runs of about equal work: list of (start, stop)."""
    total = np.cumsum(work, dtype=float)
    cuts = np.searchsorted(total, total[-1] * np.arange(1, n_blocks) / n_blocks) + 1
    edges = np.unique(np.concatenate([[0], np.minimum(cuts, len(work)), [len(work)]]))
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def table_rows(table, start, stop):
    """Rows ``start:stop`` of a table in compressed rows, as a table of their own.

    Parameters
    ----------
    table : tuple
        ``indptr``, ``indices``, then arrays of entries, rows or columns, told apart by the names
        of the tables: ``(n, kappa)``, or ``(positive, left, right)`` as `ProductPairs.table` has.
    """
    indptr, indices, *rest = table
    low, high = indptr[start], indptr[stop]
    if len(rest) == 3:
        positive, left, right = rest
        rest = positive[low:high], left[start:stop], right
    else:
        rest = [entries[low:high] for entries in rest]
    return indptr[start : stop + 1] - low, indices[low:high], *rest


def row_blocks(pairs):
    """Runs of targets that are gone through together where there are sums over contexts."""
    n_blocks = int(np.clip(pairs.n_words // _BLOCK_ROWS, 1, _MOST_BLOCKS))
    return cut_rows(pairs.row_work(0) + 1.0, n_blocks)


def joined(found, rows, columns, run):
    """Put together what blocks have found of their rows, and sums over columns, in order.

    Parameters
    ----------
    found : list of (ndarray, ndarray, float)
        Rows of each block, its part of the columns, a number.
    rows, columns : ndarray
        Where they go.
    run : callable
        Maps a function over blocks of work.

    Returns
    -------
    ndarray
        The numbers.
    """
    np.concatenate([part[0] for part in found], out=rows)

    def add(start, stop):
        own = columns[start:stop]
        own[:] = found[0][1][start:stop]
        for _, part, _ in found[1:]:
            own += part[start:stop]

    n_rows = max(1, _SUMMED // max(1, columns[:1].size))
    run(add, [(i, i + n_rows) for i in range(0, len(columns), n_rows)])
    return np.array([part[2] for part in found])


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

    def by_frequency(self):
        """Words in the order of their observations as targets and contexts, most first."""
        seen = sum(self.observations(side) for side in (0, 1))
        return np.argsort(-seen, kind="stable")

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

    def rows(self, start, stop):
        """Rows ``start:stop`` of ``n`` and ``kappa``, targets in rows."""
        return self.n[0][start:stop], self.kappa[0][start:stop]

    def of_words(self, side, words):
        """Observations of some words of a side with all of the other, (n, n_words)."""
        return self.n[side][words]

    def row_work(self, side):
        """Work of each row."""
        return np.full(self.n_words, float(self.n_words))

    def observations(self, side):
        """Number of observations in each row."""
        return self.n[side].sum(axis=1)

    def both_sides(self, array):
        """An array in the order of side 0, in the orders of both sides."""
        return [array, np.ascontiguousarray(array.T)]


class ProductPairs(PairTable):
    """All pairs of counts whose negative part is a `RankOne`, as their positive part and factors.

    The log density and its gradient need no more. Solvers that go through whole tables get them
    from ``n`` and ``kappa``, which are made when first asked for.

    Attributes
    ----------
    positive : list of three ndarray
        Positive counts in compressed rows: ``indptr``, ``indices`` (ascending), values.
    factors : list of two ndarray of shape (n_words,)
        Of the negative counts.
    """

    dense = True

    def __init__(self, counts):
        table = counts.positive
        self.positive = [
            table.indptr.astype(np.int64),
            table.indices.astype(np.int32, copy=False),
            table.data,
        ]
        self.factors = [counts.negative.left, counts.negative.right]
        self.n_words = table.shape[0]
        self.n_pairs = self.n_words**2
        self.chunk = max(16, 12_800 // self.n_words)
        self._made, self._turned = None, None

    def table(self, dtype, side=0):
        """What kernels of `expected_kernels` take, with the words of a side in rows."""
        if side == 1:
            with _MAKING:
                if self._turned is None:
                    self._turned = ProductPairs(PairCounts(self._whole.T, RankOne(*self.factors).T))
            return self._turned.table(dtype)
        indptr, indices, values = self.positive
        numbers = (a.astype(dtype, copy=False) for a in (values, *self.factors))
        return indptr, indices, *numbers

    def held(self, side, cuts):
        """Runs of rows of a side, each with its table in double precision: `Held`."""
        return Held(functools.partial(_rows_of, self, side, cuts), len(cuts))

    @property
    def _whole(self):
        indptr, indices, values = self.positive
        return sparse.csr_array((values, indices, indptr), (self.n_words, self.n_words))

    def among(self, words):
        """The pairs of some words with each other, `ProductPairs`.

        Parameters
        ----------
        words : ndarray of int, ascending
        """
        left, right = (factor[words] for factor in self.factors)
        return ProductPairs(PairCounts(self._whole[words][:, words], RankOne(left, right)))

    def of_words(self, side, words):
        """As of `DensePairs`."""
        whole = self._whole
        found = np.outer(self.factors[side][words], self.factors[1 - side])
        found += (whole[words] if side == 0 else whole[:, words].T).toarray()
        return found

    def rows(self, start, stop):
        """As of `DensePairs`."""
        kappa = self._whole[start:stop].toarray()
        n = np.outer(self.factors[0][start:stop], self.factors[1])
        n += kappa
        kappa -= 0.5 * n
        return n, kappa

    @property
    def n(self):
        """As of `DensePairs`."""
        return self._tables.n

    @property
    def kappa(self):
        """As of `DensePairs`."""
        return self._tables.kappa

    @property
    def _tables(self):
        with _MAKING:  # chains in threads ask at the same time
            if self._made is None:
                self._made = DensePairs(PairCounts(self._whole, RankOne(*self.factors)))
        return self._made

    def row_work(self, side):
        """Work of each row."""
        return np.full(self.n_words, float(self.n_words))

    def observations(self, side):
        """Number of observations in each row."""
        seen = self._whole.sum(axis=1 - side)
        return seen + self.factors[side] * self.factors[1 - side].sum()

    def curvature_sums(self):
        """As of `PairTable`."""
        return self._tables.curvature_sums()

    def both_sides(self, array):
        """As of `DensePairs`."""
        return self._tables.both_sides(array)


def _rows_of(pairs, side, cuts, i):
    return *cuts[i], table_rows(pairs.table(np.float64, side), *cuts[i])


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

    def of_words(self, side, words):
        """As of `DensePairs`."""
        entries = self.n[side], self.indices[side], self.indptr[side]
        return sparse.csr_array(entries, (self.n_words, self.n_words))[words].toarray()

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


def is_expected(counts):
    """Whether whole tables are made only for solvers that go through them (`ProductPairs`)."""
    return isinstance(counts.negative, RankOne) and counts.n_words > TABLES_UPTO


def table_bytes(counts, whole=True, sides=1, chains=0, plans=False, clusters=False):
    """Bytes of a pair table, and of what Gibbs sampling keeps beside it.

    Parameters
    ----------
    counts : PairCounts
    whole : bool
        Whether the solver goes through whole tables.
    sides : int
        Where it does not, whether it goes through targets alone or through contexts too.
    chains : int
        That tune steps at a time.
    plans : bool
        Whether there are plans of Polya-Gamma draws.
    clusters : bool
        Whether rare words may see each other by clusters, which need pairs in another order.
    """
    beside = chains * 6 * 4 + plans * 2 * 16
    if not whole and is_expected(counts):
        # columns and counts of pairs in double precision are those of the counts
        each = 4 + 12 * (sides - 1) + 8 * clusters
        return 8 * counts.n_words + each * counts.positive.nnz
    if is_dense(counts):
        return counts.n_words**2 * (4 * 8 + beside)
    n_pairs = counts.positive.nnz + counts.negative.nnz
    # while it is made, pairs of both signs are joined as complex numbers
    return n_pairs * (2 * (4 + 8 + 8) + 8 + max(2 * 16, beside))


def pair_table(counts):
    """The table that suits the counts: `ProductPairs`, `DensePairs` or `SparsePairs`."""
    if is_expected(counts):
        return ProductPairs(counts)
    return DensePairs(counts) if is_dense(counts) else SparsePairs(counts)
