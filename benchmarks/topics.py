"""Gaussian topics of 20 Newsgroups and NIPS: speed, memory, quality beside plain LDA, coherence.

    SKBAYESEMBED_DATA=... python benchmarks/topics.py speed memory --out results/
    SKBAYESEMBED_DATA=... python benchmarks/topics.py quality nips --out results/
    python benchmarks/topics.py --out results/ --table > doc/studies/topics.md

The data are those of Ozaki & Kobayashi (2022, "the paper"): see the README of their folder. Every
item of a part is a line of ``topics.jsonl``, written when it is done; what is there is skipped, so
that a part can be run in pieces. ``--limit 1`` does one item.

speed
    Tokens per CPU-second of a sweep, one thread: the three kernels of ``solver="gibbs"`` and
    ``"vi"``, taken in turn with scikit-learn's LDA, and with tomotopy's where it is installed.
    One thread against two in wall-clock time.
memory
    Peak of a process that fits and transforms 20 Newsgroups.
quality
    Documents are split into three: training, tuning and report. Coherence of the ten first words,
    held-out log probability, accuracy of a logistic regression on the shares of topics, smallest
    topic, held-out density; plain LDA beside it.
nips
    Coherence for several numbers of topics, and after one pass of stochastic VI with several batch
    sizes and step sizes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from parts import parser_of, run
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.linear_model import LogisticRegression
from topics_lda import fit_sklearn, fit_tomotopy, shares, tomotopy, tomotopy_model
from topics_tables import page

from skbayesembed import GaussianLDA
from skbayesembed.common.random import generators, seed_sequence
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.threads import OneBlasThread
from skbayesembed.metrics import coherence
from skbayesembed.topics import choice
from skbayesembed.topics.data import Documents
from skbayesembed.topics.gibbs.solver import SAMPLERS
from skbayesembed.topics.inputs import halves
from skbayesembed.topics.priors import NIW
from skbayesembed.topics.starts import kmeans_assignment
from skbayesembed.topics.vectors import Normaliser
from skbayesembed.topics.vi.variational import TopicVI

# Documents of 20 Newsgroups for the slow programs of the speed part.
SLOW_DOCUMENTS = {"gibbs, reference": 750, "scikit-learn LDA": 1500}
SPEED = ("gibbs, reference", "gibbs, alias", "gibbs, sampled", "vi", "scikit-learn LDA")
# name: parameters of GaussianLDA, or a plain LDA
QUALITY = {
    "gibbs, tau=1": {"likelihood_power": 1.0},
    "gibbs, tau=0.2": {"likelihood_power": 0.2},
    "gibbs, tau=0.1": {"likelihood_power": 0.1},
    "gibbs, tau='auto'": {"likelihood_power": "auto"},
    "vi, tau=1": {"solver": "vi", "likelihood_power": 1.0},
    "vi, tau=0.2": {"solver": "vi", "likelihood_power": 0.2},
    "vi, tau=0.1": {"solver": "vi", "likelihood_power": 0.1},
    "vi, tau='auto'": {"solver": "vi", "likelihood_power": "auto"},
    "gibbs, tau=1, from documents": {"likelihood_power": 1.0, "init": "documents"},
    "gibbs, tau=0.2, from documents": {"likelihood_power": 0.2, "init": "documents"},
    "gibbs, tau=0.1, from documents": {"likelihood_power": 0.1, "init": "documents"},
    "vi, tau=1, from documents": {"solver": "vi", "likelihood_power": 1.0, "init": "documents"},
    "vi, tau=0.2, from documents": {"solver": "vi", "likelihood_power": 0.2, "init": "documents"},
    "vi, tau=0.1, from documents": {"solver": "vi", "likelihood_power": 0.1, "init": "documents"},
    "vi, tau='auto', from documents": {
        "solver": "vi", "likelihood_power": "auto", "init": "documents",
    },
    "gibbs, tau=1, from words": {"likelihood_power": 1.0, "init": "words"},
    "gibbs, tau=0.1, from words": {"likelihood_power": 0.1, "init": "words"},
    "vi, tau=0.1, from words": {"solver": "vi", "likelihood_power": 0.1, "init": "words"},
    "gibbs, tau=0.1, random start": {"likelihood_power": 0.1, "init": "random"},
    "gibbs, tau=1, raw vectors, from documents": {
        "likelihood_power": 1.0, "normalize": None, "init": "documents",
    },
    "gibbs, tau=0.2, from documents, alpha learned": {
        "likelihood_power": 0.2, "learn_doc_topic_prior": "asymmetric", "init": "documents",
    },
    "scikit-learn LDA": {},
    "tomotopy LDA": {},
}  # fmt: skip
MEMORY = {
    "gibbs": {},
    "gibbs, alias": {"kernel": "alias"},
    "vi": {"solver": "vi", "max_iter": 20},
    "vi, online": {"solver": "vi", "learning_method": "online", "n_passes": 1},
}
# The paper's grid for NIPS (section 4.1), and the part of it that is done without --full. A decay
# of 0.5, with which the squares of the weights have no finite sum, becomes 0.51.
BATCHES, DECAYS, OFFSETS = (4, 10, 16), (0.51, 0.6, 0.7, 0.8, 0.9, 1.0), (1, 4, 16, 64, 256, 1024)
FEW_BATCHES, FEW_DECAYS, FEW_OFFSETS = (16, 4), (0.51, 0.7, 1.0), (1, 64, 1024)
NIPS_SOLVERS = ("vi", "gibbs", "svi")
REGULARISATION = (1.0, 10.0, 100.0)


# Data ------------------------------------------------------------------------------------------


def load(name):
    """Counts (D, V), vectors (V, E), labels (D,) and words (V,)."""
    folder = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "topics" / name
    if not folder.exists():
        sys.exit(f"{folder} is not there: set SKBAYESEMBED_DATA")
    counts = sparse.csr_array(sparse.load_npz(folder / "dtm.npz"))
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split()
    labels = np.loadtxt(folder / "labels.txt", dtype=int)
    return counts, np.load(folder / "vectors.npy").astype(np.float64), labels, np.array(words)


def split(counts, labels):
    """Three random parts of the documents with two tokens or more: training, tuning, report."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    rows = np.random.default_rng(20).permutation(np.flatnonzero(lengths >= 2))
    cuts = np.split(rows, [int(0.7 * rows.size), int(0.85 * rows.size)])
    return [(counts[part], labels[part]) for part in cuts]


