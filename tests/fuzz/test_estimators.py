"""Estimators under hostile values: every parameter, data of every kind, every method.

The default run tries a few of each; ``-m slow`` tries thousands. Each case is a strategy's draw, so
that a failure is printed as the smallest call that fails.
"""

from __future__ import annotations

import pytest

hypothesis = pytest.importorskip("hypothesis")

from tests.fuzz import estimators  # noqa: E402
from tests.fuzz.running import FEW, MANY, try_calls  # noqa: E402


# of arguments a few calls compile as much as many
@pytest.mark.parametrize(
    ("kind", "n_calls"),
    [
        ("hostile_parameters", FEW),
        ("hostile_data", FEW),
        pytest.param("hostile_parameters", MANY, marks=pytest.mark.slow),
        pytest.param("hostile_data", MANY, marks=pytest.mark.slow),
        pytest.param("hostile_arguments", MANY, marks=pytest.mark.slow),
    ],
)
def test_calls_end_well_or_say_why(kind, n_calls, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try_calls(getattr(estimators, kind)(), n_calls, request.config.getoption("--seed-offset"))
