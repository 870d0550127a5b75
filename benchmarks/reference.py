"""Reference posteriors of ten small data sets: data, means, deviations and draws.

    python benchmarks/reference.py            # makes those that are not there
    python benchmarks/reference.py --check    # holds short runs of every sampler against them

Files go to ``benchmarks/reference``, whose README says what is in them, for other packages to use.
Each is made by long runs of one exact sampler and kept only if R-hat is below 1.01 everywhere and
another exact sampler agrees within Monte Carlo error. Models, priors and test quantities are those
of ``skbayesembed.calibration``, larger.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import build_vocabulary, count_pairs
from skbayesembed.calibration import known_differences
from skbayesembed.calibration.drift import Drift
from skbayesembed.calibration.models import Lengths, nth
from skbayesembed.calibration.senses import Senses, SnippetCounts
from skbayesembed.calibration.topics import Tokens, Topics
from skbayesembed.calibration.words import Counts, Words
from skbayesembed.datasets import make_sgns, make_text
from skbayesembed.posterior.summary import diagnostics
from skbayesembed.sgns.pairs import written_out

FOLDER = Path(__file__).resolve().parent / "reference"
CHAINS, KEPT = 4, 1000
# What is kept is one draw out of so many of the chains.
SPARSE = 4
SHARES = (0.1, 0.5, 0.9)
LARGEST_RHAT, LARGEST_SCORE = 1.01, 4.5

# Model, sampler of the reference, sampler that must agree.
CASES = {
    "words_small": (Words(), "gibbs", "hmc"),
    "words_zipf": (Words(n_words=25, n_components=3), "gibbs", "hmc"),
    "words_text": (Words(n_words=20, n_components=2), "gibbs", "hmc"),
    "words_learned_precision": (Words("shared", n_words=6), "gibbs", "hmc"),
    "drift": (Drift(n_words=5), "gibbs", "hmc"),
    "drift_learned": (Drift(learned=True, n_words=5), "gibbs", "hmc"),
    "senses_disc": (Senses("disc", n_snippets=120), "hmc", "gibbs"),
    "senses_gasc": (Senses("gasc", n_snippets=120), "hmc", "gibbs"),
    "senses_edisc": (Senses("edisc", n_snippets=120), "hmc", "hmc:nuts"),
    "topics": (Topics(n_documents=12, length=10), "gibbs", "hmc"),
}
DATA = {Words: Counts, Drift: Counts, Senses: SnippetCounts, Topics: Tokens}


def simulated(name, model):
    """Data of the model's own prior, or of a simulator of the package."""
    # one of few in which two senses are far apart: else chains go between modes, and R-hat tells
    rng = np.random.default_rng(3 if isinstance(model, Senses) else list(CASES).index(name))
    if name == "words_zipf":
        pairs = make_sgns(model.n_words, model.n_components, 1500, zipf=True, random_state=1).pairs
        positive = pairs.positive.toarray()
        return Counts(positive, positive + pairs.negative.toarray())
    if name == "words_text":
        texts = make_text(20, n_words=40, n_components=None, mean_length=60.0, random_state=2).texts
        vocabulary = build_vocabulary(texts, min_count=1, max_features=model.n_words)
        pairs = count_pairs(texts, vocabulary).pair_counts()
        # negative counts are expected ones: fractions
        positive = pairs.positive.toarray()
        return Counts(positive, positive + written_out(pairs.negative))
    return model.data(nth(model.prior(1, rng), 0), rng)


def file_of(name):
    return FOLDER / f"{name}.json", FOLDER / f"{name}.csv.gz"


def chains_of(model, data, sampler, draws, warmup, thin, seed, chains=CHAINS):
    """Test quantities of draws, (chain, draw, n_quantities)."""
    with warnings.catch_warnings():
        # what is made is judged below
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.posterior(
            data, sampler, Lengths(draws, warmup, thin), seed, chains=chains, keep_draws="all"
        )
    seen = model.look(found, data)
    return seen.reshape(chains, -1, seen.shape[1])


