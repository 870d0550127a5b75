"""Run as a program: bytes that a fit is announced to take, and bytes that it takes."""

import ctypes
import gc
import json
import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skbayesembed import (
    BayesianSGNS,
    DiSCSenseModel,
    DynamicSGNS,
    GaussianLDA,
    PairCounts,
    build_vocabulary,
    count_pairs,
)
from skbayesembed.datasets import make_topics
from skbayesembed.sgns.pairs import RankOne
from tests.helpers.vectors import DrawnVectors

rng = np.random.default_rng(0)
OPTIONS = {"warmup": 2, "chains": 2, "random_state": 0, "n_jobs": 1, "max_iter": 10}


def counts(n_rows, n_words, share):
    table = sparse.random_array((n_rows, n_words), density=share, random_state=rng).tocsr()
    table.data[:] = 1.0
    return table


def pairs(n_words, share):
    return PairCounts(counts(n_words, n_words, share), counts(n_words, n_words, share))


# Solvers that need a mode, or many gradients: smaller models, of which the mode is reached.
_MODE = {"max_iter": 2000}


def sgns(solver, size, draws):
    n_words, share = (800 * size, 0.4) if solver == "map" else (500 * size, 0.1)
    estimator = BayesianSGNS(
        20, prior_precision=1.0, uncertainty="model", solver=solver, draws=draws, **OPTIONS
    )
    if solver in ("laplace", "hmc"):
        n_words, share = 150 * size, 0.5
        estimator.set_params(n_components=8, prior_precision=4.0, **_MODE)
    return estimator, pairs(n_words, share), {}


def expected(solver, size, draws):
    """Negative counts that are a product: no tables of all pairs."""
    n_words = 2500 * size
    positive = counts(n_words, n_words, 0.02)
    pairs = PairCounts(positive, RankOne(positive.sum(axis=1), np.full(n_words, 1.0 / n_words)))
    estimator = BayesianSGNS(
        40, prior_precision=1.0, uncertainty="model", solver=solver, draws=draws, **OPTIONS
    )
    return estimator, pairs, {}


def shards(solver, size, draws):
    """Counts that were added up, and variances alone: what large text is fitted with."""
    n_words = 2500 * size
    texts = [[f"w{i}" for i in row] for row in rng.integers(n_words, size=(300 * size, 400))]
    words = build_vocabulary(texts, min_count=1)
    estimator = BayesianSGNS(
        40, prior_precision=1.0, uncertainty="model", covariance="diag", solver=solver,
        draws=draws, **OPTIONS,
    )  # fmt: skip
    return estimator, sum(count_pairs(texts[i::3], words) for i in range(3)), {}


def dynamic(solver, size, draws):
    n_words, share = (600 * size, 0.3) if solver == "map" else (150 * size, 0.1)
    X = [pairs(n_words, share) for _ in range(4)]
    estimator = DynamicSGNS(20, uncertainty="model", solver=solver, draws=draws, **OPTIONS)
    if solver == "laplace":
        X = [pairs(60 * size, 0.5) for _ in range(4)]
        estimator.set_params(n_components=8, prior_precision=4.0, **_MODE)
    return estimator, X, {"times": range(4)}


def senses(solver, size, draws):
    n_words, options = 2500 * size, OPTIONS
    if solver == "map":
        # a point alone takes little, and what a search remembers comes step by step
        n_words, options = 4 * n_words, OPTIONS | {"max_iter": 60}
    X, times = counts(200, n_words, 0.005), rng.integers(3, size=200)
    estimator = DiSCSenseModel(2, n_starts=2, solver=solver, draws=draws, **options)
    return estimator, X, {"times": times}


def embedded(solver, size, draws):
    estimator, X, covariates = senses(solver, size, draws)
    vectors = rng.normal(size=(X.shape[1], 50))
    return estimator.set_params(model="edisc", embedding=vectors), X, covariates


def topics(solver, size, draws):
    if solver == "laplace":
        # what has a mode that a Gaussian fits
        made = make_topics(
            400 * size, 1000, n_topics=4, n_dims=6, mean_length=60, separation=4.0, random_state=0
        )
        options = OPTIONS | _MODE | {"keep_draws": "all", "solver": solver, "draws": draws}
        return GaussianLDA(4, embedding=made.vectors, **options), made.counts, {}
    vectors = rng.normal(size=(1500 * size, 20))
    estimator = GaussianLDA(
        10, embedding=vectors, min_count=1, keep_draws="all", solver=solver, draws=draws, **OPTIONS
    )
    return estimator, counts(500, 1500 * size, 0.02), {}


def tilted(solver, size, draws):
    estimator, X, covariates = topics(solver, size, draws)
    return estimator.set_params(word_model="dirichlet"), X, covariates


def drawn(estimator, X, n_dims, covariates):
    """With vectors that are known by draws."""
    vectors, n_words = rng.normal(size=(X.shape[1], n_dims)), X.shape[1]
    embedding = DrawnVectors([f"x{i}" for i in range(n_words)], vectors, 0.1)
    return estimator.set_params(embedding=embedding, embedding_draws=10), X, covariates


def drawn_senses(solver, size, draws):
    estimator, X, covariates = embedded(solver, size, draws)
    return drawn(estimator, X, 50, covariates)


def drawn_topics(solver, size, draws):
    estimator, X, covariates = topics(solver, size, draws)
    return drawn(estimator, X, 20, covariates)


def field(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(x.split()[1]) for x in lines if x.startswith(name + ":"))


ROOMS = {
    "sgns": sgns, "expected": expected, "shards": shards, "dynamic": dynamic, "senses": senses,
    "embedded": embedded, "topics": topics, "tilted": tilted, "drawn_senses": drawn_senses,
    "drawn_topics": drawn_topics,
}  # fmt: skip


def main():
    warnings.simplefilter("ignore")
    room, solver, size, draws = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    estimator, X, covariates = ROOMS[room](solver, size, draws)
    # what is compiled or loaded once is no memory of a fit
    few = 10 if room.startswith("drawn") else 4
    clone(estimator).set_params(draws=few).fit(X, **covariates)
    announced = clone(estimator).estimate_cost(X, **covariates).bytes
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = field("VmRSS")
    estimator.fit(X, **covariates)
    print(json.dumps([announced, field("VmHWM") - before]))


if __name__ == "__main__":
    main()
