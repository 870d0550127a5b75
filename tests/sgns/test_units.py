"""`BayesianSGNS` with units of sampling: what users pass, and what they read."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from skbayesembed import BayesianSGNS, GraphPrior, InformativePrior, PairCounts, load
from skbayesembed.datasets.named import NamedArray
from skbayesembed.sgns.counting import document_pairs, expected_negatives
from skbayesembed.sgns.documents import answers

pd = pytest.importorskip("pandas")

V, D = 18, 30
WORDS = np.array([f"w{i:02d}" for i in range(V)])
_RNG = np.random.default_rng(11)
_TOPICS = _RNG.dirichlet(np.full(V, 0.4), 4)
TEXTS = [
    " ".join(_RNG.choice(WORDS, 60, p=_RNG.dirichlet(np.full(4, 0.3)) @ _TOPICS)) for _ in range(D)
]
SPEAKERS = [f"speaker {i % 6}" for i in range(D)]
SOLVERS = {
    "gibbs": {"draws": 30, "warmup": 30, "chains": 2},
    "anchors=None": {"draws": 60, "warmup": 60, "chains": 2, "anchors": None},
    "hmc": {"solver": "hmc", "draws": 40, "warmup": 60, "chains": 1},
    "vi": {"solver": "vi", "draws": 60},
    "laplace": {"solver": "laplace", "draws": 60},
    "map": {"solver": "map"},
    "learned": {"draws": 60, "warmup": 60, "chains": 2, "prior_precision": "learned"},
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:The chains have not mixed"),
    pytest.mark.usefixtures("first_mode"),
]


def make(**parameters):
    defaults = {"solver": "gibbs", "min_count": 1, "random_state": 0, "prior_precision": 1.0}
    return BayesianSGNS(3, **{**defaults, **parameters})


def fast(**parameters):
    return make(solver="map", **parameters)


@pytest.fixture(scope="module")
def mode():
    return fast().fit(TEXTS)


@pytest.fixture(scope="module")
def by_speakers():
    return fast().fit(TEXTS, units=SPEAKERS)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(s, marks=pytest.mark.slow if s in ("hmc", "anchors=None", "learned") else ())
        for s in SOLVERS
    ],
)
def fitted(request):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The chains have not mixed")
        return make(**SOLVERS[request.param]).fit(TEXTS)


# -- readings ------------------------------------------------------------------------------------


def test_every_solver_reads_by_units(fitted):
    assert fitted.posterior_.attrs["uncertainty"] == "documents"
    found = fitted.similarity("w00", "w01")
    assert -1 < found.interval[0] < found.mean < found.interval[1] < 1
    np.testing.assert_allclose(found.sd, np.hypot(found.sd_sampling, found.sd_prior), rtol=1e-6)
    assert found.n_units == fitted.n_units_[[fitted.vocabulary_[w] for w in ("w00", "w01")]].min()
    # 1,000 draws: the share below the median within 4 standard errors of a half
    assert abs(np.mean(found.draws < found.mean) - 0.5) < 0.1
    pairs = [("w00", "w01"), ("w02", "w02")]
    proba = fitted.cooccurrence_proba(pairs)
    assert proba.interval.shape == (2, 2) and proba.draws.shape == (1000, 2)
    assert np.all((proba.interval > 0) & (proba.interval < 1))
    table = fitted.most_similar("w00", 4)
    assert np.all(np.diff(table.mean) <= 0)
    first = fitted.similarity("w00", table.words[0])
    np.testing.assert_allclose(table.interval[0], first.interval, atol=1e-9)
    assert "units" in str(table) and len(table.to_frame()["n_units"]) == 4
    assert 0 < table.prob_top.sum() <= 4 + 1e-9


def test_the_centre_is_the_solvers(fitted):
    """Means of similarities and probabilities are those over the draws of the posterior."""
    by_units = fitted.similarity("w00", "w01"), fitted.cooccurrence_proba([("w00", "w01")])
    model = copy.copy(fitted).set_params(uncertainty="model")
    by_model = model.similarity("w00", "w01"), model.cooccurrence_proba([("w00", "w01")])
    for one, other in zip(by_units, by_model, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)


@pytest.mark.slow
def test_sampling_parts_do_not_depend_on_the_solver():
    """They are taken at the mode, which every solver's search starts near."""
    models = [make(**SOLVERS[name]).fit(TEXTS) for name in ("map", "laplace", "vi")]
    models += [make(**SOLVERS["anchors=None"]).fit(TEXTS)]
    found = [m.cooccurrence_proba([("w00", "w05")]) for m in models]
    slopes = [float(f.sd_sampling[0] / (f.mean[0] * (1 - f.mean[0]))) for f in found]
    # the slope of the logistic function is taken at each solver's own mean
    np.testing.assert_allclose(slopes, slopes[0], rtol=0.01)


