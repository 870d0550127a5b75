"""What a checkpoint costs, and whether a fit that was killed ends as if nothing had happened.

``BayesianSGNS(20, solver="gibbs", draws=140, warmup=60, chains=2)`` on the inaugural addresses
is fitted without a checkpoint, with one, and with one by a process that is killed on
the way, after which the same call goes on. Printed are CPU seconds, those of the writings, the
bytes of the files that were left, and whether all draws are the same bits.

    SKBAYESEMBED_DATA=folder python benchmarks/checkpoint.py
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
import warnings
from pathlib import Path

import joblib

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_inaugural
from skbayesembed.inference.checkpoint import Stage


def fit(folder, answer):
    """Fit, and send CPU seconds, seconds of the writings, and the hash of all draws."""
    warnings.simplefilter("ignore")
    write, spent = Stage.write, []

    def timed(stage, *given):
        begun = time.thread_time()
        write(stage, *given)
        spent.append(time.thread_time() - begun)

    Stage.write = timed
    model = BayesianSGNS(20, solver="gibbs", draws=140, warmup=60, chains=2, n_jobs=2)
    model.set_params(checkpoint=folder, random_state=0)
    texts = fetch_inaugural().data
    begun = time.process_time()
    posterior = model.fit(texts).posterior_
    found = joblib.hash({name: posterior[name] for name in posterior})
    answer.put((time.process_time() - begun, spent, found))


def run(folder=None, kill_after=None):
    """Fit in a process of its own; None where it was killed."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=fit, args=(folder, answer))
    process.start()
    if kill_after is not None:
        process.join(kill_after)
        process.kill()
        process.join()
        return None
    found = answer.get()
    process.join()
    return found


def main():
    begun = time.monotonic()
    plain, _, expected = run()
    whole = time.monotonic() - begun
    with tempfile.TemporaryDirectory() as folder:
        kept, spent, same = run(folder)
        print(f"CPU seconds without a checkpoint {plain:.1f}, with one {kept:.1f}")
        print(
            f"{len(spent)} writings, {sum(spent):.2f} CPU seconds in all, at most {max(spent):.2f}"
        )
        run(folder, kill_after=0.7 * whole)
        for path in Path(folder).iterdir():
            print(f"left by the killed: {path.name}, {path.stat().st_size / 1e6:.1f} MB")
        rest, _, again = run(folder)
        print(f"CPU seconds of the rest {rest:.1f}")
        print("the same draws:", expected == same == again)
        print("files left:", len(os.listdir(folder)))


if __name__ == "__main__":
    main()
