"""What the estimator accepts, turned into pair counts: training counts and held-out counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ..corpus.text import analyzer_of, build_corpus, document_counts, encode, input_kind, restrict
from .batches import CorpusBatches, MatrixBatches, PairBatches
from .checks import check_words
from .counting import (
    PairCounts,
    document_pairs,
    expected_negatives,
    sampled_negatives,
    subsample,
    window_pairs,
)

# The scoring protocol: the same for every candidate, whatever it was trained with.
SCORE_WINDOW = 5
SCORE_NEGATIVE = 1
SCORE_EXPONENT = 0.75


@dataclass(frozen=True)
class Training:
    """Counts for a fit.

    Attributes
    ----------
    counts : PairCounts
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None unless fitted on one.
    source : object or None
        Batches of counts where learning is online; ``counts`` is None then.
    """

    counts: PairCounts | None
    words: np.ndarray
    columns: np.ndarray | None = None
    source: object = None

    @cached_property
    def vocabulary(self):
        """Place of each word, dict of str to int."""
        return {word: i for i, word in enumerate(self.words.tolist())}


@dataclass(frozen=True)
class HeldOut:
    """Counts to score: ``index`` is each held-out word's place in the vocabulary, or -1."""

    counts: PairCounts
    index: np.ndarray


def kind_of(X):
    """``"pairs"``, ``"text"``, ``"tokens"`` or ``"counts"``; generators are listed first."""
    if isinstance(X, PairCounts):
        return "pairs", X
    if not hasattr(X, "__len__") and not hasattr(X, "shape") and hasattr(X, "__iter__"):
        X = list(X)
    return input_kind(X), X


