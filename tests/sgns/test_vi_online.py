"""Stochastic variational inference: its batches, its memory, and the batch solution it nears."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation
from scipy.special import expit

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.datasets import make_sgns
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.records import Settings
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.sgns.batches import CorpusBatches, MatrixBatches, PairBatches
from skbayesembed.sgns.counting import document_pairs, expected_negatives, window_pairs
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.model import SGNSModel
from skbayesembed.sgns.priors import Prior
from skbayesembed.sgns.problem import Problem
from skbayesembed.sgns.vi import kernels as vi_kernels
from skbayesembed.sgns.vi import online as online_vi
from skbayesembed.sgns.vi.online import OnlineVI
from skbayesembed.sgns.vi.solver import online_result, solve, start_online
from skbayesembed.sgns.vi.variational import SGNSVariational

N_WORDS, K = 40, 3


def serial(function, tasks):
    for task in tasks:
        function(*task)


def documents(n_documents, seed, spread=0.2, n_topics=5):
    """Documents of 60 words, each from its own mixture of some distributions over words."""
    topics = np.random.default_rng(7).dirichlet(np.full(N_WORDS, spread), size=n_topics)
    rng = np.random.default_rng(seed)
    mixtures = rng.dirichlet(np.full(n_topics, 0.3), size=n_documents) @ topics
    ids = np.concatenate([rng.choice(N_WORDS, 60, p=p) for p in mixtures])
    return ids, np.arange(0, 60 * n_documents + 1, 60)


def positives(n_documents, seed, **options):
    ids, offsets = documents(n_documents, seed, **options)
    return window_pairs(ids, offsets, N_WORDS, window=5, window_weights="linear")


def make(prior=1.0, n_words=N_WORDS, **options):
    prior = prior if isinstance(prior, Prior) else Prior(n_words, K, prior)
    return OnlineVI(n_words, K, prior, np.random.SeedSequence(0), **options)


@pytest.mark.parametrize("commit", [True, False])
def test_blend(commit):
    rng = np.random.default_rng(0)
    precision, shift = rng.standard_normal((2, 5, 4))
    keep, gain = rng.uniform(size=5), np.array([1.5, 0.0, 2.0, 1.0, 1.0])
    memory = precision.copy(), shift.copy(), keep, gain, commit
    packed, linear = rng.standard_normal((2, 4))
    for w, there in ((0, True), (1, False)):
        a, b = packed.copy(), linear.copy()
        assert vi_kernels.blend(w, memory, a, b) == there
        blends = keep[w] * precision[w] + packed, keep[w] * shift[w] + linear
        np.testing.assert_allclose(a, gain[w] * blends[0] if there else packed)
        np.testing.assert_allclose(b, gain[w] * blends[1] if there else linear)
        stays = blends if commit and there else (precision[w], shift[w])
        np.testing.assert_allclose(memory[0][w], stays[0])
        np.testing.assert_allclose(memory[1][w], stays[1])
    a, b = packed.copy(), linear.copy()
    nothing = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), np.zeros(0), False
    assert vi_kernels.blend(0, nothing, a, b)
    np.testing.assert_array_equal(a, packed)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_one_batch_is_coordinate_ascent(covariance, monkeypatch):
    """The first batch alone: the sweeps of the batch solver from the same start."""
    counts = make_sgns(N_WORDS, K, 5000, random_state=0).pairs
    online = make(covariance=covariance, n_first=4)
    start = {}

    class Stop(Exception):
        pass

    def first(after, *given):
        start["mean"] = [m.copy() for m in after.q.mean]
        start["cov"] = [c.copy() for c in after.q.cov]
        raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(OnlineVI, "_update_side", first)
        online.learn_pairs(counts, serial)
    online = make(covariance=covariance, n_first=4)
    online._rebalance = lambda: None
    online.learn_pairs(counts, serial)
    variational = SGNSVariational(SGNSModel(pair_table(counts), K, 1.0), covariance)
    q = variational.init_q({"rho": start["mean"][0], "alpha": start["mean"][1]})
    q.cov = start["cov"]
    for _ in range(4):
        for side in (0, 1):
            variational.update_side(q, side, serial)
    for side in (0, 1):
        np.testing.assert_allclose(online.q.mean[side], q.mean[side], atol=1e-10)
        np.testing.assert_allclose(online.q.cov[side], q.cov[side], atol=1e-12)
    # solved anew from what is remembered: the last update of each side
    _, again = online.result(serial)
    np.testing.assert_allclose(again.mean[1], q.mean[1], atol=1e-10)


def test_memory_by_hand():
    """What is kept, what is left and what everything is, over three batches."""
    online = make(forget=2.0, n_first=1)
    batches = [positives(3, seed) for seed in range(3)]
    seen, left = np.zeros(N_WORDS), np.zeros(N_WORDS)
    for number, positive in enumerate(batches):
        negative = expected_negatives(positive, negative=1.0, ns_exponent=0.75)
        n = np.asarray(positive.sum(axis=1)).ravel() + negative.left
        seen += n
        share = np.divide(n, seen, out=np.zeros(N_WORDS), where=seen > 0)
        left = np.where(n > 0, (1 - share) ** 2 * left + n, left)
        online.learn(positive, serial)
        np.testing.assert_allclose(online.seen[0], seen, rtol=1e-12)
        np.testing.assert_allclose(online.left[0], left, rtol=1e-12)
        assert online.n_batches == number + 1
    online.end_pass()
    online.learn(batches[0], serial)
    np.testing.assert_allclose(online.total[0], seen, rtol=1e-12)
    assert np.all(online.seen[0] >= online.total[0])
    online.learn(sparse.csr_array((N_WORDS, N_WORDS)), serial)
    assert online.n_batches == 4


def test_unseen_words_stay_at_the_prior():
    extra, pull = np.zeros((2, N_WORDS + 2, K))
    extra[-1, 0], pull[-1, 0] = 9.0, 20.0
    online = make(Prior(N_WORDS + 2, K, 1.0, held=((extra, pull), None)), N_WORDS + 2)
    for seed in range(3):
        positive = sparse.block_diag([positives(4, seed), np.zeros((2, 2))], format="csr")
        online.learn(sparse.csr_array(positive), serial)
    _, q = online.result(serial)
    np.testing.assert_allclose(q.mean[0][-2], 0.0, atol=0)
    np.testing.assert_allclose(q.mean[0][-1], [2.0, 0.0, 0.0])
    np.testing.assert_allclose(q.cov[0][-1], [0.1, 0, 1, 0, 0, 1])


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_change_of_basis_takes_the_memory_along(covariance):
    online = make(1e-9, covariance=covariance)
    for seed in range(7):  # the basis was changed last after the fourth
        online.learn(positives(4, seed), serial)

    def logits():
        # with next to no prior, what is remembered alone says where the vectors are
        out = []
        for side in (0, 1):
            known = online.left[side] > 0
            full = np.tile(np.eye(K), (N_WORDS, 1, 1))
            low = np.tril_indices(K)
            packed = online.precision[side][known]
            for i, j, column in zip(*low, packed.T, strict=True):
                full[known, i, j] = full[known, j, i] = column
            out.append(np.linalg.solve(full, online.shift[side][:, :, None])[:, :, 0])
        return out[0] @ out[1].T

    before, mean = logits(), online.q.mean[0] @ online.q.mean[1].T
    turned = online.q.mean[0].copy()
    online.prior.tau[:] = 1.0
    online._rebalance()
    assert np.abs(online.q.mean[0] - turned).max() > 1e-3
    np.testing.assert_allclose(online.q.mean[0] @ online.q.mean[1].T, mean, atol=1e-9)
    np.testing.assert_allclose(logits(), before, rtol=1e-6, atol=1e-6)


def test_precisions_are_those_of_the_last_update():
    """The variances of the side that was updated last are inverse to their diagonals."""
    online = make(2.0, covariance="diag", biases=True)
    online._rebalance = lambda: None
    for seed in range(2):
        online.learn(positives(4, seed), serial)
    for words in (np.array([3, 25, 0]), np.array([7])):
        found = online._precisions(1, words)
        assert found.shape == (K, K, words.size)
        np.testing.assert_array_equal(found, np.swapaxes(found, 0, 1))
        diagonals = np.einsum("kki->ik", found)
        np.testing.assert_allclose(1.0 / diagonals, online.q.cov[1][words, :K], rtol=1e-5)
    before = online.q.cov[1].copy(), online.q.log_det[1].copy()
    online._settle_variances()
    np.testing.assert_allclose(online.q.cov[1], before[0], rtol=1e-10)
    np.testing.assert_allclose(online.q.log_det[1], before[1], rtol=1e-10)


def test_diagonal_covariances_are_looked_at_in_axes_in_which_they_lose_least(monkeypatch):
    """From axes turned at random to a minimum of the loss; variances are the best there."""
    # found for all of these few words, so that all of them are at their minimum
    monkeypatch.setattr(online_vi, "some_words", lambda ranked: (ranked, ranked))
    online = make(covariance="diag")
    for seed in range(8):
        online.learn(positives(60, seed, spread=0.1), serial)
    words = np.arange(N_WORDS)

    def loss(turn):
        blocks = [online._precisions(side, words) for side in (0, 1)]
        blocks = np.einsum("ka,kli,la->ai", turn, np.concatenate(blocks, axis=2), turn)
        return 0.5 * float(np.log(blocks).sum(dtype=float))

    rng = np.random.default_rng(0)
    worse = np.linalg.qr(rng.standard_normal((K, K)))[0]
    online._change_basis((worse, worse.T))
    before = loss(np.eye(K))
    for _ in range(10):
        online._rebalance()
    after = loss(np.eye(K))
    assert after < before - 0.1
    generators = rng.standard_normal((30, K))
    generators *= 0.3 / np.linalg.norm(generators, axis=1, keepdims=True)
    # looks end where one gains less than 1e-4 a word
    turned = [loss(Rotation.from_rotvec(radians).as_matrix()) for radians in generators]
    assert min(turned) > after - 1e-4 * 2 * N_WORDS
    assert np.mean(turned) > after + 0.05
    for side in (0, 1):
        diagonals = np.einsum("kki->ik", online._precisions(side, words))
        np.testing.assert_allclose(online.q.cov[side], 1.0 / diagonals, rtol=1e-5)


def test_axes_need_two_words_of_each_side():
    positive = sparse.csr_array(([5.0], ([0], [1])), shape=(2, 2))
    online = make(n_words=2, covariance="diag", negative_sampling="sampled", negative=0.0)
    online.learn(positive, serial)
    assert online._axes() is None
    _, q = online.result(serial)
    assert np.all(np.isfinite(q.mean[0]))


def test_threads_and_pickles_change_nothing():
    found = []
    for n_threads in (1, 2):
        online = make(negative_sampling="sampled")
        with Workers(n_threads) as run:
            for seed in range(4):
                online.learn(positives(5, seed), run)
                online = pickle.loads(pickle.dumps(online))
            found.append(online.result(run)[1])
    np.testing.assert_array_equal(found[0].mean[0], found[1].mean[0])
    np.testing.assert_array_equal(found[0].cov[1], found[1].cov[1])


@pytest.mark.parametrize(
    ("covariance", "prior"),
    [
        pytest.param("full", "fixed", marks=pytest.mark.slow),
        ("full", "shared"),
        pytest.param("full", "component", marks=pytest.mark.slow),
        ("diag", "fixed"),
        pytest.param("diag", "shared", marks=pytest.mark.slow),
        ("diag", "component"),
    ],
)
def test_nears_the_batch_solution(prior, covariance):
    """Held-out log score above guessing: 98 % of batch's in a third of its passes."""
    learned = None if prior == "fixed" else prior
    prior = Prior(N_WORDS, K, 1.0, learned=learned, hyper=(1e-3, 1e-3))
    # topics of few words each, so that there is much to learn; as many as components, which could
    # otherwise rest at those of a weaker one (a saddle, which batches of data leave later)
    texts = {"spread": 0.1, "n_topics": K}
    ids, offsets = documents(400, 0, **texts)
    train = window_pairs(ids, offsets, N_WORDS, window=5, window_weights="linear")
    test = positives(400, 1, **texts)
    options = {"negative": 1.0, "ns_exponent": 0.75}
    model = SGNSModel(pair_table(PairCounts(train, expected_negatives(train, **options))), K, prior)
    batch = SGNSVariational(model, covariance)
    q = batch.init_q(model.start(np.random.default_rng(0)))
    facts = coordinate_ascent(batch, q, serial, max_iter=500, tol=1e-8)
    assert facts["n_iter"] >= 9
    online = make(prior, covariance=covariance)
    source = CorpusBatches(BayesianSGNS(), ids, offsets, N_WORDS, None)
    rng = np.random.default_rng(2)
    for _ in range(3):
        for positive in source.batches(25, rng):
            online.learn(positive, serial)
        online.end_pass()
    variational, found = online.result(serial)
    negative = expected_negatives(test, **options).toarray()

    def score(v, factors):
        draws = v.sample_q(factors, 50, np.random.default_rng(0))
        p = np.mean(expit(np.einsum("dwk,dvk->dwv", draws["rho"], draws["alpha"])), axis=0)
        total = np.sum(test.toarray() * np.log(p) + negative * np.log1p(-p))
        return total / (test.sum() + negative.sum()) - np.log(0.5)

    assert score(batch, q) > 0.015
    assert score(variational, found) > 0.98 * score(batch, q)


