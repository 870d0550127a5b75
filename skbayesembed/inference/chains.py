"""Chains over joblib: how they are run, recorded, interrupted and joined.

A chain is a function ``chain(model, settings, record, seed, control, index, run)`` that fills its
record. Chains run side by side. Where a model is large they run one after the other, and the
threads share the blocks of work of each sweep instead, which ``run`` maps a function over. Neither
that choice nor the number of threads ever changes a draw.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ..common.trial import Measured, Part, Trial, current
from ..common.warnings import warn_user
from ..posterior.posterior import RunningMoments
from . import blocks
from .checkpoint import Checkpoint, Refused, Stage
from .checkpoint import current as current_checkpoint
from .contracts import Result
from .progress import Progress
from .threads import OneBlasThread, serial

# Seconds between two looks whether interrupted chains have ended.
_LOOK = 0.02
# Most sweeps of the warm-up of a trial, and of its draws; sweeps from which on samplers learn in a
# warm-up; the least that are timed.
_TRIAL_WARMUP, _TRIAL_DRAWS, _TRIAL_LEARNS, _TRIAL_LEAST = 60, 20, 40, 3
# A trial may take this share of the CPU seconds of the chains, up to so many seconds.
_TRIAL_SHARE, _TRIAL_MOST = 0.01, 20.0
# Times the budget of other loops: sweeps differ, and estimates of chains are to be good.
_TRIAL_TIMES = 3.0


@dataclass(frozen=True)
class Settings:
    """How long chains run and what they keep.

    Attributes
    ----------
    draws, warmup, thin : int
        ``warmup`` sweeps are discarded, then ``draws`` draws are made ``thin`` sweeps apart.
    stride : int
        Of the draws made, the first and every ``stride``-th after it are recorded whole.
    moments : bool
        Whether running moments over every draw are kept.
    rows : dict of str to NumPy index, or None
        For an array by its name, the rows that are recorded at every draw whatever the stride;
        a tuple picks along further axes. They are recorded under the name with ``"_rows"``
        appended.
    covariance : bool
        Whether running moments keep covariances, or variances only.
    """

    draws: int
    warmup: int
    thin: int = 1
    stride: int = 1
    moments: bool = False
    rows: dict[str, Any] | None = None
    covariance: bool = True

    @property
    def recorded(self) -> int:
        """Number of draws recorded whole."""
        return self.draws // self.stride

    def filled(self, n_draws: int) -> int:
        """Of so many draws made, those recorded whole."""
        return min(-(-n_draws // self.stride), self.recorded)

    @property
    def total(self) -> int:
        """Number of sweeps of a chain."""
        return self.warmup + self.draws * self.thin


class Store:
    """Arrays of the draws of all chains, which each chain fills for itself.

    So none is copied when chains are joined. They are made when the first draw shows their shapes;
    memory is taken as they are filled.

    Parameters
    ----------
    n_chains : int
    """

    def __init__(self, n_chains: int) -> None:
        self._n_chains = n_chains
        self._whole: dict[tuple[str, str], np.ndarray] = {}
        self._lock = threading.Lock()

    def part(self, kind: str, name: str, index: int, shape: tuple[int, ...]) -> np.ndarray:
        """The part of chain ``index`` in an array, of the given shape."""
        with self._lock:
            if (kind, name) not in self._whole:
                self._whole[kind, name] = np.empty((self._n_chains, *shape))
            return self._whole[kind, name][index]

    def take(self, kind: str, chosen: Sequence[int], n: int) -> dict[str, np.ndarray]:
        """The first ``n`` draws of chosen chains, by name; views where all chains are chosen."""
        part = slice(None) if len(chosen) == self._n_chains else list(chosen)
        return {name: whole[part, :n] for (of, name), whole in self._whole.items() if of == kind}


class ChainRecord:
    """What one chain has produced so far.

    Whenever it is looked at, also after an interruption, the first ``n_draws`` draws are complete.

    Parameters
    ----------
    store : Store, optional
        Where its arrays are; one of its own if not given, as in another process.
    index : int
        Its number among the chains of the store.

    Attributes
    ----------
    draws, rows, stats : dict of str to ndarray
        Arrays with the draws along axis 0.
    moments : dict of str to RunningMoments
    n_draws : int
        Draws made.
    running : bool
        Whether the chain is being run at the moment.
    state : dict or None
        Snapshot of the sampler: where the chain is to begin, and, at its end, where it ended.
    """

    def __init__(self, store: Store | None = None, index: int = 0) -> None:
        self.shared, self.index = store or Store(1), index
        self.draws: dict[str, np.ndarray] = {}
        self.rows: dict[str, np.ndarray] = {}
        self.stats: dict[str, np.ndarray] = {}
        self.moments: dict[str, RunningMoments] = {}
        self.n_draws = 0
        self.running = False
        self.state: dict[str, Any] | None = None

    def __getstate__(self):
        # the arrays themselves are sent between processes, not where those of all chains are
        return self.__dict__ | {"shared": None, "index": 0}

    def __setstate__(self, state):
        self.__dict__.update(state, shared=Store(1))

    def move_to(self, store: Store, index: int) -> None:
        """Have the arrays in a store, as part ``index``."""
        for kind in ("draws", "rows", "stats"):
            arrays = getattr(self, kind)
            for name in list(arrays):
                values = arrays.pop(name)
                arrays[name] = store.part(kind, name, index, values.shape)
                arrays[name][:] = values
        self.shared, self.index = store, index

    def write(self, stage: Stage, settings: Settings, state: dict[str, Any]) -> None:
        """Write the draws made, and the state of the chain with them, to its checkpoint."""
        whole = settings.filled(self.n_draws)
        arrays = {f"draws.{name}": values[:whole] for name, values in self.draws.items()}
        for kind in ("rows", "stats"):
            for name, values in getattr(self, kind).items():
                arrays[f"{kind}.{name}"] = values[: self.n_draws]
        made = {"moments": self.moments, "n_draws": self.n_draws, "stride": settings.stride}
        stage.write(state | made, arrays)

    def read(self, stage: Stage, settings: Settings) -> dict[str, Any] | None:
        """Take the draws of a checkpoint; returns the state that was written with them, if any.

        Raises
        ------
        Refused
            If the checkpoint is damaged, or has more draws than are asked for, or has recorded
            others of them.
        """

        def into(state):
            _check_appended(settings, state)
            return take

        def take(full_name, values):
            kind, name = full_name.split(".", 1)
            n = settings.recorded if kind == "draws" else settings.draws
            self._make(kind, name, n, values.shape[1:])
            getattr(self, kind)[name][: len(values)] = values

        state = stage.read(into)
        if state is not None:
            self.moments, self.n_draws = state["moments"], state["n_draws"]
        return state

    def store(
        self, settings: Settings, values: Mapping[str, Any], trace: Mapping[str, Any]
    ) -> None:
        """Add one draw.

        Parameters
        ----------
        settings : Settings
        values : mapping of str to ndarray
            What the model observes of the draw.
        trace : mapping of str to float or ndarray
            Statistics of the draw.
        """
        i = self.n_draws
        if i == 0:
            self._allocate(settings, values, trace)
        slot, rest = divmod(i, settings.stride)
        if rest == 0 and slot < settings.recorded:
            for name, value in values.items():
                self.draws[name][slot] = value
        for name, index in (settings.rows or {}).items():
            self.rows[name][i] = values[name][index]
        for name, value in trace.items():
            self.stats[name][i] = value
        if settings.moments:
            for name, value in values.items():
                self.moments[name].update(value)
        self.n_draws = i + 1

    def _allocate(self, settings, values, trace):
        for name, value in values.items():
            self._make("draws", name, settings.recorded, value.shape)
            if settings.moments:
                self.moments[name] = RunningMoments(value.shape, settings.covariance)
        for name, index in (settings.rows or {}).items():
            self._make("rows", name, settings.draws, values[name][index].shape)
        for name, value in trace.items():
            self._make("stats", name, settings.draws, np.shape(value))

    def _make(self, kind, name, n, shape):
        getattr(self, kind)[name] = self.shared.part(kind, name, self.index, (n, *shape))


def _check_appended(settings, state):
    """Raise a `Refused` unless draws can be appended to those of a checkpoint."""
    if state["n_draws"] > settings.draws:
        raise Refused(
            f"draws={settings.draws} is less than the {state['n_draws']} draws that the checkpoint "
            "has of a chain: ask for as many, or more."
        )
    if state["stride"] != settings.stride:
        raise Refused(
            f"draws={settings.draws} are too many to be recorded as those of the checkpoint were "
            f"(every {state['stride']}, not every {settings.stride}): begin anew, with "
            "keep_draws='all'."
        )


class Control:
    """The stop flag and the progress display that the chains of one process share.

    Parameters
    ----------
    progress : Progress
    inner_threads : int
        Threads that each chain may use for its blocks of work.
    checkpoint : Checkpoint, optional
        Where chains are written.
    """

    def __init__(
        self, progress: Progress, inner_threads: int = 1, checkpoint: Checkpoint | None = None
    ) -> None:
        self.progress = progress
        self.inner_threads = inner_threads
        self.checkpoint = checkpoint
        self.process = os.getpid()
        self.engine = blocks.current()
        self._stop = threading.Event()

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "_stop"} | {"engine": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._stop = threading.Event()

    def stage(self, index: int) -> Stage | None:
        """Stage of the checkpoint that chain ``index`` is; None without a checkpoint."""
        return None if self.checkpoint is None else self.checkpoint.stage(f"chain-{index}")

    @property
    def stopped(self) -> bool:
        """Whether chains are to end after the sweep they are in."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask every chain of this process to end after its current sweep."""
        self._stop.set()