def test_differences_are_joint(mode):
    """Draws of two similarities with one word in common are correlated as their words are."""
    a, b = mode.similarity("w00", "w01").draws, mode.similarity("w00", "w01").draws
    np.testing.assert_array_equal(a, b)
    d = mode._sampling.deviations
    from_pairs = mode.cooccurrence_proba([("w00", "w01"), ("w00", "w02")]).draws
    apart = [mode.cooccurrence_proba([p]).draws[:, 0] for p in (("w00", "w01"), ("w00", "w02"))]
    np.testing.assert_allclose(from_pairs, np.transpose(apart), rtol=1e-9)
    assert d.n_sampling == D


def test_difference(fitted):
    found = fitted.similarity_difference(("w00", "w01"), ("w00", "w02"))
    a, b = fitted.similarity("w00", "w01"), fitted.similarity("w00", "w02")
    assert found.mean == pytest.approx(a.mean - b.mean)
    assert found.interval[0] < found.mean < found.interval[1]
    # 1,000 joint draws of the two cosines: their difference has this standard deviation
    d = fitted._sampling.deviations
    i, j, k = (np.array([fitted.vocabulary_[w]]) for w in ("w00", "w01", "w02"))
    parts = [answers.cosine_change(d, i, place).shared for place in (j, k)]
    parts = [p / np.linalg.norm(p) * one.sd for p, one in zip(parts, (a, b), strict=True)]
    assert found.sd == pytest.approx(np.linalg.norm(parts[0] - parts[1]), rel=2e-3)
    assert abs(found.prob_positive - np.mean(found.draws > 0)) < 1e-12
    nothing = fitted.contrast(a, fitted.similarity("w01", "w00"))
    assert nothing.mean == 0.0 and nothing.sd == 0.0 and nothing.verdict == "the same"
    # cosines differ by two at most, however unlikely what is left out
    wide = fitted.similarity_difference(("w00", "w01"), ("w00", "w02"), prob=1.0 - 1e-15)
    assert wide.interval.tolist() == [-2.0, 2.0] and wide.sd == found.sd
    model = copy.copy(fitted).set_params(uncertainty="model")
    assert "sd_sampling" not in model.similarity_difference(("w00", "w01"), ("w00", "w02"))


@pytest.mark.parametrize("pair", ["ab", ("w00",), 3, ("w00", "w01", "w02")], ids=str)
def test_what_is_no_pair(mode, pair):
    with pytest.raises(ValueError, match="second must be a pair of words"):
        mode.similarity_difference(("w00", "w01"), pair)


def test_features(mode):
    model = copy.copy(mode).set_params(features="mean_std")
    features = model.transform(TEXTS[:3])
    assert features.shape == (3, 6)
    assert np.all(features[:, 3:] > 0)
    # a document of one word has that word's vector and its standard deviations
    word = model.vocabulary_["w04"]
    one = model.transform(["w04 w04"])[0]
    np.testing.assert_allclose(one[:3], model.rho_[word])
    expected = np.sqrt(np.sum(model._sampling.deviations.of(0, [word])[:, 0] ** 2, axis=0))
    np.testing.assert_allclose(one[3:], expected)


def test_vectors_are_read_balanced(fitted):
    rho, alpha = fitted.rho_, fitted.alpha_
    np.testing.assert_allclose(rho.T @ rho, alpha.T @ alpha, rtol=1e-6, atol=1e-8)
    means = [fitted.posterior_.mean(name) for name in ("rho", "alpha")]
    np.testing.assert_allclose(rho @ alpha.T, means[0] @ means[1].T, atol=1e-8)


def test_informative_prior_keeps_its_own_vectors():
    prior = InformativePrior({"w00": {0: 1.0}, "w01": {0: -1.0}})
    model = fast(prior=prior).fit(TEXTS)
    np.testing.assert_array_equal(model.rho_, model.posterior_.mean("rho"))
    assert model.similarity("w00", "w01").sd_sampling > 0


