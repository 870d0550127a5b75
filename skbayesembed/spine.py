"""The way from parameters and data to a posterior, the same for every estimator.

The ``fit`` of an estimator checks its parameters (`check`), makes training data of what it was
given (module ``inputs`` of its room), and hands both to `fit` here. For all rooms alike, that goes
through these stages:

1. *plan*: decide how long chains are and what is recorded of them; check that it fits in memory;
2. *pose*: let the room state the problem, which is the data, the model and its priors;
3. *solve*: call the function that the room's table has for ``solver=``; it returns a `Result`;
4. *conclude*: make a `Posterior` of the draws, with labels and facts;
5. *diagnose*: let the room look at the posterior and warn of what a user must know.

What differs from room to room is in its `Room`, a table of functions.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .common.checks import all_finite, check_checkpoint, check_solver, is_number, is_whole
from .common.interruption import of_a_part
from .common.memory import check_memory, one_account
from .common.mixing import warn_if_standing
from .common.random import named_seeds
from .common.trial import Measured, Trial, current
from .common.warnings import kept_warnings
from .inference import checkpoint
from .inference.contracts import ROWS, Result
from .inference.records import Settings
from .io.archive import package_version
from .posterior import Posterior

# Draws are recorded whole up to this many bytes in all, unless a user asks for all of them.
DRAW_BUDGET = 2**30
# Solvers that run chains.
CHAINS = ("gibbs", "hmc")
# Solvers that draw from one approximation; the draws are independent and make one chain.
APPROXIMATE = ("vi", "laplace")
# What ends messages about numbers that are not finite.
_EXTREME = (
    "Some number is too large or too small to compute with: look for one among the priors, the "
    "options of the solver, the counts and their weights."
)

# Sizes of parameters between which none is to blame for overflow, in single precision too.
_ORDINARY = 1e-30, 1e30


@dataclass(frozen=True)
class Footprint:
    """Bytes that draws of a model take, and what is recorded where not all of them fit.

    Attributes
    ----------
    draw : int
        Bytes of one whole draw.
    trace : int
        Bytes that are recorded at every draw in addition.
    moments : int or None
        Bytes of the running moments of one chain, which are kept if not all draws are recorded
        whole; None if the room keeps no running moments.
    covariance : bool
        Whether running moments keep covariances, or variances only.
    rows : dict of str to NumPy index, or None
        For an array by its name, the rows that are recorded at every draw if not all draws are
        recorded whole.
    budget : int
        Bytes up to which all draws are recorded whole without a user asking for it.
    work : int
        Maximum bytes that the estimator's solver uses besides draws; 0 if the room reports them to
        `memory.check_memory` itself, when it allocates them.
    """

    draw: int
    trace: int = 0
    moments: int | None = None
    covariance: bool = True
    rows: dict[str, Any] | None = None
    budget: int = DRAW_BUDGET
    work: int = 0


@dataclass(frozen=True)
class Room:
    """The functions by which the room of a model takes part in a fit.

    Training data are whatever the room's ``inputs`` make of what a user passes; only functions of
    the room look into them.

    Attributes
    ----------
    solvers : mapping of str to callable
        ``solve(estimator, problem, settings, seed) -> Result`` for each name that ``solver=`` may
        have.
    check : callable
        ``check(estimator)`` raises a ValueError for the first parameter that is not allowed with
        any data.
    footprint : callable
        ``footprint(estimator, training) -> Footprint`` tells what draws take of memory.
    pose : callable
        ``pose(estimator, training, seeds) -> problem`` makes what every solver of the room is
        given.
    labels : callable
        ``labels(estimator, training, draws) -> (dims, coords)`` names the dimensions of recorded
        arrays, and their entries.
    diagnose : callable
        ``diagnose(estimator, training, posterior)`` warns of what it finds, and notes it in
        ``posterior.attrs``.
    streams : tuple of str
        Purposes that random numbers are drawn for, ``"solve"`` among them.
    auto : bool
        Whether ``solver="auto"`` is allowed, which the room has settled before `fit` is called.
    auto_thin : int
        Steps from draw to draw with which chains begin where ``thin="auto"``.
    """

    solvers: Mapping[str, Callable[..., Result]]
    check: Callable[[Any], None]
    footprint: Callable[[Any, Any], Footprint]
    pose: Callable[..., Any]
    labels: Callable[..., tuple[dict[str, Any], dict[str, Any]]]
    diagnose: Callable[[Any, Any, Posterior], None]
    streams: tuple[str, ...] = ("pose", "solve")
    auto: bool = False
    auto_thin: int = 1


@dataclass
class Fitted:
    """What a fit leaves behind, read by `estimator.FittedMixin`.

    Attributes
    ----------
    posterior : Posterior
    n_iter : int
        Iterations of the solver, at least 1.
    learned : dict of str to object
        Further fitted attributes of the estimator, by their names.
    """

    posterior: Posterior
    n_iter: int
    learned: dict[str, Any] = field(default_factory=dict)


def check(estimator: Any, room: Room) -> None:
    """Raise a ValueError for the first parameter of an estimator that is not allowed.

    Parameters
    ----------
    estimator : BaseEstimator
    room : Room
    """
    allowed = tuple(room.solvers)
    check_solver(estimator, estimator.solver, ("auto", *allowed) if room.auto else allowed)
    check_checkpoint(estimator)
    room.check(estimator)


def seeds_of(estimator: Any, room: Room) -> dict[str, np.random.SeedSequence]:
    """Dict of seed sequences for a fit, by the names in the room's ``streams``."""
    return named_seeds(estimator.random_state, room.streams)


