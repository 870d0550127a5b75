"""The dynamic skip-gram posterior for the Hamiltonian samplers.

With a given diffusion D the parameters are those of `DynamicDensity`. A learned one is one more,
phi = log(D / D_0), and a trajectory is

    x_t = m + D'^(p / 2) (v_t - m),   D' = D / D_0,   m = sum_t s_t v_t,

of the trajectory v that the coordinates make with the diffusion D_0. Given x, thousands of
components hold D where it is, so that no step of it could be long; given v, trajectories about
which the data say little are stretched with it (p near 1), and those that are known stay
(p near 0). D_0 and the width of phi come from a short run of the Gibbs sampler.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ..common.random import generators
from ..inference.chains import Workers
from ..inference.checkpoint import remembered
from ..inference.hmc import sample_hmc
from ..inference.threads import OneBlasThread
from ..inference.trajectories import HamiltonianOptions
from ..numeric.tridiagonal_kernels import paths_prior
from .density_kernels import pull_stretch, step_sums, stretch_trajectories
from .gibbs.conditionals import DynamicConditionals
from .model import DynamicDensity, expected_information
from .recording import monitored_places

# Sweeps of the pilot run; the second half of them counts.
_PILOT = 120
# Start of phi, in its standard deviations.
_SPREAD = 2.0


class DynamicHamiltonian:
    """`HamiltonianModel` of a `DynamicModel`.

    The flat parameters are coordinates of `DynamicDensity`; a learned diffusion adds phi at the
    end.

    Parameters
    ----------
    model : DynamicModel
    monitored : ndarray of int of shape (n_monitored, 3)
        Places (period, target, context) whose logits are traced.
    pilot : tuple of two float, optional
        Mean and standard deviation of the logarithm of a learned diffusion, roughly.
    """

    def __init__(self, model, monitored, pilot=None):
        self.model, self.monitored = model, monitored
        self.learned = model.prior.learned
        center, width = (np.log(model.prior.diffusion), 1.0) if pilot is None else pilot
        self.diffusion = float(np.exp(center)) if self.learned else model.prior.diffusion
        self.density = DynamicDensity(model, self.diffusion)
        self.block_size, self.n_blocked = model.n_components, self.density.n_parameters
        self.n_parameters = self.n_blocked + self.learned
        self.scale = np.ones(self.n_parameters)
        if self.learned:
            self.scale[-1] = width
            self._width = width
            self._share_out()

    def _share_out(self):
        """Shares s of periods in the levels m, and powers p: of words on both sides."""
        model = self.model
        n = expected_information(model, self.density.periods)
        weight = n + 1.0 / (model.n_periods * model.prior.variance)
        self._shares = (weight / weight.sum(axis=0)).reshape(model.n_periods, -1)
        gaps = model.prior.gaps
        step = self.diffusion * (float(np.mean(gaps)) if gaps.size else 1.0)
        self._power = 1.0 / (1.0 + step * n.mean(axis=0)).ravel()
        # log volume by phi
        self._volume = 0.5 * model.n_components * (model.n_periods - 1) * self._power.sum()

    def logp_and_grad(self, theta, out):
        """Log posterior density up to a constant; its gradient into ``out``."""
        if not self.learned:
            return self.density.logp_and_grad(theta, out)
        prior, phi = self.model.prior, float(theta[-1])
        diffusion = self.diffusion * float(np.exp(phi))
        x, away, factor = self._stretched(theta)
        gradient, rows = np.zeros_like(x), (len(x), -1)
        logp = self.density.likelihood(x, gradient)
        precision = prior.tridiagonal(diffusion)
        logp += paths_prior(
            precision.diagonal, precision.off, x.reshape(rows), gradient.reshape(rows)
        )
        norm, slope = _prior_slope(prior, diffusion, x.reshape(rows))
        logp += norm + self._volume * phi + prior.log_hyperprior(diffusion)
        slope += self._volume - prior.hyperprior[0] + prior.hyperprior[1] / diffusion
        by_word = len(x), -1, x.shape[-1]
        slope += pull_stretch(
            gradient.reshape(by_word), self._shares, factor, self._power, away.reshape(by_word)
        )
        out[-1] = slope
        self.density.pull_back(gradient, out[:-1])
        return logp

    def vectors(self, theta):
        """Vectors of parameters, (n_periods, 2, n_words, K)."""
        return self._stretched(theta)[0] if self.learned else self.density.vectors(theta)

    def _stretched(self, theta):
        """Vectors x, their way from the levels, and the factors by which it was stretched."""
        v = self.density.vectors(theta[:-1])
        factor = np.exp(0.5 * theta[-1] * self._power)
        x, away, by_word = np.empty_like(v), np.empty_like(v), (len(v), -1, v.shape[-1])
        stretch_trajectories(
            v.reshape(by_word), self._shares, factor, away.reshape(by_word), x.reshape(by_word)
        )
        return x, away, factor

    def init(self, rng):
        """A start around the static vectors; a learned diffusion around the pilot's."""
        arrays = self.model.start_near(rng)
        theta = self.density.pack(arrays)
        if not self.learned:
            return theta
        return np.append(theta, _SPREAD * self._width * rng.standard_normal())

    def observe(self, theta):
        """``rho`` and ``alpha``, rotated together in all periods; a learned ``diffusion``."""
        x = self.vectors(theta)
        rho, alpha = self.model.in_frame(x[:, 1], x[:, 0], x[:, 1])
        values = {"rho": rho, "alpha": alpha}
        if self.learned:
            values["diffusion"] = np.array([self._diffusion(theta)])
        return values

    def trace(self, theta):
        """Logits and target coordinates of the monitored places; a learned ``log_diffusion``."""
        x = self.vectors(theta)
        seen = self.model.traces(self.monitored, x[:, 0], x[:, 1])
        if self.learned:
            seen["log_diffusion"] = np.log(self._diffusion(theta))
        return seen

    def _diffusion(self, theta):
        return self.diffusion * float(np.exp(theta[-1]))


