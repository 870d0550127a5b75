"""Coordinate ascent for Gaussian topics against slow twins and exact values."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma, gammaln, logsumexp

from skbayesembed import GaussianLDA
from skbayesembed.datasets import make_topics
from skbayesembed.inference.chains import Workers
from skbayesembed.inference.contracts import Variational
from skbayesembed.inference.vi import coordinate_ascent
from skbayesembed.numeric import elementwise
from skbayesembed.topics.data import Documents
from skbayesembed.topics.priors import NIW, topic_moments
from skbayesembed.topics.vi import kernels
from skbayesembed.topics.vi.statistics import WordFeatures, divergence
from skbayesembed.topics.vi.variational import ALPHA_MIN, TopicApproximation, TopicVI, best_alpha
from tests.helpers.topic_twins import expected_log_density, serial

K, E, V, M = 3, 2, 11, 9


def documents(seed=0, n=M, fractional=False, scale=0.8):
    """Random documents, one of them empty."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(scale, size=(n, V)).astype(float)
    counts[1] = 0
    if fractional:
        counts *= 0.7
    return Documents.of(sparse.csr_array(counts), rng.normal(size=(V, E)) + 3.0)


def stack(seed=0, n_dims=E, k=K):
    rng = np.random.default_rng(seed)
    root = np.tril(rng.normal(size=(k, n_dims, n_dims)))
    scale = root @ root.swapaxes(1, 2) + np.eye(n_dims)
    mean = rng.normal(size=(k, n_dims))
    return NIW(mean, rng.uniform(0.5, 4, k), n_dims + rng.uniform(1, 9, k), scale)


def model_of(docs, power=1.0, alpha=0.4, seed=3, **options):
    prior = NIW.from_vectors(docs.vectors, np.maximum(docs.totals, 1e-3))
    model = TopicVI(docs, K, prior, alpha, power=power, **options)
    assignment = np.random.default_rng(seed).integers(K, size=V)
    return model, model.init_q({"assignment": assignment})


# elementary functions and tables


# What is inlined in kernels is compiled anew where it is called by itself.
COMPILED = pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])


@COMPILED
def test_elementary_functions(compiled):
    x = np.exp(np.random.default_rng(0).uniform(np.log(1e-6), np.log(1e9), 1000))
    for function, exact in (
        (elementwise.digamma, digamma),
        (elementwise.log_gamma, gammaln),
        (elementwise.log_positive, np.log),
    ):
        made = np.array([(function if compiled else function.py_func)(a) for a in x])
        np.testing.assert_allclose(made, exact(x), rtol=1e-13, atol=1e-13)


