"""Variances between draws, of which some share what they were made from."""

import numpy as np

from skbayesembed.numeric.imputation import between_draws, freedom_of_sum


def test_draws_of_one_run_are_no_independent_draws():
    """Degrees of freedom, and what is added for few draws, are those of the runs."""
    rng = np.random.default_rng(0)
    runs, of_run = np.arange(200) % 20, 0.01 * rng.normal(size=20)
    found = of_run[runs] + 1e-6 * rng.normal(size=200)
    (outer, first), (inner, second) = between_draws(found[:, None], runs)
    assert (first, second) == (19, 180) and inner[0] < 1e-6 * outer[0]
    np.testing.assert_allclose(outer, 1.05 * np.var(of_run, ddof=1), rtol=1e-3)
    freedom = freedom_of_sum([(np.zeros(1), np.ones(1)), (outer, first), (inner, second)])
    np.testing.assert_allclose(freedom, 19.0, rtol=1e-4)
    # within runs that do not differ, all draws count
    parts = between_draws(rng.normal(size=(20_000, 1)), np.arange(20_000) % 20)
    total = sum(part[0][0] for part in parts)
    assert abs(total - 1.0) < 6 * np.sqrt(2 / 20_000)
    # each a run of its own
    (outer, first), (inner, _) = between_draws(found[:, None], np.arange(200))
    np.testing.assert_allclose(outer, (1 + 1 / 200) * np.var(found, ddof=1))
    assert first == 199 and inner[0] == 0.0
