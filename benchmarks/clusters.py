"""CPU seconds and bytes moved of `distributed.fit` on local clusters, beside what is predicted.

    SKBAYESEMBED_DATA=... python benchmarks/clusters.py --words 5000 --components 50

Counts the Wikipedia articles of ``text/wikipedia_en_2015.txt.xz``, and fits them with ``--workers``
processes of one thread each: ``--iterations`` steps of ``"map"`` and as many sweeps of ``"vi"``
with diagonal covariances. Draws are compared with those of the estimator's own ``fit``. Bytes are
those that all processes have written to connections; predicted are, for each step, what the blocks
share, once to the scheduler, from there to a worker and on to the others, and twice (by way of the
scheduler) what is of the blocks and comes back. Worker processes are warmed up by a fit before.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import dask
import distributed
import numpy as np
from distributed.comm.tcp import TCP
from large_text import TEXT, articles

from skbayesembed import BayesianSGNS, build_vocabulary, count_pairs
from skbayesembed import distributed as module
from skbayesembed.distributed import DaskEngine, fit

SOLVERS = {"map": {}, "vi": {"covariance": "diag", "draws": 2}}


def count_writes():
    """Let connections of this process add up what they write."""
    write, TCP.written = TCP.write, 0

    async def counted(self, *args, **kwargs):
        n = await write(self, *args, **kwargs)
        TCP.written += n
        return n

    TCP.write = counted


def written():
    """Bytes that this process has written."""
    return TCP.written


def moved(client):
    """Bytes written by this process, which has the scheduler, and the workers."""
    return written() + sum(client.run(written).values())


def cpu(client):
    """CPU seconds of the workers so far."""
    return sum(client.run(time.process_time).values())


def bytes_of(things):
    """Bytes of the different arrays of nested tuples."""
    arrays, todo = {}, [things]
    while todo:
        thing = todo.pop()
        if isinstance(thing, np.ndarray):
            arrays[id(thing)] = thing.nbytes
        elif isinstance(thing, tuple | list):
            todo.extend(thing)
        elif hasattr(thing, "_arguments"):
            todo.extend(thing._arguments)
    return sum(arrays.values())


class Counting(DaskEngine):
    """Adds up what is to be moved."""

    workers = 1
    predicted = steps = 0

    def over(self, function, held, shared, own):
        """As of `DaskEngine`."""
        fresh = held not in self._placed
        found = super().over(function, held, shared, own)
        cls = Counting
        cls.steps += 1
        cls.predicted += (1 + cls.workers) * bytes_of(shared) + 2 * bytes_of(list(own))
        cls.predicted += 2 * sum(bytes_of(part) for part in found)
        if fresh:
            cls.predicted += 2 * sum(bytes_of(held[i]) for i in range(len(held)))
        return found


def main():
    """Fit on all clusters."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--words", type=int, default=5_000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(os.environ["SKBAYESEMBED_DATA"]) / TEXT
    vocabulary = build_vocabulary(articles(path), min_count=1, max_features=args.words)
    shard = count_pairs(articles(path), vocabulary)
    print(f"{vocabulary}, {shard.positive.nnz:,} pairs, {args.components} components", flush=True)
    common = {"prior_precision": 4.0, "max_iter": args.iterations, "random_state": 0}
    wanted, alone = {}, {}
    for name in args.solvers:
        options = {"solver": name, **common, **SOLVERS[name]}
        begun = time.process_time()
        wanted[name] = BayesianSGNS(args.components, **options).fit(shard)
        alone[name] = time.process_time() - begun
    module.DaskEngine = Counting
    count_writes()
    head = f"{'solver':>8}{'workers':>8}{'same':>6}{'client s':>9}{'workers s':>10}{'clock':>7}"
    print(head + f"{'steps':>6}{'GB':>7}{'predicted':>10}")
    for name in args.solvers:
        print(f"{name:>8}{0:>8}{'':>6}{alone[name]:9.1f}", flush=True)
    dask.config.set({"distributed.worker.memory.terminate": False})
    for n in args.workers:
        with (
            distributed.LocalCluster(n, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            client.run(count_writes)
            for name in args.solvers:
                options = {"solver": name, **common, **SOLVERS[name]}
                small = BayesianSGNS(args.components, **options).set_params(max_iter=1)
                fit(small, shard, client)
                Counting.workers, Counting.predicted, Counting.steps = n, 0, 0
                begun = time.process_time(), cpu(client), time.perf_counter(), moved(client)
                model = fit(BayesianSGNS(args.components, **options), shard, client)
                ended = time.process_time(), cpu(client), time.perf_counter(), moved(client)
                mine, theirs, clock, sent = (b - a for a, b in zip(begun, ended, strict=True))
                same = all(
                    np.array_equal(model.posterior_[a], wanted[name].posterior_[a])
                    for a in model.posterior_
                )
                print(f"{name:>8}{n:>8}{same!s:>6}{mine:9.1f}{theirs:10.1f}{clock:7.1f}", end="")
                gigabytes = sent / 1e9, Counting.predicted / 1e9
                print(f"{Counting.steps:>6}{gigabytes[0]:7.2f}{gigabytes[1]:10.2f}", flush=True)


if __name__ == "__main__":
    main()
