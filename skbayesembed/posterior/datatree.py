"""Data trees for ArviZ: draws, their statistics, log likelihoods of observations, log priors."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..common.checks import check_integer
from ..common.memory import note_size, readable
from .thinning import places_kept, stats_of_draws
from .validation import check_attrs

if TYPE_CHECKING:
    import xarray as xr

# Log likelihoods take up to so many bytes unless a user asks for more: 1 GiB.
LOG_LIKELIHOOD_BYTES = 2**30


@dataclass(frozen=True)
class Observations:
    """Log likelihoods of observations under every draw.

    Attributes
    ----------
    values : ndarray of shape (chain, draw, n_observations)
    dim : str
        Name of the last axis.
    labels : dict of str to ndarray of shape (n_observations,)
        What the observations are, by names that are not ``dim``.
    """

    values: np.ndarray
    dim: str
    labels: dict[str, ArrayLike] = field(default_factory=dict)


# What log likelihoods of a tree are not for, behind other notes.
NOTE_ON_RUNS = (
    " Draws of word vectors (embedding_draws) keep their weights whatever is left out or scaled, "
    "which ArviZ does not know: its loo is too low, and psense measures how the vectors differ."
)


def with_draws(estimator: Any, draws: int | None) -> Any:
    """The estimator, or a copy whose posterior has so many draws in all chains together.

    Statistics of draws are those of the same ones, evenly spaced.
    """
    posterior = estimator.posterior_
    if draws is None:
        return estimator
    check_integer("draws", draws, 1)
    if posterior.n_chains * posterior.n_draws <= draws:
        return estimator
    kept = places_kept(posterior.n_draws, posterior.n_chains, posterior.n_runs, draws)
    stats = stats_of_draws(posterior)
    found = copy.copy(estimator)
    fewer = type(posterior)(
        {name: x[:, kept] for name, x in posterior.items()},
        stats={name: x[:, kept] for name, x in stats.items()},
        dims={name: d for name, d in posterior.dims.items() if name in {*posterior, *stats}},
        coords=posterior.coords,
        attrs=posterior.attrs,
    )
    found._fitted = {**estimator._fitted, "posterior_": fewer}
    return found


def check_log_likelihood(
    posterior: Any, n_observations: int, max_bytes: int, what: str, advice: str | None = None
) -> None:
    """Raise a MemoryError if log likelihoods would take more bytes than asked for.

    Parameters
    ----------
    posterior : Posterior
    n_observations : int
    max_bytes : int
    what : str
        Name of the observations, in the plural.
    advice : str, optional
        What may be done besides taking fewer draws.
    """
    check_integer("max_bytes", max_bytes, 1)
    n_draws = posterior.n_chains * posterior.n_draws
    needed = 8 * int(n_observations) * n_draws
    if needed > max_bytes:
        ways = ["Pass a larger max_bytes", *([] if advice is None else [advice])]
        # as many as `with_draws` keeps
        a_round = posterior.n_chains * posterior.n_runs
        fewer = max_bytes // (8 * int(n_observations)) // a_round * a_round
        # of chains shorter than there are chains ArviZ warns
        if fewer >= posterior.n_chains**2:
            ways.append(f"take fewer draws: to_datatree(X, ..., draws={fewer})")
        raise MemoryError(
            f"The log likelihoods of {n_observations} {what} under {n_draws} draws would take "
            f"{needed} bytes ({readable(needed)}), more than max_bytes={max_bytes}. "
            f"{', or '.join(ways)}."
        )


def check_sampled(solver: str, chains: tuple[str, ...]) -> None:
    """Raise a ValueError where draws are not those of chains."""
    if solver not in chains:
        raise ValueError(
            f"to_datatree(X) needs draws of the posterior: got solver={solver!r}, whose draws (if "
            "any) are those of an approximation. Use solver='gibbs' or 'hmc', or to_datatree() "
            "without X."
        )


def log_prior_of_stats(posterior: Any, power: float = 1.0) -> np.ndarray | None:
    """Log prior density of every recorded draw: what ``lp`` has beside ``log_likelihood``.

    Parameters
    ----------
    posterior : Posterior
    power : float, default=1.0
        Power of the likelihood in ``lp``.

    Returns
    -------
    ndarray of shape (chain, draw) or None
        Up to a constant; None where one of the two was not recorded.
    """
    stats = stats_of_draws(posterior)
    if "lp" not in stats or "log_likelihood" not in stats:
        return None
    return stats["lp"] - power * stats["log_likelihood"]


def data_tree(
    posterior: Any,
    log_likelihood: Mapping[str, Observations] | None = None,
    log_prior: Mapping[str, np.ndarray] | None = None,
) -> xr.DataTree:
    """The data tree of a posterior; see `Posterior.to_datatree`.

    Parameters
    ----------
    posterior : Posterior
    log_likelihood : dict of str to Observations, optional
    log_prior : dict of str to ndarray of shape (chain, draw), optional

    Returns
    -------
    xarray.DataTree
    """
    try:
        from arviz_base import from_dict
    except ImportError as error:
        raise ImportError(
            "to_datatree needs arviz-base: pip install 'skbayesembed[arviz]', or arviz-base and "
            "arviz-stats[xarray]"
        ) from error
    groups: dict[str, Any] = {"posterior": {name: posterior[name] for name in posterior}}
    stats = stats_of_draws(posterior)
    if stats:
        groups["sample_stats"] = stats
    if log_prior:
        groups["log_prior"] = dict(log_prior)
    observed = dict(log_likelihood or {})
    if observed:
        groups["log_likelihood"] = {name: one.values for name, one in observed.items()}
    dims = {name: list(dims) for name, dims in posterior.dims.items()}
    dims |= {name: [one.dim] for name, one in observed.items()}
    facts = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in check_attrs(posterior.attrs).items()
        if value is not None
    }
    tree = from_dict(
        groups,
        sample_dims=["chain", "draw"],
        dims=dims,
        coords=posterior.coords,
        attrs={"posterior": facts},
    )
    for one in observed.values():
        labels = {name: (one.dim, np.asarray(values)) for name, values in one.labels.items()}
        group = tree["log_likelihood"]
        group.dataset = group.to_dataset().assign_coords(labels)
    note_size(
        sum(np.asarray(x).nbytes for group in groups.values() for x in group.values()),
        "this DataTree, and what to_netcdf writes of it, take",
        "to_datatree(draws=200) of an estimator has fewer draws",
    )
    return tree
