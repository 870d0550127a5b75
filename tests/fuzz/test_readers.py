"""Readers of files under damage: nothing but a result or an error about the file."""

from __future__ import annotations

import pytest

hypothesis = pytest.importorskip("hypothesis")

from tests.fuzz.readers import damaged_files  # noqa: E402
from tests.fuzz.running import FEW, MANY, try_calls  # noqa: E402


@pytest.mark.parametrize("n_files", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_damaged_files_are_read_or_refused(n_files, request):
    try_calls(damaged_files(), n_files, request.config.getoption("--seed-offset"))
