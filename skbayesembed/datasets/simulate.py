"""Pair counts of words simulated from skip-gram with negative samples, together with the truth."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.utils import Bunch

from ..common.checks import check_bool, check_integer
from ..common.memory import check_memory
from ..common.random import generators, seed_sequence
from ..sgns.counting import PairCounts

# Zipf-Mandelbrot frequencies, 1 / (rank^a + b), with a and b of the paper (eq. 18).
_ZIPF_EXPONENT = 1.0
_ZIPF_SHIFT = 2.7
# Pairs whose vectors are gathered at a time, which bounds the memory that takes.
_BLOCK = 1_000_000


def make_sgns(
    n_words: int = 100,
    n_components: int = 5,
    n_pairs: int = 50_000,
    *,
    zipf: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate pair counts from the skip-gram model with negative samples.

    Target and context vectors are drawn from N(0, I / ``n_components``), so that dot products have
    the same spread for any number of components. Then ``n_pairs`` pairs of a target w and a context
    v are drawn. Each is positive with probability sigma(rho_w . alpha_v), otherwise negative. Pairs
    are independent, as the model assumes, so these data cannot show the effects of how text is
    sampled; for those, use :func:`make_text`.

    Parameters
    ----------
    n_words : int, default=100
        Size of the vocabulary, V.
    n_components : int, default=5
        Length of a word vector, K.
    n_pairs : int, default=50_000
        Number of observations, positive and negative together.
    zipf : bool, default=False
        False draws targets and contexts uniformly. True draws both independently with probability
        proportional to 1 / (rank + 2.7), where word 0 has rank 1.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data every time.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        pairs : PairCounts
            Integer counts, targets in rows and contexts in columns, in sparse matrices; the words
            have no names. Pass it to :meth:`skbayesembed.BayesianSGNS.fit`.
        rho : ndarray of shape (n_words, n_components)
            The true target vectors.
        alpha : ndarray of shape (n_words, n_components)
            The true context vectors. Their prior corresponds to ``prior_precision=n_components``.

    Raises
    ------
    ValueError
        If a size is not an integer >= 1, ``zipf`` is not a bool or ``random_state`` is not one of
        the above.

    References
    ----------
    Yrjänäinen, Boström, Magnusson & Jonasson (2025), "Posterior Sampling of Probabilistic Word
    Embeddings", arXiv:2508.02337: eq. 16 (vectors, with epsilon = 1), eq. 17 (uniform pairs) and
    eq. 18 (Zipf-Mandelbrot frequencies, with a = 1 and b = 2.7).

    Examples
    --------
    >>> from skbayesembed.datasets import make_sgns
    >>> simulation = make_sgns(n_words=20, n_components=2, n_pairs=1000, random_state=0)
    >>> simulation.rho.shape
    (20, 2)
    >>> int(simulation.pairs.positive.sum() + simulation.pairs.negative.sum())
    1000
    """
    sizes = {"n_words": n_words, "n_components": n_components, "n_pairs": n_pairs}
    for name, value in sizes.items():
        check_integer(name, value, 1)
    check_bool("zipf", zipf)
    size = 16 * int(n_words) * int(n_components) + 64 * int(n_pairs)
    check_size(size, "Vectors and pairs", sizes)

    vectors_rng, pairs_rng, signs_rng = generators(seed_sequence(random_state), 3)
    scale = 1.0 / np.sqrt(n_components)
    rho = vectors_rng.normal(scale=scale, size=(n_words, n_components))
    alpha = vectors_rng.normal(scale=scale, size=(n_words, n_components))
    pairs = draw_counts(rho, alpha, n_pairs, zipf, pairs_rng, signs_rng)
    return Bunch(pairs=pairs, rho=rho, alpha=alpha)


def check_size(n_bytes: float, what: str, sizes: Iterable[str]) -> None:
    """Raise a MemoryError if a simulation of these ``sizes`` would not fit.

    Parameters
    ----------
    n_bytes : float
    what : str
        What takes them; begins the message.
    sizes : iterable of str
        Parameters that make it smaller.
    """
    *names, last = sizes
    check_memory(n_bytes, what, f"Make {', '.join(names)} or {last} smaller.")


def draw_counts(
    rho: np.ndarray,
    alpha: np.ndarray,
    n_pairs: int,
    zipf: bool,
    pairs_rng: np.random.Generator,
    signs_rng: np.random.Generator,
) -> PairCounts:
    """Draw ``n_pairs`` pairs, each positive with the probability that the vectors give.

    Parameters
    ----------
    rho, alpha : ndarray of shape (n_words, n_components)
        Target and context vectors.
    n_pairs : int
    zipf : bool
        As of `make_sgns`.
    pairs_rng, signs_rng : numpy.random.Generator
        What pairs are drawn from, and which of them are positive.

    Returns
    -------
    PairCounts
    """
    n_words = len(rho)
    targets, contexts, n_observed = _draw_pairs(n_words, n_pairs, zipf, pairs_rng)
    n_positive = signs_rng.binomial(n_observed, expit(_logits(rho, alpha, targets, contexts)))
    return PairCounts(
        _counts(targets, contexts, n_positive, n_words),
        _counts(targets, contexts, n_observed - n_positive, n_words),
    )


def zipf_proba(n_words: int) -> np.ndarray:
    """Probabilities of words in order of frequency, proportional to 1 / (rank + 2.7).

    Parameters
    ----------
    n_words : int

    Returns
    -------
    ndarray of shape (n_words,)
    """
    p = 1.0 / (np.arange(1, n_words + 1) ** _ZIPF_EXPONENT + _ZIPF_SHIFT)
    return p / p.sum()


def _draw_pairs(n_words, n_pairs, zipf, rng):
    """Draw pairs; returns targets and contexts of the different ones, and how often each came."""
    if zipf:
        p = zipf_proba(n_words)
        key = rng.choice(n_words, size=n_pairs, p=p) * n_words
        key += rng.choice(n_words, size=n_pairs, p=p)
    else:
        key = rng.integers(n_words * n_words, size=n_pairs)
    key, n_observed = np.unique(key, return_counts=True)
    return key // n_words, key % n_words, n_observed


def _logits(rho, alpha, targets, contexts):
    """Compute rho_w . alpha_v of each pair, in blocks so that the gathered vectors stay small."""
    logits = np.empty(len(targets))
    for start in range(0, len(targets), _BLOCK):
        block = slice(start, start + _BLOCK)
        np.einsum("ik,ik->i", rho[targets[block]], alpha[contexts[block]], out=logits[block])
    return logits


def _counts(targets, contexts, n, n_words):
    seen = n > 0
    shape = (n_words, n_words)
    return csr_array((n[seen].astype(float), (targets[seen], contexts[seen])), shape=shape)
