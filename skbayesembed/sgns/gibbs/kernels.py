"""Sweeps over blocks of words: Metropolis and Polya-Gamma updates, and sums for their tuning.

Rows ``x`` (n_rows, K) are updated given the opposite vectors ``y`` (n_columns, K): targets given
contexts, or contexts given targets with the pair table transposed. Dense kernels take the
(n_rows, n_columns) block of the table, sparse ones the whole table in compressed rows. The prior
of row w is exp(pull_w . x - prior_w . x^2 / 2); ``prior`` and ``pull`` have the shape of ``x``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numeric.cholesky_kernels import cholesky, solve_lower, solve_upper
from ..logistic_kernels import (
    accumulate_curvature,
    log_likelihood,
    logits,
    residuals,
    residuals_and_likelihood,
    slopes,
    weighted_sum,
)
from .gaussian_kernels import (
    add_noise,
    draw_gaussian,
    end_energy,
    kick,
    rotate,
    start_move,
    unpack_precision,
    unwhiten,
)

# Pivots below these shares of the diagonal are lost to rounding, in single and double precision.
_ROUNDING32 = 1e-6
_ROUNDING = 1e-14
# Newton's method in `climb`: most steps, and most halvings of one.
_MOST_STEPS = 40
# It ends at a squared distance to the mode, in standard deviations, of which the root is 0.03.
_CLOSE = 1e-3
# Share of the gain expected to first order that a step must bring (Nocedal & Wright 2006, 3.1).
_ARMIJO = 0.1


class Given(NamedTuple):
    """Opposite vectors (n_columns, K), in double and in single precision.

    ``outer`` holds the products of the latter, as `outer_table` makes them; sparse kernels, which
    do not look at it, are given an empty table.
    """

    y: np.ndarray
    y32: np.ndarray
    outer: np.ndarray


class DenseTable(NamedTuple):
    """Rows of the whole table: counts, and weights and linear terms of the Gaussians, by pair."""

    n: np.ndarray
    kappa: np.ndarray
    weight: np.ndarray
    shift: np.ndarray


class SparseTable(NamedTuple):
    """The same of observed pairs, in compressed rows."""

    indptr: np.ndarray
    indices: np.ndarray
    n: np.ndarray
    kappa: np.ndarray
    weight: np.ndarray
    shift: np.ndarray


class RowPrior(NamedTuple):
    """Precisions and linear terms of every row's prior, of the shape of ``x``."""

    precision: np.ndarray
    pull: np.ndarray


class Move(NamedTuple):
    """Number of Hamiltonian steps, and the angle that they turn by together."""

    n_steps: int
    turn: float


@njit(nogil=True, cache=True, error_model="numpy")
def gather(indices, y, y32, rows, rows32):
    """The vectors named by ``indices``, in both precisions, side by side in memory."""
    for i in range(indices.size):
        v = indices[i]
        for j in range(y.shape[1]):
            rows[i, j] = y[v, j]
            rows32[i, j] = y32[v, j]


