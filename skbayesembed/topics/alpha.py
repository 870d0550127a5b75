"""Empirical-Bayes estimates of the Dirichlet prior of documents over topics."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# A topic in no document keeps this, so that it can come back; and no estimate runs off to infinity.
LEAST_ALPHA, LARGEST_ALPHA = 1e-4, 1e4


@njit(nogil=True, cache=True, error_model="numpy")
def digamma_difference(n, a):
    """Digamma(a + n) - digamma(a) for n >= 0, a > 0: by recurrence, and asymptotically above 8."""
    if n == 0.0:
        return 0.0
    return _digamma(a + n) - _digamma(a)


@njit(nogil=True, cache=True, error_model="numpy")
def _digamma(x):
    value = 0.0
    while x < 8.0:
        value -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    series = 691.0 / 32760.0
    series = 1.0 / 132.0 - s * series
    series = 1.0 / 240.0 - s * series
    series = 1.0 / 252.0 - s * series
    series = 1.0 / 120.0 - s * series
    series = 1.0 / 12.0 - s * series
    return value + math.log(x) - 0.5 / x - s * series


@njit(nogil=True, cache=True, error_model="numpy")
def minka_step(counts, alpha, symmetric, out):
    """One fixed-point step from ``alpha`` (K,) to ``out``, for counts (M, K) of documents.

    alpha_k' = alpha_k sum_d [psi(n_dk + alpha_k) - psi(alpha_k)] / sum_d [psi(n_d + A) - psi(A)],
    A = sum alpha; the symmetric one sums the numerator over k and divides by K. Empty documents
    have no part in it.
    """
    n_documents, k_all = counts.shape
    total = 0.0
    for k in range(k_all):
        total += alpha[k]
        out[k] = 0.0
    below = 0.0
    for d in range(n_documents):
        length = 0.0
        for k in range(k_all):
            if counts[d, k] > 0:
                length += counts[d, k]
                out[k] += digamma_difference(counts[d, k], alpha[k])
        below += digamma_difference(length, total)
    if symmetric:
        above = 0.0
        for k in range(k_all):
            above += out[k]
        for k in range(k_all):
            out[k] = above / k_all
    for k in range(k_all):
        value = alpha[k] * out[k] / below if below > 0.0 else alpha[k]
        out[k] = min(max(value, LEAST_ALPHA), LARGEST_ALPHA)


def learn_alpha(counts, alpha, *, symmetric=False, max_iter=1000, tol=1e-6):
    """Maximum-likelihood Dirichlet parameters of Dirichlet-multinomial counts.

    Parameters
    ----------
    counts : ndarray of shape (n_documents, K)
        Tokens of each document in each topic, fractional ones allowed.
    alpha : ndarray of shape (K,)
        The start, above 0; not changed.
    symmetric : bool, default=False
        One number for all topics.
    max_iter : int, default=1000
    tol : float, default=1e-6
        Ends when no entry changes by more than this share of itself.

    Returns
    -------
    ndarray of shape (K,)
        Within [1e-4, 1e4]; ``alpha`` where all documents are empty.

    Notes
    -----
    Minka (2000), "Estimating a Dirichlet distribution", eq. 55. Every step raises the likelihood.
    """
    alpha = np.array(alpha, dtype=np.float64)
    if symmetric:
        alpha[:] = alpha.mean()
    step = np.empty_like(alpha)
    for _ in range(max_iter):
        minka_step(counts, alpha, symmetric, step)
        change = np.max(np.abs(step - alpha) / alpha)
        alpha, step = step, alpha
        if change < tol:
            break
    return alpha
