"""What the estimator accepts, turned into snippets and what is given about each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..common.warnings import warn_user
from ..corpus.analysis import warn_of_unread
from ..corpus.count_matrix import forget_columns, frequent_columns, named_matrix
from ..corpus.kinds import input_kind, materialise
from ..corpus.known import known_counts
from ..corpus.periods import Periods
from ..corpus.rows import check_rows
from ..corpus.text import document_counts, frequent_corpus
from ..corpus.units import sizes_of
from .data import Snippets
from .embedding import word_vectors
from .fingerprint import fingerprint_of_labels, fingerprint_of_snippets
from .labels import (
    advice_on_periods,
    genre_indices,
    known_senses,
    learn_genres,
    learn_periods,
    learn_units,
    period_indices,
    work_indices,
)

# Words of a sample, on average, beyond which it is no snippet: windows have 10 to 50.
_LONGEST = 100


@dataclass(frozen=True)
class Training:
    """Snippets for a fit, and what their numbers stand for.

    Attributes
    ----------
    data : Snippets
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None where fitted on text.
    periods : Periods
    genres : ndarray of shape (n_genres,) or None
        Labels of the genres; None where there are none.
    timed : bool
        Whether times were given.
    merged : bool
        Whether genres, given or not, are taken as one.
    units : ndarray of shape (n_works,) or None
        Labels of the units; None where ``fit`` got none.
    vector_draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Of the word vectors; None where their uncertainty is left out.
    fingerprints : tuple of str
        Of the snippets, and of their known senses (None where none is known).
    """

    data: Snippets
    words: np.ndarray
    columns: np.ndarray | None
    periods: Periods
    genres: np.ndarray | None
    timed: bool
    merged: bool
    units: np.ndarray | None = None
    vector_draws: np.ndarray | None = None
    fingerprints: tuple[str | None, str | None] | None = None

    @property
    def advice(self):
        """With which settings a fit would take less, a text; empty where there is no need."""
        return advice_on_periods(self.periods, self.data.n_snippets)

    @property
    def sizes(self):
        """Numbers of snippets, of tokens and, where they are known, of units: a dict."""
        sizes = sizes_of(self.data.indptr.size - 1, self.data.counts.sum())
        return sizes if self.units is None else sizes | {"n_units": int(self.units.size)}

    @property
    def drawn(self):
        """The snippets with each draw of the vectors, or as they are; a list."""
        if self.vector_draws is None:
            return [self.data]
        return [replace(self.data, vectors=vectors) for vectors in self.vector_draws]


@dataclass(frozen=True)
class Places:
    """Snippets to be read by a fitted model.

    Attributes
    ----------
    counts : csr_array of shape (n_snippets, n_words)
    periods, genres : ndarray of int64 of shape (n_snippets,) or None
        None where they are not known.
    works : ndarray of int64 of shape (n_snippets,) or None
        -1 for works that ``fit`` did not see; None where none is known.
    """

    counts: sparse.csr_array
    periods: np.ndarray | None
    genres: np.ndarray | None
    works: np.ndarray | None = None

    @property
    def n_snippets(self):
        """Number of snippets, empty ones among them."""
        return self.counts.shape[0]

    @property
    def lengths(self):
        """Words of each snippet, ndarray of shape (n_snippets,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=float).ravel()

    def take(self, chosen):
        """Some of the snippets, an index or a slice."""
        given = self.periods, self.genres, self.works
        return Places(self.counts[chosen], *(None if x is None else x[chosen] for x in given))


def training_data(estimator, X, y, times, genres, units=None):
    """`Training` of whatever ``fit`` accepts; notes the columns of a count matrix."""
    check_rows(X=X, y=y, times=times, genres=genres, units=units)
    counts, words, columns = _read(estimator, X)
    _warn_of_documents(counts)
    n = counts.shape[0]
    periods, index = learn_periods(estimator, times, n)
    merged = estimator.model == "scan"
    labels, genre_index = learn_genres(genres, n, merged)
    works, work_index = learn_units(estimator, units, n)
    vectors = vector_draws = None
    if estimator.model == "edisc":
        n_columns = None if columns is None else estimator.n_features_in_
        totals = np.asarray(counts.sum(axis=0), dtype=float).ravel()
        given = estimator.embedding, words, columns, n_columns, totals
        vectors, vector_draws = word_vectors(*given, estimator.embedding_draws)
    known = known_senses(y, n, estimator.n_senses)
    data = Snippets.of(
        counts,
        index,
        genre_index,
        known,
        n_periods=periods.n_periods,
        n_genres=1 if labels is None else labels.size,
        vectors=vectors,
        works=work_index,
    )
    timed = times is not None
    fingerprints = (
        fingerprint_of_snippets(counts, index, genre_index, work_index),
        fingerprint_of_labels(known),
    )
    return Training(
        data, words, columns, periods, labels, timed, merged, works, vector_draws, fingerprints
    )


def places(estimator, X, times, genres, units=None):
    """`Places` of snippets for a fitted estimator."""
    check_rows(X=X, times=times, genres=genres, units=units)
    counts = known_counts(estimator, X)
    _warn_of_fractions(counts)
    return placed(estimator, counts, times, genres, units)


