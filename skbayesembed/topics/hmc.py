"""``solver="hmc"``: NUTS on the density with the topics of tokens summed out."""

from __future__ import annotations

from ..inference.hmc import sample_hmc
from ..inference.threads import OneBlasThread
from ..inference.trajectories import HamiltonianOptions
from .model import MarginalTopics
from .recording import of_chains


def solve(estimator, problem, settings, seed):
    """`Result` of chains that start about the center of one frame."""
    with OneBlasThread():
        model = MarginalTopics(*problem.model, power=problem.power, start=problem.start)
    result = sample_hmc(
        model,
        settings,
        HamiltonianOptions(target_accept=estimator.target_accept),
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    return of_chains(problem, result, "nuts")
