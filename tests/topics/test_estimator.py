"""`GaussianLDA` as users meet it: parameters, seeds, searches, streams, interruptions."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.inference.matching import match
from skbayesembed.topics import checks, choice, recording
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from skbayesembed.topics.inputs import whole_tokens
from skbayesembed.topics.vi.variational import TopicVI
from tests.helpers.extras import optional
from tests.helpers.versions import needs_sklearn

pd = optional("pandas")

pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed"),
    pytest.mark.filterwarnings("ignore:The chains are in different modes"),
    pytest.mark.filterwarnings("ignore:The bound still rose"),
    pytest.mark.filterwarnings("ignore:1 of 3 topics holds less than one token"),
]

GROUPS = [
    ["cat", "dog", "cow", "hen", "pig", "fox"],
    ["tin", "iron", "gold", "zinc", "lead", "brass"],
]
UNSEEN = ["horse", "copper"]


def make_table(seed=0):
    """Vectors in four dimensions, two groups apart, and a word of each that no text has.

    These lie close to the centre of their group: six words leave open how wide it is elsewhere.
    """
    rng = np.random.default_rng(seed)
    centres = np.array([[1.5, 0, 0, 0], [-1.5, 0, 0, 0]])
    table = {}
    for k, group in enumerate(GROUPS):
        for word in [*group, UNSEEN[k]]:
            table[word] = centres[k] + (0.5 if word in group else 0.1) * rng.normal(size=4)
    return table | {"and": 0.3 * rng.normal(size=4)}


def make_texts(n=40, seed=0):
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        own, other = GROUPS[i % 2], GROUPS[1 - i % 2]
        texts.append(" ".join([*rng.choice(own, 7), "and", *rng.choice(other, 1)]))
    return texts


TABLE, TEXTS = make_table(), make_texts()
LABELS = [i % 2 for i in range(len(TEXTS))]
WORDS = sorted(set(TABLE) - set(UNSEEN))
COUNTS = CountVectorizer(vocabulary=WORDS).transform(TEXTS)
VECTORS = np.array([TABLE[word] for word in WORDS])

SMALL = {
    "n_components": 2, "min_count": 1, "draws": 12, "warmup": 15, "chains": 2, "random_state": 0
}  # fmt: skip
ESTIMATORS = {
    "sampled": GaussianLDA(**SMALL, learn_doc_topic_prior="symmetric"),
    "alias": GaussianLDA(**SMALL, kernel="alias", likelihood_power=0.5),
    "reference": GaussianLDA(**SMALL, kernel="reference", features="mean_std"),
    "vi": GaussianLDA(**SMALL, solver="vi", learn_doc_topic_prior="asymmetric"),
    "vi-online": GaussianLDA(**SMALL, solver="vi", learning_method="online", batch_size=9),
    "hmc": GaussianLDA(**SMALL, solver="hmc"),
    "laplace": GaussianLDA(**SMALL, solver="laplace", word_proba="density"),
    "map": GaussianLDA(**SMALL, solver="map"),
}
KINDS = {"text": (TEXTS, TABLE), "counts": (COUNTS, VECTORS)}


@pytest.fixture(
    params=[
        pytest.param(s, marks=pytest.mark.slow if s in ("alias", "hmc", "laplace") else ())
        for s in ESTIMATORS
    ]
)
def estimator(request):
    return clone(ESTIMATORS[request.param]).set_params(embedding=TABLE)


def small(**parameters):
    return GaussianLDA(**(SMALL | {"embedding": TABLE} | parameters))


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


# -- the family of checks ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_fit_transform_is_fit_then_transform(estimator, kind):
    X, embedding = KINDS[kind]
    estimator.set_params(embedding=embedding)
    before, given = estimator.get_params(), copy.deepcopy(X)
    theta = clone(estimator).fit_transform(X)
    assert estimator.fit(X) is estimator
    same(theta, estimator.transform(X))
    np.testing.assert_allclose(theta[:, :2].sum(axis=1), 1)
    assert estimator.get_params() == before
    assert estimator.components_.shape == (2, len(WORDS))
    assert estimator.vocabulary_ == {w: i for i, w in enumerate(estimator.words_.tolist())}
    assert estimator.n_iter_ >= 1
    assert estimator.score(X) < 0
    if kind == "text":
        assert given == X and not hasattr(estimator, "n_features_in_")
    else:
        same(given.toarray(), X.toarray())
        assert estimator.n_features_in_ == len(WORDS)


@pytest.mark.parametrize(
    "dump", [pickle, pytest.param(joblib, marks=pytest.mark.slow)], ids=["pickle", "joblib"]
)
def test_pickle(estimator, dump, tmp_path):
    fitted = estimator.fit(TEXTS)
    if dump is pickle:
        again = pickle.loads(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    same(again.transform(TEXTS), fitted.transform(TEXTS))
    assert again.score(TEXTS) == fitted.score(TEXTS)
    assert repr(again.top_words(3)) == repr(fitted.top_words(3))


def test_unfitted(estimator):
    fresh = clone(estimator.fit(TEXTS))
    for name in ("transform", "score", "perplexity", "log_density"):
        with pytest.raises(NotFittedError):
            getattr(fresh, name)(TEXTS)
    with pytest.raises(NotFittedError):
        fresh.get_feature_names_out()
    with pytest.raises(AttributeError, match="no attribute 'components_'"):
        fresh.components_  # noqa: B018


def test_each_document_alone(estimator):
    estimator.fit(TEXTS)
    together = estimator.transform(TEXTS)
    for i in range(3):
        np.testing.assert_allclose(estimator.transform(TEXTS[i : i + 1])[0], together[i], atol=1e-9)


def test_groups_are_told_apart(estimator):
    """Seven of nine words are of the document's own group."""
    estimator.fit(TEXTS)
    labels = estimator.transform(make_texts(20, seed=5))[:, :2].argmax(axis=1)
    assert len({*labels[::2]}) == len({*labels[1::2]}) == 1 and labels[0] != labels[1]
    unseen = estimator.transform([" ".join(UNSEEN[:1] * 4), " ".join(UNSEEN[1:] * 4)])
    assert unseen[:, :2].argmax(axis=1).tolist() == labels[:2].tolist()


