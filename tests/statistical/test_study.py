"""A smaller part of the simulation study of ``benchmarks/study.py``, with its tolerances.

K = 5, V = 100, uniform frequencies, the first data sets of the study. The whole study is run by
``python benchmarks/study.py``; its tables are in ``doc/studies``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
N_DATA_SETS = 5

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study():
    if not (BENCHMARKS / "study.py").exists():
        pytest.skip("the benchmarks are not part of this installation")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import study

        yield study
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def cells(study):
    """Cells by (solver, N, data set), each fitted once."""
    done = {}

    def get(solver, n, seed):
        key = solver, n, seed
        if key not in done:
            cell = {"K": 5, "V": 100, "N": n, "zipf": False, "seed": seed}
            done[key] = study.run(cell | {"solver": solver, "anchors": "pivot"})
            assert "error" not in done[key], done[key]["error"]
        return done[key]

    return get


def over_data_sets(cells, solver, n, measure):
    values = [cells(solver, n, seed)[measure] for seed in range(N_DATA_SETS)]
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(N_DATA_SETS)


@pytest.mark.parametrize("solver", ["gibbs", "hmc"])
@pytest.mark.parametrize("n", [1_000, 20_000, 100_000, 1_000_000])
def test_samplers_cover(cells, solver, n):
    """90 % +- 2 % over all pairs, and within three standard errors over the data sets.

    Equal-tailed intervals of their 1,000 draws cover 90 % in expectation when the posterior is
    right; a standard error from five data sets has 4 degrees of freedom, for which three normal
    ones (0.27 %) are 6.4 of it.
    """
    mean, error = over_data_sets(cells, solver, n, "tails")
    assert abs(mean - 0.9) < 0.02
    assert abs(mean - 0.9) < 6.4 * error


@pytest.mark.parametrize("n", [500_000, 1_000_000])
def test_laplace_covers_at_many_observations(cells, n):
    mean, _ = over_data_sets(cells, "laplace", n, "tails")
    assert abs(mean - 0.9) < 0.02


@pytest.mark.parametrize("solver", ["map", "gibbs", "hmc", "laplace"])
def test_errors_fall_as_the_square_root(study, cells, solver):
    """Slope of log RMSE over log N from 1e5 to 1e6, mean over data sets: -0.5 +- 0.05.

    The RMSE of a data set has a relative standard deviation of about 3 %, so the mean slope over
    a decade has a standard error of about 0.01.
    """
    errors = [over_data_sets(cells, solver, n, "rmse")[0] for n in (100_000, 1_000_000)]
    slope = np.diff(np.log10(errors))[0]
    assert abs(slope + 0.5) < 0.05


@pytest.mark.parametrize("name", ["p", "cosine", "rho"])
@pytest.mark.parametrize("n", [20_000, 100_000])
def test_gibbs_and_hmc_agree(cells, n, name):
    """Means differ by their Monte Carlo errors, sds by the errors of theirs.

    Root mean square of 300 scores, of which groups are correlated: 1.0 +- 0.2 if both are right;
    1.5 allows four such deviations besides the error in the effective sample sizes.
    """
    from study_tables import compare

    found = [
        compare(cells("gibbs", n, seed), cells("hmc", n, seed), name) for seed in range(N_DATA_SETS)
    ]
    shift, ratio, score = (np.concatenate(columns) for columns in zip(*found, strict=True))
    assert np.sqrt(np.mean(score**2)) < 1.5
    assert np.sqrt(np.mean(shift**2)) < 0.1
    assert abs(np.mean(ratio)) < 0.03


def test_anchors_hardly_matter(study):
    """Between pivots and other well-conditioned anchors cosines move by at most 0.2 sd.

    Well-conditioned: MAP vectors with a condition number below 8. The median over 60 cosines
    is tested; the largest of them carries Monte Carlo error (0.03 sd each).
    """
    from study_tables import compare

    results = {r["anchors"]: r for r in study.run_anchors(5, 100, 50_000, seed=0)}
    pivot = results.pop("pivot")
    good = [r for r in results.values() if r["condition"] is None or r["condition"] < 8]
    assert good, "no other set of anchors is well conditioned"
    for other in good:
        shift, ratio, _ = compare(pivot, other, "cosine")
        assert np.median(np.abs(shift)) < 0.2
        assert np.median(np.abs(ratio)) < 0.2
