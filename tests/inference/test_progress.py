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


def test_lines_every_few_seconds(clock):
    """One line at the start, one every five seconds, one at the end: sweeps, phase, rate, ETA."""
    stream = io.StringIO()
    run(Progress(1, 400, 100, 1, stream), clock)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "chain 1: 1/400  warm-up  ? left in all"
    # 1 sweep a second; the first report starts the clock
    assert lines[1] == "chain 1: 6/400  warm-up  1 sweeps/s a chain  6:34 left in all"
    # five seconds, or a fiftieth of what has gone by: 50 lines in the first 250 s, and then fewer
    assert 60 < len(lines) < 2 + 400 / 5
    phases = ["warm-up" in line for line in lines]
    assert phases == sorted(phases, reverse=True)
    assert sum(phases) == 1 + 100 // 5 - 1
    assert lines[-1] == "chain 1: 400/400  draws  1 sweeps/s a chain  0:00 left in all"
    assert "\r" not in stream.getvalue()


def test_fast_chains_print_little(clock):
    stream = io.StringIO()
    run(Progress(2, 1000, 10, 1, stream), clock, chains=(0, 1), seconds=0.001)
    assert len(stream.getvalue().splitlines()) == 2


def test_hours(clock):
    stream = io.StringIO()
    run(Progress(1, 100, 0, 1, stream), clock, seconds=100.0)
    assert "chain 1: 10/100  draws  0.01 sweeps/s a chain  2:30:00 left in all" in stream.getvalue()


def test_time_left_is_that_of_all_chains(clock):
    """Four chains, two at a time: those that wait take as long again."""
    stream = io.StringIO()
    progress = Progress(4, 100, 50, 1, stream)
    run(progress, clock, chains=(0, 1))
    first = next(
        line for line in stream.getvalue().splitlines() if ": 50/100" in line or "51" in line
    )
    left = re.search(r"(\d+):(\d+) left", first)
    # at sweep 50 or 51 half of the first two chains is left, and all of the two others
    assert 149 <= 60 * int(left[1]) + int(left[2]) <= 150
    assert "(2 waiting)" in first
    assert "0:00 left" not in stream.getvalue()
    run(progress, clock, chains=(2, 3))
    assert stream.getvalue().splitlines()[-1].endswith("0:00 left in all")


def test_time_left_knows_that_draws_are_not_warm_up(clock):
    """Warm-up of one second a sweep, draws of three: what is left follows what was seen of each."""
    stream = io.StringIO()
    progress = Progress(2, 40, 20, 1, stream)
    for chain in (0, 1):
        for done in range(1, 41):
            progress.update(chain, done)
            clock.now += 1.0 if done < 20 else 3.0
    lines = stream.getvalue().splitlines()
    line = next(line for line in lines if "chain 2: 1/40" in line or "chain 2: 2/40" in line)
    left = re.search(r"(\d+):(\d+) left", line)
    # 19 or 18 sweeps of warm-up, 20 of draws
    assert 18 + 60 <= 60 * int(left[1]) + int(left[2]) <= 19 + 60


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
    assert re.search(r"chain 1: 50/50  chain 2: 50/50 .* 0:00 left in all", renewals[-1])
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


def test_a_copy_reports_on_its_own_chain(clock, capsys):
    """In a worker process: it knows nothing of the others, and does not wait for them."""
    progress = pickle.loads(pickle.dumps(Progress(4, 30, 10, 1)))
    run(progress, clock, chains=(2,))
    lines = capsys.readouterr().out.splitlines()
    assert "waiting" not in lines[0]
    assert lines[1] == "chain 3: 6/30  warm-up  1 sweeps/s a chain  0:24 left in all"
    assert lines[-1].startswith("chain 3: 30/30  draws")


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("verbose", [
    0, pytest.param(1, marks=pytest.mark.slow), True, pytest.param(False, marks=pytest.mark.slow),
    np.int64(2),
])  # fmt: skip
def test_through_the_estimator(capsys, verbose):
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(
        2, solver="gibbs", min_count=1, draws=10, warmup=10, chains=2, verbose=verbose
    )
    model.set_params(random_state=0, prior_precision=0.1).fit(texts)
    out, err = capsys.readouterr()
    if not verbose:
        assert out == ""
        # where nothing was compiled before
        assert err == "" or err.startswith("skbayesembed: numba compiles")
        return
    assert err == ""
    cost, fit = out[: out.index("mode: ")], out[out.index("mode: ") :]
    assert re.search(
        r"^About .* on \d+ thread.*solver='gibbs'; then .*question$", cost, re.MULTILINE
    )
    assert re.search(r"^draws +[\d.e-]+ +[\d.e-]+$", cost, re.MULTILINE)
    assert "chain 1: 1/20  " in fit
    assert "chain 1: 20/20  chain 2: 20/20  draws" in fit
    assert "0:00 left in all" in fit.splitlines()[-1]
