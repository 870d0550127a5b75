"""Simulated embeddings that drift, against their own truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from skbayesembed.datasets import make_dynamic_sgns


def test_shapes_and_totals():
    data = make_dynamic_sgns(30, 4, 3, 500, empty_periods=[1], random_state=0)
    assert data.rho.shape == data.alpha.shape == (3, 30, 4)
    np.testing.assert_array_equal(data.times, [0.0, 1.0, 2.0])
    assert [p.total for p in data.pairs] == [500, 0, 500]
    assert all(p.n_words == 30 and p.words is None for p in data.pairs)
    counts = [side.data for p in data.pairs for side in (p.positive, p.negative)]
    assert all(np.array_equal(c, np.round(c)) for c in counts)


def test_the_seed_decides():
    first, again, other = (
        make_dynamic_sgns(10, 2, 2, 200, random_state=seed) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.rho, again.rho)
    for a, b in zip(first.pairs, again.pairs, strict=True):
        np.testing.assert_array_equal(a.positive.toarray(), b.positive.toarray())
    assert not np.array_equal(first.rho, other.rho)


def test_vectors_are_those_of_the_process():
    times = np.array([0.0, 1.0, 4.0])
    data = make_dynamic_sgns(
        3000, 2, 3, 1, times=times, diffusion=0.3, prior_precision=4.0, random_state=1
    )
    x = np.concatenate([data.rho.reshape(3, -1), data.alpha.reshape(3, -1)], axis=1)
    n = x.shape[1]
    # s = 1/4, the rate is diffusion / (2 s)
    expected = 0.25 * np.exp(-0.6 * np.abs(np.subtract.outer(times, times)))
    # six products, each with a standard error of at most sqrt(2 / n) of the variance
    assert np.abs(x @ x.T / n - expected).max() < 4 * 0.25 * np.sqrt(2 / n)


@pytest.mark.parametrize("zipf", [False, True])
def test_signs_follow_the_truth_of_their_period(zipf):
    data = make_dynamic_sgns(
        12, 3, 2, 100_000, diffusion=0.5, prior_precision=1.0, zipf=zipf, random_state=2
    )
    for t in (0, 1):
        positive, negative = (getattr(data.pairs[t], s).toarray() for s in ("positive", "negative"))
        n = positive + negative

        def misfit(s, n=n, positive=positive):
            p = expit(data.rho[s] @ data.alpha[s].T)
            return ((positive - n * p) ** 2 / (n * p * (1 - p))).sum()

        # squared standardised binomial residuals sum to a chi-squared: 1 in 1,000 exceeds this
        assert misfit(t) < chi2.isf(1e-3, n.size)
        # another period's truth must be noticed
        assert misfit(1 - t) > 2 * chi2.isf(1e-3, n.size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_periods": 0}, "n_periods must be an integer >= 1"),
        ({"n_pairs": 1.5}, "n_pairs must be an integer >= 1"),
        ({"times": [0, 1]}, r"times must have shape \(3,\)"),
        ({"times": [0, 1, 1]}, "times must be finite and increase"),
        ({"diffusion": 0}, "diffusion must be a number > 0"),
        ({"diffusion": "learned"}, "diffusion must be a number > 0"),
        ({"prior_precision": -1}, "prior_precision must be a number > 0"),
        ({"empty_periods": [3]}, "empty_periods must be below n_periods=3"),
        ({"empty_periods": [-1]}, "empty_periods' entry must be an integer >= 0"),
        ({"zipf": 1}, "zipf must be True or False"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_dynamic_sgns(**{"n_words": 5, "n_periods": 3, "n_pairs": 10, **options})