def check_count_matrix(estimator, X):
    """Non-negative finite counts as a float64 csr matrix; ValueError otherwise."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    X = sparse.csr_array(X)
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: X must hold counts "
            f">= 0, got {X.data.min():g}."
        )
    return X


def training_data(estimator, X, seed):
    """`Training` of whatever ``fit`` accepts, for its way of learning.

    Parameters
    ----------
    estimator : BayesianSGNS
        The columns of a count matrix are noted in it.
    X : documents, counts or PairCounts
    seed : numpy.random.SeedSequence
        For counts that are drawn: sampled negatives, subsampling, dynamic windows.

    Raises
    ------
    ValueError
        If X is not allowed, or ``anchors`` or ``keep_draws`` name words that it does not have.
    """
    kind, X = kind_of(X)
    forget_columns(estimator, kind)
    if estimator.learning_method == "online":
        training = training_batches(estimator, X, kind)
    else:
        training = training_counts(estimator, X, kind, np.random.default_rng(seed))
    check_words(estimator, training.vocabulary)
    return training


def training_batches(estimator, X, kind):
    """`Training` whose ``source`` makes the counts of a batch when it is asked for."""
    if kind == "pairs":
        training = _given_pairs(estimator, X)
        return Training(None, training.words, None, PairBatches(training.counts))
    if kind == "counts":
        matrix, words, columns = checked_matrix(estimator, X)
        return Training(None, words, columns, MatrixBatches(matrix))
    corpus = checked_corpus(estimator, X, kind)
    source = CorpusBatches(
        estimator, corpus.ids, corpus.offsets, corpus.words.size, corpus.frequency
    )
    return Training(None, corpus.words, None, source)


def training_counts(estimator, X, kind, rng):
    """`Training` with the counts of all documents."""
    if kind == "pairs":
        return _given_pairs(estimator, X)
    if kind == "counts":
        return training_from_counts(estimator, *checked_matrix(estimator, X), rng)
    return training_from_corpus(estimator, X, kind, rng)


def forget_columns(estimator, kind):
    """Drop what an earlier fit on a count matrix noted of its columns."""
    if kind != "counts":
        for name in ("n_features_in_", "feature_names_in_"):
            estimator.__dict__.pop(name, None)


def named_matrix(estimator, X):
    """A count matrix to be fitted on, and the names of its columns."""
    counts = check_columns(estimator, X, reset=True)
    names = column_names(estimator, counts.shape[1], getattr(X, "columns", None))
    return counts, np.asarray(names, dtype=str)


def checked_matrix(estimator, X):
    """The columns of a count matrix that are words, those words, and where the columns were."""
    counts, names = named_matrix(estimator, X)
    columns = chosen_columns(estimator, counts)
    return counts[:, columns], names[columns], columns


def checked_corpus(estimator, X, kind):
    """A corpus of sequences for training, rare words dropped."""
    corpus = build_corpus(X, analyzer_of(estimator, kind))
    corpus = restrict(corpus, min_count=estimator.min_count, max_features=estimator.max_features)
    check_vocabulary(estimator, corpus.words.size)
    return corpus


def training_again(estimator, X, rng):
    """The counts that a fitted estimator was trained on, made anew from the same data."""
    kind, X = kind_of(X)
    if kind == "pairs":
        training = _given_pairs(estimator, X)
    elif kind == "counts":
        fitted_kind(estimator, kind)
        counts = check_columns(estimator, X)
        columns = chosen_columns(estimator, counts)
        _check_same(estimator, np.array_equal(columns, estimator._columns), columns.size)
        matrix, words = counts[:, columns], estimator.words_
        return training_from_counts(estimator, matrix, words, columns, rng)
    else:
        training = training_from_corpus(estimator, X, fitted_kind(estimator, kind), rng)
    same = np.array_equal(training.words, estimator.words_)
    _check_same(estimator, same, training.words.size)
    return training


def _check_same(estimator, same, n_words):
    if not same:
        raise ValueError(
            f"X must be the data that fit was given, with its vocabulary of "
            f"{estimator.words_.size} words; X has {n_words} others or in other order."
        )


def _given_pairs(estimator, X):
    check_vocabulary(estimator, X.n_words)
    words = X.words if X.words is not None else _default_names(X.n_words)
    return Training(X, np.asarray(words, dtype=str))


def column_names(estimator, n_columns, columns):
    """Names of the columns of a count matrix: given, its own, or x0, x1, ..."""
    names = columns if estimator.feature_names is None else estimator.feature_names
    if names is None:
        return _default_names(n_columns)
    source = "the columns of X" if estimator.feature_names is None else "feature_names"
    names = [str(name) for name in names]
    if len(names) != n_columns or len(set(names)) != len(names):
        raise ValueError(
            f"{source} must name the {n_columns} columns of X once each, got "
            f"{len(names)} names, {len(set(names))} different."
        )
    return names


def _default_names(n):
    return [f"x{i}" for i in range(n)]


def check_columns(estimator, X, reset=False):
    """A count matrix with the columns that the estimator was fitted on, or is being fitted on."""
    X = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1
    )
    return check_count_matrix(estimator, X)


def fitted_kind(estimator, kind):
    """``kind``; a ValueError where the estimator was fitted on another kind of input."""
    if (kind == "counts") != (estimator._columns is not None):
        on_counts = estimator._columns is not None
        fitted = "a count matrix" if on_counts else "text, tokens or PairCounts"
        raise ValueError(
            f"X is {'a count matrix' if kind == 'counts' else kind}, but the estimator was "
            f"fitted on {fitted}."
        )
    return kind


def training_from_corpus(estimator, X, kind, rng):
    """Pair counts of a corpus of sequences by the estimator's window and sampling options."""
    corpus = checked_corpus(estimator, X, kind)
    ids, offsets = corpus.ids, corpus.offsets
    if estimator.subsample is not None:
        ids, offsets = subsample(ids, offsets, corpus.frequency, estimator.subsample, rng)
    positive = window_pairs(
        ids,
        offsets,
        corpus.words.size,
        window=estimator.window,
        window_weights=estimator.window_weights,
        rng=rng,
    )
    return Training(finish_counts(estimator, positive, corpus.words, rng), corpus.words)


