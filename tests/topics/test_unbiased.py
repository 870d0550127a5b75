"""Shares of topics that the prior does not draw to its mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed import GaussianLDA, load
from skbayesembed.datasets import make_topics
from skbayesembed.topics import unbiased
from skbayesembed.topics.draws import draws_of
from skbayesembed.topics.unbiased import confusion, simulated, unbiased_shares

K = 3


@pytest.fixture(scope="module")
def model():
    data = make_topics(200, 80, K, mean_length=60, separation=2.0, random_state=0)
    return GaussianLDA(
        K, embedding=data.vectors, solver="vi", min_count=1, random_state=0
    ).fit(data.counts)  # fmt: skip


@pytest.mark.parametrize("length", [6, 40])
@pytest.mark.parametrize("word_proba", ["count", "density"])
def test_mean_shares_are_those_that_documents_were_drawn_with(model, length, word_proba):
    """Posterior means are not, by more than ten standard errors in short documents."""
    model.set_params(word_proba=word_proba)
    rng, n = np.random.default_rng(1), 3000
    theta = rng.dirichlet([0.5, 1.0, 2.0], n)
    proba = draws_of(model, chosen=np.array([5])).token_proba(0)
    counts = simulated(theta, np.full(n, length), proba, rng)
    columns = np.zeros((n, 80))
    columns[:, model._columns] = counts.toarray()
    found = next(unbiased_shares(model, counts, np.array([5])))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    error = (found - theta).std(axis=0) / np.sqrt(n)
    # five standard errors of the mean, and as many of 20,000 simulated documents
    assert np.all(np.abs((found - theta).mean(axis=0)) < 7 * error)
    # and slopes on theta are one
    slopes = [np.polyfit(t, f, 1)[0] for t, f in zip(theta.T, found.T, strict=True)]
    np.testing.assert_allclose(slopes, 1.0, atol=0.06 if length < 10 else 0.03)
    read = model.transform(columns)
    shrunk = [np.polyfit(t, r, 1)[0] for t, r in zip(theta.T, read.T, strict=True)]
    assert length > 10 or np.all(np.array(shrunk) < 0.9)
    model.set_params(word_proba="count")


@pytest.mark.parametrize("word_proba", ["count", "density"])
def test_few_short_documents_have_unbiased_shares(word_proba):
    """Five tokens of 1,000 words each: most words are not in them, others once.

    Each topic has words of its own, one in five of which has five times the tokens of the rest.
    """
    rng = np.random.default_rng(0)
    vectors = 0.3 * rng.normal(size=(1000, 3))
    vectors[:500, 0] += 3
    vectors[500:, 0] -= 3
    common = np.where(np.arange(500) % 5 == 0, 5.0, 1.0)
    words = np.zeros((2, 1000))
    words[0, :500] = words[1, 500:] = common / common.sum()
    topic = np.repeat([0, 1], 20)
    fitted = GaussianLDA(
        2, embedding=vectors, solver="vi", min_count=1, random_state=0, word_proba=word_proba
    ).fit(2000 * words)
    few = np.array([rng.multinomial(5, words[k]) for k in topic])
    table = fitted.effects(few, {"second": topic == 1})
    # topics without a word in common: a share is known but for B, each column of which has an
    # error of some .003 from 4,000 simulated documents of five tokens
    np.testing.assert_allclose(np.abs(table.mean[1]), 1.0, atol=0.02)


def test_what_is_read_as_what():
    """B is found from noise about it; of a topic that no document has it is that of the unit."""
    rng = np.random.default_rng(0)
    theta = np.column_stack([rng.dirichlet([1.0, 1.0, 2.0], 5000), np.zeros(5000)])
    truth = np.array([[0.8, 0.1, 0.0], [0.1, 0.6, 0.2], [0.1, 0.3, 0.8]])
    read = theta[:, :3] @ truth.T
    read = np.column_stack([read, np.zeros(5000)]) + 0.01 * rng.normal(size=(5000, 4))
    found = confusion(theta, read)
    # of noise a slope has some .01 / 20, and one document of 1,000 is added
    np.testing.assert_allclose(found[:3, :3], truth, atol=0.004)
    np.testing.assert_allclose(found[:, 3], [0, 0, 0, 1], atol=1e-12)


def test_simulated_documents():
    """Lengths as asked for, words by topic; none of a topic without tokens."""
    theta = np.array([[1.0, 0.0, 0.0], [2 / 7, 5 / 7, 0.0]])
    proba = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.25, 0.75], [0.0, 0.0, 0.0, 0.0]])
    counts = simulated(theta, np.array([1000, 7000]), proba, np.random.default_rng(0)).toarray()
    np.testing.assert_array_equal(counts.sum(axis=1), [1000, 7000])
    assert counts[0, 2:].sum() == 0
    # five standard errors
    expected = 7000 * np.array([1 / 7, 1 / 7, 5 / 28, 15 / 28])
    assert np.all(np.abs(counts[1] - expected) < 5 * np.sqrt(expected))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_topics_without_tokens_have_no_share(monkeypatch):
    """What the prior gives them belongs to the others: the shares of these are not too small."""
    data = make_topics(300, 80, 2, n_dims=3, mean_length=40, separation=4.0, random_state=1)
    model = GaussianLDA(
        4, embedding=data.vectors, solver="vi", min_count=1, random_state=0, draws=4
    ).fit(data.counts)  # fmt: skip
    draws = model.posterior_
    best = np.argsort(-draws["counts"].sum(axis=(0, 1, 3)))
    # the two that have most hold all tokens, by the topics of the simulation
    parts = (data.word_proba * 1000.0)[:, model._columns]
    draws["counts"][..., best[:2], :], draws["counts"][..., best[2:], :] = parts, 0.0
    draws["alpha"][:] = 2.5
    rng, n = np.random.default_rng(2), 3000
    theta = rng.dirichlet([1.0, 1.0], n)
    proba = draws_of(model, chosen=np.array([0])).token_proba(0)[best[:2]]
    counts = simulated(theta, np.full(n, 15), proba, rng)
    found = next(unbiased_shares(model, counts, np.array([0])))
    slope = np.polyfit(theta[:, 0], found[:, best[0]], 1)[0]
    # the error of a slope is some .02
    assert slope == pytest.approx(1.0, abs=0.08)
    assert np.abs(found[:, best[2:]].mean(axis=0)).max() < 0.02


@pytest.mark.parametrize("factor", [0.3, 0.04])
def test_fractions_of_tokens_are_corrected_as_what_they_tell(model, factor):
    """As of weighted counts: slopes on theta are one."""
    rng, n = np.random.default_rng(3), 3000
    theta = rng.dirichlet([0.5, 1.0, 2.0], n)
    proba = draws_of(model, chosen=np.array([5])).token_proba(0)
    counts = simulated(theta, np.full(n, 5), proba, rng) * factor
    found = next(unbiased_shares(model, counts.tocsr(), np.array([5])))
    slopes = [np.polyfit(t, f, 1)[0] for t, f in zip(theta.T, found.T, strict=True)]
    np.testing.assert_allclose(slopes, 1.0, atol=0.15)


def test_documents_of_any_length(model):
    """One token, fractions of one, and thousands."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(1.0, (7, model.words_.size)).astype(float)
    counts[0] = 0
    counts[0, 3] = 0.4
    counts[1] *= 200
    counts[2] = 0
    counts[2, 5] = 1
    found = next(unbiased_shares(model, sparse.csr_array(counts), np.array([0])))
    assert np.all(np.isfinite(found)) and found.shape == (7, K)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.usefixtures("few_simulated")
