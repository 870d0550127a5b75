"""Vectors of words in every form in which users have them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from skbayesembed import BayesianSGNS
from skbayesembed.corpus.embedding import (
    check_vectors,
    described,
    source_of,
    source_of_words,
    vectors_of_columns,
)
from tests.helpers.extras import optional

pd = optional("pandas")

TABLE = {
    "cat": np.array([2.0, 0.1]),
    "dog": np.array([2.1, -0.2]),
    "tin": np.array([-2.0, 0.2]),
}
WORDS = list(TABLE)
VECTORS = np.array(list(TABLE.values()))


class KeyedVectors:
    """What gensim's class offers."""

    def __init__(self, table):
        self.key_to_index = {word: i for i, word in enumerate(table)}
        self.vectors = np.array(list(table.values()), dtype=np.float32)

    def __getitem__(self, word):
        return self.vectors[self.key_to_index[word]]


class Word2Vec:
    def __init__(self, table):
        self.wv = KeyedVectors(table)


def test_fitted_embeddings():
    sgns = BayesianSGNS(2, solver="map", min_count=1, prior_precision=0.1, random_state=0)
    sgns.fit(["cat dog cat dog", "tin cat tin dog"] * 5)
    for embedding in (sgns, FrozenEstimator(sgns)):
        vectors, found = source_of(embedding).find(["cat", "qqq"])
        np.testing.assert_array_equal(vectors[0], sgns.rho_[sgns.vocabulary_["cat"]])
        assert found.tolist() == [True, False]


@pytest.mark.parametrize("wrap", [dict, KeyedVectors, Word2Vec], ids=["dict", "keyed", "model"])
def test_mappings(wrap):
    vectors, found = source_of(wrap(TABLE)).find(["dog", "qqq", "tin"])
    assert found.tolist() == [True, False, True]
    np.testing.assert_allclose(vectors, [TABLE["dog"], TABLE["tin"]], atol=1e-6)
    nothing, found = source_of(wrap(TABLE)).find(["qqq"])
    assert nothing is None and not found.any()


def test_arrays():
    np.testing.assert_array_equal(vectors_of_columns(VECTORS.tolist(), WORDS), VECTORS)
    np.testing.assert_array_equal(vectors_of_columns(pd.DataFrame(VECTORS), WORDS), VECTORS)
    np.testing.assert_array_equal(vectors_of_columns(TABLE, WORDS), VECTORS)
    given = VECTORS.copy()
    checked = check_vectors(given)
    checked[:] = 0
    np.testing.assert_array_equal(given, VECTORS, "the user's array is left alone")


@pytest.mark.parametrize("dtype", ["object", "category", "string"])
def test_frames_are_looked_up_by_the_words_of_their_index(dtype):
    pd = pytest.importorskip("pandas")
    # a column may have the name of an attribute that other embeddings have
    frame = pd.DataFrame(VECTORS, index=pd.Index(WORDS, dtype=dtype), columns=["wv", "rho_"])
    order = [2, 0, 1]
    names = np.array(WORDS)[order]
    np.testing.assert_array_equal(vectors_of_columns(frame, names), VECTORS[order])
    np.testing.assert_array_equal(vectors_of_columns(frame.iloc[order], WORDS), VECTORS)
    vectors, found = source_of_words(frame).find(["tin", "qqq", "cat"])
    assert found.tolist() == [True, False, True]
    np.testing.assert_array_equal(vectors, VECTORS[[2, 0]])
    nothing, found = source_of(frame).find(["qqq"])
    assert nothing is None and found.tolist() == [False]
    with pytest.raises(ValueError, match="no vector for 1 of the 2 columns of X"):
        vectors_of_columns(frame, ["cat", "qqq"])
    assert described(frame) == "DataFrame of 3 words"


def test_frames_with_a_word_twice_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(VECTORS, index=["cat", "tin", "tin"])
    with pytest.raises(ValueError, match="embedding must have each word once.*got 'tin' more than"):
        source_of(frame)


def test_frames_of_words_hold_finite_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(VECTORS.copy(), index=WORDS)
    frame.loc["dog", 1] = np.nan
    with pytest.raises(ValueError, match="embedding must hold finite numbers.*that of 'dog'"):
        source_of(frame).find(WORDS)
    # what is not asked for is not looked at
    np.testing.assert_array_equal(source_of(frame).find(["tin"])[0], VECTORS[2:])


def test_frames_without_words_are_arrays():
    pd = pytest.importorskip("pandas")
    for index in (None, [7, 3, 5]):
        frame = pd.DataFrame(VECTORS, index=index)
        np.testing.assert_array_equal(vectors_of_columns(frame, WORDS), VECTORS)
        assert described(frame) == "array of 3 vectors"
        with pytest.raises(ValueError, match="must be a mapping from words.*got an array"):
            source_of_words(frame)


def test_frames_of_polars_are_arrays():
    pl = pytest.importorskip("polars")
    np.testing.assert_array_equal(vectors_of_columns(pl.DataFrame(VECTORS), WORDS), VECTORS)


def test_frames_whose_numbers_are_in_another_order_are_refused():
    """Whether rows or their numbers are in the order of columns cannot be told."""
    pd = optional("pandas")
    frame = pd.DataFrame(np.eye(3), index=[2, 0, 1])
    with pytest.raises(ValueError, match=r"index that begins with \[2, 0, 1\]: sort_index"):
        source_of(frame)
    assert source_of(frame.sort_index()).shape == (3, 3)
