"""A plain numpy Polya-Gamma Gibbs sampler of the SGNS posterior: the yardstick of our speed.

    python benchmarks/yardstick.py

prints its sweeps per CPU-second, one thread, at three simulated sizes. It uses numpy and the
polyagamma package only, the way one would write it with both at hand: all logits by one matrix
product, the Polya-Gamma variables of all observed pairs by one call, all precision matrices by one
product of the weights with the outer products of the other side's vectors, all words of a side by
one batched factorisation.
"""

from __future__ import annotations

import time

import numpy as np
from polyagamma import random_polyagamma
from threadpoolctl import threadpool_limits

SIZES = ((5, 100, 50_000), (10, 200, 50_000), (20, 200, 500_000))


def simulate(n_components, n_words, n_pairs, seed):
    """Counts of a skip-gram model with word pairs drawn uniformly.

    Vectors are N(0, I / n_components), pairs uniform over all ordered pairs, each positive with
    probability sigmoid(rho_w . alpha_v).

    Returns
    -------
    positive, negative : ndarray of shape (n_words, n_words)
        Counts, targets on axis 0.
    rho, alpha : ndarray of shape (n_words, n_components)
        The true target and context vectors.
    """
    rng = np.random.default_rng(seed)
    rho, alpha = rng.normal(scale=n_components**-0.5, size=(2, n_words, n_components))
    total = rng.multinomial(n_pairs, np.full(n_words**2, n_words**-2.0)).reshape(n_words, n_words)
    positive = rng.binomial(total, 1 / (1 + np.exp(-rho @ alpha.T)))
    return positive.astype(float), (total - positive).astype(float), rho, alpha


def update(rows, columns, total, kappa, observed, prior_precision, rng):
    """Draw all rows given the columns, after fresh Polya-Gamma variables of the observed pairs."""
    n_rows, n_components = rows.shape
    logits = rows @ columns.T
    omega = np.zeros_like(total)
    omega[observed] = random_polyagamma(
        total[observed],
        logits[observed],
        method="devroye",
        disable_checks=True,
        random_state=rng,
    )
    outer = (columns[:, :, None] * columns[:, None, :]).reshape(-1, n_components**2)
    precision = (omega @ outer).reshape(n_rows, n_components, n_components)
    precision += prior_precision * np.eye(n_components)
    noise = np.linalg.cholesky(precision) @ rng.standard_normal((n_rows, n_components, 1))
    return np.linalg.solve(precision, (kappa @ columns)[:, :, None] + noise)[:, :, 0]


def numpy_gibbs_sweeps(
    positive, negative, n_components, prior_precision, n_sweeps, seed, *, anchors=None, start=None
):
    """Run Gibbs sweeps; one sweep draws all targets, then all contexts.

    Parameters
    ----------
    positive, negative : array-like of shape (n_words, n_words)
        Integer counts, targets on axis 0.
    n_components : int
        Length of the vectors.
    prior_precision : float
        Precision of the spherical normal prior of every vector.
    n_sweeps : int
        Sweeps, all of them recorded.
    seed : int
        Seed of the numpy generator.
    anchors : array-like of int, optional
        Contexts that keep their starting value.
    start : (rho, alpha), optional
        Where to start; by default at a draw from the prior.

    Returns
    -------
    rho, alpha : ndarray of shape (n_sweeps, n_words, n_components)
        The draws.
    """
    rng = np.random.default_rng(seed)
    positive, negative = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    n_words = positive.shape[0]
    if start is None:
        start = rng.normal(scale=prior_precision**-0.5, size=(2, n_words, n_components))
    rho, alpha = np.array(start[0], dtype=float), np.array(start[1], dtype=float)
    total, kappa = positive + negative, (positive - negative) / 2
    free = np.setdiff1d(np.arange(n_words), [] if anchors is None else anchors)
    of_targets = (total, kappa, total > 0)
    of_contexts = tuple(np.ascontiguousarray(array[:, free].T) for array in of_targets)
    draws = np.empty((2, n_sweeps, n_words, n_components))
    for sweep in range(n_sweeps):
        rho = update(rho, alpha, *of_targets, prior_precision, rng)
        alpha[free] = update(alpha[free], rho, *of_contexts, prior_precision, rng)
        draws[:, sweep] = rho, alpha
    return draws[0], draws[1]


def sweeps_per_cpu_second(n_components, n_words, n_pairs, *, seed=0, repeats=5, seconds=1.0):
    """Median over repeats of about that many seconds, BLAS on one thread, prior precision K."""
    positive, negative, *truth = simulate(n_components, n_words, n_pairs, seed)

    def run(n_sweeps, repeat):
        begin = time.process_time()
        numpy_gibbs_sweeps(
            positive, negative, n_components, n_components, n_sweeps, repeat, start=truth
        )
        return n_sweeps / (time.process_time() - begin)

    with threadpool_limits(1):
        n_sweeps = max(3, int(run(3, 0) * seconds))
        return float(np.median([run(n_sweeps, repeat) for repeat in range(repeats)]))


def main():
    """Print the speed at the three sizes."""
    print(" K    V        N  sweeps per CPU-second")
    for n_components, n_words, n_pairs in SIZES:
        speed = sweeps_per_cpu_second(n_components, n_words, n_pairs)
        print(f"{n_components:2d} {n_words:4d} {n_pairs:8d}  {speed:.1f}")


if __name__ == "__main__":
    main()
