"""The simulation study of Yrjänäinen et al. (2025) with the solvers of `BayesianSGNS`.

    python benchmarks/study.py --out results/ --budget-minutes 60
    python benchmarks/study.py --out results/ --table > doc/studies/simulation_tables.md

Every cell is one data set of `make_sgns` (K components, V words, N observations, word pairs drawn
uniformly or by Zipf's law; pairs are independent, so the study cannot see how text was sampled,
which `simulated_text.py` does), fitted by one solver with the true prior precision K. Cells are
written to ``cells.jsonl`` as they are done, and those in it are skipped: a study can be run in
pieces and by several processes with different ``--seeds`` or ``--solvers``. Cheap cells come first
and the solvers take turns, so that what is done at any time is balanced; a cell is started only
before the budget is used up.

Of each cell the file holds

- the share of true P(w, v) = sigma(rho_w . alpha_v) inside their 90 % intervals, over all pairs and
  over the pairs with an anchored context: highest-density intervals, the package's own, and
  equal-tailed ones (whose ends are the 0.05 and 0.95 quantiles i / (n + 1)), since the narrowest
  interval that holds 90 % of n draws holds a little less of the posterior;
- the root mean squared error of co-occurrence (eq. 12) of posterior-mean vectors, as in the paper,
  and of the posterior mean of P;
- means, standard deviations and effective sample sizes of some P, cosines and coordinates, by
  which solvers are compared;
- CPU seconds of the fit on one thread (numba's compilation left out), R-hat and warnings.

``--part anchors`` fits one data set with several sets of anchors (Figure 9).
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from parts import append, read
from scipy.special import expit

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.metrics import coverage, rmse_cooccurrence
from skbayesembed.posterior.summary import ess, hdi_interval
from skbayesembed.sgns.model import numerical_rank

PROB = 0.9
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000)
LARGER = (2_000_000, 4_000_000)  # of the solvers that are cheap at any size
SHAPES = ((5, 100), (10, 100), (20, 100), (5, 200), (10, 200), (20, 200))
SOLVERS = {
    "map": {"solver": "map"},
    "gibbs": {"solver": "gibbs", "chains": 2, "draws": 600, "warmup": 200},
    # anchors are data, too: what conditioning on them costs shows against none
    "gibbs free": {"solver": "gibbs", "anchors": None, "chains": 2, "draws": 600, "warmup": 200},
    "hmc": {"solver": "hmc", "chains": 2, "draws": 400, "warmup": 300},
    "laplace": {"solver": "laplace", "chains": 1, "draws": 1200},
    "vi full": {"solver": "vi", "covariance": "full", "chains": 1, "draws": 1200},
    "vi diag": {"solver": "vi", "covariance": "diag", "chains": 1, "draws": 1200},
}
# Sizes that are done first, so that they have more data sets where the budget is small.
CORE = (1_000, 20_000, 100_000, 500_000, 1_000_000)
WATCHED = 60
# Seconds of a cell of K * V = 500, and how they grow; to order the cells, nothing else.
COST = {
    "map": 0.2,
    "gibbs": 2.0,
    "gibbs free": 2.0,
    "laplace": 1.0,
    "vi full": 1.0,
    "vi diag": 1.0,
    "hmc": 6.0,
}


def key_of(cell):
    """What tells a cell from another."""
    return tuple(cell[name] for name in ("K", "V", "N", "zipf", "seed", "solver", "anchors"))


def cost_of(cell):
    size = cell["K"] * cell["V"] / 500
    return COST[cell["solver"]] * size ** (1.4 if cell["solver"] == "hmc" else 1.0)


def turn_of(cell):
    """When a cell is to be done: later data sets, dearer cells and other sizes come later."""
    core = cell["N"] in CORE or (cell["solver"] == "laplace" and cell["N"] in LARGER)
    later = 0.0 if core or cell["solver"] == "map" else 2.0
    return cell["seed"] + cost_of(cell) / 40 + later + 0.5 * cell["zipf"]


def grid(seeds, solvers):
    """All cells of the study, in the order in which they are to be done."""
    cells = []
    for (k, v), seed, solver in product(SHAPES, seeds, solvers):
        sizes = SIZES if solver == "hmc" else SIZES + LARGER
        for n, zipf in product(sizes, (False, True) if (k, v) == (5, 100) else (False,)):
            cell = {"K": k, "V": v, "N": n, "zipf": zipf, "seed": seed}
            cells.append(cell | {"solver": solver, "anchors": "pivot"})
    return sorted(cells, key=lambda c: (turn_of(c), c["N"]))


def intervals(draws):
    """Highest-density and equal-tailed intervals of draws (n_entries, n_draws)."""
    draws = np.sort(draws, axis=1)
    n = draws.shape[1]
    ends = []
    for q in ((1 - PROB) / 2, (1 + PROB) / 2):
        place = np.clip(q * (n + 1) - 1, 0, n - 1)
        low = int(place)
        high = min(low + 1, n - 1)
        ends.append(draws[:, low] + (place - low) * (draws[:, high] - draws[:, low]))
    return hdi_interval(draws, prob=PROB, axis=1), np.stack(ends, axis=1)


def covered(posterior, truth, anchors, rows=10):
    """Shares of true P(w, v) in their intervals, as a dict."""
    rho, alpha = (posterior.flat(n).astype(np.float32) for n in ("rho", "alpha"))
    n_words = truth.shape[0]
    ends = np.empty((2, n_words, n_words, 2))
    for start in range(0, n_words, rows):
        block = slice(start, min(start + rows, n_words))
        p = expit(rho[:, block] @ alpha.transpose(0, 2, 1))
        found = intervals(p.reshape(len(p), -1).T)
        ends[:, block] = np.reshape(found, (2, -1, n_words, 2))
    out = {"coverage": coverage(ends[0], truth), "tails": coverage(ends[1], truth)}
    if anchors is not None:
        out["coverage_anchored"] = coverage(ends[0][:, anchors], truth[:, anchors])
        out["tails_anchored"] = coverage(ends[1][:, anchors], truth[:, anchors])
    return out


def watched(n_words, k):
    """Pairs, word pairs and coordinates by which solvers are compared; fixed by the sizes."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(n_words, size=(WATCHED, 2))
    words = np.array([rng.choice(n_words, 2, replace=False) for _ in range(WATCHED)])
    return pairs, words, (rng.integers(n_words, size=WATCHED), rng.integers(k, size=WATCHED))


