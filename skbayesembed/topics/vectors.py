"""Word vectors as users have them, looked up by word or by column, centred and scaled."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..io.vectors import find_vectors

_ALLOWED = (
    "a mapping from words to vectors (a dict or gensim's KeyedVectors), the path of a file of "
    "vectors (word2vec's formats or GloVe's), a fitted BayesianSGNS "
    "(wrapped in scikit-learn's FrozenEstimator where the estimator is cloned) or an array with "
    "a row for each column of X"
)


class WordVectors:
    """Vectors that are looked up by word.

    Parameters
    ----------
    has : callable
        Whether a word has a vector.
    get : callable
        The vector of a word.
    """

    def __init__(self, has, get):
        self._has, self._get = has, get

    def find(self, words):
        """Vectors of those words that have one.

        Returns
        -------
        vectors : ndarray of shape (n_found, n_dims)
            None where no word has a vector.
        found : ndarray of bool of shape (n_words,)
        """
        found = np.array([bool(self._has(word)) for word in words], dtype=bool)
        if not found.any():
            return None, found
        names = [word for word, there in zip(words, found, strict=True) if there]
        vectors = [np.asarray(self._get(word)) for word in names]
        shapes = {vector.shape for vector in vectors}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise ValueError(
                "embedding must have vectors of one length, got shapes "
                f"{sorted(shapes, key=str)[:3]}."
            )
        return check_vectors(np.stack(vectors), names), found


class FileVectors(WordVectors):
    """Vectors of a file, which is read anew for the words that are looked up."""

    def __init__(self, path):
        self.path = path

    def find(self, words):
        """As of `WordVectors`."""
        found = np.zeros(len(words), dtype=bool)
        there = find_vectors(self.path, words) if len(words) else None
        if there is None:
            return None, found
        found[:] = [word in there for word in words]
        return check_vectors([there[word] for word in words if word in there]), found


def source_of(embedding):
    """What users call an embedding: `WordVectors`, or an array (n_columns, n_dims).

    Raises
    ------
    TypeError
        If it is none of what is allowed.
    ValueError
        If it is missing, or an array that holds anything but finite numbers.
    """
    if embedding is None:
        raise ValueError(f"embedding must be given: {_ALLOWED}.")
    if isinstance(embedding, str | os.PathLike):
        if not os.path.isfile(embedding):
            raise ValueError(f"embedding must be {_ALLOWED}; there is no file {str(embedding)!r}.")
        return FileVectors(embedding)
    # scikit-learn's FrozenEstimator
    inner = getattr(embedding, "estimator", embedding)
    if hasattr(type(inner), "rho_") or hasattr(inner, "rho_"):
        check_is_fitted(inner, "rho_")
        places, rho = inner.vocabulary_, inner.rho_
        return WordVectors(places.__contains__, lambda word: rho[places[word]])
    vectors = getattr(embedding, "wv", embedding)  # a whole model of gensim's
    if hasattr(vectors, "key_to_index") and hasattr(vectors, "__getitem__"):
        return WordVectors(vectors.key_to_index.__contains__, vectors.__getitem__)
    if hasattr(vectors, "shape") or isinstance(vectors, list | tuple):
        return check_vectors(vectors)
    if hasattr(vectors, "__getitem__") and hasattr(vectors, "__contains__"):
        return WordVectors(vectors.__contains__, vectors.__getitem__)
    raise TypeError(f"embedding must be {_ALLOWED}, got {type(embedding).__name__}.")


def check_vectors(vectors, names=None):
    """Float64 array (n_words, n_dims) of finite numbers; ValueError otherwise."""
    try:
        vectors = np.array(vectors, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"embedding must hold vectors of numbers: {error}") from error
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(
            "embedding must be a 2-D array with a row for each word and at least one column, got "
            f"shape {vectors.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        which = f"row {bad[0]}" if names is None else repr(names[bad[0]])
        raise ValueError(
            f"embedding must hold finite numbers, got NaN or infinity in {bad.size} vector(s), "
            f"the first that of {which}."
        )
    return vectors


def vectors_of_columns(embedding, names):
    """Vectors of the columns of a count matrix, all of which must have one."""
    source = source_of(embedding)
    if not isinstance(source, WordVectors):
        if len(source) != len(names):
            raise ValueError(
                f"embedding must have a row for each of the {len(names)} columns of X, got "
                f"{len(source)} rows."
            )
        return source
    vectors, found = source.find(names)
    if not found.all():
        lacking = [str(name) for name in np.asarray(names)[~found][:3]]
        raise ValueError(
            f"embedding has no vector for {int((~found).sum())} of the {len(names)} columns of X, "
            f"{lacking} among them. "
            + ("Name the columns by feature_names=; drop" if "x0" in lacking else "Drop")
            + " columns without a vector; or pass documents, whose words without one are dropped."
        )
    return vectors


def source_of_words(embedding):
    """`WordVectors` for documents, whose words an array cannot be aligned with."""
    source = source_of(embedding)
    if not isinstance(source, WordVectors):
        raise ValueError(
            "embedding must be a mapping from words to vectors where X holds documents, got an "
            f"array of shape {source.shape}, which is for the columns of a count matrix."
        )
    return source


@dataclass(frozen=True)
class Normaliser:
    """Centring, and scaling to unit length, as learned in training.

    Attributes
    ----------
    kind : {"unit", "center"} or None
    centre : ndarray of shape (n_dims,)
        Mean vector of the training words, each counted once; zero where ``kind`` is None.
    """

    kind: str | None
    centre: np.ndarray

    @classmethod
    def learn(cls, kind, vectors):
        """From the vectors (n_words, n_dims) of the training words."""
        centre = np.zeros(vectors.shape[1]) if kind is None else vectors.mean(axis=0)
        return cls(kind, centre)

    def __call__(self, vectors):
        """Vectors in the coordinates of the topics; one at the centre stays there."""
        if vectors.shape[1] != self.centre.size:
            raise ValueError(
                f"embedding must have vectors of length {self.centre.size}, as in fit, got "
                f"{vectors.shape[1]}."
            )
        out = vectors - self.centre
        if self.kind == "unit":
            length = np.linalg.norm(out, axis=1, keepdims=True)
            # rounding leaves a vector at the centre a direction of no meaning
            size = np.linalg.norm(vectors, axis=1, keepdims=True) + np.linalg.norm(self.centre)
            there = length > 1e-12 * size
            out = np.divide(out, length, out=np.zeros_like(out), where=there)
        return out