@pytest.mark.filterwarnings("ignore:.* no known word")
def test_empty_documents(estimator):
    """They get the prior mean, in training and after; what is learned is not NaN."""
    estimator.fit(["", *TEXTS, "qqq"])
    theta = estimator.transform(["", "qqq", TEXTS[0]])
    alpha = estimator.posterior_.flat("alpha")
    prior = (alpha / alpha.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(theta[:2, :2], [prior, prior])
    np.testing.assert_allclose(estimator.transform([""]), theta[:1])
    assert np.isfinite(theta).all()
    assert np.isfinite(estimator.score(["", *TEXTS]))


@needs_sklearn("1.8", "loses the index of a Series")
def test_set_output(estimator):
    series = pd.Series(TEXTS, index=[f"d{i}" for i in range(len(TEXTS))])
    frame = estimator.set_output(transform="pandas").fit_transform(series)
    assert list(frame.index) == list(series.index)
    names = ["gaussianlda0", "gaussianlda1"]
    names += [f"{n}_std" for n in names] if estimator.features == "mean_std" else []
    assert list(frame.columns) == list(estimator.get_feature_names_out()) == names
    assert "GaussianLDA" in estimator._repr_html_() and "GaussianLDA(" in repr(estimator)


# -- scikit-learn's machinery --------------------------------------------------------------------


@pytest.mark.slow
def test_search_from_counts():
    """CountVectorizer with fixed words -> GaussianLDA -> LogisticRegression."""
    pipeline = make_pipeline(
        CountVectorizer(vocabulary=WORDS), small(embedding=VECTORS), LogisticRegression(C=10)
    )
    grid = {"gaussianlda__n_components": [2, 3], "gaussianlda__likelihood_power": [0.3, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(make_texts(20, seed=7), [i % 2 for i in range(20)]) > 0.9


@pytest.mark.slow
def test_search_from_text():
    """The vocabulary changes from fold to fold."""
    pipeline = make_pipeline(small(min_count=2), LogisticRegression(C=10))
    grid = [
        {"gaussianlda__n_components": [2, 3], "gaussianlda__likelihood_power": [0.3]},
        {"gaussianlda__solver": ["vi"], "gaussianlda__likelihood_power": ["auto"]},
    ]
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_score_ > 0.9
    with joblib.parallel_config(backend="threading", n_jobs=2):
        again = clone(search).fit(TEXTS, LABELS)
    same(again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_search_by_its_own_score():
    scores = cross_val_score(small(embedding=VECTORS), COUNTS, cv=3, error_score="raise")
    assert np.all((scores < 0) & (scores > -np.log(len(WORDS)) - 0.5))
    search = GridSearchCV(small(), {"n_components": [1, 2]}, cv=2, error_score="raise").fit(TEXTS)
    assert search.best_params_ == {"n_components": 2}


# -- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1"),
        ({"n_components": 30}, "n_components=30 is larger than the number of different words"),
        ({"kernel": "fast"}, "kernel must be one of 'auto'"),
        ({"normalize": "l2"}, "normalize must be one of 'unit', 'center'"),
        ({"likelihood_power": 0}, "likelihood_power must be 'auto' or a number > 0 and <= 1"),
        ({"likelihood_power": 1.01}, "likelihood_power must be 'auto' or a number"),
        ({"likelihood_power": True}, "likelihood_power must be 'auto' or a number"),
        ({"likelihood_power": "best"}, "likelihood_power must be 'auto' or a number"),
        ({"doc_topic_prior": 0.0}, "doc_topic_prior must be 'auto', a number > 0 or"),
        ({"doc_topic_prior": [1.0] * 3}, "doc_topic_prior must be 'auto', a number > 0 or"),
        ({"doc_topic_prior": "none"}, "doc_topic_prior must hold finite numbers"),
        ({"learn_doc_topic_prior": True}, "learn_doc_topic_prior must be False, 'symmetric'"),
        (
            {"learn_doc_topic_prior": "symmetric", "solver": "hmc"},
            "not available with solver='hmc'",
        ),
        ({"learn_doc_topic_prior": "symmetric", "warmup": 0}, "warmup must be 1 or more, got 0"),
        ({"mean_prior": 1.0}, r"mean_prior must be None or an array of shape \(n_dims,\)"),
        ({"mean_prior": [0.0, 1.0]}, r"mean_prior must have shape \(4,\)"),
        ({"mean_precision_prior": 0}, "mean_precision_prior must be a number > 0"),
        ({"degrees_of_freedom_prior": 5}, "degrees_of_freedom_prior must be > 5 for vectors"),
        ({"degrees_of_freedom_prior": 3, "covariance_prior": 1.0}, "must be > 3 for vectors"),
        ({"covariance_prior": -1.0}, "covariance_prior must be None, a number > 0 or"),
        ({"covariance_prior": np.ones((4, 4))}, "covariance_prior must be None, a number"),
        ({"covariance_prior": np.eye(3)}, r"covariance_prior must have shape \(4, 4\)"),
        ({"word_proba": "softmax"}, "word_proba must be one of 'count', 'density'"),
        ({"learning_method": "online"}, "learning_method='online' is available with solver='vi'"),
        (
            {"solver": "vi", "learning_method": "online", "init": "documents"},
            "init='documents' is not available with learning_method='online' and word_model='gaus",
        ),
        ({"learning_decay": 0.5}, "learning_decay must be a number > 0.5 and <= 1"),
        ({"learning_offset": -1}, "learning_offset must be a number >= 0"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1"),
        ({"n_passes": 0}, "n_passes must be an integer >= 1"),
        ({"features": "sd"}, "features must be one of 'mean', 'mean_std'"),
        ({"min_count": 0}, "min_count must be an integer >= 1"),
        ({"min_count": 1000}, "vocabulary is empty"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"lowercase": 1}, "lowercase must be True or False"),
        ({"draws": 0}, "draws must be an integer >= 1"),
        ({"keep_draws": "some"}, "keep_draws must be 'auto' or 'all'"),
        ({"target_accept": 1.0}, "target_accept must be a number > 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": 0}, "tol must be a number > 0"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer"),
        ({"random_state": "a"}, "random_state must be an int"),
    ],
)
def test_bad_parameters(bad, message):
    with pytest.raises(ValueError, match=message):
        small(**bad).fit(TEXTS)


def test_a_frame_of_vectors_is_looked_up_by_word():
    """In whatever order its rows are, for texts and for count matrices."""
    frame = pd.DataFrame(list(TABLE.values()), index=list(TABLE)).iloc[::-1]
    counts = pd.DataFrame(COUNTS.toarray(), columns=WORDS)
    for X in (TEXTS, counts):
        expected = small(solver="vi").fit(X)
        model = small(solver="vi", embedding=frame).fit(X)
        np.testing.assert_array_equal(model.components_, expected.components_)
    new = [" ".join(UNSEEN)]
    found = small(solver="vi", embedding=frame).fit(TEXTS).transform(new)
    np.testing.assert_array_equal(found, small(solver="vi").fit(TEXTS).transform(new))


def test_priors_are_heeded():
    free = small(solver="vi", normalize=None).fit(TEXTS)
    held = small(
        solver="vi", normalize=None, mean_prior=[0.0, 3.0, 0.0, 0.0], mean_precision_prior=1e6,
        degrees_of_freedom_prior=1e6, covariance_prior=2e6, draws=50,
    ).fit(TEXTS)  # fmt: skip
    np.testing.assert_allclose(held.topic_means_, np.tile([0, 3, 0, 0], (2, 1)), atol=0.02)
    np.testing.assert_allclose(
        held.topic_covariances_, np.tile(2 * np.eye(4), (2, 1, 1)), atol=0.02
    )
    assert np.abs(free.topic_means_).max() < 2
    wide = small(solver="vi", doc_topic_prior=[50.0, 50.0]).fit(TEXTS).transform(TEXTS)
    narrow = small(solver="vi", doc_topic_prior=0.1).fit(TEXTS).transform(TEXTS)
    assert np.abs(wide - 0.5).max() < 0.1 < np.abs(narrow - 0.5).min()


def test_doc_topic_prior_is_learned(estimator):
    alpha = estimator.fit(TEXTS).doc_topic_prior_
    assert alpha.shape == (2,)
    if estimator.learn_doc_topic_prior is False:
        np.testing.assert_allclose(alpha, 0.5)
    else:
        assert not np.allclose(alpha, 0.5)
        assert (alpha[0] == alpha[1]) == (estimator.learn_doc_topic_prior == "symmetric")


def test_large_problems_are_refused_by_solvers_of_the_marginal(monkeypatch):
    monkeypatch.setattr(checks, "MAX_PARAMETERS", 60)
    for solver in ("hmc", "laplace", "map"):
        with pytest.raises(ValueError, match=f"solver={solver!r} works on all parameters at once"):
            small(solver=solver).fit(TEXTS)


def test_fractions_are_rounded_for_gibbs_only():
    fractions = COUNTS * 1.04
    with pytest.warns(UserWarning, match="takes them rounded"):
        model = small(embedding=VECTORS).fit(fractions)
    same(model.posterior_["counts"], small(embedding=VECTORS).fit(COUNTS).posterior_["counts"])
    vi = small(embedding=VECTORS, solver="vi").fit(fractions)
    assert vi.posterior_["counts"].sum() == pytest.approx(12 * fractions.sum())
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="counts are below one half"):
        small(embedding=VECTORS).fit(COUNTS * 0.05)


def test_fractions_below_one_half_leave_the_counts_as_they_are():
    """Rounding takes them out of a copy, not out of what the fit and its readings go on with."""
    fractions = sparse.csr_array(COUNTS * 0.45)
    before = fractions.toarray()
    with pytest.warns(UserWarning, match="takes them rounded"):
        rounded = whole_tokens(fractions)
    np.testing.assert_array_equal(fractions.toarray(), before)
    np.testing.assert_array_equal(rounded.toarray(), np.rint(before))
    assert fractions.nnz > rounded.nnz
    with pytest.warns(UserWarning, match="takes them rounded"):
        gibbs = small(embedding=VECTORS).fit(before)
    np.testing.assert_allclose(gibbs._training.sum(), before.sum())
    for model in (gibbs, small(embedding=VECTORS, solver="vi").fit(before)):
        with pytest.warns(UserWarning, match="a draw of shares gives a topic to every token"):
            found = model.document_topics(before)
        same(found.mean, model.transform(before))
        np.testing.assert_allclose(found.n_tokens, before.sum(axis=1))


def test_score_by_either_word_proba():
    model = small().fit(TEXTS)
    by_count = model.score(TEXTS)
    by_density = model.set_params(word_proba="density").score(TEXTS)
    assert by_density < by_count < -np.log(3), "13 words, six or seven of them likely"
    with pytest.raises(ValueError, match="no document with two known tokens"):
        model.score(["cat", "tin", ""])


def test_score_with_weights_of_documents():
    """A weight of 2 is the document twice, 0 is none, and equal ones change nothing."""
    model = small(solver="vi").fit(TEXTS)
    weights = np.arange(40) % 3
    repeated = [text for text, n in zip(TEXTS, weights, strict=True) for _ in range(n)]
    assert model.score(TEXTS, sample_weight=weights) == pytest.approx(model.score(repeated))
    assert model.score(TEXTS, sample_weight=np.full(40, 0.3)) == pytest.approx(model.score(TEXTS))
    with pytest.raises(ValueError, match="one entry for each of the 40 documents"):
        model.score(TEXTS, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="no document with two known tokens"):
        model.score([*TEXTS, "cat"], sample_weight=[0] * 40 + [1])


def test_weights_are_routed_to_score():
    weights = np.arange(len(TEXTS)) % 2 + 0.5
    with config_context(enable_metadata_routing=True):
        model = small(embedding=VECTORS, solver="vi").set_score_request(sample_weight=True)
        routed = cross_val_score(
            model, COUNTS, cv=2, params={"sample_weight": weights}, error_score="raise"
        )
        plain = cross_val_score(
            model.set_score_request(sample_weight=False), COUNTS, cv=2, params={},
            error_score="raise",
        )  # fmt: skip
    first = clone(model).fit(COUNTS[20:])
    assert routed[0] == first.score(COUNTS[:20], sample_weight=weights[:20])
    assert plain[0] == first.score(COUNTS[:20])


@pytest.mark.filterwarnings("ignore:1 of 2 topics holds less")
def test_a_single_row_of_counts_is_a_document(estimator):
    estimator.set_params(embedding=VECTORS, init="words").fit(COUNTS[:1])
    assert estimator.transform(COUNTS[:1])[:, :2].sum() == pytest.approx(1)
    assert np.isfinite(estimator.score(COUNTS[:1]))


def test_log_density_against_the_truth():
    """The mixture of the true Gaussians, up to what 2,000 tokens leave unknown."""
    data = make_topics(60, None, 2, n_dims=2, separation=3.0, random_state=1)
    model = GaussianLDA(2, embedding=data.vectors, normalize=None, min_count=1, draws=20,
                        warmup=20, random_state=0).fit(data.counts)  # fmt: skip
    new = make_topics(60, None, 2, n_dims=2, separation=3.0, random_state=1)
    proba = np.stack([
        np.exp(-0.5 * np.einsum("we,ef,wf->w", new.vectors - m, np.linalg.inv(c), new.vectors - m))
        / (2 * np.pi * np.sqrt(np.linalg.det(c)))
        for m, c in zip(data.means, data.covariances, strict=True)
    ])  # fmt: skip
    documents = np.repeat(np.arange(60), np.asarray(new.counts.sum(axis=1)).astype(int).ravel())
    ideal = np.log((new.theta[documents] * proba.T).sum(axis=1)).mean()
    found = model.log_density(new.counts)
    assert found == pytest.approx(ideal, abs=0.1)
    assert model.log_density(new.counts, embedding=new.vectors) == found


# -- memory, interruption ------------------------------------------------------------------------


def test_draws_are_bounded(monkeypatch):
    size = 8 * 2 * (13 + 4 + 16 + 1)
    monkeypatch.setattr(recording, "TOPIC_BUDGET", 8 * size)
    model = small().fit(TEXTS)
    assert model.posterior_["counts"].shape[:2] == (2, 4)
    assert model.posterior_.stats["lp"].shape == (2, 12)
    assert model.posterior_.attrs["stride"] == 3
    assert small(keep_draws="all").fit(TEXTS).posterior_["counts"].shape[:2] == (2, 12)
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="would take about"):
        small().fit(TEXTS)
    # room for what a chain works with, none for its draws besides
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 3500)
    with pytest.raises(MemoryError, match="The draws would take about"):
        small(keep_draws="all").fit(TEXTS)


