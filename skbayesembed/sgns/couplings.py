"""Couplings of words in a prior: ``G`` of the precision ``tau (I + G)`` of each component.

Each offers ``apply``, ``diagonal``, ``matrix``, ``log_det``, and auxiliary variables given which
the words are independent: ``local_diagonal`` and ``draw_pull``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu


class GraphCoupling:
    """Words tied along the weighted edges of a graph: ``G = strength * Laplacian``.

    Parameters
    ----------
    weights : sparse array of shape (n_words, n_words)
        Symmetric, non-negative, without diagonal; the strength is in them.
    """

    def __init__(self, weights):
        self.weights = sparse.csr_array(weights)
        self.degree = np.asarray(self.weights.sum(axis=1)).ravel()
        upper = sparse.triu(self.weights, format="coo")
        n_edges, n_words = upper.nnz, self.degree.size
        root = np.sqrt(np.concatenate([upper.data, upper.data]))
        places = np.concatenate([upper.row, upper.col]), np.tile(np.arange(n_edges), 2)
        self._incidence = sparse.csr_array((root, places), shape=(n_words, n_edges))
        self.n_auxiliary = n_edges

    @property
    def diagonal(self):
        """Diagonal of G, shape (n_words,)."""
        return self.degree

    @property
    def local_diagonal(self):
        """Diagonal of the precision G of the words given the auxiliary variables."""
        return 2.0 * self.degree

    def apply(self, x):
        """``G x``."""
        return self.degree[:, None] * x - self.weights @ x

    def matrix(self):
        """G as a csr array."""
        return sparse.csr_array(sparse.diags_array(self.degree) - self.weights)

    @cached_property
    def log_det(self):
        """Log determinant of ``I + G``; a factorization, made once."""
        matrix = sparse.csc_array(sparse.eye_array(self.degree.size) + self.matrix())
        return float(np.log(np.abs(splu(matrix).U.diagonal())).sum())

    def draw_pull(self, x, tau, rng):
        """Linear terms of the words' conditionals given fresh auxiliary variables.

        With a variable ``z ~ N(x_u + x_v, 1 / (tau weight))`` on every edge, the words are
        independent with precision ``tau (1 + 2 degree)`` and linear term ``tau sum weight z``.
        """
        noise = self._incidence @ rng.standard_normal((self.n_auxiliary, x.shape[1]))
        return tau * (self.degree[:, None] * x + self.weights @ x) + np.sqrt(tau) * noise


class GroupCoupling:
    """Words tied to the latent vector of their group, which is integrated out.

    Parameters
    ----------
    group : ndarray of int of shape (n_words,)
        Group of each word; -1 for words without one.
    strength : float
    """

    def __init__(self, group, strength):
        self.group = group
        self.strength = strength
        inside = np.flatnonzero(group >= 0)
        n_groups = int(group.max(initial=-1)) + 1
        ones = np.ones(inside.size)
        self._members = sparse.csr_array(
            (ones, (inside, group[inside])), shape=(group.size, n_groups)
        )
        self._sums = sparse.csr_array(self._members.T)
        self.sizes = np.asarray(self._members.sum(axis=0)).ravel()
        self._shrink = strength / (1.0 + strength * self.sizes)
        # diagonals of G, and of the precision G of the words given the groups' vectors
        self.diagonal = self._members @ (strength * (1.0 - self._shrink))
        self.local_diagonal = self._members @ np.full(n_groups, strength)

    def apply(self, x):
        """``G x``."""
        totals = self._members @ (self._shrink[:, None] * (self._sums @ x))
        return self.local_diagonal[:, None] * x - self.strength * totals

    def matrix(self):
        """G as a csr array."""
        weight = sparse.diags_array(self.strength * self._shrink)
        diagonal = sparse.diags_array(self.local_diagonal)
        return sparse.csr_array(diagonal - self._members @ weight @ self._sums)

    @property
    def log_det(self):
        """Log determinant of ``I + G``."""
        inside = self.sizes[self.sizes > 0]
        one = np.log1p(self.strength)
        together = np.log1p(self.strength / (1.0 + self.strength * inside))
        return float(np.sum((inside - 1) * one + together))

    def draw_pull(self, x, tau, rng):
        """Linear terms of the words' conditionals given fresh vectors of the groups."""
        spread = 1.0 / (1.0 + self.strength * self.sizes)[:, None]
        mean = self._shrink[:, None] * (self._sums @ x)
        noise = rng.standard_normal(mean.shape)
        vectors = mean + np.sqrt(spread / tau) * noise
        return tau * self.strength * (self._members @ vectors)
