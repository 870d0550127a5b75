"""Kernels of logits and of the gradient of the log density, over blocks of words."""

from __future__ import annotations

import numpy as np
from numba import njit

from .logistic_kernels import (
    FAST,
    exp_negative,
    residuals_and_likelihood,
    residuals_and_likelihood32,
    slopes32,
)

# Rows of logits at a time in single precision: with fewer, products are slower.
_ROWS32 = 256


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pair_logits(start, stop, indptr, indices, x, y, out):
    """out[e] = x_w . y_v for the pairs e of rows ``start:stop``; out[0] is the first of them."""
    base = indptr[start]
    for w in range(start, stop):
        for e in range(indptr[w], indptr[w + 1]):
            v = indices[e]
            s = 0.0
            for j in range(x.shape[1]):
                s += x[w, j] * y[v, j]
            out[e - base] = s


@njit(nogil=True, cache=True, error_model="numpy")
def gradient_dense(x, y, n, kappa, chunk, gx, gy):
    """gx = gradient of the rows, gy += that of the columns; returns the log likelihood."""
    n_rows = x.shape[0]
    c = min(chunk, n_rows)
    logits_ = np.empty((c, y.shape[0]))
    res = np.empty((c, y.shape[0]))
    part = np.empty_like(gy)
    total = 0.0
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        t, r = logits_[:b], res[:b]
        np.dot(x[a : a + b], y.T, t)
        for i in range(b):
            total += residuals_and_likelihood(t[i], n[a + i], kappa[a + i], r[i])
        np.dot(r, y, gx[a : a + b])
        np.dot(r.T, x[a : a + b], part)
        gy += part
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def gradient_sparse(start, stop, indptr, indices, x, y, n, kappa, gx, gy):
    """`gradient_dense` for words ``start:stop`` of a pair table in compressed rows."""
    k = x.shape[1]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    t_, r_ = np.empty(m), np.empty(m)
    total = 0.0
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        t, r = t_[: hi - lo], r_[: hi - lo]
        pair_logits(w, w + 1, indptr, indices, x, y, t)
        total += residuals_and_likelihood(t, n[lo:hi], kappa[lo:hi], r)
        for j in range(k):
            gx[w, j] = 0.0
        for i in range(hi - lo):
            v = indices[lo + i]
            for j in range(k):
                gx[w, j] += r[i] * y[v, j]
                gy[v, j] += r[i] * x[w, j]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def residual_products_dense(x, y, n, kappa, z, u, rz, ru):
    """rz = R z and ru = R' u of the residuals R of rows ``x``; returns the log likelihood.

    In single precision. With z = y and u = x these are the gradients of `gradient_dense`; ``z`` or
    ``u`` may have no columns.
    """
    n_rows = x.shape[0]
    c = min(_ROWS32, n_rows)
    buffer = np.empty((c, y.shape[0]), x.dtype)
    part = np.empty_like(ru)
    total = 0.0
    ru[:] = 0.0
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        t = buffer[:b]
        np.dot(x[a : a + b], y.T, t)
        for i in range(b):
            total += residuals_and_likelihood32(t[i], n[a + i], kappa[a + i])
        if z.shape[1] > 0:
            np.dot(t, z, rz[a : a + b])
        if u.shape[1] > 0:
            np.dot(t.T, u[a : a + b], part)
            ru += part
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def residual_products_sparse(start, stop, table, x, y, z, u, rz, ru):
    """`residual_products_dense` for rows ``start:stop`` of (indptr, indices, n, kappa)."""
    indptr, indices, n, kappa = table
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    buffer = np.empty(m, x.dtype)
    total = 0.0
    ru[:] = 0.0
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        t = buffer[: hi - lo]
        pair_logits(w, w + 1, indptr, indices, x, y, t)
        total += residuals_and_likelihood32(t, n[lo:hi], kappa[lo:hi])
        rz[w] = 0.0
        for i in range(hi - lo):
            r, v = t[i], indices[lo + i]
            for j in range(z.shape[1]):
                rz[w, j] += r * z[v, j]
            for j in range(u.shape[1]):
                ru[v, j] += r * u[w, j]
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def slope_products_dense(x, y, n, z, u, sz, su):
    """sz = S z and su = S' u of the slopes S = n sigma(t) sigma(-t) of rows ``x``."""
    n_rows = x.shape[0]
    c = min(_ROWS32, n_rows)
    buffer = np.empty((c, y.shape[0]), x.dtype)
    part = np.empty_like(su)
    su[:] = 0.0
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        t = buffer[:b]
        np.dot(x[a : a + b], y.T, t)
        for i in range(b):
            slopes32(t[i], n[a + i])
        np.dot(t, z, sz[a : a + b])
        np.dot(t.T, u[a : a + b], part)
        su += part


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def slope_products_sparse(start, stop, table, x, y, z, u, sz, su):
    """`slope_products_dense` for rows ``start:stop`` of (indptr, indices, n, kappa)."""
    indptr, indices, n, _ = table
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    buffer = np.empty(m, x.dtype)
    su[:] = 0.0
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        t = buffer[: hi - lo]
        pair_logits(w, w + 1, indptr, indices, x, y, t)
        slopes32(t, n[lo:hi])
        sz[w] = 0.0
        for i in range(hi - lo):
            s, v = t[i], indices[lo + i]
            for j in range(z.shape[1]):
                sz[w, j] += s * z[v, j]
            for j in range(u.shape[1]):
                su[v, j] += s * u[w, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_normal_gradient(x, precision, gradient):
    """gradient -= precision_k x_wk; returns -1/2 sum precision_k x_wk^2."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            product = precision[j] * x[i, j]
            gradient[i, j] -= product
            total += product * x[i, j]
    return -0.5 * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_probabilities(t, out):
    """out += sigma(t) on 1-D arrays."""
    for i in range(t.size):
        e = exp_negative(-abs(t[i]))
        d = 1.0 / (1.0 + e)
        out[i] += d if t[i] >= 0 else e * d


@njit(nogil=True, cache=True, error_model="numpy")
def sum_probabilities(x, y, chunk, out):
    """out[w, v] += sigma(x_w . y_v)."""
    n_rows = x.shape[0]
    c = min(chunk, n_rows)
    buffer = np.empty((c, y.shape[0]))
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        np.dot(x[a : a + b], y.T, buffer[:b])
        for i in range(b):
            add_probabilities(buffer[i], out[a + i])
