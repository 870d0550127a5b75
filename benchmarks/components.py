"""How do answers and their intervals depend on the number of components?

    SKBAYESEMBED_DATA=... python benchmarks/components.py addresses debates

``addresses``: inaugural addresses with the settings of the guide's pages (800 words, no stop
words), the mode for several numbers of components. Each is scored on presidents that it has not
seen; beside the score are the response (how much less the mode moves than first order says), the
standard deviations of similarities of random pairs of words, and two answers of the guide.

``debates``: the UN general debate in five periods, 1,500 words, countries as units: what is said of
*climate* and *government*, and the CPU seconds of the fit and of the first question.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

import numpy as np
from choosing import DATA, addresses
from dynamic_halves import debates

from skbayesembed import BayesianSGNS, DynamicSGNS
from skbayesembed.metrics import compare_models, score_units

PAIRS = [("freedom", "liberty"), ("freedom", "god"), ("freedom", "law")]


def inaugural(sizes):
    """A line for each number of components, and the comparison of their scores."""
    texts, presidents = addresses()
    scores = {}
    for size in sizes:
        model = BayesianSGNS(
            size, solver="map", max_features=800, stop_words="english", random_state=0
        )
        scores[str(size)] = score_units(model, texts, presidents)
        model.fit(texts)
        seen = np.flatnonzero(model.n_units_ >= 3)
        words = model.words_[np.random.default_rng(0).choice(seen, size=(300, 2))]
        pairs = [tuple(map(str, pair)) for pair in words if pair[0] != pair[1]]
        spread = np.median([model.similarity(*pair).sd for pair in pairs])
        nearer = model.similarity_difference(*PAIRS[1:])
        print(
            f"{size} components, precision {model.prior_precision_:g}, "
            f"response {model._sampling.response:.2f}, median sd {spread:.3f}, "
            f"{interval(model.similarity(*PAIRS[0]))}, P(god) {nearer.prob_positive:.2f}",
            flush=True,
        )
    print(compare_models(scores))


def interval(answer):
    """Mean and interval, as text."""
    return "{:.2f} [{:.2f}, {:.2f}]".format(float(answer.mean), *np.ravel(answer.interval))


def drifting(sizes):
    """The answers for each number of components."""
    texts, years, countries = debates(DATA)
    for size in sizes:
        model = DynamicSGNS(
            size, solver="map", n_periods=5, max_features=1500, stop_words="english",
            random_state=0,
        )  # fmt: skip
        start = time.process_time()
        model.fit(list(texts), times=list(years), units=list(countries))
        fitted = time.process_time()
        print(f"{size} components\n{model.drift('climate')}")
        asked = time.process_time()
        print(f"{model.drift('government')}\n{model.similarity_change('climate', 'change')}")
        print(
            f"response {model._sampling.response:.2f}, "
            f"CPU seconds {fitted - start:.0f} + {asked - fitted:.0f}\n",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=("addresses", "debates"))
    parser.add_argument("--sizes", nargs="+", type=int, help="numbers of components")
    options = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    if "addresses" in options.parts:
        inaugural(options.sizes or (5, 10, 20, 50))
    if "debates" in options.parts:
        drifting(options.sizes or (10, 20, 50))


if __name__ == "__main__":
    main()
