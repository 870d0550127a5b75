"""All yardsticks of speed in one command, and a page of ratios with the date and the machine.

    python benchmarks/speed.py --page speed.md           # sizes of the other scripts
    python benchmarks/speed.py --small --page speed.md   # small ones, some minutes

Every line runs the package and a peer in turn on the same problem and divides CPU seconds,
compilation left out: above 1 the package is faster. Peers that are not installed are left out, with
the reason. The scripts named on the page measure the same at length. ``--only gibbs mode`` takes
some of them.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns, make_topics


@dataclass(frozen=True)
class Ratio:
    """What the package and a peer do in a CPU second, and on what."""

    script: str
    what: str
    size: str
    peer: str
    ours: float
    theirs: float

    @property
    def ratio(self):
        return self.ours / self.theirs


class Skipped(Exception):
    """A peer that cannot run here; the message says why."""


def need(package):
    """Raise `Skipped` where a package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise Skipped(f"{package} is not installed")


def rates(programs, work, repeats):
    """Work per CPU second of functions that take turns; each is run once before, to compile.

    Parameters
    ----------
    programs : dict of str to callable
    work : dict of str to float
        What one call does.
    repeats : int

    Returns
    -------
    dict of str to float
        Medians.
    """
    seconds = {name: [] for name in programs}
    for function in programs.values():
        function()
    for _ in range(repeats):
        for name, function in programs.items():
            begin = time.process_time()
            function()
            seconds[name].append(time.process_time() - begin)
    return {name: work[name] / float(np.median(s)) for name, s in seconds.items()}


# -- yardsticks ------------------------------------------------------------------------------------


def counting(small):
    """Pairs of words counted, beside a plain Python dictionary."""
    from counting import dictionary_pairs, simulate_articles

    from skbayesembed.corpus.analysis import make_analyzer
    from skbayesembed.corpus.text import build_corpus, restrict
    from skbayesembed.sgns.counting import window_pairs

    n_tokens = 20_000 if small else 2_000_000
    analyzer = make_analyzer(token_pattern=r"(?u)\b\w+\b")
    corpus = build_corpus(simulate_articles(n_tokens, np.random.default_rng(0)), analyzer)
    corpus = restrict(corpus, min_count=2)
    n = min(corpus.ids.size, 200_000)
    part = corpus.offsets[corpus.offsets <= n]

    def ours():
        window_pairs(
            corpus.ids, corpus.offsets, corpus.words.size, window=5, window_weights="linear"
        )

    found = rates(
        {"ours": ours, "theirs": lambda: dictionary_pairs(corpus.ids, part, 5)},
        {"ours": corpus.ids.size / 1e6, "theirs": part[-1] / 1e6},
        3,
    )
    size = f"{corpus.ids.size:,} tokens"
    yield Ratio("counting.py", "million tokens counted", size, "a dictionary", **found)


def gibbs(small):
    """Sweeps of both kernels, beside plain NumPy with the polyagamma package."""
    from gibbs import compare
    from yardstick import SIZES

    for size in SIZES[:1] if small else SIZES:
        speeds, _, _ = compare(size, 100 if small else 1000, 5, 50 if small else 500)
        unit = float(np.median(speeds.pop("yardstick")))
        for kernel, speed in speeds.items():
            yield Ratio(
                "gibbs.py", f"sweeps, {kernel}", "K={}, V={}, N={}".format(*size), "NumPy",
                float(np.median(speed)), unit,
            )  # fmt: skip


def nuts(small):
    """Smallest effective sample size, beside nutpie on the same gradient."""
    need("nutpie")
    from hmc import OURS, run_nutpie

    yield from _hamiltonian(small, OURS, "nutpie", lambda *a: run_nutpie(a[0], False, *a[1:]))


def nuts_of_numpyro(small):
    """The same, beside NumPyro."""
    need("numpyro")
    import sys

    from hmc import OURS, run_numpyro

    yield from _hamiltonian(small, OURS, "NumPyro", lambda *a: run_numpyro(sys.executable, *a))


