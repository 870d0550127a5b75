"""The Gaussian at the point of largest density that the heaviest mode leads to."""

from __future__ import annotations

from ..common.random import generators
from ..inference.mode import find_mode
from ..inference.mode_gaussian import gaussian_at
from ..inference.threads import OneBlasThread
from .mode_model import ModeModel
from .recording import drawn, with_modes


def solve(estimator, problem, settings, seed):
    """Find the point and draw from the Gaussian there, a `Result`."""
    mode = problem.modes[0]
    model = ModeModel(problem.data, problem.n_senses, problem.prior, mode)
    with OneBlasThread():
        theta, facts = find_mode(
            model,
            model.pack(mode.arrays),
            max_iter=estimator.max_iter,
            tol=estimator.tol,
            verbose=estimator.verbose,
        )
        (rng,) = generators(seed, 1)
        result = drawn(model, gaussian_at(model, theta, facts), facts, settings, rng)
    return with_modes(result, problem.modes)
