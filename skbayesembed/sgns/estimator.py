"""`BayesianSGNS`: the posterior of skip-gram-with-negative-samples embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .. import cost, spine
from ..common.compiling import told_of_compiling
from ..common.estimator import Learned, all_or_nothing
from ..corpus.units import name_of
from ..cost import Cost
from . import inputs
from .balance import BalancedDraws, balanced
from .counting import PairCounts
from .datatree import DataTreeMixin
from .documents.asked import seconds_of_question
from .documents.possible import why_not
from .documents.source import (
    balances,
    check_countable,
    sampling_of,
    tell_of_copies,
    warn_of_dispersion,
    warn_of_few_units,
)
from .drawn import VectorDrawsMixin
from .effects import MeaningMixin
from .of_documents import DocumentsMixin
from .pairs import context_totals
from .priors import GraphPrior, GroupedPrior, InformativePrior
from .reading import ReadingMixin
from .settle import ResolvingMixin, settle
from .solvers import ROOM
from .streaming import StreamingMixin
from .vectors import UnitsMixin

# Methods that need periods, which are looked for here.
_OF_DRIFT = ("drift", "most_changed", "self_similarity", "periods_")


def _find(estimator, training, seeds):
    """What ``"auto"`` stands for (`Settled`), and what was found with that (`spine.Fitted`)."""
    settled = settle(spine.plain(estimator), training)
    return settled, spine.fit(settled.estimator, ROOM, training, seeds)


def _work(estimator, training):
    """Multiplications for a gradient whose negative pairs are those of all words."""
    if estimator.negative_sampling == "sampled" or estimator.learning_method == "online":
        return 0.0
    return float(training.words.size) ** 2 * estimator.n_components


class BayesianSGNS(
    StreamingMixin,
    ReadingMixin,
    MeaningMixin,
    UnitsMixin,
    VectorDrawsMixin,
    DataTreeMixin,
    DocumentsMixin,
    ResolvingMixin,
    BaseEstimator,
):
    r"""Posterior of skip-gram embeddings with negative samples.

    Every word ``w`` has a target vector ``rho_w`` and a context vector ``alpha_w``. A pair (w, v)
    comes from the text (positive) rather than from noise (negative) with probability
    ``sigma(rho_w . alpha_v)``. The vectors have independent Gaussian priors with precision
    ``prior_precision``. By default, intervals describe the sampling of documents.

    Parameters
    ----------
    n_components : int, default=50
        Number of components (the dimension) of every word vector. For a few dozen documents, 10 to
        20 predict as well and give more stable answers.
    solver : {"auto", "gibbs", "hmc", "vi", "laplace", "map"}, default="auto"
        ``"gibbs"`` and ``"hmc"`` sample the posterior, ``"vi"`` and ``"laplace"`` approximate it
        by Gaussians, and ``"map"`` finds its mode. ``"auto"`` depends on sizes and parameters
        only. It is ``"vi"`` online and with biases, and otherwise ``"gibbs"`` if all sweeps of its
        chains, each of n_pairs K^2 operations, are 1e12 operations or fewer. Beyond that it is
        ``"map"`` for intervals by units, which need only the mode, and ``"vi"`` for others.
        ``solver_`` is the solver used, and `resolve` finds it in advance. Set the solver in a
        search, whose candidates should share it: `search.check_search` warns where they do not.
    kernel : {"auto", "metropolis", "polya-gamma"}, default="auto"
        How ``"gibbs"`` updates a word given the vectors of the opposite side; both ways are exact.
        ``"polya-gamma"`` draws auxiliary variables. ``"metropolis"`` proposes from a Gaussian
        approximation, corrected by Hamiltonian steps. Every 64th sweep is a Polya-Gamma sweep, and
        words that do not move in warm-up are updated by Polya-Gamma only. It was faster in
        every case measured (``benchmarks/gibbs.py``), so ``"auto"`` uses it.
    window : int, default=5
        Number of words on each side of a target that are its context. Not used for count matrices,
        where the context is the whole document.
    window_weights : {"linear", "dynamic", "uniform"}, default="linear"
        Weight of a context at distance d. ``"linear"``: ``(window - d + 1) / window``, the
        expectation of ``"dynamic"``, which is word2vec's random radius. ``"uniform"``: 1.
    negative : float, default=1
        Number of negative observations per positive one.
    ns_exponent : float, default=0.75
        Exponent of the context frequencies from which negatives are drawn, from 0 to 10.
    negative_sampling : {"expected", "sampled"}, default="expected"
        ``"expected"``: expected counts, with an observation for every pair of words (Bamler & Mandt
        2017, supplement eqs. 1-3). Time grows with the square of the vocabulary, and so does memory
        for ``"gibbs"``, and up to 10,000 words for ``"laplace"`` and intervals by units.
        ``"sampled"``: as in word2vec.
    subsample : float or None, default=None
        Threshold of word2vec's rule for dropping frequent words at random.
    min_count : int, default=5
        Words that occur less often are dropped.
    max_features : int or None, default=None
        Keep only the most frequent words.
    prior : {"normal", "ard"} or GraphPrior, GroupedPrior, InformativePrior, default="normal"
        ``"normal"``: spherical Gaussian. ``"ard"``: a learned precision for each component, so that
        components that are not needed switch off; not with ``"map"`` and ``"laplace"``.
    prior_precision : float, "auto" or "learned", default="auto"
        Precision lambda of the prior. ``"auto"``: the one whose mode best predicts a fifth of the
        units, which is held out (of the pairs, at random, if no documents are known); this costs
        up to three searches for a mode. Of little text each fifth is held out in turn, with as many
        searches each. If learning is online, it is 1. ``"learned"``: with the vectors (not with
        ``"map"`` and ``"laplace"``, whose joint mode is at zero). Not used by ``prior="ard"``.
    hyperprior : (float, float) or None, default=None
        Shape and rate of the Gamma hyperprior of learned precisions. None means (1e-3, 1e-3) for
        ``prior="ard"``, where a tighter one keeps components from switching off, and (1, 1) for
        ``prior_precision="learned"``.
    anchors : None, {"pivot", "last"} or array of words, default=None
        None holds nothing fixed: the posterior is sampled as it is, and every draw is rotated to a
        common frame. Otherwise, the context vectors held at their MAP values so that the posterior
        has no free rotation: chosen by column-pivoted QR of the MAP contexts, the last
        ``n_components``, or those named. Intervals of pairs of these contexts then cover a little
        less. If the rank of the MAP contexts is too low, there are no anchors, with a warning.
        ``"vi"``, a learned precision and an informative prior never use anchors.
    covariance : {"full", "diag"}, default="full"
        Form of the ``"vi"`` approximation: a covariance matrix for every word, or variances. For
        more than a few thousand words, variances take a small fraction of the time.
    biases : bool, default=False
        Whether ``"vi"`` adds biases of target and context words to the logit, with the prior of the
        vectors. Other solvers have none.
    learning_method : {"batch", "online"}, default="batch"
        How ``"vi"`` reads the data: all in every iteration, or in minibatches of documents, for
        which ``negative_sampling="sampled"`` is far cheaper.
    uncertainty : {"documents", "model"}, default="documents"
        What intervals describe. It is read at every answer, so it may be changed after ``fit``.
        ``"documents"``: the sampling of the ``units`` given to ``fit`` (documents by default), and
        the prior, whatever window and weights make of a text's pairs. They are confidence
        intervals: of 100 samples of as many units, about 90 (``prob=0.9``) give one that contains
        what very many units would give; the estimate of another sample is inside less often.
        ``"model"``: the posterior itself, for which every pair of words in every window is a
        separate observation. Intervals are the model's without documents (a single ``PairCounts``,
        online learning, sampled negatives) and with biases or ``prior="ard"``; after ``fit``,
        ``posterior_.attrs["uncertainty"]`` says which they are. ``posterior_``, ``score`` and
        ``loo`` are always the model's.
    by_answer : bool or "auto", default="auto"
        Whether intervals by units are computed one by one, each by a linear system: a minute of
        processor time for 10,000 words, hours for 100,000. Otherwise the first question computes
        what all answers share, which takes as long as some 20 answers of 10,000 words.
        ``"auto"``: one by one if ``rho_`` has more than 2,000,000 entries, or if the rest would
        not fit in memory. It is read at every answer, so it may be changed after ``fit``; once
        what all answers share is known, it has no effect. Intervals have the same meaning. One by
        one ``dispersion_`` is NaN, ``response_`` is taken as 1 (from 10,000 words on refits tell of
        an answer's soft directions), ranks among all words have no probability, and features of
        documents no standard deviation. Not for a list of ``PairCounts``.
    pair_weights : {"token", "pairs"}, default="token"
        For count matrices. ``"token"`` counts every token once as a target: each pair of a document
        of N tokens has weight ``1 / (N - 1)``. ``"pairs"`` counts every pair 1, and thus a token
        as often as its document has other tokens.
    balance : bool, default=True
        Whether vectors are balanced when read: scaled so that ``rho' rho = alpha' alpha`` in every
        draw. The likelihood depends on ``rho alpha'`` only and leaves that scale to the prior,
        whose noise would otherwise be in cosines. Not with an `InformativePrior`.
    batch_size : int, default=128
        Number of documents in a minibatch, also for ``partial_fit``.
    n_passes : int, default=5
        How often ``learning_method="online"`` reads the data.
    target_accept : float, default=0.8
        Mean acceptance to which the step size of ``"hmc"`` is adapted.
    features : {"mean", "mean_std"}, default="mean"
        What ``transform`` returns: posterior means, or also their standard deviations, which are
        zero where there is one point alone (``"map"`` without units).
    draws, warmup, chains, thin : int, default=1000, 500, 4, 1
        ``chains`` chains of ``warmup`` sweeps, then ``draws`` draws that are ``thin`` sweeps apart.
    keep_draws : {"auto", "all"} or list of words, default="auto"
        ``"auto"`` records all draws up to 1 GiB, or 200 up to 4 GiB; beyond that, evenly spaced
        draws, and running means and covariances over all. For a list of words, every draw of these
        words is also recorded, in ``posterior_.stats``.
    max_iter : int, default=2000
        Maximum number of iterations of the search for the mode, or of sweeps of ``"vi"``.
    tol : float, default=1e-8
        Relative tolerance. The search for a mode ends when ten iterations raise the log density by
        less than 0.15 times this fraction of it, or when the largest entry of the gradient has
        fallen to this fraction of its initial value. ``"vi"`` ends when a sweep raises the bound by
        less than 100 times this fraction of it (10 times for ``prior="ard"``, whose components
        switch off slowly; 20 times where a sweep is as many steps along the gradient).
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for documents given as strings.
    lowercase : bool, default=True
        Whether documents given as strings are lowercased.
    stop_words : {"english"}, list of str or None, default=None
        Words that the analyzer leaves out, as in scikit-learn.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Regular expression of a token, as in scikit-learn.
    feature_names : list of str or None, default=None
        Words of the columns if X is a count matrix.
    checkpoint : str, path-like or None, default=None
        Folder to which the state of the fit (chains with their draws, the ascent of ``"vi"``) is
        written about every 30 seconds. If the fit is interrupted in any way, the same call resumes
        it, and the draws are those of an uninterrupted fit. File names are digests of data,
        parameters and seed, so fits can share a folder; files are removed when their fit is done.
        Needs a ``random_state``.
    warm_start : bool, default=False
        Whether files of ``checkpoint`` stay when the fit is done. A call with more ``draws``, and
        all else the same, then appends to the existing draws: the result is that of a fit that was
        asked for all of them at once.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same draws for every ``n_jobs`` and joblib backend.
    n_jobs : int or None, default=None
        Number of threads. Chains run in parallel, or blocks of words where a chain is large.
    verbose : int, default=0
        1 shows the estimated cost of the fit (see `estimate_cost`), the progress of the chains and
        the time left for all of them. At any value, a note on the standard error stream says that
        numba is compiling if that takes more than two seconds.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of ``rho`` and ``alpha``, each (chain, draw, n_words, n_components).
    rho_, alpha_ : ndarray of shape (n_words, n_components)
        Posterior means (the mode for ``solver="map"``) of target and context vectors, balanced
        unless ``balance=False``.
    solver_ : str
        Solver used; ``posterior_.attrs["solver_reason"]`` says why ``"auto"`` chose it.
    prior_precision_ : float
        Precision, given or chosen. Absent if it is learned: its draws are then in ``posterior_``.
    n_units_ : ndarray of shape (n_words,)
        Effective number of units of sampling in which each word was a target: the number of units
        if all have equally many of its pairs, one if a single unit has them all.
    dispersion_ : ndarray of shape (n_words,)
        Variance of a word's target vector, given all contexts, by the units of sampling, divided
        by that of the model. Above 1, the model's intervals are too narrow for text. NaN for words
        with fewer than two effective units.
    response_ : float
        Median ratio of the standard errors by units to those of first order, as refits of halves of
        the units move by that much less: near 1 if the text supports all components, smaller if
        there are too many. Computed when it, or an interval, is asked for.
    words_ : ndarray of str of shape (n_words,)
        Words, most frequent first; for count matrices, in the order of the columns.
    vocabulary_ : dict of str to int
        Row of each word in ``rho_``.
    units_name_ : str or None
        Name of the column of units (as of ``df["speaker"]``), used in sentences and tables; None
        if it has no name.
    observed_ : ndarray of shape (n_words,) or None
        Number of positive pairs of which each word was the target; None if learned online.
    anchors_ : ndarray of int of shape (n_components,) or None
        Rows of the contexts that were held fixed, if any.
    n_iter_ : int
        Number of iterations of the search for the mode. For ``"vi"``, the number of sweeps; of
        passes over the data if learned online; or of batches of ``partial_fit``.
    approximation_ : object
        Gaussian from which ``"vi"`` and ``"laplace"`` draw, with ``mean``,
        ``covariance(name, words)`` and ``sample(n, rng)``.
    elbo_ : ndarray of shape (n_iter,)
        Bound on the log evidence after every sweep of ``"vi"``; empty if learned online.
    n_features_in_, feature_names_in_
        As in scikit-learn, if fitted to a count matrix.

    Raises
    ------
    ValueError
        For a parameter or input that is not allowed, before any work is done.
    MemoryError
        If the pair table or the draws would not fit in memory.

    See Also
    --------
    PairCounts : Pair counts made elsewhere, accepted by ``fit`` and ``score``.
    count_pairs : Pair counts of texts that do not fit in memory, or from several machines.

    References
    ----------
    Yrjänäinen, Boström, Magnusson & Jonasson (2025). Posterior Sampling of Probabilistic Word
    Embeddings. Bamler & Mandt (2017). Dynamic Word Embeddings, ICML. Giordano et al. (2019). A
    Swiss Army Infinitesimal Jackknife, AISTATS (intervals by units).

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 20
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    >>> model.fit(texts).transform(texts).shape
    (40, 2)
    >>> bool(0 <= model.cooccurrence_proba([("cat", "sat")]).mean[0] <= 1)
    True
    """

    # scikit-learn's default request: routed wherever they are passed
    __metadata_request__fit = {"units": True}

    _units_need = "a list of PairCounts"

    anchors_ = Learned()
    prior_precision_ = Learned()
    rho_ = Learned()
    alpha_ = Learned()
    _balanced = Learned()

    def __init__(
        self,
        n_components: int = 50,
        *,
        solver: str = "auto",
        kernel: str = "auto",
        window: int = 5,
        window_weights: str = "linear",
        negative: float = 1,
        ns_exponent: float = 0.75,
        negative_sampling: str = "expected",
        subsample: float | None = None,
        min_count: int = 5,
        max_features: int | None = None,
        prior: str | GraphPrior | GroupedPrior | InformativePrior = "normal",
        prior_precision: float | str = "auto",
        hyperprior: tuple[float, float] | None = None,
        anchors: str | ArrayLike | None = None,
        covariance: str = "full",
        biases: bool = False,
        learning_method: str = "batch",
        uncertainty: str = "documents",
        by_answer: bool | str = "auto",
        pair_weights: str = "token",
        balance: bool = True,
        batch_size: int = 128,
        n_passes: int = 5,
        target_accept: float = 0.8,
        features: str = "mean",
        draws: int = 1000,
        warmup: int = 500,
        chains: int = 4,
        thin: int = 1,
        keep_draws: str | list[str] = "auto",
        max_iter: int = 2000,
        tol: float = 1e-8,
        analyzer: str | Callable = "word",
        lowercase: bool = True,
        stop_words: str | list[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        feature_names: list[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.kernel = kernel
        self.window = window
        self.window_weights = window_weights
        self.negative = negative
        self.ns_exponent = ns_exponent
        self.negative_sampling = negative_sampling
        self.subsample = subsample
        self.min_count = min_count
        self.max_features = max_features
        self.prior = prior
        self.prior_precision = prior_precision
        self.hyperprior = hyperprior
        self.anchors = anchors
        self.covariance = covariance
        self.biases = biases
        self.learning_method = learning_method
        self.uncertainty = uncertainty
        self.by_answer = by_answer
        self.pair_weights = pair_weights
        self.balance = balance
        self.batch_size = batch_size
        self.n_passes = n_passes
        self.target_accept = target_accept
        self.features = features
        self.draws = draws
        self.warmup = warmup
        self.chains = chains
        self.thin = thin
        self.keep_draws = keep_draws
        self.max_iter = max_iter
        self.tol = tol
        self.analyzer = analyzer
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.feature_names = feature_names
        self.checkpoint = checkpoint
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @told_of_compiling
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to text or counts.

        Parameters
        ----------
        X : list of str, lists of str, (n_documents, n_words) counts, PairCounts or PairShard
            Documents as strings, token lists or a count matrix (sparse or dense); or existing pair
            counts: a list with one for each unit, a single one, or what `count_pairs` has counted
            of all parts of a text, whose ``window`` and vocabulary then apply. Windows never cross
            the ends of documents.
        y : None
            Ignored, and not warned of: pipelines pass it. What texts are by belongs in ``units``.
        units : array-like of shape (n_documents,), optional
            Units of sampling, by which intervals are computed: a label for each document (speaker,
            author, work, country). By default every document is a unit.
        sample_weight : array-like of shape (n_documents,), optional
            How often each document counts. ``min_count`` and ``max_features`` ignore the weights;
            ``window_weights="dynamic"`` is replaced by its expectation, ``"linear"``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For parameters or data that are not allowed, for ``units`` or ``sample_weight`` that
            are not one for each document, or for fewer than two units.

        Warns
        -----
        UserWarning
            With ``uncertainty="model"``, if some words have a ``dispersion_`` above 2; with
            ``"documents"``, if ``units`` are fewer than three. With a `PairShard`, if ``window``,
            ``window_weights``, ``min_count`` or ``max_features`` is neither the default nor what it
            was counted with.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.rho_.shape
        (9, 2)
        """
        spine.check(self, ROOM)
        seeds = spine.seeds_of(self, ROOM)
        training = self._counted(X, seeds, units, sample_weight)
        work = _work(self, training)
        cost.announce(self, ROOM, training, seeds, _find, seconds_of_question, work)
        settled, found = _find(self, training, seeds)
        found.posterior.attrs.update(settled.facts)
        of_number = not isinstance(settled.estimator.prior_precision, str)
        if of_number and not (isinstance(self.prior, str) and self.prior == "ard"):
            found.learned["prior_precision_"] = settled.estimator.prior_precision
        self._stream = None
        self._note(training)
        self._count_seed, self.units_name_ = seeds["counts"], name_of(units)
        self._no_units = why_not(self, training)
        self._sampling = None
        if self._no_units is None:
            of = settled.estimator
            self._sampling = sampling_of(of, training, found.posterior, seeds["units"])
            if units is not None:
                warn_of_few_units(self, training.units.n_units)
            pairs = training.by_document
            tell_of_copies(self, [getattr(pairs, "source", None)], training.units)
        self._set_fitted(found)
        if self.uncertainty == "model" and self._sampling is not None:
            warn_of_dispersion(self)
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _OF_DRIFT:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}: its vectors are those "
                "of the whole text. DynamicSGNS, whose fit takes times=, has it."
            )
        # raises what the first look did
        return object.__getattribute__(self, name)

    @told_of_compiling
    def estimate_cost(
        self,
        X: Any,
        y: None = None,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Cost:
        """Estimate what ``fit`` would cost with these data on this machine, without fitting.

        All data are read and counted, and every part of a fit is run for a moment and scaled up.
        This takes seconds on small data. With millions of tokens it takes as long as counting them
        and a few steps of each part: minutes if a step takes many seconds, and up to a fifth of
        the estimate. The memory that the first question with intervals by units needs is computed
        before the question is tried: if it would not fit, it is not tried, and ``no_room`` says so.

        Parameters
        ----------
        X, y, units, sample_weight
            As in ``fit``, with the same errors.

        Returns
        -------
        Cost
            A table of the parts, with ``seconds``, ``cpu_seconds`` and ``bytes`` of the whole.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> cost = BayesianSGNS(2, solver="map", min_count=1, random_state=0).estimate_cost(texts)
        >>> cost.cpu_seconds > 0
        True
        """
        return cost.estimate(
            self,
            ROOM,
            lambda e, seeds: e._counted(X, seeds, units, sample_weight),
            _find,
            seconds_of_question,
        )

    def _counted(self, X, seeds, units, sample_weight):
        training = inputs.training_data(self, X, seeds["counts"], units, sample_weight)
        check_countable(self, training)
        return training

    def _note(self, training):
        """Keep what later input is read by."""
        self.words_ = training.words
        self.vocabulary_ = training.vocabulary
        counts = training.counts
        self.observed_ = None if counts is None else np.ravel(counts.positive.sum(axis=1))
        self._negatives = None if counts is None else context_totals(counts.negative)
        self._columns = training.columns

    def _learned_from(self, posterior):
        self._note_uncertainty(posterior)
        found = [posterior.mean(name) for name in ("rho", "alpha")]
        draws = None
        if balances(self):
            found = balanced(found)
            draws = BalancedDraws(posterior, found)
        return {"rho_": found[0], "alpha_": found[1], "_balanced": draws}


__all__ = ["BayesianSGNS", "PairCounts"]
