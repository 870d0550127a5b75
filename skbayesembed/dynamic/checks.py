"""Checks of the parameters of `DynamicSGNS`, before any work."""

from __future__ import annotations

from ..common.checks import (
    check_bool,
    check_chain_length,
    check_choice,
    check_feature_names,
    check_integer,
    check_iterations,
    check_learning_method,
    check_real,
    check_word_filters,
)
from ..sgns.checks import check_kept
from ..sgns.counting import MOST_EXPONENT
from .priors import LEARNED, check_drift


def check_parameters(estimator):
    """Raise a ValueError for the first parameter that is not allowed whatever the data."""
    e = estimator
    check_integer("n_components", e.n_components, 1)
    check_learning_method(e, "filtering")
    _check_periods(e)
    check_drift(e.prior_precision, e.diffusion, e.hyperprior)
    if isinstance(e.diffusion, str) and e.solver in ("map", "laplace"):
        raise ValueError(
            f"diffusion={LEARNED!r} is not available with solver={e.solver!r}: the joint density "
            "of vectors and their diffusion has its mode at vectors that do not move. Use "
            "solver='vi', 'gibbs' or 'hmc', or give a number."
        )
    if e.learning_method == "filtering":
        check_filter(e, "learning_method='filtering'")
    check_integer("window", e.window, 1)
    check_choice("window_weights", e.window_weights, ("linear", "dynamic", "uniform"))
    check_real("negative", e.negative, 0)
    check_real("ns_exponent", e.ns_exponent, 0, strict=False, high=MOST_EXPONENT)
    check_choice("negative_sampling", e.negative_sampling, ("expected", "sampled"))
    check_word_filters(e)
    check_choice("uncertainty", e.uncertainty, ("documents", "model"))
    check_choice("pair_weights", e.pair_weights, ("token", "pairs"))
    check_bool("balance", e.balance)
    check_real("target_accept", e.target_accept, 0, high=0.999)
    check_choice("features", e.features, ("mean", "mean_std"))
    check_chain_length(e)
    check_kept(e.keep_draws)
    check_iterations(e)
    check_feature_names(e.feature_names)


def check_filter(estimator, what):
    """Raise a ValueError unless the diffusion is given: a filter cannot go back to change it."""
    if isinstance(estimator.diffusion, str):
        raise ValueError(
            f"diffusion={LEARNED!r} is not available with {what}, which learns one period after "
            "the other: give a number, such as one that fit with learning_method='batch' has found."
        )


def _check_periods(e):
    if e.n_periods is not None:
        check_integer("n_periods", e.n_periods, 1)
        if e.bins is not None:
            raise ValueError("n_periods and bins exclude each other: give one of them.")
