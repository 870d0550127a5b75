"""Tests of whether draws are from the posterior, for anyone to run.

``python -m skbayesembed.calibration`` runs them and writes a page. The parts serve tests of other
models, too: a function that simulates and samples is all that `simulated_ranks` wants.
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
