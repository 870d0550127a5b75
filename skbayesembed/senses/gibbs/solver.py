"""Gibbs sampling of senses and logits, in the heaviest mode."""

from __future__ import annotations

from ...inference.gibbs import sample_gibbs
from ..checks import kernel_of
from ..model import SenseModel, permuted
from ..recording import run, with_modes
from .conditionals import SenseGibbs


def solve(estimator, problem, settings, seed):
    """Chains that start in the heaviest mode, a `Result`."""
    data, prior, mode = problem.data, problem.prior, problem.modes[0]
    kernel = kernel_of(estimator)

    def sample(settings, states):
        return sample_gibbs(
            _ModeGibbs(data, problem.n_senses, prior, mode, kernel),
            settings,
            n_chains=estimator.chains,
            seeds=seed,
            n_jobs=estimator.n_jobs,
            verbose=estimator.verbose,
            states=states,
        )

    result = run(estimator, sample, settings)
    result.facts["kernel"] = kernel
    return with_modes(result, problem.modes)


class _ModeGibbs(SenseGibbs):
    """Conditionals that start in a mode, whose names of senses all draws are given."""

    def __init__(self, data, n_senses, prior, mode, kernel):
        super().__init__(data, n_senses, prior, kernel=kernel, start=mode.arrays)
        self._model, self._weights = SenseModel(data, n_senses, prior), mode.weights

    def observe(self, state):
        """As of all conditionals, with senses matched to those of the mode."""
        seen = super().observe(state)
        weights = self._model.weights_observed(seen)
        return permuted(seen, self._model.order_of(self._weights, weights))
