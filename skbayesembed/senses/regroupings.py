"""From one mode of a sense posterior to heavier ones: two senses are joined, and one is divided.

Where there are three senses or more, starts may agree in what they join and what they keep apart,
all in one mode, while another division is far heavier. No exchange in time leads there.

A regrouping is a jump to another basin, as in basin hopping (Wales & Doye 1997, J. Phys. Chem. A
101), by a merge and a split (Jain & Neal 2004, J. Comput. Graph. Stat. 13). It is a search and no
move of a chain: what it leads to is weighed.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, product

import numpy as np

from ..inference.matching import similarity
from .exchanges import SAME, Exchanging, densest, senses_of

# Regroupings that are tried in a round, at least and at most, each so often at most.
_LEAST, _MOST, _EACH = 12, 24, 4
# Moves of a regrouping, in parts, between which those are let go of that came back as near as this
# to where they began. From a light mode of *kosmos* 16 of 48 tries of two regroupings led to a far
# heavier mode, nearly all through states that were less dense for the first part and longer.
_PARTS, _BACK = (60, 100, 100), 0.93
# The densest of a round are led further by exchanges, so many of each.
LED, EXCHANGED = 2, 12
# Rounds from a mode without a heavier one after which the search ends. If none of n tries finds
# one, one in 3 / n may still do so, at most, with 95 % certainty (the rule of three).
QUIET = 3


def regroupings(n_senses, rng):
    """Pairs of senses that are joined and the sense that is divided in two, in any order.

    That may be the one that was joined. Of two senses it would be all: a start like any other.
    """
    pairs = combinations(range(n_senses), 2) if n_senses > 2 else ()
    found = [(pair, c) for pair, c in product(pairs, range(n_senses)) if c != pair[1]]
    return [found[i] for i in rng.permutation(len(found))]


def tries_of_round(n_regroupings):
    """How many regroupings a round tries where so many are possible."""
    return min(_MOST, max(_LEAST, n_regroupings)) if n_regroupings else 0


class Tally:
    """Which regroupings from a mode were tried, and which of them led away from it.

    Parameters
    ----------
    n_senses : int
    rng : numpy.random.Generator
    """

    def __init__(self, n_senses, rng):
        self._tried = {which: [0, 0] for which in regroupings(n_senses, rng)}

    def of_round(self):
        """What to try next: the least tried first, and not again what never led away."""
        kept = [which for which, (n, n_away) in self._tried.items() if n_away or not n]
        kept.sort(key=lambda which: self._tried[which][0])
        n = min(tries_of_round(len(self._tried)), _EACH * len(kept))
        return [kept[i % len(kept)] for i in range(n)]

    @property
    def n_tried(self):
        """How many tries were noted."""
        return sum(n for n, _ in self._tried.values())

    def note(self, which, away):
        """Count a try that led away from the mode, or did not."""
        counts = self._tried[which]
        counts[0] += 1
        counts[1] += bool(away)


def regrouped(found, given, rng, which, divide, options):
    """The state that a regrouping leads to; None where it comes back or falls far behind.

    Parameters
    ----------
    found : tuple
        Where it begins, as of `exchanges.settled`.
    given : tuple
        Snippets, number of senses and prior.
    rng : numpy.random.Generator
    which : tuple
        As of `regroupings`.
    divide : callable
        ``divide(data, rng)``: whether snippets are of the second of two senses, (n_snippets,).
    options : HamiltonianOptions

    Returns
    -------
    tuple or None
        As of `exchanges.settled`.
    """
    data, ((a, b), c) = given[0], which
    senses, unknown = senses_of(data, found[1])
    joined = np.where(unknown & (senses == b), a, senses)
    places = np.flatnonzero(unknown & (joined == c))
    if places.size < 2:
        return None
    joined[places[divide(data.at(places), rng)]] = b
    exchanging = Exchanging(*given, rng, options)

    def lost(new):
        return new is None or similarity(found[1], new[1], exchanging.model.binding) > _BACK

    new = exchanging.from_held(joined, found, _PARTS[0])
    for n_moves in _PARTS[1:]:
        if lost(new):
            break
        new = exchanging.near(new[0], found, n_moves)
    return None if lost(new) else new


def led_further(state, given, rng, options):
    """The densest state that some exchanges lead to from one, which it may be itself."""
    return Exchanging(*given, rng, options).improved(state, EXCHANGED)


def apart(states, known, binding, least):
    """The densest of states that are alike, and how many were, without those of known modes.

    Parameters
    ----------
    states : list of tuple
        As of `exchanges.settled`.
    known : list of ndarray of shape (n_senses, n_snippets)
        Probabilities of senses.
    binding : ndarray of shape (n_snippets,)
    least : float
        Log density that they have at least.

    Returns
    -------
    list of tuple
        A state and a count, the densest first.
    """
    alike = partial(similarity, binding=binding)
    kept: list = []
    for state in densest(states):
        if state[2] < least or any(alike(weights, state[1]) >= SAME for weights in known):
            continue
        near = [i for i, (one, _) in enumerate(kept) if alike(one[1], state[1]) >= SAME]
        if near:
            kept[near[0]][1] += 1
        else:
            kept.append([state, 1])
    return [tuple(one) for one in kept]
