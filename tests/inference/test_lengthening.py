"""Chains that are made longer: which draws are kept, and whose statistics."""

import numpy as np
import pytest

from skbayesembed.common.random import seed_sequence
from skbayesembed.inference.gibbs import sample_gibbs
from skbayesembed.inference.lengthening import lengthened
from skbayesembed.inference.pooling import run_each
from skbayesembed.inference.records import Settings
from skbayesembed.posterior.posterior import Posterior
from skbayesembed.posterior.thinning import stats_of_draws


class Counting:
    """A sampler whose state, and whose statistic, is the number of its sweep."""

    n_streams = 1

    def init_state(self, rngs):
        return {"t": np.zeros(1)}

    def sweep(self, state, rngs, run):
        state["t"][0] += 1

    def tune(self, state, step, n):
        pass

    def observe(self, state):
        return {"x": state["t"].copy()}

    def trace(self, state):
        return {"lp": float(state["t"][0])}


@pytest.mark.parametrize(
    ("draws", "stride"), [(16, 1), (16, 2), (17, 2), (32, 4), (31, 3), (100, 3), (40, 7)]
)
def test_statistics_are_those_of_the_draws(draws, stride):
    """However often chains are made longer, and however few draws are recorded whole."""

    def sample(settings, states):
        seeds = seed_sequence(0)
        return sample_gibbs(Counting(), settings, n_chains=1, seeds=seeds, states=states)

    settings = Settings(draws=draws, warmup=0, thin=1, stride=stride)
    result = lengthened(sample, settings, lambda result: False, 8)
    found = result.draws["x"][0, :, 0]
    np.testing.assert_array_equal(found, result.stats["lp"][0, ::stride][: found.size])
    assert np.all(np.diff(found) > 0) and found[-1] >= 0.7 * 8 * draws
    if stride == 1 and draws % 2 == 0:
        np.testing.assert_array_equal(found[1:], np.arange(2, draws + 1) * 8)
    pytest.importorskip("arviz_base")
    posterior = Posterior(result.draws, stats=result.stats, attrs={"stride": stride})
    tree = posterior.to_datatree()
    np.testing.assert_array_equal(tree["sample_stats"]["lp"].values[0], found)


@pytest.mark.parametrize(("draws", "stride"), [(50, 9), (96, 3), (100, 3), (40, 1)])
def test_runs_of_which_some_are_made_longer(draws, stride):
    """Runs are pooled whatever chains of each were made longer, with their statistics."""
    n_runs = 3

    def solve(run, settings, seed):
        def sample(settings, states):
            return sample_gibbs(
                Counting(), settings, n_chains=2, seeds=seed.spawn(1)[0], states=states
            )

        return lengthened(sample, settings, lambda result: run != 1, 2)

    settings = Settings(draws=n_runs * draws, warmup=0, thin=1, stride=stride)
    pooled = run_each(solve, n_runs, settings, seed_sequence(0))
    facts = pooled.facts | {"stride": stride}
    posterior = Posterior(pooled.draws, stats=pooled.stats, attrs=facts)
    found = stats_of_draws(posterior)["lp"]
    np.testing.assert_array_equal(found, pooled.draws["x"][..., 0])
    # the run in the middle was made longer, and its draws are twice as far apart
    apart = np.diff(found[0].reshape(-1, n_runs), axis=0)
    np.testing.assert_array_equal(apart[:, ::2], stride)
    assert np.all(apart[-1, 1] == 2 * stride)
