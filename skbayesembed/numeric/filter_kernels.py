"""Whitening of rows that share a slow part in time and a part of their unit."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def whiten(columns, opens, steps, slow, unit):
    """Columns (n, c) as independent rows of variance one, and the log determinant of their own.

    Rows of a unit follow each other, and units are in the order of time. ``opens`` (n,) is true for
    the first row of each, and ``steps`` (n,) is there the correlation of the slow part with that of
    the unit before. ``slow`` and ``unit`` are shares of the variance; the rest is of each row.

    The Kalman filter of the state (slow part, part of the unit): its innovations over their
    standard deviations are the columns times the inverse Cholesky factor of the correlations.
    """
    n, c = columns.shape
    out, at_slow, at_unit = np.empty((n, c)), np.zeros(c), np.zeros(c)
    of_slow, both, of_unit, log_det = slow, 0.0, unit, 0.0
    for i in range(n):
        if opens[i]:
            r = steps[i]
            of_slow, both, of_unit = r * r * of_slow + (1.0 - r * r) * slow, 0.0, unit
            for j in range(c):
                at_slow[j] *= r
                at_unit[j] = 0.0
        gain_slow, gain_unit = of_slow + both, both + of_unit
        variance = gain_slow + gain_unit + 1.0 - slow - unit
        log_det += np.log(variance)
        root, by_slow, by_unit = np.sqrt(variance), gain_slow / variance, gain_unit / variance
        for j in range(c):
            innovation = columns[i, j] - at_slow[j] - at_unit[j]
            out[i, j] = innovation / root
            at_slow[j] += by_slow * innovation
            at_unit[j] += by_unit * innovation
        of_slow -= by_slow * gain_slow
        both -= by_slow * gain_unit
        of_unit -= by_unit * gain_unit
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
