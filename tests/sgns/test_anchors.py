"""Identification: anchors, their choice, the fallback, and the canonical frame without them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.anchors import fit_mode
from skbayesembed.sgns.model import (
    SGNSModel,
    canonical_rotation,
    numerical_rank,
    pivot_contexts,
)

K, V = 3, 25
pytestmark = pytest.mark.usefixtures("first_mode")
KERNELS = ["metropolis", "polya-gamma"]


@pytest.fixture(scope="module")
def pairs():
    return make_sgns(n_words=V, n_components=K, n_pairs=15_000, random_state=0).pairs


@pytest.fixture(scope="module")
def mode(pairs):
    return make(solver="map").fit(pairs)


def make(**parameters):
    defaults = {"draws": 20, "warmup": 20, "chains": 2, "random_state": 0, "prior_precision": 1.0}
    defaults["balance"] = False
    return BayesianSGNS(K, **{**defaults, **parameters})


def fit(pairs, **parameters):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The chains have not mixed")
        return make(**parameters).fit(pairs)


CHOICES = {
    "pivot": "pivot",
    "last": "last",
    "words": ["x7", "x0", "x21"],
    "array of words": np.array(["x7", "x0", "x21"]),
    "indices": [7, 0, 21],
    "array of indices": np.array([7, 0, 21]),
    "mixed": ("x7", 0, "x21"),
}


@pytest.mark.parametrize(
    "kernel", ["metropolis", pytest.param("polya-gamma", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("choice", list(CHOICES))
def test_anchored_contexts_never_move(pairs, mode, choice, kernel):
    """In every draw of every chain they are at the MAP, and every other vector moves."""
    model = fit(pairs, anchors=CHOICES[choice], kernel=kernel)
    expected = {
        "pivot": pivot_contexts(mode.alpha_, np.ones(V)).tolist(),
        "last": [22, 23, 24],
    }.get(choice, [7, 0, 21])
    assert model.anchors_.tolist() == expected
    alpha, rho = model.posterior_["alpha"], model.posterior_["rho"]
    held = alpha[:, :, model.anchors_]
    np.testing.assert_array_equal(held, np.broadcast_to(mode.alpha_[model.anchors_], held.shape))
    moves = np.ptp(alpha, axis=(0, 1)) > 0
    assert not moves[model.anchors_].any()
    assert np.delete(moves, model.anchors_, axis=0).all()
    assert np.all(np.ptp(rho, axis=(0, 1)) > 0)
    assert model.posterior_.attrs["anchored"]
    # diagnostics know that these do not move
    assert np.isnan(model.posterior_.rhat("alpha")["alpha"][model.anchors_]).all()


def test_all_words_anchored():
    """As many anchors as words: the contexts are given and the targets are sampled."""
    pairs = make_sgns(n_words=3, n_components=3, n_pairs=3_000, random_state=1).pairs
    model = fit(pairs, anchors=[2, 0, 1], prior_precision=0.1)
    assert model.anchors_.tolist() == [2, 0, 1]
    assert np.ptp(model.posterior_["alpha"], axis=(0, 1)).max() == 0
    assert np.ptp(model.posterior_["rho"], axis=(0, 1)).min() > 0


def test_map_has_no_anchors(mode):
    assert mode.anchors_ is None


# -- no anchors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_free_draws_are_in_the_canonical_frame(pairs, mode, kernel):
    """The pivots' contexts are lower triangular with a positive diagonal in every draw."""
    model = fit(pairs, anchors=None, kernel=kernel)
    assert model.anchors_ is None
    assert not model.posterior_.attrs["anchored"]
    weight = pairs.positive.sum(axis=0) + pairs.negative.sum(axis=0)
    pivots = pivot_contexts(mode.alpha_, weight)
    frame = model.posterior_.flat("alpha")[:, pivots]
    # exactly, so that no diagnostic is that of rounding errors
    assert not np.triu(frame, 1).any()
    assert np.all(np.diagonal(frame, axis1=1, axis2=2) > 0)
    upper = np.triu_indices(K, 1)
    moves = frame.std(axis=0) > 1e-9
    assert not moves[upper].any()
    assert moves[np.tril_indices(K)].all()


