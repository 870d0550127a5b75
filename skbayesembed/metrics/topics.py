"""Measures of topics: how coherent their words are in a reference corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..common.checks import check_choice, check_integer, check_list
from ..corpus.analysis import make_analyzer
from ..corpus.kinds import input_kind, materialise
from ..corpus.text import build_corpus, document_counts
from .checks import check_numbers


def coherence(
    topics: Iterable[Iterable[Any]],
    X_ref: Any,
    *,
    measure: str = "npmi",
    n: int = 10,
    vocabulary: Mapping[str, int] | Sequence[str] | None = None,
) -> np.ndarray:
    """Compute the coherence of the words of topics from their co-occurrence in documents.

    Coherence is the mean, over pairs of a topic's words, of

        pmi:   log(p(w, v) / (p(w) p(v)))
        npmi:  pmi / -log p(w, v)

    where p(w) is the share of reference documents that contain word w, and p(w, v) the share that
    contain both words (Newman et al. 2010; Bouma 2009). If no document has both, npmi is -1, its
    limit, and pmi is computed as if one document had. Pairs with a word that is in no reference
    document are left out.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words), or list of lists
        Words of each topic, most important first: strings, or columns of ``X_ref``.
    X_ref : count matrix or documents
        The reference corpus: (n_documents, n_columns) counts, sparse or dense, or documents as
        strings or token lists. Strings are split into words as by scikit-learn's `CountVectorizer`.
    measure : {"npmi", "pmi"}, default="npmi"
        Normalized or plain pointwise mutual information.
    n : int, default=10
        Number of words to use from each topic, the first ones; at least 2.
    vocabulary : dict of str to int or list of str, optional
        Columns of the words of ``topics``, if these are strings and ``X_ref`` holds counts; by
        default the column names of a DataFrame.

    Returns
    -------
    ndarray of shape (n_topics,)
        NaN for a topic without a pair of words that both occur.

    Raises
    ------
    ValueError
        If words cannot be matched to columns, or there are no reference documents.

    References
    ----------
    Newman, Lau, Grieser & Baldwin (2010). Automatic Evaluation of Topic Coherence. NAACL.
    Bouma (2009). Normalized (Pointwise) Mutual Information in Collocation Extraction. GSCL.

    Examples
    --------
    >>> from skbayesembed.metrics import coherence
    >>> documents = ["cat dog", "dog cat hen", "tin iron", "iron tin zinc"]
    >>> coherence([["cat", "dog"], ["cat", "tin"]], documents).round(2)
    array([ 1., -1.])
    """
    check_choice("measure", measure, ("npmi", "pmi"))
    check_integer("n", n, 2)
    topics = check_list("topics", topics, "lists of words")
    topics = [check_list("topics", topic, "lists of words")[:n] for topic in topics]
    counts, columns = _reference(topics, X_ref, vocabulary)
    places = {column: i for i, column in enumerate(columns)}
    met = _documents_in_common(counts[:, columns])
    out = np.full(len(topics), np.nan)
    for k, topic in enumerate(topics):
        # a word that is there twice would be met by itself
        index = [places[column] for column in dict.fromkeys(topic) if column in places]
        values = _pairs(met[np.ix_(index, index)], counts.shape[0], measure)
        if values.size:
            out[k] = values.mean()
    return out


# ---------------------------------------------------------------------------------------------


def _reference(topics, X_ref, vocabulary):
    """Counts of the reference, and the columns in use; changes topics to lists of columns."""
    X_ref = materialise(X_ref)
    kind = input_kind(X_ref)
    named = any(isinstance(word, str) for topic in topics for word in topic)
    if kind == "counts":
        if vocabulary is None and named:
            vocabulary = getattr(X_ref, "columns", None)
            if vocabulary is None:
                raise ValueError(
                    "vocabulary must be given where topics are words and X_ref is a count matrix."
                )
        counts = X_ref if sparse.issparse(X_ref) else check_numbers(X_ref, "X_ref")
        counts = sparse.csr_array(counts)
    else:
        if not named:
            raise ValueError("topics must be words where X_ref holds documents, got columns.")
        corpus = build_corpus(X_ref, make_analyzer() if kind == "text" else None)
        counts = document_counts(corpus.ids, corpus.offsets, corpus.words.size)
        vocabulary = corpus.words.tolist()
    if named:
        if not isinstance(vocabulary, Mapping):
            vocabulary = {str(word): i for i, word in enumerate(vocabulary)}
        for topic in topics:
            topic[:] = [vocabulary.get(str(word), -1) for word in topic]
    used = {int(column) for topic in topics for column in topic}
    if used and max(used) >= counts.shape[1]:
        raise ValueError(
            f"topics must be columns of X_ref, from 0 to {counts.shape[1] - 1}, got {max(used)}."
        )
    return counts, sorted(column for column in used if column >= 0)


def _documents_in_common(counts):
    """Number of documents that have both of every two words, dense (n, n)."""
    seen = sparse.csc_array(counts > 0, dtype=np.float64)
    return (seen.T @ seen).toarray()


def _pairs(met, n_documents, measure):
    """The measure of every pair of words both of which occur, ndarray."""
    i, j = np.triu_indices(len(met), 1)
    single, both = np.diag(met), met[i, j]
    there = (single[i] > 0) & (single[j] > 0)
    i, j, both = i[there], j[there], both[there]
    share = np.maximum(both, 1.0) / n_documents
    pmi = np.log(share * n_documents**2 / (single[i] * single[j]))
    if measure == "pmi":
        return pmi
    # words that are in every document tell nothing: 0
    npmi = np.divide(pmi, -np.log(share), out=np.zeros_like(pmi), where=share < 1)
    npmi[both == 0] = -1.0
    return npmi
