"""From pair counts of every period to a posterior: memory, chains, diagnostics, the solvers."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..common.spine import chain_settings
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from .data import period_table_bytes
from .gibbs.solver import gibbs_posterior
from .model import COORDINATES, DynamicModel
from .priors import DriftPrior
from .recording import _MONITORED

# Bytes of whole draws of an approximation that are recorded: readings draw from it afresh.
_DRAWN_BUDGET = 2**27


def drift_prior(estimator, periods):
    """The `DriftPrior` that the estimator's parameters ask for."""
    e = estimator
    return DriftPrior(periods.gaps, e.prior_precision, e.diffusion, e.hyperprior)


def solve(estimator, training, vocabulary, seeds):
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : DynamicSGNS
    training : inputs.Training
    vocabulary : dict of str to int
    seeds : tuple of two SeedSequence
        For the static vectors that chains start from, and for what follows.

    Returns
    -------
    Posterior
    """
    prior = drift_prior(estimator, training.periods)
    if estimator.solver == "vi":
        settings = plan_draws(estimator, vocabulary, prior.n_periods)
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            return _variational(estimator, training, prior, settings, seeds[1], run)
    model = build_model(estimator, training.counts, prior, seeds[0])
    if estimator.solver == "map":
        from .map import map_posterior

        return map_posterior(estimator, model, training.words, seeds[1])
    settings = plan_draws(estimator, vocabulary, prior.n_periods)
    sample = _sampler(estimator.solver)
    return sample(estimator, model, training.words, settings, seeds[1])


def _variational(estimator, training, prior, settings, seeds, run):
    """The variational posterior of all periods together, or of one after the other."""
    if estimator.learning_method == "online":
        from .streaming import filtered_posterior

        return filtered_posterior(estimator, training, settings, seeds, run)
    from .vi.solver import vi_posterior

    return vi_posterior(estimator, training.counts, prior, training.words, settings, seeds, run)


def _sampler(solver):
    """The function that makes a posterior of a model."""
    if solver == "hmc":
        from .hmc import hmc_posterior

        return hmc_posterior
    if solver == "laplace":
        from .laplace.solver import laplace_posterior

        return laplace_posterior
    return gibbs_posterior


def build_model(estimator, counts, prior, seeds):
    """The `DynamicModel` of the counts, after a look at the memory it takes."""
    chains = 1
    if estimator.solver in ("gibbs", "hmc"):
        chains = min(effective_n_jobs(estimator.n_jobs), estimator.chains)
    check_memory(
        period_table_bytes(counts, chains),
        f"The pairs of {counts[0].n_words} words in {len(counts)} periods",
        "Use negative_sampling='sampled', a smaller max_features, fewer periods or solver='vi'.",
    )
    with OneBlasThread():
        rng = np.random.default_rng(seeds)
        return DynamicModel.of_counts(counts, estimator.n_components, prior, rng)


def plan_draws(estimator, vocabulary, n_periods):
    """Number of draws and what is recorded of them, after a look at the memory it takes.

    The approximations are drawn from independently: they have one chain.
    """
    k = int(estimator.n_components)
    rows, n_kept = None, 0
    if not isinstance(estimator.keep_draws, str):
        index = np.array([vocabulary[w] for w in estimator.keep_draws], dtype=int)
        rows = dict.fromkeys(("rho", "alpha"), (slice(None), index))
        n_kept = index.size
    size = n_periods * len(vocabulary) * k
    trace = 8 * (_MONITORED + COORDINATES + 1) + 16 * n_periods * k * n_kept
    chains = 1 if estimator.solver in ("vi", "laplace") else estimator.chains
    budget = _DRAWN_BUDGET if estimator.solver == "vi" else None
    return chain_settings(
        estimator, 16 * size, 32 * size, trace, rows, chains, budget, covariance=False
    )
