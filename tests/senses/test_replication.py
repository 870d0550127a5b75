import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax, logsumexp, softmax

from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.records import Settings
from skbayesembed.senses.data import Snippets
from skbayesembed.senses.model import SenseModel
from skbayesembed.senses.priors import ModelPrior
from skbayesembed.senses.replication.blockwise import SenseBlocks

K, T, G, V = 2, 3, 2, 5
KINDS = ["disc", "gasc"]
ONE_QUICK = ["disc", pytest.param("gasc", marks=pytest.mark.slow)]


def design(n=14, labelled=True):
    """Periods, genres, labels and lengths; period 1 has an empty snippet only, cell (2, 1) none."""
    rng = np.random.default_rng(1)
    periods = rng.choice([0, 2], n)
    genres = np.where(periods == 2, 0, rng.integers(G, size=n))
    lengths = rng.poisson(4, n)
    periods[0], lengths[0], genres[0] = 1, 0, 1
    labels = np.where(np.arange(n) % 5 == 2, rng.integers(K, size=n), -1)
    return periods, genres, labels if labelled else np.full(n, -1), lengths


def with_words(counts, labelled=True):
    periods, genres, labels, _ = design(len(counts), labelled)
    return Snippets.of(sparse.csr_array(counts), periods, genres, labels, n_periods=T, n_genres=G)


def simulated(kind, rng):
    """Logits of the prior, snippets given them, and their blocks."""
    periods, genres, _, lengths = design()
    prior = ModelPrior(kind=kind)
    model = SenseModel(with_words(np.zeros((periods.size, V))), K, prior)
    arrays = model.draw_prior(rng)
    if prior.walks:
        kappa = prior.kappa_phi_rate / rng.standard_gamma(prior.kappa_phi_shape)
        arrays["log_kappa_phi"] = np.log(kappa)
        arrays["phi"] = prior.phi_precision(T, kappa).sample(rng, (G, K)).swapaxes(0, 1)
    psi = softmax(model.word_logits(arrays), axis=2)
    senses = softmax(arrays["phi"], axis=2)
    counts = np.zeros((periods.size, V))
    labels = np.full(periods.size, -1)
    for d, (t, g, n) in enumerate(zip(periods, genres, lengths, strict=True)):
        sense = rng.choice(K, p=senses[g, t])
        counts[d] = rng.multinomial(n, psi[sense, t])
        labels[d] = sense if d % 5 == 2 else -1
    data = Snippets.of(sparse.csr_array(counts), periods, genres, labels, n_periods=T, n_genres=G)
    return arrays, SenseBlocks(SenseModel(data, K, prior))


def slow_log_density(arrays, data, prior):
    """Log posterior density of the arrays up to a constant, a snippet at a time."""
    psi = arrays["psi"] if prior.walks else arrays["chi"][:, None] + arrays["theta"]
    words, senses = log_softmax(psi, axis=2), log_softmax(arrays["phi"], axis=2)
    total = 0.0
    counts = sparse.csr_array((data.counts, data.words, data.indptr), (data.n_snippets, V))
    for d, row in enumerate(counts.toarray()):
        t, g, known = data.periods[d], data.genres[d], data.labels[d]
        terms = senses[g, t] + words[:, t] @ row
        total += logsumexp(terms) if known < 0 else terms[known]
    kappa = np.exp(arrays["log_kappa_phi"]) if prior.walks else None
    precisions = {"phi": prior.phi_precision(T, kappa)}
    precisions |= {"psi": prior.psi_precision(T), "theta": prior.theta_precision(T)}
    for name in precisions.keys() & arrays.keys():
        x = arrays[name] if name == "theta" else np.moveaxis(arrays[name], 1, 0)
        x = x.reshape(T, -1)
        total -= 0.5 * np.sum(x * (precisions[name].dense() @ x))
    if not prior.walks:
        total -= 0.5 * np.sum(arrays["chi"] ** 2) / prior.kappa_chi
    return total


