"""Coherence of topics against its formulas, written out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.metrics import coherence
from tests.helpers.extras import optional

pd = optional("pandas")

WORDS = ["cat", "dog", "hen", "tin", "iron"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return rng.poisson([0.5, 0.6, 0.4, 0.3, 0.2], size=(40, 5)).astype(float)


def slow(topic, counts, measure):
    """The mean over pairs, document by document."""
    n, values = len(counts), []
    for w, v in combinations(topic, 2):
        docs_w = {d for d in range(n) if counts[d, w] > 0}
        docs_v = {d for d in range(n) if counts[d, v] > 0}
        if not docs_w or not docs_v:
            continue
        both = len(docs_w & docs_v)
        p = max(both, 1) / n
        pmi = np.log(p / (len(docs_w) / n * len(docs_v) / n))
        if measure == "pmi":
            values.append(pmi)
        else:
            values.append(-1.0 if both == 0 else 0.0 if p == 1 else pmi / -np.log(p))
    return np.mean(values) if values else np.nan


@pytest.mark.parametrize("measure", ["npmi", "pmi"])
def test_formulas(counts, measure):
    topics = [[0, 1, 2], [3, 4, 0], [2, 4]]
    expected = [slow(topic, counts, measure) for topic in topics]
    np.testing.assert_allclose(coherence(topics, counts, measure=measure), expected)


@pytest.mark.parametrize("measure", ["npmi", "pmi"])
def test_edges(measure):
    """Words that never meet, that are everywhere, and that are nowhere."""
    counts = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0]])
    topics = [[0, 1], [0, 2], [2, 3], [0, 1, 3]]
    found = coherence(topics, counts, measure=measure)
    expected = [slow(topic, counts, measure) for topic in topics]
    np.testing.assert_allclose(found, expected)
    assert np.isnan(found[2]) and found[3] == found[0]
    if measure == "npmi":
        np.testing.assert_allclose(found[:2], [-1, 0])
        np.testing.assert_allclose(coherence([[0, 1]], np.eye(4)[:, [0, 0]]), 1)


def test_forms(counts):
    topics = [["cat", "dog", "hen"], ["tin", "iron"]]
    index = [[0, 1, 2], [3, 4]]
    expected = coherence(index, counts)
    frame = pd.DataFrame(counts, columns=WORDS)
    text = [" ".join(w for w, c in zip(WORDS, row, strict=True) for _ in range(int(c)))
            for row in counts]  # fmt: skip
    for found in (
        coherence(topics, counts, vocabulary=WORDS),
        coherence(topics, sparse.csr_matrix(counts), vocabulary=dict(zip(WORDS, range(5)))),  # noqa: B905
        coherence(topics, frame),
        coherence(topics, text),
        coherence(topics, iter(text)),
        coherence(topics, [t.split() for t in text]),
        coherence(np.array([["cat", "dog", "hen"], ["tin", "iron", "qqq"]]), frame),
    ):
        np.testing.assert_allclose(found, expected)


def test_only_the_first_words_count(counts):
    np.testing.assert_array_equal(
        coherence([[0, 1, 2, 3]], counts, n=2), coherence([[0, 1]], counts)
    )


def test_refusals(counts):
    with pytest.raises(ValueError, match="vocabulary must be given where topics are words"):
        coherence([["cat", "dog"]], counts)
    with pytest.raises(ValueError, match="topics must be words where X_ref holds documents"):
        coherence([[0, 1]], ["cat dog"])
    with pytest.raises(ValueError, match="from 0 to 4, got 5"):
        coherence([[0, 5]], counts)
    with pytest.raises(ValueError, match="measure must be one of 'npmi', 'pmi'"):
        coherence([[0, 1]], counts, measure="umass")
    with pytest.raises(ValueError, match="n must be an integer >= 2"):
        coherence([[0, 1]], counts, n=1)


def test_words_that_are_there_twice_count_once():
    documents = ["cat dog", "dog cat hen", "tin iron", "iron tin zinc"]
    once, twice, same = coherence(
        [["cat", "hen", "tin"], ["cat", "cat", "hen", "tin", "hen"], ["cat", "cat"]], documents
    )
    assert once == twice and np.isnan(same)


def test_words_may_be_a_column_of_a_table(counts):
    pd = optional("pandas")
    words = [f"w{i}" for i in range(counts.shape[1])]
    asked = [words[:3]]
    found = coherence(asked, counts, vocabulary=pd.Series(words))
    np.testing.assert_array_equal(found, coherence(asked, counts, vocabulary=words))
    assert np.isfinite(found).all()
