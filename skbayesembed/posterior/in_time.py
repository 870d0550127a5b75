"""What tables and sentences say of autocorrelation of units in time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..common.warnings import warn_user
from .cells import number
from .sentences import chance

# Probability from which on autocorrelation is said to have been found.
_FOUND = 0.5
# Probability below which it is said that there is none.
_RULED_OUT = 0.1


class InTime(NamedTuple):
    """What is known of the autocorrelation of residuals: numbers, or arrays of several outcomes.

    Attributes
    ----------
    autocorrelation : float or ndarray or None
        Estimated correlation of neighbors. None where units are treated as independent, NaN where
        there are no residuals.
    autocorrelated : float or ndarray or None
        Probability that it is not zero.
    residual_correlation : float or ndarray or None
        Correlation of residuals of neighbors as they are.
    trend : float or ndarray or None
        Probability of a straight line; NaN where there can be none.
    alternating : bool or ndarray of bool
        Whether residuals of neighbors are clearly less alike than if they were independent.
    interval : ndarray of shape (2,) or None
        Of the autocorrelation.
    """

    autocorrelation: Any
    autocorrelated: Any
    residual_correlation: Any
    trend: Any
    alternating: Any = False
    interval: Any = None


def in_time_of(table: Any) -> InTime:
    """What a table, or the row of one, has of `InTime`, by the names of its attributes."""
    return InTime(
        table.autocorrelation,
        table.autocorrelated,
        table.residual_correlation,
        table.trend,
        table.alternating,
        getattr(table, "autocorrelation_interval", None),
    )


def clause_on_time(found: InTime, sampled: str = "units") -> str | None:
    """What a sentence says of one outcome, a clause; None where there are no residuals.

    Examples
    --------
    >>> from skbayesembed.posterior.in_time import InTime, clause_on_time
    >>> clause_on_time(InTime(0.4, 0.97, 0.5, 0.2)), clause_on_time(InTime(0.0, 0.05, -0.2, 0.1))
    ('autocorrelation in time is allowed for', 'autocorrelation in time is allowed for, though no \
positive one was found')
    """
    if found.autocorrelation is None:
        return f"{sampled} are treated as independent"
    if np.isnan(found.autocorrelation):
        return None
    if found.alternating:
        return "negative autocorrelation in time was found, and is not allowed for"
    if found.autocorrelated < _RULED_OUT:
        return "autocorrelation in time is allowed for, though no positive one was found"
    if found.autocorrelated < _FOUND:
        return "autocorrelation in time, neither found nor ruled out, is allowed for"
    return "autocorrelation in time is allowed for"


def note_on_time(found: InTime, sampled: str, slopes: str, by: str = "") -> str:
    """The line of a table.

    Parameters
    ----------
    found : InTime
    sampled : str
        What may be autocorrelated: ``"units"`` or ``"documents"``.
    slopes : str
        What the rows of the table are.
    by : str
        What numbers from the smallest to the largest belong to.

    Examples
    --------
    >>> from skbayesembed.posterior.in_time import InTime, note_on_time
    >>> note_on_time(InTime(0.0, 0.05, -0.2, 0.1), "units", "slopes").split(", P")[0]
    '(residuals of neighboring units in time correlate at -0.20. No positive autocorrelation found'
    """
    if found.autocorrelation is None:
        return (
            f"({sampled} are treated as independent: if they are autocorrelated in time, intervals "
            "are too narrow; times= allows for it)"
        )
    if np.all(np.isnan(found.autocorrelation)):
        return (
            "(the terms explain the outcome exactly, or its means of units: there are no "
            "residuals that could be autocorrelated)"
        )
    line, both = "", "it"
    if not np.all(np.isnan(found.trend)):
        line, both = f"; {_chances(found.trend)} that they follow a straight line", "both"
    if np.nanmax(found.autocorrelated) >= _FOUND:
        rest = (
            f"{_chances(found.autocorrelated)} that they are autocorrelated, at "
            f"{_spanned(found.autocorrelation)}{_reach(found.interval)}{line}: {slopes} and "
            f"intervals allow for {both}"
        )
    elif np.nanmax(found.autocorrelated) >= _RULED_OUT and not np.any(found.alternating):
        rest = (
            "Positive autocorrelation neither found nor ruled out, "
            f"{_chances(found.autocorrelated)}{line}: intervals allow for it as far as it is "
            "probable"
        )
    else:
        rest = f"No positive autocorrelation found, {_chances(found.autocorrelated)}{line}"
    if np.any(found.alternating):
        rest += (
            ". Negative autocorrelation found, which is not modeled: intervals are too wide for "
            "terms that change slowly, and too narrow for terms that alternate as well"
        )
    seen = _spanned(found.residual_correlation)
    return f"(residuals of neighboring {sampled} in time correlate at {seen}{by}. {rest})"


def warn_of_alternation(found: InTime, sampled: str) -> None:
    """Warn where residuals of neighbors are clearly less alike than if they were independent."""
    if np.any(found.alternating):
        warn_user(
            f"Residuals of neighboring {sampled} in time correlate at "
            f"{np.nanmin(found.residual_correlation):.2f}, clearly less than if they were "
            "independent. times= does not model negative autocorrelation: intervals are too wide "
            "for terms that change slowly, and too narrow for terms that alternate as well. "
            "Give what alternates, such as the party, among the covariates.",
            UserWarning,
        )


def _spanned(values):
    """A number, or the smallest and the largest of several."""
    ends = (number(end(values), ".2f") for end in (np.nanmin, np.nanmax))
    return " to ".join(dict.fromkeys(ends))


def _chances(values):
    """A probability, or the smallest and the largest of several."""
    low, high = (chance(end(values)) for end in (np.nanmin, np.nanmax))
    return low if low == high else f"P = {_spanned(values)}"


def _reach(interval):
    """An interval behind its estimate; of one that begins at zero only its end."""
    if interval is None:
        return ""
    low, high = interval
    return f" [{low:.2f}, {high:.2f}]" if low > 0 else f" (up to {high:.2f})"
