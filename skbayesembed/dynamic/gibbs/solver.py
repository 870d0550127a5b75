"""The posterior by Gibbs sweeps."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..recording import assemble, check_mixing, monitored_places, sampling_facts
from .conditionals import DynamicConditionals

# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20


def gibbs_posterior(estimator, model, words, settings, seeds):
    """Sample the posterior by Gibbs sweeps; returns a `Posterior`."""
    per_chain = 32 * model.pairs.n_pairs
    result = sample_gibbs(
        DynamicConditionals(model, monitored_places(model)),
        settings,
        n_chains=estimator.chains,
        seeds=seeds,
        n_jobs=estimator.n_jobs,
        split_blocks=per_chain > _LARGE_CHAIN or estimator.chains == 1,
        verbose=estimator.verbose,
    )
    posterior = assemble(estimator, result, words, settings, sampling_facts(result, settings))
    check_mixing(posterior)
    return posterior
