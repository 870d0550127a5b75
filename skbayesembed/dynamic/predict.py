"""Vectors at any time, the features of documents there, and predictive probabilities of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..common.random import seed_at
from ..posterior.sources import draws_afresh
from ..sgns.documents.answers import feature_variance as variance_by_units
from ..sgns.predict import (
    PREDICTIVE_DRAWS,
    feature_variance,
    log_score,
    predictive,
    spread,
    word_shares,
)
from ..sgns.vectors import deviations_of
from .model import SIDES

# Where fewer whole draws are recorded and there is an approximation, so many are drawn from it.
FEWEST_DRAWS = 100
# As many for readings that go over words block by block.
SWEEP_DRAWS = 400
# What the keys of words' own streams begin with, on both sides.
_OWN_STREAMS = 3
# Draws of each period where probabilities are averaged over periods, at least.
_FEWEST_IN_MIXTURE = 20
# Numbers in a block of draws from an approximation: 160 MB.
_NUMBERS = 20_000_000


@dataclass(frozen=True)
class Place:
    """How the vectors of a time follow from those of periods: weighted sums plus noise.

    Attributes
    ----------
    parts : list of (int, float or ndarray of shape (n_draws,))
        Periods and their weights, which differ between draws where the diffusion does.
    variance : float or ndarray of shape (n_draws,)
        Of the noise, in each entry.
    """

    parts: list
    variance: float | np.ndarray = 0.0


def place_of(estimator, centre, diffusion=None):
    """The `Place` of a time under the prior, given the vectors of the periods.

    Parameters
    ----------
    estimator : DynamicSGNS
    centre : float
        As `Periods.centre_of` has it.
    diffusion : float or ndarray of shape (n_draws,), optional
        By default that of the estimator.

    Raises
    ------
    KeyError
        If the time is no period's, and draws of a learned diffusion were not kept.
    """
    centres, variance = estimator.periods_.centres, estimator._prior.variance
    after = int(np.searchsorted(centres, centre))
    if after < centres.size and centres[after] == centre:
        return Place([(after, 1.0)])
    rate = estimator._prior.rate(diffusion_draws(estimator) if diffusion is None else diffusion)
    if after in (0, centres.size):
        near = min(after, centres.size - 1)
        angle = rate * abs(centre - centres[near])
        return Place([(near, np.exp(-angle))], -variance * np.expm1(-2 * angle))
    # between two periods, as single times may be: the bridge of the process
    before = after - 1
    left, right = rate * (centre - centres[before]), rate * (centres[after] - centre)
    lost = [-np.expm1(-2 * angle) for angle in (left, right, left + right)]
    return Place(
        [(before, np.exp(-left) * lost[1] / lost[2]), (after, np.exp(-right) * lost[0] / lost[2])],
        variance * lost[0] * lost[1] / lost[2],
    )


def diffusion_draws(estimator):
    """Draws of a learned diffusion; one number where it is fixed, or estimated as ``"vi"`` does.

    A KeyError where they were not kept.
    """
    if _has_diffusion(estimator.posterior_):
        return estimator.posterior_.flat("diffusion").reshape(-1)
    return _known_diffusion(estimator)


def mean_diffusion(estimator):
    """Posterior mean of a learned diffusion, or what is known of it; a float."""
    if _has_diffusion(estimator.posterior_):
        return float(np.mean(estimator.posterior_.mean("diffusion")))
    return _known_diffusion(estimator)


def _has_diffusion(posterior):
    """Whether the diffusion is a parameter with draws, kept or not."""
    return "diffusion" in posterior or "diffusion" in posterior.moments


def _known_diffusion(estimator):
    return float(estimator.posterior_.attrs.get("diffusion", estimator._prior.diffusion))


# Draws -------------------------------------------------------------------------------------------


def reading_seed(estimator, *key):
    """A fresh seed sequence of the estimator's, for draws that are made when it is read."""
    return seed_at(estimator._reading_seed, *key)


def drawn_words(estimator, name, index, n, periods=None):
    """Draws of some words from the approximation, (n, len(periods), len(index), n_components).

    In all periods a word's draws are its own: the same whatever other words they are asked with.
    """
    draw = estimator.posterior_.approximation.draw_words
    side = SIDES.index(name)
    if periods is None:
        seeds = [(w, reading_seed(estimator, _OWN_STREAMS + side, w)) for w in index]
        return np.concatenate([draw(name, [w], n, seed) for w, seed in seeds], axis=2)
    # a word that is named twice has one vector
    words, column = np.unique(index, return_inverse=True)
    # with the first word in the key: blocks of words are independent of each other
    seed = reading_seed(estimator, side, words[0])
    wanted, row = np.unique(periods, return_inverse=True)
    draws = draw(name, words, n, seed, periods=wanted)[:, row]
    return draws if np.array_equal(column, np.arange(words.size)) else draws[:, :, column]


