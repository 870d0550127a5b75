"""Coverage of `regress`: 90 % intervals of slopes on features that are known by draws.

    python benchmarks/regression.py [errors | time | power | presidents]

Outcomes of 160 documents of 40 units depend on two features and a covariate. Errors of features
are of each document, or shared by all, as those of vectors of words are; the truth is about the
mean features (berkson), or the mean features about the truth (classical). 400 data sets each; the
table of the guide's page on regressions, in half a minute.

`time`: the outcome has nothing to do with the feature, and units that follow each other in time
are alike, in both; 1,000 data sets of 40 units with four documents each, what may be done, and how
often `regress` finds them alike or opposed where it is told of time, in four minutes.

`power`: how often so many units that are alike from one to the next are found to be, by their own
residuals; 1,000 series each, in a minute.

`presidents`: the same with real features, how near addresses are to *economy* and *war*, of 42
presidents in the order of time; 200 outcomes, and what addresses' own lengths give. A minute, and a
download.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from skbayesembed import BayesianSGNS, regress
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.numeric.regression import lag_correlation

SLOPES = np.array([1.0, -0.5])
N, PER, K, N_DRAWS, N_SETS = 160, 4, 16, 100, 400
N_IN_TIME, N_OUTCOMES = 1000, 200
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

    Of memory None independent numbers about a line that rises by four over all units.
    """
    if memory is None:
        return rng.normal(size=n_units) + np.linspace(-2.0, 2.0, n_units)
    steps = rng.normal(size=n_units)
    for i in range(1, steps.size):
        steps[i] = memory * steps[i - 1] + np.sqrt(1 - memory**2 if memory < 1 else 1) * steps[i]
    return steps


def analyses(draws, y):
    """Tables of what may be done where units follow each other, by name."""
    year = {"year": np.arange(N) // PER}
    own = {"times": UNITS, "error": "berkson"}
    return {
        "as they are": regress(draws, y, UNITS, **own),
        "year as covariate": regress(draws, y, UNITS, covariates=year, **own),
        "eras of five units": regress(draws, y, UNITS // 5, **own),
        "differences of neighbours": regress(draws, y, UNITS, differences=True, **own),
    }


def in_time():
    """Print how often intervals hold zero and what `regress` finds, by how alike neighbours are."""
    warnings.filterwarnings("ignore", message=".*next to each other in time are")
    for memory in (0.0, 0.5, 0.8, 1.0, None):
        rng, held, free, alike, opposed = np.random.default_rng(2), {}, {}, {}, {}
        for _ in range(N_IN_TIME):
            x, y = ((walk(rng, memory)[UNITS] + 0.5 * rng.normal(size=N)) for _ in range(2))
            draws = x[:, None] + 0.2 * rng.normal(size=(20, N, 1))
            for name, table in analyses(draws, y).items():
                low, high = table.interval[0]
                held.setdefault(name, []).append(low < 0 < high)
                free.setdefault(name, []).append(table.freedom[0])
                alike.setdefault(name, []).append(table.lag_p_value <= 0.05)
                opposed.setdefault(name, []).append(table.lag_p_value_below <= 0.05)
        for name, of in held.items():
            print(f"memory {memory!s:5} {name:26} hold {np.mean(of):.3f}  "
                  f"df {np.median(free[name]):.1f}  alike {np.mean(alike[name]):.3f}  "
                  f"opposed {np.mean(opposed[name]):.3f}", flush=True)  # fmt: skip


def power():
    """Print how often units are found to be alike, by how many there are and how alike."""
    for n in (8, 13, 20, 30, 40):
        found = []
        for memory in (0.0, 0.5, 0.8):
            rng = np.random.default_rng(4)
            alike = [lag_correlation(walk(rng, memory, n))[1] <= 0.05 for _ in range(N_IN_TIME)]
            found.append(f"{memory}: {np.mean(alike):.3f}")
        print(f"{n} units  {'  '.join(found)}", flush=True)


def on_presidents():
    """Print how often intervals hold zero for outcomes that have nothing to do with addresses."""
    addresses = fetch_state_of_the_union()
    names, units = np.unique(addresses.president, return_inverse=True)
    model = BayesianSGNS(
        20, solver="map", max_features=1000, stop_words="english", random_state=0
    ).fit(addresses.data, units=units)  # fmt: skip
    words = ["economy", "war"]
    draws = model.document_similarity(addresses.data, words=words).draws[::5]
    warnings.filterwarnings("ignore", message=".*next to each other in time are")
    features = model.document_similarity(addresses.data, words=[*words, "law"])
    n_words = [len(text.split()) for text in addresses.data]
    for differences in (False, True):
        print(regress(
            features, np.log(n_words), addresses.president, times=addresses.year,
            differences=differences, standardize=True, outcome_name="log words",
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
                regress(draws, y[place], units, times=place, differences=True, error="classical"),
            )
            held.append([(t.interval[:, 0] < 0) & (t.interval[:, 1] > 0) for t in tables])
        for name, of in zip(("as they are", "differences"), np.mean(held, axis=0), strict=True):
            print(f"{kind:12} {name:12} hold {', '.join(f'{share:.3f}' for share in of)}")


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
    others = {"time": in_time, "power": power, "presidents": on_presidents}
    others.get("".join(sys.argv[1:]), main)()