def fit(
    estimator: Any, room: Room, training: Any, seeds: Mapping[str, np.random.SeedSequence]
) -> Fitted:
    """Fit an estimator: plan, pose, solve, conclude, diagnose (see the head of this module).

    Parameters
    ----------
    estimator : BaseEstimator
        With parameters that `check` has passed.
    room : Room
    training : object
        What the room's ``inputs`` made of the data.
    seeds : dict of str to numpy.random.SeedSequence
        Those of `seeds_of`.

    Returns
    -------
    Fitted

    Raises
    ------
    MemoryError
        If the draws would not fit in memory. Raised before any work.
    ValueError, numpy.linalg.LinAlgError
        If numbers are too extreme to compute with; the posterior is finite otherwise.
    KeyboardInterrupt
        If interrupted before there is anything to keep, or in a fit of a search or cross-validation
        of scikit-learn, which would go on with the score of what there is.
    """
    estimator = plain(estimator)
    with kept_warnings() as warned:
        files, settings, result = _solved(estimator, room, training, seeds)
        interrupted = result.facts.get("interrupted", False)
        if interrupted and of_a_part():
            raise KeyboardInterrupt
        found = conclude(estimator, room, training, settings, result)
    # of what is learned in batches the sizes are not known
    found.posterior.attrs |= {"warnings": "\n".join(warned), **getattr(training, "sizes", {})}
    if files is not None and not (interrupted or getattr(estimator, "warm_start", False)):
        files.remove()
    return found


def _solved(estimator, room, training, seeds):
    """The files of a checkpoint, the settings and the `Result` of a solver."""
    with one_account(), _numbers_explained(estimator):
        settings, trial = plan(estimator, room, training), current()
        files = None if trial is not None else checkpoint.of_fit(estimator, training, seeds)
        with checkpoint.active(files):
            problem = room.pose(estimator, training, seeds)
            solve = room.solvers[estimator.solver]
            if trial is not None:
                _try_solver(trial, solve, estimator, problem, settings, seeds["solve"])
                raise Measured
            return files, settings, solve(estimator, problem, settings, seeds["solve"])


def plain(estimator: Any) -> Any:
    """The estimator, or a copy whose parameters are Python's integers where NumPy's may overflow.

    Sizes of arrays that kernels write to are products of them.
    """
    given = vars(estimator).items()
    integers = {k: int(v) for k, v in given if isinstance(v, np.integer) and is_whole(v)}
    if not integers:
        return estimator
    found = copy.copy(estimator)
    vars(found).update(integers)
    return found


