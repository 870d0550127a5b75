"""Covariates of documents: the design matrix of a regression, checked and named."""

from __future__ import annotations

import datetime
import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ..common.checks import as_floats, check_no_texts, is_number, is_numeral
from .rows import row_labels

INTERCEPT = "(intercept)"
# Names of a column of ones, in any case: of R, patsy and statsmodels.
_CONSTANTS = frozenset({INTERCEPT, "intercept", "const", "constant"})
# What to do with them.
_OF_CATEGORIES = (
    "Code categories as columns of 0 and 1 first, with pandas.get_dummies(..., drop_first=True) "
    "for example, without rows that lack one: they would count as the first category."
)
_OF_NUMERALS = (
    "They read as numbers: pass them as such, as by .astype(float). (Codes of categories are to be "
    "columns of 0 and 1, as of pandas.get_dummies(..., drop_first=True).)"
)
# Share of the largest singular value below which columns depend on each other.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Design:
    """A design matrix of full rank, with a constant among its columns.

    Attributes
    ----------
    matrix : ndarray of shape (n_documents, n_terms)
    terms : ndarray of str of shape (n_terms,)
    """

    matrix: np.ndarray
    terms: np.ndarray

    def rows(self, kept: np.ndarray, what: str = "documents") -> Design:
        """The design of some documents.

        Raises
        ------
        ValueError
            If columns depend on each other among these.
        """
        matrix = self.matrix[kept]
        check_rank(matrix, self.terms, what)
        return Design(matrix, self.terms)


