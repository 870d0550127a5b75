"""Kinds of input through the estimator: the same data in another coat gives the same fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.sgns.counting import document_pairs, expected_negatives, window_pairs

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:The chains have not mixed")

RNG = np.random.default_rng(0)
WORDS = np.array(["ash", "birch", "cedar", "elm", "fir", "oak", "yew"])
SHARE = np.array([0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05])
TOKENS = [list(RNG.choice(WORDS, n, p=SHARE)) for n in RNG.integers(3, 15, 25)]
TEXTS = [" ".join(tokens) for tokens in TOKENS]
VECTORIZER = CountVectorizer().fit(TEXTS)
COUNTS = VECTORIZER.transform(TEXTS)


def make(**parameters):
    defaults = {"min_count": 1, "draws": 5, "warmup": 5, "chains": 1, "random_state": 0}
    # chains may start anywhere: the mode and those beside it are not searched for to the end
    defaults["max_iter"] = 3
    return BayesianSGNS(**{"n_components": 2, "prior_precision": 0.1, **defaults, **parameters})


def same_fit(a, b):
    np.testing.assert_array_equal(a.posterior_["rho"], b.posterior_["rho"])
    np.testing.assert_array_equal(a.posterior_["alpha"], b.posterior_["alpha"])


# -- sequences -----------------------------------------------------------------------------------

SEQUENCES = {
    "tuple": tuple(TEXTS),
    "str array": np.array(TEXTS),
    "object array": np.array(TEXTS, dtype=object),
    "Series": pd.Series(TEXTS, index=range(100, 100 + len(TEXTS))),
    "string Series": pd.Series(TEXTS, dtype="string"),
    "token lists": TOKENS,
    "token tuples": [tuple(t) for t in TOKENS],
    "token arrays": [np.array(t) for t in TOKENS],
    "Series of tokens": pd.Series(TOKENS, index=range(3, 3 + len(TOKENS))),
}


@pytest.fixture(scope="module")
def reference():
    return make().fit(TEXTS)


@pytest.mark.parametrize("kind", list(SEQUENCES))
def test_sequences(reference, kind):
    X = SEQUENCES[kind]
    model = make().fit(X)
    same_fit(model, reference)
    assert list(model.words_) == list(reference.words_)
    np.testing.assert_array_equal(model.transform(X), reference.transform(TEXTS))
    assert model.score(X) == reference.score(TEXTS)


@pytest.mark.parametrize("documents", [TEXTS, TOKENS], ids=["text", "tokens"])
def test_generators(reference, documents):
    model = make().fit(d for d in documents)
    same_fit(model, reference)
    features = reference.transform(TEXTS)
    np.testing.assert_array_equal(model.transform(iter(documents)), features)
    assert model.score(d for d in documents) == reference.score(TEXTS)
    np.testing.assert_array_equal(make().fit_transform(d for d in documents), features)


def test_text_after_tokens(reference):
    """A model of tokens reads text by its analyzer, and the other way round."""
    model = make().fit(TOKENS)
    np.testing.assert_array_equal(model.transform(TEXTS), reference.transform(TOKENS))


def test_open_file(reference, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    with open(path, encoding="utf-8") as file:
        same_fit(make().fit(file), reference)


def test_words_are_ordered_by_frequency(reference):
    total = {w: sum(t.count(w) for t in TOKENS) for w in WORDS}
    expected = sorted(WORDS, key=lambda w: (-total[w], w))
    assert list(reference.words_) == expected
    assert reference.vocabulary_ == {w: i for i, w in enumerate(expected)}


def test_min_count_and_max_features():
    total = {w: sum(t.count(w) for t in TOKENS) for w in WORDS}
    limit = sorted(total.values())[3]
    model = make(min_count=limit).fit(TEXTS)
    assert set(model.words_) == {w for w in WORDS if total[w] >= limit}
    most = sorted(WORDS, key=lambda w: (-total[w], w))[:4]
    assert list(make(max_features=4).fit(TEXTS).words_) == most
    counted = make(max_features=4).fit(COUNTS)
    columns = sorted(VECTORIZER.vocabulary_[w] for w in most)
    assert list(counted.words_) == [f"x{i}" for i in columns]


def test_analyzer():
    upper = [t.upper() for t in TEXTS]
    same_fit(make().fit(upper), make().fit(TEXTS))
    assert "ASH" in make(lowercase=False).fit(upper).vocabulary_
    assert "oak" not in make(stop_words=["oak"]).fit(TEXTS).vocabulary_
    assert set(make(token_pattern=r"[aeo]\w+").fit(TEXTS).words_) == {"ash", "elm", "oak", "edar",
                                                                      "ew"}  # fmt: skip
    same_fit(make(analyzer=str.split).fit(TEXTS), make().fit(TEXTS))
    assert set(make(analyzer="char").fit(["abab", "baab"]).words_) == {"a", "b"}


def test_a_fit_on_text_is_a_fit_on_its_pair_counts(reference):
    """Counting outside and passing `PairCounts` is the same model."""
    ids = np.concatenate([[reference.vocabulary_[w] for w in t] for t in TOKENS])
    offsets = np.concatenate([[0], np.cumsum([len(t) for t in TOKENS])])
    positive = window_pairs(ids, offsets, 7, window=5, window_weights="linear")
    negative = expected_negatives(positive, negative=1, ns_exponent=0.75)
    model = make().fit(PairCounts(positive, negative, reference.words_))
    same_fit(model, reference)
    np.testing.assert_array_equal(model.transform(TEXTS), reference.transform(TEXTS))
    assert model.score(TEXTS) == reference.score(TEXTS)


@pytest.mark.parametrize(
    "parameters",
    [
        {"window": 1},
        {"window_weights": "uniform"},
        {"window_weights": "dynamic"},
        {"negative": 3.5},
        {"ns_exponent": 0.0},
        {"negative_sampling": "sampled"},
        {"subsample": 0.05},
        {"prior_precision": 2.0},
    ],
    ids=str,
)
def test_every_option_matters(reference, parameters):
    model = make(**parameters).fit(TEXTS)
    assert not np.array_equal(model.posterior_["rho"], reference.posterior_["rho"])
    same_fit(make(**parameters).fit(TEXTS), model)


def test_order_of_documents_does_not_matter():
    """Deterministic counts of whole documents: shuffled documents give the same counts."""
    order = np.random.default_rng(1).permutation(len(TEXTS))
    same_fit(make().fit([TEXTS[i] for i in order]), make().fit(TEXTS))


# -- count matrices ------------------------------------------------------------------------------

MATRICES = {
    "csr_array": sparse.csr_array(COUNTS),
    "csc_matrix": sparse.csc_matrix(COUNTS),
    "coo_array": sparse.coo_array(COUNTS),
    "lil_matrix": sparse.lil_matrix(COUNTS),
    "dense": COUNTS.toarray(),
    "fortran": np.asfortranarray(COUNTS.toarray()),
    "int8": COUNTS.toarray().astype(np.int8),
    "float32": COUNTS.toarray().astype(np.float32),
    "object": COUNTS.toarray().astype(object),
    "list of lists": COUNTS.toarray().tolist(),
    "list of arrays": list(COUNTS.toarray()),
    "frame": pd.DataFrame(COUNTS.toarray(), columns=VECTORIZER.get_feature_names_out()),
    "frame without names": pd.DataFrame(COUNTS.toarray()),
    "sparse frame": pd.DataFrame.sparse.from_spmatrix(
        COUNTS.astype(float), columns=VECTORIZER.get_feature_names_out()
    ),
}


@pytest.fixture(scope="module")
def counted():
    return make().fit(COUNTS)


@pytest.mark.parametrize("kind", list(MATRICES))
def test_matrices(counted, kind):
    X = MATRICES[kind]
    model = make().fit(X)
    same_fit(model, counted)
    np.testing.assert_array_equal(model.transform(X), counted.transform(COUNTS))
    assert model.score(X) == counted.score(COUNTS)
    assert model.n_features_in_ == 7


def test_explicit_zeros_and_duplicates(counted):
    coo = sparse.coo_array(COUNTS)
    rows, columns = coo.coords
    X = sparse.coo_array(
        (
            np.concatenate([coo.data - 0.5, np.full(coo.nnz, 0.5), [0.0]]),
            (np.concatenate([rows, rows, [0]]), np.concatenate([columns, columns, [0]])),
        ),
        shape=COUNTS.shape,
    )
    np.testing.assert_allclose(make().fit(X).rho_, counted.rho_)


def test_words_of_columns(counted):
    names = VECTORIZER.get_feature_names_out()
    assert list(counted.words_) == [f"x{i}" for i in range(7)]
    for given in (names, list(names), tuple(names), pd.Index(names)):
        model = make(feature_names=given, uncertainty="model").fit(COUNTS)
        assert list(model.words_) == list(names)
        same_fit(model, counted)
        assert 0 < model.cooccurrence_proba([("oak", "elm")]).mean[0] < 1
    assert list(make().fit(MATRICES["frame"]).words_) == list(names)
    assert list(make().fit(MATRICES["frame without names"]).words_) == [str(i) for i in range(7)]
    mapped = make(feature_names=names).fit(MATRICES["frame without names"])
    assert list(mapped.words_) == list(names)


def test_frame_with_repeated_columns():
    frame = pd.DataFrame(COUNTS.toarray(), columns=list("abcdefa"))
    with pytest.raises(ValueError, match="X must have unique column names, got 'a' more than once"):
        make().fit(frame)


def test_frame_of_documents():
    with pytest.raises(TypeError, match=r"column 'text' is not numeric.*X\['text'\]"):
        make().fit(pd.DataFrame({"text": TEXTS}))


def test_context_of_counts_is_the_document(counted):
    positive = document_pairs(COUNTS, pair_weights="token")
    negative = expected_negatives(positive, negative=1, ns_exponent=0.75)
    same_fit(make().fit(PairCounts(positive, negative)), counted)


def test_window_does_not_matter_for_counts(counted):
    with pytest.warns(UserWarning, match="window and window_weights are not used"):
        same_fit(make(window=2, window_weights="uniform").fit(COUNTS), counted)
    with pytest.warns(UserWarning, match="pair_weights is not used for X, which is text: pairs"):
        make(pair_weights="pairs").fit(TEXTS)
    with pytest.warns(UserWarning, match="window is not used for X, which is a count matrix"):
        make(solver="vi", window=3).partial_fit(COUNTS)


def test_dropped_columns():
    """Columns below min_count are not in the vocabulary but stay in the input."""
    X = np.column_stack([COUNTS.toarray(), np.zeros(len(TEXTS)), np.eye(len(TEXTS))[0]])
    model = make(min_count=2).fit(X)
    assert model.n_features_in_ == 9
    assert model.rho_.shape == (7, 2)
    same_fit(model, make(min_count=2).fit(COUNTS))
    np.testing.assert_array_equal(
        model.transform(X), make(min_count=2).fit(COUNTS).transform(COUNTS)
    )
    assert np.isfinite(model.score(X))


def test_wrong_number_of_columns(counted):
    for call in (counted.transform, counted.score):
        with pytest.raises(ValueError, match="X has 6 features, but BayesianSGNS is expecting 7"):
            call(COUNTS[:, :6])


def test_other_column_names():
    model = make().fit(MATRICES["frame"])
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(MATRICES["frame"].rename(columns={"oak": "beech"}))


def test_fractional_counts(counted):
    """Weights of documents are legal; the vocabulary is cut by their sums."""
    model = make().fit(COUNTS * 1.37)
    assert np.isfinite(model.rho_).all()
    weighted = COUNTS.toarray() * np.linspace(0.1, 2, 7)
    kept = weighted.sum(axis=0) >= 10
    assert make(min_count=10).fit(weighted).rho_.shape[0] == kept.sum()


def test_one_document_is_enough_to_transform(counted):
    assert counted.transform(COUNTS[:1]).shape == (1, 2)
    assert counted.transform(COUNTS.toarray()[:1]).shape == (1, 2)


# -- kinds that do not go together ---------------------------------------------------------------


@pytest.mark.parametrize("method", ["transform", "score"])
def test_another_kind_than_fitted_on(reference, counted, method):
    with pytest.raises(ValueError, match="X is a count matrix, .* fitted on text, tokens or Pair"):
        getattr(reference, method)(COUNTS)
    with pytest.raises(ValueError, match="X is text, .* fitted on a count matrix"):
        getattr(counted, method)(TEXTS)
    with pytest.raises(ValueError, match="X is tokens, .* fitted on a count matrix"):
        getattr(counted, method)(TOKENS)
    with pytest.raises(TypeError, match="must be wrapped in a list"):
        getattr(reference, method)("oak elm")


def test_pair_counts():
    rng = np.random.default_rng(0)
    n = [rng.poisson(2.0, (5, 5)).astype(float) for _ in range(2)]
    plain = make().fit(PairCounts(*n))
    named = make().fit(PairCounts(*n, words=list("abcde")))
    same_fit(plain, named)
    assert list(plain.words_) == ["x0", "x1", "x2", "x3", "x4"]
    assert list(named.words_) == list("abcde")
    assert plain.score(PairCounts(*n)) == named.score(PairCounts(*n, words=list("abcde")))
    # min_count and max_features are of corpora
    same_fit(make(min_count=10_000, max_features=2).fit(PairCounts(*n)), plain)
    with pytest.raises(ValueError, match="4 words without names, .* fitted on 5"):
        plain.score(PairCounts(np.ones((4, 4)), np.ones((4, 4))))


def test_parameters_that_are_not_used_are_told():
    with pytest.warns(UserWarning, match="stop_words is not used for X, which is token lists"):
        model = make(stop_words=["oak"]).fit([["oak", "elm"], ["elm", "oak"]] * 5)
    model.to_datatree([["oak", "elm"], ["elm", "oak"]] * 5)
    with pytest.warns(UserWarning, match="feature_names is not used for X, which is text"):
        make(feature_names=["q"]).fit(["oak elm", "elm oak"] * 5)


def test_split_pair_counts():
    rng = np.random.default_rng(0)
    pairs = PairCounts(*(rng.poisson(9.0, (8, 8)).astype(float) for _ in range(2)))
    train, test = pairs.split(test_size=0.25, random_state=0)
    assert np.isfinite(make().fit(train).score(test))
