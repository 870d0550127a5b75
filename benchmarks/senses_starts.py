"""Do starts find the heaviest mode of a sense posterior, or warn, whatever the seed?

    SKBAYESEMBED_DATA=... python benchmarks/senses_starts.py searches --seeds 20 --out results/
    python benchmarks/senses_starts.py --out results/ --table

Posteriors of several modes, the heaviest of which few starts may meet: 214 snippets of *kosmos*
with four senses, where the labels have three, and all 1,469 with three senses, without word
vectors and with those of 50 dimensions. ``n_starts="auto"`` searches with each seed; modes are the
same across seeds where their probabilities of senses agree, and are weighed by the masses that the
searches give them. The heaviest of all seeds is what each of them should have found.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from parts import parser_of, run, table
from senses import load

from skbayesembed import DiSCSenseModel
from skbayesembed.inference.matching import clusters, similarities
from skbayesembed.senses.starts import SAME

_SET = "kosmos_edisc"
# Parts of the warnings that there may be a heavier mode: those of `senses.solvers.warn_of_modes`
# and `senses.starts._warn_of_no_end`. Chains as short as these do not mix, and the warning that
# says so also names n_starts.
_OF_MODES = (
    "modes that matter",
    "modes of the posterior: there may be a heavier",
    "met a mode of their own",
    "still found heavier modes at its end",
)
# Snippets, senses and dimensions of vectors.
PROBLEMS = {"few snippets": (214, 4, 0), "all": (1469, 3, 0), "vectors": (1469, 3, 50)}


def problem(name):
    """Counts, times and genres of the snippets, and parameters of the model."""
    n, n_senses, dims = PROBLEMS[name]
    counts, given = load(_SET)
    kept = np.sort(np.random.default_rng(0).permutation(counts.shape[0])[:n])
    counts, parameters = counts[kept], {"n_senses": n_senses}
    if dims:
        root = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / _SET
        parameters |= {"model": "edisc", "embedding": np.load(root / f"vectors_{dims}.npy")}
    else:
        counts = counts[:, np.flatnonzero(counts.sum(axis=0) > 0)]
    return counts, given["times"][kept], given["genres"][kept], parameters


def search(options, item):
    """One search: its modes, and the texts of its warnings."""
    counts, times, genres, parameters = problem(item["problem"])
    model = DiSCSenseModel(
        solver="hmc", chains=1, warmup=5, draws=5, n_jobs=1, random_state=item["seed"], **parameters
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begun = time.process_time()
        model.fit(counts, times=times, genres=genres)
        cpu = time.process_time() - begun
    # one mode alone is not weighed
    modes = [
        [mode.n_starts, mode.mass and mode.mass.value, np.round(mode.weights, 4).tolist()]
        for mode in model.modes_
    ]
    told = [str(w.message) for w in caught]
    return {"cpu": cpu, "modes": modes, "warnings": told}


def warned_of_modes(told):
    """Whether one of the texts of warnings is about modes that may be heavier."""
    return any(part in text for text in told for part in _OF_MODES)


def items(part, options):
    """Searches in the order of the work."""
    return [{"problem": name, "seed": seed} for name in PROBLEMS for seed in range(options.seeds)]


def page(results):
    """A table of each problem."""
    parts = [(name, [r for r in results if r["item"]["problem"] == name]) for name in PROBLEMS]
    return "\n".join(f"{name}:\n\n{section(own)}" for name, own in parts if own)


def section(results):
    """What each seed found of the modes of all."""
    found = [(i, *mode) for i, r in enumerate(results) for mode in r["modes"]]
    labels = clusters(similarities([np.array(weights) for *_, weights in found]), SAME)
    masses = []
    for label in range(labels.max() + 1):
        own = [m[2] for m, other in zip(found, labels, strict=True) if other == label and m[2]]
        masses.append(np.median(own) if own else -np.inf)
    heaviest, rows = int(np.argmax(masses)), []
    for i, r in enumerate(results):
        mine = [(m[1], label) for m, label in zip(found, labels, strict=True) if m[0] == i]
        met = [n for n, label in mine if label == heaviest]
        has = "yes" if met else "no"
        warned = "yes" if warned_of_modes(r["warnings"]) else "no"
        starts = sum(n for n, _ in mine)
        rows.append(
            [r["item"]["seed"], starts, len(mine), has, sum(met), warned, f"{r['cpu']:.0f}"]
        )
    good = sum("yes" in (row[3], row[5]) for row in rows)
    below = sorted((m - max(masses) for m in masses), reverse=True)[1:6]
    head = "seed", "starts", "modes", "heaviest found", "starts in it", "warned", "CPU s"
    return table(head, rows) + (
        f"\nHeaviest mode found, or a warning: {good} of {len(rows)}. {len(masses)} modes in all; "
        f"log masses below the heaviest: {', '.join(f'{m:.1f}' for m in below)}.\n"
    )


def main():
    parser = parser_of(__doc__, ["searches"])
    parser.add_argument("--seeds", type=int, default=20)
    run(parser.parse_args(), "senses_starts.jsonl", {"searches": search}, items, page)


if __name__ == "__main__":
    main()
