"""The draws of topics that predictions and readings of a fitted estimator rest on."""

from __future__ import annotations

from .dirichlet.draws import DirichletDraws
from .predict import PREDICTIVE_DRAWS, TopicDraws
from .recording import has_gaussians


def draws_of(estimator, most=PREDICTIVE_DRAWS, chosen=None):
    """`TopicDraws` or `DirichletDraws` of a fitted `GaussianLDA`."""
    posterior, drawn = estimator.posterior_, getattr(estimator, "vector_draws_", None)
    if has_gaussians(posterior):
        return TopicDraws(posterior, estimator.likelihood_power_, most, chosen, drawn)
    return DirichletDraws(posterior, estimator._vectors, most, chosen, drawn)
