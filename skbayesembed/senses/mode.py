"""A mode of a sense posterior: found from a start or another mode, explored and weighed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from ..inference.matching import similarity
from ..inference.mode_mass import OPTIONS, Mass, Walker, log_mass
from ..inference.threads import OneBlasThread
from .exchanges import SAME, TRIES, Exchanging, settled
from .model import SenseModel, permuted
from .regroupings import led_further, regrouped

# Powers of the likelihood through which a start is annealed, moves at each, and moves after them.
POWERS = np.geomspace(0.1, 1.0, 20)
_MOVES, SETTLING = 8, 40
# A start is annealed on so many snippets at most; all of them join where it settles.
ANNEALED = 10_000
# First step size of a start, in coordinates whose scale is one; adapted from the first move on.
FIRST_STEP = 0.2
# Its trajectories have some 2**8 steps at most, five times what text needs: counts or variances
# beyond all bounds, to which coordinates do not fit, would take four times as long.
HURRIED = replace(OPTIONS, max_depth=8)
# Moves that a mode's means and information are taken from, in rounds: each improves the next.
ROUNDS = (50, 100, 200)
_KEPT = 8
# From the heaviest mode so many modes beside it are explored.
BESIDE = 3
# Senses have changed places where one has the place of the other in this share of the draws.
_CHANGING = 0.05
# Least probability of a known sense, whose logarithm is taken.
_SMALLEST = 1e-300


@dataclass(repr=False)
class Mode:
    """A mode of the posterior.

    Attributes
    ----------
    arrays : dict of ndarray
        A state in it.
    weights : ndarray of shape (n_senses, n_snippets)
        Its mean probabilities of senses.
    means, information : dict of ndarray
        Of the logits; what its frame is made of.
    states : list of dict of ndarray
        Some of the states that they were taken from.
    mass : Mass or None
        Logarithm of the posterior mass of the mode, up to a constant common to all modes, with its
        standard error; None where it was not weighed, as where there is one mode alone.
    runs : list of Mass
        What that is the mean of.
    n_starts : int
        How many starts ended in it.
    n_exchanges : int
        How many series of exchanges of senses, or regroupings, led to it from another mode.
    n_quiet : int
        How many regroupings from it were tried at the end of the search, and led to no heavier one.
    n_groups : int
        In how many groups the starts were that ended in it, before chains explored them.
    log_likelihood : float
        Mean over the last round.
    log_density : float
        Mean of the log posterior density, of its start while it settled, then over the last round.
    share : float
        Of the posterior, among the modes found.
    n_copies : int
        How many of its relabelings chains within it moved between, as senses that are alike change
        places.
    """

    arrays: dict
    weights: np.ndarray
    n_starts: int
    means: dict = field(default_factory=dict)
    information: dict = field(default_factory=dict)
    states: list = field(default_factory=list)
    mass: Mass | None = None
    log_likelihood: float = np.nan
    log_density: float = np.nan
    share: float = 1.0
    n_exchanges: int = 0
    n_groups: int = 0
    n_quiet: int = 0
    runs: list = field(default_factory=list)
    n_copies: int = 1

    def __repr__(self):
        return (
            f"Mode(share={self.share:.3g}, log_likelihood={self.log_likelihood:.1f}, "
            f"n_starts={self.n_starts})"
        )

    def frame(self, model):
        """Make the coordinates of ``model`` those in which this mode is round; returns it."""
        model.inform(self.means, self.information)
        return model

    def permute(self, order):
        """Put the senses in another order."""
        self.weights = self.weights[order]
        for part in (self.arrays, self.means, self.information, *self.states):
            part.update(permuted(part, order))


def moves_of_start(powers=POWERS, settling=SETTLING):
    """Moves of a start through so many ``powers`` of the likelihood."""
    return len(powers) * _MOVES + settling


def annealed(data, n_senses, prior, rng, powers=POWERS, settling=SETTLING):
    """One start: a draw of the prior, taken through rising powers of the likelihood.

    Of many snippets, a part takes it there: modes stand apart long before all are seen. A trial
    takes fewer powers, and fewer moves to settle.

    Returns
    -------
    Mode
    """
    arrays, step, some = None, FIRST_STEP, data.some(ANNEALED, rng)
    for power in powers:
        model = SenseModel(some, n_senses, prior, power=power)
        theta = model.init(rng) if arrays is None else model.pack(arrays)
        walker = Walker(model, rng, theta, step, HURRIED)
        for _ in range(_MOVES):
            walker.move()
        arrays, step = model.unpack(walker.state.theta), walker.sampler.step
    arrays |= permuted(arrays, order_of_labels(data, n_senses, prior, arrays))
    if some is not data:
        model = SenseModel(data, n_senses, prior)
        walker = Walker(model, rng, model.pack(arrays), step, HURRIED)
    else:
        walker.enter(model.pack(arrays))
    arrays, weights, density = settled(walker, settling)
    return Mode(arrays, weights, 1, log_density=density)


def rejoined(mode, data, n_senses, prior, rng, tries=TRIES):
    """The mode that exchanges of senses lead to from another; None where they lead to none."""
    some = data.some(ANNEALED, rng)
    of_some = Exchanging(some, n_senses, prior, rng, HURRIED)
    found = mode.arrays, mode.weights, mode.log_density
    if some is not data:
        found = of_some.settled(mode.arrays, SETTLING)
    new = of_some.improved(found, tries)
    if new is found or similarity(found[1], new[1], of_some.model.binding) > SAME:
        return None
    if some is not data:
        new = Exchanging(data, n_senses, prior, rng, HURRIED).settled(new[0], SETTLING)
    return led_to(new)


def around(mode, data, n_senses, prior, rng):
    """Modes that one exchange of senses leads to from another: a list."""
    exchanging = Exchanging(data, n_senses, prior, rng, HURRIED)
    states = exchanging.around((mode.arrays, mode.weights, mode.log_density), BESIDE)
    return [led_to(state) for state in states]


def regroup(mode, data, n_senses, prior, rng, which):
    """The state that a regrouping leads to from a mode; None where it leads to none."""

    def divide(some, rng):
        return annealed(some, 2, prior, rng).weights.argmax(axis=0) == 1

    found = mode.arrays, mode.weights, mode.log_density
    return regrouped(found, (data, n_senses, prior), rng, which, divide, HURRIED)


def led_on(state, data, n_senses, prior, rng):
    """The densest state that exchanges lead to from that of a regrouping."""
    return led_further(state, (data, n_senses, prior), rng, HURRIED)


def led_to(state, n_exchanges=1):
    """The mode of a state, as of `settled`, that exchanges led to."""
    arrays, weights, density = state
    return Mode(arrays, weights, 0, log_density=density, n_exchanges=n_exchanges)


def order_of_labels(data, n_senses, prior, arrays):
    """The order of senses that explains the known ones best.

    Few known senses do not keep a start from calling them by other names: the words of the rest
    outweigh them until the likelihood is whole, and then the chain does not find its way back.
    """
    known = np.flatnonzero(data.labels >= 0)
    if known.size == 0:
        return np.arange(n_senses)
    proba = SenseModel(data.unlabelled(), n_senses, prior).sense_proba(arrays)
    score = np.zeros((n_senses, n_senses))
    np.add.at(score, data.labels[known], np.log(np.maximum(proba[known], _SMALLEST)))
    return linear_sum_assignment(-score)[1]


def explore(mode, data, n_senses, prior, rng, rounds=ROUNDS):
    """Fill in means and information of a mode from chains within it; returns the mode."""
    model = SenseModel(data, n_senses, prior)
    model.inform(mode.arrays, model.information_at(mode.arrays))
    for n_moves in rounds:
        walker = Walker(model, rng, model.pack(mode.arrays))
        seen = _Averages()
        for i in range(n_moves):
            walker.move()
            if 4 * i < n_moves:
                continue
            arrays = model.unpack(walker.state.theta)
            sums = model.sums(arrays)
            # a chain may exchange two senses that are alike
            order = model.order_of(mode.weights, sums.weights)
            arrays |= permuted(arrays, order)
            seen.add(model, arrays, sums.permuted(order), walker.state.logp)
            seen.orders.append(order)
            if i % max(1, n_moves // _KEPT) == 0:
                seen.states.append(arrays)
        mode.arrays, mode.states = arrays, seen.states
        mode.means, mode.information = seen.mean(seen.arrays), seen.mean(seen.information)
        mode.weights = seen.weights / seen.n
        mode.log_likelihood, mode.log_density = seen.value / seen.n, seen.density / seen.n
        mode.n_copies = count_copies(np.array(seen.orders))
        mode.frame(model)
    return mode


def explore_again(mode, data, n_senses, prior, rng):
    """`explore` from a mode that was found with somewhat different data."""
    with OneBlasThread():
        return explore(mode, data, n_senses, prior, rng)


def count_copies(orders):
    """How many relabelings there are of senses that change places, in orders (n_draws, K).

    Of K exchangeable senses each is in the place of another in one of K draws.
    """
    n_senses = orders.shape[1]
    share = np.array([np.mean(orders == k, axis=0) for k in range(n_senses)])
    least = 2 * min(_CHANGING, 0.5 / n_senses)
    _, groups = connected_components(share + share.T > least, directed=False)
    return math.prod(math.factorial(n) for n in np.bincount(groups))


class _Averages:
    """Running sums of what a mode is explored for."""

    def __init__(self):
        self.n, self.weights, self.value, self.density = 0, 0.0, 0.0, 0.0
        self.orders = []
        self.arrays, self.information, self.states = {}, {}, []

    def add(self, model, arrays, sums, density):
        self.n += 1
        self.weights = self.weights + sums.weights
        self.value += sums.value
        self.density += density
        information = model.information_at(arrays, sums)
        for totals, values in ((self.arrays, arrays), (self.information, information)):
            for name, x in values.items():
                totals[name] = totals.get(name, 0.0) + x

    def mean(self, totals):
        return {name: total / self.n for name, total in totals.items()}


def weigh(mode, data, n_senses, prior, rng, upward):
    """The log mass of a mode by one run, comparable with that of others.

    A mode has a copy for every relabeling of its senses. Those that chains move between are all in
    the integral over it, which is divided by their number.
    """
    model = mode.frame(SenseModel(data, n_senses, prior))
    start = None if upward else model.pack(mode.states[rng.integers(len(mode.states))])
    mass = log_mass(model, start, rng)
    return Mass(mass.value + model.log_volume() - math.log(mode.n_copies), mass.error)
