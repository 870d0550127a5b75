"""Rare words that meet rare contexts by clusters: formulas, the exact corner, the same mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_sylvester
from scipy.special import expit, log_expit

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.mode import find_mode
from skbayesembed.sgns import clustered, clusters, data, starting
from skbayesembed.sgns.clustered import (
    ClusteredModel,
    ClusteredResiduals,
    ClusteredSurface,
    frequent_words,
)
from skbayesembed.sgns.data import ProductPairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts, RankOne
from skbayesembed.sgns.residuals import Residuals
from skbayesembed.sgns.spectral import spectral_start
from skbayesembed.sgns.starting import searched

V, K = 300, 4
N_FREQUENT = 60
LIMITS = {"tol": 1e-8, "max_iter": 200}


@pytest.fixture(scope="module")
def pairs():
    positive = make_sgns(V, K, n_pairs=400_000, random_state=0).pairs.positive
    rows, columns = (np.asarray(positive.sum(axis=axis)).ravel() for axis in (1, 0))
    return ProductPairs(PairCounts(positive, RankOne(rows, columns / columns.sum())))


@pytest.fixture(scope="module")
def frequent(pairs):
    seen = sum(pairs.observations(side) for side in (0, 1))
    return np.sort(np.argsort(-seen, kind="stable")[:N_FREQUENT])


@pytest.fixture
def vectors():
    rng = np.random.default_rng(3)
    return [rng.standard_normal((V, n)).astype(np.float32) for n in (K, K, 5, 2)]


def close(found, expected, tol=1e-4):
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol * np.abs(expected).max())


def by_clusters(pairs, frequent, x, y):
    residuals = ClusteredResiduals(pairs, frequent, serial)
    residuals.gather(x[residuals.order], y[residuals.order])
    return residuals


def gradient_of(residuals, x, y):
    """The log likelihood and its gradient, words in their own order."""
    found, gradient = np.empty((2, 2, V, K), np.float32)
    order = residuals.order
    value = residuals.gradient(x[order], y[order], found)
    gradient[:, order] = found
    return value, gradient


def seen_by(residuals, x, y, z, u):
    order = residuals.order

    def back(found):
        out = np.empty_like(found)
        out[order] = found
        return out

    value, gradient = gradient_of(residuals, x, y)
    x, y, z, u = x[order], y[order], z[order], u[order]
    products = residuals.times(x, y, z), residuals.transposed(x, y, u)
    return value, gradient, *map(back, products), *map(back, residuals.slopes(x, y, z, u))


def test_clusters_of_one_context_are_exact(pairs, vectors, monkeypatch):
    monkeypatch.setattr(clusters, "_CLUSTERS", V)
    monkeypatch.setattr(clusters, "_LEAST_VARIANCE", 1e-6)
    residuals = by_clusters(pairs, np.arange(V - 50), *vectors[:2])
    # slopes are differences of probabilities over logits .001 apart, in single precision
    for found, exact in zip(
        seen_by(residuals, *vectors), seen_by(Residuals(pairs, serial), *vectors), strict=True
    ):
        close(found, exact, 1e-3)


def by_definition(pairs, frequent, clusters, x, y):
    """Residuals and log likelihood of a side, with means over normal logits by many trapezoids.

    ``clusters`` are those of contexts; the other side is the same of all tables turned.
    """
    rare = np.delete(np.arange(V), frequent)
    positive, (left, right) = pairs
    t = x.astype(float) @ y.T.astype(float)
    negative = np.outer(left, right)
    residual = positive * expit(-t) - negative * expit(t)
    value = (positive * log_expit(t)).sum() + (negative * log_expit(-t)).sum()
    own = np.ix_(rare, rare)
    value -= (negative[own] * log_expit(-t[own])).sum()
    residual[own] = positive[own] * expit(-t[own])
    z = np.linspace(-8.0, 8.0, 801)
    density = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    left, right = left[rare], right[rare]
    for context in clusters.members:
        among = t[np.ix_(rare, rare[context])]
        share = right[context] / right[context].sum()
        mean = (among @ share)[:, None]
        sd = np.sqrt((among - mean) ** 2 @ share)[:, None]
        drawn = mean + sd * z
        n = np.outer(left, right[context])
        value += n.sum(axis=1) @ (log_expit(-drawn) @ density)
        slope = (expit(drawn) * expit(-drawn)) @ density
        sigma = (expit(drawn) @ density)[:, None] + slope[:, None] * (among - mean)
        residual[np.ix_(rare, rare[context])] -= n * sigma
    return value, residual


def test_formulas(pairs, frequent, vectors, monkeypatch):
    monkeypatch.setattr(clusters, "_CLUSTERS", 3)
    # means over logits of such a size are off by up to .001 with seven points
    x, y, z, u = vectors
    x, y = 0.7 * x, 0.7 * y
    residuals = by_clusters(pairs, frequent, x, y)
    positive, (left, right) = pairs._whole.toarray(), pairs.factors
    of_contexts, of_targets = residuals._clusters
    value, seen = by_definition((positive, (left, right)), frequent, of_contexts, x, y)
    other, turned = by_definition((positive.T, (right, left)), frequent, of_targets, y, x)
    found, gradient, times, transposed, *_ = seen_by(residuals, x, y, z, u)
    assert found == pytest.approx(0.5 * (value + other), 1e-5)
    close(times, seen @ z, 1e-3)
    close(transposed, turned @ u, 1e-3)
    first, second = seen @ y, turned @ x
    weights = [pairs.observations(side)[:, None] for side in (0, 1)]
    # along maps of the components it is made flat
    moved = solve_sylvester(
        x.T @ (weights[0] * x), y.T @ (weights[1] * y), x.T @ first - second.T @ y
    )
    close(gradient, [first - weights[0] * (x @ moved), second + weights[1] * (y @ moved.T)], 1e-3)


def test_the_gradient_is_exact_where_it_was_corrected_and_flat_everywhere(pairs, frequent, vectors):
    x, y = vectors[:2]
    residuals, exact = by_clusters(pairs, frequent, x, y), Residuals(pairs, serial)

    def apart(x, y):
        found, wanted = (gradient_of(of, x, y)[1] for of in (residuals, exact))
        uneven = x.T @ found[0] - found[1].T @ y
        # sums of 300 words in single precision
        assert np.abs(uneven).max() < 1e-4 * np.abs(x.T @ wanted[0]).max()
        return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)

    steps = np.random.default_rng(2).standard_normal((2, V, K)).astype(np.float32)
    before = apart(x + 0.03 * steps[0], y + 0.03 * steps[1])
    residuals.correct(x[residuals.order], y[residuals.order])
    assert apart(x, y) < 1e-5
    # of first order in the steps, hence a small part of what was lacking
    assert apart(x + 0.03 * steps[0], y + 0.03 * steps[1]) < 0.3 * before


@pytest.mark.parametrize("most", [0.3, 0.1])
def test_rare_words_have_so_much_of_the_observations(most, monkeypatch):
    monkeypatch.setattr(clustered, "_RARE", most)
    monkeypatch.setattr(clustered, "_MOST_WORK", 1.0)
    left = 1000.0 / (1.0 + np.random.default_rng(0).permutation(V))
    pairs = ProductPairs(PairCounts(np.zeros((V, V)), RankOne(left, left**0.75)))
    found = frequent_words(pairs)
    assert set(found) == set(np.argsort(-left)[: found.size])

    def share(n):
        rare = np.argsort(-left)[n:]
        return left[rare].sum() / left.sum() * (left[rare] ** 0.75).sum() / (left**0.75).sum()

    assert share(found.size) <= most < share(found.size - 1)
    monkeypatch.setattr(clustered, "_MOST_WORK", 1.0 - (1.0 - found.size / V) ** 2 - 1e-9)
    assert frequent_words(pairs) is None


def test_pairs_that_were_seen_count_for_more(monkeypatch):
    monkeypatch.setattr(clustered, "_RARE", 0.3)
    left = 1000.0 / (1.0 + np.random.default_rng(0).permutation(V))
    seen = np.random.default_rng(1).random((V, V)) < 0.1
    pairs = ProductPairs(PairCounts(seen.astype(float), RankOne(left, left**0.75)))
    monkeypatch.setattr(clustered, "_MOST_WORK", 9.0)
    rare = np.delete(np.arange(V), frequent_words(pairs))
    work = 1.0 - (rare.size / V) ** 2 + 4.0 * seen[np.ix_(rare, rare)].sum() / V**2
    monkeypatch.setattr(clustered, "_MOST_WORK", work + 1e-9)
    assert frequent_words(pairs) is not None
    monkeypatch.setattr(clustered, "_MOST_WORK", work - 1e-9)
    assert frequent_words(pairs) is None


def test_words_that_are_equally_frequent_have_no_clusters():
    ones = np.ones(V)
    assert frequent_words(ProductPairs(PairCounts(np.ones((V, V)), RankOne(ones, ones)))) is None


def found_by(pairs, run, **limits):
    model = searched(SGNSModel(pairs, K, 2.0))
    assert isinstance(model, ClusteredModel)
    start = spectral_start(model, np.random.default_rng(0), run)
    return find_mode(model, model.pack(start), warn=False, run=run, **LIMITS | limits)


def test_a_search_ends_at_the_mode_and_is_seldom_corrected(pairs, small, monkeypatch):
    corrected, correct = [], ClusteredSurface.correct

    def counted(surface):
        corrected.append(surface)
        return correct(surface)

    monkeypatch.setattr(ClusteredSurface, "correct", counted)
    theta, facts = found_by(pairs, serial)
    model = SGNSModel(pairs, K, 2.0)
    start = spectral_start(model, np.random.default_rng(0), serial)
    _, exact = find_mode(model, model.pack(start), run=serial, **LIMITS)
    # gains of ten iterations are 1.5e-9 of it at the end
    assert facts["lp"] == pytest.approx(exact["lp"], rel=1e-8)
    assert facts["converged"]
    assert 1 <= len(corrected) <= facts["n_iter"] / 5
    assert model.logp_and_grad(theta, np.empty(theta.size)) == facts["lp"]


def test_double_precision_is_exact(pairs, small):
    theta, facts = found_by(pairs, serial, tol=1e-13, max_iter=500)
    # far below what single precision tells: the largest gradients are some 1e4
    assert facts["converged"] and facts["max_gradient"] < 1e-4
    gradient = np.empty(theta.size)
    SGNSModel(pairs, K, 2.0).logp_and_grad(theta, gradient)
    assert np.abs(gradient).max() < 0.1


def test_ctrl_c_keeps_where_the_search_is(pairs, small, monkeypatch):
    surface = ClusteredModel.surface

    def interrupted(self, *arguments):
        found, seen = surface(self, *arguments), []
        evaluate = found.value_and_gradient

        def value_and_gradient():
            seen.append(1)
            if len(seen) > 4:
                raise KeyboardInterrupt
            return evaluate()

        found.value_and_gradient = value_and_gradient
        return found

    monkeypatch.setattr(ClusteredModel, "surface", interrupted)
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    with pytest.raises(KeyboardInterrupt):
        found_by(pairs, serial)
    counts = PairCounts(pairs._whole, RankOne(*pairs.factors))
    estimator = BayesianSGNS(K, solver="map", prior_precision=2.0, random_state=0)
    with pytest.warns(RuntimeWarning, match="Interrupted: the point is that of . iterations"):
        fitted = estimator.fit(counts)
    attrs = fitted.posterior_.attrs
    assert attrs["interrupted"] and not attrs["converged"]
    theta = np.concatenate([fitted.rho_, fitted.alpha_]).ravel()
    value = SGNSModel(pairs, K, 2.0).logp_and_grad(theta, np.empty(theta.size))
    assert attrs["lp"] == pytest.approx(value, rel=1e-6)


def test_threads_change_no_bit(pairs, small, short_pieces):
    found = []
    for n_threads in (1, 2):
        with Workers(n_threads) as run:
            # it is corrected after 15 steps
            found.append(found_by(pairs, run, max_iter=18)[0])
    np.testing.assert_array_equal(*found)


def test_checks_of_memory_count_pairs_in_another_order(pairs, frequent, monkeypatch):
    residuals = ClusteredResiduals(pairs, frequent, serial)
    taken = 0
    for products in (residuals.of_frequent, residuals.with_frequent, residuals.seen):
        for _, _, (_, indices, counts, *_) in (products.held[i] for i in range(len(products.held))):
            taken += indices.nbytes + counts.nbytes
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    counts = PairCounts(pairs._whole, RankOne(*pairs.factors))
    without, known = (data.table_bytes(counts, False, clusters=c) for c in (False, True))
    assert known - without == taken == 8 * pairs._whole.nnz


def test_vectors_that_are_all_the_same(pairs, frequent, vectors):
    same = np.ones((V, K), np.float32)
    residuals = by_clusters(pairs, frequent, same, same)
    for found, exact in zip(
        seen_by(residuals, same, same, *vectors[2:]),
        seen_by(Residuals(pairs, serial), same, same, *vectors[2:]),
        strict=True,
    ):
        close(found, exact, 1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["map", "vi"])
def test_fits_name_what_met_by_clusters(solver, pairs, small, monkeypatch):
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    options = {"covariance": "diag", "max_iter": 2, "draws": 2, "prior_precision": 2.0}
    model = BayesianSGNS(K, solver=solver, random_state=0, **options)
    model.fit(PairCounts(pairs._whole, RankOne(*pairs.factors)))
    assert 0 < model.posterior_.attrs["clustered_words"] < V
    monkeypatch.setattr(starting, "MANY", V + 1)
    model.fit(PairCounts(pairs._whole, RankOne(*pairs.factors)))
    assert "clustered_words" not in model.posterior_.attrs
