"""Reading the posterior: similarities, neighbours and co-occurrence with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_prob
from ..common.warnings import warn_user
from ..metrics.words import unit_vectors
from ..posterior.summary import summarise
from ..posterior.tables import Column, Table
from .documents import answers
from .predict import with_biases

# With fewer effective units intervals are rough: 90 % ones hold the truth some 80 times of 100.
FEW_UNITS = 3


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
    """Draws of some rows of ``name`` as they are read, (n_draws, len(index), n_components).

    Balanced, of the whole draws that were recorded; or as the solver drew them, and then every draw
    where the rows were kept by name.
    """
    if estimator._balanced is not None:
        return estimator._balanced.of(name, index)
    rows = kept_draws(estimator, name, index)
    return estimator.posterior_.flat(name)[:, index] if rows is None else rows


def deviations_of(estimator):
    """`Deviations` with the units of sampling where intervals are to know of them, else None.

    Warns
    -----
    UserWarning
        Where the mode does not allow for them.
    """
    sampling = estimator._sampling
    if estimator.uncertainty != "documents" or sampling is None:
        return None
    try:
        if sampling.problem is None:
            return sampling.deviations
    except (np.linalg.LinAlgError, RuntimeError) as error:
        sampling.problem = str(error)
    facts = estimator.posterior_.attrs
    facts |= {"uncertainty": "model", "without_units": sampling.problem}
    warn_user(f"Intervals are the model's: {sampling.problem}", UserWarning)
    return None


class UnitsMixin:
    """What estimators tell of the units of sampling that their words were seen in.

    ``fit`` leaves ``_sampling``, None where intervals cannot know of units, and ``_no_units``, why
    they cannot.
    """

    # what attributes about units need, for messages
    _units_need: str
    # of the estimator
    uncertainty: str
    _sampling: Any
    _no_units: Any

    @property
    def n_units_(self) -> np.ndarray:
        """Effective units of sampling that each word was a target in, (n_words,)."""
        return self._seen_sampling("n_units_").n_units

    @property
    def dispersion_(self) -> np.ndarray:
        """Variance of a word's target by the units over that by the model, (n_words,)."""
        return self._seen_sampling("dispersion_").dispersion

    def _seen_sampling(self, name):
        check_is_fitted(self, "posterior_")
        if self._sampling is None:
            raise AttributeError(
                f"{name} needs documents, or {self._units_need}, and was fitted with "
                f"{self._no_units}."
            )
        return self._sampling

    def _note_uncertainty(self, posterior):
        """Say in the posterior what intervals know of."""
        by_units = self.uncertainty == "documents" and self._no_units is None
        posterior.attrs["uncertainty"] = "documents" if by_units else "model"
        if self._no_units is not None:
            posterior.attrs["without_units"] = self._no_units


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
    draws = _cosine_draws(estimator, index)
    deviations = deviations_of(estimator)
    if deviations is None:
        return summarise(draws, prob)
    a, b = np.array(index)[:, None]
    return answers.only(_cosines_by_units(deviations, a, b, draws.mean(keepdims=True), prob))


def _cosine_draws(estimator, index):
    """Draws of the cosine of two words' targets, (n_draws,)."""
    vectors = unit_vectors(draws_of(estimator, "rho", index))
    return np.einsum("ij,ij->i", vectors[:, 0], vectors[:, 1])


def similarity_difference(estimator, first, second, prob):
    """Posterior of the cosine of one pair of words less that of another."""
    check_prob(prob)
    places = []
    for name, pair in (("first", first), ("second", second)):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"{name} must be a pair of words, got {pair!r}.")
        places.append([word_index(estimator, word, name) for word in pair])
    draws = np.subtract(*(_cosine_draws(estimator, pair) for pair in places))
    deviations = deviations_of(estimator)
    if deviations is None:
        return summarise(draws, prob, prob_positive=float(np.mean(draws > 0)))
    (a, b), (c, d) = (np.array(pair)[:, None] for pair in places)
    change = answers.cosine_change(deviations, a, b) + -answers.cosine_change(deviations, c, d)
    mean = draws.mean(keepdims=True)
    found = answers.only(answers.answer(deviations, mean, mean, change, prob))
    found.prob_positive = float(np.mean(found.draws > 0))
    return found


