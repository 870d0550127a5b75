"""The mode of the posterior as a point estimate."""

from __future__ import annotations

import contextlib

import numpy as np
from joblib import effective_n_jobs

from ..common.trial import current
from ..inference.chains import Workers, serial
from ..inference.contracts import Result
from ..inference.mode import find_mode
from ..inference.threads import OneBlasThread
from ..sgns.exchange import exchanged
from .exchange import DriftComponents, worthwhile
from .model import SIDES, DynamicDensity

# The search starts off the static vectors by so many prior standard deviations: components that
# their mode lacks would else stay at a saddle.
_STIR = 1e-3
# What exchanges of components take besides, in units of that search.
TYPICAL = 2.5


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
    return Result(draws, facts=facts)


def seek_mode(estimator, density, rng, warn, run=serial):
    """Search for the mode from the static vectors in every period: parameters, facts."""
    model = density.model
    stir = _STIR * np.sqrt(model.prior.variance)
    start = {}
    for name in SIDES:
        near = model.center[name] + stir * rng.standard_normal(model.center[name].shape)
        start[name] = np.tile(near, (model.n_periods, 1, 1))
    several, trial = worthwhile(density), current()
    limits = {"tol": estimator.tol, "keep": warn, "run": run}
    with contextlib.nullcontext() if trial is None else trial.repeated(TYPICAL if several else 1.0):
        theta, facts = find_mode(
            density,
            density.pack(start),
            max_iter=estimator.max_iter,
            verbose=estimator.verbose,
            warn=warn,
            **limits,
        )
    if not several:
        return theta, facts
    return exchanged(DriftComponents(density), theta, facts, rng, **limits)
