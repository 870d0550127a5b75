"""Trials: fits that are cut short, to tell what the whole would cost.

While a `Trial` is active, the loops that a fit is made of (searches, sweeps, chains) run for a
moment only. They tell the trial what a step took and how many there would be. All other work is
done as in a fit, on the real data, so that each cost is measured and none is modeled; what cannot
be known beforehand is how many steps a search will need, for which each search has a typical
number.

Loops ask with `laps` whether there is a trial; outside of one they get None, or, where those who
wait are to be told how far they are (`telling`), `Steps`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field

# CPU seconds that each loop may take, and the steps that it makes at least after the first; one
# where the first took so many times the seconds.
BUDGET, _FEWEST, _DEAR = 0.7, 3, 2.0
# A trial of many loops gives each of them this share of it, once so many seconds have gone.
_LATE, _LATE_SHARE = 15.0, 0.2

_ACTIVE: ContextVar[Trial | None] = ContextVar("trial", default=None)
# What a trial does without.
_LEFT_OUT: ContextVar[list[str] | None] = ContextVar("left_out", default=None)
# What is awaited, and what is done with a line about it.
_LABEL: ContextVar[tuple[str, Callable[[str], object]] | None] = ContextVar("label", default=None)


class Measured(Exception):
    """Raised where a trial has seen all that costs time; what would follow is not run."""


class OfOneAnswer(float):
    """Seconds of a first question, where each further answer takes some of its own.

    Attributes
    ----------
    each : float
        Seconds of these.
    """

    each: float

    def __new__(cls, first: float, each: float) -> OfOneAnswer:
        """Of the first question, and of each further answer."""
        found = super().__new__(cls, first)
        found.each = each
        return found

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.each

    @property
    def others(self) -> str:
        """What further answers take."""
        return f"each further answer about {duration(self.each)}"


class OfAllAnswers(float):
    """Seconds of a first question, after which all others are answered at once.

    Attributes
    ----------
    alone : OfOneAnswer or None
        What answers one by one would take.
    """

    alone: OfOneAnswer | None

    def __new__(cls, seconds: float, alone: OfOneAnswer | None) -> OfAllAnswers:
        """Of all answers, and of one by itself."""
        found = super().__new__(cls, seconds)
        found.alone = alone
        return found

    def __getnewargs__(self) -> tuple[float, OfOneAnswer | None]:  # type: ignore[override]
        return float(self), self.alone

    @property
    def others(self) -> str:
        """What further answers take, and what the first ones would one by one."""
        once = "once for all questions"
        if self.alone is None:
            return once
        return (
            f"{once} (after set_params(by_answer=True), before or after the fit, about "
            f"{duration(self.alone)} for one answer, {duration(self.alone.each)} for each further "
            "one)"
        )


@dataclass(frozen=True)
class Part:
    """A part of the cost of a fit.

    Attributes
    ----------
    name : str
    cpu_seconds : float
    seconds : float
        Wall time, on the threads that the part can use.
    """

    name: str
    cpu_seconds: float
    seconds: float


@dataclass
class Trial:
    """What was measured.

    Attributes
    ----------
    clock : callable
        CPU seconds so far, without those of compilations.
    parts : list of Part
    memory : dict of str to float
        Bytes by what takes them, noted by `memory.check_memory`.
    peak : float
        Most bytes of the stages that have ended.
    last : dict of str to float
        The memory of the last of them.
    solver : str
        What solved, or was to.
    looped : float
        CPU seconds that went into loops of the trial itself.
    product : float
        CPU seconds of a product with a Hessian, where a search by them was cut short.
    times : float
        Whatever is measured is expected so many times.
    saved, added : float
        Seconds by the clock that a search may take less than the parts say, and more, where it goes
        on as long as it finds what is new.
    told : callable
        Called with the name of each loop as it begins.
    """

    clock: Callable[[], float] = time.process_time
    told: Callable[[str], object] = str
    parts: list[Part] = field(default_factory=list)
    memory: dict[str, float] = field(default_factory=dict)
    peak: float = 0.0
    last: dict[str, float] = field(default_factory=dict)
    looped: float = 0.0
    solver: str = ""
    product: float = 0.0
    times: float = 1.0
    saved: float = 0.0
    added: float = 0.0

    def add(
        self,
        name: str,
        cpu_seconds: float,
        threads: float = 1,
        between: Sequence[float] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Note a part that several threads can share.

        ``between``, least and most seconds by the clock, is known of few parts; ``seconds`` by the
        clock are given where they are not those of ``threads`` that are never idle.
        """
        if seconds is None:
            seconds = cpu_seconds / max(threads, 1)
        self.parts.append(Part(name, self.times * cpu_seconds, self.times * seconds))
        if between is not None:
            self.saved += self.times * (seconds - between[0])
            self.added += self.times * (between[1] - seconds)

    @property
    def budget(self) -> float:
        """CPU seconds that the next loop may take."""
        return BUDGET * (_LATE_SHARE if self.looped > _LATE else 1.0)

    def end_stage(self) -> None:
        """Forget the memory of a stage whose arrays are given back."""
        self.peak = max(self.peak, sum(self.memory.values()))
        self.last, self.memory = self.memory, {}

    @contextlib.contextmanager
    def active(self) -> Iterator[Trial]:
        """Context in which loops of this thread are cut short."""
        token = _ACTIVE.set(self)
        try:
            yield self
        except Measured:
            pass
        finally:
            _ACTIVE.reset(token)

    @contextlib.contextmanager
    def repeated(self, times: float) -> Iterator[None]:
        """Context whose work the fit is expected to do so many times."""
        before, self.times = self.times, self.times * times
        try:
            yield
        finally:
            self.times = before

    @contextlib.contextmanager
    def loop(self) -> Iterator[None]:
        """Context of work that is a sample of a loop, not to be counted for itself."""
        begun = self.clock()
        try:
            yield
        finally:
            self.looped += self.clock() - begun


