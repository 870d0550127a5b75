"""Kernels of the bound for diagonal covariances where negative counts are a product.

All derivatives of the bound come from one walk over all pairs, in single precision and in tiles, as
in `expected_kernels`; a table is laid out as there. With ``t = x . y`` of the means and
``xi^2 = E[(x . y)^2] = t^2 + s``, a pair with n observations has ``omega = n tanh(xi / 2) / 2 xi``
and ``kappa - omega t``, the derivatives of its part of the bound by ``-xi^2 / 2`` and by t.

A word's squares are its K variances and its K mean squares, that is mean^2 + variance: with
``v, e`` those of a row and ``v', e'`` those of a column, ``s = v . (e' - v') + e . v'``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST, exp_negative32, log1p_unit32
from ..expected_kernels import end_of_tile
from ..listed_kernels import MOST, end_of_batch

# Rows and columns of the two tiles.
_ROWS, _COLUMNS = 512, 512
# xi is kept above 1e-2, where tanh(xi / 2) / xi is still right to 1e-5.
LEAST_SQUARE = np.float32(1e-4)
_ZERO32, _HALF32, _ONE32 = np.float32(0.0), np.float32(0.5), np.float32(1.0)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _negative(t, s, left, right):
    """t = kappa - omega t and s = omega for ``left right`` negatives; returns their bound."""
    total, half = _ZERO32, _HALF32 * left
    for i in range(t.size):
        u = t[i]
        xi = math.sqrt(max(u * u + s[i], LEAST_SQUARE))
        e = exp_negative32(-xi)
        n = half * right[i]
        total += right[i] * (_HALF32 * (u + xi) + log1p_unit32(e))
        s[i] = n * (_ONE32 - e) / ((_ONE32 + e) * xi)
        t[i] = -n - s[i] * u
    return -left * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _positive(t, s, n):
    """The same for ``n`` positives."""
    total = _ZERO32
    for i in range(t.size):
        u = t[i]
        xi = math.sqrt(max(u * u + s[i], LEAST_SQUARE))
        e = exp_negative32(-xi)
        half = _HALF32 * n[i]
        total += n[i] * (_HALF32 * (u - xi) - log1p_unit32(e))
        s[i] = half * (_ONE32 - e) / ((_ONE32 + e) * xi)
        t[i] = half - s[i] * u
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def _row(t, s, left, right, first, columns, positive, seen):
    """All observations of a row of a tile; ``seen`` is room for two rows of positive ones."""
    m = columns.size
    for i in range(m):
        seen[0, i] = t[columns[i] - first]
        seen[1, i] = s[columns[i] - first]
    total = _negative(t, s, left, right)
    if m > 0:
        total += _positive(seen[0, :m], seen[1, :m], positive)
        for i in range(m):
            t[columns[i] - first] += seen[0, i]
            s[columns[i] - first] += seen[1, i]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def bound_products(table, x, x_square, y, y_square, of_rows, of_columns):
    """The pairs' part of the bound, and sums over pairs that its derivatives are made of.

    Parameters
    ----------
    table : tuple
        Of `expected_kernels`.
    x, y : ndarray of float32 of shape (n_rows, K), (n_words, K)
        Means of rows and of columns.
    x_square, y_square : ndarray of float32 of shape (n_rows, 2 K), (n_words, 2 K)
        Their squares.
    of_rows, of_columns : tuple of two ndarray
        ``(kappa - omega t) y`` and ``omega y_square``, summed over the pairs of each row; ``(kappa
        - omega t) x`` and ``omega x_square`` over those of each column.
    """
    indptr, indices, positive, left, right = table
    (n_all, k), n_words = x.shape, y.shape[0]
    n_rows, n_columns = min(_ROWS, n_all), min(_COLUMNS, n_words)
    tiles = np.empty((2, n_rows * n_columns), x.dtype)
    facing = np.empty((n_columns, 2 * k), x.dtype)
    seen = np.empty((2, n_columns), x.dtype)
    rows, rows_square = np.empty((n_rows, k), x.dtype), np.empty((n_rows, 2 * k), x.dtype)
    columns, columns_square = (
        np.empty((n_columns, k), x.dtype),
        np.empty((n_columns, 2 * k), x.dtype),
    )
    entry = np.empty(n_rows, np.int64)
    total = 0.0
    for i in range(2):
        of_rows[i][:] = 0.0
        of_columns[i][:] = 0.0
    for a in range(0, n_all, n_rows):
        b = min(a + n_rows, n_all)
        m = b - a
        entry[:m] = indptr[a:b]
        for first in range(0, n_words, n_columns):
            last = min(first + n_columns, n_words)
            c = last - first
            t, s = tiles[0, : m * c].reshape(m, c), tiles[1, : m * c].reshape(m, c)
            np.dot(x[a:b], y[first:last].T, t)
            facing[:c, :k] = y_square[first:last, k:] - y_square[first:last, :k]
            facing[:c, k:] = y_square[first:last, :k]
            np.dot(x_square[a:b], facing[:c].T, s)
            for i in range(m):
                lo = entry[i]
                hi = end_of_tile(indices, lo, indptr[a + i + 1], last)
                total += _row(
                    t[i],
                    s[i],
                    left[a + i],
                    right[first:last],
                    first,
                    indices[lo:hi],
                    positive[lo:hi],
                    seen,
                )
                entry[i] = hi
            np.dot(t, y[first:last], rows[:m])
            of_rows[0][a:b] += rows[:m]
            np.dot(s, y_square[first:last], rows_square[:m])
            of_rows[1][a:b] += rows_square[:m]
            np.dot(t.T, x[a:b], columns[:c])
            of_columns[0][first:last] += columns[:c]
            np.dot(s.T, x_square[a:b], columns_square[:c])
            of_columns[1][first:last] += columns_square[:c]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def listed_bound(table, x, x_square, y, y_square, of_rows, of_columns):
    """`bound_products` of positive observations in lists, a table of `listed_kernels`."""
    indptr, indices, counts = table
    n_rows, k = x.shape
    t, s = np.empty(MOST, x.dtype), np.empty(MOST, x.dtype)
    total = 0.0
    for i in range(2):
        of_rows[i][:] = 0.0
        of_columns[i][:] = 0.0
    for base in range(0, indptr.size - 1, n_rows):
        a = 0
        while a < n_rows:
            b = end_of_batch(indptr, base, a, n_rows)
            first, last = indptr[base + a], indptr[base + b]
            for w in range(a, b):
                for i in range(indptr[base + w], indptr[base + w + 1]):
                    v, logit = indices[i], _ZERO32
                    first_part, second_part = _ZERO32, _ZERO32
                    for j in range(k):
                        logit += x[w, j] * y[v, j]
                    for j in range(k):
                        first_part += x_square[w, j] * y[v, j] * y[v, j]
                    for j in range(k):
                        second_part += x_square[w, k + j] * y_square[v, j]
                    t[i - first], s[i - first] = logit, first_part + second_part
            m = last - first
            total += _positive(t[:m], s[:m], counts[first:last])
            for w in range(a, b):
                for i in range(indptr[base + w], indptr[base + w + 1]):
                    v, slope, omega = indices[i], t[i - first], s[i - first]
                    for j in range(k):
                        of_rows[0][w, j] += slope * y[v, j]
                    for j in range(k):
                        of_columns[0][v, j] += slope * x[w, j]
                    for j in range(2 * k):
                        of_rows[1][w, j] += omega * y_square[v, j]
                    for j in range(2 * k):
                        of_columns[1][v, j] += omega * x_square[w, j]
            a = b
    return total
