"""The posterior by Gibbs sweeps."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..anchors import identified
from ..recording import assemble, check_mixing, monitored_pairs, sampling_facts
from .conditionals import SGNSConditionals

# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20


def gibbs_posterior(estimator, model, mode, anchors, words, settings, seeds):
    """Sample the posterior by Gibbs sweeps; returns a `Posterior`."""
    model, pivots = identified(model, mode, anchors)
    kernel = "metropolis" if estimator.kernel == "auto" else estimator.kernel
    conditionals = SGNSConditionals(
        model, kernel, pivots, monitored_pairs(model), start=mode.arrays
    )
    per_chain = 6 * 4 * model.pairs.n_pairs
    result = sample_gibbs(
        conditionals,
        settings,
        n_chains=estimator.chains,
        seeds=seeds,
        n_jobs=estimator.n_jobs,
        split_blocks=per_chain > _LARGE_CHAIN or estimator.chains == 1,
        verbose=estimator.verbose,
    )
    attrs = {"kernel": kernel, **sampling_facts(result, settings, mode, anchors)}
    posterior = assemble(estimator, result, words, settings, attrs)
    check_mixing(posterior)
    return posterior
