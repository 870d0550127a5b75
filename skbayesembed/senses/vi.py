"""Independent Gaussians around the heaviest mode, in coordinates in which it is about round."""

from __future__ import annotations

from ..common.random import generators
from ..inference import checkpoint
from ..inference.advi import mean_field
from ..inference.threads import OneBlasThread
from .mode_model import ModeModel
from .recording import drawn, with_modes


def solve(estimator, problem, settings, seed):
    """Fit the Gaussians and draw from them, a `Result`."""
    rng, of_draws = generators(seed, 2)
    mode = problem.modes[0]
    model = ModeModel(problem.data, problem.n_senses, problem.prior, mode)
    with OneBlasThread():
        found, facts = mean_field(
            model,
            model.pack(mode.arrays),
            rng,
            max_iter=estimator.max_iter,
            verbose=estimator.verbose,
            stage=checkpoint.stage("ascent"),
        )
    facts["elbo"] = float(found.elbo[-1])
    return with_modes(drawn(model, found, facts, settings, of_draws), problem.modes)
