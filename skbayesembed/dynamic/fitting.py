"""From pair counts of every period to a posterior: memory, chains, diagnostics, the solvers."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit

from ..common.memory import check_memory
from ..common.spine import chain_settings
from ..common.warnings import COORDINATE_RHAT_LIMIT, warn_if_stuck, warn_unless_mixed
from ..inference.chains import Workers
from ..inference.gibbs import sample_gibbs
from ..inference.threads import OneBlasThread
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat
from .data import period_table_bytes
from .gibbs import DynamicConditionals
from .model import COORDINATES, DynamicModel
from .prior import DriftPrior

# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20
_MONITORED = 100
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
        from .density import map_posterior

        return map_posterior(estimator, model, training.words, seeds[1])
    settings = plan_draws(estimator, vocabulary, prior.n_periods)
    sample = _sampler(estimator.solver)
    return sample(estimator, model, training.words, settings, seeds[1])


def _variational(estimator, training, prior, settings, seeds, run):
    """The variational posterior of all periods together, or of one after the other."""
    if estimator.learning_method == "online":
        from .online import filtered_posterior

        return filtered_posterior(estimator, training, settings, seeds, run)
    from .vi import vi_posterior

    return vi_posterior(estimator, training.counts, prior, training.words, settings, seeds, run)


def _sampler(solver):
    """The function that makes a posterior of a model."""
    if solver == "hmc":
        from .hmc import hmc_posterior

        return hmc_posterior
    if solver == "laplace":
        from .laplace import laplace_posterior

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


def monitored_places(model):
    """Places (period, target, context) whose logits are traced, ndarray of shape (n, 3).

    Half among the most observed words, half anywhere.
    """
    rng = np.random.default_rng(0)
    n, half = model.n_words, _MONITORED // 2
    weight = model.pairs.observations(0)
    frequent = np.argsort(-weight, kind="stable")[: max(10, n // 10)]
    words = np.vstack([rng.choice(frequent, (half, 2)), rng.integers(n, size=(half, 2))])
    period = rng.integers(model.n_periods, size=len(words))
    # shuffled: of the first of them a coordinate is traced, too
    return rng.permutation(np.unique(np.column_stack([period, words]), axis=0))


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


def sampling_facts(result, settings):
    """Facts about a run of chains for ``posterior_.attrs``."""
    return {
        "interrupted": result.facts["interrupted"],
        "draws_made": int(next(iter(result.stats.values())).shape[1]),
        "stride": settings.stride,
    }


def assemble(estimator, result, words, settings, attrs):
    """The `Posterior` of an engine's `Result`."""
    kept = None if settings.rows is None else list(estimator.keep_draws)
    # of other length than the whole draws, as statistics may be
    kept_rows = {n: result.draws.pop(n) for n in list(result.draws) if n.endswith("_rows")}
    stats = result.stats | kept_rows
    if "diffusion" in stats:
        # of every draw, recorded whole or not; the name is that of the draws
        stats["log_diffusion"] = np.log(stats.pop("diffusion"))
    return Posterior(
        result.draws,
        stats=stats,
        moments=result.moments,
        dims=dims_of(result.draws | kept_rows),
        coords=coords_of(words, result.draws, kept),
        attrs={"solver": estimator.solver, **attrs},
    )


def dims_of(draws):
    """Names of the dimensions of vectors; those of kept words have ``kept_word``."""
    return {
        name: ("period", "kept_word" if name.endswith("_rows") else "word", "component")
        for name in draws
        if name.startswith(("rho", "alpha"))
    }


def coords_of(words, draws, kept=None):
    """Labels along the dimensions of vectors; `DynamicSGNS` names the periods."""
    n_periods, _, k = draws["rho"].shape[-3:]
    coords = {"period": np.arange(n_periods), "word": words, "component": np.arange(k)}
    if kept is not None:
        coords["kept_word"] = np.asarray(kept, dtype=str)
    return coords


def check_mixing(posterior):
    """Warn unless the chains have mixed.

    Co-occurrence probabilities are what any frame agrees on; the coordinates of vectors are what
    ``rho_`` and ``transform`` average.
    """
    stats = posterior.stats
    if "acceptance" in stats:
        warn_if_stuck(float(stats["acceptance"].mean()), "raise target_accept")
    posterior.attrs["max_rhat"] = warn_unless_mixed(
        rhat(expit(stats["logit"])),
        "the co-occurrence probabilities (posterior_.stats['logit'])",
    )
    posterior.attrs["max_rhat_rho"] = warn_unless_mixed(
        rhat(stats["coordinate"]),
        "the coordinates of target vectors (posterior_.stats['coordinate']), which rho_ and "
        "transform average while cosines and probabilities may be fine,",
        COORDINATE_RHAT_LIMIT,
    )
    if "log_diffusion" in stats:
        posterior.attrs["max_rhat_diffusion"] = warn_unless_mixed(
            rhat(stats["log_diffusion"]), "the diffusion (posterior_.stats['log_diffusion'])"
        )
