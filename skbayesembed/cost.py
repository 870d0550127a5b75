"""What a fit would cost: seconds and bytes, by a trial of it on the real data.

A trial (`common.trial`) goes the way of a fit, from data to posterior, in which every loop makes a
few steps only. So all rooms and solvers are served by one mechanism, and what is measured is what a
fit does on this machine.
"""

from __future__ import annotations

import copy
import functools
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from . import spine
from .common.blas import advice_on_kernels
from .common.compiling import Compiling, working_time
from .common.memory import readable
from .common.trial import Part, Trial, doing_without, duration
from .common.warnings import note_user
from .posterior.cells import dashed
from .posterior.tables import Column, Table

# ``find(estimator, training, seeds)``: the fit of an estimator, from training data on.
Find = Callable[[Any, Any, Mapping[str, np.random.SeedSequence]], Any]
# ``asked(estimator, training, clock)``: CPU seconds of the first question by units, or None.
Asked = Callable[[Any, Any, Callable[[], float]], float | None]
# ``advise(estimator, training, seconds)``: a smaller setting with which it takes less, or nothing.
Advise = Callable[[Any, Any, float], str]

# Multiplications for one gradient of a fit above which it takes half a minute and more.
_LONG = 2.5e8
# Those from which on the first question is timed, and the CPU seconds of it that are worth a note.
_ASKED, _LONG_QUESTION = 2.5e7, 30.0
# Seconds of it from which on a smaller fit is worth a word.
_TOO_LONG = 120.0
# Seconds by the clock from which on it is worth a note that processors would be idle.
_WORTH_THREADS = 30.0
# Seconds after which a trial says that it takes a while, and between lines that say where it is.
_PATIENCE, _BETWEEN = 5.0, 20.0
# Times its CPU seconds that a trial takes by the clock from which on processors count as busy, and
# the seconds of a trial that tell.
_BUSY, _TELLING = 1.5, 0.3
# Notes that were told in this process: estimates of a grid tell them once.
_NOTED: set[str] = set()
_FIRST_QUESTION = "first question"
_COMPILED = "compiling by numba, once in an installation"
_NOT_IN_FIT = (
    f"({_FIRST_QUESTION}: intervals by units are made once, when they are first asked for; not "
    "part of the fit)"
)

# Parameters whose "auto" ends a search, or chains, where starts or draws agree; and of which.
_OPEN_ENDED = {"n_starts": "starts", "thin": "draws"}


