"""Kernels that read the topics of documents under known topics."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def fold_in(documents, weights, alpha, start, first, last, max_iter, tol, work, topics, spread):
    """Topics of documents ``first`` to ``last`` by collapsed variational inference, by word type.

    For word w of document d, of which it holds c tokens,

        r_wk proportional to weights_wk (alpha_k + n_dk - min(c, 1) r_wk),   n_dk = sum_w c r_wk,

    in turn for all words until no document's n changes by more than ``tol`` of its length
    (CVB0: Asuncion et al. 2009, eq. 10, with all tokens of a type together).

    Parameters
    ----------
    documents : tuple of ndarray
        ``indptr``, ``words`` and ``counts`` of rows of entries, as of `Documents`.
    weights : ndarray of shape (n_words, K)
        Likelihood of each word under the topics, up to a factor for each word.
    alpha : ndarray of shape (K,)
    start : ndarray of shape (n_documents, K)
        n that the first r are made from, in documents of more than one token.
    first, last : int
    max_iter : int
    tol : float
    work : tuple of ndarray
        Room: (most words in a document, K) for r, and (2, K).
    topics : ndarray of shape (last - first, K)
        Filled with n.
    spread : ndarray of shape (last - first, K)
        Filled with sum_w c r (1 - r), the variances of n were tokens independent.
    """
    indptr, words, counts = documents
    shares, room = work
    k_all = alpha.size
    level, before = room[0], room[1]
    for d in range(first, last):
        e = d - first
        new = spread[e]  # room, until it is filled
        here, size = indptr[d], indptr[d + 1] - indptr[d]
        length = 0.0
        for i in range(size):
            length += counts[here + i]
        # of one token the start would be the token's own topics
        alone = size <= 1 and length <= 1.0
        others = 0.0 if alone else 1.0
        for k in range(k_all):
            # the prior keeps levels above the rounding of differences
            level[k] = max(alpha[k], 1e-9)
        for i in range(size):
            c, w = counts[here + i], words[here + i]
            total = 0.0
            for k in range(k_all):
                x = weights[w, k] * (alpha[k] + others * start[d, k])
                new[k] = x
                total += x
            scale = 1.0 / total
            for k in range(k_all):
                x = scale * new[k]
                shares[i, k] = x
                level[k] += c * x
        for _ in range(0 if alone else max_iter):
            for k in range(k_all):
                before[k] = level[k]
            for i in range(size):
                c, w = counts[here + i], words[here + i]
                own = min(c, 1.0)
                total = 0.0
                for k in range(k_all):
                    x = weights[w, k] * (level[k] - own * shares[i, k])
                    new[k] = x
                    total += x
                scale = 1.0 / total
                for k in range(k_all):
                    x = scale * new[k]
                    level[k] += c * (x - shares[i, k])
                    shares[i, k] = x
            change = 0.0
            for k in range(k_all):
                change += abs(level[k] - before[k])
            if change <= tol * length:
                break
        for k in range(k_all):
            topics[e, k] = 0.0
            spread[e, k] = 0.0
        for i in range(size):
            c = counts[here + i]
            for k in range(k_all):
                topics[e, k] += c * shares[i, k]
                spread[e, k] += c * shares[i, k] * (1.0 - shares[i, k])


# Steps to a word's r given n, halved as they swing to and fro.
_OWN_STEPS = 8


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def inverse_diagonal(matrix, least, out):
    """Diagonal of the inverse of ``matrix``, of which the lower triangle is overwritten.

    The matrix is positive definite by the diagonal ``least`` (K,) that it contains.
    """
    k_all = least.size
    for j in range(k_all):
        pivot = matrix[j, j]
        for i in range(j):
            pivot -= matrix[j, i] * matrix[j, i]
        root = math.sqrt(max(pivot, least[j]))
        matrix[j, j] = root
        for a in range(j + 1, k_all):
            value = matrix[a, j]
            for i in range(j):
                value -= matrix[a, i] * matrix[j, i]
            matrix[a, j] = value / root
    column = np.empty(k_all)
    for j in range(k_all):
        out[j] = 0.0
        for a in range(j, k_all):
            value = 1.0 if a == j else 0.0
            for i in range(j, a):
                value -= matrix[a, i] * column[i]
            column[a] = value / matrix[a, a]
            out[j] += column[a] * column[a]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def couple_spread(documents, weights, alpha, first, last, topics, spread):
    """Variances of n with the covariances of tokens, which share a theta, by linear response.

    At the fixed point of `fold_in` the derivative of n by fields on the topics is

        Cov(n) = S B^-1 S - S,   S = diag(alpha + n),   B = diag(alpha) + sum_w c r r'

    (variational linear response, Opper & Winther 2004, for CVB0 without the token's own part). Not
    below the variances of independent tokens, in ``spread`` until they are overwritten, nor above
    the largest possible.
    """
    indptr, words, counts = documents
    k_all = alpha.size
    matrix, least = np.empty((k_all, k_all)), np.empty(k_all)
    r, new, inverse = np.empty(k_all), np.empty(k_all), np.empty(k_all)
    for k in range(k_all):
        least[k] = max(alpha[k], 1e-9)
    for d in range(first, last):
        n, length = topics[d - first], 0.0
        matrix[:] = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            c, row = counts[i], weights[words[i]]
            own = min(c, 1.0)
            length += c
            r[:] = 0.0
            for step in range(_OWN_STEPS):
                total = 0.0
                for k in range(k_all):
                    new[k] = row[k] * (least[k] + max(n[k] - own * r[k], 0.0))
                    total += new[k]
                part = 1.0 if step == 0 else 0.5
                for k in range(k_all):
                    r[k] += part * (new[k] / total - r[k])
            for a in range(k_all):
                x = c * r[a]
                for b in range(a + 1):
                    matrix[a, b] += x * r[b]
        for k in range(k_all):
            matrix[k, k] += least[k]
        inverse_diagonal(matrix, least, inverse)
        for k in range(k_all):
            s = least[k] + n[k]
            value = s * (s * inverse[k] - 1.0)
            most = n[k] * max(length - n[k], 0.0)
            spread[d - first, k] = max(min(value, most), spread[d - first, k])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def mixture_probabilities(indptr, words, theta, proba, first, last, out):
    """out_i = sum_k theta_dk proba_wk for every entry i = (d, w) of documents first to last."""
    k_all = theta.shape[1]
    for d in range(first, last):
        for i in range(indptr[d], indptr[d + 1]):
            row = proba[words[i]]
            total = 0.0
            for k in range(k_all):
                total += theta[d, k] * row[k]
            out[i] = total
