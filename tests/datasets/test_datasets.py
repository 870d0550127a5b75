"""Simulated data against their own truth, and the bundled text."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from skbayesembed.datasets import load_python_reference, make_sgns


def _dense(pairs):
    return pairs.positive.toarray(), pairs.negative.toarray()


def test_make_sgns_shapes_and_total():
    simulation = make_sgns(n_words=30, n_components=4, n_pairs=5000, random_state=0)
    positive, negative = _dense(simulation.pairs)
    assert simulation.rho.shape == simulation.alpha.shape == (30, 4)
    assert positive.shape == negative.shape == (30, 30)
    assert simulation.pairs.n_words == 30
    assert simulation.pairs.words is None
    assert positive.sum() + negative.sum() == 5000
    assert np.array_equal(positive, np.round(positive))
    assert np.array_equal(negative, np.round(negative))
    assert simulation.pairs.positive.data.min() > 0


@pytest.mark.parametrize("zipf", [False, True])
def test_make_sgns_reproducible(zipf):
    first, again, other = (
        make_sgns(n_words=20, n_pairs=2000, zipf=zipf, random_state=seed) for seed in (3, 3, 4)
    )
    for x, y in zip(_dense(first.pairs), _dense(again.pairs), strict=True):
        assert np.array_equal(x, y)
    assert np.array_equal(first.rho, again.rho)
    assert np.array_equal(first.alpha, again.alpha)
    assert not np.array_equal(first.rho, other.rho)


def test_make_sgns_advances_a_random_state():
    state = np.random.RandomState(0)
    first, second = (make_sgns(n_words=10, n_pairs=100, random_state=state) for _ in range(2))
    assert not np.array_equal(first.rho, second.rho)


def test_make_sgns_vector_scale():
    simulation = make_sgns(n_words=2000, n_components=8, n_pairs=1, random_state=0)
    x = np.concatenate([simulation.rho.ravel(), simulation.alpha.ravel()])
    # 32,000 normal numbers with variance 1/8: their sum of squares is chi-squared.
    assert chi2.cdf(8 * (x**2).sum(), x.size) == pytest.approx(0.5, abs=0.4995)


@pytest.mark.parametrize("zipf", [False, True])
def test_make_sgns_pair_frequencies(zipf):
    n_words, n_pairs = 15, 200_000
    simulation = make_sgns(n_words=n_words, n_pairs=n_pairs, zipf=zipf, random_state=1)
    observed = sum(_dense(simulation.pairs))
    p = 1 / (np.arange(1, n_words + 1) + 2.7) if zipf else np.ones(n_words)
    p /= p.sum()
    expected = n_pairs * np.outer(p, p)
    # Pearson's statistic over all cells, each expected 200 times or more; 1 in 1,000 exceeds this.
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-3, n_words**2 - 1)


@pytest.mark.parametrize("zipf", [False, True])
def test_make_sgns_signs_follow_the_truth(zipf):
    simulation = make_sgns(n_words=15, n_components=3, n_pairs=200_000, zipf=zipf, random_state=2)
    positive, negative = _dense(simulation.pairs)
    n = positive + negative
    p = expit(simulation.rho @ simulation.alpha.T)
    # Squared standardised binomial residuals sum to a chi-squared; 1 in 1,000 exceeds this.
    statistic = ((positive - n * p) ** 2 / (n * p * (1 - p))).sum()
    assert statistic < chi2.isf(1e-3, n.size)
    # Transposing the truth must be noticed: rows are targets.
    transposed = ((positive - n * p.T) ** 2 / (n * p.T * (1 - p.T))).sum()
    assert transposed > 10 * chi2.isf(1e-3, n.size)


def test_make_sgns_logits_do_not_depend_on_the_block(monkeypatch):
    whole = make_sgns(n_words=12, n_pairs=500, random_state=0)
    monkeypatch.setattr("skbayesembed.datasets.simulate._BLOCK", 7)
    blocks = make_sgns(n_words=12, n_pairs=500, random_state=0)
    for x, y in zip(_dense(whole.pairs), _dense(blocks.pairs), strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("name", ["n_words", "n_components", "n_pairs"])
@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3", None])
def test_make_sgns_refuses_sizes(name, value):
    with pytest.raises(ValueError, match=f"{name} must be an integer >= 1, got"):
        make_sgns(**{name: value})


@pytest.mark.parametrize("value", [1, "yes", None])
def test_make_sgns_refuses_zipf(value):
    with pytest.raises(ValueError, match="zipf must be True or False, got"):
        make_sgns(zipf=value)


def test_make_sgns_refuses_a_generator():
    with pytest.raises(ValueError):
        make_sgns(random_state=np.random.default_rng(0))


def test_make_sgns_accepts_numpy_integers():
    simulation = make_sgns(np.int64(5), np.int32(2), np.int64(50), random_state=0)
    assert simulation.rho.shape == (5, 2)


def test_load_python_reference():
    reference = load_python_reference()
    assert len(reference.data) == len(reference.topics) > 50
    assert reference.topics == sorted(reference.topics)
    assert all(isinstance(text, str) and text for text in reference.data)
    assert "lambda" in reference.data[reference.topics.index("lambda")]
    assert ".".join(map(str, sys.version_info[:3])) in reference.DESCR


def test_load_python_reference_without_the_module(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(ImportError, match="pydoc_data"):
        load_python_reference()
