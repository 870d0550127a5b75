"""Tests of whether draws come from the posterior.

``python -m skbayesembed.calibration`` runs them and writes a page. The parts also test other
models: `simulated_ranks` needs only a function that simulates data and samples the posterior.
"""

from __future__ import annotations

from .bands import ecdf_band, uniformity
from .ranks import rank_among, simulated_ranks
from .scores import joint_differences, known_differences
from .suite import MODELS, Calibration, calibrate

__all__ = [
    "MODELS",
    "Calibration",
    "calibrate",
    "ecdf_band",
    "joint_differences",
    "known_differences",
    "rank_among",
    "simulated_ranks",
    "uniformity",
]
