"""Variational inference of drifting vectors: smoothing over all periods, and its posterior."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...common.memory import check_memory
from ...common.warnings import warn_user
from ...posterior.posterior import Posterior, RunningMoments
from ..model import SIDES
from ..recording import coords_of, dims_of
from .expected import ExpectedPairs
from .smoothing import Smoothing, climb, dynamic_start, static_start

# Arrays of the size of the vectors, in single precision, that a fit holds at once.
_ARRAYS = 26


def vi_posterior(estimator, counts, prior, words, settings, seeds, run):
    """Fit all trajectories by skip-gram smoothing and draw from the approximation.

    Parameters
    ----------
    estimator : DynamicSGNS
        Its ``max_iter`` (gradients), ``tol``, ``verbose`` and ``keep_draws``.
    counts : list of PairCounts
        One for each period.
    prior : DriftPrior
    words : ndarray of str of shape (n_words,)
    settings : Settings
        ``draws`` and what is recorded of them.
    seeds : SeedSequence
    run : callable
        Maps a function over units of work.

    Returns
    -------
    Posterior
        One chain of independent draws; exact means and variances as moments; the `DriftSites` as
        ``posterior.approximation``.

    Raises
    ------
    MemoryError
        If the arrays of the fit would not fit.
    """
    check_arrays(prior.n_periods, words.size, estimator.n_components)
    start_seed, draw_seed = seeds.spawn(2)
    precision, k = 1.0 / prior.variance, estimator.n_components
    rng = np.random.default_rng(start_seed)
    static = static_start(counts, k, precision, rng, run)
    pairs = ExpectedPairs(counts)
    mean, lam = dynamic_start(static, pairs, prior, rng)
    smoothing = Smoothing(pairs, prior, mean, lam, run)
    elbo, n_iter, converged, interrupted = climb(
        smoothing, max_iter=estimator.max_iter, tol=estimator.tol, verbose=estimator.verbose
    )
    warn_of_end(estimator, converged, interrupted)
    facts = {"n_iter": n_iter, "converged": converged, "interrupted": interrupted}
    facts["elbo"] = float(elbo[-1])
    return sites_posterior(estimator, smoothing.sites(elbo), words, settings, draw_seed, facts)


def check_arrays(n_periods, n_words, n_components):
    """Raise a MemoryError unless the arrays of a fit fit."""
    check_memory(
        4 * _ARRAYS * 2 * n_periods * n_words * n_components,
        f"Vectors of {n_words} words in {n_periods} periods",
        "Use fewer n_components, a smaller max_features or fewer periods.",
    )


def warn_of_end(estimator, converged, interrupted):
    """Warn of a fit that was interrupted or did not converge."""
    if interrupted:
        warn_user("Interrupted: the estimator is fitted as far as it had come.", RuntimeWarning)
    elif not converged:
        warn_user(
            f"The bound still rose by more than 10 tol={10 * estimator.tol:g} of its size in the "
            f"last round of max_iter={estimator.max_iter} gradients: raise max_iter, or tol.",
            ConvergenceWarning,
        )


def sites_posterior(estimator, sites, words, settings, seed, facts):
    """The `Posterior` of `DriftSites`: draws as far as ``settings`` keeps them, exact moments."""
    rng = np.random.default_rng(seed)
    draws = {name: value[None] for name, value in sites.sample(settings.recorded, rng).items()}
    stats, kept = {}, None
    if settings.rows is not None:
        kept = list(estimator.keep_draws)
        for name, (_, index) in settings.rows.items():
            stats[f"{name}_rows"] = sites.draw_words(name, index, settings.draws, rng)[None]
    moments = {
        name: RunningMoments.known(
            sites.mean[name], variance=sites.variance[name], count=max(2, settings.draws)
        )
        for name in SIDES
    }
    attrs = {"solver": "vi", "diffusion": float(sites.prior.diffusion), **facts}
    posterior = Posterior(
        draws,
        stats=stats,
        moments=moments,
        dims=dims_of(draws | stats),
        coords=coords_of(words, draws, kept),
        attrs=attrs,
    )
    posterior.approximation = sites
    return posterior
