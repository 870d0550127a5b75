"""Kernels of the collapsed samplers: topics as NIW posteriors that tokens leave and join.

A topic of n tokens has kappa = kappa0 + tau n, nu = nu0 + tau n, a mean m and Psi = L L', of which
the inverse factor W = L^-1 is carried along. A vector v has d = v - m, p = W d and q = |p|^2. It
joins by Psi + c d d', c = tau kappa / (kappa + tau), and leaves by Psi - c d d', c = tau kappa /
(kappa - tau): rank-one updates and downdates of the factor. The log predictive to the power tau is

    level(n) - tau/2 log |Psi| - (nu + tau)/2 log(1 + c q).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST, exp_negative

# A leaving token that makes the determinant smaller by more than this is lost to rounding.
SMALLEST_FACTOR = 1e-10


class TopicPrior(NamedTuple):
    """What all topics have in common.

    Attributes
    ----------
    power : float
        tau.
    kappa, nu : float
        Of a topic without tokens.
    levels : ndarray of shape (n_tokens + 1,)
        Constants of the log predictive by size of topic, NaN where not computed yet.
    """

    power: float
    kappa: float
    nu: float
    levels: np.ndarray


class Topics(NamedTuple):
    """The topics of the current assignments, which follow every token that moves.

    Attributes
    ----------
    sizes : ndarray of shape (K,), int64
    means : ndarray of shape (K, E)
    whiteners : ndarray of shape (K, E, E)
        W, lower triangular.
    log_determinants : ndarray of shape (K,)
        log |Psi|.
    """

    sizes: np.ndarray
    means: np.ndarray
    whiteners: np.ndarray
    log_determinants: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def level_of(n, prior, n_dims):
    """`priors.predictive_level` of a topic of n tokens, kept in ``prior.levels``."""
    power, kappa0, nu0, levels = prior
    known = levels[n]
    if known == known:  # not NaN
        return known
    kappa, nu = kappa0 + power * n, nu0 + power * n
    ratio = 0.0
    if power == 1.0:
        ratio = math.lgamma(0.5 * (nu + 1.0)) - math.lgamma(0.5 * (nu + 1.0 - n_dims))
    else:
        for i in range(n_dims):
            ratio += math.lgamma(0.5 * (nu + power - i)) - math.lgamma(0.5 * (nu - i))
    value = 0.5 * n_dims * (math.log(kappa / (kappa + power)) - power * math.log(math.pi)) + ratio
    levels[n] = value
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def whitened(vector, mean, whitener, d, p):
    """p = W (v - m) and d = v - m; returns |p|^2. Four rows at a time, none waits for another."""
    e = mean.size
    for j in range(e):
        d[j] = vector[j] - mean[j]
    total = 0.0
    i = 0
    while i + 4 <= e:
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        r0, r1, r2, r3 = whitener[i], whitener[i + 1], whitener[i + 2], whitener[i + 3]
        for j in range(i + 4):
            s0 += r0[j] * d[j]
            s1 += r1[j] * d[j]
            s2 += r2[j] * d[j]
            s3 += r3[j] * d[j]
        p[i], p[i + 1], p[i + 2], p[i + 3] = s0, s1, s2, s3
        total += s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3
        i += 4
    while i < e:
        s0 = 0.0
        row = whitener[i]
        for j in range(i + 1):
            s0 += row[j] * d[j]
        p[i] = s0
        total += s0 * s0
        i += 1
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def rank_one(whitener, p, c, spare):
    """Inverse Cholesky factor of L (I + c p p') L' in place of W = L^-1.

    I + c p p' = M M' with M_jj^2 = t_j / t_{j-1}, M_ij = c p_i p_j / sqrt(t_j t_{j-1}) below the
    diagonal and t_j = 1 + c (p_1^2 + ... + p_j^2); the rows of M^-1 W follow one by one. ``spare``
    (E,) is overwritten.
    """
    e = p.size
    for i in range(e):
        spare[i] = 0.0
    before = 1.0
    for j in range(e):
        after = before + c * p[j] * p[j]
        root = math.sqrt(before / after)
        pull = p[j]
        gain = c * p[j] / math.sqrt(before * after)
        row = whitener[j]
        for i in range(j + 1):
            value = (row[i] - pull * spare[i]) * root
            row[i] = value
            spare[i] += gain * value
        before = after


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def change(k, sign, prior, topics, d, p, q, spare):
    """Let a token with these ``d``, ``p`` and ``q`` join topic k, or leave it if ``sign`` is -1."""
    power, kappa0, _, _ = prior
    sizes, means, whiteners, log_determinants = topics
    kappa = kappa0 + power * sizes[k]
    weight = sign * power / (kappa + sign * power)
    for j in range(d.size):
        means[k, j] += weight * d[j]
    c = sign * power * kappa / (kappa + sign * power)
    rank_one(whiteners[k], p, c, spare)
    log_determinants[k] += math.log1p(c * q)
    sizes[k] += sign


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def factor_without(power, kappa, q):
    """|Psi without the token| / |Psi|; not above SMALLEST_FACTOR where it is lost to rounding."""
    return 1.0 - power * kappa / (kappa - power) * q


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_predictive_of(n, prior, log_determinant, q, n_dims):
    """Log predictive of a token that is not in the topic."""
    power, kappa0, nu0, _ = prior
    kappa, nu = kappa0 + power * n, nu0 + power * n
    level = level_of(n, prior, n_dims)
    c = power * kappa / (kappa + power)
    return level - 0.5 * power * log_determinant - 0.5 * (nu + power) * math.log1p(c * q)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_predictive_own(n, prior, log_determinant, factor, n_dims):
    """Log predictive of one of the topic's n tokens given the others, by its `factor_without`."""
    power, _, nu0, _ = prior
    level = level_of(n - 1, prior, n_dims)
    rest = nu0 + power * (n - 1)
    return level - 0.5 * power * log_determinant + 0.5 * rest * math.log(factor)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_from_logs(weight, value, rng):
    """A topic with probability weight exp(value) / sum; ``value`` is overwritten."""
    top = value[0]
    for k in range(1, value.size):
        top = max(top, value[k])
    total = 0.0
    for k in range(value.size):
        value[k] = weight[k] * exp_negative(value[k] - top)
        total += value[k]
    u = rng.random() * total
    last = 0
    for k in range(value.size):
        if value[k] > 0.0:
            last = k
            u -= value[k]
            if u < 0.0:
                break
    return last


@njit(nogil=True, cache=True, error_model="numpy")
def draw_collapsed(documents, entries, vectors, prior, topics, alpha, rng, z):
    """Draw each token's topic from its full conditional.

    Returns how many of the ``documents`` were done before a factor would have been lost, and how
    many tokens moved.
    """
    indptr, words, counts, ends = entries
    power, kappa0, _, _ = prior
    sizes, means, whiteners, log_determinants = topics
    k_all, e = means.shape
    weight, value, q = np.empty(k_all), np.empty(k_all), np.empty(k_all)
    d_all, p_all = np.empty((k_all, e)), np.empty((k_all, e))
    spare = np.empty(e)
    moved = 0
    for done in range(documents.size):
        doc = documents[done]
        weight[:] = alpha
        for t in range(ends[doc], ends[doc + 1]):
            weight[z[t]] += 1.0
        t = ends[doc]
        for i in range(indptr[doc], indptr[doc + 1]):
            v = vectors[words[i]]
            for _ in range(counts[i]):
                old = z[t]
                for k in range(k_all):
                    q[k] = whitened(v, means[k], whiteners[k], d_all[k], p_all[k])
                    value[k] = log_predictive_of(sizes[k], prior, log_determinants[k], q[k], e)
                n = sizes[old]
                factor = factor_without(power, kappa0 + power * n, q[old])
                if not factor > SMALLEST_FACTOR:
                    return done, moved
                value[old] = log_predictive_own(n, prior, log_determinants[old], factor, e)
                weight[old] -= 1.0
                new = draw_from_logs(weight, value, rng)
                weight[new] += 1.0
                if new != old:
                    change(old, -1, prior, topics, d_all[old], p_all[old], q[old], spare)
                    change(new, 1, prior, topics, d_all[new], p_all[new], q[new], spare)
                    z[t] = new
                    moved += 1
                t += 1
    return documents.size, moved
