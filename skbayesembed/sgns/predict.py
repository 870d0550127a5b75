"""Posterior predictive probabilities of pairs and the features of documents."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .counting import RankOne
from .density_kernels import sum_probabilities

# Predictive probabilities average over at most this many evenly spaced draws.
PREDICTIVE_DRAWS = 400
_CELLS = 4_000_000


def spread(draws, most=PREDICTIVE_DRAWS):
    """At most ``most`` of the draws along the first axis, evenly spaced."""
    if len(draws) <= most:
        return draws
    return draws[np.linspace(0, len(draws) - 1, most).round().astype(int)]


def with_biases(rho, alpha, rho_bias, alpha_bias):
    """Vectors whose dot products are logits with biases: ``[rho, b, 1]`` and ``[alpha, 1, c]``."""
    one = np.ones_like(rho[..., :1])
    rho = np.concatenate([rho, rho_bias[..., None], one], axis=-1)
    one = np.ones_like(alpha[..., :1])
    return rho, np.concatenate([alpha, one, alpha_bias[..., None]], axis=-1)


def logit_draws(posterior, most=PREDICTIVE_DRAWS):
    """Evenly spaced draws of target and context vectors whose dot products are the logits.

    Returns
    -------
    rho, alpha : ndarray of shape (n, n_words, n_components)
        With two more columns where the posterior has biases.
    """
    names = ["rho", "alpha"] + (["rho_bias", "alpha_bias"] if "rho_bias" in posterior else [])
    draws = [spread(posterior.flat(name), most) for name in names]
    return draws if len(draws) == 2 else with_biases(*draws)


def predictive(rho, alpha, rows, columns):
    """Mean over draws of sigma(rho_w . alpha_v) for all ``rows`` x ``columns``.

    Parameters
    ----------
    rho, alpha : ndarray of shape (n_draws, n_words, n_components)
    rows, columns : ndarray of int

    Returns
    -------
    ndarray of shape (len(rows), len(columns))
    """
    total = np.zeros((rows.size, columns.size))
    for r, a in zip(rho, alpha, strict=True):
        x = np.ascontiguousarray(r[rows], dtype=np.float64)
        y = np.ascontiguousarray(a[columns], dtype=np.float64)
        sum_probabilities(x, y, max(16, 12_800 // max(columns.size, 1)), total)
    return total / len(rho)


def mean_log_score(posterior, held_out):
    """Mean log posterior predictive probability of the held-out observations.

    A pair with a word outside the vocabulary scores log 1/2, the prior predictive.
    """
    rho, alpha = logit_draws(posterior)
    total, n = log_score(lambda rows, columns: predictive(rho, alpha, rows, columns), held_out)
    return total / n


def log_score(probability, held_out):
    """Log predictive probability of the held-out observations.

    Parameters
    ----------
    probability : callable
        Of arrays of target and of context words; returns the matrix of their probabilities.
    held_out : HeldOut

    Returns
    -------
    total : float
        A pair with a word outside the vocabulary counts log 1/2.
    n : float
        Number of observations.
    """
    counts, index = held_out.counts, held_out.index
    known = np.flatnonzero((index >= 0) & _observed(counts))
    total, seen = 0.0, 0.0
    columns = index[known]
    step = max(1, _CELLS // max(known.size, 1))
    for start in range(0, known.size, step):
        rows = known[start : start + step]
        p = np.clip(probability(index[rows], columns), 1e-16, 1.0 - 1e-16)
        positive = counts.positive[rows][:, known].toarray()
        negative = _block(counts.negative, rows, known)
        total += np.sum(positive * np.log(p) + negative * np.log1p(-p))
        seen += positive.sum() + negative.sum()
    n = float(counts.positive.sum() + counts.negative.sum())
    return float(total + (n - seen) * np.log(0.5)), n


def _observed(counts):
    """Which words have an observation, as target or as context."""
    total = np.zeros(counts.n_words)
    for part in (counts.positive, counts.negative):
        if isinstance(part, RankOne):
            total += part.left + part.right
        else:
            total += part.sum(axis=0) + part.sum(axis=1)
    return total > 0


def _block(negative, rows, columns):
    if isinstance(negative, RankOne):
        return np.outer(negative.left[rows], negative.right[columns])
    return negative[rows][:, columns].toarray()


def word_shares(counts):
    """Shares of words in each document, csr (n_documents, n_words); zeros where there are none."""
    size = np.asarray(counts.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(size > 0, size, 1.0)) @ counts)


def feature_variance(weights, draws):
    """Unbiased variance of ``weights @ draw`` over draws (n_words, n_components), read twice."""
    centre = sum(weights @ draw for draw in draws) / len(draws)
    square = np.zeros_like(centre)
    for draw in draws:
        square += (weights @ draw - centre) ** 2
    return square / max(len(draws) - 1, 1)
