"""Effective samples per CPU-second of our Hamiltonian sampler beside nutpie's and NumPyro's.

    python benchmarks/hmc.py

All sample the same posterior of simulated counts: the same contexts held at their MAP values, prior
precision K, one chain from the same start near the MAP, the same numbers of warm-up transitions and
draws. nutpie calls the very gradient that ours calls, and is run with its default diagonal metric
and with its low-rank metric. NumPyro runs where it is installed (``--numpyro PYTHON`` names the
interpreter of another environment that has it), with its own compiled gradient of the same dense
log density in double precision. nutpie and NumPyro are left out where they are absent.

CPU seconds are of the whole process on one BLAS thread, compilation left out. The sampling phase
begins with the first draw that is kept. The smallest effective sample size is over all coordinates
of rho and P(w, v) of all pairs (bulk; tail beside it). Figures are medians over data sets, each
with a seed of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit
from threadpoolctl import threadpool_limits

from skbayesembed.datasets import make_sgns
from skbayesembed.inference.hmc import hmc_chain
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.records import ChainRecord, Settings
from skbayesembed.inference.trajectories import HamiltonianOptions
from skbayesembed.posterior.summary import ess
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.hmc import SGNSHamiltonian
from skbayesembed.sgns.model import SGNSModel, pivot_contexts

OURS = {
    "ours": HamiltonianOptions(),
    "ours, block metric": HamiltonianOptions(metric="block"),
    "ours, fixed length": HamiltonianOptions(method="hmc"),
    "ours, MALA": HamiltonianOptions(method="mala"),
}
SAMPLERS = [*OURS, "nutpie", "nutpie, low rank", "NumPyro"]


class Run:
    """Draws of one run with the CPU seconds of its phases and the gradients of each draw."""

    def __init__(self, draws, warmup_seconds, seconds, gradients, divergences):
        self.draws, self.warmup_seconds, self.seconds = draws, warmup_seconds, seconds
        self.gradients, self.divergences = np.asarray(gradients), divergences


def problem(size, seed):
    """The anchored posterior that the estimator samples."""
    n_components, n_words, n_pairs = size
    data = make_sgns(n_words, n_components, n_pairs, random_state=seed)
    model = SGNSModel(pair_table(data.pairs), n_components, float(n_components))
    start = model.pack(model.start(np.random.default_rng(0)))
    mode = model.unpack(find_mode(model, start)[0])
    anchors = pivot_contexts(mode["alpha"], model.pairs.observations(1))
    model = model.anchored(anchors, mode["alpha"][anchors])
    return SGNSHamiltonian(model, anchors, np.array([[0, 0]]), start=mode)


class Stopwatch:
    """Stands in for the engine's control and notes when warm-up ends."""

    stopped = False

    def __init__(self, warmup):
        self.warmup, self.at = warmup, None
        self.progress = self

    def update(self, index, done):
        """Called after every transition."""
        if done == self.warmup:
            self.at = time.process_time()


def run_ours(target, options, draws, warmup, seed):
    """One chain of our sampler, driven below the estimator."""
    record, watch = ChainRecord(), Stopwatch(warmup)
    target.observe = lambda theta: {"theta": theta}
    begin = time.process_time()
    hmc_chain(
        options, target, Settings(draws, warmup), record, np.random.SeedSequence(seed), watch, 0,
        None,
    )  # fmt: skip
    end = time.process_time()
    stats = record.stats
    return Run(
        record.draws["theta"], watch.at - begin, end - watch.at, stats["n_leapfrog"],
        int(stats["divergent"].sum()),
    )  # fmt: skip