def documents_of(counts, vectors, normalize="unit"):
    """`Documents`, with their prior."""
    documents = Documents.of(counts, Normaliser.learn(normalize, vectors)(vectors))
    return documents, NIW.from_vectors(documents.vectors, documents.totals)


# Speed -----------------------------------------------------------------------------------------


class Sweeps:
    """Something that sweeps over documents, past its warm-up.

    Parameters
    ----------
    name : str
        One of `SPEED`, or "tomotopy LDA".
    counts, vectors : data
    k : int
        Number of topics.
    power : float
    """

    def __init__(self, name, counts, vectors, k, power):
        self.name = name
        counts = counts[: SLOW_DOCUMENTS.get(name, counts.shape[0])]
        self.n_tokens = int(counts.sum())
        self.run = serial
        if name == "tomotopy LDA":
            self.sweep = self._tomotopy(counts, k)
        elif name == "scikit-learn LDA":
            model = LatentDirichletAllocation(
                k, doc_topic_prior=1 / k, topic_word_prior=0.01, batch_size=128, random_state=0
            )
            matrix = sparse.csr_matrix(counts)
            self.sweep = lambda: model.partial_fit(matrix)
            self.sweep()
        else:
            documents, prior = documents_of(counts, vectors)
            rng = np.random.default_rng(0)
            start = kmeans_assignment(documents.vectors, documents.totals, k, rng)
            make = self._vi if name == "vi" else self._gibbs
            self.sweep = make(documents, prior, k, power, start)

    def _gibbs(self, documents, prior, k, power, start, warmup=40):
        kernel = self.name.split(", ")[1]
        model = SAMPLERS[kernel](documents, k, prior, 1 / k, power=power, start=start)
        rngs = generators(seed_sequence(0), model.n_streams)
        state = model.init_state(rngs)
        for step in range(warmup):
            # the last tenth of the warm-up is the kernel's own; one such sweep is enough here
            state.collapsed = step == warmup - 1
            model.sweep(state, rngs, self.run)
            model.tune(state, step, warmup)
        self.model, self.state = model, state
        return lambda: model.sweep(state, rngs, self.run)

    def _vi(self, documents, prior, k, power, start, warmup=40):
        model = TopicVI(documents, k, prior, 1 / k, power=power)
        q = model.init_q({"assignment": start}, self.run)
        for _ in range(warmup):
            model.update(q, self.run)
        return lambda: model.update(q, self.run)

    def _tomotopy(self, counts, k, warmup=40):
        model = tomotopy_model(counts, k)
        model.train(warmup, workers=1)
        return lambda: model.train(1, workers=1)


