"""Draws depend on the seed and the data alone: not on jobs, backends, or processes."""

from __future__ import annotations

import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest

from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.starts import find_modes
from tests.helpers.senses import two_ways
from tests.test_contract import CASES

HAVE_JOBS = [name for name, case in CASES.items() if hasattr(case.estimator, "n_jobs")]
# Of each estimator one sampler, and what begins with a search that runs in parallel.
QUICK = [name for name in HAVE_JOBS if name.endswith("hmc") or name == "senses-gibbs"]
# that of the first fit is also that of the start of the processes
DEAR = ("sgns-hmc", "senses-hmc", "senses-edisc-hmc")
PRINT = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
from tests.test_backends import digest
from tests.test_contract import CASES
for name in sys.argv[1:]:
    print(name, digest(CASES[name].fit()))
"""


def digest(fitted):
    """Hash of all draws."""
    posterior = fitted.posterior_
    return joblib.hash({name: np.asarray(posterior[name]) for name in posterior})


@pytest.fixture(scope="module")
def expected():
    """Hash of the draws of a case with one job in this process."""
    known = {}

    def find(name):
        if name not in known:
            known[name] = digest(CASES[name].fit(n_jobs=1))
        return known[name]

    return find


def fit_under(backend, n_jobs, name):
    with joblib.parallel_config(backend=backend), warnings.catch_warnings():
        # forking a process that has threads, as multiprocessing does here
        warnings.simplefilter("ignore", DeprecationWarning)
        return CASES[name].fit(n_jobs=n_jobs)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in DEAR else ()) for n in QUICK]
)
def test_processes_draw_the_same(name, expected):
    assert digest(fit_under("loky", 2, name)) == expected(name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "n_jobs"),
    [("threading", 2), ("threading", 4), ("loky", 2), ("loky", 4), ("multiprocessing", 2)],
)
@pytest.mark.parametrize("name", HAVE_JOBS)
def test_backends_draw_the_same(name, backend, n_jobs, expected):
    assert digest(fit_under(backend, n_jobs, name)) == expected(name)


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_clusters_draw_the_same(kind, expected):
    """Those of the extras that happen to be installed."""
    if kind == "dask":
        distributed = pytest.importorskip("distributed")
        close = distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None).close
    else:
        ray = pytest.importorskip("ray")
        pytest.importorskip("ray.util.joblib").register_ray()
        ray.init(num_cpus=2, include_dashboard=False)
        close = ray.shutdown
    try:
        for name in QUICK:
            assert digest(fit_under(kind, 2, name)) == expected(name), name
    finally:
        close()


@pytest.mark.slow
def test_a_new_process_draws_the_same(expected):
    command = [sys.executable, "-c", PRINT, *HAVE_JOBS]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{name} {expected(name)}" for name in HAVE_JOBS]


@pytest.mark.slow
def test_backends_that_return_all_chains_together(expected):
    """Multiprocessing has no generators of results, nor has Ray."""
    name = "senses-gibbs"
    assert digest(fit_under("multiprocessing", 2, name)) == expected(name)


@pytest.mark.slow
def test_modes_have_the_same_shares_under_all_backends():
    """Two rivals, so that starts, exploration and all rounds of weighing run in processes."""
    found = []
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend):
            seed = np.random.SeedSequence(0)
            found.append(find_modes(two_ways(), 2, ModelPrior(), seed, n_starts=6, n_jobs=2))
    for one, other in zip(*found, strict=True):
        assert (one.share, one.mass, one.n_starts) == (other.share, other.mass, other.n_starts)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_documents_draw_the_same_in_processes():
    """Blocks of documents write into arrays that no other process has."""
    fitted = CASES["topics-gibbs"].fit()
    X = CASES["topics-gibbs"].counts
    expected = fitted.sample_transform(X, 3)
    blocks = "skbayesembed.topics.data.Documents.blocks"
    with pytest.MonkeyPatch.context() as patch:
        module, name = blocks.rsplit(".", 1)
        patch.setattr(blocks, lambda self, size=0: [(0, 10), (10, self.n_documents)])
        fitted.set_params(n_jobs=2)
        several = fitted.sample_transform(X, 3)
        with joblib.parallel_config(backend="loky"):
            np.testing.assert_array_equal(fitted.sample_transform(X, 3), several)
    assert several.shape == expected.shape
