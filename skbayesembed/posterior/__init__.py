"""The posterior that every solver returns, and the summaries and tables made of it."""

from __future__ import annotations

from .entry_table import Summary
from .posterior import Posterior
from .running_moments import RunningMoments
from .summary import hdi_interval

__all__ = ["Posterior", "RunningMoments", "Summary", "hdi_interval"]