@njit(nogil=True, cache=True, error_model="numpy")
def metropolis_dense(x, given, table, row_prior, movable, move, chunk, rng, accepted):
    """One Metropolis update of every row of ``x`` given ``y``; all (n_rows, n_columns) pairs.

    The Gaussian N(m, H^-1), H = sum_v weight_v y_v y_v' + diag(prior),
    m = H^-1 (sum_v shift_v y_v + pull), does not depend on the row's current value.
    ``n_steps == 0``: the proposal turns the row by the angle ``turn`` about m,
    cos(turn) (x - m) + sin(turn) e with e ~ N(0, H^-1), which leaves the Gaussian invariant (an
    independent draw for a quarter turn, over-relaxed beyond).
    Otherwise: Hamiltonian steps over the same angle that follow the Gaussian's flow exactly and
    correct it by the gradient of the rest. Either way accepted by the exact ratio.

    Takes a `Given`, a `DenseTable`, a `RowPrior` and a `Move`.
    """
    y, y32, outer = given
    n, kappa, weight, shift = table
    prior, pull = row_prior
    n_steps, turn = move
    n_rows, k = x.shape
    n_columns = y.shape[0]
    c = min(chunk, n_rows)
    logits, res = np.empty((c, n_columns)), np.empty((c, n_columns))
    packed = np.empty((n_rows, outer.shape[1]), dtype=np.float32)
    mean32 = np.empty((n_rows, k), dtype=np.float32)
    factor, mean, gradient = np.empty((c, k, k)), np.empty((c, k)), np.empty((c, k))
    u, p, new, energy = np.empty((c, k)), np.empty((c, k)), np.empty((c, k)), np.empty(c)
    angle = turn / max(n_steps, 1)
    cosine, sine = math.cos(angle), math.sin(angle)
    # one product for all rows: the table is read once, not once a chunk
    np.dot(weight, outer, packed)
    np.dot(shift, y32, mean32)
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        t = logits[:b]
        r = res[:b]
        g = gradient[:b]
        z = new[:b]
        np.dot(x[a : a + b], y.T, t)
        for i in range(b):
            w = a + i
            unpack_precision(packed[w], prior[w], factor[i])
            cholesky(factor[i], _ROUNDING32)
            for j in range(k):
                mean[i, j] = mean32[w, j] + pull[w, j]
            solve_lower(factor[i], mean[i])
            solve_upper(factor[i], mean[i])
            energy[i] = start_move(
                factor[i], mean[i], prior[w], pull[w], x[w], new[i], n_steps, cosine, sine, rng,
                u[i], p[i],
            )  # fmt: skip
            if n_steps == 0:
                energy[i] -= log_likelihood(t[i], n[w], kappa[w])
                unwhiten(factor[i], mean[i], u[i], new[i])
            else:
                energy[i] -= residuals_and_likelihood(t[i], n[w], kappa[w], r[i])
                for j in range(k):
                    new[i, j] = x[w, j]
        for s in range(n_steps):
            np.dot(r, y, g)
            step = 0.5 * angle if s == 0 else angle
            for i in range(b):
                kick(factor[i], g[i], prior[a + i], pull[a + i], z[i], u[i], p[i], step)
                rotate(u[i], p[i], cosine, sine)
                unwhiten(factor[i], mean[i], u[i], z[i])
            np.dot(z, y.T, t)
            if s < n_steps - 1:
                for i in range(b):
                    residuals(t[i], n[a + i], kappa[a + i], r[i])
        if n_steps == 0:
            np.dot(z, y.T, t)
        for i in range(b):
            w = a + i
            if n_steps == 0:
                energy[i] += log_likelihood(t[i], n[w], kappa[w])
            else:
                energy[i] += residuals_and_likelihood(t[i], n[w], kappa[w], r[i])
        if n_steps > 0:
            np.dot(r, y, g)
            for i in range(b):
                w = a + i
                kick(factor[i], g[i], prior[w], pull[w], z[i], u[i], p[i], 0.5 * angle)
        for i in range(b):
            w = a + i
            ratio = energy[i] - end_energy(prior[w], pull[w], z[i], u[i], p[i], n_steps)
            if rng.random() < math.exp(min(ratio, 0.0)) and movable[w]:
                accepted[w] += 1
                for j in range(k):
                    x[w, j] = z[i, j]


