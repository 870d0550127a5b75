import numpy as np

from skbayesembed.inference.tempering import ladder, temper


class Bimodal:
    """Prior N(0, I) in 2 dimensions; a likelihood with modes at (-4, 0) and (4, 0)."""

    n_parameters, scale = 2, np.ones(2)

    def __init__(self, power=1.0):
        self.power = power

    def at_power(self, power):
        return Bimodal(power)

    def pack(self, arrays):
        return np.array([arrays["x"], arrays["y"]])

    def unpack(self, theta):
        return {"x": theta[0], "y": theta[1]}

    def _logs(self, theta):
        x, y = theta
        return np.array([-4.0 * (x + 4) ** 2 - y**2, -4.0 * (x - 4) ** 2 - y**2 + 1.0])

    def log_likelihood(self, theta):
        return float(np.logaddexp(*self._logs(theta)))

    def logp_and_grad(self, theta, out):
        logs = self._logs(theta)
        value = np.logaddexp(*logs)
        share = np.exp(logs - value)
        x, y = theta
        slope = share @ [-8.0 * (x + 4), -8.0 * (x - 4)]
        out[:] = self.power * slope - x, -2 * self.power * y - y
        return float(self.power * value - 0.5 * (theta @ theta))


def share_of_second():
    """By quadrature over x; y is independent."""
    x = np.linspace(-8, 8, 20_001)
    density = np.exp(-0.5 * x**2) * np.exp(
        np.logaddexp(-4.0 * (x + 4) ** 2, -4.0 * (x - 4) ** 2 + 1.0)
    )
    return density[x > 0].sum() / density.sum()


def test_tempering_gives_each_mode_its_share():
    powers = np.geomspace(0.01, 1, 9)
    model = Bimodal()
    rngs = [np.random.default_rng([3, i]) for i in range(powers.size + 1)]
    starts = [{"x": -3.5, "y": 0.0}] * powers.size
    run = temper(model, powers, starts, rngs, n_sweeps=1600)
    second = np.array([s["x"] > 0 for s in run.states])
    visits = np.unique(run.visits)
    assert len(run.states) == 800
    assert run.n_round_trips > 40
    assert np.all((run.rejection >= 0) & (run.rejection <= 1))
    # a visit is in one mode for its length: shares of visits give the standard error
    of_visit = np.array([second[run.visits == v].mean() for v in visits])
    size = np.array([(run.visits == v).sum() for v in visits])
    error = np.sqrt(np.sum(size**2 * (of_visit - second.mean()) ** 2)) / size.sum()
    assert error < 0.15
    assert abs(second.mean() - share_of_second()) < 4 * error


def test_chains_alone_do_not_leave_their_mode():
    """What tempering is for."""
    run = temper(
        Bimodal(),
        np.ones(1),
        [{"x": -3.5, "y": 0.0}],
        [np.random.default_rng(i) for i in range(2)],
        n_sweeps=400,
    )
    assert all(s["x"] < 0 for s in run.states)


def test_ladder_spaces_by_standard_deviations():
    powers = np.linspace(0.1, 1, 10)
    # constant variance 100: nine tenths of the range are 9 standard deviations
    rungs = ladder(powers, 100.0 * powers, 1.0)
    np.testing.assert_allclose(rungs, np.linspace(0.1, 1, 10))
    assert ladder(powers, 100.0 * powers, 0.5).size == 19
    assert ladder(powers, np.zeros(10), 1.0).size == 2