def run_nutpie(target, low_rank, draws, warmup, seed):
    """One chain of nutpie on the gradient of our model."""
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    n = target.n_parameters
    clock = []

    def make_logp():
        def logp(theta):
            clock.append(time.process_time())
            gradient = np.empty(n)
            return target.logp_and_grad(theta, gradient), gradient

        return logp

    compiled = from_pyfunc(
        n,
        make_logp,
        lambda *seeds: lambda theta: {"theta": theta},
        [np.dtype("float64")],
        [(n,)],
        ["theta"],
        make_initial_point_fn=lambda s: target.init(np.random.default_rng(seed)),
    )
    begin = time.process_time()
    trace = nutpie.sample(
        compiled, draws=draws, tune=warmup, chains=1, cores=1, seed=seed, progress_bar=False,
        low_rank_modified_mass_matrix=low_rank,
    )  # fmt: skip
    end = time.process_time()
    steps = trace.sample_stats["n_steps"].values[0]
    first = clock[len(clock) - int(steps.sum())]
    theta = trace.posterior["theta"].values[0]
    divergences = int(trace.sample_stats["diverging"].values.sum())
    return Run(theta, first - begin, end - first, steps, divergences)


def run_numpyro(python, target, draws, warmup, seed):
    """One chain of NumPyro's NUTS in a process of its own."""
    model = target.model
    script = Path(__file__).with_name("hmc_numpyro.py")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(
            file, n=model.pairs.n[0], kappa=model.pairs.kappa[0], anchors=model.anchors,
            values=model.anchor_values, precision=model.prior.tau[0],
            start=target.init(np.random.default_rng(seed)),
        )  # fmt: skip
        out = Path(folder) / "draws.npz"
        arguments = [python, script, file, out, draws, warmup, seed]
        subprocess.run([str(a) for a in arguments], check=True, stdout=subprocess.DEVNULL)
        found = np.load(out)
        return Run(
            found["draws"], float(found["warmup_seconds"]), float(found["seconds"]),
            found["gradients"], int(found["divergences"]),
        )  # fmt: skip


