"""Topics by Hamiltonian and variational inference against sums over all assignments of tokens."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import gammaln, softmax

from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.mode_gaussian import ModeGaussian
from skbayesembed.inference.records import Settings
from skbayesembed.inference.trajectories import HamiltonianOptions
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.posterior.summary import ess
from skbayesembed.topics.data import Documents
from skbayesembed.topics.gibbs.conditionals import TopicGibbs
from skbayesembed.topics.model import MarginalTopics
from skbayesembed.topics.priors import NIW, topic_moments
from skbayesembed.topics.vi.variational import TopicVI

K = 2
ALPHA = np.array([0.9, 0.9])
PRIOR = NIW(np.zeros(2), 0.2, 5.0, np.eye(2))


def serial(function, tasks):
    for task in tasks:
        function(*task)


def tiny(gap):
    """Three documents of two tokens each; words in two groups, ``gap`` from the origin."""
    rng = np.random.default_rng(3)
    counts = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    centres = gap * np.array([[1.0, 0], [1, 0], [-1, 0], [-1, 0]])
    return Documents.of(sparse.csr_array(counts), centres + 0.7 * rng.normal(size=(4, 2)))


def enumerated(docs, power):
    """Probabilities of all assignments of tokens: assignments (n, N) and weights (n,)."""
    of_document = np.repeat(np.arange(docs.n_documents), np.diff(docs.indptr))
    assignments = np.array(list(product(range(K), repeat=docs.words.size)))
    terms = []
    for z in assignments:
        n = np.zeros((docs.n_documents, K))
        np.add.at(n, (of_document, z), 1)
        by_topic = np.zeros((K, docs.n_words))
        np.add.at(by_topic, (z, docs.words), 1.0)
        of_topic, mean, scatter = topic_moments(docs.vectors, by_topic)
        niw = PRIOR.update(power * of_topic, mean, power * scatter)
        evidence = niw.log_evidence(PRIOR, power * of_topic).sum()
        terms.append(gammaln(n + ALPHA).sum() + evidence)
    return assignments, softmax(terms)


def same_topic(docs, power):
    """Probability that two tokens are of the same topic, (N, N): labels do not matter."""
    assignments, weights = enumerated(docs, power)
    same = assignments[:, :, None] == assignments[:, None, :]
    return np.tensordot(weights, same, 1)


class Watched(MarginalTopics):
    """Records whether two tokens are of the same topic, given all parameters."""

    def observe(self, theta):
        proba, weights, _ = self._parts(theta)
        rows = np.repeat(np.arange(len(proba)), np.diff(self.documents.indptr))
        chances = proba[rows] * weights[self._data[1]]
        chances /= chances.sum(axis=1, keepdims=True)
        return {"same": chances @ chances.T}


@pytest.mark.parametrize(
    ("power", "method"),
    [
        pytest.param(0.4, "nuts", marks=pytest.mark.slow),
        pytest.param(1.0, "hmc", marks=pytest.mark.slow),
        pytest.param(1.0, "nuts", marks=pytest.mark.slow),
    ],
)
def test_hmc_against_enumeration(method, power):
    docs = tiny(0.0)
    exact = same_topic(docs, power)
    model = Watched(
        docs, K, PRIOR, ALPHA, power=power, start={"assignment": np.array([0, 0, 1, 1])}
    )
    found = sample_hmc(
        model,
        Settings(draws=1500, warmup=500),
        HamiltonianOptions(method=method),
        n_chains=2,
        seeds=np.random.SeedSequence(1),
    )
    pairs = np.triu_indices(docs.words.size, 1)
    draws = found.draws["same"][:, :, *pairs]
    n_effective = ess(draws)
    assert n_effective.min() > 100
    error = draws.std(axis=(0, 1)) / np.sqrt(n_effective)
    z = (draws.mean(axis=(0, 1)) - exact[pairs]) / error
    # 15 means, four of these tests: beyond 4 once in 250 times
    assert np.all(np.abs(z) < 4), z
    assert np.ptp(exact[pairs]) > 0.1


def test_bound_gap_and_counts_where_topics_are_apart():
    """With labels fixed by the start, q(z) is nearly exact."""
    docs = tiny(6.0)
    assignments, weights = enumerated(docs, 1.0)
    # the mode of the labelling: tokens of words 0 and 1 in the same topic
    model = TopicVI(docs, K, PRIOR, ALPHA)
    for labels in ([0, 0, 1, 1], [1, 1, 0, 0]):
        q = model.init_q({"assignment": np.array(labels)})
        coordinate_ascent(model, q, serial, max_iter=500, tol=1e-12)
        inside = assignments[:, 0] == labels[0]
        of_words = np.zeros((docs.n_words, K))
        for i, w in enumerate(docs.words):
            for k in range(K):
                match = assignments[inside, i] == k
                of_words[w, k] += weights[inside] @ match / weights[inside].sum()
        np.testing.assert_allclose(q.counts, of_words, atol=0.15)


def planted(seed=0, n=50, n_words=30, n_topics=3, apart=1.6):
    """Documents and topics; where ``apart`` is small, words leave the topic in doubt."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n_words) % n_topics
    vectors = apart * np.eye(n_topics)[topic] + 0.8 * rng.normal(size=(n_words, n_topics))
    share = rng.dirichlet(np.full(n_topics, 0.4), size=n)
    counts = rng.poisson(15 * share[:, topic] * n_topics / n_words)
    return Documents.of(sparse.csr_array(counts), vectors), topic


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 0.5])
def test_hmc_agrees_with_gibbs(power):
    # where topics are nearer, chains of some seeds stay in one of several modes
    docs, topic = planted(apart=3.0)
    prior = NIW.from_vectors(docs.vectors, docs.totals)
    settings, seeds = Settings(draws=1000, warmup=300), np.random.SeedSequence(5)
    model = MarginalTopics(docs, 3, prior, 0.4, power=power, start={"assignment": topic})
    hmc = sample_hmc(model, settings, n_chains=2, seeds=seeds).draws
    chains = TopicGibbs(docs, 3, prior, np.full(3, 0.4), power=power, start=topic)
    settings = Settings(draws=4000, warmup=500)
    gibbs = sample_gibbs(chains, settings, n_chains=2, seeds=seeds).draws
    z = []
    for name in ("mean", "covariance", "counts"):
        a, b = (d[name].reshape(*d[name].shape[:2], -1) for d in (hmc, gibbs))
        sizes = [ess(x) for x in (a, b)]
        assert min(np.nanmin(size) for size in sizes) > 200
        errors = [x.std(axis=(0, 1)) / np.sqrt(n) for x, n in zip((a, b), sizes, strict=True)]
        moving = errors[0] + errors[1] > 0  # words that do not occur have no counts
        difference = (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1)))[moving]
        z.append(difference / np.hypot(*errors)[moving])
    z = np.concatenate(z)
    # 126 means: beyond 4.5 once in 1000 times
    assert np.all(np.abs(z) < 4.5)
    assert np.std(z) < 1.6


