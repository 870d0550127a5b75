"""scikit-learn's common checks of every estimator and solver, and a family of our own."""

from __future__ import annotations

import copy
import pickle
import zlib

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metaestimators import available_if

from skbayesembed import BayesianSGNS, DiSCSenseModel, DynamicSGNS, GaussianLDA
from skbayesembed.common.estimator import learns_online
from skbayesembed.sgns.documents import sampling
from tests.helpers.extras import optional
from tests.helpers.versions import needs_sklearn

pd = optional("pandas")

# Chains this short may not mix, and data this small may not support all components: both
# warnings are meant, and neither is what is tested here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains? ha(ve|s) not mixed"),
    pytest.mark.filterwarnings("ignore:The sampler hardly moved"),
    pytest.mark.filterwarnings("ignore:.* of the trajectories that led to"),
    pytest.mark.filterwarnings("ignore:The MAP context vectors have rank"),
    pytest.mark.filterwarnings("ignore:The MAP vectors of anchors"),
    pytest.mark.filterwarnings("ignore:The MAP estimate is zero"),
    pytest.mark.filterwarnings("ignore:The posterior has .* modes that matter"),
    pytest.mark.filterwarnings("ignore:The chains are in different modes"),
    pytest.mark.filterwarnings("ignore:X has counts that are no whole numbers"),
    pytest.mark.filterwarnings("ignore:.* topics holds? less than one token"),
    pytest.mark.filterwarnings("ignore:The bound still rose"),
]

SMALL = {"n_components": 2, "min_count": 1, "draws": 20, "warmup": 20, "chains": 2}
# a mode of full rank; what "auto" takes for so little text may have less
SMALL["prior_precision"] = 1.0

# Every estimator with every solver, kernel and choice that takes another path through the code.
ESTIMATORS = {
    "map": BayesianSGNS(**SMALL, solver="map"),
    "metropolis": BayesianSGNS(**SMALL, kernel="metropolis"),
    "polya-gamma": BayesianSGNS(**SMALL, kernel="polya-gamma"),
    "free": BayesianSGNS(**SMALL, anchors=None, negative_sampling="sampled", features="mean_std"),
    "ard": BayesianSGNS(**SMALL, prior="ard"),
    "hmc": BayesianSGNS(**SMALL, solver="hmc"),
    "vi": BayesianSGNS(**SMALL, solver="vi"),
    "vi-diag": BayesianSGNS(**SMALL, solver="vi", covariance="diag", biases=True, prior="ard"),
    "vi-online": BayesianSGNS(**SMALL, solver="vi", learning_method="online", batch_size=5),
    "laplace": BayesianSGNS(**SMALL, solver="laplace"),
}


def expected_failures(estimator):
    """Checks of scikit-learn that fail, each with its reason."""
    if isinstance(estimator, DiSCSenseModel):
        reason = "asks whatever has predict_proba for the tags of a classifier, which it is not"
        return dict.fromkeys(
            ("check_estimator_sparse_array", "check_estimator_sparse_matrix"), reason
        )
    return {}


# scikit-learn's checks call `fit` some fifty times each: of every estimator those configurations
# that take different ways through inputs and streams, and slowly some that differ in features and
# solvers. Every solver goes through tests/test_contract.py.
# Too few draws for a diagnosis, which would take most of the time of these hundreds of fits.
SHORT = {"draws": 3, "warmup": 5}
BRIEF = [
    clone(ESTIMATORS["map"]).set_params(**SHORT),
    clone(ESTIMATORS["vi-online"]).set_params(**SHORT, batch_size=20),
]
MORE = [clone(ESTIMATORS["free"]).set_params(**SHORT)]

# Checks of scikit-learn pass labels of up to four classes as y: known senses, here.
SENSES = {"n_senses": 4, "n_starts": 1, "draws": 3, "warmup": 5, "chains": 1}
BRIEF += [DiSCSenseModel(**SENSES, solver="map")]
MORE += [DiSCSenseModel(**SENSES, solver="hmc")]


