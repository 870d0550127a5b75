"""Do bands of prevalence that were learned without labels hold what readers found?

    SKBAYESEMBED_DATA=... python benchmarks/senses_bands.py

For each set the prevalences are learned without labels. In every cell of sense, genre and period
with at least ``--least`` snippets the 90 % band is held against the share that labels give to the
sense there. Labels of the same snippets leave less open than words do: were the model true, bands
would hold these shares more often than 90 times of 100, as the simulated sets show, which are
drawn from the model with as many snippets. The last column is the same for bands that are learned
from the labels.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from senses import load

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.metrics import brier_score, match_senses


def real(name):
    """Counts, times, genres and senses of snippets that were labelled."""
    counts, given = load(name)
    kept = (given["senses"] >= 0) & given["collocate"]
    return counts[kept], *(given[key][kept] for key in ("times", "genres", "senses"))


def simulated(seed):
    """As many snippets as *kosmos* has, from the model."""
    made = make_senses(
        1144, 968, n_senses=3, n_periods=9, n_genres=2, mean_length=4.3, random_state=seed
    )
    return made.counts, made.times, made.genres, made.senses


def held(bands, order, times, genres, senses, least):
    """How many cells hold the labelled share, and of how many."""
    found, cells = 0, 0
    for g in np.unique(genres):
        for t in np.unique(times):
            here = senses[(genres == g) & (times == t)]
            if here.size < least:
                continue
            shares = np.bincount(here, minlength=len(order)) / here.size
            low, high = bands[order, g, t].T
            found += int(((shares >= low) & (shares <= high)).sum())
            cells += len(order)
    return found, cells


def row(name, counts, times, genres, senses, options):
    """A line of the table."""
    n_senses = int(senses.max()) + 1
    lengths = {"draws": options.draws, "warmup": 150, "thin": 2, "random_state": 0}
    covariates = {"times": times, "genres": genres}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DiSCSenseModel(n_senses, n_jobs=options.n_jobs, n_starts=8, **lengths)
        model.fit(counts, **covariates)
        informed = DiSCSenseModel(n_senses, n_jobs=options.n_jobs, n_starts=1, **lengths)
        informed.fit(counts, senses, **covariates)
    proba = model.predict_proba(counts, **covariates)
    order = np.asarray(match_senses(proba, senses))
    given = (times - times.min(), genres, senses, options.least)
    found, cells = held(model.prevalence_interval(prob=0.9), order, *given)
    same, _ = held(informed.prevalence_interval(prob=0.9), np.arange(n_senses), *given)
    brier = brier_score(proba[:, order], senses)
    print(
        f"| {name} | {senses.size} | {brier:.3f} | {found} of {cells} | {same} of {cells} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument(
        "--least", type=int, default=10, help="fewest snippets of a genre and period"
    )
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    print("| set | snippets | Brier | hold the share | learned from the labels |")
    print("|---|---|---|---|---|")
    for name in ("kosmos_collocates", "harmonia"):
        row(name, *real(name), options)
    for seed in range(2):
        row(f"simulated, {seed}", *simulated(seed), options)


if __name__ == "__main__":
    main()