def speed(options, item):
    """Part "speed": all programs in turn, one thread; then one thread against two."""
    counts, vectors, _, _ = load("20ng")
    k, power = item["K"], item["tau"]
    names = SPEED + (("tomotopy LDA",) if tomotopy else ())
    load_before = os.getloadavg()[0]
    with OneBlasThread():
        programs = [Sweeps(name, counts, vectors, k, power) for name in names]
        rates = {name: [] for name in names}
        for _ in range(options.repeats):
            for program in programs:
                # every eighth sweep of "alias" is dearer: eight of them
                sweeps = {"gibbs, alias": 8, "tomotopy LDA": 5}.get(program.name, 1)
                start = time.process_time()
                for _ in range(sweeps):
                    program.sweep()
                seconds = time.process_time() - start
                rates[program.name].append(sweeps * program.n_tokens / seconds)
        threads = two_threads([p for p in programs if p.name in ("gibbs, sampled", "vi")])
    moved = {p.name: p.state.moved for p in programs if p.name.startswith("gibbs")}
    return {
        "rates": rates,
        "threads": threads,
        "moved": moved,
        "load": [load_before, os.getloadavg()[0]],
    }


def two_threads(programs, repeats=15):
    """Wall-clock seconds of sweeps with one and two threads, taken in turn, and CPU seconds."""
    out = {}
    for program in programs:
        seconds = {1: [], 2: []}
        for _ in range(repeats):
            for n in seconds:
                with Workers(n) as run:
                    program.run = run
                    start = time.perf_counter()
                    program.sweep()
                    seconds[n].append(time.perf_counter() - start)
        out[program.name] = seconds
    return out


# Memory ----------------------------------------------------------------------------------------


