"""Kernels of the log density: curvature of listed pairs, trajectories stretched about levels."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def product_pairs(indptr, indices, x, y, slope, residual, dx, dy, gx, gy):
    """Minus the Hessian of the pairs at (x, y) times (dx, dy), added to (gx, gy).

    gx_w += sum_v c_wv y_v - residual_wv dy_v, gy_v += sum_w c_wv x_w - residual_wv dx_w,
    with c_wv = slope_wv (x_w . dy_v + dx_w . y_v); all vectors are (n_words, K).
    """
    k = x.shape[1]
    for w in range(indptr.size - 1):
        for e in range(indptr[w], indptr[w + 1]):
            v, r = indices[e], residual[e]
            c = 0.0
            for j in range(k):
                c += x[w, j] * dy[v, j] + dx[w, j] * y[v, j]
            c *= slope[e]
            for j in range(k):
                gx[w, j] += c * y[v, j] - r * dy[v, j]
                gy[v, j] += c * x[w, j] - r * dx[w, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def stretch_trajectories(v, shares, factor, away, x):
    """x_t = m + away_t with away_t = factor (v_t - m), m = sum_t share_t v_t.

    Vectors are (n_periods, n, K), ``shares`` (n_periods, n), ``factor`` (n,).
    """
    n_periods, n, k = v.shape
    level = np.zeros((n, k))
    for t in range(n_periods):
        for i in range(n):
            for j in range(k):
                level[i, j] += shares[t, i] * v[t, i, j]
    for t in range(n_periods):
        for i in range(n):
            for j in range(k):
                d = factor[i] * (v[t, i, j] - level[i, j])
                away[t, i, j] = d
                x[t, i, j] = level[i, j] + d


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pull_stretch(gradient, shares, factor, power, away):
    """The gradient by x of `stretch_trajectories` into that by v, in place.

    Returns that by phi, where ``factor`` is exp(power phi / 2).
    """
    n_periods, n, k = gradient.shape
    total = np.zeros((n, k))
    slope = 0.0
    for t in range(n_periods):
        for i in range(n):
            s = 0.0
            for j in range(k):
                total[i, j] += gradient[t, i, j]
                s += gradient[t, i, j] * away[t, i, j]
            slope += 0.5 * power[i] * s
    for t in range(n_periods):
        for i in range(n):
            c = (1.0 - factor[i]) * shares[t, i]
            for j in range(k):
                gradient[t, i, j] = factor[i] * gradient[t, i, j] + c * total[i, j]
    return slope


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def step_sums(x, out):
    """out[:, t] = sums of d^2, d x_t and x_t^2 over the columns of x, with d = x_{t+1} - x_t."""
    for t in range(x.shape[0] - 1):
        a = b = c = 0.0
        for i in range(x.shape[1]):
            d = x[t + 1, i] - x[t, i]
            a += d * d
            b += d * x[t, i]
            c += x[t, i] * x[t, i]
        out[0, t], out[1, t], out[2, t] = a, b, c