def design_of(design: Any, n: int, what: str = "documents", name: str = "design") -> Design:
    """Check covariates of ``n`` documents, and put a constant in front where there is none.

    Parameters
    ----------
    design : array-like, DataFrame, Series or dict of shape (n,) or (n, n_covariates)
        Numbers or truth values. Columns of a DataFrame, keys of a dict of columns and fields of a
        structured array name the terms, which are x0, x1, ... otherwise. A column of ones is the
        constant if it is called intercept, (intercept), const or constant, in any case, or is the
        first of a matrix without names.
    n : int
    what : str
        What the documents are called in messages.
    name : str
        What the covariates are called in messages.

    Raises
    ------
    ValueError
        If the number of rows is another, an entry is no finite number, two columns have one name,
        a covariate is the same for all, or columns depend linearly on each other and the constant.
    """
    names, matrix = _named_columns(design, n, what, name)
    alone = matrix.ndim == 1
    matrix = matrix[:, None] if alone else matrix
    if matrix.ndim != 2 or len(matrix) != n or matrix.shape[1] == 0:
        raise ValueError(
            f"{name} must have a row for each of the {n} {what}, got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        called = column if names is None else repr(names[column])
        raise ValueError(
            f"{name} must hold finite numbers, got {matrix[row, column]} in row {row}, column "
            f"{called}: leave such {what} out."
        )
    terms = _terms_of(names, matrix, alone)
    if twice := {term for term in terms if terms.count(term) > 1}:
        raise ValueError(f"{name} must have columns of different names, got {twice} twice.")
    _check_varying(matrix, terms, what, name)
    if INTERCEPT not in terms:
        matrix, terms = np.column_stack([np.ones(n), matrix]), [INTERCEPT, *terms]
    check_rank(matrix, terms, what, name)
    return Design(matrix, np.array(terms, dtype=str))


def _as_numbers(values, name):
    """Floats of what is called ``name``; a ValueError that says what else there was."""
    try:
        values = values.to_numpy() if hasattr(values, "to_numpy") else values
        check_no_texts(values)
        return as_floats(values)
    except ValueError as error:
        advice = _OF_NUMERALS if _reads_as_numbers(values) else _OF_CATEGORIES
        raise ValueError(f"{name} must hold numbers: {error}. {advice}") from None


def _reads_as_numbers(values):
    """Whether entries are texts of numbers, and none of them other texts."""
    try:
        entries = np.asarray(values).ravel().tolist()
    except ValueError:
        return False
    texts = [x for x in entries if isinstance(x, str | bytes)]
    return bool(texts) and all(map(is_numeral, texts))


def _terms_of(names, matrix, alone):
    """Names of the columns; those of ones that are meant as the constant get its name."""
    terms = [f"x{i}" for i in range(matrix.shape[1])] if names is None else list(map(str, names))
    ones = np.all(matrix == 1.0, axis=0)
    for j, term in enumerate(terms):
        if term.strip().lower() == INTERCEPT and not ones[j]:
            raise ValueError(
                f"{INTERCEPT} is the name of the constant, whose column must be ones, got "
                f"{matrix[:, j].min():g} to {matrix[:, j].max():g}: rename it, or leave it out."
            )
    # frames that were made of an array have numbers for names
    nameless = names is None or isinstance(names[0], int | np.integer)
    return [
        INTERCEPT
        if one and (term.strip().lower() in _CONSTANTS or (j == 0 and nameless and not alone))
        else term
        for j, (one, term) in enumerate(zip(ones, terms, strict=True))
    ]


def _check_varying(matrix, terms, what, name):
    """Raise a ValueError where a covariate is the same in all rows and no constant by its name."""
    for column, term in zip(matrix.T, terms, strict=True):
        if len(column) > 1 and term != INTERCEPT and np.ptp(column) == 0:
            raise ValueError(
                f"{name} must have columns that vary, got {column[0]:g} in all {len(column)} "
                f"{what} for {term!r}: leave it out, a constant is added by itself. "
                f"{_aside(column)}"
            )


def _aside(column):
    """What a column that does not vary may be, in brackets."""
    if column[0] == 0:
        return "(A category without rows looks like this, in pandas.get_dummies of a Categorical.)"
    return (
        "(A column of ones counts as the constant if it is called 'intercept', 'const' or "
        "'constant'.)"
    )


def note_on_names(terms: Iterable[str]) -> list[str]:
    """A line below a table, in a list, where columns have no name but that of their place.

    Examples
    --------
    >>> from skbayesembed.corpus.design import note_on_names
    >>> note_on_names(["x0", "year"]), note_on_names(["year"])
    (["(x0: a covariate without a name; give it one with a dict: {'its name': values})"], [])
    """
    unnamed = [str(term) for term in terms if re.fullmatch(r"x\d+", str(term))]
    if not unnamed:
        return []
    if len(unnamed) == 1:
        what, them = "a covariate without a name", "give it one with a dict: {'its name': values}"
    else:
        what, them = "covariates without names", "give them with a dict: {'a name': values, ...}"
    return [f"({', '.join(unnamed)}: {what}; {them})"]


def _named_columns(design, n, what, called):
    """Names of the columns, or None, and the columns in a form that has numbers."""
    if type(design).__name__ == "LazyFrame":
        raise ValueError(
            f"{called} must hold its values, got a LazyFrame: pass {called}.collect()."
        )
    if design is None or isinstance(design, str | bytes) or is_number(design):
        raise _of_no_columns(design, n, what, called)
    if isinstance(design, Mapping):
        names, columns = list(design), list(design.values())
    elif getattr(getattr(design, "dtype", None), "names", None):
        names = list(design.dtype.names)
        columns = [design[name] for name in names]
    elif getattr(design, "columns", None) is not None and getattr(design, "ndim", 2) == 2:
        # one by one, as numbers and dates side by side may be made one type
        names = list(design.columns)
        columns = [design.iloc[:, i] if hasattr(design, "iloc") else design[name]
                   for i, name in enumerate(names)]  # fmt: skip
    else:
        name = getattr(design, "name", None)
        called = called if name is None else f"{called} {name!r}"
        _check_column(design, called)
        matrix = design.toarray() if sparse.issparse(design) else design
        return None if name is None else [name], _as_numbers(matrix, called)
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) == 0:
            raise ValueError(
                f"{called}[{name!r}] must have a value for each of the {n} {what}, got "
                f"{_one_thing(column)}."
            )
        if np.shape(column) != (n,):
            raise ValueError(
                f"{called} must have a row for each of the {n} {what}, got shape "
                f"{np.shape(column)} of {name!r}."
            )
    for name, column in zip(names, columns, strict=True):
        _check_column(column, f"{called}[{name!r}]")
    _check_labels(columns, called)
    columns = [
        _as_numbers(column, f"{called}[{name!r}]")
        for name, column in zip(names, columns, strict=True)
    ]
    return names, np.column_stack(columns) if columns else np.empty((n, 0))


def _of_no_columns(design, n, what, name):
    """The ValueError for what has no columns: nothing, a number or the text of a formula."""
    formula = ": formulas are not read, pass the columns" if isinstance(design, str) else ""
    return ValueError(
        f"{name} must be a dict, DataFrame or array of covariates, with a row for each of the {n} "
        f"{what}, got {_one_thing(design)}{formula}."
    )


