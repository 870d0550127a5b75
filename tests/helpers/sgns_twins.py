"""Random pair tables, and slow twins of the Metropolis kernels."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log1p

# every logit that matters, both signs, and far beyond what can occur
TURN = 2.2
NO_TABLE = np.zeros((0, 0), np.float32)


def table(n_rows=7, n_columns=11, k=3, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n_rows, k)), rng.normal(size=(n_columns, k))
    n = rng.poisson(2.0, (n_rows, n_columns)) + 0.25 * rng.random((n_rows, n_columns))
    n[0, :3] = 0.0
    kappa = n * rng.uniform(-0.5, 0.5, n.shape)
    return x, y, n, kappa


def priors(n_rows=7, k=3, seed=20):
    """Precisions and linear terms, another for every row."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2.0, (n_rows, k)), rng.normal(size=(n_rows, k))


def loglik(t, n, kappa):
    return np.sum(kappa * t - n * (np.abs(t) / 2 + log1p(np.exp(-np.abs(t)))))


def compressed(n, *values):
    rows, columns = np.nonzero(n)
    indptr = np.searchsorted(rows, np.arange(n.shape[0] + 1)).astype(np.int64)
    return indptr, columns.astype(np.int32), *(v[rows, columns] for v in (n, *values))


def metropolis_twin(x, y, n, kappa, weight, shift, prior, pull, movable, n_steps, turn, rng):
    """One update of every row, written from the formulas of the docstring."""
    x = x.copy()
    accepted = np.zeros(len(x))
    k = x.shape[1]
    draws = []
    for w in range(len(x)):
        precision = (y * weight[w][:, None]).T @ y + np.diag(prior[w])
        lower = np.linalg.cholesky(precision)
        mean = np.linalg.solve(precision, shift[w] @ y + pull[w])

        def potential(z, w=w):
            return 0.5 * (prior[w] * z * z).sum() - pull[w] @ z - loglik(y @ z, n[w], kappa[w])

        def rest(z, u, lower=lower, w=w):
            gradient = (kappa[w] + n[w] / 2 - n[w] * expit(y @ z)) @ y + pull[w] - prior[w] * z
            return np.linalg.solve(lower, gradient) + u

        noise = rng.standard_normal(k)
        u = lower.T @ (x[w] - mean)
        if n_steps == 0:
            v = np.cos(turn) * u + np.sin(turn) * noise
            z = mean + np.linalg.solve(lower.T, v)
            ratio = potential(x[w]) - 0.5 * u @ u - potential(z) + 0.5 * v @ v
        else:
            p = noise.copy()
            before = potential(x[w]) + 0.5 * p @ p
            z = x[w].copy()
            angle = turn / n_steps
            for s in range(n_steps):
                p = p + (0.5 if s == 0 else 1.0) * angle * rest(z, u)
                u, p = np.cos(angle) * u + np.sin(angle) * p, np.cos(angle) * p - np.sin(angle) * u
                z = mean + np.linalg.solve(lower.T, u)
            p = p + 0.5 * angle * rest(z, u)
            ratio = before - potential(z) - 0.5 * p @ p
        draws.append((z, ratio))
    for w, (z, ratio) in enumerate(draws):
        if rng.random() < np.exp(min(ratio, 0)) and movable[w]:
            x[w] = z
            accepted[w] += 1
    return x, accepted


def row_twin(w, x, y, tables, movable, n_steps, rng):
    """`metropolis_twin` of row ``w`` alone: its vector, and whether the move was accepted."""
    one = slice(w, w + 1)
    tables = [t[one] for t in tables]
    moved, taken = metropolis_twin(x[one], y, *tables, movable[one], n_steps, TURN, rng)
    return moved[0], taken[0]