@contextlib.contextmanager
def _numbers_explained(estimator):
    """Context in which errors of NumPy's and SciPy's own name the estimator and what to look for.

    All input has been checked before, so that only extreme numbers can cause them. What overflows
    where a parameter is far from 1 is no warning: the posterior is finite, or an error names it.
    """
    try:
        with np.errstate(all="ignore") if _extremes(estimator) else contextlib.nullcontext():
            yield
    except (np.linalg.LinAlgError, ValueError) as error:
        frame = error.__traceback__
        while frame.tb_next is not None:
            frame = frame.tb_next
        if frame.tb_frame.f_globals.get("__name__", "").split(".")[0] not in ("numpy", "scipy"):
            raise
        message = str(error).rstrip(".")
        raise type(error)(
            f"{type(estimator).__name__}(solver={estimator.solver!r}) met numbers that it cannot "
            f"compute with ({message}). {_extremes(estimator)}{_EXTREME}"
        ) from error


def _extremes(estimator):
    """A sentence that names parameters beyond `_ORDINARY`; empty where there are none."""
    given = {
        (name if at is None else f"{name}.{at}"): value
        for name in sorted(vars(estimator))
        for at, value in _numbers_of(vars(estimator)[name])
    }
    low, high = _ORDINARY
    beyond = [f"{n}={x!r}" for n, x in given.items() if x and not low < abs(float(x)) < high]
    return f"Far from 1: {', '.join(beyond)}. " if beyond else ""


def _numbers_of(value):
    """(None, number) of a number, (field, number) of those of a dataclass."""
    if is_number(value):
        return [(None, value)]
    if is_dataclass(value) and not isinstance(value, type):
        parts = [(part.name, getattr(value, part.name)) for part in fields(value)]
        return [(name, part) for name, part in parts if is_number(part)]
    return []


# Draws of an approximation that are made in a trial; products with the Hessian that one takes.
_TRIAL_DRAWS, _PRODUCTS = 8, 25


def _try_solver(
    trial: Trial,
    solve: Callable[..., Result],
    estimator: Any,
    problem: Any,
    settings: Settings,
    seed: np.random.SeedSequence,
) -> None:
    """Run a solver in a trial, and tell that of the draws that an approximation is to make."""
    trial.solver, n = estimator.solver, settings.recorded
    if estimator.solver not in APPROXIMATE:
        solve(estimator, problem, settings, seed)
        return
    short = replace(settings, draws=min(_TRIAL_DRAWS, n), stride=1, rows=None, moments=False)
    try:
        result = solve(estimator, problem, short, seed)
    except Measured:
        trial.add("draws", n * _PRODUCTS * trial.product, effective_n_jobs(estimator.n_jobs))
        return
    if result.approximation is not None:
        rng = np.random.default_rng(0)
        with trial.loop():
            result.approximation.sample(2, rng)
            begun = trial.clock()
            result.approximation.sample(short.draws, rng)
            spent = trial.clock() - begun
        trial.add("draws", n * spent / short.draws)


def plan(estimator: Any, room: Room, training: Any) -> Settings:
    """Decide how long chains are, and how many draws are recorded whole.

    Parameters
    ----------
    estimator : BaseEstimator
    room : Room
    training : object
        What the room's ``inputs`` made of the data.

    Returns
    -------
    Settings

    Raises
    ------
    MemoryError
        If what is asked for does not fit in memory.
    """
    e = estimator
    size = room.footprint(e, training)
    if size.work:
        check_memory(
            size.work,
            f"What solver={e.solver!r} works with",
            f"Use a smaller model ({_size_of(e)}), or fewer words (max_features, min_count).",
        )
    if e.solver == "map":
        return Settings(draws=1, warmup=0)
    # counted in Python integers, since NumPy's may overflow
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
    if isinstance(e.thin, str) and e.solver in CHAINS:
        # half of the draws again, where chains are made longer
        needed += every // stride // 2
    check_memory(needed, "The draws", "Ask for fewer draws, or keep_draws='auto'.")
    return Settings(
        draws=int(e.draws),
        warmup=int(e.warmup),
        thin=room.auto_thin if isinstance(e.thin, str) else int(e.thin),
        stride=int(stride),
        moments=moments is not None,
        rows=size.rows if sparse else None,
        covariance=size.covariance,
    )


