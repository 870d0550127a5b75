"""From documents to numbered words.

What kind of input X is, how documents are cut into tokens by scikit-learn's analyzers, and how
tokens become ids of words.
"""

from __future__ import annotations

import numbers
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from ..common.checks import is_whole, listed

# Cuts a document into its tokens.
Analyzer = Callable[[Any], list[str]]

_ANALYZERS = ("word", "char", "char_wb")
_ALLOWED = (
    "X must be documents (a list, array or Series of str), token lists (a list of lists of str) "
    "or a count matrix (sparse, 2-D array, DataFrame or list of lists of numbers)"
)


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


def materialise(X: Any) -> Any:
    """Read an iterator of documents into a list; everything else comes back untouched.

    Parameters
    ----------
    X : array-like, sparse matrix or iterable

    Returns
    -------
    X : list if ``X`` was an iterator (a generator, an open file) or an iterable without a
        length, otherwise ``X`` itself.
    """
    if isinstance(X, Iterable) and (hasattr(X, "__next__") or not _has_length(X)):
        return list(X)
    return X


def input_kind(X: Any) -> str:
    """Tell texts, token lists and count matrices apart.

    Parameters
    ----------
    X : list, tuple, array, Series, DataFrame or sparse matrix

    Returns
    -------
    kind : {"text", "tokens", "counts"}
        "text" for a list, array or Series of ``str``; "tokens" for a list of lists of ``str``;
        "counts" for a sparse matrix, a 2-D array or DataFrame of numbers and a list of lists of
        numbers. The numbers themselves (NaN, negative) are not looked at.

    Raises
    ------
    TypeError
        If ``X`` is a bare ``str`` or bytes, a mapping or set, an iterator (use `materialise`
        first), or if its entries are of another type than the above.
    ValueError
        If there are no documents, if kinds are mixed, if an entry is missing (None or NaN), or
        if an array has the wrong number of dimensions.
    """
    if isinstance(X, str):
        raise TypeError(
            "X is a single str: one document must be wrapped in a list, [text]. " + _ALLOWED + "."
        )
    if isinstance(X, bytes | bytearray):
        raise TypeError(f"X is {type(X).__name__}: decode it to str first. {_ALLOWED}.")
    if sparse.issparse(X):
        return "counts"
    if isinstance(X, Mapping | Set):
        raise TypeError(f"{_ALLOWED}, got a {type(X).__name__}, which has no order of documents.")
    if hasattr(X, "__next__"):
        raise TypeError(f"{_ALLOWED}, got an iterator; wrap it: list(X).")
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        return _frame_kind(X)
    if hasattr(X, "dtype") or hasattr(X, "__array__"):
        return _array_kind(X)
    if isinstance(X, Iterable):
        return _sequence_kind(list(X))
    raise TypeError(f"{_ALLOWED}, got {type(X).__name__}.")


def make_analyzer(
    analyzer: str | Analyzer = "word",
    *,
    lowercase: bool = True,
    stop_words: str | Iterable[str] | None = None,
    token_pattern: str = r"(?u)\b\w\w+\b",
) -> Analyzer:
    r"""Make the function that cuts a document into tokens, as scikit-learn's vectorizers do.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        A callable takes a document and returns its tokens; the other parameters are then unused.
    lowercase : bool, default=True
        Whether documents are lower-cased first.
    stop_words : {"english"}, list of str or None, default=None
        Words to drop (only for ``analyzer="word"``); "english" is scikit-learn's list.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Regular expression of a token (only for ``analyzer="word"``).

    Returns
    -------
    analyze : callable
        ``analyze(document) -> list of str``.

    Raises
    ------
    ValueError
        If ``analyzer`` or ``stop_words`` is a string with no meaning, or ``token_pattern`` is not
        a regular expression with at most one group.

    Examples
    --------
    >>> from skbayesembed.corpus.text import make_analyzer
    >>> make_analyzer()("The cat sat; the dog ran.")
    ['the', 'cat', 'sat', 'the', 'dog', 'ran']
    """
    if not callable(analyzer) and not (isinstance(analyzer, str) and analyzer in _ANALYZERS):
        raise ValueError(
            f"analyzer must be a callable or one of {', '.join(map(repr, _ANALYZERS))}, "
            f"got {analyzer!r}."
        )
    if isinstance(stop_words, str) and stop_words != "english":
        raise ValueError(
            f"stop_words must be 'english', a list of str or None, got {stop_words!r}."
        )
    if analyzer == "word" and not isinstance(token_pattern, str):
        raise ValueError(
            f"token_pattern must be a str (a regular expression), got {token_pattern!r}."
        )
    vectorizer = CountVectorizer(
        analyzer=analyzer, lowercase=lowercase, stop_words=stop_words, token_pattern=token_pattern
    )
    try:
        return vectorizer.build_analyzer()
    except Exception as error:
        raise ValueError(
            f"analyzer={analyzer!r}, stop_words={stop_words!r} and token_pattern={token_pattern!r} "
            f"do not make an analyzer: {error}"
        ) from error


