"""Word similarity and analogies after training on the same ten million tokens.

    python benchmarks/similarity.py gensim ppmi map vi --out results/

Each method trains on the English text ``text/wikipedia_en_2015.txt.xz`` of the folder that the
environment variable SKBAYESEMBED_DATA names, over the same vocabulary (the ``--words`` most
frequent words), and its vectors are read by the same code: the Spearman correlation of cosines with
people's scores on the sets of ``evaluation/``, and the share of the Google analogies that 3CosAdd
completes. Times are wall-clock and CPU seconds from tokens to vectors on one thread; reading the
text and numba's compilation are left out.

- ``gensim``, ``gensim5``: skip-gram with negative sampling: 2 or 5 epochs, negative 5, window 5,
  subsample 1e-3.
- ``ppmi``: positive pointwise mutual information (window 5, weights 1 / distance, exponent 0.75 of
  the context frequencies) and a truncated SVD; vectors are the left singular vectors times
  the singular values to the powers 0, 1/2 and 1.
- ``map``, ``vi`` and ``vi-diag``: `BayesianSGNS` with the options of ``OURS``; the vectors rho, and
  rho + alpha.

``--dev`` prints WordSim-353 only, so that options can be chosen without a look at the other sets.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import lzma
import os
import time
import warnings
from pathlib import Path

import numpy as np
from parts import append, read
from scipy import sparse
from scipy.sparse.linalg import svds
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS
from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.metrics import analogies, word_similarity
from skbayesembed.sgns.counting import window_pairs

TEXT = Path("text") / "wikipedia_en_2015.txt.xz"
SETS = (
    "ws353",
    "ws353_similarity",
    "ws353_relatedness",
    "simlex999",
    "rg65",
    "mc30",
    "yp130",
    "mturk287",
)
SHARED = {
    "window": 5,
    "window_weights": "linear",
    "subsample": 1e-4,
    "negative": 1,
    "negative_sampling": "expected",
    "prior_precision": 1.0,
}
OURS = {
    "map": {**SHARED, "solver": "map", "max_iter": 20},
    "vi": {**SHARED, "solver": "vi", "covariance": "full", "max_iter": 12, "draws": 10},
    "vi-diag": {**SHARED, "solver": "vi", "covariance": "diag", "draws": 10},
}


def data_folder():
    folder = os.environ.get("SKBAYESEMBED_DATA")
    if not folder or not (Path(folder) / TEXT).exists():
        raise SystemExit(f"SKBAYESEMBED_DATA must name a folder that holds {TEXT}.")
    return Path(folder)


def read_tokens(path):
    """Documents, each a list of tokens: one paragraph a line, an empty line between articles."""
    documents, current = [], []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                current += line.split()
            elif current:
                documents.append(current)
                current = []
    return documents + [current] if current else documents


def read_sets(folder):
    """Similarity sets: name to (pairs, scores)."""
    sets = {}
    for name in SETS:
        with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        pairs = [(row["word1"], row["word2"]) for row in rows]
        sets[name] = pairs, np.array([float(row["score"]) for row in rows])
    return sets


def read_analogies(folder):
    """Questions in lower case, and their categories."""
    with gzip.open(folder / "google_analogies.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = [tuple(row[k].lower() for k in "abcd") for row in rows]
    return questions, [row["category"] for row in rows]


def evaluate(vectors, words, sets, questions, categories):
    """All figures of one set of vectors, as a flat dict."""
    out = {}
    for name, (pairs, scores) in sets.items():
        found = word_similarity(vectors, pairs, scores, words=words)
        out[name], out[f"{name}_covered"] = found.correlation, found.n_covered
    found = analogies(vectors, questions, words=words, categories=categories)
    out["analogies"], out["analogies_covered"] = found.accuracy, found.n_covered
    syntactic = np.array([c.startswith("gram") for c in categories])
    for name, chosen in (("semantic", ~syntactic), ("syntactic", syntactic)):
        out[name] = float(found.correct[chosen & found.covered].mean())
    return out


def train_gensim(epochs):
    def train(documents, args):
        """Vectors of gensim's word2vec: yields (label, words, vectors)."""
        from gensim.models import Word2Vec

        model = Word2Vec(
            documents, vector_size=args.components, window=5, sg=1, negative=5, epochs=epochs,
            sample=1e-3, min_count=1, max_final_vocab=args.words, seed=1, workers=1,
        )  # fmt: skip
        label = f"gensim, {epochs} epochs"
        yield label, model.wv.index_to_key, model.wv.vectors.astype(float)

    return train


