"""The solvers of topics, each from a `Problem` to a `Result`; the table of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from ..common.random import generators
from ..inference.chains import Workers
from ..inference.contracts import Result
from ..inference.gibbs import sample_gibbs
from ..inference.hmc import sample_hmc
from ..inference.mode import find_mode
from ..inference.mode_gaussian import ModeGaussian
from ..inference.threads import OneBlasThread
from ..inference.trajectories import HamiltonianOptions
from ..inference.vi import coordinate_ascent
from .data import Documents
from .gibbs.conditionals import TopicGibbs
from .model import MarginalTopics
from .priors import NIW
from .starts import cluster_counts
from .vi.online import OnlineTopics, learn_passes
from .vi.variational import TopicApproximation, TopicVI

# Of the bound, relative to the tolerance of the search for a mode.
_BOUND_TOLERANCE = 100


@dataclass(frozen=True)
class Problem:
    """What a solver is given.

    Attributes
    ----------
    documents : Documents
    n_components : int
    prior : NIW
    alpha : ndarray of shape (K,)
    power : float
    learn_alpha : {None, "symmetric", "asymmetric"}
    assignment : ndarray of int of shape (n_words,)
        Topic of each word type that solvers start from.
    clusters : ndarray of int of shape (n_documents,) or None
        Topic of each document that they start from in its place.
    """

    documents: Documents
    n_components: int
    prior: NIW
    alpha: np.ndarray
    power: float
    learn_alpha: str | None
    assignment: np.ndarray
    clusters: np.ndarray | None = None

    @property
    def model(self):
        """Documents, number of topics and priors, as every model takes them first."""
        return self.documents, self.n_components, self.prior, self.alpha

    @property
    def start(self):
        """Where factors start, as `TopicVI.init_q` takes it."""
        if self.clusters is None:
            return {"assignment": self.assignment}
        return {"counts": cluster_counts(self.documents, self.clusters, self.n_components)}


def gibbs(estimator, problem, settings, seeds):
    """Chains over the topics of tokens."""
    model = TopicGibbs(
        *problem.model,
        power=problem.power,
        kernel=estimator.kernel,
        start=problem.assignment,
        clusters=problem.clusters,
        learn_alpha=problem.learn_alpha or False,
    )
    return sample_gibbs(
        model,
        settings,
        n_chains=estimator.chains,
        seeds=seeds,
        n_jobs=estimator.n_jobs,
        split_blocks=estimator.chains == 1,
        verbose=estimator.verbose,
    )


def variational(estimator, problem, settings, seeds):
    """Coordinate ascent, or passes over minibatches; draws of the approximation."""
    if estimator.learning_method == "online":
        return _online(estimator, problem, settings, seeds)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        model, q, facts = ascend(
            problem,
            run,
            max_iter=estimator.max_iter,
            tol=_BOUND_TOLERANCE * estimator.tol,
            verbose=estimator.verbose,
        )
        approximation = TopicApproximation(q, facts.pop("elbo"))
        return drawn(model, q, settings, generators(seeds, 1)[0], facts, approximation)


def ascend(problem, run, **options):
    """Model, factors and facts of coordinate ascent from the start of a problem."""
    model = TopicVI(
        *problem.model,
        power=problem.power,
        learn_alpha=problem.learn_alpha,
    )
    q = model.init_q(problem.start, run)
    return model, q, coordinate_ascent(model, q, run, **options)


def _online(estimator, problem, settings, seeds):
    """Passes over the documents in minibatches."""
    of_learner, of_batches, of_draws = generators(seeds, 3)
    documents = problem.documents
    online = OnlineTopics(
        documents.vectors,
        problem.n_components,
        problem.prior,
        problem.alpha,
        of_learner,
        power=problem.power,
        learn_alpha=problem.learn_alpha,
        learning_offset=estimator.learning_offset,
        learning_decay=estimator.learning_decay,
        n_documents=documents.n_documents,
        totals=documents.totals,
    )
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        facts = learn_passes(
            online,
            documents,
            batch_size=estimator.batch_size,
            n_passes=estimator.n_passes,
            rng=of_batches,
            run=run,
            verbose=estimator.verbose,
        )
    q = online.result()
    return drawn(online, q, settings, of_draws, facts, TopicApproximation(q))


def drawn(model, q, settings, rng, facts, approximation):
    """Independent draws of an approximation as one chain."""
    draws = model.sample_q(q, settings.recorded, rng)
    facts = facts | {"approximation": approximation}
    return Result({name: value[None] for name, value in draws.items()}, facts=facts)


def _marginal(problem):
    return MarginalTopics(
        *problem.model,
        power=problem.power,
        start=problem.start,
    )


def hmc(estimator, problem, settings, seeds):
    """Chains of NUTS on the density with the topics of tokens summed out."""
    with OneBlasThread():
        model = _marginal(problem)
    return sample_hmc(
        model,
        settings,
        HamiltonianOptions(target_accept=estimator.target_accept),
        n_chains=estimator.chains,
        seeds=seeds,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )


def _mode(estimator, problem):
    """The model, its mode and the facts of the search for that."""
    model = _marginal(problem)
    theta, facts = find_mode(
        model,
        model.start(),
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        verbose=estimator.verbose,
    )
    return model, theta, {name: facts[name] for name in ("n_iter", "converged", "lp")}


def point(estimator, problem, settings, seeds):
    """A posterior of one draw: the mode that the start leads to."""
    with OneBlasThread():
        model, theta, facts = _mode(estimator, problem)
        values = model.observe(theta)
    return Result({name: value[None, None] for name, value in values.items()}, facts=facts)


def laplace(estimator, problem, settings, seeds):
    """Draws of the Gaussian at that mode."""
    with OneBlasThread():
        model, theta, facts = _mode(estimator, problem)
        approximation = ModeGaussian(model, theta)
        flat = approximation.sample(settings.recorded, generators(seeds, 1)[0])
        seen = [model.observe(one) for one in flat]
    draws = {name: np.stack([values[name] for values in seen])[None] for name in seen[0]}
    return Result(draws, facts=facts | {"approximation": approximation})


TABLE = {"gibbs": gibbs, "vi": variational, "hmc": hmc, "laplace": laplace, "map": point}