def _hamiltonian(small, ours, peer, run_peer):
    from hmc import measure, problem, run_ours

    size, draws = ((2, 20, 2000), 200) if small else ((5, 100, 50_000), 1000)
    run_peer(problem((2, 20, 500), 0), 20, 20, 0)
    run_ours(problem((2, 20, 500), 0), ours["ours"], 20, 20, 0)
    target = problem(size, 0)
    found = [
        measure(target, run)["ess/s"]
        for run in (
            run_ours(target, ours["ours"], draws, draws // 2, 0),
            run_peer(target, draws, draws // 2, 0),
        )
    ]
    what = "smallest effective sample size, hmc"
    yield Ratio("hmc.py", what, "K={}, V={}, N={}".format(*size), peer, *found)


def mode(small):
    """Searches for the mode, beside L-BFGS."""
    from mode import of_package, plain

    from skbayesembed.sgns.data import pair_table
    from skbayesembed.sgns.model import SGNSModel

    size = (100, 5, 20_000) if small else (1000, 20, 2_000_000)
    pairs = make_sgns(*size, zipf=True, random_state=0).pairs
    model = SGNSModel(pair_table(pairs), size[1], 1.0)
    programs = {
        "ours": lambda: of_package(model, np.random.default_rng(0)),
        "theirs": lambda: plain(model, np.random.default_rng(0)),
    }
    found = rates(programs, {"ours": 1.0, "theirs": 1.0}, 3)
    yield Ratio("mode.py", "searches", "V={}, K={}, N={}".format(*size), "SciPy's L-BFGS", **found)


def vectors(small):
    """Tokens learned from by the mode, beside gensim's skip-gram of two epochs."""
    need("gensim")
    from counting import simulate_articles
    from similarity import train_gensim

    n_tokens, n_words, k = (50_000, 500, 10) if small else (2_000_000, 5000, 50)
    texts = [t.split() for t in simulate_articles(n_tokens, np.random.default_rng(0))]
    options = argparse.Namespace(components=k, words=n_words)
    model = BayesianSGNS(
        k, solver="map", max_features=n_words, prior_precision=1.0, uncertainty="model", n_jobs=1
    )
    programs = {
        "ours": lambda: model.fit(texts),
        "theirs": lambda: list(train_gensim(texts, options)),
    }
    found = rates(programs, dict.fromkeys(programs, n_tokens / 1e6), 1 if small else 3)
    size = f"{n_tokens:,} tokens, V={n_words}, K={k}"
    yield Ratio("similarity.py", "million tokens learned from, map", size, "gensim", **found)


def lda(small):
    """Tokens a second of a sweep, beside scikit-learn's LDA."""
    from sklearn.decomposition import LatentDirichletAllocation

    programs, n_tokens, size, counts, k = _topic_sweeps(small)
    # fit would end with one more pass, for its bound
    model = LatentDirichletAllocation(k, batch_size=counts.shape[0], random_state=0)
    programs["theirs"] = lambda: model.partial_fit(counts)
    yield from _of_topics(programs, n_tokens, size, "scikit-learn LDA")


def lda_of_tomotopy(small):
    """The same, beside tomotopy's LDA."""
    need("tomotopy")
    from topics_lda import tomotopy_model

    programs, n_tokens, size, counts, k = _topic_sweeps(small)
    model = tomotopy_model(counts.astype(int), k)
    model.train(10, workers=1)
    programs["theirs"] = lambda: model.train(1, workers=1)
    yield from _of_topics(programs, n_tokens, size, "tomotopy LDA")


def _topic_sweeps(small):
    """A sweep each of our sampler and of variational inference, on simulated documents."""
    from skbayesembed.common.random import generators
    from skbayesembed.inference.threads import serial
    from skbayesembed.topics.data import Documents
    from skbayesembed.topics.gibbs.conditionals import TopicGibbs
    from skbayesembed.topics.priors import NIW
    from skbayesembed.topics.vi.variational import TopicVI

    n_documents, n_words, k, e = (200, 300, 5, 5) if small else (5000, 5000, 20, 50)
    data = make_topics(
        n_documents, n_words, k, n_dims=e, mean_length=100.0, likelihood_power=0.1, random_state=0
    )
    documents = Documents.of(data.counts, data.vectors)
    prior = NIW.from_vectors(documents.vectors, documents.totals)
    alpha, start = np.full(k, 1 / k), np.arange(n_words) % k
    sampler = TopicGibbs(documents, k, prior, alpha, start=start)
    streams = generators(np.random.SeedSequence(0), sampler.n_streams)
    state = sampler.init_state(streams)
    variational = TopicVI(documents, k, prior, alpha)
    q = variational.init_q({"assignment": start})
    programs = {
        "gibbs": lambda: sampler.sweep(state, streams, serial),
        "vi": lambda: variational.update(q, serial),
    }
    size = f"{documents.n_tokens:,} tokens, V={n_words}, K={k}, E={e}"
    return programs, documents.n_tokens / 1e6, size, data.counts, k


def _of_topics(programs, n_tokens, size, peer):
    found = rates(programs, dict.fromkeys(programs, n_tokens), 5)
    theirs = found.pop("theirs")
    for solver, ours in found.items():
        what = f"million tokens of a sweep, {solver}"
        yield Ratio("topics.py", what, size, peer, ours, theirs)


def senses(small):
    """Effective draws of prevalences, beside the authors' R code, measured elsewhere."""
    if not os.environ.get("SKBAYESEMBED_DATA"):
        raise Skipped("SKBAYESEMBED_DATA names no folder with the snippets of kosmos")
    from senses import speed
    from senses_tables import R_CODE

    options = argparse.Namespace(
        draws=50 if small else 1000, warmup=50 if small else 200, n_starts=2 if small else 24,
        n_jobs=1,
    )  # fmt: skip
    found = speed(options, {"sampler": "hmc", "seed": 0})
    yield Ratio(
        "senses.py", "effective draws of prevalences, after warm-up", "kosmos, K=3",
        "R code, elsewhere", found["after_warmup"]["prevalence_median"] / 3600,
        R_CODE["prevalence"] / 3600,
    )  # fmt: skip


def drift(small):
    """Draws of drifting vectors, beside one draw of as many static ones in plain NumPy."""
    from yardstick import numpy_gibbs_sweeps

    from skbayesembed.common.random import generators
    from skbayesembed.datasets import make_dynamic_sgns
    from skbayesembed.dynamic.gibbs.conditionals import DynamicConditionals
    from skbayesembed.dynamic.model import DynamicModel
    from skbayesembed.dynamic.priors import DriftPrior
    from skbayesembed.inference.threads import serial

    n_words, k, n_periods = (30, 2, 4) if small else (200, 10, 6)
    data = make_dynamic_sgns(n_words, k, n_periods, 50 * n_words, random_state=0)
    prior = DriftPrior(np.ones(n_periods - 1), float(k), 0.1)
    model = DynamicModel.of_counts(data.pairs, k, prior, np.random.default_rng(0))
    sampler = DynamicConditionals(model, np.array([[0, 0, 0]]))
    streams = generators(np.random.SeedSequence(0), sampler.n_streams)
    state = sampler.init_state(streams)
    counts = [(p.positive.toarray(), p.negative.toarray()) for p in data.pairs]

    def theirs():
        for positive, negative in counts:
            numpy_gibbs_sweeps(positive, negative, k, float(k), 3, 0)

    found = rates(
        {"ours": lambda: sampler.sweep(state, streams, serial), "theirs": theirs},
        {"ours": 1.0, "theirs": 3.0},
        5,
    )
    size = f"V={n_words}, K={k}, {n_periods} periods"
    peer = "NumPy, periods apart"
    yield Ratio("dynamic.py", "sweeps over trajectories, gibbs", size, peer, **found)


PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "nutpie", "numpyro", "gensim", "tomotopy")
YARDSTICKS: dict[str, Callable] = {
    "counting": counting, "gibbs": gibbs, "nutpie": nuts, "numpyro": nuts_of_numpyro,
    "mode": mode, "gensim": vectors, "lda": lda, "tomotopy": lda_of_tomotopy,
    "dynamic": drift, "senses": senses,
}  # fmt: skip


# -- the page --------------------------------------------------------------------------------------


def measure_all(names, small):
    """Ratios, and why the others were left out."""
    found, skipped = [], {}
    for name in names:
        begin = time.perf_counter()
        try:
            with threadpool_limits(1), warnings.catch_warnings():
                # short chains do not mix, and peers warn of their own dependencies
                warnings.simplefilter("ignore")
                for one in YARDSTICKS[name](small):
                    found.append(one)
                    print(f"{name}: {one.what}, {one.size}: {one.ratio:.2f} x {one.peer}",
                          flush=True)  # fmt: skip
        except Skipped as reason:
            skipped[name] = str(reason)
            print(f"{name}: left out, {reason}", flush=True)
        print(f"  [{time.perf_counter() - begin:.0f} s]", flush=True)
    return found, skipped


def page(found, skipped, small, load):
    """The page as Markdown."""
    versions = []
    for package in PACKAGES:
        if importlib.util.find_spec(package.replace("scikit-learn", "sklearn")) is not None:
            versions.append(f"{package} {version(package)}")
    lines = [
        "# Speed beside others", "",
        f"Written by `python benchmarks/speed.py{' --small' if small else ''}` on "
        f"{datetime.date.today().isoformat()}: {machine()}, {', '.join(versions)}. The load was "
        f"{load:.1f} before and {os.getloadavg()[0]:.1f} after. One thread, CPU seconds, "
        "compilation left out; a ratio above 1 says that the package is faster.", "",
    ]  # fmt: skip
    if small:
        lines += ["Sizes are small: these ratios say that the command works, and no more.", ""]
    lines += [
        "| what, in a CPU second | on | package | peer | | ratio | at length in |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {one.what} | {one.size} | {one.ours:.3g} | {one.theirs:.3g} | {one.peer} "
            f"| **{one.ratio:.2f}** | `{one.script}` |"
            for one in found
        ),
    ]
    if skipped:
        lines += ["", "Left out:", ""]
        lines += [f"- {name}: {reason}." for name, reason in skipped.items()]
    return "\n".join(lines) + "\n"


def machine():
    """Processor, number of cores, system."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes: does the command work?")
    parser.add_argument("--only", nargs="+", choices=YARDSTICKS, default=list(YARDSTICKS))
    parser.add_argument("--page", type=Path, help="Markdown file to write")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    found, skipped = measure_all(given.only, given.small)
    if given.page:
        given.page.write_text(page(found, skipped, given.small, load), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
