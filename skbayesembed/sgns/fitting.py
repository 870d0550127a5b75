"""From pair counts to a posterior: mode, anchors, chains, diagnostics; the table of solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from ..common.memory import check_memory
from ..common.spine import chain_settings
from ..common.warnings import COORDINATE_RHAT_LIMIT, warn_if_stuck, warn_unless_mixed, warn_user
from ..inference.gibbs import sample_gibbs
from ..inference.mode import find_mode
from ..inference.threads import OneBlasThread
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat
from .gibbs import SGNSConditionals
from .model import SGNSModel, numerical_rank, pivot_contexts
from .priors import build_prior
from .tables import pair_table, table_bytes

# Chains share the machine's cores by words instead of side by side above this much memory each.
_LARGE_CHAIN = 200 * 2**20
_MONITORED = 100


@dataclass
class Mode:
    """The MAP estimate: arrays ``{"rho", "alpha"}`` and the facts of its search."""

    arrays: dict
    facts: dict


@dataclass
class Fitted:
    """What a solver leaves: posterior, anchors held fixed or None, iterations."""

    posterior: Posterior
    anchors: np.ndarray | None
    n_iter: int


def build_model(estimator, counts, vocabulary):
    """The posterior of the counts, after a look at the memory it takes."""
    chains = min(effective_n_jobs(estimator.n_jobs), estimator.chains)
    needed = table_bytes(counts, chains if estimator.solver == "gibbs" else 1)
    check_memory(
        needed,
        f"The pair table of {counts.n_words} words",
        "Use negative_sampling='sampled', a smaller max_features or a larger min_count.",
    )
    prior = build_prior(estimator, vocabulary)
    return SGNSModel(pair_table(counts), estimator.n_components, prior)


def solve(estimator, model, words, vocabulary, seeds):
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : BayesianSGNS
    model : SGNSModel
    words : ndarray of str
    vocabulary : dict of str to int
    seeds : tuple of two SeedSequence
        For the search for the mode and for what follows.

    Returns
    -------
    Fitted
    """
    if estimator.solver == "map":
        mode = fit_mode(estimator, model, seeds[0])
        warn_point_estimate_rank(estimator, mode)
        return Fitted(point_posterior(mode, words), None, max(1, mode.facts["n_iter"]))
    settings = plan_draws(estimator, vocabulary)
    if estimator.solver == "vi":
        from .vi import vi_posterior

        posterior = vi_posterior(estimator, model, words, settings, seeds[1])
        return Fitted(posterior, None, max(1, int(posterior.attrs["n_iter"])))
    mode = fit_mode(estimator, model, seeds[0])
    anchors = choose_anchors(estimator, model, mode, vocabulary)
    sample = _sampler(estimator.solver)
    posterior = sample(estimator, model, mode, anchors, words, settings, seeds[1])
    return Fitted(posterior, anchors, max(1, mode.facts["n_iter"]))


def _sampler(solver):
    """The function that makes a posterior of a model and its mode."""
    if solver == "hmc":
        from .hmc import hmc_posterior

        return hmc_posterior
    if solver == "laplace":
        from .laplace import laplace_posterior

        return laplace_posterior
    return gibbs_posterior


def plan_draws(estimator, vocabulary):
    """Number of draws and what is recorded of them, after a look at the memory it takes.

    The approximations are drawn from independently: they have one chain.
    """
    rows, k = _kept_rows(estimator, vocabulary), estimator.n_components
    size = len(vocabulary) * k
    trace = 8 * (_MONITORED + 1)
    if rows is not None:
        trace += 16 * k * rows["rho"].size
    chains = 1 if estimator.solver in ("vi", "laplace") else estimator.chains
    moments = 16 * size * k
    return chain_settings(estimator, 16 * size, moments, trace, rows, chains)


def fit_mode(estimator, model, seeds):
    """MAP estimate from a random start."""
    rng = np.random.default_rng(seeds)
    start = model.pack(model.start(rng))
    with OneBlasThread():
        theta, facts = find_mode(
            model,
            start,
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            verbose=estimator.verbose,
            warn=estimator.solver == "map",
        )
    return Mode(model.unpack(theta), facts)


def choose_anchors(estimator, model, mode, vocabulary):
    """Indices of the contexts to hold fixed, or None for the posterior without anchors.

    A learned precision, for which the mode is none, and an informative prior, which tells its
    components apart itself, go without anchors.

    Warns
    -----
    UserWarning
        Where the MAP has too low a rank to anchor on.
    """
    k = estimator.n_components
    anchors = estimator.anchors
    if anchors is None or model.prior.learned is not None or not model.prior.rotates:
        return None
    alpha = mode.arrays["alpha"]
    whose, rank = "The MAP context vectors", numerical_rank(alpha)
    if rank == k:
        if isinstance(anchors, str) and anchors == "pivot":
            return pivot_contexts(alpha, model.pairs.observations(1))
        chosen = _named_anchors(anchors, alpha.shape, vocabulary)
        whose, rank = f"The MAP vectors of anchors={anchors!r}", numerical_rank(alpha[chosen])
        if rank == k:
            return chosen
    if mode.facts["converged"]:
        cause = (
            "Where observations are few, the prior (a nuclear-norm penalty on the logits) sets "
            "components of the MAP to zero, and anchors taken from it would fix zeros. Fewer "
            "n_components, a smaller prior_precision or other anchors would allow anchors."
        )
    else:
        cause = (
            f"The search for the MAP had not converged after max_iter={estimator.max_iter} "
            "iterations: raise max_iter."
        )
    warn_user(
        f"{whose} have rank {rank} of n_components={k}. Falling back to anchors=None: the "
        f"posterior is that without anchors, its draws in a common frame. {cause}",
        UserWarning,
    )
    return None


