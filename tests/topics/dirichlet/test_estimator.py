"""`GaussianLDA` with ``word_model="dirichlet"``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.inference.matching import match
from skbayesembed.topics import inputs
from skbayesembed.topics.dirichlet.draws import DirichletDraws
from skbayesembed.topics.draws import draws_of

LENGTHS = {"draws": 40, "warmup": 60, "thin": 2, "chains": 2}


@pytest.fixture(scope="module")
def data():
    """Three topics far apart, so that chains of this length mix."""
    return make_topics(
        80, 60, 3, n_dims=3, mean_length=40, separation=4.0, word_model="dirichlet", random_state=1
    )


def make(data, **options):
    model = GaussianLDA(3, embedding=data.vectors, word_model="dirichlet", random_state=0)
    return model.set_params(**LENGTHS | {"background": False, "normalize": None} | options)


@pytest.fixture(scope="module", params=["gibbs", "vi"])
def fitted(request, data):
    return make(data, solver=request.param).fit(data.counts)


def test_the_simulated_topics_are_found(fitted, data):
    kept = fitted.posterior_.coords["word"]
    columns = [int(name[1:]) for name in kept]
    truth = data.word_proba[:, columns] / data.word_proba[:, columns].sum(axis=1, keepdims=True)
    found = fitted.components_[match(truth, fitted.components_)]
    # 3,200 tokens over three topics of 60 words: a total variation of some 0.1
    assert np.abs(found - truth).sum(axis=1).max() < 0.5
    shares = fitted.transform(data.counts)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    order = match(truth, fitted.components_)
    assert np.corrcoef(shares[:, order].ravel(), data.theta.ravel())[0, 1] > 0.8


def test_a_new_word_has_its_place_by_its_vector(fitted, data):
    k = int(np.argmax(fitted.posterior_["counts"].sum(axis=-1).mean(axis=(0, 1))))
    t = fitted.posterior_["topic_vector"].mean(axis=(0, 1))
    away = t[k] - np.delete(t, k, axis=0).mean(axis=0)
    vector = 3 * away / np.linalg.norm(away)
    shares = fitted.transform(np.full((1, 1), 20), embedding=vector[None])
    assert np.argmax(shares[0]) == k and shares[0, k] > 0.8


def test_new_words_share_topics_with_the_vocabulary(data):
    """Six words are taken from training: probabilities of all words add up to one."""
    counts = data.counts.toarray()
    seen = counts.copy()
    seen[:, :6] = 0
    model = make(data, solver="vi").fit(seen)
    whole = inputs.reading(model, np.ones((1, 60), int))
    new, draws = whole.places < 0, draws_of(model)
    assert new.sum() == 60 - model.words_.size >= 6
    for by in ("count", "density"):
        proba = draws.open_proba(0, whole, by)
        np.testing.assert_allclose(proba.sum(axis=0), 1.0)
        assert np.all(proba > 0)
    # words have their shares of topics by their vectors: better than all alike
    assert model.score(counts, new_words=True) > np.log(1 / 60)
    gaussian = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0).fit(counts)
    with pytest.raises(ValueError, match="new_words=True needs topics of word_model='dirichlet'"):
        gaussian.score(counts, new_words=True)


def test_what_new_words_need_is_worked_out_once(data, monkeypatch):
    """Documents without new words need nothing, and others after the first no more than it."""
    seen = data.counts.toarray()
    seen[:, :6] = 0
    model = make(data, solver="vi").fit(seen)
    worked_out, asked = DirichletDraws._worked_out, []
    monkeypatch.setattr(
        DirichletDraws, "_worked_out", lambda self, s: asked.append(s) or worked_out(self, s)
    )
    known = np.isin(np.arange(60), model._columns).astype(int)[None]
    model.transform(known)
    assert not asked
    first = model.transform(np.ones((1, 60), int))
    n = len(asked)
    assert n == len(draws_of(model)) > 1
    np.testing.assert_array_equal(model.transform(np.ones((1, 60), int)), first)
    assert len(asked) == n
    monkeypatch.setattr(DirichletDraws, "_directions", worked_out)
    np.testing.assert_array_equal(model.transform(np.ones((1, 60), int)), first)
    drawn = model.sample_transform(np.ones((1, 60), int), n_draws=100)
    monkeypatch.undo()
    again = model.sample_transform(np.ones((1, 60), int), n_draws=100)
    np.testing.assert_array_equal(again, drawn)


def test_a_score_of_new_words_reads_documents_by_its_own_probabilities(data):
    """Two tokens: the first is of topic k with alpha_k p(w | k), the second is scored."""
    seen = data.counts.toarray()
    seen[:, :20] = 0
    model = make(data, solver="vi").fit(seen)
    pair = np.zeros((1, 60), int)
    pair[0, [3, 40]] = 1
    whole, draws = inputs.reading(model, pair), draws_of(model)
    first, second = (half.indices[0] for half in inputs.halves(whole.counts))
    expected = []
    for s in range(len(draws)):
        proba, alpha = draws.open_proba(s, whole, model.word_proba), draws.alpha(s)
        own = alpha * proba[first]
        theta = (alpha + own / own.sum()) / (alpha.sum() + 1)
        expected.append(theta @ proba[second])
    score = model.score(pair, new_words=True)
    np.testing.assert_allclose(score, np.log(np.mean(expected)), rtol=1e-12)


def test_readings(fitted, data):
    words = fitted.top_words(5)
    assert words.words.shape == (3, 5) and np.all(words.mean <= words.interval[..., 1] + 1e-12)
    by_vectors = fitted.top_words(5, by="density").mean
    assert by_vectors.shape == (3, 5) and np.all(by_vectors > 0)
    table = fitted.topic_info(5)
    assert table.background is None
    assert np.all(table["spread"] > 0) and np.isfinite(table["coherence"]).all()
    interval = fitted.topic_interval()["topic_vector"]
    assert interval.shape == (3, 3, 2) and np.all(interval[..., 0] <= interval[..., 1])
    assert fitted.score(data.counts) > np.log(1 / 60)
    draws = fitted.sample_transform(data.counts[:4], n_draws=3)
    np.testing.assert_allclose(draws.sum(axis=-1), 1.0)
    assert fitted.effects(data.counts, np.arange(80.0)).mean.shape == (2, 3)
    for name in ("topic_means_", "topic_covariances_"):
        assert not hasattr(fitted, name)
    with pytest.raises(ValueError, match="have no density of vectors"):
        fitted.log_density(data.counts)


@pytest.mark.parametrize("solver", ["gibbs", "vi"])
def test_intervals_of_words_are_of_probabilities_and_not_of_their_means(solver):
    """Where each token's topic is known what is left is the Dirichlet posterior of the words."""
    rng = np.random.default_rng(1)
    shares = np.kron(np.eye(2), np.array([0.3, 0.3, 0.1, 0.1, 0.1, 0.1]))
    counts = rng.multinomial(40, shares[np.arange(60) % 2])
    vectors = np.repeat(np.eye(2), 6, axis=0) + 0.01 * rng.normal(size=(12, 2))
    options = {"warmup": 100, "draws": 200, "chains": 1} if solver == "gibbs" else {}
    model = GaussianLDA(
        2, embedding=vectors, word_model="dirichlet", solver=solver, random_state=0,
        background=False, learn_doc_topic_prior=False, doc_topic_prior=0.02, **options,
    ).fit(counts)  # fmt: skip
    words = model.top_words(2)
    mean, width = words.mean, np.diff(words.interval, axis=-1)[..., 0]
    # of 1,200 tokens a topic: 90 % of a beta of this variance, by 200 draws to within .2 of its
    # width; of vi the base measures are as uncertain again as words are
    ratio = width / (2 * 1.645 * np.sqrt(mean * (1 - mean) / 1200))
    assert np.all((ratio > 0.8) & (ratio < (1.2 if solver == "gibbs" else 1.5)))
    by_vectors = model.top_words(2, by="density")
    assert np.all(np.diff(by_vectors.interval, axis=-1) >= 0)
    assert repr(model.top_words(2)) == repr(words)


