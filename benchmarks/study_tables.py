"""Tables of the simulation study (`study.py`), as Markdown, beside the published figures.

The published figures are those of Yrjänäinen, Boström, Magnusson & Jonasson (2025), Posterior
Sampling of Probabilistic Word Embeddings, arXiv:2508.02337, Tables 1 to 3. Theirs are averages over
ten data sets that are not ours, run on other machines.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from parts import table

from skbayesembed.datasets import make_sgns

NAMES = ("gibbs", "gibbs free", "hmc", "laplace", "vi full", "vi diag")
PAPER_METHODS = ("gibbs", "hmc", "laplace", "mfvi")
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000)
_GRID = """
5 100 hmc 89.9 89.8 89.7 89.7 89.7 89.9 89.9 90.2 89.9
5 100 mfvi 90.2 88.3 84.0 84.5 84.2 85.8 86.6 83.3 79.5
5 100 gibbs 89.7 89.6 89.7 89.5 89.6 89.9 89.6 90.1 89.7
5 100 laplace 94.9 94.6 98.6 97.7 96.4 94.9 91.9 90.5 90.3
10 100 hmc 90.0 90.0 90.0 90.0 90.0 90.1 90.2 90.0 90.1
10 100 mfvi 92.5 91.9 90.4 88.0 83.7 85.4 85.6 85.1 83.0
10 100 gibbs 89.9 89.9 89.9 89.9 89.9 89.9 89.6 89.9 90.1
10 100 laplace 89.9 89.9 89.7 89.4 98.0 96.5 95.2 90.8 90.1
20 100 hmc 90.0 89.9 90.0 89.9 90.0 90.0 89.9 89.7 89.9
20 100 mfvi 93.3 93.2 92.8 92.3 90.9 87.3 83.5 85.3 84.5
20 100 gibbs 89.4 89.4 89.4 89.4 89.4 89.4 89.4 89.7 90.0
20 100 laplace 79.9 79.9 79.6 79.4 33.6 64.9 95.7 91.1 89.4
5 200 hmc 90.2 90.2 90.2 90.3 90.2 90.2 90.1 90.1 90.0
5 200 mfvi 91.5 90.6 87.7 84.0 84.5 83.9 86.2 85.4 83.1
5 200 gibbs 90.1 90.1 90.1 90.1 90.0 90.0 89.9 89.7 89.9
5 200 laplace 97.5 97.5 97.8 99.5 98.7 97.9 96.3 91.2 90.5
10 200 hmc 88.7 88.8 88.8 88.8 88.9 89.0 89.3 90.4 90.2
10 200 mfvi 92.3 92.1 91.4 90.0 87.4 82.6 84.4 85.6 84.9
10 200 gibbs 89.5 89.5 89.5 89.6 89.7 89.7 89.7 89.7 89.7
10 200 laplace 95.0 95.0 95.0 94.6 94.8 99.1 97.9 94.1 91.7
20 200 hmc 90.1 90.1 90.2 90.1 90.2 90.2 90.1 90.1 90.1
20 200 mfvi 93.5 93.5 93.5 93.2 92.6 90.5 87.7 85.1 84.4
20 200 gibbs 90.1 90.1 90.1 90.1 90.1 90.1 90.0 89.8 89.8
20 200 laplace 89.8 90.0 90.0 89.8 89.8 89.4 94.8 96.5 94.9
"""
# Table 1: (K, V, method) to {N: coverage in percent}.
PAPER_COVERAGE = {
    (int(k), int(v), name): dict(zip(SIZES, map(float, row), strict=True))
    for k, v, name, *row in map(str.split, _GRID.strip().splitlines())
}
# Table 2: median effective sample size of 1,000 draws, K = 5, V = 100.
PAPER_ESS = {
    "hmc": {1_000: 886.6, 2_000: 913.8, 5_000: 931.6, 20_000: 964.3, 50_000: 993.7},
    "gibbs": {1_000: 579.8, 2_000: 327.9, 5_000: 207.0, 20_000: 286.9, 50_000: 547.7},
}
# Table 3: draws a second, (N, K, V) to (hmc, gibbs).
PAPER_SPEED = {
    (50_000, 5, 100): (17.7, 3.333),
    (50_000, 10, 200): (4.762, 2.467),
    (50_000, 20, 200): (2.802, 2.233),
    (500_000, 5, 100): (2.951, 2.9),
    (500_000, 10, 200): (2.386, 2.88),
    (500_000, 20, 200): (0.506, 0.733),
}


def select(results, **wanted):
    """Results of cells without an error that have these values."""
    return [
        r for r in results if "error" not in r and all(r.get(k) == v for k, v in wanted.items())
    ]


def mean_and_error(values):
    """Mean and its standard error over data sets; None for too few."""
    values = np.array([v for v in values if v is not None], dtype=float)
    mean = float(values.mean()) if values.size else None
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None
    return mean, error, values.size


def described(values, scale=100.0, digits=1):
    """ "89.9 ± 0.2 (10)": mean, standard error, number of data sets."""
    mean, error, n = mean_and_error(values)
    if mean is None:
        return ""
    error = "" if error is None else f" ± {scale * error:.{digits}f}"
    return f"{scale * mean:.{digits}f}{error} ({n})"


def prior_coverage(k, v, n_sets, n=1_000_000):
    """For each data set, the share of its true P(w, v) in the prior's own 90 % interval."""
    rng = np.random.default_rng(0)
    rho, alpha = rng.normal(scale=k**-0.5, size=(2, n, k))
    low, high = np.quantile(np.einsum("nk,nk->n", rho, alpha), [0.05, 0.95])
    shares = []
    for seed in range(n_sets):
        data = make_sgns(v, k, 1, random_state=seed)
        logits = data.rho @ data.alpha.T
        shares.append(float(np.mean((low < logits) & (logits < high))))
    return shares


