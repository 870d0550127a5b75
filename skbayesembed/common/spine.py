"""The way from parameters and data to a posterior, the same for every estimator.

``fit`` of an estimator checks its parameters (`check`), reads what it was given (``inputs`` of its
room), and hands both to `fit` here, which goes on in the same order for all rooms:

1. *plan*: how long chains are and what is recorded of them, after a look at the memory it takes;
2. *pose*: the room states the problem, the data, the model and its priors, that solvers read;
3. *solve*: the function of the room's table for ``solver=`` returns a `Result`;
4. *conclude*: draws, labels and facts become a `Posterior`;
5. *diagnose*: the room looks at it and warns of what a user must know.

What differs between rooms is in their `Room`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..inference.chains import Settings
from ..inference.contracts import ROWS, Result
from ..posterior import Posterior
from .checks import check_solver
from .memory import check_memory
from .random import named_seeds

# Whole draws are recorded up to this many bytes unless all are asked for.
DRAW_BUDGET = 2**30
# Solvers that run chains.
CHAINS = ("gibbs", "hmc")
# Solvers that draw from one Gaussian (or another approximation): independently, as one chain.
APPROXIMATE = ("vi", "laplace")


@dataclass(frozen=True)
class Footprint:
    """Bytes that draws of a model take, and what is recorded of them.

    Attributes
    ----------
    draw : int
        Bytes of one draw.
    trace : int
        Bytes recorded at every draw besides.
    moments : int or None
        Bytes of the running moments of one chain, kept where not all draws are recorded whole;
        None where the room keeps none.
    covariance : bool
        Whether running moments keep covariances, or variances only.
    rows : dict of str to NumPy index, or None
        Rows recorded at every draw where whole draws are not.
    budget : int
        Bytes of draws that are recorded whole unless all are asked for.
    """

    draw: int
    trace: int = 0
    moments: int | None = None
    covariance: bool = True
    rows: dict[str, Any] | None = None
    budget: int = DRAW_BUDGET


@dataclass(frozen=True)
class Room:
    """What a model's room gives the spine.

    Attributes
    ----------
    solvers : mapping of str to callable
        ``solve(estimator, problem, settings, seed) -> Result``, by the name in ``solver=``.
    check : callable
        ``check(estimator)`` raises a ValueError for the first parameter that is not allowed
        whatever the data.
    footprint : callable
        ``footprint(estimator, training) -> Footprint``.
    pose : callable
        ``pose(estimator, training, seeds) -> problem``: what every solver of the room is given.
    labels : callable
        ``labels(estimator, training, draws) -> (dims, coords)`` of recorded arrays.
    diagnose : callable
        ``diagnose(estimator, training, posterior)`` warns, and notes what it found in ``attrs``.
    streams : tuple of str
        Names of the purposes that random numbers are drawn for, ``"solve"`` among them.
    """

    solvers: Mapping[str, Callable[..., Result]]
    check: Callable[[Any], None]
    footprint: Callable[[Any, Any], Footprint]
    pose: Callable[..., Any]
    labels: Callable[..., tuple[dict[str, Any], dict[str, Any]]]
    diagnose: Callable[[Any, Any, Posterior], None]
    streams: tuple[str, ...] = ("pose", "solve")


@dataclass
class Fitted:
    """What a fit leaves.

    Attributes
    ----------
    posterior : Posterior
    n_iter : int
    learned : dict of str to object
        Further fitted attributes of the estimator, by their names.
    """

    posterior: Posterior
    n_iter: int
    learned: dict[str, Any] = field(default_factory=dict)


def check(estimator: Any, room: Room) -> None:
    """Raise a ValueError for the first parameter of an estimator that is not allowed."""
    check_solver(estimator, estimator.solver, tuple(room.solvers))
    room.check(estimator)


def seeds_of(estimator: Any, room: Room) -> dict[str, np.random.SeedSequence]:
    """Seed sequences of a fit by the names of the room's ``streams``, a dict."""
    return named_seeds(estimator.random_state, room.streams)