def test_interrupted_chains_keep_their_draws(monkeypatch):
    original = TopicGibbs.sweep

    def sweep(self, state, *args):
        if state.n_sweeps == 20:
            raise KeyboardInterrupt
        return original(self, state, *args)

    monkeypatch.setattr(TopicGibbs, "sweep", sweep)
    with pytest.warns(RuntimeWarning, match="fitted with the 5 draws made so far"):
        model = small(chains=1).fit(TEXTS)
    assert model.posterior_["mean"].shape[:2] == (1, 5)
    assert model.posterior_.attrs["interrupted"]
    np.testing.assert_allclose(model.transform(TEXTS).sum(axis=1), 1)


def test_interrupted_ascent_keeps_what_it_has(monkeypatch):
    original = TopicVI.update
    done = []

    def update(self, *args):
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(1)
        return original(self, *args)

    monkeypatch.setattr(TopicVI, "update", update)
    with pytest.warns(RuntimeWarning, match="Interrupted: the approximation is that of 1 sweeps"):
        model = small(solver="vi", init="words").fit(TEXTS)
    assert model.n_iter_ == 1 and model.posterior_.attrs["interrupted"]


# -- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word_model", ["gaussian", "dirichlet"])
def test_partial_fit(word_model):
    """Two looks at the same documents in batches lead where all of them together lead."""
    options = {"solver": "vi", "batch_size": 10, "word_model": word_model, "background": False}
    whole, stream = small(**options).fit(TEXTS), small(**options)
    for start in range(0, 40, 20):
        assert stream.partial_fit(TEXTS[start : start + 20]) is stream
    assert set(stream.words_) == set(whole.words_)
    assert stream.n_iter_ == 4
    theta = stream.transform(TEXTS)
    apart = theta[::2].mean(axis=0) - theta[1::2].mean(axis=0)
    assert np.abs(apart).min() > 0.5
    first = stream.score(TEXTS)
    again = pickle.loads(pickle.dumps(stream)).partial_fit(TEXTS)
    assert again.n_iter_ == 8 and stream.n_iter_ == 4
    assert stream.partial_fit(TEXTS).score(TEXTS) == again.score(TEXTS) != first
    # "and" lies between the groups and may belong to either topic
    names = [*GROUPS[0], *GROUPS[1]]
    made, wanted = (
        m.components_[:, [m.vocabulary_[word] for word in names]] for m in (stream, whole)
    )
    made, wanted = (part / part.sum(axis=1, keepdims=True) for part in (made, wanted))
    np.testing.assert_allclose(made[match(wanted, made)], wanted, atol=0.02)
    # which tokens are held out depends on the order of words: 40 documents differ by 0.13 in it
    many = make_texts(1000, seed=6)
    assert stream.score(many) == pytest.approx(whole.score(many), abs=0.1)
    same(stream.fit(TEXTS).components_, whole.components_)


