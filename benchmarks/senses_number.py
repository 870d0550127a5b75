"""How many senses do presidents prefer whose snippets were held out?

Snippets of a word in the State of the Union addresses are dealt out by president to five folds; a
model with each number of senses is fitted to four of them, and every president of the fifth is
scored by the words of the snippets. Differences are taken president by president. The page
"Choosing settings" of the guide has the table.

    SKBAYESEMBED_DATA=... python benchmarks/senses_number.py power --solver map
"""

from __future__ import annotations

import argparse
import time
import warnings

from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets, fetch_state_of_the_union
from skbayesembed.metrics import compare_models, score_units


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("word")
    parser.add_argument("--solver", default="map")
    parser.add_argument("--numbers", nargs="+", type=int, default=range(1, 7))
    options = parser.parse_args()
    addresses = fetch_state_of_the_union()
    uses = extract_snippets(
        addresses.data, options.word, times=addresses.year, units=addresses.president,
        stop_words="english", min_count=3,
    )  # fmt: skip
    print(f"{len(uses.snippets)} snippets of {len(set(uses.units))} presidents")
    # second modes are marked in the table
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = {}
    for k in options.numbers:
        model = DiSCSenseModel(
            k, solver=options.solver, bins=range(1790, 2031, 40), n_starts=8, random_state=0
        )
        begun = time.process_time()
        found[k] = score_units(model, uses.counts, uses.units, times=uses.times)
        print(f"{k} senses: {time.process_time() - begun:.0f} CPU-seconds", flush=True)
    print(compare_models(found))


if __name__ == "__main__":
    main()
