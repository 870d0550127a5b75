"""Topics of paragraphs of State of the Union addresses: which word model do chains mix in?

    SKBAYESEMBED_DATA=... python benchmarks/topics_addresses.py [gaussian] [dirichlet]

Vectors, paragraphs and number of topics are those of the front page (doc/first/topics.py).
"""

from __future__ import annotations

import argparse
import time
import warnings

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union

MODELS = {"gaussian": {"likelihood_power": 0.2}, "dirichlet": {"word_model": "dirichlet"}}
LENGTH = {"chains": 2, "warmup": 1000, "draws": 200, "thin": 10}


def paragraphs():
    """Paragraphs since 1945, and vectors from all addresses."""
    found = fetch_state_of_the_union()
    vectors = BayesianSGNS(30, solver="map", max_features=5000, random_state=0).fit(found.data)
    late = zip(found.data, found.year, strict=True)
    return [part for text, year in late if year >= 1945 for part in text.split("\n")], vectors


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; all by default")
    chosen = parser.parse_args().models or list(MODELS)
    texts, vectors = paragraphs()
    for name in chosen:
        options = {"stop_words": "english", "min_count": 20, "random_state": 0}
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GaussianLDA(8, embedding=vectors, **options, **LENGTH, **MODELS[name])
            model.fit(texts)
        print(f"{name}: {time.process_time() - begun:.0f} CPU seconds\n{model.topic_info(6)}")
        for item in ("largest R-hat", "smallest effective sample size"):
            print(item, "-", model.report().find(item))
