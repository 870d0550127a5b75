"""The mode of the posterior as a point estimate."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from ..common.warnings import warn_user
from ..inference.contracts import Result
from .anchors import fit_mode
from .model import numerical_rank


def solve(estimator, problem, settings, seed):
    """Find the mode: a `Result` of one chain and one draw.

    Warns
    -----
    ConvergenceWarning
        Where the search ended early, or the mode is exactly zero.
    """
    mode = fit_mode(estimator, problem)
    zero = numerical_rank(mode.arrays["alpha"]) == 0
    if zero:
        warn_user(
            "The MAP estimate is zero: the spectral norm of n+ - n/2 is at most "
            f"prior_precision={estimator.prior_precision}, so the prior outweighs the data. "
            "Lower prior_precision, or use solver='gibbs', whose posterior is proper all the same.",
            ConvergenceWarning,
        )
    draws = {name: value[None, None].copy() for name, value in mode.arrays.items()}
    facts = mode.facts | ({"zero": True} if zero else {})
    return Result(draws, facts=facts, learned={"anchors_": None})