def test_the_frame_leaves_the_logits_alone(pairs, monkeypatch):
    """The recorded draws have the logits of the vectors that were sampled, rotated or not."""
    rotated = fit(pairs, anchors=None)
    monkeypatch.setattr("skbayesembed.sgns.model.canonical_rotation", lambda contexts: np.eye(K))
    monkeypatch.setattr(SGNSModel, "_with_zeros_of_frame", lambda self, pivots, alpha: alpha)
    plain = fit(pairs, anchors=None)
    logits = [
        m.posterior_["rho"] @ m.posterior_["alpha"].transpose(0, 1, 3, 2) for m in (rotated, plain)
    ]
    np.testing.assert_allclose(*logits, atol=1e-9)
    for name in ("rho", "alpha"):
        gram = [x @ x.transpose(0, 1, 3, 2) for x in (rotated.posterior_[name],
                                                      plain.posterior_[name])]  # fmt: skip
        np.testing.assert_allclose(*gram, atol=1e-9)
        assert not np.allclose(rotated.posterior_[name], plain.posterior_[name])
    # the traced logits are those of the recorded vectors
    np.testing.assert_allclose(rotated.posterior_.stats["logit"], plain.posterior_.stats["logit"])


def test_traced_logits_are_those_of_the_draws(pairs):
    for anchors in ("pivot", None):
        model = fit(pairs, anchors=anchors)
        logit = model.posterior_.stats["logit"]
        everything = model.posterior_["rho"] @ model.posterior_["alpha"].transpose(0, 1, 3, 2)
        everything = everything.reshape(*everything.shape[:2], -1)
        for i in range(logit.shape[-1]):
            distance = np.abs(everything - logit[..., i, None]).max(axis=(0, 1))
            assert distance.min() < 1e-9


@pytest.mark.slow
def test_anchored_and_free_agree_on_probabilities(pairs):
    """On the pairs without an anchored context, within Monte Carlo error and a little more.

    Conditioning on the MAP of K contexts narrows the posterior; with 600 observations a context
    the means differ by a fraction of an sd (0.03).
    """
    free = fit(pairs, anchors=None, draws=400, warmup=100)
    held = fit(pairs, anchors="pivot", draws=400, warmup=100)
    others = np.setdiff1d(np.arange(V), held.anchors_)
    index = [(w, v) for w in range(V) for v in others]
    a, b = free.cooccurrence_proba(index), held.cooccurrence_proba(index)
    assert np.abs(a.mean - b.mean).max() < 0.6 * a.sd.max()
    assert np.abs(a.mean - b.mean).mean() < 0.15 * a.sd.mean()
    # sd of an anchored pair is too small
    anchored = [(w, v) for w in range(V) for v in held.anchors_]
    assert held.cooccurrence_proba(anchored).sd.mean() < free.cooccurrence_proba(anchored).sd.mean()


# -- the fallback --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The chains have not mixed")
@pytest.mark.parametrize("anchors", ["pivot", "last", [0, 1, 2, 3, 4]], ids=str)
def test_fallback_where_the_mode_lacks_rank(anchors):
    """FACTS: at K=5, V=100, N=1000 and lambda=K the mode is zero: anchors would fix zeros."""
    pairs = make_sgns(n_words=100, n_components=5, n_pairs=1_000, random_state=0).pairs
    model = BayesianSGNS(5, prior_precision=5.0, draws=20, warmup=20, chains=2, random_state=0)
    with pytest.warns(UserWarning, match=r"rank 0 of n_components=5.*anchors=None"):
        model.set_params(anchors=anchors).fit(pairs)
    assert model.anchors_ is None
    assert not model.posterior_.attrs["anchored"]
    assert np.all(model.posterior_["alpha"].std(axis=(0, 1)).max(axis=1) > 0)


def test_fallback_where_the_named_contexts_lack_rank(pairs, mode, monkeypatch):
    """Two anchors in the same direction span nothing, even where all contexts together do."""
    # three contexts that span the space, and one more that is made a copy of the first
    first, second, third = pivot_contexts(mode.alpha_, np.ones(V)).tolist()
    copy = next(v for v in range(V) if v not in (first, second, third))

    def parallel(*args):
        mode = fit_mode(*args)
        mode.arrays["alpha"][copy] = 1.001 * mode.arrays["alpha"][first]
        return mode

    monkeypatch.setattr("skbayesembed.sgns.anchors.fit_mode", parallel)
    with pytest.warns(UserWarning, match="rank 2 of n_components=3"):
        assert fit(pairs, anchors=[first, copy, second]).anchors_ is None
    assert fit(pairs, anchors=[first, second, third]).anchors_ is not None


