"""Fits whose steps go over copies of blocks, as an engine of other processes makes them."""

import pickle

import numpy as np
import pytest

from skbayesembed import BayesianSGNS, build_vocabulary, count_pairs
from skbayesembed.common import trial
from skbayesembed.inference import blocks
from skbayesembed.inference.threads import serial
from skbayesembed.sgns import data


def copied(thing):
    return pickle.loads(pickle.dumps(thing))


class Copies:
    """An engine that gives every step copies of what it may see, the last block first."""

    def __init__(self):
        self.seen = set()

    def over(self, function, held, shared, own):
        function, shared = copied((function, shared))
        self.seen.add((function.__name__, len(held)))
        found = [
            function(copied(held[i]), *shared, *copied(own[i])) for i in reversed(range(len(held)))
        ]
        return copied(found[::-1])


@pytest.fixture(scope="module")
def shard():
    rng = np.random.default_rng(3)
    texts = [[f"w{i}" for i in np.minimum(rng.zipf(1.5, 300), 60)] for _ in range(8)]
    return count_pairs(texts, build_vocabulary(texts, min_count=1))


GIBBS = {"solver": "gibbs", "kernel": "polya-gamma", "warmup": 2, "draws": 3, "chains": 2}
VI = {"solver": "vi", "max_iter": 3, "draws": 2}
SAMPLED = {"negative_sampling": "sampled"}
CASES = {
    "map": ({"solver": "map"}, "_dense_products"),
    "map of a product": ({"solver": "map", "tol": 1e-12}, "_gradient_part"),
    "map of lists": ({"solver": "map", **SAMPLED}, "_sparse_products"),
    "vi of a product": ({**VI, "covariance": "diag", "biases": True}, "_ascend"),
    "vi of lists": ({**VI, **SAMPLED, "prior_precision": "learned"}, "_ascend"),
    "gibbs": (GIBBS, "_polya_gamma_block"),
    "gibbs of lists": ({**GIBBS, **SAMPLED, "prior_precision": "learned"}, "_polya_gamma_block"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*rank.*:UserWarning")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "gibbs of lists" else ())
        for name in CASES
    ],
)
def test_copies_of_blocks_give_the_same_draws(name, shard, monkeypatch):
    monkeypatch.setattr(data, "_BLOCK_ROWS", 16)
    monkeypatch.setattr(data, "TABLES_UPTO", 10 if "product" in name else 2000)
    monkeypatch.setattr(data, "DENSE_ABOVE", 2.0 if "lists" in name else 0.0)
    monkeypatch.setattr(data.PairTable, "blocks", lambda self, k: [[(0, 9), (9, self.n_words)]] * 2)
    options, step = CASES[name]
    options = {"prior_precision": 0.5, "random_state": 1, "max_iter": 8, **options}
    engine = Copies()
    alone = BayesianSGNS(3, **options).fit(shard)
    with blocks.active(engine):
        apart = BayesianSGNS(3, **options).fit(shard)
    assert any(found == step and n > 1 for found, n in engine.seen)
    # nothing is left of the engine
    apart = copied(apart)
    assert list(alone.posterior_) == list(apart.posterior_)
    for array in alone.posterior_:
        np.testing.assert_array_equal(alone.posterior_[array], apart.posterior_[array])


def _twice(block, shared, own):
    return 2 * block + shared + own


def test_results_are_in_the_order_of_blocks():
    held = blocks.Held([1, 2, 3].__getitem__, 3)
    wanted = [112, 124, 136]
    own = [(10,), (20,), (30,)]
    assert blocks.over(serial, _twice, held, (100,), own) == wanted
    with blocks.active(Copies()):
        assert blocks.over(serial, _twice, held, (100,), own) == wanted
        with trial.Trial().active():
            assert blocks.current() is None
    assert blocks.current() is None


def test_a_value_is_made_once():
    made = []
    once = blocks.Once(made.append, 1)
    assert once.value() is None and made == [1]
    array = blocks.Once(np.arange, 3)
    assert array.value() is array.value()
    np.testing.assert_array_equal(copied(array).value(), array.value())
