"""Progress: silent, as plain lines, and as one line that renews itself."""

from __future__ import annotations

import io
import pickle
import re

import numpy as np
import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.inference import progress as module
from skbayesembed.inference.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""

    class Clock:
        now = 100.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def run(progress, clock, chains=(0,), seconds=1.0):
    for done in range(1, progress.total + 1):
        for chain in chains:
            progress.update(chain, done)
        clock.now += seconds


def test_silent(clock):
    stream = io.StringIO()
    run(Progress(1, 40, 10, 0, stream), clock)
    assert stream.getvalue() == ""


def test_plain_lines(clock):
    """One line at the start and one each tenth, with sweeps, phase, rate and time left."""
    stream = io.StringIO()
    run(Progress(1, 400, 100, 1, stream), clock)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "chain 1: 1/400 sweeps (warm-up)"
    # the first report starts the clock: 39 sweeps in 39 s
    assert lines[1] == "chain 1: 40/400 sweeps (warm-up), 1 sweeps/s, 6:00 left"
    assert [re.search(r"\((.*?)\)", line).group(1) for line in lines].count("warm-up") == 3
    assert lines[-1] == "chain 1: 400/400 sweeps (draws), 1 sweeps/s, 0:00 left"
    assert "\r" not in stream.getvalue()


def test_plain_lines_of_several_chains(clock):
    stream = io.StringIO()
    run(Progress(3, 20, 10, 1, stream), clock, chains=(0, 1, 2))
    lines = stream.getvalue().splitlines()
    for chain in (1, 2, 3):
        assert sum(line.startswith(f"chain {chain}: ") for line in lines) == 11


def test_fewer_sweeps_than_lines(clock):
    stream = io.StringIO()
    run(Progress(1, 3, 0, 1, stream), clock)
    assert len(stream.getvalue().splitlines()) == 3


def test_hours(clock):
    stream = io.StringIO()
    run(Progress(1, 100, 0, 1, stream), clock, seconds=100.0)
    assert "chain 1: 10/100 sweeps (draws), 0.01 sweeps/s, 2:30:00 left" in stream.getvalue()


def test_one_renewing_line(clock):
    stream = Terminal()
    run(Progress(2, 50, 10, 1, stream), clock, chains=(0, 1))
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    renewals = text.strip("\r\n").split("\r")
    assert len(renewals) > 40
    assert "chain 1: 25/50" in text
    assert "sweeps/s" in renewals[-1]
    assert re.search(r"chain 1: 50/50  chain 2: 50/50 .* 0:00 left", renewals[-1])
    widths = [len(line) for line in renewals]
    assert widths == sorted(widths), "a shorter line would leave the rest of the longer one"


def test_renewing_line_tells_of_waiting_chains(clock):
    stream = Terminal()
    progress = Progress(4, 50, 10, 1, stream)
    run(progress, clock, chains=(0, 1))
    assert "(2 waiting)" in stream.getvalue()
    assert "\n" not in stream.getvalue(), "two chains are still to come"
    run(progress, clock, chains=(2, 3))
    assert stream.getvalue().count("\n") == 1


def test_renewing_line_is_not_renewed_too_often(clock):
    stream = Terminal()
    run(Progress(1, 1000, 10, 1, stream), clock, seconds=0.01)
    assert stream.getvalue().count("\r") <= 10 / Progress.interval + 2


def test_pickled_without_its_stream():
    progress = pickle.loads(pickle.dumps(Progress(2, 10, 5, 1, io.StringIO())))
    assert (progress.n_chains, progress.total, progress.warmup, progress.verbose) == (2, 10, 5, 1)
    progress = pickle.loads(pickle.dumps(Progress(1, 1, 0, 0)))
    progress.update(0, 1)


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("verbose", [0, 1, True, False, np.int64(2)])
def test_through_the_estimator(capsys, verbose):
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(
        2, solver="gibbs", min_count=1, draws=10, warmup=10, chains=2, verbose=verbose
    )
    model.set_params(random_state=0, prior_precision=0.1).fit(texts)
    out, err = capsys.readouterr()
    assert err == ""
    if not verbose:
        assert out == ""
        return
    assert out.startswith("mode: ")
    for chain in (1, 2):
        assert f"chain {chain}: 1/20 sweeps (warm-up)" in out
        assert f"chain {chain}: 20/20 sweeps (draws)" in out
