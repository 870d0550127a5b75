"""The mode of the posterior as a point estimate."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from ..common.warnings import warn_user
from ..posterior.posterior import Posterior
from .model import numerical_rank
from .recording import _coords, _dims


def point_posterior(mode, words):
    """A posterior of one chain and one draw: the MAP estimate."""
    draws = {name: value[None, None].copy() for name, value in mode.arrays.items()}
    attrs = {"solver": "map", **mode.facts}
    return Posterior(draws, dims=_dims(draws), coords=_coords(words, draws), attrs=attrs)


def warn_point_estimate_rank(estimator, mode):
    """ConvergenceWarning where the MAP is exactly zero."""
    if numerical_rank(mode.arrays["alpha"]) == 0:
        warn_user(
            "The MAP estimate is zero: the spectral norm of n+ - n/2 is at most "
            f"prior_precision={estimator.prior_precision}, so the prior outweighs the data. "
            "Lower prior_precision, or use solver='gibbs', whose posterior is proper all the same.",
            ConvergenceWarning,
        )
