"""Warnings that point at the user's line, however deep in the package they arise, and notes."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from pathlib import Path

# with the separator: a folder beside it may begin with the same name
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
# Packages between a user and a fit, and those modules of them that make many fits.
_BETWEEN = ("sklearn", "joblib", "threading", "concurrent", "multiprocessing", "runpy")
_SEARCHES = "sklearn.model_selection"


def note_user(text: str) -> None:
    """Tell the user something on the standard error stream that is no warning."""
    print(f"skbayesembed: {text}", file=sys.stderr, flush=True)


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first caller outside this package.

    Fits that scikit-learn calls, as those of a pipeline or a search, point at who called that. In a
    search the message ends with the estimator, since many of them are fitted.
    """
    level, frame, fitted, searched = 2, sys._getframe(1), None, False
    first = None
    while frame is not None:
        if frame.f_code.co_filename.startswith(_PACKAGE):
            # the outermost is the one that was called
            fitted = frame.f_locals.get("self", fitted)
        else:
            first = level if first is None else first
            name = str(frame.f_globals.get("__name__", ""))
            searched = searched or name.startswith(_SEARCHES)
            if name.split(".")[0] not in _BETWEEN:
                break
        level, frame = level + 1, frame.f_back
    else:
        # a thread or process of its own, which nobody's line has called
        level = level if first is None else first
    warnings.warn(message + (_named(fitted) if searched else ""), category, stacklevel=level)


def _named(estimator):
    """An estimator with the short ones of its parameters that are not the defaults, in brackets."""
    if not hasattr(estimator, "get_params"):
        return ""
    defaults = inspect.signature(type(estimator).__init__).parameters
    given = estimator.get_params(deep=False).items()
    told = [
        f"{name}={value!r}"
        for name, value in given
        if isinstance(value, str | bool | int | float | None) and defaults[name].default != value
    ]
    return f" [{type(estimator).__name__}({', '.join(told)})]"
