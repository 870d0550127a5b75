"""Speed and memory of corpus building and pair counting, on one core.

Run ``python benchmarks/counting.py``. With the environment variable SKBAYESEMBED_DATA naming a
folder that holds ``text/wikipedia_en_2015.txt.xz`` (one paragraph a line, an empty line between
articles) the text is that one; without it a corpus of Zipf-distributed words of the same size is
simulated. Times are CPU seconds of this process, medians over repetitions, numba's compilation
left out. The yardstick is a plain Python dictionary that counts pairs of a slice of the corpus.
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from skbayesembed.corpus.analysis import make_analyzer
from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.sgns.counting import sampled_negatives, window_pairs

TEXT = Path("text") / "wikipedia_en_2015.txt.xz"
N_DOCUMENTS, N_TYPES = 3_773, 60_000


def read_articles(path):
    """Articles of a text with one paragraph a line and an empty line between articles."""
    articles, paragraphs = [], []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                paragraphs.append(line)
            elif paragraphs:
                articles.append("".join(paragraphs))
                paragraphs = []
    return articles + ["".join(paragraphs)] if paragraphs else articles


def simulate_articles(n_tokens, rng):
    """Documents of words drawn independently with frequencies proportional to 1 / (rank + 2)."""
    cumulative = np.cumsum(1.0 / (np.arange(N_TYPES) + 2.0))
    words = np.array([f"w{rank}" for rank in range(N_TYPES)], dtype=object)
    n_documents = max(1, round(N_DOCUMENTS * n_tokens / 1e7))
    ends = np.sort(rng.integers(0, n_tokens, n_documents - 1))
    articles = []
    for size in np.diff(np.concatenate(([0], ends, [n_tokens]))):
        ranks = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        articles.append(" ".join(words[ranks]))
    return articles


def dictionary_pairs(ids, offsets, window):
    """Linearly weighted pair counts in a plain Python dictionary."""
    counts = defaultdict(float)
    weights = [1 - (distance - 1) / window for distance in range(1, window + 1)]
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        document = ids[start:stop].tolist()
        for position, target in enumerate(document):
            following = document[position + 1 : position + 1 + window]
            for context, weight in zip(following, weights, strict=False):
                counts[target, context] += weight
                counts[context, target] += weight
    return counts


def timed(function, repeats):
    """CPU seconds of each repetition and the last result."""
    seconds, result = [], None
    for _ in range(repeats):
        result = None
        start = process_time()
        result = function()
        seconds.append(process_time() - start)
    return seconds, result


def peak_memory():
    """Largest resident memory of this process so far, as text."""
    try:
        import resource
    except ImportError:
        return "not measured on this system"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak * (1 if sys.platform == 'darwin' else 1024) / 2**20:,.0f} MB"


def report(name, seconds, n_tokens, note=""):
    """Print one line: tokens per second (median) and the range of the repetitions."""
    print(
        f"{name:<26}{n_tokens / median(seconds) / 1e6:8.2f} million tokens/s   "
        f"{median(seconds):7.2f} s ({min(seconds):.2f} to {max(seconds):.2f}){note}",
        flush=True,
    )


def load(n_tokens):
    """Articles of the data folder, or simulated ones."""
    folder = os.environ.get("SKBAYESEMBED_DATA")
    if folder and (Path(folder) / TEXT).exists():
        print(f"text: {TEXT.name}")
        return read_articles(Path(folder) / TEXT)
    print(f"text: simulated, {n_tokens:,} tokens (SKBAYESEMBED_DATA names no folder with {TEXT})")
    return simulate_articles(n_tokens, np.random.default_rng(0))


def main():
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000_000, help="size of the simulated text")
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--min-count", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slice", type=int, default=200_000, help="tokens of the yardstick")
    parser.add_argument("--sampled", action="store_true", help="draw negative pairs too")
    args = parser.parse_args()
    articles = load(args.tokens)

    analyzer = make_analyzer(token_pattern=r"(?u)\b\w+\b")
    seconds, corpus = timed(lambda: build_corpus(articles, analyzer), args.repeats)
    print(f"{len(articles):,} documents, {corpus.ids.size:,} tokens, {corpus.words.size:,} types")
    report("build_corpus", seconds, corpus.ids.size)
    articles.clear()
    seconds, corpus = timed(lambda: restrict(corpus, min_count=args.min_count), 1)
    report(f"restrict, min_count={args.min_count}", seconds, corpus.ids.size)
    ids, offsets, n_words = corpus.ids, corpus.offsets, corpus.words.size
    print(f"{ids.size:,} tokens of {n_words:,} types; peak memory {peak_memory()}")

    rng = np.random.default_rng(0)

    def count(ids, offsets, weights):
        return window_pairs(
            ids, offsets, n_words, window=args.window, window_weights=weights, rng=rng
        )

    seconds, _ = timed(lambda: count(ids[:9], np.array([0, 9]), "linear"), 1)
    print(f"compiling (or loading from numba's cache): {seconds[0]:.1f} s")
    pairs = None
    for weights in ("linear", "dynamic", "uniform"):
        pairs = None  # no two results at a time: memory is measured too
        seconds, pairs = timed(lambda w=weights: count(ids, offsets, w), args.repeats)
        report(f"window_pairs, {weights}", seconds, ids.size, f"; {pairs.nnz:,} unique pairs")
    print(f"peak memory {peak_memory()}")

    part = offsets[: max(2, np.searchsorted(offsets, args.slice, side="right"))]
    some = ids[: part[-1]]
    slow, dictionary = timed(lambda: dictionary_pairs(some, part, args.window), args.repeats)
    fast, counted = timed(lambda: count(some, part, "linear"), args.repeats)
    if counted.nnz != len(dictionary):
        raise RuntimeError(f"{counted.nnz} pairs counted, {len(dictionary)} by the dictionary")
    report("dictionary, linear", slow, some.size, f" on {some.size:,} tokens")
    report("window_pairs, linear", fast, some.size, f" on {some.size:,} tokens")
    print(f"window_pairs / dictionary: {median(slow) / median(fast):.1f} times as fast (medians)")

    if args.sampled:
        seconds, negatives = timed(
            lambda: sampled_negatives(pairs, negative=1, ns_exponent=0.75, rng=rng), 1
        )
        report("sampled_negatives", seconds, ids.size, f"; {negatives.nnz:,} unique pairs")
        print(f"peak memory {peak_memory()}")


if __name__ == "__main__":
    main()
