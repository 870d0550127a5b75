"""The Gibbs sampler of topics below the estimator: start, options, streams, recording."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from skbayesembed.common.random import generators
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings
from skbayesembed.topics.data import Documents
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from skbayesembed.topics.gibbs.solver import SAMPLERS
from skbayesembed.topics.priors import NIW
from tests.helpers.topic_twins import (
    chain,
    corpus,
    log_joint,
    planted,
    random_corpus,
    sampler,
    tiny,
)

ALPHA = np.array([0.3, 0.7, 0.1])


@pytest.fixture
def documents():
    return random_corpus(np.random.default_rng(0))


@pytest.fixture
def prior(documents):
    return NIW.from_vectors(documents.vectors, documents.totals)


def fitted(model, n_jobs, split, draws=6, chains=2):
    return sample_gibbs(
        model,
        Settings(draws=draws, warmup=12),
        n_chains=chains,
        seeds=np.random.SeedSequence(5),
        n_jobs=n_jobs,
        split_blocks=split,
    )


@pytest.mark.parametrize("kernel", SAMPLERS)
def test_draws_do_not_depend_on_threads(documents, prior, kernel):
    model = sampler(documents, prior, ALPHA, 0.5, kernel, block=40, learn_alpha="asymmetric")
    assert len(model.blocks) > 5
    one = fitted(model, 1, False)
    assert one.draws["mean"].shape == (2, 6, 3, 3)
    assert one.draws["covariance"].shape == (2, 6, 3, 3, 3)
    assert one.draws["counts"].shape == (2, 6, 3, documents.n_words)
    assert np.all(one.draws["counts"].sum(axis=(2, 3)) == documents.n_tokens)
    assert not np.array_equal(one.draws["mean"][0], one.draws["mean"][1])
    for n_jobs, split in ((2, False), (2, True)):
        other = fitted(model, n_jobs, split)
        for name in one.draws:
            np.testing.assert_array_equal(one.draws[name], other.draws[name])
        for name in one.stats:
            np.testing.assert_array_equal(one.stats[name], other.stats[name])


@pytest.mark.parametrize("kernel", SAMPLERS)
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_traces(documents, prior, kernel, power):
    model = sampler(documents, prior, ALPHA, power, kernel)
    state, _ = chain(model, 3, warmup=4)
    seen = model.trace(state)
    expected = log_joint(documents, prior, ALPHA, power, state.z)
    assert seen["lp"] == pytest.approx(expected)
    assert seen["smallest"] == np.bincount(state.z, minlength=3).min()
    assert 0 < seen["moved"] <= 1
    assert ("acceptance" in seen) == (kernel == "alias")
    counts = model.document_counts(state)
    np.testing.assert_array_equal(counts.sum(axis=1), documents.lengths)
    np.testing.assert_array_equal(counts.sum(axis=0), state.counts.sum(axis=0))


@pytest.mark.parametrize("kernel", SAMPLERS)
def test_more_topics_than_tokens(kernel):
    """Empty topics are draws of the prior, and nothing is ever NaN."""
    documents, prior, _ = tiny()
    model = sampler(documents, prior, np.full(9, 0.2), 0.4, kernel, start=np.zeros(5, int))
    _, draws = chain(model, 30, warmup=10, each=lambda s: (model.observe(s), model.trace(s)))
    for seen, trace in draws:
        assert all(np.all(np.isfinite(value)) for value in seen.values())
        assert all(np.isfinite(value) for value in trace.values())
        assert trace["smallest"] == 0
        assert np.all(np.linalg.eigvalsh(seen["covariance"]) > 0)


@pytest.mark.parametrize("kernel", SAMPLERS)
def test_nothing_to_draw(kernel):
    """A corpus of empty documents, or none, gives draws of the prior."""
    for n in (0, 3):
        documents = corpus(np.zeros((n, 4), int), np.eye(4))
        model = sampler(documents, NIW(np.zeros(4), 1.0, 6.0, np.eye(4)), ALPHA, 1.0, kernel)
        state, _ = chain(model, 2, warmup=2)
        assert model.trace(state)["lp"] == 0.0
        assert np.all(np.isfinite(model.observe(state)["covariance"]))


@pytest.mark.parametrize("n", [500, pytest.param(2000, marks=pytest.mark.slow)])
def test_one_topic(documents, prior, n):
    """With one topic nothing moves, and its draws are those of the plain NIW posterior."""
    model = sampler(documents, prior, np.array([0.5]), 1.0, "sampled")
    state, draws = chain(model, n, each=lambda s: s.gaussians.mean[0])
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(np.mean(draws, axis=0) - state.posterior.mean[0]) < 5 * error)
    assert state.moved == 0


def test_planted_topics_are_found():
    """Topics far apart, documents of mixed topics: the words' topics are recovered."""
    rng = np.random.default_rng(3)
    documents, truth = planted(rng, 6.0, 80, 60, 20)
    prior = NIW.from_vectors(documents.vectors, documents.totals)
    for kernel in SAMPLERS:
        start = np.where(rng.random(60) < 0.4, rng.integers(3, size=60), truth)
        model = sampler(documents, prior, ALPHA, 1.0, kernel, start=start)
        state, _ = chain(model, 5, warmup=60)
        best = state.counts.argmax(axis=1)
        pairs = {(a, b) for a, b in zip(truth, best, strict=True)}
        assert len(pairs) == 3


