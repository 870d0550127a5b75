"""Snippets of a target word simulated from the sense models, together with the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.utils import Bunch

from ..common.checks import check_choice, check_integer, check_real
from ..common.random import generators, seed_sequence
from ..corpus.embedding import check_vectors, median_distance
from ..corpus.text import document_counts
from ..numeric.logistic_normal import mean_softmax
from .simulate import check_size

_MODELS = ("disc", "scan", "gasc", "interaction", "edisc")


def make_senses(
    n_snippets: int = 1000,
    n_words: int = 200,
    n_senses: int = 3,
    *,
    n_periods: int = 5,
    n_genres: int = 1,
    mean_length: float = 7.0,
    window: int = 14,
    model: str = "disc",
    kappa_phi: float | tuple[float, float] = 0.25,
    kappa_theta: float = 0.25,
    kappa_chi: float = 1.25,
    alpha_phi: float = 0.9,
    alpha_theta: float = 0.9,
    kappa_psi: float = 0.1,
    first_phi: float = 1.3,
    first_psi: float = 2.5,
    interaction: float = 0.3,
    kappa_interaction: float = 0.25,
    vectors: ArrayLike | None = None,
    n_dims: int = 10,
    kappa_sigma: float = 0.25,
    unit_sd: float = 0.0,
    n_units: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate snippets of a target word whose senses change over time and genre.

    Logits are drawn from the prior of a model. Each snippet belongs to a period and a genre. Its
    sense is drawn from the prevalences of senses there, its number of words from
    Binomial(``window``, ``mean_length / window``), and its words, independently, from the word
    probabilities of its sense in its period.

    Parameters
    ----------
    n_snippets : int, default=1000
        Number of snippets, D. They are spread evenly over periods and genres.
    n_words : int, default=200
        Size of the vocabulary, V. Some words may not occur in any snippet.
    n_senses : int, default=3
        Number of senses, K.
    n_periods : int, default=5
        Number of periods, T.
    n_genres : int, default=1
        Number of genres, G.
    mean_length : float, default=7.0
        Expected number of words in a snippet, at most ``window``. A snippet may be empty.
    window : int, default=14
        Maximum number of words in a snippet.
    model : {"disc", "scan", "gasc", "interaction", "edisc"}, default="disc"
        Where the logits of prevalence phi and of words psi come from.

        - "disc": psi = chi + theta, a word's logit under a sense plus that in a period, where phi
          and theta are stationary autoregressions over periods (Algorithm 1).
        - "gasc": phi and psi are random walks over periods (Algorithm 2), here with a proper
          first period. "scan" is the same without genres.
        - "interaction": psi = chi + theta + xi, where xi, the interaction of sense and period, is
          zero for most words (see ``interaction``).
        - "edisc": psi = rho (chi + theta) + sigma, where rho are vectors of the words, chi and
          theta vectors of senses and of periods, theta an autoregression.
    kappa_phi : float or (float, float), default=0.25
        Variance of the innovations of phi; half the variance of its steps in "scan" and "gasc".
        A pair is the shape and rate of an inverse Gamma distribution from which the variance is
        drawn; the paper uses (7, 3).
    kappa_theta, kappa_chi : float, default=0.25, 1.25
        Variance of the innovations of theta, and of chi ("disc" and "interaction"). In "edisc",
        half the variances of the entries of their vectors, divided by the median squared distance
        between two words.
    alpha_phi, alpha_theta : float, default=0.9
        Autoregression coefficients of phi, and of theta and xi ("disc", "interaction" and "edisc").
    kappa_psi : float, default=0.1
        Half the variance of the steps of psi ("scan" and "gasc").
    first_phi, first_psi : float, default=1.3, 2.5
        Variances of phi and psi in the first period ("scan" and "gasc"); the defaults are close to
        the variances in "disc".
    interaction : float, default=0.3
        Share of the words that have an interaction ("interaction"). Each of these has its own
        autoregression for every sense.
    kappa_interaction : float, default=0.25
        Variance of the innovations of xi ("interaction").
    vectors : array-like of shape (n_words, n_dims) or None, default=None
        Word vectors, rho ("edisc"); standard normal by default.
    n_dims : int, default=10
        Dimension of the vectors, if they are not given.
    kappa_sigma : float, default=0.25
        Variance of sigma ("edisc").
    unit_sd : float, default=0.0
        Standard deviation of the effects of units on the prevalence logits of their snippets.
    n_units : int or None, default=None
        Number of units, at least the number of cells (pairs of a period and a genre). By default
        twice as many as cells if ``unit_sd`` is above 0, and otherwise none. Each unit belongs to
        one cell. Every cell has at least one; the others are assigned to cells at random, as are
        the snippets of a cell to its units.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data every time; the truth is then also the same for all numbers and
        lengths of snippets.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        counts : csr_array of shape (n_snippets, n_words)
            How often each word occurs in each snippet.
        times, genres, senses : ndarray of shape (n_snippets,), dtype int64
            Period, genre and true sense of each snippet, counted from 0, sorted by period.
        prevalence : ndarray of shape (n_genres, n_periods, n_senses)
            True probabilities of the senses, softmax of phi over senses; with units, the mean of
            softmax(phi + u) over the population of units.
        word_proba : ndarray of shape (n_senses, n_periods, n_words)
            True probabilities of the words, softmax of psi over words.
        phi, psi : ndarray
            Logits of ``prevalence`` and of ``word_proba``, with the same shapes.
        chi, theta : ndarray of shape (n_senses, n_words) and (n_periods, n_words)
            Parts of psi; only for "disc" and "interaction". For "edisc" vectors, of shape
            (n_senses, n_dims) and (n_periods, n_dims).
        vectors, sigma : ndarray of shape (n_words, n_dims) and (n_words,)
            Only for "edisc".
        xi : ndarray of shape (n_senses, n_periods, n_words)
            Part of psi; only for "interaction". Zero for words without an interaction.
        kappa_phi : float
            The variance that was given or drawn.
        units : ndarray of shape (n_snippets,), dtype int64
            Unit of each snippet, if there are units.
        unit_effects : ndarray of shape (n_units, n_senses)
            Effects u of the units on the logits.

    Raises
    ------
    ValueError
        If a parameter is out of range, genres are requested for "scan", there are fewer units than
        cells, or vectors are not one for each word, or all equal.

    Notes
    -----
    Logits have no fixed level: only their differences within a softmax can be learned. For
    "interaction" only psi can be learned, since a part of xi could be moved into chi and theta.

    References
    ----------
    Zafar & Nicholls (2023), "An embedded diachronic sense change model with a case study from
    ancient Greek", arXiv:2311.00541.

    Zafar & Nicholls (2022), "Measuring diachronic sense change: new models and Monte Carlo methods
    for Bayesian inference", Journal of the Royal Statistical Society C 71(5): Algorithms 1 and 2.

    Examples
    --------
    >>> from skbayesembed.datasets import make_senses
    >>> simulation = make_senses(n_snippets=60, n_words=20, n_senses=2, random_state=0)
    >>> simulation.counts.shape, simulation.prevalence.shape, simulation.word_proba.shape
    ((60, 20), (1, 5, 2), (2, 5, 20))
    >>> simulation.times[:3].tolist(), simulation.senses[:3].tolist()
    ([0, 0, 0], [1, 0, 1])
    """
    given = Bunch(
        n_snippets=n_snippets, n_words=n_words, n_senses=n_senses, n_periods=n_periods,
        n_genres=n_genres, window=window, mean_length=mean_length, model=model,
        alpha_phi=alpha_phi, alpha_theta=alpha_theta, kappa_theta=kappa_theta,
        kappa_chi=kappa_chi, kappa_psi=kappa_psi, first_phi=first_phi, first_psi=first_psi,
        interaction=interaction, kappa_interaction=kappa_interaction, n_dims=n_dims,
        kappa_sigma=kappa_sigma, unit_sd=unit_sd,
    )  # fmt: skip
    _check(given)
    n_units = _number_of_units(n_units, unit_sd, n_periods * n_genres)
    _check_sizes(n_words, n_senses, n_periods, n_genres, n_snippets * float(mean_length))
    streams = generators(seed_sequence(random_state), 7)
    kappa_rng, phi_rng, psi_rng, xi_rng, senses_rng, words_rng, units_rng = streams
    kappa_phi = _draw_kappa(kappa_phi, kappa_rng)
    phi = _draw_phi(given, kappa_phi, phi_rng)
    psi, truth = _draw_psi(given, vectors, psi_rng, xi_rng)
    prevalence, word_proba = softmax(phi, axis=2), softmax(psi, axis=2)

    cells = np.arange(n_snippets) * (n_periods * n_genres) // n_snippets
    times, genres = np.divmod(cells, n_genres)
    by_row, rows = prevalence.reshape(-1, n_senses), genres * n_periods + times
    if n_units:
        units, effects = _draw_units(cells, n_units, (n_senses, unit_sd), units_rng)
        truth.update(units=units, unit_effects=effects)
        prevalence = mean_softmax(phi, unit_sd)
        by_row, rows = softmax(phi[genres, times] + effects[units], axis=1), np.arange(n_snippets)
    senses = draw_categories(by_row, rows, senses_rng)
    lengths = words_rng.binomial(window, mean_length / window, size=n_snippets)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(senses * n_periods + times, lengths)
    words = draw_categories(word_proba.reshape(-1, n_words), rows, words_rng)
    return Bunch(
        counts=document_counts(words, offsets, n_words),
        times=times,
        genres=genres,
        senses=senses,
        prevalence=prevalence,
        word_proba=word_proba,
        phi=phi,
        psi=psi,
        kappa_phi=kappa_phi,
        **truth,
    )


