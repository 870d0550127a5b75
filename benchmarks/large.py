"""Seconds a sweep takes and memory, through `BayesianSGNS` itself, at two sizes of real problems.

    python benchmarks/large.py movielens
    python benchmarks/large.py congress

``movielens``: 100 components, 603 words, 1 million observations, word pairs uniform; the target is
5 sweeps a second on 2 cores. ``congress``: 100 components, 5,000 words, 10 million observations,
Zipf frequencies; the target is a sweep in 6 s on 2 cores within 4 GB. Each is one chain whose words
are shared out to ``n_jobs=2`` threads.

The clock is read whenever a sweep begins, so that a sweep's time includes tuning in warm-up and
recording afterwards. The CPU time of all threads stands beside it: halved, it is what two cores
that do nothing else would need at least. Numba's compilation is left out by small fits beforehand.
One size a process: the peak of memory is the process's.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns import anchors
from skbayesembed.sgns import solvers as fitting
from skbayesembed.sgns.gibbs.conditionals import SGNSConditionals

SIZES = {
    "movielens": {"n_components": 100, "n_words": 603, "n_pairs": 1_000_000},
    "congress": {"n_components": 100, "n_words": 5_000, "n_pairs": 10_000_000, "zipf": True},
}
TARGET = {"movielens": 0.2, "congress": 6.0}  # seconds a sweep


class Clock:
    """Times of the parts of a fit: wraps the functions that do them."""

    def __init__(self):
        self.sweeps, self.seconds, self.tuning = [], {}, None
        self.mark("table", fitting, "build_model")
        self.mark("mode", anchors, "fit_mode")
        sweep = SGNSConditionals.sweep

        def timed(conditionals, state, rngs, run):
            self.sweeps.append((time.perf_counter(), time.process_time()))
            self.tuning = state.tuning
            sweep(conditionals, state, rngs, run)

        SGNSConditionals.sweep = timed

    def mark(self, part, module, name):
        """Time every call of a function of a module."""
        function = getattr(module, name)

        def timed(*args):
            begin = time.perf_counter()
            result = function(*args)
            self.seconds[part] = time.perf_counter() - begin
            return result

        setattr(module, name, timed)


def peak_memory():
    """Largest resident memory of this process so far, in GB (10^9 bytes)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main():
    """Run one size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("--kernel", default="auto", choices=("auto", "metropolis", "polya-gamma"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=40)
    parser.add_argument("--max-iter", type=int, default=50)
    parser.add_argument("--n-jobs", type=int, default=2)
    args = parser.parse_args()
    options = {
        "kernel": args.kernel,
        "chains": 1,
        "warmup": args.warmup,
        "draws": args.draws,
        "max_iter": args.max_iter,
        "n_jobs": args.n_jobs,
        "random_state": 0,
    }
    # two small fits compile the kernels of both layouts, and a third makes blocks of words
    warnings.simplefilter("ignore", ConvergenceWarning)
    for n_pairs in (300, 60_000):
        small = make_sgns(120, 100, n_pairs, random_state=0).pairs
        BayesianSGNS(100, anchors=None, **{**options, "warmup": 8, "draws": 8}).fit(small)
    clock = Clock()
    data = make_sgns(**SIZES[args.size], random_state=0)
    before = peak_memory()
    begin = time.perf_counter()
    model = BayesianSGNS(data.rho.shape[1], **options).fit(data.pairs)
    end = time.perf_counter()
    starts = [*clock.sweeps[-args.warmup - args.draws :], (end, time.process_time())]
    starts, cpu = np.array(starts).T
    length, cpu = np.diff(starts), np.diff(cpu)[args.warmup : -1]
    # the last one ends with the making of the posterior
    warm, sampling = length[: args.warmup], length[args.warmup : -1]
    observed = data.pairs.positive + data.pairs.negative
    share = observed.nnz / observed.shape[0] ** 2
    print(f"{args.size}: {observed.nnz:,} pairs observed of all words' pairs ({share:.0%})")
    print(f"memory: {peak_memory():.2f} GB at the peak, {before:.2f} GB with the data made")
    print(f"whole fit {end - begin:.1f} s, of which")
    print(f"  table {clock.seconds['table']:.1f} s")
    print(f"  mode {clock.seconds['mode']:.1f} s, {model.n_iter_} iterations")
    print(f"  rest up to the first sweep {starts[0] - begin - sum(clock.seconds.values()):.1f} s")
    print(f"  {warm.size} sweeps of warm-up {warm.sum():.1f} s, median {np.median(warm):.3f} s")
    print(f"  {sampling.size} sweeps recorded {sampling.sum():.1f} s")
    print(f"  last sweep and the posterior {length[-1]:.1f} s")
    median, target = np.median(sampling), TARGET[args.size]
    print(
        f"a sweep: {median:.3f} s ({sampling.min():.3f} to {sampling.max():.3f}), "
        f"{1 / median:.2f} a second; target {target} s; CPU {np.median(cpu):.3f} s"
    )
    if clock.tuning is not None:
        steps = np.concatenate(clock.tuning.n_steps)
        acceptance = model.posterior_.stats["acceptance"].mean()
        print(f"acceptance {acceptance:.3f}, Hamiltonian steps {steps.min()} to {steps.max()}")
    logit = model.posterior_.stats["logit"]
    moved = np.mean(np.any(np.diff(logit, axis=1) != 0, axis=1))
    print(f"kernel {model.posterior_.attrs['kernel']}; {moved:.0%} of the monitored pairs moved")


if __name__ == "__main__":
    main()