class AnyWord:
    """A vector for every word, decided by its letters."""

    def __contains__(self, word):
        return True

    def __getitem__(self, word):
        return np.random.default_rng(zlib.crc32(word.encode())).normal(size=2)

    def __repr__(self):
        return "AnyWord()"


# The columns of the matrices of scikit-learn's checks are named x0, x1, ...
TOPICS = {
    "n_components": 2,
    "min_count": 1,
    "embedding": AnyWord(),
    "draws": 3,
    "warmup": 5,
    "chains": 1,
}
BRIEF += [GaussianLDA(**TOPICS, solver="vi", word_proba="density")]
MORE += [GaussianLDA(**TOPICS, features="mean_std")]


class TimedSGNS(DynamicSGNS):
    """Gives times where scikit-learn's checks, which know of none, do not."""

    def fit(self, X, y=None, *, times=None, **options):
        return super().fit(X, y, times=self.times_of(X) if times is None else times, **options)

    @available_if(learns_online)
    def partial_fit(self, X, y=None, *, times=None):
        if times is None:
            # later than all before
            times = self.times_of(X) + (self.periods_.n_periods if hasattr(self, "periods_") else 0)
        return super().partial_fit(X, y, times=times)

    @staticmethod
    def times_of(X):
        return np.arange(X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))) % 3


DRIFT = {"n_components": 2, "min_count": 1, "draws": 3, "warmup": 5, "chains": 1}
BRIEF += [TimedSGNS(**DRIFT, solver="vi", learning_method="filtering")]
MORE += [TimedSGNS(**DRIFT, solver="gibbs", features="mean_std")]


