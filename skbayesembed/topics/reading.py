"""Reading topics in documents: shares, documents to read, effects, pyLDAvis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_bool
from ..corpus.known import known_counts
from ..posterior.representatives import Representatives
from .documents import DocumentTopics, document_topics, representative_documents
from .draws import draws_of
from .effects import TopicEffects
from .inputs import vocabulary_reading
from .predict import FoldIn, topic_features
from .regressing import topic_effects
from .word_reading import WordReadingMixin


class TopicReadingMixin(WordReadingMixin):
    """Methods of estimators whose posterior has topics, by themselves and in documents."""

    # of the estimator
    words_: Any
    n_jobs: int | None

    def document_topics(
        self, X: Any = None, *, n_draws: int = 200, prob: float = 0.9
    ) -> DocumentTopics:
        """Return the shares of the topics in documents, with intervals.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default.
        n_draws : int, default=200
            Number of draws of the shares for the intervals, at least 2.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        DocumentTopics
            Prints as a table, whose last lines say where intervals are not those of the posterior,
            and which topics have not mixed. ``mean`` (n_documents, n_topics), as from
            ``transform`` (or of the draws, with a ``likelihood_power`` below 0.5), ``interval``
            (n_documents, n_topics, 2) and ``draws`` (n_draws, n_documents, n_topics), as from
            ``sample_transform``.

        Raises
        ------
        ValueError
            If ``X`` is needed because ``partial_fit`` keeps no documents.
        MemoryError
            If the draws would not fit in memory.

        Warns
        -----
        UserWarning
            If counts are no whole numbers: draws, and so intervals, are of counts that are rounded,
            means of those given.

        Notes
        -----
        Intervals cover the uncertainty of the topics and, given the topics, that of a document's
        shares, for which only its own words are evidence. To allow for the sampling of
        documents, or to compare groups of them, use `effects`.

        Intervals have the Monte Carlo error of their draws, and a document is given other random
        numbers where others are asked for with it: ends then differ in the second digit.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> table = model.fit(data.counts).document_topics(data.counts[:3], prob=0.5)
        >>> table.mean.shape, table.interval.shape
        ((3, 2), (3, 2, 2))
        """
        check_is_fitted(self, "posterior_")
        return document_topics(self, X, n_draws, prob)

    def representative_documents(
        self,
        X: Any = None,
        topic: int | str | None = None,
        *,
        n: int = 5,
        texts: Sequence[str] | None = None,
        n_draws: int = 200,
        prob: float = 0.9,
    ) -> Representatives:
        """Return the documents with the largest shares of a topic, with intervals, for reading.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default.
        topic : int or str, optional
            Number, or name from `name_topics`; all topics by default.
        n : int, default=5
            Number of documents for each topic; fewer if fewer have a known word.
        texts : sequence of str of shape (n_documents,), optional
            Text to show for each document. By default X, if it holds strings or tokens.
        n_draws : int, default=200
            Number of draws of the shares for the intervals.
        prob : float, default=0.9
            Probability of the highest density intervals.

        Returns
        -------
        Representatives
            A table: ``index`` in X, ``mean`` (as from ``transform``) and ``interval`` of the share,
            and ``texts``. Documents of training are read by the words of the vocabulary alone, X
            also by others that have a vector.

        Raises
        ------
        ValueError
            If there is no such topic, the number of texts is not that of the documents, no document
            has a known word, or X is needed because ``partial_fit`` keeps no documents.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> model.representative_documents(data.counts, n=3).index.shape
        (6,)
        """
        check_is_fitted(self, "posterior_")
        return representative_documents(self, X, topic, n, texts, n_draws, prob)

    def effects(
        self,
        X: Any,
        design: Any,
        units: Any = None,
        *,
        times: Any = None,
        shares: str = "unbiased",
        n_draws: int = 50,
        prob: float = 0.9,
    ) -> TopicEffects:
        """Estimate the effects of covariates of documents on the shares of topics.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
            The training documents or others. Documents without a known word are left out.
        design : array-like, Series, DataFrame or dict
            Covariates, numeric or boolean, of shape (n_documents,) or (n_documents, n_terms). The
            columns of a DataFrame, or the keys of a dict of columns, name the terms. They must
            vary. A constant is added unless there is one: a column of ones that is called
            "intercept", "(intercept)", "const" or "constant", in upper or lower case, or is the
            first of an array without names.
        units : array-like of shape (n_documents,), optional
            What was sampled: speakers, authors, works; by default each document. Standard errors
            are then valid even if documents of one unit resemble each other.
        times : array-like of shape (n_documents,), optional
            Numbers or dates, where units may be autocorrelated in time: residuals of each topic are
            then modeled as `regress` models them. By default, units are treated as independent.
        shares : {"unbiased", "posterior"}, default="unbiased"
            What is regressed. ``"posterior"`` uses posterior draws of a document's shares, as stm's
            ``estimateEffect`` does. They are shrunk toward their prior mean, which does not know
            the covariates, and effects are too small by the same factor: slightly in long
            documents, by a tenth to a quarter in documents of fifteen words. ``"unbiased"`` uses
            posterior means that are corrected by what becomes of documents simulated from the fit
            (Buonaccorsi 2010, sect. 3): noisier for a document, but without that bias.
        n_draws : int, default=50
            Maximum number of draws of the topics for which the regression is run.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        TopicEffects
            A table; ``mean``, ``sd``, ``p_value`` (n_terms, n_topics), ``interval`` (n_terms,
            n_topics, 2), ``draws`` (n_draws, n_terms, n_topics).

        Raises
        ------
        ValueError
            If the fit has one topic only, whose share is always 1. If the design has another number
            of rows, missing or infinite entries, text, or columns that do not vary or depend
            linearly on others, if units are not one for each document, or fewer than two, or if
            ``times`` cannot be read, are the same for all units, or there are fewer units than two
            more than terms.

        Warns
        -----
        UserWarning
            If an effect has fewer than four degrees of freedom, or there are fewer than two units
            per term: do not rely on intervals and p-values.

        Notes
        -----
        Ordinary least squares for every draw of the topics, with the cluster-robust covariance CR2
        and Satterthwaite's degrees of freedom; variances within and between draws are added.
        Intervals are for the topics that ``fit`` found, and do not include that another corpus
        would have other topics. They include the uncertainty of the word vectors only with
        ``embedding_draws``. Topics whose shares have not mixed (R-hat above 1.1) are marked, and
        named below the table: use only their point estimates.

        Without ``times``, units are treated as independent. If consecutive units are alike,
        intervals are then too narrow. With ``times``, effects are those of generalized least
        squares, averaged over the probable correlations of each topic's residuals: see the Notes of
        `regress`. As topics differ in these, effects would not quite add up over the topics, to
        nothing, or to one for the constant: each is moved by its part of the difference, in
        proportion to its variance, and keeps its standard error.

        References
        ----------
        Roberts, Stewart & Tingley (2019). stm: An R Package for Structural Topic Models. Journal
        of Statistical Software 91(2).
        Pustejovsky & Tipton (2018). Small-Sample Methods for Cluster-Robust Variance Estimation.
        Journal of Business & Economic Statistics 36(4).

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> import numpy as np
        >>> table = model.fit(data.counts).effects(data.counts, {"year": np.arange(40)})
        >>> table.terms.tolist(), table.mean.shape
        (['(intercept)', 'year'], (2, 2))
        """
        check_is_fitted(self, "posterior_")
        return topic_effects(
            self, X, design, units, times=times, shares=shares, n_draws=n_draws, prob=prob
        )

    def to_pyldavis(self, X: Any = None, *, prepare: bool = False, **options: Any) -> Any:
        """Return the input of pyLDAvis.

        Parameters
        ----------
        X : documents or counts, as in ``fit``, optional
            The training documents by default. Empty ones are left out.
        prepare : bool, default=False
            Call ``pyLDAvis.prepare`` (needs pyLDAvis).
        **options
            Passed to ``pyLDAvis.prepare``.

        Returns
        -------
        dict or pyLDAvis.PreparedData
            The arguments of ``pyLDAvis.prepare``: ``topic_term_dists``, ``doc_topic_dists``,
            ``doc_lengths``, ``vocab`` and ``term_frequency``; and ``sort_topics=False`` and
            ``start_index=0``, so that topics have the numbers that they have here (pyLDAvis 3.3 or
            later). In its page 0 also stands for no topic, so its slider does nothing for topic 0;
            with ``start_index=1`` among the options it does, and topics are numbered from one.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> given = model.to_pyldavis(data.counts)
        >>> given["doc_topic_dists"].shape, given["start_index"]
        ((40, 2), 0)
        """
        check_is_fitted(self, "posterior_")
        check_bool("prepare", prepare)
        counts = self._documents(X, "X")
        counts = counts[np.asarray(counts.sum(axis=1)).ravel() > 0]
        fold = FoldIn(
            vocabulary_reading(self, counts),
            draws_of(self),
            self.word_proba,
            self.n_jobs,
        )
        data = {
            "topic_term_dists": self._word_proba(self.word_proba),
            "doc_topic_dists": topic_features(fold, False),
            "doc_lengths": np.asarray(counts.sum(axis=1)).ravel(),
            "vocab": self.words_.tolist(),
            "term_frequency": np.asarray(counts.sum(axis=0)).ravel(),
            # its own would number them from one, by size
            "sort_topics": False,
            "start_index": 0,
        }
        if not prepare:
            return data
        try:
            import pyLDAvis
        except ImportError as error:
            raise ImportError("prepare=True needs pyLDAvis: pip install pyLDAvis") from error
        return pyLDAvis.prepare(**data | options)

    def _documents(self, X, name):
        """Counts of the vocabulary's words in the documents given, or in those of training."""
        if X is not None:
            return known_counts(self, X)
        if self._training is None:
            raise ValueError(f"{name} must be given: partial_fit keeps no documents.")
        return self._training