@COMPILED
def test_log_near_one(compiled):
    x = 1 + np.linspace(-0.4, 0.6, 501)
    function = elementwise.log_positive if compiled else elementwise.log_positive.py_func
    made = np.array([function(a) for a in x])
    np.testing.assert_allclose(made, np.log(x), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("n_dims", [1, 2, 5])
def test_table_of_log_densities(n_dims):
    niw = stack(n_dims=n_dims)
    vectors = np.random.default_rng(1).normal(size=(40, n_dims)) + 2.0
    features = WordFeatures(vectors, np.full(n_dims, 1.5))
    weights, top = features.weights(niw, 0.7, serial)
    expected = 0.7 * expected_log_density(niw, vectors)
    np.testing.assert_allclose(np.log(weights) + top[:, None], expected, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_table_is_the_average_of_log_densities():
    niw, draws = stack(), 4000
    vectors = np.random.default_rng(1).normal(size=(6, E))
    weights, top = WordFeatures(vectors, np.zeros(E)).weights(niw, 1.0, serial)
    rng = np.random.default_rng(2)
    sampled = np.array([niw.sample(rng).log_density(vectors) for _ in range(draws)])
    error = sampled.std(axis=0) / np.sqrt(draws)
    # 18 entries: beyond 4 standard errors once in 900 sets of them
    assert np.all(np.abs(sampled.mean(axis=0) - np.log(weights) - top[:, None]) < 4 * error)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_statistics_give_the_posterior(power):
    rng = np.random.default_rng(0)
    vectors, counts = rng.normal(size=(V, E)) + 5.0, rng.random((V, K))
    counts[:, 1] = 0.0
    prior = NIW(np.full(E, 4.0), 0.5, 5.0, np.eye(E))
    features = WordFeatures(vectors, prior.mean)
    made = features.posterior(prior, features.sums(counts, serial), power)
    n, mean, scatter = topic_moments(vectors, counts.T)
    exact = prior.update(power * n, mean, power * scatter)
    for name in ("mean", "kappa", "nu", "scale"):
        np.testing.assert_allclose(getattr(made, name), getattr(exact, name), rtol=1e-12)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_divergence_closes_the_bound_of_one_topic(power):
    """Without topics to choose from, bound and log evidence are the same."""
    rng = np.random.default_rng(0)
    vectors, weights = rng.normal(size=(V, E)), rng.random((K, V))
    prior = NIW(np.full(E, 0.3), 0.5, 5.0, np.eye(E))
    n, mean, scatter = topic_moments(vectors, weights)
    niw = prior.update(power * n, mean, power * scatter)
    expected = power * np.sum(weights.T * expected_log_density(niw, vectors), axis=0)
    evidence = niw.log_evidence(prior, power * n)
    np.testing.assert_allclose(expected - divergence(niw, prior), evidence, rtol=1e-11)
    same = prior.update(np.zeros(K), np.zeros((K, E)), np.zeros((K, E, E)))
    np.testing.assert_allclose(divergence(same, prior), 0.0, atol=1e-11)


# one sweep


def slow_sweep(model, q, n_inner):
    """Documents one by one by equations 6 and 7; the bound term by term; the new topics."""
    docs, alpha = model.documents, q.alpha
    table = model.power * expected_log_density(q.niw, docs.vectors)
    bound = -divergence(q.niw, model.prior).sum()
    counts, gammas = np.zeros((V, K)), q.gamma.copy()
    for d in range(docs.n_documents):
        entries = slice(docs.indptr[d], docs.indptr[d + 1])
        words, n = docs.words[entries], docs.counts[entries]
        gamma = gammas[d]
        for _ in range(n_inner):
            log_phi = digamma(gamma) - digamma(gamma.sum()) + table[words]
            log_phi -= logsumexp(log_phi, axis=1, keepdims=True)
            gamma = alpha + n @ np.exp(log_phi)
        log_theta = digamma(gamma) - digamma(gamma.sum())
        phi = np.exp(log_phi)
        bound += np.sum(n[:, None] * phi * (log_theta + table[words] - log_phi))
        for a, sign in ((alpha, 1), (gamma, -1)):
            bound += sign * (gammaln(a.sum()) - gammaln(a).sum() + (a - 1) @ log_theta)
        gammas[d] = gamma
        np.add.at(counts, words, n[:, None] * phi)
    n, mean, scatter = topic_moments(docs.vectors, counts.T)
    niw = model.prior.update(model.power * n, mean, model.power * scatter)
    return bound, gammas, counts, niw


@pytest.mark.parametrize("n_inner", [1, 3])
@pytest.mark.parametrize("power", [1.0, 0.2])
@pytest.mark.parametrize("fractional", [False, True])
def test_sweep_against_twin(n_inner, power, fractional):
    model, q = model_of(documents(fractional=fractional), power, n_inner=n_inner)
    for _ in range(3):
        bound, gamma, counts, niw = slow_sweep(model, q, n_inner)
        made = model.update(q, serial)
        assert made == pytest.approx(bound, rel=1e-12)
        np.testing.assert_allclose(q.gamma, gamma, rtol=1e-10)
        np.testing.assert_allclose(q.counts, counts, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(q.niw.mean, niw.mean, rtol=1e-10)
        np.testing.assert_allclose(q.niw.scale, niw.scale, rtol=1e-9)
    np.testing.assert_allclose((q.gamma - q.alpha).sum(axis=1), model.documents.lengths)


@pytest.mark.parametrize("learn_alpha", [None, "symmetric", "asymmetric"])
@pytest.mark.parametrize("power", [1.0, 0.1])
def test_bound_never_falls(power, learn_alpha):
    docs = documents(seed=5, n=40, scale=2.0)
    model, q = model_of(docs, power, np.array([0.4, 0.4, 0.4]), learn_alpha=learn_alpha)
    bounds = np.array([model.update(q, serial) for _ in range(80)])
    # rounding of a sum of some 900 terms
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:]))
    assert bounds[-1] > bounds[0] + 1
    assert (learn_alpha is None) == np.array_equal(q.alpha, model.alpha)
    if learn_alpha == "symmetric":
        assert np.ptp(q.alpha) == 0


