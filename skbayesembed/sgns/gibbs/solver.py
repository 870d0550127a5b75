"""The posterior by Gibbs sweeps."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..anchors import identify
from ..recording import monitored_pairs
from .conditionals import SGNSConditionals

# Bytes that the tuning of a chain holds for each pair: weights and linear terms of both sides and
# two sums, in single precision.
_TUNING_BYTES = 6 * 4
# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20


def solve(estimator, problem, settings, seed):
    """Sample the posterior by Gibbs sweeps: a `Result`."""
    found = identify(estimator, problem)
    model = found.model
    kernel = "metropolis" if estimator.kernel == "auto" else estimator.kernel
    per_chain = _TUNING_BYTES * model.pairs.n_pairs
    monitored = monitored_pairs(model)
    result = sample_gibbs(
        SGNSConditionals(model, kernel, found.pivots, monitored, start=found.mode.arrays),
        settings,
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        split_blocks=per_chain > _LARGE_CHAIN or estimator.chains == 1,
        verbose=estimator.verbose,
    )
    result.facts |= {"kernel": kernel, **found.facts}
    result.learned["anchors_"] = found.anchors
    result.monitored["logit"] = monitored
    return result
