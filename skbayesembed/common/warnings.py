"""Warnings that point at the user's line, however deep in the package they arise, and notes."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .searches import Searched, issued, kind_of

# with the separator: a folder beside it may begin with the same name
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
# Packages between a user and a fit, and those modules of them that make many fits.
_BETWEEN = ("sklearn", "joblib", "threading", "concurrent", "multiprocessing", "runpy")
_SEARCHES, _JOBLIB = "sklearn.model_selection", f"{os.sep}joblib{os.sep}"

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


# Warnings of this thread that are held back, where they are.
_HELD: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("held", default=None)


@contextlib.contextmanager
def held_warnings() -> Iterator[list[tuple[str, type[Warning]]]]:
    """Context whose warnings are held back, for `warn_of_parts`: the list of them."""
    held: list[tuple[str, type[Warning]]] = []
    token = _HELD.set(held)
    try:
        yield held
    finally:
        _HELD.reset(token)


def warn_of_parts(parts: Sequence[list[tuple[str, type[Warning]]]], what: str) -> None:
    """Issue warnings that parts of a call held back, one of each kind.

    Parameters
    ----------
    parts : sequence of list
        The warnings of each part, as of `held_warnings`.
    what : str
        What parts are called, for the number of those that warn.
    """
    # the first of each kind, and which parts have one
    found: dict[Any, tuple[tuple[str, type[Warning]], set[int]]] = {}
    for i, part in enumerate(parts):
        for one in part:
            found.setdefault(kind_of(*one), (one, set()))[1].add(i)
    for (message, category), places in found.values():
        warn_user(f"{message} (In {len(places)} of {len(parts)} {what}.)", category)


@contextlib.contextmanager
def muted(on: bool = True) -> Iterator[None]:
    """Context whose notes were told before, and are left out; not where ``on`` is False."""
    token = _MUTED.set(on or _MUTED.get())
    try:
        yield
    finally:
        _MUTED.reset(token)


# Whether fits of this thread are made to be scored alone.
_SCORED: ContextVar[bool] = ContextVar("scored", default=False)


@contextlib.contextmanager
def only_scored() -> Iterator[None]:
    """Context whose fits are scored, so that what their intervals lack is not told."""
    token = _SCORED.set(True)
    try:
        yield
    finally:
        _SCORED.reset(token)


def warn_of_intervals(message: str) -> None:
    """Warn of something that intervals alone suffer from, in fits that are not `only_scored`."""
    if not _SCORED.get():
        warn_user(message, UserWarning)


def note_user(text: str) -> bool:
    """Tell the user something on the standard error stream that is no warning; whether it was."""
    if _MUTED.get():
        return False
    print(f"skbayesembed: {text}", file=sys.stderr, flush=True)
    return True


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first caller outside this package.

    Fits that scikit-learn calls, as those of a pipeline or a search, point at who called that. In a
    search there is one warning for all candidates (`searches`).
    """
    kept = _KEPT.get()
    if kept is not None:
        kept.append(message)
    held = _HELD.get()
    if held is not None:
        held.append((message, category))
        return
    level, frame, fitted, searched = 2, sys._getframe(1), None, False
    first, of_search, frames = None, level, []
    while frame is not None:
        frames.append(frame)
        if frame.f_code.co_filename.startswith(_PACKAGE):
            # the outermost is the one that was called
            fitted = frame.f_locals.get("self", fitted)
        else:
            first = level if first is None else first
            name = str(frame.f_globals.get("__name__", ""))
            if name.startswith(_SEARCHES):
                searched, of_search = True, level
            # a worker process begins in a script of joblib's
            if name.split(".")[0] not in _BETWEEN and _JOBLIB not in frame.f_code.co_filename:
                break
        level, frame = level + 1, frame.f_back
    if not searched:
        # a thread or process of its own has no line of the user's
        own = first if frame is None else None
        warnings.warn(message, issued(category), stacklevel=level if own is None else own)
        return
    told = Searched(frames).message(message, category, fitted)
    if told is not None:
        # a worker has no line of the user's, only that of the search
        warnings.warn(told, issued(category), stacklevel=of_search if frame is None else level)
