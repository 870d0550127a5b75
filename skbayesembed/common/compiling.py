"""Numba's compilations: what time they take, and a word about them to those who wait."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from numba.core import event

from .warnings import note_user

# Without being asked to be verbose, it is said once compilations have taken so many seconds.
PATIENCE = 2.0
# What first calls took (benchmarks/first_call.py), senses most.
_USUAL = "for 5 to 45 seconds of CPU a solver"
# Whether it was said, in this process or the one that made it: one note is enough. Workers inherit
# what the environment says, and of those that do not, one tells.
_TOLD = "SKBAYESEMBED_TOLD_OF_COMPILING"


class Compiling(event.Listener):
    """Context that listens to numba, and says so while it compiles.

    Code that is loaded from numba's cache is not compiled, so that nothing is said from the second
    process on.

    Parameters
    ----------
    verbose : int or None
        Above zero, a line is printed at once; at zero, one goes to the standard error stream if
        compilations take longer than two seconds. Either is told once in a process and the workers
        that it makes. None says nothing.

    Attributes
    ----------
    cpu_seconds : float
        Spent on compilations that have ended, in all threads.
    seconds : float
        By the clock, with those that have not ended.
    """

    def __init__(self, verbose: int | None = None) -> None:
        self.verbose = verbose
        self.cpu_seconds = 0.0
        self._seconds = 0.0
        self._lock = threading.Lock()
        self._depth = threading.local()
        # when those that have not ended began, by thread
        self._open: dict[int, float] = {}

    def __enter__(self) -> Self:
        event.register("numba:compile", self)
        return self

    def __exit__(self, *exc: object) -> None:
        event.unregister("numba:compile", self)

    def on_start(self, event: Any) -> None:
        """Note the start of a compilation; those within it belong to it."""
        depth = self._depth
        depth.value = getattr(depth, "value", 0) + 1
        if depth.value == 1:
            depth.begun = time.perf_counter(), time.thread_time()
            with self._lock:
                self._open[threading.get_ident()] = depth.begun[0]
            self._say()

    def on_end(self, event: Any) -> None:
        """Note the end of a compilation."""
        depth = self._depth
        depth.value = getattr(depth, "value", 1) - 1
        if depth.value == 0:
            clock, cpu = depth.begun
            with self._lock:
                self._open.pop(threading.get_ident(), None)
                self._seconds += time.perf_counter() - clock
                self.cpu_seconds += time.thread_time() - cpu
            self._say()

    @property
    def seconds(self) -> float:
        """Seconds by the clock of compilations so far, with those that have not ended."""
        with self._lock:
            now = time.perf_counter()
            return self._seconds + sum(now - begun for begun in self._open.values())

    def _say(self):
        if self.verbose is None or (not self.verbose and self._seconds <= PATIENCE) or _is_told():
            return
        os.environ[_TOLD] = "1"
        if self.verbose:
            print(f"compiling: numba does so once in an installation, {_USUAL}", flush=True)
        else:
            note_user(
                f"numba compiles what is used for the first time, once in an installation, "
                f"{_USUAL}; later calls will be faster."
            )


def _is_told():
    """Whether it was told that numba compiles, or another of several workers tells it."""
    worker = multiprocessing.current_process().name.rpartition("-")[2]
    return _TOLD in os.environ or (worker.isdigit() and int(worker) > 1)


@contextlib.contextmanager
def working_time() -> Iterator[Callable[[], float]]:
    """Context with a clock: CPU seconds of this thread so far, without those of compilations."""
    with Compiling() as compiling:
        yield lambda: time.thread_time() - compiling.cpu_seconds


@contextlib.contextmanager
def waiting_time() -> Iterator[Callable[[], float]]:
    """Context with a clock: seconds by the clock so far, without those of compilations."""
    begun = time.monotonic()
    with Compiling() as compiling:
        yield lambda: time.monotonic() - begun - compiling.seconds


def told_of_compiling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of an estimator with `Compiling`, as verbose as the estimator."""

    @functools.wraps(method)
    def telling(self, *args, **kwargs):
        with Compiling(self.verbose):
            return method(self, *args, **kwargs)

    return telling
