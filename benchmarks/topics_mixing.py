"""What helps when the chains of a topic model do not mix?

One chain of the default length each, from vectors of the same texts; printed is for how many topics
the split R-hat of the share of the tokens is above 1.2, and the largest.

    SKBAYESEMBED_DATA=... python benchmarks/topics_mixing.py
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.topics.recording import share_rhat, unmixed_topics

LONG = {"warmup": 1000, "draws": 200, "thin": 10}


def newsgroups(n):
    """The first documents of 20 Newsgroups, and vectors of the words of all."""
    folder = Path(os.environ["SKBAYESEMBED_DATA"]) / "topics" / "20ng"
    counts = sparse.load_npz(folder / "dtm.npz").tocsr()
    words = np.array((folder / "vocab.txt").read_text(encoding="utf-8").split())
    model = BayesianSGNS(30, feature_names=words, solver="map", max_features=5000, random_state=0)
    rows = zip(counts.indptr[:n], counts.indptr[1 : n + 1], strict=True)
    parts = [np.repeat(counts.indices[a:b], counts.data[a:b].astype(int)) for a, b in rows]
    return [words[part].tolist() for part in parts], model.fit(counts)


def addresses():
    """State of the Union addresses, and vectors of their words."""
    texts = fetch_state_of_the_union().data
    return texts, BayesianSGNS(30, solver="map", max_features=5000, random_state=0).fit(texts)


def compared(texts, vectors, n_components, **options):
    """Print a row for each setting."""
    for name, more in (
        ("likelihood_power=0.2", {}),
        ("and init='words'", {"init": "words"}),
        ("and a longer run", LONG),
        ("and n_components=5", {"n_components": 5}),
        ("likelihood_power=0.5", {"likelihood_power": 0.5}),
    ):
        settings = {"n_components": n_components, "likelihood_power": 0.2, "chains": 1}
        begun = time.process_time()
        model = GaussianLDA(embedding=vectors, random_state=0, **settings | options | more)
        posterior = model.fit(texts).posterior_
        print(
            f"{name:24}{unmixed_topics(posterior).size} of {model.n_components} topics, up to "
            f"{np.nanmax(share_rhat(posterior)):.2f}; {time.process_time() - begun:.0f} s of CPU",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("State of the Union, whole addresses")
    compared(*addresses(), 8, stop_words="english", min_count=20)
    print("20 Newsgroups, 5,000 documents")
    compared(*newsgroups(5000), 10)
