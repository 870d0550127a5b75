"""Sampling by Hamiltonian trajectories, and by the blockwise moves of the paper."""

from __future__ import annotations

from ..inference.gibbs import sample_gibbs
from ..inference.hmc import sample_hmc
from ..inference.trajectories import HamiltonianOptions
from .checks import kernel_of
from .mode_model import ModeModel
from .recording import run, with_modes
from .replication.blockwise import SenseBlocks

# Mean length of trajectories and its relative jitter. Some directions in which words change their
# senses together are many times as wide as the rest of the posterior: the trajectories of NUTS turn
# as the rest does, these are longer.
_PATH, _JITTER = 12.0, 0.3
# With word vectors there are none so wide: three quarters of the turn of a Gaussian.
_TURN = 4.7
# Acceptance aimed at where nothing is asked for. For DiSC steps so long cost least a draw. Other
# models have narrow places, and so have effects of works: with shorter steps a gradient is worth as
# much for means, half as much again for tails, and chains do not stand still (two words of State of
# the Union addresses by presidents, two seeds each).
_BOLD, _CAREFUL = 0.65, 0.8


def solve(estimator, problem, settings, seed):
    """Chains in the heaviest mode, a `Result`."""
    model = ModeModel(problem.data, problem.n_senses, problem.prior, problem.modes[0])
    sampling = {
        "n_chains": estimator.chains,
        "seeds": seed,
        "n_jobs": estimator.n_jobs,
        "verbose": estimator.verbose,
    }
    kernel = kernel_of(estimator)

    def sample(settings, states):
        if kernel == "blockwise":
            return sample_gibbs(SenseBlocks(model), settings, states=states, **sampling)
        options = options_of(estimator, problem.data.works is not None)
        return sample_hmc(model, settings, options, states=states, **sampling)

    result = run(estimator, sample, settings)
    result.facts["kernel"] = kernel
    return with_modes(result, problem.modes)


def options_of(estimator, has_works):
    """`HamiltonianOptions` of the kernels ``"hmc"`` and ``"nuts"``."""
    target = estimator.target_accept
    if kernel_of(estimator) == "nuts":
        # its trajectories end where they turn, which the steps of "gaussian" would hide
        return HamiltonianOptions(method="nuts", target_accept=target, metric="given")
    if target is None:
        bold = estimator.model in ("disc", "edisc") and not has_works
        target = _BOLD if bold else _CAREFUL
    length = _TURN if estimator.model == "edisc" else _PATH
    return HamiltonianOptions(
        method="hmc", path_length=length, jitter=_JITTER, integrator="gaussian-two-stage",
        target_accept=target, metric="given",
    )  # fmt: skip
