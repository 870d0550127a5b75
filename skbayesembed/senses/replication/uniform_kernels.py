"""Kernels of the auxiliary-uniform method: one logit at a time from a truncated normal.

Given an entry of a softmax row, each observation of it has a uniform variable below its
probability p and each other observation of the row one above (Zafar & Nicholls 2022, eq. 16). Only
the largest of the former and the smallest of the latter matter; both are powers of one uniform
variable. Tables are those of `table_kernels`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..table_kernels import others, put


@njit(nogil=True, cache=True, error_model="numpy")
def softplus(x):
    """log(1 + exp(x))."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(nogil=True, cache=True, error_model="numpy")
def bounds(count, size, tilt, rng):
    """Logits of the largest of ``count`` uniforms on (0, p), of the smallest others on (p, 1).

    p = 1 / (1 + exp(-tilt)); ``size - count`` others. The largest of n is p u^(1/n): by its
    logarithm, the logit is exact in both tails.
    """
    low, high = -np.inf, np.inf
    if count > 0.0:
        inside = -softplus(-tilt) - rng.standard_exponential() / count
        low = inside - math.log(-math.expm1(inside))
    if size > count:
        outside = -softplus(tilt) - rng.standard_exponential() / (size - count)
        high = math.log(-math.expm1(outside)) - outside
    return low, high


@njit(nogil=True, cache=True, error_model="numpy")
def truncated_normal(low, high, rng):
    """Draw a standard normal variable between ``low`` and ``high`` (Robert 1995)."""
    if low < 0.0 < high:
        if high - low > 2.5:
            while True:
                x = rng.standard_normal()
                if low < x < high:
                    return x
        while True:
            x = low + (high - low) * rng.random()
            if rng.standard_exponential() > 0.5 * x * x:
                return x
    if high <= 0.0:
        return -truncated_normal_tail(-high, -low, rng)
    return truncated_normal_tail(low, high, rng)


@njit(nogil=True, cache=True, error_model="numpy")
def truncated_normal_tail(low, high, rng):
    """The same for 0 <= low: from an exponential, or uniformly where the interval is short."""
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    if (high - low) * rate > 1.0:
        while True:
            x = low + rng.standard_exponential() / rate
            if x < high and rng.standard_exponential() > 0.5 * (x - rate) ** 2:
                return x
    while True:
        x = low + (high - low) * rng.random()
        if rng.standard_exponential() > 0.5 * (x - low) * (x + low):
            return x


@njit(nogil=True, cache=True, error_model="numpy")
def draw_between(mean, precision, low, high, old, rng):
    """Draw N(mean, 1 / precision) between two bounds; ``old`` where rounding closed the gap."""
    if not low < high:
        return old
    scale = math.sqrt(precision)
    x = mean + truncated_normal((low - mean) * scale, (high - mean) * scale, rng) / scale
    return min(max(x, low), high)


@njit(nogil=True, cache=True, error_model="numpy")
def path_mean(x, a, t, b, diagonal, off):
    """Mean of x[a, t, b] given the periods beside it."""
    pull = 0.0
    if t > 0:
        pull -= off[t - 1] * x[a, t - 1, b]
    if t < diagonal.size - 1:
        pull -= off[t] * x[a, t + 1, b]
    return pull / diagonal[t]


@njit(nogil=True, cache=True, error_model="numpy")
def draw_walks_uniform(table, counts, sizes, diagonal, off, rng):
    """Auxiliary-uniform update of every entry of a table (Zafar & Nicholls 2022, eq. 17)."""
    x, top = table.x, table.top
    n, n_periods, m = x.shape
    for a in range(n):
        for b in range(m):
            for t in range(n_periods):
                old = x[a, t, b]
                low, high, rest = -np.inf, np.inf, 0.0
                seen = sizes[a, t] > 0.0 and m > 1
                if seen:
                    rest = others(table, a, t, b)
                    offset = top[a, t] + math.log(rest)
                    low, high = bounds(counts[a, t, b], sizes[a, t], old - offset, rng)
                    low += offset
                    high += offset
                mean = path_mean(x, a, t, b, diagonal, off)
                new = draw_between(mean, diagonal[t], low, high, old, rng)
                if seen:
                    put(table, a, t, b, rest, new)
                else:
                    x[a, t, b] = new


@njit(nogil=True, cache=True, error_model="numpy")
def draw_sense_effects_uniform(chi, theta, table, counts, sizes, precision, rng):
    """Auxiliary-uniform update of every chi[k, v]: bounds from all periods at once."""
    x, top = table.x, table.top
    n_senses, n_periods, n_words = x.shape
    rest = np.zeros(n_periods)
    for k in range(n_senses):
        for v in range(n_words):
            low, high = -np.inf, np.inf
            for t in range(n_periods):
                if sizes[k, t] == 0.0 or n_words == 1:
                    continue
                rest[t] = others(table, k, t, v)
                offset = top[k, t] + math.log(rest[t])
                below, above = bounds(counts[k, t, v], sizes[k, t], x[k, t, v] - offset, rng)
                low = max(low, below + offset - theta[t, v])
                high = min(high, above + offset - theta[t, v])
            chi[k, v] = draw_between(0.0, precision, low, high, chi[k, v], rng)
            for t in range(n_periods):
                new = chi[k, v] + theta[t, v]
                if sizes[k, t] == 0.0 or n_words == 1:
                    x[k, t, v] = new
                else:
                    put(table, k, t, v, rest[t], new)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_time_effects_uniform(chi, theta, table, counts, sizes, diagonal, off, rng):
    """Auxiliary-uniform update of every theta[t, v]: bounds from all senses at once."""
    x, top = table.x, table.top
    n_senses, n_periods, n_words = x.shape
    rest = np.zeros(n_senses)
    # a table of one row, for the conditional prior
    paths = theta.reshape(1, n_periods, n_words)
    for v in range(n_words):
        for t in range(n_periods):
            low, high = -np.inf, np.inf
            for k in range(n_senses):
                if sizes[k, t] == 0.0 or n_words == 1:
                    continue
                rest[k] = others(table, k, t, v)
                offset = top[k, t] + math.log(rest[k])
                below, above = bounds(counts[k, t, v], sizes[k, t], x[k, t, v] - offset, rng)
                low = max(low, below + offset - chi[k, v])
                high = min(high, above + offset - chi[k, v])
            mean = path_mean(paths, 0, t, v, diagonal, off)
            theta[t, v] = draw_between(mean, diagonal[t], low, high, theta[t, v], rng)
            for k in range(n_senses):
                new = chi[k, v] + theta[t, v]
                if sizes[k, t] == 0.0 or n_words == 1:
                    x[k, t, v] = new
                else:
                    put(table, k, t, v, rest[k], new)
