"""All snippets of *kosmos* in four senses: do powers of the likelihood, or works, find the labels?

    SKBAYESEMBED_DATA=... python benchmarks/senses_four.py settings powers --out results/
    python benchmarks/senses_four.py --out results/ --table

The paper reports a Brier score of 0.38 (its appendix F), the heaviest mode here has 0.48.
*settings*: modes of 12 starts, by the power of the likelihood, with works as units and without.
*powers*: the power that predicts best. Scores are over the snippets whose sense can be told from
their context, over the three senses that match a label.
"""

from __future__ import annotations

import time
from itertools import product

import numpy as np
from parts import parser_of, run, table
from senses import brier
from senses_harmonia import powers, problem

from skbayesembed.senses.starts import find_modes

POWERS, SEEDS, _STARTS = (1.0, 0.7, 0.5, 0.3, 0.2), (0, 1), 12
_ALL = {"set": "kosmos_all", "model": "disc", "dims": 0, "senses": 4}


def settings(options, item):
    """Modes of some starts, the heaviest first: scores, shares of the posterior."""
    of, labels = problem(item)
    begun = time.process_time()
    modes = find_modes(*of, np.random.SeedSequence(item["seed"]), n_starts=_STARTS, n_jobs=1)
    return {
        "cpu": time.process_time() - begun,
        "modes": [
            {
                "brier": brier(mode.weights.T, labels),
                "share": float(mode.share),
                "n_starts": mode.n_starts,
                "log_mass": None if mode.mass is None else float(mode.mass.value),
                "largest": float(mode.weights.mean(axis=1).max()),
            }
            for mode in modes
        ],
    }


def items(part, options):
    """Items of a part."""
    works = (False, True)
    if part == "powers":
        return [_ALL | {"works": one} for one in works]
    return [
        _ALL | {"works": one, "power": power, "seed": seed}
        for seed, power, one in product(SEEDS, POWERS, works)
    ]


def page(results):
    """Tables of all parts."""
    found = sorted(
        (r for r in results if r["part"] == "settings"),
        key=lambda r: (r["item"]["works"], -r["item"]["power"], r["item"]["seed"]),
    )
    rows = []
    for r in found:
        item, heaviest = r["item"], r["modes"][0]
        best = min(r["modes"], key=lambda mode: mode["brier"])
        beside = "" if best is heaviest else f"{best['brier']:.3f}, {_below(best, heaviest)}"
        rows.append([
            "yes" if item["works"] else "no", f"{item['power']:g}", item["seed"],
            f"{heaviest['brier']:.3f}", f"{heaviest['largest']:.2f}", beside, f"{r['cpu']:.0f}",
        ])  # fmt: skip
    head = (
        "works as units", "power", "seed", "Brier", "largest sense",
        "mode nearest the labels, log mass below the heaviest", "CPU s",
    )  # fmt: skip
    text = table(head, rows)
    rows = [
        ["yes" if r["item"]["works"] else "no", f"{r['power']:g}",
         ", ".join(f"{power}: {score:.2f}" for power, score in r["scores"].items())]
        for r in results if r["part"] == "powers"
    ]  # fmt: skip
    return text + "\n" + table(("works as units", "power", "log predictive of a snippet"), rows)


def _below(mode, heaviest):
    """How far the log mass of a mode is below another's, as text."""
    return f"{heaviest['log_mass'] - mode['log_mass']:.0f}"


PARTS = {"settings": settings, "powers": powers}


def main():
    parser = parser_of(__doc__, PARTS)
    run(parser.parse_args(), "senses_four.jsonl", PARTS, items, page)


if __name__ == "__main__":
    main()
