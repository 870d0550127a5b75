"""The search for a mode: L-BFGS on the log density of the flat parameters of a model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from ..common.trial import laps
from ..common.warnings import warn_user
from .contracts import LogDensity, require

# Steps that L-BFGS remembers; evaluations it may make for each iteration it is allowed; and the
# relative change of the log density at which it ends, as a share of ``tol``.
_MEMORY, _EVALUATIONS, _CHANGE = 20, 20, 1e-3
# Iterations that a search takes, for a factor of ten of ``tol``: the median of benchmarks/cost.py.
_TYPICAL = 40
# SciPy's status of a search that its callback has ended.
_CUT_SHORT = 99


def find_mode(
    model: LogDensity,
    start: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-8,
    verbose: int = 0,
    warn: bool = True,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Maximise the log density of a model that offers `LogDensity`.

    Parameters
    ----------
    model : LogDensity
    start : ndarray of shape (n_parameters,)
    max_iter : int
        Most iterations of L-BFGS.
    tol : float
        The search has converged when the largest absolute entry of the gradient, each entry times
        the scale of its parameter, is at most ``tol`` times ``max(1, its value at the start)``, or
        when an iteration changes the log density by less than ``1e-3 * tol`` relatively.
    verbose : int
        Above zero, one line is printed for the result.
    warn : bool
        Whether to warn if the mode was not reached; False where a point near it is good enough.

    Returns
    -------
    theta : ndarray of shape (n_parameters,)
    facts : dict
        ``lp``, ``n_iter``, ``max_gradient`` (of the scaled parameters), ``converged``.

    Raises
    ------
    TypeError
        If the model does not offer `LogDensity`.

    Warns
    -----
    ConvergenceWarning
        If the limit of iterations was reached first.
    """
    require(model, LogDensity, "map")
    gradient = np.empty(model.n_parameters)
    # L-BFGS moves theta / scale, in whose coordinates the posterior is about equally wide
    scale = model.scale

    def objective(scaled):
        value = model.logp_and_grad(scaled * scale, gradient)
        return -value, -gradient * scale

    start = start / scale
    gtol = tol * max(1.0, float(np.max(np.abs(objective(start)[1]), initial=0.0)))
    limits = {"maxiter": max_iter, "maxfun": _EVALUATIONS * max_iter}
    options = {**limits, "gtol": gtol, "ftol": _CHANGE * tol, "maxcor": _MEMORY}
    counted = laps("search for a mode", min(max_iter, _TYPICAL * -math.log10(min(tol, 0.1))))

    def after(_):
        if counted is not None and counted.enough():
            raise StopIteration

    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options, callback=after)
    if counted is not None:
        counted.end(ended=found.status != _CUT_SHORT)
    largest = float(np.max(np.abs(found.jac), initial=0.0))
    facts = {
        "lp": -float(found.fun),
        "n_iter": int(found.nit),
        "max_gradient": largest,
        "converged": bool(found.success),
    }
    if verbose:
        print(
            f"mode: {facts['n_iter']} iterations, log density {facts['lp']:.6g}, "
            f"largest gradient {largest:.3g}"
        )
    if warn and not found.success:
        warn_user(
            f"The mode was not reached in max_iter={max_iter} iterations (largest gradient entry "
            f"{largest:.3g}, allowed {gtol:.3g}): raise max_iter, or tol.",
            ConvergenceWarning,
        )
    return found.x * scale, facts
