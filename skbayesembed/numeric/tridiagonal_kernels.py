"""Kernels of many tridiagonal precisions at once: one a column, times along the rows."""

from __future__ import annotations

from numba import njit

from .elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def paths_from(center, inverse, below, y, x):
    """x = center + L^-T y in every column, all of shape (T, M).

    L is lower bidiagonal, ``inverse`` one over its diagonal and ``below`` the entries beneath.
    """
    n, m = y.shape
    for j in range(m):
        x[n - 1, j] = y[n - 1, j] * inverse[n - 1, j]
    for t in range(n - 2, -1, -1):
        for j in range(m):
            x[t, j] = (y[t, j] - below[t, j] * x[t + 1, j]) * inverse[t, j]
    for t in range(n):
        for j in range(m):
            x[t, j] += center[t, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def paths_pull(inverse, below, gradient, out):
    """out = L^-1 gradient: the gradient by y where ``gradient`` is that by x."""
    n, m = gradient.shape
    for j in range(m):
        out[0, j] = gradient[0, j] * inverse[0, j]
    for t in range(1, n):
        for j in range(m):
            out[t, j] = (gradient[t, j] - below[t - 1, j] * out[t - 1, j]) * inverse[t, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def paths_prior(diagonal, off, x, gradient):
    """Subtract P x from ``gradient`` in every column; returns the log density -x'P x / 2."""
    n, m = x.shape
    value = 0.0
    for t in range(n):
        here = diagonal[t]
        before, after = off[t - 1] if t > 0 else 0.0, off[t] if t < n - 1 else 0.0
        previous, following = x[max(t - 1, 0)], x[min(t + 1, n - 1)]
        for j in range(m):
            p = here * x[t, j] + before * previous[j] + after * following[j]
            value -= 0.5 * x[t, j] * p
            gradient[t, j] -= p
    return value
