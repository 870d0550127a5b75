"""Ranks of true values, and scores of means."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.calibration import (
    joint_differences,
    known_differences,
    rank_among,
    simulated_ranks,
    uniformity,
)
from skbayesembed.calibration.suite import _worst_of_scores

N_DRAWS = 15


def normal_mean(rng, narrow=1.0):
    """A truth and draws of its posterior; times too narrow."""
    mean = rng.normal(size=2)
    data = mean + rng.normal(size=(4, 2))
    return data.sum(axis=0) / 5 + narrow * rng.normal(size=(N_DRAWS, 2)) / 5**0.5, mean


def too_narrow(rng):
    return normal_mean(rng, 0.4)


def test_a_right_posterior_and_one_that_is_too_narrow():
    right = simulated_ranks(normal_mean, 400, random_state=0)
    assert right.shape == (400, 2)
    # of two p-values, once in 5,000
    assert uniformity(right, N_DRAWS).min() > 1e-4
    wrong = simulated_ranks(too_narrow, 400, random_state=0)
    assert uniformity(wrong, N_DRAWS).max() < 1e-3


@pytest.mark.slow
def test_processes_change_nothing():
    one, two = (simulated_ranks(normal_mean, 6, random_state=1, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_ties_are_broken_at_random():
    rng = np.random.default_rng(2)
    draws, truth = np.zeros((N_DRAWS, 1)), np.zeros(1)
    ranks = np.array([rank_among(draws, truth, rng) for _ in range(320)])
    assert uniformity(ranks, N_DRAWS)[0] > 1e-4
    assert rank_among(np.array([[1.0], [2.0], [4.0]]), np.array([3.0]), rng).tolist() == [2]


def test_scores_are_standard_normal_where_means_agree():
    """Of autocorrelated chains as well; a shift of a tenth of a deviation is seen."""
    rng, n = np.random.default_rng(3), 4000
    chain = rng.normal(size=(n, 300))
    for t in range(1, n):
        chain[t] = 0.6 * chain[t - 1] + 0.8 * chain[t]
    z = joint_differences(rng.normal(size=(n, 300)), chain)
    # a variance of 300 has the relative error .08
    assert 0.7 < z.var() < 1.4
    assert np.abs(z.mean()) < 4.5 / 300**0.5
    shifted = known_differences(chain[None] + 0.3, np.zeros(300))
    assert np.median(shifted) > 5
    stuck = joint_differences(rng.normal(size=(99, 1)), np.ones((99, 1)))
    assert np.isinf(stuck[0]) and _worst_of_scores(np.append(stuck, [0.1, np.nan])) == 0.0
    assert np.isnan(_worst_of_scores(np.array([np.nan])))
    constant = joint_differences(np.ones((9, 1)), np.ones((9, 1)))
    assert np.isnan(constant[0])
