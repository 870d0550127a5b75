"""What those who wait for intervals by units are told."""

from __future__ import annotations

import threading
import time

import pytest

from skbayesembed.common import trial
from skbayesembed.common.warnings import muted
from skbayesembed.sgns.documents import awaited as module
from skbayesembed.sgns.documents.awaited import Awaited, seconds_of_each


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand, for those who wait."""
    at = [1000.0]
    for place in (module, trial):
        monkeypatch.setattr(place.time, "monotonic", lambda: at[0])
    return at


def test_the_rate_is_that_of_most_reports():
    assert seconds_of_each([(5.0, 16)]) is None
    # two threads that report together, and a wait of a minute by other work
    steady = [(2.0 * (i // 2), 10 * i) for i in range(8)]
    held_up = [(when + 60.0 * (i >= 6), done) for i, (when, done) in enumerate(steady)]
    assert seconds_of_each(steady) == pytest.approx(0.1)
    assert seconds_of_each(held_up) < 0.2


def test_the_first_part_tells_no_rate(capsys):
    awaited = Awaited(1)
    for done in (16, 32, 48):
        awaited.solved(done, 48)
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.endswith("33 % of 48 deviations, 0 s, left of this step not known yet")
    assert second.endswith("66 % of 48 deviations, 0 s, left of this step 0 s")
    assert last.endswith("100 % of 48 deviations, 0 s")


@pytest.mark.parametrize("verbose", [0, 1])
def test_all_three_steps_say_how_far_they_are(verbose, clock, capsys):
    """With verbose=1 every few seconds, else every half minute once a minute has gone."""
    awaited, begun = Awaited(verbose), clock[0]
    awaited.announce(10**6, lambda: 300.0, lambda seconds: f"Less than {seconds:g} s with fewer.")
    said = capsys.readouterr()
    assert "about 5 min" in (said.out or said.err) and "Less than 300 s" in (said.out or said.err)
    told = []

    def heard():
        out, err = capsys.readouterr()
        assert not (err if verbose else out)
        told.extend((clock[0] - begun, line) for line in (out + err).splitlines())

    with awaited.search(1, "mode"):
        steps = trial.laps("search for a mode", 30.0)
        for _ in range(40):
            clock[0] += 2.5
            assert not steps.enough()
            heard()
    awaited.solving()
    for done in (16, 32):
        for _ in range(16):
            clock[0] += 2.5
            awaited.product(32)
            heard()
        awaited.solved(done, 32)
        heard()
    with awaited.search(3, "mode 1 of 2"):
        steps = trial.laps("search for a mode", 30.0)
        for _ in range(20):
            clock[0] += 2.5
            steps.enough()
            heard()
    times, lines = zip(*told, strict=True)
    assert all("(processor time for all: " in line for line in lines)
    assert all(line.endswith("of about 5 min)") for line in lines)
    # neither too many lines nor too long without one
    first, between = (5.0, (0.0, 20.0)) if verbose else (60.0, (30.0, 40.0))
    assert times[0] == first
    gaps = [b - a for a, b in zip(times, times[1:], strict=False)]
    assert between[0] <= min(gaps) and max(gaps) <= between[1]
    for step in ("1 of 3: mode, search", "2 of 3: ", "3 of 3: mode 1 of 2, search"):
        assert any(step in line for line in lines)
    if verbose:
        assert "2 steps, usually some 30, 5 s, left of this step about 70 s (" in lines[0]
        assert "32 steps, past the usual 30, 80 s (" in next(x for x in lines if "32 steps" in x)
        line = next(x for x in lines if " 0 % of 32" in x)
        assert "0 % of 32 deviations, 20 s, left of this step not known yet (" in line


def test_an_expectation_that_is_exceeded_is_revised(clock, monkeypatch, capsys):
    """By the share of the systems that is done; before any is, it says that it is exceeded."""
    spent = [0.0]
    monkeypatch.setattr(module.time, "process_time", lambda: spent[0])
    awaited = Awaited(1)
    awaited.announce(10**6, lambda: 77.0)
    spent[0] = 20.0
    awaited.solving()
    spent[0], clock[0] = 98.0, clock[0] + 98.0
    awaited.product(32)
    awaited.solved(16, 32)
    spent[0] = 110.0
    awaited.solved(20, 32)
    _, before, first, then = capsys.readouterr().out.splitlines()
    assert before.endswith("for all: 98 s, more than the 77 s expected)")
    assert first.endswith("for all: 98 s of about 2.9 min, revised)")
    assert then.endswith("for all: 110 s of about 2.9 min, revised)")


def test_threads_that_report_together_say_it_once(clock, monkeypatch):
    """Also where printing takes a while."""
    said, together = [], threading.Barrier(3)

    def say(text):
        time.sleep(0.02)
        said.append(text)

    monkeypatch.setattr(module, "say_line", say)
    awaited = Awaited(1)
    awaited.solving()
    clock[0] += 100.0

    def product():
        together.wait()
        awaited.product(32)

    threads = [threading.Thread(target=product) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 1 and "0 % of 32 deviations" in said[0]


def test_what_to_do_about_a_wait_is_said_once(monkeypatch, capsys):
    """In a process; what was muted was not said."""
    monkeypatch.setattr(Awaited, "explained", False)

    def said():
        Awaited(0).announce(10**6, lambda: 77.0)
        return capsys.readouterr().err

    with muted():
        assert said() == ""
    first, second = said(), said()
    short = "intervals by units are worked out, once for all questions: about 77 s of processor"
    assert short in first and "verbose=1 shows progress. For answers at once" in first
    assert second == f"skbayesembed: {short} time, to a factor of 3.\n"


def test_short_waits_say_nothing(clock, capsys):
    awaited = Awaited(0)
    awaited.announce(10**6, lambda: 4.0, lambda seconds: "never said")
    with awaited.search(1, "mode"):
        steps = trial.laps("search for a mode", 30.0)
        for _ in range(50):
            clock[0] += 1.0
            steps.enough()
    awaited.solved(16, 32)
    assert capsys.readouterr() == ("", "")
    # whatever was expected
    clock[0] += 10.0
    awaited.solved(32, 32)
    assert "100 % of 32 deviations, 60 s" in capsys.readouterr().err
