"""Kernels of the curvature: slopes and residuals of pairs, blocks of words, products.

Rows ``x`` (n_rows, K) meet the opposite vectors ``y`` (n_columns, K), as in `kernels`. A pair of
logit t has the slope ``s = n sigma(t) sigma(-t)`` and the residual ``r = n_positive - n sigma(t)``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..density_kernels import pair_logits
from ..expected_kernels import counts_of_row
from ..logistic_kernels import FAST, exp_negative, residuals_and_likelihood32, slopes32


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def slopes_and_residuals(t, n, kappa, slope, residual):
    """slope = n sigma(t) sigma(-t), residual = kappa - n tanh(t / 2) / 2 on 1-D arrays.

    ``slope`` may be ``t`` itself.
    """
    for i in range(t.size):
        u = t[i]
        e = exp_negative(-abs(u))
        d = 1.0 / (1.0 + e)
        slope[i] = n[i] * (e * d * d)
        residual[i] = kappa[i] - 0.5 * n[i] * math.copysign((1.0 - e) * d, u)


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_rows_dense(x, y, n, kappa, slope, residual):
    """`slopes_and_residuals` of all pairs of rows of ``x`` and ``y``."""
    t = np.dot(x, y.T)
    for i in range(x.shape[0]):
        slopes_and_residuals(t[i], n[i], kappa[i], slope[i], residual[i])


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_rows_expected(start, stop, table, x, y, slope, residual):
    """`curvature_rows_dense` for rows ``start:stop`` of ``x`` and a table of `expected_kernels`."""
    n, kappa = np.empty(y.shape[0]), np.empty(y.shape[0])
    t = np.dot(x[start:stop], y.T)
    for i in range(stop - start):
        counts_of_row(start + i, 0, y.shape[0], table, table[0][start + i], n, kappa)
        slopes_and_residuals(t[i], n, kappa, slope[i], residual[i])


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_rows_expected32(start, stop, table, x, y, slope, residual):
    """`curvature_rows_expected` in single precision."""
    n, kappa = np.empty(y.shape[0], x.dtype), np.empty(y.shape[0], x.dtype)
    np.dot(x[start:stop], y.T, residual)
    for i in range(stop - start):
        counts_of_row(start + i, 0, y.shape[0], table, table[0][start + i], n, kappa)
        slope[i] = residual[i]
        slopes32(slope[i], n)
        residuals_and_likelihood32(residual[i], n, kappa)


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_rows_sparse(start, stop, indptr, indices, x, y, n, kappa, slope, residual):
    """`curvature_rows_dense` for words ``start:stop`` of a table in compressed rows."""
    lo, hi = indptr[start], indptr[stop]
    pair_logits(start, stop, indptr, indices, x, y, slope[lo:hi])
    slopes_and_residuals(slope[lo:hi], n[lo:hi], kappa[lo:hi], slope[lo:hi], residual[lo:hi])


@njit(nogil=True, cache=True, error_model="numpy")
def blocks_sparse(start, stop, indptr, indices, y, slope, out):
    """out_w = sum_v slope_wv y_v y_v' for words ``start:stop`` of a table in compressed rows."""
    k = y.shape[1]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    rows, weighted = np.empty((m, k), y.dtype), np.empty((m, k), y.dtype)
    for w in range(start, stop):
        lo = indptr[w]
        m = indptr[w + 1] - lo
        if m == 0:
            out[w] = 0.0
            continue
        for i in range(m):
            v = indices[lo + i]
            for j in range(k):
                rows[i, j] = y[v, j]
                weighted[i, j] = slope[lo + i] * y[v, j]
        np.dot(weighted[:m].T, rows[:m], out[w])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def product_sparse(start, stop, indptr, indices, x, y, slope, residual, dx, dy, out):
    """out_wi = sum_v slope (x_w . dy_vi + dx_wi . y_v) y_v - residual dy_vi, directions i.

    ``dx``, ``dy`` and ``out`` are (n_words, n_directions, K); without ``dx`` (None) the product is
    that with the cross blocks. A vector y_v serves all directions while it is at hand.
    """
    k = x.shape[1]
    zero = x.dtype.type(0.0)
    for w in range(start, stop):
        mine, rows = x[w], out[w]
        rows[:] = zero
        for e in range(indptr[w], indptr[w + 1]):
            v = indices[e]
            yv, s, r = y[v], slope[e], residual[e]
            for i in range(dy.shape[1]):
                dv, row = dy[v, i], rows[i]
                d = zero
                if dx is None:
                    for j in range(k):
                        d += mine[j] * dv[j]
                else:
                    other = dx[w, i]
                    for j in range(k):
                        d += mine[j] * dv[j] + other[j] * yv[j]
                d *= s
                for j in range(k):
                    row[j] += d * yv[j] - r * dv[j]