def prior_table(results):
    """`prior_coverage` of the data sets of the study, and of a hundred."""
    rows = []
    for k, v in sorted({(r["K"], r["V"]) for r in results}):
        shares = prior_coverage(k, v, 100)
        n = 1 + max(r["seed"] for r in results if (r["K"], r["V"]) == (k, v))
        rows.append([k, v, described(shares[:n]), described(shares)])
    return table(["K", "V", "data sets of the study", "a hundred"], rows)


def shapes_of(results):
    return sorted({(r["K"], r["V"], r["zipf"]) for r in results}, key=lambda s: (s[2], s[1], s[0]))


def sizes_of(results):
    return sorted({r["N"] for r in results})


def coverage_tables(results, measure, paper=True):
    """Coverage by size, a table for each shape and kind of frequencies."""
    parts = []
    for k, v, zipf in shapes_of(results):
        here = select(results, K=k, V=v, zipf=zipf)
        rows = []
        for n in sizes_of(here):
            cells = [
                described([r.get(measure) for r in select(here, N=n, solver=s)]) for s in NAMES
            ]
            published = [PAPER_COVERAGE.get((k, v, s), {}).get(n, "") for s in PAPER_METHODS]
            rows.append([f"{n:,}", *cells, *(published if paper and not zipf else ())])
        head = ["N", *NAMES, *(f"paper: {s}" for s in PAPER_METHODS if paper and not zipf)]
        parts.append(f"K = {k}, V = {v}, {'Zipf' if zipf else 'uniform'} frequencies\n")
        parts.append(table(head, rows))
    return "\n".join(parts)


def collapse_size(results, k, v, zipf):
    """The smallest size from which the MAP of every data set has full rank, or None."""
    modes = select(results, K=k, V=v, zipf=zipf, solver="map")
    full = None
    for n in reversed(sizes_of(modes)):
        if any(r["rank"] < k for r in modes if r["N"] == n):
            break
        full = n
    return full


def slope(sizes, values):
    """Slope of log(values) over log(sizes) and its standard error (least squares)."""
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    b = np.sum(x * y) / np.sum(x * x)
    residual = y - y.mean() - b * x
    error = np.sqrt(np.sum(residual**2) / max(len(x) - 2, 1) / np.sum(x * x))
    return b, error if len(x) > 2 else np.nan


def rmse_tables(results):
    """Root mean squared error of P by size and solver, and fitted slopes past the collapse."""
    parts, fitted = [], []
    for k, v, zipf in shapes_of(results):
        here = select(results, K=k, V=v, zipf=zipf)
        rows = []
        for n in sizes_of(here):
            cells = [
                described([r["rmse"] for r in select(here, N=n, solver=s)], 1.0, 4)
                for s in ("map", *NAMES)
            ]
            rows.append([f"{n:,}", *cells])
        kind = "Zipf" if zipf else "uniform"
        parts.append(f"K = {k}, V = {v}, {kind} frequencies\n")
        parts.append(table(["N", "map", *NAMES], rows))
        fitted.append([k, v, kind, *slopes_of(results, here, k, v, zipf)])
    head = ["K", "V", "frequencies", "sizes fitted", "map", *NAMES]
    return (
        "Slopes of log RMSE over log N, with least-squares standard errors, over the sizes at "
        "least ten times the first one from which the MAP of every data set has full rank:\n\n"
        + table(head, fitted)
        + "\nRMSE of posterior-mean vectors (eq. 12):\n\n"
        + "\n".join(parts)
    )


