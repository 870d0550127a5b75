"""Threads: one of BLAS while chains run, and blocks of work without any."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator
from typing import Any, Self

from threadpoolctl import ThreadpoolController


def serial(function: Callable[..., Any], tasks: Iterable[tuple]) -> None:
    """Call ``function(*task)`` for one task after the other; `chains.Workers` do it in threads."""
    for task in tasks:
        function(*task)


def gathered(run: Callable[..., Any], function: Callable[..., Any], tasks: Iterable[tuple]) -> list:
    """What ``function(*task)`` returns for each task, in their order.

    Parameters
    ----------
    run : callable
        `serial`, or `chains.Workers`.
    function : callable
    tasks : iterable of tuple
    """
    tasks = list(tasks)
    found: list[Any] = [None] * len(tasks)

    def call(i):
        found[i] = function(*tasks[i])

    run(call, [(i,) for i in range(len(tasks))])
    return found


_found: tuple[int, ThreadpoolController] | None = None


def libraries() -> ThreadpoolController:
    """Libraries with threads of their own, which are looked for again once there are new modules.

    Looking for them takes 7 ms, more than small fits do in all.
    """
    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


class OneBlasThread(ContextDecorator):
    """Context or decorator: BLAS uses one thread; contexts of several threads may overlap.

    Small matrix products are slower on two BLAS threads than on one, and differ in their last bits.
    The limit holds for the whole process: the first context to be entered sets it, the last to be
    left lifts it. threadpoolctl wants both done by the same thread, so one thread is kept for that.
    """

    _lock = threading.Lock()
    _inside = 0
    _limits: Any = None
    _keeper: Any = None
    _process: int | None = None

    @classmethod
    def _set(cls):
        cls._limits = libraries().limit(limits=1, user_api="blas")
        cls._limits.__enter__()

    @classmethod
    def _lift(cls):
        cls._limits.__exit__(None, None, None)

    def __enter__(self) -> Self:
        cls = OneBlasThread
        with cls._lock:
            if cls._process != os.getpid():  # a forked process has no such thread yet, nor a count
                cls._process, cls._keeper, cls._inside = os.getpid(), ThreadPoolExecutor(1), 0
            if cls._inside == 0:
                cls._keeper.submit(cls._set).result()
            cls._inside += 1
        return self

    def __exit__(self, *exc: object) -> None:
        cls = OneBlasThread
        with cls._lock:
            cls._inside -= 1
            if cls._inside == 0:
                cls._keeper.submit(cls._lift).result()
