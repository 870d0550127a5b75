"""Snippets as arrays: what every solver of the sense models reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse


class Contexts(NamedTuple):
    """What the prevalences of snippets depend on: pairs of a cell and a work in it, C of them.

    Attributes
    ----------
    periods, genres, works : ndarray of shape (n_contexts,), int64
    places : ndarray of shape (n_contexts,), int64
        Number of the context among those of its period.
    of_snippet : ndarray of shape (n_snippets,), int64
    counts : ndarray of shape (n_contexts,)
        Snippets of each.
    telling : ndarray of shape (n_contexts,)
        Those of them that tell of their sense, as of `Snippets`.
    """

    periods: np.ndarray
    genres: np.ndarray
    works: np.ndarray
    places: np.ndarray
    of_snippet: np.ndarray
    counts: np.ndarray
    telling: np.ndarray


@dataclass(frozen=True)
class Snippets:
    """Word counts of snippets with their periods, genres and known senses.

    Attributes
    ----------
    indptr : ndarray of shape (n_snippets + 1,), int64
    words : ndarray of shape (n_entries,), int64
        Words of snippet ``d`` are those from ``indptr[d]`` to ``indptr[d + 1]``, each once.
    counts : ndarray of shape (n_entries,)
        How often each occurs.
    periods, genres : ndarray of shape (n_snippets,), int64
    labels : ndarray of shape (n_snippets,), int64
        Known senses, -1 where unknown.
    n_words, n_periods, n_genres : int
    vectors : ndarray of shape (n_words, n_dims) or None
        Of words, as `embedding.prepared` makes them; None where the model has none.
    works : ndarray of shape (n_snippets,), int64, or None
        Works that snippets are from; None where the model has no effects of works.
    contexts : Contexts or None
        What prevalences depend on, made of the arrays above; None without works.
    """

    indptr: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    periods: np.ndarray
    genres: np.ndarray
    labels: np.ndarray
    n_words: int
    n_periods: int
    n_genres: int
    vectors: np.ndarray | None = None
    works: np.ndarray | None = None
    contexts: Contexts | None = field(init=False, default=None)

    def __post_init__(self):
        if self.works is not None:
            object.__setattr__(self, "contexts", self._contexts())

    def _contexts(self):
        labels = np.column_stack([self.periods, self.genres, self.works])
        found, index, counts = np.unique(labels, axis=0, return_inverse=True, return_counts=True)
        periods, genres, works = (np.ascontiguousarray(x) for x in found.T)
        places = np.arange(len(found)) - np.searchsorted(periods, periods)
        index, counts = index.ravel(), counts.astype(float)
        telling = np.bincount(index, self.telling, len(found))
        return Contexts(periods, genres, works, places, index, counts, telling)

    @classmethod
    def of(
        cls, counts, periods, genres=None, labels=None, *, n_periods=None, n_genres=None,
        vectors=None, works=None,
    ):  # fmt: skip
        """From a sparse count matrix (n_snippets, n_words) and arrays over snippets."""
        counts = counts.tocsr()
        counts.sum_duplicates()
        n = counts.shape[0]
        periods = np.asarray(periods, dtype=np.int64)
        genres = np.zeros(n, dtype=np.int64) if genres is None else np.asarray(genres, np.int64)
        labels = np.full(n, -1, dtype=np.int64) if labels is None else np.asarray(labels, np.int64)
        return cls(
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int64),
            counts.data.astype(np.float64),
            periods,
            genres,
            labels,
            counts.shape[1],
            int(periods.max(initial=-1)) + 1 if n_periods is None else n_periods,
            int(genres.max(initial=-1)) + 1 if n_genres is None else n_genres,
            vectors,
            None if works is None else np.asarray(works, dtype=np.int64),
        )

    def unlabelled(self):
        """The same snippets, their senses unknown."""
        return replace(self, labels=np.full_like(self.labels, -1))

    def some(self, n, rng):
        """``n`` snippets by chance, those of known senses first; all where works have effects."""
        if self.works is not None or self.n_snippets <= n:
            return self
        known, rest = np.flatnonzero(self.labels >= 0), np.flatnonzero(self.labels < 0)
        rest = rng.choice(rest, min(rest.size, max(0, n - known.size)), replace=False)
        return self.at(np.sort(np.concatenate([known, rest])))

    def at(self, places):
        """The snippets at some places, without works."""
        shape = self.n_snippets, self.n_words
        counts = sparse.csr_array((self.counts, self.words, self.indptr), shape)[places]
        return self.of(
            counts, self.periods[places], self.genres[places], self.labels[places],
            n_periods=self.n_periods, n_genres=self.n_genres, vectors=self.vectors,
        )  # fmt: skip

    @property
    def n_snippets(self):
        """Number of snippets, empty ones among them."""
        return self.periods.size

    @property
    def lengths(self):
        """Words of each snippet, ndarray of shape (n_snippets,)."""
        ends = np.concatenate([[0.0], np.cumsum(self.counts)])
        return ends[self.indptr[1:]] - ends[self.indptr[:-1]]

    @property
    def totals(self):
        """Occurrences of words by period, ndarray of shape (n_periods, n_words)."""
        of_entry = np.repeat(self.periods, np.diff(self.indptr))
        place = of_entry * self.n_words + self.words
        flat = np.bincount(place, self.counts, self.n_periods * self.n_words)
        # of no words they are integers
        return flat.astype(float).reshape(self.n_periods, self.n_words)

    @property
    def cells(self):
        """Number of snippets, ndarray of shape (n_genres, n_periods)."""
        return self.cells_of(slice(None))

    def cells_of(self, places):
        """Number of the snippets at some places, as `cells`."""
        cell = (self.genres * self.n_periods + self.periods)[places]
        flat = np.bincount(cell, minlength=self.n_genres * self.n_periods)
        return flat.reshape(self.n_genres, self.n_periods)

    @property
    def telling(self):
        """Snippets that tell of their sense: with known words, or labelled; (n_snippets,)."""
        return (self.lengths > 0) | (self.labels >= 0)

    @property
    def n_works(self):
        """Number of works; 0 where there are no effects of works."""
        return 0 if self.works is None else int(self.works.max(initial=-1)) + 1

    @property
    def mixtures(self):
        """Rows of prevalences that snippets are read by, and the snippets of each.

        Returns
        -------
        rows : ndarray of shape (n_snippets,), int64
            Number of the row among those of the snippet's period: its genre, or the place of its
            context.
        snippets : ndarray of shape (n_rows, n_periods)
        """
        if self.works is None:
            return self.genres, self.cells.astype(float)
        contexts = self.contexts
        snippets = np.zeros((contexts.places.max(initial=0) + 1, self.n_periods))
        snippets[contexts.places, contexts.periods] = contexts.counts
        return contexts.places[contexts.of_snippet], snippets
