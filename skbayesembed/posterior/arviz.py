"""arviz-stats, loaded when it is first needed: its import takes a second, and few calls need it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def array_stats() -> Any:
    """Functions of plain arrays: ``ess``, ``rhat``, ``mcse``, ``psislw``."""
    return import_module("arviz_stats.base").array_stats
