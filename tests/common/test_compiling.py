"""Word of compilations, and the time they take."""

from __future__ import annotations

import pytest
from numba import njit

from skbayesembed.common import compiling
from skbayesembed.common.compiling import Compiling


def compile_something():
    njit(lambda x: x + 1)(1.0)


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.setattr(compiling, "_told", compiling.threading.Event())


def test_verbose(capsys):
    """One line, however much is compiled; none where nothing is."""
    with Compiling(1) as listener:
        assert capsys.readouterr().out == ""
        compile_something()
        compile_something()
    assert capsys.readouterr().out.count("compiling") == 1
    assert listener.cpu_seconds > 0
    before = listener.cpu_seconds
    compile_something()
    assert listener.cpu_seconds == before, "nothing is heard outside of the context"


@pytest.mark.parametrize("patience, lines", [(0.0, 1), (1e9, 0)])
def test_silent_unless_it_takes_long(capsys, monkeypatch, untold, patience, lines):
    """To the standard error stream, once in a process."""
    monkeypatch.setattr(compiling, "PATIENCE", patience)
    for _ in range(2):
        with Compiling(0):
            compile_something()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("numba compiles this solver") == lines


def test_nothing_is_said_unasked(capsys, monkeypatch, untold):
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    with Compiling():
        compile_something()
    assert capsys.readouterr() == ("", "")
