"""The skip-gram posterior for the Hamiltonian samplers."""

from __future__ import annotations

import numpy as np

from ..inference.hmc import sample_hmc
from ..inference.trajectories import HamiltonianOptions
from .anchors import identify
from .recording import monitored_pairs


class SGNSHamiltonian:
    """`HamiltonianModel` of an `SGNSModel`.

    The flat parameters are those of the model; a learned prior precision adds log tau at the end,
    one number or one a component.

    Parameters
    ----------
    model : SGNSModel
    pivots : ndarray of int of shape (n_components,)
        Contexts that define the frame of recorded draws where the model has no anchors.
    monitored : ndarray of int of shape (n_monitored, 2)
        Pairs (target, context) whose logits are traced.
    start : dict of ndarray, optional
        Vectors around which chains start; ``model.start`` alone where None.
    """

    def __init__(self, model, pivots, monitored, start=None):
        self.model = model
        self.pivots = pivots
        self.monitored = monitored
        self.start = start
        prior = model.prior
        self.block_size = model.n_components
        self.n_blocked = model.n_parameters
        # Rotations of all vectors but the anchored ones leave every other logit as it is: with
        # them the posterior is several times as wide as its variances say. Without anchors they
        # matter to nothing that is recorded.
        self.turns = model.anchors is not None
        self.n_learned = {None: 0, "shared": 1, "component": model.n_components}[prior.learned]
        self.n_parameters = self.n_blocked + self.n_learned
        # exponents of tau in the density of the vectors, by learned number
        share = model.n_components // max(self.n_learned, 1)
        self._half_count = model.n_words * share
        spread = (prior.hyper[0] + self._half_count) ** -0.5
        self.scale = np.concatenate([model.scale, np.full(self.n_learned, spread)])

    def logp_and_grad(self, theta, out):
        """Log posterior density up to a constant; its gradient into ``out``."""
        if self.n_learned == 0:
            return self.model.logp_and_grad(theta, out)
        n, prior = self.n_blocked, self.model.prior
        log_tau = theta[n:]
        with np.errstate(over="ignore"):
            learned = np.exp(log_tau)
        tau = np.broadcast_to(learned, prior.tau.shape) if self.n_learned == 1 else learned
        logp = self.model.logp_and_grad(theta[:n], out[:n], tau)
        arrays = self.model.unpack(theta[:n])
        squares = prior.squares((arrays["rho"], arrays["alpha"]))
        if self.n_learned == 1:
            squares = squares.sum(keepdims=True)
        shape, rate = prior.hyper
        # the quadratic form itself is in the model's log density
        logp += float(np.sum((self._half_count + shape) * log_tau - rate * learned))
        out[n:] = self._half_count + shape - (rate + 0.5 * squares) * learned
        return logp

    def init(self, rng):
        """A start around ``start``, no further than the posterior's scale; log tau at its own."""
        arrays = self.model.start_near(self.start, rng)
        theta = self.model.pack(arrays)
        if self.n_learned == 0:
            return theta
        tau = self.model.prior.draw_tau((arrays["rho"], arrays["alpha"]), rng)
        return np.concatenate([theta, np.log(tau[: self.n_learned])])

    def observe(self, theta):
        """``rho`` and ``alpha``, rotated to the pivots' frame without anchors; a learned tau."""
        arrays = self.model.unpack(theta[: self.n_blocked])
        tau = np.exp(theta[self.n_blocked :])
        return self.model.observed(self.pivots, arrays["rho"], arrays["alpha"], tau)

    def trace(self, theta):
        """Logits and target coordinates of the monitored pairs."""
        arrays = self.model.unpack(theta[: self.n_blocked])
        return self.model.traces(self.pivots, self.monitored, arrays["rho"], arrays["alpha"])


def default_options(estimator, model):
    """Options of the sampler for an estimator and its (anchored) model."""
    # without anchors vectors turn during the run, and with them the variances of coordinates
    turning = model.anchors is None and model.prior.free_components.size > 1
    return HamiltonianOptions(
        target_accept=estimator.target_accept, metric="pooled" if turning else "diag"
    )


def solve(estimator, problem, settings, seed):
    """Sample the posterior by Hamiltonian trajectories: a `Result`.

    Warns
    -----
    ConvergenceWarning
        For divergent or saturated trajectories.
    """
    found = identify(estimator, problem)
    model = found.model
    monitored = monitored_pairs(model)
    result = sample_hmc(
        SGNSHamiltonian(model, found.pivots, monitored, start=found.mode.arrays),
        settings,
        default_options(estimator, model),
        n_chains=estimator.chains,
        seeds=seed,
        n_jobs=estimator.n_jobs,
        verbose=estimator.verbose,
    )
    result.facts |= {"kernel": "nuts", **found.facts}
    result.learned["anchors_"] = found.anchors
    result.monitored["logit"] = monitored
    return result
