"""Count matrices: their checks, the columns that are words, and the names of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data


def count_matrix(estimator: Any, X: Any, *, reset: bool | None = False) -> sparse.csr_array:
    """Non-negative finite counts as a csr matrix of our own, with the estimator's columns.

    Parameters
    ----------
    estimator : estimator
        Notes the columns where ``reset``; otherwise X is to have those noted.
    X : count matrix
    reset : bool or None
        None looks at the columns no further: the matrix has others.

    Returns
    -------
    csr_array, float64

    Raises
    ------
    ValueError
        For numbers that are no counts, or other columns.
    """
    options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 1}
    if reset is None:
        X = check_array(X, input_name="X", estimator=estimator, **options)
    else:
        X = validate_data(estimator, X, reset=reset, **options)
    X = sparse.csr_array(X, copy=True)
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: X must hold counts "
            f">= 0, got {X.data.min():g}."
        )
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def frequent_columns(estimator: Any, counts: sparse.csr_array) -> np.ndarray:
    """Columns that ``min_count`` and ``max_features`` leave; all of them where nothing is asked."""
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    least = estimator.min_count if estimator.min_count > 1 else 0
    columns = np.flatnonzero(frequency >= least)
    if estimator.max_features is not None and columns.size > estimator.max_features:
        order = np.argsort(-frequency[columns], kind="stable")[: estimator.max_features]
        columns = np.sort(columns[order])
    if columns.size == 0:
        raise ValueError(
            f"empty vocabulary: no column of X has a sum of min_count={estimator.min_count} or "
            "more. Lower min_count."
        )
    return columns


def column_names(n_columns: int, columns: Iterable[Any] | None) -> np.ndarray:
    """Names of the columns of a count matrix: its own, or x0, x1, ..."""
    if columns is None:
        return np.array([f"x{i}" for i in range(n_columns)])
    names = [str(name) for name in columns]
    if len(set(names)) != len(names):
        raise ValueError(
            f"the columns of X must have unique column names, got {len(set(names))} different "
            f"ones among {len(names)}."
        )
    return np.array(names, dtype=str)


def forget_columns(estimator: Any) -> None:
    """Drop what an earlier fit on a count matrix noted of its columns."""
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)


def check_kind(estimator: Any, kind: str) -> None:
    """Raise a ValueError where ``fit`` was given counts and this is none, or the reverse."""
    on_counts = estimator._columns is not None
    if (kind == "counts") != on_counts:
        raise ValueError(
            f"X is {'a count matrix' if kind == 'counts' else kind}, but the estimator was fitted "
            f"on {'a count matrix' if on_counts else 'text or tokens'}."
        )
