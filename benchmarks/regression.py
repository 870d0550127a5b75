"""Coverage of `regress`: 90 % intervals of slopes on features that are known by draws.

    python benchmarks/regression.py [errors | time | turns | presidents]

Outcomes of 160 documents of 40 units depend on two features and a covariate. Errors of features
are of each document, or shared by all, as those of vectors of words are; the truth is about the
mean features (berkson), or the mean features about the truth (classical). 400 data sets each; the
table of the guide's page on regressions, in half a minute.

`time`: the outcome has nothing to do with the feature, and units that follow each other in time
are alike, in both; 200 data sets each of 40 units with four documents, of 20 and of 12 units with
one, without and with `times=`, in some twenty minutes.

`turns`: the same with outcomes that alternate between units, 40 with one document, by what the
feature does, in two minutes.

`presidents`: the same with real features, how near addresses are to *economy* and *war*, of 42
presidents in the order of time; 200 outcomes, and what addresses' own lengths give; and how the
contexts of *labor* depend on the time. A minute, and a download.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from skbayesembed import BayesianSGNS, regress
from skbayesembed.datasets import fetch_state_of_the_union

SLOPES = np.array([1.0, -0.5])
N, PER, K, N_DRAWS, N_SETS = 160, 4, 16, 100, 400
N_IN_TIME, N_OUTCOMES = 200, 200
UNITS = np.repeat(np.arange(N // PER), PER)
CASES = (("own", "berkson"), ("shared", "berkson"), ("shared", "classical"))


def simulate(rng, kind, truth, reliability):
    """Draws of two features, an outcome and a covariate."""
    spread = np.sqrt(1 / reliability - 1)
    documents = rng.normal(size=(N, K)) + 0.7 * rng.normal(size=(N // PER, K))[UNITS]
    documents /= np.sqrt(1.5 * K)
    vectors = rng.normal(size=(K, 2))

    def error(n_draws):
        if kind == "own":
            return spread * rng.normal(size=(n_draws, N, 2))
        return documents @ (spread * rng.normal(size=(n_draws, K, 2)))

    mean, true = documents @ vectors, documents @ vectors
    if truth == "classical":
        mean = mean + error(1)[0]
    else:
        true = true + error(1)[0]
    covariate = rng.normal(size=N)
    noise = 0.5 * rng.normal(size=N // PER)[UNITS] + 0.5 * rng.normal(size=N)
    return mean + error(N_DRAWS), true @ SLOPES + 0.5 * covariate + noise, covariate


def walk(rng, memory, n_units=N // PER):
    """One number a unit, in time order, with variance one or, of memory 1, a random walk.

    Of memory None independent numbers about a line that rises by four over all units, of "window"
    means of five independent numbers in turn.
    """
    if memory == "window":
        return np.convolve(rng.normal(size=n_units + 4), np.full(5, 5**-0.5), "valid")
    if memory is None:
        return rng.normal(size=n_units) + np.linspace(-2.0, 2.0, n_units)
    steps = rng.normal(size=n_units)
    for i in range(1, steps.size):
        steps[i] = memory * steps[i - 1] + np.sqrt(1 - memory**2 if memory < 1 else 1) * steps[i]
    return steps


def in_time():
    """Print how often intervals hold zero, and their length, by how alike neighbours are."""
    for n_units, per in ((40, 4), (20, 1), (12, 1)):
        units = np.repeat(np.arange(n_units), per)
        for memory in (0.0, 0.5, 0.8, 1.0, None, "window"):
            rng, held, length, found = np.random.default_rng(2), [], [], []
            for _ in range(N_IN_TIME):
                own = 0.5 * rng.normal(size=(2, units.size)) if per > 1 else np.zeros((2, 1))
                x, y = (walk(rng, memory, n_units)[units] + error for error in own)
                draws = x[:, None] + 0.2 * rng.normal(size=(20, units.size, 1))
                year = {"covariates": {"year": units}}
                tables = [
                    regress(draws, y, units, times=times, error="berkson", **options)
                    for options in ({}, year) for times in (None, units)
                ]  # fmt: skip
                table = tables[1]
                ends = np.array([one.interval[-1] for one in tables])
                held.append((ends[:, 0] < 0) & (ends[:, 1] > 0))
                length.append(np.ptp(ends, axis=1))
                found.append([table.autocorrelation, table.trend])
            held, length = np.mean(held, axis=0), np.median(length, axis=0)
            print(f"{n_units} units, memory {memory!s:6} hold {held[0]:.3f}, with times "
                  f"{held[1]:.3f}; length {length[0]:.2f}, {length[1]:.2f}; autocorrelation "
                  f"{np.mean(found, axis=0)[0]:.2f}, line {np.mean(found, axis=0)[1]:.2f}; of the "
                  f"year {held[2]:.3f}, {held[3]:.3f}; length {length[2]:.3f}, {length[3]:.3f}",
                  flush=True)  # fmt: skip


def in_turns():
    """Print how often intervals hold zero where units are less alike than independent ones."""
    n, sign = 40, (-1.0) ** np.arange(40)
    for outcome in (-0.5, -0.8, "turns"):
        for feature in (0.9, 0.0, -0.8):
            rng, held, length, warned = np.random.default_rng(4), [], [], 0
            for _ in range(N_IN_TIME):
                y = sign + 0.5 * rng.normal(size=n) if outcome == "turns" else walk(rng, outcome, n)
                draws = walk(rng, feature, n) + 0.01 * rng.normal(size=(20, n))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tables = [regress(draws, y, times=times, error="berkson")
                              for times in (None, np.arange(n))]  # fmt: skip
                ends = np.array([table.interval[0] for table in tables])
                held.append((ends[:, 0] < 0) & (ends[:, 1] > 0))
                length.append(np.ptp(ends, axis=1))
                warned += tables[1].alternating
            held, length = np.mean(held, axis=0), np.median(length, axis=0)
            print(f"outcome {outcome!s:6} feature {feature:4} hold {held[0]:.3f}, with times "
                  f"{held[1]:.3f}; length {length[0]:.2f}, {length[1]:.2f}; warned of "
                  f"{warned / N_IN_TIME:.3f}", flush=True)  # fmt: skip


def on_presidents():
    """Print how often intervals hold zero for outcomes that have nothing to do with addresses."""
    addresses = fetch_state_of_the_union()
    names, units = np.unique(addresses.president, return_inverse=True)
    model = BayesianSGNS(
        20, solver="map", max_features=1000, stop_words="english", random_state=0
    ).fit(addresses.data, units=units)  # fmt: skip
    words = ["economy", "war"]
    draws = model.document_similarity(addresses.data, words=words).draws[::5]
    features = model.document_similarity(addresses.data, words=[*words, "law"])
    n_words = [len(text.split()) for text in addresses.data]
    for times in (None, addresses.year):
        print(regress(
            features, np.log(n_words), addresses.president, times=times, standardize=True,
            outcome_name="log words",
        ))  # fmt: skip
        centuries = {"century": (np.asarray(addresses.year) - 1900) / 100}
        print(model.effects(
            addresses.data, centuries, addresses.president, word="labor", times=times
        ))  # fmt: skip
    order = list(dict.fromkeys(units.tolist()))
    place = np.argsort(order)[units]
    for kind in ("independent", "random walk"):
        rng, held = np.random.default_rng(3), []
        for _ in range(N_OUTCOMES):
            y = rng.normal(size=names.size)
            y = y if kind == "independent" else np.cumsum(y)
            tables = (
                regress(draws, y[place], units, error="classical"),
                regress(draws, y[place], units, times=place, error="classical"),
            )
            held.append([(t.interval[:, 0] < 0) & (t.interval[:, 1] > 0) for t in tables])
        for name, of in zip(("without times", "with times"), np.mean(held, axis=0), strict=True):
            print(f"{kind:12} {name:13} hold {', '.join(f'{share:.3f}' for share in of)}")


def main():
    """Print a line for each kind of error, reliability and correction."""
    for kind, truth in CASES:
        for reliability in (0.95, 0.85):
            for error in ("berkson", "classical") if truth == "classical" else ("berkson",):
                rng = np.random.default_rng(1)
                found, held, refused = [], [], 0
                for _ in range(N_SETS):
                    draws, y, covariate = simulate(rng, kind, truth, reliability)
                    try:
                        table = regress(draws, y, UNITS, covariates=covariate, error=error)
                    except ValueError:
                        refused += 1
                        continue
                    low, high = table.interval[:2].T
                    held.append((low < SLOPES) & (SLOPES < high))
                    found.append([table.mean[0], table.sd_units[0], table.sd[0]])
                slope, units, se = np.mean(found, axis=0)
                print(
                    f"{kind:7}{truth:10}{reliability:5.2f}  as {error:10} slope {slope:5.2f}  "
                    f"spread {np.std(found, axis=0)[0]:.3f}  se {se:.3f} (units {units:.3f})  "
                    f"hold {np.mean(held):.3f}  refused {refused}",
                    flush=True,
                )


if __name__ == "__main__":
    others = {"time": in_time, "turns": in_turns, "presidents": on_presidents}
    others.get("".join(sys.argv[1:]), main)()
