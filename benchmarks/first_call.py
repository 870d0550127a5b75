"""Seconds of the first call in a fresh environment, and what numba compiles in it.

Each case is run by a new process with an empty cache of compiled code, and once more with the cache
that it left. Run with ``python benchmarks/first_call.py``; a name among `CASES` as argument runs
one of them in this process and lists what was compiled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from numba.core import event

TEXTS = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog on a mat"] * 40


def gibbs():
    from skbayesembed import BayesianSGNS

    return BayesianSGNS(2, solver="gibbs", min_count=1, draws=20, warmup=20, chains=2)


def auto():
    from skbayesembed import BayesianSGNS

    return BayesianSGNS(2, min_count=1, draws=20, warmup=20, chains=2)


def hmc():
    from skbayesembed import BayesianSGNS

    return BayesianSGNS(2, solver="hmc", min_count=1, draws=20, warmup=20, chains=2)


def vi():
    from skbayesembed import BayesianSGNS

    return BayesianSGNS(2, solver="vi", min_count=1, draws=20)


def laplace():
    from skbayesembed import BayesianSGNS

    return BayesianSGNS(2, solver="laplace", min_count=1, draws=20)


def disc():
    from skbayesembed import DiSCSenseModel

    return DiSCSenseModel(2, draws=20, warmup=20, chains=2, n_starts=4)


def dynamic():
    from skbayesembed import DynamicSGNS

    return DynamicSGNS(2, min_count=1, draws=20)


def topics():
    import numpy as np

    from skbayesembed import GaussianLDA

    words = sorted({word for text in TEXTS for word in text.split()})
    vectors = np.random.default_rng(0).standard_normal((len(words), 3))
    table = dict(zip(words, vectors, strict=True))
    return GaussianLDA(2, embedding=table, draws=20, warmup=20, token_pattern=r"\w+")


CASES = {f.__name__: f for f in (auto, gibbs, hmc, vi, laplace, disc, dynamic, topics)}


class Compilations(event.Listener):
    """CPU seconds of each function, those of functions compiled within it taken out."""

    def __init__(self):
        self.open, self.found = [], []

    def on_start(self, event):
        self.open.append([event.data["dispatcher"].py_func, time.thread_time(), 0.0])

    def on_end(self, event):
        function, begun, inner = self.open.pop()
        whole = time.thread_time() - begun
        if self.open:
            self.open[-1][2] += whole
        name = f"{function.__module__}.{function.__qualname__}"
        self.found.append((whole - inner, name, event.data["args"]))


def one(name, signatures=False):
    """Run a case here; print seconds, CPU seconds and what was compiled (for which types)."""
    import warnings

    warnings.simplefilter("ignore")
    listener = Compilations()
    event.register("numba:compile", listener)
    begun, cpu = time.perf_counter(), time.process_time()
    estimator = CASES[name]().set_params(random_state=0)
    if name in ("disc", "dynamic"):
        estimator.fit(TEXTS, times=[1800 + i % 3 for i in range(len(TEXTS))])
    else:
        estimator.fit(TEXTS)
    whole = time.perf_counter() - begun
    compiled = sum(s for s, *_ in listener.found)
    print(
        f"{name}: {whole:.1f} s, {time.process_time() - cpu:.1f} CPU-s, "
        f"{len(listener.found)} compilations of {compiled:.1f} CPU-s"
    )
    for seconds, function, types in sorted(listener.found, key=lambda f: -f[0]):
        print(f"    {seconds:6.2f}  {function}", *(types if signatures else ()))


def main():
    """Every case in processes of its own, with an empty cache and with a full one."""
    for name in CASES:
        with tempfile.TemporaryDirectory() as cache:
            for kind in ("fresh", "again"):
                out = subprocess.run(
                    [sys.executable, __file__, name],
                    env=os.environ | {"NUMBA_CACHE_DIR": cache},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                print(f"{kind:6s}", out.stdout.splitlines()[0], flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1], signatures="--signatures" in sys.argv)
    else:
        main()
