"""`DiSCSenseModel` as an estimator: fits, attributes, errors, and the rest of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from skbayesembed import DiSCSenseModel, Posterior, SensePrior
from skbayesembed.datasets import make_senses
from tests.helpers.extras import optional
from tests.helpers.versions import needs_sklearn

pd = optional("pandas")

# Chains this short need not mix, and data this small can have several modes.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.filterwarnings("ignore:The posterior has .* modes"),
    pytest.mark.filterwarnings("ignore:The chains are in different modes"),
    pytest.mark.filterwarnings("ignore:.* of the trajectories that led to"),
    pytest.mark.usefixtures("explored_briefly"),
]

N, V, K, T, G = 120, 15, 2, 3, 2
SHORT = {"n_starts": 1, "draws": 30, "warmup": 20, "chains": 2, "random_state": 0}
SOLVERS = {
    "map": {"solver": "map", "n_starts": 1, "random_state": 0},
    "hmc": SHORT,
    "gibbs": {**SHORT, "solver": "gibbs"},
    "vi": {**SHORT, "solver": "vi"},
}


@pytest.fixture(scope="module")
def data():
    """Senses that hardly share a word; no snippet is empty."""
    data = make_senses(
        N, V, K, n_periods=T, n_genres=G, kappa_chi=6.0, mean_length=5.0, random_state=5
    )
    empty = np.flatnonzero(data.counts.sum(axis=1) == 0)
    counts = data.counts.tolil()
    counts[empty, 0] = 1
    data.counts = counts.tocsr()
    return data


@pytest.fixture(
    scope="module",
    params=[pytest.param(s, marks=pytest.mark.slow if s in ("hmc",) else ()) for s in SOLVERS],
)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(data, name):
    model = DiSCSenseModel(K, **SOLVERS[name])
    return model.fit(data.counts, times=data.times, genres=data.genres)


def where(data, chosen=slice(None)):
    return {"times": data.times[chosen], "genres": data.genres[chosen]}


def test_attributes(fitted, name):
    assert isinstance(fitted.posterior_, Posterior)
    shape = {"map": (1, 1), "vi": (1, 30)}.get(name, (2, 30))
    assert fitted.posterior_["prevalence"].shape == (*shape, G, T, K)
    assert fitted.posterior_["chi"].shape == (*shape, K, V)
    assert fitted.posterior_["theta"].shape == (*shape, T, V)
    assert fitted.posterior_.attrs["solver"] == name
    assert fitted.prevalence_.shape == (K, G, T)
    np.testing.assert_allclose(fitted.prevalence_.sum(axis=0), 1)
    assert fitted.words_.tolist() == [f"x{i}" for i in range(V)]
    assert fitted.vocabulary_ == {f"x{i}": i for i in range(V)}
    assert fitted.periods_.labels == [0, 1, 2] and fitted.genres_.tolist() == [0, 1]
    assert fitted.n_features_in_ == V and fitted.n_iter_ >= 1
    assert len(fitted.modes_) == (0 if name == "map" else 1)
    for attribute in ("approximation_", "elbo_"):
        assert hasattr(fitted, attribute) == (name == "vi")


def test_the_senses_are_found(fitted, data):
    """They are told apart by almost any word, and named in the order of their prevalence."""
    found = fitted.predict(data.counts, **where(data))
    some = np.asarray(data.counts.sum(axis=1)).ravel() > 0
    share = np.mean(found[some] == data.senses[some])
    assert max(share, 1 - share) > 0.9
    proba = fitted.predict_proba(data.counts, **where(data))
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert fitted.prevalence_[0].mean() > fitted.prevalence_[1].mean()


def test_more_is_known_with_times_and_genres(fitted, data):
    """Of the training data, whose periods and genres differ."""
    scores = [
        fitted.score(data.counts, **given)
        for given in (where(data), {"times": data.times}, {"genres": data.genres}, {})
    ]
    assert scores[0] > scores[1] > scores[3] and scores[0] > scores[2] > scores[3]


def test_pickle_and_clone(fitted, data):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(data.counts), fitted.transform(data.counts))
    assert repr(again.sense_words(3)) == repr(fitted.sense_words(3))
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    calls = {
        "transform": (data.counts,), "predict": (data.counts,), "predict_proba": (data.counts,),
        "score_samples": (data.counts,), "score": (data.counts,), "loo": (data.counts,),
        "waic": (data.counts,), "sample": (), "prevalence_interval": (), "sense_words": (),
        "word_trajectory": ("x0",), "sense_given_word": ("x0",), "emergence": (0, 0.5),
        "prevalence_change": (0, 0, 1), "get_feature_names_out": (),
    }  # fmt: skip
    for method, arguments in calls.items():
        with pytest.raises(NotFittedError):
            getattr(fresh, method)(*arguments)
    assert not hasattr(fresh, "prevalence_")


def test_fit_transform_and_set_output(data):
    model = DiSCSenseModel(K, **SOLVERS["map"]).set_output(transform="pandas")
    frame = model.fit_transform(data.counts, **where(data))
    assert list(frame.columns) == ["discsensemodel0", "discsensemodel1"]
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()
    expected = model.predict_proba(data.counts, **where(data))
    np.testing.assert_array_equal(frame, expected)
    pd.testing.assert_frame_equal(model.transform(data.counts, **where(data)), frame)


def test_frames_keep_their_names(data):
    frame = pd.DataFrame(data.counts.toarray(), columns=[f"w{i}" for i in range(V)])
    model = DiSCSenseModel(K, **SOLVERS["map"]).fit(frame)
    assert model.feature_names_in_.tolist() == model.words_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"w0": "other"}))


def test_texts(data):
    counts = data.counts.toarray().astype(int)
    texts = [" ".join(f"w{v:02}" for v in range(V) for _ in range(row[v])) for row in counts]
    model = DiSCSenseModel(K, **SOLVERS["map"]).fit(texts, times=data.times)
    assert set(model.words_) <= {f"w{v:02}" for v in range(V)}
    order = [int(word[1:]) for word in model.words_]
    same = DiSCSenseModel(K, **SOLVERS["map"]).fit(counts[:, order], times=data.times)
    np.testing.assert_allclose(
        model.transform(texts, times=data.times),
        same.transform(counts[:, order], times=data.times),
        atol=1e-10,
    )
    X, _ = model.sample(3)
    assert X.shape == (3, len(model.words_))


def test_a_failed_fit_leaves_the_estimator_as_it_was(fitted, data):
    model = pickle.loads(pickle.dumps(fitted))
    model.set_params(prior=SensePrior(kappa_chi=-1.0))
    with pytest.raises(ValueError, match="prior.kappa_chi must be a number > 0"):
        model.fit(data.counts)
    model = DiSCSenseModel(K, min_count=10_000)
    with pytest.raises(ValueError, match="empty vocabulary"):
        model.fit(data.counts)
    with pytest.raises(NotFittedError):
        model.predict(data.counts)


def test_refit_on_other_data_forgets_the_old(data):
    model = DiSCSenseModel(K, **SOLVERS["map"])
    model.fit(pd.DataFrame(data.counts.toarray(), columns=list("abcdefghijklmno")), **where(data))
    model.fit(["a river", "money", ""])
    assert not hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    assert model.genres_ is None and model.periods_.n_periods == 1
    assert model.prevalence_.shape == (K, 1, 1)
    assert model.predict(["river of money"]).shape == (1,)


# Labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [pytest.param(s, marks=pytest.mark.slow if s == "hmc" else ()) for s in SOLVERS],
    indirect=True,
)
def test_known_senses_name_the_senses(data, name):
    """Half of the labels, the names exchanged: the other snippets follow."""
    names = 1 - data.senses
    known = np.where(np.arange(N) % 2, names, -1)
    model = DiSCSenseModel(K, **SOLVERS[name]).fit(data.counts, known, **where(data))
    rest = (known < 0) & (np.asarray(data.counts.sum(axis=1)).ravel() > 0)
    found = model.predict(data.counts, **where(data))
    assert np.mean(found[rest] == names[rest]) > 0.9


# Sampling ---------------------------------------------------------------------------------------


def test_sample(fitted, data):
    X, senses = fitted.sample(50)
    assert X.shape == (50, V) and senses.shape == (50,)
    assert set(senses) <= {0, 1}
    lengths = set(data.counts.sum(axis=1).astype(int).tolist())
    assert set(X.sum(axis=1).astype(int).tolist()) <= lengths
    again, _ = fitted.sample(50)
    np.testing.assert_array_equal(X.toarray(), again.toarray())
    other, _ = fitted.sample(50, random_state=3)
    assert not np.array_equal(X.toarray(), other.toarray())
    assert fitted.score_samples(X).shape == (50,)
    with pytest.raises(ValueError, match="times must have one entry for each of the 4 snippets"):
        fitted.sample(4, times=[0, 1])


@pytest.mark.parametrize("given", [{"times": 1, "genres": 0}, {"times": 2}, {"genres": 1}, {}])
def test_samples_follow_the_posterior_predictive(fitted, data, given):
    """4000 snippets: shares of senses within four standard errors, at most 0.032.

    Words of a snippet share its draw and sense, so those of a sense are compared more loosely: of
    about 10,000 to 20,000 words, with a correlation that may double the error.
    """
    X, senses = fitted.sample(4000, random_state=1, **given)
    cells = np.zeros((G, T))
    np.add.at(cells, (data.genres, data.times), 1.0)
    cells[:, [t for t in range(T) if t != given.get("times", t)]] = 0
    cells[[g for g in range(G) if g != given.get("genres", g)]] = 0
    cells /= cells.sum()
    share = np.einsum("kgt,gt->k", fitted.prevalence_, cells)
    np.testing.assert_allclose(np.bincount(senses, minlength=K) / 4000, share, atol=0.032)
    posterior = fitted.posterior_
    psi = posterior.flat("chi")[:, :, None] + posterior.flat("theta")[:, None]
    proba = np.exp(psi - np.logaddexp.reduce(psi, axis=3)[..., None])
    expected = np.einsum("sgtk,gt,sktv->v", posterior.flat("prevalence"), cells, proba) / len(psi)
    words = np.asarray(X.sum(axis=0)).ravel()
    np.testing.assert_allclose(words / words.sum(), expected, atol=0.025)


def test_samples_in_the_columns_of_fit(data):
    model = DiSCSenseModel(K, min_count=30, **SOLVERS["map"]).fit(data.counts)
    assert 1 < len(model.words_) < V
    X, _ = model.sample(20)
    assert X.shape == (20, V)
    rare = np.setdiff1d(np.arange(V), [int(word[1:]) for word in model.words_])
    assert X[:, rare].sum() == 0 and np.isfinite(model.score(X))


# Parameters -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_senses": 0}, "n_senses must be an integer >= 1, got 0"),
        ({"model": "lda"}, "'scan', 'interaction', 'edisc', got 'lda'"),
        ({"solver": "mcmc"}, "solver='mcmc' is not available for DiSCSenseModel: use solver='hmc'"),
        (
            {"solver": "gibbs", "model": "interaction"},
            "solver='gibbs' is not available for DiSCSenseModel with model='interaction': use",
        ),
        ({"kernel": "slice"}, "kernel must be one of 'auto', 'hmc', 'nuts', .*'approximate', got"),
        (
            {"kernel": "polya-gamma"},
            "kernel='polya-gamma' is not available for DiSCSenseModel with solver='hmc': use "
            "'auto' or 'hmc' or 'nuts' or 'blockwise'",
        ),
        ({"kernel": "nuts", "solver": "gibbs"}, "kernel='nuts' is not .* solver='gibbs': use"),
        ({"kernel": "hmc", "solver": "map"}, "kernel='hmc' is not .* solver='map': use 'auto'"),
        (
            {"kernel": "blockwise", "model": "interaction"},
            "kernel='blockwise' is not available for DiSCSenseModel with model='interaction'",
        ),
        ({"prior": SensePrior(alpha_phi=1.0)}, "prior.alpha_phi must be .* < 1, got 1.0"),
        ({"prior": 0.25}, "prior must be None or a SensePrior, got 0.25"),
        (
            {"solver": "gibbs", "model": "gasc", "prior": SensePrior(first_phi=np.inf)},
            "solver='gibbs' needs a finite prior.first_phi",
        ),
        ({"n_starts": 0}, "n_starts must be 'auto' or an integer >= 1"),
        ({"n_starts": 2**70}, "n_starts must be 'auto' or an integer >= 1 and <= 1048576"),
        ({"n_periods": 0}, "n_periods must be an integer >= 1"),
        ({"bins": [1, 0]}, "bins must be two or more increasing ends"),
        ({"min_count": 0}, "min_count must be an integer >= 1"),
        ({"max_features": 0}, "max_features must be an integer >= 1"),
        ({"lowercase": "yes"}, "lowercase must be True or False"),
        ({"draws": 0}, "draws must be an integer >= 1"),
        ({"warmup": -1}, "warmup must be an integer >= 0"),
        ({"keep_draws": ["a"]}, "keep_draws must be 'auto' or 'all'"),
        ({"target_accept": 1.0}, "target_accept must be a number > 0 and <= 0.999"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": 0.0}, "tol must be a number > 0"),
        ({"verbose": -1}, "verbose must be an integer >= 0"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ({"random_state": -1}, "random_state must be an int"),
    ],
)
def test_bad_parameters(parameters, message, data):
    model = DiSCSenseModel().set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(data.counts, times=data.times)


# Odd data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "model"),
    [("hmc", "disc"), ("gibbs", "gasc"), ("map", "disc"), ("map", "scan"), ("map", "interaction")],
)
def test_a_period_and_a_cell_without_snippets(data, name, model):
    kept = ~((data.times == 2) & (data.genres == 0))
    times = np.where(data.times == 2, 3, data.times)[kept]
    model = DiSCSenseModel(K, model=model, **SOLVERS[name])
    model.fit(data.counts[kept], times=times, genres=data.genres[kept])
    assert model.periods_.labels == [0, 1, 2, 3]
    assert np.isfinite(model.prevalence_).all()
    empty = model.predict_proba(data.counts[:5], times=[2] * 5)
    np.testing.assert_allclose(empty.sum(axis=1), 1)
    assert np.isfinite(model.score(data.counts[:5], times=[2] * 5))


@pytest.mark.filterwarnings("ignore:.* no known word")
def test_snippets_without_words(data, name):
    """Nothing but the prior: the senses of an empty snippet have their prevalences."""
    model = DiSCSenseModel(K, **SOLVERS[name]).fit(np.zeros((4, 3)), times=[0, 0, 1, 2])
    found = model.predict_proba(np.zeros((2, 3)), times=[0, 2])
    np.testing.assert_allclose(found, model.prevalence_[:, 0, [0, 2]].T)
    assert model.score_samples(np.zeros((2, 3))).tolist() == [0, 0]


@pytest.mark.parametrize("times", [None, [0, 0, 0, 0]])
def test_one_sense_one_period_one_genre_one_word(name, times):
    name = name if times else "map"
    model = DiSCSenseModel(1, **SOLVERS[name]).fit([[2], [1], [0], [1]], times=times)
    assert model.prevalence_.tolist() == [[[1.0]]]
    np.testing.assert_allclose(model.score([[3], [1]]), 0, atol=1e-12)
    assert model.sense_words().words.tolist() == [["x0"]]


def test_long_snippets(name):
    """500 words: probabilities multiplied instead of added in logs would be zero."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(5, (8, 100))
    with pytest.warns(UserWarning, match=r"have (4[89]|5[01])\d words on average.*extract_"):
        model = DiSCSenseModel(K, **SOLVERS[name]).fit(counts)
    scores = model.score_samples(counts)
    assert np.all(scores < np.log(np.finfo(float).tiny)) and np.isfinite(scores).all()
    np.testing.assert_allclose(model.predict_proba(counts).sum(axis=1), 1)