# ---------------------------------------------------------------------------------------------


def _draw_phi(given, kappa_phi, rng):
    """Logits of prevalences (G, T, K)."""
    shape = (given.n_genres, given.n_periods, given.n_senses)
    if given.model in ("scan", "gasc"):
        return walk(rng, shape, given.first_phi, 2 * kappa_phi)
    return autoregression(rng, shape, given.alpha_phi, kappa_phi)


def _draw_psi(given, vectors, rng, xi_rng):
    """Logits of words (K, T, V), and what they are made of, a dict."""
    n_senses, n_periods, n_words = given.n_senses, given.n_periods, given.n_words
    if given.model in ("scan", "gasc"):
        shape = (n_senses, n_periods, n_words)
        return walk(rng, shape, given.first_psi, 2 * given.kappa_psi), {}
    if given.model == "edisc":
        return _draw_embedded_psi(given, _vectors(vectors, (n_words, given.n_dims), xi_rng), rng)
    chi = rng.normal(scale=np.sqrt(given.kappa_chi), size=(n_senses, n_words))
    theta = autoregression(rng, (n_periods, n_words), given.alpha_theta, given.kappa_theta)
    psi, truth = chi[:, None] + theta, {"chi": chi, "theta": theta}
    if given.model == "interaction":
        xi = autoregression(xi_rng, psi.shape, given.alpha_theta, given.kappa_interaction)
        xi[:, :, xi_rng.permutation(n_words) >= round(given.interaction * n_words)] = 0.0
        psi += xi
        truth["xi"] = xi
    return psi, truth


