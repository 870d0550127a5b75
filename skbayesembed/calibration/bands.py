"""Bands that the whole distribution function of uniform ranks stays in, and p-values by them.

Ranks of the truth among n_draws draws are uniform on 0, ..., n_draws if the draws are from the
posterior (Talts et al. 2018). How many of n ranks lie below each place is then a Markov chain of
binomial steps, so that the probability with which it stays within a band is known exactly
(Säilynoja, Bürkner & Vehtari 2022, "Graphical test for discrete uniformity and its applications",
Statistics and Computing 32, Algorithm 2).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, poisson

# Halvings of the interval that the pointwise level of a band is searched in, on a log scale.
_HALVINGS = 40
# The smallest pointwise level, and p-value, that is told from zero.
_LEAST = 1e-14


def _levels(n, n_draws):
    """Two-sided pointwise p-values of every count at every place, (n_draws, n + 1)."""
    share = np.arange(1, n_draws + 1)[:, None] / (n_draws + 1)
    counts = np.arange(n + 1)
    below, above = binom.cdf(counts, n, share), binom.sf(counts - 1, n, share)
    return np.minimum(1.0, 2 * np.minimum(below, above))


def _limits(levels, level):
    """First and last count at every place whose p-value is above ``level``."""
    inside = levels > level
    last = inside.shape[1] - 1 - np.argmax(inside[:, ::-1], axis=1)
    return np.argmax(inside, axis=1), last


def _stays_inside(low, high, n):
    """Probability that counts of n uniform ranks are within the limits at all places.

    Counts of n uniform ranks are sums of independent Poisson numbers, given that all make n.
    """
    n_draws = low.size
    number = poisson.pmf(np.arange(n + 1), n / (n_draws + 1))
    first, proba = 0, np.ones(1)
    for a, b in zip(low, high, strict=True):
        # first + the entry's place and more of the next place
        sums = np.convolve(proba, number[: b - first + 1])
        proba = sums[a - first : b - first + 1]
        first = a
    last = number[n - first - np.arange(proba.size)]
    return float(proba @ last / poisson.pmf(n, n))


def ecdf_band(n: int, n_draws: int, prob: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the band that contains the whole empirical distribution function of uniform ranks.

    Parameters
    ----------
    n : int
        Number of ranks (replications).
    n_draws : int
        Number of draws that the truth was ranked among: ranks go from 0 to ``n_draws``.
    prob : float, default=0.95
        Probability that no point lies outside the band; at least this, as counts are whole numbers.

    Returns
    -------
    low, high : ndarray of shape (n_draws,)
        Smallest and largest share of ranks that are at most 0, 1, ..., n_draws - 1.

    Examples
    --------
    >>> from skbayesembed.calibration import ecdf_band
    >>> low, high = ecdf_band(100, 15)
    >>> float(low[7]), float(high[7])
    (0.37, 0.63)
    """
    levels = _levels(n, n_draws)
    few, many = np.log(_LEAST), np.log(1 - prob)
    for _ in range(_HALVINGS):
        middle = 0.5 * (few + many)
        low, high = _limits(levels, np.exp(middle))
        if _stays_inside(low, high, n) < prob:
            many = middle
        else:
            few = middle
    low, high = _limits(levels, np.exp(few))
    return low / n, high / n


def uniformity(ranks: np.ndarray, n_draws: int) -> np.ndarray:
    """Return p-values for uniform ranks, based on their whole distribution functions.

    Parameters
    ----------
    ranks : ndarray of int of shape (n, n_quantities)
        From 0 to ``n_draws``.
    n_draws : int

    Returns
    -------
    ndarray of shape (n_quantities,)
        Probability that some point of the distribution function of n uniform ranks is at least as
        improbable as the most improbable one here. Values below 1e-14 are not distinguished.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.calibration import uniformity
    >>> even = np.arange(160)[:, None] % 16
    >>> skewed = even // 2
    >>> (uniformity(np.hstack([even, skewed]), 15) < 0.01).tolist()
    [False, True]
    """
    n = len(ranks)
    levels = _levels(n, n_draws)
    at_most = (ranks[None] <= np.arange(n_draws)[:, None, None]).sum(axis=1)
    out = np.empty(ranks.shape[1])
    for q, counts in enumerate(at_most.T):
        # counts on either side of the middle that are as probable must not differ by rounding
        level = levels[np.arange(n_draws), counts].min() * (1 + 1e-9)
        low, high = _limits(levels, level)
        # a level that all counts of some place are below: nothing could be more usual
        usual = np.all(levels[np.arange(n_draws), low] > level)
        out[q] = 1.0 - _stays_inside(low, high, n) if usual else 1.0
    return np.clip(out, 0.0, 1.0)
