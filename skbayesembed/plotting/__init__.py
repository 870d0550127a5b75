"""Figures of answers with their intervals, in scikit-learn's manner; they need matplotlib.

A display has a class method ``from_estimator``, which asks and draws, often one that takes an
answer (``from_result``, ``from_answers``), and ``plot(ax=None)``, which draws again. What was drawn
is in attributes: ``figure_``, ``ax_``, and the artists. New figures have the width of a paper's
column.
"""

from __future__ import annotations

from .association import WEATDisplay
from .convergence import ELBODisplay, RankDisplay, TraceDisplay
from .dispersion import DispersionDisplay
from .drift import DriftDisplay
from .forests import (
    ChangesDisplay,
    ForestDisplay,
    NearerDisplay,
    NeighborsDisplay,
    ProjectionsDisplay,
)
from .prevalence import PrevalenceDisplay
from .scales import ComponentScaleDisplay
from .similarity import SimilarityDisplay
from .word_map import WordMapDisplay
from .words import SenseWordsDisplay, TopicWordsDisplay

__all__ = [
    "ChangesDisplay",
    "ComponentScaleDisplay",
    "DispersionDisplay",
    "DriftDisplay",
    "ELBODisplay",
    "ForestDisplay",
    "NearerDisplay",
    "NeighborsDisplay",
    "PrevalenceDisplay",
    "ProjectionsDisplay",
    "RankDisplay",
    "SenseWordsDisplay",
    "SimilarityDisplay",
    "TopicWordsDisplay",
    "TraceDisplay",
    "WEATDisplay",
    "WordMapDisplay",
]
