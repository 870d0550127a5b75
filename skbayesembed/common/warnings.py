"""Warnings that point at the user's line, however deep in the package they arise, and notes."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from .searches import Searched

# with the separator: a folder beside it may begin with the same name
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
# Packages between a user and a fit, and those modules of them that make many fits.
_BETWEEN = ("sklearn", "joblib", "threading", "concurrent", "multiprocessing", "runpy")
_SEARCHES, _JOBLIB = "sklearn.model_selection", f"{os.sep}joblib{os.sep}"
# What stands for the line of the user in a worker of a search.
_WORKER = "<search>"


# Whether notes of this thread are left out.
_MUTED: ContextVar[bool] = ContextVar("muted", default=False)


# Texts of the warnings of the fit that runs, where they are kept.
_KEPT: ContextVar[list[str] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Context with a list of the texts of warnings that are given in it."""
    kept: list[str] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


@contextlib.contextmanager
def muted(on: bool = True) -> Iterator[None]:
    """Context whose notes were told before, and are left out; not where ``on`` is False."""
    token = _MUTED.set(on or _MUTED.get())
    try:
        yield
    finally:
        _MUTED.reset(token)


def note_user(text: str) -> None:
    """Tell the user something on the standard error stream that is no warning."""
    if _MUTED.get():
        return
    print(f"skbayesembed: {text}", file=sys.stderr, flush=True)


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first caller outside this package.

    Fits that scikit-learn calls, as those of a pipeline or a search, point at who called that. In a
    search there is one warning for all candidates (`searches`).
    """
    kept = _KEPT.get()
    if kept is not None:
        kept.append(message)
    level, frame, fitted, searched = 2, sys._getframe(1), None, False
    first, frames = None, []
    while frame is not None:
        frames.append(frame)
        if frame.f_code.co_filename.startswith(_PACKAGE):
            # the outermost is the one that was called
            fitted = frame.f_locals.get("self", fitted)
        else:
            first = level if first is None else first
            name = str(frame.f_globals.get("__name__", ""))
            searched = searched or name.startswith(_SEARCHES)
            # a worker process begins in a script of joblib's
            if name.split(".")[0] not in _BETWEEN and _JOBLIB not in frame.f_code.co_filename:
                break
        level, frame = level + 1, frame.f_back
    if not searched:
        # a thread or process of its own has no line of the user's
        own = first if frame is None else None
        warnings.warn(message, category, stacklevel=level if own is None else own)
        return
    told = Searched(frames).message(message, category, fitted)
    if told is not None and frame is not None:
        warnings.warn(told, category, stacklevel=level)
    elif told is not None:
        warnings.warn_explicit(told, category, _WORKER, 1, module=__name__)
