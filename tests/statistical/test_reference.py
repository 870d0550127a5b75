"""Our samplers against the reference posteriors of ``benchmarks/reference``."""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = [
    "words_small", "words_zipf", "words_text", "words_learned_precision", "drift",
    "drift_learned", "senses_disc", "senses_gasc", "senses_edisc", "topics",
]  # fmt: skip
QUICK = {("words_small", "gibbs")}
SAMPLERS = ("gibbs", "hmc")
LARGEST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def reference():
    if not (BENCHMARKS / "reference.py").exists():
        pytest.skip("the benchmarks are not part of this installation")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import reference

        yield reference
    finally:
        sys.path.remove(str(BENCHMARKS))


def cases():
    for name in NAMES:
        for sampler in SAMPLERS:
            quick = (name, sampler) in QUICK
            yield pytest.param(name, sampler, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize(("name", "sampler"), list(cases()))
def test_samplers_agree(reference, name, sampler):
    if sampler not in reference.CASES[name][0].samplers:
        pytest.skip("EDiSC has no Gibbs sampler")
    of_means, of_shares = reference.scores(name, sampler)
    # 8 and 24 scores each of twenty runs, with effective sizes that are estimated: above 5 once in
    # some thousand runs
    assert np.abs(of_means).max() < 5, of_means
    assert np.abs(of_shares).max() < 5, of_shares


@pytest.mark.parametrize("name", NAMES)
def test_files_say_what_they_hold(reference, name):
    """Summaries are those of the draws that are kept, and their chains have mixed."""
    model, data, known = reference.load(name)
    assert known["quantities"] == list(model.quantities)
    assert max(known["rhat"]) < 1.01
    with gzip.open(reference.file_of(name)[1], "rt", encoding="utf-8") as lines:
        assert next(csv.reader(lines)) == ["chain", "draw", *model.quantities]
    draws = reference.kept_draws(name)
    assert len(draws) == known["draws"] // reference.SPARSE
    mean, sd = np.array(known["mean"]), np.array(known["sd"])
    # a quarter of the draws, about independent: their mean is off by sd / sqrt(n), whose effective
    # sizes were at least a half of the draws
    assert np.abs((draws.mean(axis=0) - mean) / sd).max() < 5 * np.sqrt(2 / len(draws))
    if name != "words_text":
        assert np.isfinite(model.look(model.prior(2, np.random.default_rng(0)), data)).all()


def test_they_are_small():
    folder = BENCHMARKS / "reference"
    if not folder.exists():
        pytest.skip("the benchmarks are not part of this installation")
    assert sum(file.stat().st_size for file in folder.iterdir()) < LARGEST_BYTES
    assert {f"{name}.json" for name in NAMES} <= {file.name for file in folder.iterdir()}
