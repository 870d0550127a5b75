"""Kernels of prevalence logits, paths over periods the variance of whose steps may be learned.

A frame is `PrevalencePaths.arrays`. Where the variance kappa is known it is as that of `Paths`.
Where it is learned the precision of paths is P(kappa), and with N what the data tell coordinates
are those of the factor

    L L' = P(kappa) + N,    x = L^-T (y + L^-1 b),    b = (P + N) center

with P where they were made. That is the distribution of x given kappa if what the data tell is
Gaussian, in which y does not depend on kappa; the last coordinate is that of log kappa. What
depends on kappa is taken with its derivative by log kappa beside it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ...numeric.tridiagonal_kernels import paths_from, paths_prior, paths_pull
from ..kernels import narrow_levels


@njit(nogil=True, cache=True, error_model="numpy")
def log_kappa_of(learned, y):
    """Log kappa of coordinates, of which it is the last."""
    return learned[2] + learned[3] * y[y.size - 1]


@njit(nogil=True, cache=True, error_model="numpy")
def precision_of(n, process, log_kappa):
    """Of a path: diagonal of its precision, what is beside it, and the part over kappa."""
    alpha, first, times = process
    of_steps = math.exp(-log_kappa) / times
    diagonal, over_kappa, off = np.zeros(n), np.empty(n), np.full(n - 1, -alpha * of_steps)
    for t in range(n):
        if t < n - 1:
            diagonal[t] += alpha * alpha * of_steps
        if t > 0:
            diagonal[t] += of_steps
        elif first == 0.0:
            diagonal[t] += (1.0 - alpha * alpha) * of_steps
        over_kappa[t] = diagonal[t]
    if first > 0.0:
        diagonal[0] += 1.0 / first
    return diagonal, off, over_kappa


@njit(nogil=True, cache=True, error_model="numpy")
def learned_paths(frame, y):
    """x (T, M) and its derivative, the factor as `paths_pull` has it, log |dx / dy| and its own."""
    b, _, _, _, _, _, learned = frame
    told, proper = learned[0], learned[7]
    n, m = b.shape
    diagonal, off, over_kappa = precision_of(n, proper, log_kappa_of(learned, y))
    x, by_kappa, inverse = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    below, place, moves = np.zeros((n, m)), np.empty(n), np.empty(n)
    pivots, of_below = np.empty(n), np.empty(n)
    volume = slope = 0.0
    for j in range(m):
        before = of_before = w = of_w = 0.0
        for t in range(n):
            # l l = d - m m, and the derivatives of both
            square = diagonal[t] + told[t, j] - before * before
            pivot = math.sqrt(square)
            of_pivot = (-over_kappa[t] - 2.0 * before * of_before) / (2.0 * pivot)
            new = (b[t, j] - before * w) / pivot
            of_w = (-of_before * w - before * of_w - new * of_pivot) / pivot
            w = new
            place[t], moves[t], pivots[t] = w + y[t * m + j], of_w, of_pivot
            inverse[t, j] = 1.0 / pivot
            volume -= math.log(pivot)
            slope -= of_pivot / pivot
            if t < n - 1:
                before = off[t] / pivot
                of_before = (-off[t] - before * of_pivot) / pivot
                below[t, j], of_below[t] = before, of_before
        after = of_after = 0.0
        for t in range(n - 1, -1, -1):
            value, moved = place[t], moves[t]
            if t < n - 1:
                value -= below[t, j] * after
                moved -= of_below[t] * after + below[t, j] * of_after
            after = value * inverse[t, j]
            of_after = (moved - after * pivots[t]) * inverse[t, j]
            x[t, j], by_kappa[t, j] = after, of_after
    return x, by_kappa, inverse, below, volume, slope


@njit(nogil=True, cache=True, error_model="numpy")
def phi_of(frame, y, n_senses):
    """Logits of prevalence (T, K, G) of their coordinates."""
    center, inverse, below = frame[:3]
    n, m = center.shape
    phi = np.empty((n, m))
    if frame[6][6]:
        phi = learned_paths(frame, y)[0]
    else:
        paths_from(center, inverse, below, y.reshape((n, m)), phi)
    return phi.reshape((n, n_senses, m // n_senses))


@njit(nogil=True, cache=True, error_model="numpy")
def pull_phi(frame, y, phi, gradient, out):
    """Add the prior to the gradient, turn it into coordinates; log density of the prior."""
    _, inverse, below, diagonal, off, narrowing, learned = frame
    n, n_senses, n_genres = phi.shape
    m = n_senses * n_genres
    flat, slope_of = phi.reshape((n, m)), gradient.reshape((n, m))
    levels = (n, 1, n_senses, n_genres)
    value = narrow_levels(phi.reshape(levels), narrowing, gradient.reshape(levels))
    if not learned[6]:
        value += paths_prior(diagonal, off, flat, slope_of)
        paths_pull(inverse, below, slope_of, out.reshape((n, m)))
        return value
    log_kappa = log_kappa_of(learned, y)
    _, by_kappa, inverse, below, volume, slope = learned_paths(frame, y)
    diagonal, off, _ = precision_of(n, learned[1], log_kappa)
    value += paths_prior(diagonal, off, flat, slope_of) + volume
    added, by_log = kappa_prior(flat, learned, log_kappa)
    of_levels, by_levels = narrowed_levels(narrowing, learned[1], log_kappa)
    slope += by_log + by_levels
    for t in range(n):
        for j in range(m):
            slope += slope_of[t, j] * by_kappa[t, j]
    paths_pull(inverse, below, slope_of, out[: n * m].reshape((n, m)))
    out[n * m] = learned[3] * slope
    return value + added + of_levels


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def kappa_prior(phi, learned, log_kappa):
    """Terms of the log prior that depend on log kappa, and their derivative.

    The value leaves out -x'P x / 2 of the prior of ``phi``, which `paths_prior` adds.
    """
    _, (alpha, first, times), _, _, shape, rate, _, _ = learned
    n, m = phi.shape
    squares, degrees = 0.0, shape + 0.5 * (n - 1) * m
    for j in range(m):
        for t in range(1, n):
            squares += (phi[t, j] - alpha * phi[t - 1, j]) ** 2
        if first == 0.0:
            squares += (1.0 - alpha * alpha) * phi[0, j] ** 2
    if first == 0.0:
        degrees += 0.5 * m
    value = -degrees * log_kappa - rate * math.exp(-log_kappa)
    return value, (0.5 * squares / times + rate) * math.exp(-log_kappa) - degrees


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def narrowed_levels(narrowing, process, log_kappa):
    """Minus the log integral of what narrows the levels of paths; its derivative by log kappa.

    With P the precision of a path and N = diag(narrowing) it is (log det(P + N) - log det P) / 2, a
    term for each path of levels. Without it levels that were narrowed would speak for small steps.
    Constants are left out. With v the variance of steps, the Cholesky factor of P + N has the
    squared diagonal e_t + alpha^2 / v, the last e_t, where e_{t+1} = N_{t+1} + e_t / (alpha^2 + v
    e_t).
    """
    n_periods, _, n_inner = narrowing.shape
    alpha, first, times = process
    log_variance = log_kappa + math.log(times)
    log_square = 2.0 * math.log(abs(alpha)) if alpha != 0.0 else -np.inf
    value, slope = 0.0, 0.0
    for b in range(n_inner):
        # where nothing is narrowed the integral is one, also of a flat first period
        if narrowing[:, 0, b].sum() == 0.0:
            continue
        e, by_log = 1.0 / first, 0.0
        if first == 0.0:
            e = (1.0 - alpha * alpha) * math.exp(-log_variance)
            by_log = -e
            value += 0.5 * log_variance
            slope += 0.5
        for t in range(n_periods):
            e += narrowing[t, 0, b]
            relative = by_log / e if e > 0.0 else 0.0
            if t == n_periods - 1:
                value += 0.5 * math.log(e)
                slope += 0.5 * relative
                continue
            # of log(v e), which may be anything
            x = math.log(e) + log_variance if e > 0.0 else -np.inf
            top = max(x, log_square)
            log_sum = top + math.log1p(math.exp(min(x, log_square) - top))
            share = math.exp(x - log_sum)
            value += 0.5 * log_sum
            slope += 0.5 * share * (relative + 1.0)
            e *= math.exp(-log_sum)
            by_log = e * (relative - share * (relative + 1.0))
    return value, slope
