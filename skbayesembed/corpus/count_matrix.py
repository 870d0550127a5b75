"""Count matrices as input: how they are checked, which columns are kept as words, their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ..common.checks import check_total
from ..common.warnings import warn_user

# Columns of a table of events, at most, and what two of them are called, in the singular.
_MOST_COLUMNS = 6
_WHO = frozenset({"user", "customer", "order", "basket", "session", "reader"})
_WHAT = frozenset({"item", "product", "movie", "film", "book", "track", "song", "article"})


def count_matrix(estimator: Any, X: Any, *, reset: bool | None = False) -> sparse.csr_array:
    """Check a count matrix, and copy it into sparse rows.

    Parameters
    ----------
    estimator : estimator
        It keeps a note of the number and names of columns, as scikit-learn's do.
    X : array-like or sparse matrix of shape (n_documents, n_columns)
    reset : bool or None
        True notes the columns of ``X``; False demands that ``X`` has those noted; None does
        neither.

    Returns
    -------
    csr_array of shape (n_documents, n_columns), dtype float64
        Without stored zeros. The data are a copy.

    Raises
    ------
    ValueError
        If an entry is negative, not finite or masked, or columns are not those noted.

    Notes
    -----
    Names of columns are compared as scikit-learn does, also with ``feature_names`` if ``fit`` saw a
    matrix without names.
    """
    _check_unique(getattr(X, "columns", None))
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise ValueError(
            "X must hold a count in every place, got a masked array with "
            f"{np.ma.getmaskarray(X).sum()} of them masked: X.filled(0) makes these zeros."
        )
    options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": 1}
    if sparse.issparse(X) and X.format == "coo" and X.dtype.kind in "biu":
        # the sums of entries that are there twice may not fit into the type of the counts
        X = X.astype(np.float64)
    try:
        # infinities of both signs, whose sum is looked at, warn before they are refused
        with np.errstate(invalid="ignore"):
            if reset is None:
                X = check_array(X, input_name="X", estimator=estimator, **options)
            else:
                if not reset and _check_given_names(estimator, X):
                    # without its names, of which scikit-learn would say that fit saw none
                    X = check_array(X, input_name="X", estimator=estimator, **options)
                X = validate_data(estimator, X, reset=reset, **options)
    except (TypeError, ValueError, OverflowError) as error:
        if "features, but" in str(error):
            raise ValueError(f"{error} {_how_to_count(estimator)}") from error
        raise _about_x(error) from error
    X = sparse.csr_array(X, copy=True)
    if X.nnz and X.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: X must hold counts "
            f">= 0, got {X.data.min():g}."
        )
    check_total("X", X.data)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _check_unique(columns):
    """Raise a ValueError for columns of one name, as newer versions of scikit-learn do."""
    names = [name for name in ([] if columns is None else columns) if isinstance(name, str)]
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise ValueError(f"X must have unique column names, got {twice!r} more than once.")


def _check_given_names(estimator, X):
    """Whether columns have names and those of ``fit`` have names by ``feature_names`` alone.

    Raises
    ------
    ValueError
        If these names, or their orders, differ.
    """
    given = getattr(estimator, "feature_names", None)
    names = getattr(X, "columns", None)
    if given is None or names is None or hasattr(estimator, "feature_names_in_"):
        return False
    given, names = [str(name) for name in given], list(names)
    if not all(isinstance(name, str) for name in names):
        # numbers are no names, as in scikit-learn
        return False
    if names != given:
        raise ValueError(
            f"the columns of X must be named as in feature_names, in this order; got "
            f"{_difference(names, given)}."
        )
    return True


def _difference(names, given):
    """How names differ from those that were given, in words."""
    known, present = set(given), set(names)
    unknown = [name for name in names if name not in known]
    missing = [name for name in given if name not in present]
    parts = []
    if unknown:
        parts.append(f"{len(unknown)} that are not among them, such as {unknown[0]!r}")
    if missing:
        parts.append(f"{len(missing)} of them missing, such as {missing[0]!r}")
    if parts:
        return " and ".join(parts)
    if len(names) > len(given):
        return f"{len(names)} columns for {len(given)} names"
    return "the same names in another order: use X[list(model.feature_names)]"


def _how_to_count(estimator):
    """What makes a matrix with the columns of ``fit``."""
    names = "feature_names_in_" if hasattr(estimator, "feature_names_in_") else "feature_names"
    words = f"model.{names}" if getattr(estimator, names, None) is not None else "words of fit"
    how = f"CountVectorizer(vocabulary={words})"
    if hasattr(estimator, "n_senses"):
        how = f"extract_snippets(..., vocabulary={words})"
    return f"Columns must be those of fit, in their order: {how} counts in these."


def _about_x(error):
    """The same error, where its message is not about X yet."""
    message = str(error)
    if "X contains" in message:
        # the rest is of other estimators, which could be used with what is missing
        return ValueError(
            f"{message.splitlines()[0].rstrip('.')}: X must hold counts >= 0, finite and none "
            "missing; where a word is not in a document, its count is 0."
        )
    if "X " in message and not isinstance(error, OverflowError):
        return error
    return (TypeError if isinstance(error, TypeError) else ValueError)(
        f"X must be a matrix of counts, with a row for each document: {message}"
    )


def named_matrix(
    estimator: Any, X: Any, *, reset: bool = True
) -> tuple[sparse.csr_array, np.ndarray]:
    """Check a count matrix and name its columns, for estimators that have ``feature_names``.

    Parameters
    ----------
    estimator : estimator
    X : array-like or sparse matrix of shape (n_documents, n_columns)
    reset : bool
        As of `count_matrix`.

    Returns
    -------
    counts : csr_array of shape (n_documents, n_columns), dtype float64
    names : ndarray of str of shape (n_columns,)
        Those given, else the columns' own, else x0, x1, ...

    Raises
    ------
    ValueError
        As `count_matrix` and `matrix_names`.
    """
    counts = count_matrix(estimator, X, reset=reset)
    if reset:
        _warn_of_long_table(getattr(X, "columns", None))
    return counts, matrix_names(estimator, X, counts.shape[1])


def _warn_of_long_table(columns):
    """Warn of a table of events, of whose columns none holds the counts of a word."""
    names = [] if columns is None else [name for name in columns if isinstance(name, str)]
    kinds = {re.sub(r"_?ids?$|s$", "", name.lower()): name for name in names}
    who, what = (next((kinds[x] for x in kinds if x in among), None) for among in (_WHO, _WHAT))
    if len(names) <= _MOST_COLUMNS and who is not None and what is not None:
        warn_user(
            f"X has the columns {', '.join(map(repr, names))} and is read as counts of these "
            f"{len(names)} words. If it has a row for each event, make a row of counts for each "
            f"unit first, as pandas.crosstab(X[{who!r}], X[{what!r}]) does, or lists of items, "
            f"X[{what!r}].astype(str).groupby(X[{who!r}]).agg(list).",
            UserWarning,
        )


def _check_order_of_names(names, columns):
    """Raise a ValueError where a column has the name that is given to another one."""
    place = {name: i for i, name in enumerate(names)}
    for i, column in enumerate([] if columns is None else columns):
        if isinstance(column, str) and place.get(column, i) != i:
            raise ValueError(
                "feature_names must be in the order of the columns of X, got "
                f"feature_names[{place[column]}] = {column!r}, which column {i} of X has: leave "
                "feature_names out, or use X[list(feature_names)]."
            )


def matrix_names(estimator: Any, X: Any, n_columns: int) -> np.ndarray:
    """Names of the columns of a count matrix, ndarray of str of shape (n_columns,).

    Those of the estimator's ``feature_names``, else the columns' own, else x0, x1, ...

    Raises
    ------
    ValueError
        If the names are not one for each column, all different, or one of them is that of another
        column.
    """
    names, title = estimator.feature_names, "feature_names"
    columns = getattr(X, "columns", None)
    if names is None:
        names, title = columns, "the columns of X"
    if names is None:
        return column_names(n_columns, None)
    if isinstance(names, set | frozenset):
        raise ValueError(f"{title} must be in the order of the columns of X, got a set.")
    names = [str(name) for name in names]
    _check_order_of_names(names, columns)
    if len(names) != n_columns or len(set(names)) != len(names):
        raise ValueError(
            f"{title} must name the {n_columns} columns of X once each, got "
            f"{len(names)} names, {len(set(names))} different: unique column names are needed."
        )
    return np.array(names, dtype=str)


def most_frequent(
    counts: sparse.csr_array, least: float, max_features: int | None = None
) -> np.ndarray:
    """Choose columns by their sums.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_columns)
    least : float
        Least sum of a column that is kept.
    max_features : int or None, default=None
        Largest number of columns kept, those of the largest sums, the first of equal ones.

    Returns
    -------
    ndarray of int, shape (n_kept,)
        Ascending; it may be empty.
    """
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    columns = np.flatnonzero(frequency >= least)
    if max_features is not None and columns.size > max_features:
        order = np.argsort(-frequency[columns], kind="stable")[:max_features]
        columns = np.sort(columns[order])
    return columns


def frequent_columns(
    estimator: Any, counts: sparse.csr_array, *, unseen: bool = True
) -> np.ndarray:
    """The columns that ``min_count`` and ``max_features`` of an estimator leave, ascending.

    Parameters
    ----------
    estimator : estimator
    counts : csr_array of shape (n_documents, n_columns)
    unseen : bool, default=True
        Whether columns without any count stay if ``min_count`` is 1.

    Returns
    -------
    ndarray of int, shape (n_kept,)

    Raises
    ------
    ValueError
        If no column is left.
    """
    least = max(estimator.min_count, 1e-300)
    if unseen and estimator.min_count == 1:
        least = 0
    columns = most_frequent(counts, least, estimator.max_features)
    if columns.size == 0:
        raise ValueError(
            f"empty vocabulary: no column of X has a sum of min_count={estimator.min_count} or "
            "more. Lower min_count."
        )
    return columns


def column_names(n_columns: int, columns: Iterable[Any] | None) -> np.ndarray:
    """Names of the columns of a count matrix: its own, or x0, x1, ... where ``columns`` is None.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
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
    """Delete what an earlier fit on a count matrix noted about its columns."""
    for name in ("n_features_in_", "feature_names_in_"):
        estimator.__dict__.pop(name, None)
