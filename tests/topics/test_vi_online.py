"""Stochastic variational inference for Gaussian topics."""

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.inference.chains import Workers
from skbayesembed.topics.data import Documents
from skbayesembed.topics.priors import NIW
from skbayesembed.topics.starts import kmeans_assignment
from skbayesembed.topics.vi.online import OnlineTopics, batches, learn_passes, take
from skbayesembed.topics.vi.variational import TopicVI
from tests.helpers.topic_twins import serial

K, E, V, M = 3, 3, 30, 120


def planted(seed=0, fractional=False):
    """Documents of topics that word vectors tell apart, some of them empty."""
    rng = np.random.default_rng(seed)
    topic = np.arange(V) % K
    vectors = 3 * np.eye(E)[topic] + 0.5 * rng.normal(size=(V, E))
    share = rng.dirichlet(np.full(K, 0.2), size=M)
    counts = rng.poisson(1.5 * share[:, topic]).astype(float)
    counts[::17] = 0
    if fractional:
        counts *= 0.7
    return Documents.of(sparse.csr_array(counts), vectors), topic, share


def online_of(docs, known=True, seed=0, **options):
    prior = NIW.from_vectors(docs.vectors, docs.totals)
    if known:
        options |= {"n_documents": docs.n_documents, "totals": docs.totals}
    return OnlineTopics(docs.vectors, K, prior, 0.2, np.random.default_rng(seed), **options)


def test_batches_are_the_documents():
    docs, _, _ = planted()
    parts = list(batches(docs, 50, np.random.default_rng(0)))
    assert [p.n_documents for p in parts] == [50, 50, 20]
    assert np.array_equal(sum(p.totals for p in parts), docs.totals)
    rows = np.array([5, 0, 7])
    part = take(docs, rows)
    whole = sparse.csr_array((docs.counts, docs.words, docs.indptr), shape=(M, V))
    made = sparse.csr_array((part.counts, part.words, part.indptr), shape=(3, V))
    assert np.array_equal(made.toarray(), whole.toarray()[rows])
    assert next(batches(docs, M)).n_tokens == docs.n_tokens


@pytest.mark.parametrize("power", [1.0, 0.3])
@pytest.mark.parametrize("learn_alpha", [None, "asymmetric"])
def test_all_documents_and_whole_steps_are_coordinate_ascent(power, learn_alpha):
    docs, _, _ = planted()
    options = {"power": power, "learn_alpha": learn_alpha, "n_inner": 2}
    online = online_of(docs, learning_offset=0.0, **options)
    model = TopicVI(docs, K, online.prior, 0.2, **options)
    assignment = kmeans_assignment(docs.vectors, docs.totals, K, np.random.default_rng(0))
    q = model.init_q({"assignment": assignment})
    model.update(q, serial)
    online.learn(docs, serial)
    found = online.result()
    assert online.start_weight == 0
    for name in ("mean", "kappa", "nu", "scale"):
        np.testing.assert_allclose(getattr(found.niw, name), getattr(q.niw, name), rtol=1e-10)
    np.testing.assert_allclose(found.counts, q.counts, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.alpha, q.alpha, rtol=1e-10)


def test_natural_parameters_are_averaged_and_the_start_is_left_out():
    docs, _, _ = planted()
    online = online_of(docs, learning_offset=2.0, learning_decay=0.6)
    sums, rates, before = [], [], None
    for t, batch in enumerate(batches(docs, 40), 1):
        online.learn(batch, serial)
        before = online._start_sums if before is None else before
        rate = (2.0 + t) ** -0.6
        sums.append((online._sums - (1 - rate) * before) / rate)
        rates.append(rate)
        before = online._sums
        # what a batch adds is the average over its documents
        assert sums[-1][:, -1].sum() == pytest.approx(batch.n_tokens / 40)
    rates = np.array(rates)
    weights = rates * np.append(np.cumprod((1 - rates)[:0:-1])[::-1], 1.0)
    assert weights.sum() + online.start_weight == pytest.approx(1.0)
    average = np.tensordot(weights / weights.sum(), np.array(sums), 1)
    niw = online.result().niw
    pull = niw.kappa[:, None] * niw.mean
    np.testing.assert_allclose(niw.kappa, online.prior.kappa + M * average[:, -1])
    np.testing.assert_allclose(niw.nu, online.prior.nu + M * average[:, -1])
    vectors = average[:, -1 - E : -1] + average[:, -1:] * online.prior.mean
    np.testing.assert_allclose(pull, online.prior.kappa * online.prior.mean + M * vectors)


@pytest.mark.parametrize("options", [{}, {"learning_offset": 1024.0, "learning_decay": 1.0}])
def test_planted_topics_whatever_the_step(options):
    docs, topic, _ = planted()
    online = online_of(docs, **options)
    rng = np.random.default_rng(1)
    facts = learn_passes(online, docs, batch_size=30, n_passes=3, rng=rng, run=serial)
    expected = {"n_iter": 3, "n_batches": 12, "converged": True, "interrupted": False}
    assert facts == expected
    found = online.result()
    np.testing.assert_allclose(found.counts.sum(axis=1), docs.totals)
    best = np.argmax(found.counts, axis=1)
    assert all(len(set(best[topic == t])) == 1 for t in range(K))
    assert len(set(best)) == K


def test_a_stream_of_known_length_stands_for_all_of_it():
    """Counts, like the topics' factors, are those of M documents, seen or not, or seen twice."""
    docs, _, _ = planted()
    for n_documents in (30, M, 1000):
        online = online_of(docs, known=False, n_documents=n_documents)
        online.learn(docs, serial)
        found = online.result()
        tokens = docs.n_tokens * n_documents / M
        assert found.counts.sum() == pytest.approx(tokens)
        assert (found.niw.kappa - online.prior.kappa).sum() == pytest.approx(tokens)
        draws = online.sample_q(found, 2, np.random.default_rng(0))
        np.testing.assert_allclose(draws["counts"].sum(axis=(1, 2)), tokens)


