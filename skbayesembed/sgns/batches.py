"""Batches of documents, for learning online: positive pair counts, a batch at a time."""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
from scipy import sparse

from ..corpus.units import sizes_of
from .counting import PairCounts, RankOne, document_pairs, subsample, window_pairs
from .pairs import check_written_out, pooled_counts, written_out


class CorpusBatches:
    """Batches of documents that are sequences of word ids.

    Parameters
    ----------
    estimator : BayesianSGNS
        Its ``window``, ``window_weights`` and ``subsample`` are used.
    ids, offsets : ndarray of int
        Word ids of all documents, -1 for unknown words, and where each document starts.
    n_words : int
    frequency : ndarray of shape (n_words,)
        Tokens of each word, for ``subsample``.
    """

    def __init__(self, estimator, ids, offsets, n_words, frequency):
        # their values now: parameters of the estimator may change while the source is kept
        self.window, self.window_weights = estimator.window, estimator.window_weights
        self.threshold = getattr(estimator, "subsample", None)
        self.ids, self.offsets = ids, offsets
        self.n_words, self.frequency = n_words, frequency

    @property
    def n_documents(self):
        """Number of documents."""
        return self.offsets.size - 1

    @property
    def n_tokens(self):
        """Tokens of known words."""
        return np.count_nonzero(self.ids >= 0)

    def batches(self, size, rng, shuffle=True):
        """Yield the positive counts of ``size`` documents after ``size``."""
        for documents in runs_of(self.n_documents, size, rng, shuffle):
            yield self.subset(documents).whole(rng)

    def subset(self, documents):
        """The same of some documents."""
        part = copy.copy(self)
        lengths = np.diff(self.offsets)[documents]
        part.offsets = np.concatenate([[0], np.cumsum(lengths)])
        tokens = [self.ids[self.offsets[d] : self.offsets[d + 1]] for d in documents]
        part.ids = np.concatenate(tokens)
        return part

    def kept(self, rng):
        """Ids and offsets of the tokens that ``subsample`` leaves."""
        if self.threshold is None:
            return self.ids, self.offsets
        return subsample(self.ids, self.offsets, self.frequency, self.threshold, rng)

    def whole(self, rng):
        """The positive counts of all documents."""
        ids, offsets = self.kept(rng)
        return window_pairs(
            ids,
            offsets,
            self.n_words,
            window=self.window,
            window_weights=self.window_weights,
            rng=rng,
        )


class MatrixBatches:
    """Batches of rows of a document-word matrix, the whole document being the context.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_documents, n_words)
    pair_weights : {"token", "pairs"}
        As of `counting.document_pairs`.
    """

    def __init__(self, matrix, pair_weights):
        self.matrix = sparse.csr_array(matrix)
        self.pair_weights = pair_weights

    @property
    def n_documents(self):
        """Number of documents."""
        return self.matrix.shape[0]

    @property
    def n_tokens(self):
        """Tokens of the words."""
        return self.matrix.sum()

    @property
    def n_words(self):
        """Number of words."""
        return self.matrix.shape[1]

    def batches(self, size, rng, shuffle=True):
        """Yield the positive counts of ``size`` documents after ``size``."""
        for documents in runs_of(self.n_documents, size, rng, shuffle):
            yield self.subset(documents).whole(rng)

    def subset(self, documents):
        """The same of some documents."""
        return MatrixBatches(self.matrix[documents], self.pair_weights)

    def whole(self, rng):
        """The positive counts of all documents; ``rng`` is not used, for nothing is drawn."""
        return document_pairs(self.matrix, pair_weights=self.pair_weights)


def sizes_of_sources(sources, units):
    """Numbers of documents, tokens and units as far as they are known: a dict.

    Parameters
    ----------
    sources : list
        What counts are made from; documents are known of `CorpusBatches` and `MatrixBatches`.
    units : Units or None
    """
    known = all(isinstance(source, CorpusBatches | MatrixBatches) for source in sources)
    sizes = {} if units is None else {"n_units": int(units.n_units)}
    if known:
        documents = sum(source.n_documents for source in sources)
        sizes |= sizes_of(documents, sum(source.n_tokens for source in sources))
    return sizes


class PairBatches:
    """Random parts of pair counts, each word pair whole in one of them.

    Yields `PairCounts`, the given negative counts included, in about ``n_parts`` parts a pass.
    """

    def __init__(self, counts, n_parts=16):
        self.counts, self.n_parts = counts, n_parts

    # pairs are all there is: of the documents that they come from nothing is known
    n_documents = None

    def whole(self, rng):
        """The `PairCounts` themselves."""
        return self.counts

    @cached_property
    def tables(self):
        """Positive and negative counts as triples; a product is written out."""
        negative = self.counts.negative
        if isinstance(negative, RankOne):
            check_written_out([negative], "use learning_method='batch', or partial_fit")
            negative = written_out(negative)
        return [sparse.coo_array(self.counts.positive), sparse.coo_array(negative)]

    def batches(self, size, rng, shuffle=True):
        """Yield the parts; ``size`` is not used, for there are no documents."""
        n_words = self.tables[0].shape[0]
        # the part of a pair is a hash of it, so that positive and negative counts go together
        row, column = rng.integers(2**31, size=(2, n_words))
        parts = [(row[t.row] + column[t.col]) % self.n_parts for t in self.tables]
        for part in range(self.n_parts):
            chosen = [
                sparse.csr_array((t.data[p == part], (t.row[p == part], t.col[p == part])), t.shape)
                for t, p in zip(self.tables, parts, strict=True)
            ]
            if sum(c.nnz for c in chosen):
                yield PairCounts(*chosen)


class UnitPairs(PairBatches):
    """`PairCounts` of the same words, one for each unit of sampling.

    Parameters
    ----------
    parts : list of PairCounts
    """

    def __init__(self, parts):
        super().__init__(pooled_counts(parts))
        self.parts = parts

    @property
    def n_documents(self):
        """Number of units."""
        return len(self.parts)


class ShardBatches:
    """Pairs of a `shards.PairShard`: of its units, where it keeps them apart.

    Parameters
    ----------
    shard : PairShard
    """

    def __init__(self, shard):
        self.shard = shard

    @property
    def n_documents(self):
        """Number of units; None where they are not known."""
        return None if self.shard.units is None else self.shard.units.size

    @property
    def n_words(self):
        """Number of words."""
        return self.shard.n_words

    @property
    def matrix(self):
        """Tokens of each word in each unit, csr (n_units, n_words)."""
        return self.shard.tokens

    def whole(self, rng):
        """The positive counts of all units; ``rng`` is not used, for nothing is drawn."""
        return self.shard.positive


def runs_of(n, size, rng, shuffle):
    """Yield the places of ``size`` documents after ``size``, shuffled or in order."""
    order = rng.permutation(n) if shuffle else np.arange(n)
    for a in range(0, n, size):
        yield order[a : a + size]