@pytest.mark.slow
@pytest.mark.parametrize("kind", ONE_QUICK)
def test_densities_of_blocks_against_slow_sums(kind):
    """Likelihood and prior of each block, and its gradient against differences."""
    arrays, blocks = simulated(kind, np.random.default_rng(2))
    data, prior = blocks.data, blocks.prior
    state, rng = blocks.state_of(arrays), np.random.default_rng(3)
    empty = set()
    for block in blocks.blocks:
        place = blocks._place(state.arrays, block)
        mean, precision = blocks._given_rest(state, block)
        likelihood = blocks._likelihood(state, block)
        if likelihood is None:
            empty.add(block)

        def value(x, gradient, likelihood=likelihood, mean=mean, precision=precision):
            gradient[...] = 0.0
            found = 0.0 if likelihood is None else likelihood(x, gradient)
            return found - 0.5 * precision * np.sum((x - mean) ** 2)

        here, there = place.copy(), rng.normal(size=place.shape)
        gradient, room = np.empty(here.shape), np.empty(here.shape)
        gap = value(there, gradient) - value(here, room)
        before = slow_log_density(state.arrays, data, prior)
        place[...] = there
        after = slow_log_density(state.arrays, data, prior)
        np.testing.assert_allclose(gap, after - before, atol=1e-9)
        if likelihood is not None:
            move = rng.normal(size=here.shape)
            up, down = likelihood(there + 1e-5 * move, room), likelihood(there - 1e-5 * move, room)
            likelihood(there, gradient)
            # the error of the quotient is of the order of the square of the step
            assert abs((up - down) / 2e-5 - np.sum(gradient * move)) < 1e-6
        place[...] = here
    of_words = "psi" if prior.walks else "theta"
    assert empty == {(of_words, 1), ("phi", 1, 0), ("phi", 2, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ONE_QUICK)
def test_sweeps_leave_the_posterior_invariant(kind):
    """Logits of the prior and snippets given them: after sweeps they are of the prior still."""
    rng, before, after = np.random.default_rng(4), [], []
    acceptance = []
    for _ in range(400):
        arrays, blocks = simulated(kind, rng)
        before.append(looked_at(arrays))
        state = blocks.state_of(arrays)
        for steps in state.log_steps.values():
            steps[:] = np.log(0.5)
        for _ in range(4):
            blocks.sweep(state, [rng], None)
            acceptance += [made for _, made in state.made.values()]
        after.append(looked_at(state.arrays))
    # moves that are neither all refused nor all small
    assert 0.3 < np.mean(acceptance) < 0.97
    before, after = np.array(before), np.array(after)
    changed = np.mean((after - before) ** 2, axis=0) / before.var(axis=0)
    assert changed.min() > 0.05
    moved = np.concatenate([after - before, after**2 - before**2], axis=1)
    z = moved.mean(axis=0) / moved.std(axis=0) * np.sqrt(len(moved))
    # about fifty statistics, correlated: four and a half errors are never passed by chance
    assert np.abs(z).max() < 4.5


def looked_at(arrays):
    """Some logits and products of logits."""
    words = arrays["psi"][:, :, 0] if "psi" in arrays else arrays["theta"][:, :2]
    phi = arrays["phi"]
    seen = [*phi.ravel(), *words.ravel(), np.mean(phi**2), np.sum(phi[:, 0] * phi[:, 2])]
    if "chi" in arrays:
        seen += [*arrays["chi"][:, 0], np.mean(arrays["chi"] ** 2)]
    else:
        seen += [arrays["log_kappa_phi"], np.mean(np.diff(arrays["psi"], axis=1) ** 2)]
    return seen


def test_steps_adapt_in_warm_up_only():
    arrays, blocks = simulated("disc", np.random.default_rng(5))
    state, rng = blocks.state_of(arrays), [np.random.default_rng(6)]
    start = {block: steps.copy() for block, steps in state.log_steps.items()}
    assert start["chi",][0] == np.log(2.4 / np.sqrt(K * V))
    for step in range(300):
        blocks.sweep(state, rng, None)
        blocks.tune(state, step, 300)
    tuned = {block: steps.copy() for block, steps in state.log_steps.items()}
    for block, steps in tuned.items():
        assert np.all(steps != start[block]) == (block in state.made)
    rates = {0: [], 1: []}
    for _ in range(300):
        blocks.sweep(state, rng, None)
        for kind, acceptance in state.made.values():
            rates[kind].append(acceptance)
    for block, steps in tuned.items():
        np.testing.assert_array_equal(state.log_steps[block], steps)
    # a few hundred moves of steps that a few hundred moves were adapted by
    assert abs(np.mean(rates[0]) - 0.574) < 0.1
    assert abs(np.mean(rates[1]) - 0.651) < 0.1


def test_blocks_are_met_in_reverse_by_turns(monkeypatch):
    arrays, blocks = simulated("disc", np.random.default_rng(7))
    met = []
    monkeypatch.setattr(blocks, "_update", lambda state, block, rng: met.append(block))
    state = blocks.state_of(arrays)
    for _ in range(2):
        blocks.sweep(state, [None], None)
    n = len(blocks.blocks)
    assert met[:n] == blocks.blocks and met[n:] == blocks.blocks[::-1]
    assert blocks.blocks[0] == ("chi",) and n == 1 + T + G * T


@pytest.mark.slow
def test_no_words_at_all():
    """Every block of words is drawn from its prior."""
    data = with_words(np.zeros((14, V)), labelled=False)
    for kind in KINDS:
        model = SenseModel(data, K, ModelPrior(kind=kind))
        blocks = SenseBlocks(model)
        state = blocks.state_of(model.draw_prior(np.random.default_rng(0)))
        rng = [np.random.default_rng(8)]
        seen = []
        # draws of chi are independent; those of psi are correlated over many sweeps
        for _ in range(4000 if kind == "gasc" else 500):
            blocks.sweep(state, rng, None)
            words = state.arrays["psi"][:, 0] if kind == "gasc" else state.arrays["chi"]
            seen.append(words[0, :2].copy())
        prior = model.prior
        variance = prior.first_psi if kind == "gasc" else prior.kappa_chi
        # five standard errors of 1,000 independent squares
        np.testing.assert_allclose(np.var(seen), variance, rtol=0.25)


@pytest.mark.slow
def test_the_same_seed_the_same_draws():
    arrays, blocks = simulated("gasc", np.random.default_rng(9))
    blocks.model.init = lambda rng: blocks.model.pack(arrays)
    runs = [
        sample_gibbs(
            blocks, Settings(draws=5, warmup=5), n_chains=2,
            seeds=np.random.SeedSequence(1), n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    ]  # fmt: skip
    for name, values in runs[0].draws.items():
        np.testing.assert_array_equal(values, runs[1].draws[name])
    assert {"acceptance", "log_likelihood", "kappa_phi"} <= runs[0].stats.keys()
