"""Positive pairs by document, in blocks that fit in memory.

In a block every word of every document has a place of its own, so that the functions which count
the pairs of all documents together count those of each document apart.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...common.random import seeds_from
from ..batches import CorpusBatches, ShardBatches, runs_of
from ..counting import document_pairs, window_pairs
from ..pairs import added_up

# Pairs in a block, about: 16 bytes each.
_PAIRS = 2**23


@dataclass(frozen=True, eq=False)
class Block:
    """Pairs of some documents.

    Attributes
    ----------
    document, word : ndarray of int of shape (n_places,)
        What each place stands for.
    positive : csr_array of shape (n_places, n_places)
        Pairs of places, targets in rows; both places are of one document.
    """

    document: np.ndarray
    word: np.ndarray
    positive: sparse.csr_array

    @cached_property
    def pair_words(self):
        """Targets and contexts of the pairs in order, as words."""
        lengths = np.diff(self.positive.indptr)
        return np.repeat(self.word, lengths), self.word[self.positive.indices]

    def weighted(self, weights):
        """The block with its documents' pairs multiplied by ``weights`` (n_documents,)."""
        if weights is None:
            return self
        scale = sparse.diags_array(weights[self.document])
        return Block(self.document, self.word, sparse.csr_array(scale @ self.positive))

    def total(self, n_words):
        """Pairs of words in all documents of the block, csr (n_words, n_words)."""
        entries = self.positive.data, self.pair_words
        return sparse.csr_array(sparse.coo_array(entries, shape=(n_words, n_words)))


def total_of(blocks, n_words, dtype=np.float64):
    """Pairs of words in all of the blocks, csr (n_words, n_words) with indices in order."""
    totals = (block.total(n_words) for block in blocks)
    nothing = sparse.csr_array((n_words, n_words), dtype=dtype)
    out = added_up(itertools.chain([nothing], totals), lambda part: part.nnz)
    out.sort_indices()
    return out


class DocumentPairs:
    """Pairs of each document of a source, made anew whenever they are gone through.

    Parameters
    ----------
    source : CorpusBatches, MatrixBatches or ShardBatches
        The units of a shard stand for documents.
    weights : ndarray of shape (n_documents,) or None
        By which the pairs of documents are multiplied.
    seed : numpy.random.SeedSequence
        For tokens that ``subsample`` drops: those that ``fit`` drops.
    """

    def __init__(self, source, weights, seed):
        self.source, self.weights, self.seed = source, weights, seed

    def reweighted(self, weights):
        """With documents' pairs times ``weights`` (n_documents,), besides their own."""
        if self.weights is not None:
            weights = weights * self.weights
        return DocumentPairs(self.source, weights, self.seed)

    @property
    def n_words(self):
        """Number of words."""
        return self.source.n_words

    @property
    def n_documents(self):
        """Number of documents."""
        return self.source.n_documents

    def __iter__(self):
        for block in _blocks(self.source, np.random.default_rng(self.seed)):
            yield block.weighted(self.weights)

    def batches(self, size, rng, shuffle=True):
        """Yield the weighted pairs of ``size`` documents after ``size``, as of `CorpusBatches`."""
        for chosen in runs_of(self.source.n_documents, size, rng, shuffle):
            weights = None if self.weights is None else self.weights[chosen]
            yield DocumentPairs(self.source.subset(chosen), weights, seeds_from(rng)).total()

    def total(self):
        """Weighted pairs of all documents together, csr (n_words, n_words)."""
        return total_of(self, self.n_words)


def _blocks(source, rng):
    if isinstance(source, ShardBatches):
        return source.shard.blocks()
    return (_of_corpus if isinstance(source, CorpusBatches) else _of_matrix)(source, rng)


def _of_corpus(source, rng):
    window = source.window
    ids, offsets = source.kept(rng)
    # radii that are drawn have the linear weights as their expectation
    weights = "linear" if source.window_weights == "dynamic" else source.window_weights
    for first, stop in runs_of_pairs(_sizes(window, offsets)):
        mine = ids[offsets[first] : offsets[stop]]
        ends = offsets[first : stop + 1] - offsets[first]
        documents = np.arange(first, stop)
        options = {"window": window, "window_weights": weights}
        yield block_of(mine, ends, documents, source.n_words, **options)


def block_of(ids, offsets, units, n_words, **options):
    """The `Block` of some documents.

    Parameters
    ----------
    ids, offsets : ndarray of int
        Word ids, -1 for unknown words, and where each document starts.
    units : ndarray of int of shape (n_documents,)
        What stands for each document: its number, or that of its unit.
    n_words : int
    **options
        Of `counting.window_pairs`.
    """
    each = np.repeat(units, np.diff(offsets))
    names, places = np.unique(each * n_words + ids, return_inverse=True)
    places = np.where(ids >= 0, places, -1)
    positive = window_pairs(places, offsets, names.size, **options)
    return Block(*np.divmod(names, n_words), positive)


def _of_matrix(source, rng):
    matrix = source.matrix
    sizes = np.diff(matrix.indptr).astype(np.int64)
    for first, stop in runs_of_pairs(sizes**2):
        start, end = matrix.indptr[first], matrix.indptr[stop]
        document = np.repeat(np.arange(first, stop), sizes[first:stop])
        ends = matrix.indptr[first : stop + 1] - start
        n = int(end - start)
        rows = sparse.csr_array((matrix.data[start:end], np.arange(n), ends), (stop - first, n))
        positive = document_pairs(rows, pair_weights=source.pair_weights)
        yield Block(document, matrix.indices[start:end], positive)


def runs_of_documents(source):
    """Runs of documents of a `CorpusBatches` or `MatrixBatches` that make a block each.

    They are as many at least where ``subsample`` drops tokens.
    """
    if isinstance(source, CorpusBatches):
        return runs_of_pairs(_sizes(source.window, source.offsets))
    return runs_of_pairs(np.diff(source.matrix.indptr).astype(np.int64) ** 2)


def _sizes(window, offsets):
    return 2 * window * np.diff(offsets)


def runs_of_pairs(sizes):
    """Runs of documents of ``sizes`` of about `_PAIRS` pairs, or one: pairs of first and end."""
    upto = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    first = 0
    while first < sizes.size:
        stop = int(np.searchsorted(upto, upto[first] + _PAIRS, side="right")) - 1
        stop = min(max(stop, first + 1), sizes.size)
        yield first, stop
        first = stop
