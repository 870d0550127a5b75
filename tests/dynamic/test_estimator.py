"""`DynamicSGNS` as an estimator: fits, attributes, errors, and the rest of scikit-learn."""

from __future__ import annotations

import copy
import datetime
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skbayesembed import DynamicSGNS, PairCounts, Posterior
from skbayesembed.datasets import make_dynamic_sgns
from skbayesembed.dynamic.model import SIDES
from skbayesembed.sgns.balance import balanced
from tests.helpers.extras import optional
from tests.helpers.versions import needs_sklearn

pd = optional("pandas")

# Chains this short need not mix.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The sampler hardly moved"),
    pytest.mark.filterwarnings("ignore:.* of the trajectories that led to"),
    pytest.mark.filterwarnings("ignore:The search for the mode"),
    pytest.mark.filterwarnings("ignore:The bound still rose"),
    # of later documents, as some are on purpose
    pytest.mark.filterwarnings("ignore:.* are of times before the first period"),
]

V, K, T = 12, 2, 4
SHORT = {"min_count": 1, "draws": 30, "warmup": 20, "chains": 2, "diffusion": 0.05}
# vectors as the solver made them
RAW = {"balance": False, "uncertainty": "model"}
SOLVERS = {
    "gibbs": {"solver": "gibbs"},
    "learned": {"solver": "gibbs", "diffusion": "learned"},
    "hmc": {"solver": "hmc"},
    "laplace": {"solver": "laplace"},
    "map": {"solver": "map"},
    "vi": {"solver": "vi"},
    "vi-learned": {"solver": "vi", "diffusion": "learned"},
    "filtering": {"solver": "vi", "learning_method": "filtering"},
}
APPROXIMATE = ("laplace", "vi", "vi-learned", "filtering")
ANIMALS = ["cat", "dog", "cow", "hen", "pig", "fox"]
METALS = ["tin", "iron", "gold", "zinc", "lead", "brass"]


