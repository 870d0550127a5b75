"""The chain engine with models that do nothing but count: recording, interruption, threads."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from skbayesembed import BayesianSGNS
from skbayesembed.common.random import generators
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers, run_chains
from skbayesembed.inference.gibbs import gibbs_chain, sample_gibbs
from skbayesembed.inference.records import ChainRecord, Settings, Store, gather
from skbayesembed.sgns import data as tables
from tests.helpers.blas import blas_threads, two_blas_threads

SHAPE = (4, 2)


class Counting:
    """A model whose draw number i is an array of the number of sweeps done so far.

    ``fault`` is an exception raised in sweep number ``at``, by the chain ``chain`` only (chains
    are told apart by the first number of their stream), or by all where it is None. With
    ``patient`` the chain waits for another that has made as many sweeps.
    """

    n_streams = 2

    def __init__(self, fault=None, at=None, chain=None, pause=0.0, patient=False):
        self.fault, self.at, self.chain, self.pause = fault, at, chain, pause
        self.others = threading.Event() if patient else None

    def init_state(self, rngs):
        return {"sweeps": 0, "tuned": [], "first": rngs[0].random(), "rng": rngs[1].random()}

    def sweep(self, state, rngs, run):
        if self.pause:
            time.sleep(self.pause)
        state["sweeps"] += 1
        mine = self.chain is None or state["first"] == self.chain
        if self.fault is not None and state["sweeps"] == self.at:
            if self.others is not None:
                self.others.wait(60) if mine else self.others.set()
            if mine:
                raise self.fault
        state["rng"] = rngs[1].random()

    def tune(self, state, step, warmup):
        assert step < warmup
        state["tuned"].append(step)

    def observe(self, state):
        value = np.arange(8.0).reshape(SHAPE) + 100.0 * state["sweeps"]
        return {"x": value, "y": np.array([state["rng"]])}

    def trace(self, state):
        return {"sweeps": state["sweeps"], "tuned": len(state["tuned"]), "pair": np.ones(3)}


def first_numbers(seed, n_chains):
    """What `Counting.init_state` draws in each chain: names of the chains."""
    children = np.random.SeedSequence(seed).spawn(n_chains)
    return [generators(child, Counting.n_streams)[0].random() for child in children]


def sample(model=None, n_chains=2, n_jobs=None, seed=0, split_blocks=False, **settings):
    settings = Settings(**{"draws": 12, "warmup": 5, **settings})
    return sample_gibbs(
        model or Counting(),
        settings,
        n_chains=n_chains,
        seeds=np.random.SeedSequence(seed),
        n_jobs=n_jobs,
        split_blocks=split_blocks,
    )


# -- recording -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_draw_is_recorded(n_jobs):
    result = sample(n_jobs=n_jobs)
    assert result.draws["x"].shape == (2, 12, *SHAPE)
    assert result.draws["y"].shape == (2, 12, 1)
    expected = 100.0 * np.arange(6, 18)
    np.testing.assert_array_equal(result.draws["x"][:, :, 0, 0], [expected, expected])
    np.testing.assert_array_equal(result.stats["sweeps"], [np.arange(6, 18)] * 2)
    assert result.stats["pair"].shape == (2, 12, 3)
    assert np.all(result.stats["tuned"] == 5), "tune is called once for every warm-up sweep"
    assert result.facts == {"interrupted": False}
    assert result.moments == {}


def test_thin():
    result = sample(thin=3, warmup=4)
    np.testing.assert_array_equal(result.stats["sweeps"][0], 4 + 3 * np.arange(1, 13))


def test_no_warmup():
    result = sample(warmup=0)
    np.testing.assert_array_equal(result.stats["sweeps"][0], np.arange(1, 13))


@pytest.mark.parametrize("stride", [1, 2, 5, 12])
def test_stride_spreads_the_recorded_draws(stride):
    result = sample(stride=stride, warmup=0)
    recorded = 12 // stride
    kept = np.arange(12)[::stride][:recorded]
    assert result.draws["x"].shape == (2, recorded, *SHAPE)
    np.testing.assert_array_equal(result.draws["x"][0, :, 0, 0], 100.0 * (1 + kept))
    assert result.stats["sweeps"].shape == (2, 12), "statistics are of every draw"


def test_rows_are_recorded_at_every_draw():
    rows = {"x": np.array([3, 1])}
    result = sample(stride=5, rows=rows)
    assert result.draws["x_rows"].shape == (2, 12, 2, 2)
    np.testing.assert_array_equal(result.draws["x_rows"][0, :, 0, 0], 6 + 100.0 * np.arange(6, 18))
    np.testing.assert_array_equal(result.draws["x_rows"][0, :, 1, 1], 3 + 100.0 * np.arange(6, 18))


def test_rows_may_be_any_index():
    index = (np.array([3, 1]), slice(1, 2))
    result = sample(stride=5, rows={"x": index})
    every = sample()
    np.testing.assert_array_equal(result.draws["x_rows"], every.draws["x"][:, :, [3, 1], 1:2])


def test_moments_may_be_of_variances_only():
    result = sample(stride=5, moments=True, covariance=False)
    every = sample(moments=True)
    assert not result.moments["x"].keeps_covariance and every.moments["x"].keeps_covariance
    np.testing.assert_allclose(result.moments["x"].variance, every.moments["x"].variance)


def test_moments_are_over_every_draw_of_all_chains():
    every = sample()
    result = sample(stride=4, moments=True, n_jobs=2)
    for name in ("x", "y"):
        flat = every.draws[name].reshape(24, -1)
        moments = result.moments[name]
        assert moments.count == 24
        np.testing.assert_allclose(moments.mean.ravel(), flat.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(moments.variance.ravel(), flat.var(axis=0, ddof=1), rtol=1e-10)


def test_chains_have_streams_of_their_own():
    y = sample(n_chains=4).draws["y"]
    assert np.unique(y).size == y.size


@pytest.mark.parametrize("split_blocks", [False, True])
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_jobs", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_draws_do_not_depend_on_jobs_or_backend(n_jobs, backend, split_blocks):
    expected = sample(n_chains=3)
    with joblib.parallel_config(backend=backend):
        result = sample(n_chains=3, n_jobs=n_jobs, split_blocks=split_blocks)
    for name in expected.draws:
        np.testing.assert_array_equal(result.draws[name], expected.draws[name])


def test_n_jobs_is_taken_from_the_configuration():
    """``n_jobs=None`` under ``parallel_config(n_jobs=2)`` runs chains side by side."""

    class Meeting(Counting):
        barrier = threading.Barrier(2, timeout=10)

        def init_state(self, rngs):
            self.barrier.wait()
            return super().init_state(rngs)

    with joblib.parallel_config(n_jobs=2):
        sample(Meeting())


# -- interruption --------------------------------------------------------------------------------


def test_interrupted_in_the_only_chain():
    with pytest.warns(RuntimeWarning, match=r"Interrupted: .* the 7 draws .* each of 1 chain"):
        result = sample(Counting(KeyboardInterrupt(), at=13), n_chains=1)
    assert result.facts["interrupted"]
    np.testing.assert_array_equal(result.stats["sweeps"], [np.arange(6, 13)])
    assert result.draws["x"].shape == (1, 7, *SHAPE)


def test_interrupted_in_the_second_of_three_sequential_chains():
    """One whole chain and three draws of the next: the largest rectangle is the whole chain."""
    second = first_numbers(0, 3)[1]
    with pytest.warns(RuntimeWarning, match="12 draws made so far in each of 1 chain.* 3 asked"):
        result = sample(Counting(KeyboardInterrupt(), at=9, chain=second), n_chains=3)
    assert result.draws["x"].shape == (1, 12, *SHAPE)
    np.testing.assert_array_equal(result.draws["y"], sample(n_chains=3).draws["y"][:1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_before_any_draw(n_jobs):
    with pytest.raises(KeyboardInterrupt):
        sample(Counting(KeyboardInterrupt(), at=3), n_jobs=n_jobs)


def test_interrupted_in_a_thread():
    """Raised in one of two threads, all keep what they have; the draws are those of a full run."""
    second = first_numbers(0, 2)[1]
    model = Counting(KeyboardInterrupt(), at=55, chain=second, pause=0.002, patient=True)
    with pytest.warns(RuntimeWarning, match="Interrupted"):
        result = sample(model, n_jobs=2, draws=500)
    assert result.facts["interrupted"]
    n_chains, n_draws = result.draws["y"].shape[:2]
    assert n_chains == 2
    assert 1 <= n_draws <= 49, "the interrupted chain made 49 draws after 5 sweeps of warm-up"
    whole = sample(draws=500).draws["y"]
    np.testing.assert_array_equal(result.draws["y"], whole[:, :n_draws])


@pytest.fixture
def ctrl_c():
    """Send a KeyboardInterrupt to the main thread after some seconds, as Ctrl-C does."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs an interval timer")
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c(ctrl_c, n_jobs):
    """The signal arrives while the main thread sweeps (1 job) or waits for threads (2 jobs)."""
    ctrl_c(0.4)
    begin = time.monotonic()
    with pytest.warns(RuntimeWarning, match="Interrupted"):
        result = sample(Counting(pause=0.001), n_jobs=n_jobs, draws=30_000)
    assert time.monotonic() - begin < 10
    assert result.facts["interrupted"]
    assert result.draws["x"].shape[0] == n_jobs
    n_draws = result.stats["sweeps"].shape[1]
    np.testing.assert_array_equal(result.stats["sweeps"][-1], np.arange(6, 6 + n_draws))
    time.sleep(0.1)
    assert not [t for t in threading.enumerate() if "Pool" in type(t).__name__ and not t.daemon]


