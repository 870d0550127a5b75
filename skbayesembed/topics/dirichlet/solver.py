"""``solver="gibbs"`` and ``"vi"`` of topics with Dirichlet priors of words."""

from __future__ import annotations

from joblib import effective_n_jobs

from ...common.random import generators
from ...inference import checkpoint
from ...inference.approximations import drawn
from ...inference.chains import Workers
from ...inference.threads import OneBlasThread, serial
from ...inference.vi import coordinate_ascent
from .. import mixing
from ..recording import of_approximation, of_chains
from ..vi.solver import BOUND_TOLERANCE, pass_over, rates
from .conditionals import DirichletTopics
from .online import OnlineDirichlet
from .starts import FactorStart
from .variational import DirichletApproximation, DirichletVI


def solve_gibbs(estimator, problem, settings, seed):
    """`Result` of chains that start near the same mode."""
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        start = FactorStart.of(problem, run)
    model = DirichletTopics(
        problem.documents,
        problem.measures,
        problem.alpha,
        start,
        learn_alpha=problem.learn_alpha,
    )
    chains = mixing.run(estimator, problem, model, settings, seed)
    return of_chains(problem, chains, "collapsed")


def solve_vi(estimator, problem, settings, seed):
    """`Result` of independent draws of the factors."""
    if estimator.learning_method == "online":
        return _online(estimator, problem, settings, seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        model = DirichletVI(problem)
        q = model.init_q(run=serial)
        facts = coordinate_ascent(
            model,
            q,
            run,
            max_iter=estimator.max_iter,
            tol=BOUND_TOLERANCE * estimator.tol,
            verbose=estimator.verbose,
            stage=checkpoint.stage("ascent"),
        )
    elbo, rng = facts["elbo"], generators(seed, 1)[0]
    facts |= {"elbo": float(elbo[-1]), "learning_method": "batch"}
    return of_factors(problem, model, q, settings.recorded, rng, facts, elbo)


def _online(estimator, problem, settings, seed):
    """Passes over the documents in minibatches."""
    of_batches, of_draws = generators(seed, 2)
    documents = problem.documents
    corpus = {"n_documents": documents.n_documents, "totals": documents.totals}
    online = learner(estimator, problem, **corpus)
    facts = pass_over(estimator, online, documents, of_batches)
    return of_factors(problem, online, online.result(), settings.recorded, of_draws, facts)


def learner(estimator, problem, **corpus):
    """`OnlineDirichlet` of a problem; ``corpus`` says how large the whole corpus is."""
    n = problem.documents.n_documents
    return OnlineDirichlet(
        problem.measures,
        problem.alpha,
        problem.counts() / n,
        n,
        **rates(estimator, problem),
        **corpus,
    )


def of_factors(problem, model, q, n, rng, facts, elbo=()):
    """`Result` of ``n`` draws of the factors ``q`` of a model."""
    approximation = DirichletApproximation(model.measures, q, elbo)
    return of_approximation(problem, drawn(model.sample_q(q, n, rng), facts, approximation))
