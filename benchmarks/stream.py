"""Variational inference on a stream: memory over its length, and word similarity on the way.

    python benchmarks/stream.py --passes 2

Reads the English text ``text/wikipedia_en_2015.txt.xz`` of the folder that SKBAYESEMBED_DATA names
article by article, never whole, again and again, and passes batches of articles to
`BayesianSGNS.partial_fit`. After every tenth of a pass it prints the tokens read, the memory of the
process at its largest, CPU seconds, and the Spearman correlation with WordSim-353.
"""

from __future__ import annotations

import argparse
import lzma
import resource
import time
from collections import Counter
from itertools import islice

from similarity import TEXT, data_folder, read_sets

from skbayesembed import BayesianSGNS
from skbayesembed.metrics import word_similarity


def articles(path):
    """Lists of tokens, one an article, without end."""
    while True:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            current = []
            for line in lines:
                if line.strip():
                    current += line.split()
                elif current:
                    yield current
                    current = []
        if current:
            yield current


def one_pass(path):
    """The number of articles and tokens, and the frequencies of words."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        counts, n, tokens, open_article = Counter(), 0, 0, False
        for line in lines:
            words = line.split()
            n += bool(words) and not open_article
            open_article = bool(words)
            counts.update(words)
            tokens += len(words)
    return n, tokens, counts


def main():
    """Print a line for every tenth of a pass."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=float, default=1.0)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--batch", type=int, default=128, help="articles in a batch")
    args = parser.parse_args()
    path = data_folder() / TEXT
    n_articles, n_tokens, counts = one_pass(path)
    vocabulary = [word for word, _ in counts.most_common(args.words)]
    pairs, scores = read_sets(data_folder() / "evaluation")["ws353"]
    model = BayesianSGNS(
        args.components, solver="vi", window=5, window_weights="linear", subsample=1e-4,
        negative_sampling="sampled", min_count=1, batch_size=args.batch, random_state=0, draws=2,
    )  # fmt: skip
    stream, started, read, seen, tenths = articles(path), time.process_time(), 0, 0, 0
    print("| passes | million tokens | largest memory, MB | CPU seconds | WordSim-353 |")
    print("|---|---|---|---|---|")
    while read < args.passes * n_articles:
        batch = list(islice(stream, args.batch))
        read += len(batch)
        seen += sum(map(len, batch))
        model.partial_fit(batch, vocabulary=vocabulary if read == len(batch) else None)
        if int(10 * read / n_articles) > tenths:
            tenths = int(10 * read / n_articles)
            found = word_similarity(model.rho_, pairs, scores, words=model.words_)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"| {read / n_articles:.2f} | {seen / 1e6:.1f} | {memory:,.0f} | "
                f"{time.process_time() - started:.0f} | {found.correlation:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
