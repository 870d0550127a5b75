"""The mode of the posterior as a point estimate."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ..inference.chains import Workers, serial
from ..inference.contracts import Result
from ..inference.threads import OneBlasThread
from ..sgns.exchange import find_best_mode
from ..sgns.model import numerical_rank
from .exchange import DriftComponents
from .model import SIDES, DynamicDensity

# The search starts off the static vectors by so many prior standard deviations: components that
# their mode lacks would else stay at a saddle.
_STIR = 1e-3


def solve(estimator, problem, settings, seed):
    """The mode of the posterior as a `Result` of one chain and one draw.

    Warns
    -----
    ConvergenceWarning
        If the mode was not reached.
    """
    model = problem.model
    density = DynamicDensity(model)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        rng = np.random.default_rng(seed)
        theta, facts = seek_mode(estimator, density, rng, warn=True, run=run)
    arrays = density.unpack(theta)
    turned = model.in_frame(arrays["alpha"], *(arrays[name] for name in SIDES))
    draws = {name: value[None, None] for name, value in zip(SIDES, turned, strict=True)}
    if numerical_rank(arrays["alpha"].reshape(-1, arrays["alpha"].shape[-1])) == 0:
        facts |= {"zero": True}
    return Result(draws, facts=facts)


def seek_mode(estimator, density, rng, warn, run=serial):
    """Search for the mode from the static vectors in every period: parameters, facts."""
    model = density.model
    stir = _STIR * np.sqrt(model.prior.variance)
    start = {}
    for name in SIDES:
        near = model.center[name] + stir * rng.standard_normal(model.center[name].shape)
        start[name] = np.tile(near, (model.n_periods, 1, 1))
    return find_best_mode(
        DriftComponents(density),
        density.pack(start),
        rng,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        verbose=estimator.verbose,
        warn=warn,
        keep=warn,
        run=run,
    )
