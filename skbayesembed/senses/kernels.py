"""Likelihood kernels of the sense models, with the sense of each snippet summed out.

K senses, G genres, T periods, V words. ``phi`` (T, K, G) are logits of prevalence; word logits are
``chi[k] + theta[t]`` (additive) or ``psi[t, k]`` (full). With ``S_kt`` the log-sum of the word
logits and c the counts of snippet d in genre g and period t, its log likelihood is

    log sum_k exp(log softmax(phi[t, :, g])_k + sum_v c_v logit_ktv - |c| S_kt)

(Zafar & Nicholls 2022, eq. 9, in logs). A label fixes the sense: the other terms are left out.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative
from ..numeric.tridiagonal_kernels import paths_prior, paths_pull


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def exp_rows(x, out, top):
    """out = exp(x - top), top the largest entry of each row."""
    n, m = x.shape
    for i in range(n):
        largest = x[i, 0]
        for j in range(1, m):
            largest = max(largest, x[i, j])
        top[i] = largest
        for j in range(m):
            out[i, j] = exp_negative(x[i, j] - largest)


@njit(nogil=True, cache=True, error_model="numpy")
def log_prevalence(phi, out):
    """out (G, T, K) = log softmax of phi (T, K, G) over senses."""
    n_periods, n_senses, n_genres = phi.shape
    for t in range(n_periods):
        for g in range(n_genres):
            top = phi[t, 0, g]
            for k in range(1, n_senses):
                top = max(top, phi[t, k, g])
            total = 0.0
            for k in range(n_senses):
                total += math.exp(phi[t, k, g] - top)
            top += math.log(total)
            for k in range(n_senses):
                out[g, t, k] = phi[t, k, g] - top


@njit(inline="always")
def three(first, n):
    """``first`` and the two numbers that follow it, in their place the last of ``n`` at the end.

    Senses are taken three at a time in one walk over the snippets, whose short loops cost more than
    the sums inside.
    """
    return first, min(first + 1, n - 1), min(first + 2, n - 1)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def snippet_logits(indptr, words, counts, rows, of_period, stride, out):
    """out_kd = sum_v c_dv rows[r, v], with row r = t stride + k, t the snippet's ``of_period``.

    ``stride`` is K, or 0 where rows do not depend on periods; ``of_period`` may be None then.
    """
    n_senses, n = out.shape
    for first in range(0, n_senses, 3):
        i, j, k = three(first, n_senses)
        for d in range(n):
            row = 0 if of_period is None else of_period[d] * stride
            a = b = c = 0.0
            for at in range(indptr[d], indptr[d + 1]):
                word, count = words[at], counts[at]
                a += count * rows[row + i, word]
                b += count * rows[row + j, word]
                c += count * rows[row + k, word]
            out[i, d], out[j, d], out[k, d] = a, b, c


@njit(nogil=True, cache=True, error_model="numpy")
def counts_by_sense(indptr, words, counts, weights, of_period, scale, rows):
    """Add scale c_dv weights_kd to rows[r, v]: the transpose of `snippet_logits`."""
    n_senses, n = weights.shape
    for first in range(0, n_senses, 3):
        i, j, k = three(first, n_senses)
        # what is repeated counts once
        second, third = (scale if j > i else 0.0), (scale if k > j else 0.0)
        for d in range(n):
            row = 0 if of_period is None else of_period[d] * n_senses
            a, b, c = scale * weights[i, d], second * weights[j, d], third * weights[k, d]
            for at in range(indptr[d], indptr[d + 1]):
                word, count = words[at], counts[at]
                rows[row + i, word] += count * a
                rows[row + j, word] += count * b
                rows[row + k, word] += count * c


@njit(nogil=True, cache=True, error_model="numpy")
def add_cells(a, periods, genres, lengths, log_prev, log_sum):
    """Add log prevalence and what normalizes the words to the logits of `snippet_logits`."""
    n_senses, n = a.shape
    for first in range(0, n_senses, 3):
        i, j, k = three(first, n_senses)
        for d in range(n):
            g, t, length = genres[d], periods[d], lengths[d]
            a[i, d] += log_prev[g, t, i] - length * log_sum[i, t]
            if j > i:
                a[j, d] += log_prev[g, t, j] - length * log_sum[j, t]
            if k > j:
                a[k, d] += log_prev[g, t, k] - length * log_sum[k, t]


@njit(nogil=True, cache=True, error_model="numpy")
def rule_out(a, labels):
    """Leave the known senses of snippets alone."""
    n_senses, n = a.shape
    for d in range(n):
        if labels[d] >= 0:
            for k in range(n_senses):
                if k != labels[d]:
                    # no probability, and far enough below the known sense to leave no trace
                    a[k, d] = -1e300


# A sum of logarithms is taken as the logarithm of a product, which stays below exp of this: larger
# ones come close to the largest number there is.
_PRODUCT = 690.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def responsibilities(a, periods, genres, labels, lengths, log_prev, log_sum, top, total):
    """Turn the logits ``a`` (K, D) of `snippet_logits` into probabilities of senses.

    ``top`` and ``total`` (D,) are room to work in. Returns the sum of the log likelihoods.
    """
    n_senses, n = a.shape
    add_cells(a, periods, genres, lengths, log_prev, log_sum)
    rule_out(a, labels)
    for d in range(n):
        top[d] = a[0, d]
        total[d] = 0.0
    for k in range(1, n_senses):
        for d in range(n):
            top[d] = max(top[d], a[k, d])
    for k in range(n_senses):
        for d in range(n):
            a[k, d] = exp_negative(a[k, d] - top[d])
            total[d] += a[k, d]
    value = 0.0
    # every total lies between 1 and K
    run = int(_PRODUCT / math.log(n_senses + 1.0))
    for start in range(0, n, run):
        product = 1.0
        for d in range(start, min(start + run, n)):
            value += top[d]
            product *= total[d]
        value += math.log(product)
    for d in range(n):
        total[d] = 1.0 / total[d]
    for k in range(n_senses):
        for d in range(n):
            a[k, d] *= total[d]
    return value


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def cell_sums(weights, periods, genres, lengths, mass, cells):
    """Add to ``mass`` (K, T) the words and to ``cells`` (G, T, K) the snippets by sense."""
    n_senses = weights.shape[0]
    for first in range(0, n_senses, 3):
        i, j, k = three(first, n_senses)
        second, third = (1.0 if j > i else 0.0), (1.0 if k > j else 0.0)
        for d in range(periods.size):
            g, t, length = genres[d], periods[d], lengths[d]
            a, b, c = weights[i, d], second * weights[j, d], third * weights[k, d]
            mass[i, t] += length * a
            mass[j, t] += length * b
            mass[k, t] += length * c
            cells[g, t, i] += a
            cells[g, t, j] += b
            cells[g, t, k] += c


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def mixture(data, phi, rows, stride, log_sum, log_prev, weights, mass, cells):
    """Log likelihood of snippets, and what its gradient is made of, in the last four arrays.

    ``stride`` is that of `snippet_logits`. The arrays are log prevalences, probabilities of senses
    (K, D), and the sums of `cell_sums`.
    """
    indptr, words, counts, periods, genres, labels, lengths = data
    log_prevalence(phi, log_prev)
    snippet_logits(indptr, words, counts, rows, periods, stride, weights)
    room = np.empty((2, periods.size))
    value = responsibilities(
        weights, periods, genres, labels, lengths, log_prev, log_sum, room[0], room[1]
    )
    mass[:] = 0.0
    cells[:] = 0.0
    cell_sums(weights, periods, genres, lengths, mass, cells)
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def additive_sums(exp_chi, exp_theta, top_chi, top_theta, sums, log_sum):
    """sums (K, T) = exp_chi exp_theta'; log_sum adds what was taken out of the exponents."""
    n_senses, n_words = exp_chi.shape
    for k in range(n_senses):
        for t in range(exp_theta.shape[0]):
            total = 0.0
            for v in range(n_words):
                total += exp_chi[k, v] * exp_theta[t, v]
            sums[k, t] = total
            log_sum[k, t] = math.log(total) + top_chi[k] + top_theta[t]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def additive_gradient(
    exp_chi, exp_theta, sums, mass, of_sense, totals, scale, grad_chi, grad_theta
):
    """Gradients of the log likelihood, times ``scale``; ``mass`` is changed.

    grad_chi_kv = of_sense_kv - sum_t mass_kt p_ktv and grad_theta_tv = totals_tv -
    sum_k mass_kt p_ktv, with p the probabilities of words.
    """
    n_senses, n_words = exp_chi.shape
    n_periods = exp_theta.shape[0]
    for k in range(n_senses):
        for t in range(n_periods):
            mass[k, t] /= sums[k, t]
        for v in range(n_words):
            grad_chi[k, v] = 0.0
        for t in range(n_periods):
            c = mass[k, t]
            for v in range(n_words):
                grad_chi[k, v] += c * exp_theta[t, v]
        for v in range(n_words):
            grad_chi[k, v] = scale * (of_sense[k, v] - grad_chi[k, v] * exp_chi[k, v])
    for t in range(n_periods):
        for v in range(n_words):
            grad_theta[t, v] = 0.0
        for k in range(n_senses):
            c = mass[k, t]
            for v in range(n_words):
                grad_theta[t, v] += c * exp_chi[k, v]
        for v in range(n_words):
            grad_theta[t, v] = scale * (totals[t, v] - grad_theta[t, v] * exp_theta[t, v])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def full_sums(exponents, top, sums, log_sum):
    """sums (T K,) of rows of `exp_rows`, and the log-sums (K, T) of what they are exponents of."""
    n, n_words = exponents.shape
    n_senses = log_sum.shape[0]
    for r in range(n):
        total = 0.0
        for v in range(n_words):
            total += exponents[r, v]
        sums[r] = total
        log_sum[r % n_senses, r // n_senses] = math.log(total) + top[r]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def full_expected(sums, mass, scale, exponents):
    """Turn exponents (T K, V) into scale times the words expected, ``mass`` (K, T) in each row."""
    n, n_words = exponents.shape
    n_senses = mass.shape[0]
    for r in range(n):
        c = scale * mass[r % n_senses, r // n_senses] / sums[r]
        for v in range(n_words):
            exponents[r, v] *= c


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def prevalence_gradient(log_prev, cells, snippets, scale, gradient):
    """gradient (T, K, G) = scale (cells - snippets softmax(phi)); ``snippets`` (G, T)."""
    n_periods, n_senses, n_genres = gradient.shape
    for t in range(n_periods):
        for k in range(n_senses):
            for g in range(n_genres):
                expected = snippets[g, t] * math.exp(log_prev[g, t, k])
                gradient[t, k, g] = scale * (cells[g, t, k] - expected)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def narrow_levels(x, narrowing, gradient):
    """Log prior -n narrowing level^2 / 2 of the mean levels over axis 2; adds its gradient.

    ``x`` and ``gradient`` (T, A, n, B), ``narrowing`` (T, A, B).
    """
    n_periods, n_outer, n, n_inner = x.shape
    value = 0.0
    for t in range(n_periods):
        for a in range(n_outer):
            for b in range(n_inner):
                level = 0.0
                for i in range(n):
                    level += x[t, a, i, b]
                level /= n
                pull = narrowing[t, a, b] * level
                value -= 0.5 * n * pull * level
                for i in range(n):
                    gradient[t, a, i, b] -= pull
    return value


@njit(inline="always")
def pull_paths(frame, x, gradient, levels, out):
    """Add the prior of paths to its gradient, turn it into coordinates; log density of the prior.

    ``frame`` holds center, inverse, below, the diagonal and off-diagonal of the prior precision,
    and the narrowing of levels; ``levels`` the shape of `narrow_levels`.
    """
    _, inverse, below, diagonal, off, narrowing = frame
    value = narrow_levels(x.reshape(levels), narrowing, gradient.reshape(levels))
    value += paths_prior(diagonal, off, x, gradient)
    paths_pull(inverse, below, gradient, out)
    return value
