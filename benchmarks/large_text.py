"""Vocabulary, counts and mode or factors of ten million tokens or more: seconds and memory.

    python benchmarks/large_text.py --words 50000 --components 100

Reads the English text ``text/wikipedia_en_2015.txt.xz`` of the folder that the environment variable
SKBAYESEMBED_DATA names, article by article as a stream. ``--copies 10`` makes 100 million tokens of
it: in all copies but the first a word is replaced by one whose rank is within a tenth of its own,
so that pairs differ. Text is counted in parts, by ``--jobs`` processes that take them in turn, and
``BayesianSGNS(solver="map")`` climbs ``--iterations`` steps in as many threads (none with 0). With
``--solver vi`` it approximates the posterior by factors with diagonal covariances, in so many
sweeps at most.

Unpacking the text and replacing words take as long as counting. With ``--text FILE`` they are done
first, before any stage, and stages read that file, an article a line (written if it is not there).

With ``--log FILE`` the search writes a line for each of its iterations: the iteration, evaluations
of the log density so far, CPU seconds since the fit began, the log density and what was gained. The
first line names the kernels of BLAS, on which much of the time depends: OpenBLAS has a choice of
them, which ``OPENBLAS_CORETYPE`` overrides.

With ``--exact`` all pairs enter as they are, also into the bound: no words see each other by
clusters.

With ``--gensim EPOCHS`` gensim's skip-gram with negative sampling is trained on the same text after
all that, with as many words and components, in one thread. Words a CPU second are tokens of the
text over all CPU seconds, of reading and counting it, too.

For every stage: CPU seconds of all threads and processes, seconds by the clock, and the peak of
memory so far, of this process and of the largest that counts (reading the text is part of all, and
so is replacing words without ``--text``; numba's compilation, of a small fit before, of the memory
alone).
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import time
import warnings
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from similarity import train_gensim
from threadpoolctl import threadpool_info

from skbayesembed import BayesianSGNS, build_vocabulary, count_pairs
from skbayesembed.inference.ascent import Ascent
from skbayesembed.sgns import clustered

TEXT = Path("text") / "wikipedia_en_2015.txt.xz"
# Share of its rank by which a word of a copy may differ.
BAND = 0.1
# Articles of a part.
PART = 2_500


def articles(path):
    """Yield the tokens of one article after the other."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        tokens = []
        for line in lines:
            if line.strip():
                tokens += line.split()
            elif tokens:
                yield tokens
                tokens = []
        if tokens:
            yield tokens


def resampled(documents, ranked, rng):
    """Yield documents whose words are replaced by others of about their rank."""
    rank = {word: i for i, word in enumerate(ranked)}
    for tokens in documents:
        mine = np.array([rank[token] for token in tokens])
        shift = 1.0 + BAND * rng.uniform(-1.0, 1.0, mine.size)
        other = np.minimum((mine * shift).astype(int), len(ranked) - 1)
        yield [ranked[i] for i in other.tolist()]


def text_of(path, n_copies):
    """Yield the documents of a text and of its copies, as lines."""
    ranked = list(build_vocabulary(articles(path), min_count=1).words)
    copies = [articles(path)]
    for copy in range(1, n_copies):
        copies.append(resampled(articles(path), ranked, np.random.default_rng(copy)))
    for tokens in chain.from_iterable(copies):
        yield f"{' '.join(tokens)}\n"


def read_again(path, documents):
    """Return a function that yields lines of a file, which is written if need be."""
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        with open(unfinished, "w", encoding="utf-8") as lines:
            lines.writelines(documents)
        unfinished.rename(path)

    def documents_again():
        with open(path, encoding="utf-8") as lines:
            yield from lines

    return documents_again


def in_parts(documents):
    """Yield lists of `PART` documents."""
    part = []
    for document in documents:
        part.append(document)
        if len(part) == PART:
            yield part
            part = []
    if part:
        yield part


def words_of(lines, n_words):
    """The vocabulary of a part."""
    return build_vocabulary(map(str.split, lines), min_count=1, max_features=n_words)


def pairs_of(lines, vocabulary):
    """The pairs of a part."""
    return count_pairs(map(str.split, lines), vocabulary)


def total(function, documents, shared, n_jobs):
    """The sum of what a function finds in parts of documents."""
    parts = (delayed(function)(part, shared) for part in in_parts(documents))
    try:
        return sum(Parallel(n_jobs, return_as="generator")(parts))
    finally:
        # of processes that have ended it is known what they took
        get_reusable_executor().shutdown(wait=True)


