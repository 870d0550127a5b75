"""Which draws a thinner posterior keeps, and the statistics of those."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sources import THINNED_FROM

# Set where a thinned posterior was thinned once more: which of the first draws it has is not known.
THINNED_AGAIN = "thinned_again"


def places_kept(n_draws: int, n_chains: int, n_runs: int, n_kept: int) -> np.ndarray:
    """Places in each chain of evenly spaced draws, in whole rounds of the runs.

    Parameters
    ----------
    n_draws : int
        Draws of each chain.
    n_chains : int
    n_runs : int
        See `Posterior.n_runs`; at least one round is kept.
    n_kept : int
        Draws of all chains together.
    """
    each = max(1, n_kept // (n_chains * n_runs))
    rounds = (np.arange(each) * (n_draws // n_runs)) // each
    return np.add.outer(rounds * n_runs, np.arange(n_runs)).ravel()


def thinned_once_more(posterior: Any) -> dict[str, Any]:
    """Facts of what is left of a posterior that is thinned."""
    if THINNED_FROM in posterior.attrs:
        return posterior.attrs | {THINNED_AGAIN: True}
    return posterior.attrs | {THINNED_FROM: posterior.n_draws}


def stats_of_draws(posterior: Any) -> dict[str, np.ndarray]:
    """Statistics of the draws that a posterior has; all of them where it has none.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    dict of str to ndarray of shape (chain, draw, ...)
        Without statistics of which it is not known what draws they belong to.
    """
    attrs, n = posterior.attrs, posterior.n_draws
    if not n:
        return dict(posterior.stats)
    recorded = attrs.get(THINNED_FROM) or n
    stride, n_runs = int(attrs.get("stride") or 1), posterior.n_runs
    kept = np.arange(n)
    if THINNED_FROM in attrs:
        kept = places_kept(recorded, posterior.n_chains, n_runs, posterior.n_chains * n)
    out = {}
    for name, values in posterior.stats.items():
        made, shape = values.shape[1], values.shape[2:]
        if made == n:
            out[name] = values
        elif made % n_runs == 0 and THINNED_AGAIN not in attrs:
            # one in so many of each run, of runs in turn
            rounds = values.reshape(len(values), -1, n_runs, *shape)[:, ::stride]
            every = rounds.reshape(len(values), -1, *shape)
            # where a stride does not divide the draws one more is made than is recorded whole
            if recorded <= every.shape[1] <= recorded + n_runs:
                out[name] = every[:, kept]
    return out