def test_no_warning_where_no_anchors_are_asked_for():
    """Nor one of rank for the mode itself, unless it is zero."""
    pairs = make_sgns(n_words=100, n_components=5, n_pairs=1_000, random_state=0).pairs
    model = BayesianSGNS(5, prior_precision=5.0, draws=20, warmup=20, chains=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The chains have not mixed")
        assert model.set_params(anchors=None).fit(pairs).anchors_ is None


# -- the functions -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_canonical_rotation(k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        contexts = rng.standard_normal((k, k))
        rotation = canonical_rotation(contexts)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(k), atol=1e-12)
        triangle = contexts @ rotation
        assert np.abs(np.triu(triangle, 1)).max(initial=0.0) < 1e-12
        assert np.all(np.diag(triangle) > 0)
        # the frame does not depend on where the draw came from
        turned = contexts @ np.linalg.qr(rng.standard_normal((k, k)))[0]
        np.testing.assert_allclose(turned @ canonical_rotation(turned), triangle, atol=1e-10)


def test_canonical_frame_is_idempotent():
    contexts = np.tril(np.random.default_rng(0).random((4, 4))) + np.eye(4)
    np.testing.assert_allclose(canonical_rotation(contexts), np.eye(4), atol=1e-12)


def test_pivots_are_well_conditioned(mode):
    """Better than the last K (FACTS: 2-7 against 16-59), and not far from the best of all."""
    alpha = make_sgns(100, 5, 10, random_state=1).alpha
    pivots = pivot_contexts(alpha, np.ones(100))
    condition = np.linalg.cond(alpha[pivots])
    assert condition < 8
    assert len(set(pivots.tolist())) == 5
    assert condition < np.linalg.cond(alpha[-5:])
    # the first pivot is the longest context
    assert pivots[0] == np.argmax((alpha**2).sum(axis=1))


def test_pivots_do_not_depend_on_the_rotation():
    alpha = make_sgns(100, 5, 10, random_state=1).alpha
    turned = alpha @ np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    np.testing.assert_array_equal(
        pivot_contexts(alpha, np.ones(100)), pivot_contexts(turned, np.ones(100))
    )


def test_pivots_of_a_deficient_mode():
    """Rank 2 of 4: two contexts span it, the other two are those with most observations."""
    rng = np.random.default_rng(0)
    alpha = np.zeros((10, 4))
    alpha[:, :2] = rng.standard_normal((10, 2))
    weight = np.arange(10.0)
    pivots = pivot_contexts(alpha, weight)
    assert len(set(pivots.tolist())) == 4
    assert np.linalg.matrix_rank(alpha[pivots[:2]]) == 2
    rest = [v for v in (9, 8, 7, 6) if v not in pivots[:2].tolist()][:2]
    assert pivots[2:].tolist() == rest
    np.testing.assert_array_equal(pivot_contexts(np.zeros((10, 4)), weight), [9, 8, 7, 6])


def test_numerical_rank():
    rng = np.random.default_rng(0)
    alpha = rng.standard_normal((50, 4))
    assert numerical_rank(alpha) == 4
    assert numerical_rank(alpha * [1, 1, 1e-5, 0]) == 2
    assert numerical_rank(1e-6 * alpha) == 0
    assert numerical_rank(np.zeros((50, 4))) == 0
    q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    assert numerical_rank(alpha * [1, 1, 1, 1e-4] @ q) == 3


@pytest.mark.slow
@pytest.mark.parametrize("anchors", ["pivot", None])
def test_coverage_of_a_planted_truth(anchors):
    """Intervals of P(w, v) at 90 % hold 90 % of the truths, over 8 data sets.

    The coverage of one data set of this size has an sd of 2.1 % (measured on 16), the mean of
    8 one of 0.75 %: 3 % is four times that.
    """
    everything = [(w, v) for w in range(V) for v in range(V)]
    coverage = []
    for seed in range(8):
        truth = make_sgns(n_words=V, n_components=K, n_pairs=15_000, random_state=seed)
        p = expit(truth.rho @ truth.alpha.T).ravel()
        model = fit(truth.pairs, anchors=anchors, prior_precision=K, draws=300, warmup=100)
        low, high = model.cooccurrence_proba(everything).interval.T
        coverage.append(np.mean((low <= p) & (p <= high)))
    assert np.mean(coverage) == pytest.approx(0.9, abs=0.03)
