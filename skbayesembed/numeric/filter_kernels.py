"""Whitening of numbers that share a slow part in time, and products with its correlations."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def whiten(columns, steps, slow, own):
    """Columns (n, c) as independent rows of variance one, and their covariance's log determinant.

    Rows are in the order of time. ``steps`` (n,) are correlations of the slow part, whose variance
    is ``slow``, with that of the row before, and ``own`` (n,) variances of what rows have besides.

    The Kalman filter: innovations over their deviations, the columns times the inverse of a root of
    the covariance that is triangular but for rows of one time (steps of 1), whose order does not
    matter. Their innovations have the covariance ``D + known 1 1'``, D of their own, and are
    multiplied by ``(I - (1 - 1 / spread) u u') D^-1/2``, u along ``D^-1/2 1`` and ``spread`` the
    root of ``1 + known |D^-1/2 1|^2``.
    """
    n, c = columns.shape
    out, at, along = np.empty((n, c)), np.zeros(c), np.empty(c)
    known, log_det, first = slow, 0.0, 0
    while first < n:
        last = first + 1
        while last < n and steps[last] == 1.0:
            last += 1
        r = steps[first]
        known = r * r * known + (1.0 - r * r) * slow
        along[:] = 0.0
        precision = 0.0
        for i in range(first, last):
            root = np.sqrt(own[i])
            precision += 1.0 / own[i]
            log_det += np.log(own[i])
            for j in range(c):
                out[i, j] = (columns[i, j] - r * at[j]) / root
                along[j] += out[i, j] / root
        spread = np.sqrt(1.0 + known * precision)
        log_det += 2.0 * np.log(spread)
        for i in range(first, last):
            share = (1.0 - 1.0 / spread) / (precision * np.sqrt(own[i]))
            for j in range(c):
                out[i, j] -= share * along[j]
        known /= spread * spread
        for j in range(c):
            at[j] = r * at[j] + known * along[j]
        first = last
    return out, log_det


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
