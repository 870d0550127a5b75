"""Axes in which diagonal covariances lose least: exact corners, and what the bound gains."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.inference.ascent import Ascent
from skbayesembed.inference.chains import Workers, serial
from skbayesembed.sgns.data import DensePairs, ProductPairs, SparsePairs
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.vi import axes
from skbayesembed.sgns.vi.axes import nearest_axes
from skbayesembed.sgns.vi.axes_kernels import turn_pairs
from skbayesembed.sgns.vi.climb import BoundSurface, ClimbedVariational
from skbayesembed.sgns.vi.variational import SGNSVariational
from tests.sgns.test_product_pairs import make_counts

K = 4


def random_rotation(rng, k=K):
    return np.linalg.qr(rng.standard_normal((k, k)))[0]


def logs_of_diagonals(blocks):
    return float(np.log(np.einsum("kki->ki", blocks)).sum())


def make_blocks(rng, n=200, noise=0.0):
    """Matrices with the same axes, but for noise; their determinants."""
    turn = random_rotation(rng)
    spreads = np.exp(rng.standard_normal((n, K)))
    blocks = np.einsum("ka,na,la->kln", turn, spreads, turn)
    extra = noise * rng.standard_normal((n, K, K))
    blocks += np.einsum("nka,nla->kln", extra, extra)
    return blocks.astype(np.float32), np.linalg.slogdet(np.moveaxis(blocks, 2, 0))[1].sum()


def make_variational(n_words=300, seed=0):
    rng = np.random.default_rng(seed)
    model = SGNSModel(ProductPairs(make_counts(n_words, seed)), K, 2.0)
    variational = ClimbedVariational(model)
    return variational, variational.init_q(model.start(rng))


def rotated(variational, q, turn):
    variational.change_basis(q, (turn, turn.T))
    return q


def settled_bound(variational, q):
    """The bound at the means of factors, with the best variances."""
    surface = BoundSurface(variational, q, serial)
    surface.settle_variances(20)
    return surface.value_and_gradient()[0]


def test_common_axes_are_found():
    rng = np.random.default_rng(0)
    blocks, log_det = make_blocks(rng)
    given, turn = blocks.copy(), np.eye(K)
    values = [logs_of_diagonals(blocks)]
    for _ in range(20):
        turn_pairs(blocks, turn)
        values.append(logs_of_diagonals(blocks))
    np.testing.assert_allclose(turn.T @ turn, np.eye(K), atol=1e-12)
    upper = np.triu_indices(K)
    expected = np.einsum("ka,kli,lb->abi", turn, given, turn)
    np.testing.assert_allclose(blocks[upper], expected[upper], rtol=1e-4, atol=1e-4)
    # single precision, 800 logs
    assert values[-1] == pytest.approx(log_det, abs=1e-2)
    assert values[0] > log_det + 100.0


def test_no_round_of_turns_raises_the_sum_and_the_last_is_at_a_minimum():
    rng = np.random.default_rng(1)
    blocks, log_det = make_blocks(rng, noise=0.7)
    before = logs_of_diagonals(blocks)
    for _ in range(40):
        turn_pairs(blocks, np.eye(K))
        after = logs_of_diagonals(blocks)
        assert after <= before + 1e-5 * abs(before)
        before = after
    assert before > log_det
    blocks = np.triu(np.moveaxis(blocks, 2, 0))
    blocks = np.moveaxis(blocks + np.swapaxes(np.triu(blocks, 1), 1, 2), 0, 2)
    for a in range(K):
        for b in range(a):
            for angle in (-0.05, 0.05):
                turn = np.eye(K)
                turn[[a, a, b, b], [a, b, a, b]] = (
                    np.cos(angle),
                    -np.sin(angle),
                    np.sin(angle),
                    np.cos(angle),
                )
                moved = np.einsum("ka,kli,lb->abi", turn, blocks, turn)
                assert logs_of_diagonals(moved) > before


def test_precisions_are_those_of_the_bound():
    """Their diagonals are what the gradient by log variances has, and all of them what turns do."""
    variational, q = make_variational()
    words = np.array([3, 250, 0])
    found = axes._precisions(variational, q, words, serial)
    surface = BoundSurface(variational, q, serial)
    surface.value_and_gradient()
    for side in (0, 1):
        own = found[:, :, 3 * side : 3 * side + 3]
        np.testing.assert_allclose(
            np.einsum("kki->ik", own), surface._precision[side][words], rtol=1e-4
        )
        np.testing.assert_allclose(own, np.swapaxes(own, 0, 1), rtol=1e-5, atol=1e-5)
    # logits are what they were, so a turn that takes the variances along changes nothing
    same = [np.full_like(x, 0.1) for x in q.cov]
    q.cov[:] = same
    found = axes._precisions(variational, q, words, serial)
    turn = random_rotation(np.random.default_rng(0))
    turned = axes._precisions(variational, rotated(variational, q, turn), words, serial)
    expected = np.einsum("ka,kli,lb->abi", turn, found, turn)
    np.testing.assert_allclose(turned, expected, rtol=1e-4, atol=1e-4)


def test_turned_axes_raise_the_bound():
    variational, q = make_variational()
    for _ in range(6):
        variational.update(q, serial)
    top = settled_bound(variational, q)
    turn = random_rotation(np.random.default_rng(2))
    worse = settled_bound(variational, rotated(variational, q, turn))
    basis = nearest_axes(variational, q, serial)
    np.testing.assert_allclose(basis[0] @ basis[1], np.eye(K), atol=1e-10)
    variational.change_basis(q, basis)
    better = settled_bound(variational, q)
    # by far more than rounding, and most of what the climb had found
    assert worse < top - 1e-5 * abs(top)
    assert better > worse + 0.8 * (top - worse)


def test_steps_are_remembered_once_axes_turn_no_more():
    variational, q = make_variational()
    remembered, bounds = [], []
    for _ in range(8):
        bounds.append(variational.update(q, serial))
        remembered.append(q.steps is not None)
    assert not remembered[0] and remembered[-1]
    assert nearest_axes(variational, q, serial) is None
    # single precision
    assert np.diff(bounds).min() > -1e-6 * abs(bounds[-1])
    variational.take_back(q)
    assert q.steps is None


def test_axes_that_do_not_suit_other_words_are_left(monkeypatch):
    """Near the top of the bound a random turn is a loss."""
    variational, q = make_variational()
    for _ in range(6):
        variational.update(q, serial)
    turn = random_rotation(np.random.default_rng(3))
    monkeypatch.setattr(axes, "_turned", lambda blocks: turn)
    assert nearest_axes(variational, q, serial) is None


def test_one_word_has_no_other_to_suit():
    model = BayesianSGNS(1, solver="vi", covariance="diag", prior_precision=1.0, min_count=1)
    model.fit([["a"] * 6] * 3)
    assert np.all(np.isfinite(model.rho_))


def test_threads_change_no_bit():
    variational, q = make_variational()
    with Workers(2) as run:
        found = nearest_axes(variational, q, run)
    assert found is not None
    np.testing.assert_array_equal(found, nearest_axes(variational, q, serial))


@pytest.mark.parametrize("table", [DensePairs, SparsePairs, ProductPairs])
def test_observations_of_some_words(table):
    counts = make_counts(40, 0)
    words = np.array([7, 0, 31])
    whole = DensePairs(counts).n[0]
    if table is SparsePairs:
        counts = PairCounts(counts.positive, sparse.csr_array((40, 40)))
        whole = counts.positive.toarray()
    pairs = table(counts)
    np.testing.assert_allclose(pairs.of_words(0, words), whole[words])
    np.testing.assert_allclose(pairs.of_words(1, words), whole[:, words].T)


@pytest.mark.parametrize("table", [DensePairs, SparsePairs])
def test_precisions_with_biases(table):
    """After an update of a side its variances are the inverse diagonals."""
    counts = make_counts(40, 0)
    if table is SparsePairs:
        counts = PairCounts(counts.positive, 0.5 * counts.positive[::-1])
    model = SGNSModel(table(counts), K, 2.0)
    variational = SGNSVariational(model, "diag", biases=True)
    q = variational.init_q(model.start(np.random.default_rng(0)))
    words = np.array([3, 25, 0])
    for side in (0, 1):
        found = axes._precisions(variational, q, words, serial)[:, :, 3 * side :]
        variational.update_side(q, side, serial)
        diagonals = np.einsum("kki->ik", found[:, :, :3])
        np.testing.assert_allclose(1.0 / diagonals, q.cov[side][words, :K], rtol=1e-4)


def test_a_step_is_looked_for_without_what_is_remembered(monkeypatch):
    """Where what is remembered leads nowhere, a sweep goes on without it."""
    variational, q = make_variational()
    for _ in range(10):
        variational.update(q, serial)
    for side in (0, 1):
        q.mean[side] *= 0.5
    low = settled_bound(variational, q)
    advance, before = Ascent.advance, q.steps[-1]

    def misled(ascent):
        return not any(pair is before for pair in ascent.known) and advance(ascent)

    monkeypatch.setattr(Ascent, "advance", misled)
    assert variational.update(q, serial) > low + 1e-4 * abs(low)
