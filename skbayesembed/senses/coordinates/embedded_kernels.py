"""Coordinates of the effects of ``model="edisc"``: small Cholesky factors, and words' own logits.

Rows are the vectors ``chi`` of K senses, then ``theta`` of T periods; columns are the M dimensions
of the word vectors, each with a lower triangular factor of its own: ``inverse`` (K + T, M) is one
over its diagonal, ``lower`` (K + T, K + T, M) what is below. Logits are those of all words V.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST
from .effect_kernels import effects_prior, subtract


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def factor(precision, inverse, lower):
    """The factors of ``precision`` (K + T, K + T, M), of which the lower half is read."""
    n, _, n_dims = precision.shape
    for i in range(n):
        for j in range(i + 1):
            for m in range(n_dims):
                lower[i, j, m] = precision[i, j, m]
            for h in range(j):
                for m in range(n_dims):
                    lower[i, j, m] -= lower[i, h, m] * lower[j, h, m]
            if i == j:
                for m in range(n_dims):
                    inverse[i, m] = 1.0 / np.sqrt(lower[i, i, m])
            else:
                for m in range(n_dims):
                    lower[i, j, m] *= inverse[j, m]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def vectors_of(center, inverse, lower, y, x):
    """x = center + L^-T y in every column."""
    n, n_dims = y.shape
    for i in range(n - 1, -1, -1):
        for m in range(n_dims):
            x[i, m] = y[i, m]
        for j in range(i + 1, n):
            subtract(lower[j, i], x[j], x[i])
        for m in range(n_dims):
            x[i, m] *= inverse[i, m]
    for i in range(n):
        for m in range(n_dims):
            x[i, m] += center[i, m]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def coordinates_of(center, inverse, lower, x, y):
    """y = L' (x - center): the inverse of `vectors_of`."""
    n, n_dims = x.shape
    for i in range(n):
        for m in range(n_dims):
            y[i, m] = (x[i, m] - center[i, m]) / inverse[i, m]
        for j in range(i + 1, n):
            for m in range(n_dims):
                y[i, m] += lower[j, i, m] * (x[j, m] - center[j, m])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def pull_back(inverse, lower, gradient, out):
    """out = L^-1 gradient: the gradient by y where ``gradient`` is that by x."""
    n, n_dims = gradient.shape
    for i in range(n):
        for m in range(n_dims):
            out[i, m] = gradient[i, m]
        for j in range(i):
            subtract(lower[i, j], out[j], out[i])
        for m in range(n_dims):
            out[i, m] *= inverse[i, m]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def couple(turns, logits, offset, width, y, sigma):
    """sigma_v = offset_v + width_v y_v - sum_r turns_rv logits_rv."""
    for v in range(sigma.size):
        sigma[v] = offset[v] + width[v] * y[v]
    for r in range(len(logits)):
        subtract(turns[r], logits[r], sigma)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def pull_own(precision, narrowing, sigma, gradient):
    """Log prior of words' own logits, the level of which is narrowed; its gradient is added."""
    squares = level = 0.0
    for v in range(sigma.size):
        squares += sigma[v] * sigma[v]
        level += sigma[v]
    pull = narrowing * level / sigma.size
    for v in range(sigma.size):
        gradient[v] -= precision * sigma[v] + pull
    return -0.5 * (precision * squares + pull * level)


@njit(inline="always")
def embedded_logits(frame, theta, vectors, sigma, logits):
    """Effects (K + T, M) into ``vectors``, own logits and logits (K + T, V) of coordinates.

    ``frame`` is `EmbeddedEffects.arrays`. The own logits are added to those of the senses.
    """
    center, inverse, lower, _, transposed, turns, offset, width = frame[:8]
    n = center.size
    vectors_of(center, inverse, lower, theta[:n].reshape(center.shape), vectors)
    np.dot(vectors, transposed, logits)
    couple(turns, logits, offset, width, theta[n:], sigma)


@njit(inline="always")
def pull_embedded(frame, vectors, sigma, by_logits, by_sigma, out):
    """Add the priors to the gradients, turn them into coordinates; log density of the priors.

    ``by_logits`` are gradients by the parts that come from vectors, ``by_sigma`` by the words' own;
    both are changed.
    """
    center, inverse, lower, words, _, turns, _, width, of_theta, precisions, narrowing = frame
    n, (diagonal, off) = center.size, of_theta
    value = pull_own(precisions[1], narrowing, sigma, by_sigma)
    for r in range(len(by_logits)):
        subtract(turns[r], by_sigma, by_logits[r])
    by_vectors = np.dot(by_logits, words)
    no_levels = np.zeros(len(center))
    value += effects_prior(diagonal, off, precisions[0], vectors, no_levels, by_vectors)
    pull_back(inverse, lower, by_vectors, out[:n].reshape(center.shape))
    for v in range(sigma.size):
        out[n + v] = width[v] * by_sigma[v]
    return value
