"""What every solver of topics is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .data import Documents
from .priors import NIW
from .starts import cluster_counts


@dataclass(frozen=True)
class Problem:
    """Documents, priors and a start.

    Attributes
    ----------
    documents : Documents
    n_components : int
    prior : NIW
        Of every topic.
    alpha : ndarray of shape (K,)
        Dirichlet prior of documents; the start of it where it is learned.
    power : float
        Power of the likelihood of words.
    learn_alpha : {None, "symmetric", "asymmetric"}
    assignment : ndarray of int of shape (n_words,) or None
        Topic of each word type that solvers start from; None where batches decide on it.
    clusters : ndarray of int of shape (n_documents,) or None
        Topic of each document that they start from in its place.
    power_scores : dict of float to float, or None
        Held-out score of every power, where the power was chosen.
    vector_draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Of the word vectors, where their uncertainty counts.
    """

    documents: Documents
    n_components: int
    prior: NIW
    alpha: np.ndarray
    power: float
    learn_alpha: str | None
    assignment: np.ndarray | None = None
    clusters: np.ndarray | None = None
    power_scores: dict | None = None
    vector_draws: np.ndarray | None = None

    n_background = 0

    @property
    def model(self):
        """Documents, number of topics and priors, as every model takes them first."""
        return self.documents, self.n_components, self.prior, self.alpha

    @property
    def init(self):
        """What the topics start from: ``"words"`` or ``"documents"``."""
        return "words" if self.clusters is None else "documents"

    @property
    def start(self):
        """Where factors start, as `TopicVI.init_q` takes it."""
        if self.clusters is None:
            return {"assignment": self.assignment}
        return {"counts": cluster_counts(self.documents, self.clusters, self.n_components)}


def vector_prior(estimator, vectors, totals):
    """The NIW prior of topics that the estimator's parameters ask for."""
    kappa = estimator.mean_precision_prior
    return NIW.from_vectors(
        vectors,
        totals,
        mean=estimator.mean_prior,
        kappa=1.0 if kappa is None else kappa,
        nu=estimator.degrees_of_freedom_prior,
        scale=estimator.covariance_prior,
    )
