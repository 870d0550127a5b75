"""Documents in the words of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..common.warnings import warn_user
from .analysis import analyzer_of
from .count_matrix import count_matrix
from .kinds import input_kind, materialise
from .text import document_counts, encode


def known_counts(
    estimator: Any, X: Any, *, without_columns: str = "text or tokens"
) -> sparse.csr_array:
    """Count the words of the vocabulary in each document.

    Parameters
    ----------
    estimator : estimator
        Fitted: with ``vocabulary_``, ``words_``, and ``_columns``, which are the words among the
        columns of a count matrix, or None unless fitted on one.
    X : documents or counts
        An iterator is read once.
    without_columns : str
        As of `check_kind`.

    Returns
    -------
    csr_array of shape (n_documents, n_words), dtype float64

    Raises
    ------
    TypeError, ValueError
        As `text.input_kind`, `check_kind` and `count_matrix.count_matrix`.
    """
    X = materialise(X)
    kind = input_kind(X)
    check_kind(estimator, kind, without_columns=without_columns)
    if kind == "counts":
        return count_matrix(estimator, X)[:, estimator._columns]
    ids, offsets = encode(X, analyzer_of(estimator, kind), estimator.vocabulary_)
    return document_counts(ids, offsets, estimator.words_.size)


def check_place(estimator: Any, place: int, name: str) -> None:
    """Raise a KeyError if an index is also the name of another word, which may be what is meant.

    Columns of a data frame may be named by integers, and their words are these in digits. Where
    all words of a vocabulary are numbers, an index is one of a word of that name or none at all.

    Parameters
    ----------
    estimator : estimator
        With ``vocabulary_`` and ``words_``.
    place : int
        An index within the vocabulary.
    name : str
        The argument, for the message.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from skbayesembed.corpus.known import check_place
    >>> model = SimpleNamespace(words_=np.array(["sea", "1"]), vocabulary_={"sea": 0, "1": 1})
    >>> check_place(model, 1, "word")
    """
    words = estimator.words_
    here, own = str(words[place]), str(place)
    if here == own or (own not in estimator.vocabulary_ and not _all_numbers(words)):
        return
    known = own in estimator.vocabulary_
    there = f"the word {own!r}" if known else f"{own!r}, which is no word"
    raise KeyError(
        f"{name}={place} may mean {there}, or the word at index {place} of the vocabulary, "
        f"{here!r}: pass a str, {f'{own!r} or ' if known else ''}{here!r}."
    )


def _all_numbers(words):
    return all(str(word).isdecimal() for word in words)


def warn_of_unknown(counts: Any, get: str, what: str = "documents") -> None:
    """Warn of documents that have no known word, whose features are not about them.

    Parameters
    ----------
    counts : sparse array of shape (n_documents, n_words)
        Of known words.
    get : str
        What they get instead.
    what : str
        What the documents are called.
    """
    n = int(np.count_nonzero(np.asarray(counts.sum(axis=1)).ravel() == 0))
    if n:
        warn_user(
            f"{n:,} of {counts.shape[0]:,} {what} of X {'has' if n == 1 else 'have'} no known "
            f"word, and {'gets' if n == 1 else 'get'} {get}.",
            UserWarning,
        )


def check_kind(estimator: Any, kind: str, *, without_columns: str = "text or tokens") -> None:
    """Raise a ValueError if ``fit`` was given counts and X now is text or tokens, or the reverse.

    Parameters
    ----------
    estimator : estimator
        Fitted; ``_columns`` is None unless it was fitted on counts.
    kind : str
        The kind of X, see `text.input_kind`.
    without_columns : str
        What the error calls the inputs that ``fit`` accepts besides a count matrix.
    """
    on_counts = estimator._columns is not None
    if (kind == "counts") != on_counts:
        raise ValueError(
            f"X is {'a count matrix' if kind == 'counts' else kind}, but the estimator was fitted "
            f"on {'a count matrix' if on_counts else without_columns}."
            + (_how_to_count(estimator, kind) if on_counts else "")
        )


def _how_to_count(estimator, kind):
    """What makes a count matrix of text or tokens, with the columns of ``fit``."""
    for name in ("feature_names_in_", "feature_names"):
        if getattr(estimator, name, None) is not None:
            how = "" if kind == "text" else ", analyzer=list"
            return (
                f" Count it in the same columns: CountVectorizer(vocabulary=list(model.{name})"
                f"{how}).transform(X), with the other options that those of fit were counted with."
            )
    return " Count it in the same columns, with the CountVectorizer that made those of fit."