def test_corpus_batches():
    ids, offsets = documents(23, 0)
    source = CorpusBatches(BayesianSGNS(), ids, offsets, N_WORDS, None)
    whole = window_pairs(ids, offsets, N_WORDS, window=5, window_weights="linear")
    parts = list(source.batches(5, np.random.default_rng(0)))
    assert len(parts) == 5
    np.testing.assert_allclose(sum(parts).toarray(), whole.toarray(), atol=1e-9)
    first = next(source.batches(2, None, shuffle=False))
    expected = window_pairs(ids[:120], offsets[:3], N_WORDS, window=5, window_weights="linear")
    np.testing.assert_allclose(first.toarray(), expected.toarray())
    frequency = np.bincount(ids, minlength=N_WORDS)
    thin = CorpusBatches(BayesianSGNS(subsample=1e-3), ids, offsets, N_WORDS, frequency)
    rest = sum(thin.batches(5, np.random.default_rng(0)))
    assert 0 < rest.sum() < 0.5 * whole.sum()


def test_matrix_batches():
    matrix = np.random.default_rng(0).poisson(0.5, (11, 6)).astype(float)
    parts = list(MatrixBatches(matrix, "pairs").batches(4, np.random.default_rng(1)))
    assert len(parts) == 3
    np.testing.assert_allclose(sum(parts).toarray(), document_pairs(matrix).toarray(), atol=1e-9)


