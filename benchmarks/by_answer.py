"""One answer by itself with its interval by units, of a large vocabulary: seconds and memory.

    python benchmarks/by_answer.py --words 20000 --components 100

Reads the English text ``text/wikipedia_en_2015.txt.xz`` of the folder that the environment variable
SKBAYESEMBED_DATA names, fits ``BayesianSGNS(solver="map")`` with the options of
`benchmarks/similarity.py`, and asks for the similarity of a pair of words; ``--saved`` keeps the
fit, or reads it if it is there. For every stage: CPU seconds of all threads, seconds by the clock,
and the peak of memory so far; and how many products with the curvature the answer took.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from large_text import Stages
from similarity import SHARED, TEXT, data_folder, read_tokens

from skbayesembed import BayesianSGNS
from skbayesembed.io import load


def main():
    """Run the stages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--saved", type=Path)
    parser.add_argument("--pair", nargs=2, default=["music", "jazz"])
    asked = parser.parse_args()
    stages = Stages()
    if asked.saved is not None and asked.saved.exists():
        model = load(asked.saved)
        stages.end("read")
    else:
        options = {**SHARED, "max_features": asked.words, "min_count": 2, "tol": asked.tol}
        model = BayesianSGNS(asked.components, solver="map", random_state=0, **options)
        model.set_params(n_jobs=asked.jobs).fit(read_tokens(data_folder() / TEXT))
        stages.end("map")
        if asked.saved is not None:
            model.save(asked.saved)
    model.set_params(verbose=1, n_jobs=asked.jobs)
    _ = model.n_units_
    stages.end("units")
    print(model.similarity(*asked.pair))
    stages.end("answer")
    # what the answer was worked out with is kept until the model is saved
    systems = model._sampling._at_mode[1]
    print(f"{systems.products} products, {getattr(systems, 'rough_products', 0)} by clusters")


if __name__ == "__main__":
    main()
