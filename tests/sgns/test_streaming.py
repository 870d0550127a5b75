"""Learning online through the estimator: passes in memory, and streams by ``partial_fit``."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from skbayesembed import BayesianSGNS, GraphPrior, build_vocabulary, count_pairs, load
from skbayesembed.datasets import load_python_reference, make_sgns
from skbayesembed.sgns.vi.online import OnlineVI


@pytest.fixture(scope="module")
def texts():
    return load_python_reference().data


def make(**options):
    defaults = {
        "solver": "vi", "max_features": 120, "draws": 50, "batch_size": 8, "random_state": 0,
        "prior_precision": 2.0,
    }  # fmt: skip
    return BayesianSGNS(**{"n_components": 5} | defaults | options)


@pytest.fixture(scope="module")
def in_memory(texts):
    """All at once, which is not to be changed."""
    return make().fit(texts)


def stream(model, texts, size=16, vocabulary=None):
    for start in range(0, len(texts), size):
        model.partial_fit(texts[start : start + size], vocabulary=vocabulary)
    return model


def test_passes_near_the_batch_solution(texts, in_memory):
    """Above guessing, 95 % of the batch score or more after five passes over 100 documents."""
    batch = in_memory.score(texts) - np.log(0.5)
    online = make(learning_method="online", n_passes=5).fit(texts)
    assert online.score(texts) - np.log(0.5) > 0.95 * batch
    assert online.n_iter_ == 5 and online.elbo_.size == 0
    assert online.posterior_.attrs["learning_method"] == "online"


def test_a_stream_by_partial_fit(texts, in_memory):
    words = list(in_memory.words_)
    model = stream(make(), texts, vocabulary=words)
    once = model.score(texts)
    assert list(model.words_) == words
    assert model.transform(texts[:3]).shape == (3, 5)
    again = stream(model, texts).score(texts)
    assert np.log(0.5) < once < again
    # batches of 8 documents, 16 at a time
    assert model.n_iter_ == 2 * sum(
        -(-len(texts[i : i + 16]) // 8) for i in range(0, len(texts), 16)
    )
    assert model.posterior_["rho"].shape == (1, 50, 120, 5)
    assert model.posterior_.attrs["learning_method"] == "online"


def test_interrupted_passes_are_counted(texts, monkeypatch):
    """Ctrl-C in the second of five passes."""
    passes, end_pass = [], OnlineVI.end_pass

    def interrupted(online):
        end_pass(online)
        passes.append(1)
        if len(passes) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(OnlineVI, "end_pass", interrupted)
    with pytest.warns(RuntimeWarning, match="Interrupted in pass 2 of 5"):
        model = make(learning_method="online").fit(texts[:20])
    assert model.n_iter_ == model.posterior_.attrs["n_iter"] == 2


def test_cuts_of_the_stream_on_batches_do_not_matter(texts, in_memory):
    words = list(in_memory.words_)
    short = stream(make(), texts[:64], size=8, vocabulary=words)
    long = stream(make(), texts[:64], size=32, vocabulary=words)
    np.testing.assert_array_equal(short.rho_, long.rho_)


def test_results_are_made_when_looked_at(texts):
    model = stream(make(), texts[:32])
    assert "_fitted" in vars(model) and model._fitted is None
    first = model.posterior_
    assert model.posterior_ is first
    model.partial_fit(texts[32:48])
    assert model.posterior_ is not first
    assert np.any(model.rho_ != first.mean("rho"))


def test_a_pickled_stream_goes_on(texts):
    model = stream(make(negative_sampling="sampled"), texts[:32])
    other = pickle.loads(pickle.dumps(model))
    for m in (model, other):
        m.partial_fit(texts[32:64])
    np.testing.assert_array_equal(model.rho_, other.rho_)


def test_threads_change_nothing(texts):
    one, two = (stream(make(n_jobs=n), texts[:48]) for n in (1, 2))
    np.testing.assert_array_equal(one.rho_, two.rho_)


def test_fit_starts_afresh(texts, in_memory):
    model = stream(make(), texts[:32])
    model.fit(texts)
    np.testing.assert_array_equal(model.rho_, in_memory.rho_)
    fresh = stream(make(), texts[:32])
    with pytest.warns(UserWarning, match="partial_fit does not go on from fit"):
        again = stream(model, texts[:32])
    np.testing.assert_array_equal(again.rho_, fresh.rho_)


def test_count_matrices(texts):
    vectorizer = CountVectorizer(max_features=40, stop_words="english")
    counts = vectorizer.fit_transform(texts)
    names = list(vectorizer.get_feature_names_out())
    model = make(feature_names=names)
    # a few of the 79 documents hold most of the pairs: once through is not enough
    for start in list(range(0, counts.shape[0], 20)) * 3:
        model.partial_fit(counts[start : start + 20])
    assert list(model.words_) == names and model.n_features_in_ == 40
    assert model.score(counts) > np.log(0.5)
    with pytest.raises(ValueError, match="vocabulary is for text"):
        make().partial_fit(counts, vocabulary=names)
    with pytest.raises(ValueError, match="vocabulary is for text"):
        model.partial_fit(counts[:20], vocabulary=names)
    with pytest.raises(ValueError, match="fitted on a count matrix"):
        model.partial_fit(texts[:4])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(counts[:4, :10])


def test_pair_counts():
    data = make_sgns(n_words=30, n_components=3, n_pairs=20_000, random_state=0)
    options = {"prior_precision": 3.0, "max_features": None}
    batch = make(**options).fit(data.pairs).score(data.pairs)
    online = make(**options, learning_method="online").fit(data.pairs).score(data.pairs)
    assert online - np.log(0.5) > 0.9 * (batch - np.log(0.5))
    halves = data.pairs.split(0.5, random_state=0)
    model = make(**options)
    for half in halves:
        model.partial_fit(half)
    assert model.score(data.pairs) > np.log(0.5)
    other = make_sgns(n_words=20, n_components=3, n_pairs=100, random_state=0).pairs
    with pytest.raises(ValueError, match="pairs of the 30 words of the first batch"):
        model.partial_fit(other)


@pytest.mark.parametrize("solver", ["gibbs", "hmc", "laplace", "map"])
def test_other_solvers_are_refused(solver, texts):
    assert not hasattr(make(solver=solver), "partial_fit")
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
        make(solver=solver).partial_fit(texts[:10])
    assert "available with solver='vi' only" in str(caught.value)


@pytest.mark.parametrize("vocabulary", [[], "word", ["a", "a"], [1, 2]])
def test_wrong_vocabularies(vocabulary, texts):
    with pytest.raises(ValueError, match="vocabulary must be a list of different words"):
        make().partial_fit(texts[:10], vocabulary=vocabulary)


def test_a_later_vocabulary_is_that_of_the_first_call(texts, tmp_path):
    words = ["the", "of", "and", "nowhere"]
    model = make(n_components=2)
    model.partial_fit(texts[:10], vocabulary=dict(zip(words, range(4), strict=True)))
    assert model.words_.tolist() == words
    model.partial_fit(texts[10:20], vocabulary=words[::-1])
    model.save(tmp_path / "model")
    for begun in (model, load(tmp_path / "model")):
        n = begun.n_iter_
        with pytest.raises(
            ValueError,
            match=r"the 4 words of the first call of partial_fit, got 2 that are not among them "
            r"\('sea', 'sky'\) and 1 of them missing \('nowhere'\): a stream .* clone\(estimator\)",
        ):
            begun.partial_fit(texts[:10], vocabulary=["sea", *words[:3], "sky"])
        assert begun.partial_fit(texts[:10], vocabulary=set(words)).n_iter_ > n
    first = make().partial_fit(texts[:10])
    first.partial_fit(texts[10:20], vocabulary=first.words_)
    with pytest.raises(ValueError, match=r"got \d+ of them missing \("):
        first.partial_fit(texts[10:20], vocabulary=first.words_[:5])
    # of a stream that an earlier version saved it is not known
    vars(first._stream).pop("begun_with")
    first.partial_fit(texts[10:20], vocabulary=["sea"])


def test_a_vocabulary_object(texts):
    vocabulary = build_vocabulary(texts, min_count=20)
    model = make().partial_fit(texts[:10], vocabulary=vocabulary)
    assert model.words_.tolist() == vocabulary.words.tolist()
    model.partial_fit(texts[10:20], vocabulary=vocabulary)


@pytest.mark.parametrize("kind", ["text", "tokens"])
def test_a_batch_without_a_known_word_is_told(texts, kind):
    model = make().partial_fit(texts[:20])
    unknown = ["qqq www", "zzz"]
    X, empty = (unknown, ["", "a"]) if kind == "text" else ([d.split() for d in unknown], [[], []])
    rho = model.rho_.copy()
    with pytest.warns(UserWarning, match="None of the 2 documents of X has a known word, and noth"):
        model.partial_fit(X)
    np.testing.assert_allclose(model.rho_, rho)
    with pytest.warns(UserWarning, match="The one document of X has no known word, and nothing wa"):
        model.partial_fit(X[:1])
    model.partial_fit(empty)
    model.partial_fit([*X, *(texts[:1] if kind == "text" else [texts[0].lower().split()])])


def test_nothing_is_fitted_before(texts):
    model = make()
    assert not hasattr(model, "posterior_") and not hasattr(model, "rho_")
    with pytest.raises(NotFittedError):
        model.transform(texts[:2])
    fitted = make().fit(texts[:40])
    assert not hasattr(clone(fitted), "posterior_")


def interrupted_at(monkeypatch, n):
    """The minibatch at which Ctrl-C is pressed, the first time."""
    learn, calls = OnlineVI.learn, []

    def counted(self, *given):
        calls.append(None)
        if len(calls) == n:
            raise KeyboardInterrupt
        return learn(self, *given)

    monkeypatch.setattr(OnlineVI, "learn", counted)


def test_a_first_call_that_fails_leaves_the_fit_before(monkeypatch):
    model = BayesianSGNS(2, solver="vi", min_count=1, batch_size=5, random_state=0)
    model.fit(["the cat sat on the mat", "the dog sat on the rug"] * 10)
    words, rho = model.words_.tolist(), model.rho_.copy()
    interrupted_at(monkeypatch, 2)
    with (
        pytest.raises(KeyboardInterrupt),
        pytest.warns(UserWarning, match="partial_fit does not go on from fit"),
    ):
        model.partial_fit(["a yak and a gnu", "an emu and a kea"] * 10)
    assert model.words_.tolist() == words and list(model.vocabulary_) == words
    np.testing.assert_array_equal(model.rho_, rho)


def test_a_later_call_that_fails_says_what_it_has_taken_in(monkeypatch):
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(2, solver="vi", min_count=1, batch_size=5, random_state=0)
    model.partial_fit(texts)
    interrupted_at(monkeypatch, 3)
    with (
        pytest.raises(KeyboardInterrupt),
        pytest.warns(UserWarning, match="taken in 2 minibatches of X, the first ones.*count twice"),
    ):
        model.partial_fit(texts)
    again = BayesianSGNS(2, solver="vi", min_count=1, batch_size=5, random_state=0)
    again.partial_fit(texts).partial_fit(texts[:10])
    np.testing.assert_allclose(model.rho_, again.rho_)


def test_ctrl_c_stays_ctrl_c_where_warnings_are_errors(monkeypatch):
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(2, solver="vi", min_count=1, batch_size=5, random_state=0)
    model.partial_fit(texts)
    before = model._stream.tokens.copy()
    interrupted_at(monkeypatch, 3)
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("error")
        model.partial_fit(texts)
    # of what was taken in, half of the call
    np.testing.assert_array_equal(model._stream.tokens, 1.5 * before)


def test_streams_of_earlier_versions_go_on():
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(2, solver="vi", min_count=1, random_state=0).partial_fit(texts)
    del model._stream.fixed, model._stream.online.n_taken, model._stream.online.unbalanced
    assert np.any(model.partial_fit(texts).rho_ != 0)


@pytest.mark.parametrize(
    "change",
    [
        {"prior_precision": 20.0},
        {"negative": 3},
        {"covariance": "diag"},
        {"biases": True},
        {"negative_sampling": "sampled"},
        {"prior": GraphPrior([("cat", "dog")])},
    ],
)
def test_what_was_learned_belongs_to_parameters(change):
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(2, solver="vi", min_count=1, random_state=0).partial_fit(texts)
    name = next(iter(change))
    with pytest.raises(ValueError, match=f"{name} must stay .*, which partial_fit has begun with"):
        model.set_params(**change).partial_fit(texts)


def test_a_prior_that_is_an_object_stays():
    """One of the same edges may take its place, as after loading; one of others may not."""
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(
        2, solver="vi", covariance="diag", min_count=1, prior=GraphPrior([("cat", "dog")])
    )
    model.partial_fit(texts).set_params(prior=GraphPrior([("cat", "dog")])).partial_fit(texts)
    for other in (GraphPrior([("cat", "mat")]), "normal"):
        with pytest.raises(ValueError, match="prior must stay 'GraphPrior .*, which partial_fit"):
            model.set_params(prior=other).partial_fit(texts)


def test_a_prior_of_a_sparse_graph_stays_after_loading(tmp_path):
    """Whatever SciPy has noted about the matrix by then."""
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    graph = sparse.coo_array(([1.0, 1.0, 2.0], ([0, 1, 0], [1, 2, 1])), shape=(7, 7)).tocsr()
    prior = GraphPrior(graph + graph.T)
    model = BayesianSGNS(2, solver="vi", covariance="diag", min_count=1, prior=prior)
    model.partial_fit(texts).save(tmp_path / "stream")
    assert np.any(load(tmp_path / "stream").partial_fit(texts).rho_ != 0)


def test_pairs_of_other_windows_are_refused_in_either_order():
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    model = BayesianSGNS(2, solver="vi", window=5, min_count=1, random_state=0).partial_fit(texts)
    narrow = count_pairs(texts, build_vocabulary(texts, min_count=1), window=2)
    with pytest.raises(ValueError, match="windows as the data before it, window=5"):
        model.partial_fit(narrow)
    with pytest.raises(ValueError, match="windows as the data before it, window=5"):
        model.set_params(window=2).partial_fit(texts)


def test_a_fit_that_fails_leaves_the_one_before():
    """Columns that it has read would stand beside the words of the other."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    counts = pandas.DataFrame(rng.poisson(1.0, (30, 4)), columns=list("abcd"))
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=0.1, random_state=0)
    expected = model.fit(counts).transform(counts)
    other = counts[list("dcba")].rename(columns={"a": "e"})
    with pytest.raises(ValueError):
        model.set_params(min_count=10**6).fit(other)
    np.testing.assert_array_equal(model.transform(counts), expected)
    with pytest.raises(ValueError):
        model.transform(other)


def test_a_stream_does_not_go_on_from_a_fit():
    texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    options = {"solver": "vi", "min_count": 1, "random_state": 0, "prior_precision": 2.0}
    model = BayesianSGNS(2, **options).fit(texts)
    with pytest.warns(UserWarning, match="partial_fit does not go on from fit"):
        model.partial_fit(texts[:6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(texts[6:])
    assert model.prior_precision_ == 2.0
    pairs = make_sgns(5, 2, 100, random_state=0).pairs
    with pytest.raises(ValueError, match="X must be one batch, got a list of 2 PairCounts"):
        BayesianSGNS(2, **options).partial_fit([pairs, pairs])


def test_a_part_of_a_stream_does_not_tell_how_often_words_occur(texts):
    """The rarest word of the first shard occurs in others; warnings are errors here."""
    words = build_vocabulary(texts, max_features=120)
    model = make(min_count=3).partial_fit(count_pairs(texts[:8], words))
    assert model.posterior_.attrs["n_iter"] == 1
    with pytest.warns(UserWarning, match="min_count=3 is ignored"):
        make(min_count=3).fit(count_pairs(texts[:8], words))
