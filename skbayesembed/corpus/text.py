"""From documents to numbered words."""

from __future__ import annotations

import reprlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from scipy import sparse

from ..common.checks import is_whole, listed
from .analysis import Analyzer, analyzer_of
from .kinds import input_kind, materialise


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as word ids, one after the other.

    Attributes
    ----------
    ids : ndarray of shape (n_tokens,), dtype int32
        Index into ``words`` of every token, in reading order.
    offsets : ndarray of shape (n_documents + 1,), dtype int64
        Document ``d`` is ``ids[offsets[d]:offsets[d + 1]]``; it may be empty.
    words : ndarray of shape (n_types,), dtype object
        The word types as ``str``, by descending frequency, then alphabetically. The dtype is
        object, as in scikit-learn's ``get_feature_names_out``: a fixed-width array would cost
        every type the length of the longest.
    frequency : ndarray of shape (n_types,), dtype int64
        Number of tokens of each type.
    """

    ids: np.ndarray
    offsets: np.ndarray
    words: np.ndarray
    frequency: np.ndarray


def build_corpus(X: Iterable[Any], analyzer: Analyzer | None = None) -> Corpus:
    """Turn documents into word ids, with a vocabulary of all their types.

    Parameters
    ----------
    X : iterable of str or of lists of str
        Documents; an iterator is read once.
    analyzer : callable or None, default=None
        Cuts a document into tokens (see `make_analyzer`); None where ``X`` holds token lists.

    Returns
    -------
    corpus : Corpus
        Words by descending frequency, then alphabetically. No type is dropped.

    Raises
    ------
    TypeError, ValueError
        As `input_kind` and `check_tokens`; TypeError too if ``analyzer`` does not fit the kind of
        ``X``.

    Examples
    --------
    >>> from skbayesembed.corpus.text import build_corpus
    >>> corpus = build_corpus([["b", "a", "b"], [], ["c"]])
    >>> corpus.words.tolist(), corpus.ids.tolist(), corpus.offsets.tolist()
    (['b', 'a', 'c'], [0, 1, 0, 2], [0, 3, 3, 4])
    """
    documents = _documents(X, analyzer)
    # A missing key is numbered by its order of appearance: one dictionary look-up per token.
    numbering: defaultdict[Any, int] = defaultdict()
    numbering.default_factory = numbering.__len__
    ids, offsets = _number(documents, lambda tokens: map(numbering.__getitem__, tokens))
    check_tokens(numbering)

    words = np.empty(len(numbering), dtype=object)
    words[:] = list(numbering)
    frequency = np.bincount(ids, minlength=words.size).astype(np.int64, copy=False)
    alphabetical = np.argsort(words, kind="stable")
    order = alphabetical[np.argsort(-frequency[alphabetical], kind="stable")]
    rank = np.empty(words.size, dtype=np.int32)
    rank[order] = np.arange(words.size, dtype=np.int32)
    return Corpus(rank[ids], offsets, words[order], frequency[order])


def check_tokens(types: Iterable[Any]) -> None:
    """Raise an error for what is no token among those that an analyzer made.

    Raises
    ------
    TypeError
        If one is no str.
    ValueError
        If one is empty.
    """
    for token in types:
        if not isinstance(token, str):
            raise TypeError(f"the analyzer must return str tokens, got {token!r}.")
        if not token:
            raise ValueError(
                "the analyzer must return no empty tokens, got ''. Splitting at each blank makes "
                "them, where str.split() makes none, and so does a token_pattern that may match "
                "nothing."
            )


def restrict(corpus: Corpus, *, min_count: int = 1, max_features: int | None = None) -> Corpus:
    """Drop rare types. Their tokens vanish and the tokens around them close up, as in word2vec.

    Parameters
    ----------
    corpus : Corpus
        With words by descending frequency, as `build_corpus` makes them.
    min_count : int, default=1
        Least number of tokens of a type that stays.
    max_features : int or None, default=None
        Largest number of types that stay, the most frequent first (ties alphabetically).

    Returns
    -------
    corpus : Corpus
        The same number of documents; some may have become empty.

    Raises
    ------
    ValueError
        If a parameter is out of range or no word is left.
    """
    if not is_whole(min_count) or min_count < 1:
        raise ValueError(f"min_count must be an integer >= 1, got {min_count!r}.")
    if max_features is not None and (not is_whole(max_features) or max_features < 1):
        raise ValueError(f"max_features must be an integer >= 1 or None, got {max_features!r}.")
    # Types are sorted by frequency: those that stay are the first ones.
    n_words = int(np.count_nonzero(corpus.frequency >= min_count))
    if max_features is not None:
        n_words = min(n_words, int(max_features))
    if n_words == 0:
        raise ValueError(_empty_vocabulary(corpus, min_count))
    if n_words == corpus.words.size:
        return corpus
    ids, offsets = keep_tokens(corpus.ids, corpus.offsets, corpus.ids < n_words)
    return Corpus(ids, offsets, corpus.words[:n_words], corpus.frequency[:n_words])


def frequent_corpus(estimator: Any, X: Iterable[Any], kind: str) -> Corpus:
    """The corpus that an estimator is fitted on, its rare words dropped.

    Parameters
    ----------
    estimator : estimator
        With ``min_count``, ``max_features`` and what `analyzer_of` reads.
    X : iterable of str or of lists of str
    kind : str
        As of `input_kind`.

    Returns
    -------
    corpus : Corpus

    Raises
    ------
    TypeError, ValueError
        As `build_corpus` and `restrict`.
    """
    corpus = build_corpus(X, analyzer_of(estimator, kind))
    return restrict(corpus, min_count=estimator.min_count, max_features=estimator.max_features)


def keep_words(corpus: Corpus, kept: np.ndarray) -> Corpus:
    """Drop types by a mask over ``corpus.words``, of shape (n_types,), and their tokens."""
    place = np.cumsum(kept) - 1
    ids, offsets = keep_tokens(corpus.ids, corpus.offsets, kept[corpus.ids])
    return Corpus(place[ids], offsets, corpus.words[kept], corpus.frequency[kept])


def keep_tokens(
    ids: np.ndarray, offsets: np.ndarray, keep: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Drop tokens from documents.

    Parameters
    ----------
    ids : ndarray of shape (n_tokens,)
        Word ids of all documents, one after the other.
    offsets : ndarray of shape (n_documents + 1,)
        Where each document begins in ``ids``, and the end of the last.
    keep : ndarray of bool of shape (n_tokens,)
        Which tokens stay.

    Returns
    -------
    ids : ndarray of shape (n_kept,)
    offsets : ndarray of shape (n_documents + 1,), dtype int64
    """
    kept = np.zeros(len(keep) + 1, dtype=np.int64)
    np.cumsum(keep, out=kept[1:])
    return ids[keep], kept[offsets]


