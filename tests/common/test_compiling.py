"""Word of compilations, and the time they take."""

from __future__ import annotations

import time

import pytest
from numba import njit

from skbayesembed.common import compiling
from skbayesembed.common.compiling import Compiling, waiting_time


def compile_something():
    njit(lambda x: x + 1)(1.0)


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.delenv(compiling._TOLD, raising=False)
    yield
    # what a test has told is not told in its environment
    monkeypatch.delenv(compiling._TOLD, raising=False)


def test_verbose(capsys, untold):
    """One line, however much is compiled and by whom; none where nothing is."""
    with Compiling(1) as listener:
        assert capsys.readouterr().out == ""
        compile_something()
        compile_something()
    assert capsys.readouterr().out.count("compiling") == 1
    assert listener.cpu_seconds > 0
    with Compiling(1):
        compile_something()
    assert capsys.readouterr().out == ""
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
    assert err.count("numba compiles what is used for the first time") == lines


@pytest.mark.parametrize("worker, lines", [("LokyProcess-1", 1), ("LokyProcess-2", 0)])
def test_one_worker_tells(capsys, monkeypatch, untold, worker, lines):
    """Of those that were made before anything was told; later ones inherit that it was."""
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    monkeypatch.setattr(compiling.multiprocessing.current_process(), "_name", worker)
    with Compiling(0):
        compile_something()
    assert capsys.readouterr().err.count("numba compiles") == lines
    assert (compiling._TOLD in compiling.os.environ) == bool(lines)


def test_nothing_is_said_unasked(capsys, monkeypatch, untold):
    monkeypatch.setattr(compiling, "PATIENCE", 0.0)
    with Compiling():
        compile_something()
    assert capsys.readouterr() == ("", "")


def test_one_that_has_not_ended_counts():
    """Those who wait during it are told of it; its CPU seconds are known once it has ended."""
    with Compiling() as listener:
        listener.on_start(None)
        time.sleep(0.02)
        assert listener.seconds >= 0.02 and listener.cpu_seconds == 0.0
        listener.on_end(None)
        done = listener.seconds
        time.sleep(0.02)
        assert listener.seconds == done >= 0.02


def test_waiting_without_compiling():
    """A clock that stands while numba compiles, so that a first step tells what others take."""
    with waiting_time() as clock:
        begun = time.monotonic()
        compile_something()
        gone = time.monotonic() - begun
        still = clock()
        time.sleep(0.02)
        later = clock()
    assert still < gone
    assert later - still >= 0.02
