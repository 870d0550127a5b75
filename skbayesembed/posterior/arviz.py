"""arviz-stats, imported when it is first needed, since the import takes about a second."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def array_stats() -> Any:
    """The functions of arviz-stats for plain arrays: ``ess``, ``rhat``, ``mcse``, ``psislw``."""
    return import_module("arviz_stats.base").array_stats
