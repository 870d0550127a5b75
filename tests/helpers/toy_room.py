"""A complete model in one file: rates of words, with the four solvers that need a log density."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from skbayesembed import spine
from skbayesembed.common.checks import check_chain_length, check_real
from skbayesembed.common.estimator import FittedMixin
from skbayesembed.common.mixing import note_mixing
from skbayesembed.inference.advi import mean_field
from skbayesembed.inference.approximations import ReadApproximation, drawn
from skbayesembed.inference.contracts import Result
from skbayesembed.inference.hmc import sample_hmc
from skbayesembed.inference.mode import find_mode
from skbayesembed.inference.mode_gaussian import ModeGaussian
from skbayesembed.posterior.summary import rhat


# model.py. Arrays: rate (n_words,), flat parameters theta (n_words,), the logarithms of the rates.
class RateModel:
    """Each of n documents has word v Poisson(exp(theta_v)) times; theta_v ~ N(0, 1 / precision)."""

    def __init__(self, counts, precision):
        self.totals, self.n, self.precision = counts.sum(axis=0), len(counts), precision
        self.n_parameters, self.scale = self.totals.size, (precision + self.totals) ** -0.5

    def logp_and_grad(self, theta, out):
        expected = self.n * np.exp(theta)
        out[:] = self.totals - expected - self.precision * theta
        return float(theta @ self.totals - expected.sum() - 0.5 * self.precision * theta @ theta)

    def pack(self, arrays):
        return np.log(arrays["rate"])

    def unpack(self, theta):
        return {"rate": np.exp(theta)}

    def init(self, rng):  # where a chain starts
        return self.scale * rng.standard_normal(self.n_parameters)

    observe = unpack  # what is recorded of a draw

    def trace(self, theta):  # statistics of a draw: none besides those of every trajectory
        return {}


# map.py, hmc.py, laplace.py, vi.py: solve(estimator, problem, settings, seed) -> Result
def solve_map(estimator, problem, settings, seed):
    theta, facts = find_mode(problem, np.zeros(problem.n_parameters))
    return Result({"rate": np.exp(theta)[None, None]}, facts=facts)


def solve_hmc(estimator, problem, settings, seed):
    return sample_hmc(problem, settings, n_chains=estimator.chains, seeds=seed)


def solve_laplace(estimator, problem, settings, seed):
    theta, facts = find_mode(problem, np.zeros(problem.n_parameters))
    return _drawn_from(ModeGaussian(problem, theta), facts, problem, settings, seed)


def solve_vi(estimator, problem, settings, seed):
    of_fit, of_draws = seed.spawn(2)
    start, rng = np.zeros(problem.n_parameters), np.random.default_rng(of_fit)
    return _drawn_from(*mean_field(problem, start, rng), problem, settings, of_draws)


def _drawn_from(gaussian, facts, problem, settings, seed):
    found = ReadApproximation(problem, gaussian)
    return drawn(found.sample(settings.recorded, np.random.default_rng(seed)), facts, found)


# checks.py, recording.py and solvers.py: what the spine asks of the room
def check_parameters(estimator):
    check_real("precision", estimator.precision, 0)
    check_chain_length(estimator)


def diagnose(estimator, training, posterior):
    if estimator.solver == "hmc":
        note_mixing(posterior.attrs, rhat(posterior["rate"]), "the rates")


ROOM = spine.Room(
    solvers={"hmc": solve_hmc, "vi": solve_vi, "laplace": solve_laplace, "map": solve_map},
    check=check_parameters,
    footprint=lambda estimator, training: spine.Footprint(draw=8 * training.shape[1]),
    pose=lambda estimator, training, seeds: RateModel(training, estimator.precision),
    labels=lambda estimator, training, draws: ({"rate": ("word",)}, {}),
    diagnose=diagnose,
    streams=("solve",),
)


# estimator.py
class WordRates(FittedMixin, TransformerMixin, BaseEstimator):
    """Posterior of the rates of words in documents of a count matrix."""

    def __init__(
        self, *, solver="hmc", precision=1.0, draws=200, warmup=200, chains=2, thin=1,
        keep_draws="auto", random_state=None,
    ):  # fmt: skip
        self.solver, self.precision, self.random_state = solver, precision, random_state
        self.draws, self.warmup, self.chains, self.thin = draws, warmup, chains, thin
        self.keep_draws = keep_draws

    def fit(self, X, y=None):
        spine.check(self, ROOM)
        seeds = spine.seeds_of(self, ROOM)
        # inputs.py, where there is more to it
        training = validate_data(self, X, dtype=np.float64, ensure_non_negative=True)
        self._set_fitted(spine.fit(self, ROOM, training, seeds))
        return self

    def transform(self, X):
        """Counts relative to the posterior mean rates."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) / self.posterior_.mean("rate")

    def score(self, X, y=None, *, sample_weight=None):
        """Mean log probability per document, up to a constant, at the posterior mean rates."""
        check_is_fitted(self)
        rate = self.posterior_.mean("rate")
        return float(np.mean(validate_data(self, X, reset=False) @ np.log(rate)) - rate.sum())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
