"""The mode of drifting vectors that intervals by units are about, from a fit's vectors near it.

L-BFGS climbs; Newton's method goes on to where the gradient is zero and the curvature nowhere up.
Where L-BFGS ends near a saddle point, which many fits of many periods are near, Newton's steps lead
away from it, each some hundred products with the Hessian long, and the way up from there is one for
L-BFGS again, of which a step takes no longer than a product.
"""

from __future__ import annotations

from ...inference.mode import find_mode_only
from ...sgns.documents.deviations import LARGEST
from ..laplace.rough import LARGE
from ..laplace.solver import newton_steps, reach_mode

# The search from the solver's vectors, and after Newton's method has left a saddle point.
_SEARCH_ITERATIONS, _SEARCH_TOL = 3000, 1e-7
# Newton steps after which L-BFGS goes on, and how often it does. (UN debates, 1,000 words, 20
# components, eight periods: 23 steps and more from a saddle point 73 below the mode; six, 104
# iterations of L-BFGS and two.)
_FEW_STEPS, _ROUNDS = 6, 8
# Squared distance to the mode, in posterior standard deviations a parameter, before the last step.
_MODE = {"tol": 1e-11}
# What is enough where products are in single precision, and the share of the gradient that a step
# may leave: at ten times as much a saddle point has passed for a mode.
_ROUGH_MODE = {"tol": 1e-9, "residual": 0.03, "rough": True}
_LARGEST_MODE = {"tol": 1e-8, "residual": 0.1, "rough": True}


def mode_of(density, theta, run):
    """Parameters of a `DynamicDensity` at its mode, from some near it.

    Parameters
    ----------
    density : DynamicDensity
    theta : ndarray of shape (n_parameters,)
    run : callable
        Maps a function over periods.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not reached.
    """
    options = _options(density)
    for _ in range(_ROUNDS):
        theta = _climbed(density, theta, run)
        theta, facts = newton_steps(density, theta, max_iter=_FEW_STEPS, **options)
        if facts["converged"]:
            return theta
    return reach_mode(density, _climbed(density, theta, run), **options)[0]


def _climbed(density, theta, run):
    options = {"max_iter": _SEARCH_ITERATIONS, "tol": _SEARCH_TOL, "run": run}
    return find_mode_only(density, theta, **options)


def _options(density):
    if density.n_parameters <= LARGE:
        return _MODE
    return _LARGEST_MODE if density.n_parameters // 2 > LARGEST else _ROUGH_MODE
