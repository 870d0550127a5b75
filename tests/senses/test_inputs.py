"""What `DiSCSenseModel` accepts: snippets, times, genres, known senses."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import extract_snippets
from skbayesembed.senses import inputs

pd = pytest.importorskip("pandas")

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0]])
TEXTS = ["river bank river", "", "money", "river bank"]


def read(X, y=None, times=None, genres=None, **parameters):
    return inputs.training_data(DiSCSenseModel(**parameters), X, y, times, genres)


def dense(data):
    matrix = sparse.csr_array(
        (data.counts, data.words, data.indptr), (data.n_snippets, data.n_words)
    )
    return matrix.toarray()


def fitted_with(**options):
    options = {"solver": "map", "n_starts": 1, "max_iter": 20, "tol": 1.0} | options
    return DiSCSenseModel(2, random_state=0, **options)


def fitted(X, **data):
    return fitted_with().fit(X, **data)


MATRICES = {
    "array": COUNTS,
    "list": COUNTS.tolist(),
    "csr_array": sparse.csr_array(COUNTS),
    "csc_matrix": sparse.csc_matrix(COUNTS),
    "float32": COUNTS.astype(np.float32),
    "frame": pd.DataFrame(COUNTS, columns=["river", "money", "bank", "loan"]),
}


@pytest.mark.parametrize("kind", list(MATRICES))
def test_count_matrices(kind):
    training = read(MATRICES[kind])
    np.testing.assert_array_equal(dense(training.data), COUNTS)
    names = ["river", "money", "bank", "loan"] if kind == "frame" else ["x0", "x1", "x2", "x3"]
    assert training.words.tolist() == names
    assert training.columns.tolist() == [0, 1, 2, 3], "also the column that nothing was counted in"
    assert training.data.lengths.tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize("names", [list, tuple, np.array, pd.Index], ids=lambda f: f.__name__)
def test_feature_names(names):
    words = ["river", "money", "bank", "loan"]
    training = read(sparse.csr_array(COUNTS), feature_names=names(words), max_features=2)
    assert training.words.tolist() == ["river", "bank"] and training.columns.tolist() == [0, 2]
    # they come before names of the columns, as of the other estimators
    assert read(MATRICES["frame"], feature_names=list("abcd")).words.tolist() == list("abcd")
    for wrong, match in (
        (["a", "b"], "feature_names must name the 4 columns of X once each, got 2 names"),
        (list("aabc"), "once each, got 4 names, 3 different"),
    ):
        with pytest.raises(ValueError, match=match):
            read(COUNTS, feature_names=names(wrong))
    with pytest.raises(ValueError, match="feature_names must be None or a list of words, got 'ab"):
        DiSCSenseModel(feature_names="abcd").fit(COUNTS)


def test_feature_names_are_of_count_matrices():
    texts = ["river water", "money loan"] * 4
    with pytest.warns(UserWarning, match="feature_names is not used for X, which is text, whose w"):
        fitted_with(feature_names=["river", "money"]).fit(texts)
    with pytest.warns(UserWarning, match="feature_names is not used for X, which is token lists,"):
        fitted_with(feature_names=["a"]).fit([text.split() for text in texts])


def test_matrices_with_other_columns():
    model = fitted_with(feature_names=["river", "money", "bank", "loan"]).fit(COUNTS)
    with pytest.raises(ValueError, match=r"features, but .* vocabulary=model.feature_names\)"):
        model.predict_proba(COUNTS[:, :3])
    with pytest.raises(ValueError, match=r"features, but .* vocabulary=words of fit\) counts in"):
        fitted(COUNTS).predict_proba(COUNTS[:, :3])


def test_labels_that_are_names():
    with pytest.raises(ValueError, match=r"got \['money'\]. .*pandas.factorize.* units= are"):
        fitted_with().fit(COUNTS, y=["money", "river", "money", "river"])
    # as the message says, also where senses are more than names
    model = fitted_with().set_params(n_senses=3).fit(COUNTS, y=[0, 1, 0, -1])
    assert model.name_senses(dict(enumerate(["money", "river"])))._sense_labels()[2] == "2"


def test_senses_that_are_all_known_are_told(capsys):
    """They may be the labels of a classifier behind, in a pipeline; told once, and in no trial."""
    counts, labels = np.tile(COUNTS[[0, 2, 3]], (5, 1)), np.tile([0, 1, 0], 5)
    told = "all 15 snippets have a known sense in y, so that no sense is learned from the words"
    make_pipeline(fitted_with(), LogisticRegression()).fit(counts, labels)
    notes = capsys.readouterr().err
    assert notes.count(told) == 1 and "y of a classifier arrives here: fit the" in notes
    fitted_with(likelihood_power="auto").fit(counts, labels)
    assert capsys.readouterr().err.count(told) == 1
    model = fitted_with(solver="vi", max_iter=5)
    model.estimate_cost(counts, labels)
    fitted_with().fit(counts, [-1, *labels[1:]])
    fitted_with().fit(counts)
    fitted_with().fit(counts[:9], labels[:9])
    assert "known sense" not in capsys.readouterr().err


def test_years_without_snippets_are_told():
    texts = ["river water", "money loan"] * 2
    dates = ["1990-05-01", "1990-06-01", "2005-05-01", "2005-06-01"]
    with pytest.warns(
        UserWarning, match="14 of 16 periods hold no times.* give bins= or n_periods="
    ):
        fitted(texts, times=dates)


def test_snippets_have_words():
    texts = ["the river bank flooded by the river", "money in the bank, a loan and money"] * 4
    found = extract_snippets(texts, "bank", times=["1999-05-03", "2001-01-20"] * 4)
    model = fitted(found.counts, times=found.times)
    with pytest.raises(KeyError, match="Name the columns of X by feature_names="):
        model.word_trajectory("river")
    model = DiSCSenseModel(2, solver="map", n_starts=1, feature_names=found.words, random_state=0)
    model.fit(found.counts, times=found.times)
    assert {"river", "money"} < set(model.sense_words(8).words.ravel().tolist())
    assert model.periods_.labels == [1999, 2000, 2001]
    assert np.shape(model.word_trajectory("river").mean) == (2, 3)


@pytest.mark.parametrize("kind", ["text", "tokens", "series", "iterator"])
def test_texts(kind):
    tokens = [text.split() for text in TEXTS]
    X = {"text": TEXTS, "tokens": tokens, "series": pd.Series(TEXTS), "iterator": iter(TEXTS)}[kind]
    training = read(X)
    assert training.words.tolist() == ["river", "bank", "money"]
    assert training.columns is None
    expected = [[2, 1, 0], [0, 0, 0], [0, 0, 1], [1, 1, 0]]
    np.testing.assert_array_equal(dense(training.data), expected)


def test_analyzer_and_rare_words():
    assert read(TEXTS, min_count=2).words.tolist() == ["river", "bank"]
    assert read(TEXTS, max_features=1).words.tolist() == ["river"]
    assert read(TEXTS, stop_words=["river"]).words.tolist() == ["bank", "money"]
    assert read(["River A"], lowercase=False, token_pattern=r"\w+").words.tolist() == ["A", "River"]
    training = read(COUNTS, min_count=2)
    assert training.columns.tolist() == [0, 2] and training.words.tolist() == ["x0", "x2"]
    np.testing.assert_array_equal(dense(training.data), COUNTS[:, [0, 2]])
    assert read(COUNTS, max_features=3).columns.tolist() == [0, 1, 2]
    for X in (COUNTS, TEXTS):
        with pytest.raises(ValueError, match="empty.*min_count=9|empty: no word occurs"):
            read(X, min_count=9)
    with pytest.raises(ValueError, match="the vocabulary is empty"):
        read(["", ""])


def test_stored_zeros_and_duplicates_are_none_of_the_words():
    X = sparse.csr_array(
        (np.array([1.0, 1.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    data = read(X).data
    assert data.counts.tolist() == [2] and data.words.tolist() == [1]
    for a, b in zip(before, (X.data, X.indices, X.indptr), strict=True):
        np.testing.assert_array_equal(a, b)


def test_bad_matrices():
    with pytest.raises(ValueError, match="Negative values in data passed to DiSCSenseModel.* -2"):
        read(-COUNTS)
    with pytest.raises(ValueError, match="NaN"):
        read(np.where(COUNTS, COUNTS, np.nan))
    frame = pd.DataFrame(COUNTS, columns=["a", "b", "c", "a"])
    with pytest.raises(ValueError, match="unique column names"):
        read(frame)


def test_no_covariates():
    training = read(COUNTS)
    data = training.data
    assert (data.n_periods, data.n_genres) == (1, 1)
    assert data.periods.tolist() == data.genres.tolist() == [0] * 4
    assert data.labels.tolist() == [-1] * 4
    assert training.genres is None and not training.timed and not training.merged


def test_times():
    training = read(COUNTS, times=[3, 5, 5, 3])
    assert training.data.periods.tolist() == [0, 2, 2, 0]
    assert training.data.n_periods == 3 and training.periods.labels == [3, 4, 5]
    assert training.data.cells.tolist() == [[2, 0, 2]]
    assert read(COUNTS, times=[0, 1, 5, 9], n_periods=2).data.periods.tolist() == [0, 0, 1, 1]
    binned = read(COUNTS, times=[1.5, 1, 5, 9], bins=[0, 2, 4, 6, 10]).data
    assert binned.periods.tolist() == [0, 0, 2, 3] and binned.n_periods == 4
    dates = read(COUNTS, times=pd.to_datetime(["1999-01-01"] * 3 + ["2000-12-31"]), n_periods=2)
    assert dates.data.periods.tolist() == [0, 0, 0, 1]
    with pytest.raises(ValueError, match="times must have one entry for each of the 4 snippets"):
        read(COUNTS, times=[1, 2])
    # texts of four digits are years
    years = read(COUNTS, times=["1810", "1812", "1812", "1810"])
    assert years.data.periods.tolist() == [0, 2, 2, 0]
    with pytest.raises(ValueError, match="got '18' in .*; convert texts first"):
        read(COUNTS, times=["18"] * 4)
    for name, value in (("n_periods", 2), ("bins", [0, 1, 2])):
        with pytest.raises(ValueError, match=f"{name} was given, but fit got no times"):
            read(COUNTS, **{name: value})


@pytest.mark.parametrize(
    ("genres", "labels", "index"),
    [
        (["b", "a", "b", "c"], ["a", "b", "c"], [1, 0, 1, 2]),
        ([7, 3, 3, 7], [3, 7], [1, 0, 0, 1]),
        (pd.Series(["x", "y", "x", "x"], dtype="category"), ["x", "y"], [0, 1, 0, 0]),
        (np.array([("a"), "b", "a", "a"], dtype=object), ["a", "b"], [0, 1, 0, 0]),
        ([True, False, True, True], [False, True], [1, 0, 1, 1]),
    ],
)
def test_genres(genres, labels, index):
    training = read(COUNTS, genres=genres)
    assert training.genres.tolist() == labels
    assert training.data.genres.tolist() == index
    assert training.data.n_genres == len(labels)


def test_scan_merges_genres():
    training = read(COUNTS, genres=["a", "b", "a", "b"], model="scan")
    assert training.genres is None and training.merged and training.data.n_genres == 1
    with pytest.raises(ValueError, match="one label for each of the 4 snippets"):
        read(COUNTS, genres=["a"], model="scan")


def test_bad_genres():
    with pytest.raises(ValueError, match=r"one label for each of the 4 snippets, got shape \(2,\)"):
        read(COUNTS, genres=["a", "b"])
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match=r"no missing labels, got genres\[1\]"):
            read(COUNTS, genres=np.array(["a", missing, "b", "b"], dtype=object))
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match=r"no missing labels, got genres\[1\]"):
            read(COUNTS, genres=["a", missing, "b", "b"])
    # of a list NumPy makes texts
    assert read(COUNTS, genres=["a", 1, "b", "b"]).data.n_genres == 3
    with pytest.raises(ValueError, match="of one kind"):
        read(COUNTS, genres=np.array(["a", 1, "b", "b"], dtype=object))
    with pytest.raises(ValueError, match="list or array of labels|got shape"):
        read(COUNTS, genres=[["a"], ["a", "b"], [], []])


@pytest.mark.parametrize(
    "y",
    [
        [1, -1, 0, -1],
        [1.0, np.nan, 0.0, -1.0],
        np.array([1, None, 0, -1], dtype=object),
        pd.Series([1, pd.NA, 0, pd.NA], dtype="Int64"),
        np.array([1, -1, 0, -1], dtype=np.int8),
    ],
)
def test_known_senses(y):
    assert read(COUNTS, y).data.labels.tolist() == [1, -1, 0, -1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 0], r"integers from 0 to n_senses - 1 = 1, or -1 \(or NaN\).*; got 2"),
        ([0, 1, -2, 0], "got -2"),
        ([0, 0.5, 1, 0], "got 0.5"),
        ([0, np.inf, 1, 0], "got inf"),
        (["a", "b", "a", "b"], r"got \['a'\]"),
        ([0, 1], r"one entry for each of the 4 snippets, got shape \(2,\)"),
        (np.zeros((4, 1)), r"got shape \(4, 1\)"),
    ],
)
def test_bad_senses(y, message):
    with pytest.raises(ValueError, match=message):
        read(COUNTS, y)


# Of fitted estimators ---------------------------------------------------------------------------


def test_new_texts_and_matrices():
    model = fitted(TEXTS)
    assert inputs.places(model, ["bank sea", ""], None, None).counts.toarray().tolist() == [
        [0, 1, 0],
        [0, 0, 0],
    ]
    with pytest.raises(ValueError, match="X is a count matrix, but .* fitted on text or tokens"):
        model.predict(COUNTS)
    model = fitted(COUNTS)
    with pytest.raises(ValueError, match="X is text, but the estimator was fitted on a count"):
        model.predict(TEXTS)
    model.feature_names = list("abcd")
    with pytest.raises(
        ValueError, match=r"CountVectorizer\(vocabulary=list\(model.feature_names\)"
    ):
        model.predict(TEXTS)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(COUNTS[:, :3])
    model = fitted(TEXTS)
    assert not hasattr(model, "n_features_in_")


def test_new_times():
    model = fitted(COUNTS, times=[3, 3, 5, 5])
    assert inputs.places(model, COUNTS, [4, 4, 5, 3], None).periods.tolist() == [1, 1, 2, 0]
    assert inputs.places(model, COUNTS, None, None).periods is None
    with pytest.raises(ValueError, match=r"times must be integers, as the periods are, got 6\.5"):
        model.predict_proba(COUNTS, times=[3, 3, 3, 6.5])
    with pytest.raises(ValueError, match="times must have one entry for each of the 4 snippets"):
        model.predict_proba(COUNTS, times=[3])
    with pytest.raises(ValueError, match="times must be None, as the estimator was fitted without"):
        fitted(COUNTS).score(COUNTS, times=[1, 1, 1, 1])


@pytest.mark.filterwarnings("ignore:.* no known word")
def test_times_outside_of_the_periods():
    """They are read as of the nearest period, and that is told."""
    model = fitted(COUNTS, times=[3, 3, 5, 5])
    with pytest.warns(UserWarning, match=r"2 of 4 snippets .* period \(3\) or .* \(5\)"):
        proba = model.predict_proba(COUNTS, times=[-9, 3, 4, 6])
    np.testing.assert_array_equal(proba, model.predict_proba(COUNTS, times=[3, 3, 4, 5]))


def test_folds_that_begin_before_the_others():
    """Cross-validation with dates, in their order: two folds have times that no other has."""
    dates = [f"19{year}-05-01" for year in (90, 90, 91, 91, 92, 92)]
    model = DiSCSenseModel(
        2, solver="map", n_periods=2, n_starts=1, max_iter=20, tol=1.0, random_state=0
    )
    counts = np.concatenate([COUNTS, COUNTS[2:]])
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match="they are read as of that period"),
    ):
        scores = cross_val_score(
            model, counts, cv=KFold(3), params={"times": dates}, error_score="raise"
        )
    assert np.isfinite(scores).all()


@pytest.mark.filterwarnings("ignore:.* no known word")
def test_new_genres():
    model = fitted(COUNTS, genres=["a", "b", "b", "a"])
    assert inputs.places(model, COUNTS, None, ["a", "a", "b", "a"]).genres.tolist() == [0, 0, 1, 0]
    assert inputs.places(model, COUNTS, None, None).genres is None
    for method, given in ((fitted, [b"a", b"b"] * 2), (model.transform, np.array([b"a"] * 4))):
        with pytest.raises(ValueError, match=r"genres\[0\] = b'a': decode them to str first"):
            method(COUNTS, genres=given)
    with pytest.raises(ValueError, match=r"among those of fit, \['a', 'b'\], got 'c'"):
        model.transform(COUNTS, genres=["a", "b", "c", "a"])
    with pytest.raises(ValueError, match="genres must be None, as the estimator was fitted with"):
        fitted(COUNTS).transform(COUNTS, genres=["a"] * 4)
    scan = DiSCSenseModel(model="scan", solver="map", n_starts=1, random_state=0)
    scan.fit(COUNTS, genres=["a", "b", "b", "a"])
    expected = scan.transform(COUNTS)
    np.testing.assert_array_equal(scan.transform(COUNTS, genres=["any", "a", "b", "c"]), expected)
