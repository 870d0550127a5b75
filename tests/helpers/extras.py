"""Packages of the extras, without which tests that need them are skipped."""

from __future__ import annotations

import importlib

import pytest

PACKAGES = ("arviz_base", "matplotlib", "pandas", "xarray", "xarray_einstats")


def optional(name):
    """A package of the extras, or what raises a ModuleNotFoundError when it is made use of."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        return _Missing(error)


class _Missing:
    def __init__(self, error):
        self._error = error

    def __getattr__(self, attribute):
        raise self._error


def skipping():
    """For wrappers of hooks: skip where a package of the extras is not installed."""
    try:
        return (yield)
    except ImportError as error:
        name = _missing(error)
        if name is None:
            raise
        pytest.skip(f"needs {name}")


def _missing(error):
    """Name of a package of the extras that an error came of, or None."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name in PACKAGES:
            return error.name
        error = error.__cause__ or error.__context__
    return None