def slopes_of(results, here, k, v, zipf):
    start = collapse_size(results, k, v, zipf)
    if start is None:
        return ["none"] + [""] * 6
    cells, used = [], set()
    for solver in ("map", *NAMES):
        done = select(here, solver=solver)
        sizes = [n for n in sizes_of(done) if n >= 10 * start]
        if len(sizes) < 2:
            cells.append("")
            continue
        used |= set(sizes)
        means = [
            mean_and_error([r["rmse"] for r in select(here, N=n, solver=solver)])[0] for n in sizes
        ]
        b, error = slope(sizes, means)
        cells.append(f"{b:.3f}" + ("" if np.isnan(error) else f" ± {error:.3f}"))
    sizes = f"{min(used):,} to {max(used):,}" if used else "none"
    return [sizes, *cells]


def ess_table(results):
    """Effective sample size a 1,000 draws, K = 5 and V = 100, beside the paper's Table 2."""
    rows = []
    for n in sizes_of(select(results, K=5, V=100, zipf=False)):
        row = [f"{n:,}"]
        for solver in ("gibbs", "hmc"):
            cells = select(results, K=5, V=100, zipf=False, N=n, solver=solver)
            for name in ("rho", "p"):
                medians = [
                    1000 * np.nanmedian([e[2] for e in r[name]]) / r["draws"]
                    for r in cells
                    if name == "p" or r["anchored"]
                ]
                row.append(described(medians, 1.0, 0))
            row.append(PAPER_ESS[solver].get(n, ""))
        rows.append(row)
    head = ["N"]
    for solver in ("gibbs", "hmc"):
        head += [f"{solver}: rho", f"{solver}: P", f"{solver}: paper"]
    return table(head, rows)


def speed_table(results, settings):
    """Draws and effective draws a CPU-second, warm-up included, beside the paper's Table 3."""
    rows = []
    for (n, k, v), published in PAPER_SPEED.items():
        row = [f"{n:,}", k, v]
        for solver, of_paper in zip(("hmc", "gibbs"), published, strict=True):
            cells = select(results, K=k, V=v, zipf=False, N=n, solver=solver)
            made = settings[solver]["chains"] * (
                settings[solver]["draws"] + settings[solver]["warmup"]
            )
            row.append(described([made / r["seconds"] for r in cells], 1.0, 0))
            effective = [np.nanmedian([e[2] for e in r["p"]]) / r["seconds"] for r in cells]
            row += [described(effective, 1.0, 0), of_paper]
        rows.append(row)
    head = ["N", "K", "V"]
    for solver in ("hmc", "gibbs"):
        head += [f"{solver}: sweeps or draws", f"{solver}: median ESS of P", f"{solver}: paper"]
    return table(head, rows)


def compare(first, second, name):
    """Differences of two posteriors' means (in sds of the first) and log ratios of their sds."""
    a, b = (np.array(r[name], dtype=float) for r in (first, second))
    good = (a[:, 1] > 0) & (b[:, 1] > 0)
    a, b = a[good], b[good]
    error = np.hypot(a[:, 1] / np.sqrt(a[:, 2]), b[:, 1] / np.sqrt(b[:, 2]))
    return (b[:, 0] - a[:, 0]) / a[:, 1], np.log(b[:, 1] / a[:, 1]), (b[:, 0] - a[:, 0]) / error


def error_table(results):
    """Approximations against Gibbs on the same data: means and sds of P, cosines, coordinates."""
    rows = []
    for k, v, zipf in shapes_of(results):
        for n in sizes_of(select(results, K=k, V=v, zipf=zipf)):
            for solver in NAMES[2:]:
                found = {name: [] for name in ("p", "cosine", "rho")}
                for r in select(results, K=k, V=v, zipf=zipf, N=n, solver=solver):
                    base = select(results, K=k, V=v, zipf=zipf, N=n, solver="gibbs", seed=r["seed"])
                    for name in found if base else ():
                        if name == "rho" and not (r["anchored"] and base[0]["anchored"]):
                            continue
                        found[name].append(compare(base[0], r, name))
                if not found["p"]:
                    continue
                row = [k, v, "Zipf" if zipf else "uniform", f"{n:,}", solver, len(found["p"])]
                for name in found:
                    row.append(agreement(found[name]))
                rows.append(row)
    head = ["K", "V", "frequencies", "N", "solver", "data sets", "P", "cosine", "rho"]
    return table(head, rows)


