"""Whitening of numbers that share a slow part in time, and products with its correlations."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def whiten(columns, steps, slow, own):
    """Columns (n, c) as independent rows of variance one, and the log determinant of their own.

    Rows are in the order of time. ``steps`` (n,) are correlations of the slow part, whose variance
    is ``slow``, with that of the row before, and ``own`` (n,) variances of what rows have besides.

    The Kalman filter: its innovations over their standard deviations are the columns times the
    inverse Cholesky factor of the covariance.
    """
    n, c = columns.shape
    out, at = np.empty((n, c)), np.zeros(c)
    known, log_det = slow, 0.0
    for i in range(n):
        r = steps[i]
        known = r * r * known + (1.0 - r * r) * slow
        variance = known + own[i]
        log_det += np.log(variance)
        root, gain = np.sqrt(variance), known / variance
        for j in range(c):
            innovation = columns[i, j] - r * at[j]
            out[i, j] = innovation / root
            at[j] = r * at[j] + gain * innovation
        known -= gain * known
    return out, log_det


@njit(nogil=True, cache=True, error_model="numpy")
def add_solutions(columns, steps, slow, own, shifts, weights, out):
    """out += sum_s weights[s] (V + shifts[s])^-1 columns, V the covariance of `whiten`.

    The Kalman filter, and back through it: the gradient of half the sum of its squared innovations.
    """
    n, c = columns.shape
    left, at = np.empty((n, c)), np.empty(c)
    variances, gains = np.empty(n), np.empty(n)
    for s in range(shifts.size):
        at[:] = 0.0
        known = slow
        for i in range(n):
            r = steps[i]
            known = r * r * known + (1.0 - r * r) * slow
            variances[i] = known + own[i] + shifts[s]
            gains[i] = known / variances[i]
            known -= gains[i] * known
            for j in range(c):
                innovation = columns[i, j] - r * at[j]
                left[i, j] = innovation / variances[i]
                at[j] = r * at[j] + gains[i] * innovation
        at[:] = 0.0
        for i in range(n - 1, -1, -1):
            for j in range(c):
                solution = left[i, j] + gains[i] * at[j]
                out[i, j] += weights[s] * solution
                at[j] = steps[i] * (at[j] - solution)


@njit(nogil=True, cache=True, error_model="numpy")
def correlated(columns, steps):
    """Correlations of the slow part times columns (n, c); ``steps`` (n,) are those with the last.

    The correlation of rows i < j is the product of ``steps`` from i + 1 to j.
    """
    n, c = columns.shape
    out, run = columns.copy(), np.zeros(c)
    for i in range(1, n):
        for j in range(c):
            run[j] = steps[i] * (run[j] + columns[i - 1, j])
            out[i, j] += run[j]
    run[:] = 0.0
    for i in range(n - 2, -1, -1):
        for j in range(c):
            run[j] = steps[i + 1] * (run[j] + columns[i + 1, j])
            out[i, j] += run[j]
    return out
