"""The mode, and the context vectors that are held fixed at it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from ..common.warnings import warn_user
from ..inference.chains import Workers
from ..inference.checkpoint import remembered
from ..inference.threads import OneBlasThread
from .balance import in_principal_axes
from .exchange import Components, find_best_mode
from .model import SGNSModel, numerical_rank, pivot_contexts
from .starting import search_start, searched


@dataclass
class Mode:
    """The MAP estimate: arrays ``{"rho", "alpha"}`` and the facts of its search."""

    arrays: dict
    facts: dict


@dataclass
class Identified:
    """A posterior of which every rotation of the vectors is told apart, and where to start.

    Attributes
    ----------
    model : SGNSModel
        With the anchors held, where there are any.
    pivots : ndarray of int of shape (n_components,)
        Contexts that define the frame of recorded draws: the anchors, or chosen for it.
    mode : Mode
        Of the posterior without anchors.
    anchors : ndarray of int of shape (n_components,) or None
        Contexts held at their MAP values.
    """

    model: SGNSModel
    pivots: np.ndarray
    mode: Mode
    anchors: np.ndarray | None

    @property
    def facts(self):
        """Facts for ``posterior_.attrs``."""
        return {"n_iter": self.mode.facts["n_iter"], "anchored": self.anchors is not None}


def identify(estimator, problem):
    """Search for the mode and hold anchors at it: what chains and the Gaussian start from.

    Warns
    -----
    UserWarning
        Where the MAP has too low a rank to anchor on.
    """
    model = problem.model
    mode = remembered("mode", lambda: fit_mode(estimator, problem))
    anchors = choose_anchors(estimator, model, mode, problem.vocabulary)
    alpha = mode.arrays["alpha"]
    if anchors is None:
        pivots = pivot_contexts(alpha, model.pairs.observations(1))
        return Identified(model, pivots, mode, None)
    return Identified(model.anchored(anchors, alpha[anchors]), anchors, mode, anchors)


def fit_mode(estimator, problem):
    """MAP estimate, a `Mode`; in its principal axes where the prior has none of its own."""
    model = searched(problem.model)
    rng = np.random.default_rng(problem.mode_seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        limits = {"max_iter": estimator.max_iter, "tol": estimator.tol, "run": run}
        theta, facts = find_best_mode(
            Components(model),
            model.pack(search_start(model, rng, **limits)),
            rng,
            **limits,
            keep=estimator.solver == "map",
            verbose=estimator.verbose,
            warn=estimator.solver == "map",
        )
    arrays, facts = model.unpack(theta), facts | model.approximated
    if model.prior.rotates:
        turned = in_principal_axes(np.stack([arrays[name] for name in ("rho", "alpha")]))
        arrays = dict(zip(("rho", "alpha"), turned, strict=True))
    return Mode(arrays, facts)


def choose_anchors(estimator, model, mode, vocabulary):
    """Indices of the contexts to hold fixed, or None for the posterior without anchors.

    There are none with a learned precision, whose joint mode is at vectors of zero, and none with
    an informative prior, which tells the components apart itself.

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
