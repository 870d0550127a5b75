"""Speed of the two Gibbs kernels of `BayesianSGNS` beside the plain numpy sampler, on one thread.

    python benchmarks/gibbs.py

At three simulated sizes the yardstick (``benchmarks/yardstick.py``) and both kernels sample the
same posterior: the same contexts held at their MAP values, the same starting point, a draw made by
the tuned chain. They take turns, one run each per repetition, and a speed is the median over the
repetitions of sweeps per CPU-second of this process, numba's compilation, the search for the mode
and the warm-up left out. The effective sample sizes are those of P(w, v) over fixed random pairs.

The yardstick is known to reach 171, 94 and 18.6 sweeps per CPU-second on an idle core of the kind
of machine that the targets were set on; where it runs below 90 % of that, its line says so and the
ratios of that size count for nothing.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits
from yardstick import SIZES, numpy_gibbs_sweeps, simulate

from skbayesembed import PairCounts, Posterior
from skbayesembed.common.random import generators
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.gibbs.conditionals import SGNSConditionals
from skbayesembed.sgns.model import SGNSModel, pivot_contexts

REFERENCE = (171.0, 94.0, 18.6)  # sweeps per CPU-second of the yardstick
TARGET = (8.0, 3.0, 12.0)  # how many times as fast the faster kernel is to be
KERNELS = ("polya-gamma", "metropolis")
N_PAIRS = 2000


def serial(function, tasks):
    """Map a function over units of work, one after the other."""
    for task in tasks:
        function(*task)


class Ours:
    """A chain of one of our kernels, driven below the estimator."""

    def __init__(self, model, kernel, seed):
        monitored = np.zeros((1, 2), dtype=int)
        self.conditionals = SGNSConditionals(model, kernel, model.anchors, monitored)
        self.rng = generators(np.random.SeedSequence(seed), self.conditionals.n_streams)
        self.state = self.conditionals.init_state(self.rng)

    def warm_up(self, n_sweeps):
        """Sweep with tuning, as the estimator does."""
        for step in range(n_sweeps):
            self.conditionals.sweep(self.state, self.rng, serial)
            self.conditionals.tune(self.state, step, n_sweeps)

    def run(self, n_sweeps):
        """Draws of rho and alpha, each (n_sweeps, n_words, n_components)."""
        draws = np.empty((2, n_sweeps, *self.state.x[0].shape))
        for i in range(n_sweeps):
            self.conditionals.sweep(self.state, self.rng, serial)
            draws[:, i] = self.state.x
        return draws


class Yardstick:
    """The plain numpy sampler, continued from run to run."""

    def __init__(self, positive, negative, model, start):
        self.arguments = (positive, negative, model.n_components, float(model.prior.tau[0]))
        self.anchors, self.last, self.n_runs = model.anchors, start, 0

    def run(self, n_sweeps):
        """Draws of rho and alpha, each (n_sweeps, n_words, n_components)."""
        self.n_runs += 1
        draws = numpy_gibbs_sweeps(
            *self.arguments, n_sweeps, self.n_runs, anchors=self.anchors, start=self.last
        )
        self.last = [d[-1] for d in draws]
        return draws


def anchored_model(positive, negative, n_components):
    """The posterior that the estimator samples: contexts chosen and held at the MAP."""
    model = SGNSModel(pair_table(PairCounts(positive, negative)), n_components, n_components)
    start = model.pack(model.start(np.random.default_rng(0)))
    alpha = model.unpack(find_mode(model, start)[0])["alpha"]
    anchors = pivot_contexts(alpha, model.pairs.observations(1))
    return model.anchored(anchors, alpha[anchors])


def probabilities(draws, pairs):
    """P(w, v) of some pairs at every draw, shape (n_draws, n_pairs)."""
    rho, alpha = draws
    logits = (np.einsum("ij,ij->i", r[pairs[0]], a[pairs[1]]) for r, a in zip(*draws, strict=True))
    return expit(np.fromiter(logits, dtype=(float, pairs.shape[1]), count=len(rho)))


def per_sweep(p):
    """Effective sample size per sweep: bulk minimum and median, tail minimum."""
    posterior = Posterior({"p": p[None]})
    bulk, tail = (posterior.ess(method=m)["p"] / len(p) for m in ("bulk", "tail"))
    return np.nanmin(bulk), np.nanmedian(bulk), np.nanmin(tail)


def compare(size, n_sweeps, repeats, warmup):
    """Run all samplers in turn; returns speeds and effective sample sizes by name."""
    n_components, n_words, n_observations = size
    positive, negative, *_ = simulate(n_components, n_words, n_observations, seed=0)
    model = anchored_model(positive, negative, n_components)
    samplers = {kernel: Ours(model, kernel, seed=1) for kernel in KERNELS}
    samplers["metropolis"].warm_up(warmup)
    start = samplers["metropolis"].state.x
    samplers["polya-gamma"].state.x = [x.copy() for x in start]
    samplers = {"yardstick": Yardstick(positive, negative, model, start), **samplers}
    pairs = np.random.default_rng(0).integers(n_words, size=(2, N_PAIRS))
    seconds = {name: [] for name in samplers}
    drawn = {name: [] for name in samplers}
    chunk = max(1, n_sweeps // repeats)
    for sampler in samplers.values():
        sampler.run(2)
    for _ in range(repeats):
        for name, sampler in samplers.items():
            begin = time.process_time()
            draws = sampler.run(chunk)
            seconds[name].append(time.process_time() - begin)
            drawn[name].append(probabilities(draws, pairs))
    speed = {name: chunk / np.array(s) for name, s in seconds.items()}
    ess = {name: per_sweep(np.concatenate(p)) for name, p in drawn.items()}
    steps = np.concatenate(samplers["metropolis"].state.tuning.n_steps)
    return speed, ess, steps


def main():
    """Compare at the three sizes and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sweeps", type=int, nargs=3, default=(2000, 2000, 1000), metavar="N")
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--sizes", type=int, nargs="+", default=(0, 1, 2), help="which of 0 1 2")
    args = parser.parse_args()
    print(
        " K    V        N  sampler      sweeps/CPU-s (range)      ratio  target"
        "  ESS/sweep: min median, tail min"
    )
    for i in args.sizes:
        with threadpool_limits(1):
            speed, ess, steps = compare(SIZES[i], args.sweeps[i], args.repeats, args.warmup)
        unit = np.median(speed["yardstick"])
        for name, s in speed.items():
            label = "{:2d} {:4d} {:8d}".format(*SIZES[i])
            target = f"{TARGET[i]:4.0f} x" if name == "metropolis" else "      "
            note = f"  Hamiltonian steps {steps.min()}-{steps.max()}"
            if name != "metropolis":
                note = ""
            if name == "yardstick":
                void = unit < 0.9 * REFERENCE[i]
                note = f"  {'VOID: ' if void else ''}{unit / REFERENCE[i]:.0%} of {REFERENCE[i]}"
            print(
                f"{label}  {name:<12} {np.median(s):7.1f} ({s.min():.1f} to {s.max():.1f})".ljust(
                    57
                )
                + f"{np.median(s) / unit:6.2f}  {target}  "
                + "{:.3f} {:.3f}, {:.3f}".format(*ess[name])
                + note,
                flush=True,
            )


if __name__ == "__main__":
    main()