@pytest.mark.slow
def test_laplace_and_vi_are_near_hmc():
    """Means of topics that are apart: the three are within a part of the posterior's width."""
    docs, topic = planted(apart=4.0)
    prior = NIW.from_vectors(docs.vectors, docs.totals)
    model = MarginalTopics(docs, 3, prior, 0.4, start={"assignment": topic})
    settings, seeds = Settings(draws=300, warmup=200), np.random.SeedSequence(5)
    exact = sample_hmc(model, settings, n_chains=1, seeds=seeds).draws["mean"][0]
    width = exact.std(axis=0)
    theta, facts = find_mode(model, model.start())
    assert facts["converged"]
    draws = ModeGaussian(model, theta).sample(200, np.random.default_rng(0))
    laplace = np.array([model.observe(t)["mean"] for t in draws])
    variational = TopicVI(docs, 3, prior, 0.4)
    q = variational.init_q({"assignment": topic})
    coordinate_ascent(variational, q, serial, max_iter=1000, tol=1e-9)
    assert np.all(np.abs(laplace.mean(axis=0) - exact.mean(axis=0)) < 0.5 * width)
    assert np.all(np.abs(q.niw.mean - exact.mean(axis=0)) < 0.5 * width)
    # deviations of some 200 draws have errors of some 7 %
    np.testing.assert_allclose(laplace.std(axis=0) / width, 1.0, atol=0.35)
    spread = variational.sample_q(q, 300, np.random.default_rng(1), ("mean",))["mean"].std(axis=0)
    np.testing.assert_allclose(spread / width, 1.0, atol=0.35)
