"""The bound climbed by its gradient: the bound of coordinate ascent, its derivatives, its top."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skbayesembed import BayesianSGNS
from skbayesembed.inference import checkpoint
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.sgns import data
from skbayesembed.sgns.couplings import GroupCoupling
from skbayesembed.sgns.data import DensePairs, ProductPairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.vi.climb import BoundSurface, ClimbedVariational, climbs
from skbayesembed.sgns.vi.variational import SGNSVariational
from tests.sgns.test_product_pairs import make_counts

V, K = 60, 3
COUNTS = make_counts(V, 3)


def make_prior(name, n_words=V):
    if name == "fixed":
        return Prior(n_words, K, 2.0)
    if name in ("shared", "component"):
        return Prior(n_words, K, 1.0, learned=name, hyper=(2.0, 1.5))
    if name == "groups":
        group = np.repeat([0, 1, -1], [6, 4, n_words - 10])
        return Prior(n_words, K, 2.0, couplings=(GroupCoupling(group, 3.0),) * 2)
    extra, pull = np.zeros((2, n_words, K))
    extra[2, 1], pull[2, 1], extra[5, 0], pull[5, 0] = 50.0, 60.0, -0.5, 10.0
    return Prior(n_words, K, 2.0, held=((extra, pull), None))


PRIORS = ["fixed", "shared", "groups", "informative"]


def build(prior="fixed", counts=COUNTS, seed=0):
    """The climbed and the coordinate-wise posterior of the same counts, and factors for both."""
    n_words = counts.n_words
    made = make_prior(prior, n_words)
    climbed = ClimbedVariational(SGNSModel(ProductPairs(counts), K, made))
    other = SGNSVariational(SGNSModel(DensePairs(counts), K, made), "diag")
    rng = np.random.default_rng(seed)
    arrays = climbed.model.start(rng)
    pair = climbed.init_q(arrays), other.init_q(arrays)
    noise = rng.uniform(0.5, 2.0, (2, n_words, K))
    for q in pair:
        for side in (0, 1):
            # as single precision has them
            q.mean[side] = q.mean[side].astype(np.float32).astype(float)
            log_var = np.log(q.cov[side] * noise[side]).astype(np.float32).astype(float)
            q.cov[side], q.log_det[side] = np.exp(log_var), log_var.sum(axis=1)
        if q.shape is not None:
            other.update_tau(q)
    return climbed, other, pair


def bound_at(other, q, run=serial):
    """The bound by the kernels of coordinate ascent, in double precision."""
    state = [[array.copy() for array in pair] for pair in (q.mean, q.cov, q.log_det)]
    if q.shape is not None:
        other.update_tau(q)
    gamma = q.shape, q.rate
    value = other.update_side(q, 0, run)
    q.mean, q.cov, q.log_det = state
    q.shape, q.rate = gamma
    return value


@pytest.mark.parametrize("prior", PRIORS)
def test_bound_and_gradient(prior):
    climbed, other, (q, p) = build(prior)
    surface = BoundSurface(climbed, q, serial)
    value, gradient = surface.value_and_gradient()
    # single precision: sums of some thousand terms
    assert value == pytest.approx(bound_at(other, p), rel=2e-6)
    rng, eps = np.random.default_rng(1), 1e-4
    size = float(np.abs(gradient).max())
    for _ in range(3):
        direction = rng.standard_normal(gradient.shape)
        # words with few and with many observations alike
        direction /= np.linalg.norm(direction)
        ends = []
        for sign in (1, -1):
            moved = build(prior)[2][1]
            for side in (0, 1):
                moved.mean[side] += sign * eps * direction[side]
                moved.cov[side] *= np.exp(sign * eps * direction[2 + side])
                moved.log_det[side] += sign * eps * direction[2 + side].sum(axis=1)
            ends.append(bound_at(other, moved))
        slope = (ends[0] - ends[1]) / (2 * eps)
        assert np.vdot(gradient, direction) == pytest.approx(slope, rel=1e-4, abs=2e-5 * size)


@pytest.mark.parametrize("prior", PRIORS)
def test_top_is_that_of_coordinate_ascent(prior):
    climbed, other, (q, p) = build(prior)
    facts = coordinate_ascent(climbed, q, serial, max_iter=40, tol=1e-7, warn=False)
    coordinate_ascent(other, p, serial, max_iter=3000, tol=1e-9, warn=False)
    other.take_back(p)
    reached, theirs = bound_at(other, q), bound_at(other, p)
    assert facts["converged"] and facts["n_iter"] < 40
    assert facts["elbo"][-1] == pytest.approx(reached, rel=2e-6)
    # the bound has several tops: ours is not to be a worse one
    assert reached > theirs - 2e-5 * abs(theirs)
    # no sweep of the other raises it by more than rounding
    for _ in range(3):
        other.update_side(q, 0, serial)
        other.update_side(q, 1, serial)
    assert bound_at(other, q) < reached + 2e-5 * abs(reached)


def test_threads_change_no_bit():
    counts, found = make_counts(600, 1), []
    for n_threads in (1, 2):
        climbed, _, (q, _) = build(counts=counts)
        with Workers(n_threads) as run:
            bounds = [climbed.update(q, run) for _ in range(2)]
        found.append([*bounds, *q.mean, *q.cov, *q.log_det])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_extreme_factors_have_finite_bounds():
    climbed, _, (q, _) = build()
    for side in (0, 1):
        q.mean[side] *= 1e3
        q.cov[side] *= 1e4
    value, gradient = BoundSurface(climbed, q, serial).value_and_gradient()
    assert np.isfinite(value) and np.all(np.isfinite(gradient))


def test_what_is_climbed():
    """Large vocabularies with expected negatives and diagonal covariances, and no others."""
    model = BayesianSGNS(solver="vi", covariance="diag")
    assert climbs(model, True) and not climbs(model, False)
    for other in ({"covariance": "full"}, {"biases": True}, {"prior": "ard"}):
        assert not climbs(clone(model).set_params(**other), True)


def test_fits_climb(monkeypatch):
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    options = {"solver": "vi", "covariance": "diag", "draws": 20, "random_state": 0}
    model = BayesianSGNS(2, prior_precision=1.0, **options).fit(COUNTS)
    bounds = model.approximation_.elbo
    # the last sweep may gain nothing but rounding
    assert np.diff(bounds).min() > -1e-6 * abs(bounds[-1])
    assert model.posterior_.attrs["converged"]
    monkeypatch.setattr(data, "TABLES_UPTO", 1000)
    other = BayesianSGNS(2, prior_precision=1.0, **options).fit(COUNTS)
    # sweeps gain less than 2e-7, and less than 1e-6, where they end
    assert bounds[-1] == pytest.approx(other.approximation_.elbo[-1], rel=1e-4)
    pairs = [(3, 1), (20, 5), (0, 2)]
    np.testing.assert_allclose(
        *(m.cooccurrence_proba(pairs).mean for m in (model, other)), atol=0.02
    )


def test_an_ended_climb_goes_on_from_its_checkpoint(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "TABLES_UPTO", 10)
    monkeypatch.setattr(ClimbedVariational, "steps", 3)
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    options = {"solver": "vi", "covariance": "diag", "draws": 2, "random_state": 0, "tol": 1e-12}
    whole = BayesianSGNS(2, prior_precision=1.0, **options).fit(COUNTS)
    update, calls = ClimbedVariational.update, []

    def ended(self, q, run):
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError
        return update(self, q, run)

    kept = BayesianSGNS(2, prior_precision=1.0, checkpoint=tmp_path / "fit", **options)
    with monkeypatch.context() as patch:
        patch.setattr(ClimbedVariational, "update", ended)
        with pytest.raises(MemoryError):
            kept.fit(COUNTS)
    kept.fit(COUNTS)
    np.testing.assert_array_equal(kept.approximation_.elbo, whole.approximation_.elbo)
    np.testing.assert_array_equal(kept.posterior_["rho"], whole.posterior_["rho"])
    assert len(whole.approximation_.elbo) > 2
