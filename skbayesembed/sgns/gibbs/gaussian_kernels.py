"""Kernels for small Gaussians in precision form: factor, solve, whiten, draw.

A Gaussian has mean ``m`` and precision ``L L'``; ``u = L'(x - m)`` is the whitened ``x``. A word's
prior is proportional to ``exp(pull . x - prior . x^2 / 2)``.
"""

from __future__ import annotations

from numba import njit

from ...numeric.cholesky_kernels import multiply_upper, solve_lower, solve_upper
from ..logistic_kernels import FAST


@njit(nogil=True, cache=True, error_model="numpy")
def outer_table(y, out):
    """out[v] = the lower triangle of y_v y_v', row by row, K (K + 1) / 2 numbers."""
    n_columns, k = y.shape
    for v in range(n_columns):
        p = 0
        for i in range(k):
            yi = y[v, i]
            for j in range(i + 1):
                out[v, p] = yi * y[v, j]
                p += 1


@njit(nogil=True, cache=True, error_model="numpy")
def unpack_precision(packed, prior, out):
    """Lower triangle of the matrix packed row by row, plus diag(prior), into ``out`` (K, K)."""
    p = 0
    for i in range(out.shape[0]):
        for j in range(i + 1):
            out[i, j] = packed[p]
            p += 1
        out[i, i] += prior[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def unwhiten(factor, mean, u, x):
    """x = mean + L^-T u."""
    # a loop: numba compiles messages of errors for an assignment of slices, for a second
    for i in range(x.size):
        x[i] = u[i]
    solve_upper(factor, x)
    for i in range(x.size):
        x[i] += mean[i]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def kick(factor, gradient, prior, pull, x, u, p, step):
    """p += step * (L^-1 grad log posterior(x) + u); ``gradient`` (of the likelihood) is spent."""
    for i in range(x.size):
        gradient[i] += pull[i] - prior[i] * x[i]
    solve_lower(factor, gradient)
    for i in range(x.size):
        p[i] += step * (gradient[i] + u[i])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def rotate(u, p, cosine, sine):
    """(u, p) turned by an angle: the exact flow of a standard Gaussian."""
    for i in range(u.size):
        a = u[i]
        b = p[i]
        u[i] = a * cosine + b * sine
        p[i] = b * cosine - a * sine


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def start_move(factor, mean, prior, pull, x, diff, n_steps, cosine, sine, rng, u, p):
    """Whitened u = L'(x - mean) and p ~ N(0, I); returns minus the log weight of the start.

    With steps the weight is that of (x, p) under prior and kinetic energy. Without, it is
    prior(x) / N(x; mean, (L L')^-1), u is turned into the proposal and p is not used.
    """
    energy = 0.0
    for i in range(x.size):
        diff[i] = x[i] - mean[i]
        energy += (0.5 * prior[i] * x[i] - pull[i]) * x[i]
    multiply_upper(factor, diff, u)
    for i in range(x.size):
        if n_steps == 0:
            energy -= 0.5 * u[i] * u[i]
            u[i] = cosine * u[i] + sine * rng.standard_normal()
        else:
            p[i] = rng.standard_normal()
            energy += 0.5 * p[i] * p[i]
    return energy


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def end_energy(prior, pull, x, u, p, n_steps):
    """The counterpart of `start_move`'s value at the end of the move."""
    energy = 0.0
    for i in range(x.size):
        energy += (0.5 * prior[i] * x[i] - pull[i]) * x[i]
        if n_steps == 0:
            energy -= 0.5 * u[i] * u[i]
        else:
            energy += 0.5 * p[i] * p[i]
    return energy


@njit(nogil=True, cache=True, error_model="numpy")
def draw_gaussian(factor, linear, movable, rng, x):
    """x ~ N(H^-1 linear, H^-1) with H = L L'; ``linear`` is spent; a row that stays draws too."""
    solve_lower(factor, linear)
    for i in range(x.size):
        linear[i] += rng.standard_normal()
    solve_upper(factor, linear)
    if movable:
        for i in range(x.size):
            x[i] = linear[i]


@njit(nogil=True, cache=True, error_model="numpy")
def add_noise(factor, movable, rng, noise, mean, x):
    """x = mean + L^-T noise with fresh standard normal ``noise``; a row that stays draws too."""
    for i in range(x.size):
        noise[i] = rng.standard_normal()
    solve_upper(factor, noise)
    if movable:
        for i in range(x.size):
            x[i] = mean[i] + noise[i]