def current() -> Trial | None:
    """The trial that is active in this thread, or None."""
    return _ACTIVE.get()


@contextlib.contextmanager
def doing_without() -> Iterator[list[str]]:
    """Context of an estimate that is not to make what is dear; yields what was left out.

    Examples
    --------
    >>> from skbayesembed.common.trial import does_without, doing_without
    >>> with doing_without() as left_out:
    ...     does_without("a large table")
    True
    >>> left_out, does_without("a large table")
    (['a large table'], False)
    """
    left_out: list[str] = []
    token = _LEFT_OUT.set(left_out)
    try:
        yield left_out
    finally:
        _LEFT_OUT.reset(token)


def does_without(what: str) -> bool:
    """Whether an estimate is under way that does without ``what``, which is then told of."""
    left_out = _LEFT_OUT.get()
    if left_out is None:
        return False
    left_out.append(what)
    return True


class Laps:
    """Steps of one loop, of which the first is not counted: code may be compiled in it.

    Parameters
    ----------
    trial : Trial
    name : str
        Of the part.
    typical : float
        Steps that such a loop makes.
    threads : int
        That share the work of a step.
    exact : bool
        Whether the loop makes just ``typical`` steps.
    """

    def __init__(
        self, trial: Trial, name: str, typical: float, threads: int = 1, exact: bool = False
    ) -> None:
        self.trial, self.name, self.typical, self.threads = trial, name, typical, threads
        self.exact = exact
        self.n, self._begun, self._after_first = 0, trial.clock(), 0.0
        trial.told(name)
        self.cut = False

    def enough(self) -> bool:
        """Note that a step was made; returns whether the loop is to end here."""
        self.n += 1
        now = self.trial.clock()
        if self.n == 1:
            self._after_first = now
        self._last = now
        budget = self.trial.budget
        fewest = 1 if self._after_first - self._begun > _DEAR * budget else _FEWEST
        self.cut = self.n > fewest and now - self._after_first > budget
        return self.cut

    def end(self, ended: bool) -> float:
        """Note the part; returns the CPU seconds of a step.

        Parameters
        ----------
        ended : bool
            Whether the loop ended by itself, so that its number of steps is known.
        """
        if self.n == 0:
            return 0.0
        self.trial.looped += self.trial.clock() - self._begun
        timed = self.n - 1
        first = self._after_first - self._begun
        each = (self._last - self._after_first) / timed if timed else first
        expected = self.n if ended else self.typical if self.exact else max(self.n, self.typical)
        self.trial.add(self.name, expected * each, self.threads)
        return each


class Steps(Laps):
    """Steps of one loop that runs to its end and tells how far it is.

    Parameters
    ----------
    label : str
        What is awaited.
    typical : float
        Steps that such a loop makes.
    exact : bool
        Whether it makes just as many.
    say : callable
        What is done with a line.
    """

    # Seconds between two lines: at least the first, and the second times the seconds gone by.
    interval, share = 5.0, 0.02

    def __init__(
        self,
        label: str,
        typical: float,
        exact: bool = False,
        say: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(Trial(), label, typical, exact=exact)
        self._say = say_line if say is None else say
        self._started = self._said = time.monotonic()

    def enough(self) -> bool:
        """Note that a step was made, and say so where it is time; never ends the loop."""
        self.n += 1
        now = time.monotonic()
        gone = now - self._started
        if now - self._said >= max(self.interval, self.share * gone):
            self._said = now
            self._say(f"{self.name}: {self._done()}, {gone:.0f} s{self._left(gone)}")
        return False

    def _left(self, gone):
        """What is still expected; nothing beyond the usual."""
        if self.n > self.typical:
            return ""
        left = duration(gone * (self.typical / self.n - 1.0))
        return f", time left {'' if self.exact else 'about '}{left}"

    def _done(self):
        """Steps made, of how many; such a loop ends where it has converged, if not ``exact``."""
        if self.exact:
            return f"{self.n} of {self.typical:.0f} steps"
        past = "past the usual" if self.n > self.typical else "usually some"
        return f"{self.n} steps, {past} {self.typical:.0f}"

    def end(self, ended: bool) -> float:
        """Nothing is measured."""
        return 0.0


def say_line(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


@contextlib.contextmanager
def telling(label: str | None, say: Callable[[str], object] = say_line) -> Iterator[None]:
    """Context in which the loops of this thread tell how far they are; not where None.

    ``say`` takes their lines, some seconds apart.
    """
    token = _LABEL.set(None if label is None else (label, say))
    try:
        yield
    finally:
        _LABEL.reset(token)


def laps(name: str, typical: float, threads: int = 1, exact: bool = False) -> Laps | None:
    """`Laps` of a loop in the active trial, or `Steps` if it is to tell; else None."""
    trial, label = current(), _LABEL.get()
    if trial is not None:
        return Laps(trial, name, typical, threads, exact)
    return None if label is None else Steps(f"{label[0]}, {name}", typical, exact, label[1])


def note_memory(n_bytes: float, what: str) -> None:
    """Tell the active trial, where there is one, that something takes memory."""
    trial = current()
    if trial is not None:
        trial.memory[what] = float(n_bytes)


def two_digits(value: float) -> str:
    """A number to two significant digits, without an exponent where there are few zeros."""
    return f"{float(f'{value:.2g}'):g}"


def duration(seconds: float) -> str:
    """Seconds as people say them: ``"0.4 s"``, ``"3.2 min"``, ``"5.6 h"``."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{two_digits(seconds / size)} {unit}"
    return f"{two_digits(seconds)} s"
