"""Chains over joblib: how they are run and interrupted.

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
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ..common.interruption import undisturbed
from ..common.trial import Measured, Trial, current
from . import blocks
from .checkpoint import Checkpoint, Stage
from .checkpoint import current as current_checkpoint
from .contracts import Result
from .progress import Progress
from .records import ChainRecord, Settings, Store, gather
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
            futures: list[Future] = []
            try:
                # no task begins that is not known of
                with undisturbed():
                    futures += (self._executor.submit(function, *task) for task in tasks)
                for future in futures:
                    future.result()
            except BaseException:
                # nothing is written any more when the caller puts its arrays in order
                with undisturbed():
                    for future in futures:
                        future.cancel()
                    wait(futures)
                raise


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
        # rounds of chains that do not fill all workers take as long as those that do
        seconds = rounds * cpu_seconds / inner
        trial.add(name, n_chains * cpu_seconds, seconds=seconds)

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
