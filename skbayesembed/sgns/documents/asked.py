"""What the first question costs whose answer knows how the text was sampled, by a trial.

The linear systems and searches that deviations take (`sampling`, `response`) are made of products
with the Hessian and of passes over the documents. One product and a part of a pass are timed, at
vectors of no meaning, since what they cost does not depend on the vectors; how many there will be
is what was usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.trial import OfAllAnswers, OfOneAnswer, duration
from ...inference.threads import OneBlasThread
from ..batches import ShardBatches
from ..data import pair_table
from ..laplace.hessian import Hessian
from ..model import SGNSModel
from ..priors import Prior
from .deviations import LARGEST, numbers_of
from .footprint import check_room, check_room_by_answer, goes_by_answer, keeps_tables, n_places
from .possible import why_not
from .response import number_of_splits
from .systems import rough_share, seconds_of_product

# Products that a system takes, with all that is done beside them; those of Newton's method; and
# iterations of the search for the mode of half of the units. Inaugural addresses and State of the
# Union, 800 to 2,500 words, took .8 to 1.3 times as long as these say.
_OF_A_SYSTEM, _OF_NEWTON, _OF_A_HALF = 10.0, 50.0, 45.0
# What a system of the prior takes of one of units: its Hessian is nowhere nearly singular.
_OF_THE_PRIOR = 0.5
# Products that answers by themselves take, those that all of them share and those of each; and
# where rare words meet by clusters, exact ones and those by clusters.
_SHARED, _OF_AN_ANSWER = 40.0, 100.0
_SHARED_CLUSTERED, _EXACT, _ROUGH = 20.0, 16.0, 160.0
# Directions that are timed together, fewer in the largest models, their size, and the share of
# documents that are counted.
_ROWS, _FEWER_ROWS, _SIZE, _SHARE = 16, 4, 0.3, 0.05
# What takes so many seconds is timed at once, without a trial before.
_LONG = 0.3
# Seconds of all answers from which on what one takes by itself is worth a word, and the share of
# them up to which it is.
_TOO_LONG, _MUCH_LESS = 120.0, 0.3


def seconds_of_question(estimator: Any, training: Any, clock: Callable[[], float]) -> float | None:
    """CPU seconds of the first question by units; None where answers know of no units.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
    clock : callable
        CPU seconds so far.

    Raises
    ------
    MemoryError
        If it would not fit in memory, before anything of it is made.
    """
    if estimator.uncertainty != "documents" or why_not(estimator, training) is not None:
        return None
    n_words, k = training.words.size, int(estimator.n_components)
    pairs, n_units = training.by_document, training.units.n_units
    given = hasattr(pairs, "parts")
    n_entries = n_units * n_words if given else n_places(pairs.source, training.units.index)
    prior = Prior(n_words, k, 1.0)
    by_answer = not given and estimator.by_answer
    if by_answer == "auto":
        by_answer = goes_by_answer(n_words, k, n_units, lambda: n_entries)
    if by_answer:
        check_room_by_answer(n_words, k, n_entries, training.counts.positive.nnz)
        model = SGNSModel(pair_table(training.counts), k, prior)
        shared, each = seconds_by_answer(model, pairs, clock)
        return OfOneAnswer(shared + each, each)
    sizes = n_words, k, n_units, n_entries, keeps_tables(n_words, given)
    check_room(*sizes, alone=not given)
    model = SGNSModel(pair_table(training.counts), k, prior)
    return seconds_of_all(model, n_units, pairs, clock)


def seconds_of_all(
    model: SGNSModel, n_units: int, pairs: Any, clock: Callable[[], float]
) -> OfAllAnswers:
    """`seconds_of_deviations`, and what one answer by itself takes where that is much less."""
    spent = seconds_of_deviations(model, n_units, pairs, clock)
    if spent < _TOO_LONG or pairs is None or hasattr(pairs, "parts"):
        return OfAllAnswers(spent, None)
    shared, each = seconds_by_answer(model, pairs, clock)
    alone = OfOneAnswer(shared + each, each)
    return OfAllAnswers(spent, alone if alone < _MUCH_LESS * spent else None)


def said_of_one(spent: float) -> str:
    """What answers one by one take, where all of them take so long, a sentence; empty of others."""
    alone = getattr(spent, "alone", None)
    if alone is None:
        return ""
    return (
        "For a few answers, interrupt this and use set_params(by_answer=True): one takes about "
        f"{duration(alone)}, each further one {duration(alone.each)}."
    )


def seconds_by_answer(
    model: SGNSModel, pairs: Any, clock: Callable[[], float]
) -> tuple[float, float]:
    """Seconds by ``clock`` of what all answers by themselves share, and of each of them.

    The rest of the parameters as of `seconds_of_deviations`.
    """
    with OneBlasThread():
        product = seconds_of_product(model, clock)
    one_pass, share = seconds_of_pass(pairs, clock), rough_share(model)
    shared, each = _SHARED, _OF_AN_ANSWER
    if share is not None:
        shared, each = _SHARED_CLUSTERED, _EXACT + _ROUGH * share
    return shared * product + one_pass, each * product + one_pass


def seconds_of_deviations(
    model: SGNSModel, n_units: int, pairs: Any, clock: Callable[[], float]
) -> float:
    """Seconds by ``clock`` of all that deviations of a model with its units take.

    ``pairs`` are those of documents, which are gone through in passes; None if they are not.
    """
    shape = n_words, k = model.n_words, model.n_components
    rng = np.random.default_rng(0)
    x = _SIZE * rng.standard_normal((2, *shape))
    with OneBlasThread():
        hessian = Hessian(model, x).single()
        n_rows = _FEWER_ROWS if n_words * k > LARGEST else _ROWS
        rows = rng.standard_normal((n_rows, *shape), dtype=np.float32)
        alone = timed(lambda: hessian.product(x.astype(np.float32)), clock)
        together = timed(lambda: [hessian.cross(side, rows) for side in (0, 1)], clock) / n_rows
    most, n_prior = numbers_of(n_words * k)
    splits = number_of_splits(n_words * k)
    systems = min(n_units, most) + _OF_THE_PRIOR * (n_prior + 1) + splits
    searches = (_OF_NEWTON + 2 * splits * _OF_A_HALF) * alone
    passes = (2 + 2 * splits) * seconds_of_pass(pairs, clock)
    return systems * _OF_A_SYSTEM * together + searches + passes


def timed(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    """CPU seconds of ``work``, done for the second time unless it takes long."""
    spent = 0.0
    for _ in range(2):
        begun = clock()
        work()
        spent = clock() - begun
        if spent > _LONG:
            break
    return spent


def seconds_of_pass(pairs: Any, clock: Callable[[], float]) -> float:
    """CPU seconds of counting the pairs of all documents; none for those of a shard, counted."""
    if pairs is None or hasattr(pairs, "parts") or isinstance(pairs.source, ShardBatches):
        return 0.0
    n = pairs.n_documents
    size = max(1, int(_SHARE * n))
    begun = clock()
    next(iter(pairs.batches(size, np.random.default_rng(0))))
    return (clock() - begun) * n / size
