"""What is recorded of draws: dimensions, traces, facts and diagnoses."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..common.warnings import COORDINATE_RHAT_LIMIT, warn_if_stuck, warn_unless_mixed
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat

_MONITORED = 100


def monitored_pairs(model):
    """Pairs whose logits are traced: half among the most observed words, half anywhere."""
    rng = np.random.default_rng(0)
    weight = model.pairs.observations(0)
    frequent = np.argsort(-weight, kind="stable")[: max(10, model.n_words // 10)]
    half = _MONITORED // 2
    chosen = [rng.choice(frequent, (half, 2)), rng.integers(model.n_words, size=(half, 2))]
    return np.unique(np.vstack(chosen), axis=0)


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