def _draw_embedded_psi(given, rho, rng):
    """The same of words with vectors ``rho`` (V, M)."""
    unit = 2.0 / median_distance(rho) ** 2
    n_dims, kappa_theta = rho.shape[1], unit * given.kappa_theta
    chi = rng.normal(scale=np.sqrt(unit * given.kappa_chi), size=(given.n_senses, n_dims))
    theta = autoregression(rng, (given.n_periods, n_dims), given.alpha_theta, kappa_theta)
    sigma = rng.normal(scale=np.sqrt(given.kappa_sigma), size=len(rho))
    truth = {"chi": chi, "theta": theta, "sigma": sigma, "vectors": rho}
    return (chi[:, None] + theta) @ rho.T + sigma, truth


def _check(given):
    for name in ("n_snippets", "n_words", "n_senses", "n_periods", "n_genres", "window", "n_dims"):
        check_integer(name, given[name], 1)
    check_real("mean_length", given["mean_length"], 0, high=given["window"])
    check_choice("model", given["model"], _MODELS)
    if given["model"] == "scan" and given["n_genres"] > 1:
        raise ValueError(
            f"model='scan' has no genres: n_genres must be 1, got {given['n_genres']}; "
            "model='gasc' has them."
        )
    for name in ("alpha_phi", "alpha_theta"):
        check_real(name, given[name], -1)
        if given[name] >= 1:
            raise ValueError(f"{name} must be a number > -1 and < 1, got {given[name]!r}.")
    kappas = (
        "kappa_theta", "kappa_chi", "kappa_psi", "kappa_interaction", "kappa_sigma", "unit_sd",
    )  # fmt: skip
    for name in (*kappas, "first_phi", "first_psi"):
        check_real(name, given[name], 0, strict=False)
    check_real("interaction", given["interaction"], 0, strict=False, high=1)