def test_learned_alpha_raises_the_bound():
    docs = documents(seed=5, n=40, scale=2.0)
    ends = []
    for learn_alpha in (None, "symmetric", "asymmetric"):
        model, q = model_of(docs, learn_alpha=learn_alpha)
        ends.append([model.update(q, serial) for _ in range(100)][-1])
    assert ends[0] < ends[1] < ends[2] + 1e-9


def test_contract_and_convergence():
    model, q = model_of(documents(n=30))
    assert isinstance(model, Variational)
    facts = coordinate_ascent(model, q, serial, max_iter=2000, tol=1e-9)
    assert facts["converged"]
    again = slow_sweep(model, q, model.n_inner)
    # a fixed point: another sweep of the twin moves nothing
    np.testing.assert_allclose(again[1], q.gamma, rtol=1e-2, atol=1e-2)


def test_low_powers_are_expected_to_take_more_sweeps():
    """As `GaussianLDA` ends an ascent: within a factor of four at a power of 0.1."""
    # topics that overlap: others are found in the first sweeps, whatever the power
    data = make_topics(150, 300, 8, n_dims=8, separation=1.0, random_state=1)
    sweeps = {}
    for power in (1.0, 0.1):
        model = GaussianLDA(
            8, embedding=data.vectors, solver="vi", likelihood_power=power, random_state=0, draws=5
        ).fit(data.counts)
        sweeps[power] = model.posterior_.attrs["n_iter"]
    typical = {power: model_of(documents(n=4), power=power)[0].typical for power in (1, 0.7, 0.1)}
    assert typical[1] == typical[0.7] < typical[0.1]
    assert sweeps[1.0] < sweeps[0.1]
    assert typical[0.1] / 4 < sweeps[0.1] < 4 * typical[0.1]


def test_extreme_priors_of_topics_leave_finite_bounds():
    model, q = model_of(documents(n=30), alpha=ALPHA_MIN)
    model.documents.vectors[0] += 1e3
    assert all(np.isfinite(model.update(q, serial)) for _ in range(20))
    assert np.all(np.isfinite(q.counts))


def test_same_result_for_every_number_of_threads():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, size=(200, 2000)) * 40
    docs = Documents.of(sparse.csr_array(counts), rng.normal(size=(2000, 40)))
    assert len(docs.blocks()) > 3
    prior = NIW.from_vectors(docs.vectors, docs.totals)
    model = TopicVI(docs, K, prior, 0.3, learn_alpha="asymmetric")
    assert len(model.features.blocks) > 2
    found = []
    for n_threads in (1, 3):
        with Workers(n_threads) as run:
            q = model.init_q({"assignment": np.arange(2000) % K}, run)
            bounds = [model.update(q, run) for _ in range(2)]
        found.append((bounds, q.gamma, q.niw.scale, q.alpha, q.counts))
    for a, b in zip(*found, strict=True):
        assert np.array_equal(a, b)


# the bound and the evidence


