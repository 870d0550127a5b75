"""The two Gibbs kernels against each other, and the estimator against the prior it states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import make_sgns
from skbayesembed.sgns.model import pivot_contexts

# exact corners of the same samplers run by default: see CONTRIBUTING
pytestmark = pytest.mark.slow

WORDS, K, OBSERVATIONS = 40, 3, 8_000
N_DRAWS, WARMUP = 6_000, 400


@pytest.fixture(scope="module")
def problem():
    """Counts with their true vectors, and the contexts held at their true values."""
    data = make_sgns(WORDS, K, OBSERVATIONS, random_state=11)
    return data, pivot_contexts(data.alpha, np.zeros(WORDS))


def moments(sampling, problem, kernel, dense, seed):
    """Means and sds of every free parameter, with their Monte Carlo standard errors.

    The error of a standard deviation follows from that of the mean squared deviation.
    """
    data, anchors = problem
    model = sampling.conditionals(
        data.pairs.positive, data.pairs.negative, K, K, kernel, dense, anchors, data.alpha[anchors]
    )
    # around the truth, as the estimator starts around the mode: a random start can end in a local
    # mode, some components reflected against the anchors, that a chain does not leave
    model.start = {"rho": data.rho, "alpha": data.alpha}
    free = np.setdiff1d(np.arange(WORDS), anchors)

    def look(state):
        return np.concatenate([state.x[0].ravel(), state.x[1][free].ravel()])

    draws = np.array(sampling.run(model, N_DRAWS, WARMUP, seed, each=look))
    mean, sd = draws.mean(axis=0), draws.std(axis=0)
    squares = (draws - mean) ** 2
    error_of_mean = sd / np.sqrt(sampling.ess(draws[None]))
    error_of_sd = squares.std(axis=0) / np.sqrt(sampling.ess(squares[None])) / (2 * sd)
    return np.concatenate([mean, sd]), np.concatenate([error_of_mean, error_of_sd])


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
def test_every_mean_and_sd(sampling, problem, dense):
    """All differences are Monte Carlo error: none too large, and together no more than that.

    The largest of the 462 scores is held to the bound that a correct pair of samplers exceeds
    once in 1,000 runs. The scores are correlated, so their root mean square varies more than that
    of independent ones: over 48 pairs of runs with other seeds it was 0.77 to 1.37 (mean 1.00) for
    the means and 0.91 to 1.18 (mean 1.01) for the standard deviations.
    """
    metropolis, its_error = moments(sampling, problem, "metropolis", dense, seed=1)
    polya_gamma, error = moments(sampling, problem, "polya-gamma", dense, seed=2)
    z = (metropolis - polya_gamma) / np.hypot(its_error, error)
    assert np.abs(z).max() < stats.norm.isf(0.0005 / z.size)
    means, sds = np.split(z, 2)
    assert 0.6 < np.sqrt(np.mean(means**2)) < 1.5
    assert 0.8 < np.sqrt(np.mean(sds**2)) < 1.25


# split R-hat of 63 draws of one chain exceeds its limit by chance in some of the data sets
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["metropolis", "polya-gamma"])
def test_estimator_calibration(kernel):
    """Ranks of the true P(w, v) among the estimator's draws without anchors are uniform."""
    n_sets, n_draws, k, n_words = 200, 63, 3, 12
    places = np.array([[0, 0], [1, 2], [7, 3], [5, 11]])
    ranks = np.empty((n_sets, len(places)), int)
    for i in range(n_sets):
        data = make_sgns(n_words, k, 600, random_state=i)
        model = BayesianSGNS(
            k,
            prior_precision=k,
            kernel=kernel,
            anchors=None,
            chains=1,
            warmup=150,
            draws=n_draws,
            thin=8,
            random_state=i,
        ).fit(data.pairs)
        truth = expit(np.sum(data.rho[places[:, 0]] * data.alpha[places[:, 1]], axis=1))
        ranks[i] = (model.cooccurrence_proba(places.tolist()).draws < truth).sum(axis=0)
    for r in ranks.T:
        observed = np.bincount(r * 8 // (n_draws + 1), minlength=8)
        # 8 tests in all: each at 1e-3 fails by chance once in 125 seeds, and the seeds are fixed
        assert stats.chisquare(observed).pvalue > 1e-3, observed