def can_draw(estimator):
    """Whether there is an approximation to draw the vectors of some words from."""
    return draws_afresh(estimator.posterior_)


def enough_recorded(estimator, fewest):
    """Whether draws of all words are to be those that were recorded."""
    posterior = estimator.posterior_
    return posterior.n_chains * posterior.n_draws >= fewest or not can_draw(estimator)


def sweep_chunk(estimator, n_periods):
    """Words whose draws in ``n_periods`` periods fit a block."""
    posterior = estimator.posterior_
    n_draws = posterior.n_chains * posterior.n_draws
    if not enough_recorded(estimator, SWEEP_DRAWS):
        n_draws = SWEEP_DRAWS
    return max(1, _NUMBERS // (max(1, n_draws) * n_periods * estimator.rho_.shape[-1]))


def as_read(estimator, name, draws):
    """All draws of some vectors, (n_draws, ..., n_components), in the form that they are read in.

    That is balanced, unless the estimator is not to balance them.
    """
    balance = estimator._balanced
    return draws if balance is None else balance.read(name, draws)


def squares_as_read(estimator):
    """Variances of a target's entries as they are read, of ones before, (n_components,)."""
    balance = estimator._balanced
    return np.ones(estimator.rho_.shape[-1]) if balance is None else balance.squares


def sweep_draws(estimator, name, periods, index):
    """Draws for readings of all words: (n_draws, len(periods), len(index), n_components).

    The recorded ones, or those of an approximation where few were recorded; as they are read.
    """
    if enough_recorded(estimator, SWEEP_DRAWS):
        draws = estimator.posterior_.flat(name)[:, np.asarray(periods)[:, None], index]
    else:
        draws = drawn_words(estimator, name, index, SWEEP_DRAWS, periods)
    return as_read(estimator, name, draws)


def period_draws(estimator, name, period):
    """Draws of all words' vectors in one period, (n_draws, n_words, n_components).

    A view where they were recorded. As the solver made them, not balanced.
    """
    if enough_recorded(estimator, FEWEST_DRAWS):
        return estimator.posterior_.flat(name)[:, period]
    return drawn_words(
        estimator, name, np.arange(estimator.words_.size), FEWEST_DRAWS, [period]
    )[:, 0]  # fmt: skip


def place_draws(estimator, name, place, rng=None):
    """Draws of all words' vectors at a place, (n, n_words, n_components).

    With ``rng``, evenly spread ones with the noise of the place; without it, all, and no noise.
    """
    if len(place.parts) == 1 and np.ndim(place.parts[0][1]) == 0 and place.parts[0][1] == 1.0:
        draws = period_draws(estimator, name, place.parts[0][0])
        return draws if rng is None else spread(draws)
    total = _sum_of_parts(estimator, name, place.parts, rng is None)
    if rng is None:
        return total
    # a point estimate is one draw, and says nothing of the noise
    total = np.repeat(total, -(-FEWEST_DRAWS // len(total)), axis=0)
    scale = _of_draws(np.sqrt(place.variance), len(total))
    return total + scale * rng.standard_normal(total.shape)


def _sum_of_parts(estimator, name, parts, every):
    """Draws of a weighted sum of periods' vectors: every one, or evenly spread ones."""
    if len(parts) == 1 or enough_recorded(estimator, FEWEST_DRAWS):
        total = 0.0
        for period, weight in parts:
            draws = period_draws(estimator, name, period)
            draws = draws if every else spread(draws)
            total = total + draws * _of_draws(weight, len(draws))
        return total
    # the periods together: vectors of a word are correlated over time
    periods, weights = [p for p, _ in parts], np.array([w for _, w in parts], np.float32)
    n_words, step = estimator.words_.size, sweep_chunk(estimator, len(parts))
    sums = []
    for start in range(0, n_words, step):
        index = np.arange(start, min(start + step, n_words))
        draws = drawn_words(estimator, name, index, FEWEST_DRAWS, periods)
        sums.append(np.einsum("stwk,t->swk", draws, weights))
    return np.concatenate(sums, axis=1)


def _of_draws(value, n):
    """A number, or one for each of ``n`` draws, to be multiplied with draws of vectors."""
    if np.ndim(value) == 0:
        return value
    value = spread(value, n)
    return np.repeat(value, -(-n // len(value)))[:n, None, None]


# Features ----------------------------------------------------------------------------------------


def document_features(estimator, counts, centres, with_std):
    """Count-weighted mean of the posterior-mean targets of each document's words at its time.

    Parameters
    ----------
    estimator : DynamicSGNS
    counts : sparse array of shape (n_documents, n_words)
    centres : ndarray of shape (n_documents,) or None
        Without times, vectors are averaged over periods by their shares of the training pairs.
    with_std : bool
        Append the posterior standard deviation of every feature.

    Returns
    -------
    ndarray of shape (n_documents, n_components) or (n_documents, 2 * n_components)
        Zeros for a document without a known word.
    """
    weights = word_shares(counts)
    k = estimator.rho_.shape[-1]
    out = np.zeros((counts.shape[0], 2 * k if with_std else k))
    for rows, place, _ in places_of(estimator, centres):
        own = weights[rows]
        out[rows, :k] = own @ mean_at(estimator, place)
        if with_std:
            variance = _variance_at(estimator, place, own)
            out[rows, k:] = np.sqrt(variance + _noise_at(estimator, place, own))
    return out


def places_of(estimator, centres):
    """Documents (a slice or indices) of each time, its `Place`, and what the time has for a key.

    Without times there is one group, of the vectors averaged over periods.
    """
    if centres is None:
        shares = [(t, share) for t, share in enumerate(estimator._shares) if share > 0]
        return [(slice(None), Place(shares), 0)]
    return [
        (np.flatnonzero(centres == c), place_of(estimator, float(c)), c.view(np.uint64))
        for c in np.unique(centres).astype(np.float64)
    ]


def _variance_at(estimator, place, weights):
    """Variance of weighted sums of targets at a place, less the noise of the place."""
    deviations = deviations_of(estimator)
    if deviations is None:
        draws = place_draws(estimator, "rho", place)
        return feature_variance(weights, as_read(estimator, "rho", draws))
    parts = [(period, float(np.mean(weight))) for period, weight in place.parts]
    return variance_by_units(deviations.together(parts), weights)


def _noise_at(estimator, place, weights):
    """The noise of a place in weighted sums of targets; a period has none, and needs no draws."""
    noise = np.mean(place.variance)
    if noise == 0.0:
        return 0.0
    squares = np.asarray(weights.multiply(weights).sum(axis=1)).reshape(-1, 1)
    return noise * squares * squares_as_read(estimator)


def mean_at(estimator, place):
    """Posterior means of targets at a place, (n_words, n_components)."""
    total = 0.0
    for period, weight in place.parts:
        if np.ndim(weight):
            draws = as_read(estimator, "rho", estimator.posterior_.flat("rho")[:, period])
            total = total + np.einsum("s,swk->wk", weight, draws) / len(draws)
        else:
            total = total + weight * estimator.rho_[period]
    return total


# Scores ------------------------------------------------------------------------------------------


def mean_log_score(estimator, groups):
    """Mean log posterior predictive probability of held-out observations.

    Parameters
    ----------
    estimator : DynamicSGNS
    groups : list of (float or None, HeldOut)
        Counts of each time; of an unknown time where None.
    """
    total, n = 0.0, 0.0
    for centre, held_out in groups:
        part, size = log_score(_probability(estimator, centre), held_out)
        total, n = total + part, n + size
    return total / n


def _probability(estimator, centre):
    """Predictive probabilities of pairs at a time, a function of targets and contexts."""
    if centre is None:
        return _mixture(estimator)
    # the number of the time itself as the key: what else is scored does not matter
    rng = np.random.default_rng(reading_seed(estimator, 2, np.float64(centre).view(np.uint64)))
    place = place_of(estimator, centre)
    rho, alpha = (place_draws(estimator, name, place, rng) for name in SIDES)
    return lambda rows, columns: predictive(rho, alpha, rows, columns)


def _mixture(estimator):
    shares = estimator._shares
    periods = np.flatnonzero(shares > 0)
    # as many draws in all as for one period
    most = max(_FEWEST_IN_MIXTURE, PREDICTIVE_DRAWS // periods.size)

    def probability(rows, columns):
        total = np.zeros((rows.size, columns.size))
        for t in periods:
            rho, alpha = (spread(period_draws(estimator, name, t), most) for name in SIDES)
            total += shares[t] * predictive(rho, alpha, rows, columns)
        return total

    return probability