def test_other_chains_stop_when_one_fails():
    """An error is shown once the threads have ended, not while they work on in the background."""
    second = first_numbers(0, 2)[1]
    model = Counting(ArithmeticError("singular"), at=10, chain=second, pause=0.002)
    sweeps = []

    class Watched(Counting):
        def sweep(self, state, rngs, run):
            super().sweep(state, rngs, run)
            sweeps.append(1)

    model.__class__ = Watched
    with pytest.raises(ArithmeticError, match="singular"):
        sample(model, n_jobs=2, draws=3_000)
    done = len(sweeps)
    time.sleep(0.1)
    assert len(sweeps) == done < 200


@two_blas_threads()
def test_blas_threads_are_given_back():
    before = blas_threads()
    sample(n_jobs=2)
    with pytest.raises(ArithmeticError):
        sample(Counting(ArithmeticError(), at=10), n_jobs=2)
    with pytest.warns(RuntimeWarning):
        sample(Counting(KeyboardInterrupt(), at=10, pause=0.001), n_jobs=2)
    assert set(before.values()) == {2} and blas_threads() == before


# -- gather --------------------------------------------------------------------------------------


def records(lengths, settings):
    out, store = [], Store(len(lengths))
    for c, n in enumerate(lengths):
        record = ChainRecord(store, c)
        for i in range(n):
            record.store(settings, {"x": np.array([[c, i]], float)}, {"i": i})
        out.append(record)
    return out


