"""The sampler of Zafar & Nicholls (2022, appendix C) in plain numpy: blockwise MALA for DiSC.

The yardstick of ``senses.py``: what their R code does, as it is done there, with the likelihood in
logarithms. One block for all of chi, one for each period of theta, one for each genre and period
of phi; the order is reversed every iteration; a block without snippets is updated from its prior.
Scales start at 2.4^2 / dimension and follow the acceptance rate (0.574) of the last 50 iterations.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, logsumexp

TARGET, WINDOW = 0.574, 50


class BlockwiseMALA:
    """One chain.

    Parameters
    ----------
    counts : sparse matrix of shape (D, V)
    times, genres : ndarray of shape (D,)
    start : dict with phi (G, T, K), chi (K, V), theta (T, V)
    seed : int
    """

    kappa_phi, alpha_phi, kappa_theta, alpha_theta, kappa_chi = 0.25, 0.9, 0.25, 0.9, 1.25

    def __init__(self, counts, times, genres, start, seed):
        self.rng = np.random.default_rng(seed)
        self.phi, self.chi, self.theta = (start[n].copy() for n in ("phi", "chi", "theta"))
        n_genres, n_periods, n_senses = self.phi.shape
        counts = counts.tocsr()
        self.of_period = [np.flatnonzero(times == t) for t in range(n_periods)]
        self.counts = [counts[d] for d in self.of_period]
        self.lengths = [np.asarray(c.sum(axis=1)).ravel() for c in self.counts]
        self.genres = [genres[d] for d in self.of_period]
        self.like = [self._like(t, self.chi, self.theta[t]) for t in range(n_periods)]
        self.blocks = [("chi",)] + [("theta", t) for t in range(n_periods)]
        self.blocks += [("phi", g, t) for g in range(n_genres) for t in range(n_periods)]
        sizes = {"chi": self.chi.size, "theta": self.theta.shape[1], "phi": n_senses}
        self.scale = {b: 2.4**2 / sizes[b[0]] for b in self.blocks}
        self.hits = {b: [] for b in self.blocks}
        self.iteration = 0

    def sweep(self):
        """One update of every block."""
        self.iteration += 1
        for block in self.blocks[:: 1 if self.iteration % 2 else -1]:
            self._update(block)

    def prevalence(self):
        """Prevalences (G, T, K)."""
        return np.exp(log_softmax(self.phi, axis=2))

    def word_proba(self):
        """Probabilities of words (K, T, V)."""
        return np.exp(log_softmax(self.chi[:, None] + self.theta, axis=2))

    def acceptance(self):
        """Acceptance rates of the last iterations, the mean over blocks of each kind."""
        rates = {kind: [] for kind in ("chi", "theta", "phi")}
        for block, hits in self.hits.items():
            rates[block[0]].append(np.mean(hits))
        return {kind: float(np.mean(values)) for kind, values in rates.items()}

    # one block

    def _update(self, block):
        kind, *place = block
        value = self.chi if kind == "chi" else getattr(self, kind)[tuple(place)]
        scale = self.scale[block]
        here, gradient, _ = self._density(block, value)
        forward = value + 0.5 * scale * gradient
        proposal = forward + np.sqrt(scale) * self.rng.standard_normal(value.shape)
        there, back, like = self._density(block, proposal)
        backward = proposal + 0.5 * scale * back
        ratio = there - here
        ratio += (np.sum((proposal - forward) ** 2) - np.sum((value - backward) ** 2)) / (2 * scale)
        accepted = np.log(self.rng.random()) < ratio
        if accepted:
            self._accept(block, proposal, like)
        self._adapt(block, accepted)

    def _accept(self, block, value, like):
        kind, *place = block
        if kind == "chi":
            self.chi, self.like = value, like
        elif kind == "theta":
            self.theta[place[0]], self.like[place[0]] = value, like
        else:
            self.phi[tuple(place)] = value

    def _adapt(self, block, accepted):
        hits = self.hits[block]
        hits.append(accepted)
        del hits[:-WINDOW]
        self.scale[block] *= np.exp((np.mean(hits) - TARGET) / np.sqrt(self.iteration))

    # log density of a block given the others, up to a constant, and its gradient

    def _density(self, block, value):
        kind, *place = block
        if kind == "phi":
            return self._density_phi(*place, value)
        if kind == "theta":
            return self._density_theta(*place, value)
        return self._density_chi(value)

    def _like(self, t, chi, theta):
        """Log probabilities (D_t, K) of the words of the snippets of a period."""
        return self.counts[t] @ log_softmax(chi + theta, axis=1).T

    def _posterior(self, t, like):
        """Log likelihood of a period and the probabilities (D_t, K) of senses."""
        joint = like + log_softmax(self.phi[self.genres[t], t], axis=1)
        density = logsumexp(joint, axis=1)
        return density.sum(), np.exp(joint - density[:, None])

    def _excess(self, t, chi, theta, senses):
        """Expected counts of words by sense less what the model expects: (K, V)."""
        expected = (senses * self.lengths[t][:, None]).sum(axis=0)
        proba = np.exp(log_softmax(chi + theta, axis=1))
        return (self.counts[t].T @ senses).T - expected[:, None] * proba

    def _density_chi(self, chi):
        value = -0.5 * np.sum(chi**2) / self.kappa_chi
        gradient = -chi / self.kappa_chi
        likes = []
        for t in range(len(self.counts)):
            like = self._like(t, chi, self.theta[t])
            total, senses = self._posterior(t, like)
            value += total
            gradient += self._excess(t, chi, self.theta[t], senses)
            likes.append(like)
        return value, gradient, likes

    def _density_theta(self, t, theta):
        mean, variance = _neighbours(self.theta, t, self.alpha_theta, self.kappa_theta)
        like = self._like(t, self.chi, theta)
        total, senses = self._posterior(t, like)
        value = total - 0.5 * np.sum((theta - mean) ** 2) / variance
        gradient = self._excess(t, self.chi, theta, senses).sum(axis=0)
        return value, gradient - (theta - mean) / variance, like

    def _density_phi(self, g, t, phi):
        mean, variance = _neighbours(self.phi[g], t, self.alpha_phi, self.kappa_phi)
        like = self.like[t][self.genres[t] == g]
        log_prevalence = log_softmax(phi)
        joint = like + log_prevalence
        density = logsumexp(joint, axis=1) if len(like) else np.zeros(0)
        senses = np.exp(joint - density[:, None])
        value = density.sum() - 0.5 * np.sum((phi - mean) ** 2) / variance
        gradient = senses.sum(axis=0) - len(like) * np.exp(log_prevalence)
        return value, gradient - (phi - mean) / variance, None


def _neighbours(x, t, alpha, kappa):
    """Mean and variance of an autoregression at ``t`` given the other times (eq. 15)."""
    if len(x) == 1:
        return np.zeros_like(x[0]), kappa / (1 - alpha**2)
    if 0 < t < len(x) - 1:
        variance = kappa / (1 + alpha**2)
        return alpha * (x[t - 1] + x[t + 1]) / (1 + alpha**2), variance
    return alpha * (x[1] if t == 0 else x[-2]), kappa
