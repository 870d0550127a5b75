r"""The base measures of topics, and their density given the tokens of topics.

    phi_k ~ Dirichlet(eta g_k),   g_kv = exp(x_v' t_k + s_v) / sum_w exp(x_w' t_k + s_w),
    t_k ~ N(0, a^2 I),   s_v ~ N(m_v, c^2),   log eta ~ N(log V, 2^2),
    a^2 ~ InvGamma(2, r),   c^2 ~ InvGamma(2, 1/4),

with x the vectors of words, m the logarithms of their smoothed frequencies, r one over the mean
square length of vectors. The probabilities phi are summed out:

    log p(words | topics) = sum_k [log Gamma(eta) - log Gamma(eta + n_k)
                                   + sum_v log Gamma(eta g_kv + n_kv) - log Gamma(eta g_kv)].
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from . import measure_kernels as kernels

# Standard deviation of log eta: within a factor of 50 either way.
_LOG_SD = 2.0
# Entries of fewer expected tokens are left out of the blocks of masses.
_LEAST_WEIGHED = 1e-3
# Shape of the inverse gamma priors of both variances, and the scale of that of words' levels.
_SHAPE, _LEVEL_SCALE = 2.0, 0.25


@dataclass
class Base:
    """Parameters of base measures.

    Attributes
    ----------
    theta : ndarray of shape (n_free,)
        The vectors of the K' topics that have one, K' E numbers; levels of V words; log eta.
    topic_variance, word_variance : float
        a^2 and c^2.
    """

    theta: np.ndarray
    topic_variance: float
    word_variance: float


@dataclass(frozen=True)
class Tokens:
    """Tokens of words in topics, the entries above zero of a table.

    Attributes
    ----------
    rows, columns : ndarray of int of shape (n_entries,)
        Word and topic.
    tokens : ndarray of shape (n_entries,)
        Number of tokens, fractional ones allowed.
    sizes : ndarray of shape (K,)
        Sums over words.
    """

    rows: np.ndarray
    columns: np.ndarray
    tokens: np.ndarray
    sizes: np.ndarray = field(repr=False)

    @classmethod
    def of(cls, counts):
        """From counts (V, K)."""
        rows, columns = (np.ascontiguousarray(places) for places in np.nonzero(counts))
        return cls(rows, columns, counts[rows, columns].astype(float), counts.sum(axis=0))


class BaseMeasures:
    """Prior and density of `Base`.

    Parameters
    ----------
    vectors : ndarray of shape (V, E)
    offset : ndarray of shape (V,)
        m, prior means of words' levels.
    n_components : int
        K.
    n_background : int
        0, or 1 where topic 0 has no vector.

    Attributes
    ----------
    n_free : int
    """

    def __init__(self, vectors, offset, n_components, n_background=0):
        self.vectors, self.offset = np.ascontiguousarray(vectors), np.asarray(offset, dtype=float)
        self.n_components, self.n_background = n_components, n_background
        self.n_words, self.n_dims = self.vectors.shape
        self.n_vectors = n_components - n_background
        self.n_own = self.n_vectors * self.n_dims
        self.n_free = self.n_own + self.n_words + 1
        squares = float(np.mean(np.sum(self.vectors**2, axis=1)))
        self.topic_scale = 1.0 / squares if squares > 0 else 1.0

    def with_vectors(self, vectors):
        """The same priors with other vectors of the words."""
        found = copy.copy(self)
        found.vectors = np.ascontiguousarray(vectors)
        return found

    def start(self):
        """The prior's means."""
        theta = np.zeros(self.n_free)
        self.levels(theta)[:] = self.offset
        theta[-1] = np.log(self.n_words)
        return Base(theta, self.topic_scale, _LEVEL_SCALE)

    def topic_vectors(self, theta):
        """t of the topics that have one, a view (K', E)."""
        return theta[: self.n_own].reshape(self.n_vectors, self.n_dims)

    def levels(self, theta):
        """s, a view (V,)."""
        return theta[self.n_own : -1]

    def all_vectors(self, theta):
        """t of all topics, (K, E), zero for the background."""
        out = np.zeros((self.n_components, self.n_dims))
        out[self.n_background :] = self.topic_vectors(theta)
        return out

    def measure(self, theta):
        """g, (V, K)."""
        return base_measure(self.vectors, self.all_vectors(theta), self.levels(theta))

    def pseudo_tokens(self, theta):
        """eta g, (V, K), and eta."""
        concentration = float(np.exp(theta[-1]))
        return concentration * self.measure(theta), concentration

    def precisions(self, base):
        """Prior precisions (n_free,) of theta."""
        out = np.full(self.n_free, 1.0 / base.topic_variance)
        self.levels(out)[:] = 1.0 / base.word_variance
        out[-1] = _LOG_SD**-2
        return out

    def away(self, theta):
        """theta less its prior mean, (n_free,)."""
        out = theta.copy()
        self.levels(out)[:] -= self.offset
        out[-1] -= np.log(self.n_words)
        return out

    def log_prior_given_variances(self, base):
        """Log density of theta given both variances."""
        precision = self.precisions(base)
        squares = precision * self.away(base.theta) ** 2
        return 0.5 * float(np.sum(np.log(precision) - squares - np.log(2 * np.pi)))

    def log_prior(self, base):
        """Log density of theta and both variances; a^2 and c^2 in place of their logarithms."""
        value = self.log_prior_given_variances(base)
        for variance, scale in (
            (base.topic_variance, self.topic_scale),
            (base.word_variance, _LEVEL_SCALE),
        ):
            value += _SHAPE * np.log(scale) - gammaln(_SHAPE)
            value -= (_SHAPE + 1) * np.log(variance) + scale / variance
        return float(value)

    def log_likelihood(self, theta, counts, out=None):
        """Log probability of the words given their topics; its gradient by theta into ``out``.

        Parameters
        ----------
        theta : ndarray of shape (n_free,)
        counts : Tokens
        out : ndarray of shape (n_free,), optional
        """
        measure, concentration = self.measure(theta), float(np.exp(theta[-1]))
        gradient, pull = np.empty_like(measure), np.empty(self.n_words)
        tables = np.empty(self.n_components)
        value = kernels.count_part(
            counts.rows, counts.columns, counts.tokens, measure, concentration, gradient, pull,
            tables,
        )  # fmt: skip
        ends, by_size = kernels.size_part(concentration, counts.sizes.astype(float))
        if out is not None:
            by_topic = gradient.T @ self.vectors
            out[: self.n_own] = by_topic[self.n_background :].ravel()
            self.levels(out)[:] = pull
            out[-1] = tables.sum() + by_size
        return float(value + ends)

    def log_density(self, base, counts, out=None):
        """Log density of theta given both variances, but for a constant; gradient into ``out``."""
        value = self.log_likelihood(base.theta, counts, out)
        pull = self.precisions(base) * self.away(base.theta)
        if out is not None:
            out -= pull
        return value - 0.5 * float(pull @ self.away(base.theta))

    def information(self, base, counts):
        """Approximate negative Hessian: blocks (K', E, E) of topics, and its diagonal (V + 1,).

        An entry of n tokens has the information b^2 (psi'(b) - psi'(b + n)) of its logit; those of
        the softmax's normaliser cancel at the mode, on average.
        """
        measure, concentration = self.measure(base.theta), float(np.exp(base.theta[-1]))
        weights = np.empty(counts.rows.size)
        kernels.information(
            counts.rows, counts.columns, counts.tokens, measure, concentration, weights
        )
        blocks = np.empty((self.n_vectors, self.n_dims, self.n_dims))
        order = np.argsort(counts.columns, kind="stable")
        ends = np.searchsorted(counts.columns[order], np.arange(self.n_components + 1))
        for k, block in enumerate(blocks, self.n_background):
            own = order[ends[k] : ends[k + 1]]
            # a few expected tokens of all words weigh nothing
            own = own[counts.tokens[own] > _LEAST_WEIGHED]
            weight, vectors = weights[own], self.vectors[counts.rows[own]]
            centre = weight @ vectors / max(weight.sum(), 1e-300)
            shifted = (vectors - centre) * np.sqrt(weight)[:, None]
            block[:] = shifted.T @ shifted
            block[np.diag_indices(self.n_dims)] += 1.0 / base.topic_variance
        diagonal = self.precisions(base)[self.n_own :]
        diagonal[:-1] += np.bincount(counts.rows, weights, self.n_words)
        diagonal[-1] += self._of_concentration(base.theta, counts, weights)
        return blocks, diagonal

    def _of_concentration(self, theta, counts, weights):
        """The negative second derivative by log eta, where that is above zero."""
        concentration, gradient = float(np.exp(theta[-1])), np.empty(self.n_free)
        self.log_likelihood(theta, counts, gradient)
        ends = sum(kernels.bend(concentration, float(n)) for n in counts.sizes if n > 0)
        return max(0.0, weights.sum() - ends - gradient[-1])

    def draw_variances(self, base, rng, around=0.0):
        """Draw both variances from their conditionals given theta and ``around``, in place."""
        away = self.away(base.theta) + around
        own, levels = away[: self.n_own], self.levels(away)
        base.topic_variance = _inverse_gamma(rng, self.topic_scale, own)
        base.word_variance = _inverse_gamma(rng, _LEVEL_SCALE, levels)


def _inverse_gamma(rng, scale, values):
    """The variance of normal ``values`` given them, under InvGamma(2, scale)."""
    return float((scale + 0.5 * values @ values) / rng.standard_gamma(_SHAPE + 0.5 * values.size))


def base_measure(vectors, topic_vectors, levels):
    """g (V, K), the softmax over words of x' t + s, for vectors (V, E) and t (K, E)."""
    table = vectors @ topic_vectors.T
    table += levels[:, None]
    kernels.softmax_columns(table)
    return table
