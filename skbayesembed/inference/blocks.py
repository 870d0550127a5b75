"""Steps over blocks of data: in threads of this process, or where an engine keeps the blocks.

A step of a solver is a function of one block of data and of what all blocks share; its results are
put together in the order of the blocks. So they are the same wherever the blocks are.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from ..common import trial
from .contracts import Run
from .threads import gathered

_ACTIVE: ContextVar[Engine | None] = ContextVar("engine", default=None)


class Held:
    """Blocks of data that stay where an engine has put them.

    Parameters
    ----------
    make : callable
        ``make(i)`` returns block ``i``.
    n_blocks : int
    """

    def __init__(self, make: Callable[[int], Any], n_blocks: int) -> None:
        self._make, self._n_blocks = make, n_blocks

    def __len__(self) -> int:
        return self._n_blocks

    def __getitem__(self, i: int) -> Any:
        return self._make(i)


class Once:
    """A value that is made where it is first asked for; a copy elsewhere makes its own.

    Parameters
    ----------
    make : callable
        Of a module.
    *arguments
        Those of ``make``.
    """

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        self._make, self._arguments = make, arguments
        self._lock, self._made = threading.Lock(), None

    def value(self) -> Any:
        """What ``make(*arguments)`` returns, which is not None."""
        with self._lock:
            if self._made is None:
                self._made = self._make(*self._arguments)
            return self._made

    def __reduce__(self) -> tuple:
        return Once, (self._make, *self._arguments)


class Engine(Protocol):
    """What runs steps elsewhere."""

    def over(
        self, function: Callable[..., Any], held: Held, shared: tuple, own: Sequence[tuple]
    ) -> list:
        """As of the function `over`."""


def over(
    run: Run, function: Callable[..., Any], held: Held, shared: tuple, own: Sequence[tuple] = ()
) -> list:
    """``function(held[i], *shared, *own[i])`` for each block: list of what is returned, in order.

    Parameters
    ----------
    run : callable
        Maps a function over blocks of work where no engine is active.
    function : callable
        Of a module. It may write into ``own[i]`` where it returns what it wrote: elsewhere they
        are copies.
    held : Held
    shared : tuple
        What every block is given.
    own : sequence of tuple, optional
        What a block is given besides.
    """
    own = own or [()] * len(held)
    engine = current()
    if engine is not None:
        return engine.over(function, held, shared, own)

    def call(i):
        # a block is made by the thread that takes it
        return function(held[i], *shared, *own[i])

    return gathered(run, call, ((i,) for i in range(len(held))))


@contextlib.contextmanager
def active(engine: Engine | None) -> Iterator[None]:
    """Context in which steps of this thread are run by an engine; None changes nothing."""
    token = _ACTIVE.set(engine)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def current() -> Engine | None:
    """The engine that is active in this thread, or None; trials measure without one."""
    return _ACTIVE.get() if trial.current() is None else None
