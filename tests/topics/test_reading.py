"""Reading topics: words, tables, intervals, coherence, pyLDAvis."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.metrics import coherence
from skbayesembed.posterior.summary import hdi_interval
from skbayesembed.topics import inputs
from skbayesembed.topics.draws import draws_of
from skbayesembed.topics.labels import notes_on_rough
from skbayesembed.topics.recording import unmixed_topics
from tests.helpers.extras import optional

pd = optional("pandas")

K, V = 3, 60

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed"),
    pytest.mark.usefixtures("few_simulated"),
]


@pytest.fixture(scope="module")
def data():
    return make_topics(
        120, V, K, n_dims=3, separation=1.5, mean_length=30, likelihood_power=0.5, random_state=2
    )


@pytest.fixture(scope="module")
def model(data):
    return GaussianLDA(
        K, embedding=data.vectors, normalize=None, min_count=1, likelihood_power=0.5, draws=40,
        warmup=40, chains=2, random_state=0,
    ).fit(data.counts)  # fmt: skip


def test_components(model):
    assert model.components_.shape == (K, V)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
    counts = model.posterior_.flat("counts") + 0.01
    expected = (counts / counts.sum(axis=-1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(model.components_, expected)
    density = GaussianLDA(**model.get_params()).set_params(word_proba="density")
    density.fit(model._training)
    np.testing.assert_allclose(density.components_.sum(axis=1), 1)
    assert not np.allclose(density.components_, model.components_)


@pytest.mark.parametrize("normalize", ["unit", "center", None])
def test_words_and_topics_have_vectors_in_one_space(data, normalize):
    """Words as `normalize` has them, the topics behind them, as they are or called by names."""
    model = GaussianLDA(
        K, embedding=data.vectors, normalize=normalize, solver="vi", min_count=1, random_state=0
    ).fit(data.counts)  # fmt: skip
    found = model.to_word_vectors()
    words = data.vectors - model.embedding_mean_
    words /= np.linalg.norm(words, axis=1, keepdims=True) if normalize == "unit" else 1.0
    np.testing.assert_allclose(found.vectors, np.vstack([words, model.topic_means_]))
    assert list(found)[:V] == model.words_.tolist() and list(found)[V:] == [
        "topic_0", "topic_1", "topic_2"
    ]  # fmt: skip
    assert list(model.to_word_vectors(["a", "b", "c"]))[V:] == ["a", "b", "c"]
    with pytest.raises(ValueError, match="one for each of the 3 topics with a vector .*, got 2"):
        model.to_word_vectors(["a", "b"])
    with pytest.raises(ValueError, match="got 'x0' twice"):
        model.to_word_vectors(["a", "b", "x0"])
    # a background has no vector
    model.set_params(word_model="dirichlet").fit(data.counts)
    found = model.to_word_vectors()
    assert list(found)[V:] == ["topic_1", "topic_2"]
    np.testing.assert_allclose(found["topic_2"], model.posterior_.mean("topic_vector")[2])


def test_topics_come_largest_first(model):
    share = model.topic_info().share
    assert np.all(np.diff(share) <= 0) and share.sum() == pytest.approx(1)


@pytest.mark.parametrize("by", ["count", "density", None])
def test_top_words(model, by):
    found = model.top_words(5, by=by)
    assert found.words.shape == found.mean.shape == found.prob_top.shape == (K, 5)
    assert found.interval.shape == (K, 5, 2) and len(found) == K
    assert np.all(np.diff(found.mean, axis=1) <= 0)
    assert np.all(found.interval[..., 0] <= found.interval[..., 1])
    assert np.all((found.prob_top > 0) & (found.prob_top <= 1))
    assert found.by == (by or "count")
    proba = model._word_proba(found.by)
    for k in range(K):
        order = [model.vocabulary_[word] for word in found.words[k]]
        np.testing.assert_allclose(found.mean[k], proba[k, order])
        assert found.mean[k, -1] >= np.sort(proba[k])[-5] - 1e-12


def test_relevant_words(model):
    """By the formula of Sievert & Shirley; words of the tables and of effects are these."""
    found = model.top_words(V, rank="relevant")
    proba = model.components_
    tokens = model.posterior_.flat("counts").sum(axis=(0, 2))
    lift = proba / (tokens / tokens.sum() @ proba)
    expected = 0.6 * np.log(proba) + 0.4 * np.log(lift)
    for k in range(K):
        order = [model.vocabulary_[word] for word in found.words[k]]
        assert np.all(np.diff(expected[k, order]) < 1e-9)
        np.testing.assert_allclose(found.mean[k], proba[k, order])
    np.testing.assert_array_equal(model.topic_info(4).words, found.words[:, :4])
    assert repr(found).startswith("relevant words of each topic") and found.background is None
    order = "(in order of relevance, not of probability)"
    assert order in repr(found) and order not in repr(model.top_words(3))
    with pytest.raises(ValueError, match="rank must be one of 'probable', 'relevant', got 'lift'"):
        model.top_words(rank="lift")


@pytest.mark.parametrize(
    "read",
    [
        lambda m, counts: m.topic_info(3),
        lambda m, counts: m.top_words(3),
        lambda m, counts: m.document_topics(counts[:4]),
        lambda m, counts: m.representative_documents(counts, n=3),
        lambda m, counts: m.effects(counts, np.arange(counts.shape[0])),
    ],
    ids=["info", "words", "documents", "representative", "effects"],
)
def test_topics_that_have_not_mixed_have_no_interval_in_print(model, read):
    """Print has a dash; arrays and data frames keep the numbers, and tell of it."""
    found = read(model, model._training)
    some = replace(found, unmixed=np.array([1]))
    frame = some.to_frame()
    topics = frame["topic"] if "topic" in frame else frame.index
    assert (frame["mixed"] == (topics != 1)).all() and not frame["mixed"].all()
    kept = found.to_frame()
    np.testing.assert_array_equal(frame[["low", "high"]], kept[["low", "high"]])
    assert np.isfinite(frame[["low", "high"]]).all(axis=None)
    columns = [c for c in some._columns() if np.ndim(c.values) == 2]
    cells = columns[0].cells(range(len(frame)))
    assert [cell == "-" for cell in cells] == (~frame["mixed"]).tolist()


def test_stability_is_a_share_of_draws(model):
    found = model.top_words(5, by="count")
    counts = model.posterior_.flat("counts")
    top = np.argsort(-counts, axis=-1)[..., :5]
    for k in range(K):
        for j, word in enumerate(found.words[k]):
            # ties at the edge count as being among them
            index = model.vocabulary_[word]
            least = np.take_along_axis(counts[:, k], top[:, k, [-1]], axis=1)[:, 0]
            assert found.prob_top[k, j] == pytest.approx(np.mean(counts[:, k, index] >= least))


def test_printing_and_frames(model):
    words = model.top_words(4)
    text = repr(words)
    assert "words of each topic by count, 90 % intervals, P(top 4)" in text
    assert text.count("\ntopic ") == K and str(words.words[0, 0]) in text
    assert words._repr_html_().count("<tr>") == 4 * K + 1
    frame = words.to_frame()
    assert list(frame.columns) == ["topic", "word", "mean", "low", "high", "prob_top", "mixed"]
    assert len(frame) == 4 * K
    info = model.topic_info(4)
    unmixed = model.posterior_.attrs["converged"] is False
    assert info.unmixed.tolist() == unmixed_topics(model.posterior_).tolist()
    assert np.flatnonzero(~info["mixed"]).tolist() == info.unmixed.tolist()
    chains = model.posterior_.attrs["solver"] == "gibbs"
    assert (info.rhat is not None) == chains == ("rhat" in info._series())
    rough = len(notes_on_rough(model.posterior_))
    assert repr(info).count("\n") == K + 1 + unmixed + (info.unmixed.size > 0) + rough
    assert ("the chains have not mixed" in repr(info)) == unmixed
    frame = info.to_frame()
    assert isinstance(frame, pd.DataFrame)
    names = "share low high n_words spread stability coherence words mixed"
    assert " ".join(frame.columns) == names + " rhat" * chains
    assert len(info) == len(frame) == K and info["share"] is info.share
    with pytest.raises(KeyError, match="unknown column 'size'; available: share"):
        info["size"]
    model_map = GaussianLDA(**model.get_params()).set_params(solver="vi", draws=1)
    model_map.fit(model._training)
    assert "(a point estimate, without intervals)" in repr(model_map.top_words(2))
    # of one draw there is no share
    info = model_map.topic_info(2)._resting_on("point")
    for table, column in ((model_map.top_words(2), 3), (info, 5)):
        assert set(table._columns()[column].cells(range(K))) == {"-"}


def test_shares_without_width_say_why(model):
    """Of draws; a point has no interval at all."""
    info = model.topic_info(3)
    interval = np.tile([0.2, 0.3], (info.share.size, 1))
    interval[1] = [0.0861, 0.0864]
    told = replace(info, interval=interval, unmixed=np.array([], dtype=int))
    line = "(topic 1: hardly any tokens enter or leave this topic between draws, so its interval is"
    assert (line in repr(told._resting_on("posterior"))) and line not in repr(info)
    assert "(topic 1: " not in repr(told._resting_on("point"))
    # of no topic: that an interval has width in print makes it no better
    of_vi = "(variational shares have almost no width: report none of these intervals)"
    assert of_vi in repr(info._resting_on("vi"))
    assert of_vi in repr(told._resting_on("vi")) and line not in repr(told)
    assert "may be too narrow" not in repr(told) and "relevant" in repr(told)
    assert "may be too narrow" in repr(model.top_words(3)._resting_on("vi"))
    interval[2] = [0.0861, 0.0862]
    assert "(topics 1, 2: hardly any" in repr(replace(told, interval=interval))


def test_topic_info(model):
    info = model.topic_info(5)
    assert np.all((info["low"] <= info.share + 1e-9) & (info.share <= info["high"] + 1e-9))
    assert np.all((info.n_words > 1) & (info.n_words <= V))
    assert np.all(info.spread > 0)
    assert "stability: of the first 5 words of a topic)" in repr(info)
    np.testing.assert_allclose(info.stability, model.top_words(5).prob_top.mean(axis=1))
    np.testing.assert_allclose(info.coherence, model.coherence(n=5))


def test_intervals_of_gaussians(model):
    found = model.topic_interval(prob=0.8)
    assert found.mean.shape == found.sd.shape == (K, 3, 2)
    assert np.all(found.mean[..., 0] <= model.topic_means_)
    assert np.all(found.mean[..., 1] >= model.topic_means_)
    sd = np.sqrt(np.diagonal(model.topic_covariances_, axis1=1, axis2=2))
    assert np.all((found.sd[..., 0] < sd * 1.02) & (found.sd[..., 1] > sd * 0.98))
    wider = model.topic_interval(prob=0.99)
    assert np.all(np.ptp(wider.mean, axis=-1) >= np.ptp(found.mean, axis=-1))


@pytest.mark.parametrize("measure", ["npmi", "pmi"])
def test_coherence(model, data, measure):
    index = np.argsort(-model.components_, axis=1, kind="stable")[:, :6]
    expected = coherence(index, data.counts, measure=measure)
    np.testing.assert_allclose(model.coherence(measure=measure, n=6), expected)
    half = data.counts[:60]
    np.testing.assert_allclose(
        model.coherence(half, measure=measure, n=6), coherence(index, half, measure=measure)
    )
    by_density = model.coherence(half, n=6, by="density")
    assert by_density.shape == (K,)


def test_true_topics_cohere():
    """Words of a topic meet more often than any words do, where topics share few of them."""
    rng = np.random.default_rng(0)
    topic = np.arange(V) % K
    vectors = 3 * np.eye(K)[topic] + 0.5 * rng.normal(size=(V, K))
    counts = rng.poisson(1.5 * rng.dirichlet(np.full(K, 0.2), size=120)[:, topic])
    model = GaussianLDA(
        K, embedding=vectors, normalize=None, draws=40, warmup=40, chains=2, random_state=0
    ).fit(counts)
    # words of one topic, which any six seldom are
    anyhow = coherence(np.array([rng.permutation(V)[:6] for _ in range(20)]), counts)
    assert model.coherence(n=6).mean() > np.nanmean(anyhow) + 0.1


def test_pyldavis(model, data, monkeypatch):
    given = model.to_pyldavis()
    n_full = int((np.asarray(data.counts.sum(axis=1)) > 0).sum())
    assert given["topic_term_dists"].shape == (K, V)
    assert given["doc_topic_dists"].shape == (n_full, K)
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(given["doc_topic_dists"].sum(axis=1), 1)
    assert len(given["vocab"]) == V and given["doc_lengths"].sum() == data.counts.sum()
    np.testing.assert_array_equal(given["term_frequency"], data.counts.sum(axis=0))
    empty = data.counts[:10].copy()
    empty.data[: empty.indptr[2]] = 0
    assert len(model.to_pyldavis(empty)["doc_lengths"]) == 8
    module = types.ModuleType("pyLDAvis")
    module.prepare = lambda **options: options
    monkeypatch.setitem(sys.modules, "pyLDAvis", module)
    prepared = model.to_pyldavis(prepare=True, mds="mmds")
    assert prepared["mds"] == "mmds" and prepared["vocab"] == given["vocab"]
    # topics are numbered as they are here, unless asked for otherwise
    assert (prepared["start_index"], prepared["sort_topics"]) == (0, False)
    assert model.to_pyldavis(prepare=True, sort_topics=True)["sort_topics"]
    monkeypatch.setitem(sys.modules, "pyLDAvis", None)
    with pytest.raises(ImportError, match="prepare=True needs pyLDAvis: pip install pyLDAvis"):
        model.to_pyldavis(prepare=True)


def test_streams_keep_no_documents(data):
    model = GaussianLDA(K, embedding=data.vectors, solver="vi", normalize=None, random_state=0)
    model.partial_fit(data.counts)
    for call in (model.coherence, model.to_pyldavis):
        with pytest.raises(ValueError, match="must be given: partial_fit keeps no documents"):
            call()
    assert np.isnan(model.topic_info().coherence).all()
    assert np.isfinite(model.coherence(data.counts)).all()


def test_refusals(model):
    for name, arguments, message in (
        ("top_words", {"n": 0}, "n must be an integer >= 1"),
        ("top_words", {"by": "tokens"}, "by must be one of 'count', 'density'"),
        ("top_words", {"prob": 1}, "prob must be a number between 0 and 1"),
        ("topic_info", {"n": 0}, "n must be an integer >= 1"),
        ("topic_interval", {"prob": 0}, "prob must be"),
        ("coherence", {"measure": "umass"}, "measure must be one of"),
        ("coherence", {"n": 1}, "n must be an integer >= 2"),
        ("to_pyldavis", {"prepare": 1}, "prepare must be True or False"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(model, name)(**arguments)
        with pytest.raises(NotFittedError):
            getattr(GaussianLDA(), name)()


def test_representative_documents(model, data):
    shares = model.transform(data.counts)
    texts = [f"document {i}" for i in range(120)]
    found = model.representative_documents(n=4, texts=texts)
    assert list(found.groups) == [k for k in range(K) for _ in range(4)]
    rows = np.argsort(-shares, axis=0, kind="stable")[:4]
    np.testing.assert_array_equal(found.index, rows.T.ravel())
    np.testing.assert_allclose(found.mean, shares[found.index, found.groups])
    assert np.all(found.interval[:, 0] < found.interval[:, 1])
    # variational means and Gibbs draws differ by less than the intervals of such shares
    assert np.all(found.mean > found.interval[:, 0] - 0.05)
    assert list(found.texts) == [texts[i] for i in found.index]
    names = ["topic", "document", "mean", "low", "high", "text", "mixed"]
    assert found.to_frame().columns.tolist() == names
    one = model.representative_documents(data.counts, 1, n=4)
    assert one.texts is None and "text" not in one.to_frame()
    np.testing.assert_array_equal(one.index, found.index[found.groups == 1])


def test_texts_are_shown_as_they_were_given(data):
    words = [f"w{i}" for i in range(V)]
    rows = data.counts.toarray().astype(int)
    tokens = [[words[i] for i in np.repeat(np.arange(V), row)] for row in rows]
    X = [" ".join(document) + "\n!" for document in tokens]
    vectors = dict(zip(words, data.vectors, strict=True))
    model = GaussianLDA(K, embedding=vectors, draws=5, warmup=5, chains=1, min_count=1)
    model.fit(X)
    found = model.representative_documents(X, n=2)
    assert list(found.texts) == [X[i] for i in found.index]
    assert "\n!" not in repr(found) and "..." in repr(found)
    joined = model.set_params(analyzer="word").representative_documents(tokens, n=2)
    assert list(joined.texts) == [" ".join(tokens[i]) for i in joined.index]


def test_document_topics(model, data):
    found = model.document_topics(data.counts[:5], n_draws=40)
    np.testing.assert_array_equal(found.draws, model.sample_transform(data.counts[:5], 40))
    np.testing.assert_allclose(found.mean, model.transform(data.counts[:5]))
    np.testing.assert_allclose(found.interval, hdi_interval(found.draws, prob=0.9))
    assert len(found["mean"]) == 5 * K and "document 4" in repr(found)
    mixed = np.array([], dtype=int)
    held = replace(found, mean=found.interval.mean(axis=-1), unmixed=mixed)
    assert "the mean is outside the interval" not in repr(held)
    above = held.mean.copy()
    above[:2, 0] = found.interval[:2, 0, 1] + 0.01
    assert "(in 2 rows the mean is outside the interval" in repr(replace(held, mean=above))
    unseen = model.document_topics(data.counts[:2] * 0, n_draws=2)
    assert "2 documents without a known word" in repr(unseen)
    with pytest.raises(ValueError, match="n_draws must be an integer >= 2, got 1"):
        model.document_topics(n_draws=1)


@pytest.mark.parametrize("power", [0.1, 0.5])
def test_means_are_those_of_draws_where_words_are_weak_evidence(data, power):
    """There `transform` is not the posterior mean; elsewhere it is, without Monte Carlo error."""
    model = GaussianLDA(
        K, embedding=data.vectors, solver="vi", likelihood_power=power, random_state=0
    ).fit(data.counts)
    found = model.document_topics(data.counts[:5], n_draws=30)
    expected = found.draws.mean(axis=0) if power < 0.5 else model.transform(data.counts[:5])
    np.testing.assert_allclose(found.mean, expected)
    best = model.representative_documents(topic=0, n=3, n_draws=30)
    shares = model.transform(data.counts)[best.index, 0]
    assert np.allclose(best.mean, shares) == (power == 0.5)
    several = model.representative_documents(n=4, n_draws=30)
    assert len(several.mean) == 4 * K and len(np.unique(several.index[:4])) == 4
    assert np.all(np.diff(several.mean.reshape(K, 4), axis=1) <= 0)


def test_representative_documents_refuse(model, data):
    with pytest.raises(ValueError, match=f"topic must be a number from 0 to {K - 1}, got {K}"):
        model.representative_documents(topic=K)
    with pytest.raises(ValueError, match="got 'war': none has a name yet, name_topics gives them"):
        model.representative_documents(topic="war")
    with pytest.raises(TypeError, match="X must be the documents .*: topic='war'"):
        model.representative_documents("war")
    with pytest.raises(ValueError, match="texts must be one for each of the 120 documents"):
        model.representative_documents(texts="one text")
    with pytest.raises(ValueError, match="no document with a word"):
        model.representative_documents(data.counts * 0)


def test_documents_are_read_as_transform_reads_them(data):
    """With words that training had too few of, or not at all."""
    words = [f"w{i}" for i in range(V)]
    rows = data.counts.toarray().astype(int)
    tokens = [[words[i] for i in np.repeat(np.arange(V), row)] for row in rows]
    vectors = dict(zip(words, data.vectors, strict=True)) | {"new": data.vectors[0]}
    model = GaussianLDA(K, embedding=vectors, draws=5, warmup=5, chains=1, min_count=1)
    model.fit(tokens)
    asked = [["new"] * 6, [*tokens[0], "new"]]
    found = model.document_topics(asked, n_draws=20)
    np.testing.assert_allclose(found.mean, model.transform(asked))
    np.testing.assert_array_equal(found.draws, model.sample_transform(asked, 20))
    best = model.representative_documents(asked, n=2)
    assert sorted(best.index[:2]) == [0, 1]


@pytest.mark.parametrize("size", [1.0, 0.5])
def test_documents_of_one_token(model, data, size):
    """Exactly: what a token says under one draw is no start under the next."""
    draws, X = draws_of(model), size * np.eye(V)
    read = inputs.reading(model, X)
    shares = []
    for s in range(len(draws)):
        alpha = draws.alpha(s)
        topics = draws.weights(s, read, model.word_proba)[read.counts.indices] * alpha
        topics /= topics.sum(axis=1, keepdims=True)
        shares.append((alpha + size * topics) / (alpha.sum() + size))
    assert len(draws) > 1
    np.testing.assert_allclose(model.transform(X), np.mean(shares, axis=0), rtol=1e-10)
