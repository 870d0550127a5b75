"""The loops of variational inference; what an update does is up to the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..common.interruption import tell_of_interruption
from ..common.searches import Unreached
from ..common.trial import Laps, current, laps
from ..common.warnings import warn_user
from .checkpoint import Stage
from .contracts import Run, Variational, require

# Sweeps that an ascent takes: the median of benchmarks/cost.py.
_TYPICAL = 50


def coordinate_ascent(
    model: Variational,
    q: Any,
    run: Run,
    *,
    max_iter: int,
    tol: float,
    verbose: int = 0,
    warn: bool = True,
    keep: bool = True,
    stage: Stage | None = None,
) -> dict[str, Any]:
    """Update the factors of a model that offers `Variational` until the bound hardly rises.

    Parameters
    ----------
    model : Variational
    q : object
        Factors to start from; changed in place.
    run : callable
        ``run(function, tasks)`` calls the function with each tuple of arguments in ``tasks``; there
        is one for each block of work.
    max_iter : int
        Most sweeps.
    tol : float
        The ascent has converged when a sweep changes the bound by at most ``tol`` times its
        absolute value.
    verbose : int
        Above zero, a line is printed every ten sweeps, or every sweep of a model whose ``steps``,
        the number of steps of a sweep, are as many.
    warn : bool
        Whether to warn if the ascent has not converged.
    keep : bool
        Whether Ctrl-C ends the ascent where it is; False where something else is to follow.
    stage : Stage, optional
        Of the fit's checkpoint, where the ascent is to be kept; the attributes of ``q`` are all
        that a sweep depends on.

    Returns
    -------
    facts : dict
        ``elbo`` (a list with the bound after each sweep), ``n_iter``, ``converged``,
        ``interrupted``.

    Raises
    ------
    TypeError
        If the model does not offer `Variational`.
    KeyboardInterrupt
        If interrupted, unless ``keep`` and a sweep has ended.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` sweeps were made without convergence.
    RuntimeWarning
        If interrupted, and the factors of the sweeps made so far are kept.
    """
    require(model, Variational, "vi")
    found = (None if stage is None else stage.read()) or {}
    bounds: list[float] = found.get("bounds", [])
    converged, interrupted, started = found.get("converged", False), False, time.perf_counter()
    if found:
        vars(q).update(found["q"])
    typical, steps = getattr(model, "typical", _TYPICAL), getattr(model, "steps", 1)
    most = max_iter
    if current() is None:
        typical = max(1.0, typical / steps)
    else:
        most *= steps  # trials make single ones
    counted = laps("sweeps", min(most, typical), getattr(run, "n_threads", 1))
    cut = False
    try:
        while len(bounds) < most and not converged and not cut:
            bounds.append(model.update(q, run))
            cut = counted is not None and counted.enough()
            if len(bounds) > 1:
                rise = abs(bounds[-1] - bounds[-2])
                converged = bool(model.settled(q) and rise <= tol * abs(bounds[-1]))
            if stage is not None and (stage.due or converged or len(bounds) == max_iter):
                stage.write({"q": vars(q), "bounds": bounds, "converged": converged})
            if verbose and (converged or len(bounds) % max(1, 10 // steps) == 0):
                print(
                    f"vi: {len(bounds)} sweeps, bound {bounds[-1]:.8g}, "
                    f"{time.perf_counter() - started:.1f} s"
                )
    except KeyboardInterrupt:
        if not keep or not bounds:
            raise
        interrupted = True
        tell_of_interruption(f"Interrupted: the approximation is that of {len(bounds)} sweeps.")
    if counted is not None:
        counted.end(ended=not cut)
    if warn and not converged and not interrupted:
        warn_user(
            f"The bound still rose by more than {tol:g} of its value after max_iter={max_iter} "
            "sweeps: raise max_iter, or tol.",
            Unreached,
        )
    return {
        "elbo": bounds,
        "n_iter": len(bounds),
        "converged": converged,
        "interrupted": interrupted,
    }


def batch_laps(n_documents: int, batch_size: int, n_passes: int, run: Run) -> Laps | None:
    """`trial.Laps` of all minibatches of all passes; None where there is no trial."""
    n_batches = n_passes * -(-n_documents // batch_size)
    return laps("minibatches", n_batches, getattr(run, "n_threads", 1), exact=True)


def repeat_passes(
    online: Any,
    read: Callable[[], None],
    rng: np.random.Generator,
    *,
    n_passes: int,
    counted: Laps | None = None,
    stage: Stage | None = None,
    verbose: int = 0,
) -> dict[str, Any]:
    """Let stochastic variational inference read the data several times.

    Parameters
    ----------
    online : object
        What learns from batches. Its attribute ``n_batches`` counts them.
    read : callable
        Makes one pass over the data; takes no arguments.
    rng : numpy.random.Generator
        That of ``read``.
    n_passes : int
        Number of passes.
    counted : Laps, optional
        Of the minibatches, in a trial; it ends with the first pass.
    stage : Stage, optional
        Of the fit's checkpoint, to which passes are written; the attributes of ``online`` and
        ``rng`` are all that a pass depends on.
    verbose : int
        Above zero, a line is printed for each pass.

    Returns
    -------
    facts : dict
        ``n_iter`` (passes begun), ``n_batches``, ``converged`` (True unless interrupted),
        ``interrupted``.

    Raises
    ------
    KeyboardInterrupt
        If interrupted before the end of the first batch.

    Warns
    -----
    RuntimeWarning
        If interrupted later: what was learned so far is kept.
    """
    found = (None if stage is None else stage.read()) or {}
    begun, interrupted = found.get("done", 0), False
    done = begun
    if found:
        vars(online).update(found["online"])
        rng.bit_generator.state = found["rng"].bit_generator.state
    try:
        for done in range(begun + 1, n_passes + 1):
            read()
            if stage is not None and (stage.due or done == n_passes):
                stage.write({"online": vars(online), "rng": rng, "done": done})
            if counted is not None:
                counted.end(ended=False)
                break
            if verbose:
                print(f"vi: pass {done} of {n_passes}, {online.n_batches} batches")
    except KeyboardInterrupt:
        if online.n_batches == 0:
            raise
        interrupted = True
        tell_of_interruption(
            f"Interrupted in pass {done} of {n_passes}, after {online.n_batches} batches."
        )
    return {
        "n_iter": done,
        "n_batches": online.n_batches,
        "converged": not interrupted,
        "interrupted": interrupted,
    }
