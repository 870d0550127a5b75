"""From training data to the problem that solvers are given, and the table of solvers."""

from __future__ import annotations

from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..spine import Room
from . import hmc, map
from .checks import check_parameters
from .data import KEPT_UPTO, is_expected, pair_table, table_bytes
from .gibbs import solver as gibbs
from .laplace import solver as laplace
from .model import SGNSModel
from .pairs import RankOne
from .priors import build_prior
from .problem import Problem
from .recording import diagnose, footprint, labels
from .starting import MANY
from .vi import solver as vi
from .vi.climb import climbs

# Solvers that do not go through whole tables of pairs, and how many sides of counts they keep.
_WITHOUT_TABLES = {"map": 1, "hmc": 1, "vi": 2}


def build_model(estimator, counts, prior):
    """The posterior of the counts; a MemoryError, before any work, where its table is too large."""
    whole = estimator.solver not in _WITHOUT_TABLES
    if estimator.solver == "laplace":
        # its slopes and residuals, which this stands for, are made row by row beyond
        whole = counts.n_words <= KEPT_UPTO
    climbed = estimator.solver == "vi" and climbs(estimator, is_expected(counts))
    beside = {
        "whole": whole,
        "sides": 1 if climbed else _WITHOUT_TABLES.get(estimator.solver, 2),
        "clusters": counts.n_words >= MANY,
    }
    if estimator.solver == "gibbs":
        chains = min(effective_n_jobs(estimator.n_jobs), estimator.chains)
        beside |= {"chains": chains, "plans": estimator.kernel == "polya-gamma"}
    advice = "Use "
    if beside["whole"] and isinstance(counts.negative, RankOne):
        advice += "solver='map' or 'vi', which need no such table where there are many words, "
    check_memory(
        table_bytes(counts, **beside),
        f"The pair table of {counts.n_words} words",
        advice + "negative_sampling='sampled', a smaller max_features or a larger min_count.",
    )
    return SGNSModel(pair_table(counts), estimator.n_components, prior)


def pose(estimator, training, seeds):
    """State the `Problem` of some training data; seeds are named as in ``ROOM.streams``."""
    prior = build_prior(estimator, training.vocabulary)
    model = None
    if training.source is None:
        model = build_model(estimator, training.counts, prior)
    return Problem(
        training.words, training.vocabulary, prior, model, training.source, seeds["mode"]
    )


SOLVERS = {
    "gibbs": gibbs.solve,
    "hmc": hmc.solve,
    "vi": vi.solve,
    "laplace": laplace.solve,
    "map": map.solve,
}

ROOM = Room(
    solvers=SOLVERS,
    check=check_parameters,
    footprint=footprint,
    pose=pose,
    labels=labels,
    diagnose=diagnose,
    streams=("counts", "mode", "solve", "units"),
    auto=True,
)
