"""Pareto-smoothed importance sampling (PSIS), for predictive densities with a datum left out."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from ..common.warnings import warn_user
from .arviz import array_stats


def smoothed_weights(density: np.ndarray, efficiency: float) -> tuple[np.ndarray, np.ndarray]:
    """Log weights that turn draws of a posterior into draws of one that leaves a datum out.

    Parameters
    ----------
    density : ndarray of shape (n, n_draws)
        Log density of each datum that is left out, given each draw.
    efficiency : float
        Effective number of draws, divided by the number of draws.

    Returns
    -------
    log_weights : ndarray of shape (n, n_draws)
        Their exponentials sum to one in each row. Where no Pareto distribution fits the tail, they
        are those of plain importance sampling.
    pareto_k : ndarray of shape (n,)
        Shape of the Pareto distribution of the largest weights; the estimate is unreliable above
        about 0.7.

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry (2024). Pareto Smoothed Importance Sampling. JMLR 25(72).
    """
    # infinities arise on the way of the fit, which drops them
    with np.errstate(all="ignore"):
        log_weights, pareto_k = array_stats().psislw(density, r_eff=efficiency)
    failed = ~np.isfinite(log_weights).all(axis=1)
    log_weights[failed] = log_softmax(-density[failed], axis=1)
    return log_weights, pareto_k


def warn_of_tails(what: str, good_k: float, instead: str) -> None:
    """Warn that some observations, called ``what``, have a bad Pareto k.

    The text has no figures, which are in the result, so that the same line of the user's warns once
    for several models.
    """
    warn_user(
        f"Some {what} have a Pareto k above {good_k:.2f} (bad_share of the result says how many): "
        "their leave-one-out densities are unreliable. More draws help where k is below 0.7; "
        f"otherwise {instead}.",
        UserWarning,
    )
