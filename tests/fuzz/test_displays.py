"""Figures under hostile arguments."""

from __future__ import annotations

import pytest

hypothesis = pytest.importorskip("hypothesis")
pytest.importorskip("matplotlib")

from tests.fuzz.displays import hostile_displays  # noqa: E402
from tests.fuzz.running import FEW, MANY, try_calls  # noqa: E402


@pytest.mark.parametrize("n_calls", [FEW // 4, pytest.param(MANY, marks=pytest.mark.slow)])
def test_displays_are_drawn_or_say_why(n_calls, request):
    try_calls(hostile_displays(), n_calls, request.config.getoption("--seed-offset"))
