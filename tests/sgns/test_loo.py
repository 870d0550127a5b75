"""PSIS-LOO of pairs against exact refits, importance sampling by hand, and the whole table."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit, log_expit, logsumexp
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, PairCounts, Posterior
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.counting import RankOne
from skbayesembed.sgns.loo import draw_observations, estimates, loo


def posterior_of(n_words=12, k=2, chains=2, draws=500, seed=0, scale=0.5):
    """Independent draws around random vectors: what the arithmetic is tested on."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(2, n_words, k))
    noise = scale * rng.normal(size=(2, chains, draws, n_words, k))
    return Posterior({"rho": centre[0] + noise[0], "alpha": centre[1] + noise[1]})


def test_light_tails_agree_with_plain_importance_sampling():
    """Smoothing changes little where weights are tame: 1 % of a term here."""
    posterior = posterior_of(scale=0.2)
    rows, columns = np.arange(6), np.arange(6)[::-1]
    sign = np.array([1.0, -1, 1, -1, 1, -1])
    elpd, lpd, pareto_k = estimates(posterior, rows, columns, sign, np.ones(6))
    rho, alpha = posterior.flat("rho"), posterior.flat("alpha")
    for i in range(6):
        density = log_expit(sign[i] * np.sum(rho[:, rows[i]] * alpha[:, columns[i]], axis=1))
        harmonic = -np.log(np.mean(np.exp(-density)))
        assert elpd[i] == pytest.approx(harmonic, rel=0.01)
        assert lpd[i] == pytest.approx(np.log(np.mean(np.exp(density))), rel=1e-10)
        assert elpd[i] < lpd[i]
    assert np.all(pareto_k < 0.7)


def test_a_fraction_of_an_observation_weighs_less():
    """The weights of a count c below 1 are p^-c; above 1 the count changes nothing."""
    posterior = posterior_of(scale=0.2)
    one = np.zeros(1, dtype=int)
    density = log_expit(
        -np.sum(posterior.flat("rho")[:, 0] * posterior.flat("alpha")[:, 0], axis=1)
    )
    for c in (0.05, 0.6):
        elpd, _, _ = estimates(posterior, one, one, -np.ones(1), np.full(1, c))
        by_hand = logsumexp(density - c * density) - logsumexp(-c * density)
        assert elpd[0] == pytest.approx(by_hand, rel=0.01)
    single, several = (
        estimates(posterior, one, one, -np.ones(1), np.full(1, c))[0] for c in (1.0, 3.5)
    )
    assert single == several


def test_biases_are_part_of_the_logit():
    posterior = posterior_of(n_words=5, chains=1, draws=100, scale=0.2)
    rng = np.random.default_rng(9)
    biases = {name: rng.normal(size=(1, 100, 5)) for name in ("rho_bias", "alpha_bias")}
    biased = Posterior({"rho": posterior["rho"], "alpha": posterior["alpha"], **biases})
    _, lpd, _ = estimates(biased, np.array([1]), np.array([3]), np.ones(1), np.ones(1))
    logit = np.sum(posterior.flat("rho")[:, 1] * posterior.flat("alpha")[:, 3], axis=1)
    logit += biases["rho_bias"][0, :, 1] + biases["alpha_bias"][0, :, 3]
    assert lpd[0] == pytest.approx(np.log(expit(logit).mean()), rel=1e-10)


def test_counts_weigh_the_terms():
    posterior = posterior_of(n_words=4, scale=0.2)
    positive = np.zeros((4, 4))
    positive[0, 1], positive[2, 3] = 3, 2.5
    negative = np.zeros((4, 4))
    negative[0, 1], negative[3, 0] = 1, 0.5
    posterior.attrs["n_units"] = 9
    found = loo(posterior, PairCounts(positive, negative))
    assert "although they are of 9 units" in repr(found)
    rows, columns = np.array([0, 2, 0, 3]), np.array([1, 3, 1, 0])
    sign, n = np.array([1.0, 1, -1, -1]), np.array([3, 2.5, 1, 0.5])
    elpd, lpd, pareto_k = estimates(posterior, rows, columns, sign, n)
    assert found.elpd == pytest.approx(np.sum(n * elpd))
    assert found.p_loo == pytest.approx(np.sum(n * (lpd - elpd)))
    spread = np.sum(n * (elpd - np.sum(n * elpd) / 7) ** 2)
    assert found.se == pytest.approx(np.sqrt(spread))
    np.testing.assert_allclose(np.sort(found.pareto_k), np.sort(pareto_k))
    assert (found.n_observations, found.n_evaluated) == (7.0, 4)
    assert found.sampling_se == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("rank_one", [True, False])
