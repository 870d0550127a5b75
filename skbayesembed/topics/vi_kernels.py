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

from ..elementwise import FAST, exp_negative

# Differences of E[log theta] beyond this are cut, so that s_dw is never near the smallest number:
# it takes a prior below 1/600 and words that differ by as many nats between topics.
_FLOOR = -600.0

_MANTISSA, _ONE = 0x000FFFFFFFFFFFFF, 0x3FF0000000000000
_TWO_52, _TWO_52_BITS = 4503599627370496.0, 0x4330000000000000


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log_positive(x):
    """log(x) for normal x > 0, in a form the compiler turns into vector code (error below 1e-15).

    x = 2^n m with m in [2/3, 4/3), log m = 2 artanh((m - 1) / (m + 1)).
    """
    bits = np.float64(x).view(np.int64)
    # n + 1023 moves into the last bits of 2^52, from where it is a number
    n = np.int64((bits >> np.int64(52)) | np.int64(_TWO_52_BITS)).view(np.float64) - _TWO_52
    m = np.int64((bits & np.int64(_MANTISSA)) | np.int64(_ONE)).view(np.float64)
    large = m > 4.0 / 3.0
    m = m * (0.5 if large else 1.0)
    n = n - (1022.0 if large else 1023.0)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = 1.0 / 23.0
    p = p * q + 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return n * 0.6931471805599453 + (2.0 * s + 2.0 * s * q * p)


@njit(inline="always", fastmath=FAST, error_model="numpy")
def shift_by_eight(x):
    """Product and sum of reciprocals of x, x + 1, ..., x + 7."""
    t = x * (x + 7.0)
    a, b = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    slope = (2.0 * t + 6.0) * b + a * (2.0 * t + 22.0)
    product = a * b
    return product, (2.0 * x + 7.0) * slope / product


@njit(inline="always", fastmath=FAST, error_model="numpy")
def digamma(x):
    """Derivative of log Gamma for x > 0: recurrence to x + 8, then Stirling's series."""
    _, reciprocals = shift_by_eight(x)
    y = x + 8.0
    u = 1.0 / y
    q = u * u
    p = -1.0 / 12.0
    p = p * q + 691.0 / 32760.0
    p = p * q - 1.0 / 132.0
    p = p * q + 1.0 / 240.0
    p = p * q - 1.0 / 252.0
    p = p * q + 1.0 / 120.0
    p = p * q - 1.0 / 12.0
    return log_positive(y) - 0.5 * u + p * q - reciprocals


@njit(inline="always", fastmath=FAST, error_model="numpy")
def log_gamma(x):
    """log Gamma(x) for 0 < x < 1e30, as in `digamma`."""
    product, _ = shift_by_eight(x)
    y = x + 8.0
    u = 1.0 / y
    q = u * u
    p = 1.0 / 156.0
    p = p * q - 691.0 / 360360.0
    p = p * q + 1.0 / 1188.0
    p = p * q - 1.0 / 1680.0
    p = p * q + 1.0 / 1260.0
    p = p * q - 1.0 / 360.0
    p = p * q + 1.0 / 12.0
    half_log_2pi = 0.9189385332046727
    return (y - 0.5) * log_positive(y) - y + half_log_2pi + p * u - log_positive(product)


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
def table_weights(table, power, weights, top):
    """weights = exp(power (table - largest entry of the row)); ``top`` (V,) power times that."""
    n, n_topics = table.shape
    for w in range(n):
        largest = table[w, 0]
        for k in range(1, n_topics):
            largest = max(largest, table[w, k])
        top[w] = power * largest
        for k in range(n_topics):
            weights[w, k] = exp_negative(power * (table[w, k] - largest))


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


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
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
    """A draw of the tokens of each word (V,) in each topic, ``out`` (V, K), under q(z)."""
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
            while left > 0.0:
                u, k = rng.random() * total, 0
                while k < n_topics - 1 and cumulative[k] <= u:
                    k += 1
                # the last share of a count that is no whole number goes as one
                out[w, k] += min(left, 1.0)
                left -= 1.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_log_theta(first, last, gamma, out):
    """out (K,) = sum over documents ``first`` to ``last`` of E[log theta_d] under Dir(gamma_d)."""
    n_topics = gamma.shape[1]
    for k in range(n_topics):
        out[k] = 0.0
    for d in range(first, last):
        total = 0.0
        for k in range(n_topics):
            total += gamma[d, k]
        of_total = digamma(total)
        for k in range(n_topics):
            out[k] += digamma(gamma[d, k]) - of_total
