"""What the first question takes of memory whose answer knows how the text was sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...common.memory import check_memory
from ...inference.krylov import STEPS_KEPT
from ..batches import ShardBatches
from ..data import KEPT_UPTO, TABLES_UPTO
from ..laplace.soft import MOST
from .blocks import runs_of_documents
from .deviations import numbers_of
from .response import PAIRS, half_weights

# Linear systems solved in step.
TOGETHER = 16
# What messages call it.
FIRST_QUESTION = "The first question with intervals by units,"
_ADVICE = (
    "Use uncertainty='model', fewer n_components, a smaller max_features or a larger min_count."
)


def check_room(n_words: int, k: int, n_units: int, n_entries: int, has_tables: bool) -> None:
    """Raise a MemoryError, before any work, if deviations would not fit.

    Parameters
    ----------
    n_words, k, n_units : int
        Words, components and units.
    n_entries : int
        Words of units that influences are worked out for.
    has_tables : bool
        Whether counts of all pairs are kept.
    """
    check_memory(
        bytes_needed(n_words, k, n_units, n_entries, has_tables),
        f"{FIRST_QUESTION} of {n_words} words by {n_units} units",
        _ADVICE,
    )


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
    keys = np.repeat(index.astype(np.int64), np.diff(ends)) * source.n_words + words
    keys[words < 0] = -1
    parts = (keys[ends[first] : ends[stop]] for first, stop in runs_of_documents(source))
    return sum(np.unique(part[part >= 0]).size for part in parts)


def bytes_needed(n_words: int, k: int, n_units: int, n_entries: int, has_tables: bool) -> float:
    """Most bytes at once of the deviations, and of what they are worked out with."""
    size = 2 * n_words * k
    most, n_prior = numbers_of(n_words * k)
    splits = len(half_weights(2, n_words * k, np.random.default_rng(0)))
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