def test_a_stream_counts_what_it_has_seen():
    docs, _, _ = planted()
    online = online_of(docs, known=False, power=0.5)
    seen = 0
    for batch in batches(docs, 50):
        online.learn(batch, serial)
        seen += batch.n_documents
        assert online.n_documents == online.n_seen == seen
    found = online.result()
    assert np.array_equal(online.totals, docs.totals)
    np.testing.assert_allclose(found.counts.sum(axis=1), docs.totals)
    # tokens a document differ between batches, and late ones weigh more
    added = np.sum(found.niw.kappa - online.prior.kappa)
    assert added == pytest.approx(0.5 * docs.n_tokens, rel=0.15)


def test_learned_alpha_in_batches():
    docs, _, share = planted()
    online = online_of(docs, learn_alpha="symmetric", learning_offset=1.0)
    learn_passes(online, docs, batch_size=40, n_passes=8, rng=np.random.default_rng(1), run=serial)
    assert np.ptp(online.alpha) == 0
    model = TopicVI(docs, K, online.prior, 0.2, learn_alpha="symmetric")
    q = model.init_q({"counts": online.result().counts.T})
    for _ in range(50):
        model.update(q, serial)
    assert online.alpha[0] == pytest.approx(q.alpha[0], rel=0.25)


def test_batches_without_words_are_no_steps():
    docs, _, _ = planted()
    online = online_of(docs)
    empty = take(docs, np.array([0, 17]))
    online.learn(empty, serial)
    assert (online.n_batches, online.n_seen) == (0, 2)
    found = online.result()
    np.testing.assert_allclose(found.niw.mean, np.tile(online.prior.mean, (K, 1)))
    assert np.all(found.counts == 0)
    online.learn(docs, serial)
    assert online.n_batches == 1


def test_same_result_for_every_number_of_threads():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(200, 2000)) * 40
    docs = Documents.of(sparse.csr_array(counts), rng.normal(size=(2000, 30)))
    found = []
    for n_threads in (1, 3):
        online = online_of(docs, n_inner=2)
        with Workers(n_threads) as run:
            for batch in batches(docs, 100):
                online.learn(batch, run)
        q = online.result()
        found.append((q.niw.scale, q.counts))
    for a, b in zip(*found, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("fractional", [False, True])
def test_drawn_counts(fractional):
    docs, _, _ = planted(fractional=fractional)
    online = online_of(docs, power=0.01)
    online.learn(docs, serial)
    q, n = online.result(), 1000
    draws = online.sample_q(q, n, np.random.default_rng(0))
    assert draws["mean"].shape == (n, K, E)
    np.testing.assert_allclose(draws["counts"].sum(axis=1), np.tile(docs.totals, (n, 1)))
    share = q.counts / docs.totals[:, None]
    assert np.any(np.abs(share - 0.5) < 0.3)
    error = np.sqrt(docs.totals[:, None] * share * (1 - share) / n).T + 1e-9
    # 90 entries: beyond 5.5 standard errors once in 300,000 sets of them
    assert np.all(np.abs(draws["counts"].mean(axis=0) - q.counts.T) < 5.5 * error)


def test_long_streams_do_not_underflow():
    docs, _, _ = planted()
    online = online_of(docs, learning_offset=1.0, learning_decay=0.5, n_inner=1)
    online.learn(docs, serial)
    part = take(docs, np.arange(1, 4))
    for _ in range(300):
        online._scale *= 0.1
        online._counts *= 10.0
        online.learn(part, serial)
    found = online.result()
    assert np.all(np.isfinite(found.counts))
    np.testing.assert_allclose(found.counts.sum(axis=1), docs.totals)


class Interrupting(OnlineTopics):
    after = 2

    def learn(self, documents, run):
        if self.n_batches == self.after:
            raise KeyboardInterrupt
        super().learn(documents, run)


def test_interruption_keeps_what_was_learned():
    docs, _, _ = planted()
    prior = NIW.from_vectors(docs.vectors, docs.totals)
    online = Interrupting(docs.vectors, K, prior, 0.2, np.random.default_rng(0))
    arguments = {"batch_size": 50, "n_passes": 2, "rng": np.random.default_rng(0), "run": serial}
    with pytest.warns(RuntimeWarning, match="after 2 batches"):
        facts = learn_passes(online, docs, **arguments)
    assert facts["interrupted"] and not facts["converged"]
    online = Interrupting(docs.vectors, K, prior, 0.2, np.random.default_rng(0))
    online.after = 0
    with pytest.raises(KeyboardInterrupt):
        learn_passes(online, docs, **arguments)


def test_batches_without_words_are_no_evidence():
    """However documents without tokens are cut into batches, topics are known as well."""
    docs, _, _ = planted()
    online = online_of(docs, known=False)
    online.learn(docs, serial)
    before = online.result().niw
    rows = np.flatnonzero(np.diff(docs.indptr) == 0)
    for _ in range(20):
        online.learn(take(docs, rows), serial)
    assert online.n_documents == docs.n_documents + 20 * rows.size
    after = online.result().niw
    for name in ("mean", "kappa", "nu", "scale"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), rtol=1e-10)


def test_a_stream_that_counted_no_documents_with_tokens():
    docs, _, _ = planted()
    online, other = (online_of(docs, known=False) for _ in range(2))
    other.n_learned = None
    for one in (online, other):
        one.learn(take(docs, np.flatnonzero(np.diff(docs.indptr) > 0)), serial)
    np.testing.assert_allclose(other.result().niw.kappa, online.result().niw.kappa)
