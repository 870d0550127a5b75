"""Reading the posterior: similarities, neighbours and co-occurrence with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_prob
from ..metrics.words import unit_vectors
from ..posterior.summary import summarise
from ..posterior.tables import Column, Table
from .predict import with_biases


def word_index(estimator, word, name):
    """Place of a word (or of an integer index) in the vocabulary; KeyError where there is none."""
    if isinstance(word, int | np.integer) and not isinstance(word, bool):
        if 0 <= word < estimator.words_.size:
            return int(word)
        raise KeyError(
            f"{name}={word!r} is out of range: the vocabulary has {estimator.words_.size} words."
        )
    found = estimator.vocabulary_.get(word) if isinstance(word, str) else None
    if found is None:
        raise KeyError(
            f"{name}={word!r} is not in the vocabulary of {estimator.words_.size} words "
            f"(min_count={estimator.min_count} and max_features={estimator.max_features} drop rare "
            "words); allowed is a word of vocabulary_ as a str, or its index as an int."
        )
    return found


def draws_of(estimator, name, index):
    """Draws of some rows of ``name``, shape (n_draws, len(index), n_components).

    Every draw where the rows were kept by name, the recorded ones otherwise.
    """
    rows = kept_draws(estimator, name, index)
    return estimator.posterior_.flat(name)[:, index] if rows is None else rows


def kept_draws(estimator, name, index):
    """Every draw of words that were kept by name, (n_draws, ..., len(index), n_components).

    None where there is one of them that was not.
    """
    posterior = estimator.posterior_
    kept = posterior.coords.get("kept_word")
    if f"{name}_rows" in posterior.stats and kept is not None:
        place = {int(estimator.vocabulary_[w]): i for i, w in enumerate(np.asarray(kept).tolist())}
        if all(i in place for i in index):
            rows = posterior.stats[f"{name}_rows"][..., [place[i] for i in index], :]
            return rows.reshape(-1, *rows.shape[2:])
    return None


def similarity(estimator, a, b, prob):
    """Posterior of the cosine between the target vectors of two words."""
    check_prob(prob)
    index = [word_index(estimator, a, "a"), word_index(estimator, b, "b")]
    vectors = unit_vectors(draws_of(estimator, "rho", index))
    return summarise(np.einsum("ij,ij->i", vectors[:, 0], vectors[:, 1]), prob)


def cooccurrence(estimator, pairs, prob):
    """Posterior of sigma(rho_w . alpha_v) for pairs (target word, context word)."""
    check_prob(prob)
    targets, contexts = pair_places(estimator, pairs)
    rho = draws_of(estimator, "rho", targets)
    alpha = draws_of(estimator, "alpha", contexts)
    posterior = estimator.posterior_
    if len(rho) != len(alpha) or "rho_bias" in posterior:
        rho, alpha = posterior.flat("rho")[:, targets], posterior.flat("alpha")[:, contexts]
    if "rho_bias" in posterior:
        biases = posterior.flat("rho_bias")[:, targets], posterior.flat("alpha_bias")[:, contexts]
        rho, alpha = with_biases(rho, alpha, *biases)
    return summarise(expit(np.einsum("ijk,ijk->ij", rho, alpha)), prob)


def pair_places(estimator, pairs):
    """Places in the vocabulary of the targets and the contexts of pairs."""
    pairs = list(pairs) if hasattr(pairs, "__iter__") else [pairs]
    if not pairs or not all(hasattr(p, "__len__") and len(p) == 2 for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    if any(isinstance(p, str) for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    targets = [word_index(estimator, a, "target") for a, _ in pairs]
    return targets, [word_index(estimator, b, "context") for _, b in pairs]


@dataclass(frozen=True, repr=False, eq=False)
class Neighbours(Table):
    """Nearest words of a word with what is known of each.

    Attributes
    ----------
    word : str
    words : ndarray of str of shape (n,)
        Ordered by posterior mean cosine, largest first.
    mean, sd : ndarray of shape (n,)
        Of the cosine.
    interval : ndarray of shape (n, 2)
        Highest density interval of the cosine.
    prob_top : ndarray of shape (n,)
        Probability of being among the ``n`` nearest.
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws behind the figures; 1 for a point estimate.
    """

    word: str
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_top: np.ndarray
    prob: float
    n_draws: int

    def _title(self):
        return f"nearest to {self.word!r}"

    def _columns(self):
        # of the same widths whatever the numbers
        interval, top = f"{100 * self.prob:g} % interval", f"P(top {len(self.words)})"
        return [
            Column("neighbour", self.words, ("word",), left=True),
            Column("cosine", self.mean, ("mean",), "6.3f"),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f"),
            Column(f"{top:>9}", self.prob_top, ("prob_top",), ".2f"),
        ]

    def _series(self):
        series = super()._series()
        return {"word": series.pop("word"), "mean": series.pop("mean"), "sd": self.sd, **series}


def most_similar(estimator, word, n, prob):
    """The ``n`` words nearest to ``word`` by posterior mean cosine of target vectors."""
    check_prob(prob)
    check_integer("n", n, 1)
    target = word_index(estimator, word, "word")
    return neighbours(estimator.words_, target, estimator.posterior_.flat("rho"), n, prob)


def neighbours(words, target, draws, n, prob):
    """`Neighbours` of the word ``target`` by draws of shape (n_draws, n_words, n_components)."""
    n = min(n, words.size - 1)
    total, top = np.zeros(words.size), np.zeros(words.size)
    for rho in draws:
        cosine = _cosines(rho, target)
        total += cosine
        cosine[target] = -np.inf
        top[np.argpartition(-cosine, n - 1)[:n] if n else []] += 1
    mean = total / len(draws)
    mean[target] = -np.inf
    order = np.argsort(-mean, kind="stable")[:n]
    vectors = unit_vectors(draws[:, np.append(order, target)])
    summary = summarise(np.einsum("ijk,ik->ij", vectors[:, :-1], vectors[:, -1]), prob)
    return Neighbours(
        str(words[target]),
        words[order],
        summary.mean,
        summary.sd,
        summary.interval,
        top[order] / len(draws),
        prob,
        len(draws),
    )


def _cosines(vectors, target):
    norm = np.linalg.norm(vectors, axis=1)
    dot = vectors @ vectors[target]
    scale = norm * norm[target]
    return np.divide(dot, scale, out=np.zeros_like(dot), where=scale > 0)


class ReadingMixin:
    """Methods of estimators whose posterior has vectors of words."""

    def similarity(self, a: str | int, b: str | int, *, prob: float = 0.9) -> Bunch:
        """Posterior of the cosine between the target vectors of two words.

        Parameters
        ----------
        a, b : str or int
            Words, or their indices.
        prob : float, default=0.9
            Probability of the highest density interval.

        Returns
        -------
        Bunch
            ``mean``, ``sd``, ``interval`` (low, high) and all ``draws``.

        Raises
        ------
        KeyError
            For an unknown word.
        """
        check_is_fitted(self, "posterior_")
        return similarity(self, a, b, prob)

    def most_similar(self, word: str | int, n: int = 10, *, prob: float = 0.9) -> Neighbours:
        """The words nearest to a word, with intervals.

        Parameters
        ----------
        word : str or int
            A word, or its index.
        n : int, default=10
            Number of neighbours.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Neighbours
            Ordered by posterior mean cosine, with the probability of each of being among the
            ``n`` nearest; prints as a table.
        """
        check_is_fitted(self, "posterior_")
        return most_similar(self, word, n, prob)

    def cooccurrence_proba(self, pairs: Any, *, prob: float = 0.9) -> Bunch:
        """Posterior of the probability that a pair is positive, sigma(rho_w . alpha_v).

        Parameters
        ----------
        pairs : list of (target, context)
            Words or indices.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Bunch
            ``mean`` and ``sd`` (n_pairs,), ``interval`` (n_pairs, 2), ``draws`` (n_draws, n_pairs).
        """
        check_is_fitted(self, "posterior_")
        return cooccurrence(self, pairs, prob)