def test_sample_agrees_with_the_whole_table(rank_one):
    """Within four of its own standard errors, and those are small beside the spread of the data."""
    posterior = posterior_of(n_words=30, scale=0.15, draws=250)
    rng = np.random.default_rng(7)
    positive = rng.poisson(2.0, (30, 30)).astype(float)
    negative = RankOne(rng.random(30) * 2, rng.random(30) * 2)
    dense = np.outer(negative.left, negative.right)
    if not rank_one:
        negative = dense = rng.poisson(0.7, (30, 30)).astype(float)
    counts = PairCounts(positive, negative)
    whole = loo(posterior, counts, max_pairs=10_000)
    part = loo(posterior, counts, max_pairs=400, rng=1)
    assert part.n_evaluated <= 400 < whole.n_evaluated
    assert abs(part.elpd - whole.elpd) < 4 * part.sampling_se
    assert 0 < part.sampling_se < 0.5 * whole.se
    # relative standard errors over 400 draws of observations: of an sd, sqrt((kurtosis - 1) / 4),
    # and of a mean, the coefficient of variation, both over the square root of 400
    n = np.concatenate([positive.ravel(), dense.ravel()])
    cells = np.tile(np.indices((30, 30)).reshape(2, -1), 2)
    there = n > 0
    n, sign = n[there], np.repeat([1.0, -1.0], 900)[there]
    elpd, lpd, _ = estimates(posterior, *cells[:, there], sign, n)

    def mean(terms):
        return np.sum(n * terms) / np.sum(n)

    square = (elpd - mean(elpd)) ** 2
    error = np.sqrt((mean(square**2) / mean(square) ** 2 - 1) / 4 / 400)
    assert part.se == pytest.approx(whole.se, rel=4 * error)
    more = lpd - elpd
    error = np.sqrt((mean(more**2) / mean(more) ** 2 - 1) / 400)
    assert part.p_loo == pytest.approx(whole.p_loo, rel=4 * error)
    again = loo(posterior, counts, max_pairs=400, rng=1)
    assert again.elpd == part.elpd


@pytest.mark.slow
def test_standard_error_of_the_sample_is_right():
    """Over 40 samples the errors have a standard deviation of that size (chi-squared, 40)."""
    posterior = posterior_of(n_words=15, scale=0.15, draws=100)
    counts = PairCounts(*np.random.default_rng(8).poisson(1.5, (2, 15, 15)))
    whole = loo(posterior, counts, max_pairs=10_000)
    parts = [loo(posterior, counts, max_pairs=60, rng=seed) for seed in range(40)]
    scores = [(part.elpd - whole.elpd) / part.sampling_se for part in parts]
    assert 0.65 < np.std(scores) < 1.45
    assert abs(np.mean(scores)) < 4 / np.sqrt(40)


@pytest.mark.parametrize("rank_one", [True, False])
def test_observations_are_drawn_by_their_counts(rank_one):
    positive = np.array([[0, 6.0], [2, 0]])
    negative = RankOne([1, 3], [0.5, 1]) if rank_one else np.array([[0.5, 1], [1.5, 3]])
    counts = PairCounts(positive, negative)
    rows, columns, sign, n = draw_observations(counts, 20_000, np.random.default_rng(0))
    dense = {1.0: positive, -1.0: np.outer([1, 3], [0.5, 1])}
    for s, table in dense.items():
        for w in range(2):
            for v in range(2):
                here = (rows == w) & (columns == v) & (sign == s)
                # binomial, 20,000 trials of probability up to 0.43: four deviations
                assert abs(here.mean() - table[w, v] / 14) < 4 * np.sqrt(0.25 / 20_000)
                assert np.all(n[here] == table[w, v])


