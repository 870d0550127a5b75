"""Senses of kosmos: modes and their shares, speed, synthetic sets, models.

    SKBAYESEMBED_DATA=... python benchmarks/senses.py modes --seeds 10 --out results/
    SKBAYESEMBED_DATA=... python benchmarks/senses.py speed synthetic --out results/
    python benchmarks/senses.py --out results/ --table > doc/studies/senses.md

The data are those of Zafar & Nicholls (2022, "the paper"): see the README of their folder. Every
item of a part is a line of ``senses.jsonl``, written when it is done; what is there is skipped, so
that a part can be run in pieces. ``--limit 1`` does one item.

modes
    `DiSCSenseModel` as it is by default, K = 3, on the 1144 snippets of kosmos from each seed: the
    modes found, their shares and the errors of their log masses, the Brier score of each and of
    the posterior, split R-hat and effective sample sizes of all prevalences, and in how many cells
    the 95 % bands of prevalence overlap those learned from the labels.
speed
    Effective draws per CPU hour of the prevalences, and of the probabilities of the 20 most
    probable words of each sense in every period, beside the authors' R code, whose figures are
    the constants below, and beside the paper's sampler in plain numpy (`senses_mala.py`).
synthetic
    Brier scores on the paper's simulated sets.
solvers
    Means and standard deviations of the prevalences by every solver, beside ``"hmc"``.
kosmos-models
    One genre against two, SCAN, GASC and the interaction model, and K = 4 with the snippets that
    nobody can tell from their context.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from parts import parser_of, run
from scipy import sparse
from scipy.special import softmax
from senses_mala import BlockwiseMALA
from senses_tables import page

from skbayesembed import DiSCSenseModel
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.metrics import brier_score, interval_overlap, match_senses
from skbayesembed.posterior.summary import ess, rhat
from skbayesembed.senses import solvers as fitting
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior

SYNTHETIC = (
    "synth_scan_100", "synth_scan_500", "synth_interaction1", "synth_interaction2",
    "synth_interaction3",
)  # fmt: skip
MODELS = ("disc", "scan", "interaction")
SOLVERS = {
    "hmc": {},
    "gibbs, polya-gamma": {"solver": "gibbs", "kernel": "polya-gamma"},
    "gibbs, metropolis": {"solver": "gibbs", "kernel": "metropolis"},
    "gibbs, uniform": {"solver": "gibbs", "kernel": "uniform"},
    "gibbs, approximate": {"solver": "gibbs", "kernel": "approximate"},
    "vi": {"solver": "vi"},
    "laplace": {"solver": "laplace"},
    "map": {"solver": "map"},
}
# name: folder, number of senses, model, genres
KOSMOS_MODELS = {
    "G = 1": ("kosmos_collocates", 3, "disc", False),
    "G = 2": ("kosmos_collocates", 3, "disc", True),
    "SCAN, G = 1": ("kosmos_collocates", 3, "scan", False),
    "GASC, G = 2": ("kosmos_collocates", 3, "gasc", True),
    "interaction, G = 2": ("kosmos_collocates", 3, "interaction", True),
    "all snippets, K = 4": ("kosmos_all", 4, "disc", True),
}


# Data ------------------------------------------------------------------------------------------


def load(name):
    """Counts (D, V), and ``times``, ``genres``, ``units``, ``senses`` (-1: none), ``collocate``."""
    path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "senses" / name / "snippets.csv"
    if not path.exists():
        sys.exit(f"{path} is not there: set SKBAYESEMBED_DATA")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    texts = [[int(word) for word in row["words"].split()] for row in rows]
    ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    words = np.concatenate([np.array(text, dtype=int) for text in texts])
    counts = sparse.csr_array(
        (np.ones(words.size), words, ends), shape=(len(rows), 1 + words.max())
    )
    counts.sum_duplicates()
    return counts, {
        "times": np.array([int(row["time"]) for row in rows]),
        "genres": np.array([int(row["genre"]) for row in rows]),
        "units": np.array([row.get("doc_id", "") for row in rows]),
        "senses": np.array([int(row["sense"] or -1) for row in rows]),
        "collocate": np.array([row.get("annotation_type", "1") == "1" for row in rows]),
    }


def scored_labels(counts, given):
    """Labels of the snippets that scores are taken over: not those of empty ones."""
    empty = np.asarray(counts.sum(axis=1)).ravel() == 0
    return np.where(empty | ~given["collocate"], -1, given["senses"])


def brier(proba, labels):
    """Brier score after matching; over the labelled senses where there are more (appendix F)."""
    proba = proba[:, match_senses(proba, labels)][:, : labels.max() + 1]
    return brier_score(proba / proba.sum(axis=1, keepdims=True), labels)


# Fits ------------------------------------------------------------------------------------------


class Clock:
    """CPU seconds of the search for modes within a fit."""

    def __enter__(self):
        self.search, self.seconds = fitting.find_modes, 0.0
        fitting.find_modes = self.find
        return self

    def find(self, *args, **options):
        start = time.process_time()
        try:
            return self.search(*args, **options)
        finally:
            self.seconds += time.process_time() - start

    def __exit__(self, *error):
        fitting.find_modes = self.search


def fit(counts, given, seed, options, **parameters):
    """A fitted estimator and a dict of what it cost, after the kernels are compiled."""
    times, genres = given["times"], given["genres"]
    lengths = {n: getattr(options, n) for n in ("draws", "warmup", "n_starts")}
    lengths = {name: value for name, value in lengths.items() if value is not None}
    model = DiSCSenseModel(random_state=seed, n_jobs=options.n_jobs, **lengths, **parameters)
    with warnings.catch_warnings(record=True) as caught, Clock() as clock:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(counts, times=times, genres=genres)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return model, {
        "draws": model.draws, "warmup": model.warmup, "chains": model.chains,
        "thin": model.posterior_.attrs["thin"],
        "n_starts": sum(mode.n_starts for mode in model.modes_),
        "wall": wall, "cpu": cpu, "cpu_modes": clock.seconds,
        "warnings": sorted({str(w.message)[:200] for w in caught}),
    }  # fmt: skip


def warm(parameters):
    """Compile the kernels on a few snippets."""
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(0.3, size=(40, 12)))
    model = DiSCSenseModel(
        2, draws=5, warmup=5, chains=1, n_starts=2, random_state=0, **parameters
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(counts, times=np.arange(40) % 3, genres=np.arange(40) % 2)


def convergence(model):
    """R-hat and effective sample sizes of the prevalences; NaN where there are no chains."""
    prevalence = model.posterior_["prevalence"]
    if prevalence.shape[1] < 4:
        return dict.fromkeys(("rhat", "ess_min", "ess_median"), np.nan) | {"divergences": 0}
    sizes = ess(prevalence)
    return {
        "rhat": float(np.max(rhat(prevalence))),
        "ess_min": float(np.min(sizes)),
        "ess_median": float(np.median(sizes)),
        "divergences": int(np.sum(model.posterior_.attrs.get("divergences", 0))),
    }


def described_modes(model, labels):
    """The modes found, as dicts."""
    return [
        {
            "share": mode.share,
            "n_starts": mode.n_starts,
            "log_likelihood": mode.log_likelihood,
            "log_mass": None if mode.mass is None else mode.mass.value,
            "error": None if mode.mass is None else mode.mass.error,
            "brier": brier(mode.weights.T, labels),
        }
        for mode in model.modes_
    ]


def brier_of_parts(model, counts, given, kind, parts=10):
    """Brier scores of the means over tenths of each chain, from every tenth draw."""
    data = Snippets.of(counts, given["times"], given["genres"])
    reader = SenseModel(data, model.n_senses, ModelPrior(kind=kind))
    labels, scores = scored_labels(counts, given), []
    for chain in range(model.posterior_.n_chains):
        for part in np.array_split(np.arange(model.posterior_.n_draws), parts):
            weights = [reader.weights_of(model.posterior_, chain, i) for i in part[::10]]
            scores.append(brier(np.mean(weights, axis=0).T, labels))
    return scores


def result_of(model, cost, counts, given):
    """What is kept of a fit, and its probabilities of senses."""
    covariates = {"times": given["times"], "genres": given["genres"]}
    proba = model.predict_proba(counts, **covariates)
    labels = scored_labels(counts, given)
    kept = cost | convergence(model) | {"brier": brier(proba, labels)}
    return kept | {"modes": described_modes(model, labels)}, proba


# Parts -----------------------------------------------------------------------------------------


def modes(options, item):
    """Part "modes": one seed."""
    counts, given = load("kosmos_collocates")
    model, cost = fit(counts, given, item["seed"], options, n_senses=3)
    found, proba = result_of(model, cost, counts, given)
    informed = labelled_intervals(counts, given)
    order = match_senses(proba, given["senses"])
    bands = model.prevalence_interval(prob=0.95)[order]
    return found | {"overlap": interval_overlap(bands, informed), "cells": bands[..., 0].size}


def labelled_intervals(counts, given):
    """95 % bands of prevalence where the senses of all snippets are known."""
    model = DiSCSenseModel(3, n_starts=1, draws=500, warmup=200, random_state=0)
    covariates = {"times": given["times"], "genres": given["genres"]}
    return model.fit(counts, given["senses"], **covariates).prevalence_interval(prob=0.95)


def probable_words(mean, n=20):
    """Indices (K, n) of the words that are most probable over all periods; mean is (K, T, V)."""
    return np.argsort(-mean.mean(axis=1), axis=1)[:, :n]


def word_draws(posterior, n=20):
    """Probabilities (chain, draw, K, T, n) of the most probable words of each sense."""
    chi, theta = posterior["chi"], posterior["theta"]

    def proba(c, s):
        return softmax(chi[c, s][:, None].astype(float) + theta[c, s].astype(float), axis=2)

    places = list(np.ndindex(chi.shape[:2]))
    chosen = probable_words(sum(proba(*place) for place in places[::10]))
    out = np.empty((*chi.shape[:2], len(chosen), theta.shape[2], n))
    for place in places:
        out[place] = np.take_along_axis(proba(*place), chosen[:, None], axis=2)
    return out


def rates(prevalence, words, seconds):
    """Effective draws per CPU hour, median and minimum."""
    out = {}
    for name, draws in (("prevalence", prevalence), ("words", words)):
        sizes = ess(draws)
        out[f"{name}_median"] = float(np.median(sizes)) * 3600 / seconds
        out[f"{name}_min"] = float(np.min(sizes)) * 3600 / seconds
    return out


def speed(options, item):
    """Part "speed": the estimator, or the paper's sampler in numpy."""
    counts, given = load("kosmos_collocates")
    if item["sampler"] == "numpy MALA":
        return mala(counts, given, options)
    model, cost = fit(counts, given, item["seed"], options, n_senses=3)
    found, _ = result_of(model, cost, counts, given)
    draws = model.posterior_["prevalence"], word_draws(model.posterior_)
    chains = cost["cpu"] - cost["cpu_modes"]
    moves = cost["draws"] * cost["thin"]
    after = chains * moves / (moves + cost["warmup"])
    return found | {
        "whole": rates(*draws, cost["cpu"]),
        "after_warmup": rates(*draws, after),
    }