@pytest.mark.parametrize(
    ("lengths", "chains", "kept"),
    [
        ((9, 9, 9), [0, 1, 2], 9),
        ((9, 2, 0), [0], 9),
        ((9, 5, 0), [0, 1], 5),
        ((3, 4, 5), [0, 1, 2], 3),
        ((0, 0, 7), [2], 7),
        ((4, 0, 2), [0], 4),
    ],
)
def test_gather_keeps_the_largest_rectangle(lengths, chains, kept):
    settings = Settings(draws=9, warmup=0)
    left = sum(lengths) - kept * len(chains)
    said = f"the {kept} draws .* each of {len(chains)} chain.* asked for.$"
    if left:
        said = said[:-1] + f" {left} more draws are left out.* {', '.join(map(str, lengths))}.$"
    with pytest.warns(RuntimeWarning, match=said):
        result = gather(records(lengths, settings), settings, interrupted=True)
    x = result.draws["x"]
    assert x.shape == (len(chains), kept, 1, 2)
    np.testing.assert_array_equal(x[:, :, 0, 0], np.repeat(chains, kept).reshape(-1, kept))
    np.testing.assert_array_equal(x[:, :, 0, 1], [np.arange(kept)] * len(chains))
    np.testing.assert_array_equal(result.stats["i"], [np.arange(kept)] * len(chains))


def test_chains_are_joined_without_a_copy():
    settings = Settings(draws=3, warmup=0)
    chains = records((3, 3), settings)
    result = gather(chains, settings, interrupted=False)
    assert all(np.shares_memory(result.draws["x"], chain.draws["x"]) for chain in chains)
    back = pickle.loads(pickle.dumps(chains[1]))
    back.move_to(chains[0].shared, 0)
    np.testing.assert_array_equal(result.draws["x"][0], result.draws["x"][1])


def test_gather_without_a_draw():
    settings = Settings(draws=9, warmup=0)
    with pytest.raises(KeyboardInterrupt, match="before any draw"):
        gather(records((0, 0), settings), settings, interrupted=True)


def test_a_whole_draw_is_there_however_early_the_interruption():
    """With a stride of 4, two draws leave one recorded whole: predictions stay possible."""
    settings = Settings(draws=8, warmup=0, stride=4, moments=True)
    with pytest.warns(RuntimeWarning):
        result = gather(records((2, 2), settings), settings, interrupted=True)
    assert result.draws["x"].shape == (2, 1, 1, 2)
    assert result.moments["x"].count == 4


