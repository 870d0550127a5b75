"""Bins: their edges as users give them, and what they are called."""

from __future__ import annotations

import numpy as np

from ..common.checks import check_integer
from .times import LARGEST_TIME, read_line, said_date

# More periods than this are taken for a mistake where each integer is one (time stamps, say).
MOST_PERIODS = 1000


def check_bins(bins):
    """Edges as numbers, and whether they were dates."""
    edges, dates = read_line(bins, "bins")
    if len(edges) < 2 or np.any(np.diff(edges) <= 0):
        raise ValueError(
            f"bins must be two or more increasing ends of periods, got {edges.tolist()}."
        )
    return edges, dates


def equal_widths(low, high, n_periods, show):
    """Edges of periods of equal length; ``show`` says a time in a message."""
    check_integer("n_periods", n_periods, 1)
    if n_periods > MOST_PERIODS:
        raise ValueError(f"n_periods must be at most {MOST_PERIODS}, got {n_periods!r}.")
    if low == high:
        if n_periods > 1:
            raise ValueError(
                f"n_periods must be 1 where all times are {show(low)}, got {n_periods}; "
                "bins can make periods without data."
            )
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, n_periods + 1)


def whole_labels(edges, end_is_a_time):
    """Names of bins of whole numbers, as in ``"1810-1829"``; None where one holds none."""
    first, last = np.ceil(edges[:-1]), np.ceil(edges[1:]) - 1.0
    last[-1] += end_is_a_time
    if np.any(first > last) or np.abs(edges).max() >= LARGEST_TIME:
        return None
    to = " to " if first[0] < 0 else "-"
    pairs = zip(first.astype(np.int64).tolist(), last.astype(np.int64).tolist(), strict=True)
    return [str(a) if a == b else f"{a}{to}{b}" for a, b in pairs]


def edge_labels(edges, dates=False):
    """Names of bins, as in ``"[1810, 1830)"``; of dates as in ``"[1810-04-01, 1830-07-01)"``."""
    names = names_of(edges)
    if dates:
        # dates are whole days mostly: one that an edge is within is in the period before
        inner = [said_date(edge, up=True) for edge in edges[1:-1]]
        names = [said_date(edges[0]), *inner, said_date(edges[-1])]
    if len(set(names)) < len(names):
        # of times of one day
        names = names_of(edges)
    last = len(names) - 2
    pairs = zip(names[:-1], names[1:], strict=True)
    return [f"[{a}, {b}{']' if t == last else ')'}" for t, (a, b) in enumerate(pairs)]


def names_of(times):
    """Different times as texts, with as few digits as tell them apart."""
    for digits in range(6, 18):
        names = [f"{time:.{digits}g}" for time in times]
        if len(set(names)) == len(names):
            break
    return names
