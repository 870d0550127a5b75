"""Vocabularies of large texts: counted in parts, added up, cut at the end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..common.checks import (
    check_bool,
    check_integer,
    check_list,
)
from ..common.files import FORMATS, read_npz, write_npz
from .analysis import make_analyzer
from .streams import documents_of
from .text import check_tokens

_FORMAT, _VERSION = FORMATS["Vocabulary"], 1
_CUTS = ("min_count", "max_features")
READING = ("analyzer", "lowercase", "stop_words", "token_pattern")


class Vocabulary:
    r"""Word types of a text and their numbers of occurrences, which add up over parts of the text.

    All types are kept, since one that is rare in every part may be frequent overall. ``words`` are
    those that pass ``min_count`` and ``max_features`` in the sum.

    Parameters
    ----------
    counts : mapping of str to int
        Number of tokens of every type.
    n_documents : int, default=0
    min_count, max_features, analyzer, lowercase, stop_words, token_pattern
        As in `build_vocabulary`.

    Attributes
    ----------
    counts : dict of str to int
    n_documents, n_tokens : int
    words : ndarray of object of shape (n_words,)
        By descending frequency, then alphabetically, as in ``BayesianSGNS.fit``.
    frequency : ndarray of int64 of shape (n_words,)
        Number of tokens of each word.

    See Also
    --------
    build_vocabulary : Counts the word types of texts.

    Examples
    --------
    >>> from skbayesembed import build_vocabulary
    >>> parts = [["a b b a", "a c"], ["c c a"]]
    >>> options = {"min_count": 2, "token_pattern": r"\w+"}
    >>> whole = sum(build_vocabulary(texts, **options) for texts in parts)
    >>> whole
    Vocabulary(n_words=3, n_types=3, n_tokens=9)
    >>> whole.words.tolist(), whole.frequency.tolist()
    (['a', 'c', 'b'], [4, 3, 2])
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        n_documents: int = 0,
        *,
        min_count: int = 5,
        max_features: int | None = None,
        analyzer: str | Callable = "word",
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
    ) -> None:
        check_integer("min_count", min_count, 1)
        if max_features is not None:
            check_integer("max_features", max_features, 1)
        check_bool("lowercase", lowercase)
        if stop_words is not None and not isinstance(stop_words, str):
            stop_words = check_list("stop_words", stop_words, "str")
            if not all(isinstance(word, str) for word in stop_words):
                raise ValueError(f"stop_words must be a list of str, got {stop_words!r}.")
            stop_words = sorted(set(stop_words))
        make_analyzer(
            analyzer, lowercase=lowercase, stop_words=stop_words, token_pattern=token_pattern
        )
        self.counts, self.n_documents = dict(counts), int(n_documents)
        self.min_count = int(min_count)
        self.max_features = None if max_features is None else int(max_features)
        self.analyzer, self.lowercase = analyzer, bool(lowercase)
        self.stop_words, self.token_pattern = stop_words, token_pattern

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all types."""
        return sum(self.counts.values())

    @cached_property
    def _cut(self):
        types = np.empty(len(self.counts), dtype=object)
        types[:] = list(self.counts)
        frequency = np.fromiter(self.counts.values(), np.int64, types.size)
        kept = np.flatnonzero(frequency >= self.min_count)
        types, frequency = types[kept], frequency[kept]
        order = np.argsort(types, kind="stable")
        order = order[np.argsort(-frequency[order], kind="stable")][: self.max_features]
        return types[order], frequency[order]

    @property
    def words(self) -> np.ndarray:
        """The words that pass ``min_count`` and ``max_features``, by descending frequency."""
        return self._cut[0]

    @property
    def frequency(self) -> np.ndarray:
        """Number of tokens of each word."""
        return self._cut[1]

    def __repr__(self) -> str:
        return (
            f"Vocabulary(n_words={self.words.size}, n_types={len(self.counts)}, "
            f"n_tokens={self.n_tokens})"
        )

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_cut"}

    def __add__(self, other: Vocabulary) -> Vocabulary:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        for name in (*_CUTS, *READING):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise ValueError(
                    f"vocabularies must have been built alike to be added, got {name}={mine!r} and "
                    f"{name}={its!r}."
                )
        counts = Counter(self.counts)
        counts.update(other.counts)
        return self._like(counts, self.n_documents + other.n_documents)

    def __radd__(self, other: int) -> Vocabulary:
        # sum() begins with 0
        return self if other == 0 else NotImplemented

    def _like(self, counts, n_documents):
        return Vocabulary(counts, n_documents, **self._settings())

    def _settings(self):
        return {name: getattr(self, name) for name in (*_CUTS, *READING)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary to one ``.npz`` file that `load` reads back, without pickle.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ValueError
            If ``analyzer`` is a function, which a file cannot store.

        Examples
        --------
        >>> import os, tempfile
        >>> from skbayesembed import Vocabulary, build_vocabulary
        >>> vocabulary = build_vocabulary(["the cat sat on the mat"], min_count=1)
        >>> path = os.path.join(tempfile.mkdtemp(), "words.npz")
        >>> vocabulary.save(path)
        >>> len(Vocabulary.load(path).words)
        5
        """
        if not isinstance(self.analyzer, str):
            raise ValueError(
                f"analyzer must be a str for a vocabulary to be saved, got {self.analyzer!r}: keep "
                "`counts` yourself, or pass token lists, which need no analyzer."
            )
        header = {
            **self._settings(),
            "n_documents": self.n_documents,
            "types": list(self.counts),
        }
        counts = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        write_npz(path, _FORMAT, _VERSION, header, {"counts": counts})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a vocabulary written by `save`.

        Parameters
        ----------
        path : str or path-like
            Path of the file, with or without ``.npz``.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file does not contain a vocabulary.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from skbayesembed import Vocabulary, build_vocabulary
        >>> vocabulary = build_vocabulary(["the cat sat", "the dog sat"], min_count=1)
        >>> path = Path(tempfile.mkdtemp()) / "words.npz"
        >>> vocabulary.save(path)
        >>> Vocabulary.load(path).words.tolist()
        ['sat', 'the', 'cat', 'dog']
        """
        header, arrays = read_npz(path, _FORMAT, _VERSION, "vocabulary")
        counts = dict(zip(header.pop("types"), arrays["counts"].tolist(), strict=True))
        return cls(counts, **header)


def build_vocabulary(
    texts: Any,
    *,
    min_count: int = 5,
    max_features: int | None = None,
    analyzer: str | Callable = "word",
    lowercase: bool = True,
    stop_words: str | Iterable[str] | None = None,
    token_pattern: str = r"(?u)\b\w\w+\b",
) -> Vocabulary:
    r"""Count the word types of texts, or of a part of them.

    Parameters
    ----------
    texts : iterable of str or of lists of str
        Documents as strings or as token lists. An iterator, such as an open file with one document
        per line, is read once and not kept in memory.
    min_count : int, default=5
        Drop words that occur less often in the whole text, once all parts are added.
    max_features : int or None, default=None
        Keep only the most frequent words.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for documents given as strings. Use the same analyzer for the
        estimator that is fitted later, which reads texts with it.
    lowercase : bool, default=True
    stop_words : {"english"}, list of str or None, default=None
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        As in `BayesianSGNS`.

    Returns
    -------
    Vocabulary
        Add vocabularies of parts of a text with ``a + b`` or ``sum``.

    Raises
    ------
    TypeError, ValueError
        If texts are not documents, or an option is not allowed.

    See Also
    --------
    count_pairs : Counts pairs of these words.

    Examples
    --------
    >>> from skbayesembed import build_vocabulary
    >>> parts = ["the cat sat on the mat"], ["the dog sat on the rug"]
    >>> vocabulary = sum(build_vocabulary(part, min_count=2) for part in parts)
    >>> vocabulary.words.tolist()
    ['the', 'on', 'sat']
    """
    empty = Vocabulary(
        {},
        min_count=min_count,
        max_features=max_features,
        analyzer=analyzer,
        lowercase=lowercase,
        stop_words=stop_words,
        token_pattern=token_pattern,
    )
    counts: Counter[str] = Counter()
    n_documents = 0
    for tokens in documents_of(texts, empty):
        counts.update(tokens)
        n_documents += 1
    check_tokens(counts)
    return empty._like(counts, n_documents)
