"""Display of the progress of chains while they run.

On a terminal it is one line that renews itself. Elsewhere, as in a log file, every chain prints a
line after its first sweep and after each tenth of them.
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

    Notes
    -----
    A worker process gets a copy and reports its own chains.
    """

    interval = 0.5

    def __init__(
        self, n_chains: int, total: int, warmup: int, verbose: int, stream: TextIO | None = None
    ) -> None:
        self.n_chains = n_chains
        self.total = total
        self.warmup = warmup
        self.verbose = verbose
        self._stream = stream
        self._reset()

    def _reset(self):
        self._lock = threading.Lock()
        self._done = {}
        self._begin = {}
        self._told = {}
        self._last = 0.0
        self._width = 0

    def __getstate__(self):
        return {k: getattr(self, k) for k in ("n_chains", "total", "warmup", "verbose")}

    def __setstate__(self, state):
        self.__dict__.update(state, _stream=None)
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
            self._begin.setdefault(chain, now)
            self._done[chain] = done
            if getattr(self.stream, "isatty", lambda: False)():
                if now - self._last >= self.interval or done == self.total:
                    self._last = now
                    self._renew(now)
            else:
                self._line(chain, done, now)

    def _rate(self, chain, now):
        """Sweeps a second of a chain so far."""
        elapsed = now - self._begin[chain]
        # the first report starts the clock, so its sweep is not counted
        return (self._done[chain] - 1) / elapsed if elapsed > 0 else float("nan")

    def _left(self, done, rate):
        """Time that a chain still needs, as text."""
        return _clock((self.total - done) / rate) if rate > 0 else "?"

    def _renew(self, now):
        """Write the line of all chains over the one before, on a terminal."""
        running = [c for c in self._done if self._done[c] < self.total] or list(self._done)
        rates = [self._rate(c, now) for c in running]
        rate = sum(r for r in rates if r == r)
        parts = [f"chain {c + 1}: {self._done[c]}/{self.total}" for c in sorted(self._done)]
        waiting = self.n_chains - len(self._done)
        slowest = min(running, key=lambda c: self._done[c])
        left = self._left(self._done[slowest], self._rate(slowest, now))
        text = "  ".join(parts) + (f"  ({waiting} waiting)" if waiting else "")
        text += f"  {rate:.4g} sweeps/s  {left} left"
        self._width = max(self._width, len(text))
        end = "\n" if min(self._done.values()) == self.total and not waiting else ""
        self.stream.write("\r" + text.ljust(self._width) + end)
        self.stream.flush()

    def _line(self, chain, done, now):
        """Print a line about one chain after its first sweep and each tenth of them."""
        tenth = (10 * done) // self.total
        if tenth == self._told.get(chain, 0) and done != 1:
            return
        self._told[chain] = tenth
        rate = self._rate(chain, now)
        phase = "warm-up" if done <= self.warmup else "draws"
        speed = "" if done == 1 else f", {rate:.4g} sweeps/s, {self._left(done, rate)} left"
        self.stream.write(f"chain {chain + 1}: {done}/{self.total} sweeps ({phase}){speed}\n")
        self.stream.flush()
