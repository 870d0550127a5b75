"""Kernels of the Metropolis moves of word logits given the senses.

Polya-Gamma variables of a rare word in a row of h observations have means near h / (2 z), z being
the distance of its logit from the log-sum of the others, while the information of the row on the
logit is only h p (1 - p): draws given them move by small steps. Here all logits of a word are
proposed at once from the Gaussian that a Newton step from their current values suggests (Gamerman
1997, *Sampling from the posterior distribution in generalized linear mixed models*), and accepted
with the Metropolis-Hastings probability. Tables are those of `table_kernels`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..table_kernels import others, put
from .kernels import draw_word, factor_word


@njit(nogil=True, cache=True, error_model="numpy")
def half_noise(cross, linear, own_linear, factor, below, schur, theta, chi):
    """Half the square of the noise by which `draw_word` would have drawn ``theta`` and ``chi``."""
    n, n_senses = factor.size, own_linear.size
    square = 0.0
    for k in range(n_senses):
        value = schur[k, k] * chi[k] - own_linear[k]
        for j in range(k + 1, n_senses):
            value += schur[j, k] * chi[j]
        square += value * value
    for t in range(n):
        value = factor[t] * theta[t] - linear[t]
        for k in range(n_senses):
            value += cross[k, t] * chi[k]
        if t < n - 1:
            value += below[t] * theta[t + 1]
        square += value * value
    return 0.5 * square


@njit(nogil=True, cache=True, error_model="numpy")
def half_form(diagonal, off, own_precision, theta, chi):
    """theta' P theta / 2 + own_precision |chi|^2 / 2."""
    value = 0.0
    for t in range(theta.size):
        row = diagonal[t] * theta[t]
        if t > 0:
            row += 2.0 * off[t - 1] * theta[t - 1]
        value += row * theta[t]
    for k in range(chi.size):
        value += own_precision * chi[k] * chi[k]
    return 0.5 * value


@njit(nogil=True, cache=True, error_model="numpy")
def newton_terms(
    x, weight, rest, counts, sizes, diagonal, own_precision, shared, precision, own, cross, linear,
    own_linear,
):  # fmt: skip
    """Precision and linear term of the Newton step of one word from logits ``x`` (R, T).

    Rows r and periods t have the sum ``rest`` of the others' weights beside the word's ``weight``,
    ``counts`` of the word among ``sizes``. Where ``shared``, x = chi_r + theta_t; else R = 1 and x
    = theta. Returns the log likelihood up to a constant.
    """
    n_rows, n_periods = x.shape
    for t in range(n_periods):
        precision[t] = diagonal[t]
        linear[t] = 0.0
    for r in range(own.size):
        own[r] = own_precision
        own_linear[r] = 0.0
    value = 0.0
    for r in range(n_rows):
        for t in range(n_periods):
            if shared:
                cross[r, t] = 0.0
            h = sizes[r, t]
            if h == 0.0:
                continue
            total = rest[r, t] + weight[r, t]
            p = weight[r, t] / total
            information = h * p * (1.0 - p)
            pull = counts[r, t] - h * p + information * x[r, t]
            precision[t] += information
            linear[t] += pull
            if shared:
                cross[r, t] = information
                own[r] += information
                own_linear[r] += pull
            value += counts[r, t] * x[r, t] - h * math.log(total)
    return value


@njit(nogil=True, cache=True, error_model="numpy")
def move_words(chi, theta, table, counts, sizes, own_precision, diagonal, off, shared, rng):
    """One Metropolis-Hastings move of every word; returns how many were accepted.

    Where ``shared``, the logits ``x`` (K, T, V) of the table are chi[k] + theta[t], and the K + T
    effects of a word move together. Else ``chi`` is empty and the path x[k, :, v] of each sense and
    word moves by itself, ``theta`` being anything.
    """
    x, top = table.x, table.top
    n_senses, n_periods, n_words = x.shape
    if n_words == 1:
        return 0
    blocks = 1 if shared else n_senses
    rows = n_senses // blocks
    n_own = rows if shared else 0
    shape = (rows, n_periods)
    old_x, new_x = np.empty(shape), np.empty(shape)
    old_weight, new_weight = np.empty(shape), np.empty(shape)
    rest, n, h = np.ones(shape), np.empty(shape), np.empty(shape)
    precision, linear = np.empty(n_periods), np.empty(n_periods)
    factor, below = np.empty(n_periods), np.empty(n_periods)
    own, own_linear, cross = np.empty(n_own), np.empty(n_own), np.empty((n_own, n_periods))
    schur = np.empty((n_own, n_own))
    old_theta, new_theta = np.empty(n_periods), np.empty(n_periods)
    old_chi, new_chi = np.empty(n_own), np.empty(n_own)
    accepted = 0
    for block in range(blocks):
        for v in range(n_words):
            for r in range(rows):
                k = block + r
                if shared:
                    old_chi[r] = chi[k, v]
                for t in range(n_periods):
                    h[r, t] = sizes[k, t]
                    n[r, t] = counts[k, t, v]
                    old_x[r, t] = x[k, t, v]
                    if h[r, t] > 0.0:
                        rest[r, t] = others(table, k, t, v)
                        old_weight[r, t] = math.exp(old_x[r, t] - top[k, t])
            for t in range(n_periods):
                old_theta[t] = theta[t, v] if shared else old_x[0, t]
            value = newton_terms(
                old_x, old_weight, rest, n, h, diagonal, own_precision, shared, precision, own,
                cross, linear, own_linear,
            )  # fmt: skip
            value = -value + half_form(diagonal, off, own_precision, old_theta, old_chi)
            value -= factor_word(
                precision, off, own, cross, linear, own_linear, factor, below, schur
            )
            value += draw_word(
                cross, linear, own_linear, factor, below, schur, rng, new_theta, new_chi
            )
            for r in range(rows):
                for t in range(n_periods):
                    new_x[r, t] = new_theta[t] + (new_chi[r] if shared else 0.0)
                    if h[r, t] > 0.0:
                        new_weight[r, t] = math.exp(new_x[r, t] - top[block + r, t])
            value += newton_terms(
                new_x, new_weight, rest, n, h, diagonal, own_precision, shared, precision, own,
                cross, linear, own_linear,
            )  # fmt: skip
            value -= half_form(diagonal, off, own_precision, new_theta, new_chi)
            value += factor_word(
                precision, off, own, cross, linear, own_linear, factor, below, schur
            )
            value -= half_noise(cross, linear, own_linear, factor, below, schur, old_theta, old_chi)
            # false for not-a-number, which infinite weights give
            move = value > -rng.standard_exponential()
            if move:
                accepted += 1
                if shared:
                    theta[:, v] = new_theta
                    chi[:, v] = new_chi
            for r in range(rows):
                for t in range(n_periods):
                    new = new_x[r, t] if move else old_x[r, t]
                    if h[r, t] > 0.0:
                        put(table, block + r, t, v, rest[r, t], new)
                    else:
                        x[block + r, t, v] = new
    return accepted
