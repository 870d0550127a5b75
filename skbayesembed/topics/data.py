"""Documents as arrays: what every solver of the topic model reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Documents:
    """Word counts of documents, and the vectors of the words.

    Attributes
    ----------
    indptr : ndarray of shape (n_documents + 1,), int64
    words : ndarray of shape (n_entries,), int32
        Words of document ``d`` are those from ``indptr[d]`` to ``indptr[d + 1]``, each once.
    counts : ndarray of shape (n_entries,), int32 or float64
        How often each occurs, above 0; int32 where all of them are whole numbers.
    vectors : ndarray of shape (n_words, n_dims), float64
        As the model sees them, normalized.
    """

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, counts, vectors):
        """From a sparse matrix of counts (n_documents, n_words) and vectors (n_words, n_dims).

        Stored zeros are dropped; ``counts`` is not changed.
        """
        counts = counts.tocsr(copy=True)
        counts.sum_duplicates()
        counts.eliminate_zeros()
        values = counts.data
        if values.size == 0 or (np.all(values == np.rint(values)) and values.max() < 2**31):
            values = values.astype(np.int32)
        else:
            values = values.astype(np.float64)
        return cls(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            values,
            np.ascontiguousarray(vectors, dtype=np.float64),
        )

    @property
    def n_documents(self):
        """Number of documents, empty ones among them."""
        return self.indptr.size - 1

    @property
    def n_words(self):
        """Number of word types."""
        return self.vectors.shape[0]

    @property
    def n_dims(self):
        """Dimension of the vectors."""
        return self.vectors.shape[1]

    @property
    def whole(self):
        """Whether all counts are whole numbers, so that there are tokens."""
        return self.counts.dtype.kind == "i"

    @property
    def n_tokens(self):
        """Sum of all counts."""
        return self.counts.sum().item()

    @property
    def lengths(self):
        """Tokens of each document, ndarray of shape (n_documents,), of the type of the sums."""
        return self.ends[1:] - self.ends[:-1]

    @property
    def ends(self):
        """Number of tokens before each document, ndarray of shape (n_documents + 1,)."""
        kind = np.int64 if self.whole else np.float64
        before = np.concatenate([np.zeros(1, kind), np.cumsum(self.counts, dtype=kind)])
        return before[self.indptr]

    @property
    def totals(self):
        """Occurrences of each word, ndarray of shape (n_words,), float64."""
        return np.bincount(self.words, self.counts, self.n_words)

    def blocks(self, size=65_536):
        """Blocks of whole documents with about ``size`` tokens each, or entries where fractional.

        They depend on the data alone.

        Returns
        -------
        list of tuple of int
            First document of each block and the one behind its last.
        """
        before = self.ends if self.whole else self.indptr
        n = max(1, int(round(before[-1] / size)))
        cuts = np.searchsorted(before, before[-1] * np.arange(1, n) / n)
        cuts = np.unique(np.concatenate([[0], cuts, [self.n_documents]]))
        blocks = [(int(a), int(b)) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
        return blocks or [(0, 0)]
