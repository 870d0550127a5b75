"""Reading topics by themselves: words, tables, intervals, coherence, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice, check_integer, check_prob
from ..io.word_vectors import WordVectors
from ..posterior.naming import set_names
from ..posterior.results import About, Result
from ..posterior.sources import source_of
from ..posterior.summary import hdi_interval
from .export import words_and_topics
from .recording import has_gaussians
from .words import TopicTable, TopicWords, coherence_of, mean_word_proba, top_words, topic_table


class WordReadingMixin:
    """Methods of estimators whose posterior has topics with words and Gaussians."""

    # of the estimator
    posterior_: Any
    components_: Any
    _components_by: str
    _documents: Any
    word_proba: str

    def _word_proba(self, by):
        """Posterior means of word probabilities ``by`` "count" or "density"."""
        return self.components_ if by == self._components_by else mean_word_proba(self, by)

    def top_words(
        self, n: int = 10, *, by: str | None = None, rank: str = "probable", prob: float = 0.9
    ) -> TopicWords:
        """Return the top words of each topic, with intervals and their stability.

        Parameters
        ----------
        n : int, default=10
            Number of words for each topic.
        by : {"count", "density"} or None, default=None
            Whether probabilities come from the topic's tokens, or from the topic's density at the
            word's vector, normalized over the vocabulary. None uses ``word_proba``.
        rank : {"probable", "relevant"}, default="probable"
            Which words: the most probable ones, or those that distinguish the topic from the
            others, by relevance (Sievert & Shirley 2014), which combines a word's probability with
            its ratio to the overall probability.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        TopicWords
            Prints as a table. ``words``, ``mean`` and ``prob_top`` (n_topics, n), ``interval``
            (n_topics, n, 2). Counts use at most 200 draws, densities at most 10, which makes their
            intervals rough.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.top_words(5).words.shape
        (2, 5)
        """
        check_is_fitted(self, "posterior_")
        return top_words(self, n, self.word_proba if by is None else by, prob, rank)

    def topic_info(self, n: int = 10, *, prob: float = 0.9) -> TopicTable:
        """Return a table of the topics: shares, spread, stability, coherence and words.

        Parameters
        ----------
        n : int, default=10
            Number of words for each topic. The most relevant words are shown; coherence and
            stability refer to the most probable ones.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        TopicTable

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> bool(np.isclose(model.topic_info(5).share.sum(), 1.0))
        True
        """
        check_is_fitted(self, "posterior_")
        check_integer("n", n, 1)
        return topic_table(self, n, prob)

    def topic_interval(self, *, prob: float = 0.9) -> Result:
        """Return highest density intervals of the topics' Gaussians.

        Parameters
        ----------
        prob : float, default=0.9
            Probability in each interval.

        Returns
        -------
        Result
            ``mean`` (n_topics, n_dims, 2), of the means; ``sd`` (n_topics, n_dims, 2), of the
            standard deviations (the square roots of the diagonals of the covariances).

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.topic_interval().mean.shape
        (2, 3, 2)
        """
        check_is_fitted(self, "posterior_")
        check_prob(prob)
        if not has_gaussians(self.posterior_):
            return self._vector_interval(prob)
        variances = np.diagonal(self.posterior_.flat("covariance"), axis1=-2, axis2=-1)
        entries = {
            "mean": hdi_interval(self.posterior_.flat("mean"), prob=prob),
            "sd": hdi_interval(np.sqrt(variances), prob=prob),
        }
        n_topics, n_dims = variances.shape[1:]
        axes = {"topic": range(n_topics), "dim": range(n_dims)}
        title = f"{100 * prob:g} % intervals of the topics' Gaussians"
        return Result(entries, About(title, axes, prob, source_of(self), ("mean", "sd")))

    def _vector_interval(self, prob):
        """`topic_interval` of topics with Dirichlet priors of words."""
        found = hdi_interval(self.posterior_.flat("topic_vector"), prob=prob)
        axes = {"topic": range(found.shape[0]), "dim": range(found.shape[1])}
        title = f"{100 * prob:g} % intervals of the topics' vectors"
        about = About(title, axes, prob, source_of(self), ("topic_vector",))
        return Result({"topic_vector": found}, about)

    def coherence(
        self,
        X_ref: Any = None,
        *,
        measure: str = "npmi",
        n: int = 10,
        by: str | None = None,
    ) -> np.ndarray:
        """Compute the coherence of the top words of each topic.

        Parameters
        ----------
        X_ref : documents or counts, as in ``fit``, optional
            Reference corpus; the training documents by default.
        measure : {"npmi", "pmi"}, default="npmi"
        n : int, default=10
            Number of words for each topic.
        by : {"count", "density"} or None, default=None
            As in `top_words`.

        Returns
        -------
        ndarray of shape (n_topics,)

        Raises
        ------
        ValueError
            If there is no reference corpus because ``partial_fit`` keeps no documents.

        See Also
        --------
        skbayesembed.metrics.coherence : The formulas.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.coherence(data.counts, n=5).shape
        (2,)
        """
        check_is_fitted(self, "posterior_")
        check_choice("measure", measure, ("npmi", "pmi"))
        check_integer("n", n, 2)
        words = top_words(self, n, self.word_proba if by is None else by, 0.9).words
        return coherence_of(self, words, self._documents(X_ref, "X_ref"), measure)

    def name_topics(self, names: Sequence[str] | Mapping[int, str] | None) -> Self:
        """Give the topics names, which tables, figures and sentences then use.

        Topics are numbered by the fit, so names are given after it, when their words and documents
        have been read. They also serve wherever a ``topic`` is asked for, are the labels of the
        dimension ``topic`` of ``posterior_``, and are saved with the estimator. A new fit discards
        them. Columns of ``transform`` are not called by them (`get_feature_names_out`).

        Parameters
        ----------
        names : list of str of shape (n_topics,), dict of int to str, or None
            Names of all topics, or of some; the others keep their numbers. With None all have
            numbers again.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the names are not as many as the topics, or of topics that are not there; or if they
            are empty, numbers, or not different from each other.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts).name_topics({1: "taxes"})
        >>> model.top_words(1)["topic"].tolist()
        ['0', 'taxes']
        """
        check_is_fitted(self, "posterior_")
        set_names(self.posterior_, names, "topic")
        return self

    def _name_kinds(self, names):
        """Names of topics of another fit (`Kinds.names_for`), where it had some."""
        if names:
            self.name_topics(names)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of ``transform``, by which ``set_output`` calls them.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str, shape (n_features_out,)
            By the numbers of topics; names from `name_topics` do not change them, so that what was
            fitted on these columns goes on. Standard deviations are named after their means, with
            ``_std`` appended.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model.fit(data.counts).get_feature_names_out().tolist()
        ['gaussianlda0', 'gaussianlda1']
        """
        return super().get_feature_names_out(input_features)  # type: ignore[misc]

    def to_word_vectors(self, names: Sequence[str] | None = None) -> WordVectors:
        """Return vectors of the words and of the topics in one space, for gensim and others.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the topics, none of them a word of the vocabulary; by default ``"topic_0"``,
            ``"topic_1"``, ..., or with names from `name_topics` ``"topic_trade"``, ... A background
            topic has no vector and no name.

        Returns
        -------
        skbayesembed.io.WordVectors
            Words in the coordinates of ``normalize``, as the topics are in them, then posterior
            means of the topics' vectors: of Gaussians their means, ``topic_means_``. Covariances
            are left out. `io.to_keyed_vectors` and `io.save_vectors` take it.

        Raises
        ------
        ValueError
            If ``names`` are not one for each topic, or one is a word of the vocabulary.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> vectors = model.fit(data.counts).to_word_vectors(["war", "trade"])
        >>> len(vectors), vectors["war"].shape
        (55, (3,))
        """
        check_is_fitted(self, "posterior_")
        return words_and_topics(self, names)
