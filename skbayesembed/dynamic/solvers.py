"""What the solvers of drifting vectors are given, and which solvers there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..inference.threads import OneBlasThread
from ..spine import CHAINS, Room
from . import hmc, recording
from . import map as mode
from .checks import check_parameters
from .data import period_table_bytes
from .gibbs import solver as gibbs
from .inputs import Training
from .laplace import solver as laplace
from .model import DynamicModel
from .priors import DriftPrior, drift_prior
from .vi import solver as vi


@dataclass(frozen=True)
class Problem:
    """What every solver is given.

    Attributes
    ----------
    training : Training
    prior : DriftPrior
        Of the periods of ``training``.
    model : DynamicModel or None
        The posterior with a table of all observed pairs; None for ``"vi"``, which works from the
        counts.
    """

    training: Training
    prior: DriftPrior
    model: DynamicModel | None


def pose(estimator, training, seeds):
    """The `Problem` of an estimator, after a look at the memory that its pairs take."""
    prior = drift_prior(estimator, training.periods)
    if estimator.solver == "vi":
        return Problem(training, prior, None)
    model = build_model(estimator, training.counts, prior, seeds["static"])
    return Problem(training, prior, model)


def build_model(estimator, counts, prior, seed):
    """The `DynamicModel` of the counts; ``seed`` is for the static vectors chains start from.

    Raises
    ------
    MemoryError
        If the table of pairs would not fit.
    """
    chains = 1
    if estimator.solver in CHAINS:
        chains = min(effective_n_jobs(estimator.n_jobs), estimator.chains)
    check_memory(
        period_table_bytes(counts, chains),
        f"The pairs of {counts[0].n_words} words in {len(counts)} periods",
        "Use negative_sampling='sampled', a smaller max_features, fewer periods or solver='vi'.",
    )
    with OneBlasThread():
        rng = np.random.default_rng(seed)
        return DynamicModel.of_counts(counts, estimator.n_components, prior, rng)


SOLVERS = {
    "vi": vi.solve,
    "gibbs": gibbs.solve,
    "hmc": hmc.solve,
    "laplace": laplace.solve,
    "map": mode.solve,
}

ROOM = Room(
    SOLVERS,
    check_parameters,
    recording.footprint,
    pose,
    recording.labels,
    recording.diagnose,
    streams=("counts", "static", "solve", "reading", "units"),
)