def train_ppmi(documents, args):
    """Left singular vectors of the positive pointwise mutual information."""
    corpus = restrict(build_corpus(documents, None), max_features=args.words)
    n_words = corpus.words.size
    counts = 0.0
    # weights 1 / distance: windows of all radii, each with the difference to the next weight
    for radius in range(1, 6):
        weight = 1 / radius - (1 / (radius + 1) if radius < 5 else 0.0)
        counts = counts + weight * window_pairs(
            corpus.ids, corpus.offsets, n_words, window=radius, window_weights="uniform"
        )
    counts = counts.tocoo()
    rows, columns = counts.coords
    of_rows = np.bincount(rows, counts.data, n_words)
    of_columns = np.bincount(columns, counts.data, n_words) ** 0.75
    information = np.log(counts.data / of_rows[rows] / of_columns[columns] * of_columns.sum())
    seen = information > 0
    entries = information[seen], (rows[seen], columns[seen])
    matrix = sparse.csr_array(entries, shape=(n_words, n_words))
    left, values, _ = svds(matrix, k=args.components, random_state=0)
    for power in (0.0, 0.5, 1.0):
        yield f"ppmi, power {power:g}", corpus.words, left * values**power


def train_ours(name):
    def train(documents, args):
        model = BayesianSGNS(
            args.components,
            min_count=1,
            max_features=args.words,
            random_state=0,
            **OURS[name],
        )
        with warnings.catch_warnings():
            # the search is stopped before the mode: what it has then is what is measured
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(documents)
        yield f"{name}, rho", model.words_, model.rho_
        yield f"{name}, rho + alpha", model.words_, model.rho_ + model.alpha_

    return train


METHODS = {
    "gensim": train_gensim(2),
    "gensim5": train_gensim(5),
    "ppmi": train_ppmi,
    "map": train_ours("map"),
    "vi": train_ours("vi"),
    "vi-diag": train_ours("vi-diag"),
}


def measure(name, documents, args):
    """Train, then evaluate: list of dicts."""
    wall, cpu = time.perf_counter(), time.process_time()
    trained = list(METHODS[name](documents, args))
    times = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    evaluation = data_folder() / "evaluation"
    sets, (questions, categories) = read_sets(evaluation), read_analogies(evaluation)
    if args.dev:
        sets, questions, categories = {"ws353": sets["ws353"]}, questions[:1], categories[:1]
    return [
        {"method": label, "K": args.components, "V": len(words), **times}
        | evaluate(vectors, words, sets, questions, categories)
        for label, words, vectors in trained
    ]


def show(results):
    """Markdown table of the results, a row for each set of vectors; figures times 100."""
    columns = [*SETS, "analogies", "semantic", "syntactic"]
    head = ["method", "K", "words", "seconds (CPU)", *columns]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for r in results:
        row = [r["method"], r["K"], f"{r['V']:,}", f"{r['seconds']:,.0f} ({r['cpu_seconds']:,.0f})"]
        row += [f"{100 * r[c]:.1f}" for c in columns]
        print("| " + " | ".join(map(str, row)) + " |")
    covered = {c: results[-1].get(f"{c}_covered") for c in columns}
    print("\nPairs covered: " + ", ".join(f"{c} {n}" for c, n in covered.items() if n) + ".")


def main():
    """Train the methods named and print the table of all results so far."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", help=f"of {', '.join(METHODS)}; none: the table")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--dev", action="store_true", help="WordSim-353 only, nothing is kept")
    args = parser.parse_args()
    path = args.out / "similarity.jsonl"
    args.out.mkdir(parents=True, exist_ok=True)
    documents = read_tokens(data_folder() / TEXT) if args.methods else None
    for name in args.methods:
        results = measure(name, documents, args)
        if args.dev:
            for r in results:
                print(f"{r['method']}: ws353 {r['ws353']:.3f}, {r['seconds']:.0f} s")
            continue
        append(path, results)
    if path.exists() and not args.dev:
        show(read(path))


if __name__ == "__main__":
    main()