@pytest.mark.parametrize("word_model", ["gaussian", "dirichlet"])
def test_partial_fit_of_counts_and_of_a_vocabulary(word_model):
    options = {"solver": "vi", "word_model": word_model, "background": False}
    stream = small(**options, embedding=VECTORS).partial_fit(COUNTS, total_samples=1000)
    expected = COUNTS.sum() * 1000 / len(TEXTS)
    assert stream.posterior_["counts"][0, 0].sum() == pytest.approx(expected, rel=0.01)
    with pytest.raises(ValueError, match="fitted on a count matrix"):
        stream.partial_fit(TEXTS)
    given = small(**options).partial_fit(["cat"], vocabulary=[*GROUPS[0], *GROUPS[1], "qqq"])
    assert given.words_.tolist() == [*GROUPS[0], *GROUPS[1]] and given.n_dropped_words_ == 1
    assert np.isfinite(given.partial_fit(TEXTS).score(TEXTS))


@pytest.mark.parametrize(
    ("parameters", "arguments", "error", "message"),
    [
        ({}, {}, AttributeError, "'GaussianLDA' has no attribute|partial_fit is available"),
        ({"solver": "vi", "likelihood_power": "auto"}, {}, ValueError, "available with partial"),
        ({"solver": "vi"}, {"total_samples": 0}, ValueError, "total_samples must be an integer"),
        ({"solver": "vi"}, {"vocabulary": "cat"}, ValueError, "must be a list of different words"),
        ({"solver": "vi"}, {"vocabulary": ["aa", "bb"]}, ValueError, "no vector for any of the 2"),
    ],
)  # fmt: skip
def test_partial_fit_refusals(parameters, arguments, error, message):
    with pytest.raises(error, match=message):
        small(**parameters).partial_fit(TEXTS, **arguments)


