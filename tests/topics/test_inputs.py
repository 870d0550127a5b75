"""What `GaussianLDA` accepts: documents, counts, embeddings; what it refuses, before any work."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from skbayesembed import BayesianSGNS, GaussianLDA, load, spine
from skbayesembed.io import save_vectors
from skbayesembed.topics import inputs
from skbayesembed.topics.vectors import Normaliser

pd = pytest.importorskip("pandas")

ANIMALS = {"cat": [2.0, 0.1], "dog": [2.1, -0.2], "cow": [1.9, 0.3]}
METALS = {"tin": [-2.0, 0.2], "iron": [-2.2, -0.1], "zinc": [-1.8, 0.0]}
TABLE = {word: np.array(vector) for word, vector in (ANIMALS | METALS).items()}
TEXTS = ["cat dog cat qqq", "tin iron zinc", "dog cow the", "iron tin tin", "cat cow tin"]
WORDS = list(TABLE)
VECTORS = np.array(list(TABLE.values()))


def make(**parameters):
    defaults = {"embedding": TABLE, "solver": "vi", "normalize": None, "draws": 3, "min_count": 1}
    return GaussianLDA(2, random_state=0, **(defaults | parameters))


def counts_of(texts=TEXTS):
    return np.array([[text.split().count(word) for word in WORDS] for text in texts], dtype=float)


@pytest.fixture(scope="module")
def sgns():
    texts = ["cat dog cow cat dog cow", "tin iron zinc tin iron zinc"] * 5
    return BayesianSGNS(2, solver="map", min_count=1, window=2, prior_precision=0.1,
                        random_state=0).fit(texts)  # fmt: skip


# -- embeddings ----------------------------------------------------------------------------------


def test_fitted_embeddings(sgns):
    model = GaussianLDA(2, embedding=FrozenEstimator(sgns), solver="vi", min_count=1,
                        random_state=0)  # fmt: skip
    theta = model.fit(TEXTS).transform(["cat dog cow dog", "iron tin zinc"])
    assert theta.argmax(axis=1)[0] != theta.argmax(axis=1)[1]
    with pytest.raises(NotFittedError, match="clone it without its fit: pass FrozenEstimator"):
        make(embedding=BayesianSGNS(2)).fit(TEXTS)


def test_a_file_of_vectors_that_was_moved(tmp_path):
    """It is asked for new words alone, which are left out where it is not there."""
    path, moved = tmp_path / "vectors.txt", tmp_path / "moved.txt"
    save_vectors(path, TABLE)
    model = make(embedding=path, min_count=2).fit(TEXTS)
    assert "zinc" not in model.vocabulary_
    model.save(tmp_path / "model.skb")
    known, new = ["cat dog", "iron tin"], ["cat zinc zinc", "iron tin"]
    expected, with_new = model.transform(known), model.transform(new)
    left_out = model.transform(["cat", "iron tin"])
    path.rename(moved)
    for found in (model, load(tmp_path / "model.skb")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(found.transform(known), expected)
        with pytest.warns(UserWarning, match=r"vectors.txt', which is not there.*\(1: 'zinc'\)"):
            np.testing.assert_array_equal(found.transform(new), left_out)
        found.set_params(embedding=moved)
        np.testing.assert_array_equal(found.transform(new), with_new)
    assert not np.allclose(left_out, with_new)


def test_columns_of_a_file_of_vectors_that_was_moved(tmp_path):
    """Likewise the columns of a count matrix that were dropped as rare."""
    path, counts = tmp_path / "vectors.txt", pd.DataFrame(counts_of(), columns=WORDS)
    save_vectors(path, TABLE)
    model = make(embedding=str(path), min_count=2).fit(counts)
    rare = sorted(set(WORDS) - set(model.words_))
    expected = model.transform(counts.assign(**dict.fromkeys(rare, 0)))
    path.unlink()
    with pytest.warns(UserWarning, match=f"which is not there.*{len(rare)}: .*{rare[-1]}"):
        np.testing.assert_array_equal(model.transform(counts), expected)


def test_a_stream_has_the_words_of_its_first_call(tmp_path):
    """Also those that have no vector; and a batch without any of them is told."""
    texts = ["cat dog cow", "cat dog unheard", "dog cow cow"] * 4
    options = {"solver": "vi", "min_count": 1, "draws": 4, "random_state": 0}
    words = ["cat", "dog", "unheard"]
    model = GaussianLDA(2, embedding=TABLE, **options).partial_fit(texts, vocabulary=words)
    assert model.words_.tolist() == ["cat", "dog"]
    model.save(tmp_path / "model")
    for begun in (model, load(tmp_path / "model")):
        begun.partial_fit(texts, vocabulary=words)
        with pytest.raises(ValueError, match=r"got 1 that .* \('cow'\) and 1 of them missing"):
            begun.partial_fit(texts, vocabulary=["cat", "dog", "cow"])
    first = GaussianLDA(2, embedding=TABLE, **options).partial_fit(texts)
    first.partial_fit(texts, vocabulary=["cow", "dog", "cat"])
    with pytest.raises(ValueError, match=r"got 1 of them missing \('cow'\)"):
        first.partial_fit(texts, vocabulary=["cat", "dog"])
    vars(first._stream).pop("begun_with")
    first.partial_fit(texts, vocabulary=["cat", "dog"])
    with pytest.warns(UserWarning, match="None of the 2 documents of X has a known word, and noth"):
        first.partial_fit(["unheard of", "nothing"])
    first.partial_fit(["", ""])
    first.partial_fit(["unheard of", "cat"])
    counted = GaussianLDA(2, embedding=VECTORS, **options).partial_fit(counts_of())
    with pytest.raises(ValueError, match="vocabulary is for text"):
        counted.partial_fit(counts_of(), vocabulary=WORDS)


@pytest.mark.parametrize(
    ("embedding", "error", "message"),
    [
        (None, ValueError, "embedding must be given: a mapping"),
        (3, TypeError, "embedding must be a mapping .* got int"),
        (b"vec.txt", TypeError, "embedding must be a mapping .* got b'vec.txt': decode it to str"),
        (VECTORS[:5], ValueError, "a row for each of the 6 columns of X, got 5 rows"),
        (VECTORS[:, 0], ValueError, r"must be a 2-D array .* got shape \(6,\)"),
        (np.where(VECTORS == 0.3, np.nan, VECTORS), ValueError, "NaN or infinity in 1 .* row 2"),
        (TABLE | {"cow": [np.inf, 0]}, ValueError, "NaN or infinity in 1 vector.*'cow'"),
        (TABLE | {"cow": [1.0]}, ValueError, "must have vectors of one length"),
        (TABLE | {"cow": ["a", "b"]}, ValueError, "must hold vectors of numbers"),
        ({"cat": [1.0, 2.0]}, ValueError, r"no vector for 5 of the 6 columns.*'dog'"),
    ],
)  # fmt: skip
def test_bad_embeddings_for_counts(embedding, error, message):
    frame = pd.DataFrame(counts_of(), columns=WORDS)
    with pytest.raises(error, match=message):
        make(embedding=embedding).fit(frame)


def test_parameters_that_are_not_used_are_told():
    with pytest.warns(UserWarning, match="stop_words is not used for X, which is a count matrix"):
        make(embedding=VECTORS, stop_words="english").fit(counts_of())
    with pytest.warns(UserWarning, match="feature_names is not used for X, which is text"):
        make(feature_names=WORDS).fit([text.replace("qqq", "cat") for text in TEXTS])


def test_feature_names():
    model = make(feature_names=WORDS).fit(counts_of())
    named = make().fit(pd.DataFrame(counts_of(), columns=WORDS))
    assert model.words_.tolist() == named.words_.tolist() == WORDS
    assert model.top_words(2).words.tolist() == named.top_words(2).words.tolist()
    np.testing.assert_array_equal(model.components_, named.components_)
    counts = counts_of()
    np.testing.assert_array_equal(
        model.transform(counts), named.transform(pd.DataFrame(counts, columns=WORDS))
    )
    # columns that fit has dropped are read by their names, and so are vectors given later
    some = make(feature_names=WORDS, max_features=4).fit(counts)
    assert some.words_.size == 4
    assert some.transform(counts).shape == (5, 2)
    np.testing.assert_array_equal(
        model.transform(counts, embedding=TABLE), model.transform(counts, embedding=VECTORS)
    )
    with pytest.raises(ValueError, match="feature_names must name the 6 columns of X once each"):
        make(feature_names=WORDS[:3]).fit(counts)
    with pytest.raises(
        ValueError, match="'x0', .* Name the columns by feature_names=; drop columns"
    ):
        make().fit(counts)
    # a matrix without names has those of fit, which scikit-learn's warning says
    by_frame = make(max_features=4).fit(pd.DataFrame(counts, columns=WORDS))
    with pytest.warns(UserWarning, match="was fitted with feature names"):
        np.testing.assert_array_equal(by_frame.transform(counts), some.transform(counts))
    with pytest.raises(ValueError, match="feature_names must be None or a list of words, got 3"):
        make(feature_names=3).fit(counts)


def test_bad_embeddings_for_text():
    with pytest.raises(ValueError, match="must be a mapping from words .* where X holds documents"):
        make(embedding=VECTORS).fit(TEXTS)
    with pytest.raises(ValueError, match="no vector for any of the 1 words of X, such as"):
        make().fit(["qqq qqq"])
    for empty in (["", ""], ["1 2 3", "4 5"], [[], []]):
        with pytest.raises(ValueError, match="no word is left of X after the analyzer"):
            make().fit(empty)
    with pytest.raises(ValueError, match="NaN or infinity in 1 vector"):
        make(embedding=TABLE | {"cow": [np.nan, 0]}).fit(TEXTS)


# -- normalisation -------------------------------------------------------------------------------


def test_normalisation():
    assert not Normaliser.learn(None, VECTORS).centre.any()
    centred = Normaliser.learn("center", VECTORS)(VECTORS)
    np.testing.assert_allclose(centred.mean(axis=0), 0, atol=1e-15)
    unit = Normaliser.learn("unit", VECTORS)
    np.testing.assert_allclose(np.linalg.norm(unit(VECTORS), axis=1), 1)
    np.testing.assert_allclose(unit(VECTORS.mean(axis=0)[None]), 0, atol=1e-15)
    with pytest.raises(ValueError, match="vectors of length 2, as in fit, got 3"):
        unit(np.ones((1, 3)))


def test_new_vectors_are_centred_as_in_training():
    model = make(normalize="unit", embedding=VECTORS).fit(counts_of())
    np.testing.assert_allclose(model.embedding_mean_, VECTORS.mean(axis=0))
    shifted = make(normalize="unit", embedding=VECTORS + 5.0).fit(counts_of())
    np.testing.assert_allclose(shifted._vectors, model._vectors, atol=1e-12)
    new = inputs.reading(model, np.ones((1, 1)), [[3.0, 0.0]])
    away = np.array([3.0, 0.0]) - model.embedding_mean_
    np.testing.assert_allclose(new.vectors[0], away / np.linalg.norm(away))


# -- words ---------------------------------------------------------------------------------------


def test_words_without_a_vector_are_dropped_and_counted():
    model = make().fit(TEXTS)
    assert set(model.words_) == set(WORDS)
    assert (model.n_dropped_words_, model.n_dropped_tokens_) == (2, 2)
    assert not hasattr(model, "n_features_in_")
    assert make(embedding=VECTORS).fit(counts_of()).n_dropped_words_ == 0


def test_most_tokens_dropped_is_worth_a_warning():
    with pytest.warns(UserWarning, match=r"70 % of the tokens of X \(7 of 10 words\)"):
        make().fit(["cat tin dog aa bb cc dd ee ff gg"])


def test_rare_words_go_after_those_without_a_vector():
    model = make(max_features=3).fit(["the the the the"] + TEXTS)
    assert model.words_.tolist() == ["tin", "cat", "cow"]
    assert make(min_count=3).fit(TEXTS).words_.tolist() == ["tin", "cat"]
    frame = make(min_count=3).fit(pd.DataFrame(counts_of(), columns=WORDS))
    assert frame.words_.tolist() == ["cat", "tin"]
    assert frame.transform(pd.DataFrame(counts_of(), columns=WORDS)).shape == (5, 2)


def test_text_and_counts_give_the_same_topics():
    """The same words, whose order differs: k-means has six points and finds the two groups."""
    text = make().fit(TEXTS)
    tokens = make().fit([text.split() for text in TEXTS])
    frame = make().fit(pd.DataFrame(counts_of(), columns=WORDS))
    np.testing.assert_array_equal(
        text.transform(TEXTS), tokens.transform([t.split() for t in TEXTS])
    )
    theta = frame.transform(pd.DataFrame(counts_of(), columns=WORDS))
    np.testing.assert_allclose(np.sort(theta), np.sort(text.transform(TEXTS)), atol=0.05)


@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csc_array, np.asarray, np.ndarray.tolist, pd.DataFrame]
)
def test_forms_of_counts(form):
    first = make(embedding=VECTORS).fit(counts_of())
    other = make(embedding=VECTORS).fit(form(counts_of()))
    np.testing.assert_array_equal(first.components_, other.components_)
    assert other.n_features_in_ == 6


def test_stored_zeros_and_unsorted_columns_change_nothing():
    dense = counts_of()
    messy = sparse.csr_array(dense + 1)
    messy.data -= 1
    first, other = (make(embedding=VECTORS).fit(X) for X in (dense, messy))
    np.testing.assert_array_equal(first.components_, other.components_)
    assert messy.nnz == dense.size, "the user's matrix is left alone"


def test_columns_that_never_occur_change_nothing():
    """Whether they are there or not; their words are read by their vectors, as others dropped."""
    counts = counts_of()
    counts[:, 2] = 0
    model = make(embedding=VECTORS).fit(counts)
    rest = [0, 1, 3, 4, 5]
    without = make(embedding=VECTORS[rest]).fit(counts[:, rest])
    assert model.words_.tolist() == ["x0", "x1", "x3", "x4", "x5"]
    for name in model.posterior_:
        np.testing.assert_array_equal(model.posterior_[name], without.posterior_[name])
    assert model.score(counts_of()) == without.score(counts_of()[:, rest])
    cow, cat, tin = model.transform(np.eye(6)[[2, 0, 3]])
    assert cow.argmax() == cat.argmax() != tin.argmax()


def test_rare_words_are_dropped_by_default():
    """As in the other estimators; ``transform`` reads them by their vectors, text and counts."""
    assert GaussianLDA().min_count == BayesianSGNS().min_count == 5
    texts, frame = TEXTS * 2, pd.DataFrame(counts_of(TEXTS * 2), columns=WORDS)
    of_texts, columns = (make(min_count=5).fit(X) for X in (texts, frame))
    for model in (of_texts, columns):
        assert sorted(model.words_) == ["cat", "tin"]
        assert model.posterior_["counts"].shape[-1] == 2
    theta = of_texts.transform(["dog", "cat", "zinc"])
    np.testing.assert_allclose(
        np.sort(columns.transform(frame.iloc[[2]])), np.sort(columns.transform(frame.iloc[[7]]))
    )
    assert theta[0].argmax() == theta[1].argmax() != theta[2].argmax()
    found = columns.transform(pd.DataFrame(np.eye(6), columns=WORDS)).argmax(axis=1)
    assert found[:3].tolist() == [found[0]] * 3 and found[3:].tolist() == [1 - found[0]] * 3


def test_all_columns_are_words_of_a_stream():
    """Those that the first batch lacks may come in the next, as in the other estimators."""
    counts = counts_of()
    model = make(embedding=VECTORS, min_count=5).partial_fit(counts[:2]).partial_fit(counts[2:])
    assert model.words_.tolist() == [f"x{i}" for i in range(6)]
    assert model.posterior_["counts"].shape[-1] == 6


# -- documents to be read ------------------------------------------------------------------------


def test_unseen_words_with_a_vector_count():
    """Of training's mapping, of one that is given, and as columns of their own."""
    model = make(embedding=TABLE | {"horse": [2.0, 0.0], "lead": [-2.0, 0.0]}).fit(TEXTS)
    animals, metals = model.transform(["cat dog cow", "tin iron zinc"]).argmax(axis=1)
    assert animals != metals
    assert model.transform(["horse horse", "lead lead"]).argmax(axis=1).tolist() == [
        animals,
        metals,
    ]
    more = {"hen": np.array([1.8, 0.1]), "brass": np.array([-1.9, 0.1])}
    theta = model.transform(["hen cat", "brass tin", "hen", "brass"], embedding=more)
    assert theta.argmax(axis=1).tolist() == [animals, metals, animals, metals]
    with pytest.warns(UserWarning, match="1 of 1 documents of X has no known word"):
        np.testing.assert_allclose(model.transform(["hen brass"])[0], 0.5)
    model = make(embedding=VECTORS).fit(counts_of())
    animals = model.transform(counts_of()[[0]]).argmax()
    theta = model.transform([[2, 0, 0], [0, 1, 2]], embedding=[[2.0, 0], [-2.0, 0], [-1.9, 0]])
    assert theta.argmax(axis=1).tolist() == [animals, 1 - animals]


