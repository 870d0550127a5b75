"""From one mode of a sense posterior to denser ones: two senses exchange their snippets in time.

Where a word has changed, each era has clusters of its own, and there are about as many modes as
ways of joining those of one era to those of the next. Annealing joins what is alike in a blur, from
where no chain comes back, so that few starts find the best way; an exchange changes one joint.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from ..inference.matching import mean_of_aligned
from ..inference.mode_mass import Walker
from .model import SenseModel

# States whose probabilities of senses have at least this cosine are of one mode.
SAME = 0.85
# Exchanges that are tried from a mode, at most.
TRIES = 24
# Moves while the senses of all snippets are held, which bring the logits to them, and without.
_HELD, _FREE = 15, 30
# An exchange is given up where, half way through the free moves, it is behind by so many standard
# deviations of a log density, and is taken where it is ahead by this.
_BEHIND, _AHEAD = 3.0, 5.0


def settled(walker, n_moves, least=-np.inf):
    """The state of a `Walker` after some moves, mean weights and log density of the second half.

    None where the log density is below ``least`` half way.
    """
    model, weights, densities = walker.model, [], []
    for i in range(n_moves):
        walker.move()
        if 2 * i >= n_moves:
            weights.append(model.sense_proba(model.unpack(walker.state.theta)).T)
            densities.append(walker.state.logp)
        elif walker.state.logp < least and 2 * i + 2 >= n_moves:
            return None
    arrays = model.unpack(walker.state.theta)
    return arrays, mean_of_aligned(weights, model.binding), float(np.mean(densities))


def exchanges(data, n_senses, rng):
    """Pairs of senses and the periods in which they exchange snippets, in any order."""
    n = data.n_periods
    spans = [np.arange(n) >= t for t in range(1, n)]
    spans += [np.arange(n) == t for t in range(1, n - 1)]
    found = [(pair, span) for pair in combinations(range(n_senses), 2) for span in spans]
    return [found[i] for i in rng.permutation(len(found))]


class Exchanging:
    """Exchanges of senses from states of a model.

    Parameters
    ----------
    data, n_senses, prior
        What the model is made of.
    rng : numpy.random.Generator
    options : HamiltonianOptions
        Of all moves.

    Attributes
    ----------
    model : SenseModel
    deviation : float
        Standard deviation of a log density of as many parameters.
    """

    def __init__(self, data, n_senses, prior, rng, options):
        self.model, self._given = SenseModel(data, n_senses, prior), (data, n_senses, prior)
        self._rng, self._options = rng, options
        self.deviation = np.sqrt(0.5 * self.model.n_parameters)
        self._slack = _BEHIND * self.deviation

    def settled(self, arrays, n_moves, least=-np.inf):
        """As `settled`, from a state of the model."""
        return settled(self._walker(self.model, arrays), n_moves, least)

    def improved(self, found, tries):
        """The densest state that some tries lead to from ``found``, which it may be itself.

        States are as `settled` returns them.
        """
        todo = self._exchanges()
        while todo and tries > 0:
            tries -= 1
            new = self._tried(found, todo.pop())
            if new is not None and new[2] > found[2] + _AHEAD:
                found, todo = new, self._exchanges()
        return found

    def around(self, found, n_kept):
        """The ``n_kept`` densest states that one exchange leads to from ``found``."""
        todo = [*self._exchanges(), *self._exchanges()]
        return densest([self._tried(found, exchange) for exchange in todo[:TRIES]])[:n_kept]

    def from_held(self, held, found, n_moves):
        """The state after moves with all senses held, and without; None where it falls behind."""
        data, n_senses, prior = self._given
        of_held = SenseModel(replace(data, labels=held), n_senses, prior)
        begun, *_ = settled(self._walker(of_held, found[0]), _HELD)
        return self.near(begun, found, n_moves)

    def near(self, arrays, found, n_moves):
        """As `settled`; None where it falls far behind the state ``found``."""
        return self.settled(arrays, n_moves, least=found[2] - self._slack)

    def _exchanges(self):
        return exchanges(*self._given[:2], self._rng)

    def _tried(self, found, exchange):
        """What an exchange leads to; None where it changes nothing or falls far behind."""
        held = _exchanged(self._given[0], found[1], *exchange)
        return None if held is None else self.from_held(held, found, _FREE)

    def _walker(self, model, arrays):
        return Walker(model, self._rng, model.pack(arrays), options=self._options)


def _exchanged(data, weights, pair, span):
    """Senses of all snippets after an exchange; None where it changes none."""
    (a, b), (senses, unknown) = pair, senses_of(data, weights)
    here, held = span[data.periods] & unknown, senses.copy()
    held[here & (senses == a)], held[here & (senses == b)] = b, a
    return None if np.array_equal(held, senses) else held


def senses_of(data, weights):
    """The most probable sense of each snippet, or the known one, and which are not known."""
    unknown = data.labels < 0
    return np.where(unknown, np.argmax(weights, axis=0), data.labels), unknown


def densest(states):
    """States in the order of their density, without those that are None."""
    return sorted((new for new in states if new is not None), key=lambda new: -new[2])
