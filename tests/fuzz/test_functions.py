"""Public functions under hostile arguments."""

from __future__ import annotations

import pytest

hypothesis = pytest.importorskip("hypothesis")

from tests.fuzz.functions import hostile_calls  # noqa: E402
from tests.fuzz.running import FEW, MANY, try_calls  # noqa: E402


@pytest.mark.parametrize("n_calls", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_functions_answer_or_say_why(n_calls, request):
    try_calls(hostile_calls(), n_calls, request.config.getoption("--seed-offset"))
