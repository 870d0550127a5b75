"""How similar documents are: to each other, and to words."""

from __future__ import annotations

import numpy as np

from ..common.checks import check_prob
from ..common.memory import check_memory
from ..common.warnings import warn_user
from .comparisons import several
from .predict import word_shares
from .questions.asking import ask, blank
from .questions.kinds import Cosines
from .questions.operands import Operands, together
from .questions.phrases import operands_of, phrase_of


def document_operands(counts):
    """`Operands` that are the features of documents: the mean target vectors of their words."""
    n = counts.shape[0]
    return Operands(word_shares(counts), np.zeros(n, int), np.zeros(n, bool))


def word_operands(estimator, words, shift=0):
    """`Operands` of words, lists of words or axes, and what they are called."""
    phrases = [phrase_of(estimator, what, "words") for what in several(words, "words")]
    labels = [phrase.label for phrase in phrases]
    return operands_of(phrases, estimator._n_places, shift), labels


def document_similarity(estimator, documents, other, prob, labels=None):
    """The `Answer` of the cosines of documents with other documents, or with words.

    Parameters
    ----------
    estimator : BayesianSGNS or DynamicSGNS
    documents : Operands
    other : Operands or None
        None for the documents themselves.
    prob : float
    labels : list of str, optional
        What words are called, where ``other`` are words.

    Raises
    ------
    MemoryError
        If what it takes would not fit.

    Warns
    -----
    UserWarning
        Of documents without a known word, whose answers are NaN.
    """
    check_prob(prob)
    n = len(documents)
    m = n if other is None else len(other)
    k, n_draws = estimator._n_means, estimator._n_drawn
    check_memory(
        8 * n_draws * (2 * (n + m) * k + 4 * n * m),
        f"The draws of {n} documents' vectors and of their similarities with {m}",
        "Pass fewer documents.",
    )
    operands = documents if other is None else together(documents, other)
    rows, columns = np.indices((n, m)).reshape(2, -1)
    index = np.column_stack([rows, columns + (0 if other is None else n)])
    others = {"other": range(m)} if labels is None else {"word": labels}
    title, axes = "similarity of documents", {"document": range(n), **others}
    found = ask(estimator, Cosines(operands, index), prob, (n, m), title=title, axes=axes)
    rows = without_words(documents)
    columns = rows if other is None else without_words(other) & (labels is None)
    _warn_of("X", rows)
    if other is not None:
        _warn_of("other", columns)
    return blank(found, rows[:, None] | columns)


def without_words(documents):
    """Which documents have no known word, bool (n_documents,)."""
    return np.diff(documents.weights.indptr) == 0


def _warn_of(name, empty):
    if empty.any():
        n = np.count_nonzero(empty)
        warn_user(
            f"{name}: {n:,} of {empty.size:,} documents {'has' if n == 1 else 'have'} no known "
            f"word, so that similarities to {'it' if n == 1 else 'them'} are NaN (the first is "
            f"document {np.flatnonzero(empty)[0]}).",
            UserWarning,
        )