def agreement(found):
    """ "0.04 / 0.98 / 1.02": rms shift in sds, ratio of sds, rms shift in Monte Carlo errors."""
    if not found:
        return ""
    shift, ratio, score = (np.concatenate(columns) for columns in zip(*found, strict=True))
    root = [np.sqrt(np.mean(x**2)) for x in (shift, score)]
    return f"{root[0]:.2f} / {np.exp(np.mean(ratio)):.2f} / {root[1]:.1f}"


def anchors_table(results):
    """Cosines under several sets of anchors: shifts of their means, in posterior sds."""
    rows = []
    for k, v, n, seed in sorted({(r["K"], r["V"], r["N"], r["seed"]) for r in results}):
        here = [r for r in results if (r["K"], r["V"], r["N"], r["seed"]) == (k, v, n, seed)]
        for a, b in combinations(here, 2):
            if "pivot" not in (a["anchors"], b["anchors"]):
                continue
            shift, ratio, _ = compare(a, b, "cosine")
            worst = max(c for c in (a["condition"], b["condition"], 1.0) if c is not None)
            rows.append(
                [k, v, f"{n:,}", seed, b["anchors"], f"{worst:.0f}"]
                + [f"{np.median(np.abs(shift)):.2f}", f"{np.max(np.abs(shift)):.2f}"]
                + [f"{np.median(np.abs(ratio)):.2f}", f"{np.max(np.abs(ratio)):.2f}"]
            )
    head = ["K", "V", "N", "data set", "pivots against", "condition", "median shift"]
    return table(head + ["largest shift", "median log sd ratio", "largest"], rows)


def troubles(results):
    """Cells that a solver refused, and chains that did not mix."""
    rows = []
    for solver in ("map", *NAMES):
        here = [r for r in results if r["solver"] == solver]
        refused = [r for r in here if "error" in r]
        unmixed = sum(any("not mixed" in w for w in r.get("warnings", ())) for r in here)
        loose = sum(r.get("anchored") is False for r in here)
        seconds = sum(r.get("seconds", 0) for r in here)
        rows.append([solver, len(here), len(refused), loose, unmixed, f"{seconds:.0f}"])
        rows += [["", r, "", "", "", ""] for r in sorted({r["error"][:150] for r in refused})[:3]]
    head = ["solver", "cells", "refused", "without anchors", "warned of mixing", "CPU seconds"]
    return table(head, rows)


def write(results, anchors, settings):
    """The whole report; ``settings`` are the options of the solvers."""
    parts = [
        "# Simulation study: all tables\n",
        "Written by `python benchmarks/study.py --out RESULTS --table`. In brackets: the number of "
        "data sets; ±: standard error over them.\n",
        "The pairs of these data are independent, as the model takes them to be, so that nothing "
        "here says what intervals do on text, where windows overlap and words come in bursts: "
        "`benchmarks/simulated_text.py` and `benchmarks/split_halves.py` do.\n",
        "`gibbs free` is gibbs without anchors (`anchors=None`), run where K = 20. Anchors are "
        "estimates that are then taken as known: given them, intervals cover a little less, the "
        "more so the more of the words are anchored.\n",
        "## What ran\n",
        troubles(results),
        "## Coverage of P(w, v), percent: equal-tailed 90 % intervals, all pairs\n",
        coverage_tables(results, "tails"),
        "## The truths of the data sets\n",
        "The true vectors of a data set are the same for all N. How many of its true P(w, v) lie "
        "in the equal-tailed 90 % interval of the *prior*, which no data enter: where there are "
        "few data for each parameter every exact posterior covers as much, and what ten data "
        "sets differ from 90 by is theirs.\n",
        prior_table(results),
        "## The same, highest-density intervals\n",
        coverage_tables(results, "coverage", paper=False),
        "## Pairs with an anchored context: equal-tailed intervals\n",
        coverage_tables(results, "tails_anchored", paper=False),
        "## Error of co-occurrence probabilities\n",
        rmse_tables(results),
        "## Effective sample size of 1,000 draws (median over entries)\n",
        ess_table(results),
        "## Draws a second (CPU time, one thread)\n",
        speed_table(results, settings),
        "## Against Gibbs on the same data\n",
        "Root mean square shift of the means in posterior sds / geometric mean ratio of sds / root "
        "mean square shift in Monte Carlo standard errors (1 where only those differ).\n",
        error_table(results),
    ]
    if anchors:
        parts += [
            "## Which words are anchored\n",
            "Shifts of the posterior means of 60 cosines, in posterior sds, between pivots and "
            "other anchors; log ratios of the sds; the larger condition number of the two sets' "
            "MAP vectors (none: no anchors).\n",
            anchors_table(anchors),
        ]
    return "\n".join(parts)