@pytest.mark.parametrize("most", [2**26, pytest.param(100, marks=pytest.mark.slow)])
def test_shares_are_kept_for_the_next_design(model, monkeypatch, most, tmp_path):
    """Bit for bit the same, of the same documents and settings only; large ones by matrices."""
    monkeypatch.setattr(unbiased, "_KEPT_BYTES", most)
    made, inverses = [], unbiased._inverses
    monkeypatch.setattr(unbiased, "_inverses", lambda *of: made.append(of) or inverses(*of))
    counts = make_topics(40, 80, K, mean_length=30, random_state=1).counts
    group = np.arange(40) % 2
    unbiased._LAST.clear()
    first = model.effects(counts, {"group": group})
    assert len(made) == 5
    model.effects(counts, {"other": np.arange(40)})
    again = model.effects(counts.copy(), {"group": group})
    assert len(made) == 5 and len(unbiased._LAST) == 1
    for name in ("mean", "sd", "draws", "interval"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))
    counts[0, counts[0].argmax()] += 1
    other = model.effects(counts, {"group": group})
    assert len(made) == 10 and not np.array_equal(other.mean, first.mean)
    model.set_params(word_proba="density").effects(counts, {"group": group})
    model.set_params(word_proba="count").effects(counts, {"group": group}, n_draws=9)
    assert len(made) == 20
    # another posterior has its own, and the last one alone is kept
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.effects(counts, {"group": group}).mean, other.mean)
    assert len(made) == 25 and list(unbiased._LAST) == [loaded.posterior_]


@pytest.mark.usefixtures("few_simulated")
def test_shares_after_another_batch():
    """They are of the posterior that there is now."""
    data = make_topics(60, 80, K, mean_length=30, random_state=1)
    found = []
    for ask in (True, False):
        model = GaussianLDA(K, embedding=data.vectors, solver="vi", min_count=1, random_state=0)
        model.partial_fit(data.counts[:30])
        if ask:
            model.effects(data.counts, {"x": np.arange(60) % 2})
        model.partial_fit(data.counts[30:])
        found.append(model.effects(data.counts, {"x": np.arange(60) % 2}).mean)
    np.testing.assert_array_equal(*found)