def _prior_slope(prior, diffusion, x):
    """Log normalizing constant of trajectories, and the slope of their log prior by log D."""
    sums, n = np.empty((3, prior.gaps.size)), x.shape[1]
    step_sums(x, sums)
    angle = prior.rate(diffusion) * prior.gaps
    kept = np.exp(-angle)
    fresh, lost = -np.expm1(-2 * angle), -np.expm1(-angle)
    # derivatives by log D
    fresher, loses = 2 * angle * kept**2, angle * kept
    squares = sums[0] + 2 * lost * sums[1] + lost**2 * sums[2]
    slope = 2 * loses * (sums[1] + lost * sums[2])
    slope = n * fresher / fresh + (slope - squares * fresher / fresh) / (prior.variance * fresh)
    return -0.5 * n * float(np.sum(np.log(fresh))), -0.5 * float(slope.sum())


def pilot_run(model, monitored, seeds, n_jobs=None):
    """Mean and standard deviation of the logarithm of a learned diffusion from a few sweeps."""
    conditionals = DynamicConditionals(model, monitored)
    rngs = generators(seeds, conditionals.n_streams)
    seen = []
    with OneBlasThread(), Workers(effective_n_jobs(n_jobs)) as run:
        state = conditionals.init_state(rngs)
        for _ in range(_PILOT):
            conditionals.sweep(state, rngs, run)
            seen.append(np.log(state.diffusion))
    seen = seen[_PILOT // 2 :]
    # not narrower than if every step were seen
    steps = 2 * model.n_words * model.n_components * max(model.n_periods - 1, 1)
    return float(np.mean(seen)), max(float(np.std(seen)), (0.5 * steps) ** -0.5)


def default_options(estimator):
    """Options of the sampler for an estimator: the coordinates are the metric."""
    return HamiltonianOptions(target_accept=estimator.target_accept, metric="given")


def solve(estimator, problem, settings, seed):
    """Sample the posterior by Hamiltonian trajectories; returns a `Result`.

    Statistics are those of `inference.hmc.sample_hmc`, with ``logit``, ``coordinate`` and the
    ``log_diffusion`` where it is learned.

    Warns
    -----
    ConvergenceWarning
        For divergent or saturated trajectories.
    """
    model = problem.model
    monitored = monitored_places(model)
    pilot = None
    if model.prior.learned:
        seed, first = seed.spawn(2)
        pilot = remembered("pilot", lambda: pilot_run(model, monitored, first, estimator.n_jobs))
    result = sample_hmc(
        DynamicHamiltonian(model, monitored, pilot),
        settings,
        default_options(estimator),
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    result.facts["kernel"] = "nuts"
    result.monitored["logit"] = monitored
    return result
