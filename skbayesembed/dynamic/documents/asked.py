"""What the first question costs whose answer knows how the text was sampled, by a trial.

As of `sgns.documents.asked`, of systems of all periods together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...common.trial import duration
from ...inference.threads import OneBlasThread
from ...sgns.documents.asked import timed
from ...sgns.documents.deviations import numbers_of
from ...sgns.documents.response import number_of_splits
from ..laplace.rough import RoughSolver
from ..model import SIDES, Curvature, DynamicDensity
from ..priors import DriftPrior
from .density import density_of
from .footprint import check_room, places_of
from .possible import why_not
from .response import SPLITS

# Products that a system takes, with all that is done beside them, those of both searches for the
# mode and of that for the mode of half of the units. State of the Union and UN debates, 400 to
# 1,500 words, took .8 to 2 times as long as these say.
_OF_A_SYSTEM, _OF_SEARCHES, _OF_A_HALF = 30.0, 1400.0, 90.0
# What a system of the prior takes of one of units.
_OF_THE_PRIOR = 0.4
# Directions that are timed together, their size, and a diffusion where it is to be learned.
_ROWS, _SIZE, _DIFFUSION = 4, 0.3, 1e-3
# What a smaller setting is to take at most, in seconds, the fewest words of one, and the components
# that a product would have time for in what it does of every pair of words besides.
_SOON, _FEWEST, _BESIDE = 60.0, 100, 20


def seconds_of_question(estimator: Any, training: Any, clock: Callable[[], float]) -> float | None:
    """CPU seconds of the first question by units; None where answers know of no units.

    Parameters
    ----------
    estimator : DynamicSGNS
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
    counts = [c if c.total > 0 else None for c in training.counts]
    shape = len(counts), training.words.size, int(estimator.n_components)
    units, given = training.units, training.given
    places = places_of(training.sources, training.index, units, given)
    check_room((shape[0], 2, *shape[1:]), units.n_units, places, given, estimator.n_jobs)
    rng = np.random.default_rng(0)
    arrays = {name: _SIZE * rng.standard_normal(shape) for name in SIDES}
    diffusion = _DIFFUSION if estimator.diffusion == "learned" else estimator.diffusion
    prior = DriftPrior(training.periods.gaps, estimator.prior_precision, diffusion)
    density = density_of(counts, prior, arrays)
    return seconds_of_deviations(density, arrays, training.units.n_units, clock)


def seconds_of_deviations(
    density: DynamicDensity,
    arrays: Mapping[str, np.ndarray],
    n_units: int,
    clock: Callable[[], float],
) -> float:
    """Seconds by ``clock`` of all that deviations with so many units take, from any vectors."""
    rng = np.random.default_rng(0)
    n_periods, _, n_words, k = density.shape
    # of the right shapes, which is what products take their time by
    turned = np.tile(np.eye(k), (2, n_words, 1, 1)), np.ones((n_periods, 2 * n_words * k))
    with OneBlasThread():
        curvature = Curvature(density, np.stack([*arrays.values()], axis=1))
        solver = RoughSolver(curvature, 0, turned)
        rows = rng.standard_normal((_ROWS, *density.shape))
        each = timed(lambda: [solver.precondition(solver.image(row)) for row in rows], clock)
    return products_of(density.n_parameters // 2, n_units) * each / _ROWS


def products_of(size: int, n_units: int) -> float:
    """Products that all takes with so many entries of a side's vectors and so many units."""
    most, n_prior = numbers_of(size)
    splits = number_of_splits(size, SPLITS)
    systems = min(n_units, most) + _OF_THE_PRIOR * (n_prior + 1) + splits
    return systems * _OF_A_SYSTEM + _OF_SEARCHES + 2 * splits * _OF_A_HALF


def sooner_question(estimator: Any, training: Any, seconds: float) -> str:
    """As `sooner`, of a first question by units that takes so many seconds."""
    shape = len(training.counts), 2, training.words.size, int(estimator.n_components)
    return sooner(seconds, shape, training.units.n_units)


def sooner(seconds: float, shape: tuple[int, ...], n_units: int) -> str:
    """Advice of how many words and components to fit where an answer is not to take so long.

    Parameters
    ----------
    seconds : float
        What it takes.
    shape : tuple of int
        (n_periods, 2, n_words, n_components).
    n_units : int
    """
    n_periods, _, n_words, k = shape
    products = products_of(n_periods * n_words * k, n_units)

    def taking(words, components):
        # a product goes through every pair of words, whatever its time in components
        more = products_of(n_periods * words * components, n_units) / products
        return seconds * more * (words / n_words) ** 2 * (components + _BESIDE) / (k + _BESIDE)

    words, components = n_words, k
    while taking(words, components) > _SOON and words > _FEWEST:
        words = max(_FEWEST, min(words - 1, int(0.9 * words)))
        # as many components as words are still worth
        components = max(min(k, 10), min(k, round(k * np.sqrt(words / n_words))))
    step = 10 ** (len(str(words)) - 1)
    words = max(words // step * step, min(_FEWEST, n_words))
    least = taking(words, components)
    if least > 0.5 * seconds:
        return ""
    return (
        f"A fit with max_features={words} and n_components={components} answers in about "
        f"{duration(least)}."
    )
