"""``solver="gibbs"``: chains over the topics of tokens."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..mixing import run
from ..recording import of_chains
from ..replication.alias import AliasTopics
from .collapsed import CollapsedTopics
from .conditionals import TopicGibbs

SAMPLERS = {kind.kernel: kind for kind in (TopicGibbs, CollapsedTopics, AliasTopics)}


def solve(estimator, problem, settings, seed):
    """`Result` of chains that start from the same clusters."""
    kernel = "sampled" if estimator.kernel == "auto" else estimator.kernel
    model = SAMPLERS[kernel](
        *problem.model,
        power=problem.power,
        start=problem.assignment,
        clusters=problem.clusters,
        learn_alpha=problem.learn_alpha,
    )

    def sample(settings, states):
        return sample_gibbs(
            model,
            settings,
            n_chains=estimator.chains,
            seeds=seed,
            n_jobs=estimator.n_jobs,
            split_blocks=estimator.chains == 1,
            verbose=estimator.verbose,
            states=states,
        )

    return of_chains(problem, run(estimator, problem, sample, settings), kernel)
