"""Figures that examples of docstrings draw are closed, as a user would."""

from __future__ import annotations

import sys

from pytest import DoctestItem


def pytest_runtest_teardown(item):
    """Close what an example has drawn."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if isinstance(item, DoctestItem) and pyplot is not None:
        pyplot.close("all")
