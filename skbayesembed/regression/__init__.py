"""Regressions on features of documents, whose slopes know how sure these are."""

from __future__ import annotations

from .regressing import regress
from .slopes import Regression

__all__ = ["Regression", "regress"]