class Workers:
    """Map a function over blocks of work, in threads of this process where there are several.

    The blocks write into the chain's own arrays, so they never leave the process, whatever backend
    runs the chains. The threads are those of a plain executor, since joblib's take 10 ms longer to
    answer, which is as long as a sweep.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self.n_threads > 1:
            self._executor = ThreadPoolExecutor(self.n_threads)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None

    def __call__(self, function: Callable[..., Any], tasks: Sequence[tuple]) -> None:
        if self._executor is None or len(tasks) == 1:
            serial(function, tasks)
        else:
            futures = [self._executor.submit(function, *task) for task in tasks]
            for future in futures:
                future.result()


def _work(chain, model, settings, record, seed, control, index):
    if control.stopped:
        return record
    record.running = True
    try:
        with (
            _deaf(control),
            blocks.active(control.engine),
            OneBlasThread(),
            Workers(control.inner_threads) as run,
        ):
            chain(model, settings, record, seed, control, index, run)
    finally:
        record.running = False
    return record


@contextlib.contextmanager
def _deaf(control):
    """Context in which Ctrl-C does not reach a worker process, which the first one ends.

    Workers that heard it in the middle of compiled kernels have crashed.
    """
    main = threading.current_thread() is threading.main_thread()
    if control.process == os.getpid() or not main:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def return_as() -> str:
    """``"generator"``, so that an interruption keeps chains that have ended, where joblib has it.

    Ray and multiprocessing return all chains together.
    """
    backend, _ = get_active_backend(prefer="threads")
    offered = getattr(backend, "supports_return_generator", False)
    return "generator" if offered else "list"


def _wait(records):
    while any(record.running for record in records):
        time.sleep(_LOOK)


def _recover(records, settings, control):
    """Take the draws of chains that came back with none from their checkpoints.

    Those that other processes were running, and those that had run before.
    """
    for i, record in enumerate(records):
        stage = control.stage(i)
        if stage is not None and record.n_draws == 0:
            record.read(stage, settings)


def run_chains(
    chain: Callable[..., None],
    model: Any,
    settings: Settings,
    *,
    n_chains: int,
    seeds: np.random.SeedSequence,
    n_jobs: int | None,
    split_blocks: bool,
    verbose: int,
    states: Sequence[dict[str, Any]] | None = None,
) -> Result:
    """Run ``n_chains`` chains and gather what they recorded.

    Parameters
    ----------
    chain : callable
        ``chain(model, settings, record, seed, control, index, run)``, a function of a module, so
        that it can be sent to another process.
    model : object
        What the chain works on; it is only read.
    settings : Settings
    n_chains : int
    seeds : numpy.random.SeedSequence
        Each chain gets a child of its own.
    n_jobs : int or None
        As joblib takes it.
    split_blocks : bool
        Whether chains run one after the other with their blocks of work in parallel, instead of
        side by side.
    verbose : int
        Above zero, progress is printed.
    states : sequence of dict, optional
        ``states`` of a result, from where chains go on; at their own starts by default.

    Returns
    -------
    Result
        ``facts["interrupted"]`` tells whether Ctrl-C ended the run early.

    Raises
    ------
    KeyboardInterrupt
        If interrupted before any draw was made.
    Refused
        If chains cannot go on from their checkpoints.

    Notes
    -----
    Where the fit has a checkpoint (`checkpoint.active`), chains are written to it, and go on from
    it.
    """
    jobs = effective_n_jobs(n_jobs)
    outer = 1 if split_blocks else min(jobs, n_chains)
    inner = max(1, jobs // outer)
    trial = current()
    if trial is not None:
        _try_chain(trial, chain, model, settings, seeds, n_chains, outer, inner)
        raise Measured
    progress = Progress(n_chains, settings.total, settings.warmup, verbose)
    control = Control(progress, inner, current_checkpoint())
    store = Store(n_chains)
    records = [ChainRecord(store, i) for i in range(n_chains)]
    for record, state in zip(records, states or [], strict=False):
        record.state = state
    interrupted = False
    tasks = (
        delayed(_work)(chain, model, settings, record, seed, control, i)
        for i, (record, seed) in enumerate(zip(records, seeds.spawn(n_chains), strict=True))
    )
    with OneBlasThread():
        try:
            # no memory-mapping of arrays: it makes them read-only, and kernels would be compiled
            # once more for that
            parallel = Parallel(
                n_jobs=outer, prefer="threads", max_nbytes=None, return_as=return_as()
            )
            for i, record in enumerate(parallel(tasks)):
                if record.shared is not store:
                    record.move_to(store, i)
                records[i] = record
        except KeyboardInterrupt:
            interrupted = True
            control.stop()
            _wait(records)
            _recover(records, settings, control)
        except BaseException:
            # the other chains end before the error is shown and the thread limits are lifted
            control.stop()
            _wait(records)
            raise
    return gather(records, settings, interrupted)


class _Stamps:
    """In the place of `Progress`: notes CPU time after every sweep, and stops after the last."""

    def __init__(self, clock, limit, stop):
        self.clock, self.limit, self.stop, self.times = clock, limit, stop, [clock()]

    def update(self, chain, done):
        self.times.append(self.clock())
        if done >= self.limit:
            self.stop()


def _try_chain(
    trial: Trial,
    chain: Callable[..., None],
    model: Any,
    settings: Settings,
    seeds: np.random.SeedSequence,
    n_chains: int,
    outer: int,
    inner: int,
) -> None:
    """Tell a trial what the chains cost, by a short chain of the same kind.

    Samplers change what they do from warm-up to draws, and learn how in a schedule of shares of the
    warm-up. So the short chain has a warm-up of its own, after which it draws as the long one will.
    Where sweeps are dear it would be too short to learn anything sensible: there the first sweeps
    of the real warm-up stand for all others.
    """
    rounds = -(-n_chains // outer)

    def sweeps(warmup, draws, limit):
        short = replace(settings, warmup=warmup, draws=draws, thin=1, stride=1, moments=False)
        control = Control(Progress(1, 0, 0, 0), inner_threads=inner)
        stamps = _Stamps(trial.clock, limit, control.stop)
        control.progress = stamps
        with trial.loop(), OneBlasThread():
            _work(chain, model, short, ChainRecord(), seeds.spawn(1)[0], control, 0)
        return np.diff(stamps.times)

    def add(name, cpu_seconds):
        trial.parts.append(Part(name, n_chains * cpu_seconds, rounds * cpu_seconds / inner))

    # the first sweep compiles
    each = max(float(sweeps(settings.warmup, 2, _TRIAL_LEAST)[-1]), 1e-9)
    total = n_chains * settings.total * each
    budget = max(_TRIAL_TIMES * trial.budget, min(_TRIAL_SHARE * total, _TRIAL_MOST))
    warmup = min(settings.warmup, int(budget / each))
    if warmup >= min(settings.warmup, _TRIAL_LEARNS):
        warmup = min(warmup, _TRIAL_WARMUP)
        draws = min(settings.draws, max(_TRIAL_LEAST, min(int(budget / each), _TRIAL_DRAWS)))
        times = sweeps(warmup, draws, warmup + draws)
        drawing = times[warmup:]
    else:
        times = drawing = sweeps(settings.warmup, 2, max(_TRIAL_LEAST, warmup))
        warmup = times.size
    # the start of the chain comes before its first sweep
    add("start of chains", max(0.0, times[0] - times[1:].mean()) if times.size > 1 else 0.0)
    if warmup:
        add("warm-up", settings.warmup * float(np.mean(times[min(1, warmup - 1) : warmup])))
    if drawing is times:
        drawing = times[1:]
    add("draws", settings.draws * settings.thin * float(np.mean(drawing)))


def gather(records: Sequence[ChainRecord], settings: Settings, interrupted: bool) -> Result:
    """Join the records of chains to one `Result`.

    All chains of a result have equally many draws. After an interruption some may be shorter. Then
    that number of draws is kept which keeps the most draws in all; chains with fewer are dropped,
    and of those with more the last draws.

    Parameters
    ----------
    records : sequence of ChainRecord
        Those of one `Store`, in its order.
    settings : Settings
    interrupted : bool
        Noted among the facts; a warning then tells what was kept, and how much was not.

    Returns
    -------
    Result

    Raises
    ------
    KeyboardInterrupt
        If there is no draw.

    Warns
    -----
    RuntimeWarning
        If interrupted.
    """
    lengths = np.array([record.n_draws for record in records])
    order = np.sort(lengths)[::-1]
    kept = order[int(np.argmax(order * np.arange(1, len(order) + 1)))]
    if kept == 0:
        raise KeyboardInterrupt("interrupted before any draw was made")
    chosen = [i for i, n in enumerate(lengths) if n >= kept]
    if interrupted:
        left = int(lengths.sum()) - kept * len(chosen)
        others = (
            f" {left} more draws are left out, as chains must be equally long: the chains have "
            f"{', '.join(map(str, lengths))}."
        )
        warn_user(
            f"Interrupted: the estimator is fitted with the {kept} draws made so far in each of "
            f"{len(chosen)} chain(s), of {settings.draws} draws in {len(records)} asked for."
            f"{others if left else ''}",
            RuntimeWarning,
        )
    store = records[0].shared
    draws = store.take("draws", chosen, settings.filled(kept))
    for name, values in store.take("rows", chosen, kept).items():
        draws[f"{name}_rows"] = values
    stats = store.take("stats", chosen, kept)
    moments = records[chosen[0]].moments
    for i in chosen[1:]:
        for name, others in records[i].moments.items():
            moments[name].merge(others)
        records[i].moments = {}
    states = [records[i].state for i in chosen]
    return Result(draws, stats, moments, {"interrupted": interrupted}, states=states)