def mala(counts, given, options):
    """Effective draws of the paper's sampler from a state in the heaviest mode."""
    short = argparse.Namespace(draws=20, warmup=20, n_starts=4, n_jobs=options.n_jobs)
    model, _ = fit(counts, given, 0, short, n_senses=3, chains=1)
    start = {
        "phi": np.log(model.posterior_["prevalence"][0, -1]),
        "chi": model.posterior_["chi"][0, -1].astype(float),
        "theta": model.posterior_["theta"][0, -1].astype(float),
    }
    sampler = BlockwiseMALA(counts, given["times"], given["genres"], start, seed=1)
    chosen = probable_words(sampler.word_proba())
    with OneBlasThread():
        for _ in range(options.mala_warmup):
            sampler.sweep()
        prevalence, words = [], []
        seconds = time.process_time()
        for _ in range(options.mala_draws):
            sampler.sweep()
            prevalence.append(sampler.prevalence())
            words.append(np.take_along_axis(sampler.word_proba(), chosen[:, None], axis=2))
        seconds = time.process_time() - seconds
    found = rates(np.array(prevalence)[None], np.array(words)[None], seconds)
    return {
        "after_warmup": found,
        "acceptance": sampler.acceptance(),
        "iterations": options.mala_draws,
        "warmup_iterations": options.mala_warmup,
        "seconds_per_1000": seconds * 1000 / options.mala_draws,
    }


