"""Vectors of words in every form in which users have them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from skbayesembed import BayesianSGNS
from skbayesembed.corpus.embedding import check_vectors, source_of, vectors_of_columns
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