def watch(posterior):
    """Mean, standard deviation and effective sample size of what is watched, as a dict."""
    rho, alpha = posterior["rho"], posterior["alpha"]
    pairs, words, place = watched(rho.shape[2], rho.shape[3])
    first, second = rho[:, :, words[:, 0]], rho[:, :, words[:, 1]]
    scale = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    values = {
        "p": expit(np.sum(rho[:, :, pairs[:, 0]] * alpha[:, :, pairs[:, 1]], axis=-1)),
        "cosine": np.sum(first * second, axis=-1) / np.where(scale > 0, scale, 1.0),
        "rho": rho[:, :, place[0], place[1]],
    }
    out = {}
    for name, draws in values.items():
        columns = (draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)), ess(draws))
        out[name] = [[float(f"{x:.5g}") for x in row] for row in zip(*columns, strict=True)]
    return out


def fit(cell, pairs):
    """The fitted estimator, and what was warned of."""
    options = dict(SOLVERS[cell["solver"]])
    if cell["solver"] not in ("map", "gibbs free", "vi full", "vi diag"):
        options["anchors"] = cell["anchors"]
    model = BayesianSGNS(
        cell["K"], prior_precision=cell["K"], random_state=cell["seed"], n_jobs=1, **options
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.process_time()
        model.fit(pairs)
        seconds = time.process_time() - begin
    return model, seconds, sorted({str(w.message)[:120] for w in caught})


def run(cell):
    """Every figure of one cell, as a dict."""
    data = make_sgns(cell["V"], cell["K"], cell["N"], zipf=cell["zipf"], random_state=cell["seed"])
    out = dict(cell)
    try:
        model, seconds, messages = fit(cell, data.pairs)
    except (ValueError, RuntimeError, np.linalg.LinAlgError) as error:
        # a solver may refuse a posterior that it cannot answer for
        return out | {"error": f"{type(error).__name__}: {error}"[:300]}
    out.update(seconds=round(seconds, 3), warnings=messages)
    out["rmse"] = rmse_cooccurrence(model, data)
    posterior = model.posterior_
    out["draws"] = posterior.n_chains * posterior.n_draws
    if cell["solver"] == "map":
        return out | {"rank": numerical_rank(model.alpha_)}
    out["rmse_predictive"] = rmse_cooccurrence(posterior, data)
    out["anchored"] = model.anchors_ is not None
    truth = expit(data.rho @ data.alpha.T)
    out.update(covered(posterior, truth, model.anchors_))
    out.update(watch(posterior))
    rhat = posterior.attrs.get("max_rhat")
    out["max_rhat"] = None if rhat is None else float(rhat)
    return out


def anchor_sets(model, k, seed):
    """Sets of contexts with the condition numbers of their MAP vectors: name to (indices, c)."""
    rng = np.random.default_rng(seed)
    n_words = len(model.alpha_)
    sets = {"last": np.arange(n_words - k, n_words)}
    sets |= {f"random {i}": rng.choice(n_words, k, replace=False) for i in range(6)}
    return {name: (s, float(np.linalg.cond(model.alpha_[s]))) for name, s in sets.items()}


def run_anchors(k, v, n, seed):
    """Figure 9: posteriors of cosines under several sets of anchors, as a list of dicts."""
    data = make_sgns(v, k, n, random_state=seed)
    cell = {"K": k, "V": v, "N": n, "zipf": False, "seed": seed, "solver": "gibbs"}
    mode, _, _ = fit(cell | {"solver": "map", "anchors": None}, data.pairs)
    sets = anchor_sets(mode, k, seed)
    results = []
    for name, anchors in [("pivot", "pivot"), ("none", None)] + [(s, sets[s][0]) for s in sets]:
        model, _, messages = fit(cell | {"anchors": anchors}, data.pairs)
        if model.anchors_ is None and anchors is not None:
            continue
        chosen = model.anchors_
        condition = None if chosen is None else float(np.linalg.cond(mode.alpha_[chosen]))
        entry = cell | {"anchors": name, "condition": condition, "warnings": messages}
        results.append(entry | watch(model.posterior_))
    return results


def compile_kernels(solvers):
    """Small fits, so that no cell pays for numba's compilation."""
    for solver in solvers:
        cell = {"K": 3, "V": 12, "seed": 0, "solver": solver, "anchors": "pivot"}
        try:
            fit(cell, make_sgns(12, 3, 5_000, random_state=0).pairs)
        except (ValueError, RuntimeError) as error:
            print(f"{solver}: {error}")


def main():
    """Run cells that are missing, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--table", action="store_true", help="print the tables and stop")
    parser.add_argument("--part", choices=("grid", "anchors"), default="grid")
    parser.add_argument("--budget-minutes", type=float, default=60)
    parser.add_argument("--seeds", type=int, default=10, help="data sets 0, 1, ...")
    parser.add_argument("--solvers", type=lambda t: t.split(","), default=list(SOLVERS))
    parser.add_argument("--shapes", help="K:V,K:V,... to run these only")
    args = parser.parse_args()
    cells, anchors = args.out / "cells.jsonl", args.out / "anchors.jsonl"
    if args.table:
        from study_tables import write

        print(write(read(cells), read(anchors), SOLVERS))
        return
    args.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * args.budget_minutes
    if args.part == "anchors":
        done = {(r["K"], r["V"], r["N"], r["seed"]) for r in read(anchors)}
        for task in ((5, 100, 50_000, 0), (10, 200, 100_000, 0), (5, 100, 50_000, 1)):
            if task not in done and time.monotonic() < end:
                append(anchors, run_anchors(*task))
        return
    todo = grid(range(args.seeds), args.solvers)
    if args.shapes:
        shapes = {tuple(map(int, s.split(":"))) for s in args.shapes.split(",")}
        todo = [c for c in todo if (c["K"], c["V"]) in shapes]
    compile_kernels(args.solvers)
    done = {key_of(r) for r in read(cells)}
    n_done = 0
    for cell in todo:
        if time.monotonic() > end:
            break
        if key_of(cell) not in done:
            append(cells, [run(cell)])
            n_done += 1
    print(f"{n_done} cells done, {len(todo)} in the study, {len(done)} were there")


if __name__ == "__main__":
    main()
