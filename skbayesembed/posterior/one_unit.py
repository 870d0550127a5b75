"""What is said of terms of regressions that differ in one unit only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..common.warnings import warn_user
from .sentences import capital

_WHY = "so that nothing tells how other units like it would differ"


def terms_of_one_unit(terms: Sequence[Any] | np.ndarray, freedom: ArrayLike) -> list[str]:
    """Terms without degrees of freedom, whose coefficients one unit decides on.

    Parameters
    ----------
    terms : sequence of str of length n_terms
    freedom : array-like of shape (n_terms, ...)
        NaN where there are none.

    Examples
    --------
    >>> from skbayesembed.posterior.one_unit import terms_of_one_unit
    >>> terms_of_one_unit(["age", "Carter"], [12.0, float("nan")])
    ['Carter']
    """
    without = np.isnan(np.asarray(freedom, dtype=float)).reshape(len(terms), -1).any(axis=1)
    return [str(term) for term, one in zip(terms, without, strict=True) if one]


def known_errors(sd: np.ndarray, freedom: ArrayLike) -> np.ndarray:
    """Standard errors, NaN of such terms: those of the other units alone say too little."""
    return np.where(np.isnan(freedom), np.nan, sd)


def with_sample(sample: str, rest: str, p: float) -> str:
    """A sentence on what an interval allows for, and the ``rest``; of such terms the rest alone.

    Examples
    --------
    >>> from skbayesembed.posterior.one_unit import with_sample
    >>> with_sample("The interval allows for other units", "the regression has 9 documents", 0.1)
    'The interval allows for other units; the regression has 9 documents'
    >>> with_sample("The interval allows for other units", "the regression has 9 documents", np.nan)
    'The regression has 9 documents'
    """
    return capital(rest) if np.isnan(p) else f"{sample}; {rest}"


def note_on_one_unit(terms: Sequence[Any] | np.ndarray, freedom: ArrayLike) -> list[str]:
    """Line below a table with such terms, or none."""
    found = terms_of_one_unit(terms, freedom)
    if not found:
        return []
    return [f"(no interval of {', '.join(found)}: one unit alone decides on it, {_WHY})"]


def warn_of_one_unit(terms: Sequence[Any] | np.ndarray, freedom: ArrayLike) -> None:
    """Warn of such terms."""
    found = terms_of_one_unit(terms, freedom)
    if found:
        names = ", ".join(map(repr, found))
        warn_user(
            f"There is no interval and no p-value of {names}: one unit alone decides on it, "
            f"{_WHY}. A term must differ in two units or more.",
            UserWarning,
        )