def fit(
    estimator: Any, room: Room, training: Any, seeds: Mapping[str, np.random.SeedSequence]
) -> Fitted:
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : BaseEstimator
        With parameters that `check` has passed.
    room : Room
    training : object
        What the room's ``inputs`` made of the data.
    seeds : dict of str to numpy.random.SeedSequence
        As of `seeds_of`.

    Returns
    -------
    Fitted

    Raises
    ------
    MemoryError
        If the draws would not fit; before any work.
    """
    settings = plan(estimator, room, training)
    problem = room.pose(estimator, training, seeds)
    result = room.solvers[estimator.solver](estimator, problem, settings, seeds["solve"])
    return conclude(estimator, room, training, settings, result)


def plan(estimator: Any, room: Room, training: Any) -> Settings:
    """Length of the chains, and how many draws are recorded whole.

    Approximations are drawn from independently: they have one chain.

    Returns
    -------
    Settings

    Raises
    ------
    MemoryError
        If what is asked for does not fit.
    """
    e = estimator
    if e.solver == "map":
        return Settings(draws=1, warmup=0)
    size = room.footprint(e, training)
    # counted in Python integers: NumPy's would wrap around
    chains = 1 if e.solver in APPROXIMATE else int(e.chains)
    every = int(size.draw) * int(e.draws) * chains
    keep_all = isinstance(e.keep_draws, str) and e.keep_draws == "all"
    stride = 1
    if not keep_all and every > size.budget:
        # at least one whole draw a chain, so that predictions stay possible
        stride = min(-(-every // size.budget), e.draws)
    sparse = stride > 1
    moments = size.moments if sparse else None
    needed = every // stride + size.trace * e.draws * chains
    needed += 0 if moments is None else moments * chains
    check_memory(needed, "The draws", "Ask for fewer draws, or keep_draws='auto'.")
    return Settings(
        draws=e.draws,
        warmup=e.warmup,
        thin=e.thin,
        stride=int(stride),
        moments=moments is not None,
        rows=size.rows if sparse else None,
        covariance=size.covariance,
    )


def conclude(
    estimator: Any, room: Room, training: Any, settings: Settings, result: Result
) -> Fitted:
    """`Fitted` of a `Result`: labels, facts and diagnoses added; streams end here, too."""
    # rows kept by name have another length than whole draws, as statistics may
    rows = {n: result.draws.pop(n) for n in list(result.draws) if n.endswith(ROWS)}
    dims, coords = room.labels(estimator, training, result.draws | rows)
    posterior = Posterior(
        result.draws,
        stats=result.stats | rows,
        moments=result.moments,
        dims=dims,
        coords=coords,
        attrs=_facts(estimator, settings, result),
    )
    posterior.approximation = result.approximation
    room.diagnose(estimator, training, posterior)
    return Fitted(posterior, max(1, int(posterior.attrs["n_iter"])), dict(result.learned))


def _facts(estimator, settings, result):
    """Facts for ``posterior_.attrs``; those that every solver has stand first."""
    arrays = result.stats or result.draws
    made = next(iter(arrays.values())).shape[1] if arrays else settings.draws
    facts = {"n_iter": 1, "converged": None, "interrupted": False, "draws_made": int(made)}
    facts["stride"] = settings.stride
    if estimator.solver in CHAINS:
        facts |= {"warmup": settings.warmup, "thin": settings.thin}
    return {"solver": estimator.solver, **facts, **result.facts}


def chain_settings(
    estimator, draw_bytes, moment_bytes, trace_bytes, rows=None, chains=None, budget=None,
    covariance=True,
):  # fmt: skip
    """TEMPORARY: goes once every room gives a `Footprint`."""
    from types import SimpleNamespace

    budget = DRAW_BUDGET if budget is None else budget
    size = Footprint(draw_bytes, trace_bytes, moment_bytes, covariance, rows, budget)
    kept = {n: getattr(estimator, n) for n in ("draws", "warmup", "thin", "keep_draws")}
    chains = estimator.chains if chains is None else chains
    like = SimpleNamespace(**kept, chains=chains, solver="gibbs")
    return plan(like, SimpleNamespace(footprint=lambda *_: size), None)
