"""Bytes and seconds of saved models, and of a few words read from a large file of vectors.

Run ``python benchmarks/persistence.py`` with ``SKBAYESEMBED_DATA`` set. The model is
``BayesianSGNS(20, solver="gibbs", draws=200, chains=2)`` on the inaugural addresses, before it is
asked for an interval by documents and after, and 15 topics of both word models of 4,000
paragraphs of State of the Union addresses; the file has 120,000 words of 300 dimensions.
"""

from __future__ import annotations

import csv
import gzip
import os
import pickle
import resource
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from topics_mixing import paragraphs_of_addresses

import skbayesembed
from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.io import load_vectors


def sizes(model, folder, what):
    """Print the size of a model pickled and saved, and CPU seconds to save and load it."""
    print(f"{what}: pickle {len(pickle.dumps(model)) / 1e6:.1f} MB")
    for draws in (None, 100, 0):
        start = process_time()
        model.save(folder / "model.npz", draws=draws)
        saved = process_time()
        skbayesembed.load(folder / "model.npz")
        size = (folder / "model.npz").stat().st_size / 1e6
        times = f"saved in {saved - start:.2f} s, loaded in {process_time() - saved:.2f} s"
        print(f"  draws={draws}: {size:.1f} MB, {times}")


def models(folder):
    """The model before and after a question."""
    path = Path(os.environ["SKBAYESEMBED_DATA"]) / "inaugural" / "inaugural.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    options = {"draws": 200, "warmup": 100, "chains": 2, "min_count": 10, "prior_precision": 4.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianSGNS(20, solver="gibbs", random_state=0, **options).fit(texts)
    print(f"{model.words_.size} words")
    sizes(model, folder, "not asked yet")
    model.similarity("freedom", "god")
    sizes(model, folder, "asked")


def topics(folder):
    """Default numbers of draws; short chains, whose files are as large as those of long ones."""
    texts = paragraphs_of_addresses()
    options = {"stop_words": "english", "random_state": 0}
    words = BayesianSGNS(30, solver="map", max_features=3000, **options).fit(texts)
    for word_model in ("gaussian", "dirichlet"):
        model = GaussianLDA(
            15, embedding=words, word_model=word_model, warmup=50, thin=1, **options
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(texts)
        sizes(model, folder, f"topics, {word_model}")


def vectors(folder):
    """A few words of a large file."""
    path = folder / "vectors.txt"
    numbers = " ".join(f"{x:.5f}" for x in np.random.default_rng(0).normal(size=300))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"word{i} {numbers}\n" for i in range(120_000))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    found = load_vectors(path, words=[f"word{59 * i}" for i in range(2000)])
    seconds = process_time() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    size = path.stat().st_size / 1e6
    print(f"{found} of {size:.0f} MB: {seconds:.2f} CPU-s, {more:.0f} MB more memory")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        vectors(Path(name))
        models(Path(name))
        topics(Path(name))
