"""One BLAS thread while chains run, whoever runs them and however they overlap."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from threadpoolctl import threadpool_limits


class OneBlasThread:
    """Context in which BLAS uses one thread; contexts of several threads may overlap.

    Small products are slower on two threads than on one, and not the same to the last bit. The
    limit is one of the whole process: the first to enter sets it, the last to leave lifts it.
    threadpoolctl obeys one thread at a time, so a thread of our own does both.
    """

    _lock = threading.Lock()
    _inside = 0
    _limits: Any = None
    _keeper: Any = None
    _process: int | None = None

    @classmethod
    def _set(cls):
        cls._limits = threadpool_limits(limits=1, user_api="blas")
        cls._limits.__enter__()

    @classmethod
    def _lift(cls):
        cls._limits.__exit__(None, None, None)

    def __enter__(self) -> Self:
        cls = OneBlasThread
        with cls._lock:
            if cls._process != os.getpid():  # a fork has neither the thread nor the count
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
