"""Helpers of the tests that drive the samplers below the estimator."""

from __future__ import annotations

import os

# Workers share the processors: BLAS threads of one would wait for those of others. Read when NumPy
# is loaded.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import PairCounts
from skbayesembed.common.random import generators
from skbayesembed.sgns.data import DensePairs, SparsePairs
from skbayesembed.sgns.gibbs.conditionals import SGNSConditionals
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.topics import unbiased
from tests.helpers.extras import skipping
from tests.helpers.seeds import shift_seeds
from tests.helpers.stale import forget_stale_kernels

# nothing is compiled or loaded before the first call of a kernel
forget_stale_kernels()


def pytest_addoption(parser):
    parser.addoption(
        "--seed-offset",
        type=int,
        default=0,
        help="shift the seeds of all tests, which must pass with any",
    )


def pytest_configure(config):
    offset = config.getoption("--seed-offset")
    if offset:
        shift_seeds(offset)


# Two workers begin with one half of the tests each. Rooms whose tests compile the same kernels are
# in the same half, so that few are compiled by both at once; what needs those of all comes last.
ORDER = (
    "sgns", "dynamic", "inference", "statistical", "numeric", "regression", "corpus", "posterior",
    "senses", "topics", "plotting", "datasets", "metrics", "common", "io", "calibration", "fuzz",
)  # fmt: skip


def pytest_collection_modifyitems(config, items):
    places = {room: place for place, room in enumerate(ORDER)}
    tests = config.rootpath / "tests"

    def place(item):
        room = item.path.relative_to(tests).parts[0] if tests in item.path.parents else None
        return places.get(room, len(places))

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipping())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipping())


KERNELS = [(kernel, dense) for kernel in ("metropolis", "polya-gamma") for dense in (True, False)]


def serial(function, tasks):
    for task in tasks:
        function(*task)


class Sampling:
    """Build conditionals from plain arrays of counts and run them."""

    serial = staticmethod(serial)

    @staticmethod
    def counts(positive, negative):
        return PairCounts(sparse.csr_array(positive), sparse.csr_array(negative))

    @classmethod
    def conditionals(
        cls, positive, negative, k, precision, kernel, dense=True, anchors=None, values=None,
        blocks=None,
    ):  # fmt: skip
        counts = cls.counts(positive, negative)
        pairs = DensePairs(counts) if dense else SparsePairs(counts)
        model = SGNSModel(pairs, k, precision, anchors, values)
        model.blocks = blocks or model.blocks
        pivots = np.arange(k) if anchors is None else anchors
        return SGNSConditionals(model, kernel, pivots, np.array([[0, 0]]))

    @staticmethod
    def run(conditionals, draws, warmup, seed, state=None, each=None):
        """Run a chain; returns the list of ``each(state)`` (default: copies of rho, alpha)."""
        rngs = generators(np.random.SeedSequence(seed), conditionals.n_streams)
        state = conditionals.init_state(rngs) if state is None else state
        each = each or (lambda s: (s.x[0].copy(), s.x[1].copy()))
        for step in range(warmup):
            conditionals.sweep(state, rngs, serial)
            conditionals.tune(state, step, warmup)
        out = []
        for _ in range(draws):
            conditionals.sweep(state, rngs, serial)
            out.append(each(state))
        return out

    @staticmethod
    def ess(draws):
        """Effective sample size of draws (chain, draw, ...), through arviz-stats."""
        from arviz_stats.base import array_stats

        return array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")


@pytest.fixture(scope="session")
def sampling():
    return Sampling


@pytest.fixture
def few_simulated(monkeypatch):
    """Effects on topics by fewer documents that are simulated, for tests that need no precision."""
    monkeypatch.setattr(unbiased, "_MOST", 400)


# Each kernel with one layout; the others in the slow tests.
_QUICK = [("metropolis", True), ("polya-gamma", False)]


@pytest.fixture(
    params=[
        pytest.param(case, marks=() if case in _QUICK else pytest.mark.slow) for case in KERNELS
    ],
    ids=[f"{k}-{'dense' if d else 'sparse'}" for k, d in KERNELS],
)
def kernel_and_layout(request):
    return request.param
