"""Kernels of small dense Cholesky factors, one matrix at a time."""

from __future__ import annotations

import math

from numba import njit

from .elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def cholesky(a, rounding):
    """Lower Cholesky factor of ``a`` in place (upper triangle untouched).

    A pivot below ``rounding`` times its diagonal entry is noise of the arithmetic that built
    ``a``; it is lifted to that, so that the factor always exists.
    """
    k = a.shape[0]
    for i in range(k):
        for j in range(i):
            s = a[i, j]
            for m in range(j):
                s -= a[i, m] * a[j, m]
            a[i, j] = s / a[j, j]
        s = a[i, i]
        floor = rounding * s
        for m in range(i):
            s -= a[i, m] * a[i, m]
        a[i, i] = math.sqrt(max(s, max(floor, 1e-300)))


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def solve_lower(a, x):
    """x <- L^-1 x for the lower triangle L of ``a``."""
    for i in range(x.size):
        s = x[i]
        for j in range(i):
            s -= a[i, j] * x[j]
        x[i] = s / a[i, i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def solve_upper(a, x):
    """x <- L^-T x for the lower triangle L of ``a``."""
    for i in range(x.size - 1, -1, -1):
        s = x[i] / a[i, i]
        x[i] = s
        for j in range(i):
            x[j] -= a[i, j] * s


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def multiply_upper(a, x, out):
    """out = L' x for the lower triangle L of ``a``."""
    k = x.size
    out[:] = 0.0
    for i in range(k):
        for j in range(i + 1):
            out[j] += a[i, j] * x[i]
