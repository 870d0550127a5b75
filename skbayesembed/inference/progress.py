"""Display of the progress of chains while they run.

On a terminal it is one line that renews itself. Elsewhere, as in a log file or a notebook, a line
is added every few seconds, the less often the longer the run has been.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TextIO


def _clock(seconds):
    """``"4:05"``, or ``"1:04:05"``."""
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


class Progress:
    """Progress of several chains, shared by the threads that run them.

    Parameters
    ----------
    n_chains, total : int
        Number of chains, and of sweeps in each.
    warmup : int
        Sweeps of warm-up among ``total``.
    verbose : int
        0 prints nothing.
    stream : file-like, optional
        Standard output if not given.

    Attributes
    ----------
    interval : float
        Seconds between two renewals of the line on a terminal.
    log_interval, log_share : float
        Elsewhere, seconds between two lines: at least the first, and the second times the seconds
        gone by.

    Notes
    -----
    A worker process gets a copy for each chain, which reports on that alone.
    """

    interval = 0.5
    log_interval, log_share = 5.0, 0.02

    def __init__(
        self, n_chains: int, total: int, warmup: int, verbose: int, stream: TextIO | None = None
    ) -> None:
        self.n_chains = n_chains
        self.total = total
        self.warmup = warmup
        self.verbose = verbose
        self._stream = stream
        # chains that this one hears of
        self._expected = n_chains
        self._reset()

    def _reset(self):
        self._lock = threading.Lock()
        self._done = {}
        self._last_of = {}
        self._started = self._last = time.monotonic()
        # sweeps that were timed, and their seconds, of warm-up and of draws
        self._timed = [[0, 0.0], [0, 0.0]]
        self._width = 0

    def __getstate__(self):
        return {k: getattr(self, k) for k in ("n_chains", "total", "warmup", "verbose")}

    def __setstate__(self, state):
        # in a worker process: one of the chains
        self.__dict__.update(state, _stream=None, _expected=1)
        self._reset()

    @property
    def stream(self) -> TextIO:
        """Where to print; standard output is looked up at each use, as it may be redirected."""
        return sys.stdout if self._stream is None else self._stream

    def update(self, chain: int, done: int) -> None:
        """Note that chain number ``chain`` has finished ``done`` sweeps; print where it is time."""
        if not self.verbose or self.total == 0:
            return
        now = time.monotonic()
        with self._lock:
            if chain in self._last_of:
                # the first report starts the clock of a chain, so its sweep is not timed
                timed = self._timed[done > self.warmup]
                timed[0] += done - self._done[chain]
                timed[1] += now - self._last_of[chain]
            self._done[chain], self._last_of[chain] = done, now
            terminal = getattr(self.stream, "isatty", lambda: False)()
            ended = len(self._done) == self._expected and min(self._done.values()) == self.total
            gone = now - self._started
            wait = self.interval if terminal else max(self.log_interval, self.log_share * gone)
            first = sum(self._done.values()) == 1
            due = now - self._last >= wait or (terminal and done == self.total)
            if not (ended or first or due):
                return
            self._last = now
            self._write(terminal, ended)

    def _seconds(self, draws):
        """Seconds of a sweep of warm-up, or of the draws; those of the other until it is known."""
        for n, seconds in (self._timed[draws], self._timed[not draws]):
            if n:
                return seconds / n
        return float("nan")

    def _left(self):
        """Seconds until all chains are done, those that wait included.

        As many run side by side as now: the work left is shared among them, but no chain ends
        sooner than its own is done.
        """
        each = [self._seconds(False), self._seconds(True)]

        def work(done):
            warmup = max(0, self.warmup - done)
            return warmup * each[0] + (self.total - max(done, self.warmup)) * each[1]

        running = [work(done) for done in self._done.values() if done < self.total]
        waiting = (self._expected - len(self._done)) * work(0)
        if not running:
            return waiting
        return max(max(running), (sum(running) + waiting) / len(running))

    def _write(self, terminal, ended):
        """Write how far the chains are: over the line before on a terminal, else as a new line."""
        parts = [f"chain {c + 1}: {self._done[c]}/{self.total}" for c in sorted(self._done)]
        waiting = self._expected - len(self._done)
        phase = "warm-up" if max(self._done.values()) <= self.warmup else "draws"
        text = "  ".join(parts) + (f"  ({waiting} waiting)" if waiting else "") + f"  {phase}"
        each = self._seconds(phase == "draws")
        if each > 0:
            text += f"  {_figures(1 / each)} sweeps/s a chain"
        left = self._left()
        text += f"  {_clock(left) if left == left else '?'} left in all"
        if terminal:
            self._width = max(self._width, len(text))
            text = "\r" + text.ljust(self._width)
        self.stream.write(text + ("\n" if ended or not terminal else ""))
        self.stream.flush()


def _figures(rate):
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"