def _size_of(estimator):
    """Name of the parameter that says how large the model is."""
    return "n_senses" if hasattr(estimator, "n_senses") else "n_components"


def conclude(
    estimator: Any, room: Room, training: Any, settings: Settings, result: Result
) -> Fitted:
    """Make a `Fitted` of what a solver returned: add labels and facts, and diagnose.

    Fits and streams of ``partial_fit`` both end here.

    Parameters
    ----------
    estimator : BaseEstimator
    room : Room
    training : object
        What the room's ``inputs`` made of the data.
    settings : Settings
        Those that the solver had.
    result : Result
        Its ``draws`` are changed: rows recorded by name are taken out.

    Returns
    -------
    Fitted

    Raises
    ------
    ValueError
        If anything of the posterior is not finite.
    """
    # rows recorded at every draw join the statistics, since there may be more of them than of draws
    rows = {n: result.draws.pop(n) for n in list(result.draws) if n.endswith(ROWS)}
    dims, coords = room.labels(estimator, training, result.draws | rows)
    for name, places in result.monitored.items():
        dims[name] = (f"monitored_{name}",)
        coords[f"monitored_{name}"] = _monitored_labels(places, coords)
    posterior = Posterior(
        result.draws,
        stats=result.stats | rows,
        moments=result.moments,
        dims=dims,
        coords=coords,
        attrs=_facts(estimator, settings, result),
    )
    posterior.approximation = result.approximation
    _check_finite(estimator, posterior, result)
    if "standstill" in posterior.attrs:
        # of chains at their full length, which solvers do not know of while they make them longer
        warn_if_standing(posterior.attrs["standstill"], posterior.stats["acceptance"])
    room.diagnose(estimator, training, posterior)
    return Fitted(posterior, max(1, int(posterior.attrs["n_iter"])), dict(result.learned))


def _monitored_labels(places, coords):
    """Names of what `Result.monitored` has: target and context, and the period if there is one."""
    *period, target, context = places.T
    parts = [coords["word"][target], coords["word"][context]]
    parts += [coords["period"][t] for t in period]
    return np.array([", ".join(map(str, names)) for names in zip(*parts, strict=True)])


def _check_finite(estimator, posterior, result):
    """Raise a ValueError unless all that was learned is finite."""
    known = {name: posterior[name] for name in posterior}
    known |= {f"stats[{name!r}]": values for name, values in posterior.stats.items()}
    for name, moments in posterior.moments.items():
        known[f"moments[{name!r}].mean"] = moments.mean
        if moments.count > 1:
            known[f"moments[{name!r}].variance"] = moments.variance
    approximation = result.approximation
    if approximation is not None:
        # a covariance without a mean is infinite, and says so
        for name, mean in approximation.mean.items():
            known[f"approximation.mean[{name!r}]"] = np.where(np.isinf(mean), 0.0, mean)
        known["elbo"] = np.asarray(getattr(approximation, "elbo", ()), dtype=float)
    wrong = [name for name, values in known.items() if not all_finite(values)]
    if wrong:
        raise ValueError(
            f"{type(estimator).__name__}(solver={estimator.solver!r}) found no finite posterior: "
            f"there is NaN or infinity in {', '.join(wrong)}. {_extremes(estimator)}{_EXTREME}"
        )


def _facts(estimator, settings, result):
    """Facts for ``posterior_.attrs``; those that every solver has come first."""
    arrays = result.stats or result.draws
    made = next(iter(arrays.values())).shape[1] if arrays else settings.draws
    facts = {"n_iter": 1, "converged": None, "interrupted": False, "draws_made": int(made)}
    facts["version"] = package_version()
    facts["stride"] = settings.stride
    if estimator.solver in CHAINS:
        facts |= {"warmup": settings.warmup, "thin": settings.thin}
    return {"solver": estimator.solver, **facts, **result.facts}
