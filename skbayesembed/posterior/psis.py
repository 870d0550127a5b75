"""Pareto-smoothed importance sampling for leave-one-out densities."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from .arviz import array_stats


def smoothed_weights(density: np.ndarray, efficiency: float) -> tuple[np.ndarray, np.ndarray]:
    """Log weights of leave-one-out by Pareto-smoothed importance sampling, and shapes of tails.

    Parameters
    ----------
    density : ndarray of shape (n, n_draws)
        Log densities of what is left out.
    efficiency : float
        Effective draws per draw.

    Returns
    -------
    log_weights : ndarray of shape (n, n_draws)
        Normalised. Where the fit of a tail has no positive scale, those of plain importance
        sampling.
    pareto_k : ndarray of shape (n,)
    """
    # the fit of a tail passes through infinities that it knows how to drop
    with np.errstate(all="ignore"):
        log_weights, pareto_k = array_stats().psislw(density, r_eff=efficiency)
    failed = ~np.isfinite(log_weights).all(axis=1)
    log_weights[failed] = log_softmax(-density[failed], axis=1)
    return log_weights, pareto_k
