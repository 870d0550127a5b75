"""Where chains of topics with Dirichlet priors start: some variational sweeps from the clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..gibbs.kernels import Entries
from .gibbs_kernels import draw_independently
from .variational import DirichletVI, log_shares, word_weights

# Whole clusters are far from where chains settle: topics share their first words, and the log
# density falls for hundreds of sweeps. So many of these do what 400 of theirs do (20 Newsgroups).
_SWEEPS = 10


@dataclass(frozen=True)
class FactorStart:
    """Topics of tokens drawn from variational factors, independently of each other.

    Attributes
    ----------
    entries : Entries
    shares : ndarray of shape (n_documents, K)
        exp E[log theta].
    weights : ndarray of shape (V, K)
        exp E[log phi], over the largest of each word.
    """

    entries: Entries
    shares: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, problem, run):
        """The factors after a few sweeps from the start of a `DirichletProblem`."""
        model = DirichletVI(problem)
        q = model.init_q(run=run)
        for _ in range(_SWEEPS):
            model.update(q, run)
        shares = log_shares(q)
        shares = np.exp(shares - shares.max(axis=1, keepdims=True))
        return cls(Entries.of(problem.documents), shares, word_weights(model, q))

    def __call__(self, rng):
        """Topics of all tokens (n_tokens,)."""
        z = np.empty(int(self.entries.ends[-1]), np.int32)
        draw_independently(self.entries, self.shares, self.weights, rng, z)
        return z
