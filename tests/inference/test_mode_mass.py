import numpy as np
import pytest

from skbayesembed.inference.mode_mass import Mass, Walker, log_mass, mean_mass


class Gamma:
    """Independent Gamma(shape) variables on the log scale, over their mean and deviation."""

    def __init__(self, shape, n):
        self.shape, self.n_parameters, self.scale = shape, n, np.ones(n)

    def logp_and_grad(self, theta, out):
        x = np.log(self.shape) + theta / np.sqrt(self.shape)
        out[:] = (self.shape - np.exp(x)) / np.sqrt(self.shape)
        return float(np.sum(self.shape * x - np.exp(x)))

    def log_mass(self):
        from scipy.special import gammaln

        # d theta = sqrt(shape) d x
        return self.n_parameters * (gammaln(self.shape) + 0.5 * np.log(self.shape))


class Mixture:
    """Two Gaussians of unit deviation, ``distance`` apart, the second ``log_ratio`` heavier."""

    def __init__(self, n, distance, log_ratio, centre):
        self.n_parameters, self.scale = n, np.ones(n)
        self.log_ratio, self.centre = log_ratio, centre
        self.other = np.full(n, distance / np.sqrt(n))

    def logp_and_grad(self, theta, out):
        x = theta + self.centre
        logs = -0.5 * np.array([x @ x, (x - self.other) @ (x - self.other) - 2 * self.log_ratio])
        share = np.exp(logs - logs.max())
        value = float(np.log(share.sum()) + logs.max())
        share /= share.sum()
        out[:] = -x + share[1] * self.other
        return value


@pytest.mark.parametrize(("shape", "n"), [(20.0, 5), (3.0, 40)])
def test_log_mass_of_gamma_variables(shape, n):
    model = Gamma(shape, n)
    rng = np.random.default_rng(0)
    found = mean_mass([log_mass(model, start, rng, n_moves=90) for start in (np.zeros(n), None)])
    # the error is estimated from few batches, hence five of them
    assert abs(found.value - model.log_mass()) < 5 * found.error
    assert found.error < 0.5


def test_the_mass_is_that_of_the_mode_started_in():
    """Far apart, each mode is weighed alone, in coordinates centred on it."""
    n, ratio = 6, 1.7
    far = np.full(n, 30 / np.sqrt(n))
    masses = []
    for centre in (np.zeros(n), far):
        model = Mixture(n, 30.0, ratio, centre)
        masses.append(log_mass(model, np.zeros(n), np.random.default_rng(1), n_moves=90))
    difference = masses[1].value - masses[0].value
    assert abs(difference - ratio) < 5 * np.hypot(masses[0].error, masses[1].error) + 1e-6


def test_errors_hold_where_chains_are_slow():
    """A second part, seldom reached from the first: runs agree in themselves, not with others."""
    n, ratio, rng = 6, 2.0, np.random.default_rng(3)
    exact = n / 2 * np.log(2 * np.pi) + np.log1p(np.exp(ratio))
    model = Mixture(n, 4.5, ratio, np.zeros(n))
    deviations = []
    for _ in range(3):
        starts = [np.zeros(n), None] * 4
        mass = mean_mass([log_mass(model, start, rng, n_moves=24) for start in starts])
        deviations.append((mass.value - exact) / mass.error)
    # eight runs tell their error to about a quarter of it; their values are skewed
    assert np.sqrt(np.mean(np.square(deviations))) < 3


def test_runs_that_differ_have_larger_errors_than_each():
    differ, agree = [Mass(0.0, 0.1), Mass(10.0, 0.1)], [Mass(5.0, 0.3), Mass(5.0, 0.4)]
    assert mean_mass(differ) == Mass(5.0, pytest.approx(5.0))
    assert mean_mass(agree) == Mass(5.0, pytest.approx(0.25))
    assert mean_mass(agree[:1]) == agree[0]


def test_a_walker_samples_what_it_should():
    model = Gamma(4.0, 3)
    walker = Walker(model, np.random.default_rng(2), np.zeros(3))
    for _ in range(200):
        walker.move()
    walker.freeze()
    step = walker.sampler.step
    draws = []
    for _ in range(4000):
        walker.move()
        draws.append(walker.state.theta.copy())
    assert walker.sampler.step == step
    x = 4.0 * np.exp(np.array(draws) / 2)
    # Gamma(4): mean 4, variance 4; draws of quarter turns are nearly independent
    assert np.abs(x.mean(axis=0) - 4).max() < 5 * 2 / np.sqrt(2000)
