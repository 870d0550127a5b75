"""The posterior by the Gaussian at its mode: the search for the mode, and draws around it."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ...common.memory import check_memory
from ...inference.chains import Workers
from ...inference.laplace import check_reached, newton_mode
from ...inference.records import ChainRecord, gather
from ...inference.threads import OneBlasThread
from ...sgns.laplace.curvature import FACTOR_BYTES
from ..map import seek_mode
from ..model import Curvature, DynamicDensity, named
from .approximation import BATCH, KEEP, DynamicLaplace
from .rough import RoughSolver

# Newton steps, unless told otherwise.
_MOST_STEPS = 100


def solve(estimator, problem, settings, seed):
    """Approximate the posterior by the Gaussian at its mode; returns a `Result`.

    One chain of independent draws. Means over them are near the mode.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    MemoryError
        If the Gaussian would not fit.
    """
    model = problem.model
    density = DynamicDensity(model)
    method = choose_method(density)
    check_memory(
        _bytes_needed(density, method, effective_n_jobs(estimator.n_jobs)),
        f"The Gaussian around the mode of {model.n_words} words in {model.n_periods} periods",
        "Use fewer n_components, a smaller max_features or a larger min_count.",
    )
    start_seed, draw_seed = seed.spawn(2)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        rng = np.random.default_rng(start_seed)
        theta, first = seek_mode(estimator, density, rng, warn=False, run=run)
        theta, facts = reach_mode(density, theta, verbose=estimator.verbose)
        found = DynamicLaplace(density, density.vectors(theta), method)
    result = _drawn(found, settings, draw_seed, estimator.n_jobs)
    result.facts |= {"n_iter": first["n_iter"], **found.facts()}
    result.facts |= {name: facts[name] for name in ("converged", "newton_steps", "decrement")}
    result.approximation = found
    return result


def reach_mode(density, theta, **options):
    """As `newton_steps`, to the mode.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    """
    theta, facts = newton_steps(density, theta, **options)
    check_reached(facts)
    return theta, facts


def newton_steps(density, theta, *, rough=False, max_iter=None, verbose=0, **options):
    """Newton's method from parameters near the mode: parameters and the facts of the search.

    ``rough`` makes products in single precision, which is quicker for large models, and
    preconditions them by what `RoughSolver` knows. ``options`` are those of
    `inference.laplace.newton_mode`.
    """

    def objective(z):
        gradient = np.empty_like(z)
        return density.logp_and_grad(z, gradient), gradient

    def curvature(z):
        at = Curvature(density, density.vectors(z))
        return lambda d: at.product(d[None])[0], np.copy

    options |= {"max_iter": _MOST_STEPS if max_iter is None else max_iter, "verbose": verbose}
    if rough:
        return _rough_newton(density, theta, options)
    return newton_mode(objective, curvature, theta, **options)


def _rough_newton(density, theta, options):
    """Newton's method over the vectors themselves: parameters and facts."""
    solver = None

    def objective(x):
        gradient = np.zeros_like(x)
        value = density.likelihood(x, gradient)
        pull = density.precision.apply(x)
        gradient -= pull
        return value - 0.5 * float(np.vdot(x, pull)), gradient

    def curvature(x):
        nonlocal solver
        at = Curvature(density, x)
        if solver is None:
            # what it knows of the start will do to precondition
            solver = RoughSolver(at, 0)
        else:
            solver.move(at)
        return solver.image, solver.precondition

    x, facts = newton_mode(objective, curvature, density.vectors(theta), **options)
    return density.coordinates(x), facts


def choose_method(density):
    """``"blocks"`` where the factor of the Hessian fits, else ``"krylov"``."""
    return "blocks" if _factor_bytes(density) <= FACTOR_BYTES else "krylov"


def _factor_bytes(density):
    return 8 * density.n_parameters**2 // density.shape[0]


def _bytes_needed(density, method, n_jobs):
    if method == "blocks":
        # and a period's blocks beside those of all
        return _factor_bytes(density) * (density.shape[0] + 1) // density.shape[0]
    return n_jobs * (KEEP + 8 * density.n_parameters * 10 * BATCH[method])


def _drawn(found, settings, seed, n_jobs):
    """The `Result` of one chain of independent draws, fewer after Ctrl-C."""
    record, interrupted = ChainRecord(), False
    try:
        for batch in found.batches(settings.draws, seed, n_jobs):
            for draw in batch:
                record.store(settings, named(draw), {})
    except KeyboardInterrupt:
        interrupted = True
    result = gather([record], settings, interrupted)
    result.facts["draws_made"] = record.n_draws
    return result
