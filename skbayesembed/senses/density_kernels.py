"""Log posterior densities of the sense models and their gradients, each in one call.

A density whose steps were called one by one from Python would make chains that run in threads wait
for each other. All functions take flat coordinates ``theta`` and put the gradient by them in
``out``. ``frames`` are the ``arrays`` of the model's coordinates (see `frame` and `deviations`),
``data`` the snippets, ``snippets`` (G, T) their numbers; the likelihood is raised to ``power``.
Where there are works, the rows of prevalences are those of contexts (see `work_kernels`), otherwise
of genres. Arrays inside have periods first. Only softmaxes and priors run over all K T V word
logits: what comes from the snippets runs over their words alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST
from ..numeric.tridiagonal_kernels import paths_from, paths_prior, paths_pull
from .coordinates.deviation_kernels import (
    by_parts,
    deviating_logits,
    log_sizes_of,
    pull_sizes,
    sizes_of,
)
from .coordinates.effect_kernels import logits_of, pull_effects
from .coordinates.embedded_kernels import embedded_logits, pull_embedded
from .coordinates.path_kernels import phi_of, pull_phi
from .coordinates.work_kernels import pull_works, rows_of
from .kernels import (
    additive_gradient,
    additive_sums,
    counts_by_sense,
    exp_rows,
    full_expected,
    full_sums,
    mixture,
    prevalence_gradient,
    pull_paths,
)


@njit(inline="always")
def effects_of(frame, theta):
    """Main effects (K + T, V) of their coordinates."""
    shift, inverse, below, cross, lower = frame[:5]
    effects = np.empty(shift.shape)
    logits_of(shift, inverse, below, cross, lower, theta.reshape(shift.shape), effects)
    return effects


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def inner(a, b):
    """Sum of the products of the entries of two matrices."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def add_to_rows(x, rows):
    """Add ``x`` to every row."""
    for r in range(len(rows)):
        for v in range(x.size):
            rows[r, v] += x[v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def sum_rows(rows, out):
    """Add every row to ``out``."""
    for r in range(len(rows)):
        for v in range(out.size):
            out[v] += rows[r, v]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def additive_likelihood(logits, phi, data, totals, snippets, power, by_words, by_phi):
    """Log likelihood, and power times its gradients, of main effects ``logits`` (K + T, V)."""
    n_periods, n_senses, n_genres = phi.shape
    indptr, words, counts, periods = data[:4]
    chi, theta = logits[:n_senses], logits[n_senses:]
    exp_chi, exp_theta = np.empty_like(chi), np.empty_like(theta)
    top_chi, top_theta = np.empty(n_senses), np.empty(n_periods)
    exp_rows(chi, exp_chi, top_chi)
    exp_rows(theta, exp_theta, top_theta)
    sums, log_sum = np.empty((n_senses, n_periods)), np.empty((n_senses, n_periods))
    additive_sums(exp_chi, exp_theta, top_chi, top_theta, sums, log_sum)
    # each of its own: parts of one array count as strided, for which all is compiled once more
    log_prev = np.empty((n_genres, n_periods, n_senses))
    cells = np.empty((n_genres, n_periods, n_senses))
    weights, mass = np.empty((n_senses, periods.size)), np.empty((n_senses, n_periods))
    value = mixture(data, phi, chi, np.int64(0), log_sum, log_prev, weights, mass, cells)
    value += inner(totals, theta)
    of_sense = np.zeros_like(chi)
    counts_by_sense(indptr, words, counts, weights, None, 1.0, of_sense)
    by_chi, by_theta = by_words[:n_senses], by_words[n_senses:]
    additive_gradient(exp_chi, exp_theta, sums, mass, of_sense, totals, power, by_chi, by_theta)
    prevalence_gradient(log_prev, cells, snippets, power, by_phi)
    return value


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def full_likelihood(psi, phi, data, snippets, power, by_psi, by_phi):
    """Log likelihood, and power times its gradients, of word logits ``psi`` (T K, V)."""
    n_periods, n_senses, n_genres = phi.shape
    indptr, words, counts, periods = data[:4]
    top, sums, log_sum = np.empty(len(psi)), np.empty(len(psi)), np.empty((n_senses, n_periods))
    exp_rows(psi, by_psi, top)
    full_sums(by_psi, top, sums, log_sum)
    # each of its own: parts of one array count as strided, for which all is compiled once more
    log_prev = np.empty((n_genres, n_periods, n_senses))
    cells = np.empty((n_genres, n_periods, n_senses))
    weights, mass = np.empty((n_senses, periods.size)), np.empty((n_senses, n_periods))
    value = mixture(data, phi, psi, n_senses, log_sum, log_prev, weights, mass, cells)
    full_expected(sums, mass, -power, by_psi)
    counts_by_sense(indptr, words, counts, weights, periods, power, by_psi)
    prevalence_gradient(log_prev, cells, snippets, power, by_phi)
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def additive_posterior(theta, out, frames, data, totals, snippets, power):
    """Of DiSC: word logits ``chi[k] + theta[t]``."""
    of_words, of_phi, of_works = frames
    shape = of_words[0].shape
    a, n_senses = of_words[0].size, shape[0] - snippets.shape[1]
    b = a + of_phi[0].size + of_phi[6][6]
    logits, by_words = effects_of(of_words, theta[:a]), np.empty(shape)
    phi = phi_of(of_phi, theta[a:b], n_senses)
    rows = rows_of(of_works, theta[b:], phi)
    by_rows = np.empty_like(rows)
    value = power * additive_likelihood(
        logits, rows, data, totals, snippets, power, by_words, by_rows
    )
    value += pull_effects(of_words, logits, by_words, out[:a].reshape(shape))
    added, by_phi = pull_works(of_works, theta[b:], phi, by_rows, out[b:])
    return value + added + pull_phi(of_phi, theta[a:b], phi, by_phi, out[a:b])


@njit(nogil=True, cache=True, error_model="numpy")
def embedded_posterior(theta, out, frames, data, totals, snippets, power):
    """Of EDiSC: word logits ``rho (chi[k] + theta[t]) + sigma``."""
    of_words, of_phi, of_works = frames
    shape, n_words = of_words[0].shape, totals.shape[1]
    a, n_senses = of_words[0].size + n_words, shape[0] - snippets.shape[1]
    b = a + of_phi[0].size + of_phi[6][6]
    vectors, sigma = np.empty(shape), np.empty(n_words)
    logits, by_logits = np.empty((shape[0], n_words)), np.empty((shape[0], n_words))
    embedded_logits(of_words, theta[:a], vectors, sigma, logits)
    add_to_rows(sigma, logits[:n_senses])
    phi = phi_of(of_phi, theta[a:b], n_senses)
    rows = rows_of(of_works, theta[b:], phi)
    by_rows = np.empty_like(rows)
    value = power * additive_likelihood(
        logits, rows, data, totals, snippets, power, by_logits, by_rows
    )
    by_sigma = np.zeros(n_words)
    sum_rows(by_logits[:n_senses], by_sigma)
    value += pull_embedded(of_words, vectors, sigma, by_logits, by_sigma, out[:a])
    added, by_phi = pull_works(of_works, theta[b:], phi, by_rows, out[b:])
    return value + added + pull_phi(of_phi, theta[a:b], phi, by_phi, out[a:b])


@njit(nogil=True, cache=True, error_model="numpy")
def full_posterior(theta, out, frames, data, n_senses, snippets, power):
    """Of random walks: word logits ``psi[t, k]``."""
    of_psi, of_phi, of_works = frames
    center, inverse, below = of_psi[:3]
    n_periods, a = center.shape[0], center.size
    b = a + of_phi[0].size + of_phi[6][6]
    n_words = center.shape[1] // n_senses
    flat = (n_periods * n_senses, n_words)
    psi, by_psi = np.empty(center.shape), np.empty(center.shape)
    paths_from(center, inverse, below, theta[:a].reshape(center.shape), psi)
    phi = phi_of(of_phi, theta[a:b], n_senses)
    rows = rows_of(of_works, theta[b:], phi)
    by_rows = np.empty_like(rows)
    value = power * full_likelihood(
        psi.reshape(flat), rows, data, snippets, power, by_psi.reshape(flat), by_rows
    )
    levels = (n_periods, n_senses, n_words, 1)
    value += pull_paths(of_psi, psi, by_psi, levels, out[:a].reshape(center.shape))
    added, by_phi = pull_works(of_works, theta[b:], phi, by_rows, out[b:])
    return value + added + pull_phi(of_phi, theta[a:b], phi, by_phi, out[a:b])


@njit(nogil=True, cache=True, error_model="numpy")
def deviating_posterior(theta, out, frames, data, snippets, power):
    """Of main effects and deviations: word logits ``chi[k] + theta[t] + size deviation[t, k]``."""
    of_deviation, of_words, of_phi, of_works = frames
    (center, inverse, below, diagonal, off, _), of_sizes, scale, slab = of_deviation
    flat, shape = center.shape, of_words[0].shape
    n_periods, n_words = flat[0], shape[1]
    n_senses = shape[0] - n_periods
    rows = (n_periods * n_senses, n_words)
    a, b = inverse.size, inverse.size + 1 + n_words
    c = b + of_words[0].size
    d = c + of_phi[0].size + of_phi[6][6]
    logs = np.empty(1 + n_words)
    sizes, slopes, by_size = np.empty((3, n_words))
    log_sizes_of(of_sizes, theta[a:b], logs)
    sizes_of(logs, slab, sizes, slopes)
    deviation, gradient = np.empty(flat), np.empty(flat)
    paths_from(center, inverse, below, theta[:a].reshape(flat), deviation)
    effects = effects_of(of_words, theta[b:c])
    phi = phi_of(of_phi, theta[c:d], n_senses)
    contexts = rows_of(of_works, theta[d:], phi)
    psi, by_effects, by_rows = np.empty(rows), np.empty(shape), np.empty_like(contexts)
    deviating_logits(effects, deviation.reshape(rows), sizes, n_senses, psi)
    by_psi = gradient.reshape(rows)
    value = power * full_likelihood(psi, contexts, data, snippets, power, by_psi, by_rows)
    by_parts(by_psi, deviation.reshape(rows), sizes, n_senses, by_effects, by_size)
    value += paths_prior(diagonal, off, deviation, gradient)
    paths_pull(inverse, below, gradient, out[:a].reshape(flat))
    value += pull_sizes(of_sizes, scale, logs, by_size * slopes, out[a:b])
    value += pull_effects(of_words, effects, by_effects, out[b:c].reshape(shape))
    added, by_phi = pull_works(of_works, theta[d:], phi, by_rows, out[d:])
    return value + added + pull_phi(of_phi, theta[c:d], phi, by_phi, out[c:d])
