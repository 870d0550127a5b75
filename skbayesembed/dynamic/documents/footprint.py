"""What the first question takes of memory whose answer knows how the text was sampled.

It is known before any of it is worked out, from the numbers of words, periods, components and units
and of the words that units use: whole tables of every period's pairs, and deviations of all
vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ...common.memory import check_memory
from ...inference.conjugate import STEPS_KEPT
from ...sgns.data import KEPT_UPTO
from ...sgns.documents.deviations import numbers_of
from ...sgns.documents.footprint import FIRST_QUESTION, bytes_of_answers, n_places
from ...sgns.documents.response import number_of_splits
from ..laplace.rough import LEARN_FROM, SOFT
from .response import SPLITS

# Linear systems solved in step, and sums of units whose influences are held at a time.
TOGETHER, AT_ONCE = 16, 64
_ADVICE = (
    "Use a smaller max_features, whose square it grows with, uncertainty='model', fewer "
    "n_components or fewer periods."
)


def check_room(
    shape: tuple[int, ...], n_units: int, places: Sequence[int], given: bool, n_jobs: int | None
) -> None:
    """Raise a MemoryError, before any work, if deviations would not fit.

    Parameters
    ----------
    shape : tuple of int
        (n_periods, 2, n_words, n_components).
    n_units : int
    places : list of int
        As of `places_of`.
    given : bool
        Whether pairs were counted by unit elsewhere.
    n_jobs : int or None
    """
    check_memory(
        bytes_needed(shape, n_units, places, given, effective_n_jobs(n_jobs)),
        f"{FIRST_QUESTION} of {shape[2]} words in {shape[0]} periods by {n_units} units",
        _ADVICE,
    )


def places_of(sources: Sequence[Any], index: Any, units: Any, given: bool) -> list[int]:
    """Words of units that influences are worked out for, of each period.

    Parameters
    ----------
    sources : list of CorpusBatches, MatrixBatches or list of PairCounts
        Of each period.
    index : ndarray of int of shape (n_documents,)
        Period of each document.
    units : Units
    given : bool
        Whether ``sources`` are counts.
    """
    found = []
    for t, source in enumerate(sources):
        mine = units.index[index == t]
        if given:
            found.append(np.unique(mine).size * source[0].n_words if source else 0)
        else:
            found.append(n_places(source, mine))
    return found


def bytes_needed(
    shape: tuple[int, ...], n_units: int, places: Sequence[int], given: bool, n_jobs: int = 1
) -> float:
    """Most bytes at once of the deviations, and of what they are worked out with."""
    n_periods, _, n_words, k = shape
    size = 2 * n_periods * n_words * k
    most, n_prior = numbers_of(size // 2)
    n_splits = number_of_splits(size // 2, SPLITS)
    sums = min(n_units, most)
    rows = 4 * (sums + n_prior + 1 + 2 * n_splits) * size
    table = 8 * n_periods * n_words**2
    # counts in double precision, slopes and residuals in single; probabilities in both
    tables = (3.0 if given or n_words > KEPT_UPTO else 4.5) * table
    # what units pull; while those of the largest period are read they are there three times
    pulls = 16 * k * sum(places)
    reading = 2 * 16 * k * max(places)
    # what is made of the prior, and its part of all that is solved
    noise = 2 * 8 * max(n_prior + 1, n_splits) * size
    # turned information of every word
    blocks = 16 * size * k + 64 * n_words * k**2
    solving = n_jobs * TOGETHER * size * 70
    learned = soft = 0
    if size > LEARN_FROM:
        # directions and their images, of which either is there twice for a while
        learned, soft = 2.5 * 4 * STEPS_KEPT * TOGETHER * size, 4 * SOFT * size
    influences = 8 * max(min(AT_ONCE, sums), n_splits) * size
    stages = (
        # the Gaussian: slopes and residuals in double precision, before probabilities are made
        5.0 * table + blocks,
        tables + reading,
        # the dispersion: slopes and residuals in double precision again
        tables + 2 * table + 2 * influences,
        tables + noise + 2 * influences + max(learned, soft + solving + rows),
        tables + noise + soft + 2 * rows,
        tables + noise + soft + 2 * table + rows,
        3 * table + rows + bytes_of_answers(sums + n_prior, k),
    )
    return pulls + max(stages)
