"""Normal-inverse-Wishart factors in natural form: linear in one table of features of the words.

With F_w = (v v', v, 1) of word w about an origin, half of v v' being stored, the expected log
density of a word is linear in F_w, and what words add to the natural parameters of a topic is
linear in it too. So one product of tables gives the first for all words and topics, another one
the second; the table itself is made block by block, in the cache.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma

from ..niw_kernels import relative_weights
from ..priors import lower_inverses
from . import kernels

# Numbers in a block of features, and blocks of words for threads.
_BLOCK, _PARTS = 2**19, 8


class WordFeatures:
    """The table of features of some words, never whole in memory.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, E)
    origin : ndarray of shape (E,)
        Near the vectors, so that second moments about it lose no digits.

    Attributes
    ----------
    width : int
        D = E (E + 1) / 2 + E + 1.
    """

    def __init__(self, vectors, origin):
        self.vectors = np.ascontiguousarray(vectors - origin)
        self.origin = origin
        n, e = vectors.shape
        self.width = e * (e + 1) // 2 + e + 1
        self._rows = max(16, _BLOCK // self.width)
        edges = np.linspace(0, n, min(_PARTS, max(1, n // self._rows)) + 1).astype(int)
        self.blocks = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]

    def _blocks(self, a, b):
        room = np.empty((min(self._rows, max(b - a, 1)), self.width))
        for start in range(a, b, self._rows):
            rows = slice(start, min(start + self._rows, b))
            block = room[: rows.stop - start]
            kernels.features(self.vectors[rows], block)
            yield rows, block

    def weights(self, niw, power, run):
        """Relative weights of topics (n_words, K) and the largest log density, times ``power``.

        Returns
        -------
        weights : ndarray of shape (n_words, K)
            exp(power E[log N]) over its largest entry in each row.
        top : ndarray of shape (n_words,)
        """
        factor = coefficients(niw, self.origin)
        weights, top = np.empty((len(self.vectors), factor.shape[1])), np.empty(len(self.vectors))

        def part(a, b):
            for rows, block in self._blocks(a, b):
                relative_weights(block @ factor, power, -np.inf, weights[rows], top[rows])

        run(part, self.blocks)
        return weights, top

    def sums(self, counts, run):
        """counts' F: statistics (K, D) of expected counts (n_words, K)."""
        parts = np.zeros((len(self.blocks), counts.shape[1], self.width))

        def part(i, a, b):
            for rows, block in self._blocks(a, b):
                parts[i] += counts[rows].T @ block

        run(part, [(i, *block) for i, block in enumerate(self.blocks)])
        return parts.sum(axis=0)

    def posterior(self, prior, sums, power):
        """Stacked NIW of the prior and statistics (K, D) of the words, raised to ``power``."""
        return posterior(prior, sums, power, self.origin)


def coefficients(niw, origin):
    """Table (D, K) with E[log N(v; mu_k, Sigma_k)] = sum_i F_i coefficients_ik.

    Ozaki & Kobayashi (2022), eq. 16, with the -1/2 E[mu' Sigma^-1 mu] that it lacks, which
    differs between topics.
    """
    e, nu = niw.n_dims, np.asarray(niw.nu, dtype=float)
    inverse = lower_inverses(niw.cholesky())
    precision = nu[:, None, None] * (inverse.swapaxes(1, 2) @ inverse)
    mean = niw.mean - origin
    linear = (precision @ mean[..., None])[..., 0]
    constant = 0.5 * expected_log_precision(niw) - 0.5 * e * (math.log(2 * math.pi) + 1 / niw.kappa)
    constant -= 0.5 * np.sum(linear * mean, axis=1)
    rows, columns = np.tril_indices(e)
    # each product of two different coordinates stands for two entries of the precision
    quadratic = precision[:, rows, columns] * np.where(rows == columns, -0.5, -1.0)
    return np.ascontiguousarray(np.concatenate([quadratic, linear, constant[:, None]], axis=1).T)


def expected_log_precision(niw):
    """E[log |Sigma^-1|] of a stack, shape (K,)."""
    e, nu = niw.n_dims, np.asarray(niw.nu, dtype=float)
    gammas = digamma(0.5 * (nu[:, None] - np.arange(e))).sum(axis=1)
    return gammas + e * math.log(2) - niw.log_determinant()


def posterior(prior, sums, power, origin):
    """Stacked NIW of a prior and statistics (K, D) about ``origin`` (eqs. 8-11)."""
    e = origin.size
    n = np.maximum(sums[:, -1], 0.0)
    some = np.where(n > 0, n, 1.0)
    mean = sums[:, -1 - e : -1] / some[:, None]
    rows, columns = np.tril_indices(e)
    square = np.empty((len(sums), e, e))
    square[:, rows, columns] = square[:, columns, rows] = sums[:, : rows.size]
    square -= n[:, None, None] * mean[:, :, None] * mean[:, None, :]
    return prior.update(power * n, mean + origin, power * square)


def divergence(niw, prior):
    """Kullback-Leibler divergence of a stack of NIW from one NIW, shape (K,)."""
    e, nu, kappa = niw.n_dims, np.asarray(niw.nu, dtype=float), niw.kappa
    inverse = lower_inverses(niw.cholesky())
    shift = (inverse @ (niw.mean - prior.mean)[..., None])[..., 0]
    trace = np.sum((inverse @ prior.scale) * inverse, axis=(1, 2))
    # E[log q - log p] of the unnormalised densities, then the normalisers
    expected = 0.5 * (nu - prior.nu) * expected_log_precision(niw)
    expected += 0.5 * nu * trace - 0.5 * nu * e
    expected += 0.5 * prior.kappa * (e / kappa + nu * np.sum(shift**2, axis=1)) - 0.5 * e
    return expected + prior.log_normaliser() - niw.log_normaliser()
