"""Questions about words in one period: which is nearer, analogies, projections, associations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..sgns.asking import AskingMixin
from ..sgns.comparisons import Nearer, Projections, nearer, project, several
from ..sgns.neighbours import Analogies
from ..sgns.predict import word_shares
from ..sgns.questions.asking import Answer
from ..sgns.questions.operands import Operands
from ..sgns.questions.phrases import Axis, phrase_of
from ..sgns.ranking import analogy
from ..sgns.reading import check_one_of
from ..sgns.similar_documents import document_similarity, word_operands
from ..sgns.weat import AssociationTests, weat, weats
from ..sgns.word_tables import in_period
from . import inputs
from .predict import as_read, period_draws
from .seen import lacking, of_one_unit, text_of, words_too_few
from .vectors import n_drawn, vectors_of
from .verdicts import without_data


class DynamicAskingMixin(AskingMixin):
    """Questions about words in one period."""

    # of the estimator
    posterior_: Any
    periods_: Any
    words_: Any

    def nearer(self, word: Any, others: Sequence, *, period: Any, prob: float = 0.9) -> Nearer:
        """Find out which of several words a word is nearest to in a period.

        Parameters
        ----------
        word, others, prob
            As in `BayesianSGNS.nearer`.
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        Nearer
            Prints as a table.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.nearer("cat", ["dog", "mat"], period=1901).words.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        found = nearer(self, word, others, prob, *self._at(period), self._label(period))
        found.answer._carrying(*self._lone(period))
        return in_period(found, self._label(period))

    def project(
        self, words: Sequence, axis: Axis, *, period: Any, prob: float = 0.9
    ) -> Projections:
        """Project words on an axis in a period.

        For one word in every period use ``similarity(word, axis)``.

        Parameters
        ----------
        words, axis, prob
            As in `BayesianSGNS.project`.
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        Projections
            Prints as a table.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.project(["mat", "rug"], model.axis("cat", "dog"), period=1901).words.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        found = project(self, axis, words, prob, *self._at(period), self._label(period))
        found.answer._carrying(*self._lone(period))
        return in_period(found, self._label(period))

    def analogy(
        self, a: Any, b: Any, c: Any, n: int = 10, *, period: Any, prob: float = 0.9
    ) -> Analogies:
        """Find what is to ``c`` as ``b`` is to ``a`` in a period.

        Parameters
        ----------
        a, b, c, n, prob
            As in `BayesianSGNS.analogy`.
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        Analogies
            Prints as a table.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> model.analogy("cat", "mat", "dog", n=2, period=1901).words.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        found = analogy(self, a, b, c, n, prob, *self._at(period), self._few_in(period))
        return in_period(found, self._label(period))

    def weat(
        self,
        X: Sequence,
        Y: Sequence,
        A: Sequence,
        B: Sequence,
        *,
        period: Any,
        prob: float = 0.9,
    ) -> Answer:
        """Word embedding association test in a period.

        For a change of the effect, `contrast` the answers for two periods.

        Parameters
        ----------
        X, Y, A, B, prob
            As in `BayesianSGNS.weat`.
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        Answer
            As in `BayesianSGNS.weat`, and ``few_pairs``: whether the words of a list together have
            too little text in the period (as in `similarity_change`), so that the answer follows
            from the prior and other periods.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=times)
        >>> answer = model.weat(["cat", "mat"], ["dog", "rug"], ["sat"], ["and"], period=1900)
        >>> answer.interval.shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        found = weat(self, X, Y, A, B, prob, *self._at(period), period=self._label(period))
        return without_data(found, found.few_pairs)._carrying(*self._lone(period))

    def weats(
        self, tests: Mapping[str, tuple[Sequence, Sequence, Sequence, Sequence]],
        *, period: Any, prob: float = 0.9,
    ) -> AssociationTests:  # fmt: skip
        """Run several association tests in a period, with their share of false discoveries.

        Parameters
        ----------
        tests, prob
            As in `BayesianSGNS.weats`.
        period : time or label of a period
            Any time in a period names it.

        Returns
        -------
        AssociationTests
            As in `BayesianSGNS.weats`.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> tests = {"pets": (["cat", "dog"], ["mat", "rug"], ["sat"], ["and"])}
        >>> model.weats(tests, period=1900).mean.shape
        (1,)
        """
        check_is_fitted(self, "posterior_")
        found = weats(self, tests, prob, *self._at(period), period=self._label(period))
        return in_period(found, self._label(period))

    def document_similarity(
        self,
        X: Any,
        other: Any = None,
        *,
        times: ArrayLike,
        other_times: ArrayLike | None = None,
        words: Sequence | None = None,
        prob: float = 0.9,
    ) -> Answer:
        """Posterior of the cosines of documents' features, with other documents or with words.

        Parameters
        ----------
        X : documents or counts, as in ``transform``
        other : documents or counts, optional
            Compare with X itself by default.
        times : array-like of shape (n_documents,)
            Times of X, in periods of ``fit``.
        other_times : array-like of shape (n_other,), optional
            Times of ``other``.
        words : list of words, as in `similarity`, optional
            Compare with words instead of other documents, in the period of the documents, which
            must be the same for all.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Answer
            As in `BayesianSGNS.document_similarity`; with words also ``few_pairs`` (n_documents,
            n_words), whether a word has too little text in the period.

        Raises
        ------
        ValueError
            For times outside the periods, or in several periods if words are given; if both
            ``other`` and ``words`` are given.
        MemoryError
            If the draws would not fit in memory.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = DynamicSGNS(2, solver="map", min_count=1, random_state=0)
        >>> model = model.fit(texts, times=[1900] * 15 + [1901] * 15)
        >>> found = model.document_similarity(texts[:2], times=[1900, 1900])
        >>> found.mean.shape
        (2, 2)
        """
        check_is_fitted(self, "posterior_")
        check_one_of(other, words)
        (documents, periods), labels = _dated(self, X, times), None
        if words is not None:
            if np.unique(periods).size > 1:
                raise ValueError(
                    "times must be in one period where words are given, got "
                    f"{np.unique(periods).size} periods."
                )
            words = several(words, "words")
            other, labels = word_operands(self, words, int(periods[0]) * self.words_.size)
        elif other is not None:
            other, _ = _dated(self, other, other_times)
        found = document_similarity(self, documents, other, prob, labels)
        return found if words is None else self._with_few(found, words, int(periods[0]))

    def _with_few(self, found, words, period):
        """Answers about documents and words, which say where a word has too little text."""
        phrases = [phrase_of(self, what, "words") for what in words]
        few = np.array([bool(text_of(self, [period], one).few[0]) for one in phrases])
        found.few_pairs = np.broadcast_to(few, np.shape(found.mean)).copy()
        found = without_data(found, found.few_pairs)._noting(*lacking(self, [period], *phrases))
        return found._carrying(*of_one_unit(self, [period]))

    # What questions are answered with; places of vectors are words in periods.

    @property
    def _n_places(self):
        return self.periods_.n_periods * self.words_.size

    @property
    def _n_drawn(self):
        return n_drawn(self)

    def _label(self, period):
        return self.periods_.labels[self.periods_.find(period, "period")]

    def _at(self, period) -> tuple[int, Callable]:
        """Where the places of a period begin, and whether it has too little text of phrases."""
        at = [self.periods_.find(period, "period")]
        return self._shift(period), lambda phrases: bool(text_of(self, at, *phrases).few[0])

    def _lone(self, period) -> list[str]:
        """That the period is of one unit, for what compares it with others: a line, or none."""
        return of_one_unit(self, [self.periods_.find(period, "period")])

    def _few_in(self, period) -> np.ndarray:
        """Words with too little text in a period, bool (n_words,)."""
        return words_too_few(self, [self.periods_.find(period, "period")])[0]

    def _shift(self, period):
        """Where the places of a period begin."""
        return self.periods_.find(period, "period") * self.words_.size

    def _vectors(self, operands, invariant):
        return vectors_of(self, operands, invariant)

    def _target_draws(self, shift):
        return as_read(self, "rho", period_draws(self, "rho", shift // self.words_.size))


def _dated(estimator, X, times):
    """`Operands` of documents at their times, and their periods (n_documents,)."""
    counts, centres = inputs.documents(estimator, X, times, told=False)
    if centres is None:
        raise ValueError("times must be given for all documents, got None.")
    known = estimator.periods_.centres
    periods = np.searchsorted(known, centres)
    outside = (periods == known.size) | (known[np.minimum(periods, known.size - 1)] != centres)
    if np.any(outside):
        raise ValueError("times must be in the periods of fit, got one that is in none.")
    shares = word_shares(counts).tocoo()
    rows, columns = shares.coords
    columns = columns + periods[rows] * estimator.words_.size
    n = counts.shape[0]
    weights = sparse.csr_array((shares.data, (rows, columns)), shape=(n, estimator._n_places))
    return Operands(weights, np.zeros(n, int), np.zeros(n, bool)), periods