def test_pair_batches():
    counts = make_sgns(N_WORDS, K, 5000, random_state=0).pairs
    parts = list(PairBatches(counts, n_parts=4).batches(None, np.random.default_rng(0)))
    assert len(parts) == 4
    for name in ("positive", "negative"):
        whole = sum(getattr(p, name) for p in parts)
        np.testing.assert_allclose(whole.toarray(), getattr(counts, name).toarray())
    cells = sum(((p.positive + p.negative).toarray() > 0).astype(int) for p in parts)
    assert cells.max() == 1
    assert min(p.total for p in parts) > 0.2 * counts.total


@pytest.mark.parametrize("biases", [False, True])
def test_posterior_of_a_stream(biases):
    model = BayesianSGNS(K, solver="vi", learning_method="online", biases=biases, draws=8)
    settings = Settings(draws=8, warmup=0)
    online = start_online(model, N_WORDS, Prior(N_WORDS, K, 1.0), np.random.SeedSequence(1))
    for seed in range(3):
        online.learn(positives(5, seed), serial)
    result = online_result(model, online, settings, np.random.SeedSequence(2), {"n_iter": 1})
    assert result.draws["rho"].shape == (1, 8, N_WORDS, K)
    assert result.facts["n_batches"] == 3
    assert result.approximation.elbo.size == 0
    assert ("rho_bias" in result.draws) == biases
    # the stream goes on after it was looked at
    online.learn(positives(5, 3), serial)
    assert online.n_batches == 4