@pytest.mark.filterwarnings("ignore:.* vary more than 2 times")
def test_raw_vectors():
    model = make(draws=30, warmup=20, chains=2, balance=False, uncertainty="model").fit(TEXTS)
    np.testing.assert_array_equal(model.rho_, model.posterior_.mean("rho"))
    rho = model.posterior_.flat("rho")[:, :2]
    unit = rho / np.linalg.norm(rho, axis=2, keepdims=True)
    expected = np.sum(unit[:, 0] * unit[:, 1], axis=1)
    np.testing.assert_allclose(model.similarity(0, 1).draws, expected)


@pytest.mark.filterwarnings("ignore:.* vary more than 2 times")
def test_the_posterior_is_the_solvers():
    """Neither units nor the way of reading changes a draw."""
    options = {"draws": 20, "warmup": 10, "chains": 1}
    a = make(**options).fit(TEXTS)
    b = make(**options, uncertainty="model", balance=False).fit(TEXTS, units=SPEAKERS)
    np.testing.assert_array_equal(a.posterior_["rho"], b.posterior_["rho"])
    assert a.score(TEXTS) == b.score(TEXTS)


def test_model_warns_of_dispersion():
    repeated = [text + " " + text for text in TEXTS]
    with pytest.warns(
        UserWarning, match=r"of 18 words, which vary more than 2 times .* uncertainty='doc"
    ):
        model = fast(uncertainty="model", window=20, window_weights="uniform").fit(repeated)
    assert model.posterior_.attrs["uncertainty"] == "model"
    assert np.nanmax(model.dispersion_) > 2


def test_pickle_before_and_after_the_first_reading(by_speakers):
    model = by_speakers
    early = pickle.loads(pickle.dumps(fast().fit(TEXTS, units=SPEAKERS)))
    expected = model.similarity("w00", "w01")
    late = pickle.loads(pickle.dumps(model))
    for one in (early, late):
        found = one.similarity("w00", "w01")
        np.testing.assert_array_equal(found.draws, expected.draws)
        np.testing.assert_array_equal(one.n_units_, model.n_units_)
        np.testing.assert_array_equal(one.dispersion_, model.dispersion_)


def test_parameters_changed_after_the_fit_do_not_matter(mode):
    model = fast().fit(TEXTS)
    expected = mode.similarity("w00", "w01")
    model.set_params(window=1, window_weights="uniform", negative=5, prior_precision=9.0)
    np.testing.assert_array_equal(model.similarity("w00", "w01").draws, expected.draws)


def test_a_word_is_like_itself(mode):
    found = mode.similarity("w00", "w00")
    assert found.mean == pytest.approx(1.0)
    np.testing.assert_allclose(found.interval, 1.0, atol=1e-3)


@pytest.mark.parametrize("precision", [12.0, 20.0])
def test_features_where_the_mode_lacks_components(precision):
    """Standard deviations are of the size of the prior's, 1 / sqrt(precision), or a few times."""
    model = BayesianSGNS(
        10,
        solver="map",
        min_count=1,
        prior_precision=precision,
        features="mean_std",
        random_state=0,
    ).fit(TEXTS)
    assert 2 <= model._sampling.rank < 10
    assert np.all(model.transform(TEXTS)[:, 10:] < 4 / np.sqrt(precision))


def test_no_room_for_the_dispersion(monkeypatch):
    """With the model's intervals a fit goes without it."""
    monkeypatch.setattr("skbayesembed.sgns.documents.footprint.bytes_needed", lambda *_: 1e18)
    model = fast(uncertainty="model").fit(TEXTS)
    assert model.similarity("w00", "w01").mean <= 1


def test_what_single_precision_does_not_resolve(monkeypatch):
    model = fast().fit(TEXTS)

    def fail(*args, **kwargs):
        raise np.linalg.LinAlgError("No solution.")

    monkeypatch.setattr("skbayesembed.sgns.documents.sampling.solve_in_place", fail)
    with pytest.warns(UserWarning, match="Intervals are the model's: No solution."):
        found = model.similarity("w00", "w01")
    assert "sd_sampling" not in found
    assert model.posterior_.attrs["uncertainty"] == "model"
    assert model.posterior_.attrs["without_units"] == "No solution."


def test_a_refused_batch_leaves_the_fit_as_it_is():
    model = make(solver="vi", draws=20).fit(TEXTS)
    expected = model.similarity("w00", "w01").sd_sampling
    with pytest.raises(ValueError), pytest.warns(UserWarning, match="does not go on from fit"):
        model.partial_fit([])
    assert model.similarity("w00", "w01").sd_sampling == expected