@pytest.mark.parametrize("learn_alpha", ["symmetric", "asymmetric"])
def test_alpha_is_learned_in_warmup_and_then_frozen(documents, prior, learn_alpha):
    model = sampler(documents, prior, ALPHA, 1.0, learn_alpha=learn_alpha)
    state, draws = chain(model, 5, warmup=30, each=lambda s: s.alpha.copy())
    assert np.ptp(draws, axis=0).max() == 0 and not np.allclose(draws[0], ALPHA)
    assert (np.ptp(state.alpha) == 0) == (learn_alpha == "symmetric")


@pytest.mark.parametrize("kernel", ["reference", "alias"])
def test_a_lost_factor_is_an_error_that_says_why(kernel):
    """A prior scale of 1e-14 beside vectors of length 1: nothing remains without the token."""
    documents = corpus(np.ones((1, 2), int), np.eye(2))
    prior = NIW(np.zeros(2), 1.0, 4.0, 1e-14 * np.eye(2))
    model = sampler(documents, prior, np.array([0.5, 0.5]), 1.0, kernel, start=np.zeros(2, int))
    with pytest.raises(np.linalg.LinAlgError, match="scale of the prior is too small"):
        chain(model, 200)


def test_tokens_start_with_their_documents():
    counts = sparse.csr_array(np.array([[2.0, 0, 1], [0, 3, 0], [1, 1, 1]]))
    documents = Documents.of(counts, np.eye(3))
    prior = NIW.from_vectors(documents.vectors, documents.totals)
    model = TopicGibbs(documents, 2, prior, 0.5, start=np.zeros(3, int), clusters=[1, 0, 1])
    state = model.init_state(generators(np.random.SeedSequence(0), model.n_streams))
    np.testing.assert_array_equal(model.document_counts(state), [[0, 3], [3, 0], [0, 3]])


def test_single_precision_ends_before_the_last_sweep_of_warmup(documents, prior):
    """What is drawn from is exact, and so is the sweep that leads there."""
    model = TopicGibbs(documents, 3, prior, ALPHA, start=np.zeros(documents.n_words, np.int64))
    rngs = generators(np.random.SeedSequence(0), model.n_streams)
    state, rough = model.init_state(rngs), []
    for step in range(5):
        rough.append(state.rough)
        model.sweep(state, rngs, lambda f, tasks: [f(*task) for task in tasks])
        model.tune(state, step, 5)
    assert rough == [False, True, True, True, False] and not state.rough
