"""Coordinates of main effects: a small Cholesky factor for each word.

Rows are the logits ``chi`` of K senses, then ``theta`` of T periods; columns are words. With theta
before chi, the factor of a word's precision is

    L = [ B  0 ]
        [ C  D ]

B lower bidiagonal (T, T), C (K, T), D lower triangular (K, K): what is tridiagonal stays so, and
the cost is K T + K^2 a word. ``inverse`` (K + T, V) is one over the diagonal of D, then of B;
``below`` (T, V) the entries beneath the diagonal of B, ``cross`` (K, T, V) C, ``lower`` (K, K, V)
what is below the diagonal of D.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def factor(diagonal, off, precision, information, inverse, below, cross, lower):
    """The factors of [P + diag(sum_k n), n'; n, precision + diag(sum_t n)], n (T, K, V)."""
    n_periods, n_senses, n_words = information.shape
    for t in range(n_periods):
        row = inverse[n_senses + t]
        for v in range(n_words):
            d = diagonal[t]
            for k in range(n_senses):
                d += information[t, k, v]
            if t > 0:
                d -= below[t - 1, v] ** 2
            row[v] = 1.0 / math.sqrt(d)
            if t < n_periods - 1:
                below[t, v] = off[t] * row[v]
        for k in range(n_senses):
            for v in range(n_words):
                c = information[t, k, v]
                if t > 0:
                    c -= cross[k, t - 1, v] * below[t - 1, v]
                cross[k, t, v] = c * row[v]
    for k in range(n_senses):
        for j in range(k + 1):
            for v in range(n_words):
                d = 0.0
                for t in range(n_periods):
                    d -= cross[k, t, v] * cross[j, t, v]
                    if j == k:
                        d += information[t, k, v]
                for i in range(j):
                    d -= lower[k, i, v] * lower[j, i, v]
                if j == k:
                    inverse[k, v] = 1.0 / math.sqrt(d + precision)
                else:
                    lower[k, j, v] = d * inverse[j, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def logits_of(center, inverse, below, cross, lower, y, x):
    """x = center + L^-T y for every word."""
    n_senses, n_periods, n_words = cross.shape
    for k in range(n_senses - 1, -1, -1):
        for v in range(n_words):
            x[k, v] = y[k, v]
        for j in range(k + 1, n_senses):
            for v in range(n_words):
                x[k, v] -= lower[j, k, v] * x[j, v]
        for v in range(n_words):
            x[k, v] *= inverse[k, v]
    for t in range(n_periods - 1, -1, -1):
        r = n_senses + t
        for v in range(n_words):
            x[r, v] = y[r, v]
        if t < n_periods - 1:
            for v in range(n_words):
                x[r, v] -= below[t, v] * x[r + 1, v]
        for k in range(n_senses):
            for v in range(n_words):
                x[r, v] -= cross[k, t, v] * x[k, v]
        for v in range(n_words):
            x[r, v] *= inverse[r, v]
    for r in range(n_senses + n_periods):
        for v in range(n_words):
            x[r, v] += center[r, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def coordinates_of(center, inverse, below, cross, lower, x, y):
    """y = L' (x - center): the inverse of `logits_of`."""
    n_senses, n_periods, n_words = cross.shape
    for r in range(n_senses + n_periods):
        for v in range(n_words):
            y[r, v] = (x[r, v] - center[r, v]) / inverse[r, v]
    for k in range(n_senses):
        for j in range(k + 1, n_senses):
            for v in range(n_words):
                y[k, v] += lower[j, k, v] * (x[j, v] - center[j, v])
    for t in range(n_periods):
        r = n_senses + t
        if t < n_periods - 1:
            for v in range(n_words):
                y[r, v] += below[t, v] * (x[r + 1, v] - center[r + 1, v])
        for k in range(n_senses):
            for v in range(n_words):
                y[r, v] += cross[k, t, v] * (x[k, v] - center[k, v])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def pull_back(inverse, below, cross, lower, gradient, out):
    """out = L^-1 gradient: the gradient by y where ``gradient`` is that by x."""
    n_senses, n_periods, n_words = cross.shape
    for k in range(n_senses):
        for v in range(n_words):
            out[k, v] = gradient[k, v]
    for t in range(n_periods):
        r = n_senses + t
        for v in range(n_words):
            out[r, v] = gradient[r, v]
        if t > 0:
            for v in range(n_words):
                out[r, v] -= below[t - 1, v] * out[r - 1, v]
        for v in range(n_words):
            out[r, v] *= inverse[r, v]
        for k in range(n_senses):
            for v in range(n_words):
                out[k, v] -= cross[k, t, v] * out[r, v]
    for k in range(n_senses):
        for j in range(k):
            for v in range(n_words):
                out[k, v] -= lower[k, j, v] * out[j, v]
        for v in range(n_words):
            out[k, v] *= inverse[k, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def effects_prior(diagonal, off, precision, x, gradient):
    """Log density of the priors of chi and theta; its gradient is added."""
    n_periods = diagonal.size
    n_senses, n_words = x.shape[0] - n_periods, x.shape[1]
    value = 0.0
    for k in range(n_senses):
        for v in range(n_words):
            p = precision * x[k, v]
            value -= 0.5 * x[k, v] * p
            gradient[k, v] -= p
    for t in range(n_periods):
        r = n_senses + t
        for v in range(n_words):
            p = diagonal[t] * x[r, v]
            if t > 0:
                p += off[t - 1] * x[r - 1, v]
            if t < n_periods - 1:
                p += off[t] * x[r + 1, v]
            value -= 0.5 * x[r, v] * p
            gradient[r, v] -= p
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def narrow_effects(x, narrowing, gradient):
    """Log prior -V sum_tk narrowing (l_k + l_t)^2 / 2 of the mean levels l; adds its gradient."""
    n_periods, n_senses = narrowing.shape
    n_words = x.shape[1]
    levels = np.zeros(n_senses + n_periods)
    for r in range(levels.size):
        for v in range(n_words):
            levels[r] += x[r, v]
        levels[r] /= n_words
    value, pull = 0.0, np.zeros(levels.size)
    for t in range(n_periods):
        for k in range(n_senses):
            level = levels[k] + levels[n_senses + t]
            value -= 0.5 * n_words * narrowing[t, k] * level * level
            pull[k] += narrowing[t, k] * level
            pull[n_senses + t] += narrowing[t, k] * level
    for r in range(levels.size):
        for v in range(n_words):
            gradient[r, v] -= pull[r]
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def pull_effects(frame, x, gradient, out):
    """Add the prior to the gradient, turn it into coordinates; log density of the prior.

    ``frame`` is `Effects.arrays`; ``gradient`` is changed.
    """
    _, inverse, below, cross, lower, diagonal, off, precision, narrowing = frame
    value = narrow_effects(x, narrowing, gradient)
    value += effects_prior(diagonal, off, precision, x, gradient)
    pull_back(inverse, below, cross, lower, gradient, out)
    return value
