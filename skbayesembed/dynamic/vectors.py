"""The vectors that answers about drifting words are made of: draws of them at places.

A word in a period is a place, ``t * n_words + w`` (see `documents.deviations`).
"""

from __future__ import annotations

import numpy as np

from ..sgns.questions.asking import Vectors
from ..sgns.questions.kinds import Cosines
from ..sgns.questions.operands import together
from ..sgns.questions.phrases import operands_of
from ..sgns.vectors import all_kept, kept_draws
from .model import SIDES
from .predict import as_read, can_draw, drawn_words

# Draws from an approximation for an answer.
DRAWN = 1000


def places_of(estimator, periods, word):
    """Places of a word, or of words, in periods, ndarray of int."""
    return np.asarray(periods) * estimator.words_.size + np.asarray(word)


def cosines_at(estimator, a, b, kind=Cosines):
    """The `Question` of the cosines of pairs of phrases in periods.

    Parameters
    ----------
    estimator : DynamicSGNS
    a, b : list of (Phrase, int)
        With the periods.
    """
    n_words = estimator.words_.size
    operands = [operands_of([phrase], estimator._n_places, t * n_words) for phrase, t in [*a, *b]]
    return kind(together(*operands), np.arange(2 * len(a)).reshape(2, -1).T)


def n_drawn(estimator):
    """Draws behind an answer."""
    return DRAWN if can_draw(estimator) else len(estimator.posterior_.flat("rho"))


def vectors_of(estimator, operands, invariant):
    """`Vectors` of a `DynamicSGNS`: as they are read, or where ``invariant`` as they were drawn.

    From the approximation where words can be drawn from it one by one: a word's draws are then the
    same in every answer. Else of the whole draws that were recorded, or every draw where all the
    words were kept by name and are not to be balanced.
    """
    n_words, k = estimator.words_.size, estimator.rho_.shape[-1]
    posterior, n_draws = estimator.posterior_, n_drawn(estimator)
    whole = not can_draw(estimator)
    balanced = estimator._balanced is not None and not invariant
    kept = whole and not balanced and all_kept(estimator, operands)
    if kept:
        n_draws = int(np.prod(posterior.stats["rho_rows"].shape[:2]))

    def read(side, places, invariant):
        name = SIDES[side]
        period, word = np.divmod(places, n_words)
        words, column = np.unique(word, return_inverse=True)
        if kept:
            found = kept_draws(estimator, name, words)[:, period, column]
        elif whole:
            found = posterior.flat(name)[:, period, word]
        else:
            draws = drawn_words(estimator, name, words, n_draws)
            found = draws[:, period, column].astype(np.float64)
        return found if invariant else as_read(estimator, name, found)

    each = 1 if whole else estimator.periods_.n_periods
    return Vectors(read, n_draws, lambda invariant: k, each)
