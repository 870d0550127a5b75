"""Snippets with planted senses, and fits of them by the spine below the estimator."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import spine
from skbayesembed.common.random import named_seeds
from skbayesembed.datasets import make_senses
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.inputs import Training
from skbayesembed.senses.solvers import ROOM

K, T, G, V, D = 2, 3, 2, 12, 150


def planted():
    """Snippets of two clearly different senses, with their truth."""
    return make_senses(
        D, V, K, n_periods=T, n_genres=G, mean_length=10.0, kappa_chi=4.0, random_state=3
    )


def snippets_of(truth, labels=None):
    """`Snippets` of what `make_senses` returns."""
    return Snippets.of(truth.counts, truth.times, truth.genres, labels, n_periods=T, n_genres=G)


def two_ways():
    """Snippets with two modes that are alike: words 0 or 1 together with words 2 or 3.

    The two senses tell word 0 from word 1, or word 2 from word 3; all combinations are as frequent.
    """
    counts = np.zeros((160, 4))
    for i in range(160):
        counts[i, [i % 2, 2 + (i // 2) % 2]] = 4
    return Snippets.of(sparse.csr_array(counts), np.zeros(160, dtype=int))


def options(**changes):
    """What the room reads of an estimator."""
    given = {
        "solver": "hmc", "kernel": "auto", "model": "disc", "prior": None, "n_senses": K,
        "likelihood_power": 1.0, "embedding": None,
        "n_starts": 3, "n_jobs": 1, "draws": 30, "warmup": 20, "chains": 2, "thin": 1,
        "keep_draws": "auto", "target_accept": 0.8, "max_iter": 400, "tol": 1e-8, "verbose": 0,
    }  # fmt: skip
    return SimpleNamespace(**(given | changes))


def training_of(data):
    """Snippets whose words, periods and genres have the names of their numbers."""
    words = np.array([f"x{v}" for v in range(data.n_words)])
    periods = SimpleNamespace(labels=list(range(data.n_periods)))
    return Training(data, words, None, periods, np.arange(data.n_genres), True, False)


def fit(data, seed=0, **changes):
    """`Fitted` of snippets by the spine."""
    seeds = named_seeds(seed, ROOM.streams)
    return spine.fit(options(**changes), ROOM, training_of(data), seeds)


def run(data, **changes):
    """`fit` without the warnings of chains that are too short."""
    with warnings.catch_warnings():
        # thirty draws do not mix
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(data, **changes)
