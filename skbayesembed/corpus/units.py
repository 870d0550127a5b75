"""Units of sampling: what was drawn from a larger whole, documents or speakers, authors, works."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ..common.checks import as_floats, check_not_iterator, check_total
from .kinds import plain_column

# What a fit can do without units, in the message of an error.
BY_MODEL = "; or use uncertainty='model'"


@dataclass(frozen=True, eq=False)
class Units:
    """The unit of every document, and how much each document counts.

    Attributes
    ----------
    index : ndarray of int of shape (n_documents,)
        Unit of each document, numbered from zero.
    labels : ndarray of shape (n_units,)
    weights : ndarray of shape (n_documents,) or None
        None where every document counts once.
    """

    index: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_units(self):
        """Number of units."""
        return self.labels.size


def name_of(units):
    """What a column of units is called, where it is a pandas or polars Series with a name."""
    name = getattr(units, "name", None)
    return name if isinstance(name, str) and name else None


def sizes_of(n_documents, n_tokens):
    """Numbers of documents and of tokens, a dict; tokens may be fractional."""
    n_tokens = float(n_tokens)
    whole = n_tokens.is_integer()
    return {"n_documents": int(n_documents), "n_tokens": int(n_tokens) if whole else n_tokens}


def check_weights(sample_weight, n, what="documents"):
    """Weights of ``n`` documents, ndarray of float; None where there are none.

    Raises
    ------
    ValueError
        If their number is another, or one of them is negative or not a finite number, or all are
        zero.
    """
    if sample_weight is None:
        return None
    try:
        weights = as_floats(sample_weight)
    except ValueError:
        raise ValueError(
            f"sample_weight must be numbers >= 0, one for each of the {n} {what}, got "
            f"{sample_weight!r:.60}."
        ) from None
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n} {what}, got shape "
            f"{weights.shape}."
        )
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise ValueError("sample_weight must be finite and >= 0, got NaN, infinity or less.")
    check_total("sample_weight", weights)
    if not np.any(weights > 0):
        raise ValueError("sample_weight must be > 0 for at least one document, got zeros only.")
    return weights


def check_units(units, n, what="documents"):
    """Labels of ``n`` documents' units, ndarray; None where there are none.

    Raises
    ------
    ValueError
        If their number is another, one is missing, or there are fewer than two different ones.
    """
    if units is None:
        return None
    check_not_iterator("units", units)
    if isinstance(units, str | bytes) or not hasattr(units, "__len__"):
        raise ValueError(
            f"units must be a list or array with a label for each of the {n} {what}, got {units!r}."
        )
    try:
        found = as_labels(units)
    except ValueError as error:
        raise ValueError(f"units must have one label for each of the {n} {what}: {error}") from None
    if found.ndim != 1 or len(found) != n:
        raise ValueError(
            f"units must have one label for each of the {n} {what}, got shape {found.shape}."
        )
    check_none_missing(found, what)
    if found.dtype.kind == "f" and isinstance(units, list | tuple):
        # integers beside a float were rounded
        _check_floats(found, units)
    if found.dtype == object:
        labels = found.tolist()
        # numbers and strings side by side cannot be sorted; numbers alone are equal as 1 and 1.0
        numeric = all(isinstance(one, Real) and not isinstance(one, bool) for one in labels)
        if not numeric and not all(isinstance(one, str) for one in labels):
            _check_told_apart(labels)
        found = np.array(labels if numeric else [str(label) for label in labels])
        if numeric:
            _check_floats(found, labels)
    return found


def _check_floats(found, labels):
    """Raise a ValueError where numbers that differ are one as they were read."""
    if np.unique(found).size < len(set(labels)):
        raise ValueError(
            "units must be numbers that floating point tells apart, got such as "
            f"{max(labels, key=abs)!r}: make identifiers texts."
        )


def _check_told_apart(labels):
    """Raise a ValueError for labels of different types that would be one as texts."""
    known = {}
    for label in labels:
        other = known.setdefault(str(label), label)
        if isinstance(other, str) != isinstance(label, str):
            raise ValueError(
                f"units must not have labels that differ by their type alone, got {other!r} and "
                f"{label!r}: make them all texts, or all numbers."
            )


def as_labels(labels):
    """Labels as an array, in which those that are missing stay what they are.

    Beside texts NumPy would write NaN as a text, and of a masked array take what is behind it.
    """
    labels = plain_column(labels)
    found = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    if isinstance(found, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(found)
        return np.where(mask, None, found.data.astype(object)) if mask.any() else found.data
    whole = np.asarray(found)
    if whole.dtype.kind == "U" and whole.ndim == 1 and not isinstance(found, np.ndarray):
        whole = np.array(list(found), dtype=object)
    return whole


def check_none_missing(labels, what):
    """Raise a ValueError that names the first place where an array of units has no label."""
    missing = np.array([is_missing(label) for label in labels.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(
            f"units must have a label for every one of the {what}, got "
            f"units[{np.flatnonzero(missing)[0]}] = {labels[missing].tolist()[0]!r}."
        )


def is_missing(label):
    """Whether a label is None, not a number, or pandas' own mark of what is missing."""
    try:
        return label is None or type(label).__name__ == "NAType" or bool(label != label)
    except TypeError as error:
        raise TypeError(f"units must be labels that can be compared: {error}") from None


def units_of(units, weights, n, what="documents", otherwise=""):
    """`Units` of documents; a document is a unit of its own where none are given.

    Parameters
    ----------
    units : ndarray of shape (n,) or None
        As `check_units` returns them.
    weights : ndarray of shape (n,) or None
        As `check_weights` returns them. Documents of weight zero belong to no unit, so that a unit
        without other documents is not counted.
    n : int
    what : str
        What the documents are called in messages.
    otherwise : str
        What can be done but to leave units out, in the message of the error.

    Raises
    ------
    ValueError
        Where units are given and fewer than two of them have a weight.
    """
    counted = np.ones(n, bool) if weights is None else weights > 0
    labels = np.arange(n) if units is None else units
    found, index = np.unique(labels[counted], return_inverse=True)
    if units is not None and found.size < 2:
        raise ValueError(
            f"units must be two or more, got {found.size} ({found.tolist()!r}) for {n} {what}: how "
            "units differ cannot be seen in one. Leave units out: intervals are then those of "
            f"independent documents, which say nothing of other units{otherwise}."
        )
    whole = np.zeros(n, dtype=np.int64)
    whole[counted] = index
    return Units(whole, found, weights)


def sampling_in_use(estimator):
    """What intervals by units of a fitted estimator are worked out by, None where there is nothing.

    ``by_answer``, where an estimator has it, may be set after the fit.
    """
    sampling = getattr(estimator, "_sampling", None)
    return None if sampling is None else sampling.in_use(getattr(estimator, "by_answer", "auto"))


def is_unasked(estimator):
    """Whether a fitted estimator has intervals by units that nobody has asked for yet."""
    sampling = sampling_in_use(estimator)
    by_units = getattr(estimator, "uncertainty", None) == "documents" and sampling is not None
    return by_units and "deviations" not in vars(sampling)
