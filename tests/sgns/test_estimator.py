"""The estimator's parameters: errors before any work, memory, interruption, what is kept."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.common import memory
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns import anchors, inputs, recording
from skbayesembed.sgns import solvers as fitting
from skbayesembed.sgns.counting import document_pairs, expected_negatives
from skbayesembed.sgns.gibbs import solver as gibbs
from skbayesembed.sgns.gibbs.conditionals import SGNSConditionals

TEXTS = ["the cat sat on the mat with rice", "the dog sat on the rug with bread"] * 10
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.0, (12, 6)).astype(float)
SHORT = "ignore:The chains have not mixed"
pytestmark = pytest.mark.usefixtures("first_mode")


def make(**parameters):
    defaults = {"min_count": 1, "draws": 10, "warmup": 10, "chains": 2, "random_state": 0}
    return BayesianSGNS(**{"n_components": 2, "prior_precision": 0.2, **defaults, **parameters})


def forbidden(what):
    def work(*args, **kwargs):
        raise AssertionError(f"{what} began before the error was raised")

    return work


@pytest.fixture
def no_counting(monkeypatch):
    """Fail where an error comes after the corpus has been looked at."""
    for name in ("build_corpus", "document_pairs", "window_pairs"):
        monkeypatch.setattr(inputs, name, forbidden(name))
    monkeypatch.setattr(fitting, "pair_table", forbidden("the pair table"))


@pytest.fixture
def no_sampling(monkeypatch):
    """Fail where an error comes after the search for the mode has begun."""
    monkeypatch.setattr(anchors, "find_best_mode", forbidden("the search for the mode"))
    monkeypatch.setattr(gibbs, "sample_gibbs", forbidden("sampling"))


WRONG = {
    "n_components": [0, -1, 2.5, True, "2", None],
    "kernel": ["gibbs", None, 1],
    "prior": ["gaussian", None, 3],
    "hyperprior": ["vague", 1.0, (1.0,), (0.0, 1.0), (1.0, np.inf)],
    "covariance": ["spherical", None],
    "learning_method": ["minibatch", None],
    "biases": [1, "yes", None],
    "batch_size": [0, 1.5, None],
    "n_passes": [0, 1.5, None],
    "target_accept": [0, 1, 1.5, "high"],
    "prior_precision": [0, -1.0, np.nan, np.inf, "1", "ard", True, None],
    "features": ["std", None],
    "window": [0, 2.5, "5", True],
    "window_weights": ["word2vec", None],
    "negative": [0, -1, np.nan, "1"],
    "negative_sampling": ["none", None],
    "ns_exponent": [-0.5, np.inf, "0.75", 1e30],
    "subsample": [0, -1e-3, "1e-3"],
    "min_count": [0, 1.5, None, True],
    "max_features": [0, 10.0, "10"],
    "lowercase": [1, "yes", None],
    "draws": [0, -5, 10.0, None, True],
    "warmup": [-1, 1.5, None],
    "chains": [0, 1.0, None],
    "thin": [0, 1.5],
    "keep_draws": ["some", None, 5, [], [1, 2], {"a": 1}],
    "anchors": ["first", 5, ["the", None], [True, False], np.array([["the", "cat"]]), 1.5],
    "max_iter": [0, 1.5],
    "tol": [0, -1e-3, "small"],
    "feature_names": ["abcdef", 6],
    "n_jobs": [0, 1.5, "two", True],
    "verbose": [-1, 0.5, "loud", None],
}


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda x: str(x)[:20],
)
def test_wrong_parameter(name, value):
    """A ValueError that names the parameter and what was got."""
    with pytest.raises(ValueError, match=rf"^{name} must ") as caught:
        make(**{name: value}).fit(TEXTS)
    assert repr(value) in str(caught.value)


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize("anchors", [["the"], ["the", "cat", "dog"], []])
def test_wrong_number_of_anchors(anchors):
    with pytest.raises(ValueError, match=f"n_components=2 words, got {len(anchors)}"):
        make(anchors=anchors).fit(TEXTS)


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize("value", [np.random.default_rng(0), "seed", 1.5, -1])
def test_wrong_random_state(value):
    with pytest.raises(ValueError, match="random_state|Seed must be"):
        make(random_state=value).fit(TEXTS)


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("parameter", ["anchors", "keep_draws"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["the", "unicorn"], r"words outside the vocabulary of 10: \['unicorn'\]"),
        (["the", "the"], "must name different words"),
    ],
)
def test_wrong_words(parameter, words, message):
    with pytest.raises(ValueError, match=f"{parameter} (has )?{message}"):
        make(**{parameter: words}).fit(TEXTS)


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("anchors", [[0, 99], [-1, 0], ["the", 0]])
def test_wrong_indices_as_anchors(anchors):
    """ "the" is word 0: the same anchor twice, once by name."""
    with pytest.raises(ValueError, match="anchors (has words outside|must name different)"):
        make(anchors=anchors).fit(TEXTS)


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"analyzer": "wrod"}, "analyzer must be a callable or one of 'word'"),
        ({"stop_words": "french"}, "stop_words must be 'english'"),
        ({"token_pattern": None}, "token_pattern must be a str"),
        ({"token_pattern": "("}, "do not make an analyzer"),
    ],
)
def test_wrong_analyzer(parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(TEXTS)


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("one document", TypeError, r"X is a single str: one document must be wrapped in a list"),
        (b"bytes", TypeError, "decode it to str first"),
        (None, TypeError, "got NoneType"),
        (5, TypeError, "got int"),
        ({"a": "b"}, TypeError, "got a dict"),
        ([], ValueError, "X has no documents"),
        pytest.param(iter(()), ValueError, "X has no documents", id="an empty iterator"),
        (["text", None], ValueError, r"X\[1\] is missing"),
        (["text", ["a", "token"]], ValueError, "X mixes kinds"),
        ([["a", "b"], [1, 2]], ValueError, "X mixes kinds"),
        ([[1, 2], [1]], ValueError, "different lengths"),
        ([1, 2, 3], ValueError, "Reshape your data"),
        (np.arange(4.0), ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "3 dimension"),
    ],
    ids=str,
)
def test_wrong_documents(X, error, message):
    with pytest.raises(error, match=message):
        make().fit(X)


def with_entry(value):
    X = COUNTS.copy()
    X[3, 2] = value
    return X


@pytest.mark.usefixtures("no_counting", "no_sampling")
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity"),
        (-1.0, r"Negative values in data .* counts >= 0, got -1"),
    ],
)
def test_wrong_counts(container, value, message):
    with pytest.raises(ValueError, match=message):
        make().fit(container(with_entry(value)))
    model = make()
    model.__dict__.update(_fitted={"posterior_": None}, _columns=np.arange(6), n_features_in_=6)
    with pytest.raises(ValueError, match=message):
        model.transform(container(with_entry(value)))


@pytest.mark.filterwarnings(SHORT, "ignore:The sampler hardly moved")
def test_one_document_of_counts():
    """A matrix of one row is one document, whose words are all contexts of each other."""
    row = np.array([[3.0, 1.0, 2.0, 4.0]])
    model = make(pair_weights="pairs").fit(row)
    positive = document_pairs(row)
    pairs = PairCounts(positive, expected_negatives(positive, negative=1, ns_exponent=0.75))
    np.testing.assert_array_equal(model.rho_, make().fit(pairs).rho_)
    assert model.transform(row).shape == (1, 2)
    assert model.score(row) < 0


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("X", [TEXTS, [t.split() for t in TEXTS], COUNTS], ids=["t", "k", "c"])
def test_empty_vocabulary(X):
    with pytest.raises(ValueError, match="vocabulary.*min_count=1000"):
        make(min_count=1000).fit(X)


@pytest.mark.usefixtures("no_sampling")
def test_documents_without_tokens():
    with pytest.raises(ValueError, match="empty"):
        make().fit(["...", "!"])
    with pytest.raises(ValueError, match="empty"):
        make().fit([[], []])


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize(
    "X",
    [TEXTS, [t.split() for t in TEXTS], COUNTS, make_sgns(8, 2, 100, random_state=0).pairs],
    ids=["text", "tokens", "counts", "pairs"],
)
def test_more_components_than_words(X):
    with pytest.raises(ValueError, match=r"n_components=11 is larger than the vocabulary of"):
        make(n_components=11).fit(X)


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("X", [["word"] * 5, [["a"], ["b"], ["c"]], np.eye(4)], ids=str)
def test_documents_of_one_word(X):
    with pytest.raises(ValueError, match="X has no pair of words"):
        make(n_components=1).fit(X)


@pytest.mark.filterwarnings(SHORT)
@pytest.mark.filterwarnings("ignore:The MAP context vectors")
def test_all_documents_of_the_same_word():
    """One word that meets itself is a posterior all the same."""
    model = make(n_components=1, uncertainty="model").fit(["word word word"] * 10)
    assert model.rho_.shape == (1, 1)
    assert model.similarity("word", "word").mean == pytest.approx(1.0)
    assert len(model.most_similar("word")) == 0
    with pytest.raises(ValueError, match="n_components=2 is larger than the vocabulary of 1"):
        make().fit(["word word word"] * 10)


@pytest.mark.usefixtures("no_counting", "no_sampling")
def test_feature_names():
    with pytest.raises(ValueError, match="feature_names must name the 6 columns .* got 5 names"):
        make(feature_names=list("abcde")).fit(COUNTS)
    with pytest.raises(ValueError, match="6 names, 5 different"):
        make(feature_names=list("abcdea")).fit(COUNTS)


def test_sample_weight():
    model = make(solver="map").fit(TEXTS)
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        model.score(TEXTS, sample_weight=np.ones(len(TEXTS)))
    assert model.score(TEXTS, sample_weight=None) < 0


# -- pair counts ---------------------------------------------------------------------------------


def test_pair_counts_have_no_documents():
    pairs = make_sgns(10, 2, 2_000, random_state=0).pairs
    model = make(solver="map").fit(pairs)
    with pytest.raises(TypeError, match="transform takes documents or a count matrix"):
        model.transform(pairs)
    with pytest.raises(TypeError, match="fit_transform takes documents or a count matrix"):
        make().fit_transform(pairs)


@pytest.mark.parametrize(
    "split",
    [
        lambda m, p: GridSearchCV(m, {"n_components": [1, 2]}, cv=2).fit(p),
        lambda m, p: cross_val_score(m, p, cv=2),
        lambda m, p: train_test_split(p),
    ],
    ids=["GridSearchCV", "cross_val_score", "train_test_split"],
)
def test_pair_counts_cannot_be_sliced(split):
    pairs = make_sgns(10, 2, 2_000, random_state=0).pairs
    with pytest.raises(TypeError, match=r"cross-validation .* train, test = pairs\.split"):
        split(make(solver="map"), pairs)


def test_pair_counts_without_an_observation():
    model = make(solver="map").fit(make_sgns(4, 2, 2_000, random_state=0).pairs)
    nothing = PairCounts(np.zeros((4, 4)), np.zeros((4, 4)))
    with pytest.raises(ValueError, match="no observed pair to score"):
        model.score(nothing)


# -- memory and what is kept ---------------------------------------------------------------------


@pytest.mark.usefixtures("no_sampling")
@pytest.mark.parametrize("keep", ["all", "auto", ["the", "cat"]], ids=str)
def test_too_many_draws_for_the_machine(keep):
    """The bytes are estimated before the mode is searched; the error says how many."""
    with pytest.raises(MemoryError, match=r"The draws would take about [\d.]+ TiB"):
        make(solver="gibbs", draws=10**10, keep_draws=keep).fit(TEXTS)


def test_many_draws_are_no_matter_for_the_mode():
    make(draws=10**10, keep_draws="all", solver="map").fit(TEXTS)


@pytest.mark.usefixtures("no_sampling")
def test_too_many_words_for_the_machine(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 5000)
    with pytest.raises(MemoryError, match="pair table of 10 words .*negative_sampling='sampled'"):
        make(draws=1, chains=1).fit(TEXTS)


# what is read is what the solver drew
RAW = {"balance": False, "uncertainty": "model"}


@pytest.fixture(scope="module")
def every():
    return make(draws=30, chains=2, kernel="polya-gamma", **RAW).fit(TEXTS)


@pytest.mark.filterwarnings(SHORT)
class TestKeptDraws:
    """A budget of a few draws forces what large vocabularies need."""

    draw = 16 * 10 * 2  # bytes of one draw: 10 words, 2 components, rho and alpha

    def few(self, monkeypatch, **parameters):
        monkeypatch.setattr(recording, "DRAW_BUDGET", 10 * self.draw)
        monkeypatch.setattr(recording, "_FEWEST_DRAWS", 1)
        return make(draws=30, kernel="polya-gamma", **RAW, **parameters).fit(TEXTS)

    def test_auto(self, monkeypatch, every):
        model = self.few(monkeypatch)
        rho = every.posterior_["rho"]
        assert model.posterior_.attrs["stride"] == 6
        np.testing.assert_array_equal(model.posterior_["rho"], rho[:, ::6])
        # means, sds and covariances know every draw
        np.testing.assert_allclose(model.rho_, every.rho_, rtol=1e-9)
        np.testing.assert_allclose(model.posterior_.std("rho"), every.posterior_.std("rho"))
        np.testing.assert_allclose(
            model.posterior_.covariance("alpha"), every.posterior_.covariance("alpha"), atol=1e-12
        )
        np.testing.assert_allclose(model.transform(TEXTS), every.transform(TEXTS), rtol=1e-9)
        assert model.score(TEXTS) == pytest.approx(every.score(TEXTS), abs=0.05)
        assert model.posterior_.stats["logit"].shape[1] == 30

    def test_all(self, monkeypatch, every):
        model = self.few(monkeypatch, keep_draws="all")
        np.testing.assert_array_equal(model.posterior_["rho"], every.posterior_["rho"])

    def test_words(self, monkeypatch, every):
        """Quantities of the words named are those of every draw."""
        model = self.few(monkeypatch, keep_draws=["cat", "the"])
        assert model.posterior_["rho"].shape[1] == 5
        for a, b in (("cat", "the"), ("the", "the"), ("the", "cat")):
            np.testing.assert_array_equal(
                model.similarity(a, b).draws, every.similarity(a, b).draws
            )
            np.testing.assert_array_equal(
                model.cooccurrence_proba([(a, b)]).draws, every.cooccurrence_proba([(a, b)]).draws
            )
        assert model.similarity("cat", "dog").draws.shape == (10,)
        for pair in [("cat", "dog"), ("dog", "cat"), ("dog", "rug")]:
            assert model.cooccurrence_proba([pair]).draws.shape == (10, 1)
        assert list(model.posterior_.coords["kept_word"]) == ["cat", "the"]

    def test_words_where_everything_fits(self, every):
        model = make(draws=30, kernel="polya-gamma", keep_draws=["cat"], **RAW).fit(TEXTS)
        np.testing.assert_array_equal(model.posterior_["rho"], every.posterior_["rho"])
        np.testing.assert_array_equal(
            model.similarity("cat", "dog").draws, every.similarity("cat", "dog").draws
        )

    def test_save_and_load(self, monkeypatch, tmp_path):
        model = self.few(monkeypatch, keep_draws=["cat", "the"])
        model.posterior_.save(tmp_path / "p.npz")
        again = type(model.posterior_).load(tmp_path / "p.npz")
        np.testing.assert_array_equal(again.mean("rho"), model.rho_)
        np.testing.assert_array_equal(again.stats["rho_rows"], model.posterior_.stats["rho_rows"])


# -- interruption and warnings -------------------------------------------------------------------


@pytest.fixture
def interrupted_after(monkeypatch):
    def after(sweeps):
        done = []
        sweep = SGNSConditionals.sweep

        def interrupting(self, state, rng, run):
            done.append(1)
            if len(done) > sweeps:
                raise KeyboardInterrupt
            sweep(self, state, rng, run)

        monkeypatch.setattr(SGNSConditionals, "sweep", interrupting)

    return after


@pytest.mark.filterwarnings(SHORT)
@pytest.mark.parametrize("kernel", ["metropolis", "polya-gamma"])
@pytest.mark.parametrize(
    ("draws", "n_jobs"),
    [
        (1, 1),
        pytest.param(7, 1, marks=pytest.mark.slow),
        pytest.param(1, 2, marks=pytest.mark.slow),
        (7, 2),
    ],
)
def test_interrupted_fit_is_usable(interrupted_after, kernel, draws, n_jobs):
    interrupted_after(10 + draws)
    model = make(draws=500, chains=1, kernel=kernel, n_jobs=n_jobs)
    with pytest.warns(RuntimeWarning, match=f"fitted with the {draws} draws made so far"):
        model.fit(TEXTS)
    assert model.posterior_["rho"].shape == (1, draws, 10, 2)
    assert model.posterior_.attrs["interrupted"]
    assert model.posterior_.attrs["draws_made"] == draws
    assert np.isfinite(model.transform(TEXTS)).all()
    assert model.score(TEXTS) < 0
    assert np.isfinite(model.similarity("cat", "dog").interval).all()
    assert len(model.most_similar("cat", 3)) == 3
    repr(model.posterior_.summary())


def test_interrupted_with_a_stride(interrupted_after, monkeypatch):
    """Interrupted before the second recorded draw: predictions use the first."""
    monkeypatch.setattr(recording, "DRAW_BUDGET", 2 * 16 * 10 * 2)
    monkeypatch.setattr(recording, "_FEWEST_DRAWS", 1)
    interrupted_after(13)
    with pytest.warns(RuntimeWarning, match="the 3 draws"):
        model = make(draws=500, chains=1).fit(TEXTS)
    assert model.posterior_["rho"].shape == (1, 1, 10, 2)
    assert np.isfinite(model.transform(TEXTS)).all()
    assert model.score(TEXTS) < 0


def test_interrupted_before_a_draw(interrupted_after):
    interrupted_after(5)
    model = make()
    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXTS)
    assert not hasattr(model, "posterior_")


def test_chains_that_have_not_mixed():
    """Four chains of four draws without warm-up: probabilities and coordinates both warn."""
    pairs = make_sgns(40, 2, 40_000, random_state=0).pairs
    with (
        pytest.warns(ConvergenceWarning, match=r"the co-occurrence probabilities .* 1\.05"),
        pytest.warns(ConvergenceWarning, match=r"the coordinates of target vectors .* 1\.2"),
    ):
        model = make(draws=4, warmup=0, chains=4).fit(pairs)
    assert model.posterior_.attrs["max_rhat"] > 1.05
    assert model.posterior_.attrs["max_rhat_rho"] > 1.2


def test_mode_not_reached():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        make(solver="map", max_iter=1).fit(TEXTS)


def test_mode_at_zero():
    """FACTS: the mode is exactly zero where the spectral norm of n+ - n/2 is below lambda."""
    pairs = make_sgns(30, 2, 300, random_state=0).pairs
    positive, negative = pairs.positive.toarray(), pairs.negative.toarray()
    norm = np.linalg.norm((positive - negative) / 2, 2)
    with pytest.warns(ConvergenceWarning, match="The MAP estimate is zero"):
        model = make(solver="map", prior_precision=1.5 * norm).fit(pairs)
    assert np.abs(model.rho_ @ model.alpha_.T).max() < 1e-6
    make(solver="map", prior_precision=0.5 * norm).fit(pairs)


def test_warnings_point_at_the_call_of_fit(interrupted_after):
    small = make_sgns(30, 2, 300, random_state=0).pairs
    large = make_sgns(40, 2, 40_000, random_state=0).pairs
    interrupted_after(40)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(solver="map", max_iter=1).fit(large)
        make(solver="map", prior_precision=50.0).fit(small)
        make(prior_precision=50.0, draws=3, anchors="pivot").fit(small)
        make(draws=5, warmup=0, chains=3).fit(large)
    told = [str(w.message) for w in caught]
    for message in ("max_iter=1", "MAP estimate is zero", "rank 0", "not mixed", "Interrupted"):
        assert any(message in text for text in told), message
    assert {w.filename for w in caught} == {__file__}


def test_posterior_without_data_is_the_prior():
    """No observation: P = sigma(rho . alpha) averages 1/2 and the entries have variance 1/lambda.

    With anchors=None rotation leaves norms: |rho_w|^2 has mean K / lambda; 6 words and 4 x 250
    draws give it a standard error of about 3 %.
    """
    nothing = PairCounts(np.zeros((6, 6)), np.zeros((6, 6)))
    model = make(anchors=None, prior_precision=4.0, draws=250, warmup=50, chains=4).fit(nothing)
    square = (model.posterior_["rho"] ** 2).sum(axis=-1).mean()
    assert square == pytest.approx(2 / 4.0, rel=0.14)
    assert model.cooccurrence_proba([(0, 1)]).mean[0] == pytest.approx(0.5, abs=0.02)


def test_what_needs_periods_names_the_model_that_has_them():
    with pytest.raises(AttributeError, match="no attribute 'drift': .* DynamicSGNS"):
        _ = BayesianSGNS().drift
    with pytest.raises(AttributeError, match="no attribute 'drifts'$"):
        _ = BayesianSGNS().drifts
