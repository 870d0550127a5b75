"""Words with their vectors: the one form that all files are read into and written from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ..common.checks import (
    as_floats,
    check_choice,
    check_list,
)

SIDES = {"target": "rho_", "context": "alpha_"}
_ALLOWED = (
    "a fitted BayesianSGNS or DynamicSGNS, vectors_at(period) of the latter, gensim's KeyedVectors "
    "or a model that has them, WordVectors, another mapping from words to vectors, or a pandas "
    "DataFrame with words as index"
)


def is_frame_of_words(source: Any) -> bool:
    """Whether it is a DataFrame of pandas' with words, not numbers of rows, as its index."""
    if not all(hasattr(source, name) for name in ("index", "iloc", "columns", "to_numpy")):
        return False
    return any(isinstance(entry, str) for entry in source.index)


class WordVectors(Mapping[str, np.ndarray]):
    """Words with their vectors, a mapping from word to vector.

    Parameters
    ----------
    words : sequence of str of shape (n_words,)
    vectors : array-like of shape (n_words, n_dims)
        Word vectors, kept in their dtype if it is float32 or float64.

    Attributes
    ----------
    words : ndarray of str of shape (n_words,), dtype object
    vectors : ndarray of shape (n_words, n_dims)

    Raises
    ------
    ValueError
        If the words are not distinct strings, or are not one for each row of ``vectors``, or the
        vectors are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.io import WordVectors
    >>> vectors = WordVectors(["tree", "forest"], np.eye(2))
    >>> vectors
    WordVectors: 2 words, 2 dimensions, float64
    >>> vectors["forest"].tolist(), "river" in vectors
    ([0.0, 1.0], False)
    """

    def __init__(self, words: Iterable[str], vectors: ArrayLike) -> None:
        self.words = _words(words)
        self.vectors = _vectors(vectors, self.words)
        self._place = {word: i for i, word in enumerate(self.words.tolist())}
        if len(self._place) != self.words.size:
            twice = next(w for i, w in enumerate(self.words.tolist()) if self._place[w] != i)
            raise ValueError(f"words must be different, got {twice!r} twice.")

    @classmethod
    def of(cls, source: Any, *, side: str = "target", period: Any = None) -> Self:
        """Return the vectors of any object that has word vectors.

        Parameters
        ----------
        source : fitted estimator, KeyedVectors, mapping or DataFrame
            A fitted `BayesianSGNS` or `DynamicSGNS`, or ``vectors_at(period)`` of the latter,
            whose posterior means are used; gensim's
            KeyedVectors or a model that has them as ``wv``; a mapping from words to vectors; a
            pandas DataFrame with words as its index, other rows of which are left out.
        side : {"target", "context"}, default="target"
            For an estimator: ``rho_`` or ``alpha_``.
        period : number, date or str, optional
            For a `DynamicSGNS`: a time in the period, or its label.

        Returns
        -------
        WordVectors

        Raises
        ------
        TypeError
            If ``source`` has no vectors.
        ValueError
            If a period is needed and missing, or given and not needed.

        Examples
        --------
        >>> from skbayesembed.io import WordVectors
        >>> WordVectors.of({"tree": [1.0, 0.5], "forest": [0.9, 0.6]})["forest"].tolist()
        [0.9, 0.6]
        """
        if isinstance(source, cls):
            return source
        if isinstance(source, FrozenEstimator):
            source = source.estimator
        if hasattr(type(source), "rho_"):
            return cls(*_of_estimator(source, side, period))
        if period is not None:
            raise ValueError(f"period is for a DynamicSGNS, got {type(source).__name__}.")
        if hasattr(source, "rho_") and hasattr(source, "words_"):
            if side != "target":
                raise ValueError(f"side must be 'target' for {source!r}, got {side!r}.")
            return cls(source.words_, source.rho_)
        if is_frame_of_words(source):
            kept = source.iloc[[isinstance(entry, str) for entry in source.index]]
            return cls(kept.index.tolist(), kept.to_numpy())
        keyed = getattr(source, "wv", source)
        if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors"):
            return cls(keyed.index_to_key, keyed.vectors)
        if not isinstance(keyed, Mapping) or not keyed:
            given = getattr(source, "embedding", None) is not None
            more = ", whose vectors are those it was given: pass model.embedding" if given else ""
            raise TypeError(f"source must be {_ALLOWED}, got {type(source).__name__}{more}.")
        return cls(keyed, _stacked(keyed))

    def __getitem__(self, word: str) -> np.ndarray:
        return self.vectors[self._place[word]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, word: object) -> bool:
        return word in self._place

    # equality of mappings would compare arrays, and that has no single truth value
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        n, k = self.vectors.shape
        return f"WordVectors: {n} words, {k} dimensions, {self.vectors.dtype}"


