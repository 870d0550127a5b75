"""``solver="vi"``: coordinate ascent, or passes over minibatches; draws of the factors."""

from __future__ import annotations

from joblib import effective_n_jobs

from ...common.random import generators
from ...inference import checkpoint
from ...inference.approximations import drawn
from ...inference.chains import Workers
from ...inference.threads import OneBlasThread
from ...inference.vi import coordinate_ascent
from ..recording import of_approximation
from .online import OnlineTopics, learn_passes
from .variational import TopicApproximation, TopicVI

# The tolerance of the bound, relative to that of the search for a mode.
BOUND_TOLERANCE = 100


def solve(estimator, problem, settings, seed):
    """`Result` of independent draws of the factors."""
    if estimator.learning_method == "online":
        return _online(estimator, problem, settings, seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        model, q, facts = ascend(
            problem,
            run,
            max_iter=estimator.max_iter,
            tol=BOUND_TOLERANCE * estimator.tol,
            verbose=estimator.verbose,
            stage=checkpoint.stage("ascent"),
        )
        elbo, rng = facts["elbo"], generators(seed, 1)[0]
        facts |= {"elbo": float(elbo[-1]), "learning_method": "batch"}
        return of_factors(problem, model, q, settings.recorded, rng, facts, elbo)


def ascend(problem, run, **options):
    """Model, factors and facts of coordinate ascent from the start of a problem."""
    model = TopicVI(*problem.model, power=problem.power, learn_alpha=problem.learn_alpha)
    q = model.init_q(problem.start, run)
    return model, q, coordinate_ascent(model, q, run, **options)


def _online(estimator, problem, settings, seed):
    """Passes over the documents in minibatches."""
    of_learner, of_batches, of_draws = generators(seed, 3)
    documents = problem.documents
    online = learner(
        estimator,
        problem,
        of_learner,
        n_documents=documents.n_documents,
        totals=documents.totals,
    )
    facts = pass_over(estimator, online, documents, of_batches)
    return of_factors(problem, online, online.result(), settings.recorded, of_draws, facts)


def pass_over(estimator, online, documents, rng):
    """Let an `OnlineLearner` read documents in random minibatches; returns the facts."""
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        facts = learn_passes(
            online,
            documents,
            batch_size=estimator.batch_size,
            n_passes=estimator.n_passes,
            rng=rng,
            run=run,
            verbose=estimator.verbose,
        )
    return facts | {"learning_method": "online"}


def learner(estimator, problem, rng, **corpus):
    """`OnlineTopics` of a problem; ``corpus`` says how large the whole corpus is."""
    return OnlineTopics(
        problem.documents.vectors,
        problem.n_components,
        problem.prior,
        problem.alpha,
        rng,
        power=problem.power,
        **rates(estimator, problem),
        **corpus,
    )


def rates(estimator, problem):
    """How an `OnlineLearner` is to learn."""
    return {
        "learn_alpha": problem.learn_alpha,
        "learning_offset": estimator.learning_offset,
        "learning_decay": estimator.learning_decay,
    }


def of_factors(problem, model, q, n, rng, facts, elbo=()):
    """`Result` of ``n`` draws of the factors ``q`` of a model."""
    approximation = TopicApproximation(q, elbo)
    return of_approximation(problem, drawn(model.sample_q(q, n, rng), facts, approximation))
