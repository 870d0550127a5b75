"""Work that Ctrl-C does not leave half done."""

from __future__ import annotations

import contextlib
import copy
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from .warnings import warn_user

_T = TypeVar("_T")

# The module of scikit-learn whose functions fit to a part of the data, for a score: candidates of
# searches, folds, learning curves. The last fit of a search, to all of the data, is not of it.
_OF_PARTS = "sklearn.model_selection._validation"
_PART: ContextVar[bool] = ContextVar("part", default=False)


@contextlib.contextmanager
def part_of_a_whole() -> Iterator[None]:
    """Context of a fit that is one of several, whose score or answer is to be that of a whole fit.

    Threads and processes that are started within do not know of it.
    """
    token = _PART.set(True)
    try:
        yield
    finally:
        _PART.reset(token)


def of_a_part() -> bool:
    """Whether this is called by a fit that is made for a score, by us or by scikit-learn.

    Workers of its searches, in threads or processes, have the same function above them.
    """
    if _PART.get():
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _OF_PARTS:
            return True
        frame = frame.f_back
    return False


def tell_of_interruption(text: str) -> None:
    """Warn of a fit that keeps what it has after Ctrl-C.

    Raises
    ------
    KeyboardInterrupt
        If the fit is `of_a_part`, which keeps nothing.
    """
    if of_a_part():
        raise KeyboardInterrupt("a fit was interrupted whose score would be that of a part of it")
    warn_user(text, RuntimeWarning)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Context at whose end Ctrl-C takes effect where it comes within.

    Other threads than the main one never hear it, and a handler that Python does not know stays.

    Examples
    --------
    >>> import signal
    >>> from skbayesembed.common.interruption import undisturbed
    >>> done = []
    >>> try:
    ...     with undisturbed():
    ...         signal.raise_signal(signal.SIGINT)
    ...         done.append("all")
    ... except KeyboardInterrupt:
    ...     print(done)
    ['all']
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: heard.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[-1])


class Kept:
    """Parts of arrays as they were before they are changed in place, until a change is done."""

    def __init__(self, until_done: contextlib.ExitStack) -> None:
        self._parts: list[tuple[np.ndarray, Any, np.ndarray]] = []
        self._until_done = until_done

    def keep(self, array: np.ndarray, index: np.ndarray) -> None:
        """Keep ``array[index]``, a copy; ``index`` is an array of places or a mask."""
        self._parts.append((array, index, array[index]))

    def wait(self) -> None:
        """Let Ctrl-C wait until the change is done, where too much would have to be kept."""
        self._until_done.enter_context(undisturbed())

    def restore(self) -> None:
        """Make all as it was."""
        for array, index, values in reversed(self._parts):
            array[index] = values


def at_once(owner: _T, change: Callable[[_T, Kept], None]) -> None:
    """Change an object wholly or, where that fails or is interrupted, not at all.

    Parameters
    ----------
    owner : object
        Takes the attributes of the copy over, all of them in one assignment.
    change : callable
        ``change(copy, kept)`` sets attributes of a shallow copy. Objects behind them, which both
        share, it replaces, or gives parts of arrays that it changes in place to ``kept.keep``
        before. Where these are too large it calls ``kept.wait`` instead; other errors than Ctrl-C
        then leave the arrays half changed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from skbayesembed.common.interruption import at_once
    >>> counts = SimpleNamespace(words=10, documents=1)
    >>> def change(copy, kept):
    ...     copy.words += 5
    ...     raise KeyboardInterrupt
    >>> try:
    ...     at_once(counts, change)
    ... except KeyboardInterrupt:
    ...     print(counts)
    namespace(words=10, documents=1)
    """
    with contextlib.ExitStack() as until_done:
        kept, after = Kept(until_done), None
        try:
            draft = copy.copy(owner)
            change(draft, kept)
            after = dict(vars(draft))
            owner.__dict__ = after
        except BaseException:
            # an interruption may come right behind the assignment
            if after is None or owner.__dict__ is not after:
                with undisturbed():
                    kept.restore()
            raise
