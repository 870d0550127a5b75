"""A fit in a process of its own that is killed at random moments and made again.

``python -m tests.helpers.killing CASE BACKEND MOMENTS SEED FOLDER`` prints a line for each moment:
when the process was killed, whether the same call then ended with the draws of a fit that nothing
had ended, and the stages that had been written.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np

from skbayesembed.inference import checkpoint
from tests.test_backends import digest
from tests.test_contract import CASES

# Longer than the chains of the contract, so that their warm-up has all of its phases.
LONG = {"draws": 60, "warmup": 60}


def fit(name, backend, folder=None):
    with joblib.parallel_config(backend=backend):
        return digest(CASES[name].fit(n_jobs=2, checkpoint=folder, **LONG))


def reached(folder):
    """Names of the files of a fit: which stages were written."""
    return sorted(path.stem.split("-", 2)[2] for path in folder.glob("*.npz"))


def in_child(function, *arguments):
    """Call a function in a process of its own, with a group for itself and its workers."""
    child = os.fork()
    if child == 0:
        os.setsid()
        function(*arguments)
        os._exit(0)
    return child


def ended(child):
    """Whether a process has ended by itself."""
    return os.waitpid(child, os.WNOHANG) != (0, 0)


def drawing(folder):
    """Whether a chain of a fit was written."""
    return any(name.startswith("chain") for name in reached(folder))


def killed(child, folder, seconds, from_chains):
    """Kill a fit after so many seconds, counted from the first file of a chain if asked for."""
    while from_chains and not drawing(folder):
        time.sleep(0.002)
    time.sleep(seconds)
    if not ended(child):
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)


def seconds_of(name, backend, folder):
    """Seconds of a fit until the first file of a chain, and from there."""
    begun, child = time.monotonic(), in_child(fit, name, backend, folder)
    first = None
    while not ended(child):
        time.sleep(0.002)
        if first is None and drawing(folder):
            first = time.monotonic()
    return first - begun, time.monotonic() - first


def again(name, backend, folder):
    """Digest of the same call, by a process of its own."""
    read, write = os.pipe()
    child = in_child(lambda: os.write(write, fit(name, backend, folder).encode()))
    os.close(write)
    with os.fdopen(read) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


def main(name, backend, moments, seed, folder):
    warnings.simplefilter("ignore")
    # every sweep is written
    checkpoint.INTERVAL, checkpoint._SHARE = 0.0, float("inf")
    os.fsync = lambda file: None
    folder = Path(folder)
    # in threads: a process that is to be forked must not have workers
    expected = fit(name, "threading")
    before, after = seconds_of(name, backend, folder / "whole")
    rng = np.random.default_rng(seed)
    for i in range(moments):
        here = folder / str(i)
        here.mkdir()
        # Evenly over the fit, each somewhere in its part. Workers take longer to start than their
        # chains take: three of four moments are within these.
        share, from_chains = (i + rng.random()) / moments, backend == "loky" and i % 4 > 0
        seconds = share * (after if from_chains else before + after)
        killed(in_child(fit, name, backend, here), here, seconds, from_chains)
        found = reached(here)
        same = again(name, backend, here) == expected
        print(f"{seconds:.3f}", same, *found, flush=True)


if __name__ == "__main__":
    name, backend, moments, seed, folder = sys.argv[1:]
    main(name, backend, int(moments), int(seed), folder)
