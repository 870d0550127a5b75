"""Maps of the components: what the bound gains by them, its gradient, and when they are made."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

from skbayesembed.inference.chains import Workers, serial
from skbayesembed.sgns.couplings import GroupCoupling
from skbayesembed.sgns.data import ProductPairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.vi import climb, maps
from skbayesembed.sgns.vi.climb import BoundSurface, ClimbedVariational
from skbayesembed.sgns.vi.maps import MapSurface, best_map, slope_along
from tests.sgns.test_product_pairs import make_counts

N_WORDS, K = 300, 4


def make_variational(learned=None, seed=0, k=K, **options):
    rng = np.random.default_rng(seed)
    prior = Prior(N_WORDS, k, 2.0, learned=learned, hyper=(2.0, 1.5), **options)
    variational = ClimbedVariational(SGNSModel(ProductPairs(make_counts(N_WORDS, seed)), k, prior))
    return variational, variational.init_q(variational.model.start(rng))


def settled(variational, q, n=20):
    """A surface at the means of factors, with the best variances, and the factors set to it."""
    surface = BoundSurface(variational, q, serial)
    surface.settle_variances(n)
    value, gradient = surface.value_and_gradient()
    surface.end()
    return value, slope_along(surface.point[:2], gradient[:2])


def mapped(variational, q, turn):
    """Copies of factors after a map."""
    q = type(q)(
        [m.copy() for m in q.mean], [c.copy() for c in q.cov], [*q.log_det], q.shape, q.rate
    )
    variational.change_basis(q, (np.linalg.inv(turn).T, turn.T))
    return q


def small_map(rng, size):
    return size * rng.standard_normal((K, K))


GROUPS = {"couplings": (GroupCoupling(np.repeat([0, 1, -1], [60, 40, N_WORDS - 100]), 3.0),) * 2}


@pytest.mark.parametrize("options", [{}, {"learned": "shared"}, GROUPS])
def test_slope_along_maps_is_that_of_the_bound(options):
    variational, q = make_variational(**options)
    variational.update(q, serial)
    turn = np.eye(K) + small_map(np.random.default_rng(0), 0.3)
    q = mapped(variational, q, turn)
    _, slope = settled(variational, q)
    rng = np.random.default_rng(1)
    for _ in range(3):
        # much of it uphill, where the slope is far above the rounding of the bound
        change = 0.02 * slope / np.linalg.norm(slope) + small_map(rng, 0.002)
        ends = [
            settled(variational, mapped(variational, q, np.eye(K) + s * change))[0] for s in (1, -1)
        ]
        # variances follow, which adds nothing to the slope
        expected = 0.5 * (ends[0] - ends[1])
        assert np.vdot(slope, change) == pytest.approx(expected, rel=0.05, abs=5e-7 * abs(ends[0]))


def test_gradient_by_differences():
    variational, q = make_variational("shared")
    variational.update(q, serial)
    q.along = np.random.default_rng(0).standard_normal((K, K))
    surface = MapSurface(variational, q, np.arange(0, N_WORDS, 7), serial)
    np.testing.assert_allclose(surface.value_and_gradient()[1], q.along, atol=1e-2)
    rng = np.random.default_rng(2)
    surface.point[:] = at = small_map(rng, 0.2)
    _, gradient = surface.value_and_gradient()
    for _ in range(5):
        direction = rng.standard_normal((K, K))
        values = []
        for step in (2e-3, -2e-3):
            surface.point[:] = at + step * direction
            values.append(surface.value_and_gradient()[0])
        slope = (values[0] - values[1]) / 4e-3
        assert np.vdot(gradient, direction) == pytest.approx(slope, rel=2e-3, abs=0.2)


@pytest.mark.parametrize("options", [{}, GROUPS])
def test_what_is_predicted_is_gained(options):
    """By all words: the gain of the best map is that of the bound once variances have settled."""
    variational, q = make_variational(**options)
    for _ in range(3):
        variational.update(q, serial)
    turn = np.eye(K) + small_map(np.random.default_rng(3), 0.3)
    q = mapped(variational, q, turn)
    before, q.along = settled(variational, q)
    surface = MapSurface(variational, q, np.arange(N_WORDS), serial)

    def loss(x):
        surface.point[:] = x.reshape(K, K)
        value, gradient = surface.value_and_gradient()
        return -value, -gradient.ravel()

    found = minimize(loss, np.zeros(K * K), jac=True, method="L-BFGS-B")
    predicted = -found.fun - surface.start
    best = mapped(variational, q, np.eye(K) + found.x.reshape(K, K))
    gained = settled(variational, best)[0] - before
    assert predicted > 20.0
    assert gained == pytest.approx(predicted, rel=0.3)


def test_the_curvature_at_no_map_is_known():
    """Where entries are paired with their mirror images alone, by differences of gradients."""
    variational, q = make_variational()
    for _ in range(3):
        variational.update(q, serial)
    _, q.along = settled(variational, q)
    surface = MapSurface(variational, q, np.arange(N_WORDS), serial)
    for a, b in ((0, 1), (2, 3), (1, 3)):
        curvature = np.empty((2, 2))
        for i, (row, column) in enumerate(((a, b), (b, a))):
            gradients = []
            for step in (1e-2, -1e-2):
                surface.point[:] = 0.0
                surface.point[row, column] = step
                gradient = surface.value_and_gradient()[1]
                gradients.append(np.array([gradient[a, b], gradient[b, a]]))
            curvature[i] = (gradients[1] - gradients[0]) / 2e-2
        values, basis = np.linalg.eigh(0.5 * (curvature + curvature.T))
        if values[0] < 2 * maps._FLATTEST * values[1]:
            continue
        expected = (basis / values) @ basis.T
        for i, (row, column) in enumerate(((a, b), (b, a))):
            x = np.zeros((K, K))
            x[row, column] = 1.0
            surface.precondition(x)
            np.testing.assert_allclose([x[a, b], x[b, a]], expected[i], rtol=0.05)
    for a in range(K):
        gradients = []
        for step in (1e-2, -1e-2):
            surface.point[:] = 0.0
            surface.point[a, a] = step
            gradients.append(surface.value_and_gradient()[1][a, a])
        x = np.zeros((K, K))
        x[a, a] = 1.0
        surface.precondition(x)
        assert 1.0 / x[a, a] == pytest.approx((gradients[1] - gradients[0]) / 2e-2, rel=0.05)


def test_a_mapped_start_comes_back():
    """Far from the best map, one look finds most of what the bound can gain."""
    variational, q = make_variational()
    for _ in range(6):
        variational.update(q, serial)
    top, _ = settled(variational, q)
    worse = mapped(variational, q, np.eye(K) + small_map(np.random.default_rng(4), 0.2))
    low, worse.along = settled(variational, worse)
    variational.change_basis(worse, best_map(variational, worse, serial))
    assert low < top - 20.0
    assert settled(variational, worse)[0] > low + 0.8 * (top - low)


def test_no_map_where_none_gains():
    variational, q = make_variational()
    for _ in range(12):
        variational.update(q, serial)
    # steps are remembered from the sweep on before which no map was found
    assert q.steps is not None and q.along is None
    _, q.along = settled(variational, q)
    assert best_map(variational, q, serial) is None
    variational.take_back(q)
    assert q.steps is None and q.along is None


def test_a_map_that_loses_is_taken_back(monkeypatch):
    variational, q = make_variational()
    before = variational.update(q, serial)
    turn = np.eye(K) + small_map(np.random.default_rng(5), 0.5)
    monkeypatch.setattr(climb, "best_map", lambda *_: (np.linalg.inv(turn).T, turn.T))
    surface, ascent = variational._begun(q, serial, mapped(variational, q, turn))
    assert not surface.mapped and ascent.value > before - 1e-6 * abs(before)
    assert variational.update(q, serial) > before
    assert q.steps is not None


def test_a_mapped_sweep_goes_on_from_what_a_checkpoint_has():
    variational, q = make_variational()
    variational.update(q, serial)
    turn = np.eye(K) + small_map(np.random.default_rng(8), 0.3)
    again = mapped(variational, q, turn)
    again.last, again.along = settled(variational, again)
    again.n_sweeps = 1
    kept = pickle.dumps(vars(again))
    # a map was made, or steps would be remembered
    bound = variational.update(again, serial)
    assert again.steps is None and again.along is not None
    other, q = make_variational()
    vars(q).update(pickle.loads(kept))
    assert other.update(q, serial) == bound
    np.testing.assert_array_equal(q.mean, again.mean)
    np.testing.assert_array_equal(q.along, again.along)


def test_threads_change_no_bit():
    variational, q = make_variational()
    variational.update(q, serial)
    q = mapped(variational, q, np.eye(K) + small_map(np.random.default_rng(7), 0.3))
    _, q.along = settled(variational, q)
    found = best_map(variational, q, serial)
    assert found is not None
    with Workers(2) as run:
        np.testing.assert_array_equal(best_map(variational, q, run), found)


@pytest.mark.parametrize("k", [1, 2])
def test_a_search_that_ends_early_is_asked_what_it_gains(k):
    variational, q = make_variational(k=k)
    for _ in range(6):
        variational.update(q, serial)
    worse = mapped(variational, q, np.diag([1.3, 0.8][:k]))
    low, worse.along = settled(variational, worse)
    variational.change_basis(worse, best_map(variational, worse, serial))
    assert settled(variational, worse)[0] > low + 1.0


@pytest.mark.filterwarnings("error")
def test_components_that_are_switched_off():
    variational, q = make_variational()
    variational.update(q, serial)
    for side in (0, 1):
        q.mean[side][:, 2:] = 0.0
    turn = np.eye(K)
    turn[:2, :2] += small_map(np.random.default_rng(6), 0.3)[:2, :2]
    q = mapped(variational, q, turn)
    low, q.along = settled(variational, q)
    variational.change_basis(q, best_map(variational, q, serial))
    assert np.all(np.isfinite(q.mean[0]))
    assert settled(variational, q)[0] > low + 1.0


@pytest.mark.filterwarnings("error")
def test_singular_and_enormous_maps_are_not_taken():
    variational, q = make_variational()
    variational.update(q, serial)
    surface = MapSurface(variational, q, np.arange(20), serial)
    assert surface.value(-np.eye(K)) == -np.inf
    assert not surface.value(1e30 * np.ones((K, K)) + np.eye(K)) > surface.start


def test_one_word_has_no_other_to_suit():
    variational, q = make_variational()
    variational.model.pairs.by_frequency = lambda: np.array([0])
    assert best_map(variational, q, serial) is None