@njit(nogil=True, cache=True, error_model="numpy")
def metropolis_sparse(start, stop, x, given, table, row_prior, movable, move, rng, accepted):
    """`metropolis_dense` for words ``start:stop`` of a `SparseTable`."""
    y, y32, _ = given
    indptr, indices, n, kappa, weight, shift = table
    prior, pull = row_prior
    n_steps, turn = move
    k = x.shape[1]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    rows_, rows32_, weighted_ = (
        np.empty((m, k)),
        np.empty((m, k), np.float32),
        np.empty((m, k), np.float32),
    )
    t_, r_ = np.empty(m), np.empty(m)
    precision32 = np.empty((k, k), np.float32)
    factor = np.empty((k, k))
    mean, u, p, z, g = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    angle = turn / max(n_steps, 1)
    cosine, sine = math.cos(angle), math.sin(angle)
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        m = hi - lo
        rows, weighted, t, r = rows_[:m], weighted_[:m], t_[:m], r_[:m]
        nw, kw = n[lo:hi], kappa[lo:hi]
        gather(indices[lo:hi], y, y32, rows, rows32_)
        for j in range(k):
            mean[j] = pull[w, j]
        for i in range(m):
            for j in range(k):
                weighted[i, j] = weight[lo + i] * rows32_[i, j]
                mean[j] += shift[lo + i] * rows[i, j]
        if m > 0:
            np.dot(weighted.T, rows32_[:m], precision32)
        else:
            precision32[:] = 0.0
        for i in range(k):
            for j in range(i + 1):
                factor[i, j] = precision32[i, j]
            factor[i, i] += prior[w, i]
        cholesky(factor, _ROUNDING32)
        solve_lower(factor, mean)
        solve_upper(factor, mean)
        energy = start_move(
            factor, mean, prior[w], pull[w], x[w], z, n_steps, cosine, sine, rng, u, p
        )
        logits(rows, x[w], t)
        if n_steps == 0:
            energy -= log_likelihood(t, nw, kw)
            unwhiten(factor, mean, u, z)
            logits(rows, z, t)
            energy += log_likelihood(t, nw, kw)
        else:
            energy -= residuals_and_likelihood(t, nw, kw, r)
            for j in range(k):
                z[j] = x[w, j]
            for s in range(n_steps):
                weighted_sum(rows, r, g)
                step = 0.5 * angle if s == 0 else angle
                kick(factor, g, prior[w], pull[w], z, u, p, step)
                rotate(u, p, cosine, sine)
                unwhiten(factor, mean, u, z)
                logits(rows, z, t)
                if s < n_steps - 1:
                    residuals(t, nw, kw, r)
            energy += residuals_and_likelihood(t, nw, kw, r)
            weighted_sum(rows, r, g)
            kick(factor, g, prior[w], pull[w], z, u, p, 0.5 * angle)
        ratio = energy - end_energy(prior[w], pull[w], z, u, p, n_steps)
        if rng.random() < math.exp(min(ratio, 0.0)) and movable[w]:
            accepted[w] += 1
            for j in range(k):
                x[w, j] = z[j]


@njit(nogil=True, cache=True, error_model="numpy")
def gaussian_dense(packed, linear, prior, movable, rng, x):
    """Every row of ``x`` from its Gaussian conditional, precisions packed row by row.

    ``linear`` holds the linear terms, those of the prior included; it is spent.
    """
    factor = np.empty((x.shape[1], x.shape[1]))
    for w in range(x.shape[0]):
        unpack_precision(packed[w], prior[w], factor)
        cholesky(factor, _ROUNDING)
        draw_gaussian(factor, linear[w], movable[w], rng, x[w])


@njit(nogil=True, cache=True, error_model="numpy")
def gaussian_sparse(start, stop, indptr, indices, omega, kappa, y, prior, pull, movable, rng, x):
    """Rows from N(H^-1 b, H^-1), H = sum omega y y' + diag(prior), b = sum kappa y + pull."""
    k = x.shape[1]
    base = indptr[start]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    rows_, weighted_ = np.empty((m, k)), np.empty((m, k))
    factor, linear = np.empty((k, k)), np.empty(k)
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        m = hi - lo
        rows, weighted = rows_[:m], weighted_[:m]
        for j in range(k):
            linear[j] = pull[w, j]
        for i in range(m):
            v = indices[lo + i]
            o = omega[lo - base + i]
            for j in range(k):
                rows[i, j] = y[v, j]
                weighted[i, j] = o * y[v, j]
                linear[j] += kappa[lo + i] * y[v, j]
        if m > 0:
            np.dot(weighted.T, rows, factor)
        else:
            factor[:] = 0.0
        for j in range(k):
            factor[j, j] += prior[w, j]
        cholesky(factor, _ROUNDING)
        draw_gaussian(factor, linear, movable[w], rng, x[w])


