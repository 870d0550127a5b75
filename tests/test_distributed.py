"""Fits whose counts are on the workers of a cluster; where dask is installed."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

from skbayesembed import BayesianSGNS, GroupedPrior, build_vocabulary, count_pairs
from skbayesembed.distributed import DaskEngine, fit
from skbayesembed.inference import blocks, checkpoint
from skbayesembed.sgns import clustered, data, starting
from skbayesembed.sgns.vi import solver
from skbayesembed.sgns.vi.climb import ClimbedVariational
from tests.helpers.breaking import Broken, break_after

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def shards():
    rng = np.random.default_rng(5)
    texts = [[f"w{i}" for i in np.minimum(rng.zipf(1.5, 300), 60)] for _ in range(9)]
    words = build_vocabulary(texts, min_count=1)
    return [count_pairs(texts[i::3], words) for i in range(3)]


@contextlib.contextmanager
def cluster(n_workers, processes):
    options = {"processes": processes, "dashboard_address": None, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(n_workers=n_workers, **options) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture
def blocks_of_16(monkeypatch):
    monkeypatch.setattr(data, "_BLOCK_ROWS", 16)
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    monkeypatch.setattr(data.PairTable, "blocks", lambda self, k: [[(0, 9), (9, self.n_words)]] * 2)


FITS = {
    "map": {"solver": "map", "tol": 1e-12},
    "vi": {"solver": "vi", "covariance": "diag", "max_iter": 5, "draws": 2},
    "gibbs": {
        "solver": "gibbs", "kernel": "polya-gamma", "warmup": 2, "draws": 3, "chains": 2,
        "prior_precision": "learned",
    },
}  # fmt: skip


def model(name):
    return BayesianSGNS(3, **{"prior_precision": 0.5, "random_state": 1, **FITS[name]})


def same(a, b):
    assert list(a.posterior_) == list(b.posterior_)
    for name in a.posterior_:
        np.testing.assert_array_equal(a.posterior_[name], b.posterior_[name])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_workers_in_threads_draw_the_same(shards, blocks_of_16):
    with cluster(2, False) as client:
        for name in FITS:
            futures = client.scatter(shards, hash=False)
            same(fit(model(name), futures, client), model(name).fit(sum(shards)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "by_clusters"), [("map", False), ("map", True), ("vi", True)])
def test_a_search_that_starts_among_frequent_words(
    name, by_clusters, shards, blocks_of_16, monkeypatch
):
    monkeypatch.setattr(starting, "MANY", 30)
    if by_clusters:
        monkeypatch.setattr(clustered, "_RARE", 0.5)
        monkeypatch.setattr(clustered, "_MOST_WORK", 9.0)
    monkeypatch.setattr(solver, "_MODE_STEPS", 4)
    monkeypatch.setattr(ClimbedVariational, "steps", 11)
    with cluster(2, False) as client:
        # clusters are corrected after 15 steps of a search, and after 10 of a sweep
        few = model(name).set_params(max_iter=20 if name == "map" else 1)
        same(fit(few, shards, client), clone(few).fit(sum(shards)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_workers", [1, 2, 4, 8])
def test_any_number_of_workers_draws_the_same(n_workers, shards, blocks_of_16):
    with cluster(n_workers, True) as client:
        for name in FITS:
            same(fit(model(name), shards, client), model(name).fit(sum(shards)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["vi", "gibbs"])
def test_a_fit_that_was_broken_off_goes_on(name, shards, blocks_of_16, tmp_path, monkeypatch):
    """From its checkpoint, which every sweep is written to."""
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    expected = model(name).fit(sum(shards))
    estimator = model(name).set_params(checkpoint=tmp_path)
    with cluster(2, False) as client:
        with pytest.raises(Broken), break_after(3):
            fit(estimator, shards, client)
        assert list(tmp_path.iterdir())
        same(fit(estimator, shards, client), expected)
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("delay", [None, 0.0, 0.02], ids=["between steps", "at once", "later"])
@pytest.mark.parametrize("name", FITS)
def test_a_worker_that_is_killed_costs_no_draw(name, delay, shards, blocks_of_16, monkeypatch):
    steps, over = [], DaskEngine.over

    with cluster(2, True) as client:

        def killing(engine, *arguments):
            steps.append(None)
            if len(steps) == 4:
                victim = min(client.run(os.getpid).values())
                kill = threading.Timer(delay or 0.0, os.kill, (victim, signal.SIGKILL))
                kill.start()
                if delay is None:
                    kill.join()
            return over(engine, *arguments)

        monkeypatch.setattr(DaskEngine, "over", killing)
        found = fit(model(name), shards, client)
        assert len(steps) > 6
        same(found, model(name).fit(sum(shards)))


def _counted(texts, words, marks):
    """`count_pairs` that leaves a mark where it begins, and takes its time."""
    (marks / f"{os.getpid()}-{id(texts)}").touch()
    time.sleep(0.2)
    return count_pairs(texts, words)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_worker_that_is_killed_while_it_counts_costs_no_pair(tmp_path):
    rng = np.random.default_rng(5)
    texts = [[f"w{i}" for i in np.minimum(rng.zipf(1.5, 300), 60)] for _ in range(24)]
    words = build_vocabulary(texts, min_count=1)
    with cluster(2, True) as client:
        # what is counted is on both workers, and both are counting
        parts = [[text] for text in texts]
        futures = client.map(_counted, parts, words=words, marks=tmp_path, pure=False)
        while len(list(tmp_path.iterdir())) < 9:
            time.sleep(0.01)
        lost = min(client.run(os.getpid).values())
        assert any(mark.name.startswith(f"{lost}-") for mark in tmp_path.iterdir())
        os.kill(lost, signal.SIGKILL)
        same(fit(model("gibbs"), futures, client), model("gibbs").fit(count_pairs(texts, words)))
        # some were counted again
        assert len(list(tmp_path.iterdir())) > len(texts)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"solver": "laplace"}, "solver of a distributed fit.*'laplace'"),
        ({"solver": "auto"}, "solver of a distributed fit.*'auto'"),
        ({"solver": "gibbs"}, "kernel must be 'polya-gamma'.*'auto'"),
        ({"prior": GroupedPrior({"a": ["w1", "w2"]})}, "prior=GroupedPrior couples words"),
        ({"learning_method": "online"}, "learning_method must be 'batch'.*'online'"),
    ],
)
def test_what_does_not_go_by_parts_is_refused(options, said, shards):
    with pytest.raises(ValueError, match=said):
        fit(BayesianSGNS(3, **{"solver": "vi", **options}), shards, None)


def test_what_is_no_shard_is_refused(shards):
    for wrong in ([], [*shards, "text"]):
        with pytest.raises(TypeError, match="shards must be a PairShard"):
            fit(model("vi"), wrong, None)
    with pytest.raises(TypeError, match="estimator must be a BayesianSGNS, got str"):
        fit("model", shards, None)


def test_what_is_no_client_is_refused(shards):
    with pytest.raises(TypeError, match="client must be a distributed.Client, got 'tcp://there'"):
        fit(model("vi"), shards, "tcp://there")
    with pytest.raises(TypeError, match="client must be a distributed.Client, got None"):
        fit(model("vi"), shards, None)


class _Waiting:
    """A future of a client in this process."""

    def __init__(self, made):
        self.status, self._made = "finished", made

    def result(self):
        if isinstance(self._made, Exception):
            raise self._made
        return self._made


class _Client:
    """Runs steps at once; blocks are lost as told."""

    asynchronous = False

    def __init__(self, lost=0):
        self.sent, self._lost, self._lock = [], lost, threading.Lock()

    def scatter(self, data, hash):
        self.sent.append(len(data))
        time.sleep(0.002)
        return [_Waiting(one) for one in data]

    def submit(self, function, *arguments, pure=True):
        with self._lock:
            lose, self._lost = function.__name__ == "_step" and self._lost > 0, self._lost - 1
        if lose:
            time.sleep(0.002)
            return _Waiting(distributed.KilledWorker("step", None, []))
        made = [a.result() if isinstance(a, _Waiting) else a for a in arguments]
        return _Waiting(function(*made))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_counts_are_sent_once(shards, blocks_of_16):
    """Sweeps share them, however many there are."""
    sent = []
    for n_sweeps in (1, 6):
        client = _Client()
        fit(model("vi").set_params(max_iter=n_sweeps), shards, client)
        sent.append(sum(client.sent))
    assert sent[0] == sent[1]


def test_a_block_that_another_chain_has_sent_again():
    engine, held = DaskEngine(_Client()), blocks.Held(lambda i: i, 3)
    first = engine._place(held, [0, 1])
    engine._forget(held, 0, first[0])
    again = engine._place(held, [0])[0]
    assert set(first) == {0, 1} and again is not first[0]
    # the other one finds out, too, and must not take away what is there by now
    engine._forget(held, 0, first[0])
    assert engine._place(held, [0, 1]) == {0: again, 1: first[1]}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_side_by_side_lose_blocks(shards, blocks_of_16):
    """They share what has been sent, and one may send again what another is about to."""
    chains = model("gibbs").set_params(n_jobs=2, chains=4)
    expected = clone(chains).fit(sum(shards))
    for lost in (1, 5, 20):
        same(fit(clone(chains), shards, _Client(lost)), expected)
