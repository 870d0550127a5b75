"""Variational kernels of Gaussian topics: documents, words, and the features of word vectors.

K topics, V word types, M documents. The expected log densities of the words enter as ``weights``
(V, K): exp(tau E[log N(v_w | mu_k, Sigma_k)]) over its largest entry in each row. With
e_dk = exp(E[log theta_dk]) over its largest entry, a token of w in document d is of topic k with
probability

    phi_dwk = weights_wk e_dk / s_dw,    s_dw = sum_k weights_wk e_dk,

(Ozaki & Kobayashi 2022, eq. 7), without an exponential for every token.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...numeric.elementwise import FAST, digamma, exp_negative, log_gamma, log_positive

# Differences of E[log theta] beyond this are cut, so that s_dw is never near the smallest number:
# it takes a prior below 1/600 and words that differ by as many nats between topics.
_FLOOR = -600.0
# Tokens of one word in one document above which their topics are drawn together.
MANY = 100.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def features(vectors, out):
    """out_w = (products v_i v_j of i >= j, row by row; v; 1) of each vector."""
    n, n_dims = vectors.shape
    for w in range(n):
        row, v = out[w], vectors[w]
        at = 0
        for i in range(n_dims):
            c = v[i]
            for j in range(i + 1):
                row[at + j] = c * v[j]
            at += i + 1
        for i in range(n_dims):
            row[at + i] = v[i]
        row[at + n_dims] = 1.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def log_theta(gamma, log_e, e):
    """``log_e`` = digamma(gamma) less its largest entry, ``e`` its exponential."""
    n_topics = gamma.size
    for k in range(n_topics):
        log_e[k] = digamma(gamma[k])
    largest = log_e[0]
    for k in range(1, n_topics):
        largest = max(largest, log_e[k])
    for k in range(n_topics):
        log_e[k] = max(log_e[k] - largest, _FLOOR)
        e[k] = exp_negative(log_e[k])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def document_step(words, counts, weights, e, sums, mass):
    """s_w of a document into ``sums``, and ``mass`` = sum_w n_w weights_w / s_w."""
    n_topics = e.size
    for k in range(n_topics):
        mass[k] = 0.0
    for i in range(words.size):
        row = weights[words[i]]
        s = 0.0
        for k in range(n_topics):
            s += row[k] * e[k]
        sums[i] = s
        r = counts[i] / s
        for k in range(n_topics):
            mass[k] += r * row[k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def local_steps(
    first, last, indptr, words, counts, weights, alpha, gamma, e, ratios, values, most, tol
):
    """Coordinate ascent in q(z) and q(theta) of documents ``first`` to ``last``.

    Steps phi (`document_step`) and gamma_d = alpha + sum_w n_dw phi_dw in turn, at most ``most``,
    until gamma changes by less than ``tol`` on average over topics. Left behind: ``gamma``
    (M, K), the ``e`` (M, K) and ``ratios`` n_dw / s_dw (nnz,) of the last phi, and ``values``
    (M,), the documents' parts of the bound without the largest log densities of their words:

        sum_w n_dw log s_dw - sum_k (gamma_dk - alpha_k) log e_dk
        + log B(gamma_d) - log B(alpha),    B the multivariate beta function.
    """
    n_topics = alpha.size
    log_e, mass = np.empty(n_topics), np.empty(n_topics)
    total_alpha, log_beta = 0.0, 0.0
    for k in range(n_topics):
        total_alpha += alpha[k]
        log_beta += log_gamma(alpha[k])
    log_beta -= log_gamma(total_alpha)
    for d in range(first, last):
        a, b = indptr[d], indptr[d + 1]
        if a == b:
            values[d] = 0.0
            for k in range(n_topics):
                gamma[d, k] = alpha[k]
                e[d, k] = 0.0
            continue
        row = gamma[d]
        for _ in range(most):
            log_theta(row, log_e, e[d])
            document_step(words[a:b], counts[a:b], weights, e[d], ratios[a:b], mass)
            change = 0.0
            for k in range(n_topics):
                new = alpha[k] + e[d, k] * mass[k]
                change += abs(new - row[k])
                row[k] = new
            if change < tol * n_topics:
                break
        value, length = -log_beta, 0.0
        for i in range(a, b):
            value += counts[i] * log_positive(ratios[i])
            length += counts[i]
            ratios[i] = counts[i] / ratios[i]
        for k in range(n_topics):
            value += log_gamma(row[k]) - (row[k] - alpha[k]) * log_e[k]
        values[d] = value - log_gamma(total_alpha + length)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def word_counts(first, last, starts, documents, entries, ratios, e, weights, out):
    """out_wk = sum_d n_dw phi_dwk of words ``first`` to ``last``.

    The documents of word w are ``documents[starts[w]:starts[w + 1]]``, and ``entries`` their
    places in ``ratios``.
    """
    n_topics = out.shape[1]
    for w in range(first, last):
        row = out[w]
        for k in range(n_topics):
            row[k] = 0.0
        for i in range(starts[w], starts[w + 1]):
            r, of_document = ratios[entries[i]], e[documents[i]]
            for k in range(n_topics):
                row[k] += r * of_document[k]
        for k in range(n_topics):
            row[k] *= weights[w, k]


@njit(nogil=True, cache=True, error_model="numpy")
def draw_counts(starts, documents, amounts, e, weights, rng, out):
    """A draw of the tokens of each word (V,) in each topic, ``out`` (V, K), under q(z).

    Few tokens of a word in a document are drawn one by one, many as a multinomial: topic k, from
    the last on, gets a binomial of those that no later topic has.
    """
    n_words, n_topics = out.shape
    cumulative = np.empty(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            out[w, k] = 0.0
        for i in range(starts[w], starts[w + 1]):
            d = documents[i]
            total = 0.0
            for k in range(n_topics):
                total += weights[w, k] * e[d, k]
                cumulative[k] = total
            left = amounts[i]
            if left > MANY:
                whole = np.int64(left)
                left -= whole
                for k in range(n_topics - 1, 0, -1):
                    share = weights[w, k] * e[d, k]
                    if whole > 0 and share > 0.0:
                        n = rng.binomial(whole, min(share / cumulative[k], 1.0))
                        out[w, k] += n
                        whole -= n
                out[w, 0] += whole
            while left > 0.0:
                u, k = rng.random() * total, 0
                while k < n_topics - 1 and cumulative[k] <= u:
                    k += 1
                # the last share of a count that is no whole number goes as one
                out[w, k] += min(left, 1.0)
                left -= 1.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_log_theta(first, last, indptr, gamma, out):
    """out (K,) = sum over documents ``first`` to ``last`` of E[log theta_d] under Dir(gamma_d).

    Empty ones have no part in it.
    """
    n_topics = gamma.shape[1]
    for k in range(n_topics):
        out[k] = 0.0
    for d in range(first, last):
        if indptr[d] == indptr[d + 1]:
            continue
        total = 0.0
        for k in range(n_topics):
            total += gamma[d, k]
        of_total = digamma(total)
        for k in range(n_topics):
            out[k] += digamma(gamma[d, k]) - of_total
