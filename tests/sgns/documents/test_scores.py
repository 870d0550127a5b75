"""Pairs by document, and the influence of units against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import BayesianSGNS, PairCounts
from skbayesembed.corpus.units import Units, units_of
from skbayesembed.inference.chains import serial
from skbayesembed.sgns import data
from skbayesembed.sgns.batches import CorpusBatches, MatrixBatches
from skbayesembed.sgns.counting import expected_negatives
from skbayesembed.sgns.data import pair_table
from skbayesembed.sgns.documents import blocks
from skbayesembed.sgns.documents import scores as scores_module
from skbayesembed.sgns.documents.blocks import DocumentPairs
from skbayesembed.sgns.documents.influences import Influences
from skbayesembed.sgns.documents.scores import ExpectedScores, GivenScores, effective_units
from skbayesembed.sgns.model import SGNSModel

V, K, D = 12, 3, 9
OPTIONS = {"negative": 2.0, "ns_exponent": 0.75}
SEED = np.random.SeedSequence(0)


def corpus(**parameters):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 40, D)
    ids = rng.integers(-1, V, lengths.sum())
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    estimator = BayesianSGNS(K, window=3, **parameters)
    return CorpusBatches(estimator, ids, offsets, V, np.bincount(ids[ids >= 0], minlength=V))


def matrix(pair_weights):
    counts = np.random.default_rng(1).poisson(0.7, (D, V)).astype(float)
    counts[2] = 0.0
    counts[3] = np.eye(V)[5]
    return MatrixBatches(counts, pair_weights)


SOURCES = {
    "linear": corpus,
    "uniform": lambda: corpus(window_weights="uniform"),
    "subsample": lambda: corpus(subsample=0.05),
    "token": lambda: matrix("token"),
    "pairs": lambda: matrix("pairs"),
}


@pytest.fixture(params=list(SOURCES))
def source(request):
    return SOURCES[request.param]()


@pytest.mark.parametrize("size", [10, 2**23], ids=["small blocks", "one block"])
def test_documents_add_up_to_the_whole(source, size, monkeypatch):
    monkeypatch.setattr(blocks, "_PAIRS", size)
    total = DocumentPairs(source, None, SEED).total()
    whole = source.whole(np.random.default_rng(SEED))
    np.testing.assert_allclose(total.toarray(), whole.toarray(), rtol=1e-12, atol=1e-12)


def test_each_document_is_that_document(source):
    if source.__class__ is CorpusBatches and source.threshold:
        pytest.skip("tokens that are dropped differ where there are others")
    for d in range(D):
        weights = np.eye(D)[d]
        if isinstance(source, MatrixBatches):
            one = MatrixBatches(source.matrix[[d]], source.pair_weights)
        else:
            ends = source.offsets[d : d + 2]
            one = CorpusBatches(
                source, source.ids[slice(*ends)], ends - ends[0], V, source.frequency
            )
        found = DocumentPairs(source, weights, SEED).total()
        np.testing.assert_allclose(found.toarray(), one.whole(None).toarray(), atol=1e-12)


def test_dynamic_windows_are_taken_at_their_expectation():
    dynamic, linear = corpus(window_weights="dynamic"), corpus()
    total = DocumentPairs(dynamic, None, SEED).total()
    np.testing.assert_allclose(total.toarray(), linear.whole(None).toarray(), atol=1e-12)


def gradient(positive, vectors):
    """Of the log likelihood, its negative pairs made anew."""
    counts = PairCounts(positive, expected_negatives(positive, **OPTIONS))
    model = SGNSModel(pair_table(counts), K, 1.0)
    out = np.empty(model.n_parameters)
    model.logp_and_grad(vectors.ravel(), out)
    return out.reshape(vectors.shape) + vectors


@pytest.mark.parametrize("index", [np.arange(D), np.arange(D) % 4], ids=["documents", "units"])
def test_influence_against_finite_differences(source, index, monkeypatch):
    """The derivative of the recounted gradient by a unit's weight; central differences."""
    monkeypatch.setattr(blocks, "_PAIRS", 500)
    if len(index) > index.max() + 1:
        # probabilities are made row by row, as in large vocabularies
        monkeypatch.setattr(data, "KEPT_UPTO", 5)
        monkeypatch.setattr(scores_module, "_ROWS", 7)
        monkeypatch.setattr(scores_module, "_PAIRS", 9)
    vectors = np.random.default_rng(2).normal(size=(2, V, K))
    units = Units(index, np.unique(index))
    pairs = DocumentPairs(source, None, SEED)
    scores = ExpectedScores(pairs, units, vectors, run=serial, **OPTIONS)
    found = scores.weighted(np.eye(units.n_units))
    step = 1e-4
    for unit in range(units.n_units):
        up, down = (
            gradient(DocumentPairs(source, 1.0 + h * (index == unit), SEED).total(), vectors)
            for h in (step, -step)
        )
        expected = (up - down) / (2 * step)
        # differences of second order and rounding, relative to the largest influence
        np.testing.assert_allclose(found[unit], expected, atol=1e-7 * np.abs(expected).max() + 1e-9)


def test_influence_is_linear_and_the_same_in_threads(source):
    vectors = np.random.default_rng(2).normal(size=(2, V, K))
    units = units_of(None, None, D)
    scores = ExpectedScores(DocumentPairs(source, None, SEED), units, vectors, **OPTIONS)
    weights = np.random.default_rng(3).normal(size=(20, D))
    expected = np.tensordot(weights, scores.weighted(np.eye(D)), axes=1)
    np.testing.assert_allclose(scores.weighted(weights), expected, rtol=1e-9, atol=1e-9)
    single = scores.weighted(weights, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("index", [np.arange(D), np.arange(D) % 4], ids=["documents", "units"])
def test_influence_along_directions(source, index, monkeypatch):
    """Without the influences themselves: their products with directions, in single precision."""
    monkeypatch.setattr(blocks, "_PAIRS", 500)
    rng = np.random.default_rng(2)
    vectors, directions = rng.normal(size=(2, V, K)), rng.normal(size=(3, 2, V, K))
    units = Units(index, np.unique(index))
    pairs = DocumentPairs(source, rng.uniform(0.5, 2.0, D), SEED)
    scores = ExpectedScores(pairs, units, vectors, **OPTIONS)
    expected = np.einsum(
        "dswk,mswk->dm", scores.weighted(np.eye(units.n_units)), directions, optimize=True
    )
    influences = Influences(pairs, units, V, **OPTIONS)
    found = influences.along(vectors, directions)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(influences.unit_rows.toarray(), scores.unit_rows.toarray())


def test_influence_of_pair_counts():
    rng = np.random.default_rng(4)
    positive = [sparse.csr_array(rng.poisson(1.0, (V, V)).astype(float)) for _ in range(4)]
    counts = [PairCounts(p, expected_negatives(p, **OPTIONS)) for p in positive]
    vectors = rng.normal(size=(2, V, K))
    scores = GivenScores(counts, vectors)
    found = scores.weighted(np.eye(4))
    for one, influence in zip(counts, found, strict=True):
        model = SGNSModel(pair_table(one), K, 1.0)
        out = np.empty(model.n_parameters)
        model.logp_and_grad(vectors.ravel(), out)
        expected = out.reshape(vectors.shape) + vectors
        np.testing.assert_allclose(influence, expected, atol=1e-9)


def test_effective_units():
    rows = sparse.csr_array(np.array([[2.0, 5.0, 0.0, 1.0], [2.0, 0.0, 0.0, 3.0]]))
    np.testing.assert_allclose(effective_units(rows), [2.0, 1.0, 0.0, 16.0 / 10.0])
