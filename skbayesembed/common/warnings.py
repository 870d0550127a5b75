"""Warnings that point at the user's line, however deep in the package they arise, and notes."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

# with the separator: a folder beside it may begin with the same name
_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def note_user(text: str) -> None:
    """Tell the user something on the standard error stream that is no warning."""
    print(f"skbayesembed: {text}", file=sys.stderr, flush=True)


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
