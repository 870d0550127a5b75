"""Word embedding association tests of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sklearn.utils.validation import check_is_fitted

from .questions.asking import Answer
from .weat import AssociationTests, weat, weats


class AssociationMixin:
    """Association tests, one and several, of estimators whose posterior has vectors of words."""

    def weat(
        self, X: Sequence, Y: Sequence, A: Sequence, B: Sequence, *, prob: float = 0.9
    ) -> Answer:
        """Word embedding association test: whether X goes with A, and Y with B.

        With ``s(w) = mean_{a in A} cos(w, a) - mean_{b in B} cos(w, b)`` the effect size is
        ``(mean_{x in X} s(x) - mean_{y in Y} s(y)) / std_{w in X, Y} s(w)``, from -2 to 2 for lists
        of the same length.

        Parameters
        ----------
        X, Y : list of words
            Targets. The two may differ in length; in the published test they do not.
        A, B : list of words
            Attributes.
        prob : float, default=0.9
            Probability of the interval.

        Returns
        -------
        Answer
            The effect size *for these words*: ``mean``, ``sd``, ``interval`` and ``draws``, as in
            `similarity`, and ``prob_positive``, the posterior probability that it is above zero.
            It is limited to -2 to 2: where ``interval`` is not symmetric about ``mean``, report
            the interval and the median of the draws, not ``sd``.

            ``p_value`` is one-sided, *over words*: among splits of the target words into two lists
            of these lengths, the share with a difference at least as large by posterior mean
            associations. Up to 100,000 splits (``n_splits``), all are used; beyond, as many random
            ones, so that it is never below ``1 / n_splits``. Also ``words``, those of X before
            those of Y; ``n_first``, how many are of X; ``association``, the `Answer` of ``s``; and
            ``sentence``, the answer in words, to be copied.

        Raises
        ------
        KeyError
            For a list without a known word.
        ValueError
            For an argument that is not a list, fewer than two known words in X or Y, a word in
            both, or a word of theirs in A or B.

        Warns
        -----
        UserWarning
            If words are left out because they are not in the vocabulary.

        Notes
        -----
        The two uncertainties are different in kind. The interval describes how well the text
        determines the effect for these words; the p-value, how easily words dealt out at random
        would have given it. The standard deviation is that of the words, with n in the denominator.

        References
        ----------
        Caliskan, Bryson & Narayanan (2017). Semantics derived automatically from language corpora
        contain human-like biases. Science 356.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> model.weat(["cat", "mat"], ["dog", "rug"], ["sat"], ["and"]).n_splits
        6
        """
        check_is_fitted(self, "posterior_")
        return weat(self, X, Y, A, B, prob)

    def weats(
        self, tests: Mapping[str, tuple[Sequence, Sequence, Sequence, Sequence]],
        *, prob: float = 0.9,
    ) -> AssociationTests:  # fmt: skip
        """Run several word embedding association tests, with their share of false discoveries.

        Parameters
        ----------
        tests : mapping of str to (X, Y, A, B)
            The lists of `weat` for each test, by its name.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        AssociationTests
            A table, most certain effects first: ``mean``, ``sd``, ``interval``, ``prob_positive``
            (the posterior probability that the effect is above zero), ``false_share`` and
            ``p_value``; ``answers`` has what `weat` returns for each.

        Raises
        ------
        KeyError, ValueError
            As in `weat`, naming the test; for tests that are not a mapping to four lists.

        Notes
        -----
        ``false_share`` is the mean, over a row and those above it, of the posterior probability
        that the effect is not positive: the expected share of false discoveries if all tests down
        to that row are called positive. It needs no correction for the number of tests and is valid
        however the answers depend on each other, as far as the posterior is. It is about the effect
        for these words; the p-values are about words as a sample, and are not corrected.

        References
        ----------
        Müller, Parmigiani, Robert & Rousseau (2004). Optimal Sample Size for Multiple Testing: the
        Case of Gene Expression Microarrays. Journal of the American Statistical Association 99.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> tests = {"pets": (["cat", "dog"], ["mat", "rug"], ["sat"], ["and"])}
        >>> model.weats(tests).names.tolist()
        ['pets']
        """
        check_is_fitted(self, "posterior_")
        return weats(self, tests, prob)
