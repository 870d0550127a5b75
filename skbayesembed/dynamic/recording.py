"""What is recorded of draws: dimensions, traces, facts and diagnoses."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..common.warnings import COORDINATE_RHAT_LIMIT, warn_if_stuck, warn_unless_mixed
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat

_MONITORED = 100


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
