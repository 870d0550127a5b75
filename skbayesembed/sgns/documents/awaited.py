"""What those who wait for intervals by units are told: what is awaited, how long, how far it is."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from ...common.trial import duration, say_line, telling
from ...common.warnings import note_user

# What every line begins with, and the steps of the work: the mode, deviations, modes of halves.
_NAME = "intervals by units"
_LOOKED_AT = "whether words vary more by document than the model takes them to"
_STEPS = 3
# What else is said of a wait, the first time in a process.
_HOW = (
    ", and longer where other work keeps this machine busy; verbose=1 shows progress. For answers "
    "at once, without these intervals, use set_params(uncertainty='model'). save() stores the "
    "intervals"
)
# Reports that the rate is taken from.
_RECENT = 8
# Seconds from which on a wait is long, between two lines about it where none were asked for, and
# between two lines about one part of the linear systems.
_LONG, _BETWEEN, _OF_A_PART = 60.0, 30.0, 20.0
# Seconds from which on a smaller fit is worth a word.
_TOO_LONG = 120.0


class Awaited:
    """Lines about one set of deviations.

    Parameters
    ----------
    verbose : int
        1 prints how far they are. With 0 it is said once, on the standard error stream, that they
        will take a while, and how far they are from a minute on.

    Attributes
    ----------
    of_model : bool
        Whether a fit whose intervals are the model's looks at the units' mode only to see whether
        these are too narrow: lines then say so, and no intervals are announced.
    """

    # Entries of the vectors of a side from which on the time is estimated, and seconds from which
    # on it is told.
    timed, patience = 5_000, 5.0
    # Whether it was said in this process what there is to do about a wait.
    explained = False

    def __init__(self, verbose: int) -> None:
        self.of_model = False
        # threads report together, and one of them is to say it
        self._lock = threading.Lock()
        self.verbose, self._begun = verbose, time.monotonic()
        self._told, self._spent = self._begun, time.process_time()
        self._expected, self._revised = 0.0, False
        self._first, self._before = 0.0, 0.0
        self._reports: list[tuple[float, int]] = []

    def announce(
        self,
        n_entries: int,
        seconds: Callable[[], float],
        sooner: Callable[[float], str] | None = None,
    ) -> None:
        """Say how long an answer will take, ``seconds()`` that are worked out where it does.

        ``sooner`` makes of the seconds advice how to have an answer sooner.
        """
        if self.of_model:
            return
        expected = self._expected = seconds() if n_entries >= self.timed else 0.0
        some = "moments"
        if expected > 1:
            some = f"about {duration(expected)} of processor time, to a factor of 3"
        advice = "" if sooner is None or expected < _TOO_LONG else f" {sooner(expected)}"
        if self.verbose:
            say_line(f"{_NAME}: {some}, once for all questions{advice and '.'}{advice}")
        elif expected >= self.patience:
            how = "" if Awaited.explained else _HOW
            text = f"{_NAME} are worked out, once for all questions: {some}"
            Awaited.explained |= note_user(f"{text}{how}.{advice}")

    def search(self, step: int, what: str) -> contextlib.AbstractContextManager[Any]:
        """Context of a search, part of a step of the work, which tells how far it is."""
        label = _LOOKED_AT if self.of_model else f"{_NAME}, {step} of {_STEPS}"
        return telling(f"{label}: {what}", self._say)

    def solving(self) -> None:
        """The linear systems begin."""
        self._first, self._reports = time.monotonic(), []
        self._before = self._gone()

    def product(self, total: int) -> None:
        """A product that linear systems take; ``total`` of them are to be solved."""
        with self._lock:
            if time.monotonic() - max(self._told, self._first) >= _OF_A_PART:
                done = self._reports[-1][1] if self._reports else 0
                self._say(self._of_systems(done, total))

    def solved(self, done: int, total: int) -> None:
        """So many of the linear systems are done."""
        with self._lock:
            self._reports = [*self._reports[1 - _RECENT :], (time.monotonic(), done)]
            self._revise(done / total)
            self._say(self._of_systems(done, total))

    def _of_systems(self, done, total):
        gone = time.monotonic() - (self._first or self._begun)
        share = f"{100 * done // total} % of {total} deviations"
        text = f"{_NAME}, 2 of {_STEPS}: {share}, {gone:.0f} s"
        if done == total:
            return text
        # the first ones take longest
        each = seconds_of_each(self._reports)
        left = "not known yet" if each is None else f"{(total - done) * each:.0f} s"
        return f"{text}, left of this step {left}"

    def _gone(self):
        """Processor time so far."""
        return time.process_time() - self._spent

    def _revise(self, share):
        """Expect longer where more time has gone, and this share of the systems is done."""
        gone = self._gone()
        if gone > self._expected > 1:
            self._expected = self._before + (gone - self._before) / share
            self._revised = True

    def _of_all(self):
        gone, expected = duration(self._gone()), duration(self._expected)
        if self._gone() > self._expected:
            return f"{gone}, more than the {expected} expected"
        return f"{gone} of about {expected}{', revised' if self._revised else ''}"

    def _say(self, text):
        """A line, and what all will take; where none were asked for, only of long waits."""
        now = time.monotonic()
        # the line is about one of the steps
        text = text.replace(", time left", ", left of this step")
        if self._expected > 1:
            text += f" (processor time for all: {self._of_all()})"
        if self.verbose:
            say_line(text)
        elif now - self._begun < _LONG or now - self._told < _BETWEEN:
            return
        else:
            note_user(text)
        self._told = now


def seconds_of_each(reports: Sequence[tuple[float, int]]) -> float | None:
    """Seconds that one takes, from reports of a time and of how many were done; None of one report.

    The median over all pairs of reports: neither one that was held up moves it, nor threads that
    report together.
    """
    pairs = itertools.combinations(reports, 2)
    rates = [(end - start) / (more - less) for (start, less), (end, more) in pairs]
    return median(rates) if rates else None
