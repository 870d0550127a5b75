"""Run as a program: a fit in worker processes that Ctrl-C ends, and what can be done after it.

``python -m tests.helpers.interrupting FOLDER`` prints a line of JSON: what was kept, whether the
draws are those of a fit that nothing ended, and whether workers can be had again.
"""

from __future__ import annotations

import json
import sys
import warnings

import joblib
import numpy as np

from skbayesembed.inference import checkpoint
from tests.test_backends import digest
from tests.test_contract import CASES

# Chains that do not end by themselves.
LONG = {"draws": 100_000, "thin": 20, "n_jobs": 2}


def main(folder):
    warnings.simplefilter("ignore")
    checkpoint.INTERVAL = 0.0
    case = CASES["senses-gibbs"]
    with joblib.parallel_config(backend="loky"):
        ended = case.fit(checkpoint=folder, **LONG).posterior_
        after = digest(case.fit(n_jobs=2))
    alone = case.fit(draws=ended.n_draws, thin=LONG["thin"]).posterior_
    kept = {
        "interrupted": ended.attrs["interrupted"],
        "chains": ended.n_chains,
        "same": all(np.array_equal(ended[name], alone[name]) for name in alone),
        "after": after == digest(case.fit()),
    }
    print(json.dumps(kept))


if __name__ == "__main__":
    main(sys.argv[1])