def to_keyed_vectors(source: Any, *, side: str = "target", period: Any = None) -> Any:
    """Convert any object that has word vectors to gensim's KeyedVectors.

    Parameters
    ----------
    source, side, period
        As in `WordVectors.of`.

    Returns
    -------
    gensim.models.KeyedVectors
        With words in the same order, in float32 as gensim's own: it scales vectors of float64 in
        place when it compares two words.

    Raises
    ------
    ImportError
        If gensim is not installed.
    TypeError, ValueError
        As in `WordVectors.of`.

    Examples
    --------
    >>> from skbayesembed.io import WordVectors, to_keyed_vectors
    >>> vectors = WordVectors(["tree", "forest"], [[1.0, 0.5], [0.9, 0.6]])
    >>> keyed = to_keyed_vectors(vectors)
    >>> keyed.most_similar("tree")
    [('forest', 0.9922...)]
    """
    vectors = WordVectors.of(source, side=side, period=period)
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise ImportError(
            "to_keyed_vectors needs gensim: pip install skbayesembed[gensim]"
        ) from error
    keyed = KeyedVectors(vectors.vectors.shape[1], dtype=np.float32)
    keyed.add_vectors(vectors.words.tolist(), vectors.vectors.astype(np.float32))
    return keyed


def _of_estimator(estimator, side, period):
    """Words and vectors of a fitted estimator."""
    check_choice("side", side, tuple(SIDES))
    check_is_fitted(estimator, "posterior_")
    vectors, name = getattr(estimator, SIDES[side]), type(estimator).__name__
    if vectors.ndim == 2:
        if period is not None:
            raise ValueError(f"period is for a DynamicSGNS, got {name}.")
        return estimator.words_, vectors
    if period is None:
        raise ValueError(
            f"period must be given for {name}, whose vectors are those of a period: one of "
            f"{estimator.periods_.labels}, or a time in it."
        )
    return estimator.words_, vectors[estimator.periods_.find(period, "period")]


def _stacked(mapping):
    """Vectors of a mapping as rows."""
    rows = [np.asarray(vector) for vector in mapping.values()]
    shapes = {row.shape for row in rows}
    if len(shapes) > 1:
        raise ValueError(f"vectors must have one length, got shapes {sorted(shapes)[:3]}.")
    return np.stack(rows)


def _words(words):
    """Words as an array of objects: a fixed width would cost each that of the longest."""
    words = list(words) if isinstance(words, Mapping) else check_list("words", words, "str")
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise ValueError(f"words must be str, got words[{i}] = {word!r}.")
    out = np.empty(len(words), dtype=object)
    out[:] = [str(word) for word in words]
    return out


def _vectors(vectors, words):
    """Vectors as a table of finite floats."""
    try:
        vectors = np.asarray(vectors)
        if vectors.dtype not in (np.float32, np.float64):
            vectors = as_floats(vectors)
    except ValueError as error:
        raise ValueError(f"vectors must hold numbers: {error}") from error
    if vectors.ndim != 2 or len(vectors) != words.size or not vectors.shape[1]:
        raise ValueError(
            f"vectors must have a row for each of the {words.size} words and at least one column, "
            f"got shape {vectors.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise ValueError(
            f"vectors must be finite, got NaN or infinity for {bad.size} word(s), the first "
            f"{words[bad[0]]!r}."
        )
    return vectors