def log_evidence(docs, k, prior, alpha, power):
    """log sum over all assignments of the joint density of assignments and words."""
    tokens = [
        (d, docs.words[i])
        for d in range(docs.n_documents)
        for i in range(docs.indptr[d], docs.indptr[d + 1])
        for _ in range(docs.counts[i])
    ]
    of_document, words = np.array(tokens).T
    terms = []
    for z in product(range(k), repeat=len(words)):
        z = np.array(z)
        n = np.zeros((docs.n_documents, k))
        np.add.at(n, (of_document, z), 1)
        term = np.sum(gammaln(n + alpha).sum(axis=1) - gammaln(alpha).sum())
        term += np.sum(gammaln(alpha.sum()) - gammaln(n.sum(axis=1) + alpha.sum()))
        by_topic = np.zeros((k, docs.n_words))
        np.add.at(by_topic, (z, words), 1.0)
        n, mean, scatter = topic_moments(docs.vectors, by_topic)
        niw = prior.update(power * n, mean, power * scatter)
        terms.append(term + niw.log_evidence(prior, power * n).sum())
    return logsumexp(terms)


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_bound_is_below_the_evidence(power):
    rng = np.random.default_rng(3)
    counts = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    vectors = np.array([[4.0, 0], [5, 1], [-4, 0], [-5, 1]]) + 0.1 * rng.normal(size=(4, 2))
    docs = Documents.of(sparse.csr_array(counts), vectors)
    prior, alpha = NIW(np.zeros(2), 0.2, 5.0, np.eye(2)), np.array([0.7, 1.1])
    exact = log_evidence(docs, 2, prior, alpha, power)
    model = TopicVI(docs, 2, prior, alpha, power=power)
    ends = []
    for assignment in product(range(2), repeat=4):
        q = model.init_q({"assignment": np.array(assignment)})
        facts = coordinate_ascent(model, q, serial, max_iter=500, tol=1e-12)
        ends.append(facts["elbo"][-1])
    assert max(ends) < exact
    # two labellings of the topics are alike: log 2 is lost, and what independence costs
    assert max(ends) > exact - np.log(2) - 2.0


# draws


def test_draws_have_the_moments_of_the_approximation():
    model, q = model_of(documents(n=30, scale=1.5))
    coordinate_ascent(model, q, serial, max_iter=200, tol=1e-10)
    n = 1000
    draws = model.sample_q(q, n, np.random.default_rng(0))
    assert draws["mean"].shape == (n, K, E)
    assert draws["covariance"].shape == (n, K, E, E)
    error = draws["mean"].std(axis=0) / np.sqrt(n)
    assert np.all(np.abs(draws["mean"].mean(axis=0) - q.niw.mean) < 4 * error)
    inverse = np.linalg.inv(draws["covariance"])
    expected = np.asarray(q.niw.nu)[:, None, None] * np.linalg.inv(q.niw.scale)
    error = inverse.std(axis=0) / np.sqrt(n)
    assert np.all(np.abs(inverse.mean(axis=0) - expected) < 4 * error)
    assert np.all(draws["alpha"] == q.alpha)


@pytest.mark.parametrize("heavy", [1, 10 * kernels.MANY], ids=["one by one", "together"])
def test_drawn_counts(heavy):
    docs = documents(n=30, scale=1.5)
    docs = Documents(docs.indptr, docs.words, (heavy * docs.counts).astype(np.int32), docs.vectors)
    model, q = model_of(docs, power=1 / heavy)
    for _ in range(400):
        model.update(q, serial)
    n = 3000
    counts = model.sample_q(q, n, np.random.default_rng(0), ("counts",))["counts"]
    assert counts.shape == (n, K, V)
    # each token is somewhere
    assert np.all(counts.sum(axis=1) == model.totals)
    docs = model.documents
    table = model.power * expected_log_density(q.niw, docs.vectors)
    mean, variance = np.zeros((V, K)), np.zeros((V, K))
    for d in range(docs.n_documents):
        entries = slice(docs.indptr[d], docs.indptr[d + 1])
        words, times = docs.words[entries], docs.counts[entries, None]
        phi = np.exp(digamma(q.gamma[d]) + table[words])
        phi /= phi.sum(axis=1, keepdims=True)
        np.add.at(mean, words, times * phi)
        np.add.at(variance, words, times * phi * (1 - phi))
    np.testing.assert_allclose(mean, q.counts, rtol=1e-3, atol=1e-3)
    error = np.sqrt(variance / n) + 1e-9
    assert np.all(np.abs(counts.mean(axis=0).T - mean) < 4.5 * error)
    # a variance of n draws has a relative error of about sqrt(2 / n), more where rarely not zero
    busy = variance > 0.1
    assert np.all(np.abs(counts.var(axis=0).T / np.where(busy, variance, 1) - 1)[busy] < 0.25)


