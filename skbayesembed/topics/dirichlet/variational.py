"""Variational inference for topics with Dirichlet priors of words.

    q = prod_dn q(z_dn) prod_d Dir(theta_d | gamma_d) prod_k Dir(phi_k | eta g_k + n_k)

with n the expected tokens. Base measures are at their mode under the bound, which holds for log
p(words, base measures); their variances stay at the means of their priors. Draws of base measures
are those of the normal distribution at the mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from ..vi.kernels import log_theta
from ..vi.variational import LOCAL_TOL, N_INNER, LocalFactors, best_alpha
from .measure import Base, Tokens
from .moves import Metric, climb

# Base measures climb in every third sweep, as one of their steps costs as much as a sweep.
_EVERY, FIRST_STEPS, STEPS = 3, 20, 2
# Expected tokens below this are none.
_LEAST_TOKENS = 1e-10


@dataclass
class DirichletFactors:
    """Factors of the approximation.

    Attributes
    ----------
    base : Base
        Base measures, at their mode.
    gamma : ndarray of shape (n_documents, K)
    counts : ndarray of shape (V, K)
        Expected tokens of each word in each topic.
    alpha : ndarray of shape (K,)
    n_updates : int
    """

    base: Base
    gamma: np.ndarray
    counts: np.ndarray
    alpha: np.ndarray
    n_updates: int = 0


class DirichletVI:
    """The variational approximation: offers `Variational`.

    Parameters
    ----------
    problem : DirichletProblem
    """

    def __init__(self, problem):
        self.problem, self.measures = problem, problem.measures
        self.totals = problem.documents.totals
        self.local = LocalFactors(problem.documents)

    def init_q(self, arrays=None, run=None):
        """Factors at the start of the problem."""
        problem, counts = self.problem, self.problem.counts()
        base = self.measures.start()
        climb(self.measures, base, expected_tokens(counts), FIRST_STEPS)
        lengths = problem.documents.lengths / self.measures.n_components
        gamma = problem.alpha + lengths[:, None]
        return DirichletFactors(base, gamma, counts, problem.alpha.copy())

    def update(self, q, run):
        """One sweep: documents, ``alpha`` where it is learned, words; base measures in every third.

        Returns the bound after the documents, which never falls.
        """
        prior, _ = self.measures.pseudo_tokens(q.base.theta)
        weights, top, bound = _word_factors(prior, q.counts)
        bound += self.local.update(
            weights, q.alpha, q.gamma, run, n_inner=N_INNER, tol=LOCAL_TOL
        ) + float(self.totals @ top)
        bound += self.measures.log_prior_given_variances(q.base)
        q.counts = self.local.word_counts(weights, run)
        if self.problem.learn_alpha is not None:
            target = self.local.mean_log_theta(q.gamma, run)
            q.alpha = best_alpha(q.alpha, target, self.problem.learn_alpha == "symmetric")
        q.n_updates += 1
        if q.n_updates % _EVERY == 0:
            climb(self.measures, q.base, expected_tokens(q.counts), STEPS)
        return bound

    def settled(self, q):
        """After a sweep that base measures climbed before."""
        return q.n_updates % _EVERY == 1

    def sample_q(self, q, n, rng):
        """Independent draws: dict of arrays as `DirichletTopics` records them, each (n, ...)."""
        draws = sample_base(self.measures, q, n, rng)
        weights = word_weights(self, q)
        e = log_shares(q)
        shape = n, self.measures.n_components, self.measures.n_words
        draws["counts"], draws["alpha"] = np.empty(shape), np.tile(q.alpha, (n, 1))
        for i in range(n):
            draws["counts"][i] = self.local.draw_counts(weights, e, rng)
        return draws


def sample_base(measures, q, n, rng):
    """Draws of base measures from the normal distribution at their mode: dict of arrays."""
    metric = Metric.at(measures, q.base, expected_tokens(q.counts))
    found = [_arrays(measures, q.base.theta + metric.deviation(rng)) for _ in range(n)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def _arrays(measures, theta):
    return {
        "topic_vector": measures.all_vectors(theta),
        "word_level": measures.levels(theta).copy(),
        "concentration": np.exp(theta[-1]),
    }


def expected_tokens(counts):
    """`Tokens` of expected counts (V, K)."""
    return Tokens.of(np.where(counts > _LEAST_TOKENS, counts, 0.0))


def _word_factors(prior, counts):
    """exp E[log phi] (V, K) over the largest of each word, the logarithms of these, their bound.

    The factors of phi are Dirichlet(prior + counts); the bound is minus their divergence from
    Dirichlet(prior).
    """
    shape = prior + counts
    expected = digamma(shape) - digamma(shape.sum(axis=0))
    bound = np.sum(gammaln(shape) - gammaln(prior)) - np.sum(counts * expected)
    bound -= np.sum(gammaln(shape.sum(axis=0)) - gammaln(prior.sum(axis=0)))
    return *relative_weights(expected), float(bound)


def log_shares(q):
    """E[log theta] (n_documents, K) of factors ``q``."""
    out, room = np.empty_like(q.gamma), np.empty(q.alpha.size)
    for d in range(len(out)):
        log_theta(q.gamma[d], room, out[d])
    return out


def word_weights(model, q):
    """exp E[log phi] (V, K) over the largest of each word, of factors ``q`` of a `DirichletVI`."""
    prior, _ = model.measures.pseudo_tokens(q.base.theta)
    return _word_factors(prior, q.counts)[0]


def relative_weights(expected):
    """exp(expected) (V, K) over the largest of each word, and the logarithms of these (V,)."""
    top = expected.max(axis=1)
    return np.exp(expected - top[:, None]), top


class DirichletApproximation:
    """The approximation that ``solver="vi"`` found; its topics have the order of ``posterior_``.

    Attributes
    ----------
    mean : dict of str to ndarray
        ``"topic_vector"`` (K, E), ``"word_level"`` (V,) and ``"concentration"`` at their mode.
    alpha : ndarray of shape (K,)
    counts : ndarray of shape (K, V)
        Expected tokens of each word in each topic.
    elbo : ndarray of shape (n_iter,)
        Bound on log p(words, base measures), a value a sweep.
    """

    def __init__(self, measures, q, elbo):
        self._measures, self._q, self._order = measures, q, np.arange(q.alpha.size)
        self.elbo = np.asarray(elbo, dtype=float)
        self._hold()

    def _hold(self):
        q, order = self._q, self._order
        self.alpha, self.counts = q.alpha[order], q.counts.T[order]
        self.mean = self._ordered(_arrays(self._measures, q.base.theta))

    def _ordered(self, arrays):
        vectors = arrays["topic_vector"]
        return arrays | {"topic_vector": np.take(vectors, self._order, axis=-2)}

    def reorder(self, order):
        """Give the topics other numbers: those of ``order`` (K,), in this order."""
        self._order = self._order[order]
        self._hold()

    def sample(self, n, rng):
        """Independent draws, by the names of ``mean``: dict of arrays (n, ...)."""
        return self._ordered(sample_base(self._measures, self._q, n, rng))
