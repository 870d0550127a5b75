"""Measures of the quality of a fit: of intervals, word vectors, senses of snippets, and topics."""

from __future__ import annotations

from .comparison import Comparison, compare_models
from .intervals import coverage, interval_overlap
from .senses import brier_score, interaction_level, match_senses
from .topics import coherence
from .units import score_units
from .words import analogies, rmse_cooccurrence, word_similarity

__all__ = [
    "Comparison",
    "analogies",
    "brier_score",
    "coherence",
    "compare_models",
    "coverage",
    "interaction_level",
    "interval_overlap",
    "match_senses",
    "rmse_cooccurrence",
    "score_units",
    "word_similarity",
]