def _one_thing(value):
    """What stands in the place of columns, in words."""
    if isinstance(value, str | bytes):
        return f"the text {reprlib.repr(value)}"
    return f"the number {value}" if is_number(value) else reprlib.repr(value)


def _check_column(column, name):
    """Raise a ValueError for dates, spans of time and categories, which are no numbers."""
    if _has_dates(column):
        raise _of_dates(name)
    kind = getattr(column, "dtype", None)
    spans = datetime.timedelta | np.timedelta64
    if type(kind).__name__ == "Duration" or _holds(column, "m", spans):
        raise ValueError(
            f"{name} must hold numbers, got spans of time: give days, as by frame['time'].dt.days."
        )
    if type(kind).__name__ == "CategoricalDtype":
        codes = getattr(column, "cat", column).codes
        used = kind.categories[np.unique(codes[codes >= 0])].tolist()
        if len(used) > 2:
            some = ", ".join([*map(repr, used[:3]), *["..."][: len(used) - 3]])
            raise ValueError(f"{name} must hold numbers, got categories ({some}). {_OF_CATEGORIES}")


def _check_labels(columns, name):
    """Raise a ValueError for columns of pandas with other labels of rows, or in another order."""
    labels = [found for found in map(row_labels, columns) if found is not None]
    if any(not labels[0].equals(other) for other in labels[1:]):
        raise ValueError(
            f"{name} must have columns with the same labels of rows in one order: make one "
            "DataFrame of them, which puts rows of one label side by side, or "
            "reset_index(drop=True) of each."
        )


def _has_dates(values):
    """Whether entries are dates, of NumPy, pandas or Python."""
    return _holds(values, "M", datetime.date | np.datetime64, "Period")


def _holds(values, kind, types, name=None):
    """Whether entries are of a kind of NumPy's, or objects of these types or of a type's name."""
    try:
        values = np.asarray(values)
    except ValueError:
        return False
    if values.dtype.kind != "O":
        return values.dtype.kind == kind
    return any(isinstance(x, types) or type(x).__name__ == name for x in values.flat)


def _of_dates(name):
    return ValueError(
        f"{name} must hold numbers, got dates: give years, such as frame['date'].dt.year."
    )


def check_rank(
    matrix: np.ndarray, terms: Iterable[str], what: str = "documents", name: str = "design"
) -> None:
    """Raise a ValueError where there are too few rows, or columns depend on each other.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_terms)
    terms : iterable of str
    what, name : str
        What rows and matrix are called in messages.
    """
    if len(matrix) <= matrix.shape[1]:
        raise ValueError(
            f"{name} must have fewer columns than {what}, got {matrix.shape[1]} (with a constant) "
            f"for {len(matrix)}."
        )
    length = np.linalg.norm(matrix, axis=0)
    scaled = matrix / np.where(length > 0, length, 1.0)
    values, basis = np.linalg.svd(scaled, full_matrices=False)[1:]
    if values[-1] <= _LEAST * values[0]:
        depend = [term for term, x in zip(terms, basis[-1], strict=True) if abs(x) > 1e-6]
        raise ValueError(
            f"{name} must have independent columns, and these depend on each other or are zero: "
            f"{', '.join(depend)}. Leave one of them out."
        )


def explained_by_others(matrix: np.ndarray) -> np.ndarray:
    """Share of the variation of each column that the others explain; NaN of a constant.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_terms)
        Of full rank, with a constant.

    Returns
    -------
    ndarray of shape (n_terms,)
        ``1 / (1 - share)`` is the variance inflation factor.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.corpus.design import explained_by_others
    >>> x = np.arange(6.0)
    >>> explained_by_others(np.column_stack([np.ones(6), x, x**2])).round(2).tolist()
    [nan, 0.92, 0.92]
    """
    varies = np.sum((matrix - matrix.mean(axis=0)) ** 2, axis=0)
    upper = np.linalg.qr(matrix, mode="r")
    # the squares of a row are the diagonal of the inverse of squares and products
    own = 1.0 / np.sum(solve_triangular(upper, np.eye(len(upper))) ** 2, axis=1)
    left = np.divide(own, varies, out=np.full(own.size, np.nan), where=varies > 0)
    return np.maximum(1.0 - left, 0.0)