def _cosines_by_units(deviations, a, b, mean, prob):
    """Cosines of words ``a`` and ``b`` with intervals by units, about their posterior means."""
    change = answers.cosine_change(deviations, a, b)
    return answers.answer_at(deviations, mean, change, prob, answers.COSINE)


def cooccurrence(estimator, pairs, prob):
    """Posterior of sigma(rho_w . alpha_v) for pairs (target word, context word)."""
    check_prob(prob)
    targets, contexts = pair_places(estimator, pairs)
    rho, alpha = _pair_draws(estimator, targets, contexts)
    logits = np.einsum("ijk,ijk->ij", rho, alpha)
    draws = expit(logits)
    deviations = deviations_of(estimator)
    if deviations is None:
        return summarise(draws, prob)
    change = answers.logit_change(deviations, np.array(targets), np.array(contexts))
    mean, centre = draws.mean(axis=0), logits.mean(axis=0)
    return answers.answer(deviations, mean, centre, change, prob, answers.PROBABILITY)


def _pair_draws(estimator, targets, contexts):
    """Draws of targets and contexts whose dot products are logits of pairs.

    Balancing leaves these as they are: every draw where the words were kept by name.
    """
    posterior = estimator.posterior_
    found = []
    for name, index in (("rho", targets), ("alpha", contexts)):
        rows = kept_draws(estimator, name, index)
        found.append(posterior.flat(name)[:, index] if rows is None else rows)
    rho, alpha = found
    if len(rho) != len(alpha) or "rho_bias" in posterior:
        rho, alpha = posterior.flat("rho")[:, targets], posterior.flat("alpha")[:, contexts]
    if "rho_bias" in posterior:
        biases = posterior.flat("rho_bias")[:, targets], posterior.flat("alpha_bias")[:, contexts]
        rho, alpha = with_biases(rho, alpha, *biases)
    return rho, alpha


