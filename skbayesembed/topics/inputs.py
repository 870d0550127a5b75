"""What `GaussianLDA` accepts, turned into counts of words and the vectors of these words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..common.warnings import warn_user
from ..corpus.analysis import analyzer_of, warn_of_unread
from ..corpus.count_matrix import (
    column_names,
    count_matrix,
    forget_columns,
    frequent_columns,
    matrix_names,
    named_matrix,
)
from ..corpus.embedding import (
    draws_of,
    each_drawn,
    missing_file,
    note_missing,
    source_of,
    source_of_words,
    vectors_of_columns,
    warn_of_missing_file,
)
from ..corpus.kinds import input_kind, materialise
from ..corpus.known import check_kind
from ..corpus.text import (
    build_corpus,
    distinct_words,
    document_counts,
    encode,
    keep_words,
    restrict,
)
from ..corpus.units import sizes_of
from .checks import check_dimensions
from .vectors import Normaliser

FOR_TEXT = "vocabulary is for text: the words of a count matrix are its columns."


@dataclass(frozen=True)
class Training:
    """Documents for a fit, and what their numbers stand for.

    Attributes
    ----------
    counts : csr_array of shape (n_documents, n_words), float64
    vectors : ndarray of shape (n_words, n_dims)
        Centered and scaled by ``normaliser``; as they were given where that is None.
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None where fitted on text.
    normaliser : Normaliser or None
    n_dropped_words, n_dropped_tokens : int
        Words without a vector and their occurrences.
    vector_draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Of the vectors, centered and scaled in the same way; None where their uncertainty is left
        out.
    """

    counts: sparse.csr_array
    vectors: np.ndarray
    words: np.ndarray
    columns: np.ndarray | None
    normaliser: Normaliser | None = None
    n_dropped_words: int = 0
    n_dropped_tokens: int = 0
    vector_draws: np.ndarray | None = None

    @property
    def sizes(self):
        """Numbers of documents and of tokens, a dict."""
        return sizes_of(self.counts.shape[0], self.counts.sum())


@dataclass(frozen=True)
class Reading:
    """Documents for a fitted model.

    Attributes
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Of those words only that occur.
    vectors : ndarray of shape (n_words, n_dims)
    places : ndarray of int of shape (n_words,)
        Place in the vocabulary of training, -1 for words that are not in it, or have a vector of
        their own.
    """

    counts: sparse.csr_array
    vectors: np.ndarray
    places: np.ndarray


def training_data(estimator, X, vocabulary=None, *, stream=False):
    """`Training` of whatever ``fit`` accepts; notes the columns of a count matrix.

    Words of documents are those of ``vocabulary``, where one is given. All columns of a count
    matrix are words where it is the first batch of a ``stream``, as others may occur later.
    """
    training = _read(estimator, X, vocabulary, stream)
    normaliser = Normaliser.learn(estimator.normalize, training.vectors)
    training = replace(training, vectors=normaliser(training.vectors), normaliser=normaliser)
    if estimator.embedding_draws is not None:
        source = source_of(estimator.embedding)
        drawn = draws_of(source, training.words.tolist(), int(estimator.embedding_draws))
        drawn = each_drawn(normaliser, drawn, training.words.size)
        training = replace(training, vector_draws=drawn)
    n_types = np.unique(training.counts.indices).size
    if n_types == 0:
        raise ValueError("X has no tokens: every document is empty, or none of its words is kept.")
    if vocabulary is not None:  # others may come in later batches
        n_types = training.words.size
    if estimator.n_components > n_types:
        cause = f", or lower min_count={estimator.min_count}" if estimator.min_count > 1 else ""
        raise ValueError(
            f"n_components={estimator.n_components} is larger than the number of different words "
            f"{'kept of X' if vocabulary is None else 'given'}, {n_types}: choose at most "
            f"{n_types}{cause}."
        )
    check_dimensions(estimator, training.vectors.shape[1])
    return training


def _read(estimator, X, vocabulary, stream):
    """`Training` with vectors as they were given.

    Words of documents without a vector go before ``max_features`` is looked at.
    """
    X = materialise(X)
    kind = input_kind(X)
    warn_of_unread(estimator, kind)
    if kind == "counts":
        if vocabulary is not None:
            raise ValueError(FOR_TEXT)
        counts, names = named_matrix(estimator, X)
        vectors = vectors_of_columns(estimator.embedding, names)
        columns = np.arange(len(names))
        if counts.nnz and not stream:  # where there is none, that is said of all columns
            columns = frequent_columns(estimator, counts, unseen=False)
        return Training(counts[:, columns], vectors[columns], names[columns], columns)
    forget_columns(estimator)
    if vocabulary is not None:
        words, vectors, n_dropped = _given_words(estimator, vocabulary)
        places = {word: i for i, word in enumerate(words.tolist())}
        ids, offsets = encode(X, analyzer_of(estimator, kind), places)
        counts = document_counts(ids, offsets, words.size)
        return Training(counts, vectors, words, None, n_dropped_words=n_dropped)
    source = source_of_words(estimator.embedding)
    corpus = build_corpus(X, analyzer_of(estimator, kind))
    if corpus.words.size == 0:
        raise ValueError(
            "no word is left of X after the analyzer: its documents are empty, or have only "
            "numbers, single letters or stop words."
        )
    vectors, found = source.find(corpus.words.tolist())
    lost = int(corpus.frequency[~found].sum())
    note_missing(corpus.words, found, corpus.frequency, "are left out")
    known = keep_words(corpus, found)
    known = restrict(known, min_count=estimator.min_count, max_features=estimator.max_features)
    return Training(
        document_counts(known.ids, known.offsets, known.words.size),
        vectors[: known.words.size],
        np.asarray(known.words, dtype=str),
        None,
        n_dropped_words=int((~found).sum()),
        n_dropped_tokens=lost,
    )


def _given_words(estimator, vocabulary):
    """The words of a vocabulary that have a vector, these vectors, and how many have none."""
    words = distinct_words(vocabulary)
    vectors, found = source_of_words(estimator.embedding).find(words.tolist())
    if vectors is None:
        raise ValueError(f"embedding has no vector for any of the {words.size} words given.")
    return words[found], vectors, int((~found).sum())


def whole_tokens(counts, what="solver='gibbs'"):
    """Counts rounded to whole tokens, with a warning where they were none."""
    rounded = np.rint(counts.data)
    if np.array_equal(rounded, counts.data):
        return counts
    warn_user(
        f"X has counts that are no whole numbers; {what} gives a topic to every token and "
        "takes them rounded.",
        UserWarning,
    )
    # a copy: taking zeros out moves the entries of the arrays that it is made of
    given = rounded, counts.indices, counts.indptr
    counts = sparse.csr_array(given, shape=counts.shape, copy=True)
    counts.eliminate_zeros()
    return counts


def reading(estimator, X, embedding=None):
    """`Reading` of documents, with whatever words have a vector.

    Words of documents are looked up in ``embedding``, where one is given, then among those of
    training, then in the estimator's own; where that is a file which is not there any more, new
    words are left out, with a warning. The columns of a count matrix are those of ``fit``, or
    those that a given embedding has vectors for.
    """
    X = materialise(X)
    kind = input_kind(X)
    if kind == "counts" and embedding is not None:
        counts = count_matrix(estimator, X, reset=None)
        names = _names_of_other(estimator, X, counts.shape[1])
        vectors = estimator._normaliser(vectors_of_columns(embedding, names))
        return _occurring(counts, vectors, np.full(len(names), -1))
    check_kind(estimator, kind)
    if kind == "counts":
        return _column_reading(estimator, count_matrix(estimator, X), X)
    return _text_reading(estimator, X, kind, embedding)


def _names_of_other(estimator, X, n_columns):
    """Names of the columns of a matrix that need not be those of ``fit``.

    Where it has none of its own, ``feature_names`` stand for as many columns.
    """
    columns, names = getattr(X, "columns", None), estimator.feature_names
    if columns is None and names is not None and len(names) == n_columns:
        return matrix_names(estimator, X, n_columns)
    return column_names(n_columns, columns)


def vocabulary_reading(estimator, counts):
    """`Reading` of counts of the vocabulary's words."""
    return _occurring(counts, estimator._vectors, np.arange(counts.shape[1]))


