"""The search for the mode of `BayesianSGNS`, beside plain L-BFGS.

Both climb the same posterior, of prior precision 1, on one thread:

- *package*: singular vectors to start from, `find_mode` with the default ``tol``;
- *plain*: SciPy's L-BFGS (20 steps remembered) on the log density in double precision, of vectors
  over the standard deviations that their counts give them, from random vectors. It ends when an
  iteration changes the log density by less than 1e-11 relatively. So the package searched before.

    SKBAYESEMBED_DATA=... python benchmarks/mode.py --corpora inaugural "wikipedia 1000"

prints, for each corpus and each of ``--seeds`` seeds of the starts, in turn: CPU-seconds, ascents
(iterations) and log densities of both; how far the log density of the package is below that of the
other, relative to its size; and how far apart the probabilities P(w, v) of all pairs of words are,
root mean square and at most. ``--newton`` also takes both to the mode by Newton's method and prints
how far P(w, v) was from there: two searches that end apart are both off.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from split_halves import DATA, vocabulary, wikipedia

from skbayesembed import BayesianSGNS, spine
from skbayesembed.inference.chains import serial
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.inputs import training_data
from skbayesembed.sgns.laplace.curvature import seek_mode
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.solvers import ROOM
from skbayesembed.sgns.spectral import spectral_start

PRECISION = 1.0
# Rows of probabilities at a time.
ROWS = 500


def inaugural():
    """All addresses, words that occur five times."""
    with gzip.open(DATA / "inaugural" / "inaugural.csv.gz", "rt", encoding="utf-8") as lines:
        return [row["text"] for row in csv.DictReader(lines)], 5


def articles(n_words):
    """Wikipedia to a million words, in a vocabulary of so many."""
    return vocabulary(wikipedia(1e6)[0], n_words)[1], 1


# text, and components
CORPORA = {
    "wikipedia 1000": (articles, 1000, 20),
    "inaugural": (inaugural, None, 50),
    "wikipedia 5000": (articles, 5000, 50),
}


def posterior(name, precision=PRECISION):
    """The model of a corpus, with the default counts."""
    source, size, components = CORPORA[name]
    texts, min_count = source() if size is None else source(size)
    estimator = BayesianSGNS(components, min_count=min_count, random_state=0)
    seeds = spine.seeds_of(estimator, ROOM)
    counts = training_data(estimator, texts, seeds["counts"]).counts
    return SGNSModel(pair_table(counts), components, precision)


def of_package(model, rng, tol=1e-8, max_iter=2000):
    """Parameters, log density, iterations."""
    start = model.pack(spectral_start(model, rng, serial))
    theta, facts = find_mode(model, start, tol=tol, max_iter=max_iter, warn=False)
    return theta, facts["lp"], facts["n_iter"]


def plain(model, rng, max_iter=2000):
    """Likewise."""
    gradient, scale = np.empty(model.n_parameters), model.scale

    def objective(scaled):
        value = model.logp_and_grad(scaled * scale, gradient)
        return -value, -gradient * scale

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": 20, "ftol": 1e-11}
    start = model.pack(model.start(rng)) / scale
    gtol = 1e-8 * max(1.0, float(np.abs(objective(start)[1]).max()))
    options["gtol"] = gtol
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return found.x * scale, -found.fun, found.nit


SEARCHES = {"package": of_package, "plain": plain}


def apart(model, first, second):
    """Differences of P(w, v) over all pairs: root mean square, largest."""
    squares, largest = 0.0, 0.0
    (x, y), (u, v) = (model.unpack(theta).values() for theta in (first, second))
    for a in range(0, model.n_words, ROWS):
        rows = slice(a, a + ROWS)
        difference = expit(x[rows] @ y.T) - expit(u[rows] @ v.T)
        squares += float(np.sum(difference**2))
        largest = max(largest, float(np.abs(difference).max()))
    return (squares / model.n_words**2) ** 0.5, largest


def compare(name, options):
    """Print what both searches found, in turn."""
    model = posterior(name)
    title = f"{name} (V = {model.n_words}, K = {model.n_components})"
    ratios = []
    for seed in range(options.seeds):
        found, seconds = {}, {}
        # which of the two goes first changes from seed to seed
        for search in sorted(SEARCHES, reverse=bool(seed % 2)):
            cpu = time.process_time()
            found[search] = SEARCHES[search](model, np.random.default_rng(seed))
            seconds[search] = time.process_time() - cpu
        ratios.append(seconds["plain"] / seconds["package"])
        (mine, value, steps), (theirs, other, their_steps) = found["package"], found["plain"]
        rms, largest = apart(model, mine, theirs)
        print(
            f"{title}, seed {seed}: {seconds['package']:.2f} and {seconds['plain']:.2f} CPU-s, "
            f"ratio {ratios[-1]:.1f}; {steps} and {their_steps} iterations; log density "
            f"{value:.4f} and {other:.4f}, below by {(other - value) / abs(other):.1e}; "
            f"P(w, v) apart by {rms:.1e}, at most {largest:.1e}",
            flush=True,
        )
        if options.newton:
            for search, (theta, *_) in found.items():
                (rho, alpha), _ = seek_mode(model, model.unpack(theta))
                top = model.pack({"rho": rho, "alpha": alpha})
                rms, largest = apart(model, theta, top)
                print(f"    {search}: {rms:.1e} from its mode, at most {largest:.1e}", flush=True)
    print(f"{title}: median ratio {np.median(ratios):.1f}", flush=True)


def main():
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--newton", action="store_true")
    options = parser.parse_args()
    with OneBlasThread():
        # kernels compile
        rng = np.random.default_rng(0)
        small = posterior("wikipedia 1000")
        of_package(small, rng, max_iter=3)
        of_package(small, rng, tol=1e-14, max_iter=200)
        plain(small, rng, max_iter=3)
        for name in options.corpora:
            compare(name, options)


if __name__ == "__main__":
    main()
