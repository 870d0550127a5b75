"""Kernels of the base measures of topics: softmax over words, and what counts say of it.

Tables are (V, K). Counts come as their entries above zero: ``rows`` and ``columns`` of each, and
``tokens``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST, digamma, exp_negative, log_gamma

# Up to so many tokens sums and products of the recurrence are faster than two Gamma functions.
_FEW = 8
# From here on Stirling's series of a difference is exact to the last digits; the difference of two
# Gamma functions loses digits as they grow, all of them beyond 1e16.
_LARGE = 32.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def softmax_columns(table):
    """table[v, k] = exp(table[v, k]) / sum_w exp(table[w, k])."""
    n_words, n_topics = table.shape
    top, total = table[0].copy(), np.zeros(n_topics)
    for v in range(n_words):
        for k in range(n_topics):
            top[k] = max(top[k], table[v, k])
    for v in range(n_words):
        for k in range(n_topics):
            table[v, k] = exp_negative(table[v, k] - top[k])
            total[k] += table[v, k]
    for k in range(n_topics):
        total[k] = 1.0 / total[k]
    for v in range(n_words):
        for k in range(n_topics):
            table[v, k] *= total[k]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_rising_large(b, n):
    """`log_rising` for b of at least 32, by differences of the terms of Stirling's series.

    log Gamma(x) = (x - 1/2) log x - x + 1/(12 x) - 1/(360 x^3) + 1/(1260 x^5) - ... + constant
    """
    log_ratio = math.log1p(n / b)
    u, w = 1.0 / b, 1.0 / (b + n)
    # differences of w^j and u^j for j = 1, 2, 3, 5; b is with the derivatives
    first = -n * u * w
    second = first * (w + u)
    third = first * (w * w + w * u + u * u)
    value = (b - 0.5) * log_ratio + n * (math.log(b + n) - 1.0)
    value += first / 12.0 - third / 360.0 + (w**5 - u**5) / 1260.0
    fourth = second * (w * w + u * u)
    slope = log_ratio - 0.5 * first - second / 12.0 + fourth / 120.0 - (w**6 - u**6) / 252.0
    return value, b * slope


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_rising(b, n):
    """log Gamma(b + n) - log Gamma(b), and b times its derivative by b, for n > 0."""
    if n <= _FEW and n == math.floor(n):
        product, total = b, 1.0
        for i in range(1, int(n)):
            product *= b + i
            total += b / (b + i)
        return math.log(product), total
    if b >= _LARGE:
        return log_rising_large(b, n)
    return log_gamma(b + n) - log_gamma(b), b * (digamma(b + n) - digamma(b))


@njit(nogil=True, cache=True, error_model="numpy")
def size_part(concentration, sizes):
    """Sum of log Gamma(eta) - log Gamma(eta + n_k) over topics, and its derivative by log eta."""
    value, slope = 0.0, 0.0
    for k in range(sizes.size):
        if sizes[k] > 0.0:
            log_ratio, seated = log_rising(concentration, sizes[k])
            value -= log_ratio
            slope -= seated
    return value, slope


@njit(nogil=True, cache=True, error_model="numpy")
def count_part(rows, columns, tokens, measure, concentration, gradient, pull, tables):
    """Sum of log Gamma(b + n) - log Gamma(b) over entries, b = concentration times measure.

    Its gradient by the logits of ``measure`` (V, K), the softmax of each column, goes into
    ``gradient`` (V, K), row sums of that into ``pull`` (V,), and the expected numbers of tables,
    sums over words of b (psi(b + n) - psi(b)), into ``tables`` (K,).
    """
    n_words, n_topics = measure.shape
    value = 0.0
    gradient[:] = 0.0
    tables[:] = 0.0
    for i in range(rows.size):
        v, k = rows[i], columns[i]
        log_ratio, seated = log_rising(concentration * measure[v, k], tokens[i])
        value += log_ratio
        gradient[v, k] = seated
        tables[k] += seated
    for v in range(n_words):
        total = 0.0
        for k in range(n_topics):
            gradient[v, k] -= tables[k] * measure[v, k]
            total += gradient[v, k]
        pull[v] = total
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def trigamma(x):
    """Second derivative of log Gamma for x > 0: recurrence to 8, then Stirling's series."""
    value = 0.0
    while x < 8.0:
        value += 1.0 / (x * x)
        x += 1.0
    u = 1.0 / x
    q = u * u
    series = q * (
        1.0 / 6.0 - q * (1.0 / 30.0 - q * (1.0 / 42.0 - q * (1.0 / 30.0 - q * 5.0 / 66.0)))
    )
    return value + u * (1.0 + 0.5 * u + series)


@njit(nogil=True, cache=True, error_model="numpy")
def bend(b, n):
    """b^2 (psi'(b) - psi'(b + n)) for n > 0, from 1 where b is as good as zero to n at infinity.

    Large ones are differences of the terms of Stirling's series,
    psi'(x) = 1/x + 1/(2 x^2) + 1/(6 x^3) - 1/(30 x^5) + ...
    """
    if b < _LARGE:
        # psi'(b) = 1/b^2 + psi'(b + 1), whose first term overflows
        return 1.0 + b * b * (trigamma(b + 1.0) - trigamma(b + n))
    ratio = b / (b + n)
    first = n * ratio / b
    third, fifth = first * (1.0 + ratio + ratio**2), 1.0 - ratio**5
    return n * ratio + 0.5 * first * (1.0 + ratio) + third / (6.0 * b) - fifth / (30.0 * b**3)


@njit(nogil=True, cache=True, error_model="numpy")
def information(rows, columns, tokens, measure, concentration, out):
    """out[i] = b^2 (psi'(b) - psi'(b + n)) of every entry."""
    for i in range(rows.size):
        out[i] = bend(concentration * measure[rows[i], columns[i]], tokens[i])