def memory(options, item):
    """Part "memory": in a process of its own."""
    command = [sys.executable, __file__, "--alone", json.dumps(item)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def alone(item):
    """Fit and transform all of 20 Newsgroups; prints the peak of this process."""
    counts, vectors, _, _ = load("20ng")
    before = peak()
    lengths = {"draws": 60, "warmup": 10, "chains": 2}
    model = GaussianLDA(
        item["K"], embedding=vectors, likelihood_power=0.1, min_count=1, random_state=0, **lengths,
        **MEMORY[item["name"]],
    )  # fmt: skip
    cpu = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(counts)
    fitted, cpu = peak(), time.process_time() - cpu
    model.transform(counts)
    model.top_words()
    drawn = model.posterior_["counts"].shape[:2]
    print(json.dumps({
        "before": before, "fit": fitted, "all": peak(), "cpu": cpu, "recorded": drawn,
        "draws": lengths["draws"],
    }))  # fmt: skip


def peak():
    """Largest memory of the process so far, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


# Quality ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def random_start(wanted):
    """Topics of word types at random in place of k-means."""
    kept = choice.kmeans_assignment
    if wanted:
        choice.kmeans_assignment = lambda vectors, totals, k, rng: rng.integers(
            k, size=len(vectors)
        )
    try:
        yield
    finally:
        choice.kmeans_assignment = kept


def accuracy(theta, labels):
    """Share of the report documents labelled rightly; regularisation by the tuning documents.

    ``theta`` and ``labels`` are of the three parts.
    """
    best = (-1.0, None)
    for c in REGULARISATION:
        classifier = LogisticRegression(C=c, max_iter=2000).fit(theta[0], labels[0])
        best = max(best, (classifier.score(theta[1], labels[1]), c), key=lambda pair: pair[0])
        if best[1] == c:
            kept = classifier
    return {
        "accuracy": kept.score(theta[2], labels[2]), "accuracy_tuning": best[0], "C": best[1]
    }  # fmt: skip


def quality(options, item):
    """Part "quality": one model."""
    counts, vectors, labels, _ = load("20ng")
    parts = split(counts, labels)
    # the same words for all models
    seen = np.flatnonzero(parts[0][0].sum(axis=0))
    parts, vectors = [(part[:, seen], label) for part, label in parts], vectors[seen]
    load_before = os.getloadavg()[0]
    if item["name"].endswith("LDA"):
        found = plain(item, [part for part, _ in parts], [label for _, label in parts], options)
    else:
        found = gaussian(item, [part for part, _ in parts], vectors, [y for _, y in parts], options)
    return found | {"load": load_before}


def gaussian(item, parts, vectors, labels, options):
    """`GaussianLDA` with the settings of an item."""
    settings = dict(QUALITY[item["name"]])
    at_random = settings.get("init") == "random"
    if at_random:
        settings["init"] = "words"
    model = GaussianLDA(
        item["K"], embedding=vectors, min_count=1, random_state=item["seed"], chains=1,
        draws=options.draws, warmup=options.warmup, tol=1e-8, **settings,
    )  # fmt: skip
    cpu = time.process_time()
    with random_start(at_random), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(parts[0])
    cpu = time.process_time() - cpu
    found = {
        "cpu": cpu, "draws": options.draws, "warmup": options.warmup, "n_iter": model.n_iter_,
        "tau": model.likelihood_power_,
        "warnings": sorted({str(w.message)[:200] for w in caught}),
        "smallest": float(model.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1)).min()),
        "npmi": float(model.coherence().mean()),
        "npmi_report": float(model.coherence(parts[2]).mean()),
        "npmi_density": float(model.coherence(by="density").mean()),
        "pmi": float(model.coherence(measure="pmi").mean()),
        "density": model.log_density(parts[2]),
    }  # fmt: skip
    for by in ("count", "density"):
        model.set_params(word_proba=by)
        found[f"score_{by}"] = model.score(parts[2])
        found[f"score_{by}_tuning"] = model.score(parts[1])
    model.set_params(word_proba="count")
    return found | accuracy([model.transform(part) for part in parts], labels)


def plain(item, parts, labels, options):
    """LDA of scikit-learn or tomotopy: the same halves, the same regression."""
    k = item["K"]
    cpu = time.process_time()
    if item["name"].startswith("tomotopy"):
        if tomotopy is None:
            return {"error": "tomotopy is not installed"}
        proba, alpha, length = fit_tomotopy(parts[0], k)
    else:
        proba, alpha, length = fit_sklearn(parts[0], k, item["seed"])
    cpu = time.process_time() - cpu
    first, second = halves(parts[2])
    theta = shares(first, proba, alpha)
    entries = second.tocoo()
    mixed = np.einsum("ik,ki->i", theta[entries.row], proba[:, entries.col])
    top = np.argsort(-proba, axis=1)[:, :10]
    theta = [shares(part, proba, alpha) for part in parts]
    tokens = np.asarray(parts[0].sum(axis=1)).ravel() @ theta[0]
    return {
        "cpu": cpu, "length": length, "smallest": float(tokens.min()),
        "npmi": float(coherence(top, parts[0]).mean()),
        "npmi_report": float(coherence(top, parts[2]).mean()),
        "pmi": float(coherence(top, parts[0], measure="pmi").mean()),
        "score_count": float(np.average(np.log(mixed), weights=entries.data)),
    } | accuracy(theta, labels)  # fmt: skip


# NIPS ------------------------------------------------------------------------------------------


def nips(options, item):
    """Part "nips": coherence of one fit."""
    counts, vectors, _, words = load("nips")
    settings = {
        "likelihood_power": item["tau"],
        "random_state": 0,
        "embedding": vectors,
        "min_count": 1,
    }
    if item["solver"] == "gibbs":
        settings |= {"chains": 1, "draws": options.draws, "warmup": options.warmup}
    else:
        settings |= {"solver": "vi", "draws": 10}
    if item["solver"] == "svi":
        settings |= {
            "learning_method": "online", "n_passes": 1, "batch_size": item["batch_size"],
            "learning_decay": item["decay"], "learning_offset": item["offset"],
        }  # fmt: skip
    cpu = time.process_time()
    model = GaussianLDA(item["K"], **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(counts)
    found = {"cpu": time.process_time() - cpu, "draws": options.draws, "warmup": options.warmup}
    for by in ("count", "density"):
        pmi = model.coherence(measure="pmi", by=by)
        found |= {
            f"pmi_{by}": float(pmi.mean()), f"pmi_best_{by}": float(np.sort(pmi)[-10:].mean()),
            f"npmi_{by}": float(model.coherence(by=by).mean()),
        }  # fmt: skip
    found["smallest"] = float(model.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1)).min())
    found["warnings"] = sorted({str(w.message)[:200] for w in caught})
    if item["solver"] != "svi":
        best = np.argsort(-model.coherence(measure="pmi"))[:3]
        found["words"] = words[np.argsort(-model.components_[best], axis=1)[:, :10]].tolist()
    return found


# -----------------------------------------------------------------------------------------------

PARTS = {"speed": speed, "memory": memory, "quality": quality, "nips": nips}


def items(part, options):
    """The items of a part, in the order in which they are to be done."""
    if part == "speed":
        return [{"K": k, "tau": tau} for k in options.topics for tau in options.powers]
    if part == "memory":
        return [{"name": name, "K": 40} for name in MEMORY]
    if part == "quality":
        return [
            {"name": name, "K": k, "seed": seed}
            for seed in range(options.seeds)
            for k in options.topics
            for name in options.names
        ]
    grid = (BATCHES, DECAYS, OFFSETS) if options.full else (FEW_BATCHES, FEW_DECAYS, FEW_OFFSETS)
    whole = [
        {"solver": solver, "K": k, "tau": tau}
        for tau in options.powers
        for solver in ("vi", "gibbs")
        for k in (20, 30, 40, 50, 60)
    ]
    online = [
        {"solver": "svi", "K": 40, "tau": options.powers[-1],
         "batch_size": size, "decay": decay, "offset": offset}
        for size in grid[0] for decay in grid[1] for offset in grid[2]
    ]  # fmt: skip
    return [item for item in whole + online if item["solver"] in options.solvers]


def arguments():
    parser = parser_of(__doc__, PARTS)
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 40], help="not of nips")
    parser.add_argument("--powers", nargs="+", type=float, default=[1.0, 0.1], help="speed, nips")
    parser.add_argument("--names", nargs="+", default=list(QUALITY), choices=QUALITY)
    parser.add_argument("--seeds", type=int, default=1, help="of quality")
    parser.add_argument(
        "--solvers", nargs="+", default=NIPS_SOLVERS, choices=NIPS_SOLVERS, help="of nips"
    )
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5, help="of speed")
    parser.add_argument("--full", action="store_true", help="the whole grid of nips")
    parser.add_argument("--alone", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.alone:
        alone(options.alone)
        return
    run(options, "topics.jsonl", PARTS, items, page)


if __name__ == "__main__":
    main()
