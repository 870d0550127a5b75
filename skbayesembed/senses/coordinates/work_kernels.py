"""Kernels of the effects of works on prevalences, and of their size.

A context c is a period t, a genre and a work w in them. With logits ``phi`` and effects ``u``
(W, K) its prevalences are softmax(phi + u_w). A frame, `WorkEffects.arrays`, holds the indices of
contexts, the guess n (C, K) of what the data tell of the logits of each, its sums N (W, K) over the
contexts of a work, what effects are centered at, b (W, K), the place and width of log s, and the
scale of the prior of s, the size of effects. With phi' less its mean over senses, coordinates y are
those in

    u = v (b - sum_c n_c phi'_c) + sqrt(v) y,    v = 1 / (1 / s^2 + N)

which is the distribution of u given phi and s if what the data tell is Gaussian. Without data
u = s y. No softmax sees the level of u over senses, whose prior may be any given all else: it is
that of a Gaussian with the precision K (1 / s^2 + mean N) about v (b - ...).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def log_size(of_size, y):
    """Log s of its coordinate."""
    place, width, _ = of_size
    return place + width * y


@njit(nogil=True, cache=True, error_model="numpy")
def effects_of(works, y, phi):
    """What effects are moved from, effects, and their widths sqrt(v): three (W, K)."""
    periods, genres, of_context, _, told, sums, center, of_size = works
    n_works, n_senses = center.shape
    precision = math.exp(-2 * log_size(of_size, y[center.size]))
    middle, effects, widths = center.copy(), np.empty_like(center), np.empty_like(center)
    for c in range(periods.size):
        t, g, w = periods[c], genres[c], of_context[c]
        level = 0.0
        for k in range(n_senses):
            level += phi[t, k, g]
        level /= n_senses
        for k in range(n_senses):
            middle[w, k] -= told[c, k] * (phi[t, k, g] - level)
    for w in range(n_works):
        for k in range(n_senses):
            variance = 1.0 / (precision + sums[w, k])
            widths[w, k] = math.sqrt(variance)
            middle[w, k] *= variance
            effects[w, k] = middle[w, k] + widths[w, k] * y[w * n_senses + k]
    return middle, effects, widths


@njit(nogil=True, cache=True, error_model="numpy")
def rows_of(works, y, phi):
    """Logits of prevalence by context (T, K, places); ``phi`` (T, K, G) where there are none."""
    periods, genres, of_context, places = works[:4]
    if periods.size == 0:
        return phi
    effects = effects_of(works, y, phi)[1]
    n_periods, n_senses, _ = phi.shape
    out = np.zeros((n_periods, n_senses, places.max() + 1))
    for c in range(periods.size):
        t, g, w = periods[c], genres[c], of_context[c]
        for k in range(n_senses):
            out[t, k, places[c]] = phi[t, k, g] + effects[w, k]
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def pull_works(works, y, phi, by_rows, out):
    """Log prior of works, with the Jacobian; the gradient by ``phi`` of what ``by_rows`` is of.

    That by y goes into ``out``, of which the last is that by log s.
    """
    periods, genres, of_context, places, told, _, center, _ = works
    if periods.size == 0:
        return 0.0, by_rows
    n_senses = center.shape[1]
    middle, effects, widths = effects_of(works, y, phi)
    by_phi, by_effects = np.zeros_like(phi), np.zeros_like(center)
    for c in range(periods.size):
        t, g, w, place = periods[c], genres[c], of_context[c], places[c]
        for k in range(n_senses):
            by_phi[t, k, g] += by_rows[t, k, place]
            by_effects[w, k] += by_rows[t, k, place]
    value = pull_effects_of_works(works, y, middle, effects, widths, by_effects, out)
    for c in range(periods.size):
        t, g, w = periods[c], genres[c], of_context[c]
        level = 0.0
        for k in range(n_senses):
            level += told[c, k] * widths[w, k] ** 2 * by_effects[w, k]
        level /= n_senses
        for k in range(n_senses):
            by_phi[t, k, g] -= told[c, k] * widths[w, k] ** 2 * by_effects[w, k] - level
    return value, by_phi


@njit(nogil=True, cache=True, error_model="numpy")
def pull_effects_of_works(works, y, middle, effects, widths, by_effects, out):
    """Log prior of effects and their size, half-normal; its gradient is added to ``by_effects``.

    That by coordinates goes into ``out``.
    """
    sums, of_size = works[5], works[7]
    _, width, scale = of_size
    n_works, n_senses = effects.shape
    log_s = log_size(of_size, y[effects.size])
    precision, relative = math.exp(-2 * log_s), math.exp(2 * log_s) / scale**2
    value, by_size = log_s - 0.5 * relative, 1.0 - relative
    for w in range(n_works):
        level = told = away = turned = 0.0
        for k in range(n_senses):
            x = widths[w, k] * y[w * n_senses + k]
            level += effects[w, k] / n_senses
            told += sums[w, k] / n_senses
            away += x / n_senses
            turned += widths[w, k] ** 2 * precision * x / n_senses
        own = precision + told
        value += 0.5 * math.log(own) - 0.5 * n_senses * own * away * away
        by_size += precision * (n_senses * away * away - 1.0 / own) - n_senses * own * away * turned
        value -= (n_senses - 1) * log_s
        by_size -= n_senses - 1
        for k in range(n_senses):
            here = effects[w, k] - level
            value += math.log(widths[w, k]) - 0.5 * precision * here * here
            by_effects[w, k] -= precision * here
            share = widths[w, k] ** 2 * precision
            by_size += precision * here * here + share
            by_size += by_effects[w, k] * share * (middle[w, k] + effects[w, k])
            out[w * n_senses + k] = widths[w, k] * (by_effects[w, k] - own * away)
    out[effects.size] = width * by_size
    return value