def test_documents_are_no_snippets():
    texts = ["bank river water " * 40, "bank loan money " * 40]
    with pytest.warns(UserWarning, match="Samples of X have 120 words on average"):
        DiSCSenseModel(K, **SOLVERS["map"]).fit(texts)


def test_fractions():
    """Scikit-learn's checks pass them; whoever fits weights is warned."""
    X = np.array([[0.5, 1.0], [2.0, 0.0], [0.0, 0.25]])
    with pytest.warns(UserWarning, match="no whole numbers, such as 0.5.*Use raw counts"):
        model = DiSCSenseModel(K, **SOLVERS["map"]).fit(X)
    with pytest.warns(UserWarning, match="no whole numbers"):
        assert np.isfinite(model.score(X))
    assert model.sample(3)[0].shape == (3, 2)


def test_score_weights(fitted, data):
    for bad in (np.zeros(N), np.full(N, -1.0), np.where(np.arange(N), 1, np.nan)):
        with pytest.raises(ValueError, match="sample_weight must hold finite numbers >= 0 with a"):
            fitted.score(data.counts, sample_weight=bad)
    with pytest.raises(ValueError, match="sample_weight must have one entry for each of the 120"):
        fitted.score(data.counts, sample_weight=[1.0])
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        fitted.score(data.counts, sample_weight=["a"] * N)
    np.testing.assert_allclose(
        fitted.score(data.counts, sample_weight=np.arange(N) < 10), fitted.score(data.counts[:10])
    )


