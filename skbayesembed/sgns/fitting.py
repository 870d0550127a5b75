"""From pair counts to a posterior: mode, anchors, chains, diagnostics; the table of solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..common.spine import chain_settings
from ..posterior.posterior import Posterior
from .anchors import choose_anchors, fit_mode
from .data import pair_table, table_bytes
from .gibbs.solver import gibbs_posterior
from .map import point_posterior, warn_point_estimate_rank
from .model import SGNSModel
from .priors import build_prior
from .recording import _MONITORED, _kept_rows


@dataclass
class Fitted:
    """What a solver leaves: posterior, anchors held fixed or None, iterations."""

    posterior: Posterior
    anchors: np.ndarray | None
    n_iter: int


def build_model(estimator, counts, vocabulary):
    """The posterior of the counts, after a look at the memory it takes."""
    chains = min(effective_n_jobs(estimator.n_jobs), estimator.chains)
    needed = table_bytes(counts, chains if estimator.solver == "gibbs" else 1)
    check_memory(
        needed,
        f"The pair table of {counts.n_words} words",
        "Use negative_sampling='sampled', a smaller max_features or a larger min_count.",
    )
    prior = build_prior(estimator, vocabulary)
    return SGNSModel(pair_table(counts), estimator.n_components, prior)


def solve(estimator, model, words, vocabulary, seeds):
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : BayesianSGNS
    model : SGNSModel
    words : ndarray of str
    vocabulary : dict of str to int
    seeds : tuple of two SeedSequence
        For the search for the mode and for what follows.

    Returns
    -------
    Fitted
    """
    if estimator.solver == "map":
        mode = fit_mode(estimator, model, seeds[0])
        warn_point_estimate_rank(estimator, mode)
        return Fitted(point_posterior(mode, words), None, max(1, mode.facts["n_iter"]))
    settings = plan_draws(estimator, vocabulary)
    if estimator.solver == "vi":
        from .vi.solver import vi_posterior

        posterior = vi_posterior(estimator, model, words, settings, seeds[1])
        return Fitted(posterior, None, max(1, int(posterior.attrs["n_iter"])))
    mode = fit_mode(estimator, model, seeds[0])
    anchors = choose_anchors(estimator, model, mode, vocabulary)
    sample = _sampler(estimator.solver)
    posterior = sample(estimator, model, mode, anchors, words, settings, seeds[1])
    return Fitted(posterior, anchors, max(1, mode.facts["n_iter"]))


def _sampler(solver):
    """The function that makes a posterior of a model and its mode."""
    if solver == "hmc":
        from .hmc import hmc_posterior

        return hmc_posterior
    if solver == "laplace":
        from .laplace.solver import laplace_posterior

        return laplace_posterior
    return gibbs_posterior


def plan_draws(estimator, vocabulary):
    """Number of draws and what is recorded of them, after a look at the memory it takes.

    The approximations are drawn from independently: they have one chain.
    """
    rows, k = _kept_rows(estimator, vocabulary), estimator.n_components
    size = len(vocabulary) * k
    trace = 8 * (_MONITORED + 1)
    if rows is not None:
        trace += 16 * k * rows["rho"].size
    chains = 1 if estimator.solver in ("vi", "laplace") else estimator.chains
    moments = 16 * size * k
    return chain_settings(estimator, 16 * size, moments, trace, rows, chains)
