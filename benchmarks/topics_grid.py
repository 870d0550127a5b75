"""How long does a grid over `GaussianLDA` take: four settings, three folds, 20 Newsgroups.

    SKBAYESEMBED_DATA=... python benchmarks/topics_grid.py [--n-jobs 2] [--once] [--vi]

All 17,876 columns, all other parameters at their defaults. ``--once`` prints the CPU time of one
fit for each setting, on two thirds of the documents, and what the grid would take from that.
``--vi`` prints the CPU time of single fits by ``solver="vi"``, of the 5,000 most frequent words and
30 principal axes of their vectors.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV

from skbayesembed import GaussianLDA

GRID = (10, 20, 30, 40)


def main():
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--vi", action="store_true")
    options = parser.parse_args()
    folder = Path(os.environ["SKBAYESEMBED_DATA"]) / "topics" / "20ng"
    counts, vectors = sparse.load_npz(folder / "dtm.npz"), np.load(folder / "vectors.npy")
    model = GaussianLDA(embedding=vectors, random_state=0)
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"  # of processes, too
    if options.vi:
        variational(counts, vectors)
        return
    if options.once:
        rows = np.random.default_rng(0).permutation(counts.shape[0])
        train, test = np.split(rows, [2 * rows.size // 3])
        GaussianLDA(2, embedding=vectors, draws=2, warmup=3, random_state=0).fit(counts[:200])
        total = 0.0
        for k in GRID:
            start = time.process_time()
            score = model.set_params(n_components=k).fit(counts[train]).score(counts[test])
            seconds = time.process_time() - start
            total += 3 * seconds
            print(f"{k} topics: {seconds:.1f} CPU-s, score {score:.3f}")
        print(f"grid: {total:.0f} CPU-s without the last fit of all documents")
        return
    start = time.perf_counter()
    grid = GridSearchCV(model, {"n_components": GRID}, cv=3, n_jobs=options.n_jobs).fit(counts)
    print(f"{time.perf_counter() - start:.0f} s with n_jobs={options.n_jobs}")
    for setting, score in zip(
        grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True
    ):
        print(setting, f"{score:.3f}")


def variational(counts, vectors):
    """Print the CPU time of a fit for each of two numbers of topics."""
    chosen = np.sort(np.argsort(-np.asarray(counts.sum(axis=0)).ravel())[:5000])
    centred = vectors[chosen] - vectors[chosen].mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    given = {"embedding": (left * sizes)[:, :30], "solver": "vi", "random_state": 0}
    n = counts.shape[0]
    train = counts[np.random.default_rng(0).permutation(n)[: 2 * n // 3]][:, chosen]
    GaussianLDA(2, **given).fit(train[:200])
    for k in GRID[:2]:
        start = time.process_time()
        GaussianLDA(k, likelihood_power=0.2, **given).fit(train)
        print(f"{k} topics: {time.process_time() - start:.1f} CPU-s, {train.shape[0]} documents")


if __name__ == "__main__":
    main()
