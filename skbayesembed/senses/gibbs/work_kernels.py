"""Kernels of the Gibbs sampler with works, whose effects add to the logits of prevalence.

A context is a period t, a genre g and a work w in them; its logits are phi[g, t] + u[w]. The table
of contexts holds them as (places, T, K), with the place of each context among those of its period
(see `data.Contexts`); rows of the table that are no context stay at zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ..table_kernels import others, put
from .kernels import polya_gamma

# Most units of log sd that a slice is as wide as; text needs a few.
_STEPS = 100


class ContextIndex(NamedTuple):
    """Contexts in the order of their works; see `data.Contexts`.

    Attributes
    ----------
    cells, works, periods, places : ndarray of shape (n_contexts,), int64
        A cell is t * n_genres + g: where works are seen in periods that are near each other, so are
        the cells that they couple.
    sizes : ndarray of shape (n_contexts,)
        Snippets of each.
    firsts : ndarray of shape (n_works + 1,), int64
        Contexts of work w are those from ``firsts[w]`` to ``firsts[w + 1]``.
    """

    cells: np.ndarray
    works: np.ndarray
    periods: np.ndarray
    places: np.ndarray
    sizes: np.ndarray
    firsts: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def fill_cells(n_genres, diagonal, off, out):
    """The prior precision of independent paths of all genres, over cells (n, n)."""
    n_periods = diagonal.size
    out[:] = 0.0
    for t in range(n_periods):
        for g in range(n_genres):
            i = t * n_genres + g
            out[i, i] = diagonal[t]
            if t > 0:
                out[i, i - n_genres] = off[t - 1]
                out[i - n_genres, i] = off[t - 1]


@njit(nogil=True, cache=True, error_model="numpy")
def draw_cells(precision, linear, rng, first, out):
    """Draw out ~ N(P^-1 linear, P^-1); the lower half of P is overwritten by its Cholesky factor.

    The factor of a row begins where the row does, at ``first``. ``linear`` is overwritten.
    """
    n = linear.size
    for i in range(n):
        begin = 0
        while begin < i and precision[i, begin] == 0.0:
            begin += 1
        first[i] = begin
        for j in range(begin, i + 1):
            value = precision[i, j]
            for c in range(max(begin, first[j]), j):
                value -= precision[i, c] * precision[j, c]
            precision[i, j] = math.sqrt(value) if j == i else value / precision[j, j]
        value = linear[i]
        for j in range(begin, i):
            value -= precision[i, j] * linear[j]
        linear[i] = value / precision[i, i]
    for i in range(n):
        out[i] = linear[i] + rng.standard_normal()
    for i in range(n - 1, -1, -1):
        out[i] /= precision[i, i]
        for j in range(first[i], i):
            out[j] -= precision[i, j] * out[i]


@njit(nogil=True, cache=True, error_model="numpy")
def draw_contexts(table, phi, effects, counts, index, sd, diagonal, off, rng):
    """Polya-Gamma update of ``phi`` (G, T, K) and ``effects`` (W, K), jointly, sense by sense.

    ``counts`` (places, T, K) of snippets by sense. With one variable omega_c ~ PG(n_c, x_c - C_c)
    for each context, C the log-sum of the other senses, both are jointly Gaussian: effects given
    phi have precision 1 / sd^2 + sum_c omega_c, and taking them out leaves
    P + diag(omega) - sum_w omega_w omega_w' / (1 / sd^2 + sum_c omega_c) for phi.
    """
    n_genres, n_periods, m = phi.shape
    n_contexts, n_works, n_cells = index.cells.size, effects.shape[0], n_genres * n_periods
    omega, rest = np.zeros(n_contexts), np.zeros(n_contexts)
    own, own_linear = np.empty(n_works), np.empty(n_works)
    precision, linear = np.empty((n_cells, n_cells)), np.empty(n_cells)
    first, new = np.empty(n_cells, dtype=np.int64), np.empty(n_cells)
    for k in range(m):
        fill_cells(n_genres, diagonal, off, precision)
        linear[:] = 0.0
        for w in range(n_works):
            own[w] = 1.0 / (sd * sd)
            own_linear[w] = 0.0
            for c in range(index.firsts[w], index.firsts[w + 1]):
                if m == 1:
                    continue
                place, t = index.places[c], index.periods[c]
                cell, h = index.cells[c], index.sizes[c]
                rest[c] = others(table, place, t, k)
                offset = table.top[place, t] + math.log(rest[c])
                omega[c] = polya_gamma(h, table.x[place, t, k] - offset, False, rng)
                pull = counts[place, t, k] - 0.5 * h + omega[c] * offset
                own[w] += omega[c]
                own_linear[w] += pull
                precision[cell, cell] += omega[c]
                linear[cell] += pull
            for c in range(index.firsts[w], index.firsts[w + 1]):
                share = omega[c] / own[w]
                linear[index.cells[c]] -= share * own_linear[w]
                for d in range(index.firsts[w], index.firsts[w + 1]):
                    precision[index.cells[c], index.cells[d]] -= share * omega[d]
        draw_cells(precision, linear, rng, first, new)
        for i in range(n_cells):
            phi[i % n_genres, i // n_genres, k] = new[i]
        for w in range(n_works):
            value = own_linear[w]
            for c in range(index.firsts[w], index.firsts[w + 1]):
                value -= omega[c] * new[index.cells[c]]
            effects[w, k] = value / own[w] + rng.standard_normal() / math.sqrt(own[w])
        for c in range(n_contexts):
            value = new[index.cells[c]] + effects[index.works[c], k]
            if m == 1:
                table.x[index.places[c], index.periods[c], k] = value
            else:
                put(table, index.places[c], index.periods[c], k, rest[c], value)


@njit(nogil=True, cache=True, error_model="numpy")
def log_density_of_size(log_sd, base, deviations, counts, n, squares, scale):
    """Log density of log sd, up to a constant: concave.

    Half-normal prior of sd with this ``scale``; ``n`` effects drawn with it, of this sum of
    ``squares``; and ``counts`` (C, K) of senses in contexts with logits base + sd deviations.
    """
    sd = math.exp(log_sd)
    value = log_sd - 0.5 * (sd / scale) ** 2 - n * log_sd
    if squares > 0.0:
        value -= 0.5 * squares / (sd * sd)
    n_contexts, m = base.shape
    for c in range(n_contexts):
        top, size, total = -np.inf, 0.0, 0.0
        for k in range(m):
            top = max(top, base[c, k] + sd * deviations[c, k])
        for k in range(m):
            x = base[c, k] + sd * deviations[c, k] - top
            value += counts[c, k] * x
            size += counts[c, k]
            total += math.exp(x)
        value -= size * math.log(total)
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def slice_size(log_sd, base, deviations, counts, n, squares, scale, rng):
    """One update of log sd by slice sampling with stepping out (Neal 2003)."""
    given = base, deviations, counts, n, squares, scale
    height = log_density_of_size(log_sd, *given) - rng.standard_exponential()
    low = log_sd - rng.random()
    high = low + 1.0
    down = int(_STEPS * rng.random())
    up = _STEPS - 1 - down
    while down > 0 and log_density_of_size(low, *given) > height:
        low -= 1.0
        down -= 1
    while up > 0 and log_density_of_size(high, *given) > height:
        high += 1.0
        up -= 1
    while True:
        new = low + (high - low) * rng.random()
        # not-a-number, too, ends it
        if not log_density_of_size(new, *given) < height:
            return new
        if new < log_sd:
            low = new
        else:
            high = new
