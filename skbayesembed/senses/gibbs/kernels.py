"""Kernels of the Gibbs sampler: senses of snippets and Polya-Gamma updates of softmax tables."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...inference.pg_kernels import LARGEST_TILT, exact_draw, one_draw
from ..table_kernels import others, put


@njit(nogil=True, cache=True, error_model="numpy")
def polya_gamma(h, z, approximate, rng):
    """Draw PG(h, z); where ``approximate``, one of PG(1, z), moved to its mean and variance.

    The latter is the method of Chen et al. (2013), whose draws are not those of PG(h, z).
    """
    z = min(abs(z), LARGEST_TILT)
    if not approximate or h <= 1.0:
        return one_draw(h, z, rng)
    half = max(0.5 * z, 1e-150)
    mean = math.tanh(half) / (4.0 * half)
    return math.sqrt(h) * (exact_draw(1.0, z, rng) - mean) + h * mean


@njit(nogil=True, cache=True, error_model="numpy")
def draw_path(diagonal, off, linear, rng, factor, below, out):
    """Draw out ~ N(P^-1 linear, P^-1), P tridiagonal; factor and below receive its Cholesky rows.

    ``linear`` is overwritten by L^-1 linear.
    """
    n = diagonal.size
    for t in range(n):
        d = diagonal[t]
        if t > 0:
            d -= below[t - 1] * below[t - 1]
            linear[t] -= below[t - 1] * linear[t - 1]
        factor[t] = math.sqrt(d)
        linear[t] /= factor[t]
        if t < n - 1:
            below[t] = off[t] / factor[t]
    for t in range(n - 1, -1, -1):
        value = linear[t] + rng.standard_normal()
        if t < n - 1:
            value -= below[t] * out[t + 1]
        out[t] = value / factor[t]


@njit(nogil=True, cache=True, error_model="numpy")
def draw_levels(x, diagonal, off, rng):
    """Draw the levels of softmax rows ``x`` (A, T, B) from the prior, which alone bears on them.

    x + d leaves the likelihood as it is for every d (A, T); given B paths of precision P
    with mean m, d ~ N(-m, P^-1 / B).
    """
    n, n_periods, m = x.shape
    factor, below = np.empty(n_periods), np.empty(n_periods)
    linear, level = np.empty(n_periods), np.empty(n_periods)
    for a in range(n):
        linear[:] = 0.0
        draw_path(diagonal, off, linear, rng, factor, below, level)
        for t in range(n_periods):
            shift = 0.0
            for b in range(m):
                shift += x[a, t, b]
            shift = level[t] / math.sqrt(m) - shift / m
            for b in range(m):
                x[a, t, b] += shift


@njit(nogil=True, cache=True, error_model="numpy")
def draw_walks(table, counts, sizes, diagonal, off, approximate, rng):
    """Polya-Gamma update of every path x[a, :, b] of a table, given all others.

    ``counts`` (A, T, B), their sums ``sizes`` (A, T). With C the log-sum of the others of a row
    (Zafar & Nicholls 2022, eqs. 19 and 20, for all periods at once), omega_t ~ PG(sizes,
    x - C) and x ~ N(Q^-1 b, Q^-1), Q = P + diag(omega), b = counts - sizes / 2 + omega C.
    """
    x, top = table.x, table.top
    n, n_periods, m = x.shape
    rest = np.zeros(n_periods)
    precision, linear = np.empty(n_periods), np.empty(n_periods)
    factor, below, new = np.empty(n_periods), np.empty(n_periods), np.empty(n_periods)
    for a in range(n):
        for b in range(m):
            for t in range(n_periods):
                precision[t] = diagonal[t]
                linear[t] = 0.0
                h = sizes[a, t]
                if h == 0.0 or m == 1:
                    continue
                rest[t] = others(table, a, t, b)
                offset = top[a, t] + math.log(rest[t])
                omega = polya_gamma(h, x[a, t, b] - offset, approximate, rng)
                precision[t] += omega
                linear[t] = counts[a, t, b] - 0.5 * h + omega * offset
            draw_path(precision, off, linear, rng, factor, below, new)
            for t in range(n_periods):
                if sizes[a, t] == 0.0 or m == 1:
                    x[a, t, b] = new[t]
                else:
                    put(table, a, t, b, rest[t], new[t])


@njit(nogil=True, cache=True, error_model="numpy")
def factor_word(precision, off, own, cross, linear, own_linear, factor, below, schur):
    """Cholesky factor of the joint precision of one word's theta (T,) and chi (K,), in this order.

    The precision is [[P, cross'], [cross, diag(own)]] with a tridiagonal P of diagonal
    ``precision``; ``cross`` (K, T). With P = L L' and Y = L^-1 cross' it has the factors L, in
    ``factor`` and ``below``, Y', which overwrites ``cross``, and the Cholesky factor ``schur`` of
    diag(own) - Y'Y. The linear terms are overwritten by their forward substitution. Returns half
    the log determinant. Without chi (K = 0) the word has one path.
    """
    n, n_senses = precision.size, own.size
    value = 0.0
    for t in range(n):
        d = precision[t]
        if t > 0:
            back = below[t - 1]
            d -= back * back
            linear[t] -= back * linear[t - 1]
            for k in range(n_senses):
                cross[k, t] -= back * cross[k, t - 1]
        factor[t] = math.sqrt(d)
        value += math.log(factor[t])
        scale = 1.0 / factor[t]
        linear[t] *= scale
        for k in range(n_senses):
            cross[k, t] *= scale
        if t < n - 1:
            below[t] = off[t] * scale
    for k in range(n_senses):
        substituted = own_linear[k]
        for t in range(n):
            substituted -= cross[k, t] * linear[t]
        for j in range(k + 1):
            s = own[k] if j == k else 0.0
            for t in range(n):
                s -= cross[k, t] * cross[j, t]
            for i in range(j):
                s -= schur[k, i] * schur[j, i]
            schur[k, j] = math.sqrt(s) if j == k else s / schur[j, j]
        for j in range(k):
            substituted -= schur[k, j] * own_linear[j]
        own_linear[k] = substituted / schur[k, k]
        value += math.log(schur[k, k])
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def draw_word(cross, linear, own_linear, factor, below, schur, rng, theta, chi):
    """Draw from the Gaussian of `factor_word`; returns half the square of the noise."""
    n, n_senses = factor.size, own_linear.size
    square = 0.0
    for k in range(n_senses - 1, -1, -1):
        noise = rng.standard_normal()
        square += noise * noise
        value = own_linear[k] + noise
        for j in range(k + 1, n_senses):
            value -= schur[j, k] * chi[j]
        chi[k] = value / schur[k, k]
    for t in range(n - 1, -1, -1):
        noise = rng.standard_normal()
        square += noise * noise
        value = linear[t] + noise
        for k in range(n_senses):
            value -= cross[k, t] * chi[k]
        if t < n - 1:
            value -= below[t] * theta[t + 1]
        theta[t] = value / factor[t]
    return 0.5 * square


@njit(nogil=True, cache=True, error_model="numpy")
def draw_additive(chi, theta, table, counts, sizes, chi_precision, diagonal, off, approximate, rng):
    """Polya-Gamma update of all ``chi`` (K, V) and ``theta`` (T, V), word by word.

    The table holds chi[k] + theta[t] (K, T, V). A word's logits are entries of K T different
    softmax rows: one variable for each row, and given them its K + T effects are jointly Gaussian.
    """
    x, top = table.x, table.top
    n_senses, n_periods, n_words = x.shape
    rest, cross = np.zeros((n_senses, n_periods)), np.empty((n_senses, n_periods))
    precision, linear = np.empty(n_periods), np.empty(n_periods)
    own, own_linear = np.empty(n_senses), np.empty(n_senses)
    factor, below = np.empty(n_periods), np.empty(n_periods)
    schur = np.empty((n_senses, n_senses))
    new_theta, new_chi = np.empty(n_periods), np.empty(n_senses)
    for v in range(n_words):
        for t in range(n_periods):
            precision[t] = diagonal[t]
            linear[t] = 0.0
        for k in range(n_senses):
            own[k] = chi_precision
            own_linear[k] = 0.0
            for t in range(n_periods):
                cross[k, t] = 0.0
                h = sizes[k, t]
                if h == 0.0 or n_words == 1:
                    continue
                rest[k, t] = others(table, k, t, v)
                offset = top[k, t] + math.log(rest[k, t])
                omega = polya_gamma(h, x[k, t, v] - offset, approximate, rng)
                pull = counts[k, t, v] - 0.5 * h + omega * offset
                cross[k, t] = omega
                own[k] += omega
                own_linear[k] += pull
                precision[t] += omega
                linear[t] += pull
        factor_word(precision, off, own, cross, linear, own_linear, factor, below, schur)
        draw_word(cross, linear, own_linear, factor, below, schur, rng, new_theta, new_chi)
        for t in range(n_periods):
            theta[t, v] = new_theta[t]
        for k in range(n_senses):
            chi[k, v] = new_chi[k]
            for t in range(n_periods):
                value = new_chi[k] + new_theta[t]
                if sizes[k, t] == 0.0 or n_words == 1:
                    x[k, t, v] = value
                else:
                    put(table, k, t, v, rest[k, t], value)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_senses(text, log_prevalence, x, log_sum, rng, senses, snippets, tokens):
    """Draw senses[d] with probability proportional to prevalence prod_v p_kv^c_v.

    ``text`` is (indptr, words, counts, periods, rows, labels) of `Snippets`, the rows being those
    of ``log_prevalence`` (R, T, K): genres, or those of `Snippets.mixtures`. Word logits ``x``
    (K, T, V) and their log-sums (K, T); known labels are kept. Counts ``snippets`` (R, T, K) and
    ``tokens`` (K, T, V). Returns the log likelihood with unknown senses summed out (eq. 9).
    """
    indptr, words, counts, periods, rows, labels = text
    n_senses = x.shape[0]
    snippets[:] = 0.0
    tokens[:] = 0.0
    a = np.empty(n_senses)
    value = 0.0
    for d in range(periods.size):
        t, g = periods[d], rows[d]
        for k in range(n_senses):
            a[k] = log_prevalence[g, t, k]
            for i in range(indptr[d], indptr[d + 1]):
                a[k] += counts[i] * (x[k, t, words[i]] - log_sum[k, t])
        chosen = labels[d]
        if chosen >= 0:
            value += a[chosen]
        else:
            top = a[0]
            for k in range(1, n_senses):
                top = max(top, a[k])
            total = 0.0
            for k in range(n_senses):
                a[k] = math.exp(a[k] - top)
                total += a[k]
            value += top + math.log(total)
            u = rng.random() * total
            chosen = 0
            while chosen < n_senses - 1 and u >= a[chosen]:
                u -= a[chosen]
                chosen += 1
        senses[d] = chosen
        snippets[g, t, chosen] += 1.0
        for i in range(indptr[d], indptr[d + 1]):
            tokens[chosen, t, words[i]] += counts[i]
    return value
