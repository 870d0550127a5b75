"""How many components stay on under automatic relevance determination, and where the bound peaks.

Run ``python benchmarks/ard.py``. The data are Sakaya's (2015, section 6.1): vectors of 50 target
and 50 context words drawn from N(0, I) in 10 dimensions, 10,000 pairs drawn uniformly, each
positive if sigma(u . v) > 0.5 and negative otherwise (no noise in the labels). ``solver="vi"``,
``prior="ard"`` is fitted with 2 to 50 components; a component is on where its energy
|E rho_k| |E alpha_k| is above 1 % of the largest. His Figures 10 to 12: about 10 on for every
K > 10, and the bound largest at K = 10.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from scipy import sparse

from skbayesembed import BayesianSGNS, PairCounts

COMPONENTS = (2, 5, 10, 15, 20, 30, 50)


def sakaya(seed, n_words=50, n_components=10, n_pairs=10_000):
    """Pair counts of the synthetic set."""
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal((2, n_words, n_components))
    x, y = rng.integers(n_words, size=(2, n_pairs))
    positive = np.einsum("ij,ij->i", u[x], v[y]) > 0

    def counts(chosen):
        entries = np.ones(chosen.sum()), (x[chosen], y[chosen])
        return sparse.csr_array(entries, shape=(n_words, n_words))

    return PairCounts(counts(positive), counts(~positive))


def fit(counts, n_components, options, seed):
    """Components on, final bound, gap of energies, sweeps and CPU seconds of one fit."""
    start = process_time()
    model = BayesianSGNS(
        n_components, solver="vi", prior="ard", hyperprior=(options.shape, options.rate),
        covariance=options.covariance, draws=1, random_state=seed,
    ).fit(counts)  # fmt: skip
    approximation = model.posterior_.approximation
    energy = approximation.energy / approximation.energy[0]
    on = approximation.n_on
    gap = energy[on - 1], energy[on] if on < n_components else np.nan
    return on, approximation.elbo[-1], gap, model.n_iter_, process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--datasets", type=int, default=10)
    parser.add_argument("--covariance", default="full", choices=("full", "diag"))
    parser.add_argument("--shape", type=float, default=1e-3, help="of the Gamma hyperprior")
    parser.add_argument("--rate", type=float, default=1e-3)
    options = parser.parse_args()
    fit(sakaya(0), 2, options, 0)  # compiles the kernels
    results = {
        k: [fit(sakaya(s), k, options, s) for s in range(options.datasets)] for k in COMPONENTS
    }
    print("| K | on: min, median, max | bound | weakest on, strongest off | sweeps | CPU s |")
    print("|---|---|---|---|---|---|")
    for k, found in results.items():
        on, bound, gap, sweeps, seconds = zip(*found, strict=True)
        weakest, off = min(g[0] for g in gap), [g[1] for g in gap if not np.isnan(g[1])]
        print(
            f"| {k} | {min(on)}, {np.median(on):g}, {max(on)} | {np.mean(bound):.1f} | "
            f"{weakest:.2f}, {max(off, default=np.nan):.1e} | {np.median(sweeps):g} | "
            f"{np.median(seconds):.2f} |"
        )
    bounds = np.array([[f[1] for f in found] for found in results.values()])
    best = [COMPONENTS[i] for i in bounds.argmax(axis=0)]
    print(f"\nThe bound is largest at K = 10 in {best.count(10)} of {len(best)} data sets.")


if __name__ == "__main__":
    main()
