"""The Gaussian at the mode (Yrjänäinen et al. 2025, section 3.1), with the right covariance.

The covariance is the inverse of the block of minus the Hessian that belongs to the free parameters:
with anchors, all but their vectors. Where the posterior has no anchors and its prior rotates, the
mode is a point of an orbit of rotations, along which the Hessian is null. Draws then come from the
pseudo-inverse: they leave the mode at right angles to the orbit. They are made by fixing as many
coordinates as the orbit has dimensions (those above the diagonal where the pivot contexts are
turned to be lower triangular), which gives a generalized inverse, and projecting. A Hessian that is
seen through products alone is made regular along the orbit instead (`soft.SoftMaps`).
"""

from __future__ import annotations

from joblib import effective_n_jobs

from ...common.memory import check_memory
from ...inference.contracts import ROWS, Result
from ...posterior.running_moments import RunningMoments
from ..anchors import identify
from .approximation import NAMES, approximate
from .curvature import bytes_needed, choose_method


def solve(estimator, problem, settings, seed):
    """Approximate the posterior by the Gaussian at its mode: a `Result`.

    One chain of independent draws, those that are recorded. Means are the mode. Covariances of
    vectors are exact where the Hessian was factorized; for ``attrs["method"] == "krylov"`` they are
    estimated from the draws.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the mode is not reached.
    MemoryError
        If the Gaussian would not fit.
    """
    at = identify(estimator, problem)
    model = at.model
    method = choose_method(model)
    check_memory(
        bytes_needed(model, method, effective_n_jobs(estimator.n_jobs)),
        f"The Gaussian around the mode of {model.n_words} words",
        "Use fewer n_components, a smaller max_features or a larger min_count.",
    )
    found, search = approximate(
        model, at.mode.arrays, method=method, n_jobs=estimator.n_jobs, verbose=estimator.verbose
    )
    draw_seed, moment_seed = seed.spawn(2)
    draws = found.deviations(settings.recorded, draw_seed)
    covariances = found.block_covariances()
    exact = covariances is not None
    if not exact:
        covariances = found.estimated_covariances(draws, moment_seed)
    draws += found.vectors
    named = {name: draws[None, :, side] for side, name in enumerate(NAMES)}
    for name, index in (settings.rows or {}).items():
        named[name + ROWS] = named[name][:, :, index]
    moments = {
        name: RunningMoments.known(found.mean[name], covariances[side], count=max(2, len(draws)))
        for side, name in enumerate(NAMES)
    }
    facts = {
        "method": found.method,
        "rank": found.rank,
        "null_directions": found.null_directions,
        "moments": "exact" if exact else "estimated",
        "draws_made": len(draws),
        "stride": 1,
        "interrupted": len(draws) < settings.recorded,
        **{name: search[name] for name in ("converged", "newton_steps", "decrement")},
        **found.krylov_facts(),
        **at.facts,
    }
    return Result(named, {}, moments, facts, found, {"anchors_": at.anchors})
