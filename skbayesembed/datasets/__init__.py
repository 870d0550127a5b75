"""Simulators that return their truth, and loaders that need no network."""

from __future__ import annotations

from .load import load_python_reference
from .simulate import make_sgns

__all__ = ["load_python_reference", "make_sgns"]
