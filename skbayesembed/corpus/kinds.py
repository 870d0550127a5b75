"""What kind of input X is: texts, token lists or counts."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from scipy import sparse

from ..common.checks import is_numeral

# What is no list of documents or labels, though it can be gone through.
NO_LISTS = Mapping, Set, str, bytes
_ALLOWED = (
    "X must be documents (a list, array or Series of str), token lists (a list of lists of str) "
    "or a count matrix (sparse, 2-D array, DataFrame or list of lists of numbers)"
)
# What a missing document may be made.
_EMPTY_DOCUMENT = "drop it or make it an empty document: '' among texts, [] among token lists"


def materialise(X: Any) -> Any:
    """Read an iterator of documents into a list; everything else comes back untouched.

    Parameters
    ----------
    X : array-like, sparse matrix or iterable

    Returns
    -------
    X : list if ``X`` was an iterator (a generator, an open file), an iterable without a length or
        a column of pyarrow, otherwise ``X`` itself.
    """
    X = plain_column(X)
    if isinstance(X, Iterable) and (hasattr(X, "__next__") or not _has_length(X)):
        return list(X)
    placed = any(hasattr(X, name) for name in ("__getitem__", "shape", "__array__"))
    if isinstance(X, Iterable) and not placed and not isinstance(X, NO_LISTS):
        # what has a length and no places, as a bar of progress around a file, may be read once only
        return list(X)
    return X


def plain_column(values: Any) -> Any:
    """A column of pyarrow, whose entries are its own scalars, as a list; others untouched."""
    if hasattr(values, "to_pylist") and not hasattr(values, "column_names"):
        return values.to_pylist()
    return values


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
        If there are no documents, if kinds are mixed, if an entry is missing (None or NaN), if a
        token is an empty str, or if an array has the wrong number of dimensions.
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
        hint = _pass_counts(X) if isinstance(X, Mapping) and "counts" in X else ""
        raise TypeError(
            f"{_ALLOWED}, got a {type(X).__name__}, which has no order of documents.{hint}"
        )
    if hasattr(X, "__next__"):
        raise TypeError(f"{_ALLOWED}, got an iterator; wrap it: list(X).")
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        return _frame_kind(X)
    if hasattr(X, "dtype") or hasattr(X, "__array__"):
        return _array_kind(X)
    if isinstance(X, Iterable):
        return sequence_kind(list(X))
    raise TypeError(f"{_ALLOWED}, got {type(X).__name__}.")


# ---------------------------------------------------------------------------------------------


def _has_length(X):
    return hasattr(X, "__len__") or hasattr(X, "shape")


def _pass_counts(X):
    """How a mapping with counts is passed, with what else it has of times, genres and units."""
    known = [name for name in ("times", "genres", "units") if X.get(name) is not None]
    given = ", ".join(["X.counts", *(f"{name}=X.{name}" for name in known)])
    words = ", and its words as feature_names=X.words" if X.get("words") is not None else ""
    return f" Pass its counts, fit({given}){words}."


def _frame_kind(X):
    """Kind of a DataFrame: counts, or a TypeError if a column does not hold numbers."""
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        kind = getattr(dtype, "kind", "O")
        if kind not in "biufcO" or (kind == "O" and any(map(_is_document, X[name]))):
            raise TypeError(
                f"X is a DataFrame whose column {name!r} is not numeric; a column of documents is "
                f"passed by itself, X[{name!r}]. {_ALLOWED}."
            )
    return "counts"


def _is_document(x):
    """Whether an entry of a column is a text, or a list of tokens."""
    return isinstance(x, str | list | tuple | np.ndarray)


def _array_kind(X):
    """Kind of an array or Series, by its dimensions and dtype."""
    values = X if hasattr(X, "ndim") and hasattr(X, "dtype") else np.asarray(X)
    kind = getattr(values.dtype, "kind", "O")
    if kind == "S":
        raise TypeError(f"X is an array of bytes: decode it to str first. {_ALLOWED}.")
    if kind in "mM":
        raise TypeError(f"X is an array of dates or times, of dtype {values.dtype}. {_ALLOWED}.")
    if values.ndim == 1 and kind not in "biufc":
        return sequence_kind(list(values))
    if values.ndim != 2:
        raise ValueError(
            f"{_ALLOWED}, got an array with {values.ndim} dimension(s) and dtype {values.dtype}. "
            "Reshape your data: X.reshape(1, -1) if it is the counts of a single document."
        )
    texts = kind == "U" or [isinstance(x, str) for x in np.asarray(values).flat if kind == "O"]
    if kind == "O" and any(texts) and not all(texts):
        row, column = divmod(texts.index(True), np.asarray(values).shape[1])
        raise TypeError(
            f"X is a 2-D array with texts among its numbers, got {values[row, column]!r} in row "
            f"{row}, column {column}: counts must be numbers. {_ALLOWED}."
        )
    if kind == "U" or any(texts):
        if all(map(is_numeral, np.asarray(values).flat)):
            raise TypeError(
                "X is a 2-D array of numbers that are texts: convert them first, X.astype(float)."
            )
        raise TypeError(
            "X is a 2-D array of str; pass documents as a 1-D array (X.ravel()) or token lists as "
            f"lists (X.tolist()). {_ALLOWED}."
        )
    if kind == "O" and any(map(_is_document, np.asarray(values).flat)):
        raise TypeError(
            f"X is a 2-D array of lists; pass a list of token lists, as X.ravel().tolist(). "
            f"{_ALLOWED}."
        )
    return "counts"


def sequence_kind(documents: list, name: str = "X", first: int = 0) -> str:
    """Kind of a list of documents; all entries must be of the same kind.

    In messages they are those of ``name`` from place ``first`` on. Else as `input_kind`.
    """
    if not documents:
        raise ValueError(f"X has no documents. {_ALLOWED}.")
    if all(issubclass(cls, str) for cls in set(map(type, documents))):
        return "text"
    found: dict[str, int] = {}
    lengths = set()
    for index, document in enumerate(documents, first):
        kind = _entry_kind(document, f"{name}[{index}]")
        if kind != "empty":
            found.setdefault(kind, index)
        if kind not in ("text", "number"):
            lengths.add(len(document))
        if len(found) > 1:
            (a, i), (b, j) = found.items()
            names = {"text": "a str", "tokens": "a list of str", "counts": "a list of numbers"}
            raise ValueError(
                f"{name} mixes kinds: {name}[{i}] is {names.get(a, 'a number')}, "
                f"{name}[{j}] is {names.get(b, 'a number')}. {_ALLOWED}."
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
            f"{max(lengths)}): a count matrix has one column per word. If they are ids of items, "
            "pass them as str: [[str(item) for item in basket] for basket in baskets]."
        )
    return kind


def _entry_kind(entry, name):
    """Kind of one entry of a list: "text", "number", "tokens", "counts" or "empty"."""
    if isinstance(entry, str):
        return "text"
    _refuse_missing(entry, name, _EMPTY_DOCUMENT)
    if _is_number_type(type(entry)):
        return "number"
    if isinstance(entry, np.ndarray) and entry.ndim == 1 and entry.size:
        kind = entry.dtype.kind
        if kind in "biufc":
            return "counts"
    if not isinstance(entry, list | tuple | np.ndarray) and not hasattr(entry, "iloc"):
        raise TypeError(f"{name} is a {type(entry).__name__}. {_ALLOWED}.")
    if getattr(entry, "ndim", 1) != 1:
        raise ValueError(f"{name} is an array of {entry.ndim} dimensions. {_ALLOWED}.")
    # All types of a document at a time: the set is tiny, whatever the document's length.
    types = set(map(type, entry))
    if not types:
        return "empty"
    if all(issubclass(cls, str) for cls in types):
        _refuse_empty(entry, name)
        return "tokens"
    numeric = any(map(_is_number_type, types)) and not any(issubclass(cls, str) for cls in types)
    advice = "make it a number" if numeric else "drop it"
    for position, item in enumerate(entry):
        if not isinstance(item, float):
            _refuse_missing(item, f"{name}[{position}]", advice)
    if all(map(_is_number_type, types)):
        return "counts"
    names = ", ".join(sorted(cls.__name__ for cls in types))
    raise ValueError(f"{name} must hold only str or only numbers, got {names}. {_ALLOWED}.")


def _is_number_type(cls):
    """Whether a type is one of numbers, of which NumPy has its spans of time."""
    return issubclass(cls, numbers.Number | np.bool_) and not issubclass(cls, np.timedelta64)


def _refuse_empty(tokens, name):
    """Raise a ValueError for an empty token, which would be a word, and neighbor of all others."""
    if not all(tokens):
        place = next(i for i, token in enumerate(tokens) if not token)
        raise ValueError(
            f"{name}[{place}] is an empty str, which is no word: drop such tokens, as in "
            "[token for token in tokens if token]."
        )


def _refuse_missing(value, name, advice):
    if isinstance(value, bytes | bytearray):
        raise TypeError(f"{name} is {type(value).__name__}: decode it to str first.")
    missing = value is None or (isinstance(value, float) and value != value)
    if missing or type(value).__name__ in ("NAType", "NaTType"):
        raise ValueError(f"{name} is missing ({value!r}): {advice}.")
