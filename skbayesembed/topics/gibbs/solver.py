"""``solver="gibbs"``: chains over the topics of tokens."""

from __future__ import annotations

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
    split = estimator.chains == 1
    chains = run(estimator, problem, model, settings, seed, split_blocks=split)
    return of_chains(problem, chains, kernel)
