"""Checks before any work that what a fit will keep has room in memory.

What a fit takes is counted together: its draws, its tables and its matrices. It is compared with
the memory that was free when the fit began, and with the limits of the process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import numpy as np

from .trial import note_memory
from .warnings import note_user

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

# Share of the memory of a machine, or of a limit, that a fit may take.
_SHARE = 0.8
# Limits of control groups, versions 2 and 1: what is allowed, what is used, and how much of that
# are files that are given back.
_GROUPS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
_GROUP_ROOT = Path("/sys/fs/cgroup")
_PROC = Path("/proc")

# Sizes are whole numbers of any length until here.
_MOST = 1e300

# What the fit that runs takes, by what takes it, and what there was when it began.
_NEEDS: ContextVar[tuple[dict[str, float], tuple[float, str]] | None] = ContextVar(
    "needs", default=None
)
# Bytes from which on those who write a file, or are given what goes into one, are told its size.
LARGE_FILE = 50 * 2**20


def note_size(n_bytes: float, what: str, advice: str) -> None:
    """Tell the user that something is large, and what makes it smaller, where it is.

    Parameters
    ----------
    n_bytes : float
    what : str
        Begins the note.
    advice : str
        Ends it.
    """
    if n_bytes > LARGE_FILE:
        note_user(f"{what} {readable(n_bytes)}: {advice}.")


def readable(n_bytes: float) -> str:
    """A number of bytes as people read it: ``"3.2 GiB"``."""
    size = float(n_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def physical_memory() -> float:
    """Bytes of memory of this machine; infinity if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return np.inf


def free_memory() -> float:
    """Bytes that the system could give to processes now; infinity if it does not tell."""
    return _field(_PROC / "meminfo", "MemAvailable")


def group_memory() -> float:
    """Bytes that the control group of this process, as a container is one, may take yet."""
    least = np.inf
    for line in _lines(_PROC / "self" / "cgroup"):
        _, kinds, place = line.split(":", 2)
        root = _GROUP_ROOT / "memory" if kinds == "memory" else _GROUP_ROOT
        if kinds not in ("", "memory"):
            continue
        # limits of groups around it bind as well; within a container the path is that of the host,
        # and the group is at the root
        own = Path(place.strip("/"))
        for folder in (root / group for group in (own, *own.parents)):
            for limit, used, files in _GROUPS:
                back = [
                    line.split()[1]
                    for line in _lines(folder / "memory.stat")
                    if line.split()[0] == files
                ]
                taken = _number(folder / used, 0.0) - sum(map(float, back))
                least = min(least, _number(folder / limit) - taken)
    return least


def limited_memory() -> float:
    """Bytes of address space that the limits of this process (``ulimit -v``) leave."""
    if resource is None:
        return np.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return np.inf
    taken = _field(_PROC / "self" / "status", "VmSize")
    return soft - (taken if np.isfinite(taken) else 0.0)


def allowed_memory() -> tuple[float, str]:
    """Bytes that a fit may take, and what allows no more."""
    limits = (
        (_SHARE * physical_memory(), "80 % of its memory"),
        (free_memory(), "what is free of its memory"),
        (group_memory(), "what is left of the limit of the control group"),
        (limited_memory(), "what is left of the limit of the process, see ulimit -v"),
    )
    return min(limits, key=lambda limit: limit[0])


@contextlib.contextmanager
def one_account() -> Iterator[None]:
    """Context in which all that `check_memory` is told of is counted together."""
    if _NEEDS.get() is not None:
        yield
        return
    token = _NEEDS.set(({}, allowed_memory()))
    try:
        yield
    finally:
        _NEEDS.reset(token)


def check_memory(n_bytes: float, what: str, advice: str) -> None:
    """Raise a MemoryError if ``n_bytes`` is more than there is.

    A trial of what a fit would cost takes note of them.

    Parameters
    ----------
    n_bytes : float
    what : str
        What would take them; begins the message. Told again, it replaces what was told before.
    advice : str
        What to do instead; ends the message.
    """
    n_bytes = float(min(n_bytes, _MOST))
    note_memory(n_bytes, what)
    known, (limit, reason) = _NEEDS.get() or ({}, allowed_memory())
    known[what] = n_bytes
    total = sum(known.values())
    if total > limit:
        rest = total - n_bytes
        beside = f" beside {readable(rest)} of the same fit" if rest else ""
        raise MemoryError(
            f"{what} would take about {readable(n_bytes)}{beside}; this machine allows "
            f"{readable(max(limit, 0.0))} ({reason}). {advice}"
        )


def _lines(path):
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _field(path, name):
    """Bytes of a field that is given in kB."""
    for line in _lines(path):
        if line.startswith(f"{name}:"):
            return 1024.0 * float(line.split()[1])
    return np.inf


def _number(path, otherwise=np.inf):
    """The number that a file holds; ``otherwise`` where there is none, as in ``max``."""
    try:
        return float(path.read_text())
    except (OSError, ValueError):
        return otherwise
