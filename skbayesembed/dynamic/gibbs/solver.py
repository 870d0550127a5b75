"""The posterior by Gibbs sweeps."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..recording import monitored_places
from .conditionals import DynamicConditionals

# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20


def solve(estimator, problem, settings, seed):
    """Sample the posterior by Gibbs sweeps; returns a `Result`."""
    model = problem.model
    per_chain = 32 * model.pairs.n_pairs
    monitored = monitored_places(model)
    result = sample_gibbs(
        DynamicConditionals(model, monitored),
        settings,
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        split_blocks=per_chain > _LARGE_CHAIN or estimator.chains == 1,
        verbose=estimator.verbose,
    )
    result.facts["kernel"] = "polya-gamma"
    result.monitored["logit"] = monitored
    return result
