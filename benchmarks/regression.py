"""Coverage of `regress`: 90 % intervals of slopes on features that are known by draws.

    python benchmarks/regression.py

Outcomes of 160 documents of 40 units depend on two features and a covariate. Errors of features
are of each document, or shared by all, as those of vectors of words are; the truth is about the
mean features (berkson), or the mean features about the truth (classical). 400 data sets each; the
table of the guide's page on regressions, in half a minute.
"""

from __future__ import annotations

import numpy as np

from skbayesembed import regress

SLOPES = np.array([1.0, -0.5])
N, PER, K, N_DRAWS, N_SETS = 160, 4, 16, 100, 400
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
    main()
