"""`GaussianLDA`: topics as Gaussians over word vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import cost, spine
from ..common.checks import check_choice
from ..common.compiling import told_of_compiling
from ..common.estimator import DocumentFeaturesMixin, all_or_nothing, check_room
from ..corpus.copies import of_counts, warn_of_copies
from ..corpus.kinds import materialise
from ..corpus.known import warn_of_unknown
from ..cost import Cost
from ..inference.kinds import Kinds
from ..posterior.naming import given_names
from . import inputs
from .checks import WORD_PROBAS
from .datatree import DataTreeMixin
from .draws import draws_of
from .predict import FoldIn, topic_features
from .reading import TopicReadingMixin
from .scoring import ScoringMixin
from .solvers import ROOM
from .streaming import TopicStreamingMixin
from .theta import theta_draws

# What documents without a known word get.
_OF_PRIOR = "the prior mean of the shares"


class GaussianLDA(
    TopicStreamingMixin,
    TopicReadingMixin,
    ScoringMixin,
    DataTreeMixin,
    DocumentFeaturesMixin,
    BaseEstimator,
):
    r"""Posterior of topics over word vectors: Gaussians, or distributions over words.

    As in latent Dirichlet allocation, a document is a mixture of topics. Here a topic is a Gaussian
    in the space of word vectors instead of a list of word probabilities, so words never seen in
    training belong to topics as well if they have a vector (Das et al. 2015):

        theta_d ~ Dirichlet(alpha),   z ~ theta_d,   p(w | z = k) ~ N(v_w; mu_k, Sigma_k)^tau

    with normal-inverse-Wishart priors for the topics. In many dimensions, the likelihood of a
    single word outweighs all the rest of its document. Raising it to a ``likelihood_power`` tau
    below 1 lets the rest of the document matter.

    With ``word_model="dirichlet"`` a topic is a distribution over words, and vectors shape its
    prior (see Notes).

    Parameters
    ----------
    n_components : int, default=20
        Number of topics K.
    embedding : mapping, DataFrame, path, fitted estimator or array
        Word vectors: a dict or gensim's KeyedVectors; a pandas DataFrame with words as its index;
        the path of a file in word2vec's or GloVe's format, which is searched for the words needed,
        in ``fit`` and again in ``transform`` if there are new words (`io.load_vectors` reads it
        only once); a fitted `BayesianSGNS`, whose posterior means ``rho_`` are used (wrap it in
        scikit-learn's FrozenEstimator if this estimator is cloned); or, for count matrices, an
        array (or a DataFrame without words as its index) with a row for each column. All but the
        array are matched to a count matrix by its column names (x0, x1, ... without names).
    embedding_draws : int or None, default=None
        With a fitted `BayesianSGNS`, or ``vectors_at(period)`` of a `DynamicSGNS`: number of joint
        draws of the word vectors over which the posterior is averaged, so that all intervals
        include the uncertainty of the vectors. ``draws`` must be a multiple of it. It costs one
        warm-up, or ascent, for each draw of the vectors. None treats the posterior means as known.
    solver : {"gibbs", "vi", "hmc", "laplace", "map"}, default="gibbs"
        ``"gibbs"`` samples the posterior and ``"vi"`` approximates it by independent factors.
        ``"hmc"``, ``"laplace"`` and ``"map"``, for small data, sum over the topics of tokens.
    kernel : {"auto", "sampled", "alias", "reference"}, default="auto"
        How ``"gibbs"`` moves; all kernels are exact. ``"sampled"`` draws means and covariances and
        sums over theta. ``"alias"`` and ``"reference"`` sum over all three and update topics token
        by token: ``"alias"`` with proposals that are accepted or rejected, as in Das et al. (2015),
        ``"reference"`` from full conditionals. ``"auto"`` is ``"sampled"``, the fastest.
    normalize : {"unit", "center"} or None, default="unit"
        ``"center"`` subtracts the mean vector of the training words from all vectors; ``"unit"``
        also scales them to unit length. New vectors are centered with the training mean.
    likelihood_power : float in (0, 1] or "auto", default=1.0
        Power tau of the Gaussian likelihood of a word. At 1 this is the model of Das et al. Below 1
        the powered likelihood is not a density, and the other words of a document weigh more.
        ``"auto"`` tries 0.02, 0.05, 0.1, 0.2, 0.5 and 1, and takes the power that best predicts
        held-out halves of a fifth of the documents (1,000 at most).
    doc_topic_prior : "auto", float or array-like of shape (n_components,), default="auto"
        Dirichlet parameters alpha. ``"auto"`` is ``1 / n_components``, and 2 for a background.
    learn_doc_topic_prior : {False, "symmetric", "asymmetric"}, default=False
        Whether to learn alpha from the documents (Minka 2000), starting from ``doc_topic_prior``.
    mean_prior : array-like of shape (n_dims,) or None, default=None
        Prior mean of the topic means. None is the mean of the vectors over all tokens.
    mean_precision_prior : float or None, default=None
        kappa: mu_k ~ N(mean_prior, Sigma_k / kappa); None is 1.
    degrees_of_freedom_prior : float or None, default=None
        nu of the inverse Wishart prior of the covariances; None is ``n_dims + 2``.
    covariance_prior : array-like of shape (n_dims, n_dims), float or None, default=None
        Scale matrix Psi; a number stands for a multiple of the identity. With None, the prior mean
        of the covariances is the covariance of the vectors over all tokens, with a tenth of it made
        spherical.
    init : {"auto", "documents", "words"}, default="auto"
        Which k-means clusters the topics start from: clusters of documents, by the vectors of their
        words, or of word types. Word types are also used if fewer documents than topics have words.
        With Gaussians, minibatches start from word types: ``learning_method="online"`` refuses
        ``"documents"``, and ``partial_fit`` uses word types whatever ``init``. Posteriors of topics
        have many modes, and in a large corpus no solver leaves the one that it starts in.
        ``"auto"`` tries both. At power 1 it keeps the start from which a few variational sweeps
        reach the higher bound, as its mode holds more of the posterior. Below 1, where the
        likelihood is not a density, it keeps the start whose topics better predict held-out halves
        of documents. ``posterior_.attrs["init"]`` says which start was used. With
        ``word_model="dirichlet"``, ``"auto"`` is ``"documents"``.
    word_model : {"gaussian", "dirichlet"}, default="gaussian"
        What topics are. ``"gaussian"`` is the model of Das et al. With ``"dirichlet"``, topics are
        distributions over words, as in plain LDA, and the vectors shape their Dirichlet priors (see
        Notes); it predicts better and has more coherent topics. ``likelihood_power``, ``kernel``
        and the priors of Gaussians do not apply to it.
    background : bool, default=True
        For ``word_model="dirichlet"`` with two topics or more: let topic 0 take the words that all
        documents share. It has no vector, and a larger share in ``doc_topic_prior="auto"``.
        Gaussian topics have no background, whatever is given here.
    word_proba : {"count", "density"}, default="count"
        How ``components_``, ``transform`` and ``score`` compute the probabilities of words. With
        ``"count"`` they are a word's share of the topic's tokens, as in plain LDA; only words
        without training tokens get powered densities. With ``"density"`` all words get powered
        densities, normalized over the vocabulary. Words differ in more than their vectors, and
        counts reflect that: on 20 Newsgroups, counts predict documents better and separate the
        newsgroups better.
    learning_method : {"batch", "online"}, default="batch"
        For ``"vi"``: use all documents in every iteration, or minibatches.
    batch_size : int, default=128
        Number of documents in a minibatch, also in ``partial_fit``.
    learning_offset, learning_decay : float, default=10.0, 0.7
        Minibatch t has the weight ``(learning_offset + t) ** -learning_decay``.
    n_passes : int, default=5
        Number of passes over the documents with ``learning_method="online"``.
    features : {"mean", "mean_std"}, default="mean"
        What ``transform`` returns: posterior means of theta, or also their standard deviations.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for documents given as strings.
    lowercase : bool, default=True
        Part of the analyzer.
    stop_words : {"english"}, list of str or None, default=None
        Part of the analyzer.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Part of the analyzer.
    min_count : int, default=5
        Drop words that occur less often in training, also columns of count matrices. If they have
        vectors, ``transform`` finds their topics from densities. Scores of models with different
        ``min_count`` are for different words.
    max_features : int or None, default=None
        Train only on the most frequent words.
    feature_names : list of str or None, default=None
        Words of the columns if X is a count matrix. None uses the column names of a DataFrame.
    draws, warmup, chains : int, default=100, 200, 2
        Each of ``chains`` chains makes ``warmup`` sweeps, then records ``draws`` draws. All chains
        start from the same k-means clusters (with ``word_model="dirichlet"`` after ten sweeps of
        ``"vi"``), so their agreement says nothing about other modes.
    thin : int or "auto", default="auto"
        Number of sweeps from draw to draw. With ``"auto"``, chains of ``"gibbs"`` go on, so that
        draws are 2, 4, 8 or at most 16 sweeps apart, while the share of some topic has fewer than a
        tenth as many effective draws as there are draws. They end earlier where half of the R-hats
        exceed 1.5, since chains that are so far apart hardly come together, and in very large
        corpora. ``posterior_.attrs["thin"]`` is the distance used.
    keep_draws : {"auto", "all"}, default="auto"
        ``"auto"`` records evenly spaced draws up to 256 MiB.
    target_accept : float, default=0.8
        For ``"hmc"``: acceptance rate to which the step size is adapted.
    max_iter : int, default=500
        Maximum number of sweeps of ``"vi"``, or of iterations of the search for a mode.
    tol : float, default=1e-8
        Relative tolerance. The search for a mode ends when the largest entry of the gradient has
        fallen to this fraction of its value at the start. The ascent of the bound (``"vi"``) ends
        when a sweep raises it by less than 100 times this fraction.
    checkpoint : str, path-like or None, default=None
        Folder to which the state of the fit is written about every 30 seconds: chains with their
        draws, or the ascent of ``"vi"``. If the fit is interrupted in any way, the same call
        continues from there, with the same draws as a fit that was never interrupted. Files are
        named after a digest of data, parameters and seed, so that fits can share a folder. They are
        removed when their fit is done. Needs a ``random_state``.
    warm_start : bool, default=False
        Keep the files of ``checkpoint`` when the fit is done. A call with more ``draws``, and all
        else the same, then appends to the existing draws; the result is the same as asking for all
        of them at once.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same draws for every ``n_jobs`` and joblib backend.
    n_jobs : int or None, default=None
        Number of chains to run in parallel; in ``transform``, of documents.
    verbose : int, default=0
        With 1, show the expected cost of the fit (see `estimate_cost`), the progress of the chains
        and the time left for all of them. At any setting, a note on the standard error stream says
        if numba compiles for more than two seconds.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of ``mean`` (chain, draw, n_components, n_dims), ``covariance`` (..., n_components,
        n_dims, n_dims), ``counts`` (..., n_components, n_words), the number of tokens of each word
        in each topic, and ``alpha`` (..., n_components). Topics are aligned across draws and
        chains, the largest first. With ``word_model="dirichlet"``, instead of means and
        covariances: ``topic_vector`` (..., n_components, n_dims), ``word_level`` (..., n_words),
        ``concentration``, and with ``"gibbs"`` ``topic_scale`` and ``word_scale``; a background
        stays topic 0.
    components_ : ndarray of shape (n_components, n_words)
        Posterior means of the probabilities of words, computed as ``word_proba`` says.
    topic_means_ : ndarray of shape (n_components, n_dims)
        For Gaussian topics: posterior means of mu, in the coordinates of ``normalize``.
    topic_covariances_ : ndarray of shape (n_components, n_dims, n_dims)
        For Gaussian topics: posterior means of Sigma.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Dirichlet parameters; if they are learned, means of the estimates of the chains.
    likelihood_power_ : float
        As given or chosen.
    likelihood_power_scores_ : dict
        For ``likelihood_power="auto"``: the held-out score of each power that was tried.
    embedding_mean_ : ndarray of shape (n_dims,)
        Mean that ``normalize`` subtracts from every vector.
    words_ : ndarray of str of shape (n_words,)
        Most frequent first, except for count matrices, which keep their order.
    vocabulary_ : dict
        Maps each word to its index in ``words_``.
    vector_draws_ : ndarray of shape (embedding_draws, n_words, n_dims) or None
        With ``embedding_draws``, centered and scaled: draw ``i`` of each chain was made with
        vectors ``i % embedding_draws``.
    n_dropped_words_, n_dropped_tokens_ : int
        Number of training words without a vector, which are dropped, and of their occurrences.
    n_iter_ : int
        Sweeps of ``"vi"`` (if online, passes or, in ``partial_fit``, minibatches) or iterations of
        the search for a mode; 1 for samplers.
    approximation_ : object
        For ``"vi"`` and ``"laplace"``: the approximation, with ``mean``, a dict of arrays, and
        ``sample(n, rng)``, independent draws under the same names. Its topics are in the order of
        ``posterior_``.
    elbo_ : ndarray of shape (n_iter,)
        For ``"vi"``: the bound on the log evidence after every sweep; with
        ``word_model="dirichlet"`` on the log density of words and base measures together.
    n_features_in_, feature_names_in_
        As in scikit-learn, if fitted on a count matrix.

    Raises
    ------
    ValueError
        For a parameter or input that is not allowed, before any work: vectors that do not match
        the columns or are not finite, a column without a vector, more topics than words.
    MemoryError
        If the draws would not fit in memory.

    See Also
    --------
    skbayesembed.metrics.coherence : Coherence of the words of any topics.

    Notes
    -----
    ``word_model="dirichlet"`` has, with x the vectors, f the words' frequencies and eta the
    ``concentration``,

        phi_k ~ Dirichlet(eta softmax_v(x_v' t_k + s_v)),   w ~ phi_z,
        t_k ~ N(0, a^2 I),   s_v ~ N(log(f_v + 1/2) - m, c^2),   log eta ~ N(log n_words, 2^2),

    with m the mean of log(f_v + 1/2) over words, and inverse gamma priors of a^2 and c^2.
    ``"gibbs"`` sums over theta and phi, ``"vi"`` has Dirichlet factors of both; ``"hmc"``,
    ``"laplace"`` and ``"map"`` are refused.

    References
    ----------
    Das, Zaheer & Dyer (2015). Gaussian LDA for Topic Models with Word Embeddings. ACL.
    Ozaki & Kobayashi (2022). A Study on Stochastic Variational Inference for Topic Modeling with
    Word Embeddings. Computación y Sistemas 26(3).

    Examples
    --------
    >>> from skbayesembed import GaussianLDA
    >>> from skbayesembed.datasets import make_topics
    >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
    >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
    >>> model.fit_transform(data.counts).shape
    (40, 2)
    >>> model.components_.shape
    (2, 53)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        embedding: Any = None,
        embedding_draws: int | None = None,
        solver: str = "gibbs",
        kernel: str = "auto",
        normalize: str | None = "unit",
        likelihood_power: float | str = 1.0,
        doc_topic_prior: float | str | ArrayLike = "auto",
        learn_doc_topic_prior: bool | str = False,
        mean_prior: ArrayLike | None = None,
        mean_precision_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        init: str = "auto",
        word_model: str = "gaussian",
        background: bool = True,
        word_proba: str = "count",
        learning_method: str = "batch",
        batch_size: int = 128,
        learning_offset: float = 10.0,
        learning_decay: float = 0.7,
        n_passes: int = 5,
        features: str = "mean",
        analyzer: str | Callable = "word",
        lowercase: bool = True,
        stop_words: str | list | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        min_count: int = 5,
        max_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        draws: int = 100,
        warmup: int = 200,
        chains: int = 2,
        thin: int | str = "auto",
        keep_draws: str = "auto",
        target_accept: float = 0.8,
        max_iter: int = 500,
        tol: float = 1e-8,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.embedding = embedding
        self.embedding_draws = embedding_draws
        self.solver = solver
        self.kernel = kernel
        self.normalize = normalize
        self.likelihood_power = likelihood_power
        self.doc_topic_prior = doc_topic_prior
        self.learn_doc_topic_prior = learn_doc_topic_prior
        self.mean_prior = mean_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.init = init
        self.word_model = word_model
        self.background = background
        self.word_proba = word_proba
        self.learning_method = learning_method
        self.batch_size = batch_size
        self.learning_offset = learning_offset
        self.learning_decay = learning_decay
        self.n_passes = n_passes
        self.features = features
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.min_count = min_count
        self.max_features = max_features
        self.feature_names = feature_names
        self.draws = draws
        self.warmup = warmup
        self.chains = chains
        self.thin = thin
        self.keep_draws = keep_draws
        self.target_accept = target_accept
        self.max_iter = max_iter
        self.tol = tol
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @told_of_compiling
    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model: learn the posterior from documents.

        Parameters
        ----------
        X : list of str, list of lists of str or (n_documents, n_words) counts
            Documents as strings, as token lists, or as a count matrix (sparse, dense, DataFrame).
            Words without a vector are dropped, and those excluded by ``min_count`` and
            ``max_features``. A document may be empty.
        y : None
            Ignored.

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If more than half of the tokens have no vector, or counts are rounded.
        ConvergenceWarning
            If the chains have not mixed, or a topic has no tokens.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model.fit(data.counts).components_.shape
        (2, 53)
        """
        spine.check(self, ROOM)
        seeds = spine.seeds_of(self, ROOM)
        training = inputs.training_data(self, X)
        cost.announce(self, ROOM, training, seeds)
        found = spine.fit(self, ROOM, training, seeds)
        self._stream = None
        self._note(training, seeds["reading"])
        self._set_fitted(found)
        warn_of_copies(of_counts(training.counts), what="posteriors are too narrow")
        return self

    @told_of_compiling
    def estimate_cost(self, X: Any, y: Any = None) -> Cost:
        """Estimate the cost of ``fit`` with these data and settings on this machine.

        Reads and counts all data, then runs every part of a fit for a moment and extrapolates. This
        takes a few seconds, or more if there is much text or single steps are slow; on large text,
        up to a fifth of the estimated time. With ``embedding_draws``, draws of the vectors of an
        embedding that nobody has asked yet take its first question with intervals by units, which
        may take longer than the fit: it is not tried, and a line below the table says so.

        Parameters
        ----------
        X, y
            As in ``fit``; the same errors are raised. Within a pipeline, what the steps before
            return: with a `CountVectorizer` in front, raw texts would be read as other words.

        Returns
        -------
        Cost
            A table of the parts, with the totals ``seconds``, ``cpu_seconds`` and ``bytes``, of one
            fit.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model.estimate_cost(data.counts).solver
        'vi'
        """
        return cost.estimate(self, ROOM, lambda e, seeds: inputs.training_data(e, X))

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit to X, then return the shares of topics in its documents.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
            An iterator is read once.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_documents, n_components)

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model.fit_transform(data.counts).shape
        (40, 2)
        """
        X = materialise(X)
        return self.fit(X, y).transform(X)

    def transform(self, X: Any, embedding: Any = None) -> np.ndarray:
        """Return the shares of the topics in documents.

        Parameters
        ----------
        X : documents or counts, as in ``fit``
        embedding : mapping, DataFrame, path, fitted estimator or array, optional
            Word vectors, in the same space as those of training. For documents they take precedence
            over the training vectors, which stay available. For counts they belong to the columns
            of X, which may be other words than in training.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Posterior means of theta, averaged over evenly spaced draws of the topics; rows sum to
            one. With ``features="mean_std"`` there are twice as many columns: the means, then the
            posterior standard deviations. A document without a known word gets the prior mean.

        Warns
        -----
        UserWarning
            If there are documents without a known word; if words of X are new, and the file of
            ``embedding`` is not there to look them up.

        Notes
        -----
        Every word that has a vector counts, even if ``fit`` has not seen it or dropped it as rare.
        Given a draw of the topics, with word probabilities as ``word_proba`` says, the topics of a
        document's tokens are found by collapsed variational inference, which is deterministic. The
        standard deviations come from its linear response, including covariances between tokens.
        They are too large by a few per cent, or by up to a quarter if words are weak evidence of
        their topics.

        With a ``likelihood_power`` below 0.5 words are such weak evidence that this inference has
        too much of the largest share: of documents of 50 tokens and 20 topics by 0.1 on average at
        0.1, and standard deviations may be off by half. Shares are good features all the same. For
        their values use `sample_transform` or `document_topics`, whose means are those of draws.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> model = model.fit(data.counts)
        >>> bool(np.allclose(model.transform(data.counts).sum(axis=1), 1.0))
        True
        """
        check_is_fitted(self, "posterior_")
        check_choice("features", self.features, ("mean", "mean_std"))
        reading = inputs.reading(self, X, embedding)
        warn_of_unknown(reading.counts, _OF_PRIOR)
        return topic_features(self._fold(reading), self.features == "mean_std")

    def _sampled_features(self, X, n_draws, embedding=None):
        reading = inputs.reading(self, X, embedding)
        warn_of_unknown(reading.counts, _OF_PRIOR)
        check_room(n_draws, reading.counts.shape[0], self._n_means)
        return theta_draws(self, reading, n_draws)

    def _kinds(self, X, **given):
        """The topics by the documents of ``fit``, for comparisons of fits (`over_settings`)."""
        shares = topic_features(self._fold(inputs.reading(self, X, None)), False)
        return Kinds(shares.T, given_names(self.posterior_, "topic"), "topic", "documents")

    def _fold(self, reading, by=None, fold_in=FoldIn):
        check_choice("word_proba", self.word_proba, WORD_PROBAS)
        return fold_in(reading, draws_of(self), self.word_proba if by is None else by, self.n_jobs)

    @property
    def _n_means(self):
        return len(self.components_)


__all__ = ["GaussianLDA"]
