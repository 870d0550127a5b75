"""Is a fit that is killed at any moment, and made again, the fit that it would have been?

Every sampler is killed twenty times by SIGKILL, with threads and with processes (loky): at random
moments of its whole course, half of them or more while chains run, every sweep being written. The
same call is then made by a new process, and its draws are compared, bit by bit, with those
of a fit that nothing ended. The page of the study of faults has the table.

    python benchmarks/kills.py --out kills.jsonl
    python benchmarks/kills.py --out kills.jsonl --table

It takes some 50 minutes, mostly of processes that start.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from parts import append, read, table

ROOT = Path(__file__).resolve().parent.parent
FITS = {
    "BayesianSGNS, gibbs": "sgns-metropolis", "BayesianSGNS, hmc": "sgns-hmc",
    "DynamicSGNS, gibbs": "dynamic-gibbs", "DynamicSGNS, hmc": "dynamic-hmc",
    "DiSCSenseModel, gibbs": "senses-gibbs", "DiSCSenseModel, hmc": "senses-hmc",
    "GaussianLDA, gibbs": "topics-gibbs", "GaussianLDA, hmc": "topics-hmc",
    "BayesianSGNS, vi": "sgns-vi", "BayesianSGNS, online vi": "sgns-vi-online",
    "DynamicSGNS, vi": "dynamic-vi", "DiSCSenseModel, vi": "senses-vi",
    "GaussianLDA, vi": "topics-vi", "GaussianLDA, Dirichlet, online vi": "topics-dirichlet-online",
}  # fmt: skip
PHASES = ("begin", "search", "warm-up", "draws", "ascent")


def kill(case, backend, moments, seed):
    """For each kill whether the draws were the same, and the phase."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.helpers.killing", case, backend]
        command += [str(moments), str(seed), folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines() if " " in line]
    return [(same == "True", phase) for _, same, phase in lines[-moments:]]


def row(found):
    """Of a result, what the table has."""
    phases = Counter(phase for _, phase in found["kills"])
    same = sum(same for same, _ in found["kills"])
    met = [str(phases[phase] or "") for phase in PHASES]
    return (found["fit"], found["backend"], f"{same} of {len(found['kills'])}", *met)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("kills.jsonl"))
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print what was found")
    options = parser.parse_args()
    if options.table:
        head = ["fit", "backend", "the same bits", *PHASES]
        print(table(head, map(row, read(options.out))), end="")
        return
    known = {(found["fit"], found["backend"]) for found in read(options.out)}
    for backend in ("threading", "loky"):
        for fit, case in FITS.items():
            if (fit, backend) not in known:
                kills = kill(case, backend, options.moments, options.seed)
                found = {"fit": fit, "backend": backend, "kills": kills}
                append(options.out, [found])
                print(*row(found), flush=True)


if __name__ == "__main__":
    main()
