"""Coordinates of main effects: a small Cholesky factor for each word.

Rows are the logits ``chi`` of K senses, then ``theta`` of T periods; columns are words. With theta
before chi, the factor of a word's precision is

    L = [ B  0 ]
        [ C  D ]

B lower bidiagonal (T, T), C (K, T), D lower triangular (K, K): what is tridiagonal stays so, and
the cost is K T + K^2 a word. ``inverse`` (K + T, V) is one over the diagonal of D, then of B;
``below`` (T, V) the entries beneath the diagonal of B, ``cross`` (K, T, V) C, ``lower`` (K, K, V)
what is below the diagonal of D. `effect_factors` makes them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def subtract(a, x, out):
    """out -= a x."""
    for v in range(out.size):
        out[v] -= a[v] * x[v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def subtract_three(a, b, c, x, y, z, out):
    """out -= a x + b y + c z: more rows at once fit into no loop of vector instructions."""
    for v in range(out.size):
        out[v] -= a[v] * x[v] + b[v] * y[v] + c[v] * z[v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def logits_of(shift, inverse, below, cross, lower, y, x):
    """x = L^-T (y + shift) for every word; ``shift`` is L' times the center."""
    n_senses, n_periods, n_words = cross.shape
    for r in range(n_senses + n_periods):
        for v in range(n_words):
            x[r, v] = y[r, v] + shift[r, v]
    for k in range(n_senses - 1, -1, -1):
        for j in range(k + 1, n_senses):
            subtract(lower[j, k], x[j], x[k])
        for v in range(n_words):
            x[k, v] *= inverse[k, v]
    for t in range(n_periods - 1, -1, -1):
        r = n_senses + t
        if t < n_periods - 1:
            subtract(below[t], x[r + 1], x[r])
        for k in range(0, n_senses - 2, 3):
            of = cross[k, t], cross[k + 1, t], cross[k + 2, t]
            subtract_three(*of, x[k], x[k + 1], x[k + 2], x[r])
        for k in range(n_senses - n_senses % 3, n_senses):
            subtract(cross[k, t], x[k], x[r])
        for v in range(n_words):
            x[r, v] *= inverse[r, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def pull_back(inverse, below, cross, lower, gradient, out):
    """out = L^-1 gradient: the gradient by y where ``gradient`` is that by x."""
    n_senses, n_periods, n_words = cross.shape
    for r in range(n_senses + n_periods):
        for v in range(n_words):
            out[r, v] = gradient[r, v]
    for t in range(n_periods):
        r = n_senses + t
        if t > 0:
            subtract(below[t - 1], out[r - 1], out[r])
        for v in range(n_words):
            out[r, v] *= inverse[r, v]
    for k in range(n_senses):
        for t in range(0, n_periods - 2, 3):
            r = n_senses + t
            of = cross[k, t], cross[k, t + 1], cross[k, t + 2]
            subtract_three(*of, out[r], out[r + 1], out[r + 2], out[k])
        for t in range(n_periods - n_periods % 3, n_periods):
            subtract(cross[k, t], out[n_senses + t], out[k])
        for j in range(k):
            subtract(lower[k, j], out[j], out[k])
        for v in range(n_words):
            out[k, v] *= inverse[k, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def effects_prior(diagonal, off, precision, x, pull, gradient):
    """Log density of the priors of chi and theta; its gradient, less ``pull``, is added."""
    n_periods = diagonal.size
    n_senses, n_words = x.shape[0] - n_periods, x.shape[1]
    value = 0.0
    for r in range(n_senses + n_periods):
        t = r - n_senses
        here = precision if t < 0 else diagonal[t]
        before, after = off[t - 1] if t > 0 else 0.0, off[t] if 0 <= t < n_periods - 1 else 0.0
        previous, following = x[max(r - 1, 0)], x[min(r + 1, x.shape[0] - 1)]
        place, slope, level = x[r], gradient[r], pull[r]
        for v in range(n_words):
            p = here * place[v] + before * previous[v] + after * following[v]
            value -= 0.5 * place[v] * p
            slope[v] -= p + level
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def narrow_effects(x, narrowing, pull):
    """Log prior -V sum_tk narrowing (l_k + l_t)^2 / 2 of the mean levels l.

    Minus its gradient by any logit of a row goes into ``pull`` (K + T,).
    """
    n_periods, n_senses = narrowing.shape
    n_words = x.shape[1]
    levels = np.empty(n_senses + n_periods)
    for r in range(levels.size):
        total = 0.0
        for v in range(n_words):
            total += x[r, v]
        levels[r] = total / n_words
    value = 0.0
    pull[:] = 0.0
    for t in range(n_periods):
        for k in range(n_senses):
            level = levels[k] + levels[n_senses + t]
            value -= 0.5 * n_words * narrowing[t, k] * level * level
            pull[k] += narrowing[t, k] * level
            pull[n_senses + t] += narrowing[t, k] * level
    return value


@njit(inline="always")
def pull_effects(frame, x, gradient, out):
    """Add the prior to the gradient, turn it into coordinates; log density of the prior.

    ``frame`` is `Effects.arrays`; ``gradient`` is changed.
    """
    _, inverse, below, cross, lower, diagonal, off, precision, narrowing = frame
    pull = np.empty(len(x))
    value = narrow_effects(x, narrowing, pull)
    value += effects_prior(diagonal, off, precision, x, pull, gradient)
    pull_back(inverse, below, cross, lower, gradient, out)
    return value
