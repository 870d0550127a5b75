"""Answers about drifting vectors by which the response of their deviations is measured."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...sgns.documents.answers import cosine_change, logit_change
from ...sgns.documents.response import PAIRS

# The searches for the modes of halves: the response to within .01 of where they would end. (At
# 1,500 words, 50 components, five periods 1e-3 leaves it .025 too large, 1e-4 .003; at 300 words, 8
# components 1e-3 leaves it .06 too small, 1e-4 .02.)
SEARCH_TOL = 1e-5
# Splits into halves, at least and at most: where there are few deviations modes cost more.
SPLITS = 2, 8


def drift_changes(places, n_words, rng):
    """Changes of logits and cosines of pairs of words at random, each in one period.

    Parameters
    ----------
    places : ndarray of int of shape (n,)
        In ascending order.
    n_words : int
    rng : numpy.random.Generator

    Returns
    -------
    list of callable
        As of `sgns.documents.response.pair_changes`.
    """
    found = []
    # about as many pairs as places, of which some are worked on at a time
    for _ in range(max(1, places.size // PAIRS)):
        a = rng.choice(places, PAIRS)
        # another of the same period
        period = a // n_words
        first, last = (np.searchsorted(places, (period + i) * n_words) for i in (0, 1))
        b = places[rng.integers(first, last)]
        a, b = a[a != b], b[a != b]
        found += [partial(change, a=a, b=b) for change in (logit_change, cosine_change)]
    return found
