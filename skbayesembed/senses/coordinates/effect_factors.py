"""Cholesky factors of main effects, and logits to coordinates, all words at a time.

Both are asked for a few times in a fit, so that numba would take longer to compile them than NumPy
takes to run them. The factors are described in `effect_kernels`.
"""

from __future__ import annotations

import numpy as np


def factor(diagonal, off, precision, information):
    """The factors of [P + diag(sum_k n), n'; n, precision + diag(sum_t n)], n (T, K, V).

    Returns
    -------
    inverse : ndarray of shape (K + T, V)
    below : ndarray of shape (T, V)
    cross : ndarray of shape (K, T, V)
    lower : ndarray of shape (K, K, V)
    """
    n_periods, n_senses, n_words = information.shape
    inverse = np.empty((n_senses + n_periods, n_words))
    below = np.zeros((n_periods, n_words))
    cross = np.empty((n_senses, n_periods, n_words))
    lower = np.zeros((n_senses, n_senses, n_words))
    for t in range(n_periods):
        pivot, row = diagonal[t] + information[t].sum(axis=0), information[t]
        if t > 0:
            pivot = pivot - below[t - 1] ** 2
            row = row - cross[:, t - 1] * below[t - 1]
        inverse[n_senses + t] = 1.0 / np.sqrt(pivot)
        cross[:, t] = row * inverse[n_senses + t]
        if t < n_periods - 1:
            below[t] = off[t] * inverse[n_senses + t]
    own = precision + information.sum(axis=0)
    for k in range(n_senses):
        for j in range(k):
            shared = _products(cross[k], cross[j]) + _products(lower[k, :j], lower[j, :j])
            lower[k, j] = -shared * inverse[j]
        explained = _products(cross[k], cross[k]) + _products(lower[k, :k], lower[k, :k])
        inverse[k] = 1.0 / np.sqrt(own[k] - explained)
    return inverse, below, cross, lower


def _products(a, b):
    return np.einsum("iv,iv->v", a, b)


def coordinates_of(shift, inverse, below, cross, lower, x):
    """y = L' x - shift, (K + T, V): the inverse of `effect_kernels.logits_of`."""
    chi, theta = np.split(x, [len(cross)])
    y = x / inverse - shift
    of_chi, of_theta = np.split(y, [len(cross)])
    of_chi += np.einsum("jkv,jv->kv", lower, chi)
    of_theta += np.einsum("ktv,kv->tv", cross, chi)
    of_theta[:-1] += below[:-1] * theta[1:]
    return y
