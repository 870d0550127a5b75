"""Faults that fits meet, made again, and a table of what happens: the page of the study of faults.

Each row breaks something: processes instead of threads, a killed process, a full account of
memory, numbers beyond all bounds, several writers of one file.

    python benchmarks/faults.py
    python benchmarks/faults.py ray ArviZ       (the rows that have one of these words)
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from fractions import Fraction
from pathlib import Path

import joblib
import numpy as np
from parts import table
from sklearn.base import clone

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA, Posterior
from skbayesembed.datasets import make_senses, make_sgns, make_topics
from skbayesembed.inference import checkpoint
from skbayesembed.metrics import rmse_cooccurrence

ROOT = Path(__file__).resolve().parent.parent
SENSES = make_senses(60, 25, n_senses=2, n_periods=3, random_state=0)
TOPICS = make_topics(30, 40, n_topics=2, n_dims=2, random_state=0)
PAIRS = make_sgns(12, 2, 6000, random_state=0).pairs
SHORT = {"draws": 24, "warmup": 24, "chains": 2, "random_state": 0}


def senses(**options):
    model = DiSCSenseModel(2, **{"n_starts": 2, **SHORT, **options})
    return model.fit(SENSES.counts, times=SENSES.times)


def digest(model):
    return joblib.hash({name: np.asarray(d) for name, d in model.posterior_.items()})


def refused(call):
    """The error of a call, or the first warning beside its result, in one line."""
    begun, told = time.process_time(), []
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
    except Exception as error:
        spent = time.process_time() - begun
        return f"{type(error).__name__} after {spent:.1f} CPU s: {_line(error)}"
    spent = time.process_time() - begun
    found = f"a result after {spent:.1f} CPU s"
    return found + "".join(f"; {w.category.__name__}: {_line(w.message)}" for w in told[:1])


def _line(message, limit=240):
    """A message as text of Markdown in one line: whole sentences, at least one."""
    sentences = re.split(r"(?<=\.)\s+", " ".join(str(message).split()).replace("|", "/"))
    shown = sentences[0]
    for sentence in sentences[1:]:
        if len(shown) + len(sentence) > limit:
            shown += " ..."
            break
        shown += " " + sentence
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", shown)


def same_under(backend):
    with joblib.parallel_config(backend=backend):
        other = {s: digest(senses(solver=s, n_jobs=2)) for s in ("hmc", "gibbs", "vi", "laplace")}
    return f"{sum(digest(senses(solver=s)) == d for s, d in other.items())} of 4 solvers the same"


def on_ray():
    """Two samplers on a cluster of its own, whose workers start anew for every part of a fit."""
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError:
        return "left out: ray is not installed"
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        register_ray()
        vectors = BayesianSGNS(2, solver="hmc", n_jobs=2, **SHORT)
        topics = GaussianLDA(2, embedding=TOPICS.vectors, solver="gibbs", n_jobs=2, **SHORT)
        given, same = ((vectors, PAIRS), (topics, TOPICS.counts)), 0
        for model, X in given:
            expected = digest(clone(model).fit(X))
            with joblib.parallel_config(backend="ray"):
                same += digest(model.fit(X)) == expected
        return f"{same} of {len(given)} samplers the same (words by hmc, topics by gibbs)"
    finally:
        ray.shutdown()


def with_arviz():
    """A data tree, what ArviZ makes of it, and its file."""
    try:
        import arviz_stats
        import xarray
    except ImportError:
        return "left out: the extra arviz is not installed"
    model = senses(solver="hmc")
    tree = model.to_datatree(SENSES.counts, times=SENSES.times)
    found = f"groups {', '.join(tree.children)}"
    found += f"; arviz_stats.summary of {len(arviz_stats.summary(tree))} rows"
    try:
        import h5netcdf  # noqa: F401
        import h5py  # noqa: F401
    except ImportError:
        return found + "; no file without h5netcdf and h5py"
    with tempfile.TemporaryDirectory() as folder:
        tree.to_netcdf(Path(folder) / "tree.nc", engine="h5netcdf")
        with xarray.open_datatree(Path(folder) / "tree.nc", engine="h5netcdf") as again:
            same = again["posterior"].identical(tree["posterior"])
    return found + f"; a file of netCDF, the same when read: {same}"


def announced_memory():
    """In a process of its own, of which the peak is known."""
    command = [sys.executable, "-m", "tests.helpers.peak_memory", "topics", "gibbs", "2", "200"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    announced, peak = (n / 2**20 for n in json.loads(done.stdout.splitlines()[-1]))
    return f"{announced:.0f} MiB announced by `estimate_cost`, {peak:.0f} taken"


def enormous_model():
    return refused(lambda: senses(**{"solver": "map"}).set_params(n_senses=10**8).fit(
        SENSES.counts, times=SENSES.times))  # fmt: skip


def huge_counts():
    return refused(lambda: DiSCSenseModel(2, **SHORT).fit([[3, 10**9], [2, 1]]))


def heavy_topics():
    counts = TOPICS.counts * 10_000
    model = GaussianLDA(2, embedding=TOPICS.vectors, solver="vi", draws=4, random_state=0)
    return refused(lambda: model.fit(counts)) + f", {counts.sum():.3g} tokens"


def not_finite():
    model = GaussianLDA(
        2, embedding=TOPICS.vectors, solver="vi", mean_precision_prior=1e308, **SHORT
    )
    return refused(lambda: model.fit(TOPICS.counts))


def wrong_numbers():
    model = BayesianSGNS(2, solver="map", **SHORT)
    return "; ".join(
        refused(lambda value=value: model.set_params(prior_precision=value).fit(PAIRS))
        for value in (2**64, Fraction(1, 2))
    )


def small_integers():
    """Once sizes of arrays that overflowed, and kernels that wrote beyond them."""
    model = GaussianLDA(np.int8(9), embedding=TOPICS.vectors, solver="laplace", **SHORT)
    return refused(lambda: model.fit(TOPICS.counts))


def wrong_measures():
    return refused(lambda: rmse_cooccurrence(np.eye(2), np.eye(2)))


def tiny_precision():
    model = DynamicSGNS(2, solver="map", prior_precision=1e-300, random_state=0)
    return refused(lambda: model.fit([PAIRS, PAIRS], times=[0, 1]))


def many_writers():
    posterior = senses(solver="map").posterior_
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.npz"
        threads = [threading.Thread(target=posterior.save, args=(path,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        again = Posterior.load(path)
        whole = all(np.array_equal(again[name], posterior[name]) for name in posterior)
        return f"one file of {len(os.listdir(folder))}, whole: {whole}"


LONG = {"solver": "gibbs", "draws": 300}


def _written_often(folder):
    warnings.simplefilter("ignore")
    checkpoint.INTERVAL, checkpoint._SHARE = 0.0, float("inf")
    senses(**LONG, checkpoint=folder)


def killed():
    expected = digest(senses(**LONG))
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(
            target=_written_often, args=(folder,)
        )
        process.start()
        deadline = time.monotonic() + 60
        while process.is_alive() and time.monotonic() < deadline:
            if any("chain" in name for name in os.listdir(folder)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
                break
        process.join()
        files = len(os.listdir(folder))
        same = digest(senses(**LONG, checkpoint=folder)) == expected
    return f"{files} files left; the same call then has the same draws: {same}"


def _until_interrupted(folder, backend):
    os.setsid()
    warnings.simplefilter("ignore")
    checkpoint.INTERVAL, checkpoint._SHARE = 0.0, float("inf")
    with joblib.parallel_config(backend=backend):
        found = senses(**LONG | {"draws": 20_000, "thin": 20}, n_jobs=2, checkpoint=folder)
    attrs = found.posterior_.attrs
    kept = f"{found.posterior_.n_chains} chains of {found.posterior_.n_draws} draws"
    (Path(folder) / "kept").write_text(f"interrupted: {attrs['interrupted']}, kept {kept}")


def interrupted_under(backend):
    """Ctrl-C reaches all processes of a terminal: the fit and its workers."""
    with tempfile.TemporaryDirectory() as folder:
        spawned = multiprocessing.get_context("spawn").Process(
            target=_until_interrupted, args=(folder, backend)
        )
        spawned.start()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not all(
            any(f"chain-{chain}" in name for name in os.listdir(folder)) for chain in (0, 1)
        ):
            time.sleep(0.05)
        # past the warm-up
        time.sleep(3)
        os.killpg(spawned.pid, signal.SIGINT)
        spawned.join(60)
        spawned.kill()
        kept = Path(folder) / "kept"
        return kept.read_text() if kept.exists() else f"nothing kept: exit {spawned.exitcode}"


def new_times():
    model = DiSCSenseModel(2, solver="map", n_periods=2, random_state=0)
    model.fit(SENSES.counts, times=SENSES.times + 1.0)
    return refused(lambda: model.predict_proba(SENSES.counts, times=SENSES.times))


FAULTS = {
    "processes (loky) instead of threads": lambda: same_under("loky"),
    "a backend without generators of results (multiprocessing)": lambda: same_under(
        "multiprocessing"
    ),
    "a cluster of ray": on_ray,
    "senses that no memory holds, `n_senses=10**8`": enormous_model,
    "a fit of some size, `GaussianLDA(10, solver='gibbs')` of 3,000 words": announced_memory,
    "counts of a billion, `[[3, 10**9], [2, 1]]`": huge_counts,
    "topics by `vi` of millions of counted tokens": heavy_topics,
    "`mean_precision_prior=1e308`": not_finite,
    "`prior_precision=2**64` and `Fraction(1, 2)`": wrong_numbers,
    "`n_components=numpy.int8(9)`": small_integers,
    "`rmse_cooccurrence` of plain arrays": wrong_measures,
    "`prior_precision=1e-300` of drifting vectors": tiny_precision,
    "eight threads that save to one path": many_writers,
    "SIGKILL while chains draw, with a checkpoint": killed,
    "Ctrl-C while two chains draw in processes (loky), with a checkpoint": lambda: (
        interrupted_under("loky")
    ),
    "draws given to ArviZ": with_arviz,
    "a fold that begins before the training dates": new_times,
}


def main():
    warnings.simplefilter("ignore")
    rows = []
    for what, make in FAULTS.items():
        if not any(word in what for word in sys.argv[1:] or [""]):
            continue
        rows.append((what, make()))
        print(*rows[-1], sep=": ", file=sys.stderr, flush=True)
    print(table(["fault", "what happens"], rows), end="")


if __name__ == "__main__":
    main()
