"""Do bands of prevalence hold where snippets come from works that differ?

    python benchmarks/senses_works.py simulated --sets 200 --out results/
    SKBAYESEMBED_DATA=... python benchmarks/senses_works.py held_out --out results/
    python benchmarks/senses_works.py --out results/ --table

*simulated*: data sets of `make_senses` whose works deviate by an s of their own, drawn from its
prior, and whose prevalences have steps of the published variance (``--kappa 0.25``), of a larger
one, or of one drawn from the prior that it has where works are known (``--kappa prior``). 95 %
intervals of the prevalences of all cells, learned without labels by hmc with and
without works, are held against the truth: the mean over all works (with works and without), the
mean over works seen, and the prevalence in a work that was not drawn before. Cells of one work are
counted apart. *held_out*: works of *kosmos* and *harmonia* are left out in five folds; bands
predict the shares of the senses among the labelled snippets of each, by period and genre, learned
from the others with their labels. Every row is a line of ``senses_works.jsonl``.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from parts import parser_of, run, table
from scipy.special import softmax
from senses import load
from sklearn.model_selection import GroupKFold

from skbayesembed import DiSCSenseModel, SensePrior
from skbayesembed.datasets import make_senses
from skbayesembed.metrics import match_senses

_SENSES, _PERIODS, _GENRES, _WORKS, _SNIPPETS = 3, 4, 2, 14, 480
_LENGTHS = {"draws": 300, "warmup": 150, "thin": 2, "chains": 2}
_FOLDS = 5
_OF_KAPPA = (1.0, 0.25)


def made(seed, kappa):
    """One data set, and the deviation of its works."""
    kappa = _OF_KAPPA if kappa == "prior" else float(kappa)
    size = abs(np.random.default_rng(seed).normal())
    sizes = {"n_periods": _PERIODS, "n_genres": _GENRES, "n_units": _WORKS}
    return make_senses(
        _SNIPPETS, 60, _SENSES, unit_sd=size, kappa_chi=2.5, kappa_phi=kappa, random_state=seed,
        **sizes,
    ), size  # fmt: skip


def fitted(X, covariates, seed, options, y=None, **parameters):
    """A model fitted without words about its convergence, and its CPU seconds."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DiSCSenseModel(
            _SENSES, random_state=seed, n_jobs=options.n_jobs, **_LENGTHS, **parameters
        ).fit(X, y, **covariates)
    return model, time.process_time() - begun


def simulated(options, item):
    """Cells held by the intervals of one data set: a dict of counts by what is held."""
    seed = item["seed"]
    truth, size = made(seed, item["kappa"])
    covariates = {"times": truth.times, "genres": truth.genres}
    works = {"units": truth.units}
    out = {"unit_sd": size}
    single = np.zeros((_GENRES, _PERIODS), dtype=bool)
    seen = np.empty((_GENRES, _PERIODS, _SENSES))
    for g in range(_GENRES):
        for t in range(_PERIODS):
            units = truth.units[(truth.genres == g) & (truth.times == t)]
            single[g, t] = np.unique(units).size == 1
            seen[g, t] = softmax(truth.phi[g, t] + truth.unit_effects[units], axis=1).mean(axis=0)
    new = np.random.default_rng([seed, 1]).normal(scale=size, size=truth.phi.shape)
    new = softmax(truth.phi + new, axis=2)
    of_fits = {
        "works": (covariates | works, "auto"), "fixed": (covariates | works, 0.25),
        "plain": (covariates, "auto"),
    }  # fmt: skip
    for name, (given, kappa) in of_fits.items():
        more = {"prior": SensePrior(kappa_phi=kappa), "n_starts": 4}
        model, out[f"{name} cpu"] = fitted(truth.counts, given, seed, options, **more)
        proba = model.predict_proba(truth.counts, **given)
        order = np.asarray(match_senses(proba, truth.senses))
        out[f"{name} rhat"] = float(model.posterior_.rhat()["prevalence"].max())
        out[f"{name} right"] = float((proba[:, order].argmax(axis=1) == truth.senses).mean())
        of = {"all": truth.prevalence}
        if name == "works":
            bands = model.posterior_.hdi(names="unit_sd", prob=0.95)
            out["sd of works"] = bands["unit_sd"].tolist()
        if name != "plain":
            of |= {"seen": seen, "new": new}
        for which, expected in of.items():
            bands = model.prevalence_interval(prob=0.95, units=which)[order]
            low, high = np.moveaxis(bands, 0, 2).transpose(3, 0, 1, 2)
            inside = (expected >= low) & (expected <= high)
            out[f"{name} {which}"] = float(inside.mean())
            out[f"{name} {which} single"] = float(inside[single].mean())
    return out


