"""Documents in the words of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..common.warnings import warn_user
from .count_matrix import count_matrix
from .kinds import input_kind, materialise
from .text import analyzer_of, document_counts, encode


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