def encode(
    X: Iterable[Any], analyzer: Analyzer | None, vocabulary: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Turn documents into the word ids of a known vocabulary.

    Parameters
    ----------
    X : iterable of str or of lists of str
    analyzer : callable or None
        None where ``X`` holds token lists.
    vocabulary : dict of str to int

    Returns
    -------
    ids : ndarray of shape (n_tokens,), dtype int32
        -1 for words that are not in the vocabulary.
    offsets : ndarray of shape (n_documents + 1,), dtype int64

    Raises
    ------
    TypeError, ValueError
        As `build_corpus`.
    """
    look_up = vocabulary.get
    return _number(_documents(X, analyzer), lambda tokens: map(look_up, tokens, repeat(-1)))


def distinct_words(vocabulary: Any) -> np.ndarray:
    """The words of a vocabulary as an array.

    Parameters
    ----------
    vocabulary : iterable of str, dict of str to int, or Vocabulary
        Words of a dict are in the order of their indices, as scikit-learn's ``vocabulary_``; those
        of a set, which has no order, are sorted.

    Raises
    ------
    ValueError
        If it is empty, its entries are not different strings, or indices of a dict do not number
        its words.

    Examples
    --------
    >>> from skbayesembed.corpus.text import distinct_words
    >>> distinct_words({"sea": 1, "bank": 0}).tolist()
    ['bank', 'sea']
    """
    allowed = "vocabulary must be a list of different words, a dict from words to their indices "
    allowed += "(0, 1, ...) or a Vocabulary"
    words = _listed_words(vocabulary)
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{allowed}, got {reprlib.repr(vocabulary if words is None else words)}.")
    if "" in words:
        raise ValueError(f"{allowed}, got an empty str at {words.index('')}, which is no word.")
    twice = next((word for word, n in Counter(words).items() if n > 1), None)
    if twice is not None:
        raise ValueError(f"{allowed}, got {twice!r} more than once.")
    return np.asarray(words, dtype=str)


def _listed_words(vocabulary):
    """The entries of a vocabulary in their order; None for what is none."""
    if isinstance(vocabulary, Mapping):
        places = list(vocabulary.values())
        if not all(map(is_whole, places)) or sorted(places) != list(range(len(places))):
            return None
        return sorted(vocabulary, key=vocabulary.__getitem__)
    if not isinstance(vocabulary, Iterable):
        # of a `Vocabulary`
        vocabulary = getattr(vocabulary, "words", None)
    if isinstance(vocabulary, set | frozenset):
        return sorted(vocabulary, key=str)
    return listed(vocabulary)


def document_counts(ids: np.ndarray, offsets: np.ndarray, n_words: int) -> sparse.csr_array:
    """Count the words of each document.

    Parameters
    ----------
    ids : ndarray of shape (n_tokens,)
        Word ids; -1 (an unknown word) is ignored.
    offsets : ndarray of shape (n_documents + 1,)
    n_words : int

    Returns
    -------
    counts : csr_array of shape (n_documents, n_words), dtype float64
    """
    known = ids >= 0
    if not known.all():
        ids, offsets = keep_tokens(ids, offsets, known)
    shape = (len(offsets) - 1, n_words)
    # Two transpositions sort the columns of every document in linear time. int32 ones keep the
    # tokens' copies small; `tocsc` copies, so the caller's arrays stay as they are.
    counts = sparse.csr_array((np.ones(len(ids), dtype=np.int32), ids, offsets), shape=shape)
    counts = counts.tocsc().tocsr()
    counts.sum_duplicates()
    return counts.astype(np.float64)


# ---------------------------------------------------------------------------------------------


def _documents(X, analyzer):
    """Iterate over the tokens of each document; a TypeError if ``analyzer`` does not fit ``X``."""
    X = materialise(X)
    kind = input_kind(X)
    if kind == "counts":
        raise TypeError("X holds numbers, which have no words: expected documents or token lists.")
    if analyzer is None and kind == "text":
        raise TypeError("X holds str documents but analyzer is None: give an analyzer.")
    if analyzer is not None and kind == "tokens":
        raise TypeError("X holds token lists, which need no analyzer: give analyzer=None.")
    return X if analyzer is None else map(analyzer, X)


def _number(documents, numbers_of):
    """Ids of all documents one after the other, and offsets; ``numbers_of`` maps tokens to ids."""
    # an ``array`` grows without a Python object for each integer
    ids, ends = array("i"), array("q", [0])
    for index, tokens in enumerate(documents):
        try:
            ids.extend(numbers_of(tokens))
        except TypeError as error:
            raise TypeError(f"document {index} is not a sequence of str tokens: {error}") from error
        ends.append(len(ids))
    return np.asarray(ids, dtype=np.int32), np.asarray(ends, dtype=np.int64)


def _empty_vocabulary(corpus, min_count):
    if corpus.words.size == 0:
        return (
            "the vocabulary is empty: the documents have no tokens. If they are texts, the default "
            "token_pattern leaves out words of one letter, and stop_words theirs."
        )
    most = corpus.frequency[0]
    return (
        f"the vocabulary is empty: no word occurs min_count={min_count} times; the most frequent, "
        f"{str(corpus.words[0])!r}, occurs {'once' if most == 1 else f'{most} times'}."
    )
