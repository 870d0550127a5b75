"""Pairs whose negative counts are a product: the same as whole tables, without them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_expit

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.sgns import data
from skbayesembed.sgns.data import DensePairs, ProductPairs, pair_table, table_bytes
from skbayesembed.sgns.documents import footprint
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import RankOne
from skbayesembed.sgns.residuals import Residuals

# more rows and columns than one tile has, and no multiples of its sizes
V, K = 1100, 3


def make_counts(n_words, seed):
    """Zipfian counts with words that are never targets or contexts, and words of no pairs."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, n_words + 1)
    positive = rng.poisson(2000 * np.outer(share, share)).astype(float)
    positive[7] = 0.0
    positive[:, 11] = 0.0
    positive[n_words // 2], positive[:, n_words // 2] = 0.0, 0.0
    context = positive.sum(axis=0) ** 0.75
    return PairCounts(
        sparse.csr_array(positive), RankOne(positive.sum(axis=1), context / context.sum())
    )


@pytest.fixture(scope="module")
def counts():
    return make_counts(V, 1)


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(2)
    return [rng.standard_normal((V, n)) for n in (K, K, 5, 2)]


def close(found, expected):
    # single precision: seven digits of sums of a thousand terms
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_products_by_their_formulas(counts, arrays):
    single = [a.astype(np.float32) for a in arrays]
    x, y, z, u = single
    positive, negative = counts.positive.toarray(), counts.negative.toarray()
    t = x.astype(float) @ y.T.astype(float)
    residual = positive - (positive + negative) * expit(t)
    slope = (positive + negative) * expit(t) * expit(-t)
    residuals = Residuals(ProductPairs(counts), serial)
    close(residuals.times(x, y, z), residual @ z)
    close(residuals.transposed(x, y, u), residual.T @ u)
    gradient = np.empty((2, V, K), np.float32)
    value = residuals.gradient(x, y, gradient)
    assert value == pytest.approx((positive * log_expit(t) + negative * log_expit(-t)).sum(), 1e-6)
    close(gradient, np.stack([residual @ y, residual.T @ x]))
    for found, expected in zip(residuals.slopes(x, y, z, u), (slope @ z, slope.T @ u), strict=True):
        close(found, expected)


def test_double_precision(counts, arrays):
    prior = {"prior": 1.3}
    models = [SGNSModel(table(counts), K, **prior) for table in (DensePairs, ProductPairs)]
    theta = np.concatenate([a.ravel() for a in arrays[:2]])
    gradients = [np.empty_like(theta) for _ in models]
    values = [m.logp_and_grad(theta, g) for m, g in zip(models, gradients, strict=True)]
    assert values[0] == pytest.approx(values[1], 1e-12)
    np.testing.assert_allclose(*gradients, rtol=1e-11, atol=1e-10 * np.abs(gradients[0]).max())
    np.testing.assert_allclose(models[0].scale, models[1].scale)


def test_extreme_logits(counts, arrays):
    x, y = ((100.0 * a).astype(np.float32) for a in arrays[:2])
    gradient = np.empty((2, V, K), np.float32)
    assert np.isfinite(Residuals(ProductPairs(counts), serial).gradient(x, y, gradient))
    assert np.all(np.isfinite(gradient))


def test_threads_change_no_bit(counts, arrays):
    x, y, z, u = (a.astype(np.float32) for a in arrays)
    found = []
    for n_threads in (1, 2, 3):
        with Workers(n_threads) as run:
            residuals = Residuals(ProductPairs(counts), run)
            gradient = np.empty((2, V, K), np.float32)
            value = residuals.gradient(x, y, gradient)
            found.append((value, gradient, *residuals.slopes(x, y, z, u)))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_whole_tables_are_made_when_asked_for(counts):
    expected, dense = pickle.loads(pickle.dumps(ProductPairs(counts))), DensePairs(counts)
    for side in (0, 1):
        np.testing.assert_allclose(expected.observations(side), dense.observations(side))
    assert expected._made is None
    for side in (0, 1):
        np.testing.assert_array_equal(expected.n[side], dense.n[side])
        np.testing.assert_array_equal(expected.kappa[side], dense.kappa[side])
    assert expected.blocks(K) == dense.blocks(K)
    for mine, its in zip(expected.rows(3, 9), dense.rows(3, 9), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_small_vocabularies_have_whole_tables(counts, monkeypatch):
    assert isinstance(pair_table(counts), DensePairs)
    monkeypatch.setattr(data, "TABLES_UPTO", V - 1)
    assert isinstance(pair_table(counts), ProductPairs)
    assert table_bytes(counts, whole=False) < 0.2 * table_bytes(counts)
    # those whose negative counts are no product are as before
    written = PairCounts(counts.positive, counts.negative.toarray())
    assert isinstance(pair_table(written), DensePairs)


SOLVERS = [
    {"solver": "map"},
    {"solver": "laplace"},
    {"solver": "vi"},
    {"solver": "vi", "covariance": "diag", "biases": True},
    {"solver": "vi", "learning_method": "online"},
]


@pytest.mark.slow
def test_intervals_by_units_need_no_counts_of_all_pairs(monkeypatch):
    rng, found = np.random.default_rng(4), []
    texts = [[f"w{w}" for w in rng.zipf(1.4, 40) if w < 50] for _ in range(60)]
    for most in (10, 60):
        monkeypatch.setattr(data, "TABLES_UPTO", most)
        monkeypatch.setattr(data, "KEPT_UPTO", most)
        monkeypatch.setattr(footprint, "TABLES_UPTO", most)
        if most == 10:
            monkeypatch.setattr(ProductPairs, "_tables", property(lambda _: pytest.fail("made")))
        model = BayesianSGNS(2, solver="map", prior_precision=1.0, random_state=0).fit(texts)
        found.append(model.similarity("w1", "w2").interval)
    # searches in single precision and systems to 5e-3 end near the same
    np.testing.assert_allclose(*found, atol=0.02)


@pytest.mark.usefixtures("first_mode")
@pytest.mark.parametrize("options", SOLVERS, ids=lambda o: "-".join(map(str, o.values())))
def test_solvers_find_the_same(options, monkeypatch):
    counts, found = make_counts(60, 3), []
    for most in (59, 60):
        monkeypatch.setattr(data, "TABLES_UPTO", most)
        monkeypatch.setattr(data, "KEPT_UPTO", most)
        model = BayesianSGNS(
            2,
            prior_precision=1.0,
            uncertainty="model",
            draws=50,
            max_iter=300,
            random_state=0,
            **options,
        )
        found.append(model.fit(counts).cooccurrence_proba([(3, 1), (20, 5)]).mean)
    # searches in single precision end within 1e-5 of each other
    np.testing.assert_allclose(*found, atol=1e-4)
