"""Pareto-smoothed importance sampling (PSIS), for predictive densities with a datum left out."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from ..common.warnings import warn_user
from .arviz import array_stats

# Effective parameters for each observation above which a sum is no estimate of what left-out
# observations would say.
MOST_PARAMETERS = 0.2


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
        log_weights, pareto_k = _fitted(density, efficiency)
    failed = ~np.isfinite(log_weights).all(axis=1)
    log_weights[failed] = log_softmax(-density[failed], axis=1)
    return log_weights, pareto_k


def _fitted(density, efficiency):
    """Smoothed log weights and shapes; NaN where the largest weights are all the same."""
    try:
        found: tuple[np.ndarray, np.ndarray] = array_stats().psislw(density, r_eff=efficiency)
    except ValueError:
        # some versions raise for the one row that has no tail
        if len(density) == 1:
            return np.full(density.shape, np.nan), np.full(1, np.nan)
        half = len(density) // 2
        parts = [_fitted(part, efficiency) for part in (density[:half], density[half:])]
        return tuple(np.concatenate(both) for both in zip(*parts, strict=True))
    return found


def notes_on_parameters(n_parameters: float, n: int, what: str, instead: str) -> list[str]:
    """Line below a score with too many effective parameters for its observations, or none.

    Parameters
    ----------
    n_parameters : float
        ``p_loo`` or ``p_waic``.
    n : int
        Number of observations.
    what : str
        What an observation is called.
    instead : str
        What to do.
    """
    if not n_parameters > MOST_PARAMETERS * n:
        return []
    return [
        f"({n_parameters / n:.2g} effective parameters per {what}, above {MOST_PARAMETERS:g}: elpd "
        f"is not reliable, whatever diagnostics of single ones say; {instead})"
    ]


def warn_of_tails(what: str, good_k: float, instead: str, *, hopeless: bool = False) -> None:
    """Warn that some observations, called ``what``, have a bad Pareto k.

    The text has no figures, which are in the result, so that the same line of the user's warns once
    for several models. It does not recommend more draws to a ``hopeless`` score, of which the
    effective parameters are too many.
    """
    more = "More draws help where k is below 0.7; otherwise "
    if hopeless:
        more = (
            f"The effective parameters are more than {MOST_PARAMETERS:g} per observation, too many "
            "for leave-one-out by weights, whatever the number of draws: "
        )
    warn_user(
        f"Some {what} have a Pareto k above {good_k:.2f} (bad_share of the result says how many): "
        f"their leave-one-out densities are unreliable. {more}{instead}.",
        UserWarning,
    )
