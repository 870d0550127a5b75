"""`DynamicSGNS` on real text and on simulated drift: held-out scores, changes, speed, accuracy.

    python benchmarks/dynamic.py union --out results/
    python benchmarks/dynamic.py --out results/ --table > doc/studies/dynamic.md

Parts:

- ``union``: State of the Union addresses by decade, a tenth of the paragraphs held out. Smoothing
  against filtering, a static `BayesianSGNS` (its mode, all decades together) and fits of every
  decade on its own (a diffusion so large that periods know nothing of each other). All score the
  same held-out pairs, those of each decade with its own negatives.
- ``later``: the same, learned from the decades before 2010, scored on the one after.
- ``debates``: the UN general debate in periods of seven years: the words most surely changed, and
  where function words rank.
- ``solvers``: simulated drift with its truth: coverage of P_t(w, v) and errors against gibbs.
- ``adam``: smoothing by the published algorithm and by this package's, on the simulated drift: the
  bound over gradients and CPU seconds.
- ``periods``: seconds of a sweep and of a gradient with 10, 20 and 40 periods.

The data are read from the folder that SKBAYESEMBED_DATA names.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from dynamic_adam import Smoothing, smooth
from parts import parser_of, run, table
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, DynamicSGNS
from skbayesembed.corpus.analysis import analyzer_of
from skbayesembed.corpus.text import build_corpus, encode, restrict
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.data import period_counts
from skbayesembed.dynamic.priors import DriftPrior

TOKENS = r"(?u)\b\w+\b"
# Paragraphs of the early speeches are numbered.
LETTERS = r"(?u)\b[^\W\d_]+\b"
INDEPENDENT = 1e6
# Function words: what no reader would call changed in meaning.
FUNCTION = "the of and to in that is for we by on be with as it this not are have which".split()


def folder():
    return Path(os.environ["SKBAYESEMBED_DATA"])


def addresses():
    """Paragraphs of the State of the Union addresses and their years."""
    csv.field_size_limit(sys.maxsize)
    path = folder() / "state_of_the_union" / "state_of_the_union.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [
            (paragraph, int(row["year"]))
            for row in csv.DictReader(lines)
            for paragraph in row["text"].split("\n")
            if paragraph.strip()
        ]
    return [r[0] for r in rows], np.array([r[1] for r in rows])


def debates():
    """Paragraphs of the speeches in the UN general debate and their years."""
    csv.field_size_limit(sys.maxsize)
    with lzma.open(folder() / "text" / "un_general_debate.csv.xz", "rt", encoding="utf-8") as lines:
        rows = [(row["text"], int(row["year"])) for row in csv.DictReader(lines)]
    return [r[0] for r in rows], np.array([r[1] for r in rows])


class Decades:
    """Paragraphs of the addresses, some held out, and the held-out pairs of every decade."""

    def __init__(self, options, before=None):
        texts, years = addresses()
        held = np.random.default_rng(0).random(len(texts)) < 0.1
        if before is not None:
            held = years >= before
            kept = years < before + 10
            texts = [t for t, k in zip(texts, kept, strict=True) if k]
            years, held = years[kept], held[kept]
        self.texts = [t for t, h in zip(texts, held, strict=True) if not h]
        self.years = years[~held]
        self.bins = np.arange(1790, self.years.max() // 10 * 10 + 11, 10)
        analyze = analyzer_of(model_of(options), "text")
        corpus = build_corpus(self.texts, analyze)
        corpus = restrict(corpus, min_count=5, max_features=options.words)
        self.vocabulary = {word: i for i, word in enumerate(corpus.words.tolist())}
        left_out = [t for t, h in zip(texts, held, strict=True) if h]
        ids, offsets = encode(left_out, analyze, self.vocabulary)
        decade = (years[held] - 1790) // 10
        self.held = period_counts(
            ids, offsets, decade, len(self.vocabulary), decade.max() + 1, window=5
        )
        self.times = 1795.0 + 10 * np.arange(len(self.held))
        self.totals = np.array([c.total for c in self.held])

    def score(self, score_one):
        """Mean log score of a pair over all decades; ``score_one(counts, time)`` is of one."""
        seen = np.flatnonzero(self.totals)
        found = [score_one(self.held[t], self.times[t]) for t in seen]
        return float(np.average(found, weights=self.totals[seen]))


def model_of(options, **changes):
    """The estimator of a study, with its settings changed."""
    settings = {
        "max_features": options.words, "token_pattern": TOKENS, "draws": 40,
        "random_state": 0, "n_jobs": options.jobs,
        # the study is of the posterior itself
        "uncertainty": "model", "balance": False, "pair_weights": "pairs",
    }  # fmt: skip
    return DynamicSGNS(options.components, **settings | changes)


def measured(fit):
    """The result of a call, with its wall and CPU seconds and the memory at its largest."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = fit()
    return found, {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def union(options, item):
    """Held-out scores of the addresses."""
    return compare(options, item, Decades(options))


def later(options, item):
    """Scores of the decade after the last that was learned."""
    return compare(options, item, Decades(options, before=item["before"]))


def compare(options, item, data):
    kind = item["model"]
    if kind == "static":
        estimator = BayesianSGNS(
            options.components, solver="map", window=4, max_features=options.words,
            token_pattern=TOKENS, random_state=0, tol=1e-5,
        )  # fmt: skip
        model, figures = measured(lambda: estimator.fit(data.texts))
        assert model.words_.tolist() == list(data.vocabulary)
        return {"score": data.score(lambda counts, time: model.score(counts)), **figures}
    changes = {"diffusion": item.get("diffusion", 1e-3)}
    if kind == "filtering":
        changes["learning_method"] = "filtering"
    if kind == "independent":
        changes["diffusion"] = INDEPENDENT
    estimator = model_of(options, bins=data.bins, **changes)
    model, figures = measured(lambda: estimator.fit(data.texts, times=data.years))
    assert model.words_.tolist() == list(data.vocabulary)
    score = data.score(lambda counts, time: model.score([counts], times=[time]))
    used = model.posterior_.attrs["diffusion"]
    return {"score": score, "n_iter": model.n_iter_, "diffusion": used, **figures}


def debate(options, item):
    """The words most surely changed in the UN general debate."""
    texts, years = debates()
    model = model_of(options, n_periods=item["periods"], token_pattern=LETTERS)
    model, figures = measured(lambda: model.fit(texts, times=years))
    figures["reading"] = {}
    for kind in ("euclidean", "cosine"):
        wall = time.perf_counter()
        every = model.most_changed(model.words_.size, distance=kind)
        words = every.words.tolist()
        figures["reading"][kind] = {
            "seconds": time.perf_counter() - wall,
            "top": [
                [w, *map(float, (every.mean[i], *every.interval[i], every.prob_exceeds[i]))]
                + [float(every.count_start[i]), float(every.count_end[i])]
                for i, w in enumerate(words[:30])
            ],
            "function": sorted((words.index(w) + 1, w) for w in FUNCTION if w in words),
            "sure": int(np.sum(every.prob_exceeds > 0.95)),
            "threshold": every.threshold,
        }
    return {"n_words": len(words), **figures}


def solvers(options, item):
    """Coverage on simulated drift, and errors of means and sds against gibbs."""
    sim = make_dynamic_sgns(100, 5, 8, 20_000, empty_periods=[4], random_state=item["seed"])
    lengths = {
        "gibbs": {"draws": 500, "warmup": 200, "chains": 2},
        "hmc": {"draws": 300, "warmup": 200, "chains": 2},
    }
    figures = {}
    for solver in item["solvers"]:
        model = DynamicSGNS(
            5, solver=solver, diffusion=0.02, prior_precision=5.0, random_state=0,
            tol=1e-9, max_iter=2000, keep_draws="all", **lengths.get(solver, {}),
        )  # fmt: skip
        model, cost = measured(lambda m=model: m.fit(sim.pairs, times=sim.times))
        figures[solver] = {"cpu": cost["cpu"], **agreement(model.posterior_, sim)}
    exact = figures["gibbs"]
    for found in figures.values():
        found["error_mean"] = float(np.sqrt(np.mean((found["mean"] - exact["mean"]) ** 2)))
        found["ratio_sd"] = float(np.median(found["sd"] / exact["sd"]))
    for found in figures.values():
        del found["mean"], found["sd"]
    return {"figures": figures}


def agreement(posterior, sim, block=10):
    """Share of true P_t(w, v) in 90 % intervals, in all periods and in the empty one."""
    rho, alpha = (posterior.flat(name).astype(np.float32) for name in ("rho", "alpha"))
    inside, means, sds = [], [], []
    for t in range(rho.shape[1]):
        for a in range(0, rho.shape[2], block):
            w = slice(a, a + block)
            p = expit(rho[:, t, w] @ alpha[:, t].transpose(0, 2, 1))
            low, high = np.quantile(p, (0.05, 0.95), axis=0)
            true = expit(sim.rho[t, w] @ sim.alpha[t].T)
            inside.append(((low <= true) & (true <= high)).mean())
            means.append(p.mean(axis=0))
            sds.append(p.std(axis=0))
    inside = np.reshape(inside, (rho.shape[1], -1)).mean(axis=1)
    return {
        "coverage": float(inside.mean()), "empty": float(inside[4]),
        "mean": np.array(means), "sd": np.array(sds),
    }  # fmt: skip


def adam(options, item):
    """The bound in the course of the published algorithm, and of this one."""
    sim = make_dynamic_sgns(100, 5, 8, 20_000, empty_periods=[4], random_state=item["seed"])
    tridiagonal = DriftPrior(np.diff(sim.times), 5.0, 0.02).tridiagonal()
    rates = [(500, 1e-2)] * 10 + [(500, 1e-3)] * 2
    _, published = smooth(sim.pairs, 5, tridiagonal, rates)
    model = DynamicSGNS(5, diffusion=0.02, prior_precision=5.0, random_state=0, draws=1, tol=1e-8)
    model.fit(sim.pairs, times=sim.times)
    _, figures = measured(lambda: model.fit(sim.pairs, times=sim.times))
    # the published algorithm's own estimate of the bound, at the approximation found
    other = Smoothing(sim.pairs, 5, tridiagonal, 0)
    set_sites(other, model.approximation_)
    own = {"steps": model.n_iter_, "cpu": figures["cpu"], "bound": other.bound()}
    return {"published": published, "own": [own]}


def set_sites(smoothing, sites):
    """Give the published parameters the values that `DriftSites` amount to."""
    mean = np.stack([sites.mean["rho"], sites.mean["alpha"]]).astype(float)
    precision = smoothing.prior + np.moveaxis(sites.lam, 1, -1)[..., None].astype(float) * np.eye(
        len(smoothing.prior)
    )
    upper = np.swapaxes(np.linalg.cholesky(precision), -1, -2)
    smoothing.nu[:] = np.moveaxis(np.diagonal(upper, axis1=-2, axis2=-1), -1, 1)
    beside = np.diagonal(upper, 1, axis1=-2, axis2=-1)
    smoothing.omega[:, :-1] = np.moveaxis(beside, -1, 1)
    smoothing.moved = np.einsum("ts,aswk->atwk", np.linalg.inv(smoothing.basis), mean)


def periods(options, item):
    """Seconds a sweep of gibbs and a gradient of vi take."""
    n = item["periods"]
    sim = make_dynamic_sgns(100, 5, n, 20_000, random_state=0)
    common = {"diffusion": 0.02, "prior_precision": 5.0, "random_state": 0}
    figures = {}
    for solver, short, long, unit in (
        ("gibbs", {"draws": 20}, {"draws": 120}, 100),
        ("vi", {"max_iter": 3, "tol": 1e-12}, {"max_iter": 43, "tol": 1e-12}, 40),
    ):
        fits = [
            DynamicSGNS(5, solver=solver, **common, **{"warmup": 5, "chains": 1} | settings)
            for settings in (short, short, long)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # all are cut short
            # the first compiles
            cpu = [measured(lambda m=m: m.fit(sim.pairs, times=sim.times))[1]["cpu"] for m in fits]
        figures[solver] = (cpu[2] - cpu[1]) / unit
    return figures


def items(part, options):
    """What a part is to be done for."""
    models = ("smoothing", "filtering", "independent", "static")
    if part == "union":
        more = [{"model": "smoothing", "diffusion": d} for d in (1e-4, 3e-3, 1e-2)]
        return [{"model": m} for m in models] + more
    if part == "later":
        return [{"model": m, "before": 2010} for m in ("smoothing", "filtering", "static")]
    if part == "adam":
        return [{"seed": 0}]
    if part == "debates":
        return [{"periods": 11}]
    if part == "solvers":
        every = ["gibbs", "hmc", "vi", "laplace"]
        return [{"seed": s, "solvers": every} for s in range(options.seeds)]
    return [{"periods": n} for n in (10, 20, 40)]


def page(results):
    """The page of the study."""
    from dynamic_tables import page as text

    return text(results, table)


PARTS = {
    "union": union, "later": later, "debates": debate, "solvers": solvers, "adam": adam,
    "periods": periods,
}  # fmt: skip


def main():
    """Do the parts named, or print the page."""
    parser = parser_of(__doc__, PARTS)
    parser.add_argument("--words", type=int, default=5000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    run(options, "dynamic.jsonl", PARTS, items, page)


if __name__ == "__main__":
    main()
