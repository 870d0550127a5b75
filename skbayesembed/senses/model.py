"""Log posterior of the sense models with the senses of snippets summed out.

With K senses, G genres, T periods and V words, arrays are, in dicts by name, in states, starts,
modes and recorded draws alike:

==============  ===================================================================
``phi``         (G, T, K), logits of prevalence; recorded is ``prevalence``
``chi``         (K, V), logits of words under a sense
``theta``       (T, V), logits of words in a period
``psi``         (K, T, V), logits of words under a sense in a period
``sigma``       (V,), of ``model="edisc"``: logits of words that vectors do not explain
``deviation``   (K, T, V), of ``model="interaction"``, beside ``log_tau`` and
                ``log_lambda`` (V,), the logarithms of the parts of their size
==============  ===================================================================

In ``model="edisc"`` ``chi`` is (K, M) and ``theta`` (T, M): what the M dimensions of the word
vectors are weighted with. There is ``log_kappa_phi`` where that variance is learned. Where works
are known, logits of prevalence are ``phi`` plus ``unit_effects`` (W, K), whose deviation has the
logarithm ``log_unit_sd``; recorded are ``phi``, ``unit_effects``, ``unit_sd`` and ``prevalence``,
the mean over works. Flat coordinates, and the kernels that take them, have periods first (see
`coordinates.frame`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ..inference.matching import match
from ..numeric.logistic_normal import mean_softmax
from . import density_kernels as density
from . import kernels
from .coordinates.deviations import Deviations
from .coordinates.embedded import EmbeddedEffects
from .coordinates.frame import Effects, Paths, periods_first
from .coordinates.prevalence_paths import PrevalencePaths
from .coordinates.works import NO_WORKS, WorkEffects, centred

# Axes of the senses.
_AXES = {
    "phi": 2, "prevalence": 2, "chi": 0, "psi": 0, "deviation": 0, "unit_effects": 1, "contexts": 1,
}  # fmt: skip
# What is recorded of words, by model.
RECORDED = {
    "disc": ("chi", "theta"),
    "gasc": ("psi",),
    "scan": ("psi",),
    "interaction": ("psi",),
    "edisc": ("chi", "theta", "sigma"),
}


class SenseModel:
    """The density that map, hmc, vi and laplace need, in the coordinates of `frame`.

    Parameters
    ----------
    data : Snippets
    n_senses : int
    prior : ModelPrior
    power : float, default=1.0
        Power of the likelihood, beside that of the prior's ``likelihood_power``.

    """

    def __init__(self, data, n_senses, prior, *, power=1.0):
        self.data, self.n_senses, self.prior = data, n_senses, prior
        self.power = power * prior.likelihood_power
        n_periods, n_words = data.n_periods, data.n_words
        self.totals, self.lengths = data.totals, data.lengths
        rows, self.snippets = data.mixtures
        d = data
        self._data = d.indptr, d.words, d.counts, d.periods, rows, d.labels, self.lengths
        # no match of all other snippets outweighs one known sense
        self.binding = np.where(data.labels >= 0, 10.0 * data.n_snippets, 1.0)
        shape = (n_periods, n_senses, data.n_genres)
        proper = prior.proper()
        phi = PrevalencePaths(shape, prior)
        if prior.walks:
            shape = (n_periods, n_senses, n_words)
            of_psi = prior.psi_precision(n_periods), 2, proper.psi_precision(n_periods)
            psi = Paths("psi", shape, *of_psi)
            self.coordinates = [psi, phi]
        else:
            self.coordinates = [self._effects(prior.theta_precision(n_periods)), phi]
            if prior.kind == "interaction":
                of_deviation = prior.deviation_precision(n_periods)
                scales = prior.interaction_scale, prior.slab
                self.coordinates.insert(0, Deviations(n_senses, n_words, of_deviation, *scales))
        self._works = None
        if data.works is not None:
            sizes = data.n_works, n_senses, data.n_genres
            self._works = WorkEffects(data.contexts, sizes, prior.unit_scale)
        self.n_parameters = sum(c.size for c in self._all)
        self.scale = np.ones(self.n_parameters)
        self.inform()

    def _effects(self, of_theta):
        """Coordinates of what words have of senses and of periods."""
        prior = self.prior
        if prior.kind == "edisc":
            variances = prior.chi_variance, prior.kappa_sigma
            return EmbeddedEffects(self.data.vectors, self.n_senses, variances, of_theta)
        return Effects(self.n_senses, self.data.n_words, prior.chi_variance, of_theta)

    # coordinates

    @property
    def _all(self):
        """All coordinates; those of works, which depend on ``phi``, come last."""
        return [*self.coordinates, *([] if self._works is None else [self._works])]

    def log_volume(self):
        """As of `Paths`, of all coordinates."""
        return sum(c.log_volume() for c in self._all)

    def inform(self, arrays=None, information=None):
        """Fit the frame: to the counts alone, or to posterior means and expected counts.

        Parameters
        ----------
        arrays : dict, optional
            Posterior means, or one state.
        information : dict, optional
            Expected information of ``phi`` and ``psi``, as of `information_at`.
        """
        if information is None:
            information = self._information_of_counts()
        works = self._works
        if works is not None:
            given = information, self.power, self.data.n_periods, arrays
            information = information | {"phi": works.about_phi(*given)}
        for c in self._all:
            c.inform(information, self.power, arrays)
        of_works = NO_WORKS if works is None else works.arrays
        self._frames = (*(c.arrays for c in self.coordinates), of_works)

    def _information_of_counts(self):
        """As if every snippet were of every sense alike: no sense is told from another."""
        k = self.n_senses
        share = (1 - 1 / k) / k
        phi = np.repeat(self.data.cells[:, :, None] * share, k, axis=2)
        out = {"phi": phi, "psi": np.repeat(self.totals[None] / k, k, axis=0)}
        if self._works is not None:
            out["contexts"] = np.repeat(self.data.contexts.telling[:, None] * share, k, axis=1)
        return out

    def information_at(self, arrays, sums=None):
        """Expected information of the complete data, about ``phi`` and word logits: dict.

        Of ``"interaction"`` also what `Deviations` take. Where there are works, that about the
        logits of their contexts in place of ``phi``.

        Parameters
        ----------
        arrays : dict
        sums : Sums, optional
            Those of ``arrays``, where they are known.
        """
        sums = self.sums(arrays) if sums is None else sums
        psi = sums.mass[:, :, None] * self.word_proba(arrays)
        if self._works is None:
            p = self.prevalence(arrays)
            out = {"phi": self.snippets[:, :, None] * p * (1 - p), "psi": psi}
        else:
            c = self.data.contexts
            p = softmax(self._works.rows(arrays), axis=1)[c.periods, :, c.places]
            out = {"contexts": c.telling[:, None] * p * (1 - p), "psi": psi}
        if self.prior.kind == "interaction":
            out |= self.coordinates[0].information(arrays, psi)
        return out

    def pack(self, arrays):
        """Flat coordinates of the dict of named arrays."""
        out = np.empty(self.n_parameters)
        at = 0
        for c in self._all:
            c.coordinates(arrays, out[at : at + c.size])
            at += c.size
        return out

    def unpack(self, theta):
        """Dict of named arrays of flat coordinates."""
        arrays, at = {}, 0
        for c in self.coordinates:
            arrays |= c.logits(theta[at : at + c.size])
            at += c.size
        if self._works is not None:
            arrays |= self._works.logits(theta[at : at + self._works.size], arrays["phi"])
        return arrays

    # density

    def logp_and_grad(self, theta, out):
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""
        given = self._frames, self._data
        if self.prior.kind in ("disc", "edisc"):
            additive = self.prior.kind == "disc"
            of = density.additive_posterior if additive else density.embedded_posterior
            return of(theta, out, *given, self.totals, self.snippets, self.power)
        if self.prior.kind == "interaction":
            return density.deviating_posterior(theta, out, *given, self.snippets, self.power)
        return density.full_posterior(theta, out, *given, self.n_senses, self.snippets, self.power)

    def word_logits(self, arrays):
        """Logits of words (n_senses, n_periods, n_words)."""
        if "psi" in arrays:
            return arrays["psi"]
        logits = arrays["chi"][:, None] + arrays["theta"]
        if self.prior.kind == "edisc":
            return logits @ self.data.vectors.T + arrays["sigma"]
        if self.prior.kind == "interaction":
            logits += arrays["deviation"] * self.coordinates[0].sizes(arrays)[0]
        return logits

    def sums(self, arrays):
        """What is read off a state, a `Sums`; the density has kernels of its own."""
        d, k = self.data, self.n_senses
        psi = periods_first("psi", self.word_logits(arrays)).reshape(-1, d.n_words)
        # contiguous as in the density, so that kernels are compiled once
        phi = periods_first("phi", arrays["phi"])
        if self._works is not None:
            phi = self._works.rows(arrays)
        top = psi.max(axis=1)
        log_sum = top + np.log(np.exp(psi - top[:, None]).sum(axis=1))
        log_sum = np.ascontiguousarray(log_sum.reshape(d.n_periods, k).T)
        mass = np.empty_like(log_sum)
        log_prev, cells = np.empty((2, phi.shape[2], d.n_periods, k))
        weights = np.empty((k, d.n_snippets))
        of_gradient = log_prev, weights, mass, cells
        value = kernels.mixture(self._data, phi, psi, k, log_sum, *of_gradient)
        return Sums(value, weights, mass)

    def order_of(self, reference, weights):
        """Which senses of ``weights`` are which of ``reference`` (K, D); labels are binding."""
        return match(reference, weights, self.binding)

    def sense_proba(self, arrays):
        """Probabilities of senses of the snippets: ndarray of shape (n_snippets, n_senses)."""
        return self.sums(arrays).weights.T

    def log_likelihood(self, theta):
        """Log likelihood, not raised to the power, with the senses of snippets summed out."""
        return self.sums(self.unpack(theta)).value

    # chains

    def init(self, rng):
        """Flat start of a chain: a draw of the prior."""
        return self.pack(self.draw_prior(rng))

    def draw_prior(self, rng):
        """Arrays drawn from the prior."""
        arrays = {}
        for c in self._all:
            arrays |= c.draw(rng)
        return arrays

    def observe(self, theta):
        """Named arrays to record: ``prevalence``, and what word logits are made of."""
        arrays = self.unpack(theta)
        out = {"prevalence": self.prevalence(arrays)}
        if self._works is not None:
            out |= {name: centred(arrays[name]) for name in ("phi", "unit_effects")}
            out["unit_sd"] = np.exp(np.array(arrays["log_unit_sd"]))
        recorded = RECORDED[self.prior.kind]
        if recorded == ("psi",):
            return out | {"psi": self.word_logits(arrays)}
        return out | {name: arrays[name] for name in recorded}

    def trace(self, theta):
        """Statistics recorded for every draw."""
        return self.statistics(theta, self.log_likelihood(theta))

    def statistics(self, theta, log_likelihood):
        """As `trace`, where the log likelihood is known."""
        out, arrays = {"log_likelihood": log_likelihood}, self.unpack(theta)
        if self.prior.learns:
            out["kappa_phi"] = math.exp(arrays["log_kappa_phi"])
        if self.prior.kind == "interaction":
            out["tau"] = math.exp(arrays["log_tau"])
        return out

    def weights_of(self, draws, chain, draw):
        """Probabilities of senses (K, D) under a recorded draw."""
        return self.weights_observed({name: x[chain, draw] for name, x in draws.items()})

    def weights_observed(self, arrays):
        """Probabilities of senses (K, D) under arrays as they are recorded."""
        if self._works is None:
            # a prevalence may be zero in double precision
            with np.errstate(divide="ignore"):
                arrays = arrays | {"phi": np.log(arrays["prevalence"])}
        return self.sense_proba(arrays).T

    def prevalence(self, arrays):
        """Prevalence of senses, ndarray of shape (n_genres, n_periods, n_senses).

        Where there are works, the mean over all that there might be.
        """
        if self._works is not None:
            return mean_softmax(arrays["phi"], math.exp(arrays["log_unit_sd"]))
        out = np.empty((self.data.n_genres, self.data.n_periods, self.n_senses))
        kernels.log_prevalence(np.ascontiguousarray(periods_first("phi", arrays["phi"])), out)
        return np.exp(out)

    def word_proba(self, arrays):
        """Probabilities of words, ndarray of shape (n_senses, n_periods, n_words)."""
        psi = self.word_logits(arrays)
        psi = np.exp(psi - psi.max(axis=2, keepdims=True))
        return psi / psi.sum(axis=2, keepdims=True)


def permuted(arrays, order):
    """Named arrays, or recorded ones, with their senses in another order."""
    return {
        name: np.take(x, order, axis=_AXES[name]) if name in _AXES else x
        for name, x in arrays.items()
    }


class Sums(NamedTuple):
    """Sums over the words and the senses of snippets.

    Attributes
    ----------
    value : float
        Log likelihood, not raised to the power.
    weights : ndarray of shape (n_senses, n_snippets)
        Probabilities of senses.
    mass : ndarray of shape (n_senses, n_periods)
        Expected words of each sense.
    """

    value: float
    weights: np.ndarray
    mass: np.ndarray

    def permuted(self, order):
        """The same with the senses in another order."""
        return Sums(self.value, self.weights[order], self.mass[order])