def analyzer_of(estimator: Any, kind: str) -> Analyzer | None:
    """The analyzer that an estimator's parameters ask for; None if documents are token lists.

    Parameters
    ----------
    estimator : estimator
        With ``analyzer``, ``lowercase``, ``stop_words`` and ``token_pattern``.
    kind : str
        As of `input_kind`.
    """
    if kind != "text":
        return None
    return make_analyzer(
        estimator.analyzer,
        lowercase=estimator.lowercase,
        stop_words=estimator.stop_words,
        token_pattern=estimator.token_pattern,
    )


def why_unknown(estimator: Any, word: Any) -> str:
    """Why a word may be missing from the vocabulary of an estimator, for messages.

    Parameters
    ----------
    estimator : estimator
        With ``stop_words``, ``min_count`` and ``max_features``.
    word : object
        A str or what a user gave for one.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.corpus.text import why_unknown
    >>> why_unknown(BayesianSGNS(stop_words=["sea"], min_count=2), "Sea")
    'it is one of the stop_words, which are left out'
    >>> why_unknown(BayesianSGNS(stop_words="english", min_count=2), "sea")
    'min_count=2 and max_features=None drop rare words'
    """
    if isinstance(word, str):
        stops = CountVectorizer(stop_words=estimator.stop_words).get_stop_words() or ()
        if word in stops or (estimator.lowercase and word.lower() in stops):
            named = f" of {estimator.stop_words!r}" if isinstance(estimator.stop_words, str) else ""
            return f"it is one of the stop_words{named}, which are left out"
    return (
        f"min_count={estimator.min_count} and max_features={estimator.max_features} drop rare words"
    )


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
        As `input_kind`; TypeError too if ``analyzer`` does not fit the kind of ``X``.

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
    _check_tokens(numbering)

    words = np.empty(len(numbering), dtype=object)
    words[:] = list(numbering)
    frequency = np.bincount(ids, minlength=words.size).astype(np.int64, copy=False)
    alphabetical = np.argsort(words, kind="stable")
    order = alphabetical[np.argsort(-frequency[alphabetical], kind="stable")]
    rank = np.empty(words.size, dtype=np.int32)
    rank[order] = np.arange(words.size, dtype=np.int32)
    return Corpus(rank[ids], offsets, words[order], frequency[order])


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


def distinct_words(vocabulary: Iterable[str]) -> np.ndarray:
    """The words of a list as an array.

    Raises
    ------
    ValueError
        If it is empty, or its entries are not different strings.
    """
    words = listed(vocabulary) or []
    if not words or not all(isinstance(w, str) for w in words) or len(set(words)) != len(words):
        raise ValueError(f"vocabulary must be a list of different words, got {vocabulary!r:.60}.")
    return np.asarray(words, dtype=str)


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


def _check_tokens(numbering):
    for token in numbering:
        if not isinstance(token, str):
            raise TypeError(f"the analyzer must return str tokens, got {token!r}.")


def _empty_vocabulary(corpus, min_count):
    if corpus.words.size == 0:
        return "the vocabulary is empty: the documents have no tokens."
    return (
        f"the vocabulary is empty: no word occurs min_count={min_count} times; the most frequent, "
        f"{str(corpus.words[0])!r}, occurs {corpus.frequency[0]} times."
    )


def _has_length(X):
    return hasattr(X, "__len__") or hasattr(X, "shape")


def _frame_kind(X):
    """Kind of a DataFrame: counts, or a TypeError if a column does not hold numbers."""
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        kind = getattr(dtype, "kind", "O")
        if kind not in "biufcO" or (kind == "O" and any(isinstance(x, str) for x in X[name])):
            raise TypeError(
                f"X is a DataFrame whose column {name!r} is not numeric; a column of documents is "
                f"passed by itself, X[{name!r}]. {_ALLOWED}."
            )
    return "counts"