@pytest.mark.slow
def test_posterior_of_passes():
    counts = make_sgns(N_WORDS, K, 20_000, random_state=0).pairs
    source = PairBatches(counts)
    results = [fit_source(source, 3.0, draws=8, n_passes=4) for _ in range(2)]
    np.testing.assert_array_equal(results[0].draws["alpha"], results[1].draws["alpha"])
    assert results[0].facts["n_batches"] == 64 and results[0].facts["n_iter"] == 4
    batch = BayesianSGNS(K, solver="vi", prior_precision=3.0, draws=8, random_state=0).fit(counts)
    expected = batch.rho_ @ batch.alpha_.T
    # the weakest component comes last: what it lacks halves as passes double
    found = fit_source(source, 3.0, draws=8, n_passes=64).approximation.mean
    found = found["rho"] @ found["alpha"].T
    assert np.corrcoef(expected.ravel(), found.ravel())[0, 1] > 0.99


class Cut(CorpusBatches):
    """Ctrl-C after some batches."""

    after = 2

    def batches(self, size, rng, shuffle=True):
        for number, batch in enumerate(super().batches(size, rng, shuffle)):
            if number == self.after:
                raise KeyboardInterrupt
            yield batch


def fit_source(source, precision=1.0, draws=3, n_passes=2):
    model = BayesianSGNS(
        K, solver="vi", learning_method="online", draws=draws, batch_size=5, n_passes=n_passes
    )
    words, seed = np.array([f"w{i}" for i in range(N_WORDS)]), np.random.SeedSequence(0)
    problem = Problem(words, {}, Prior(N_WORDS, K, precision), None, source, seed)
    return solve(model, problem, Settings(draws=draws, warmup=0), seed)


