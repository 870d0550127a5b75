"""Elementwise kernels of the pair likelihood.

A pair of logit ``t`` with ``n`` observations and ``kappa = n_positive - n / 2`` has the log
likelihood ``kappa * t - n * log(2 cosh(t / 2))``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative, exp_negative32, log1p_unit, log1p_unit32

_ZERO32, _HALF32, _ONE32 = np.float32(0.0), np.float32(0.5), np.float32(1.0)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def residuals(t, n, kappa, out):
    """out = n_positive - n sigma(t) = kappa - n tanh(t / 2) / 2, elementwise on 1-D arrays."""
    for i in range(t.size):
        e = exp_negative(-abs(t[i]))
        h = (1.0 - e) / (1.0 + e)
        out[i] = kappa[i] - 0.5 * n[i] * math.copysign(h, t[i])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def slopes(t, n, out):
    """out = n sigma(t) sigma(-t), elementwise on 1-D arrays."""
    for i in range(t.size):
        e = exp_negative(-abs(t[i]))
        d = 1.0 / (1.0 + e)
        out[i] = n[i] * (e * d * d)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def log_likelihood(t, n, kappa):
    """Sum of kappa t - n log(2 cosh(t / 2)) over 1-D arrays."""
    total = 0.0
    for i in range(t.size):
        a = abs(t[i])
        total += kappa[i] * t[i] - n[i] * (0.5 * a + log1p_unit(exp_negative(-a)))
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def residuals_and_likelihood(t, n, kappa, out):
    """`residuals` into ``out`` and the `log_likelihood` returned, with one exponential a pair."""
    total = 0.0
    for i in range(t.size):
        a = abs(t[i])
        e = exp_negative(-a)
        h = (1.0 - e) / (1.0 + e)
        out[i] = kappa[i] - 0.5 * n[i] * math.copysign(h, t[i])
        total += kappa[i] * t[i] - n[i] * (0.5 * a + log1p_unit(e))
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def residuals_and_likelihood32(t, n, kappa):
    """`residuals_and_likelihood` in single precision, the residuals in the place of ``t``."""
    total = _ZERO32
    for i in range(t.size):
        u = t[i]
        a = abs(u)
        e = exp_negative32(-a)
        h = (_ONE32 - e) / (_ONE32 + e)
        total += kappa[i] * u - n[i] * (_HALF32 * a + log1p_unit32(e))
        t[i] = kappa[i] - _HALF32 * n[i] * (h if u >= _ZERO32 else -h)
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def negative_residuals32(t, left, right):
    """t = -left right sigma(t); returns ``-left sum right log(1 + exp(t))``, in single precision.

    ``left`` is a number, ``right`` an array.
    """
    total = _ZERO32
    for i in range(t.size):
        u = t[i]
        e = exp_negative32(-abs(u))
        d = _ONE32 / (_ONE32 + e)
        total += right[i] * (max(u, _ZERO32) + log1p_unit32(e))
        t[i] = -left * right[i] * (d if u >= _ZERO32 else e * d)
    return -left * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def positive_residuals32(t, n):
    """t = n sigma(-t); returns ``sum n log sigma(t)``, in single precision."""
    total = _ZERO32
    for i in range(t.size):
        u = t[i]
        e = exp_negative32(-abs(u))
        d = _ONE32 / (_ONE32 + e)
        total += n[i] * (min(u, _ZERO32) - log1p_unit32(e))
        t[i] = n[i] * (e * d if u >= _ZERO32 else d)
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def slopes32(t, n):
    """t = n sigma(t) sigma(-t) in single precision."""
    for i in range(t.size):
        e = exp_negative32(-abs(t[i]))
        d = _ONE32 / (_ONE32 + e)
        t[i] = n[i] * (e * d * d)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def accumulate_curvature(t, sum_logit, sum_slope):
    """sum_logit += t and sum_slope += sigma(t) sigma(-t), on 1-D float32 sums."""
    for i in range(t.size):
        e = exp_negative(-abs(t[i]))
        d = 1.0 / (1.0 + e)
        sum_logit[i] += np.float32(t[i])
        sum_slope[i] += np.float32(e * d * d)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def linearise(sum_logit, sum_slope, scale, n, kappa, weight, shift):
    """weight = n s and shift = n_positive - n sigma(m) + weight m at mean logit m, mean slope s."""
    for i in range(n.size):
        m = sum_logit[i] * scale
        e = exp_negative(-abs(m))
        h = math.copysign((1.0 - e) / (1.0 + e), m)
        w = n[i] * (sum_slope[i] * scale)
        weight[i] = np.float32(w)
        shift[i] = np.float32(kappa[i] - 0.5 * n[i] * h + w * m)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def logits(rows, x, out):
    """out_i = rows_i . x."""
    for i in range(rows.shape[0]):
        s = 0.0
        for j in range(x.size):
            s += rows[i, j] * x[j]
        out[i] = s


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def weighted_sum(rows, r, out):
    """out = sum_i r_i rows_i."""
    out[:] = 0.0
    for i in range(rows.shape[0]):
        for j in range(out.size):
            out[j] += r[i] * rows[i, j]
