"""Reading the posterior: similarities, neighbors and co-occurrence with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import (
    check_list,
    check_prob,
    listed,
)
from ..posterior.sentences import ended, estimate
from . import inputs
from .asking import AskingMixin
from .associations import AssociationMixin
from .comparisons import Nearer, Projections, nearer, project
from .neighbours import Analogies, Neighbours
from .questions.asking import Answer, ask, difference
from .questions.kinds import Cosines, Probabilities
from .questions.operands import of_places, together
from .questions.phrases import Axis, are_same, operands_of, phrase_of, word_index
from .questions.verdicts import sum_up
from .ranking import analogy, most_similar
from .similar_documents import document_operands, document_similarity, word_operands
from .vectors import target_draws, vectors_of

# Below similarities of a word to itself.
OF_ITSELF = "(1 by construction: a and b are the same)"


def similarity(estimator, a, b, prob):
    """Posterior of the cosine between the target vectors of two words."""
    check_two(a, b)
    check_prob(prob)
    phrases = [phrase_of(estimator, a, "a"), phrase_of(estimator, b, "b")]
    question = Cosines(operands_of(phrases, estimator._n_places), np.array([[0, 1]]))
    titles = titles_of(*phrases)
    found = ask(estimator, question, prob, (), **titles, asked=labels_of(*phrases))
    if are_same(*phrases):
        found.sentence = f"The {titles['whole']} is 1 by construction."
        return found._noting(OF_ITSELF)
    text = f"The {titles['whole']} is {estimate(found, found.source, prob)}"
    found.sentence = ended(text, found.source, found.get("n_units", np.inf), found)
    return found


def check_two(a, b):
    """Raise a TypeError where the second of two words is missing."""
    if b is None:
        raise TypeError(
            f"similarity takes two words, a and b, got {a!r} alone; for several pairs, ask for "
            "each: pandas.concat([model.similarity(*pair).to_frame() for pair in pairs])."
        )


def check_different(name, a, b, instead=""):
    """Raise a ValueError where two phrases, of the argument ``name``, are the same."""
    if are_same(a, b):
        raise ValueError(
            f"{name} must be different words, or lists of words, got {a.label!r} and {b.label!r}: "
            f"the similarity of a word to itself is 1, always.{instead}"
        )


def labels_of(a, b):
    """What an answer about two phrases was asked about, for data frames."""
    return {"a": a.label, "b": b.label}


def titles_of(a, b):
    """What the similarity of two phrases is called, ``title`` and ``whole`` of `ask`."""
    title, whole = (
        f"similarity of {a.named(cut=cut)} and {b.named(cut=cut)}" for cut in (True, False)
    )
    return {"title": title, "whole": whole}


def similarity_difference(estimator, first, second, prob):
    """Posterior of the cosine of one pair of words less that of another."""
    check_prob(prob)
    found = check_pairs(estimator, first, second)
    operands = operands_of(found[0] + found[1], estimator._n_places)
    pairs = Cosines(operands, np.array([[0, 1]])), Cosines(operands, np.array([[2, 3]]))
    first, second = (titles_of(*pair) for pair in found)
    titles = {name: f"{first[name]}, less {second[name]}" for name in first}
    asked = {"first": first["whole"], "second": second["whole"]}
    answer = difference(estimator, *pairs, prob, **titles, asked=asked)
    return sum_up(answer, first["whole"], second["whole"])


def check_pairs(estimator, first, second):
    """The phrases of two pairs, lists; a ValueError where one is none, or they are the same."""
    found = []
    for name, pair in (("first", first), ("second", second)):
        words = listed(pair)
        if words is None or len(words) != 2:
            raise ValueError(f"{name} must be a pair of words, got {pair!r}.")
        found.append([phrase_of(estimator, word, name) for word in words])
        check_different(name, *found[-1])
    _check_other(*found)
    return found


def _check_other(first, second):
    """Raise a ValueError where two pairs of phrases are the same, in either order."""
    pairs = [frozenset(phrase.direction for phrase in pair) for pair in (first, second)]
    if pairs[0] == pairs[1]:
        names = ", ".join(repr(phrase.label) for phrase in first)
        raise ValueError(
            f"first and second must be different pairs, got ({names}) twice: their difference is "
            "0, always."
        )


def cooccurrence(estimator, pairs, prob):
    """Posterior of sigma(rho_w . alpha_v) for pairs (target word, context word)."""
    check_prob(prob)
    targets, contexts = pair_places(estimator, pairs)
    title, axes = "probability that a pair is positive", pair_axis(estimator, targets, contexts)
    return ask(estimator, pairs_at(estimator, targets, contexts), prob, title=title, axes=axes)


def pair_axis(estimator, targets, contexts):
    """The axis of answers about pairs of words."""
    words = estimator.words_
    pairs = zip(words[targets], words[contexts], strict=True)
    return {"pair": [f"{target}, {context}" for target, context in pairs]}


def pairs_at(estimator, targets, contexts):
    """The `Question` of the probabilities of pairs of places, (n,) each."""
    n_places, n = estimator._n_places, np.size(targets)
    ends = (of_places(x, n_places, side, unit=False) for side, x in enumerate((targets, contexts)))
    return Probabilities(together(*ends), np.arange(2 * n).reshape(2, n).T)


def pair_places(estimator, pairs):
    """Places in the vocabulary of the targets and the contexts of pairs."""
    if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy"):
        # of a DataFrame, which as a list has the names of its columns
        pairs = pairs.to_numpy()
    pairs = check_list("pairs", pairs, "(target, context) pairs")
    if not pairs or not all(hasattr(p, "__len__") and len(p) == 2 for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    if any(isinstance(p, str) for p in pairs):
        raise ValueError(f"pairs must be a list of (target, context) pairs, got {pairs!r}.")
    targets = [word_index(estimator, a, "target") for a, _ in pairs]
    return targets, [word_index(estimator, b, "context") for _, b in pairs]


class ReadingMixin(AssociationMixin, AskingMixin):
    """Methods of estimators whose posterior has vectors of words.

    Notes
    -----
    A list of words, or what `axis` returns, can be given in place of a word (not in
    `cooccurrence_proba`); a list stands for the mean of its words' unit vectors in every draw.
    Words of a list that are not in the vocabulary are left out, with a warning that names them and
    suggests words that may have been meant.

    With ``uncertainty="documents"`` an answer also has ``sd_sampling`` and ``sd_prior``, the parts
    of ``sd`` due to the sampling of units and to the prior, and ``n_units``, the smallest effective
    number of units among its words (for a list, the harmonic mean weighted by each word's part of
    its variance). The interval has equal tails. Answers from draws of the posterior instead have
    ``interval_mcse``, the Monte Carlo standard errors of the ends of ``interval`` (for up to 200
    answers at once), which more draws make smaller. Those of chains also have ``rhat``,
    ``ess`` and ``ess_tail``, the split R-hat and the effective draws of each answer and of its
    tails, of which a line below the table has the worst.

    Draws of all answers belong together: see `contrast`.
    """

    # of the estimator
    posterior_: Any
    words_: Any
    rho_: Any
    _balanced: Any

    def similarity(self, a: Any, b: Any = None, *, prob: float = 0.9) -> Answer:
        """Posterior of the cosine between the target vectors of two words.

        Parameters
        ----------
        a, b : str, int, list of either, or Axis
            Words, or their indices. A list stands for the mean of its words' unit vectors in every
            draw: the answer is one cosine, of the two means. It is not a list of pairs.
        prob : float, default=0.9
            Probability of the interval, which has equal tails if it is by units
            (``uncertainty="documents"``) and is otherwise the one of highest density.

        Returns
        -------
        Answer
            ``mean``, ``sd``, ``interval`` (low, high) and ``draws`` (n_draws,). With
            ``uncertainty="documents"``, also ``sd_sampling`` and ``sd_prior``, the parts of ``sd``
            due to the sampling of units and to the prior, and ``n_units``, the effective number of
            units of the word that has fewer. The interval has the same
            probability on both sides. ``sentence`` has the answer in words, to be copied.

        Raises
        ------
        KeyError
            For an unknown word, or a list without a known one.
        TypeError
            If ``b`` is missing.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> answer = model.similarity("cat", "dog")
        >>> answer.draws.shape, answer.interval.shape
        ((1000,), (2,))

        A table of several pairs:

        >>> import pandas as pd
        >>> pairs = [("cat", "dog"), ("mat", "rug")]
        >>> frames = [model.similarity(a, b).to_frame() for a, b in pairs]
        >>> pd.concat(frames, ignore_index=True)[["a", "b"]].values.tolist()
        [['cat', 'dog'], ['mat', 'rug']]
        """
        check_is_fitted(self, "posterior_")
        return similarity(self, a, b, prob)

    def similarity_difference(self, first: Any, second: Any, *, prob: float = 0.9) -> Answer:
        """Posterior of the cosine of one pair of words less that of another.

        The `contrast` of two similarities.

        Parameters
        ----------
        first, second : pair of words, as in `similarity`
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Answer
            The difference, as in `similarity`, and ``prob_positive``, the probability that the
            words of the first pair are nearer; ``verdict`` and ``sentence`` as in `contrast`.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            If one of them is not a pair, or has the same words twice, or both are the same pair.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.similarity_difference(("cat", "mat"), ("dog", "mat")).mean.shape
        ()
        """
        check_is_fitted(self, "posterior_")
        return similarity_difference(self, first, second, prob)

    def most_similar(self, word: Any, n: int = 10, *, prob: float = 0.9) -> Neighbours:
        """Find the words nearest to a word, with intervals.

        Parameters
        ----------
        word : str, int, list of either, or Axis
            A word, or its index. Words of a list, or of an axis, are not among its neighbors.
        n : int, default=10
            Number of neighbors.
        prob : float, default=0.9
            Probability of the intervals, as in `similarity`.

        Returns
        -------
        Neighbours
            A table ordered by posterior mean cosine, with the probability that each word is among
            the ``n`` nearest.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> len(model.most_similar("cat", 3).words)
        3
        """
        check_is_fitted(self, "posterior_")
        return most_similar(self, word, n, prob)

    def nearer(self, word: Any, others: Sequence, *, prob: float = 0.9) -> Nearer:
        """Find out which of several words a word is nearest to.

        Parameters
        ----------
        word : str, int, list of either, or Axis
        others : list of the same
            A list in it is one of the items that are compared.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Nearer
            A table of cosines, nearest first; how much lower each is than the first; and the
            probability that each is the nearest, from joint draws of the differences. ``sentence``
            states the first row in words, to be copied, and ``verdict`` whether it is decided.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            If ``others`` is not a list, has a word twice, or has the word itself.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> table = model.nearer("cat", ["mat", ["dog", "bone"]])
        >>> sorted(table.words.tolist())
        ['dog, bone', 'mat']
        >>> round(float(table.prob_nearest.sum()), 6)
        1.0
        """
        check_is_fitted(self, "posterior_")
        return nearer(self, word, others, prob)

    def project(self, words: Sequence, axis: Axis, *, prob: float = 0.9) -> Projections:
        """Project words on an axis.

        Parameters
        ----------
        words : list of words, as in `similarity`
            A list in it makes one row.
        axis : Axis
            What `axis` returns.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Projections
            A table of cosines with the axis, largest first, and the probability that each is
            positive.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        ValueError
            If ``words`` is not a list, or ``axis`` not an axis.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> sorted(model.project(["mat", "rug"], model.axis("cat", "dog")).words.tolist())
        ['mat', 'rug']
        """
        check_is_fitted(self, "posterior_")
        return project(self, axis, words, prob)

    def analogy(self, a: Any, b: Any, c: Any, n: int = 10, *, prob: float = 0.9) -> Analogies:
        """Find what is to ``c`` as ``b`` is to ``a``.

        The answer is the word whose vector has the largest cosine with ``b - a + c``, all three of
        unit length. These three are left out (3CosAdd, as in `metrics.analogies`).

        Parameters
        ----------
        a, b, c : str, int, list of either, or Axis
        n : int, default=10
            Number of answers.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Analogies
            A table ordered by posterior mean cosine, with the probability that each is the answer.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> len(model.analogy("cat", "mat", "dog", 2).words)
        2
        """
        check_is_fitted(self, "posterior_")
        return analogy(self, a, b, c, n, prob)

    def document_similarity(
        self, X: Any, other: Any = None, *, words: Sequence | None = None, prob: float = 0.9
    ) -> Answer:
        """Posterior of the cosines of documents' features, with other documents or with words.

        Parameters
        ----------
        X : documents or counts, as in ``transform``
        other : documents or counts, optional
            Compare with X itself by default.
        words : list of words, as in `similarity`, optional
            Compare with words instead of other documents.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            As in `similarity`, of shape (n_documents, n_other): cosines of the count-weighted mean
            target vectors that ``transform`` makes of documents, NaN for a document without a
            known word (`regress` leaves it out). Intervals are about the vectors of words: they do
            not allow for the sampling of the documents that are compared.

        Raises
        ------
        ValueError
            If both ``other`` and ``words`` are given.
        MemoryError
            If the draws would not fit in memory.

        Warns
        -----
        UserWarning
            If documents have no known word.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> model.document_similarity(["a cat sat", "the rug"], words=["dog"]).mean.shape
        (2, 1)
        """
        check_is_fitted(self, "posterior_")
        check_one_of(other, words)
        documents, labels = document_operands(inputs.count_documents(self, X)), None
        if words is not None:
            other, labels = word_operands(self, words)
        elif other is not None:
            other = document_operands(inputs.count_documents(self, other))
        return document_similarity(self, documents, other, prob, labels)

    def cooccurrence_proba(self, pairs: Any, *, prob: float = 0.9) -> Answer:
        """Posterior of the probability that a pair is positive, sigma(rho_w . alpha_v).

        Parameters
        ----------
        pairs : list of (target, context), or DataFrame with these as its two columns
            Words or indices.
        prob : float, default=0.9
            Probability of the intervals, as in `similarity`.

        Returns
        -------
        Answer
            ``mean`` and ``sd`` (n_pairs,), ``interval`` (n_pairs, 2), ``draws`` (n_draws, n_pairs).
            With ``uncertainty="documents"``, also ``sd_sampling``, ``sd_prior`` and ``n_units``, as
            in `similarity`.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> model.cooccurrence_proba([("cat", "mat"), ("dog", "rug")]).mean.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        return cooccurrence(self, pairs, prob)

    # What questions are answered with; places of vectors are words.

    @property
    def _n_places(self):
        return self.words_.size

    @property
    def _n_drawn(self):
        return self.posterior_.n_chains * self.posterior_.n_draws

    def _vectors(self, operands, invariant):
        return vectors_of(self, operands, invariant)

    def _target_draws(self, shift):
        return target_draws(self)


def check_one_of(other, words):
    """Raise a ValueError where documents are to be held against both documents and words."""
    if other is not None and words is not None:
        raise ValueError("other and words must not both be given: got both.")