def _column_reading(estimator, counts, X):
    """`Reading` of a count matrix with the columns of ``fit``, also of those that it dropped."""
    places = np.full(counts.shape[1], -1)
    places[estimator._columns] = np.arange(estimator._columns.size)
    if np.all(places[counts.indices] >= 0):
        return vocabulary_reading(estimator, counts[:, estimator._columns])
    names = _names_at_reading(estimator, X, counts.shape[1])
    if (path := missing_file(estimator.embedding)) is not None:
        new = np.unique(counts.indices[places[counts.indices] < 0])
        warn_of_missing_file(path, [str(names[j]) for j in new])
        return vocabulary_reading(estimator, counts[:, estimator._columns])
    vectors = estimator._normaliser(vectors_of_columns(estimator.embedding, names))
    return _occurring(counts, vectors, places)


def _names_at_reading(estimator, X, n_columns):
    """Names of the columns of a matrix like that of ``fit``, which has told where it named them."""
    named_in_fit = estimator.feature_names is None and not hasattr(X, "columns")
    if named_in_fit and hasattr(estimator, "feature_names_in_"):
        return np.asarray(estimator.feature_names_in_, dtype=str)
    return matrix_names(estimator, X, n_columns)


def _text_reading(estimator, X, kind, embedding):
    corpus = build_corpus(X, analyzer_of(estimator, kind))
    words = corpus.words.tolist()
    places = np.array([estimator.vocabulary_.get(word, -1) for word in words], dtype=np.int64)
    vectors = np.empty((len(words), estimator._vectors.shape[1]))
    vectors[places >= 0] = estimator._vectors[places[places >= 0]]
    known = places >= 0
    if embedding is not None:
        given = np.zeros(len(words), dtype=bool)
        _fill(estimator, source_of_words(embedding), words, ~given, vectors, given)
        # with a vector of their own they are no longer those of training
        places[given] = -1
        known |= given
    _fill_from_own(estimator, words, vectors, known)
    # in an order that does not depend on the other documents
    index = np.flatnonzero(known)
    index = np.array(sorted(index, key=lambda i: (places[i] < 0, places[i], words[i])), dtype=int)
    column = np.full(len(words), -1)
    column[index] = np.arange(index.size)
    counts = document_counts(column[corpus.ids], corpus.offsets, index.size)
    return Reading(counts, vectors[index], places[index])


