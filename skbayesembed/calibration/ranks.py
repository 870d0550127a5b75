"""Simulation-based calibration: ranks of true values among posterior draws (Talts et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from ..common.random import seed_sequence


def rank_among(draws: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ranks of true values among draws, with ties broken at random.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n_quantities)
    truth : ndarray of shape (n_quantities,)
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int of shape (n_quantities,)
        From 0 to ``n_draws``.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.calibration import rank_among
    >>> draws = np.arange(10.0)[:, None]
    >>> rank_among(draws, np.array([3.5]), np.random.default_rng(0)).tolist()
    [4]
    """
    draws, truth = np.asarray(draws), np.asarray(truth)
    equal = (draws == truth).sum(axis=0)
    return (draws < truth).sum(axis=0) + rng.integers(0, equal + 1)


def simulated_ranks(
    replicate: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]],
    n: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return ranks of the truth in replications of prior, data and posterior.

    Parameters
    ----------
    replicate : callable
        ``replicate(rng)`` draws a truth from the prior and data given it, samples the posterior,
        and returns the draws, (n_draws, n_quantities), approximately independent, and the true
        values, (n_quantities,). It must be picklable.
    n : int
        Number of replications.
    random_state : int, RandomState instance or None, default=None
        An int gives the same ranks every time, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        Number of processes (or of what joblib's backend offers); None is one.

    Returns
    -------
    ndarray of int of shape (n, n_quantities)

    Examples
    --------
    >>> from skbayesembed.calibration import simulated_ranks, uniformity
    >>> def normal_mean(rng):
    ...     mean = rng.normal()
    ...     data = mean + rng.normal(size=4)
    ...     return data.sum() / 5 + rng.normal(size=(15, 1)) / 5**0.5, [mean]
    >>> ranks = simulated_ranks(normal_mean, 200, random_state=0)
    >>> bool(uniformity(ranks, 15)[0] > 0.01)
    True
    """
    seeds = seed_sequence(random_state).spawn(n)
    return np.array(Parallel(n_jobs=n_jobs)(delayed(_ranks_of)(replicate, s) for s in seeds))


def _ranks_of(replicate, seed):
    rng = np.random.default_rng(seed)
    draws, truth = replicate(rng)
    return rank_among(draws, truth, rng)
