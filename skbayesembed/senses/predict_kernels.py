"""Kernels that read snippets and words off one draw of the posterior.

Names as in `kernels`: K senses, T periods, V words, D snippets; C contexts, which are what is known
of a snippet's period and genre.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def joint_known(of_sense, common, lengths, log_sum, log_prior, contexts, periods, out):
    """out_kd = of_sense_kd + common_d - lengths_d log_sum_kt + log_prior_ck.

    The logarithm of eq. 9's terms, where t and c are the period and the context of snippet d.
    """
    n_senses, n = out.shape
    for k in range(n_senses):
        for d in range(n):
            level = common[d] - lengths[d] * log_sum[k, periods[d]]
            out[k, d] = of_sense[k, d] + level + log_prior[contexts[d], k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def joint_mixed(of_sense, common, lengths, log_sum, log_prior, contexts, out, top):
    """out_kd = log sum_t exp(of_sense_rd + common_td - lengths_d log_sum_kt + log_prior_ctk).

    ``of_sense`` has one row for each sense, or row ``t K + k`` for each period and sense. ``top``
    (D,) is room to work in.
    """
    n_senses, n = out.shape
    n_periods = common.shape[0]
    by_period = of_sense.shape[0] > n_senses
    for k in range(n_senses):
        for d in range(n):
            top[d] = -np.inf
            out[k, d] = 0.0
        for t in range(n_periods):
            row = t * n_senses + k if by_period else k
            for d in range(n):
                level = common[t, d] - lengths[d] * log_sum[k, t]
                x = of_sense[row, d] + level + log_prior[contexts[d], t, k]
                top[d] = max(top[d], x)
        for t in range(n_periods):
            row = t * n_senses + k if by_period else k
            for d in range(n):
                level = common[t, d] - lengths[d] * log_sum[k, t]
                x = of_sense[row, d] + level + log_prior[contexts[d], t, k]
                out[k, d] += exp_negative(x - top[d])
        for d in range(n):
            out[k, d] = top[d] + math.log(out[k, d])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def normalise(a, density, total):
    """Turn log joints ``a`` (K, D) into probabilities of senses; density_d = log sum_k exp(a_kd).

    ``total`` (D,) is room to work in.
    """
    n_senses, n = a.shape
    for d in range(n):
        density[d] = a[0, d]
        total[d] = 0.0
    for k in range(1, n_senses):
        for d in range(n):
            density[d] = max(density[d], a[k, d])
    for k in range(n_senses):
        for d in range(n):
            a[k, d] = exp_negative(a[k, d] - density[d])
            total[d] += a[k, d]
    for d in range(n):
        density[d] += math.log(total[d])
        total[d] = 1.0 / total[d]
    for k in range(n_senses):
        for d in range(n):
            a[k, d] *= total[d]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def add_word_proba(exp_chi, exp_theta, sums, out):
    """Add exp_chi_kv exp_theta_tv / sums_kt, a probability of a word, to out (K, T, V)."""
    n_senses, n_periods, n_words = out.shape
    for k in range(n_senses):
        for t in range(n_periods):
            scale = 1.0 / sums[k, t]
            for v in range(n_words):
                out[k, t, v] += scale * exp_chi[k, v] * exp_theta[t, v]
