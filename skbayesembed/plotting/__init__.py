"""Figures of answers with their intervals, in the style of scikit-learn; they need matplotlib.

A display has a class method ``from_estimator``, which computes an answer and draws it, and often
one for an existing answer (``from_result``, ``from_answers``). ``plot(ax=None)`` draws again. The
attributes ``figure_`` and ``ax_``, and those of the artists, hold what was drawn. New figures have
the width of a paper's column.
"""

from __future__ import annotations

from .association import WEATDisplay
from .bounds import ELBODisplay
from .convergence import TraceDisplay
from .dispersion import DispersionDisplay
from .drift import DriftDisplay
from .effects import EffectsDisplay
from .forests import (
    ChangesDisplay,
    ForestDisplay,
    NearerDisplay,
    NeighborsDisplay,
    ProjectionsDisplay,
)
from .prevalence import PrevalenceDisplay
from .ranks import RankDisplay
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
    "EffectsDisplay",
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
