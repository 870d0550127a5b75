"""Chains that go on until their draws tell enough."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.interruption import tell_of_interruption
from ..common.mixing import longest_standstill
from ..common.trial import Measured, current
from . import checkpoint
from .contracts import Result
from .records import Settings

# Recorded draws of a chain below which it is not made longer.
_FEWEST = 4
# Draws that are worth this share of independent ones are enough, or this share of those recorded.
_ENOUGH, _OF_RECORDED = 0.1, 0.2
# What statistics of the moves that lead to a draw are of two draws' moves together.
_TOGETHER = {
    "acceptance": np.mean,
    "n_leapfrog": np.sum,
    "divergent": np.sum,
    "tree_depth": np.max,
}


def wanted(settings: Settings, n_chains: int) -> float:
    """Effective draws that are enough; of draws that are not recorded whole fewer can be had."""
    return n_chains * min(_ENOUGH * settings.draws, _OF_RECORDED * settings.recorded)


def lengthened(
    sample: Callable[[Settings, list[Any] | None], Result],
    settings: Settings,
    enough: Callable[[Result], bool],
    most: int,
) -> Result:
    """Draws of chains that are made twice as long, with draws twice as far apart, until they do.

    Parameters
    ----------
    sample : callable
        ``sample(settings, states)``, as `run_chains`.
    settings : Settings
        Its ``thin`` is where to begin.
    enough : callable
        Whether the draws of a result tell enough.
    most : int
        Largest distance of draws.

    Returns
    -------
    Result
        As many draws as asked for. ``facts["thin"]`` is their distance.

    Warns
    -----
    RuntimeWarning
        If interrupted while chains were made longer: what they had before is kept.

    Notes
    -----
    Chains go on from where they ended, so that the draws are those that a fit with the larger
    distance makes from the start (if their number is even and all are recorded; of others each
    keeps its own statistics). Moments are of all draws made: in them, early parts of the chains
    have more draws than late ones.
    """
    try:
        result = sample(settings, None)
    except Measured:
        trial = current()
        if trial is not None:
            trial.added += trial.parts[-1].seconds * (most / settings.thin - 1.0)
        raise
    thin, n = settings.thin, settings.draws
    longest = most if settings.recorded >= _FEWEST else thin
    while 2 * thin <= longest and not result.facts["interrupted"] and not enough(result):
        thin *= 2
        later = replace(settings, warmup=0, draws=n - n // 2, thin=thin)
        try:
            with checkpoint.active(checkpoint.part(f"thin-{thin}-of-{n}")), _own_words():
                found = sample(later, result.states)
            interrupted = found.facts["interrupted"]
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            thin //= 2
            result.facts["interrupted"] = True
            tell_of_interruption(
                f"Interrupted while the chains were made longer: the {n} draws that each had "
                f"before, {thin} steps apart, are kept."
            )
            break
        result = _joined(result, found, settings.stride)
    result.facts["thin"] = thin
    return result


@contextlib.contextmanager
def _own_words() -> Iterator[None]:
    """Context in which an interruption is not told of as one of the whole fit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Interrupted: the estimator is fitted with")
        yield


def _joined(result, later, stride):
    """Every second draw so far, and the later ones, in the arrays of the first."""
    halves = [values.shape[1] // 2 for values in result.draws.values()]
    halves += [values.shape[1] // (2 * stride) for values in result.stats.values()]
    # of draws that are not recorded whole the first of two is kept, as it has its statistics
    which, half = int(stride == 1), min(halves)
    draws = {
        name: _extended(values, later.draws[name], half, which)
        for name, values in result.draws.items()
    }
    stats = {
        name: _extended(values, later.stats[name], half * stride, which, _TOGETHER.get(name))
        for name, values in result.stats.items()
    }
    for name, moments in result.moments.items():
        moments.merge(later.moments[name])
    facts = dict(later.facts)
    if "divergences" in facts:
        facts["divergences"] += result.facts["divergences"]
        facts["saturated"] = 0.5 * (facts["saturated"] + result.facts["saturated"])
        facts["standstill"] = int(longest_standstill(stats["lp"]).max())
    return replace(result, draws=draws, stats=stats, facts=facts, states=later.states)


def _extended(values, later, half, which, together=None):
    """One of each of ``half`` pairs of draws, or what both are together; behind, the later ones."""
    if together is not None:
        pairs = values[:, : 2 * half].reshape(len(values), half, 2, *values.shape[2:])
        values[:, :half] = together(pairs, axis=2)
    else:
        # one after the other, so that no copy is made of many draws
        for i in range(half):
            values[:, i] = values[:, 2 * i + which]
    # of draws that are not recorded whole there may be one less
    n = min(half + later.shape[1], values.shape[1])
    values[:, half:n] = later[:, : n - half]
    return values[:, :n]