def _fill_from_own(estimator, words, vectors, known):
    """Look up those words that are not known yet in the estimator's own embedding."""
    new = np.flatnonzero(~known)
    if (path := missing_file(estimator.embedding)) is None:
        _fill(estimator, source_of_words(estimator.embedding), words, ~known, vectors, known)
    elif new.size:
        warn_of_missing_file(path, [words[i] for i in new])


def _fill(estimator, source, words, asked, vectors, known):
    """Look up the vectors of those words that are asked for; note which are known now."""
    index = np.flatnonzero(asked)
    found, there = source.find([words[i] for i in index])
    if found is not None:
        vectors[index[there]] = estimator._normaliser(found)
        known[index[there]] = True


def _occurring(counts, vectors, places):
    """`Reading` without the words that do not occur."""
    used = np.unique(counts.indices)
    return Reading(sparse.csr_array(counts[:, used]), vectors[used], places[used])


def halves(counts):
    """Cut documents into two halves: every other token, in the order of the columns.

    The same for every model, and for a document whatever the others are. Fractional counts of a
    document are laid end to end on a line that starts at 0: what lies in [0, 1), [2, 3), [4, 5) and
    so on is the first half.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)

    Returns
    -------
    first, second : csr_array of shape (n_documents, n_words)
    """
    counts = sparse.csr_array(counts)
    counts.sort_indices()
    total = np.concatenate([[0.0], np.cumsum(counts.data)])
    start = np.repeat(total[counts.indptr[:-1]], np.diff(counts.indptr))
    low, high = total[:-1] - start, total[1:] - start
    of_first = _in_even_lengths(high) - _in_even_lengths(low)
    parts = []
    for data in (of_first, counts.data - of_first):
        # rounding of the sums leaves crumbs
        data = np.where(data > 1e-9 * (1 + high), data, 0.0)
        part = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
        part = part.copy()
        part.eliminate_zeros()
        parts.append(part)
    return parts


def weighted(counts, weights):
    """Counts times the weights (n_documents,) of the documents; those of weight 0 are dropped."""
    counts = sparse.csr_array(counts, copy=True)
    counts.data = counts.data * np.repeat(weights, np.diff(counts.indptr))
    counts.eliminate_zeros()
    return counts


def _in_even_lengths(x):
    """Length of what of [0, x) lies in [0, 1), [2, 3), [4, 5) and so on."""
    whole = np.floor(x / 2)
    return whole + np.minimum(x - 2 * whole, 1.0)
