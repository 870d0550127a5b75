"""The bound where rare words meet rare contexts by clusters: formulas, exact corners, its top."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.inference import checkpoint
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.sgns import clustered, clusters, data
from skbayesembed.sgns.clustered import ClusteredModel, ClusteredResiduals
from skbayesembed.sgns.data import ProductPairs
from skbayesembed.sgns.listed_kernels import listed_table
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.pairs import PairCounts, RankOne
from skbayesembed.sgns.residuals import Residuals
from skbayesembed.sgns.starting import searched
from skbayesembed.sgns.vi.bound import PairBound, Words
from skbayesembed.sgns.vi.bound_kernels import bound_products, listed_bound
from skbayesembed.sgns.vi.climb import BoundSurface, ClimbedVariational
from skbayesembed.sgns.vi.clustered_bound import ClusteredBound
from tests.helpers.breaking import Broken, break_after

V, K, N_FREQUENT = 300, 4, 60
OPTIONS = {"solver": "vi", "covariance": "diag", "prior_precision": 2.0, "draws": 20}


@pytest.fixture(scope="module")
def counts():
    positive = make_sgns(V, K, n_pairs=400_000, random_state=0).pairs.positive
    rows, columns = (np.asarray(positive.sum(axis=axis)).ravel() for axis in (1, 0))
    return PairCounts(positive, RankOne(rows, columns / columns.sum()))


@pytest.fixture(scope="module")
def pairs(counts):
    return ProductPairs(counts)


@pytest.fixture(scope="module")
def residuals(pairs):
    seen = sum(pairs.observations(side) for side in (0, 1))
    frequent = np.sort(np.argsort(-seen, kind="stable")[:N_FREQUENT])
    return ClusteredResiduals(pairs, frequent, serial)


def some_words(seed):
    rng = np.random.default_rng(seed)
    mean = 0.7 * rng.standard_normal((V, K)).astype(np.float32)
    return Words(mean, rng.uniform(0.02, 0.3, (V, K)).astype(np.float32))


X, Y = some_words(1), some_words(2)


def moved(words, seed, size=0.03):
    steps = size * np.random.default_rng(seed).standard_normal((2, V, K)).astype(np.float32)
    return Words(words.mean + steps[0], words.variance * np.exp(steps[1]))


def close(found, expected, tol=1e-4):
    np.testing.assert_allclose(found, expected, rtol=tol, atol=tol * np.abs(expected).max())


def exact_sums(pairs, x, y):
    return PairBound(Residuals(pairs, serial), serial).sums(x, y)


def clustered_sums(residuals, prepare, x, y, near=None):
    """Words in their own order; ``prepare`` is gather or correct, at ``near``."""
    order, bound = residuals.order, ClusteredBound(residuals, serial)
    getattr(bound, prepare)(*(words.part(order) for words in near or (x, y)))
    value, *sides = bound.sums(x.part(order), y.part(order))
    out = np.empty((2, V, 3 * K), np.float32)
    out[:, order] = sides
    return value, *out


def of_all(n, kappa, x, y):
    """The bound and its sums of whole tables, by the formulas."""
    x, y = (Words(*(a.astype(float) for a in words)) for words in (x, y))
    (v, e), (w, f) = (np.hsplit(words.squares(), 2) for words in (x, y))
    t = x.mean @ y.mean.T
    xi = np.sqrt(t**2 + v @ (f - w).T + e @ w.T)
    omega = n * np.tanh(xi / 2) / (2 * xi)
    value = (kappa * t - n * np.log(2 * np.cosh(xi / 2))).sum()
    slope = kappa - omega * t
    of_targets = np.hstack([slope @ y.mean, omega @ y.squares()])
    return value, of_targets, np.hstack([slope.T @ x.mean, omega.T @ x.squares()])


def test_all_pairs(pairs):
    positive = pairs._whole.toarray()
    n = positive + np.outer(*pairs.factors)
    for found, expected in zip(
        exact_sums(pairs, X, Y), of_all(n, positive - 0.5 * n, X, Y), strict=True
    ):
        close(found, expected)


def test_positive_observations_in_lists():
    rng = np.random.default_rng(0)
    table = rng.poisson(0.5, (40, V)).astype(np.float32)
    counts, x = sparse.csr_array(table), X.part(slice(40))
    listed = listed_table(counts.indptr, counts.indices, counts.data, V)
    out = [tuple(np.full((n, m), 9.0, np.float32) for m in (K, 2 * K)) for n in (40, V)]
    value = listed_bound(listed, x.mean, x.squares(), Y.mean, Y.squares(), *out)
    found = value, *(np.hstack(parts) for parts in out)
    for one, expected in zip(found, of_all(table, 0.5 * table, x, Y), strict=True):
        close(one, expected)
    # the whole table, without negative ones
    numbers = counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data
    whole = *numbers, np.zeros(40, np.float32), np.ones(V, np.float32)
    same = [tuple(np.empty_like(part) for part in parts) for parts in out]
    value = bound_products(whole, x.mean, x.squares(), Y.mean, Y.squares(), *same)
    for one, other in zip(found, (value, *(np.hstack(parts) for parts in same)), strict=True):
        close(one, other)


def test_clusters_of_one_word_are_exact(pairs, monkeypatch):
    monkeypatch.setattr(clusters, "_CLUSTERS", V)
    monkeypatch.setattr(clusters, "_LEAST_VARIANCE", 1e-6)
    residuals = ClusteredResiduals(pairs, np.arange(V - 50), serial)
    for found, exact in zip(
        clustered_sums(residuals, "gather", X, Y), exact_sums(pairs, X, Y), strict=True
    ):
        # slopes are differences over logits .001 apart, in single precision
        close(found, exact, 1e-3)


def test_formulas(residuals, monkeypatch):
    """What rare targets see of clusters, with means over normal logits by many trapezoids."""
    monkeypatch.setattr(clusters, "_CLUSTERS", 3)
    rare = residuals.order[residuals.rare]
    x, y = X.part(rare), Y.part(rare)
    bound = ClusteredBound(residuals, serial)
    bound.gather(X.part(residuals.order), Y.part(residuals.order))
    of_contexts = bound._clusters[0]
    value, found = of_contexts.sums(x, y)
    z = np.linspace(-8.0, 8.0, 801)
    density = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    left, right = residuals._factors
    t = x.mean.astype(float) @ y.mean.T.astype(float)
    expected, total = np.zeros((rare.size, 3 * K)), 0.0
    for members in of_contexts.members:
        share = right[members] / right[members].sum()
        n = left[:, None] * right[members]
        mean = (t[:, members] @ share)[:, None]
        sd = np.sqrt((t[:, members] - mean) ** 2 @ share)[:, None]
        v, e = np.hsplit(x.squares(), 2)
        w, f = np.hsplit(share @ y.squares()[members], 2)
        drawn = mean + sd * z
        xi = np.sqrt(drawn**2 + (v @ (f - w) + e @ w)[:, None])
        omega = np.tanh(xi / 2) / (2 * xi)
        total -= n.sum(axis=1) @ ((0.5 * drawn + np.log(2 * np.cosh(xi / 2))) @ density)
        slope = ((omega * drawn * z) @ density)[:, None] / sd
        own = 0.5 + ((omega * drawn) @ density)[:, None] + slope * (t[:, members] - mean)
        expected[:, :K] -= (n * own) @ y.mean[members]
        expected[:, K:] += np.outer(n.sum(axis=1) * (omega @ density), np.append(w, f))
    # seven points are off by up to .001 for logits of such a size
    assert value == pytest.approx(total, 1e-4)
    close(found, expected, 1e-3)


def uneven(x, y, of_targets, of_contexts):
    """How far sums see maps of components in the logits, and scales in the squares."""
    first, second = (
        words.mean.T @ sums[:, :K] for words, sums in ((x, of_targets), (y, of_contexts))
    )
    totals = [
        (words.mean**2 * sums[:, K : 2 * K] + words.variance * sums[:, 2 * K :]).sum(axis=0)
        for words, sums in ((x, of_targets), (y, of_contexts))
    ]
    return np.abs(first - second.T).max() / np.abs(first).max(), np.abs(totals[0] / totals[1] - 1)


def test_sums_are_exact_where_they_were_corrected_and_see_no_maps_anywhere(pairs, residuals):
    near = moved(X, 3), moved(Y, 4)
    exact, exact_near = exact_sums(pairs, X, Y), exact_sums(pairs, *near)
    corrected = clustered_sums(residuals, "correct", X, Y)
    assert corrected[0] == pytest.approx(exact[0], rel=1e-6)
    for found, expected in zip(corrected[1:], exact[1:], strict=True):
        close(found, expected, 1e-5)
    before = clustered_sums(residuals, "gather", *near, (X, Y))
    after = clustered_sums(residuals, "correct", *near, (X, Y))
    for sums in (before, after, exact_near):
        maps, scales = uneven(*near, *sums[1:])
        # sums of 300 words in single precision
        assert maps < 1e-4 and scales.max() < 1e-4

    def apart(found, columns):
        return np.array([
            np.linalg.norm((one - other)[:, columns]) / np.linalg.norm(other[:, columns])
            for one, other in zip(found[1:], exact_near[1:], strict=True)
        ])  # fmt: skip

    # of first order in the steps, hence a small part of what was lacking
    for columns in (slice(K), slice(K, None)):
        assert np.all(apart(after, columns) < 0.3 * apart(before, columns))


@pytest.fixture
def fitted_so(small, monkeypatch):
    """Rules under which fits of so few words climb, too."""
    monkeypatch.setattr(data, "TABLES_UPTO", 10)


def climb(model, run=serial, **options):
    variational = ClimbedVariational(model)
    q = variational.init_q(model.start(np.random.default_rng(0)))
    facts = coordinate_ascent(variational, q, run, warn=False, **options)
    return q, facts["elbo"]


@pytest.mark.slow
def test_the_top_is_that_of_all_pairs(pairs, small):
    model = SGNSModel(pairs, K, 2.0)
    assert isinstance(searched(model), ClusteredModel)
    found, bounds = climb(searched(model), max_iter=20, tol=1e-7)
    _, expected = climb(model, max_iter=20, tol=1e-7)
    exact = BoundSurface(ClimbedVariational(model), found, serial).value_and_gradient()[0]
    # the bound that is told is the exact one of these factors, words in their own order
    assert bounds[-1] == pytest.approx(exact, rel=1e-6)
    assert exact == pytest.approx(expected[-1], rel=5e-6)
    # it is the top of all pairs, too
    variational = ClimbedVariational(model)
    assert variational.update(found, serial) < exact + 5e-6 * abs(exact)


def test_fits(counts, fitted_so, monkeypatch):
    """By the estimator; intervals are those without clusters."""
    model = BayesianSGNS(K, random_state=0, **OPTIONS).fit(counts)
    monkeypatch.setattr(clustered, "_MOST_WORK", 0.0)
    other = BayesianSGNS(K, random_state=0, **OPTIONS).fit(counts)
    assert model.posterior_.attrs["converged"]
    assert model.approximation_.elbo[-1] == pytest.approx(other.approximation_.elbo[-1], rel=1e-4)
    for found, expected in zip(
        *((m.approximation_.variance(name) for name in ("rho", "alpha")) for m in (model, other)),
        strict=True,
    ):
        # components may be turned: sums over them are not
        np.testing.assert_allclose(
            np.log(found).sum(axis=1), np.log(expected).sum(axis=1), atol=0.2
        )


def test_threads_change_no_bit(pairs, small, short_pieces):
    found = []
    for n_threads in (1, 2):
        with Workers(n_threads) as run:
            q, bounds = climb(searched(SGNSModel(pairs, K, 2.0)), run, max_iter=1, tol=0.0)
        found.append([bounds, *q.mean, *q.cov, *q.log_det])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("n_written", [3, 8])
def test_an_ended_climb_goes_on_from_its_checkpoint(
    n_written, counts, fitted_so, monkeypatch, tmp_path
):
    """After a sweep of which steps are forgotten, and after one of which they are remembered."""
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    # the correction in the middle of a sweep included
    monkeypatch.setattr(ClimbedVariational, "steps", 12)
    options = OPTIONS | {"random_state": 0, "tol": 1e-12, "max_iter": 8}
    whole = BayesianSGNS(K, **options)
    with pytest.warns(UserWarning, match="still rose"):
        whole.fit(counts)
    kept = BayesianSGNS(K, checkpoint=tmp_path / "fit", **options)
    with pytest.raises(Broken), break_after(n_written):
        kept.fit(counts)
    update, remembered = ClimbedVariational.update, []

    def watched(self, q, run):
        remembered.append(q.steps is not None)
        return update(self, q, run)

    monkeypatch.setattr(ClimbedVariational, "update", watched)
    with pytest.warns(UserWarning, match="still rose"):
        kept.fit(counts)
    assert remembered[0] == (n_written > 3) and remembered[-1]
    np.testing.assert_array_equal(kept.approximation_.elbo, whole.approximation_.elbo)
    np.testing.assert_array_equal(kept.posterior_["rho"], whole.posterior_["rho"])


def test_what_is_remembered_is_forgotten_at_the_end(pairs, small):
    variational = ClimbedVariational(searched(SGNSModel(pairs, K, 2.0)))
    q = variational.init_q(variational.model.start(np.random.default_rng(0)))
    for _ in range(4):
        variational.update(q, serial)
    assert variational._exact is not None
    variational.take_back(q)
    assert q.steps is None and variational._exact is None


@pytest.mark.parametrize("where", ["value_and_gradient", "_words"])
def test_ctrl_c_leaves_words_in_their_own_order(where, pairs, small, monkeypatch):
    """In a sweep, or where one that has been broken off leaves its factors."""
    model = SGNSModel(pairs, K, 2.0)
    variational = ClimbedVariational(searched(model))
    q = variational.init_q(model.start(np.random.default_rng(0)))
    bound = variational.update(q, serial)
    step, calls = getattr(BoundSurface, where), []

    def interrupted(surface):
        calls.append(1)
        if len(calls) > 6:
            raise KeyboardInterrupt
        return step(surface)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(BoundSurface, where, interrupted)
        variational.update(q, serial)
    exact = BoundSurface(ClimbedVariational(model), q, serial).value_and_gradient()[0]
    assert exact > bound - 1e-6 * abs(bound)


def test_factors_stay_as_they_were_where_leaving_them_is_broken_off(pairs, small, monkeypatch):
    variational = ClimbedVariational(searched(SGNSModel(pairs, K, 2.0)))
    q = variational.init_q(variational.model.start(np.random.default_rng(0)))
    before = [array.copy() for array in (*q.mean, *q.cov, *q.log_det)]

    def broken(surface):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(BoundSurface, "end", broken)
        variational.update(q, serial)
    for found, expected in zip((*q.mean, *q.cov, *q.log_det), before, strict=True):
        np.testing.assert_array_equal(found, expected)
