"""Held-out log predictive probability over training size: the posterior against the MAP.

    python benchmarks/heldout.py movielens --out results/
    python benchmarks/heldout.py congress --out results/
    python benchmarks/heldout.py movielens --out results/ --table

Reads the data from the folder that SKBAYESEMBED_DATA names. Fits that are in the file of results
already are skipped, so a run can be stopped and taken up again; ``--table`` prints what is there
as Markdown.

The observations are positive pairs, and as many negative ones drawn from the context frequencies
to the power 0.75, once for all the data.

- ``movielens``: movies with at least 20 ratings of 4 or more (605 in ml-latest-small); a positive
  pair is two such ratings of one user, in both orders.
- ``congress``: speeches and press releases, the 5,000 most frequent words, windows of 2 words
  on each side, every context counted as 1.

One permutation of all observations per seed gives the test set (a fifth, at most a million) and,
from the rest, the training sets: the first N, so that smaller sets are parts of larger ones.

What is compared on the test set, in mean log probability of an observation:

- ``map``: the mode. ``map, lambda=1`` as in the paper; ``map, tuned`` with the precision from
  ``--grid`` that does best on a fifth of the training set held back, then fitted on all of it.
- ``means``: sigma(rho . alpha) of posterior-mean vectors, Gibbs with contexts anchored at pivots,
  as in the paper (Yrjänäinen et al. 2025, Tables 5 and 6).
- ``predictive``: the posterior predictive probability, the mean of sigma(rho . alpha) over draws.

Both are given for lambda = 1, for a precision tuned as that of the MAP is, by the posterior
predictive on the same fifth, with one chain of half the length, and for a precision learned with
the vectors (``prior_precision="learned"``, which takes no anchors and no tuning). ``--posteriors``
chooses among ``one``, ``tuned`` and ``learned``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from parts import append, read
from scipy import sparse

from skbayesembed import BayesianSGNS, PairCounts, Posterior
from skbayesembed.corpus.analysis import make_analyzer
from skbayesembed.corpus.text import build_corpus, restrict
from skbayesembed.sgns.counting import document_pairs, sampled_negatives, window_pairs
from skbayesembed.sgns.inputs import held_out_counts
from skbayesembed.sgns.predict import mean_log_score

EXPONENT = 0.75
SIZES = {
    "movielens": (20, (85_000, 170_000, 425_000, 850_000)),
    "congress": (50, (100_000, 500_000, 1_000_000, 5_000_000, 10_000_000)),
}
# The paper's Table 5 (K = 20) and Table 6a (K = 50): posterior mean (Gibbs) and MAP, lambda = 1.
PAPER = {
    "movielens": {
        85_000: (-0.7320, -0.7801),
        170_000: (-0.6814, -0.7247),
        425_000: (-0.6458, -0.6721),
        850_000: (-0.6382, -0.6571),
    },
    "congress": {
        100_000: (-0.7648, -0.8927),
        500_000: (-0.7556, -0.8648),
        1_000_000: (-0.72549, -0.7896),
        5_000_000: (-0.6551, -0.6625),
    },
}
GRID = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
LARGEST_TEST = 1_000_000


def data_folder():
    folder = os.environ.get("SKBAYESEMBED_DATA")
    if not folder:
        raise SystemExit("SKBAYESEMBED_DATA must name the folder of the data.")
    return Path(folder)


def movielens():
    """Positive pair counts of movies that a user liked."""
    path = data_folder() / "movielens" / "ratings.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if float(r["rating"]) >= 4.0]
    users = np.unique([r["user"] for r in rows], return_inverse=True)[1]
    movies = np.unique([r["item"] for r in rows], return_inverse=True)[1]
    liked = sparse.csr_array((np.ones(len(rows)), (users, movies)))
    liked = liked[:, np.flatnonzero(liked.sum(axis=0) >= 20)]
    return document_pairs(liked)


def congress():
    """Positive pair counts of words within two words of each other."""
    csv.field_size_limit(sys.maxsize)
    texts = []
    for name in ("us_congress", "senate_press_releases"):
        path = data_folder() / "congress" / f"{name}.csv.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            texts += [row["text"] for row in csv.DictReader(file)]
    corpus = restrict(build_corpus(texts, make_analyzer()), max_features=5_000)
    return window_pairs(
        corpus.ids, corpus.offsets, corpus.words.size, window=2, window_weights="uniform"
    )


class Observations:
    """All observations in random order, each a number that says target, context and sign."""

    def __init__(self, positive, seed):
        rng = np.random.default_rng(seed)
        negative = sampled_negatives(positive, negative=1, ns_exponent=EXPONENT, rng=rng)
        self.n_words = positive.shape[0]
        codes = []
        for sign, counts in enumerate((negative, positive)):
            counts = counts.tocoo()
            code = 2 * (counts.coords[0].astype(np.int64) * self.n_words + counts.coords[1]) + sign
            codes.append(np.repeat(code, counts.data.astype(np.int64)))
        self.codes = rng.permutation(np.concatenate(codes))
        self.n_test = min(LARGEST_TEST, self.codes.size // 5)

    @property
    def n_train(self):
        """Most observations there are to train on."""
        return self.codes.size - self.n_test

    def counts(self, start, stop):
        """PairCounts of some of the observations."""
        code, times = np.unique(self.codes[start:stop], return_counts=True)
        pair, sign = code >> 1, code & 1
        parts = []
        for s in (1, 0):
            here = sign == s
            entries = times[here].astype(float), np.divmod(pair[here], self.n_words)
            parts.append(sparse.csr_array(entries, shape=(self.n_words, self.n_words)))
        return PairCounts(*parts)

    def test(self):
        """The test set."""
        return self.counts(0, self.n_test)

    def train(self, n):
        """The first ``n`` observations for training, and the same in two parts for tuning."""
        first, part = self.n_test, n // 5
        return (
            self.counts(first, first + n),
            self.counts(first + part, first + n),
            self.counts(first, first + part),
        )


def fit(k, precision, solver, counts, seed, **options):
    with warnings.catch_warnings():
        # anchors that fall back, chains that are short: their R-hat is reported
        warnings.simplefilter("ignore")
        return BayesianSGNS(
            k, prior_precision=precision, solver=solver, random_state=seed, **options
        ).fit(counts)


def score_of_means(model, held_out):
    """Score of the posterior-mean vectors as a point estimate."""
    point = Posterior({"rho": model.rho_[None, None], "alpha": model.alpha_[None, None]})
    return mean_log_score(point, held_out_counts(model, held_out))


def tuned(k, solver, parts, grid, seed, options):
    """The precision of the grid that scores best on the part held back, and the scores seen.

    From the largest precision down, until the score has fallen well below its best: it has one
    hump, with a plateau at log 1/2 where the prior outweighs the data.
    """
    train, held_back = parts
    scores = {}
    for precision in sorted(grid, reverse=True):
        scores[precision] = fit(k, precision, solver, train, seed, **options).score(held_back)
        if scores[precision] < max(scores.values()) - 0.003:
            break
    return max(scores, key=scores.get), scores


def study(name, k, n, seed, observations, args):
    """Every figure of one training set, as a dict."""
    train, *parts = observations.train(n)
    test = observations.test()
    out = {"data": name, "K": k, "N": n, "seed": seed, "n_test": test.total}
    begin = time.perf_counter()
    search = {"max_iter": args.max_iter, "tol": 1e-5}
    chains = {**search, "chains": 2, "n_jobs": args.jobs}
    short = {**chains, "chains": 1, "draws": args.draws // 2, "warmup": args.warmup}
    full = {**chains, "draws": args.draws, "warmup": args.warmup}
    precision, scores = tuned(k, "map", parts, args.grid, seed, search)
    out.update(map_precision=precision, map_inner=scores)
    for label, value in (("one", 1.0), ("tuned", precision)):
        model = fit(k, value, "map", train, seed, **search)
        out[f"map_{label}"] = model.score(test)
    out["map_seconds"] = time.perf_counter() - begin
    for label in args.posteriors:
        begin = time.perf_counter()
        precision = {"one": 1.0, "learned": "learned"}.get(label)
        if precision is None:
            precision, out["gibbs_inner"] = tuned(k, "gibbs", parts, args.grid, seed, short)
            out["gibbs_precision"] = precision
        model = fit(k, precision, "gibbs", train, seed, **full)
        out[f"predictive_{label}"] = model.score(test)
        out[f"means_{label}"] = score_of_means(model, test)
        attrs = model.posterior_.attrs
        out[f"anchored_{label}"] = bool(attrs["anchored"])
        out[f"max_rhat_{label}"] = float(attrs["max_rhat"])
        out[f"seconds_{label}"] = time.perf_counter() - begin
    return out


COLUMNS = {
    "map_one": "MAP, lambda=1",
    "map_tuned": "MAP, tuned",
    "means_one": "means, lambda=1",
    "means_tuned": "means, tuned",
    "means_learned": "means, learned",
    "predictive_one": "predictive, lambda=1",
    "predictive_tuned": "predictive, tuned",
    "predictive_learned": "predictive, learned",
}


def gain(result):
    """The best of tuned and learned posterior predictive less the tuned MAP."""
    names = [n for n in ("predictive_tuned", "predictive_learned") if n in result]
    return max(result[n] for n in names or ["predictive_one"]) - result["map_tuned"]


def show(results, name):
    """Markdown table: means over the seeds, with their standard errors where there are several."""
    here = [r for r in results if r["data"] == name]
    columns = [c for c in COLUMNS if any(c in r for r in here)]
    head = ["K", "N", "seeds", *(COLUMNS[c] for c in columns)]
    head += ["best predictive less tuned MAP", "paper: means, MAP (lambda=1)"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for k, n in sorted({(r["K"], r["N"]) for r in here}):
        rows = [r for r in here if (r["K"], r["N"]) == (k, n)]
        figures = [spread([r[c] for r in rows if c in r], 4) for c in columns]
        figures.append(spread([gain(r) for r in rows], 4, "+"))
        paper = PAPER[name].get(n) if k == SIZES[name][0] else None
        figures.append("" if paper is None else f"{paper[0]:.4f}, {paper[1]:.4f}")
        print(f"| {k} | {n:,} | {len(rows)} | " + " | ".join(figures) + " |")
    print()
    for r in sorted(here, key=lambda r: (r["K"], r["N"], r["seed"])):
        line = f"K={r['K']} N={r['N']:,} seed {r['seed']}: lambda of the MAP {r['map_precision']:g}"
        if "gibbs_precision" in r:
            line += f", of the posterior {r['gibbs_precision']:g}"
        for label in ("one", "tuned", "learned"):
            if f"max_rhat_{label}" in r:
                line += f"; {label}: largest R-hat {r[f'max_rhat_{label}']:.2f}, "
                line += "anchored" if r[f"anchored_{label}"] else "not anchored"
        print(line + "  ")


def spread(values, digits, sign=""):
    """Mean and standard error as text."""
    if not values:
        return ""
    text = f"{np.mean(values):{sign}.{digits}f}"
    if len(values) > 1:
        text += f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f}"
    return text


def main():
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=sorted(SIZES))
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--table", action="store_true", help="print the table and stop")
    parser.add_argument("--components", type=int)
    parser.add_argument("--sizes", type=lambda text: [int(float(n)) for n in text.split(",")])
    parser.add_argument("--seeds", type=int, default=1, help="random states 0, 1, ...")
    parser.add_argument("--grid", type=lambda t: [float(v) for v in t.split(",")], default=GRID)
    parser.add_argument(
        "--posteriors", type=lambda t: t.split(","), default=["one", "tuned", "learned"]
    )
    parser.add_argument("--draws", type=int, default=200, help="of each of two chains")
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--max-iter", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    path = args.out / f"heldout_{args.data}.jsonl"
    done = read(path)
    if args.table:
        show(done, args.data)
        return
    k = args.components or SIZES[args.data][0]
    positive = {"movielens": movielens, "congress": congress}[args.data]()
    print(f"{args.data}: {positive.shape[0]} words, {positive.sum():,.0f} positive pairs")
    args.out.mkdir(parents=True, exist_ok=True)
    there = {(r["K"], r["N"], r["seed"]) for r in done}
    for seed in range(args.seeds):
        observations = Observations(positive, seed)
        for n in args.sizes or SIZES[args.data][1]:
            if n > observations.n_train or (k, n, seed) in there:
                continue
            result = study(args.data, k, n, seed, observations, args)
            append(path, [result])
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