def test_memory_is_checked_before_the_work(monkeypatch):
    model = fast().fit(TEXTS)
    monkeypatch.setattr("skbayesembed.common.memory.physical_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"by units, of 18 words by 30 units .*'model'"):
        model.similarity("w00", "w01")


def test_progress(capsys):
    fast(verbose=1).fit(TEXTS).similarity("w00", "w01")
    assert "intervals by units, 2 of 3: 100 % of 291 deviations" in capsys.readouterr().out


def test_numbers_do_not_depend_on_n_jobs(mode):
    a, b = (m.similarity("w00", "w01") for m in (mode, fast(n_jobs=2).fit(TEXTS)))
    np.testing.assert_allclose(a.draws, b.draws, rtol=1e-6)


# -- units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "units",
    [np.array(SPEAKERS), pd.Series(SPEAKERS), [int(s[-1]) for s in SPEAKERS]],
    ids=["array", "series", "numbers"],
)
def test_units(by_speakers, units):
    """Whatever holds the labels; those of `by_speakers` are in a list."""
    assert by_speakers._sampling.deviations.n_sampling == 6
    assert by_speakers.n_units_.max() <= 6
    model = fast().fit(TEXTS, units=units)
    np.testing.assert_array_equal(model.n_units_, by_speakers.n_units_)


def test_units_of_counts():
    counts = np.array([[text.split().count(w) for w in WORDS] for text in TEXTS])
    model = fast(feature_names=list(WORDS)).fit(counts, units=SPEAKERS)
    assert model._sampling.deviations.n_sampling == 6
    # a document of the same words in another order is the same to a count matrix
    assert model.similarity("w00", "w01").sd_sampling > 0


def test_pair_counts():
    counts = np.array([[text.split().count(w) for w in WORDS] for text in TEXTS], dtype=float)
    pairs = []
    for row in counts:
        positive = document_pairs(row[None])
        negative = expected_negatives(positive, negative=1, ns_exponent=0.75)
        pairs.append(PairCounts(positive, negative, WORDS))
    model = fast().fit(pairs)
    assert model.posterior_.attrs["uncertainty"] == "documents"
    single = fast().fit(pairs[0])
    assert single.posterior_.attrs["uncertainty"] == "model"
    assert "single PairCounts" in single.posterior_.attrs["without_units"]
    with pytest.raises(AttributeError, match=r"dispersion_ needs documents.* a single PairCounts"):
        _ = single.dispersion_
    for options in ({"units": ["a"]}, {"sample_weight": [1.0]}):
        with pytest.raises(ValueError, match="must be None for a single PairCounts"):
            fast().fit(pairs[0], **options)
    with pytest.raises(ValueError, match="one label for each of the 30 PairCounts"):
        fast().fit(pairs, units=["a", "b"])
    with pytest.raises(TypeError, match="fit_transform takes documents"):
        fast().fit_transform(pairs)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"solver": "vi", "draws": 20, "learning_method": "online"}, "learning_method='online'"),
        ({"solver": "vi", "draws": 20, "biases": True}, "biases=True"),
        ({"solver": "vi", "draws": 20, "prior": "ard"}, "prior='ard'"),
        ({"solver": "map", "negative_sampling": "sampled"}, "negative_sampling='sampled'"),
    ],
    ids=lambda x: x if isinstance(x, str) else None,
)
def test_where_intervals_are_the_models(parameters, reason):
    model = make(**parameters).fit(TEXTS)
    assert model.posterior_.attrs["uncertainty"] == "model"
    assert model.posterior_.attrs["without_units"] == reason
    assert "sd_sampling" not in model.similarity("w00", "w01")


def test_partial_fit_has_the_models_intervals():
    speakers = NamedArray.of(np.asarray(SPEAKERS), "speaker")
    model = make(solver="vi", draws=20).fit(TEXTS, units=speakers)
    assert model.units_name_ == "speaker"
    with pytest.warns(UserWarning, match="partial_fit does not go on from fit"):
        model.partial_fit(TEXTS)
    assert model.posterior_.attrs["without_units"] == "partial_fit"
    assert "sd_sampling" not in model.similarity("w00", "w01") and model.units_name_ is None


