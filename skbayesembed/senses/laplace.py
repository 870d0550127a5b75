"""The Gaussian at the mode of a sense posterior."""

from __future__ import annotations

from ..inference.mode_gaussian import ModeGaussian

__all__ = ["ModeGaussian"]
