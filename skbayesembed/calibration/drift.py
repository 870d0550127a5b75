"""`DynamicSGNS` as the suite takes it: vectors that drift over periods, one of them empty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..common.random import generators, seeds_from
from ..dynamic.data import PeriodPairs
from ..dynamic.estimator import DynamicSGNS
from ..dynamic.gibbs.conditionals import DynamicConditionals, DynamicState
from ..dynamic.hmc import DynamicHamiltonian
from ..dynamic.model import DynamicModel
from ..dynamic.priors import DriftPrior
from ..inference.threads import serial
from ..inference.trajectories import HamiltonianOptions
from .models import Arrays, Lengths, Mover, estimated, flat, hamiltonian_move
from .words import Counts, log_binomial, pair_counts

_PRECISION, _DIFFUSION = 1.5, 0.3
# Shape and scale of the inverse-Gamma prior of a learned diffusion.
_HYPER = (8.0, 2.5)
_TIMES = np.array([0.0, 1.0, 3.5])
_EMPTY = 1
_STEP = 0.35


@dataclass(frozen=True)
class Drift:
    """Ornstein-Uhlenbeck vectors over three periods, their diffusion given or learned."""

    learned: bool = False
    n_words: int = 3
    n_components: int = 2
    mean_total: float = 3.0

    samplers: ClassVar = {"gibbs": 10, "hmc": 4}

    @property
    def name(self) -> str:
        """The estimator's, and whether the diffusion is learned."""
        return "DynamicSGNS" + (", learned diffusion" if self.learned else "")

    @property
    def joint(self) -> tuple[str, ...]:
        """The coordinates of a learned diffusion come from a pilot run, which knows the data."""
        return ("gibbs",) if self.learned else ("gibbs", "hmc")

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the test quantities."""
        names = (
            "logit, first period", "logit, empty period", "logit, last period", "|rho|^2",
            "squared steps of rho", "last rho on first",
        )  # fmt: skip
        return (*names, *(("log diffusion",) if self.learned else ()), "log likelihood")

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Trajectories, and the diffusion."""
        diffusion = np.full(n, _DIFFUSION)
        if self.learned:
            diffusion = _HYPER[1] / rng.gamma(_HYPER[0], size=n)
        shape, variance = (n, len(_TIMES), self.n_words, self.n_components), 1 / _PRECISION
        out = {}
        for name in ("rho", "alpha"):
            x = np.sqrt(variance) * rng.normal(size=shape)
            for t, gap in enumerate(np.diff(_TIMES), 1):
                kept = np.exp(-diffusion * gap / (2 * variance))[:, None, None]
                x[:, t] = kept * x[:, t - 1] + np.sqrt(1 - kept**2) * x[:, t]
            out[name] = x
        return out | {"diffusion": diffusion}

    def data(self, arrays: Arrays, rng: np.random.Generator) -> Counts:
        """Poisson numbers of observations, none in the empty period."""
        logits = arrays["rho"] @ arrays["alpha"].swapaxes(1, 2)
        total = rng.poisson(self.mean_total, logits.shape)
        total[_EMPTY] = 0
        return Counts(rng.binomial(total, 1 / (1 + np.exp(-logits))).astype(float), total)

    def look(self, arrays: Arrays, data: Counts) -> np.ndarray:
        """Test quantities of draws."""
        rho = arrays["rho"]
        logits = rho @ arrays["alpha"].swapaxes(2, 3)
        seen = [
            logits[:, 0, 0, 0], logits[:, _EMPTY, 0, 0], logits[:, 2, 1, 0],
            (rho**2).sum(axis=(1, 2, 3)), (np.diff(rho, axis=1) ** 2).sum(axis=(1, 2, 3)),
            (rho[:, 0] * rho[:, 2]).sum(axis=(1, 2)),
        ]  # fmt: skip
        if self.learned:
            seen.append(np.log(arrays["diffusion"].reshape(len(rho))))
        return np.column_stack([*seen, log_binomial(logits, data)])

    def log_likelihood(self, arrays: Arrays, data: Counts) -> np.ndarray:
        """Of draws."""
        return self.look(arrays, data)[:, -1]

    def posterior(
        self, data: Counts, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws of `DynamicSGNS`."""
        model = DynamicSGNS(
            self.n_components, prior_precision=_PRECISION, uncertainty="model",
            diffusion="learned" if self.learned else _DIFFUSION,
            hyperprior=_HYPER if self.learned else None,
        )  # fmt: skip
        model = estimated(model, lengths, seed, sampler, **options)
        pairs = [pair_counts(p, n) for p, n in zip(data.positive, data.total, strict=True)]
        found = model.fit(pairs, times=_TIMES).posterior_
        names = ("rho", "alpha", "diffusion") if self.learned else ("rho", "alpha")
        return {name: flat(found[name]) for name in names}

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """A sweep of `DynamicConditionals`, or a trajectory of `DynamicHamiltonian`."""
        diffusion = "learned" if self.learned else _DIFFUSION
        prior = DriftPrior(np.diff(_TIMES), _PRECISION, diffusion, _HYPER)
        zero = np.zeros((self.n_words, self.n_components))
        seeds, place = seeds_from(rng), np.array([[0, 0, 0]])
        streams: list = []

        def model_of(data):
            counts = [pair_counts(p, n) for p, n in zip(data.positive, data.total, strict=True)]
            pivots = np.arange(self.n_components)
            return DynamicModel(
                PeriodPairs(counts), self.n_components, prior, pivots, {"rho": zero, "alpha": zero}
            )

        def trajectory(arrays, data):
            target = DynamicHamiltonian(model_of(data), place)
            theta = target.density.pack(arrays)
            theta = hamiltonian_move(target, theta, HamiltonianOptions(), _STEP, rng)
            return {**target.density.unpack(theta), "diffusion": arrays["diffusion"]}

        def sweep(arrays, data):
            conditionals = DynamicConditionals(model_of(data), place)
            if not streams:
                streams.extend(generators(seeds, conditionals.n_streams))
            x = [arrays["rho"].copy(), arrays["alpha"].copy()]
            state = DynamicState(x, float(arrays["diffusion"]))
            conditionals.sweep(state, streams, serial)
            return {"rho": x[0], "alpha": x[1], "diffusion": np.array(state.diffusion)}

        return trajectory if sampler == "hmc" else sweep

    def brief(self) -> Drift:
        """One or two observations of a pair."""
        return replace(self, mean_total=1.5)

    def corner(self) -> Drift:
        """Two words in one dimension."""
        return replace(self, n_words=2, n_components=1, mean_total=4.0)
