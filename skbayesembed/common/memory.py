"""Checks before any work that what a fit will keep has room in memory."""

from __future__ import annotations

import os

import numpy as np

from .trial import note_memory


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


def check_memory(n_bytes: float, what: str, advice: str) -> None:
    """Raise a MemoryError if ``n_bytes`` is more than 80 % of the memory of this machine.

    A trial of what a fit would cost takes note of them.

    Parameters
    ----------
    n_bytes : float
    what : str
        What would take them; begins the message.
    advice : str
        What to do instead; ends the message.
    """
    note_memory(n_bytes, what)
    limit = 0.8 * physical_memory()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} would take about {readable(n_bytes)}; this machine allows "
            f"{readable(limit)} (80 % of its memory). {advice}"
        )
