"""A fit in a process of its own that is killed at random moments and made again.

``python -m tests.helpers.killing CASE BACKEND MOMENTS SEED FOLDER`` prints a line for each moment:
when the process was killed, whether the same call then ended with the draws of a fit that nothing
had ended, and the phase that its files were of: ``begin`` (none yet), ``search``, ``warm-up`` and
``draws`` of chains, ``ascent`` of a bound. A process that has ended before does not count.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import warnings
import zipfile
from pathlib import Path

import joblib
import numpy as np

from skbayesembed.inference import checkpoint
from skbayesembed.io.archive import array_of, header_of
from tests.test_backends import digest
from tests.test_contract import CASES

# Longer than the chains of the contract, so that their warm-up has all of its phases; ascents climb
# on when they are there.
LONG = {"draws": 60, "warmup": 60}
CLIMBING = {"draws": 60, "tol": 1e-14, "max_iter": 300}
# Stages of variational fits that are no search before something else.
ASCENTS = ("ascent", "passes", "periods")


def fit(name, backend, folder=None):
    with joblib.parallel_config(backend=backend):
        options = CLIMBING if CASES[name].estimator.solver == "vi" else LONG
        if name == "topics-gibbs":
            # over before anybody could look
            options = LONG | {"thin": 30}
        fitted = CASES[name].fit(n_jobs=2, checkpoint=folder, **options)
    if folder is not None:
        (folder / "done").touch()
    return digest(fitted)


def phase(folder):
    """What a fit was at, by its files."""
    files = {path.stem.split("-", 2)[2]: path for path in folder.glob("*.npz")}
    chains = [path for name, path in files.items() if name.startswith("chain")]
    if chains:
        return "draws" if any(map(draws_of, chains)) else "warm-up"
    if any(name in ASCENTS for name in files):
        return "ascent"
    return "search" if files else "begin"


def draws_of(path):
    """Number of draws in the file of a chain."""
    with zipfile.ZipFile(path) as archive:
        return len(array_of(archive, "large_0")) if header_of(archive)["arrays"] else 0


def in_child(function, *arguments):
    """Call a function in a process of its own, with a group for itself and its workers."""
    child = os.fork()
    if child == 0:
        os.setsid()
        function(*arguments)
        os._exit(0)
    return child


def ended(child):
    """Whether a process has ended by itself; its workers then end, too."""
    if os.waitpid(child, os.WNOHANG) == (0, 0):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return True


def under_way(folder):
    """Whether a chain or an ascent of a fit was written."""
    names = (path.stem.split("-", 2)[2] for path in folder.glob("*.npz"))
    return any(name.startswith(("chain", *ASCENTS)) for name in names)


def killed(child, folder, seconds, from_chains):
    """Kill a fit after so many seconds, counted from the first file of a chain if asked for.

    False if it had ended by then.
    """
    while from_chains and not under_way(folder):
        if ended(child):
            return False
        time.sleep(0.002)
    time.sleep(seconds)
    if ended(child):
        return False
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return not (folder / "done").exists()


def seconds_of(name, backend, folder):
    """Seconds of a fit until the first file of a chain, and from there."""
    begun, child = time.monotonic(), in_child(fit, name, backend, folder)
    first = None
    while not ended(child):
        time.sleep(0.002)
        if first is None and under_way(folder):
            first = time.monotonic()
    return first - begun, time.monotonic() - first


def again(name, backend, folder):
    """Digest of the same call, by a process of its own."""
    read, write = os.pipe()
    child = in_child(lambda: os.write(write, fit(name, backend, folder).encode()))
    os.close(write)
    with os.fdopen(read) as pipe:
        found = pipe.read()
    while not ended(child):
        time.sleep(0.002)
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
        # Of those within chains there are more than their share of the time: half, and three of
        # four with workers, which take longer to start than their chains take.
        from_chains = i % 4 > 0 if backend == "loky" else i % 2 > 0
        span, tries = after if from_chains else before + after, 0
        while True:
            here = folder / f"{i}-{tries}"
            here.mkdir()
            # evenly over the fit, each somewhere in its part
            seconds = (i + rng.random()) / moments * span
            if killed(in_child(fit, name, backend, here), here, seconds, from_chains):
                break
            # some are quicker than the one that was timed
            tries, span = tries + 1, 0.9 * span
        found = phase(here)
        # threads may go on with what processes have begun, and start sooner
        then = backend if i % 4 == 1 else "threading"
        same = again(name, then, here) == expected
        print(f"{seconds:.3f}", same, found, flush=True)


if __name__ == "__main__":
    name, backend, moments, seed, folder = sys.argv[1:]
    main(name, backend, int(moments), int(seed), folder)
