"""Parallel tempering across powers of the likelihood.

A posterior with several modes is sampled at powers ``b`` of its likelihood from one down to a
power so small that chains go from mode to mode, all at once; neighbours swap their states with the
probability that leaves every power's posterior invariant. Swaps alternate between even and odd
neighbours, so that states travel along the ladder instead of diffusing (Syed et al. 2022,
Non-reversible parallel tempering, J. R. Stat. Soc. B 84).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skbayesembed.inference.mode_mass import Walker


def ladder(powers, means, spacing):
    """Powers between which neighbours swap about equally often.

    The variance of the log likelihood at a power is the slope of its mean there; neighbours are
    put ``spacing`` standard deviations apart.

    Parameters
    ----------
    powers : ndarray of shape (n,)
        Ascending.
    means : ndarray of shape (n,)
        Mean log likelihood at each.
    spacing : float

    Returns
    -------
    ndarray of shape (n_rungs,)
        Ascending, from the first to the last of ``powers``.
    """
    rise = np.maximum(np.diff(np.maximum.accumulate(means)), 1e-12)
    step = np.diff(powers)
    length = np.concatenate([[0.0], np.cumsum(np.sqrt(rise * step))])
    n_rungs = max(2, math.ceil(length[-1] / spacing) + 1)
    return np.interp(np.linspace(0, length[-1], n_rungs), length, powers)


@dataclass
class TemperingRun:
    """What `temper` found.

    Attributes
    ----------
    states : list of dict of ndarray
        States at power one, one a sweep after the first half.
    log_density : ndarray of shape (n,)
        Their log posterior densities.
    visits : ndarray of shape (n,)
        States with the same number came up from the smallest power together.
    powers, rejection : ndarray
        The ladder, and how often neighbours refused to swap.
    n_round_trips : int
        How often a state travelled from the smallest power to one.
    """

    states: list
    log_density: np.ndarray
    visits: np.ndarray
    powers: np.ndarray
    rejection: np.ndarray
    n_round_trips: int


def temper(model_at, powers, starts, rngs, *, n_sweeps):
    """Parallel tempering over ``powers``.

    Parameters
    ----------
    model_at : callable
        ``model_at(power)`` is the model with that power of the likelihood, with coordinates of its
        own: it has a log density, ``log_likelihood``, ``pack`` and ``unpack``.
    powers : ndarray of shape (n,)
        Ascending to one.
    starts : list of dict of ndarray
        A state for each power.
    rngs : list of numpy.random.Generator
        One for the swaps, then one for each power.
    n_sweeps : int
        The first half adapts step sizes and is discarded.

    Returns
    -------
    TemperingRun
    """
    n, half = len(powers), n_sweeps // 2
    walkers = []
    for power, rng, arrays in zip(powers, rngs[1:], starts, strict=True):
        at_power = model_at(power)
        walkers.append(Walker(at_power, rng, at_power.pack(arrays)))
    replica, trips, from_hot = np.arange(n), np.zeros(n, dtype=int), np.zeros(n, dtype=bool)
    refused, tried = np.zeros((2, n - 1))
    states, density, visits = [], [], []
    for sweep in range(n_sweeps):
        for walker in walkers:
            if sweep == half:
                walker.freeze()
            walker.move()
        _swap(walkers, powers, sweep % 2, rngs[0], replica, refused, tried)
        from_hot[replica[0]] = True
        cold = replica[-1]
        if from_hot[cold]:
            from_hot[cold] = False
            trips[cold] += 1
        if sweep >= half:
            state = walkers[-1].state
            states.append(walkers[-1].model.unpack(state.theta))
            density.append(state.logp)
            visits.append(cold + n * trips[cold])
    rejection = refused / np.maximum(tried, 1)
    found = np.array(density), np.array(visits)
    return TemperingRun(states, *found, np.asarray(powers), rejection, int(trips.sum()))


def _swap(walkers, powers, parity, rng, replica, refused, tried):
    """Propose to swap the states of every second pair of neighbours."""
    values = [w.model.log_likelihood(w.state.theta) for w in walkers]
    for i in range(parity, len(walkers) - 1, 2):
        log_ratio = (powers[i + 1] - powers[i]) * (values[i] - values[i + 1])
        accept = math.exp(min(0.0, log_ratio))
        refused[i] += 1 - accept
        tried[i] += 1
        if rng.random() < accept:
            low, high = walkers[i], walkers[i + 1]
            of_low, of_high = (w.model.unpack(w.state.theta) for w in (low, high))
            low.enter(low.model.pack(of_high))
            high.enter(high.model.pack(of_low))
            replica[[i, i + 1]] = replica[[i + 1, i]]