def make_texts(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return [
        " ".join(["the", *rng.choice(METALS if i % 2 else ANIMALS, 8), "and"]) for i in range(n)
    ]


TEXTS = make_texts()
TIMES = np.arange(len(TEXTS)) % 3 + 1900
LABELS = np.arange(len(TEXTS)) % 2


def make(**parameters):
    return DynamicSGNS(K, **{**SHORT, "solver": "gibbs", "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def data():
    return make_dynamic_sgns(V, K, T, 1500, times=[0, 1, 3, 4], random_state=0)


@pytest.fixture(scope="module", params=list(SOLVERS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(data, name):
    return make(**SOLVERS[name]).fit(data.pairs, times=data.times)


def same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_attributes(fitted, name, data):
    posterior = fitted.posterior_
    assert isinstance(posterior, Posterior)
    lengths = (1, 1) if name == "map" else (1 if name in APPROXIMATE else 2, 30)
    learned = name == "learned"
    assert set(posterior) == {"rho", "alpha"} | ({"diffusion"} if learned else set())
    for variable in ("rho", "alpha"):
        assert posterior[variable].shape == (*lengths, T, V, K)
        assert posterior.dims[variable] == ("period", "word", "component")
    assert posterior.coords["period"].tolist() == ["0", "1", "3", "4"]
    assert posterior.coords["word"].tolist() == fitted.words_.tolist()
    assert posterior.attrs["solver"] == fitted.solver
    assert fitted.rho_.shape == fitted.alpha_.shape == (T, V, K)
    if name not in APPROXIMATE:
        raw = np.stack([posterior[side].mean(axis=(0, 1)).reshape(-1, K) for side in SIDES])
        found = np.stack([fitted.rho_, fitted.alpha_]).reshape(2, -1, K)
        np.testing.assert_allclose(found, balanced(raw), atol=1e-12)
    assert fitted.words_.tolist() == [f"x{i}" for i in range(V)]
    assert fitted.vocabulary_ == {f"x{i}": i for i in range(V)}
    assert fitted.periods_.labels == [0, 1, 3, 4] and fitted.n_iter_ >= 1
    same(fitted.observed_, [np.asarray(p.positive.sum(axis=1)) for p in data.pairs])
    assert hasattr(fitted, "approximation_") == (name in APPROXIMATE)
    assert hasattr(fitted, "elbo_") == (fitted.solver == "vi")
    assert not hasattr(fitted, "n_features_in_")
    if name in ("gibbs", "learned", "hmc"):
        assert posterior.attrs["draws_made"] == 30 and posterior.attrs["max_rhat"] > 0.9
    if learned:
        same(np.log(posterior["diffusion"][..., 0]), posterior.stats["log_diffusion"])
        assert posterior.attrs["max_rhat_diffusion"] > 0.9


def test_the_frame_is_one_for_all_periods(fitted, data):
    """Logits are found: 60 draws of well-observed pairs, far better than guessing."""
    p = fitted.cooccurrence_proba([(w, v) for w in range(V) for v in range(V)]).mean
    truth = 1 / (1 + np.exp(-np.einsum("twk,tvk->twv", data.rho, data.alpha)))
    found = np.corrcoef(p.ravel(), truth.ravel())[0, 1]
    assert found > 0.8
    # steps are small against vectors where one rotation serves all
    step = np.linalg.norm(np.diff(fitted.rho_, axis=0)) / np.linalg.norm(fitted.rho_[1:])
    assert step < 0.5


def test_everything_downstream_works(fitted, name, data):
    assert fitted.score(data.pairs, times=data.times) > np.log(0.5)
    similarity = fitted.similarity(0, 1)
    low, high = similarity.interval.T
    assert np.isnan(low).all() if name == "map" else np.all(low <= high)
    assert len(fitted.most_similar(0, 4, period=3)) == 4
    assert len(fitted.most_changed(5)) == 5
    documents = [["x0", "x1", "x1"]]
    again = copy.copy(fitted).set_params(features="mean_std")
    features = again.transform(documents, times=[3])
    assert features.shape == (1, 2 * K)
    assert np.all(features[:, K:] == 0) == (name == "map")


def test_save_and_load(fitted, tmp_path):
    fitted.posterior_.save(tmp_path / "posterior.npz")
    again = Posterior.load(tmp_path / "posterior.npz")
    for variable in fitted.posterior_:
        same(again[variable], fitted.posterior_[variable])
    assert again.attrs == fitted.posterior_.attrs


def test_pickle(fitted, data):
    again = pickle.loads(pickle.dumps(fitted))
    documents = [["x0", "x1", "x1"], ["x3"]]
    same(again.transform(documents, times=[0, 7]), fitted.transform(documents, times=[0, 7]))
    assert again.score(data.pairs[:1], times=[9]) == fitted.score(data.pairs[:1], times=[9])
    assert repr(again.most_changed(3)) == repr(fitted.most_changed(3))


def test_same_seed_same_draws_of_a_learned_diffusion(data):
    """Of the other solvers by tests/test_contract.py."""
    models = [make(**SOLVERS["vi-learned"], draws=5, n_jobs=n) for n in (1, 2)]
    same(*(m.fit(data.pairs, times=data.times).posterior_["rho"] for m in models))


def test_clone_is_not_fitted(fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    calls = {
        "transform": (TEXTS,), "score": (TEXTS,), "similarity": ("a", "b"), "drift": ("a",),
        "similarity_change": ("a", "b"), "trajectory": ("a",), "most_changed": (),
        "cooccurrence_proba": ([("a", "b")],), "get_feature_names_out": (),
    }  # fmt: skip
    for method, arguments in calls.items():
        with pytest.raises(NotFittedError):
            getattr(fresh, method)(*arguments)
    with pytest.raises(NotFittedError):
        fresh.most_similar("a", period=1)
    assert not hasattr(fresh, "rho_") and not hasattr(fresh, "posterior_")


# Odd data ---------------------------------------------------------------------------------------


def test_unsorted_times_give_the_same_fit():
    # within a period documents keep their order, so that what is sampled is the same, too
    shuffled = np.random.default_rng(1).permutation(len(TEXTS))
    by_time = shuffled[np.argsort(TIMES[shuffled], kind="stable")]
    for options in ({}, {"negative_sampling": "sampled", "window_weights": "dynamic"}):
        model = make(draws=5, warmup=5, **options)
        first = model.fit([TEXTS[i] for i in shuffled], times=TIMES[shuffled]).posterior_["rho"]
        second = model.fit([TEXTS[i] for i in by_time], times=TIMES[by_time]).posterior_["rho"]
        same(first, second)


@pytest.mark.slow
def test_an_empty_period_changes_nothing(data):
    """Of 2000 draws of which some 200 are worth as much as independent ones: 4.5 errors allowed."""
    options = {"draws": 1000, "warmup": 100, "diffusion": 0.05}
    model = make(**options).fit(data.pairs, times=data.times)
    nothing = PairCounts(np.zeros((V, V)), np.zeros((V, V)))
    more = make(**options).fit([*data.pairs, nothing], times=[*data.times, 2])
    assert more.periods_.labels == [0, 1, 2, 3, 4] and not more.observed_[2].any()
    pairs = [(w, v) for w in range(V) for v in range(0, V, 3)]
    first = model.cooccurrence_proba(pairs)
    second = more.cooccurrence_proba(pairs, periods=[0, 1, 3, 4])
    error = first.sd * (2 / 200) ** 0.5
    np.testing.assert_array_less(np.abs(first.mean - second.mean), 4.5 * error)
    np.testing.assert_allclose(first.sd.mean(), second.sd.mean(), rtol=0.1)
    between = more.cooccurrence_proba(pairs, periods=[2])
    assert np.isfinite(between.mean).all() and between.sd.mean() > 0.9 * second.sd.mean()


def test_dates():
    dates = [datetime.date(1990 + 10 * (i % 2), 7, 2) for i in range(len(TEXTS))]
    model = make(n_periods=2).fit(TEXTS, times=dates)
    assert model.periods_.n_periods == 2 and 4.9 < model.periods_.gaps[0] < 5.1
    later = [datetime.date(2010, 1, 1)] * len(TEXTS)
    assert np.isfinite(model.score(TEXTS, times=later))
    # 2000 is the end of the last period, of 5 years: 2010 is in the second after it
    decay = np.exp(-0.5 * 0.05 * 10)
    np.testing.assert_allclose(
        model.transform(TEXTS[:1], times=later[:1]),
        decay * model.transform(TEXTS[:1], times=dates[1:2]), rtol=1e-2,
    )  # fmt: skip


def test_fit_on_a_frame_and_refit():
    vectorizer = CountVectorizer().fit(TEXTS)
    words = vectorizer.get_feature_names_out()
    frame = pd.DataFrame(vectorizer.transform(TEXTS).toarray(), columns=words)
    model = make(draws=5, warmup=5).fit(frame, times=TIMES)
    assert model.n_features_in_ == len(words) and model.words_.tolist() == list(words)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.rename(columns={"cat": "other"}))
    with pytest.raises(ValueError, match="X is text, but the estimator was fitted on a count matr"):
        model.score(TEXTS, times=TIMES)
    model.fit(TEXTS, times=TIMES)
    assert not hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    assert model.words_[0] == "and" and model.transform(TEXTS).shape == (len(TEXTS), K)


def test_input_is_read_once_and_left_alone():
    before = list(TEXTS)
    model = make(draws=5, warmup=5)
    features = model.fit_transform((text for text in TEXTS), times=TIMES)
    same(features, model.fit(TEXTS, times=TIMES).transform(TEXTS, times=TIMES))
    assert before == TEXTS


def test_a_failed_fit_leaves_the_estimator_as_it_was(data):
    model = make(draws=5, warmup=5)
    with pytest.raises(ValueError, match="empty"):
        model.set_params(min_count=10_000).fit(TEXTS, times=TIMES)
    with pytest.raises(NotFittedError):
        model.transform(TEXTS)
    model.set_params(min_count=1).fit(TEXTS, times=TIMES)
    rho = model.rho_
    with pytest.raises(ValueError, match="DynamicSGNS needs times"):
        model.fit(TEXTS)
    assert model.rho_ is rho


# Memory -----------------------------------------------------------------------------------------


def test_kept_words_have_every_draw(data, monkeypatch):
    monkeypatch.setattr("skbayesembed.dynamic.recording.DRAW_BUDGET", 16 * T * V * K * 2 * 5)
    kept = make(keep_draws=["x3", "x0"], **RAW).fit(data.pairs, times=data.times)
    monkeypatch.undo()
    every = make(**RAW).fit(data.pairs, times=data.times)
    posterior = kept.posterior_
    assert posterior["rho"].shape == (2, 5, T, V, K) and posterior.attrs["stride"] == 6
    same(posterior["rho"], every.posterior_["rho"][:, ::6])
    for variable in ("rho", "alpha"):
        rows = posterior.stats[f"{variable}_rows"]
        same(rows, every.posterior_[variable][:, :, :, [3, 0]])
        assert posterior.dims[f"{variable}_rows"] == ("period", "kept_word", "component")
        assert not posterior.moments[variable].keeps_covariance
        np.testing.assert_allclose(posterior.mean(variable), every.posterior_.mean(variable))
        np.testing.assert_allclose(posterior.std(variable), every.posterior_.std(variable))
    np.testing.assert_allclose(kept.rho_, every.rho_)
    same(kept.trajectory("x0").draws, every.trajectory("x0").draws)
    same(kept.drift("x3").draws, every.drift("x3").draws)
    same(kept.similarity("x3", "x0").draws, every.similarity("x3", "x0").draws)
    assert len(kept.similarity("x3", "x1").draws) == 10
    assert kept.cooccurrence_proba([("x3", "x1")]).draws.shape == (10, T, 1)
    with pytest.raises(ValueError, match="keep_draws has words outside the vocabulary of 12"):
        make(keep_draws=["nothing"]).fit(data.pairs, times=data.times)


def test_memory_is_looked_at_first(data, monkeypatch):
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 1e4)
    advice = "The pairs of 12 words in 4 periods would take .* solver='vi'"
    with pytest.raises(MemoryError, match=advice):
        make(draws=1, chains=1).fit(data.pairs, times=data.times)
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 1e6)
    with pytest.raises(MemoryError, match="The draws would take"):
        make(draws=10_000, keep_draws="all").fit(data.pairs, times=data.times)


# Parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"solver": "nuts"}, "solver='nuts' is not available for DynamicSGNS: use solver='vi' or"),
        ({"learning_method": "stream"}, "learning_method must be one of 'batch', 'filtering'"),
        ({"learning_method": "filtering"}, "learning_method='filtering' is available with .*'vi'"),
        ({"n_periods": 0}, "n_periods must be an integer >= 1, got 0"),
        ({"n_periods": 2, "bins": [0, 1, 2]}, "n_periods and bins exclude each other"),
        ({"n_periods": 1}, "make one period, .*: DynamicSGNS needs two or more. Use Bayes"),
        ({"bins": [1, 0]}, "bins must be two or more increasing ends"),
        ({"bins": [0, 1]}, "times must be from 0 to 1, .* got 3"),
        ({"diffusion": 0.0}, "diffusion must be a number > 0, got 0.0"),
        ({"diffusion": "auto"}, "diffusion must be a number > 0 or 'learned', got 'auto'"),
        (
            {"diffusion": "learned", "solver": "map"},
            "diffusion='learned' is not available with solver='map': the joint density",
        ),
        (
            {"diffusion": "learned", "solver": "laplace"},
            "diffusion='learned' is not available with solver='laplace'",
        ),
        (
            {"diffusion": "learned", "solver": "vi", "learning_method": "filtering"},
            "diffusion='learned' is not available with learning_method='filtering', which learns",
        ),
        ({"hyperprior": 1.0}, "hyperprior must be None or a pair"),
        ({"hyperprior": (1.0, 0.0)}, "hyperprior's scale must be a number > 0"),
        ({"prior_precision": "learned"}, "prior_precision must be a number > 0, got 'learned'"),
        ({"window": 0}, "window must be an integer >= 1"),
        ({"window_weights": "flat"}, "window_weights must be one of"),
        ({"negative": 0}, "negative must be a number > 0"),
        ({"ns_exponent": -1}, "ns_exponent must be a number >= 0"),
        ({"ns_exponent": 1e30}, "ns_exponent must be a number >= 0 and <= 10, got"),
        ({"negative_sampling": "all"}, "negative_sampling must be one of"),
        ({"min_count": 0}, "min_count must be an integer >= 1"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"target_accept": 1.0}, "target_accept must be a number > 0 and <= 0.999"),
        ({"features": "sd"}, "features must be one of 'mean', 'mean_std'"),
        ({"draws": 0}, "draws must be an integer >= 1"),
        ({"keep_draws": []}, "keep_draws must be 'auto', 'all' or a list of words"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": 0.0}, "tol must be a number > 0"),
        ({"lowercase": 1}, "lowercase must be True or False"),
        ({"feature_names": "x"}, "feature_names must be None or a list of words"),
        ({"random_state": -1}, "random_state must be an int"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ({"verbose": -1}, "verbose must be an integer >= 0"),
    ],
)
def test_bad_parameters(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        make().set_params(**parameters).fit(data.pairs, times=data.times)


def test_partial_fit_is_for_vi():
    assert not hasattr(make(), "partial_fit")
    assert hasattr(make(solver="vi"), "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        make().partial_fit(TEXTS, times=TIMES)


def test_partial_fit_serves_all_methods(data):
    """Fitted attributes follow every call; those of the estimator are made when looked at."""
    model = make(solver="vi", draws=20)
    assert model.partial_fit(data.pairs[:2], times=data.times[:2]) is model
    assert model.rho_.shape == (2, V, K) and model.periods_.labels == [0, 1]
    model = pickle.loads(pickle.dumps(model.partial_fit(data.pairs[2:], times=data.times[2:])))
    assert model.rho_.shape == (T, V, K) and model.periods_.labels == [0, 1, 3, 4]
    same(model.observed_, [np.asarray(p.positive.sum(axis=1)) for p in data.pairs])
    assert model.posterior_.coords["period"].tolist() == ["0", "1", "3", "4"]
    assert model.score(data.pairs, times=data.times) > np.log(0.5)
    assert model.transform([["x0"]], times=[9]).shape == (1, K)
    assert len(model.most_changed(3)) == 3
    with pytest.raises(ValueError, match="DynamicSGNS needs times"):
        model.partial_fit(data.pairs)
    with pytest.raises(ValueError, match="diffusion='learned' is not available with partial_fit"):
        make(solver="vi", diffusion="learned").partial_fit(data.pairs, times=data.times)
    # a fit forgets the stream
    assert model.fit(data.pairs[:2], times=[0, 1]).rho_.shape == (2, V, K)


# With the rest of scikit-learn ------------------------------------------------------------------


@needs_sklearn("1.8", "loses the index of a Series")
def test_names_and_output():
    model = make(draws=5, warmup=5).set_output(transform="pandas")
    series = pd.Series(TEXTS, index=[f"d{i}" for i in range(len(TEXTS))])
    frame = model.fit_transform(series, times=TIMES)
    assert list(frame.columns) == ["dynamicsgns0", "dynamicsgns1"]
    assert list(frame.index) == list(series.index)
    model.set_params(features="mean_std")
    assert model.get_feature_names_out().tolist() == [
        "dynamicsgns0", "dynamicsgns1", "dynamicsgns0_std", "dynamicsgns1_std",
    ]  # fmt: skip
    assert model.transform(TEXTS, times=TIMES).shape == (len(TEXTS), 2 * K)
    assert "DynamicSGNS" in model._repr_html_()


def test_pipeline_as_features():
    """The topics are told apart: their words never meet."""
    pipeline = make_pipeline(make(draws=100, warmup=100), LogisticRegression(C=100))
    pipeline.fit(TEXTS, LABELS, dynamicsgns__times=TIMES)
    assert pipeline.score(make_texts(20, seed=2), np.arange(20) % 2) > 0.9


def test_grid_search_without_routing():
    """Times are cut with the folds for fit; score gets none and averages over periods."""
    cv = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(make(draws=5, warmup=5), {"window": [2]}, cv=cv, error_score="raise")
    search.fit(TEXTS, times=TIMES)
    train, test = next(cv.split(TEXTS))
    by_hand = make(draws=5, warmup=5, window=2)
    by_hand.fit([TEXTS[i] for i in train], times=TIMES[train])
    expected = by_hand.score([TEXTS[i] for i in test])
    assert search.cv_results_["split0_test_score"][0] == expected
    assert search.transform(TEXTS[:2]).shape == (2, K)


def test_grid_search_with_routing():
    """Times arrive in score too, without any request."""
    with config_context(enable_metadata_routing=True):
        cv = KFold(2, shuffle=True, random_state=0)
        model = make(draws=5, warmup=5)
        search = GridSearchCV(model, {"window": [4]}, cv=cv, error_score="raise")
        search.fit(TEXTS, times=TIMES)
        train, test = next(cv.split(TEXTS))
        by_hand = clone(model).set_params(window=4)
        by_hand.fit([TEXTS[i] for i in train], times=TIMES[train])
        held_out = [TEXTS[i] for i in test]
        expected = by_hand.score(held_out, times=TIMES[test])
        assert search.cv_results_["split0_test_score"][0] == expected
        assert expected != by_hand.score(held_out)


def test_grid_search_over_pair_counts(data):
    """Whole periods are held out; the last fold scores a later one."""
    search = GridSearchCV(
        make(draws=5, warmup=5), {"diffusion": [0.01, 0.1]}, cv=KFold(2), error_score="raise"
    )
    search.fit(data.pairs, times=data.times)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_pipeline_with_routing():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(CountVectorizer(), make(draws=5, warmup=5))
        pipeline.fit(TEXTS, times=TIMES)
        direct, counts = pipeline[-1], pipeline[0].transform(TEXTS)
        assert pipeline.score(TEXTS, times=TIMES) == direct.score(counts, times=TIMES)
        same(pipeline.transform(TEXTS, times=TIMES), direct.transform(counts, times=TIMES))


@pytest.mark.parametrize("learning_method", ["batch", "filtering"])
def test_one_gradient_is_no_fit_but_a_bound(learning_method):
    model = DynamicSGNS(1, min_count=1, max_iter=1, learning_method=learning_method, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(["a tape in the deck", "the tape on the box"] * 5, times=[1980, 1981] * 5)
    assert np.isfinite(model.elbo_).all() and model.elbo_.size == 1 + (
        learning_method == "filtering"
    )
