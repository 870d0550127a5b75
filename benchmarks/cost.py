"""Is `estimate_cost` right? Estimates beside the fits themselves, over all four estimators.

    SKBAYESEMBED_DATA=... python benchmarks/cost.py cases --out results/
    SKBAYESEMBED_DATA=... python benchmarks/cost.py sizes --out results/
    python benchmarks/cost.py --out results/ --table

Each case is a process of its own on one thread, which asks for the estimate and then fits. Its CPU
seconds, without those of compilations, are those of chains (``sampling``) and all others
(``search``: counting, searches for modes, ascents, draws from approximations); memory is what the
process's peak grew by in both. A case is a line of ``cost.jsonl`` when it is done, and is not done
again.

``sizes`` asks for estimates alone: words x K x solver, 1.3 million words of Wikipedia, all other
parameters their defaults but ``prior_precision=1``; the table of the guide's page on solvers.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from parts import append, parser_of, read, table
from scipy import sparse
from split_halves import wikipedia

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA
from skbayesembed.common.compiling import Compiling
from skbayesembed.inference import gibbs, hmc

DATA = Path(os.environ.get("SKBAYESEMBED_DATA", "."))
CHAINS = ("start of chains", "warm-up", "draws")
_WORD = re.compile(r"[^\W\d_]+")


def addresses():
    """Inaugural addresses as lists of words, and their years."""
    with gzip.open(DATA / "inaugural" / "inaugural.csv.gz", "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    texts = [_WORD.findall(row["text"].lower()) for row in rows]
    return {"X": texts}, {"X": texts, "times": [int(row["year"]) for row in rows]}


def inaugural():
    """Without years."""
    return addresses()[0]


def by_year():
    """With years."""
    return addresses()[1]


def kosmos():
    """Snippets of kosmos with times and genres."""
    with (DATA / "senses" / "kosmos_all" / "snippets.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    texts = [row["words"].split() for row in rows]
    times, genres = ([int(row[name]) for row in rows] for name in ("time", "genre"))
    return {"X": texts, "times": times, "genres": genres}


def newsgroups():
    """Counts of 20 Newsgroups."""
    return {"X": sparse.csr_array(sparse.load_npz(DATA / "topics" / "20ng" / "dtm.npz"))}


def vectors():
    """Vectors of the words of 20 Newsgroups."""
    return np.load(DATA / "topics" / "20ng" / "vectors.npy").astype(float)


_SHORT = {"draws": 300, "warmup": 200, "chains": 2, "random_state": 0, "n_jobs": 1}
_FIXED = _SHORT | {"prior_precision": 1.0}
# name: data, a function of no arguments that makes the estimator
CASES = {
    "SGNS gibbs, V=1000, K=20": (
        inaugural,
        lambda: BayesianSGNS(20, solver="gibbs", max_features=1000, **_FIXED),
    ),
    "SGNS gibbs, V=2738, K=50, 20 draws": (
        inaugural,
        lambda: BayesianSGNS(50, solver="gibbs", **_FIXED).set_params(draws=20, warmup=60),
    ),
    "SGNS gibbs, Polya-Gamma, V=500, K=10": (
        inaugural,
        lambda: BayesianSGNS(10, solver="gibbs", kernel="polya-gamma", max_features=500, **_FIXED),
    ),
    "SGNS gibbs, sampled negatives, K=20": (
        inaugural,
        lambda: BayesianSGNS(20, solver="gibbs", negative_sampling="sampled", **_FIXED),
    ),
    "SGNS hmc, V=300, K=5": (
        inaugural,
        lambda: BayesianSGNS(5, solver="hmc", max_features=300, **_FIXED),
    ),
    "SGNS vi, V=1000, K=20": (
        inaugural,
        lambda: BayesianSGNS(20, solver="vi", max_features=1000, **_FIXED),
    ),
    "SGNS laplace, V=500, K=10": (
        inaugural,
        lambda: BayesianSGNS(10, solver="laplace", max_features=500, **_FIXED),
    ),
    "SGNS map, V=2738, K=50": (
        inaugural,
        lambda: BayesianSGNS(50, solver="map", **_FIXED),
    ),
    "SGNS all defaults, V=2738": (
        inaugural,
        lambda: BayesianSGNS(random_state=0, n_jobs=1),
    ),
    "Dynamic vi, 6 periods, K=20": (
        by_year,
        lambda: DynamicSGNS(20, n_periods=6, **_SHORT),
    ),
    "Dynamic gibbs, 4 periods, V=300, K=5": (
        by_year,
        lambda: DynamicSGNS(5, solver="gibbs", n_periods=4, max_features=300, **_SHORT),
    ),
    "Dynamic map, 4 periods, V=1000, K=10": (
        by_year,
        lambda: DynamicSGNS(10, solver="map", n_periods=4, max_features=1000, **_SHORT),
    ),
    "DiSC hmc, kosmos, K=3": (kosmos, lambda: DiSCSenseModel(3, **_SHORT)),
    "DiSC gibbs, kosmos, K=3": (kosmos, lambda: DiSCSenseModel(3, solver="gibbs", **_SHORT)),
    "DiSC vi, kosmos, K=3": (kosmos, lambda: DiSCSenseModel(3, solver="vi", **_SHORT)),
    "DiSC map, kosmos, K=3": (kosmos, lambda: DiSCSenseModel(3, solver="map", **_SHORT)),
    "LDA gibbs, 20 Newsgroups, K=20": (
        newsgroups,
        lambda: GaussianLDA(20, embedding=vectors(), draws=50, warmup=50, random_state=0),
    ),
    "LDA vi, 20 Newsgroups, K=20": (
        newsgroups,
        lambda: GaussianLDA(20, embedding=vectors(), solver="vi", random_state=0),
    ),
    "LDA vi online, 20 Newsgroups, K=20": (
        newsgroups,
        lambda: GaussianLDA(
            20, embedding=vectors(), solver="vi", learning_method="online", random_state=0
        ),
    ),
}


SIZES = [(v, k, s) for v in (1000, 2000, 4000) for k in (20, 50) for s in ("gibbs", "vi", "map")]


class Watched:
    """``run_chains`` whose CPU seconds are noted."""

    def __init__(self, compiling):
        self.compiling, self.seconds, self.inner = compiling, 0.0, gibbs.run_chains

    def __call__(self, *args, **kwargs):
        begun = time.process_time() - self.compiling.cpu_seconds
        try:
            return self.inner(*args, **kwargs)
        finally:
            self.seconds += time.process_time() - self.compiling.cpu_seconds - begun


def one(name):
    """Estimate and fit a case in this process; prints its figures as JSON."""
    warnings.simplefilter("ignore")
    data, make = CASES[name]
    given, estimator = data(), make()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Compiling() as compiling:

        def clock():
            return time.process_time() - compiling.cpu_seconds

        begun = clock()
        cost = estimator.estimate_cost(**given)
        spent = clock() - begun
        gibbs.run_chains = hmc.run_chains = watched = Watched(compiling)
        begun = clock()
        estimator.fit(**given)
        whole = clock() - begun
    drawn = cost.solver in ("gibbs", "hmc")
    sampling = sum(p.cpu_seconds for p in cost.parts if drawn and p.name in CHAINS)
    print(
        json.dumps(
            {
                "case": name,
                "solver": cost.solver,
                "trial": spent,
                "sampling": [sampling, watched.seconds],
                "search": [cost.cpu_seconds - sampling, whole - watched.seconds],
                "total": [cost.cpu_seconds, whole],
                "bytes": [
                    cost.bytes,
                    1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak),
                ],
                "n_iter": estimator.n_iter_,
                "parts": {p.name: p.cpu_seconds for p in cost.parts},
            }
        )
    )


def size(n_words, n_components, solver):
    """Estimate the cost of a size; prints it as JSON."""
    warnings.simplefilter("ignore")
    estimator = BayesianSGNS(
        n_components, solver=solver, max_features=n_words, prior_precision=1.0, random_state=0,
        n_jobs=2,
    )  # fmt: skip
    cost = estimator.estimate_cost(wikipedia(1_300_000)[0])
    sweep = [p.cpu_seconds for p in cost.parts if p.name == "draws"]
    per = estimator.draws * estimator.chains if solver == "gibbs" else None
    print(
        json.dumps(
            {
                "size": [n_words, n_components, solver],
                "seconds": cost.seconds,
                "cpu_seconds": cost.cpu_seconds,
                "bytes": cost.bytes,
                "sweep": sweep[0] / per if per else None,
            }
        )
    )


def page_of_sizes(results):
    """The table of the guide, as reStructuredText rows."""
    found = {tuple(r["size"]): r for r in results}
    rows = []
    for v, k, _ in SIZES[::3]:
        cells = [found.get((v, k, s)) for s in ("gibbs", "vi", "map")]
        rows.append(
            [f"{v:,}", k]
            + [
                f"{r['seconds'] / 60:.2g} min, {r['bytes'] / 2**30:.2g} GB" if r else ""
                for r in cells
            ]
        )
    return table(["words", "K", "gibbs", "vi", "map"], rows)


def page(results):
    """The table of benchmarks/README.md."""

    def both(pair):
        estimated, measured = pair
        if measured < 0.05 and estimated < 0.05:
            return "-"
        return f"{estimated:.3g} / {measured:.3g} ({estimated / max(measured, 1e-9):.2f})"

    rows = [
        [r["case"], f"{r['trial']:.1f}", both(r["sampling"]), both(r["search"]), both(r["total"]),
         "{:.0f} / {:.0f}".format(*(b / 2**20 for b in r["bytes"]))]
        for r in results
    ]  # fmt: skip
    head = ["case", "trial, s", "sampling, s", "search, s", "total, s", "MiB"]
    return table(head, rows)


def main():
    """Do what is missing, each item in a process of its own, or print the tables."""
    parser = parser_of(__doc__, ("cases", "sizes"))
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    if options.size:
        size(*options.size)
        return
    files = {name: options.out / f"{name}.jsonl" for name in ("cases", "sizes")}
    if options.table:
        print(page(read(files["cases"])))
        print(page_of_sizes(read(files["sizes"])))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    done = {r["case"] for r in read(files["cases"])}
    cases = [("cases", "--one", c) for c in options.cases if c not in done]
    done = {tuple(r["size"]) for r in read(files["sizes"])}
    sizes = [("sizes", "--size", json.dumps(s)) for s in SIZES if s not in done]
    for part, flag, item in [t for t in cases + sizes if t[0] in options.parts][: options.limit]:
        out = subprocess.run(
            [sys.executable, __file__, flag, item], capture_output=True, text=True, check=False
        )
        if out.returncode:
            sys.exit(out.stderr)
        append(files[part], [json.loads(out.stdout.splitlines()[-1])])
        print(out.stdout.splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
