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

from ..elementwise import FAST, exp_negative


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy")
def snippet_logits(indptr, words, counts, rows, of_period, out):
    """out_kd = sum_v c_dv rows[r, v], with row r = k, or t K + k of its period (T,) ``of_period``.

    ``of_period`` is None where rows do not depend on periods.
    """
    n_senses, n = out.shape
    for k in range(n_senses):
        for d in range(n):
            row = k if of_period is None else of_period[d] * n_senses + k
            total = 0.0
            for i in range(indptr[d], indptr[d + 1]):
                total += counts[i] * rows[row, words[i]]
            out[k, d] = total


@njit(nogil=True, cache=True, error_model="numpy")
def counts_by_sense(indptr, words, counts, weights, of_period, rows):
    """Add c_dv weights_kd to rows[r, v]: the transpose of `snippet_logits`."""
    n_senses, n = weights.shape
    for k in range(n_senses):
        for d in range(n):
            row = k if of_period is None else of_period[d] * n_senses + k
            weight = weights[k, d]
            for i in range(indptr[d], indptr[d + 1]):
                rows[row, words[i]] += counts[i] * weight


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def responsibilities(a, periods, genres, labels, lengths, log_prev, log_sum, top, total):
    """Turn the logits ``a`` (K, D) of `snippet_logits` into probabilities of senses.

    ``top`` and ``total`` (D,) are room to work in. Returns the sum of the log likelihoods.
    """
    n_senses, n = a.shape
    for d in range(n):
        top[d] = -np.inf
        total[d] = 0.0
    for k in range(n_senses):
        for d in range(n):
            t = periods[d]
            known = labels[d]
            if known >= 0 and known != k:
                # no probability, and far enough below the known sense to leave no trace
                a[k, d] = -1e300
            else:
                a[k, d] += log_prev[genres[d], t, k] - lengths[d] * log_sum[k, t]
            top[d] = max(top[d], a[k, d])
    for k in range(n_senses):
        for d in range(n):
            a[k, d] = exp_negative(a[k, d] - top[d])
            total[d] += a[k, d]
    value = 0.0
    for d in range(n):
        value += top[d] + math.log(total[d])
        total[d] = 1.0 / total[d]
    for k in range(n_senses):
        for d in range(n):
            a[k, d] *= total[d]
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def cell_sums(weights, periods, genres, lengths, mass, cells):
    """Add to ``mass`` (K, T) the words and to ``cells`` (G, T, K) the snippets by sense."""
    for k in range(weights.shape[0]):
        for d in range(periods.size):
            mass[k, periods[d]] += lengths[d] * weights[k, d]
            cells[genres[d], periods[d], k] += weights[k, d]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def full_gradient(exponents, sums, mass, of_cell, scale, gradient):
    """gradient = scale (of_cell - mass p), rows (T K, V); ``sums`` and ``mass`` (T K,)."""
    n, n_words = gradient.shape
    for r in range(n):
        c = mass[r] / sums[r]
        for v in range(n_words):
            gradient[r, v] = scale * (of_cell[r, v] - c * exponents[r, v])