def placed(estimator, counts, times, genres, units=None):
    """`Places` of snippets, counts of whose words are known."""
    n = counts.shape[0]
    periods, genre = period_indices(estimator, times, n), genre_indices(estimator, genres, n)
    works = work_indices(estimator, units, n)
    if works is not None and (periods is None or genre is None):
        missing = "times" if periods is None else "genres"
        raise ValueError(
            f"units need {missing} of the snippets, too: what a unit adds to the prevalences of "
            "senses is known for a period and genre. Pass them, or leave units out."
        )
    return Places(counts, periods, genre, works)


def training_again(estimator, X, y, times, genres, units=None):
    """The snippets a fitted estimator was trained on, made anew from the same data.

    Raises
    ------
    ValueError
        If they are other snippets, or in another order, or known senses are others; or covariates
        are missing.
    """
    there = places(estimator, X, times, genres, units)
    labels = known_senses(y, there.n_snippets, cells_senses(estimator))
    names = "times and genres"
    if estimator._works is not None:
        if units is None:
            raise ValueError(
                f"fit was given units, {len(estimator.units_)} of them: pass units= here too, "
                "those of X that fit was given."
            )
        names = "times, genres and units"
    if not _same_snippets(estimator, there):
        raise ValueError(
            f"X, {names} must be the data that fit was given, in the same order: "
            f"{int(estimator._cells.sum())} snippets with their covariates; got "
            f"{there.n_snippets} snippets, or other words, {names.replace(' and', ' or')}."
        )
    _check_labels(estimator, labels)
    return there, labels


def _same_snippets(estimator, there):
    """Whether snippets are those of ``fit``, by their sizes and, where it is known, fingerprint."""
    cells, works = estimator._cells, estimator._works
    if there.n_snippets != cells.sum() or there.periods is None or there.genres is None:
        return False
    flat = there.genres * cells.shape[1] + there.periods
    if not np.array_equal(np.bincount(flat, minlength=cells.size), cells.ravel()):
        return False
    if works is not None:
        known = there.works is not None and (there.works >= 0).all()
        if not (known and np.array_equal(_contexts(there), works)):
            return False
    if estimator._fingerprints is None:
        # of a file of an earlier version
        return True
    given = there.counts, there.periods, there.genres, there.works
    return fingerprint_of_snippets(*given) == estimator._fingerprints[0]


def _check_labels(estimator, labels):
    """Raise a ValueError if known senses are not those of ``fit``."""
    if estimator._fingerprints is None:
        return
    given, known = fingerprint_of_labels(labels), estimator._fingerprints[1]
    if given != known:
        was = "none" if known is None else "known senses"
        got = "none" if given is None else "other ones" if known is not None else "some"
        raise ValueError(
            f"y must be what fit was given, which was {was}; got {got}. Snippets of known sense "
            "count with their sense."
        )


def _contexts(there):
    """Genre, period and work of every context, and its snippets, as a fit keeps them."""
    labels = np.column_stack([there.periods, there.genres, there.works])
    found, counts = np.unique(labels, axis=0, return_counts=True)
    return np.column_stack([found[:, 1], found[:, 0], found[:, 2], counts])


def cells_senses(estimator):
    """Number of senses of a fitted estimator."""
    return estimator.posterior_["prevalence"].shape[-1]


# Words ------------------------------------------------------------------------------------------


def _read(estimator, X):
    """Counts of words in snippets, the words, and their columns where X is a count matrix."""
    X = materialise(X)
    kind = input_kind(X)
    warn_of_unread(estimator, kind)
    if kind == "counts":
        counts, names = named_matrix(estimator, X)
        _warn_of_fractions(counts)
        columns = frequent_columns(estimator, counts)
        return counts[:, columns], names[columns], columns
    forget_columns(estimator)
    corpus = frequent_corpus(estimator, X, kind)
    counts = document_counts(corpus.ids, corpus.offsets, corpus.words.size)
    return counts, np.asarray(corpus.words, dtype=str), None


def _warn_of_documents(counts):
    """Warn of samples too long to be the words around one use of a target word."""
    mean = counts.sum() / max(counts.shape[0], 1)
    if mean > _LONGEST:
        warn_user(
            f"Samples of X have {mean:.0f} words on average. DiSCSenseModel takes snippets, the "
            "words around each use of one target word, and gives each snippet one sense: "
            "datasets.extract_snippets cuts them out of documents.",
            UserWarning,
        )


def _warn_of_fractions(counts):
    """Warn of counts that are no whole numbers, which scikit-learn's checks of estimators pass."""
    fraction = counts.data != np.round(counts.data)
    if fraction.any():
        warn_user(
            f"X has counts that are no whole numbers, such as {counts.data[fraction][0]:.4g}. Each "
            "word of a snippet is one draw of the model; with weights, such as those of TF-IDF, "
            "words tell more or less than they do, and probabilities of senses and intervals mean "
            "nothing. Use raw counts.",
            UserWarning,
        )
