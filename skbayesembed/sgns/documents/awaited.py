"""What those who wait for intervals by units are told: what is awaited, how long, how far it is."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from ...common.trial import duration, telling
from ...common.warnings import note_user

# What every line begins with, and the steps of the work: the mode, deviations, modes of halves.
_NAME = "intervals by units"
_STEPS = 3
# Reports that the rate is taken from.
_RECENT = 8
# Seconds from which on a wait is long, and between two lines about it where none were asked for.
_LONG, _BETWEEN = 60.0, 30.0


class Awaited:
    """Lines about one set of deviations.

    Parameters
    ----------
    verbose : int
        1 prints how far they are. With 0 it is said once, on the standard error stream, that they
        will take a while.
    """

    # Entries of the vectors of a side from which on the time is estimated, and seconds from which
    # on it is told.
    timed, patience = 5_000, 5.0

    def __init__(self, verbose: int) -> None:
        self._verbose, self._begun = verbose, time.monotonic()
        self._long, self._told = False, self._begun
        self._reports: list[tuple[float, int]] = []

    def announce(self, n_entries: int, seconds: Callable[[], float]) -> None:
        """Say how long an answer will take, ``seconds()`` that are worked out where it does."""
        expected = seconds() if n_entries >= self.timed else 0.0
        some = "moments"
        if expected > 1:
            some = f"about {duration(expected)} of processor time, to a factor of 3"
        # who waits so long is told how far it is in any case
        self._long = expected >= _LONG
        if self._verbose:
            print(f"{_NAME}: {some}, once for all questions", flush=True)
        elif expected >= self.patience:
            note_user(
                f"{_NAME} are worked out, once for all questions: {some}, and longer where other "
                "work keeps this machine busy; with verbose=1 they tell how far they are. Answers "
                "without them are there at once after set_params(uncertainty='model'), and save "
                "keeps them."
            )

    def search(self, step: int, what: str) -> contextlib.AbstractContextManager[Any]:
        """Context of a search, part of a step of the work, which tells how far it is."""
        text = f"{_NAME}, {step} of {_STEPS}: {what}"
        if self._long and not self._verbose:
            note_user(text)
        return telling(text if self._verbose else None)

    def solved(self, done: int, total: int) -> None:
        """So many of the linear systems are done."""
        now = time.monotonic()
        if not self._verbose and (not self._long or now - self._told < _BETWEEN):
            return
        self._told = now
        self._reports = [*self._reports[1 - _RECENT :], (now, done)]
        text = f"{_NAME}, 2 of {_STEPS}: {done} of {total} deviations, {now - self._begun:.0f} s"
        each = seconds_of_each(self._reports)
        if done < total:
            # the first ones take longest
            left = "not known yet" if each is None else f"{(total - done) * each:.0f} s"
            text += f", time left {left}"
        if self._verbose:
            print(text, flush=True)
        else:
            note_user(text)


def seconds_of_each(reports: Sequence[tuple[float, int]]) -> float | None:
    """Seconds that one takes, from reports of a time and of how many were done; None of one report.

    The median over all pairs of reports: neither one that was held up moves it, nor threads that
    report together.
    """
    pairs = itertools.combinations(reports, 2)
    rates = [(end - start) / (more - less) for (start, less), (end, more) in pairs]
    return median(rates) if rates else None