def correlated_most(x, share):
    """Columns of ``x`` (n_draws, m) that batch means say are the most autocorrelated ones."""
    x = np.argsort(np.argsort(x, axis=0), axis=0).astype(float)  # ranks, as the estimator
    variance = np.maximum(x.var(axis=0), 1e-300)
    score = np.zeros(x.shape[1])
    for size in (10, 40, len(x) // 4):
        batches = x[: len(x) // size * size].reshape(-1, size, x.shape[1]).mean(axis=1)
        score = np.maximum(score, size * batches.var(axis=0) / variance)
    return np.argsort(-score)[: max(100, int(share * x.shape[1]))]


def smallest_ess(target, theta, share=0.06):
    """Smallest effective sample sizes over rho and over P(w, v): dict of (rho, P) by method.

    The estimator is slow, so that it is asked about the most autocorrelated quantities only, a
    ``share`` of all; 1.0 asks about every one.
    """
    n_words, k = target.model.n_words, target.model.n_components
    rho = theta[:, : n_words * k].reshape(len(theta), n_words, k)
    alpha = np.array([target.model.unpack(t)["alpha"] for t in theta])
    p = expit(rho @ alpha.transpose(0, 2, 1)).reshape(len(theta), -1)
    found = {"bulk": [], "tail": []}
    for x in (rho.reshape(len(theta), -1), p):
        low, high = np.quantile(x, [0.05, 0.95], axis=0)
        tails = ((x <= low).astype(float), (x >= high).astype(float))
        chosen = {
            "bulk": correlated_most(x, share),
            "tail": np.union1d(*(correlated_most(t, share) for t in tails)),
        }
        for method, columns in chosen.items():
            found[method].append(float(np.nanmin(ess(x[None][:, :, columns], method))))
    return found


def measure(target, run):
    """Figures of one run."""
    found = smallest_ess(target, run.draws)
    bulk, tail = min(found["bulk"]), min(found["tail"])
    n_draws = len(run.draws)
    return {
        "draws/s": n_draws / run.seconds,
        "gradients/s": run.gradients.sum() / run.seconds,
        "ess_rho/draw": found["bulk"][0] / n_draws,
        "ess_p/draw": found["bulk"][1] / n_draws,
        "ess/s": bulk / run.seconds,
        "tail/s": tail / run.seconds,
        "ess/total s": bulk / (run.seconds + run.warmup_seconds),
        "leapfrogs": float(np.median(run.gradients)),
        "longest": float(run.gradients.max()),
        "divergences": run.divergences,
    }


def samplers(args):
    """Functions (target, draws, warmup, seed) -> Run by name."""
    found = {}
    for name, options in OURS.items():
        found[name] = lambda t, d, w, s, options=options: run_ours(t, options, d, w, s)
    if importlib.util.find_spec("nutpie") is not None:
        found["nutpie"] = lambda t, d, w, s: run_nutpie(t, False, d, w, s)
        found["nutpie, low rank"] = lambda t, d, w, s: run_nutpie(t, True, d, w, s)
    if args.numpyro:
        found["NumPyro"] = lambda t, d, w, s: run_numpyro(args.numpyro, t, d, w, s)
    for name in set(args.samplers) - set(found):
        print(f"{name} is not installed: left out.", file=sys.stderr)
    return {name: run for name, run in found.items() if name in args.samplers}


def table(results):
    """A Markdown table of medians over seeds; the longest trajectory is the largest."""
    names = list(results)
    yardstick = "nutpie" if "nutpie" in results else None

    def middle(name, key):
        return float(np.median([r[key] for r in results[name]]))

    lines = [
        "| sampler | min ESS/CPU-s (range) | ratio | tail | incl. warm-up | draws/CPU-s "
        "| min ESS/draw: rho, P | gradients a draw: median, max | gradients/CPU-s | divergences |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        rates = [r["ess/s"] for r in results[name]]
        ratio = middle(name, "ess/s") / middle(yardstick, "ess/s") if yardstick else np.nan
        longest = max(r["longest"] for r in results[name])
        divergences = sum(r["divergences"] for r in results[name])
        lines.append(
            f"| {name} | {middle(name, 'ess/s'):.1f} ({min(rates):.1f} to {max(rates):.1f}) "
            f"| {ratio:.2f} | {middle(name, 'tail/s'):.1f} | {middle(name, 'ess/total s'):.1f} "
            f"| {middle(name, 'draws/s'):.0f} | {middle(name, 'ess_rho/draw'):.2f}, "
            f"{middle(name, 'ess_p/draw'):.2f} | {middle(name, 'leapfrogs'):.0f}, {longest:.0f} "
            f"| {middle(name, 'gradients/s'):.0f} | {divergences} |"
        )
    return "\n".join(lines)


def main():
    """Compare over several data sets and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=3, default=(5, 100, 50_000), metavar="N",
                        help="components, words, observations")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=5, help="number of data sets")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first data set")
    parser.add_argument("--samplers", nargs="*", default=SAMPLERS, choices=SAMPLERS)
    parser.add_argument("--numpyro", metavar="PYTHON", help="an interpreter that has NumPyro")
    parser.add_argument("--json", type=Path, help="file for the figures of every run")
    args = parser.parse_args()
    runs = samplers(args)
    results = {name: [] for name in runs}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of nutpie's own dependencies
        for name in runs:  # compile
            if not name.startswith("NumPyro"):
                runs[name](problem((2, 20, 500), 0), 20, 20, 0)
        for seed in range(args.first, args.first + args.seeds):
            target = problem(args.size, seed)
            for name, run in runs.items():
                results[name].append(measure(target, run(target, args.draws, args.warmup, seed)))
                print(f"data set {seed}: {name} {rounded(results[name][-1])}", file=sys.stderr)
            if args.json:
                args.json.write_text(json.dumps(results, indent=1))
    k, v, n = args.size
    print(f"K={k} V={v} N={n}: medians over {args.seeds} data sets, {args.draws} draws each\n")
    print(table(results))


def rounded(figures):
    """Figures to three digits, for a line of progress."""
    return ", ".join(f"{key} {value:.3g}" for key, value in figures.items())


if __name__ == "__main__":
    main()