def test_given_vectors_come_first():
    model = make().fit(TEXTS)
    swapped = model.transform(["cat cat"], embedding={"cat": TABLE["tin"]})
    np.testing.assert_allclose(swapped, model.transform(["tin tin"]), atol=0.02)


def test_bad_vectors_for_transform():
    model = make(embedding=VECTORS).fit(counts_of())
    with pytest.raises(ValueError, match="a row for each of the 2 columns of X, got 3 rows"):
        model.transform([[1, 1]], embedding=VECTORS[:3])
    with pytest.raises(ValueError, match="vectors of length 2, as in fit, got 1"):
        model.transform([[1, 1]], embedding=VECTORS[:2, :1])
    with pytest.raises(ValueError, match="NaN"):
        model.transform([[1, 1]], embedding=[[1.0, np.nan], [0, 0]])
    with pytest.raises(ValueError, match="X has 2 features, but GaussianLDA is expecting 6"):
        model.transform([[1, 1]])
    with pytest.raises(ValueError, match="X is text, but the estimator was fitted on a count"):
        model.transform(TEXTS)
    with pytest.raises(ValueError, match="fitted on text or tokens"):
        make().fit(TEXTS).transform(counts_of())


def test_bad_counts():
    for value, message in ((-1, "Negative values in data passed to GaussianLDA"), (np.nan, "NaN")):
        counts = counts_of()
        counts[0, 0] = value
        with pytest.raises(ValueError, match=message):
            make(embedding=VECTORS).fit(counts)
    with pytest.raises(ValueError, match="X has no tokens"):
        make(embedding=VECTORS).fit(np.zeros((3, 6)))
    with pytest.raises(
        ValueError,
        match="n_components=7 is larger than the number of different .*choose at most 6",
    ):
        make(embedding=VECTORS).set_params(n_components=7).fit(counts_of())


