"""Batches of documents, for learning online: positive pair counts, a batch at a time."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .counting import PairCounts, RankOne, document_pairs, subsample, window_pairs


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
        self.estimator = estimator
        self.ids, self.offsets = ids, offsets
        self.n_words, self.frequency = n_words, frequency

    def batches(self, size, rng, shuffle=True):
        """Yield the positive counts of ``size`` documents after ``size``."""
        e = self.estimator
        for documents in _runs(self.offsets.size - 1, size, rng, shuffle):
            lengths = np.diff(self.offsets)[documents]
            offsets = np.concatenate([[0], np.cumsum(lengths)])
            parts = [self.ids[self.offsets[d] : self.offsets[d + 1]] for d in documents]
            ids = np.concatenate(parts)
            if e.subsample is not None:
                ids, offsets = subsample(ids, offsets, self.frequency, e.subsample, rng)
            yield window_pairs(
                ids, offsets, self.n_words, window=e.window, window_weights=e.window_weights,
                rng=rng,
            )  # fmt: skip


class MatrixBatches:
    """Batches of rows of a document-word matrix, the whole document being the context."""

    def __init__(self, matrix):
        self.matrix = sparse.csr_array(matrix)

    def batches(self, size, rng, shuffle=True):
        """Yield the positive counts of ``size`` documents after ``size``."""
        for documents in _runs(self.matrix.shape[0], size, rng, shuffle):
            yield document_pairs(self.matrix[documents])


class PairBatches:
    """Random parts of pair counts, each word pair whole in one of them.

    Yields `PairCounts`, the given negative counts included, in about ``n_parts`` parts a pass.
    """

    def __init__(self, counts, n_parts=16):
        negative = counts.negative
        if isinstance(negative, RankOne):
            negative = sparse.csr_array(negative.toarray())
        self.tables = [sparse.coo_array(counts.positive), sparse.coo_array(negative)]
        self.n_parts = n_parts

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


def _runs(n, size, rng, shuffle):
    order = rng.permutation(n) if shuffle else np.arange(n)
    for a in range(0, n, size):
        yield order[a : a + size]