def make(name):
    """Write one reference posterior."""
    model, sampler, other = CASES[name]
    begun, data = time.process_time(), simulated(name, model)
    draws = chains_of(model, data, sampler, KEPT, 1000, model.samplers[sampler], 1)
    known = diagnostics(draws)
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1), ddof=1)
    others = chains_of(model, data, other, KEPT // 2, 500, model.samplers[other], 2)
    z = known_differences(others, mean, known["mcse"])
    if known["rhat"].max() > LARGEST_RHAT or np.abs(z).max() > LARGEST_SCORE:
        raise RuntimeError(f"{name}: R-hat {known['rhat'].max():.3f}, scores {np.round(z, 1)}")
    summary = {
        "name": name,
        "model": model.name,
        "sizes": {k: v for k, v in vars(model).items() if isinstance(v, int | float)},
        "data": {k: np.asarray(v).tolist() for k, v in vars(data).items()},
        "quantities": list(model.quantities),
        "mean": rounded(mean),
        "sd": rounded(sd),
        "mcse": rounded(known["mcse"]),
        "rhat": rounded(known["rhat"]),
        "ess_bulk": rounded(known["ess_bulk"]),
        "ess_tail": rounded(known["ess_tail"]),
        "draws": CHAINS * KEPT,
        "sampler": sampler,
        "agrees": {"sampler": other, "largest_score": round(float(np.abs(z).max()), 2)},
    }
    FOLDER.mkdir(exist_ok=True)
    summary_path, draws_path = file_of(name)
    summary_path.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    write_draws(draws_path, model.quantities, draws[:, ::SPARSE])
    print(
        f"{name}: R-hat {known['rhat'].max():.4f}, least ESS {known['ess_bulk'].min():.0f}, "
        f"{other} within {np.abs(z).max():.1f} errors, {time.process_time() - begun:.0f} CPU s",
        flush=True,
    )


def write_draws(path, names, draws):
    """CSV, compressed: chain, draw and the quantities."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["chain", "draw", *names])
    for c, d in np.ndindex(draws.shape[:2]):
        out.writerow([c, d, *(f"{x:.6g}" for x in draws[c, d])])
    # no time and no name in the file: the same draws make the same file
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def rounded(x):
    return [float(f"{v:.6g}") for v in x]


def load(name):
    """Model, data and summary of a reference posterior, from its file."""
    model = CASES[name][0]
    summary = json.loads(file_of(name)[0].read_text(encoding="utf-8"))
    kind = DATA[type(model)]
    data = kind(**{key: np.array(values) for key, values in summary["data"].items()})
    return model, data, summary


def kept_draws(name):
    """The draws that are in the file, (n_draws, n_quantities)."""
    with gzip.open(file_of(name)[1], "rt", encoding="utf-8") as lines:
        return np.array(list(csv.reader(lines))[1:], dtype=float)[:, 2:]


def scores(name, sampler, draws=400, seed=3):
    """Scores of a short run's means, and of its shares of draws below the reference's quantiles.

    Shares are bounded: squares of what has a long tail would say nothing in a short run.
    """
    model, data, known = load(name)
    mean, kept = np.array(known["mean"]), kept_draws(name)
    thin = max(1, model.samplers[sampler] // 2)
    found = chains_of(model, data, sampler, draws, 200, thin, seed, chains=2)
    of_means = known_differences(found, mean, np.array(known["mcse"]))
    of_shares = []
    for share in SHARES:
        below = (found <= np.quantile(kept, share, axis=0)).astype(float)
        # kept draws are at least half as good as independent ones
        error = np.sqrt(share * (1 - share) / (0.5 * len(kept)))
        of_shares.append(known_differences(below, np.full(mean.size, share), error))
    return of_means, np.concatenate(of_shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all where none is given")
    parser.add_argument("--check", action="store_true", help="hold every sampler against them")
    given = parser.parse_args()
    for name in given.names or CASES:
        if given.check:
            for sampler in CASES[name][0].samplers:
                largest = [np.abs(z).max() for z in scores(name, sampler, 1000)]
                print(f"{name}, {sampler}: means within {largest[0]:.1f} errors, shares "
                      f"{largest[1]:.1f}", flush=True)  # fmt: skip
        elif not file_of(name)[0].exists():
            make(name)


if __name__ == "__main__":
    main()
