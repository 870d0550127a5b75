"""What the first question takes of memory whose answer knows how the text was sampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.memory import allowed_memory, check_memory
from ...inference.conjugate import MOST_STEPS, STEPS_KEPT
from ..batches import ShardBatches
from ..data import KEPT_UPTO, TABLES_UPTO
from ..laplace.soft import MOST
from ..starting import MANY
from .blocks import runs_of_documents
from .deviations import LARGEST, numbers_of
from .response import PAIRS, number_of_splits

# Linear systems solved in step.
TOGETHER = 16
# Entries of a side's vectors beyond which answers are worked out one by one, if it is text that was
# counted: their systems cost less than those of random sums of units, which all answers share.
MOST_ENTRIES = 2_000_000
# Answers by themselves whose systems are solved in step, at most, and the share of free memory that
# these may take.
_MOST_ANSWERS, _SHARE = 16, 0.5
# Bytes of a pair and of a word of a unit that answers by themselves keep, and while these are made.
_PAIR, _MADE_PAIR, _UNIT, _MADE_UNIT = 24, 36, 24, 72
# What messages call it.
FIRST_QUESTION = "The first question with intervals by units,"
_ADVICE = (
    "Use uncertainty='model', fewer n_components, a smaller max_features or a larger min_count."
)


def check_room(
    n_words: int, k: int, n_units: int, n_entries: int, has_tables: bool, alone: bool = False
) -> None:
    """Raise a MemoryError, before any work, if deviations would not fit.

    Parameters
    ----------
    n_words, k, n_units : int
        Words, components and units.
    n_entries : int
        Words of units that influences are worked out for.
    has_tables : bool
        Whether counts of all pairs are kept.
    alone : bool
        Whether answers could be worked out one by one.
    """
    check_memory(
        bytes_needed(n_words, k, n_units, n_entries, has_tables),
        f"{FIRST_QUESTION} of {n_words} words by {n_units} units",
        _ADVICE.replace("Use", "Use by_answer=True,") if alone else _ADVICE,
    )


def goes_by_answer(n_words: int, k: int, n_units: int, n_entries: Callable[[], int]) -> bool:
    """Whether the answers of a model of text are worked out one by one.

    They are where vectors are beyond `MOST_ENTRIES`, or where what all answers share would not fit.
    """
    if n_words * k > MOST_ENTRIES:
        return True
    if n_words <= KEPT_UPTO and n_words * k <= LARGEST:
        return False
    tables = keeps_tables(n_words, False)
    return bytes_needed(n_words, k, n_units, n_entries(), tables) > allowed_memory()[0]


def check_room_by_answer(n_words: int, k: int, n_entries: int, n_pairs: int) -> None:
    """Raise a MemoryError, before any work, if one answer by itself would not fit."""
    check_memory(
        bytes_by_answer(n_words, k, n_entries, n_pairs, 1),
        f"{FIRST_QUESTION} of {n_words} words",
        _ADVICE,
    )


def together_by_answer(n_words: int, k: int, n_entries: int, n_pairs: int) -> int:
    """Answers by themselves whose systems are solved in step, as memory allows."""
    most = _SHARE * allowed_memory()[0]
    numbers = range(2, _MOST_ANSWERS + 1)
    fit = [m for m in numbers if bytes_by_answer(n_words, k, n_entries, n_pairs, m) <= most]
    return max(fit, default=1)


def bytes_by_answer(n_words: int, k: int, n_entries: int, n_pairs: int, m: int) -> float:
    """Most bytes at once of ``m`` answers by themselves, and of what they are worked out with."""
    side = n_words * k
    # the mode, as it is read and as it was, in double precision, and the orbit's and the
    # preconditioner's; two tables of units; counts of pairs in double and single precision
    kept = 2 * side * (4 * 8 + 8 * 4) + _UNIT * n_entries + _PAIR * n_pairs
    # steps and gradients that the search remembers
    search = 2 * side * 20 * 4
    # directions, residuals and images, and sums over columns of each run of rows
    systems = 2 * side * m * (8 * 4 + 2 * 8) + 8 * 4 * side * (m + 1)
    refit = 0
    if n_words >= MANY:
        # what residuals by clusters lack, and directions and images of the steps before
        systems += 34 * side + 2 * side * m * 8 * MOST_STEPS
        # the former once more, directions, counts with other weights and the search with them
        refit = 34 * side + 2 * side * m * 4 * MOST_STEPS + _MADE_PAIR * n_pairs + search
    made = (_MADE_PAIR - _PAIR) * n_pairs
    return max(_MADE_UNIT * n_entries, kept + max(made, search, systems, refit))


def keeps_tables(n_words: int, given: bool) -> bool:
    """Whether counts of all pairs are kept, as those that are given always are."""
    return given or n_words <= TABLES_UPTO


def n_places(source: Any, index: np.ndarray) -> int:
    """Words of units that influences are worked out for; a block of documents has its own.

    Parameters
    ----------
    source : CorpusBatches, MatrixBatches or ShardBatches
    index : ndarray of int of shape (n_documents,)
        Unit of each document.
    """
    if isinstance(source, ShardBatches):
        return int(source.matrix.nnz)
    words, ends = (
        (source.ids, source.offsets)
        if hasattr(source, "ids")
        else (source.matrix.indices, source.matrix.indptr)
    )
    n = 0
    for first, stop in runs_of_documents(source):
        some = words[ends[first] : ends[stop]]
        keys = np.repeat(index[first:stop].astype(np.int64), np.diff(ends[first : stop + 1]))
        keys = keys * source.n_words + some
        n += np.unique(keys[some >= 0]).size
    return n


def bytes_needed(n_words: int, k: int, n_units: int, n_entries: int, has_tables: bool) -> float:
    """Most bytes at once of the deviations, and of what they are worked out with."""
    size = 2 * n_words * k
    most, n_prior = numbers_of(n_words * k)
    splits = number_of_splits(n_words * k)
    # with those that splits are told by, and what their halves do
    rows = min(n_units, most) + n_prior + 1 + 2 * splits
    # directions that the first systems went, and what became of them
    learned = 4 * STEPS_KEPT * TOGETHER * size
    # slopes and residuals in double and single precision, probabilities, counts of both sides
    tables = (2 * 8 + 2 * 4 + 2 * 8 + 4 * 8 * has_tables) * n_words**2
    if n_words > KEPT_UPTO and not has_tables:
        # information and inverse blocks of words; beside them tables were negligible
        tables = 6 * 8 * n_words * k**2
    # what units pull; while documents are read it is there three times
    pulls = 2 * n_entries * 8 * k
    solving = learned + 2 * rows * size * 4 + TOGETHER * size * 64
    # information of words, turned and whitened, and the soft directions of all words together
    blocks = rows * size * 4 + 14 * 8 * n_words * k**2 + 24 * k**4 * (k * k <= MOST)
    asking = rows * size * 4 + bytes_of_answers(rows, k)
    return tables + pulls + max(2 * pulls, solving, blocks, asking)


def bytes_of_answers(rows: int, k: int) -> float:
    """Bytes of the answers that the response is measured by, along so many deviations."""
    return 50 * rows * PAIRS * k
