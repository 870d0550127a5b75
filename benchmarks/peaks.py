"""Does a fit take the memory that it announces?

Every solver at two sizes, in a process of its own: the bytes that `estimate_cost` announces, and
the peak of what the fit takes beyond what there was before. The page of the study of faults has the
table. Linux only: the peaks are the kernel's.

    python benchmarks/peaks.py --out peaks.jsonl
    python benchmarks/peaks.py --out peaks.jsonl --table
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from parts import append, read, table

ROOT = Path(__file__).resolve().parent.parent
NAMES = {
    "sgns": "BayesianSGNS", "expected": "BayesianSGNS, expected negatives",
    "shards": "BayesianSGNS, shards, variances",
    "dynamic": "DynamicSGNS", "senses": "DiSCSenseModel", "embedded": "DiSCSenseModel, EDiSC",
    "topics": "GaussianLDA", "tilted": "GaussianLDA, Dirichlet",
    "drawn_senses": "DiSCSenseModel, EDiSC, `embedding_draws=10`",
    "drawn_topics": "GaussianLDA, `embedding_draws=10`",
}  # fmt: skip


def cases():
    """Rooms, solvers and draws, as the tests have them."""
    sys.path.insert(0, str(ROOT))
    from tests.test_memory import CASES

    return CASES


def measured(room, solver, draws, size):
    """Bytes announced, and bytes taken."""
    command = [sys.executable, "-m", "tests.helpers.peak_memory", room, solver]
    command += [str(size), str(draws)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(found):
    """Of a result, what the table has."""
    name, (announced, peak) = NAMES[found["room"]], found["bytes"]
    megabytes = (f"{n / 2**20:,.0f}" for n in (announced, peak))
    return (name, f"`{found['solver']}`", found["size"], *megabytes, f"{announced / peak:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("peaks.jsonl"))
    parser.add_argument("--table", action="store_true", help="print what was found")
    options = parser.parse_args()
    if options.table:
        head = ["estimator", "solver", "size", "announced, MiB", "peak, MiB", "ratio"]
        print(table(head, map(row, read(options.out))), end="")
        return
    known = {(found["room"], found["solver"], found["size"]) for found in read(options.out)}
    for room, solver, draws in cases():
        for size in (1, 2):
            if (room, solver, size) not in known:
                found = {"room": room, "solver": solver, "size": size}
                found["bytes"] = measured(room, solver, draws, size)
                append(options.out, [found])
                print(*row(found), flush=True)


if __name__ == "__main__":
    main()
