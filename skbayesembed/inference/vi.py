"""The loops of variational inference; the updates belong to the model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..common.warnings import warn_user
from .contracts import Run, Variational, require


def coordinate_ascent(
    model: Variational,
    q: Any,
    run: Run,
    *,
    max_iter: int,
    tol: float,
    verbose: int = 0,
    warn: bool = True,
) -> dict[str, Any]:
    """Update the factors of a model that offers `Variational` until the bound settles.

    Parameters
    ----------
    model : Variational
    q : object
        Factors to start from; changed in place.
    run : callable
        Maps a function over blocks of work.
    max_iter : int
        Most sweeps.
    tol : float
        Converged when a sweep raises the bound by less than ``tol`` times its absolute value.
    verbose : int
        Above zero, a line every ten sweeps.
    warn : bool
        Whether to warn if ``max_iter`` came first.

    Returns
    -------
    facts : dict
        ``elbo`` (list, one bound a sweep), ``n_iter``, ``converged``, ``interrupted``.

    Warns
    -----
    ConvergenceWarning
        If the limit of sweeps was reached first.
    RuntimeWarning
        If interrupted; before the end of the first sweep the interruption is raised.
    """
    require(model, Variational, "vi")
    bounds: list[float] = []
    converged, interrupted, started = False, False, time.perf_counter()
    try:
        while len(bounds) < max_iter and not converged:
            bounds.append(model.update(q, run))
            if len(bounds) > 1:
                rise = abs(bounds[-1] - bounds[-2])
                converged = model.settled(q) and rise <= tol * abs(bounds[-1])
            if verbose and (converged or len(bounds) % 10 == 0):
                print(
                    f"vi: {len(bounds)} sweeps, bound {bounds[-1]:.8g}, "
                    f"{time.perf_counter() - started:.1f} s"
                )
    except KeyboardInterrupt:
        if not bounds:
            raise
        interrupted = True
        warn_user(
            f"Interrupted: the approximation is that of {len(bounds)} sweeps.", RuntimeWarning
        )
    if warn and not converged and not interrupted:
        warn_user(
            f"The bound still rose by more than {tol:g} of its value after max_iter={max_iter} "
            "sweeps: raise max_iter, or tol.",
            ConvergenceWarning,
        )
    return {
        "elbo": bounds,
        "n_iter": len(bounds),
        "converged": converged,
        "interrupted": interrupted,
    }


def repeat_passes(
    online: Any, read: Callable[[], None], *, n_passes: int, verbose: int = 0
) -> dict[str, Any]:
    """Read data several times by stochastic variational inference.

    Parameters
    ----------
    online : object
        What learns from batches; counts them in ``n_batches``.
    read : callable
        Makes one pass, without arguments.
    n_passes : int
    verbose : int
        Above zero, a line a pass.

    Returns
    -------
    facts : dict
        ``n_iter`` (passes begun), ``n_batches``, ``converged`` (True unless interrupted),
        ``interrupted``.

    Warns
    -----
    RuntimeWarning
        If interrupted; before the end of the first batch the interruption is raised.
    """
    done, interrupted = 0, False
    try:
        for done in range(1, n_passes + 1):
            read()
            if verbose:
                print(f"vi: pass {done} of {n_passes}, {online.n_batches} batches")
    except KeyboardInterrupt:
        if online.n_batches == 0:
            raise
        interrupted = True
        warn_user(
            f"Interrupted in pass {done} of {n_passes}, after {online.n_batches} batches.",
            RuntimeWarning,
        )
    return {
        "n_iter": done,
        "n_batches": online.n_batches,
        "converged": not interrupted,
        "interrupted": interrupted,
    }
