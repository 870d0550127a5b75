"""Kernels of the deviations of ``model="interaction"`` and of their sizes."""

from __future__ import annotations

import math

from numba import njit

from ...numeric.elementwise import FAST


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_sizes_of(frame, y, logs):
    """log tau and log lambda (V,) of coordinates (1 + V,), of which the first moves all."""
    places, widths, turns = frame
    first = widths[0] * y[0]
    logs[0] = places[0] + first
    for v in range(turns.size):
        logs[1 + v] = places[1 + v] + widths[1 + v] * y[1 + v] + turns[v] * first


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def sizes_of(logs, slab, sizes, slopes):
    """Sizes of the deviations of words (V,), and their derivatives by log (tau lambda)."""
    for v in range(sizes.size):
        squared = math.exp(min(2 * (logs[0] + logs[1 + v]), 700.0))
        share = slab / (slab + squared)
        sizes[v] = math.sqrt(squared * share)
        slopes[v] = sizes[v] * share


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def pull_sizes(frame, scale, logs, gradient, out):
    """Add the prior to the gradient by log (tau lambda), turn it into one by coordinates.

    Returns the log density of the prior.

    Half-Cauchy on the logarithmic scale, ``scale`` that of tau: log x - log(1 + x^2).
    """
    _, widths, turns = frame
    log_tau = logs[0] - math.log(scale)
    value = -math.log(2 * math.cosh(log_tau))
    by_tau = -math.tanh(log_tau)
    for v in range(gradient.size):
        x = abs(logs[1 + v])
        value -= x + math.log1p(math.exp(-2 * x))
        by_lambda = gradient[v] - math.tanh(logs[1 + v])
        by_tau += gradient[v] + turns[v] * by_lambda
        out[1 + v] = widths[1 + v] * by_lambda
    out[0] = widths[0] * by_tau
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def deviating_logits(effects, deviation, sizes, n_senses, psi):
    """psi (T K, V): main effects (K + T, V), plus deviations (T K, V) times sizes (V,)."""
    for r in range(psi.shape[0]):
        of_sense, of_period = effects[r % n_senses], effects[n_senses + r // n_senses]
        for v in range(sizes.size):
            psi[r, v] = of_sense[v] + of_period[v] + sizes[v] * deviation[r, v]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def by_parts(gradient, deviation, sizes, n_senses, by_effects, by_size):
    """From the gradient by psi (T K, V) to those by the parts of `deviating_logits`.

    That by deviations replaces ``gradient``.
    """
    by_effects[:] = 0.0
    by_size[:] = 0.0
    for r in range(gradient.shape[0]):
        of_sense, of_period = by_effects[r % n_senses], by_effects[n_senses + r // n_senses]
        for v in range(sizes.size):
            g = gradient[r, v]
            of_sense[v] += g
            of_period[v] += g
            by_size[v] += g * deviation[r, v]
            gradient[r, v] = g * sizes[v]