def test_interrupted():
    source = Cut(BayesianSGNS(), *documents(20, 0), N_WORDS, None)
    with pytest.warns(RuntimeWarning, match="Interrupted in pass 1 of 2, after 2 batches"):
        result = fit_source(source)
    assert result.facts["interrupted"] and result.facts["n_batches"] == 2
    source.after = 0
    with pytest.raises(KeyboardInterrupt):
        fit_source(source)


def test_nothing_to_learn():
    with pytest.raises(ValueError, match="X has no pair of words"):
        fit_source(CorpusBatches(BayesianSGNS(), np.arange(9), np.arange(10), N_WORDS, None))
    # a stream that has seen nothing yet is at its prior
    _, q = make(4.0).result(serial)
    np.testing.assert_array_equal(q.mean[0], 0.0)
    np.testing.assert_allclose(q.cov[0][0], [0.25, 0, 0.25, 0, 0, 0.25])


def test_memory_is_checked_first():
    model = BayesianSGNS(100, solver="vi", learning_method="online")
    with pytest.raises(MemoryError, match="The factors of 3000000 words"):
        start_online(model, 3_000_000, None, np.random.SeedSequence(0))


def test_words_that_the_first_pass_had_none_of_are_learned():
    """Subsampling draws anew in every pass, and may leave a rare word no pair in the first."""
    both = positives(30, 0)
    without = sparse.lil_array(both)
    without[3], without[:, 3] = 0, 0
    found, expected = [], []
    for first, out in ((sparse.csr_array(without), found), (both, expected)):
        online = make(negative_sampling="expected")
        for batch in (first, *[both] * 6):
            online.learn(batch, serial)
            online.end_pass()
        q = online.result(serial)[1]
        # observations are counted once, whichever pass had them
        out += [online.total[0][3], online.total[1][3], online.contexts[3]]
        out.append(q.mean[0][3] @ q.mean[1].T)
    np.testing.assert_allclose(found[:3], expected[:3], rtol=0.1)
    assert np.corrcoef(found[3], expected[3])[0, 1] > 0.9
