"""Modes of which chains visit several relabelings."""

import math

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.inference.mode_mass import mean_mass
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.mode import annealed, count_copies, explore, weigh
from skbayesembed.senses.priors import ModelPrior


@pytest.mark.parametrize(
    ("orders", "n"),
    [
        ([[0, 1, 2]] * 9, 1),
        ([[0, 1, 2], [0, 2, 1]], 2),
        ([[0, 1, 2], [1, 0, 2], [0, 2, 1]], 6),
        ([[0, 1, 2, 3], [1, 0, 3, 2]], 4),
        # each of thirty is in the place of another once in thirty draws
        ([np.roll(np.arange(30), k) for k in range(30)], math.factorial(30)),
        # once in a hundred draws is no free exchange
        ([[0, 1]] * 99 + [[1, 0]], 1),
    ],
)
def test_senses_that_change_places_have_copies(orders, n):
    assert count_copies(np.array(orders)) == n


@pytest.mark.slow
def test_a_known_sense_is_half_of_two_that_change_places():
    """Of two senses the first snippet has either alike: knowing which takes half of the mass.

    Without it a chain moves freely between both labelings, as six short snippets tell nothing.
    """
    apart, free = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        counts = sparse.csr_array(rng.poisson(1.0, (6, 5)).astype(float))
        masses, copies = [], []
        for labels in (None, np.array([0, -1, -1, -1, -1, -1])):
            given = Snippets.of(counts, np.zeros(6, int), labels=labels), 2, ModelPrior()
            mode = explore(annealed(*given, rng), *given, rng)
            copies.append(mode.n_copies)
            masses.append(mean_mass([weigh(mode, *given, rng, up) for up in 4 * (False, True)]))
        assert copies[1] == 1
        free.append(copies[0] == 2)
        apart.append(masses[0].value - masses[1].value)
    # a chain of 150 moves may by chance hardly have crossed
    assert np.mean(free) > 0.7
    # log 2 is .69; differences scatter by .15, and chains that have not crossed take .16 off them
    assert abs(np.mean(apart)) < 0.3
