"""Records of chains: how long chains run, what each has drawn, and how they are joined."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.interruption import tell_of_interruption
from ..posterior.posterior import RunningMoments
from .checkpoint import Refused, Stage
from .contracts import Result


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
    n_runs : int
        Of how many runs with as many draws this is one.
    """

    draws: int
    warmup: int
    thin: int = 1
    stride: int = 1
    moments: bool = False
    rows: dict[str, Any] | None = None
    covariance: bool = True
    n_runs: int = 1

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
    # with draws of vectors, chains are those of one of them
    draws, known = (settings.n_runs * n for n in (settings.draws, state["n_draws"]))
    if known > draws:
        raise Refused(
            f"draws={draws} is less than the {known} draws that the checkpoint has of a chain: ask "
            "for as many, or more."
        )
    if state["stride"] != settings.stride:
        raise Refused(
            f"draws={draws} are too many to be recorded as those of the checkpoint were "
            f"(every {state['stride']}, not every {settings.stride}): begin anew, with "
            "keep_draws='all'."
        )


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
        tell_of_interruption(
            f"Interrupted: the estimator is fitted with the {kept} draws made so far in each of "
            f"{len(chosen)} chain(s), of {settings.draws} draws in {len(records)} asked for."
            f"{others if left else ''}"
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