# With the rest of scikit-learn ------------------------------------------------------------------


def texts_of(data):
    counts = data.counts.toarray().astype(int)
    return [" ".join(f"w{v:02}" for v in range(V) for _ in range(row[v])) for row in counts]


def test_pipeline_as_features(data):
    """Senses as features; labels of the classifier are those of the senses here."""
    pipeline = make_pipeline(
        CountVectorizer(), DiSCSenseModel(K, **SOLVERS["map"]), LogisticRegression(C=100)
    )
    pipeline.fit(texts_of(data), data.senses, discsensemodel__times=data.times)
    assert pipeline.score(texts_of(data), data.senses) > 0.9


def test_grid_search_without_routing(data):
    """Times are cut with the folds for fit; score gets none and averages over periods."""
    model = DiSCSenseModel(**SOLVERS["map"])
    search = GridSearchCV(
        model, {"n_senses": [1, 2]}, cv=KFold(2, shuffle=True, random_state=0), error_score="raise"
    )
    search.fit(data.counts, **where(data))
    assert search.best_params_ == {"n_senses": 2}
    train, test = next(search.cv.split(data.counts))
    by_hand = clone(model).fit(data.counts[train], **where(data, train))
    expected = by_hand.score(data.counts[test])
    assert search.cv_results_["split0_test_score"][1] == expected


