"""What those who wait for intervals by units are told: what is awaited, how long, how far it is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from ...common.trial import duration, telling
from ...common.warnings import note_user

# What every line begins with.
_NAME = "intervals by units"


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

    def announce(self, n_entries: int, seconds: Callable[[], float]) -> None:
        """Say how long an answer will take, ``seconds()`` that are worked out where it does."""
        expected = seconds() if n_entries >= self.timed else 0.0
        some = f"about {duration(expected)}" if expected > 1 else "moments"
        if self._verbose:
            print(f"{_NAME}: {some}, once for all questions", flush=True)
        elif expected >= self.patience:
            note_user(
                f"{_NAME} are worked out, once for all questions: {some}, which other work on this "
                "machine prolongs; with verbose=1 they tell how far they are. Answers without "
                "them are there at once after set_params(uncertainty='model'), and save keeps "
                "them."
            )

    def search(self, what: str) -> contextlib.AbstractContextManager[Any]:
        """Context of a search, which tells its steps."""
        return telling(f"{_NAME}: {what}" if self._verbose else None)

    def solved(self, done: int, total: int) -> None:
        """So many of the linear systems are done."""
        if self._verbose:
            left = (total - done) * (time.monotonic() - self._begun) / done
            text = f"{_NAME}: {done} of {total} deviations"
            print(f"{text}, {left:.0f} s left for these", flush=True)
