"""Softmax tables: rows of logits with the sums of their exponentials, carried along by updates.

A *table* holds softmax rows ``x`` (A, T, B), one for each a and period t: prevalence logits
(genres, T, senses) or word logits (senses, T, words). Beside it are ``weight`` = exp(x - top) and
``total``, the sum of a row's weights, which every update of an entry carries along: rest = total -
weight is the sum over the other entries. ``peak``, the largest total since the last summation,
bounds the rounding error of ``total``; where rest is too small beside it, it is summed anew.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative

# A rest below this share of the peak has lost more than half of its digits.
SMALLEST_SHARE = 1e-7
# A weight above exp of this comes near to the largest number there is.
LARGEST_EXPONENT = 300.0


class SoftmaxTable(NamedTuple):
    """The arrays of a table; see the head of this module.

    Attributes
    ----------
    x, weight : ndarray of shape (A, T, B)
    top, total, peak : ndarray of shape (A, T)
    """

    x: np.ndarray
    weight: np.ndarray
    top: np.ndarray
    total: np.ndarray
    peak: np.ndarray

    @classmethod
    def of(cls, x):
        """The table of logits ``x``, which become its own."""
        table = cls(x, np.empty_like(x), *np.empty((3, *x.shape[:2])))
        table.refresh()
        return table

    def refresh(self):
        """Sum anew, after changes of ``x``."""
        sum_up(self)

    def log_sums(self):
        """Log-sums of the rows, ndarray of shape (A, T)."""
        return self.top + np.log(self.total)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_up(table):
    """Fill weight, top, total and peak of a table from its ``x``."""
    x, weight, top, total, peak = table
    n, n_periods, m = x.shape
    for a in range(n):
        for t in range(n_periods):
            largest = x[a, t, 0]
            for b in range(1, m):
                largest = max(largest, x[a, t, b])
            # a second loop of its own turns into vector instructions
            sum_of = 0.0
            for b in range(m):
                weight[a, t, b] = exp_negative(x[a, t, b] - largest)
                sum_of += weight[a, t, b]
            top[a, t] = largest
            total[a, t] = sum_of
            peak[a, t] = sum_of


@njit(nogil=True, cache=True, error_model="numpy")
def sum_others(table, a, t, b):
    """Sum a row anew, about the largest of the entries other than b; returns their sum."""
    x, weight, top, peak = table.x, table.weight, table.top, table.peak
    m = x.shape[2]
    largest = -np.inf
    for j in range(m):
        if j != b:
            largest = max(largest, x[a, t, j])
    rest = 0.0
    for j in range(m):
        if j != b:
            weight[a, t, j] = math.exp(x[a, t, j] - largest)
            rest += weight[a, t, j]
    top[a, t] = largest
    peak[a, t] = rest
    return rest


@njit(nogil=True, cache=True, error_model="numpy")
def put(table, a, t, b, rest, value):
    """x[a, t, b] = value, ``rest`` being the sum of the other weights of the row."""
    x, weight, top, total, peak = table
    x[a, t, b] = value
    exponent = value - top[a, t]
    if exponent > LARGEST_EXPONENT:
        m = x.shape[2]
        rest = 0.0
        for j in range(m):
            weight[a, t, j] = math.exp(x[a, t, j] - value)
            rest += weight[a, t, j]
        top[a, t] = value
        total[a, t] = peak[a, t] = rest
        return
    weight[a, t, b] = math.exp(exponent)
    total[a, t] = rest + weight[a, t, b]
    peak[a, t] = max(peak[a, t], total[a, t])


@njit(nogil=True, cache=True, error_model="numpy")
def others(table, a, t, b):
    """Sum of the weights of a row other than b's, summed anew where rounding would show."""
    weight, total, peak = table.weight, table.total, table.peak
    rest = total[a, t] - weight[a, t, b]
    # not-a-number and infinities fail the comparison, too
    if rest > SMALLEST_SHARE * peak[a, t]:
        return rest
    return sum_others(table, a, t, b)
