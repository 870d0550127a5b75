"""``solver="gibbs"`` of topics with Dirichlet priors of words."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..recording import of_chains
from .conditionals import DirichletTopics


def solve(estimator, problem, settings, seed):
    """`Result` of chains that start from the same clusters."""
    model = DirichletTopics(
        problem.documents,
        problem.measures,
        problem.alpha,
        problem.topics,
        learn_alpha=problem.learn_alpha,
    )
    result = sample_gibbs(
        model,
        settings,
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    return of_chains(problem, result, "collapsed")