def _array_kind(X):
    """Kind of an array or Series, by its dimensions and dtype."""
    values = X if hasattr(X, "ndim") and hasattr(X, "dtype") else np.asarray(X)
    kind = getattr(values.dtype, "kind", "O")
    if kind == "S":
        raise TypeError(f"X is an array of bytes: decode it to str first. {_ALLOWED}.")
    if values.ndim == 1 and kind not in "biufc":
        return _sequence_kind(list(values))
    if values.ndim != 2:
        raise ValueError(
            f"{_ALLOWED}, got an array with {values.ndim} dimension(s) and dtype {values.dtype}. "
            "Reshape your data: X.reshape(1, -1) if it is the counts of a single document."
        )
    if kind == "U" or (kind == "O" and any(isinstance(x, str) for x in np.asarray(values).flat)):
        raise TypeError(
            "X is a 2-D array of str; pass documents as a 1-D array (X.ravel()) or token lists as "
            f"lists (X.tolist()). {_ALLOWED}."
        )
    return "counts"


def _sequence_kind(documents):
    """Kind of a list of documents; all entries must be of the same kind."""
    if not documents:
        raise ValueError(f"X has no documents. {_ALLOWED}.")
    if all(issubclass(cls, str) for cls in set(map(type, documents))):
        return "text"
    found, lengths = {}, set()
    for index, document in enumerate(documents):
        kind = _entry_kind(document, f"X[{index}]")
        if kind != "empty":
            found.setdefault(kind, index)
        if kind not in ("text", "number"):
            lengths.add(len(document))
        if len(found) > 1:
            (a, i), (b, j) = found.items()
            names = {"text": "a str", "tokens": "a list of str", "counts": "a list of numbers"}
            raise ValueError(
                f"X mixes kinds: X[{i}] is {names.get(a, 'a number')}, "
                f"X[{j}] is {names.get(b, 'a number')}. {_ALLOWED}."
            )
    kind = next(iter(found), "tokens")
    if kind == "number":
        raise ValueError(
            f"{_ALLOWED}, got a list of numbers. Reshape your data: [X] if it is the counts of a "
            "single document."
        )
    if kind == "counts" and len(lengths) > 1:
        raise ValueError(
            f"X is a list of lists of numbers of different lengths ({min(lengths)} to "
            f"{max(lengths)}): a count matrix has one column per word."
        )
    return kind


def _entry_kind(entry, name):
    """Kind of one entry of a list: "text", "number", "tokens", "counts" or "empty"."""
    if isinstance(entry, str):
        return "text"
    _refuse_missing(entry, name)
    if isinstance(entry, numbers.Number | np.bool_):
        return "number"
    if isinstance(entry, np.ndarray) and entry.ndim == 1 and entry.size:
        kind = entry.dtype.kind
        if kind in "biufcU":
            return "tokens" if kind == "U" else "counts"
    if not isinstance(entry, list | tuple | np.ndarray) and not hasattr(entry, "iloc"):
        raise TypeError(f"{name} is a {type(entry).__name__}. {_ALLOWED}.")
    if getattr(entry, "ndim", 1) != 1:
        raise ValueError(f"{name} is an array of {entry.ndim} dimensions. {_ALLOWED}.")
    # All types of a document at a time: the set is tiny, whatever the document's length.
    types = set(map(type, entry))
    if not types:
        return "empty"
    if all(issubclass(cls, str) for cls in types):
        return "tokens"
    for position, item in enumerate(entry):
        if not isinstance(item, float):
            _refuse_missing(item, f"{name}[{position}]")
    if all(issubclass(cls, numbers.Number | np.bool_) for cls in types):
        return "counts"
    names = ", ".join(sorted(cls.__name__ for cls in types))
    raise ValueError(f"{name} must hold only str or only numbers, got {names}. {_ALLOWED}.")


def _refuse_missing(value, name):
    if isinstance(value, bytes | bytearray):
        raise TypeError(f"{name} is {type(value).__name__}: decode it to str first.")
    missing = value is None or (isinstance(value, float) and value != value)
    if missing or type(value).__name__ in ("NAType", "NaTType"):
        raise ValueError(f"{name} is missing ({value!r}): drop it or make it an empty str.")


def take_documents(X: Any, rows: np.ndarray) -> Any:
    """Some of the documents or rows of counts, by their places.

    Parameters
    ----------
    X : list, array, sparse matrix, Series or DataFrame
    rows : ndarray of int

    Returns
    -------
    X : of the same kind
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]