# data of the checks have modes of one component
@pytest.mark.filterwarnings("ignore:Intervals are the model's")
@parametrize_with_checks(BRIEF, expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    run_check(estimator, check)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Intervals are the model's")
@parametrize_with_checks(MORE, expected_failed_checks=expected_failures)
def test_more_sklearn_checks(estimator, check):
    run_check(estimator, check)


def run_check(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("runs with SCIPY_ARRAY_API=1 only")
    if "sample_weight_equivalence" in check.func.__name__ and hasattr(estimator, "batch_size"):
        # batches of documents that are repeated are other batches
        estimator = clone(estimator).set_params(batch_size=1000)
    check(estimator)


# -- our own -------------------------------------------------------------------------------------

ANIMALS = ["cat", "dog", "cow", "hen", "pig", "fox"]
METALS = ["tin", "iron", "gold", "zinc", "lead", "brass"]


def make_texts(n=30, seed=0):
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        topic = METALS if i % 2 else ANIMALS
        texts.append(" ".join(["the", *rng.choice(topic, 8), "and", *rng.choice(topic, 4)]))
    return texts


TEXTS = make_texts()
LABELS = [i % 2 for i in range(len(TEXTS))]
VECTORIZER = CountVectorizer().fit(TEXTS)
COUNTS = VECTORIZER.transform(TEXTS)
WORDS = VECTORIZER.get_feature_names_out()
INPUTS = {
    "text": TEXTS,
    "tokens": [text.split() for text in TEXTS],
    "sparse": COUNTS,
    "dense": COUNTS.toarray(),
    "frame": lambda: pd.DataFrame(COUNTS.toarray(), columns=WORDS),
}


# Inputs are told apart before any solver sees them: every kind with one, the rest with two kinds.
EVERY_KIND = ("map",)
# The default run leaves the others to tests/test_contract.py, which has all solvers.
QUICK = ("map", "metropolis", "vi-online")


def quick(name, kind="text"):
    return name in EVERY_KIND or (name in QUICK and kind == "text")


def pytest_generate_tests(metafunc):
    names = metafunc.fixturenames
    if "estimator" in names and "X" in names:
        pairs = [
            pytest.param(name, kind, marks=() if quick(name, kind) else pytest.mark.slow)
            for name in ESTIMATORS
            for kind in INPUTS
            if name in EVERY_KIND or kind in ("text", "sparse")
        ]
        metafunc.parametrize(("estimator", "X"), pairs, indirect=True)
    elif "estimator" in names and "check" not in names:
        names = [
            pytest.param(name, marks=() if quick(name) else pytest.mark.slow) for name in ESTIMATORS
        ]
        metafunc.parametrize("estimator", names, indirect=True)
    elif "X" in names:
        metafunc.parametrize("X", list(INPUTS), indirect=True)


@pytest.fixture
def estimator(request):
    return clone(ESTIMATORS[request.param]).set_params(random_state=0)


def given(kind):
    made = INPUTS[kind]
    return made() if callable(made) else made


@pytest.fixture
def X(request):
    return given(request.param)


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_fit_transform_is_fit_then_transform(estimator, X):
    same(clone(estimator).fit_transform(X), estimator.fit(X).transform(X))


def test_shapes_and_attributes(estimator, X):
    assert estimator.fit(X) is estimator
    n_words = len(WORDS)
    assert estimator.rho_.shape == estimator.alpha_.shape == (n_words, 2)
    assert estimator.words_.shape == (n_words,)
    assert estimator.vocabulary_ == {w: i for i, w in enumerate(estimator.words_.tolist())}
    assert set(estimator.vocabulary_) <= set(WORDS) | {f"x{i}" for i in range(n_words)}
    assert estimator.n_iter_ >= 1
    names = estimator.get_feature_names_out()
    assert names.shape == (estimator.transform(X).shape[1],)
    assert len(set(names)) == len(names)
    counts = not isinstance(X, list)
    assert hasattr(estimator, "n_features_in_") == counts
    assert hasattr(estimator, "feature_names_in_") == hasattr(X, "columns")


def test_score_is_a_log_probability(estimator, X):
    score = estimator.fit(X).score(X)
    assert isinstance(score, float)
    assert score < 0
    if estimator.solver == "gibbs":
        assert score > np.log(0.5), "on its own training data better than guessing"


def test_input_is_left_alone(estimator, X):
    before = copy.deepcopy(X)
    estimator.fit(X).transform(X)
    estimator.score(X)
    if isinstance(X, list):
        assert before == X
    elif sparse.issparse(X):
        same(X.toarray(), before.toarray())
    else:
        same(X, before)


def test_parameters_are_left_alone(estimator, X):
    before = estimator.get_params()
    estimator.fit(X)
    assert estimator.get_params() == before


@pytest.mark.parametrize(
    "dump", [pickle, pytest.param(joblib, marks=pytest.mark.slow)], ids=["pickle", "joblib"]
)
def test_pickle(estimator, X, dump, tmp_path):
    fitted = estimator.fit(X)
    if dump is pickle:
        again = pickle.loads(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    same(again.transform(X), fitted.transform(X))
    assert again.score(X) == fitted.score(X)
    word = fitted.words_[0]
    assert repr(again.most_similar(word, 3)) == repr(fitted.most_similar(word, 3))
    same(copy.deepcopy(fitted).transform(X), fitted.transform(X))


def test_clone_is_not_fitted(estimator):
    fitted = estimator.fit(TEXTS)
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    calls = {
        "transform": (TEXTS,),
        "score": (TEXTS,),
        "similarity": ("cat", "dog"),
        "most_similar": ("cat",),
        "cooccurrence_proba": ([("cat", "dog")],),
        "get_feature_names_out": (),
    }
    for name, arguments in calls.items():
        with pytest.raises(NotFittedError):
            getattr(fresh, name)(*arguments)


def test_a_failed_fit_leaves_the_estimator_unfitted(estimator):
    with pytest.raises(ValueError, match="empty vocabulary"):
        estimator.set_params(min_count=10_000).fit(COUNTS)
    with pytest.raises(NotFittedError):
        estimator.transform(COUNTS)


@pytest.mark.parametrize("anchors", [["cat", "tin"], np.array(["cat", "tin"]), None, "last"])
def test_clone_and_repr_with_anchors(anchors):
    estimator = BayesianSGNS(**SMALL, anchors=anchors, random_state=0)
    again = clone(estimator)
    same(again.anchors, anchors) if anchors is not None else None
    assert "BayesianSGNS(" in repr(again)
    assert again.fit(TEXTS).rho_.shape[1] == 2


def test_set_output_pandas(estimator, X):
    frame = estimator.set_output(transform="pandas").fit(X).transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(estimator.get_feature_names_out())
    same(frame, estimator.set_output(transform="default").transform(X))
    assert isinstance(clone(estimator).set_output(transform="pandas").fit_transform(X), type(frame))


@needs_sklearn("1.8", "loses the index of a Series")
def test_set_output_keeps_the_index(estimator):
    series = pd.Series(TEXTS, index=[f"d{i}" for i in range(len(TEXTS))])
    frame = estimator.set_output(transform="pandas").fit_transform(series)
    assert list(frame.index) == list(series.index)


def test_feature_names_out():
    model = BayesianSGNS(**SMALL, random_state=0).fit(TEXTS)
    assert model.get_feature_names_out().tolist() == ["bayesiansgns0", "bayesiansgns1"]
    model.set_params(features="mean_std")
    assert model.get_feature_names_out().tolist() == [
        "bayesiansgns0", "bayesiansgns1", "bayesiansgns0_std", "bayesiansgns1_std",
    ]  # fmt: skip


def test_html_repr(estimator):
    unfitted = estimator._repr_html_()
    fitted = estimator.fit(TEXTS)._repr_html_()
    for html in (unfitted, fitted):
        assert "BayesianSGNS" in html
    assert unfitted != fitted


@pytest.mark.parametrize("uncertainty", ["documents", "model"])
def test_looking_at_a_fit_works_nothing_out(uncertainty, monkeypatch):
    """The first question by units takes minutes for some; a notebook asks none."""
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    model.set_params(uncertainty=uncertainty).fit(TEXTS)

    def not_asked(*args):
        raise AssertionError("worked out")

    monkeypatch.setattr(sampling, "find_mode_near", not_asked)
    before = set(vars(model._sampling))
    html = model._repr_html_()
    # older versions of scikit-learn show parameters alone
    listed = hasattr(BaseEstimator, "_get_fitted_attr_html")
    assert ("vocabulary_" in html) == listed and set(vars(model._sampling)) == before
    monkeypatch.undo()
    _ = model.set_params(uncertainty="documents").similarity("cat", "dog")
    assert ("response_" in model._repr_html_()) == listed


def test_an_interrupted_look_after_the_fit_costs_no_draws(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(sampling, "find_mode_near", interrupted)
    model = BayesianSGNS(2, solver="vi", min_count=1, prior_precision=1.0, random_state=0)
    with pytest.warns(RuntimeWarning, match="Interrupted after the fit, which is whole"):
        model.set_params(uncertainty="model").fit(TEXTS)
    assert model.similarity("cat", "dog").interval.shape == (2,)


def test_repr_is_short_whatever_the_parameters_hold():
    """Embeddings of hundreds of words and lists of names, in pipelines and searches too."""
    words = [f"w{i}" for i in range(300)]
    embedding = dict(zip(words, np.ones((300, 5)), strict=True))
    topics = GaussianLDA(embedding=embedding, feature_names=words)
    search = GridSearchCV(make_pipeline(topics), {"gaussianlda__n_components": [2]})
    for shown in (topics, make_pipeline(topics), search, BayesianSGNS(stop_words=words)):
        assert len(repr(shown)) < 500
    few = "{'w0', 'w1', 'w10', 'w100', 'w101', 'w102', ...}"
    model = BayesianSGNS(stop_words=set(words), min_count=2)
    assert repr(model) == f"BayesianSGNS(min_count=2,\n             stop_words={few})"
    assert few in repr(make_pipeline(model)) and model.stop_words == set(words)
    # of sets of a few words the order is that of the alphabet, whatever their hashes
    assert repr(BayesianSGNS(stop_words={"on", "the", "a"})) == (
        "BayesianSGNS(stop_words={'a', 'on', 'the'})"
    )


def test_set_params_takes_effect(estimator):
    estimator.fit(TEXTS)
    estimator.set_params(n_components=3).fit(TEXTS)
    assert estimator.rho_.shape[1] == 3
    with pytest.raises(ValueError, match="Invalid parameter 'components'"):
        estimator.set_params(components=3)


def test_transform_of_each_document_alone(estimator, X):
    """A document's features do not depend on the company it is in."""
    estimator.fit(X)
    together = estimator.transform(X)
    for i in range(3):
        one = X.iloc[[i]] if hasattr(X, "iloc") else X[i : i + 1]
        np.testing.assert_allclose(estimator.transform(one), together[i : i + 1], atol=1e-12)


def test_refit_with_another_kind_forgets_the_columns(estimator):
    estimator.fit(given("frame"))
    assert estimator.n_features_in_ == len(WORDS)
    assert hasattr(estimator, "feature_names_in_")
    estimator.fit(TEXTS)
    assert not hasattr(estimator, "n_features_in_")
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.transform(TEXTS).shape[0] == len(TEXTS)
    with pytest.raises(ValueError, match="fitted on text"):
        estimator.transform(COUNTS)
    estimator.fit(COUNTS)
    assert estimator.n_features_in_ == len(WORDS)
    assert not hasattr(estimator, "feature_names_in_")
    with pytest.raises(ValueError, match="fitted on a count matrix"):
        estimator.transform(TEXTS)


# -- with the rest of scikit-learn ---------------------------------------------------------------


def test_pipeline_from_counts(estimator):
    pipeline = make_pipeline(CountVectorizer(), estimator, LogisticRegression())
    pipeline.fit(TEXTS, LABELS)
    assert pipeline.predict(TEXTS).shape == (len(TEXTS),)
    fresh = make_texts(10, seed=1)
    assert 0 <= pipeline.score(fresh, [i % 2 for i in range(10)]) <= 1
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == pipeline[:-1].transform(TEXTS).shape[1]


def test_pipeline_from_text(estimator):
    """The topics are told apart: their words never meet."""
    estimator.set_params(draws=100, warmup=100, prior_precision=0.5)
    pipeline = make_pipeline(estimator, LogisticRegression(C=100)).fit(TEXTS, LABELS)
    assert pipeline.score(make_texts(20, seed=2), [i % 2 for i in range(20)]) > 0.9


def test_pipeline_that_ends_here(estimator):
    pipeline = make_pipeline(CountVectorizer(), estimator).fit(TEXTS)
    direct = clone(estimator).fit(COUNTS)
    same(pipeline.transform(TEXTS), direct.transform(COUNTS))
    assert pipeline.score(TEXTS) == direct.score(COUNTS)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=() if k in ("text", "sparse") else pytest.mark.slow) for k in INPUTS],
)
def test_grid_search(kind):
    model = BayesianSGNS(**SMALL, random_state=0)
    grid = [{"n_components": [1, 2]}, {"min_count": [14], "window": [2]}]
    if kind in ("sparse", "dense", "frame"):
        grid[1]["window"] = [5]
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(given(kind))
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_score_ == scores.max() > np.log(0.5)
    assert search.score(given(kind)) < 0
    assert search.transform(given(kind)).shape[0] == len(TEXTS)


def test_grid_search_through_a_pipeline():
    pipeline = make_pipeline(CountVectorizer(), BayesianSGNS(**SMALL, random_state=0))
    grid = {"bayesiansgns__prior_precision": [0.5, 5.0], "bayesiansgns__solver": ["map", "gibbs"]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.slow
def test_grid_search_in_threads_is_the_same():
    search = GridSearchCV(
        BayesianSGNS(**SMALL, random_state=0), {"n_components": [1, 2]}, cv=2, error_score="raise"
    )
    scores = [search.fit(TEXTS).cv_results_["mean_test_score"]]
    with joblib.parallel_config(backend="threading", n_jobs=2):
        scores.append(search.fit(TEXTS).cv_results_["mean_test_score"])
    same(*scores)


def test_column_of_a_frame():
    frame = pd.DataFrame({"text": TEXTS, "year": range(len(TEXTS))})
    model = BayesianSGNS(**SMALL, random_state=0)
    columns = ColumnTransformer([("words", model, "text")], remainder="passthrough")
    out = columns.set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [
        "words__bayesiansgns0", "words__bayesiansgns1", "remainder__year",
    ]  # fmt: skip
    same(out.iloc[:, :2], clone(model).fit(TEXTS).transform(TEXTS))


def test_metadata_routing():
    """With routing on, pipelines and searches still find score without weights."""
    with config_context(enable_metadata_routing=True):
        model = BayesianSGNS(**SMALL, random_state=0)
        pipeline = make_pipeline(clone(model), LogisticRegression()).fit(TEXTS, LABELS)
        assert 0 <= pipeline.score(TEXTS, LABELS) <= 1
        assert make_pipeline(CountVectorizer(), clone(model)).fit(TEXTS).score(TEXTS) < 0
        GridSearchCV(model, {"n_components": [1, 2]}, cv=2, error_score="raise").fit(TEXTS)


def test_cross_val_score(estimator, X):
    scores = cross_val_score(estimator, X, cv=2, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("cls", [BayesianSGNS, DynamicSGNS, GaussianLDA])
def test_the_error_without_partial_fit_says_what_has_it(cls):
    """Also where it is called by the class; with another solver there is such a method."""
    model = cls(2, solver="map")
    assert not hasattr(model, "partial_fit") and hasattr(cls(2, solver="vi"), "partial_fit")
    message = f"'{cls.__name__}' has no attribute 'partial_fit'.* with solver='vi' only, got solver"
    for call in (lambda: model.partial_fit, lambda: cls.partial_fit(model, [])):
        with pytest.raises(AttributeError, match=message):
            call()
    assert cls.partial_fit.__doc__ == cls(2, solver="vi").partial_fit.__doc__


UNKNOWN = [
    (BayesianSGNS(2, solver="map", min_count=1, random_state=0), {}, "zeros"),
    (DynamicSGNS(2, solver="map", min_count=1, random_state=0), {"times": [0, 1]}, "zeros"),
    (GaussianLDA(**TOPICS, solver="vi", random_state=0), {}, "the prior mean of the shares"),
    (DiSCSenseModel(2, solver="vi", n_starts=1, random_state=0), {}, "the prevalences of the s"),
]


@pytest.mark.parametrize(("model", "more", "get"), UNKNOWN, ids=lambda x: type(x).__name__)
def test_documents_without_a_known_word_are_warned_of(model, more, get):
    """By every estimator in the same words, in transform and in its draws; of others nothing."""
    times = {name: values * 20 for name, values in more.items()}
    counts = np.array([[3.0, 2, 0, 0, 1], [0, 0, 4, 3, 1]] * 20)
    model.fit(counts, **times)
    model.transform(counts[:2], **more)
    new = np.vstack([counts[:1], np.zeros((1, 5))])
    message = rf"^1 of 2 (documents|snippets) of X has no known word, and gets {get}"
    with pytest.warns(UserWarning, match=message):
        features = model.transform(new, **more)
    with pytest.warns(UserWarning, match=message):
        draws = model.sample_transform(new, 2, **more)
    assert features.shape[0] == draws.shape[1] == 2