def held_out(options, item):
    """How many bands hold the shares of labels in works left out, and how wide they are."""
    counts, given = load(item["set"])
    kept = given["senses"] >= 0
    counts, senses = counts[kept], given["senses"][kept]
    covariates = {name: given[name][kept] for name in ("times", "genres", "units")}
    out = {}
    for name in ("works", "plain"):
        found = []
        for train, test in GroupKFold(_FOLDS).split(counts, groups=covariates["units"]):
            here, there = ({k: v[i] for k, v in covariates.items()} for i in (train, test))
            told = here if name == "works" else {k: here[k] for k in ("times", "genres")}
            y = senses[train] if item["labels"] else None
            starts = {"n_starts": 1 if item["labels"] else 8}
            model, _ = fitted(counts[train], told, item["seed"], options, y, **starts)
            order = np.arange(_SENSES)
            if not item["labels"]:
                proba = model.predict_proba(counts[train], **told)
                order = np.asarray(match_senses(proba, senses[train]))
            found += _bands(model, there, senses[test], order)
        out[name] = summary(found, options.least)
        if name == "works":
            out["unit_sd"] = float(model.posterior_.mean("unit_sd"))
    return out


def _bands(model, there, senses, order):
    """A row for each cell of works left out: senses held, mean width, snippets."""
    by = np.array([f"{g} {t}" for g, t in zip(there["genres"], there["times"], strict=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bands = model.predict_shares(**there, by=by, prob=0.9, random_state=0)
    counted = np.array([np.bincount(senses[by == b], minlength=_SENSES) for b in bands.groups])
    shares = counted / bands.n_snippets[:, None]
    low, high = np.moveaxis(bands.interval[:, order], 2, 0)
    # shares and their draws are the same fractions
    inside = (shares >= low - 1e-9) & (shares <= high + 1e-9)
    return list(zip(inside.sum(axis=1), (high - low).mean(axis=1), bands.n_snippets, strict=True))


def summary(found, least):
    """Shares held and mean widths, of all cells and of those with enough snippets."""
    found = np.array(found, dtype=float)
    large = found[found[:, 2] >= least]
    return [
        [len(rows), float(rows[:, 0].mean() / _SENSES), float(rows[:, 1].mean())]
        for rows in (found, large)
    ]


def items(part, options):
    """Data sets in the order of the work."""
    if part == "simulated":
        return [{"seed": seed, "kappa": options.kappa} for seed in range(options.sets)]
    sets = ("kosmos_edisc", "harmonia")
    return [{"set": name, "labels": labels, "seed": 0} for name in sets for labels in (True, False)]


def page(results):
    """Tables of all results."""
    return _simulated_table(results) + "\n" + _held_out_table(results)


def _simulated_table(results):
    """Mean shares of cells held, with standard errors over data sets."""
    rows = [r for r in results if r["part"] == "simulated"]
    kappas = sorted({r["item"]["kappa"] for r in rows})
    tables = [_of_kappa([r for r in rows if r["item"]["kappa"] == k]) for k in kappas]
    return "\n\n".join(
        f"Steps of the variance {k}: {t}" for k, t in zip(kappas, tables, strict=True)
    )


def _of_kappa(rows):
    names = [name for name in rows[0] if name.split()[-1] in ("all", "seen", "new")]

    def mean(name):
        x = np.array([r[name] for r in rows], dtype=float)
        x = x[np.isfinite(x)]
        return f"{100 * x.mean():.1f} ± {100 * x.std(ddof=1) / np.sqrt(x.size):.1f}"

    head = ["95 % intervals of", "all cells", "cells of one work"]
    lines = [[name, mean(name), mean(f"{name} single")] for name in names]
    size = np.array([r["sd of works"] for r in rows])
    truth = np.array([r["unit_sd"] for r in rows])
    held = np.mean((truth >= size[:, 0]) & (truth <= size[:, 1]))
    lines.append(["the deviation of works", f"{100 * held:.1f}", ""])
    seconds = np.mean([r["works cpu"] for r in rows])
    mixed = np.mean([r["works rhat"] < 1.05 for r in rows])
    note = f"{len(rows)} data sets, {seconds:.0f} CPU-s each, R-hat below 1.05 in {mixed:.0%}."
    return f"{note}\n\n{table(head, lines)}"


def _held_out_table(results):
    """A line for each set, with labels and without."""
    rows = [r for r in results if r["part"] == "held_out"]
    head = ["set", "learned from", "bands", "cells", "held", "width", "large", "held", "width"]
    lines = []
    for r in rows:
        for name in ("works", "plain"):
            (n, held, width), (m, held_large, width_large) = r[name]
            lines.append([
                r["item"]["set"], "labels" if r["item"]["labels"] else "words", name,
                n, f"{held:.3f}", f"{width:.2f}", m, f"{held_large:.3f}", f"{width_large:.2f}",
            ])  # fmt: skip
    return table(head, lines) if rows else ""


def main():
    parts = {"simulated": simulated, "held_out": held_out}
    parser = parser_of(__doc__, parts)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--kappa", default="0.25", help="variance of steps of prevalence")
    parser.add_argument("--least", type=int, default=10, help="snippets of a large cell")
    parser.add_argument("--n-jobs", type=int, default=1)
    run(parser.parse_args(), "senses_works.jsonl", parts, items, page)


if __name__ == "__main__":
    main()
