"""Kernels of pairs whose negative counts are a product: no table of all pairs is ever made.

A table is ``(indptr, indices, positive, left, right)``: positive counts in compressed rows with
ascending columns, and the factors of the negative ones, ``n-[w, v] = left[w] right[v]``. Logits are
made in tiles that stay in the cache; the positive counts of a tile are few and join it one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .logistic_kernels import (
    FAST,
    negative_residuals32,
    positive_residuals32,
    residuals_and_likelihood,
    residuals_and_likelihood32,
    slopes32,
)

# Rows and columns of a tile of logits, 2 MB: smaller ones make slow products. In double precision
# there are two such tiles, and four where products with the curvature are made.
_ROWS, _ROWS64, _COLUMNS = 512, 128, 1024


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def end_of_tile(indices, entry, stop, last):
    """The first entry from ``entry`` on, up to ``stop``, whose column is ``last`` or beyond."""
    while entry < stop and indices[entry] < last:
        entry += 1
    return entry


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def _residuals_of_row(t, left, right, first, columns, positive, seen):
    """t = positive (1 - sigma(t)) - left right sigma(t); returns the log likelihood.

    ``t`` begins with the column ``first``; ``positive`` are counts at the ``columns``, and ``seen``
    is a buffer for them.
    """
    for i in range(columns.size):
        seen[i] = t[columns[i] - first]
    total = negative_residuals32(t, left, right)
    if columns.size > 0:
        total += positive_residuals32(seen[: columns.size], positive)
        for i in range(columns.size):
            t[columns[i] - first] += seen[i]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def residual_products_expected(start, stop, table, x, y, z, u, rz, ru):
    """`density_kernels.residual_products_dense` for rows ``start:stop`` of a table."""
    indptr, indices, positive, left, right = table
    n_words = y.shape[0]
    n_rows, n_columns = min(_ROWS, stop - start), min(_COLUMNS, n_words)
    tile, seen = np.empty(n_rows * n_columns, x.dtype), np.empty(n_columns, x.dtype)
    of_rows = np.empty((n_rows, z.shape[1]), x.dtype)
    of_columns = np.empty((n_columns, u.shape[1]), x.dtype)
    entry = np.empty(n_rows, np.int64)
    total = 0.0
    rz[start:stop] = 0.0
    ru[:] = 0.0
    for a in range(start, stop, n_rows):
        b = min(a + n_rows, stop)
        entry[: b - a] = indptr[a:b]
        for first in range(0, n_words, n_columns):
            last = min(first + n_columns, n_words)
            t = tile[: (b - a) * (last - first)].reshape(b - a, last - first)
            np.dot(x[a:b], y[first:last].T, t)
            for i in range(b - a):
                lo = entry[i]
                hi = end_of_tile(indices, lo, indptr[a + i + 1], last)
                total += _residuals_of_row(
                    t[i],
                    left[a + i],
                    right[first:last],
                    first,
                    indices[lo:hi],
                    positive[lo:hi],
                    seen,
                )
                entry[i] = hi
            if z.shape[1] > 0:
                np.dot(t, z[first:last], of_rows[: b - a])
                rz[a:b] += of_rows[: b - a]
            if u.shape[1] > 0:
                np.dot(t.T, u[a:b], of_columns[: last - first])
                ru[first:last] += of_columns[: last - first]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def counts_of_row(row, first, last, table, entry, n, kappa):
    """Counts ``n`` and ``kappa`` of columns ``first:last``; returns the entry after the last."""
    indptr, indices, positive, left, right = table
    for j in range(first, last):
        n[j - first] = left[row] * right[j]
        kappa[j - first] = -0.5 * n[j - first]
    while entry < indptr[row + 1] and indices[entry] < last:
        j = indices[entry] - first
        n[j] += positive[entry]
        kappa[j] = positive[entry] - 0.5 * n[j]
        entry += 1
    return entry


@njit(nogil=True, cache=True, error_model="numpy")
def slope_products_expected(start, stop, table, x, y, z, u, sz, su):
    """`density_kernels.slope_products_dense` for rows ``start:stop`` of a table."""
    indptr, n_words = table[0], y.shape[0]
    n_rows, n_columns = min(_ROWS, stop - start), min(_COLUMNS, n_words)
    tile, n = np.empty(n_rows * n_columns, x.dtype), np.empty(n_columns, x.dtype)
    kappa = np.empty_like(n)
    of_rows = np.empty((n_rows, z.shape[1]), x.dtype)
    of_columns = np.empty((n_columns, u.shape[1]), x.dtype)
    entry = np.empty(n_rows, np.int64)
    sz[start:stop] = 0.0
    su[:] = 0.0
    for a in range(start, stop, n_rows):
        b = min(a + n_rows, stop)
        entry[: b - a] = indptr[a:b]
        for first in range(0, n_words, n_columns):
            last = min(first + n_columns, n_words)
            t = tile[: (b - a) * (last - first)].reshape(b - a, last - first)
            np.dot(x[a:b], y[first:last].T, t)
            for i in range(b - a):
                entry[i] = counts_of_row(a + i, first, last, table, entry[i], n, kappa)
                slopes32(t[i], n[: last - first])
            np.dot(t, z[first:last], of_rows[: b - a])
            sz[a:b] += of_rows[: b - a]
            np.dot(t.T, u[a:b], of_columns[: last - first])
            su[first:last] += of_columns[: last - first]


@njit(nogil=True, cache=True, error_model="numpy")
def gradient_expected(start, stop, table, x, y, gx, gy):
    """`density_kernels.gradient_dense` for rows ``start:stop`` of a table, in double precision.

    ``gx`` has all rows, of which those are set; ``gy`` is set, not added to.
    """
    indptr, n_words, k = table[0], y.shape[0], y.shape[1]
    n_rows, n_columns = min(_ROWS64, stop - start), min(_COLUMNS, n_words)
    tile, n, kappa = np.empty(n_rows * n_columns), np.empty(n_columns), np.empty(n_columns)
    residuals = np.empty_like(tile)
    of_rows, of_columns = np.empty((n_rows, k)), np.empty((n_columns, k))
    entry = np.empty(n_rows, np.int64)
    total = 0.0
    gx[start:stop] = 0.0
    gy[:] = 0.0
    for a in range(start, stop, n_rows):
        b = min(a + n_rows, stop)
        entry[: b - a] = indptr[a:b]
        for first in range(0, n_words, n_columns):
            last = min(first + n_columns, n_words)
            m = last - first
            t = tile[: (b - a) * m].reshape(b - a, m)
            r = residuals[: (b - a) * m].reshape(b - a, m)
            np.dot(x[a:b], y[first:last].T, t)
            for i in range(b - a):
                entry[i] = counts_of_row(a + i, first, last, table, entry[i], n, kappa)
                total += residuals_and_likelihood(t[i], n[:m], kappa[:m], r[i])
            np.dot(r, y[first:last], of_rows[: b - a])
            gx[a:b] += of_rows[: b - a]
            np.dot(r.T, x[a:b], of_columns[:m])
            gy[first:last] += of_columns[:m]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_products_expected(start, stop, table, x, y, dx, dy, observed, gx, gy):
    """Minus the Hessian of the log likelihood of rows ``start:stop`` times directions, in float32.

    With slopes S and residuals R of the rows, ``T = S * (x dy' + dx y')`` for each direction:
    gx = T y - R dy, gy = T' x - R' dx, where not ``observed`` without R. ``dx`` and ``gx`` are
    (m, n_rows, K), ``dy`` and ``gy`` (m, n_words, K); of ``gx`` rows ``start:stop`` are set, of
    ``gy`` all.
    """
    indptr, n_words, k = table[0], y.shape[0], y.shape[1]
    n_rows, n_columns = min(_ROWS64, stop - start), min(_COLUMNS, n_words)
    tiles = np.empty((4, n_rows * n_columns), x.dtype)
    n, kappa = np.empty(n_columns, x.dtype), np.empty(n_columns, x.dtype)
    of_rows, of_columns = np.empty((n_rows, k), x.dtype), np.empty((n_columns, k), x.dtype)
    entry = np.empty(n_rows, np.int64)
    gx[:, start:stop] = 0.0
    gy[:] = 0.0
    for a in range(start, stop, n_rows):
        b = min(a + n_rows, stop)
        rows = of_rows[: b - a]
        entry[: b - a] = indptr[a:b]
        for first in range(0, n_words, n_columns):
            last = min(first + n_columns, n_words)
            m = last - first
            columns = of_columns[:m]
            s = tiles[0, : (b - a) * m].reshape(b - a, m)
            r = tiles[1, : (b - a) * m].reshape(b - a, m)
            t = tiles[2, : (b - a) * m].reshape(b - a, m)
            other = tiles[3, : (b - a) * m].reshape(b - a, m)
            np.dot(x[a:b], y[first:last].T, s)
            for i in range(b - a):
                entry[i] = counts_of_row(a + i, first, last, table, entry[i], n, kappa)
                r[i] = s[i]
                slopes32(s[i], n[:m])
                residuals_and_likelihood32(r[i], n[:m], kappa[:m])
            for d in range(dy.shape[0]):
                np.dot(x[a:b], dy[d, first:last].T, t)
                np.dot(dx[d, a:b], y[first:last].T, other)
                for i in range(b - a):
                    for j in range(m):
                        t[i, j] = s[i, j] * (t[i, j] + other[i, j])
                np.dot(t, y[first:last], rows)
                gx[d, a:b] += rows
                np.dot(t.T, x[a:b], columns)
                gy[d, first:last] += columns
                if not observed:
                    continue
                np.dot(r, dy[d, first:last], rows)
                gx[d, a:b] -= rows
                np.dot(r.T, dx[d, a:b], columns)
                gy[d, first:last] -= columns
