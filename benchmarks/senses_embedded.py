"""Senses with word vectors beside those without: kosmos and harmonia.

    SKBAYESEMBED_DATA=... python benchmarks/senses_embedded.py fits --seeds 10 --out results/
    python benchmarks/senses_embedded.py --out results/ --table > doc/studies/senses_embedded.md

The data are those of Zafar & Nicholls (2023): snippets of two ancient Greek words, with vectors of
the words around them. Every fit is a line of ``senses_embedded.jsonl``, written when it is done;
what is there is skipped. Labels are used for scores alone.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from parts import parser_of, run, table
from senses import brier, convergence, fit, load, warm

# Models and the dimensions of their vectors, in the order of the work.
MODELS = (("edisc", 100), ("disc", 0), ("edisc", 50))
WALKS = (("gasc", 0), ("scan", 0))
SETS = {"kosmos": "kosmos_edisc", "harmonia": "harmonia"}
INTRODUCTION = """# Senses with word vectors

Written by `python benchmarks/senses_embedded.py --table` from runs of {dates}. The data are those
of Zafar & Nicholls (2023): 1,469 snippets of *kosmos* (2,904 words, 9 centuries, 2 genres) and 653
of *harmonia* (1,607 words, 12 centuries, 2 genres), of three senses each by the labels of experts,
and the authors' word vectors of 50 and 100 dimensions. All models are given the same snippets,
without labels. Brier scores are those of all labelled snippets; one that gives every snippet the
shares of the labels scores {shares}. CPU seconds are of all threads together, on a machine that
other work shared; numba's compilation is left out. R-hat is split R-hat, the largest over all
prevalences, ESS the least.

"""


def labels_of(name):
    """Counts, what is known of the snippets, and labels, -1 where there are none."""
    counts, given = load(SETS[name])
    return counts, given, given["senses"]


def measure(options, item):
    """One fit and its scores."""
    counts, given, labels = labels_of(item["set"])
    parameters = {"model": item["model"]}
    if item["dims"]:
        root = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / SETS[item["set"]]
        parameters["embedding"] = np.load(root / f"vectors_{item['dims']}.npy")
    model, cost = fit(counts, given, item["seed"], options, n_senses=3, **parameters)
    covariates = {"times": given["times"], "genres": given["genres"]}
    proba = model.predict_proba(counts, **covariates)
    modes = [[mode.share, mode.n_starts, brier(mode.weights.T, labels)] for mode in model.modes_]
    return cost | convergence(model) | {"brier": brier(proba, labels), "modes": modes}


def items(part, options):
    """Fits in the order of the work."""
    fits = [
        {"set": name, "model": model, "dims": dims, "seed": seed}
        for seed in range(options.seeds)
        for name in SETS
        for model, dims in MODELS
    ]
    once = [{"set": n, "model": m, "dims": dims, "seed": 0} for n in SETS for m, dims in WALKS]
    return fits + once


def share_score(name):
    """Brier score of the shares of the labels."""
    _, _, labels = labels_of(name)
    shares = np.bincount(labels[labels >= 0]) / (labels >= 0).sum()
    return 1 - float(shares @ shares)


def page(results):
    """The page of the study."""
    dates = " and ".join(sorted({r["date"] for r in results}))
    shares = " and ".join(f"{share_score(name):.3f} ({name})" for name in SETS)
    rows = []
    for r in sorted(results, key=lambda r: (r["item"]["set"] != "kosmos", str(r["item"]))):
        item = r["item"]
        dims = f", M = {item['dims']}" if item["dims"] else ""
        modes = "; ".join(f"{100 * s:.3g} % ({n}; {b:.3f})" for s, n, b in r["modes"][:3])
        rows.append(
            [
                item["set"], item["model"] + dims, item["seed"], f"{r['brier']:.3f}",
                f"{r['rhat']:.3f}", f"{r['ess_min']:.0f}", modes,
                f"{r['cpu']:.0f} ({r['cpu_modes']:.0f})",
            ]
        )  # fmt: skip
    head = (
        "set", "model", "seed", "Brier", "R-hat", "ESS", "modes: share (starts; Brier)",
        "CPU s (modes)",
    )  # fmt: skip
    one = results[0]
    chains = (
        f"\n{one['chains']} chains of {one['warmup']} + {one['draws']} draws {one['thin']} apart, "
        f"{one['n_starts']} starts. Of more than three modes the heaviest are shown.\n"
    )
    return INTRODUCTION.format(dates=dates, shares=shares) + table(head, rows) + chains


def warm_up():
    """Compile the kernels of the models that are fitted."""
    for model in ("disc", "gasc"):
        warm({"model": model})
    warm({"model": "edisc", "embedding": np.random.default_rng(0).normal(size=(12, 3))})


def main():
    parser = parser_of(__doc__, {"fits": measure})
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--n-jobs", type=int, default=2)
    for name in ("draws", "warmup", "n-starts"):
        parser.add_argument(f"--{name}", type=int)
    run(parser.parse_args(), "senses_embedded.jsonl", {"fits": measure}, items, page, warm_up)


if __name__ == "__main__":
    main()
