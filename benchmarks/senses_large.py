"""Senses of many snippets: 100,000 of 5,000 words with vectors of 100 dimensions.

    python benchmarks/senses_large.py [--snippets 100000] [--words 5000] [--dims 100]

Simulates snippets by ``make_senses(model="edisc")``, fits ``DiSCSenseModel(model="edisc",
solver="vi")`` by its defaults, and prints CPU and wall seconds, the peak of memory, the Brier
score, and the largest error of a prevalence, senses being matched with the simulated ones.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.inference.matching import match


def main():
    """Fit once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--snippets", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--dims", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made = make_senses(
        options.snippets, options.words, 3, n_periods=10, model="edisc", n_dims=options.dims,
        random_state=options.seed,
    )  # fmt: skip
    model = DiSCSenseModel(
        3, model="edisc", embedding=made.vectors, solver="vi", n_jobs=2, random_state=options.seed
    )
    cpu, wall = time.process_time(), time.time()
    model.fit(made.counts, times=made.times)
    cpu, wall = time.process_time() - cpu, time.time() - wall
    truth = np.eye(3)[made.senses]
    proba = model.predict_proba(made.counts, times=made.times)
    order = match(truth.T, proba.T)
    brier = np.mean(np.sum((proba[:, order] - truth) ** 2, axis=1))
    # genres and periods alike
    error = np.abs(model.prevalence_[order] - np.moveaxis(made.prevalence, -1, 0)).max()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{options.snippets} snippets, {options.words} words, {options.dims} dimensions: "
        f"{cpu:.0f} CPU-s, {wall:.0f} s, peak {peak:.1f} GB, Brier score {brier:.3f}, prevalences "
        f"within {error:.3f}"
    )


if __name__ == "__main__":
    main()