def test_mode_of_too_low_a_rank():
    """Where the prior leaves one component, cosines do not move with documents: the model's."""
    with pytest.warns(UserWarning, match="have rank"):
        model = make(prior_precision=150.0, anchors="pivot", **SOLVERS["gibbs"]).fit(TEXTS)
    assert model._sampling.rank < 2
    with pytest.warns(UserWarning, match=r"Intervals are the model's: the mode has rank [01] of"):
        found = model.similarity("w00", "w01")
    assert "sd_sampling" not in found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": SPEAKERS[:-1]}, "units must have one label for each of the 30 documents"),
        ({"units": ["a"] * D}, "units must be two or more, .*units; or use uncertainty='model'"),
        ({"sample_weight": [1.0]}, "sample_weight must have one number for each of the 30"),
        ({"sample_weight": [-1.0] * D}, "sample_weight must be finite and >= 0"),
    ],
    ids=str,
)
def test_wrong_units(options, message):
    with pytest.raises(ValueError, match=message):
        fast().fit(TEXTS, **options)


def test_online_takes_no_units():
    model = make(solver="vi", learning_method="online")
    with pytest.raises(ValueError, match="units is available with learning_method='batch' only"):
        model.fit(TEXTS, units=SPEAKERS)


@pytest.mark.parametrize("matrix", [False, True], ids=["text", "counts"])
def test_weights_online_are_repetitions(matrix):
    """One batch of all documents, so that both learn from the same counts."""
    X = TEXTS
    if matrix:
        X = np.array([[text.split().count(w) for w in WORDS] for text in TEXTS], dtype=float)
    options = {"solver": "vi", "learning_method": "online", "draws": 5, "batch_size": 200}
    twice = make(**options).fit(np.repeat(X, 2, axis=0) if matrix else [t for t in X for _ in "ab"])
    weighted = make(**options).fit(X, sample_weight=np.full(D, 2.0))
    logits = [m.rho_ @ m.alpha_.T for m in (twice, weighted)]
    if not matrix:
        order = [twice.vocabulary_[w] for w in weighted.words_]
        logits[0] = logits[0][np.ix_(order, order)]
    np.testing.assert_allclose(logits[0], logits[1], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"), [("uncertainty", "bootstrap"), ("pair_weights", "all"), ("balance", 1)]
)
def test_wrong_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        fast(**{name: value}).fit(TEXTS)


# -- scikit-learn --------------------------------------------------------------------------------


class Spy(BayesianSGNS):
    """Notes the units that reach ``fit``."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None, *, units=None, sample_weight=None):
        Spy.seen.append(None if units is None else list(units))
        return super().fit(X, y, units=units, sample_weight=sample_weight)


class Same(TransformerMixin, BaseEstimator):
    """Does nothing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize("routing", [False, True])
def test_units_arrive_in_a_search(routing):
    Spy.seen = []
    estimator = Spy(2, solver="map", min_count=1, random_state=0)
    search = GridSearchCV(estimator, {"prior_precision": [2.0]}, cv=GroupKFold(2), refit=True)
    with config_context(enable_metadata_routing=routing):
        search.fit(TEXTS, groups=SPEAKERS, units=SPEAKERS)
    assert len(Spy.seen) == 3
    assert Spy.seen[-1] == SPEAKERS
    for part in Spy.seen[:-1]:
        assert part is not None and 0 < len(part) < D
        # whole speakers are in one fold
        assert len(part) == 5 * len(set(part))
    assert search.best_estimator_._sampling.deviations.n_sampling == 6


@pytest.mark.parametrize("routing", [False, True])
def test_units_arrive_in_a_pipeline(routing):
    Spy.seen = []
    pipeline = Pipeline([("same", Same()), ("sgns", Spy(2, solver="map", min_count=1))])
    with config_context(enable_metadata_routing=routing):
        if routing:
            pipeline.fit(TEXTS, units=SPEAKERS)
        else:
            pipeline.fit(TEXTS, sgns__units=SPEAKERS)
    assert Spy.seen == [SPEAKERS]


def test_groups_are_the_splitters():
    """Given as ``groups``, speakers never reach the estimator: documents are its units."""
    Spy.seen = []
    GridSearchCV(Spy(2, solver="map", min_count=1, prior_precision=1.0), {}, cv=GroupKFold(2)).fit(
        TEXTS, groups=SPEAKERS
    )
    assert Spy.seen == [None] * 3


def test_clone_keeps_the_parameters():
    model = clone(fast(uncertainty="model", pair_weights="pairs", balance=False))
    assert (model.uncertainty, model.pair_weights, model.balance) == ("model", "pairs", False)


# -- count matrices ------------------------------------------------------------------------------


