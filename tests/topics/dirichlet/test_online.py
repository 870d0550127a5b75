"""Stochastic variational inference of topics with Dirichlet priors of words."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.inference.threads import serial
from skbayesembed.topics.dirichlet.online import OnlineDirichlet
from skbayesembed.topics.vi.online import batches
from tests.topics.dirichlet.test_variational import model_of

K = 3


@pytest.fixture(scope="module")
def data():
    return make_topics(
        120, 60, K, n_dims=3, mean_length=40, separation=4.0, word_model="dirichlet", random_state=1
    )


def online_of(model, known=True, **options):
    """The learner of the problem that a `DirichletVI` has."""
    problem, documents = model.problem, model.problem.documents
    n = documents.n_documents
    if known:
        options |= {"n_documents": n, "totals": documents.totals}
    start = problem.counts() / n
    return OnlineDirichlet(model.measures, problem.alpha, start, n, **options)


@pytest.mark.parametrize("learn_alpha", [None, "asymmetric"])
def test_all_documents_and_whole_steps_are_coordinate_ascent(data, learn_alpha):
    model = model_of(data.counts, data.vectors, K, 1, learn_alpha)
    model.measures.offset[:] = online_of(model)._measures_now().offset
    q = model.init_q()
    online = online_of(model, learning_offset=0.0, learn_alpha=learn_alpha, n_inner=2)
    # the concentration that minibatches start from is that of the prior
    q.base.theta[-1] = np.log(60)
    model.update(q, serial)
    online.learn(model.problem.documents, serial)
    assert online.start_weight == 0
    np.testing.assert_allclose(online.expected_counts(), q.counts, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(online.alpha, q.alpha, rtol=1e-8)


@pytest.mark.parametrize("known", [True, False])
def test_a_stream_stands_for_all_its_documents(data, known):
    """Each word has its occurrences in the whole corpus, whatever batches weigh."""
    model = model_of(data.counts, data.vectors, K, 1)
    documents = model.problem.documents
    online = online_of(model, known, learning_offset=2.0)
    before = online.result()
    assert not before.counts.any() and np.isfinite(before.base.theta).all()
    for batch in batches(documents, 30):
        online.learn(batch, serial)
    found = online.result()
    np.testing.assert_allclose(found.counts.sum(axis=1), documents.totals)
    # to look at the result changes nothing
    again = online.result()
    np.testing.assert_array_equal(found.base.theta, again.base.theta)
    draws = online.sample_q(found, 2000, np.random.default_rng(0))
    share = found.counts / np.maximum(documents.totals, 1)[:, None]
    error = np.sqrt(documents.totals[:, None] * share * (1 - share) / 2000).T + 1e-9
    # 180 entries: beyond 5.5 standard errors once in 100,000 sets of them
    assert np.all(np.abs(draws["counts"].mean(axis=0) - found.counts.T) < 5.5 * error)


@pytest.mark.slow
def test_online_and_batch_predict_alike():
    """Scores of 40 documents held out differ by less than their sampling error."""
    data = make_topics(440, 60, K, n_dims=3, separation=4.0, word_model="dirichlet", random_state=2)
    fit, held_out = data.counts[:400], data.counts[400:]
    options = {"word_model": "dirichlet", "background": False, "normalize": None, "batch_size": 64}
    lda = GaussianLDA(K, embedding=data.vectors, solver="vi", random_state=0, **options)
    whole = lda.fit(fit)
    # of ten parts of them, which have a tenth of the tokens each
    scores = np.array([whole.score(held_out[i::10]) for i in range(10)])
    wanted, error = whole.score(held_out), scores.std(ddof=1) / np.sqrt(10)
    online = lda.set_params(learning_method="online").fit(fit)
    attrs = online.posterior_.attrs
    assert attrs["learning_method"] == "online" and attrs["n_batches"] == 35
    assert attrs["init"] == "documents"
    assert online.score(held_out) == pytest.approx(wanted, abs=error)
    # a stream that is read once, of which it is known how long it is
    lda = clone(lda)
    for start in range(0, 400, 50):
        lda.partial_fit(fit[start : start + 50], total_samples=400)
    assert lda.score(held_out) == pytest.approx(wanted, abs=error)
    assert lda.posterior_["counts"].sum(axis=(2, 3)) == pytest.approx(fit[:, lda._columns].sum())


def test_words_that_come_later(data):
    """A vocabulary given beforehand: words of the second batch were not in the first."""
    counts = data.counts.toarray()
    counts[:60, :6] = 0
    texts = [[f"w{v}" for v in np.repeat(np.arange(60), row.astype(int))] for row in counts]
    vectors = {f"w{v}": vector for v, vector in enumerate(data.vectors)}
    stream = GaussianLDA(
        K, embedding=vectors, solver="vi", word_model="dirichlet", random_state=0, draws=4
    )
    stream.partial_fit(texts[:60], vocabulary=list(vectors))
    assert np.all(stream.posterior_["counts"][..., :6] == 0)
    assert np.all(stream.components_[:, :6] > 0)
    with pytest.raises(ValueError, match=r"got 1 that .* \('sea'\): a stream has the words of its"):
        stream.partial_fit(texts[60:], vocabulary=[*vectors, "sea"])
    stream.partial_fit(texts[60:], vocabulary=dict(zip(vectors, range(60), strict=True)))
    found = stream.posterior_["counts"].sum(axis=2)
    np.testing.assert_allclose(found, np.broadcast_to(counts.sum(axis=0), found.shape), atol=1e-5)
