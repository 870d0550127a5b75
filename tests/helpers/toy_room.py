"""A complete model in one file: rates of words, with the four solvers that need a log density."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array

from skbayesembed import spine
from skbayesembed.common.checks import check_chain_length, check_real
from skbayesembed.common.estimator import FittedMixin
from skbayesembed.common.mixing import note_mixing
from skbayesembed.common.random import generators
from skbayesembed.inference.advi import mean_field
from skbayesembed.inference.approximations import ReadApproximation, drawn
from skbayesembed.inference.contracts import Result
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.mode_gaussian import ModeGaussian
from skbayesembed.posterior.summary import rhat


# model.py: the log density. Arrays: rates (n_words,).
class RateModel:
    """Counts of word v are Poisson with the mean n exp(theta_v), theta_v ~ N(0, 1 / precision)."""

    def __init__(self, counts, precision):
        self.totals, self.n, self.precision = counts.sum(axis=0), len(counts), precision
        self.n_parameters = self.totals.size
        self.scale = (precision + self.totals) ** -0.5

    def logp_and_grad(self, theta, out):
        """Log posterior density up to a constant; its gradient into ``out``."""
        rates = self.n * np.exp(theta)
        out[:] = self.totals - rates - self.precision * theta
        return float(theta @ self.totals - rates.sum() - 0.5 * self.precision * theta @ theta)

    def pack(self, arrays):
        """Flat parameters of named arrays."""
        return np.log(arrays["rate"])

    def unpack(self, theta):
        """Named arrays of flat parameters."""
        return {"rate": np.exp(theta)}

    observe = unpack

    def init(self, rng):
        """A start of a chain."""
        return self.scale * rng.standard_normal(self.n_parameters)

    def trace(self, theta):
        """Nothing is recorded besides."""
        return {}


# map.py, hmc.py, vi.py, laplace.py: solve(estimator, problem, settings, seed) -> Result
def _mode(estimator, problem):
    start = np.zeros(problem.n_parameters)
    return find_mode(problem, start, max_iter=estimator.max_iter, tol=estimator.tol)


def solve_map(estimator, problem, settings, seed):
    """The mode."""
    theta, facts = _mode(estimator, problem)
    return Result({"rate": problem.unpack(theta)["rate"][None, None]}, facts=facts)


def solve_hmc(estimator, problem, settings, seed):
    """Chains of no-U-turn trajectories."""
    return sample_hmc(problem, settings, n_chains=estimator.chains, seeds=seed)


def solve_laplace(estimator, problem, settings, seed):
    """The Gaussian at the mode, in the logarithms of rates."""
    theta, facts = _mode(estimator, problem)
    found = ReadApproximation(problem, ModeGaussian(problem, theta))
    return drawn(found.sample(settings.recorded, generators(seed, 1)[0]), facts, found)


def solve_vi(estimator, problem, settings, seed):
    """Independent Gaussians for the logarithms of rates."""
    of_fit, of_draws = generators(seed, 2)
    flat, facts = mean_field(problem, np.zeros(problem.n_parameters), of_fit)
    found = ReadApproximation(problem, flat)
    return drawn(found.sample(settings.recorded, of_draws), facts, found)


# solvers.py and recording.py: what the spine asks of the room
def _check(estimator):
    check_real("precision", estimator.precision, 0)
    check_chain_length(estimator)


def _diagnose(estimator, training, posterior):
    if posterior.attrs["solver"] == "hmc":
        note_mixing(posterior.attrs, rhat(posterior["rate"]), "the rates")


ROOM = spine.Room(
    solvers={"hmc": solve_hmc, "vi": solve_vi, "laplace": solve_laplace, "map": solve_map},
    check=_check,
    footprint=lambda estimator, training: spine.Footprint(draw=8 * training.shape[1]),
    pose=lambda estimator, training, seeds: RateModel(training, estimator.precision),
    labels=lambda estimator, training, draws: ({"rate": ("word",)}, {}),
    diagnose=_diagnose,
    streams=("solve",),
)  # fmt: skip


# estimator.py
class WordRates(FittedMixin, TransformerMixin, BaseEstimator):
    """Posterior of the rates of words."""

    def __init__(
        self, *, solver="hmc", precision=1.0, draws=200, warmup=200, chains=2, thin=1,
        keep_draws="auto", max_iter=100, tol=1e-8, random_state=None,
    ):  # fmt: skip
        self.solver, self.precision = solver, precision
        self.draws, self.warmup, self.chains, self.thin = draws, warmup, chains, thin
        self.keep_draws, self.max_iter, self.tol = keep_draws, max_iter, tol
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the posterior from a count matrix."""
        spine.check(self, ROOM)
        X = check_array(X, dtype=np.float64)
        self._set_fitted(spine.fit(self, ROOM, X, spine.seeds_of(self, ROOM)))
        return self

    def transform(self, X):
        """Counts relative to the posterior mean rates."""
        return check_array(X, dtype=np.float64) / self.posterior_.mean("rate")

    def score(self, X, y=None, *, sample_weight=None):
        """Mean log probability per document, up to a constant, at the posterior mean rates."""
        rate = self.posterior_.mean("rate")
        return float(np.mean(check_array(X) @ np.log(rate)) - rate.sum())