def test_grid_search_with_routing(data):
    """Times and genres arrive in score too, without any request."""
    with config_context(enable_metadata_routing=True):
        model = DiSCSenseModel(K, **SOLVERS["map"])
        cv = KFold(2, shuffle=True, random_state=0)
        priors = [SensePrior(kappa_chi=1.0), SensePrior(kappa_chi=3.0)]
        search = GridSearchCV(model, {"prior": priors}, cv=cv, error_score="raise")
        search.fit(data.counts, **where(data))
        train, test = next(cv.split(data.counts))
        by_hand = clone(model).set_params(prior=priors[0])
        by_hand.fit(data.counts[train], **where(data, train))
        expected = by_hand.score(data.counts[test], **where(data, test))
        assert search.cv_results_["split0_test_score"][0] == expected
        assert expected != by_hand.score(data.counts[test])


@needs_sklearn("1.8", "does not ask the last step whether it wants weights")
def test_pipeline_with_routing(data):
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(CountVectorizer(), DiSCSenseModel(K, **SOLVERS["map"]))
        texts = texts_of(data)
        pipeline.fit(texts, **where(data))
        direct = pipeline[-1]
        counts = pipeline[0].transform(texts)
        assert pipeline.score(texts, **where(data)) == direct.score(counts, **where(data))
        for method in ("predict", "predict_proba", "transform"):
            np.testing.assert_array_equal(
                getattr(pipeline, method)(texts, **where(data)),
                getattr(direct, method)(counts, **where(data)),
            )
        assert pipeline.score(texts) == direct.score(counts)
        model = DiSCSenseModel(K, **SOLVERS["map"]).set_score_request(sample_weight=True)
        cv = KFold(2, shuffle=True, random_state=0)
        search = GridSearchCV(make_pipeline(model), {"discsensemodel__n_senses": [2]}, cv=cv)
        search.fit(data.counts, sample_weight=np.ones(N), **where(data))
        assert np.isfinite(search.best_score_)
