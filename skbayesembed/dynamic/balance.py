"""Balanced vectors of all periods: one transformation for all of them together.

The moments of `sgns.balance` are summed over periods, ``sum_t rho_t' rho_t = sum_t alpha_t'
alpha_t``, so that vectors of different periods stay comparable. Where draws were recorded, each has
a transformation of its own. The draws of ``"vi"``, which readings make for a few words at a time,
have that of the posterior means.
"""

from __future__ import annotations

import numpy as np

from ..inference.threads import OneBlasThread
from ..posterior.sources import draws_afresh
from ..sgns.balance import BalancedDraws, balancing
from .model import SIDES


class Balance:
    """How draws of vectors are turned into those that are read.

    Parameters
    ----------
    maps : mapping
        By ``"rho"`` or ``"alpha"``: (K, K), or (n_draws, K, K) with one for each recorded draw.
    fixed : bool
        Whether one map serves all draws.
    """

    def __init__(self, maps, fixed):
        self.maps, self.fixed = maps, fixed

    def read(self, name, draws):
        """Draws (n_draws, ..., n_components) as they are read."""
        maps = self.maps[name]
        if maps.ndim == 3:
            maps = maps.reshape(len(maps), *[1] * (draws.ndim - 3), *maps.shape[1:])
        return draws @ maps

    @property
    def squares(self):
        """Mean over draws of what a target's entry has of independent ones squared, (K,)."""
        squares = np.sum(self.maps["rho"] ** 2, axis=-2)
        return squares.reshape(-1, squares.shape[-1]).mean(axis=0)


class _Places:
    """A `Posterior` whose words in all periods are the rows of one array."""

    def __init__(self, posterior):
        self.posterior = posterior

    @property
    def n_chains(self):
        """Number of chains."""
        return self.posterior.n_chains

    @property
    def n_draws(self):
        """Number of draws of each."""
        return self.posterior.n_draws

    def flat(self, name):
        """Draws, (n_draws, n_periods * n_words, n_components)."""
        draws = self.posterior.flat(name)
        return draws.reshape(len(draws), -1, draws.shape[-1])


class _DrawMaps:
    """Maps of every recorded draw, worked out when they are first asked for."""

    def __init__(self, posterior, reference):
        self.draws = BalancedDraws(_Places(posterior), reference)

    def __getitem__(self, name):
        return self.draws.maps[name]


@OneBlasThread()
def balance_of(posterior):
    """Balanced posterior means, and the `Balance` of draws.

    Parameters
    ----------
    posterior : Posterior

    Returns
    -------
    rho, alpha : ndarray of shape (n_periods, n_words, n_components)
    balance : Balance
    """
    means = [posterior.mean(name) for name in SIDES]
    flat = [x.reshape(-1, x.shape[-1]) for x in means]
    maps = dict(zip(SIDES, balancing(flat), strict=True))
    rho, alpha = (x @ maps[name] for name, x in zip(SIDES, means, strict=True))
    if draws_afresh(posterior):
        return rho, alpha, Balance(maps, True)
    reference = np.stack([x.reshape(-1, x.shape[-1]) for x in (rho, alpha)])
    return rho, alpha, Balance(_DrawMaps(posterior, reference), False)