def test_the_start_of_the_higher_bound_is_taken(monkeypatch):
    """Vectors without groups: neither start is the end."""
    monkeypatch.setattr(choice, "START_SWEEPS", 2)
    monkeypatch.setattr(choice, "_MOST_SWEEPS", 2)
    rng = np.random.default_rng(3)
    embedding = {word: rng.normal(size=4) for word in WORDS}
    ascended = {}
    for init in ("words", "documents", "auto"):
        model = small(solver="vi", init=init, max_iter=2, tol=1e-30, embedding=embedding)
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            ascended[init] = model.fit(TEXTS).elbo_[-1]
    assert ascended["words"] != ascended["documents"]
    assert ascended["auto"] == max(ascended["words"], ascended["documents"])


@pytest.mark.parametrize("word_model", ["gaussian", "dirichlet"])
def test_empty_documents_tell_nothing_of_the_prior(word_model):
    made = make_topics(60, 30, n_topics=3, n_dims=3, random_state=0)
    counts = sparse.csr_array(made.counts)
    more = sparse.vstack([counts, sparse.csr_array((300, counts.shape[1]))]).tocsr()
    model = GaussianLDA(
        3, embedding=made.vectors, solver="vi", word_model=word_model, min_count=1,
        learn_doc_topic_prior="asymmetric", random_state=0,
    )  # fmt: skip
    alone, beside = (clone(model).fit(X) for X in (counts, more))
    np.testing.assert_allclose(beside.doc_topic_prior_, alone.doc_topic_prior_, rtol=1e-8)
    assert alone.n_iter_ == beside.n_iter_
