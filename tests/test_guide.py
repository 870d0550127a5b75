"""Pages of the user guide whose code is to run as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "doc" / "user_guide"


@pytest.mark.parametrize("page", ["data", "persistence"])
def test_code_of_the_guide(page):
    pytest.importorskip("pandas")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    path = GUIDE / f"{page}.rst"
    found = doctest.testfile(str(path), module_relative=False, optionflags=flags, encoding="utf-8")
    assert found.attempted > 5 and found.failed == 0