def training_from_counts(estimator, matrix, words, columns, rng):
    """Pair counts of a document-word matrix, the whole document being the context."""
    positive = document_pairs(matrix)
    return Training(finish_counts(estimator, positive, words, rng), words, columns)


def chosen_columns(estimator, X):
    """Columns of a count matrix that ``min_count`` and ``max_features`` leave."""
    frequency = np.asarray(X.sum(axis=0)).ravel()
    columns = np.flatnonzero(frequency >= max(estimator.min_count, 1e-300))
    if estimator.max_features is not None and columns.size > estimator.max_features:
        order = np.argsort(-frequency[columns], kind="stable")[: estimator.max_features]
        columns = np.sort(columns[order])
    check_vocabulary(estimator, columns.size)
    return columns


def finish_counts(estimator, positive, words, rng):
    """Add the negative pairs to the positive ones."""
    if positive.sum() == 0:
        raise ValueError(
            "X has no pair of words: every document has fewer than two words of the vocabulary. "
            "Lower min_count or subsample less, or pass longer documents."
        )
    options = {"negative": estimator.negative, "ns_exponent": estimator.ns_exponent}
    if estimator.negative_sampling == "expected":
        negative = expected_negatives(positive, **options)
    else:
        negative = sampled_negatives(positive, rng=rng, **options)
    return PairCounts(positive, negative, words)


def check_vocabulary(estimator, n_words):
    """Raise a ValueError where too few words are left."""
    if n_words == 0:
        raise ValueError(
            f"empty vocabulary: no word of X occurs min_count={estimator.min_count} times or "
            "more. Lower min_count, or check the analyzer."
        )
    if estimator.n_components > n_words:
        raise ValueError(
            f"n_components={estimator.n_components} is larger than the vocabulary of {n_words} "
            f"word(s): choose at most {n_words}, or lower min_count={estimator.min_count}."
        )


def held_out_pairs(estimator, X, kind):
    """Held-out counts of documents by the fixed scoring protocol."""
    if kind == "counts":
        X = check_columns(estimator, X)
        index = known_columns(estimator, X.shape[1])
        positive = document_pairs(X)
    else:
        corpus = build_corpus(X, analyzer_of(estimator, kind))
        index = known_words(estimator, corpus.words)
        positive = window_pairs(
            corpus.ids,
            corpus.offsets,
            corpus.words.size,
            window=SCORE_WINDOW,
            window_weights="linear",
        )
    if positive.sum() == 0:
        raise ValueError("X has no pair of words to score: every document has fewer than two.")
    negative = expected_negatives(positive, negative=SCORE_NEGATIVE, ns_exponent=SCORE_EXPONENT)
    return HeldOut(PairCounts(positive, negative), index)


def held_out_counts(estimator, counts):
    """`HeldOut` of pair counts that the user made: words matched by name where there are any."""
    if counts.total == 0:
        raise ValueError("X has no observed pair to score: all its counts are zero.")
    if counts.words is None:
        if counts.n_words != estimator.words_.size:
            raise ValueError(
                f"X has pair counts of {counts.n_words} words without names, the estimator was "
                f"fitted on {estimator.words_.size}."
            )
        return HeldOut(counts, np.arange(counts.n_words))
    return HeldOut(counts, known_words(estimator, counts.words))


def known_words(estimator, words):
    """Place of each word in the vocabulary, or -1."""
    return np.array([estimator.vocabulary_.get(w, -1) for w in words.tolist()], dtype=int)


def known_columns(estimator, n_columns):
    """Place of each column of a count matrix in the vocabulary, or -1."""
    index = np.full(n_columns, -1)
    index[estimator._columns] = np.arange(estimator._columns.size)
    return index


def count_documents(estimator, X, kind):
    """Counts of the vocabulary's words in each document, csr (n_documents, n_words)."""
    if kind == "counts":
        return sparse.csr_array(check_columns(estimator, X)[:, estimator._columns])
    ids, offsets = encode(X, analyzer_of(estimator, kind), estimator.vocabulary_)
    return document_counts(ids, offsets, estimator.words_.size)
