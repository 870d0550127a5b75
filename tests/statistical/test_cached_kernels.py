"""The process that compiles the kernels and one that finds them in the cache draw the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SENSES = """
from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
d = make_senses(200, 60, 2, n_periods=3, n_genres=2, mean_length=8, random_state=0)
for model, solver in {pairs}:
    fit = DiSCSenseModel(2, model=model, solver=solver, draws=20, warmup=20, chains=1, n_starts=2,
                         random_state=0).fit(d.counts, times=d.times, genres=d.genres)
    say(fit)
"""
TOPICS = """
from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
d = make_topics(60, 40, 3, n_dims=4, mean_length=15, random_state=0)
for solver, kernel in (("gibbs", "sampled"), ("gibbs", "alias"), ("vi", "auto"), ("hmc", "auto")):
    say(GaussianLDA(3, embedding=d.vectors, solver=solver, kernel=kernel, draws=20, warmup=20,
                    chains=1, random_state=0).fit(d.counts))
"""
PAIRS = """
from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
d = make_sgns(40, 3, 20_000, random_state=0)
for solver in ("gibbs", "hmc", "vi", "laplace"):
    say(BayesianSGNS(3, solver=solver, draws=30, warmup=30, chains=1, random_state=0).fit(d.pairs))
"""
DRIFT = """
from skbayesembed import DynamicSGNS
from skbayesembed.datasets import make_dynamic_sgns
d = make_dynamic_sgns(30, 3, 4, 4000, random_state=0)
for solver, diffusion in {pairs}:
    say(DynamicSGNS(3, solver=solver, diffusion=diffusion, draws=20, warmup=20, chains=1,
                    random_state=0).fit(d.pairs, times=d.times))
"""
SAY = """
import hashlib, warnings
warnings.simplefilter("ignore")
def say(fit):
    draws = fit.posterior_
    print(hashlib.sha256(b"".join(draws[name].tobytes() for name in sorted(draws))).hexdigest())
"""
PROGRAMS = {
    "pairs": PAIRS,
    "topics": TOPICS,
    "disc": SENSES.format(pairs=[("disc", "hmc"), ("disc", "gibbs")]),
    "walks": SENSES.format(pairs=[("scan", "hmc"), ("gasc", "gibbs")]),
    "interaction": SENSES.format(pairs=[("interaction", "hmc")]),
    "drift": DRIFT.format(pairs=[(s, 0.02) for s in ("gibbs", "hmc", "vi", "laplace", "map")]),
    "drift-learned": DRIFT.format(pairs=[(s, "learned") for s in ("gibbs", "hmc", "vi")]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_compiled_and_cached_kernels_draw_the_same(name, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SAY + PROGRAMS[name]]
    said = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said[0] == said[1]
    assert len(set(said[0].split())) > 0
