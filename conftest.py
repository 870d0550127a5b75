"""Figures that examples of docstrings draw are closed, as a user would; and what these need."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest
from pytest import DoctestItem

# Packages that examples need, and that need not be installed.
_NEED = {"skbayesembed.io.word_vectors.to_keyed_vectors": "gensim"}


def pytest_collection_modifyitems(items):
    """Skip examples whose package is not there; where it is, they are run."""
    for item in items:
        package = _NEED.get(item.name) if isinstance(item, DoctestItem) else None
        if package is not None and find_spec(package) is None:
            item.add_marker(pytest.mark.skip(reason=f"needs {package}"))


def pytest_runtest_teardown(item):
    """Close what an example has drawn."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if isinstance(item, DoctestItem) and pyplot is not None:
        pyplot.close("all")