class Stages:
    """Prints what each stage took."""

    def __init__(self):
        print(f"{'stage':>12} {'CPU s':>8} {'seconds':>8} {'peak GB':>8} {'worker GB':>9}")
        self.before, self.spent = self.clocks(), 0.0

    def clocks(self):
        """CPU seconds, of processes that have ended, too, and seconds."""
        return sum(os.times()[:4]), time.perf_counter()

    def end(self, name, counts=False):
        """A stage is over; whether processes have counted in it."""
        cpu, seconds = (b - a for a, b in zip(self.before, self.clocks(), strict=True))
        worker = ""
        if counts:
            worker = f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:9.2f}"
        print(f"{name:>12} {cpu:8.1f} {seconds:8.1f} {peak():8.2f} {worker}", flush=True)
        self.spent += cpu
        self.before = self.clocks()

    def tell_rate(self, n_tokens):
        """Tokens a CPU second of all stages."""
        print(f"{n_tokens / self.spent:,.0f} words a CPU second", flush=True)


def peak():
    """Largest memory so far in GB; that of a program that called this one is not counted."""
    with open("/proc/self/status") as lines:
        return next(int(x.split()[1]) for x in lines if x.startswith("VmHWM")) / 1e6


def log_iterations(path):
    """Have every step of a search from here on write a line to a file."""
    begun, evaluations, steps = time.process_time(), 0, 0
    advance = Ascent.advance
    file = open(path, "w", buffering=1)  # noqa: SIM115
    kernels = {i.get("architecture") for i in threadpool_info() if i["user_api"] == "blas"}
    print(f"kernels of BLAS: {', '.join(sorted(map(str, kernels)))}", file=file)

    def logged(ascent, *arguments):
        nonlocal evaluations, steps
        before = ascent.n_evaluations
        accepted = advance(ascent, *arguments)
        evaluations, steps = evaluations + ascent.n_evaluations - before, steps + 1
        cpu = time.process_time() - begun
        print(
            f"{steps} {evaluations} {cpu:.1f} {ascent.value:.3f} {ascent.gain:.4g}"
            f"{'' if accepted else ' no step'}",
            file=file,
        )
        return accepted

    Ascent.advance = logged


class Sentences:
    """Lists of tokens, as often as they are asked for, as long as gensim takes them whole."""

    def __init__(self, documents):
        from gensim.models.word2vec import MAX_WORDS_IN_BATCH

        self._documents, self._longest = documents, MAX_WORDS_IN_BATCH

    def __iter__(self):
        for line in self._documents():
            tokens = line.split()
            for i in range(0, len(tokens), self._longest):
                yield tokens[i : i + self._longest]


def compile_kernels(options):
    """Fit something small with the kernels of large vocabularies."""
    rng = np.random.default_rng(0)
    tokens = [[f"w{i}" for i in rng.integers(2_100, size=20_000)]]
    BayesianSGNS(5, **options).set_params(min_count=1, max_iter=2, max_features=None).fit(tokens)


def train(shard, options, args, stages):
    """Fit a model to the counts, and show what it found."""
    if args.log is not None:
        log_iterations(args.log)
    model = BayesianSGNS(args.components, **options).fit(shard)
    stages.end(args.solver)
    print({k: v for k, v in model.posterior_.attrs.items() if k in ("n_iter", "lp", "converged")})
    for word in ("history", "water", "music"):
        print(word, model.most_similar(word, n=5).words)
    if args.solver == "vi":
        print(f"bounds {model.approximation_.elbo}")


def main():
    """Run the stages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--solver", choices=["map", "vi"], default="map")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--gensim", type=int, metavar="EPOCHS")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.exact:
        clustered._MOST_WORK = 0.0
    path = Path(os.environ["SKBAYESEMBED_DATA"]) / TEXT
    options = {
        "solver": args.solver,
        "covariance": "diag",
        "prior_precision": 4.0,
        "max_iter": args.iterations,
        "n_jobs": args.jobs,
        "random_state": 0,
    }
    if args.iterations:
        compile_kernels(options)
    documents = partial(text_of, path, args.copies)
    if args.text is not None:
        documents = read_again(args.text, documents())
    stages = Stages()
    vocabulary = total(words_of, documents(), args.words, args.jobs)
    stages.end("vocabulary", counts=True)
    shard = total(pairs_of, documents(), vocabulary, args.jobs)
    stages.end("counts", counts=True)
    print(f"{vocabulary}, {shard.positive.nnz:,} pairs of words", flush=True)
    if args.iterations:
        train(shard, options, args, stages)
        stages.tell_rate(vocabulary.n_tokens)
    if args.gensim:
        del shard
        stages = Stages()
        next(train_gensim(args.gensim)(Sentences(documents), args))
        stages.end("gensim")
        stages.tell_rate(vocabulary.n_tokens)


if __name__ == "__main__":
    main()