def test_heavy_tails_are_told():
    rng = np.random.default_rng(3)
    rho = 3 * rng.standard_t(3, size=(1, 400, 3, 1))
    posterior = Posterior({"rho": rho, "alpha": np.ones((1, 400, 3, 1))})
    with pytest.warns(UserWarning, match="Pareto k above"):
        found = loo(posterior, PairCounts(np.eye(3), np.zeros((3, 3))))
    assert found.bad_share > 0 and found.pareto_k.max() > 0.7
    # a line that compares several models warns once
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        pairs, alpha = PairCounts(np.eye(3), np.zeros((3, 3))), posterior["alpha"]
        several = [Posterior({"rho": x * rho, "alpha": alpha}) for x in (1.0, 0.9, 0.8)]
        shapes = {float(loo(one, pairs).pareto_k.max()) for one in several}
    assert len(shapes) == 3 and len(told) == 1


def test_checks():
    posterior = posterior_of(n_words=3)
    with pytest.raises(ValueError, match="of the 3 words"):
        loo(posterior, PairCounts(np.ones((2, 2)), np.ones((2, 2))))
    with pytest.raises(ValueError, match="at least one observation"):
        loo(posterior, PairCounts(np.zeros((3, 3)), np.zeros((3, 3))))
    with pytest.raises(ValueError, match="point estimate"):
        loo(posterior_of(n_words=3, chains=1, draws=1), PairCounts(np.eye(3), np.eye(3)))


@pytest.mark.slow
def test_exact_refits():
    """Leaving one observation out and sampling again gives what PSIS says, within MC error.

    Four observations of a model of six words: terms are probabilities averaged over 4,000 draws of
    each posterior; their Monte Carlo errors come from batches of the draws.
    """
    data = make_sgns(6, 2, 60, random_state=1).pairs
    positive, negative = data.positive.toarray(), data.negative.toarray()

    def sample(positive, negative, seed):
        options = {"prior_precision": 2.0, "anchors": None, "draws": 1000, "warmup": 200}
        model = BayesianSGNS(2, random_state=seed, **options)
        with warnings.catch_warnings():
            # slow coordinates do not matter to probabilities
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(PairCounts(positive, negative)).posterior_

    def probability(posterior, w, v, sign):
        p = expit(sign * np.sum(posterior["rho"][:, :, w] * posterior["alpha"][:, :, v], axis=-1))
        batches = p.reshape(40, -1).mean(axis=1)
        return p.mean(), batches.std(ddof=1) / np.sqrt(40)

    full = sample(positive, negative, seed=0)
    for sign, table in ((1.0, positive), (-1.0, negative)):
        for w, v in np.argwhere(table > 0)[::7][:2].tolist():
            less = table.copy()
            less[w, v] -= 1
            refit = sample(less, negative, 1) if sign > 0 else sample(positive, less, 1)
            exact, error = probability(refit, w, v, sign)
            entry = (np.array([w]), np.array([v]), np.array([sign]), np.array([table[w, v]]))
            elpd, lpd, _ = estimates(full, *entry)
            _, full_error = probability(full, w, v, sign)
            # unequal weights cost draws: they double the error at most
            assert abs(np.exp(elpd[0]) - exact) < 4 * np.hypot(error, 2 * full_error)
            assert exact < np.exp(lpd[0])


def test_only_of_what_was_fitted():
    texts = ["the cat sat on the mat", "the dog sat on the rug"] * 6
    model = BayesianSGNS(2, solver="gibbs", min_count=1, draws=30, warmup=10, random_state=0)
    weights = np.linspace(0.5, 2.0, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(texts, sample_weight=weights)
        assert np.isfinite(model.loo(texts, sample_weight=weights).elpd)
        with pytest.raises(ValueError, match="with the same sample_weight and counted with"):
            model.loo(texts)
        model.set_params(window=2)
        with pytest.raises(ValueError, match=r"pairs of words where fit had \d"):
            model.loo(texts, sample_weight=weights)
        for change in ({"negative": 5}, {"ns_exponent": 0.0}):
            model.set_params(window=5, negative=1.0, ns_exponent=0.75).set_params(**change)
            with pytest.raises(ValueError, match="with its negative pairs: negative, ns_exponent"):
                model.loo(texts, sample_weight=weights)
