"""A smaller part of ``benchmarks/effects.py``: coverage of effects, and false positives."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
N_DATA_SETS = 40

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def effects():
    if not (BENCHMARKS / "effects.py").exists():
        pytest.skip("the benchmarks are not part of this installation")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import effects

        yield effects
    finally:
        sys.path.remove(str(BENCHMARKS))
        sys.modules.pop("effects", None)


@pytest.mark.parametrize("setting", ["units", "few units"])
def test_effects_on_shares(effects, setting):
    """40 data sets by four topics that add up to one: about 120 independent ones."""
    runs = [effects.one(seed, setting)[0]["unbiased"] for seed in range(N_DATA_SETS)]
    held, p = np.mean([run[2] for run in runs]), np.mean([run[3] < 0.05 for run in runs])
    # three standard errors of shares of 120: .08 of .90, .06 of .05
    assert abs(held - 0.9) < 0.08
    assert p < 0.05 + 0.06


def test_regressions_on_shares(effects):
    """Slopes on draws shrink by the reliability; on posterior means they do not."""
    runs = [effects.regressions(seed, 10) for seed in range(N_DATA_SETS)]
    reliability = np.mean([found for _, found in runs])
    means, pooled = (
        np.mean([run[name][0] for run, _ in runs]) for name in ("posterior means", "pooled draws")
    )
    # standard errors of the means of 40 slopes are .03
    assert abs(means - 2) < 0.1 and abs(pooled - 2 * reliability) < 0.1
    assert reliability < 0.92


def test_effects_on_meaning(effects, capsys):
    """Projections and lengths: 40 data sets, three standard errors of shares of 40."""
    options = Namespace(data_sets=N_DATA_SETS, seed=0)
    effects.meaning(options)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(rows) == 9
    for row in rows:
        held, p = float(row[-2]), float(row[-1])
        # with 16 speakers intervals of lengths are too wide
        assert held > 0.9 - 0.14 and p < 0.05 + 0.11
