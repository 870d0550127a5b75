"""Kernels of variational trajectories: Gaussian sites along time, and expectations over logits.

A factor of the approximation is one component of one word's trajectory, on one side: the prior's
tridiagonal precision plus a diagonal of ``sites`` ``lam``, with the linear term ``eta``. All of
its moments take O(n_periods). Arrays of vectors have the shape (n_periods, n_words, K).

The expectation of log(1 + exp(logit)) is its mean over m - s and m + s, with the exact mean m and
standard deviation s of the logit: exact for cubic polynomials, and of the right slope far out. The
residuals and slopes below are the derivatives of that mean, so that all updates are of one
objective.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST, exp_negative32, log1p_unit32

_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_LEAST = np.float32(1e-8)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def eliminate(diagonal, off, lam, eta, w, j, pivot, solved):
    """Forward half of a tridiagonal solve for component j of word w: pivots, and right sides."""
    pivot[0] = diagonal[0] + lam[0, w, j]
    solved[0] = eta[0, w, j]
    for t in range(1, diagonal.size):
        ratio = off[t - 1] / pivot[t - 1]
        pivot[t] = diagonal[t] + lam[t, w, j] - ratio * off[t - 1]
        solved[t] = eta[t, w, j] - ratio * solved[t - 1]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def site_moments(start, stop, diagonal, off, lam, eta, mean, variance, sums):
    """Means and variances of the factors of words ``start:stop``, from their sites.

    ``sums`` (2 + 3 (n_periods - 1),) gets the sum of ``log pivot`` (half of it is minus the
    entropy, up to a constant), of ``E x_1^2``, and for every step of ``E d^2``, ``E d x_t`` and
    ``E x_t^2`` with ``d = x_{t+1} - x_t``.
    """
    n_periods, _, k = lam.shape
    pivot, solved = np.empty(n_periods), np.empty(n_periods)
    sums[:] = 0.0
    for w in range(start, stop):
        for j in range(k):
            eliminate(diagonal, off, lam, eta, w, j, pivot, solved)
            last = n_periods - 1
            after_m, after_v = solved[last] / pivot[last], 1.0 / pivot[last]
            mean[last, w, j], variance[last, w, j] = after_m, after_v
            sums[0] += math.log(pivot[last])
            for t in range(last - 1, -1, -1):
                slope = -off[t] / pivot[t]
                m = solved[t] / pivot[t] + slope * after_m
                v = 1.0 / pivot[t] + slope * slope * after_v
                together = slope * after_v
                mean[t, w, j], variance[t, w, j] = m, v
                sums[0] += math.log(pivot[t])
                step = after_m - m
                sums[2 + 3 * t] += step * step + after_v + v - 2.0 * together
                sums[3 + 3 * t] += step * m + together - v
                sums[4 + 3 * t] += m * m + v
                after_m, after_v = m, v
            sums[1] += after_m * after_m + after_v


@njit(nogil=True, cache=True, error_model="numpy")
def site_draws(words, periods, diagonal, off, lam, eta, noise, out):
    """Draws of trajectories at increasing ``periods``: out[i, s, p] of word ``words[p]``.

    ``noise`` has the shape of ``out``. Given the next of the periods, a value depends on no later
    one: its mean moves by the product of the slopes between, its variance sums up over them.
    """
    n, n_seen, _, k = out.shape
    n_periods = diagonal.size
    pivot, solved = np.empty(n_periods), np.empty(n_periods)
    level, slope, spread = np.empty(n_seen), np.empty(n_seen), np.empty(n_seen)
    for p in range(words.size):
        for j in range(k):
            eliminate(diagonal, off, lam, eta, words[p], j, pivot, solved)
            s, moved, variance, m = n_seen - 1, 0.0, 0.0, 0.0
            for t in range(n_periods - 1, periods[0] - 1, -1):
                beside = off[t] if t < n_periods - 1 else 0.0
                m = (solved[t] - beside * m) / pivot[t]
                variance = 1.0 / pivot[t] + (beside / pivot[t]) ** 2 * variance
                moved *= -beside / pivot[t]
                if t == periods[s]:
                    level[s], slope[s], spread[s] = m, moved, math.sqrt(variance)
                    s, moved, variance = s - 1, 1.0, 0.0
            for i in range(n):
                shift = 0.0
                for s in range(n_seen - 1, -1, -1):
                    shift = slope[s] * shift + spread[s] * noise[i, s, p, j]
                    out[i, s, p, j] = level[s] + shift


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def prior_gradient(start, stop, diagonal, off, lam, eta, mean, grad):
    """Add the gradient of the Gaussian factor of known means and sites to ``grad``; its value.

    The factor is ``-mean' (prior precision + lam) mean / 2 + eta' mean``.
    """
    n_periods, _, k = mean.shape
    total = 0.0
    for t in range(n_periods):
        for w in range(start, stop):
            for j in range(k):
                x = (diagonal[t] + lam[t, w, j]) * mean[t, w, j]
                if t > 0:
                    x += off[t - 1] * mean[t - 1, w, j]
                if t < n_periods - 1:
                    x += off[t] * mean[t + 1, w, j]
                total += mean[t, w, j] * (eta[t, w, j] - 0.5 * x)
                grad[t, w, j] += eta[t, w, j] - x
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def site_solve(start, stop, diagonal, off, lam, x):
    """Solve (prior precision + lam) y = x in place for the words ``start:stop``."""
    n_periods, _, k = lam.shape
    pivot, solved = np.empty(n_periods), np.empty(n_periods)
    for w in range(start, stop):
        for j in range(k):
            eliminate(diagonal, off, lam, x, w, j, pivot, solved)
            y = 0.0
            for t in range(n_periods - 1, -1, -1):
                y = (solved[t] - (off[t] * y if t < n_periods - 1 else 0.0)) / pivot[t]
                x[t, w, j] = y


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def site_evidence(start, stop, diagonal, off, lam, eta):
    """Sum over factors of half of ``eta' P^-1 eta - log det P``, P the precision with sites."""
    n_periods, _, k = lam.shape
    pivot, solved = np.empty(n_periods), np.empty(n_periods)
    total = 0.0
    for w in range(start, stop):
        for j in range(k):
            eliminate(diagonal, off, lam, eta, w, j, pivot, solved)
            for t in range(n_periods):
                total += solved[t] * solved[t] / pivot[t] - math.log(pivot[t])
    return 0.5 * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def expected_block(m, v, left, right):
    """Expected negatives of a block of logits with means m and variances v, both overwritten.

    ``m`` becomes the residual -n E sigma, ``v`` the slope n E sigma', n = left[i] right[j]; all
    float32. Returns minus the sum of n E log(1 + exp).
    """
    total = 0.0
    for i in range(m.shape[0]):
        part = _ZERO
        half = _HALF * left[i]
        for j in range(m.shape[1]):
            n = half * right[j]
            spread = np.sqrt(max(v[i, j], _LEAST))
            up, down = m[i, j] + spread, m[i, j] - spread
            a, b = exp_negative32(-abs(up)), exp_negative32(-abs(down))
            d, f = _ONE / (_ONE + a), _ONE / (_ONE + b)
            p = d if up > _ZERO else a * d
            q = f if down > _ZERO else b * f
            softplus = max(up, _ZERO) + max(down, _ZERO) + log1p_unit32(a) + log1p_unit32(b)
            part += right[j] * softplus
            m[i, j] = -n * (p + q)
            v[i, j] = n * (p - q) / spread
        total -= half * part
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_pairs(start, stop, t, indptr, indices, n, kappa, mx, vx, my, vy, g, h):
    """Gradient terms of the observed pairs of words ``start:stop`` in period t, added to g and h.

    ``g`` gets the gradient of the expected log likelihood by the means of the words, ``h`` minus
    twice that by their variances. Returns that expectation.
    """
    n_periods, _, k = mx.shape
    total = 0.0
    for w in range(start, stop):
        row = w * n_periods + t
        for e in range(indptr[row], indptr[row + 1]):
            u = indices[e]
            m, v = _ZERO, _ZERO
            for j in range(k):
                a, b = mx[t, w, j], my[t, u, j]
                m += a * b
                v += a * a * vy[t, u, j] + vx[t, w, j] * (b * b + vy[t, u, j])
            spread = np.sqrt(max(v, _LEAST))
            up, down = m + spread, m - spread
            x, y = exp_negative32(-abs(up)), exp_negative32(-abs(down))
            d, f = _ONE / (_ONE + x), _ONE / (_ONE + y)
            p = d if up > _ZERO else x * d
            q = f if down > _ZERO else y * f
            softplus = max(up, _ZERO) + max(down, _ZERO) + log1p_unit32(x) + log1p_unit32(y)
            half = _HALF * n[e]
            total += (kappa[e] + half) * m - half * softplus
            r = kappa[e] + half * (_ONE - p - q)
            z = half * (p - q) / spread
            for j in range(k):
                b = my[t, u, j]
                g[t, w, j] += r * b - z * vy[t, u, j] * mx[t, w, j]
                h[t, w, j] += z * (b * b + vy[t, u, j])
    return total
