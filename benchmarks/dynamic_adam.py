"""Skip-gram smoothing as published: Adam on sampled gradients (Bamler & Mandt 2017, algorithm 2).

NumPy, full batches, for small models: what `DynamicSGNS` is measured against. Each trajectory of a
component has the precision B'B, B upper bidiagonal with the diagonal ``nu`` and ``omega`` beside it
(eq. 5); gradients are those of eqs. 10-16 by one sample, means move in the basis of eq. 19, ``nu``
by the mirror step of eq. 18.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.special import expit

BETA1, BETA2, DELTA = 0.9, 0.999, 1e-8


class Adam:
    """Steps of the Adam optimizer for one array."""

    def __init__(self, shape):
        self.first, self.second, self.n = np.zeros(shape), np.zeros(shape), 0

    def step(self, gradient, rate):
        self.n += 1
        self.first += (1 - BETA1) * (gradient - self.first)
        self.second += (1 - BETA2) * (gradient**2 - self.second)
        first = self.first / (1 - BETA1**self.n)
        second = self.second / (1 - BETA2**self.n)
        return rate * first / (np.sqrt(second) + DELTA)


class Smoothing:
    """Algorithm 2 on the dense counts of all periods, with vectors (2, T, V, K)."""

    def __init__(self, counts, n_components, tridiagonal, seed):
        self.positive = np.stack([c.positive.toarray() for c in counts])
        self.n = self.positive + np.stack([c.negative.toarray() for c in counts])
        n_periods, n_words, _ = self.n.shape
        self.prior = tridiagonal.dense()
        shape = (2, n_periods, n_words, n_components)
        self.rng = np.random.default_rng(seed)
        upper = np.linalg.cholesky(self.prior).T
        self.nu = np.broadcast_to(np.diag(upper)[:, None, None], shape).copy()
        beside = np.append(np.diag(upper, 1), 0.0)
        self.omega = np.broadcast_to(beside[:, None, None], shape).copy()
        # covariance = A A', means = A times what Adam moves
        self.basis = np.linalg.inv(upper)
        self.moved = np.zeros(shape)
        self.adam = {name: Adam(shape) for name in ("moved", "nu", "omega")}

    @property
    def mean(self):
        return np.einsum("ts,aswk->atwk", self.basis, self.moved)

    def step(self, rate):
        """One step with one sample."""
        noise = self.rng.standard_normal(self.nu.shape)
        x = np.empty_like(noise)
        last = noise.shape[1] - 1
        x[:, last] = noise[:, last] / self.nu[:, last]
        for t in range(last - 1, -1, -1):
            x[:, t] = (noise[:, t] - self.omega[:, t] * x[:, t + 1]) / self.nu[:, t]
        rho, alpha = self.mean + x
        residual = self.positive - self.n * expit(np.einsum("twk,tvk->twv", rho, alpha))
        gamma = np.stack([residual @ alpha, residual.transpose(0, 2, 1) @ rho])
        gamma -= np.einsum("ts,aswk->atwk", self.prior, np.stack([rho, alpha]))
        y = np.empty_like(x)
        y[:, 0] = gamma[:, 0] / self.nu[:, 0]
        for t in range(1, last + 1):
            y[:, t] = (gamma[:, t] - self.omega[:, t - 1] * y[:, t - 1]) / self.nu[:, t]
        by_omega = np.zeros_like(x)
        by_omega[:, :-1] = -y[:, :-1] * x[:, 1:]
        # the entropy is minus the sum of log nu
        by_nu = -y * x - 1.0 / self.nu
        by_moved = np.einsum("ts,atwk->aswk", self.basis, gamma)
        self.moved += self.adam["moved"].step(by_moved, rate)
        self.omega += self.adam["omega"].step(by_omega, rate)
        half = 0.5 * self.nu * self.adam["nu"].step(by_nu, rate)
        self.nu = half + np.sqrt(half**2 + self.nu**2)

    def covariances(self):
        """Covariance of every trajectory, (2, V, K, T, T)."""
        nu, omega = (np.moveaxis(a, 1, -1) for a in (self.nu, self.omega))
        n_periods = nu.shape[-1]
        upper = np.zeros((*nu.shape, n_periods))
        places = np.arange(n_periods)
        upper[..., places, places] = nu
        upper[..., places[:-1], places[1:]] = omega[..., :-1]
        inverse = np.linalg.inv(upper)
        return inverse @ np.swapaxes(inverse, -1, -2)

    def bound(self, n_samples=20):
        """The bound on the log evidence, the expected log likelihood by samples."""
        covariance, mean = self.covariances(), self.mean
        rng = np.random.default_rng(0)
        sd = np.sqrt(np.moveaxis(np.diagonal(covariance, axis1=-2, axis2=-1), -1, 1))
        values = []
        for _ in range(n_samples):
            rho, alpha = mean + sd * rng.standard_normal(sd.shape)
            logit = np.einsum("twk,tvk->twv", rho, alpha)
            values.append(np.sum(self.positive * logit - self.n * np.logaddexp(0, logit)))
        quadratic = np.einsum("ts,asik,atik->", self.prior, mean, mean)
        trace = np.einsum("ts,aikts->", self.prior, covariance)
        factors = mean[:, 0].size
        log_prior = 0.5 * (factors * np.linalg.slogdet(self.prior)[1] - quadratic - trace)
        entropy = 0.5 * mean.size - np.log(self.nu).sum()
        return float(np.mean(values) + log_prior + entropy)


def smooth(counts, n_components, tridiagonal, steps, seed=0):
    """CPU seconds and the bound in the course of ``steps``, a list of (number, rate)."""
    found, cpu, done = [], 0.0, 0
    model = Smoothing(counts, n_components, tridiagonal, seed)
    for number, rate in steps:
        start = time.process_time()
        for _ in range(number):
            model.step(rate)
        cpu += time.process_time() - start
        done += number
        found.append({"steps": done, "cpu": cpu, "bound": model.bound()})
    return model, found
