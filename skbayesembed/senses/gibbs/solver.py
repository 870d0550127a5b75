"""Gibbs sampling of senses and logits, in the heaviest mode."""

from __future__ import annotations

import numpy as np

from ...inference.gibbs import sample_gibbs
from ..checks import kernel_of
from ..model import SenseModel, permuted
from ..recording import run, with_modes
from .conditionals import SenseGibbs


def solve(estimator, problem, settings, seed):
    """Chains that start in the heaviest mode, a `Result`."""
    data, prior, mode = problem.data, problem.prior, problem.modes[0]
    kernel = kernel_of(estimator)
    model = SenseModel(data, problem.n_senses, prior)

    def sample(settings, states):
        result = sample_gibbs(
            SenseGibbs(data, problem.n_senses, prior, kernel=kernel, start=mode.arrays),
            settings,
            n_chains=estimator.chains,
            seeds=seed,
            n_jobs=estimator.n_jobs,
            verbose=estimator.verbose,
            states=states,
        )
        _align(result.draws, model, mode)
        return result

    result = run(estimator, sample, settings)
    result.facts["kernel"] = kernel
    return with_modes(result, problem.modes)


def _align(draws, model, mode):
    """Match the senses of every draw with those of a mode, in place."""
    for chain, draw in np.ndindex(draws["prevalence"].shape[:2]):
        order = model.order_of(mode.weights, model.weights_of(draws, chain, draw))
        if np.any(order != np.arange(order.size)):
            here = {name: values[chain, draw] for name, values in draws.items()}
            for name, value in permuted(here, order).items():
                draws[name][chain, draw] = value
