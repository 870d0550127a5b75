"""Variational inference of drifting vectors: all periods together, or one after the other."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ...common.memory import check_memory
from ...inference import checkpoint
from ...inference.approximations import drawn
from ...inference.chains import Workers
from ...inference.contracts import ROWS
from ...inference.threads import OneBlasThread
from ...posterior.running_moments import RunningMoments
from ..model import SIDES
from .expected import ExpectedPairs
from .filtering import filtered
from .smoothing import Smoothing, climb, dynamic_start, static_start, warn_of_end

# Arrays of the size of the vectors, in single precision, that a fit holds at once.
_ARRAYS = 26


def solve(estimator, problem, settings, seed):
    """Fit Gaussian trajectories and draw from them; returns a `Result`.

    Raises
    ------
    MemoryError
        If the arrays of the fit would not fit.

    Warns
    -----
    ConvergenceWarning
        If the bound still rose.
    """
    training = problem.training
    check_arrays(training.periods.n_periods, training.words.size, estimator.n_components)
    start_seed, draw_seed = seed.spawn(2)
    rng = np.random.default_rng(start_seed)
    find = filtered if estimator.learning_method == "filtering" else smoothed
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        sites, facts = find(estimator, problem, rng, run)
        return sites_result(sites, settings, draw_seed, facts)


def smoothed(estimator, problem, rng, run):
    """`DriftSites` of all periods by skip-gram smoothing, and the facts of the search."""
    counts, prior = problem.training.counts, problem.prior
    k, precision = estimator.n_components, 1.0 / prior.variance
    static, rng = checkpoint.remembered(
        "start", lambda: (static_start(counts, k, precision, rng, run), rng)
    )
    pairs = ExpectedPairs(counts)
    mean, lam = dynamic_start(static, pairs, prior, rng)
    smoothing = Smoothing(pairs, prior, mean, lam, run)
    elbo, n_iter, converged, interrupted = climb(
        smoothing,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        verbose=estimator.verbose,
        stage=checkpoint.stage("ascent"),
    )
    warn_of_end(estimator, converged, interrupted)
    facts = {"n_iter": n_iter, "converged": converged, "interrupted": interrupted}
    return smoothing.sites(elbo), {**facts, "elbo": float(elbo[-1])}


def check_arrays(n_periods, n_words, n_components):
    """Raise a MemoryError unless the arrays of a fit fit."""
    check_memory(
        4 * _ARRAYS * 2 * n_periods * n_words * n_components,
        f"Vectors of {n_words} words in {n_periods} periods",
        "Use fewer n_components, a smaller max_features or fewer periods.",
    )


def sites_result(sites, settings, seed, facts):
    """The `Result` of `DriftSites`: draws as far as ``settings`` keeps them, exact moments."""
    rng = np.random.default_rng(seed)
    draws = sites.sample(settings.recorded, rng)
    for name, (_, index) in (settings.rows or {}).items():
        draws[name + ROWS] = sites.draw_words(name, index, settings.draws, rng)
    moments = {
        name: RunningMoments.known(
            sites.mean[name], variance=sites.variance[name], count=max(2, settings.draws)
        )
        for name in SIDES
    }
    facts = {"diffusion": float(sites.prior.diffusion), **facts}
    return drawn(draws, facts, sites, moments=moments)
