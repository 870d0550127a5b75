"""The Gibbs sampler of the sense models: state, starts, errors, and tiny models that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import expit, logsumexp

from skbayesembed.common.random import generators
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings
from skbayesembed.senses.checks import KERNELS
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.priors import ModelPrior

EXACT = ("metropolis", "polya-gamma", "uniform")
K, G, T, V, D = 3, 2, 4, 6, 60


def snippets(rng, n_genres=G, labels=None):
    """Random snippets; period 1 and the last cell have none, some snippets are empty."""
    counts = rng.poisson(0.6, (D, V)).astype(float)
    counts[[4, 9]] = 0.0
    periods = rng.choice([0, 2, 3], D)
    genres = np.where(periods == 3, 0, rng.integers(0, n_genres, D))
    return Snippets.of(
        sparse.csr_array(counts), periods, genres, labels, n_periods=T, n_genres=n_genres
    )


def started(model, seed=0):
    rng = generators(np.random.SeedSequence(seed), model.n_streams)
    return model.init_state(rng), rng


def run(model, sweeps, seed=0, each=None):
    """States of a chain, seen by ``each(state)`` after each sweep."""
    state, rng = started(model, seed)
    out = []
    for _ in range(sweeps):
        model.sweep(state, rng, None)
        out.append(None if each is None else each(state))
    return state, out


def counted(data, senses, n_senses):
    """Snippets (G, T, K) and words (K, T, V) of each sense."""
    cells = np.zeros((data.n_genres, data.n_periods, n_senses))
    words = np.zeros((n_senses, data.n_periods, data.n_words))
    of = np.repeat(np.arange(data.n_snippets), np.diff(data.indptr))
    np.add.at(cells, (data.genres, data.periods, senses), 1.0)
    np.add.at(words, (senses[of], data.periods[of], data.words), data.counts)
    return cells, words


@pytest.mark.parametrize("kernel", KERNELS["gibbs"])
@pytest.mark.parametrize("kind", ["disc", "gasc", "scan"])
def test_state_stays_consistent(kind, kernel):
    data = snippets(np.random.default_rng(0), n_genres=1 if kind == "scan" else G)
    model = SenseGibbs(data, K, ModelPrior(kind=kind), kernel=kernel)
    state, _ = run(model, 20)
    cells, words = counted(data, state.senses, K)
    np.testing.assert_array_equal(state.snippets, cells)
    np.testing.assert_array_equal(state.tokens, words)
    np.testing.assert_allclose(state.words.log_sums(), logsumexp(state.words.x, axis=2))
    seen = model.observe(state)
    np.testing.assert_allclose(seen["prevalence"].sum(axis=2), 1.0)
    np.testing.assert_allclose(
        np.log(seen["prevalence"]),
        state.prevalence.x - logsumexp(state.prevalence.x, axis=2, keepdims=True),
    )
    if kind == "disc":
        np.testing.assert_allclose(state.words.x, seen["chi"][:, None] + seen["theta"])
        assert ("kappa_phi" in model.trace(state)) is False
    else:
        np.testing.assert_array_equal(state.words.x, seen["psi"])
        assert model.trace(state)["kappa_phi"] == state.kappa_phi > 0
    assert ("acceptance" in model.trace(state)) == (kernel == "metropolis")
    assert 0.3 < state.acceptance <= 1.0
    assert {name: seen[name].shape for name in seen if name != "prevalence"} == {
        name: shape for name, shape in model.shapes.items() if name != "phi"
    }


@pytest.mark.parametrize("kind", ["disc", "gasc"])
def test_log_posterior(kind):
    """The traced lp against the densities of scipy, senses summed out one snippet at a time."""
    data = snippets(np.random.default_rng(1), labels=np.where(np.arange(D) < 5, 1, -1))
    prior = ModelPrior(kind=kind)
    model = SenseGibbs(data, K, prior)
    state, _ = run(model, 3)
    kappa = state.kappa_phi if prior.walks else None
    phi = state.prevalence.x

    def chains(x, precision):
        law = stats.multivariate_normal(cov=np.linalg.inv(precision.dense()))
        return law.logpdf(np.moveaxis(x, 1, 2).reshape(-1, T)).sum()

    expected = chains(phi, prior.phi_precision(T, kappa))
    if prior.walks:
        expected += chains(state.words.x, prior.psi_precision(T))
        law = stats.invgamma(prior.kappa_phi_shape, scale=prior.kappa_phi_rate)
        expected += law.logpdf(state.kappa_phi)
    else:
        expected += chains(state.theta[None], prior.theta_precision(T))
        expected += stats.norm(scale=prior.kappa_chi**0.5).logpdf(state.chi).sum()
    log_prevalence = phi - logsumexp(phi, axis=2, keepdims=True)
    log_words = state.words.x - logsumexp(state.words.x, axis=2, keepdims=True)
    for d in range(D):
        t = data.periods[d]
        entries = slice(data.indptr[d], data.indptr[d + 1])
        a = log_prevalence[data.genres[d], t].copy()
        a += log_words[:, t, data.words[entries]] @ data.counts[entries]
        expected += a[data.labels[d]] if data.labels[d] >= 0 else logsumexp(a)
    assert model.trace(state)["lp"] == pytest.approx(expected, rel=1e-10)


def test_known_labels_stay():
    labels = np.where(np.arange(D) % 3 == 0, np.arange(D) % K, -1)
    model = SenseGibbs(snippets(np.random.default_rng(2), labels=labels), K, ModelPrior())
    known = labels >= 0
    _, senses = run(model, 30, each=lambda s: s.senses.copy())
    senses = np.array(senses)
    np.testing.assert_array_equal(senses[:, known], np.tile(labels[known], (30, 1)))
    assert np.mean((senses[:, ~known] != senses[0, ~known]).any(axis=0)) > 0.8


def test_start():
    data = snippets(np.random.default_rng(3))
    rng = np.random.default_rng(4)
    shapes = {"phi": (G, T, K), "chi": (K, V), "theta": (T, V)}
    start = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    kept = {name: array.copy() for name, array in start.items()}
    model = SenseGibbs(data, K, ModelPrior(), start=start)
    state, streams = started(model)
    np.testing.assert_array_equal(state.chi, start["chi"])
    np.testing.assert_array_equal(state.prevalence.x, start["phi"])
    model.sweep(state, streams, None)
    for name in shapes:
        np.testing.assert_array_equal(start[name], kept[name])
        np.testing.assert_array_equal(model.start[name], kept[name])


def test_first_senses_are_uniform():
    model = SenseGibbs(snippets(np.random.default_rng(5)), K, ModelPrior())
    shares = np.bincount(
        np.concatenate([started(model, seed)[0].senses for seed in range(50)]), minlength=K
    ) / (50 * D)
    # 3000 multinomial draws: a standard error of 0.0086
    np.testing.assert_allclose(shares, 1 / K, atol=0.035)


@pytest.mark.parametrize("kind", ["disc", "gasc"])
@pytest.mark.parametrize("kernel", EXACT)
def test_same_seed_same_draws(kind, kernel):
    model = SenseGibbs(snippets(np.random.default_rng(7)), K, ModelPrior(kind=kind), kernel=kernel)

    def draws(n_jobs):
        seeds = np.random.SeedSequence(3)
        settings = Settings(draws=6, warmup=4, thin=2)
        return sample_gibbs(model, settings, n_chains=2, seeds=seeds, n_jobs=n_jobs)

    one, two = draws(1), draws(2)
    assert one.draws["prevalence"].shape == (2, 6, G, T, K)
    for name in one.draws:
        np.testing.assert_array_equal(one.draws[name], two.draws[name])
        assert not np.array_equal(one.draws[name][0], one.draws[name][1])
    np.testing.assert_array_equal(one.stats["lp"], two.stats["lp"])


@pytest.mark.parametrize("kernel", EXACT)
@pytest.mark.parametrize("kind", ["disc", "scan"])
@pytest.mark.parametrize("n_senses, n_words, n_periods", [(1, 4, 3), (2, 1, 3), (2, 4, 1)])
def test_one_of_everything(kind, kernel, n_senses, n_words, n_periods):
    rng = np.random.default_rng(8)
    counts = sparse.csr_array(rng.poisson(1.0, (20, n_words)))
    data = Snippets.of(counts, rng.integers(0, n_periods, 20), n_periods=n_periods)
    model = SenseGibbs(data, n_senses, ModelPrior(kind=kind), kernel=kernel)
    state, lps = run(model, 50, each=lambda s: model.trace(s)["lp"])
    assert np.all(np.isfinite(lps)) and np.all(np.isfinite(state.words.x))


@pytest.mark.parametrize("kernel", EXACT)
def test_long_snippets_do_not_underflow(kernel):
    """Two topics, 500 words a snippet: probabilities near exp(-3000), senses found at once.

    A chain may begin with all snippets in one sense, which it leaves slowly. One of four chains
    finds both.
    """
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, 40)
    p = rng.dirichlet(np.full(400, 0.5), 2)
    counts = np.array([rng.multinomial(500, p[k]) for k in truth])
    data = Snippets.of(sparse.csr_array(counts), np.zeros(40, int))
    right = []
    for seed in range(1, 5):
        state, _ = run(SenseGibbs(data, 2, ModelPrior(), kernel=kernel), 60, seed=seed)
        right.append(max((state.senses == truth).mean(), (state.senses != truth).mean()))
        assert np.isfinite(state.log_likelihood)
    assert max(right) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["disc", "gasc"])
def test_prior_alone(kind):
    """Without snippets draws are those of the prior: their variances, level of rows included."""
    none = Snippets.of(sparse.csr_array((0, 3)), np.zeros(0, int), n_periods=2, n_genres=1)
    prior = ModelPrior(kind=kind)
    model = SenseGibbs(none, 2, prior)
    _, phi = run(model, 4000, each=lambda s: s.prevalence.x.copy())
    _, words = run(model, 4000, seed=1, each=lambda s: s.words.x.copy())
    first = prior.first_phi if prior.walks else prior.kappa_phi / (1 - prior.alpha_phi**2)
    if prior.walks:
        first_word = prior.first_psi
    else:
        first_word = prior.kappa_chi + prior.kappa_theta / (1 - prior.alpha_theta**2)
    for draws, variance in ((phi, first), (words, first_word)):
        draws = np.array(draws)[:, :, 0]
        # means over at least two independent entries, draws nearly so: 4 % standard error at most
        assert np.mean(draws**2) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(k, marks=() if k == "uniform" else pytest.mark.slow) for k in EXACT],
)
@pytest.mark.parametrize("n_draws", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_conditional_of_a_path_against_quadrature(kernel, n_draws, sampling):
    """One logit over two periods, the other of each row held: moments on a grid."""
    prior = ModelPrior(kind="scan", kappa_psi=0.5, first_psi=2.0)
    counts = np.array([[[3.0, 1.0], [0.0, 4.0]]])
    held = np.array([0.4, -0.7])
    data = Snippets.of(sparse.csr_array((0, 2)), np.zeros(0, int), n_periods=2, n_genres=1)
    model = SenseGibbs(data, 1, prior, kernel=kernel)
    state, rng = started(model, 2)
    state.tokens[:] = counts
    draws = np.empty((n_draws, 2))
    for i in range(len(draws)):
        state.words.x[0, :, 1] = held
        state.words.refresh()
        if kernel == "metropolis":
            model._move_words(state, rng[0])
        else:
            model._draw_paths(state.words, counts, model._word_prior, rng[0])
        draws[i] = state.words.x[0, :, 0]
    grid = np.linspace(-9, 9, 400)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    precision = prior.psi_precision(2).dense()
    log = -0.5 * (precision[0, 0] * a**2 + precision[1, 1] * b**2) - precision[0, 1] * a * b
    for x, shift, (n, other) in ((a, held[0], counts[0, 0]), (b, held[1], counts[0, 1])):
        log += n * np.log(expit(x - shift)) + other * np.log(expit(shift - x))
    weight = np.exp(log - logsumexp(log))
    for test in (lambda x, y: x, lambda x, y: y, lambda x, y: x * y, lambda x, y: y**2):
        sample = test(*draws.T)
        error = sample.std() / np.sqrt(sampling.ess(sample[None]))
        # twelve comparisons, each beyond 4.5 standard errors once in 150,000
        assert abs(sample.mean() - (weight * test(a, b)).sum()) < 4.5 * error


@pytest.mark.parametrize(
    ("kind", "kernel"),
    [
        pytest.param("disc", "metropolis", marks=pytest.mark.slow),
        ("disc", "polya-gamma"),
        pytest.param("disc", "uniform", marks=pytest.mark.slow),
        pytest.param("scan", "metropolis", marks=pytest.mark.slow),
        pytest.param("scan", "polya-gamma", marks=pytest.mark.slow),
        pytest.param("scan", "uniform", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("sweeps", [2_000, pytest.param(8_000, marks=pytest.mark.slow)])
def test_senses_against_enumeration(kind, kernel, sweeps, sampling):
    """Four snippets over two words: all 16 assignments, with their exact probabilities."""
    counts = np.array([[3, 0], [2, 1], [0, 2], [1, 1]])
    data = Snippets.of(sparse.csr_array(counts), np.zeros(4, int))
    prior = ModelPrior(kind=kind, kappa_phi=0.25)
    model = SenseGibbs(data, 2, prior, kernel=kernel)
    _, codes = run(model, sweeps, seed=3, each=lambda s: s.senses @ [8, 4, 2, 1])
    codes = np.array(codes)

    # only differences of logits matter: phi_0 - phi_1, and those of the words under each sense
    if kind == "disc":
        spread = 2 * prior.kappa_phi / (1 - prior.alpha_phi**2)
        shared = 2 * prior.kappa_theta / (1 - prior.alpha_theta**2)
        own = 2 * prior.kappa_chi
    else:
        spread, shared, own = 2 * prior.first_phi, 0.0, 2 * prior.first_psi
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    phi = np.sqrt(spread) * nodes
    level = np.sqrt(shared) * nodes
    expected = np.empty(16)
    for code, senses in enumerate(itertools.product((0, 1), repeat=4)):
        senses = np.array(senses)
        one = senses.sum()
        value = weights @ (expit(phi) ** (4 - one) * expit(-phi) ** one)
        given = weights
        for k in (0, 1):
            first, second = counts[senses == k].sum(axis=0)
            logit = level[:, None] + np.sqrt(own) * nodes
            given = given * ((expit(logit) ** first * expit(-logit) ** second) @ weights)
        expected[code] = value * given.sum()
    expected /= expected.sum()
    for code in range(16):
        hits = (codes == code).astype(float)
        error = np.sqrt(expected[code] * (1 - expected[code]) / sampling.ess(hits[None]))
        # 96 comparisons in all, each beyond 4.5 standard errors once in 150,000
        assert abs(hits.mean() - expected[code]) < 4.5 * error, code