@pytest.mark.filterwarnings("ignore:Topic 0")
def test_the_background_is_topic_0(data):
    """It has no vector, and takes the words that all documents share."""
    rng = np.random.default_rng(5)
    common = rng.poisson(6.0, (80, 4))
    counts = np.hstack([data.counts.toarray(), common])
    vectors = np.vstack([data.vectors, 0.1 * rng.normal(size=(4, 3))])
    model = make(data, embedding=vectors, background=True, n_components=4, chains=1, solver="vi")
    model.fit(counts)
    assert not model.posterior_["topic_vector"][:, 0, 0].any()
    assert model.posterior_["topic_vector"][:, 0, 1:].all()
    place = np.searchsorted([int(name[1:]) for name in model.words_], np.arange(60, 64))
    tokens = model.posterior_["counts"][..., place].sum(axis=(0, 1, 3))
    # more of their tokens than any other: those may hold all of a document
    assert np.argmax(tokens) == 0
    np.testing.assert_allclose(model.doc_topic_prior_, [2.0, 0.25, 0.25, 0.25])
    assert model.top_words(3).background == 0
    assert "(topic 0 is the background of the others)" in repr(model.topic_info(3))


def test_a_lone_topic_has_a_vector(data):
    model = make(data, n_components=1, background=True, chains=1, draws=5, warmup=5)
    assert model.fit(data.counts).posterior_["topic_vector"].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "hmc"}, "solver='hmc' is not available with word_model='dirichlet'"),
        ({"likelihood_power": 0.5}, "likelihood_power applies to word_model=.gaussian. only"),
        ({"likelihood_power": "auto"}, "likelihood_power applies to word_model=.gaussian. only"),
        ({"kernel": "alias"}, "kernel applies to"),
        ({"mean_prior": np.zeros(3)}, "mean_prior applies to"),
        ({"word_model": "softmax"}, "word_model must be one of 'gaussian', 'dirichlet'"),
        ({"background": 1}, "background must be"),
    ],
)
def test_what_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        make(data, **options).fit(data.counts)


def test_a_search_over_both_word_models(data):
    """The message on a grid that does not fit names one that does."""
    power = {"likelihood_power": [0.1, 0.2]}
    with pytest.raises(ValueError) as refused:
        make(data, likelihood_power=0.1).fit(data.counts)
    text = str(refused.value)
    assert "[{'word_model': ['gaussian'], 'likelihood_power': [...]}, {'word_model': ['dir" in text
    assert text.endswith("got 0.1.") and "leave it at 1.0" in text
    grid = [{"word_model": ["gaussian"]} | power, {"word_model": ["dirichlet"]}]
    model = make(data, solver="vi", max_iter=3)
    search = GridSearchCV(model, grid, cv=2, error_score="raise", refit=False)
    with pytest.warns(match="did not converge|not converged|max_iter"):
        search.fit(data.counts)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
