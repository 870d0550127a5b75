"""Measures of intervals: how often they cover the truth, how often they overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .checks import check_numbers


def coverage(intervals: ArrayLike, truth: ArrayLike) -> float:
    """Return the share of true values that lie in their interval, ends included.

    Parameters
    ----------
    intervals : array-like of shape (..., 2)
        ``(low, high)`` in the last axis, as from ``Posterior.hdi``.
    truth : array-like of shape (...)
        The true values.

    Returns
    -------
    float
        Between 0 and 1; about the probability of the intervals if they are calibrated.

    Raises
    ------
    ValueError
        If the shapes do not fit, there is no value, one is NaN, or a lower end is above its upper
        end.

    Examples
    --------
    >>> from skbayesembed.metrics import coverage
    >>> coverage([[0.1, 0.4], [0.5, 0.9]], [0.2, 0.95])
    0.5
    """
    intervals = check_numbers(intervals, "intervals")
    truth = check_numbers(truth, "truth")
    if intervals.shape != (*truth.shape, 2):
        raise ValueError(
            f"intervals must have the shape of truth and a last axis of 2, {(*truth.shape, 2)}, "
            f"got {intervals.shape}."
        )
    if not truth.size:
        raise ValueError("truth must hold at least one value, got none.")
    low, high = _ends(intervals, "intervals")
    return float(np.mean((low <= truth) & (truth <= high)))


def interval_overlap(a: ArrayLike, b: ArrayLike) -> float:
    """Return the share of entries where two intervals overlap, that is, share at least a point.

    Parameters
    ----------
    a, b : array-like of shape (..., 2)
        ``(low, high)`` in the last axis, as from ``Posterior.hdi``; for example, prevalences
        learned without and with labels.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If the shapes differ or are not (..., 2), there is no interval, an end is NaN, or a lower
        end is above its upper end.

    Notes
    -----
    Wide intervals overlap whatever they are of: where they cover half of all possible values, the
    share is near 1 for models that disagree, too. It speaks against agreement if it is low, and
    for it only if intervals are narrow. Look at their widths, and at the differences of the means.

    Examples
    --------
    >>> from skbayesembed.metrics import interval_overlap
    >>> interval_overlap([[0.1, 0.4], [0.5, 0.9]], [[0.3, 0.6], [0.1, 0.2]])
    0.5
    """
    a, b = check_numbers(a, "a"), check_numbers(b, "b")
    if a.shape != b.shape or not a.ndim or a.shape[-1] != 2:
        raise ValueError(
            "a and b must have the same shape and a last axis of 2, (low, high), got "
            f"{a.shape} and {b.shape}."
        )
    if not a.size:
        raise ValueError("a and b must hold at least one interval, got none.")
    (low_a, high_a), (low_b, high_b) = _ends(a, "a"), _ends(b, "b")
    return float(np.mean((low_a <= high_b) & (low_b <= high_a)))


def _ends(intervals, name):
    """Lower and upper ends of intervals; a ValueError unless they are in this order."""
    low, high = intervals[..., 0], intervals[..., 1]
    if np.any(low > high):
        raise ValueError(f"{name} must have the lower end first, got (high, low).")
    return low, high