def solvers(options, item):
    """Part "solvers": one of them; senses in the order of the labels."""
    counts, given = load("kosmos_collocates")
    warm(SOLVERS[item["name"]])
    model, cost = fit(counts, given, 0, options, n_senses=3, **SOLVERS[item["name"]])
    found, proba = result_of(model, cost, counts, given)
    order = match_senses(proba, scored_labels(counts, given))
    draws = model.posterior_.flat("prevalence")[..., order]
    return found | {"mean": draws.mean(axis=0).tolist(), "sd": draws.std(axis=0).tolist()}


def synthetic(options, item):
    """Part "synthetic": one set, one model."""
    counts, given = load(item["set"])
    warm({"model": item["model"]})
    model, cost = fit(counts, given, 0, options, n_senses=3, model=item["model"])
    return result_of(model, cost, counts, given)[0]


def kosmos_models(options, item):
    """Part "kosmos-models": one of them."""
    folder, n_senses, name, genres = KOSMOS_MODELS[item["name"]]
    counts, given = load(folder)
    if not genres:
        given = given | {"genres": np.zeros_like(given["genres"])}
    warm({"model": name})
    model, cost = fit(counts, given, 0, options, n_senses=n_senses, model=name)
    found, _ = result_of(model, cost, counts, given)
    found["brier_of_parts"] = brier_of_parts(model, counts, given, name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loo = model.loo(counts, times=given["times"], genres=given["genres"])
    found["loo_warnings"] = [str(w.message)[:200] for w in caught]
    return found | {name: float(loo[name]) for name in ("elpd", "se", "bad_share")}


# -----------------------------------------------------------------------------------------------

PARTS = {
    "modes": modes,
    "speed": speed,
    "solvers": solvers,
    "synthetic": synthetic,
    "kosmos-models": kosmos_models,
}


def items(part, options):
    """The items of a part, in the order in which they are to be done."""
    if part == "modes":
        return [{"seed": seed} for seed in range(options.seeds)]
    if part == "speed":
        return [{"sampler": "numpy MALA"}, {"sampler": "hmc", "seed": 0}]
    if part == "solvers":
        return [{"name": name} for name in options.solvers]
    if part == "synthetic":
        return [{"set": s, "model": m} for s in options.sets for m in options.models]
    return [{"name": name} for name in options.names]


def arguments():
    parser = parser_of(__doc__, PARTS)
    parser.add_argument("--seeds", type=int, default=10, help="of modes")
    parser.add_argument("--sets", nargs="+", default=SYNTHETIC, choices=SYNTHETIC)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--names", nargs="+", default=list(KOSMOS_MODELS), choices=KOSMOS_MODELS)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--draws", type=int, help="the estimator's default if not given")
    parser.add_argument("--warmup", type=int, help="the same")
    parser.add_argument("--n-starts", type=int, help="the same")
    parser.add_argument("--n-jobs", type=int)
    parser.add_argument("--mala-warmup", type=int, default=2000)
    parser.add_argument("--mala-draws", type=int, default=5000)
    return parser.parse_args()


def main():
    run(arguments(), "senses.jsonl", PARTS, items, page, lambda: warm({}))


if __name__ == "__main__":
    main()
