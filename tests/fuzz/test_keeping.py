"""What is written to files, under hostile places and arguments, and checkpoints under damage."""

from __future__ import annotations

import pytest

hypothesis = pytest.importorskip("hypothesis")

from tests.fuzz import keeping  # noqa: E402
from tests.fuzz.running import FEW, MANY, try_calls  # noqa: E402

# A call of these is a fit, or writes and reads a file.
_FEW, _MANY = FEW // 6, MANY // 2


@pytest.mark.parametrize("n_calls", [_FEW, pytest.param(_MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["hostile_keeping", "damaged_checkpoints"])
def test_files_are_whole_or_refused(kind, n_calls, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try_calls(getattr(keeping, kind)(), n_calls, request.config.getoption("--seed-offset"))