@njit(nogil=True, cache=True, error_model="numpy")
def climb(rows, n, kappa, prior, pull, x, t, r, slope, weighted, step, trial, factor):
    """Newton's method with halved steps from ``x`` to the mode of a word's conditional, in place.

    Leaves the Cholesky factor of minus the Hessian in ``factor``. Ends within 0.03 posterior
    standard deviations of the mode.
    """
    k = x.size
    for _ in range(_MOST_STEPS):
        logits(rows, x, t)
        value = residuals_and_likelihood(t, n, kappa, r)
        slopes(t, n, slope)
        weighted_sum(rows, r, step)
        for i in range(rows.shape[0]):
            for j in range(k):
                weighted[i, j] = slope[i] * rows[i, j]
        if rows.shape[0] > 0:
            np.dot(weighted.T, rows, factor)
        else:
            factor[:] = 0.0
        for j in range(k):
            factor[j, j] += prior[j]
            step[j] += pull[j] - prior[j] * x[j]
            value -= (0.5 * prior[j] * x[j] - pull[j]) * x[j]
        cholesky(factor, _ROUNDING)
        solve_lower(factor, step)
        decrement = 0.0
        for j in range(k):
            decrement += step[j] * step[j]
        if decrement < _CLOSE:
            return
        solve_upper(factor, step)
        size = 1.0
        for _ in range(_MOST_STEPS):
            gain = -value
            for j in range(k):
                trial[j] = x[j] + size * step[j]
                gain -= (0.5 * prior[j] * trial[j] - pull[j]) * trial[j]
            logits(rows, trial, t)
            gain += log_likelihood(t, n, kappa)
            if gain >= _ARMIJO * size * decrement:
                break
            size *= 0.5
        for j in range(k):
            x[j] = trial[j]


@njit(nogil=True, cache=True, error_model="numpy")
def laplace_sparse(start, stop, indptr, indices, x, y, n, kappa, prior, pull, movable, rng):
    """Rows ``start:stop`` from the Gaussians at the modes of their conditionals.

    An approximate sweep that gets a chain home from anywhere; for warm-up only.
    """
    k = x.shape[1]
    m = 1
    for w in range(start, stop):
        m = max(m, indptr[w + 1] - indptr[w])
    rows_, weighted_ = np.empty((m, k)), np.empty((m, k))
    t_, r_, slope_ = np.empty(m), np.empty(m), np.empty(m)
    factor, mode, step, trial = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    for w in range(start, stop):
        lo, hi = indptr[w], indptr[w + 1]
        m = hi - lo
        for i in range(m):
            for j in range(k):
                rows_[i, j] = y[indices[lo + i], j]
        for j in range(k):
            mode[j] = x[w, j]
        climb(
            rows_[:m], n[lo:hi], kappa[lo:hi], prior[w], pull[w], mode, t_[:m], r_[:m],
            slope_[:m], weighted_[:m], step, trial, factor,
        )  # fmt: skip
        add_noise(factor, movable[w], rng, step, mode, x[w])


@njit(nogil=True, cache=True, error_model="numpy")
def laplace_dense(x, y, n, kappa, prior, pull, movable, rng):
    """`laplace_sparse` for all rows of a block of the whole table."""
    m, k = y.shape
    weighted, t, r, slope = np.empty((m, k)), np.empty(m), np.empty(m), np.empty(m)
    factor, mode, step, trial = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    for w in range(x.shape[0]):
        for j in range(k):
            mode[j] = x[w, j]
        climb(
            y, n[w], kappa[w], prior[w], pull[w], mode, t, r, slope, weighted, step, trial, factor
        )
        add_noise(factor, movable[w], rng, step, mode, x[w])


@njit(nogil=True, cache=True, error_model="numpy")
def curvature_dense(x, y, chunk, sum_logit, sum_slope):
    """`accumulate_curvature` over all pairs of rows of ``x`` and ``y``."""
    n_rows = x.shape[0]
    c = min(chunk, n_rows)
    buffer = np.empty((c, y.shape[0]))
    for a in range(0, n_rows, c):
        b = min(c, n_rows - a)
        np.dot(x[a : a + b], y.T, buffer[:b])
        for i in range(b):
            accumulate_curvature(buffer[i], sum_logit[a + i], sum_slope[a + i])