def test_a_token_counts_once():
    """Of a matrix, row sums of pairs are the tokens in documents of two and more."""
    counts = np.random.default_rng(0).poisson(0.8, (20, 6)).astype(float)
    counts[3] = [0, 1, 0, 0, 0, 0]
    pairs = document_pairs(counts, pair_weights="token")
    counted = counts[counts.sum(axis=1) > 1].sum(axis=0)
    np.testing.assert_allclose(pairs.sum(axis=1), counted)


def test_fractions_of_tokens():
    """Rows that add up to one, as of shares: finite, and the same just above and below it."""
    shares = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    one, more, less = (
        document_pairs(shares * f, pair_weights="token") for f in (1, 1 + 1e-9, 1 - 1e-9)
    )
    np.testing.assert_allclose(one.toarray(), more.toarray(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.toarray(), less.toarray(), rtol=1e-6, atol=1e-9)
    assert one.sum() > 0


def test_pairs_count_as_before():
    counts = np.array([[text.split().count(w) for w in WORDS] for text in TEXTS])
    positive = document_pairs(counts)
    expected = PairCounts(positive, expected_negatives(positive, negative=1, ns_exponent=0.75))
    options = {"draws": 10, "warmup": 10, "chains": 1, "balance": False}
    a = make(pair_weights="pairs", **options).fit(counts)
    b = make(**options).fit(expected)
    np.testing.assert_array_equal(a.posterior_["rho"], b.posterior_["rho"])


@pytest.mark.parametrize(
    "solver",
    [
        "map",
        pytest.param("vi", marks=pytest.mark.slow),
        pytest.param("laplace", marks=pytest.mark.slow),
        "gibbs",
    ],
)
def test_words_without_pairs_have_no_intervals_by_units(solver):
    """Their mode is zero, where first order is void: no certainty about what no text tells."""
    texts = [*TEXTS, *["lone"] * 6]
    model = make(**SOLVERS[solver]).fit(texts)
    assert model.n_units_[model.vocabulary_["lone"]] == 0
    first, second, *more = [str(word) for word in model.words_ if word != "lone"][:6]
    asks = [
        lambda: model.similarity("lone", first),
        lambda: model.similarity([second, "lone"], first),
        lambda: model.similarity_difference(("lone", first), (second, first)),
        lambda: model.nearer(first, [second, "lone"]),
        lambda: model.nearer("lone", [first, second]),
        lambda: model.most_similar("lone", 3),
        lambda: model.cooccurrence_proba([("lone", "lone")]),
        lambda: model.weat([first, "lone"], more[:2], more[2:3], more[3:]),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match="'lone' has no pairs with other words in the text"):
            ask()
    table = model.most_similar(first, 200)
    assert "lone" not in table.words
    assert "(1 word has no pairs with others and is not ranked)" in repr(table)
    model.set_params(uncertainty="model")
    model.similarity("lone", first)


def test_kept_draws_are_told_of_by_units_too(tmp_path):
    """Centres are those of the draws that a file has."""
    model = make(draws=120, warmup=20, chains=1).fit(TEXTS)
    model.save(tmp_path / "few.npz", draws=100)
    few, (a, b) = load(tmp_path / "few.npz"), [str(word) for word in model.words_[:2]]
    line = "(from the draws that were kept"
    for ask in (lambda m: m.similarity(a, b), lambda m: m.most_similar(a, 2)):
        assert line in repr(ask(few)) and line not in repr(ask(model))


def test_a_graph_tells_of_words_without_pairs():
    """Its mode is that of its neighbors, about which intervals by units are those of the prior."""
    first, second = WORDS[:2]
    prior = GraphPrior([("lone", first)])
    model = fast(prior=prior).fit([*TEXTS, *["lone"] * 6])
    found, other = model.similarity("lone", first), model.similarity("lone", second)
    assert found.mean > 0.9 and found.sd > 0 and other.sd > 0


def test_answers_of_one_component_say_what_they_do_not_know():
    texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 8
    model = BayesianSGNS(1, solver="map", min_count=1, prior_precision=0.1, random_state=0)
    model.fit(texts)
    assert "with n_components=1 vectors have a sign" in repr(model.similarity("cat", "dog"))
    assert "n_components=1" not in repr(model.cooccurrence_proba([("cat", "dog")]))
    model = model.set_params(n_components=2).fit(texts)
    assert "n_components=1" not in repr(model.similarity("cat", "dog"))
