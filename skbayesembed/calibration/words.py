"""`BayesianSGNS` as the suite takes it: logits of word pairs given how often they were observed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_expit

from ..common.random import generators, seeds_from
from ..inference.threads import serial
from ..inference.trajectories import HamiltonianOptions
from ..sgns.counting import PairCounts
from ..sgns.data import DensePairs
from ..sgns.estimator import BayesianSGNS
from ..sgns.gibbs.conditionals import SGNSConditionals
from ..sgns.hmc import SGNSHamiltonian
from ..sgns.model import SGNSModel
from ..sgns.priors import Prior
from .models import Arrays, Lengths, Mover, estimated, flat, hamiltonian_move

# Shape and rate of the Gamma prior of a learned precision: all moments that are tested exist.
_HYPER = (6.0, 4.0)
_PRECISION = 1.5
# Step size of trajectories in the joint test, in the model's own scale, and sweeps between draws.
_STEP = 0.35


@dataclass(frozen=True)
class Counts:
    """How often pairs of words were observed, and how often of these they were positive.

    Attributes
    ----------
    positive, total : ndarray of shape (..., n_words, n_words)
        Of static vectors; periods come first where vectors drift.
    """

    positive: np.ndarray
    total: np.ndarray

    @property
    def pairs(self) -> PairCounts:
        """As the estimators take them."""
        return pair_counts(self.positive, self.total)


def pair_counts(positive: np.ndarray, total: np.ndarray) -> PairCounts:
    """`PairCounts` of positive and all observations."""
    return PairCounts(sparse.csr_array(positive), sparse.csr_array(total - positive))


def log_binomial(logits: np.ndarray, data: Counts) -> np.ndarray:
    """Log likelihood of positive observations, one for each draw of logits."""
    value = data.positive * logits + data.total * log_expit(-logits)
    return value.reshape(len(logits), -1).sum(axis=1)


@dataclass(frozen=True)
class Words:
    """Skip-gram vectors with a given precision, or with one learned for all or each component."""

    precision: str = "given"
    n_words: int = 4
    n_components: int = 2
    mean_total: float = 4.0

    samplers: ClassVar = {"gibbs": 8, "gibbs:polya-gamma": 12, "hmc": 4}
    joint: ClassVar = ("gibbs", "gibbs:polya-gamma", "hmc")

    @property
    def name(self) -> str:
        """The estimator's, and what its precision is."""
        return "BayesianSGNS" + {
            "given": "", "shared": ", learned precision", "component": ", ARD",
        }[self.precision]  # fmt: skip

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the test quantities."""
        names = ("logit 0, 0", "logit 1, 0", "|rho|^2", "|alpha|^2", "sum of logits")
        more = () if self.precision == "given" else ("sum of log precisions",)
        return (*names, *more, "log likelihood")

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Vectors, and the precision of each component."""
        v, k = self.n_words, self.n_components
        tau = np.full((n, k), _PRECISION)
        if self.precision != "given":
            tau = rng.gamma(_HYPER[0], 1 / _HYPER[1], (n, k))
        if self.precision == "shared":
            tau = np.repeat(tau[:, :1], k, axis=1)
        spread = tau[:, None] ** -0.5
        return {name: spread * rng.normal(size=(n, v, k)) for name in ("rho", "alpha")} | {
            "tau": tau
        }

    def data(self, arrays: Arrays, rng: np.random.Generator) -> Counts:
        """Poisson numbers of observations, which the vectors have no part in."""
        total = rng.poisson(self.mean_total, (self.n_words,) * 2)
        logits = arrays["rho"] @ arrays["alpha"].T
        return Counts(rng.binomial(total, 1 / (1 + np.exp(-logits))).astype(float), total)

    def look(self, arrays: Arrays, data: Counts) -> np.ndarray:
        """Test quantities of draws."""
        rho, alpha = arrays["rho"], arrays["alpha"]
        logits = rho @ alpha.swapaxes(1, 2)
        seen = [
            logits[:, 0, 0], logits[:, 1, 0], (rho**2).sum(axis=(1, 2)),
            (alpha**2).sum(axis=(1, 2)), logits.sum(axis=(1, 2)),
        ]  # fmt: skip
        if self.precision != "given":
            seen.append(np.log(arrays["tau"]).sum(axis=1))
        return np.column_stack([*seen, log_binomial(logits, data)])

    def log_likelihood(self, arrays: Arrays, data: Counts) -> np.ndarray:
        """Of draws."""
        return self.look(arrays, data)[:, -1]

    def posterior(
        self, data: Counts, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws of `BayesianSGNS`."""
        prior: dict[str, Any] = {"prior_precision": _PRECISION}
        if self.precision != "given":
            prior = {"prior_precision": "learned", "hyperprior": _HYPER}
        if self.precision == "component":
            prior = {"prior": "ard", "hyperprior": _HYPER, "prior_precision": 1.0}
        model = BayesianSGNS(self.n_components, anchors=None, uncertainty="model", **prior)
        found = estimated(model, lengths, seed, sampler, **options).fit(data.pairs).posterior_
        out = {name: flat(found[name]) for name in ("rho", "alpha")}
        if self.precision != "given":
            tau = flat(found["prior_precision"])
            out["tau"] = np.broadcast_to(tau, (len(tau), self.n_components))
        return out

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """A sweep of `SGNSConditionals`, or a trajectory of `SGNSHamiltonian`."""
        learned = None if self.precision == "given" else self.precision
        prior = Prior(self.n_words, self.n_components, _PRECISION, learned=learned, hyper=_HYPER)

        def model_of(data):
            return SGNSModel(DensePairs(data.pairs), self.n_components, prior)

        if sampler == "hmc":
            return lambda arrays, data: _trajectory(model_of(data), arrays, rng)
        kernel = sampler.partition(":")[2] or "metropolis"
        return _Sweeps(model_of, kernel, rng)

    def brief(self) -> Words:
        """One or two observations of a pair."""
        return replace(self, mean_total=1.5)

    def corner(self) -> Words:
        """Two words in one dimension."""
        return replace(self, n_words=2, n_components=1, mean_total=6.0)


def _trajectory(model, arrays, rng):
    target = SGNSHamiltonian(model, np.arange(model.n_components), np.array([[0, 0]]))
    theta = np.concatenate([model.pack(arrays), np.log(arrays["tau"][: target.n_learned])])
    theta = hamiltonian_move(target, theta, HamiltonianOptions(), _STEP, rng)
    tau = arrays["tau"]
    if target.n_learned:
        tau = np.broadcast_to(np.exp(theta[target.n_blocked :]), model.n_components)
    return {**model.unpack(theta[: target.n_blocked]), "tau": tau}


class _Sweeps:
    """One sweep a call, with tuning that no data inform and changing numbers of steps."""

    def __init__(self, model_of, kernel, rng):
        self.model_of, self.kernel = model_of, kernel
        self.seeds, self.streams, self.n_sweeps = seeds_from(rng), None, 0

    def __call__(self, arrays, data):
        model = self.model_of(data)
        sampler = SGNSConditionals(
            model, self.kernel, np.arange(model.n_components), np.array([[0, 0]])
        )
        if self.streams is None:
            self.streams = generators(self.seeds, sampler.n_streams)
        state = sampler.init_state(self.streams)
        state.x = [arrays["rho"].copy(), arrays["alpha"].copy()]
        state.tau, state.n_sweeps = arrays["tau"].copy(), self.n_sweeps
        if state.tuning is not None:
            freeze(state, model)
        sampler.sweep(state, self.streams, serial)
        self.n_sweeps += 1
        return {"rho": state.x[0], "alpha": state.x[1], "tau": state.tau}


def freeze(state: Any, model: SGNSModel) -> None:
    """Set tuning to values that no data set informs, with other numbers of steps on each side."""
    for side in (0, 1):
        state.tuning.weight[side][:] = 0.15 * model.pairs.n[side]
        state.tuning.shift[side][:] = 0.0
        state.tuning.n_steps[side] = np.full(len(model.blocks[side]), 2 * side)