def test_a_torn_draw_is_not_counted():
    """An interruption inside ``store`` leaves the draws before it."""
    settings = Settings(draws=5, warmup=0)
    (record,) = records((2,), settings)
    with pytest.raises(ValueError, match="broadcast"):
        record.store(settings, {"x": np.zeros((3, 3))}, {"i": 2})
    assert record.n_draws == 2


# -- blocks of work ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 3])
def test_workers_run_every_task(n_threads):
    out = np.zeros(10)

    def fill(i):
        out[i] = i + 1

    with Workers(n_threads) as run:
        run(fill, [(i,) for i in range(10)])
        run(fill, [(0,)])
    np.testing.assert_array_equal(out, np.arange(1, 11))


def test_interrupted_workers_leave_no_task_behind(ctrl_c_in_submit):
    """All that was begun has ended, and is not begun later."""
    done = []

    def work(i):
        time.sleep(0.05)
        done.append(i)

    with Workers(2) as run:
        with pytest.raises(KeyboardInterrupt):
            run(work, [(i,) for i in range(4)])
        before = list(done)
        time.sleep(0.15)
        assert done == before


@pytest.fixture
def ctrl_c_in_submit(monkeypatch):
    """Ctrl-C while the second task is handed over, once it is in the queue."""
    adjust, calls = ThreadPoolExecutor._adjust_thread_count, []

    def cut(self):
        adjust(self)
        calls.append(1)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", cut)


def test_blocks_share_the_threads_that_chains_leave(monkeypatch):
    seen = []
    original = Workers.__init__

    def spy(self, n_threads):
        seen.append(n_threads)
        original(self, n_threads)

    monkeypatch.setattr(Workers, "__init__", spy)
    sample(n_chains=2, n_jobs=4)
    sample(n_chains=3, n_jobs=2)
    sample(n_chains=1, n_jobs=2)
    sample(n_chains=2, n_jobs=2, split_blocks=True)
    assert seen == [2, 2, 1, 1, 1, 2, 2, 2]


def test_model_without_conditionals_is_refused():
    with pytest.raises(TypeError, match="solver='gibbs' needs .* Conditionals.* object does not"):
        sample(object())


def test_run_chains_takes_any_chain_function():
    result = run_chains(
        gibbs_chain,
        Counting(),
        Settings(draws=2, warmup=0),
        n_chains=1,
        seeds=np.random.SeedSequence(0),
        n_jobs=None,
        split_blocks=False,
        verbose=0,
    )
    assert result.draws["x"].shape == (1, 2, *SHAPE)


# -- the real model ------------------------------------------------------------------------------


LAYOUTS = {"dense": (60, 8_000), "sparse": (60, 600)}


@pytest.fixture(scope="module", params=["dense", "sparse"])
def simulated(request):
    """Pairs in each of the two tables."""
    n_words, n_pairs = LAYOUTS[request.param]
    pairs = make_sgns(n_words=n_words, n_components=3, n_pairs=n_pairs, random_state=0).pairs
    assert tables.is_dense(pairs) == (request.param == "dense")
    return pairs


@pytest.fixture(params=["metropolis", "polya-gamma"])
def fit(request, simulated, monkeypatch):
    """Fit with four blocks of words a side, which otherwise only much larger data have."""

    def blocks(self, n_components):
        return [tables.cut_rows(self.row_work(side) + 1.0, 4) for side in (0, 1)]

    monkeypatch.setattr(tables.PairTable, "blocks", blocks)

    def fit(**parameters):
        model = BayesianSGNS(
            3, kernel=request.param, prior_precision=1.0, draws=10, warmup=10, chains=3, tol=1e-3,
            random_state=7,
        )  # fmt: skip
        return model.set_params(**parameters).fit(simulated)

    return fit


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("chains", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_same_seed_same_draws(fit, chains, backend):
    expected = fit(chains=chains, n_jobs=1).posterior_
    with joblib.parallel_config(backend=backend):
        posterior = fit(chains=chains, n_jobs=2).posterior_
    for name in ("rho", "alpha"):
        np.testing.assert_array_equal(posterior[name], expected[name])
    for name in ("logit", "acceptance"):
        np.testing.assert_array_equal(posterior.stats[name], expected.stats[name])


def test_the_fit_above_has_blocks_to_share(monkeypatch, fit):
    tasks = []
    original = Workers.__call__

    def spy(self, function, items):
        tasks.append(len(items))
        original(self, function, items)

    monkeypatch.setattr(Workers, "__call__", spy)
    fit(chains=1, n_jobs=2, draws=1, warmup=0)
    # those of the search for the mode come before
    assert tasks[-2:] == [4, 4]
