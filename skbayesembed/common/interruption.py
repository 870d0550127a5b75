"""Work that Ctrl-C does not leave half done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


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