def _check_sizes(n_words, n_senses, n_periods, n_genres, n_tokens):
    levels = int(n_senses) * int(n_periods)
    of_levels = ("n_senses", "n_periods")
    check_size(32 * levels * int(n_words), "Probabilities of words", ("n_words", *of_levels))
    check_size(32 * levels * int(n_genres), "Prevalences", (*of_levels, "n_genres"))
    check_size(48 * n_tokens, "Tokens", ("n_snippets", "mean_length"))


def _number_of_units(n_units, unit_sd, n_cells):
    """How many units there are; 0 where snippets have none."""
    if n_units is None:
        return 2 * n_cells if unit_sd > 0 else 0
    check_integer("n_units", n_units, 1, "None or ")
    if n_units < n_cells:
        raise ValueError(
            f"n_units must be at least the number of cells, n_periods * n_genres = {n_cells}, of "
            f"which each has a unit, got {n_units}."
        )
    return n_units


def _draw_units(cells, n_units, prior, rng):
    """Unit of each snippet, and effects (n_units, n_senses) with a deviation."""
    n_senses, unit_sd = prior
    n_cells = cells[-1] + 1
    cell = np.concatenate([np.arange(n_cells), rng.integers(n_cells, size=n_units - n_cells)])
    units = np.empty(cells.size, dtype=np.int64)
    for c in range(n_cells):
        mine, here = np.flatnonzero(cell == c), cells == c
        units[here] = rng.choice(mine, size=here.sum(), p=rng.dirichlet(np.ones(mine.size)))
    return units, rng.normal(scale=unit_sd, size=(n_units, n_senses))


def _vectors(vectors, shape, rng):
    """Those given, which must be one for each word, or standard normal ones of this shape."""
    rho = rng.normal(size=shape) if vectors is None else check_vectors(vectors, name="vectors")
    if len(rho) != shape[0]:
        raise ValueError(f"vectors must have a row for each of {shape[0]} words, got {len(rho)}.")
    if not median_distance(rho) > 0:
        raise ValueError("vectors must differ: the median distance of two of them is zero.")
    return rho


def _draw_kappa(kappa_phi, rng):
    """The variance itself, or one drawn from the inverse Gamma distribution (shape, rate)."""
    if not isinstance(kappa_phi, tuple | list):
        check_real("kappa_phi", kappa_phi, 0, strict=False)
        return float(kappa_phi)
    if len(kappa_phi) != 2:
        raise ValueError(f"kappa_phi must be a number or (shape, rate), got {kappa_phi!r}.")
    shape, rate = kappa_phi
    check_real("the shape of kappa_phi", shape, 0)
    check_real("the rate of kappa_phi", rate, 0)
    return float(rate / rng.gamma(shape))


def autoregression(
    rng: np.random.Generator, shape: tuple[int, ...], alpha: float, kappa: float
) -> np.ndarray:
    """Draw stationary autoregressions over the last axis but one.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
    alpha : float
        Coefficient, between -1 and 1.
    kappa : float
        Variance of the innovations.

    Returns
    -------
    ndarray of shape ``shape``
    """
    x = rng.normal(scale=np.sqrt(kappa), size=shape)
    x[..., 0, :] /= np.sqrt(1 - alpha**2)
    for t in range(1, shape[-2]):
        x[..., t, :] += alpha * x[..., t - 1, :]
    return x


def walk(rng: np.random.Generator, shape: tuple[int, ...], first: float, step: float) -> np.ndarray:
    """Draw random walks over the last axis but one.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
    first, step : float
        Variances of the first place and of a step.

    Returns
    -------
    ndarray of shape ``shape``
    """
    x = rng.normal(size=shape)
    x[..., 0, :] *= np.sqrt(first)
    x[..., 1:, :] *= np.sqrt(step)
    return np.cumsum(x, axis=-2)


def draw_categories(proba: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw categories, each from a row of probabilities.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_categories)
    rows : ndarray of int, shape (n,)
        The row of ``proba`` that each draw is from.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n,), dtype int64
    """
    u = rng.random(len(rows))
    out = np.empty(len(rows), dtype=np.int64)
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], np.arange(len(proba) + 1))
    for row, p in enumerate(proba):
        chosen = order[ends[row] : ends[row + 1]]
        if chosen.size:
            cumulative = np.cumsum(p)
            # rounding may leave the sum below one
            cumulative /= cumulative[-1]
            out[chosen] = np.searchsorted(cumulative, u[chosen], side="right")
    return out
