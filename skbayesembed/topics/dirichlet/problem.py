"""What solvers of topics with Dirichlet priors of words are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import count_background
from ..data import Documents
from ..starts import cluster_counts, document_clusters, kmeans_assignment
from .measure import BaseMeasures

# Tokens that each word has besides those counted, in the prior means of its level.
_SMOOTHING = 0.5


@dataclass(frozen=True)
class DirichletProblem:
    """Documents, priors and a start.

    Attributes
    ----------
    documents : Documents
    measures : BaseMeasures
    alpha : ndarray of shape (K,)
    learn_alpha : {None, "symmetric", "asymmetric"}
    assignment : ndarray of int of shape (n_words,) or None
        Topic of each word type to start from, among those with a vector; None for ``clusters``.
    clusters : ndarray of int of shape (n_documents,) or None
        Topic of each document to start from, among those with a vector.
    vector_draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Of the word vectors, where their uncertainty counts.
    """

    documents: Documents
    measures: BaseMeasures
    alpha: np.ndarray
    learn_alpha: str | None
    assignment: np.ndarray | None
    clusters: np.ndarray | None
    vector_draws: np.ndarray | None = None

    power = 1.0
    power_scores = None

    @property
    def init(self):
        """What the topics start from: ``"words"`` or ``"documents"``."""
        return "words" if self.clusters is None else "documents"

    @property
    def n_background(self):
        """1 where topic 0 is the background, else 0."""
        return self.measures.n_background

    def counts(self):
        """Tokens of words (V, K) at the start, expected ones where there is a background.

        A token of a cluster is one of the background with the probability f / (f + p), f its word's
        share in all tokens and p that in those of the cluster.
        """
        data, n = self.documents, self.measures.n_vectors
        if self.clusters is None:
            own = np.zeros((n, data.n_words))
            own[self.assignment, np.arange(data.n_words)] = data.totals
        else:
            own = cluster_counts(data, self.clusters, n)
        out = np.zeros((data.n_words, self.measures.n_components))
        common = own * self._commonness(own) if self.n_background else np.zeros_like(own)
        out[:, self.n_background :] = (own - common).T
        out[:, : self.n_background] = common.sum(axis=0)[:, None]
        return out

    def _commonness(self, own):
        """f / (f + p) for each cluster and word."""
        p = own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300)
        f = self.documents.totals / self.documents.totals.sum()
        return f / np.maximum(f + p, 1e-300)


def level_prior(totals):
    """Prior means of words' levels (V,): logarithms of their smoothed frequencies, centred."""
    logs = np.log(totals + _SMOOTHING)
    return logs - logs.mean()


def pose_dirichlet(estimator, documents, alpha, seed):
    """`DirichletProblem` of documents, with a start by k-means.

    Parameters
    ----------
    estimator : GaussianLDA
    documents : Documents
    alpha : ndarray of shape (K,)
    seed : numpy.random.SeedSequence
    """
    k, rng = int(estimator.n_components), np.random.default_rng(seed)
    n_background = count_background(estimator)
    levels = level_prior(documents.totals)
    measures = BaseMeasures(documents.vectors, levels, k, n_background)
    clusters = assignment = None
    if estimator.init != "words":
        clusters = document_clusters(documents, k - n_background, rng)
    if clusters is None:
        vectors = documents.vectors
        assignment = kmeans_assignment(vectors, documents.totals, k - n_background, rng)
    return DirichletProblem(
        documents, measures, alpha, estimator.learn_doc_topic_prior or None, assignment, clusters
    )
