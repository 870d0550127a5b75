"""Kernels that read the topics of documents under known topics."""

from __future__ import annotations

from numba import njit

from ..elementwise import FAST


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def fold_in(
    indptr,
    words,
    counts,
    weights,
    alpha,
    start,
    first,
    last,
    max_iter,
    tol,
    shares,
    room,
    topics,
    spread,
):
    """Topics of documents ``first`` to ``last`` by collapsed variational inference, by word type.

    For word w of document d, of which it holds c tokens,

        r_wk proportional to weights_wk (alpha_k + n_dk - min(c, 1) r_wk),   n_dk = sum_w c r_wk,

    in turn for all words until no document's n changes by more than ``tol`` of its length
    (CVB0: Asuncion et al. 2009, eq. 10, with all tokens of a type together).

    Parameters
    ----------
    indptr, words, counts : ndarray
        Documents in rows.
    weights : ndarray of shape (n_words, K)
        Likelihood of each word under the topics, up to a factor for each word.
    alpha : ndarray of shape (K,)
    start : ndarray of shape (n_documents, K)
        n that the first r are made from.
    first, last : int
    max_iter : int
    tol : float
    shares : ndarray of shape (most words in a document, K)
        Room for r.
    room : ndarray of shape (3, K)
    topics : ndarray of shape (last - first, K)
        Filled with n.
    spread : ndarray of shape (last - first, K)
        Filled with sum_w c r (1 - r), the variances of n.
    """
    k_all = alpha.size
    level, before, new = room[0], room[1], room[2]
    for d in range(first, last):
        e = d - first
        here, size = indptr[d], indptr[d + 1] - indptr[d]
        length = 0.0
        for k in range(k_all):
            # the prior keeps levels above the rounding of differences
            level[k] = max(alpha[k], 1e-9)
            topics[e, k] = 0.0
            spread[e, k] = 0.0
        for i in range(size):
            c, w = counts[here + i], words[here + i]
            length += c
            total = 0.0
            for k in range(k_all):
                x = weights[w, k] * (alpha[k] + start[d, k])
                new[k] = x
                total += x
            scale = 1.0 / total
            for k in range(k_all):
                x = scale * new[k]
                shares[i, k] = x
                level[k] += c * x
        for _ in range(max_iter if length > 1.0 else 0):
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
        for i in range(size):
            c = counts[here + i]
            for k in range(k_all):
                topics[e, k] += c * shares[i, k]
                spread[e, k] += c * shares[i, k] * (1.0 - shares[i, k])


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