@pytest.mark.parametrize("heavy", [1, 10 * kernels.MANY], ids=["one by one", "together"])
def test_fractional_counts_are_drawn_whole_but_for_the_rest(heavy):
    docs = documents(fractional=True)
    docs = Documents(docs.indptr, docs.words, heavy * docs.counts, docs.vectors)
    model, q = model_of(docs)
    model.update(q, serial)
    counts = model.sample_q(q, 5, np.random.default_rng(0), ("counts",))["counts"]
    np.testing.assert_allclose(counts.sum(axis=1), np.tile(model.totals, (5, 1)))


def test_draws_of_heavy_counts_take_as_long_as_those_of_light_ones():
    """A count of a billion is one draw of a multinomial, not a billion of tokens."""
    docs = documents()
    docs = Documents(docs.indptr, docs.words, 1e9 * docs.counts, docs.vectors)
    model, q = model_of(docs)
    counts = model.sample_q(q, 2, np.random.default_rng(0), ("counts",))["counts"]
    np.testing.assert_array_equal(counts.sum(axis=1), np.tile(model.totals, (2, 1)))


def test_approximation():
    model, q = model_of(documents())
    found = TopicApproximation(q, [model.update(q, serial)])
    assert found.counts.shape == (K, V)
    assert found.elbo.shape == (1,)
    np.testing.assert_array_equal(found.mean["covariance"], q.niw.mean_covariance())
    assert found.sample(2, np.random.default_rng(0))["mean"].shape == (2, K, E)


# the Dirichlet prior


@pytest.mark.parametrize("truth", [[0.05, 0.3, 0.1], [3.0, 20.0, 0.5], [1.0, 1.0, 1.0]])
@pytest.mark.parametrize("start", [0.01, 1.0, 50.0])
def test_alpha_is_at_the_maximum(truth, start):
    truth = np.array(truth)
    # under Dir(truth) the average of log theta is this, and truth maximises
    target = digamma(truth) - digamma(truth.sum())
    found = best_alpha(np.full(3, start), target, False)
    np.testing.assert_allclose(found, truth, rtol=1e-5)
    alike = best_alpha(np.full(3, start), target, True)
    slope = digamma(3 * alike[0]) - digamma(alike[0]) + target.mean()
    assert alike[0] == pytest.approx(alike[1])
    assert abs(alike[0] * slope) < 1e-6


def test_alpha_stays_above_zero():
    found = best_alpha(np.full(3, 0.1), np.array([-1e9, -1.0, -1.0]), False)
    assert found[0] == ALPHA_MIN
    assert np.all(np.isfinite(found))


# topics


def test_planted_topics_are_found():
    rng = np.random.default_rng(0)
    topic = np.arange(30) % K
    vectors = 3 * np.eye(K)[topic] + 0.5 * rng.normal(size=(30, K))
    share = rng.dirichlet(np.full(K, 0.2), size=80)
    counts = rng.poisson(2.0 * share[:, topic])
    docs = Documents.of(sparse.csr_array(counts), vectors)
    prior = NIW.from_vectors(vectors, docs.totals)
    model = TopicVI(docs, K, prior, 0.2)
    q = model.init_q({"assignment": topic})
    coordinate_ascent(model, q, serial, max_iter=200, tol=1e-8)
    assert np.array_equal(np.argmax(q.counts, axis=1), topic)
    theta = q.gamma / q.gamma.sum(axis=1, keepdims=True)
    # 20 tokens a document
    assert np.mean(np.abs(theta - share)) < 0.08
