"""Rows of a table over settings that an answer makes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .over_settings import NEAREST, NOT_NEAREST, PROBABILITIES


def in_a_row(answer):
    """An answer; of a table of effects by terms and topics or axes these one after the other."""
    row = getattr(answer, "_in_a_row", None)
    return answer if row is None else row()


def rows_of(answer):
    """Entries of an answer: names, means, intervals, numbers that come with them, verdicts."""
    mean = np.asarray(_mean_of(answer), dtype=float)
    if mean.ndim > 1 or mean.size == 0:
        raise TypeError(
            f"question must answer with one number or a row of them, got shape {mean.shape}"
        )
    names = [""] if mean.ndim == 0 else _names_of(answer, mean.size)
    ends, errors = (_pairs(getattr(answer, of, None), mean) for of in ("interval", "interval_mcse"))
    proba = _each(getattr(answer, name_of_probability(answer) or "", np.nan), mean)
    verdicts = _verdicts_of(answer, mean)
    p = getattr(answer, "p_value", None)
    p = _each(p if np.shape(p) == mean.shape and p is not None else np.nan, mean)
    threshold = getattr(answer, "threshold", None)
    threshold = _each(np.nan if threshold is None else threshold, mean)
    numbers = mean.reshape(-1).tolist(), ends, errors, proba, p, threshold
    return list(zip(names, *numbers, verdicts, strict=True))


def _mean_of(answer):
    """The mean of an answer; of what is no answer itself, as NumPy's numbers have a method mean."""
    mean = getattr(answer, "mean", answer)
    return answer if callable(mean) else mean


def _verdicts_of(answer, mean):
    """The verdict on each entry of an answer, a list of str; empty where there is none."""
    verdict = getattr(answer, "verdict", None)
    found = [str(one) for one in _each("" if verdict is None else verdict, mean)]
    if NEAREST in found and np.ndim(verdict) == 0:
        # that of `nearer` is on its first row
        found[1:] = [NOT_NEAREST] * (len(found) - 1)
    return found


def name_of_probability(answer):
    """Which of its probabilities an answer has for each of its entries; None where it has none."""
    shape = np.shape(_mean_of(answer))
    names = (name for name in PROBABILITIES if np.shape(getattr(answer, name, None)) == shape)
    return next((name for name in names if getattr(answer, name, None) is not None), None)


def _pairs(value, mean):
    """Two numbers for each entry of an answer, a list; NaN where there are none."""
    found = np.full((mean.size, 2), np.nan) if value is None else np.asarray(value, dtype=float)
    return found.reshape(-1, 2).tolist()


def _each(value, mean):
    """A value for each entry of an answer, a list; one for all where it is one."""
    return np.broadcast_to(value, mean.shape).reshape(-1).tolist()


def _names_of(answer, n):
    # index of a Series
    for name in ("terms", "words", "index"):
        if np.shape(getattr(answer, name, None)) == (n,):
            return [str(label) for label in getattr(answer, name)]
    axes = getattr(answer, "axes", None)
    for labels in axes.values() if isinstance(axes, Mapping) else ():
        if len(labels) == n:
            return [str(label) for label in labels]
    return [str(i) for i in range(n)]


def without_width(row):
    """The row of a point estimate, which has no interval and no probability."""
    entry, mean, (low, high), errors, proba, *more = row
    if low != high:
        return row
    return entry, mean, (np.nan, np.nan), errors, np.nan, *more
