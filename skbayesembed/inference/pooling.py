"""One posterior of runs whose data were drawn, such as word vectors that are known by draws.

Each run is given one draw of the data, and what is pooled is the average of their posteriors: the
draws of the data are as uncertain as before, whatever the model would make of them ("cut"; Plummer
2015, Statistics and Computing 25). Draws of runs take turns. R-hat is that within runs, and
effective sizes are what the runs and the draws within them are worth together (`Posterior.n_runs`);
that there are too few runs is said by `note_runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..common.interruption import tell_of_interruption
from ..common.trial import current as current_trial
from ..common.warnings import warn_user
from . import checkpoint
from .contracts import Result
from .records import Settings

# Monte Carlo error of a mean by the number of runs, in posterior standard deviations, that is
# warned of above.
_ERROR = 0.2
# What facts of all runs together are, by those of each.
_TOTALS = {
    "converged": all,
    "divergences": sum,
    "thin": max,
    "standstill": max,
    "saturated": lambda shares: float(np.mean(shares)),
}


class Mixture:
    """The average of approximations, each with the same weight.

    Parameters
    ----------
    parts : list of Approximation

    Attributes
    ----------
    mean : dict of str to ndarray
        The mean of theirs.
    parts : list of Approximation
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = list(parts)
        self._average()

    def _average(self):
        means = [part.mean for part in self.parts]
        self.mean = {name: np.mean([m[name] for m in means], axis=0) for name in means[0]}

    def reorder(self, order: np.ndarray) -> None:
        """Have each part, which can, put its entries in this order."""
        for part in self.parts:
            part.reorder(order)
        self._average()

    def sample(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Independent draws; those of the parts take turns.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        dict of str to ndarray of shape (n, ...)
            The names that the parts draw.
        """
        each = -(-n // len(self.parts))
        found = [part.sample(each, rng) for part in self.parts]
        return {name: _in_turn([f[name] for f in found])[:n] for name in found[0]}


def run_each(
    solve: Callable[[int, Settings, np.random.SeedSequence], Result],
    n_runs: int,
    settings: Settings,
    seed: np.random.SeedSequence,
) -> Result:
    """Solve with each draw of the data, and pool the results.

    Parameters
    ----------
    solve : callable
        ``solve(run, settings, seed)`` returns the `Result` with the draw of that number.
    n_runs : int
    settings : Settings
        Of all runs together: ``draws`` is a multiple of ``n_runs``.
    seed : numpy.random.SeedSequence

    Returns
    -------
    Result
        Draw ``i`` of a chain is of run ``i % n_runs``. Where Ctrl-C ends the runs early it has
        those that were done, or what there is of the first; ``facts["embedding_draws"]`` is how
        many.
    """
    seeds = seed.spawn(n_runs)
    trial = current_trial()
    # in a trial there may be fewer draws than runs
    draws = max(1, settings.draws // n_runs)
    stride = min(settings.stride, draws)
    settings = replace(settings, draws=draws, stride=stride, n_runs=n_runs)
    if trial is not None:
        with trial.repeated(n_runs):
            return solve(0, settings, seeds[0])
    found: list[Result] = []
    turns = Turns(n_runs)
    for run, own in enumerate(seeds):
        try:
            with checkpoint.active(checkpoint.part(f"run-{run}")):
                result = solve(run, settings, own)
            if result.facts.get("interrupted", False):
                found = found or [turns.taken(result)]
                break
            found.append(turns.taken(result))
        except KeyboardInterrupt:
            if not found:
                raise
            break
    if len(found) < n_runs:
        tell_of_interruption(
            f"Interrupted: of embedding_draws={n_runs} draws of the word vectors the posterior "
            f"has {len(found)}."
        )
    return _pooled(found, turns, len(found) < n_runs)


def bytes_of_runs(drawn: np.ndarray | None, of_draws: int, approximate: bool) -> int:
    """Bytes that runs work with besides what each of them does.

    Parameters
    ----------
    drawn : ndarray or None
        Draws of the data, of one run each; None where there are no runs.
    of_draws : int
        Bytes of the draws of all runs.
    approximate : bool
        Whether each run keeps an approximation, which has its data.
    """
    if drawn is None:
        return 0
    # as they were drawn and as they are taken; the draws of a run before they are with the others
    return (3 if approximate else 2) * drawn.nbytes + of_draws // len(drawn)


class Turns:
    """Arrays of the draws of all runs, each of which is copied there when it is done.

    So there are never two copies of all draws. Runs whose chains were made longer may have fewer
    draws and statistics than others (`lengthening`): of each run there are as many as all have.

    Parameters
    ----------
    n_runs : int
    """

    def __init__(self, n_runs: int) -> None:
        self._n_runs, self._n_taken = n_runs, 0
        self._whole: dict[tuple[str, str], np.ndarray] = {}
        self._fewest: dict[tuple[str, str], int] = {}

    def taken(self, result: Result) -> Result:
        """The result of the next run without its draws and statistics, which are kept here."""
        for kind in ("draws", "stats"):
            for name, values in getattr(result, kind).items():
                (n_chains, n), rest, key = values.shape[:2], values.shape[2:], (kind, name)
                if key not in self._whole:
                    shape = n_chains, n, self._n_runs, *rest
                    self._whole[key], self._fewest[key] = np.empty(shape, values.dtype), n
                self._fewest[key] = n = min(n, self._fewest[key])
                self._whole[key][:, :n, self._n_taken] = values[:, :n]
        self._n_taken += 1
        return replace(result, draws={}, stats={})

    def together(self, kind: str) -> dict[str, np.ndarray]:
        """Arrays (chain, draw, ...) by name: the first of each run taken, the second of each..."""
        found = {}
        for (of, name), values in self._whole.items():
            if of == kind:
                n_chains, _, _, *rest = values.shape
                n = self._fewest[of, name]
                done = values[:, :n, : self._n_taken]
                found[name] = done.reshape(n_chains, n * self._n_taken, *rest)
        return found


def note_runs(attrs: dict[str, Any], values: np.ndarray, what: str) -> None:
    """Note how much of a variance is between runs; UserWarning where they are too few for it.

    Parameters
    ----------
    attrs : dict
        Of the posterior, with ``"embedding_draws"`` where there were runs: gets
        ``"embedding_share"``, the largest share.
    values : ndarray of shape (chain, draw, ...)
        Draws of what intervals are about.
    what : str
        They are, in words.
    """
    n = attrs.get("embedding_draws", 1)
    if n < 2:
        return
    runs = values.reshape(len(values), -1, n, *values.shape[2:]).swapaxes(1, 2)
    runs = runs.swapaxes(0, 1).reshape(n, -1, *values.shape[2:])
    among, within = runs.mean(axis=1).var(axis=0, ddof=1), runs.var(axis=1).mean(axis=0)
    total = among + within
    share = float(np.max(among / np.where(total > 0, total, 1.0)))
    attrs["embedding_share"] = share
    if share > n * _ERROR**2:
        error = (share / n) ** 0.5
        warn_user(
            f"embedding_draws={n} are few: up to {100 * share:.0f} % of the variance of {what} "
            "comes from the word vectors, so that means are known to "
            f"{error:.2g} posterior standard deviations only. Raise embedding_draws to "
            f"{int(np.ceil(share / _ERROR**2))} or more.",
            UserWarning,
        )


def within(posterior: Any) -> str:
    """A sentence on what R-hat is of where there are runs, with a space before; empty if not."""
    n = posterior.n_runs
    if n == 1:
        return ""
    return (
        f" It is that within embedding_draws={n} draws of the word vectors, each of which has "
        f"{posterior.n_draws // n} of the draws of a chain."
    )


def _pooled(results, turns, interrupted):
    first = results[0]
    approximation = first.approximation
    if len(results) > 1 and approximation is not None:
        approximation = Mixture([r.approximation for r in results])
    first = replace(
        first,
        draws=turns.together("draws"),
        stats=turns.together("stats"),
        moments={name: _merged([r.moments[name] for r in results]) for name in first.moments},
        approximation=approximation,
    )
    facts = first.facts
    facts |= {"embedding_draws": len(results), "interrupted": interrupted}
    for name, total in _TOTALS.items():
        if facts.get(name) is not None:
            facts[name] = total([result.facts[name] for result in results])
    return first


def _in_turn(arrays):
    """The first entries of arrays, then the second ones, and so on."""
    return np.stack(arrays, axis=1).reshape(-1, *arrays[0].shape[1:])


def _merged(moments):
    first, *others = moments
    for other in others:
        first.merge(other)
    return first