def pair_places(estimator, pairs):
    """Places in the vocabulary of the targets and the contexts of pairs."""
    pairs = list(pairs) if hasattr(pairs, "__iter__") else [pairs]
    if not pairs or not all(hasattr(p, "__len__") and len(p) == 2 for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    if any(isinstance(p, str) for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    targets = [word_index(estimator, a, "target") for a, _ in pairs]
    return targets, [word_index(estimator, b, "context") for _, b in pairs]


def units_notes(table):
    """Notes on the words of a table that few units tell of, with ``words`` and ``n_units``."""
    if table.n_units is None or not np.any(table.n_units < FEW_UNITS):
        return []
    few = ", ".join(table.words[table.n_units < FEW_UNITS].tolist())
    return [f"fewer than {FEW_UNITS} effective units, so that intervals are rough: {few}"]


def units_columns(table, names):
    """The column of effective units of a table, of those names in a data frame; none without."""
    if table.n_units is None:
        return []
    return [Column(f"{'units':>7}", table.n_units, names, ".1f")]


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
        Of the cosine.
    prob_top : ndarray of shape (n,)
        Probability of being among the ``n`` nearest.
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws behind the figures; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective units of sampling that each neighbour, or the word if it has fewer, was seen in;
        None where intervals are the model's.
    """

    word: str
    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_top: np.ndarray
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None

    def _title(self):
        return f"nearest to {self.word!r}"

    def _notes(self):
        return super()._notes() + units_notes(self)

    def _columns(self):
        # of the same widths whatever the numbers
        interval, top = f"{100 * self.prob:g} % interval", f"P(top {len(self.words)})"
        columns = [
            Column("neighbour", self.words, ("word",), left=True),
            Column("cosine", self.mean, ("mean",), "6.3f"),
            Column(f"{interval:>16}", self.interval, ("low", "high"), "6.3f"),
            Column(f"{top:>9}", self.prob_top, ("prob_top",), ".2f"),
        ]
        return columns + units_columns(self, ("n_units",))

    def _series(self):
        series = super()._series()
        return {"word": series.pop("word"), "mean": series.pop("mean"), "sd": self.sd, **series}


def most_similar(estimator, word, n, prob):
    """The ``n`` words nearest to ``word`` by posterior mean cosine of target vectors."""
    check_prob(prob)
    check_integer("n", n, 1)
    target = word_index(estimator, word, "word")
    deviations = deviations_of(estimator)
    if deviations is not None:
        return _neighbours_by_units(estimator, deviations, target, n, prob)
    draws = target_draws(estimator)
    return neighbours(estimator.words_, target, draws, n, prob)


def _neighbours_by_units(estimator, deviations, target, n, prob):
    """`Neighbours` with intervals, and probabilities of rank, by units."""
    words = estimator.words_
    mean = _mean_cosines(target_draws(estimator), target, words.size)
    others = np.delete(np.arange(words.size), target)
    a = np.full(others.size, target)
    found = _cosines_by_units(deviations, a, others, mean[others], prob)
    return nearest_of(words, target, others, found, n, prob)


def nearest_of(words, target, others, found, n, prob):
    """`Neighbours` among the words ``others``, of answers about their cosines with the target."""
    n = min(n, others.size)
    top = np.zeros(others.size)
    for draw in found.draws:
        top[np.argpartition(-draw, n - 1)[:n] if n else []] += 1
    order = np.argsort(-found.mean, kind="stable")[:n]
    return Neighbours(
        str(words[target]),
        words[others[order]],
        found.mean[order],
        found.sd[order],
        found.interval[order],
        top[order] / len(found.draws),
        prob,
        len(found.draws),
        found.n_units[order],
    )


def target_draws(estimator):
    """Draws of all target vectors as they are read, one after the other."""
    balanced = estimator._balanced
    return estimator.posterior_.flat("rho") if balanced is None else balanced


def _mean_cosines(draws, target, n_words):
    """Means over draws of the cosines with one word's target, (n_words,)."""
    total = np.zeros(n_words)
    for rho in draws:
        total += _cosines(rho, target)
    return total / len(draws)


def neighbours(words, target, draws, n, prob):
    """`Neighbours` of the word ``target`` by draws (n_words, n_components), gone through twice."""
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
    chosen = np.append(order, target)
    vectors = unit_vectors(np.array([rho[chosen] for rho in draws]))
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
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws``. With
            ``uncertainty="documents"`` also ``sd_sampling`` and ``sd_prior``, the parts of ``sd``
            by the units that were sampled and by the prior, and ``n_units``, the effective units
            of the word that has fewer; the interval has as much probability on either side.

        Raises
        ------
        KeyError
            For an unknown word.
        """
        check_is_fitted(self, "posterior_")
        return similarity(self, a, b, prob)

    def similarity_difference(
        self, first: tuple[str, str], second: tuple[str, str], *, prob: float = 0.9
    ) -> Bunch:
        """Posterior of the cosine of one pair of words less that of another.

        Parameters
        ----------
        first, second : (str or int, str or int)
            Pairs of words, or of their indices.
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Bunch
            As of `similarity`, of the difference, and ``prob_positive``, the probability that the
            first pair is nearer.

        Raises
        ------
        KeyError
            For an unknown word.
        ValueError
            For what is no pair.
        """
        check_is_fitted(self, "posterior_")
        return similarity_difference(self, first, second, prob)

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
            With ``uncertainty="documents"`` also ``sd_sampling``, ``sd_prior`` and ``n_units``, as
            of `similarity`.
        """
        check_is_fitted(self, "posterior_")
        return cooccurrence(self, pairs, prob)