def _named_anchors(anchors, shape, vocabulary):
    n_words, k = shape
    if isinstance(anchors, str):
        return np.arange(n_words - k, n_words)
    return np.array([vocabulary[a] if isinstance(a, str) else int(a) for a in anchors])


def monitored_pairs(model):
    """Pairs whose logits are traced: half among the most observed words, half anywhere."""
    rng = np.random.default_rng(0)
    weight = model.pairs.observations(0)
    frequent = np.argsort(-weight, kind="stable")[: max(10, model.n_words // 10)]
    half = _MONITORED // 2
    chosen = [rng.choice(frequent, (half, 2)), rng.integers(model.n_words, size=(half, 2))]
    return np.unique(np.vstack(chosen), axis=0)


def point_posterior(mode, words):
    """A posterior of one chain and one draw: the MAP estimate."""
    draws = {name: value[None, None].copy() for name, value in mode.arrays.items()}
    attrs = {"solver": "map", **mode.facts}
    return Posterior(draws, dims=_dims(draws), coords=_coords(words, draws), attrs=attrs)


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


def identified(model, mode, anchors):
    """The model with its anchors held, and the contexts that define the frame of its draws."""
    if anchors is not None:
        return model.anchored(anchors, mode.arrays["alpha"][anchors]), anchors
    weight = model.pairs.observations(1)
    return model, pivot_contexts(mode.arrays["alpha"], weight)


def sampling_facts(result, settings, mode, anchors):
    """Facts about a run of chains for ``posterior_.attrs``."""
    return {
        "anchored": anchors is not None,
        "interrupted": result.facts["interrupted"],
        "draws_made": int(next(iter(result.stats.values())).shape[1]),
        "stride": settings.stride,
        "mode_converged": mode.facts["converged"],
    }


def assemble(estimator, result, words, settings, attrs):
    """The `Posterior` of an engine's `Result`."""
    kept = None if settings.rows is None else list(estimator.keep_draws)
    # of other length than the whole draws, as statistics may be
    kept_rows = {n: result.draws.pop(n) for n in list(result.draws) if n.endswith("_rows")}
    return Posterior(
        result.draws,
        stats=result.stats | kept_rows,
        moments=result.moments,
        dims=_dims(result.draws | kept_rows),
        coords=_coords(words, result.draws, kept),
        attrs={"solver": estimator.solver, **attrs},
    )


def check_mixing(posterior):
    """Warn unless the chains have mixed.

    The co-occurrence probabilities of the monitored pairs are what any frame agrees on; the
    coordinates of vectors are what ``rho_`` and ``transform`` average. Anchored chains can mix in
    the first and not in the second.
    """
    stats = posterior.stats
    gibbs = posterior.attrs["solver"] == "gibbs"
    advice = "use kernel='polya-gamma'" if gibbs else "raise target_accept"
    warn_if_stuck(float(stats["acceptance"].mean()), advice)
    posterior.attrs["max_rhat"] = warn_unless_mixed(
        rhat(expit(stats["logit"])),
        "the co-occurrence probabilities (posterior_.stats['logit'])",
    )
    posterior.attrs["max_rhat_rho"] = warn_unless_mixed(
        rhat(stats["coordinate"]),
        "the coordinates of target vectors (posterior_.stats['coordinate']), which rho_ and "
        "transform average while cosines and probabilities may be fine"
        + (" (anchors=None often mixes faster)," if posterior.attrs["anchored"] else ""),
        COORDINATE_RHAT_LIMIT,
    )


def _kept_rows(estimator, vocabulary):
    if isinstance(estimator.keep_draws, str):
        return None
    index = np.array([vocabulary[w] for w in estimator.keep_draws], dtype=int)
    return {"rho": index, "alpha": index}


def _dims(draws):
    dims = {}
    for name in draws:
        if name.startswith(("rho", "alpha")):
            word = "kept_word" if name.endswith("_rows") else "word"
            dims[name] = (word,) if "bias" in name else (word, "component")
    return dims


def _coords(words, draws, kept=None):
    coords = {"word": words, "component": np.arange(draws["rho"].shape[-1])}
    if kept is not None:
        coords["kept_word"] = np.asarray(kept, dtype=str)
    return coords


def warn_point_estimate_rank(estimator, mode):
    """ConvergenceWarning where the MAP is exactly zero."""
    if numerical_rank(mode.arrays["alpha"]) == 0:
        warn_user(
            "The MAP estimate is zero: the spectral norm of n+ - n/2 is at most "
            f"prior_precision={estimator.prior_precision}, so the prior outweighs the data. "
            "Lower prior_precision, or use solver='gibbs', whose posterior is proper all the same.",
            ConvergenceWarning,
        )
