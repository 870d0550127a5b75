"""Log posterior of topics with the topics of tokens summed out, and its gradient, in one kernel.

Coordinates of topic k, from the frame of `model.MarginalTopics`: u (E,), s (E,) and o below the
diagonal, with

    mu = m + C u / sqrt(beta),   U = B C^-1,   B_ii = exp(middle_i + s_i spread_i),
    B_ij = o_ij / sqrt(nu) for j < i,   Sigma^-1 = U'U.

U is the inverse of Sigma's Cholesky factor. Vectors have words last here, (E, V), against the order
of the room: so loops over words become vector instructions.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..numeric.elementwise import FAST, exp_negative
from .vi.kernels import document_step, word_counts

_FLOOR = -690.0


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def topics_at(theta, frame, mean, factor, whitener):
    """mu (K, E), B and U (K, E, E) of the coordinates of all topics; returns sum log U_ii."""
    centre, root, inverse, mean_spread, middle, spread, off_spread = frame
    n_topics, n_dims = centre.shape
    at, total = 0, 0.0
    for k in range(n_topics):
        for i in range(n_dims):
            value = 0.0
            for j in range(i + 1):
                value += root[k, i, j] * theta[at + j]
            mean[k, i] = centre[k, i] + mean_spread[k] * value
        at += n_dims
        for i in range(n_dims):
            log_diagonal = middle[k, i] + theta[at + i] * spread[k, i]
            factor[k, i, i] = math.exp(log_diagonal)
            total += log_diagonal + math.log(inverse[k, i, i])
        at += n_dims
        for i in range(n_dims):
            for j in range(i):
                factor[k, i, j] = theta[at + j] * off_spread[k]
                factor[k, j, i] = 0.0
            at += i
        for i in range(n_dims):
            for j in range(n_dims):
                whitener[k, i, j] = 0.0
            for m in range(i + 1):
                c = factor[k, i, m]
                for j in range(m + 1):
                    whitener[k, i, j] += c * inverse[k, m, j]
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def whiten(vectors, mean, whitener, out):
    """out (E, V) = U (v_w - mu) for ``vectors`` (E, V)."""
    n_dims, n_words = vectors.shape
    for i in range(n_dims):
        row = out[i]
        shift = 0.0
        for j in range(i + 1):
            shift += whitener[i, j] * mean[j]
        for w in range(n_words):
            row[w] = -shift
        for j in range(i + 1):
            c = whitener[i, j]
            for w in range(n_words):
                row[w] += c * vectors[j, w]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def topic_proba(theta, reference, middle, spread, out, logs):
    """out_d = softmax of the logits of document d, that of topic ``reference[d]`` being zero.

    ``logs`` (M, K) are the logarithms, which ``out`` leaves where it would be no number.
    """
    n, n_topics = out.shape
    at = 0
    for d in range(n):
        top = 0.0
        for k in range(n_topics):
            if k == reference[d]:
                logs[d, k] = 0.0
            else:
                logs[d, k] = middle[d, k] + theta[at] * spread[d, k]
                at += 1
                top = max(top, logs[d, k])
        total = 0.0
        for k in range(n_topics):
            out[d, k] = exp_negative(max(logs[d, k] - top, _FLOOR))
            total += out[d, k]
        top += math.log(total)
        for k in range(n_topics):
            out[d, k] /= total
            logs[d, k] -= top


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def word_weights(vectors, mean, whitener, power, weights, top):
    """exp(power log N) over its largest entry of the row (V, K); power times that in ``top``."""
    n_topics, n_dims = mean.shape
    n_words = vectors.shape[1]
    y, table = np.empty((n_dims, n_words)), np.empty((n_topics, n_words))
    for k in range(n_topics):
        whiten(vectors, mean[k], whitener[k], y)
        level = -0.5 * n_dims * math.log(2 * math.pi)
        for i in range(n_dims):
            level += math.log(whitener[k, i, i])
        row = table[k]
        for w in range(n_words):
            row[w] = power * level
        for i in range(n_dims):
            for w in range(n_words):
                row[w] -= 0.5 * power * y[i, w] * y[i, w]
    for w in range(n_words):
        top[w] = table[0, w]
    for k in range(1, n_topics):
        for w in range(n_words):
            top[w] = max(top[w], table[k, w])
    for k in range(n_topics):
        for w in range(n_words):
            weights[w, k] = exp_negative(table[k, w] - top[w])


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def documents_part(documents, proba, logs, weights, top, alpha, ratios, gradient):
    """Log likelihood and log prior of ``proba`` (M, K), the density by logits, up to a constant.

    sum_w n_dw log sum_k proba_dk weights_wk + sum_k alpha_k log proba_dk, where alpha in place of
    alpha - 1 is the Jacobian. ``ratios`` become n_dw / sum_k proba_dk weights_wk, ``gradient``
    (M, K) that by the logits.
    """
    indptr, words, counts = documents
    n, n_topics = proba.shape
    mass, value, total_alpha = np.empty(n_topics), 0.0, 0.0
    for k in range(n_topics):
        total_alpha += alpha[k]
    for d in range(n):
        a, b = indptr[d], indptr[d + 1]
        document_step(words[a:b], counts[a:b], weights, proba[d], ratios[a:b], mass)
        length = total_alpha
        for i in range(a, b):
            value += counts[i] * (math.log(ratios[i]) + top[words[i]])
            ratios[i] = counts[i] / ratios[i]
            length += counts[i]
        for k in range(n_topics):
            value += alpha[k] * logs[d, k]
            gradient[d, k] = proba[d, k] * mass[k] + alpha[k] - length * proba[d, k]
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def prior_part(mean, whitener, prior, gradient):
    """NIW prior of one topic without powers of U_ii; adds its gradient by U to ``gradient``.

    -1/2 tr(U Psi U') - kappa/2 |U (mu - m)|^2. The gradient by mu goes into the last row.
    """
    prior_mean, kappa, scale = prior
    n_dims = mean.size
    value = 0.0
    z = np.zeros(n_dims)
    for i in range(n_dims):
        for j in range(i + 1):
            z[i] += whitener[i, j] * (mean[j] - prior_mean[j])
        value -= 0.5 * kappa * z[i] * z[i]
    for i in range(n_dims):
        for j in range(n_dims):
            c = 0.0
            for m in range(i + 1):
                c += whitener[i, m] * scale[m, j]
            if j <= i:
                value -= 0.5 * c * whitener[i, j]
                gradient[i, j] -= c + kappa * z[i] * (mean[j] - prior_mean[j])
                gradient[n_dims, j] -= kappa * whitener[i, j] * z[i]
    return value


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def words_gradient(vectors, mean, whitener, counts, power, room, gradient):
    """Add to the rows of ``gradient`` (E + 1, E) the gradients by U, and by mu in the last.

    Of power sum_w n_w log N(v_w; mu, Sigma), ``counts`` (V,) n_w, without the powers of U_ii.
    """
    n_dims, n_words = vectors.shape
    whiten(vectors, mean, whitener, room)
    for i in range(n_dims):
        total = 0.0
        row = room[i]
        for w in range(n_words):
            row[w] *= power * counts[w]
            total += row[w]
        for j in range(i + 1):
            c = 0.0
            for w in range(n_words):
                c += row[w] * vectors[j, w]
            gradient[i, j] -= c - total * mean[j]
            gradient[n_dims, j] += whitener[i, j] * total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def pull_topic(gradient, factor, powers, frame_of_topic, out):
    """``out``: gradient by the coordinates of a topic of that by U and mu.

    ``powers`` (E,) are the powers of U_ii in the density, that of the logarithm included.
    """
    root, inverse, mean_spread, spread, off_spread = frame_of_topic
    n_dims = spread.size
    for j in range(n_dims):
        c = 0.0
        for i in range(j, n_dims):
            c += root[i, j] * gradient[n_dims, i]
        out[j] = mean_spread * c
    at = 2 * n_dims
    for i in range(n_dims):
        for j in range(i + 1):
            c = 0.0
            for m in range(j + 1):
                c += gradient[i, m] * inverse[j, m]
            if i == j:
                out[n_dims + i] = (c * factor[i, i] + powers[i]) * spread[i]
            else:
                out[at + j] = off_spread * c
        at += i


@njit(nogil=True, cache=True, error_model="numpy")
def log_posterior(
    theta, out, vectors, documents, columns, of_documents, frame, prior, alpha, power
):
    """Log posterior density up to a constant at ``theta``, its gradient in ``out``.

    ``vectors`` (E, V); ``documents`` indptr, words, counts; ``columns`` starts, documents, entries
    as in `vi.kernels.word_counts`; ``of_documents`` reference, middle, spread of their logits;
    ``prior`` mean, kappa, nu, scale.
    """
    reference, _, spread = of_documents
    n, n_topics = spread.shape
    n_dims, n_words = vectors.shape
    proba, logs, by_logits = (
        np.empty((n, n_topics)),
        np.empty((n, n_topics)),
        np.empty((n, n_topics)),
    )
    mean = np.empty((n_topics, n_dims))
    factor = np.empty((n_topics, n_dims, n_dims))
    whitener = np.empty((n_topics, n_dims, n_dims))
    weights, top = np.empty((n_words, n_topics)), np.empty(n_words)
    ratios, counts = np.empty(documents[1].size), np.empty((n_words, n_topics))
    n_logits = n * (n_topics - 1)
    topic_proba(theta[:n_logits], reference, of_documents[1], spread, proba, logs)
    log_determinant = topics_at(theta[n_logits:], frame, mean, factor, whitener)
    word_weights(vectors, mean, whitener, power, weights, top)
    value = documents_part(documents, proba, logs, weights, top, alpha, ratios, by_logits)
    starts, of_word, entries = columns
    word_counts(0, n_words, starts, of_word, entries, ratios, proba, weights, counts)
    at = 0
    for d in range(n):
        for k in range(n_topics):
            if k != reference[d]:
                out[at] = by_logits[d, k] * spread[d, k]
                at += 1
    _, root, inverse, mean_spread, _, diagonal_spread, off_spread = frame
    nu = prior[2]
    value += (nu - n_dims) * log_determinant
    gradient, room, of_topic = (
        np.empty((n_dims + 1, n_dims)),
        np.empty((n_dims, n_words)),
        np.empty(n_words),
    )
    powers, size = np.empty(n_dims), n_dims * (n_dims + 3) // 2
    for k in range(n_topics):
        gradient[:] = 0.0
        total = 0.0
        for w in range(n_words):
            of_topic[w] = counts[w, k]
            total += counts[w, k]
        for i in range(n_dims):
            # i + 1 of the factor of Sigma^-1, 1 of the logarithm
            value += (i + 2.0) * math.log(factor[k, i, i])
            powers[i] = power * total + nu - n_dims + i + 2.0
        words_gradient(vectors, mean[k], whitener[k], of_topic, power, room, gradient)
        value += prior_part(mean[k], whitener[k], (prior[0], prior[1], prior[3]), gradient)
        frame_of_topic = root[k], inverse[k], mean_spread[k], diagonal_spread[k], off_spread[k]
        pull_topic(gradient, factor[k], powers, frame_of_topic, out[at : at + size])
        at += size
    return value
