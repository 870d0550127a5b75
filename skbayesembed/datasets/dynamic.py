"""Pair counts of word embeddings that drift, simulated from the prior of the dynamic model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from ..common.checks import check_bool, check_integer
from ..common.random import generators, seed_sequence
from ..dynamic.priors import DriftPrior, check_drift
from .simulate import check_size, draw_counts


def make_dynamic_sgns(
    n_words: int = 100,
    n_components: int = 5,
    n_periods: int = 8,
    n_pairs: int = 20_000,
    *,
    times: ArrayLike | None = None,
    diffusion: float = 0.02,
    prior_precision: float | None = None,
    empty_periods: Iterable[int] = (),
    zipf: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate pair counts from a skip-gram model whose vectors drift over time.

    Every component of every target and context vector is a stationary Ornstein-Uhlenbeck process:
    N(0, s) in every period, s = 1 / ``prior_precision``, with the correlation
    exp(-``diffusion`` g / (2 s)) over an elapsed time g. In each period ``n_pairs`` pairs of a
    target w and a context v are drawn, and each is positive with probability
    sigma(rho_wt . alpha_vt), otherwise negative.

    Parameters
    ----------
    n_words : int, default=100
        Size of the vocabulary, V.
    n_components : int, default=5
        Length of a word vector, K.
    n_periods : int, default=8
        Number of periods, T.
    n_pairs : int, default=20_000
        Number of observations in each period, positive and negative together.
    times : array-like of shape (n_periods,) or None, default=None
        Increasing times of the periods; None is 0, 1, ..., ``n_periods - 1``.
    diffusion : float, default=0.02
        Variance of the step of an entry over a short time, per unit of time; above 0.
    prior_precision : float or None, default=None
        Precision of an entry of a vector in every period. None is ``n_components``, so that dot
        products have the same spread for any number of components.
    empty_periods : iterable of int, default=()
        Periods without observations, counted from 0.
    zipf : bool, default=False
        False draws targets and contexts uniformly. True draws both independently with probability
        proportional to 1 / (rank + 2.7), where word 0 has rank 1.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data every time.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        pairs : list of PairCounts, one for each period
            Integer counts, targets in rows and contexts in columns.
        times : ndarray of shape (n_periods,)
            Times of the periods, increasing.
        rho : ndarray of shape (n_periods, n_words, n_components)
            The true target vectors.
        alpha : ndarray of shape (n_periods, n_words, n_components)
            The true context vectors.

    Raises
    ------
    ValueError
        If a size is not an integer >= 1, ``times`` do not increase or have the wrong length,
        ``diffusion`` or ``prior_precision`` is not a number > 0, a period of ``empty_periods`` does
        not exist, ``zipf`` is not a bool or ``random_state`` is not one of the above.

    References
    ----------
    Bamler & Mandt (2017), "Dynamic Word Embeddings", ICML. Their random walk is replaced by the
    stationary process, which has the same steps over short times.

    Examples
    --------
    >>> from skbayesembed.datasets import make_dynamic_sgns
    >>> simulation = make_dynamic_sgns(
    ...     n_words=20, n_components=2, n_periods=3, n_pairs=500, empty_periods=[1], random_state=0
    ... )
    >>> simulation.rho.shape
    (3, 20, 2)
    >>> [int(pairs.total) for pairs in simulation.pairs]
    [500, 0, 500]
    """
    sizes = {"n_words": n_words, "n_components": n_components, "n_periods": n_periods}
    for name, value in {**sizes, "n_pairs": n_pairs}.items():
        check_integer(name, value, 1)
    size = 16 * int(n_words) * int(n_components) * int(n_periods) + 48 * int(n_words) ** 2
    size += 64 * int(n_pairs)
    check_size(size, "Vectors and pairs", [*sizes, "n_pairs"])
    check_bool("zipf", zipf)
    times = _check_times(times, n_periods)
    empty = _check_empty(empty_periods, n_periods)
    precision = n_components if prior_precision is None else prior_precision
    check_drift(precision, diffusion)
    if isinstance(diffusion, str):
        raise ValueError(f"diffusion must be a number > 0, got {diffusion!r}.")

    vectors_rng, pairs_rng, signs_rng = generators(seed_sequence(random_state), 3)
    prior = DriftPrior(np.diff(times), precision, diffusion)
    rho, alpha = (prior.sample(vectors_rng, (n_words, n_components)) for _ in range(2))
    pairs = []
    for t in range(n_periods):
        size = 0 if t in empty else n_pairs
        pairs.append(draw_counts(rho[t], alpha[t], size, zipf, pairs_rng, signs_rng))
    return Bunch(pairs=pairs, times=times, rho=rho, alpha=alpha)


def _check_times(times, n_periods):
    if times is None:
        return np.arange(float(n_periods))
    times = np.array(times, dtype=np.float64)
    if times.shape != (n_periods,):
        raise ValueError(f"times must have shape ({n_periods},), got {times.shape}.")
    if not np.isfinite(times).all() or np.any(np.diff(times) <= 0):
        raise ValueError(f"times must be finite and increase, got {times.tolist()}.")
    return times


def _check_empty(empty_periods, n_periods):
    for t in empty_periods:
        check_integer("empty_periods' entry", t, 0)
        if t >= n_periods:
            raise ValueError(f"empty_periods must be below n_periods={n_periods}, got {t}.")
    return {int(t) for t in empty_periods}