def test_checks_come_before_work(monkeypatch):
    def never(*args):
        raise AssertionError("work was begun")

    monkeypatch.setattr(spine, "fit", never)
    for bad in ({"embedding": None}, {"embedding": VECTORS[1:]}, {"likelihood_power": 0}):
        with pytest.raises(ValueError):
            make(**bad).fit(counts_of())


# -- halves --------------------------------------------------------------------------------------


def test_halves():
    counts = sparse.csr_array([[3.0, 0, 1, 2], [0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 1]])
    first, second = inputs.halves(counts)
    np.testing.assert_array_equal(
        first.toarray(), [[2, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0]]
    )
    np.testing.assert_array_equal((first + second).toarray(), counts.toarray())
    again = inputs.halves(counts[[3, 0]])[0]
    np.testing.assert_array_equal(again.toarray(), first.toarray()[[3, 0]])


def test_halves_of_fractions():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.gamma(0.3, size=(20, 8)) * (rng.random((20, 8)) < 0.7))
    first, second = inputs.halves(counts)
    np.testing.assert_allclose((first + second).toarray(), counts.toarray(), atol=1e-8)
    assert first.data.min() > 0 and second.data.min() > 0
    sizes = np.asarray(first.sum(axis=1) - second.sum(axis=1)).ravel()
    assert np.all(np.abs(sizes) <= 1 + 1e-8)
