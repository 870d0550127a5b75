"""The Gibbs sampler of senses with effects of works: state, density, corners that are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import expit, logsumexp

from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings
from skbayesembed.numeric.logistic_normal import mean_softmax
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.gibbs import work_kernels
from skbayesembed.senses.gibbs.conditionals import SenseGibbs
from skbayesembed.senses.gibbs.works import WorkUpdates
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from tests.senses.test_gibbs import D, G, K, T, V, counted, run, snippets, started

WORKS = 5
KERNELS = ("metropolis", "polya-gamma")


def of_works(seed=0, labels=None, n_genres=G):
    """Snippets of works that are in several periods and genres."""
    rng = np.random.default_rng(seed)
    data = snippets(rng, n_genres, labels)
    return replace(data, works=np.concatenate([np.arange(WORKS), rng.integers(WORKS, size=D)])[:D])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["disc", "gasc", "scan"])
def test_state_stays_consistent(kind, kernel):
    data = of_works(n_genres=1 if kind == "scan" else G)
    model = SenseGibbs(data, K, ModelPrior(kind=kind), kernel=kernel)
    state, _ = run(model, 20)
    _, words = counted(data, state.senses, K)
    np.testing.assert_array_equal(state.tokens, words)
    c, works = data.contexts, state.works
    for i in range(c.counts.size):
        row = c.places[i], c.periods[i]
        here = state.senses[c.of_snippet == i]
        np.testing.assert_array_equal(state.snippets[row], np.bincount(here, minlength=K))
        logits = works.phi[c.genres[i], c.periods[i]] + works.effects[c.works[i]]
        np.testing.assert_allclose(state.prevalence.x[row], logits, atol=1e-12)
    assert state.snippets.sum() == D
    table = state.prevalence
    np.testing.assert_allclose(table.log_sums(), logsumexp(table.x, axis=2))
    seen = model.observe(state)
    assert seen["unit_effects"].shape == (WORKS, K) and seen["unit_sd"].shape == ()
    for name in ("phi", "unit_effects"):
        np.testing.assert_allclose(seen[name].sum(axis=-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(seen["prevalence"], mean_softmax(seen["phi"], works.sd), atol=1e-12)


@pytest.mark.parametrize("kind", ["disc", "learned", "gasc"])
def test_log_posterior(kind):
    """The traced densities against those of scipy, and of the model that hmc samples."""
    labels = np.where(np.arange(D) < 5, 1, -1)
    data = of_works(1, labels)
    learned = {"kappa_phi": (1.0, 0.25)} if kind == "learned" else {}
    prior = ModelPrior(kind="disc" if learned else kind, unit_scale=0.7, **learned)
    model = SenseGibbs(data, K, prior)
    state, _ = run(model, 3)
    works, seen = state.works, model.trace(state)
    arrays = {"phi": works.phi, "unit_effects": works.effects, "log_unit_sd": np.log(works.sd)}
    arrays |= (
        {"psi": state.words.x} if prior.walks else {"chi": state.chi, "theta": state.theta}
    )  # fmt: skip
    found = SenseModel(data, K, prior).sums(arrays).value
    assert seen["log_likelihood"] == pytest.approx(found, rel=1e-10)
    without = SenseGibbs(replace(data, works=None), K, prior)
    given = {n: np.array(a) for n, a in arrays.items() if "unit" not in n}
    plain = without.state_of(given, started(without)[1])
    plain.kappa_phi = state.kappa_phi
    expected = without.trace(plain)["lp"] - plain.log_likelihood + found
    expected += stats.norm(scale=works.sd).logpdf(works.effects).sum()
    expected += stats.halfnorm(scale=0.7).logpdf(works.sd)
    assert seen["lp"] == pytest.approx(expected, rel=1e-10)


def test_draw_cells():
    """The Gaussian of `draw_cells` with an envelope of zeros, against a dense one."""
    rng, n = np.random.default_rng(2), 6
    x = np.tril(rng.normal(size=(n, n)))
    x[3:, 0] = x[4, :2] = x[5, :4] = 0.0
    precision = x @ x.T + np.eye(n)
    assert precision[5, 0] == 0.0
    linear, stream = rng.normal(size=n), np.random.default_rng(3)
    draws, first = np.empty((20_000, n)), np.empty(n, dtype=np.int64)
    for draw in draws:
        work_kernels.draw_cells(precision.copy(), linear.copy(), stream, first, draw)
    covariance = np.linalg.inv(precision)
    gap = (draws.mean(axis=0) - covariance @ linear) / np.sqrt(np.diag(covariance) / len(draws))
    assert np.abs(gap).max() < 4.5
    # of variances and covariances of independent draws, at most this relative to the variances
    size = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.abs((np.cov(draws.T) - covariance) / size).max() < 4.5 * np.sqrt(2 / len(draws))


@pytest.mark.parametrize("n_draws", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_joint_conditional(n_draws, sampling):
    """Paths and effects of one sense, the other held at zero: moments on a grid.

    One work is in both periods, the other in the first: two logits of a path, and two effects.
    """
    counts = np.array([[4.0, 1.0], [2.0, 0.0], [0.0, 5.0]])
    periods, works = np.array([0, 0, 1]), np.array([0, 1, 0])
    sizes = counts.sum(axis=1)
    each = np.repeat(np.arange(3), sizes.astype(int))
    data = Snippets.of(
        sparse.csr_array((each.size, 1)), periods[each], works=works[each], n_periods=2
    )
    prior = ModelPrior(kappa_phi=0.5)
    precision, updates, sd = prior.phi_precision(2), WorkUpdates(data, 2, 1.0), 0.8
    of_sense = np.zeros((2, 2, 2))
    of_sense[data.contexts.places, data.contexts.periods] = counts
    rng, draws = np.random.default_rng(5), np.empty((n_draws, 4))
    arrays = {"phi": np.zeros((1, 2, 2)), "unit_effects": np.zeros((2, 2)), "log_unit_sd": 0.0}
    state, table = updates.state_of(arrays)
    for draw in draws:
        state.phi[..., 1] = state.effects[:, 1] = 0.0
        updates._put(state, table)
        given = state.phi, state.effects, of_sense, updates._index, sd
        work_kernels.draw_contexts(table, *given, precision.diagonal, precision.off, rng)
        draw[:] = *state.phi[0, :, 0], *state.effects[:, 0]
    grid = np.linspace(-6, 6, 25)
    axes = np.meshgrid(*(grid,) * 4, indexing="ij", sparse=True)
    p = precision.dense()
    log = -0.5 * (p[0, 0] * axes[0] ** 2 + p[1, 1] * axes[1] ** 2) - p[0, 1] * axes[0] * axes[1]
    log = log - 0.5 * (axes[2] ** 2 + axes[3] ** 2) / sd**2
    for t, w, (n, other) in zip(periods, works, counts, strict=True):
        x = axes[t] + axes[2 + w]
        log = log + n * np.log(expit(x)) + other * np.log(expit(-x))
    weight = np.exp(log - logsumexp(log))
    for i, j in ((0, 0), (1, 1), (2, 2), (3, 3), (0, 1), (0, 2), (1, 2), (0, 3), (2, 3)):
        of_two = weight.sum(axis=tuple({0, 1, 2, 3} - {i, j}), keepdims=True)
        pairs = [(draws[:, i] * draws[:, j], axes[i] * axes[j])]
        pairs += [(draws[:, i], axes[i])] if i == j else []
        for values, known in pairs:
            error = values.std() / np.sqrt(sampling.ess(values[None]))
            # thirteen comparisons, each beyond 4.5 standard errors once in 150,000
            assert abs(values.mean() - np.sum(of_two * known)) < 4.5 * error, (i, j)


def test_known_labels_stay():
    labels = np.where(np.arange(D) % 3 == 0, np.arange(D) % K, -1)
    known = labels >= 0
    _, senses = run(SenseGibbs(of_works(2, labels), K, ModelPrior()), 10,
                    each=lambda s: s.senses.copy())  # fmt: skip
    assert (np.array(senses)[:, known] == labels[known]).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_same_seed_same_draws(kernel):
    model = SenseGibbs(of_works(7), K, ModelPrior(kappa_phi=(1.0, 0.25)), kernel=kernel)

    def draws(n_jobs):
        seeds, settings = np.random.SeedSequence(3), Settings(draws=6, warmup=4, thin=2)
        return sample_gibbs(model, settings, n_chains=2, seeds=seeds, n_jobs=n_jobs)

    one, two = draws(1), draws(2)
    assert set(one.draws) == {"prevalence", "phi", "unit_effects", "unit_sd", "chi", "theta"}
    for name in one.draws:
        np.testing.assert_array_equal(one.draws[name], two.draws[name])
        assert not np.array_equal(one.draws[name][0], one.draws[name][1])


@pytest.mark.parametrize("kind", ["disc", "scan"])
@pytest.mark.parametrize("n_senses, n_words, n_periods", [(1, 4, 3), (2, 1, 3), (2, 4, 1)])
def test_one_of_everything(kind, n_senses, n_words, n_periods):
    rng = np.random.default_rng(8)
    counts = sparse.csr_array(rng.poisson(1.0, (20, n_words)))
    data = Snippets.of(
        counts, rng.integers(0, n_periods, 20), n_periods=n_periods, works=np.arange(20) % 3
    )
    model = SenseGibbs(data, n_senses, ModelPrior(kind=kind))
    state, seen = run(model, 50, each=lambda s: (model.trace(s)["lp"], s.works.sd))
    assert np.isfinite(seen).all() and np.isfinite(state.words.x).all()


@pytest.mark.slow
def test_one_sense_leaves_the_prior_of_the_size(sampling):
    """No softmax sees effects of one sense: draws of their size are half-normal."""
    data = Snippets.of(sparse.csr_array((6, 2)), np.zeros(6, int), works=np.arange(6) % 3)
    model = SenseGibbs(data, 1, ModelPrior(unit_scale=0.7))
    _, sizes = run(model, 6_000, each=lambda s: s.works.sd)
    sizes = np.array(sizes)
    for power in (1, 2):
        x = sizes**power
        error = x.std() / np.sqrt(sampling.ess(x[None]))
        assert abs(x.mean() - stats.halfnorm(scale=0.7).moment(power)) < 4.5 * error


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_labelled_snippets_against_quadrature(scale, sampling):
    """Two senses that are known, four works in one cell: moments over phi and the size.

    Of differences between the two senses: that of phi is normal, that of a work given the size s
    too, with the variance 2 s^2.
    """
    labels = np.repeat([0, 1] * 4, [3, 0, 1, 4, 9, 2, 0, 1])
    works = np.repeat(np.arange(4), [3, 5, 11, 1])
    n = labels.size
    data = Snippets.of(sparse.csr_array((n, 2)), np.zeros(n, int), labels=labels, works=works)
    prior = ModelPrior(kappa_phi=0.25, unit_scale=scale)
    model = SenseGibbs(data, 2, prior)

    def look(state):
        (phi,), effects, sd = state.works.phi[0], state.works.effects, state.works.sd
        second = effects[1, 0] - effects[1, 1]
        return phi[0] - phi[1], sd, second

    _, draws = run(model, 12_000, seed=4, each=look)
    phi, sd = np.linspace(-8, 8, 241), scale * np.linspace(0.0025, 4.9975, 400)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    variance = 2 * prior.kappa_phi / (1 - prior.alpha_phi**2)
    log = -0.5 * phi[:, None] ** 2 / variance - 0.5 * (sd / scale) ** 2
    effect = np.sqrt(2) * sd[:, None] * nodes
    logits = phi[:, None, None] + effect
    for w in range(4):
        one = np.sum(labels[works == w] == 0)
        other = np.sum(works == w) - one
        likelihood = expit(logits) ** one * expit(-logits) ** other
        log = log + np.log(likelihood @ weights)
        if w == 1:
            mean_of_second = (likelihood * effect) @ weights / (likelihood @ weights)
    p = np.exp(log - logsumexp(log))
    known = [
        np.sum(p * phi[:, None]), np.sum(p * phi[:, None] ** 2), np.sum(p * sd),
        np.sum(p * sd**2), np.sum(p * (sd < 0.3 * scale)), np.sum(p * mean_of_second),
    ]  # fmt: skip
    x = np.array(draws)
    seen = [x[:, 0], x[:, 0] ** 2, x[:, 1], x[:, 1] ** 2, x[:, 1] < 0.3 * scale, x[:, 2]]
    for values, expected in zip(seen, known, strict=True):
        values = values.astype(float)
        error = values.std() / np.sqrt(sampling.ess(values[None]))
        # twelve comparisons, each beyond 4.5 standard errors once in 150,000
        assert abs(values.mean() - expected) < 4.5 * error, (values.mean(), expected, error)


def test_start():
    data = of_works(3)
    rng = np.random.default_rng(4)
    model = SenseGibbs(data, K, ModelPrior())
    start = {name: rng.normal(size=shape) for name, shape in model.shapes.items()}
    assert {n: start[n].shape for n in ("phi", "unit_effects")} == {
        "phi": (G, T, K), "unit_effects": (WORKS, K),
    }  # fmt: skip
    kept = {name: np.array(array) for name, array in start.items()}
    model = SenseGibbs(data, K, ModelPrior(), start=start)
    state, streams = started(model)
    np.testing.assert_array_equal(state.works.effects, start["unit_effects"])
    assert state.works.sd == pytest.approx(np.exp(start["log_unit_sd"]))
    assert state.words.x.shape == (K, T, V)
    model.sweep(state, streams, None)
    for name, array in kept.items():
        np.testing.assert_array_equal(start[name], array)


def test_works_that_are_all_alike_make_a_small_size():
    """The size goes where effects are nothing, in a few sweeps."""
    n = 400
    data = Snippets.of(
        sparse.csr_array((n, 2)), np.zeros(n, int), labels=np.arange(n) % 2,
        works=np.arange(n) // 2 % 10,
    )  # fmt: skip
    start = {"phi": np.zeros((1, 1, 2)), "chi": np.zeros((2, 2)), "theta": np.zeros((1, 2))}
    start |= {"unit_effects": np.zeros((10, 2)), "log_unit_sd": np.log(3.0)}
    model = SenseGibbs(data, 2, ModelPrior(), start=start)
    _, sizes = run(model, 200, each=lambda s: s.works.sd)
    assert np.median(sizes[50:]) < 0.2


@pytest.mark.parametrize("scale", [1e-200, 1e90])
def test_scales_beyond_all_bounds_end(scale):
    """Effects that underflow, or whose squares are large, neither hang nor break a chain."""
    model = SenseGibbs(of_works(), K, ModelPrior(unit_scale=scale))
    state, seen = run(model, 5, each=lambda s: s.works.sd)
    assert np.isfinite(seen).all() and np.isfinite(state.prevalence.x).all()