@dataclass(frozen=True, repr=False, eq=False)
class Cost(Table):
    """Estimated cost of one fit on this machine, a table with a row for each part.

    A search by ``GridSearchCV`` makes one fit for each candidate and fold, and a last one.

    Searches for modes and ascents of a bound end when they have converged. Their parts are the
    measured seconds of a step times the usual number of steps, and may be wrong by a factor of 3.
    Parts of chains are wrong by less than 1.5. Code of solvers that were never used in this
    installation is compiled first, for 5 to 45 seconds that are not counted here. Intervals by
    units are computed when they are first asked for, not in the fit: they have a separate row below
    the others, which may be wrong by a factor of 3 and is not in any sum.

    Attributes
    ----------
    parts : list of Part
        Each part, with ``name``, ``cpu_seconds`` and ``seconds`` (wall time on ``n_jobs``).
    memory : dict of str to float
        Bytes by purpose, in the stage in which chains or the approximation are computed.
    bytes : float
        Peak memory, in bytes.
    n_jobs : int
        Number of threads.
    solver : str
        Solver, after ``solver="auto"`` is resolved.
    question : Part or None
        Cost of the first question with intervals by units, whose results later questions reuse.
        None if there are no such intervals; its seconds are NaN if it would not fit in memory.
    no_room : str or None
        If the first question would not fit in memory: the bytes it needs, those available, and what
        to change.
    between : tuple of float or None
        Least and most seconds of wall time, for a search that continues as long as it finds
        anything new, such as that for modes of senses with ``n_starts="auto"``; ``seconds`` is then
        the usual time, or the least if all that is open is how far chains are made longer.
    sooner : str
        If the first question takes more than two minutes, a smaller setting that takes less.
    automatic : tuple of str
        Parameters that are ``"auto"`` and make the time ``between``.
    left_out : tuple of str
        What the fit would do first that was not tried, because it may take longer than the fit.
    busy : float
        Seconds that the trial took by the clock, over its CPU seconds; above 1 where other work
        keeps the processors busy, which ``seconds`` do not know of.
    advice : str
        Settings with which the fit would take less, where the data suggest some: if single years
        are periods of a sense model, and most have few snippets.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 5
    >>> cost = BayesianSGNS(2, solver="map", prior_precision=1.0, min_count=1).estimate_cost(texts)
    >>> cost.solver, cost.seconds < 60
    ('map', True)
    """

    parts: list[Part]
    memory: dict[str, float]
    bytes: float
    n_jobs: int
    solver: str
    question: Part | None = None
    no_room: str | None = None
    sooner: str = ""
    between: tuple[float, float] | None = None
    automatic: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    busy: float = 1.0
    advice: str = ""

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of all parts."""
        return sum(part.cpu_seconds for part in self.parts)

    @property
    def seconds(self) -> float:
        """Seconds of wall time, on ``n_jobs`` threads that nothing else keeps busy."""
        return sum(part.seconds for part in self.parts)

    def _columns(self):
        rows = [*self.parts, *([] if self.question is None else [self.question])]

        def figures(name):
            return np.array([getattr(part, name) for part in rows], dtype=float)

        names = np.array([part.name for part in rows], dtype=object)
        return [
            Column("part", names, ("part",), left=True),
            Column("CPU seconds", figures("cpu_seconds"), ("cpu_seconds",), dashed(".3g")),
            Column("seconds", figures("seconds"), ("seconds",), dashed(".3g")),
        ]

    def _series(self):
        # without what is no part of the fit, so that columns add up to its cost
        n = len(self.parts)
        return {name: values[:n] for name, values in super()._series().items()}

    def _notes(self):
        notes = [f"(not tried, and in no sum: {what})" for what in self.left_out]
        if self.between is not None and self.automatic:
            of = " and ".join(_OPEN_ENDED[name] for name in self.automatic)
            given = " and ".join(f"{name}='auto'" for name in self.automatic)
            stop = "stops" if len(self.automatic) == 1 else "stop"
            notes.append(f"({given} {stop} early if {of} agree)")
        notes += [] if self.question is None else [_NOT_IN_FIT]
        notes += [f"({_FIRST_QUESTION}: {self.sooner})"] if self.sooner else []
        notes += [] if self.no_room is None else [self.no_room]
        if self.busy > _BUSY:
            notes.append(
                f"(the processors have other work: the trial took {self.busy:.1f} times its CPU "
                "seconds by the clock, and a fit will take as many times the seconds above)"
            )
        notes += [f"({self.advice})"] if self.advice else []
        idle = effective_n_jobs(-1) - self.n_jobs
        if idle > 0 and self.seconds > _WORTH_THREADS and self.busy <= _BUSY:
            idle_ones = "one processor" if idle == 1 else f"{idle} processors"
            notes.append(f"({idle_ones} would be idle; try n_jobs=-1)")
        return notes

    def _title(self):
        first = self.question
        later = ""
        if self.no_room is not None:
            later = "; the first question would not fit in memory"
        elif first is not None:
            later = f"; then {duration(first.seconds)} for the first question"
        threads = f"{self.n_jobs} thread{'' if self.n_jobs == 1 else 's'}"
        if self.between is None:
            when = f"About {duration(self.seconds)} for one fit on {threads}, "
        else:
            least, most = map(duration, self.between)
            when = f"{least} to {most} for one fit on {threads}, "
            usual = duration(self.seconds)
            when += f"usually {usual} with " if usual != least else "with at least "
        return (
            f"{when}{duration(self.cpu_seconds)} of CPU, {readable(self.bytes)}: "
            f"solver={self.solver!r}{later}"
        )


def estimate(
    estimator: Any,
    room: spine.Room,
    read: Callable,
    find: Find | None = None,
    asked: Asked | None = None,
    advise: Advise | None = None,
) -> Cost:
    """The `Cost` of a fit, without fitting.

    Parameters
    ----------
    estimator : BaseEstimator
        Not changed.
    room : Room
    read : callable
        ``read(estimator, seeds)`` makes training data; it may note the data's columns in the
        estimator, which is a copy.
    find : callable, optional
        The fit from there on; `spine.fit` by default.
    asked : callable, optional
        Tells what the first question costs, of estimators that have intervals by units.
    advise : callable, optional
        Names a smaller setting with which it takes less.

    Raises
    ------
    ValueError
        For a parameter or input that ``fit`` would refuse.
    MemoryError
        If the fit would not fit in memory; the message says what it would take. Where it is the
        first question alone that would not fit, the `Cost` says so.
    """
    spine.check(estimator, room)
    note = (
        f"estimate_cost of {type(estimator).__name__} reads all data and tries each step; this "
        "takes some seconds, or minutes where a fit would take hours."
    )
    with _Told(note) as told:
        return _estimate(estimator, room, read, find, (asked, advise), told)


class _Told:
    """Context of a trial, which says that it takes a while once it has, and then where it is.

    Parameters
    ----------
    note : str
        Said first.
    """

    def __init__(self, note):
        self._note, self._at = note, "reading and counting"
        self._ended, self._begun = threading.Event(), time.monotonic()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._compiling = Compiling()

    def at(self, step):
        """The trial is at this step from now on."""
        self._at = step

    def _tell(self):
        if self._ended.wait(_PATIENCE):
            return
        _note_once(self._note)
        while not self._ended.wait(_BETWEEN):
            gone, compiled = time.monotonic() - self._begun, self._compiling.seconds
            of_it = (
                f" by the clock, of these {compiled:.0f} s of {_COMPILED}"
                if compiled >= 1.0
                else ""
            )
            note_user(f"estimate of the cost, {gone:.0f} s so far{of_it}: {self._at}")

    def __enter__(self):
        self._compiling.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *raised):
        self._compiling.__exit__(*raised)
        self._ended.set()
        self._thread.join()


def _estimate(estimator, room, read, find, questions, told):
    """The `Cost`, of an estimator that has been checked."""
    tried = copy.copy(estimator)
    tried.verbose = 0
    # neither the caller's generator nor NumPy's is advanced
    state = estimator.random_state
    tried.random_state = 0 if state is None else copy.deepcopy(state)
    seeds = spine.seeds_of(tried, room)
    with Compiling() as compiling, doing_without() as left_out:
        begun = time.process_time()
        training = read(tried, seeds)
        spent = time.process_time() - begun - compiling.cpu_seconds
    _note_on_advice(training)
    counting = Part("counting", spent, spent)
    found = _try(tried, room, training, seeds, find, questions, told, counting)
    return replace(found, left_out=tuple(left_out))


def announce(
    estimator: Any,
    room: spine.Room,
    training: Any,
    seeds: Mapping[str, np.random.SeedSequence],
    find: Find | None = None,
    asked: Asked | None = None,
    work: float = 0.0,
    advise: Advise | None = None,
) -> None:
    """Print the `Cost` of a fit before it starts, where the estimator is verbose.

    Where it is not, a note on the standard error stream says that the fit takes a while, if one
    gradient takes many multiplications: ``work``; and how long intervals by units will. Other
    parameters are those of `spine.fit` and of `estimate`.
    """
    if work > _LONG:
        _note_on_kernels()
    _note_on_advice(training)
    if not estimator.verbose:
        _note(estimator, training, asked, work)
        return
    tried = copy.copy(estimator)
    tried.verbose = 0
    with _Told("each step of the fit is tried first, to say what it costs.") as told:
        found = _try(tried, room, training, seeds, find, (asked, advise), told)
    print(found, flush=True)


@functools.cache
def _note_on_kernels():
    """Tell of kernels of BLAS that are slower than need be, once in a process."""
    text = advice_on_kernels()
    if text:
        note_user(f"{text}.")


def _advice(training):
    """With which settings a fit of training data would take less, a text, empty of most."""
    return str(getattr(training, "advice", ""))


def _note_on_advice(training):
    """Tell it before a fit or a trial, which may take long itself; once in a process."""
    text = _advice(training)
    if text:
        _note_once(f"{text}.")


def _note_once(text):
    """A note that a process is told once."""
    if text not in _NOTED:
        _NOTED.add(text)
        note_user(text)


def _note(estimator, training, asked, work):
    """The note of a fit that is not verbose."""
    parts, spent = [], None
    if work > _LONG:
        parts.append(f"this fit of {type(estimator).__name__} takes half a minute or more")
    if work > _ASKED and asked is not None:
        with _Told("one moment: estimating the cost of answers before the fit.") as told:
            told.at("answers")
            # as the question itself will tell it, once it is asked
            with working_time() as clock:
                spent, no_room = _asked(asked, estimator, training, clock)
        if no_room is not None:
            note_user(f"{no_room} The fit itself does without.")
    if spent is not None and (parts or spent > _LONG_QUESTION):
        # said once, as many never ask; the question tells what else there is
        after = "and" if parts else f"after this fit of {type(estimator).__name__},"
        parts.append(
            f"{after} intervals by units, if you ask for any, take about {duration(spent)} of "
            f"processor time, {_of_others(spent)}"
        )
    if parts:
        note_user(f"{', '.join(parts)}; estimate_cost and verbose=1 say more.")


def _try(estimator, room, training, seeds, find, questions, told, *before):
    """The `Cost` by a trial from training data on."""
    if find is None:

        def find(estimator, training, seeds):
            return spine.fit(estimator, room, training, seeds)

    asked, advise = questions
    with Compiling() as compiling, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told.at("preparation")
        trial = Trial(lambda: time.process_time() - compiling.cpu_seconds, told=told.at)
        begun, started = trial.clock(), (time.monotonic(), time.process_time())
        with trial.active():
            # spawning counts children: those of the fit itself are not to change
            find(estimator, training, copy.deepcopy(dict(seeds)))
        rest = max(0.0, trial.clock() - begun - trial.looped)
        busy = _busy(time.monotonic() - started[0], time.process_time() - started[1])
        told.at(_FIRST_QUESTION)
        spent, no_room = _asked(asked, estimator, training, trial.clock)
    trial.memory["Counts"] = _size(training)
    trial.end_stage()
    parts = [*before, Part("preparation", rest, rest), *trial.parts]
    solver = trial.solver or estimator.solver
    jobs = effective_n_jobs(estimator.n_jobs)
    question = None if spent is None else Part(_FIRST_QUESTION, spent, spent / jobs)
    if no_room is not None:
        question = Part(_FIRST_QUESTION, np.nan, np.nan)
    sooner = "" if getattr(spent, "alone", spent) is None else getattr(spent, "others", "")
    if advise is not None and spent is not None and spent >= _TOO_LONG:
        sooner = advise(estimator, training, spent)
    parts, between = _merged(parts), None
    if trial.saved > 0 or trial.added > 0:
        whole = sum(part.seconds for part in parts)
        between = whole - trial.saved, whole + trial.added
    automatic = tuple(name for name in _OPEN_ENDED if getattr(estimator, name, "") == "auto")
    return Cost(
        parts, trial.last, trial.peak, jobs, solver, question, no_room, sooner, between, automatic,
        busy=busy, advice=_advice(training),
    )  # fmt: skip


def _busy(seconds, cpu_seconds):
    """Seconds by the clock over CPU seconds; 1 of a trial that is too short to tell."""
    return max(1.0, seconds / cpu_seconds) if cpu_seconds > _TELLING else 1.0


def _asked(asked, estimator, training, clock):
    """CPU seconds of the first question, and why it would not fit in memory; None of what is not.

    Nothing of it is made where it would not fit.
    """
    if asked is None:
        return None, None
    try:
        return asked(estimator, training, clock), None
    except MemoryError as error:
        return None, str(error) or "The first question would not fit in memory."


def _of_others(spent):
    """What questions after the first one cost."""
    return getattr(spent, "others", "once for all questions")


def _merged(parts):
    """Parts of the same name as one, in the order of the first of them."""
    sums: dict[str, list[float]] = {}
    for part in parts:
        entry = sums.setdefault(part.name, [0.0, 0.0])
        entry[0] += part.cpu_seconds
        entry[1] += part.seconds
    return [Part(name, *entry) for name, entry in sums.items()]


def _size(thing, depth=7, seen=None):
    """Bytes of the arrays that an object holds, each of which counts once."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0.0
    if isinstance(thing, np.ndarray):
        seen.add(id(thing))
        return float(thing.nbytes)
    if depth == 0 or isinstance(thing, str | bytes | int | float | type(None)):
        return 0.0
    parts = thing
    if hasattr(thing, "__dict__"):
        parts = vars(thing)
    if isinstance(parts, dict):
        parts = list(parts.values())
    if not isinstance(parts, list | tuple):
        return 0.0
    seen.add(id(thing))
    return sum(_size(part, depth - 1, seen) for part in parts)
