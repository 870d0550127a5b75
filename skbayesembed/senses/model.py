"""Log posterior of the sense models with the senses of snippets summed out."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..inference.align import match
from . import kernels
from .frame import Chains, constant


class SenseModel:
    """What map, hmc, laplace and tempering need, in the coordinates of `frame`.

    Parameters
    ----------
    data : Snippets
    n_senses : int
    prior : SensePrior
    power : float, default=1.0
        Power of the likelihood.

    Notes
    -----
    Arrays have periods first: ``phi`` (T, K, G), ``theta`` (T, V), ``chi`` (1, K, V), ``psi``
    (T, K, V).
    """

    def __init__(self, data, n_senses, prior, *, power=1.0):
        self.data, self.n_senses, self.prior = data, n_senses, prior
        self.power = power
        n_periods, n_words = data.n_periods, data.n_words
        self.totals, self.lengths = data.totals, data.lengths
        self.snippets = data.cells.astype(float)
        d = data
        self._data = d.indptr, d.words, d.counts, d.periods, d.genres, d.labels, self.lengths
        # no match of all other snippets outweighs one known sense
        self.binding = np.where(data.labels >= 0, 10.0 * data.n_snippets, 1.0)
        shape = (n_periods, n_senses, data.n_genres)
        proper = prior.proper()
        of_phi = prior.phi_precision(n_periods), 1, proper.phi_precision(n_periods)
        phi = Chains("phi", shape, *of_phi)
        if prior.walks:
            shape = (n_periods, n_senses, n_words)
            of_psi = prior.psi_precision(n_periods), 2, proper.psi_precision(n_periods)
            psi = Chains("psi", shape, *of_psi)
            self.chains = [psi, phi]
        else:
            chi = Chains("chi", (1, n_senses, n_words), constant(prior.kappa_chi), 2)
            shape = (n_periods, n_words)
            theta = Chains("theta", shape, prior.theta_precision(n_periods), 1)
            self.chains = [chi, theta, phi]
            if prior.kind == "interaction":
                shape = (n_periods, n_senses, n_words)
                precision = prior.deviation_precision(n_periods)
                self.chains.insert(0, Chains("deviation", shape, precision, None))
        # parameters beside the logits, after them in the flat vector: name to shape
        self.scalars = {"log_kappa_phi": ()} if prior.walks else {}
        if prior.kind == "interaction":
            self.scalars = {"log_tau": (), "log_lambda": (n_words,)}
        n_logits = sum(c.size for c in self.chains)
        self.n_parameters = n_logits + sum(int(np.prod(s)) for s in self.scalars.values())
        self.scale = np.ones(self.n_parameters)
        self.inform()

    # coordinates

    def inform(self, arrays=None, information=None):
        """Fit the frame: to the counts alone, or to posterior means and expected counts.

        Parameters
        ----------
        arrays : dict, optional
            Posterior means, or one state.
        information : dict, optional
            Expected information of every logit, as of `information_at`.
        """
        if information is None:
            information = self._information_of_counts()
        for c in self.chains:
            center = None if arrays is None else arrays[c.name]
            of_data = information.get(c.name, np.zeros(c.shape))
            c.inform(self.power * of_data, center)
        self._frames = tuple(c.arrays for c in self.chains)

    def _information_of_counts(self):
        """As if every snippet were of every sense alike: no sense is told from another."""
        k = self.n_senses
        share = (1 - 1 / k) / k
        out = {"phi": np.repeat(self.snippets.T[:, None, :] * share, k, axis=1)}
        if self.prior.walks:
            out["psi"] = np.repeat(self.totals[:, None, :] / k, k, axis=1)
        else:
            out["chi"] = np.repeat(self.totals.sum(axis=0)[None, None] / k, k, axis=1)
            out["theta"] = self.totals
        return out

    def information_at(self, arrays):
        """Expected information of the complete data about every logit, as a dict."""
        words, prevalence = self.word_proba(arrays), self.prevalence(arrays)
        mass = self._sums(arrays).mass
        counts = mass.T[:, :, None] * words
        n = self.snippets.T[:, None, :]
        prevalence = prevalence.transpose(1, 2, 0)
        out = {"phi": n * prevalence * (1 - prevalence)}
        if self.prior.walks:
            out["psi"] = counts
        else:
            out["chi"], out["theta"] = counts.sum(axis=0)[None], counts.sum(axis=1)
        return out

    def pack(self, arrays):
        """Flat coordinates of the dict of named arrays."""
        out = np.empty(self.n_parameters)
        at = 0
        for c in self.chains:
            c.coordinates(arrays[c.name], out[at : at + c.size])
            at += c.size
        for name, shape in self.scalars.items():
            size = int(np.prod(shape))
            out[at : at + size] = arrays[name]
            at += size
        return out

    def unpack(self, theta):
        """Dict of named arrays of flat coordinates."""
        arrays, at = {}, 0
        for c in self.chains:
            arrays[c.name] = c.logits(theta[at : at + c.size])
            at += c.size
        for name, shape in self.scalars.items():
            size = int(np.prod(shape))
            arrays[name] = theta[at : at + size].reshape(shape)
            at += size
        return arrays

    # density

    def logp_and_grad(self, theta, out):
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""
        if self.prior.kind == "disc":
            return kernels.additive_posterior(
                theta,
                out,
                self._frames,
                self._data,
                self.totals,
                self.snippets,
                self.power,
            )
        arrays = self.unpack(theta)
        value, gradients = self._likelihood(arrays)
        value *= self.power
        at = 0
        for c in self.chains:
            x, part = arrays[c.name], out[at : at + c.size]
            own = c.name != "phi" or not self.prior.walks
            if not own:
                added, out[-1] = self._walk_prior(x, gradients["phi"], theta[-1])
                value += added
            value += c.pull(x, gradients[c.name], part, prior=own)
            at += c.size
        if self.prior.kind == "interaction":
            value += self._size_prior(arrays, gradients["log_size"], out[at:])
        return value

    def _size_prior(self, arrays, by_size, out):
        """Log prior of the sizes of deviations; the gradient, the likelihood's added, in ``out``.

        Half-Cauchy on the logarithmic scale: log x - log(1 + x^2).
        """
        log_tau = arrays["log_tau"] - math.log(self.prior.interaction_scale)
        logs = np.concatenate([[log_tau], arrays["log_lambda"]])
        out[:] = -np.tanh(logs)
        out[0] += by_size.sum()
        out[1:] += by_size
        return -float(np.sum(np.logaddexp(logs, -logs)))

    def _sizes(self, arrays):
        """Deviations' sizes by word, and their derivatives by log tau lambda."""
        squared = np.exp(2 * (arrays["log_tau"] + arrays["log_lambda"]))
        slab = self.prior.slab
        sizes = np.sqrt(slab * squared / (slab + squared))
        return sizes, sizes * slab / (slab + squared)

    def word_logits(self, arrays):
        """Logits of words (n_periods, n_senses, n_words)."""
        if "psi" in arrays:
            return arrays["psi"]
        logits = arrays["chi"] + arrays["theta"][:, None]
        if self.prior.kind == "interaction":
            logits += arrays["deviation"] * self._sizes(arrays)[0]
        return logits

    def _walk_prior(self, phi, gradient, log_kappa):
        """Log prior of phi and log kappa_phi; subtracts from the gradient of phi."""
        prior = self.prior
        steps = np.diff(phi, axis=0)
        variance = 2 * math.exp(log_kappa)
        gradient[0] -= phi[0] / prior.first_phi
        gradient[:-1] += steps / variance
        gradient[1:] -= steps / variance
        squares = float(np.sum(steps**2)) / variance
        n, a, b = steps.size, prior.kappa_phi_shape, prior.kappa_phi_rate
        tail = b * math.exp(-log_kappa)
        value = -0.5 * float(np.sum(phi[0] ** 2)) / prior.first_phi - 0.5 * squares
        value += -(0.5 * n + a) * log_kappa - tail
        return value, 0.5 * squares - 0.5 * n - a + tail

    def _sums(self, arrays):
        """Log likelihood and what its gradient is made of, as a `_Sums`."""
        d, k = self.data, self.n_senses
        log_prev = np.empty((d.n_genres, d.n_periods, k))
        kernels.log_prevalence(arrays["phi"], log_prev)
        additive = self.prior.kind == "disc" and "psi" not in arrays
        if not additive:
            rows, of_period = self.word_logits(arrays).reshape(-1, d.n_words), d.periods
            exponents, sums, log_sum = _row_sums(rows)
            log_sum = np.ascontiguousarray(log_sum.reshape(d.n_periods, k).T)
        else:
            rows, of_period = arrays["chi"][0], None
            exponents, sums, log_sum = _additive_sums(rows, arrays["theta"])
        weights = np.empty((k, d.n_snippets))
        text = d.indptr, d.words, d.counts
        kernels.snippet_logits(*text, rows, of_period, weights)
        room = np.empty((2, d.n_snippets))
        value = kernels.responsibilities(
            weights, d.periods, d.genres, d.labels, self.lengths, log_prev, log_sum, *room
        )
        if additive:
            value += float(np.vdot(self.totals, arrays["theta"]))
        mass, cells, of = np.zeros((k, d.n_periods)), np.zeros(log_prev.shape), np.zeros(rows.shape)
        kernels.cell_sums(weights, d.periods, d.genres, self.lengths, mass, cells)
        kernels.counts_by_sense(*text, weights, of_period, of)
        return _Sums(value, weights, mass, cells, log_prev, of, exponents, sums)

    def _likelihood(self, arrays):
        """Log likelihood and its gradient by the logits times the power, of word logits in full.

        DiSC has `kernels.additive_posterior` in its place.
        """
        s, power = self._sums(arrays), self.power
        gradients = {"phi": np.empty_like(arrays["phi"])}
        kernels.prevalence_gradient(s.log_prev, s.cells, self.snippets, power, gradients["phi"])
        psi = np.empty_like(s.exponents)
        kernels.full_gradient(s.exponents, s.sums, s.mass.T.ravel(), s.of_sense, power, psi)
        psi = psi.reshape(self.data.n_periods, self.n_senses, -1)
        gradients |= {"psi": psi} if self.prior.walks else self._by_effects(arrays, psi)
        return s.value, gradients

    def _by_effects(self, arrays, gradient):
        """Gradients by main effects, deviations and their sizes, of that by word logits."""
        sizes, slopes = self._sizes(arrays)
        return {
            "chi": gradient.sum(axis=0, keepdims=True),
            "theta": gradient.sum(axis=1),
            "log_size": slopes * np.einsum("tkv,tkv->v", gradient, arrays["deviation"]),
            "deviation": gradient * sizes,
        }

    def order_of(self, reference, weights):
        """Which senses of ``weights`` are which of ``reference`` (K, D); labels are binding."""
        return match(reference, weights, self.binding)

    def sense_proba(self, arrays):
        """Probabilities of senses of the snippets: ndarray of shape (n_snippets, n_senses)."""
        return self._sums(arrays).weights.T

    def log_likelihood(self, theta):
        """Log likelihood, not raised to the power, with the senses of snippets summed out."""
        return self._sums(self.unpack(theta)).value

    def at_power(self, power):
        """The same model with another power of the likelihood, in a frame made for it."""
        return SenseModel(self.data, self.n_senses, self.prior, power=power)

    # chains

    def init(self, rng):
        """Flat start of a chain: a draw of the prior."""
        return self.pack(self.draw_prior(rng))

    def draw_prior(self, rng):
        """Arrays drawn from the prior."""
        arrays = {c.name: c.draw(rng) for c in self.chains}
        if self.prior.walks:
            arrays["log_kappa_phi"] = math.log(self.prior.mean_kappa_phi)
        if self.prior.kind == "interaction":
            arrays["log_tau"] = math.log(self.prior.interaction_scale)
            arrays["log_lambda"] = np.zeros(self.data.n_words)
        return arrays

    def observe(self, theta):
        """Named arrays to record: prevalence (G, T, K), chi (K, V) and theta (T, V), or psi."""
        arrays = self.unpack(theta)
        out = {"prevalence": self.prevalence(arrays)}
        if self.prior.kind != "disc":
            return out | {"psi": self.word_logits(arrays).transpose(1, 0, 2)}
        return out | {"chi": arrays["chi"][0], "theta": arrays["theta"]}

    def trace(self, theta):
        """Statistics recorded for every draw."""
        arrays = self.unpack(theta)
        out = {"log_likelihood": self._sums(arrays).value}
        if self.prior.walks:
            out["kappa_phi"] = math.exp(arrays["log_kappa_phi"])
        if self.prior.kind == "interaction":
            out["tau"] = math.exp(arrays["log_tau"])
        return out

    def weights_of(self, draws, chain, draw):
        """Probabilities of senses (K, D) under a recorded draw."""
        prevalence = draws["prevalence"][chain, draw].transpose(1, 2, 0)
        arrays = {"phi": np.log(np.ascontiguousarray(prevalence))}
        if "psi" in draws:
            arrays["psi"] = np.ascontiguousarray(draws["psi"][chain, draw].transpose(1, 0, 2))
        else:
            arrays["chi"], arrays["theta"] = (draws[n][chain, draw] for n in ("chi", "theta"))
            arrays["chi"] = arrays["chi"][None]
        return self.sense_proba(arrays).T

    def prevalence(self, arrays):
        """Prevalence of senses, ndarray of shape (n_genres, n_periods, n_senses)."""
        out = np.empty((self.data.n_genres, self.data.n_periods, self.n_senses))
        kernels.log_prevalence(arrays["phi"], out)
        return np.exp(out)

    def word_proba(self, arrays):
        """Probabilities of words, ndarray of shape (n_periods, n_senses, n_words)."""
        psi = self.word_logits(arrays)
        psi = np.exp(psi - psi.max(axis=2, keepdims=True))
        return psi / psi.sum(axis=2, keepdims=True)


class _Sums(NamedTuple):
    """What `SenseModel._sums` finds: ``weights`` (K, D) are probabilities of senses."""

    value: float
    weights: np.ndarray
    mass: np.ndarray
    cells: np.ndarray
    log_prev: np.ndarray
    of_sense: np.ndarray
    exponents: object
    sums: np.ndarray


def _row_sums(rows):
    """exp of rows less their largest entries, its sums, and the log-sums of the rows."""
    exponents, top = np.empty_like(rows), np.empty(len(rows))
    kernels.exp_rows(rows, exponents, top)
    sums = exponents.sum(axis=1)
    return exponents, sums, np.log(sums) + top


def _additive_sums(chi, theta):
    """The same of ``chi[k] + theta[t]``: exponents of both, sums and log-sums (K, T)."""
    exponents = np.empty_like(chi), np.empty_like(theta)
    tops = np.empty(len(chi)), np.empty(len(theta))
    kernels.exp_rows(chi, exponents[0], tops[0])
    kernels.exp_rows(theta, exponents[1], tops[1])
    sums, log_sum = np.empty((2, len(chi), len(theta)))
    kernels.additive_sums(*exponents, *tops, sums, log_sum)
    return exponents, sums, log_sum