@njit(nogil=True, cache=True, error_model="numpy")
def prevalence_gradient(log_prev, cells, snippets, scale, gradient):
    """gradient (T, K, G) = scale (cells - snippets softmax(phi)); ``snippets`` (G, T)."""
    n_periods, n_senses, n_genres = gradient.shape
    for t in range(n_periods):
        for k in range(n_senses):
            for g in range(n_genres):
                expected = snippets[g, t] * math.exp(log_prev[g, t, k])
                gradient[t, k, g] = scale * (cells[g, t, k] - expected)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def chains_from(center, inverse, below, y, x):
    """x = center + L^-T y in every column, all of shape (T, M).

    L is lower bidiagonal, ``inverse`` one over its diagonal and ``below`` the entries beneath.
    """
    n, m = y.shape
    for j in range(m):
        x[n - 1, j] = y[n - 1, j] * inverse[n - 1, j]
    for t in range(n - 2, -1, -1):
        for j in range(m):
            x[t, j] = (y[t, j] - below[t, j] * x[t + 1, j]) * inverse[t, j]
    for t in range(n):
        for j in range(m):
            x[t, j] += center[t, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def chains_to(center, inverse, below, x, y):
    """y = L' (x - center): the inverse of `chains_from`."""
    n, m = x.shape
    for t in range(n):
        for j in range(m):
            y[t, j] = (x[t, j] - center[t, j]) / inverse[t, j]
    for t in range(n - 1):
        for j in range(m):
            y[t, j] += below[t, j] * (x[t + 1, j] - center[t + 1, j])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def chains_pull(inverse, below, gradient, out):
    """out = L^-1 gradient: the gradient by y where ``gradient`` is that by x."""
    n, m = gradient.shape
    for j in range(m):
        out[0, j] = gradient[0, j] * inverse[0, j]
    for t in range(1, n):
        for j in range(m):
            out[t, j] = (gradient[t, j] - below[t - 1, j] * out[t - 1, j]) * inverse[t, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def chains_factor(diagonal, off, information, inverse, below):
    """Cholesky factors of a tridiagonal precision plus ``information`` (T, M) on its diagonal."""
    n, m = information.shape
    for t in range(n):
        for j in range(m):
            d = diagonal[t] + information[t, j]
            if t > 0:
                d -= below[t - 1, j] ** 2
            inverse[t, j] = 1.0 / math.sqrt(d)
            if t < n - 1:
                below[t, j] = off[t] * inverse[t, j]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def chains_prior(diagonal, off, x, gradient):
    """Subtract P x from ``gradient`` in every column; returns the log density -x'P x / 2."""
    n, m = x.shape
    value = 0.0
    for t in range(n):
        for j in range(m):
            p = diagonal[t] * x[t, j]
            if t > 0:
                p += off[t - 1] * x[t - 1, j]
            if t < n - 1:
                p += off[t] * x[t + 1, j]
            value -= 0.5 * x[t, j] * p
            gradient[t, j] -= p
    return value


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


@njit(nogil=True, cache=True, error_model="numpy")
def pull_chain(frame, x, gradient, levels, out):
    """Add the prior of a chain to its gradient, turn it into coordinates; log density of the prior.

    ``frame`` holds center, inverse, below, the diagonal and off-diagonal of the prior precision,
    and the narrowing of levels; ``levels`` the shape of `narrow_levels`.
    """
    _, inverse, below, diagonal, off, narrowing = frame
    value = narrow_levels(x.reshape(levels), narrowing, gradient.reshape(levels))
    value += chains_prior(diagonal, off, x, gradient)
    chains_pull(inverse, below, gradient, out)
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def additive_posterior(theta, out, frames, data, totals, snippets, power):
    """Log posterior of the additive model and its gradient by coordinates: all steps in one call.

    What `SenseModel.logp_and_grad` does step by step for other models: chains that run in threads
    would wait for each other between the steps.
    """
    of_chi, of_theta, of_phi = frames
    indptr, words, counts, periods, genres, labels, lengths = data
    n_periods, n_words = totals.shape
    n_genres = snippets.shape[0]
    n_senses = of_chi[0].size // n_words
    a, b = n_senses * n_words, (n_senses + n_periods) * n_words
    flat_chi, flat_phi = (1, a), (n_periods, n_senses * n_genres)
    chi, th, phi = np.empty(flat_chi), np.empty((n_periods, n_words)), np.empty(flat_phi)
    chains_from(of_chi[0], of_chi[1], of_chi[2], theta[:a].reshape(flat_chi), chi)
    chains_from(of_theta[0], of_theta[1], of_theta[2], theta[a:b].reshape(th.shape), th)
    chains_from(of_phi[0], of_phi[1], of_phi[2], theta[b:].reshape(flat_phi), phi)
    rows = chi.reshape((n_senses, n_words))
    log_prev = np.empty((n_genres, n_periods, n_senses))
    log_prevalence(phi.reshape((n_periods, n_senses, n_genres)), log_prev)
    exp_chi, exp_theta = np.empty_like(rows), np.empty_like(th)
    top_chi, top_theta = np.empty(n_senses), np.empty(n_periods)
    exp_rows(rows, exp_chi, top_chi)
    exp_rows(th, exp_theta, top_theta)
    sums, log_sum = np.empty((n_senses, n_periods)), np.empty((n_senses, n_periods))
    additive_sums(exp_chi, exp_theta, top_chi, top_theta, sums, log_sum)
    weights = np.empty((n_senses, periods.size))
    snippet_logits(indptr, words, counts, rows, None, weights)
    top, total = np.empty(periods.size), np.empty(periods.size)
    value = responsibilities(
        weights, periods, genres, labels, lengths, log_prev, log_sum, top, total
    )
    for t in range(n_periods):
        for v in range(n_words):
            value += totals[t, v] * th[t, v]
    mass, cells = np.zeros((n_senses, n_periods)), np.zeros(log_prev.shape)
    of_sense = np.zeros((n_senses, n_words))
    cell_sums(weights, periods, genres, lengths, mass, cells)
    counts_by_sense(indptr, words, counts, weights, None, of_sense)
    by_phi = np.empty((n_periods, n_senses, n_genres))
    prevalence_gradient(log_prev, cells, snippets, power, by_phi)
    by_chi, by_theta = np.empty_like(rows), np.empty_like(th)
    additive_gradient(exp_chi, exp_theta, sums, mass, of_sense, totals, power, by_chi, by_theta)
    value *= power
    levels = (1, n_senses, n_words, 1)
    value += pull_chain(of_chi, chi, by_chi.reshape(flat_chi), levels, out[:a].reshape(flat_chi))
    levels = (n_periods, 1, n_words, 1)
    value += pull_chain(of_theta, th, by_theta, levels, out[a:b].reshape(th.shape))
    levels = (n_periods, 1, n_senses, n_genres)
    value += pull_chain(of_phi, phi, by_phi.reshape(flat_phi), levels, out[b:].reshape(flat_phi))
    return value
