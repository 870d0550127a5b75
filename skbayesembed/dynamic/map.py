"""The mode of the posterior as a point estimate."""

from __future__ import annotations

import numpy as np

from ..inference.threads import OneBlasThread
from ..posterior.posterior import Posterior
from .density import DynamicDensity, seek_mode


def map_posterior(estimator, model, words, seeds):
    """The mode of the posterior as a `Posterior` of one chain and one draw.

    Parameters
    ----------
    estimator : DynamicSGNS
    model : DynamicModel
        With a given diffusion: together with trajectories it has no mode.
    words : ndarray of str
    seeds : numpy.random.SeedSequence

    Returns
    -------
    Posterior

    Warns
    -----
    ConvergenceWarning
        If the mode was not reached.
    """
    from .fitting import coords_of, dims_of

    density = DynamicDensity(model)
    with OneBlasThread():
        theta, facts = seek_mode(estimator, density, np.random.default_rng(seeds), warn=True)
    arrays = density.unpack(theta)
    rho, alpha = model.in_frame(arrays["alpha"], arrays["rho"], arrays["alpha"])
    draws = {"rho": rho[None, None], "alpha": alpha[None, None]}
    dims, coords = dims_of(draws), coords_of(words, draws)
    return Posterior(draws, dims=dims, coords=coords, attrs={"solver": "map", **facts})
