"""The mode, and the context vectors that are held fixed at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.warnings import warn_user
from ..inference.mode import find_mode
from ..inference.threads import OneBlasThread
from .model import numerical_rank, pivot_contexts


@dataclass
class Mode:
    """The MAP estimate: arrays ``{"rho", "alpha"}`` and the facts of its search."""

    arrays: dict
    facts: dict


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


def identified(model, mode, anchors):
    """The model with its anchors held, and the contexts that define the frame of its draws."""
    if anchors is not None:
        return model.anchored(anchors, mode.arrays["alpha"][anchors]), anchors
    weight = model.pairs.observations(1)
    return model, pivot_contexts(mode.arrays["alpha"], weight)
