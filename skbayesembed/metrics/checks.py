"""Checks of the arrays that the measures are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import as_floats


def check_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Float array of ``values``; a ValueError if they are not numbers, or one is NaN."""
    try:
        values = as_floats(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}") from error
    if np.isnan(values).any():
        raise ValueError(f"{name} must not have NaN.")
    return values


def check_labels(labels: ArrayLike, name: str, n_rows: int) -> np.ndarray:
    """Integer array of labels, -1 where unknown, one for each of ``n_rows`` rows.

    Raises
    ------
    ValueError
        If their number is another, or one is not an integer of at least -1.
    """
    try:
        labels = np.asarray(labels)
    except ValueError:
        raise ValueError(f"{name} must be a list of integers, got a ragged one.") from None
    if labels.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one label for each of the {n_rows} rows, got shape {labels.shape}."
        )
    whole = labels.dtype.kind in "iu"
    if labels.dtype.kind == "f":
        whole = bool(np.all((labels == np.round(labels)) & (labels < 2**53)))
    if not whole or np.any(labels < -1):
        raise ValueError(f"{name} must be integers from 0, or -1 where unknown (not NaN).")
    return labels.astype(np.int64)
