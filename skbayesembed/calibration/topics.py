"""`GaussianLDA` as the suite takes it: every token is a word of its own, as Das et al. have it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import invwishart

from ..common.random import generators, seeds_from
from ..inference.threads import serial
from ..inference.trajectories import HamiltonianOptions
from ..topics.data import Documents
from ..topics.estimator import GaussianLDA
from ..topics.gibbs.solver import SAMPLERS
from ..topics.model import MarginalTopics
from ..topics.priors import NIW, Gaussians
from .models import Arrays, Lengths, Mover, estimated, flat, hamiltonian_move

# Mean, its precision, degrees of freedom and scale of the normal-inverse-Wishart prior.
_MEAN, _KAPPA, _FREEDOM = np.array([0.5, -0.2]), 0.3, 7.0
_SCALE = 3.0 * np.array([[1.0, 0.3], [0.3, 0.7]])
_TOPICS, _ALPHA = 2, 0.6
_STEP = 0.3


@dataclass(frozen=True)
class Tokens:
    """Vectors of tokens, one after the other.

    Attributes
    ----------
    vectors : ndarray of shape (n_tokens, n_dims)
    documents : ndarray of int of shape (n_tokens,)
    """

    vectors: np.ndarray
    documents: np.ndarray

    @property
    def counts(self) -> sparse.csr_array:
        """Count matrix, every token in a column of its own."""
        n = len(self.vectors)
        shape = int(self.documents[-1]) + 1, n
        return sparse.csr_array((np.ones(n), (self.documents, np.arange(n))), shape=shape)


@dataclass(frozen=True)
class Topics:
    """Two topics in two dimensions with a prior that is given, not learned from the vectors."""

    n_documents: int = 6
    length: int = 6

    name: ClassVar = "GaussianLDA"
    samplers: ClassVar = {"gibbs": 8, "gibbs:reference": 8, "gibbs:alias": 8, "hmc": 4}
    joint: ClassVar = ("gibbs", "gibbs:reference", "hmc")
    quantities: ClassVar = (
        "sum of means", "distance of means", "smaller log determinant", "sum of log determinants",
        "covariances, off the diagonal", "log density of tokens",
    )  # fmt: skip

    @property
    def _documents(self):
        return np.repeat(np.arange(self.n_documents), self.length)

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Topics, shares of documents, and the topics of tokens."""
        covariance = invwishart.rvs(_FREEDOM, _SCALE, size=n * _TOPICS, random_state=rng)
        covariance = covariance.reshape(n, _TOPICS, 2, 2)
        noise = rng.normal(size=(n, _TOPICS, 2, 1)) / np.sqrt(_KAPPA)
        mean = _MEAN + (np.linalg.cholesky(covariance) @ noise)[..., 0]
        theta = rng.dirichlet(np.full(_TOPICS, _ALPHA), size=(n, self.n_documents))
        z = assigned(theta[:, self._documents], rng)
        return {"mean": mean, "covariance": covariance, "theta": theta, "z": z}

    def data(self, arrays: Arrays, rng: np.random.Generator) -> Tokens:
        """Vectors of tokens given their topics."""
        z, roots = arrays["z"], np.linalg.cholesky(arrays["covariance"])
        noise = rng.normal(size=(len(z), 2, 1))
        return Tokens(arrays["mean"][z] + (roots[z] @ noise)[..., 0], self._documents)

    def look(self, arrays: Arrays, data: Tokens) -> np.ndarray:
        """Test quantities of draws; the last has all topics alike, as shares are not recorded."""
        mean, covariance = arrays["mean"], arrays["covariance"]
        logs = np.linalg.slogdet(covariance)[1]
        return np.column_stack([
            mean.sum(axis=(1, 2)), np.linalg.norm(mean[:, 0] - mean[:, 1], axis=1),
            logs.min(axis=1), logs.sum(axis=1), covariance[:, :, 0, 1].sum(axis=1),
            logsumexp(_log_densities(mean, covariance, data.vectors), axis=1).sum(axis=1),
        ])  # fmt: skip

    def log_likelihood(self, arrays: Arrays, data: Tokens) -> np.ndarray:
        """Of draws with their shares of documents, the topics of tokens summed out."""
        logs = _log_densities(arrays["mean"], arrays["covariance"], data.vectors)
        shares = np.log(arrays["theta"])[:, data.documents].swapaxes(1, 2)
        return logsumexp(logs + shares, axis=1).sum(axis=1)

    def posterior(
        self, data: Tokens, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws of `GaussianLDA`."""
        model = GaussianLDA(
            _TOPICS, embedding=data.vectors, normalize=None, min_count=1, doc_topic_prior=_ALPHA,
            mean_prior=_MEAN, mean_precision_prior=_KAPPA, degrees_of_freedom_prior=_FREEDOM,
            covariance_prior=_SCALE,
        )  # fmt: skip
        found = estimated(model, lengths, seed, sampler, **options).fit(data.counts).posterior_
        return {name: flat(found[name]) for name in ("mean", "covariance")}

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """A sweep of a `TopicGibbs`, or a trajectory of `MarginalTopics`."""
        prior = NIW(_MEAN, _KAPPA, _FREEDOM, _SCALE)
        seeds, alpha = seeds_from(rng), np.full(_TOPICS, _ALPHA)
        streams: list = []

        def trajectory(arrays, data):
            documents = Documents.of(data.counts, data.vectors)
            start = {"assignment": np.arange(len(data.vectors)) % _TOPICS}
            model = MarginalTopics(documents, _TOPICS, prior, alpha, start=start)
            theta = hamiltonian_move(model, model.pack(arrays), HamiltonianOptions(), _STEP, rng)
            out = model.unpack(theta)
            return out | {"z": assigned(out["theta"][self._documents], rng)}

        def sweep(arrays, data):
            documents = Documents.of(data.counts, data.vectors)
            kind = SAMPLERS[sampler.partition(":")[2] or "sampled"]
            model = kind(documents, _TOPICS, prior, alpha, start=None)
            if not streams:
                streams.extend(generators(seeds, model.n_streams))
            state = model.state_of(arrays["z"].astype(np.int32))
            model.sweep(state, streams, serial)
            gaussians: Gaussians = state.gaussians
            # shares are summed out: no later step reads those of the start
            return {
                "mean": gaussians.mean, "covariance": gaussians.covariance, "z": state.z,
                "theta": arrays["theta"],
            }  # fmt: skip

        return trajectory if sampler == "hmc" else sweep

    def brief(self) -> Topics:
        """Four documents of three tokens."""
        return replace(self, n_documents=4, length=3)

    def corner(self) -> Topics:
        """Two documents of one token."""
        return replace(self, n_documents=2, length=1)


def assigned(shares, rng):
    """Topics drawn from shares along the last axis."""
    u = rng.random(shares.shape[:-1])[..., None]
    return (u > np.cumsum(shares, axis=-1)[..., :-1]).sum(axis=-1)


def _log_densities(mean, covariance, vectors):
    """log N(v; mu, Sigma) of all topics and tokens, (n, n_topics, n_tokens)."""
    away = vectors - mean[:, :, None]
    squares = np.einsum("nkte,nkef,nktf->nkt", away, np.linalg.inv(covariance), away)
    level = np.linalg.slogdet(covariance)[1] + vectors.shape[1] * np.log(2 * np.pi)
    return -0.5 * (squares + level[:, :, None])
