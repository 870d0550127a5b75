"""`DynamicSGNS`: the posterior of skip-gram embeddings that drift over time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .. import cost, spine
from ..common.compiling import told_of_compiling
from ..common.estimator import Learned, all_or_nothing
from ..corpus.units import name_of
from ..cost import Cost
from ..sgns.documents.source import tell_of_copies, warn_of_dispersion, warn_of_few_units
from ..sgns.vectors import UnitsMixin
from . import inputs
from .at import VectorsAtMixin
from .balance import balance_of
from .datatree import DataTreeMixin
from .documents.asked import seconds_of_question, sooner_question
from .documents.possible import why_not
from .documents.sampling import AtFit, DriftSampling
from .documents.source import source_of
from .of_documents import DynamicDocumentsMixin
from .priors import drift_prior
from .reading import DynamicReadingMixin
from .seen import Seen
from .solvers import ROOM
from .streaming import DynamicStreamingMixin

_TIMES = {"times": True}


class DynamicSGNS(
    DynamicReadingMixin,
    UnitsMixin,
    VectorsAtMixin,
    DataTreeMixin,
    DynamicDocumentsMixin,
    DynamicStreamingMixin,
    BaseEstimator,
):
    r"""Posterior of skip-gram embeddings that drift over time.

    Every word ``w`` has a target vector ``rho_wt`` and a context vector ``alpha_wt`` in each
    period t. A pair (w, v) of that period comes from the text rather than from noise with
    probability ``sigma(rho_wt . alpha_vt)``. Every component of every vector is a stationary
    process in elapsed time,

        x_1 ~ N(0, s),   x_{t+1} = a_t x_t + N(0, s (1 - a_t^2)),   a_t = exp(-D gap_t / (2 s)),

    with the variance ``s = 1 / prior_precision``, the ``diffusion`` D and the time ``gap_t``
    between the periods t and t + 1, from middle to middle: over a short time the step has the
    variance ``D gap_t`` of the random walk of Bamler & Mandt (2017).

    Parameters
    ----------
    n_components : int, default=50
        Dimension of the vectors. If words have few documents in a period, 10 to 20 give more stable
        answers.
    solver : {"vi", "gibbs", "hmc", "laplace", "map"}, default="vi"
        ``"vi"`` approximates the posterior by a Gaussian process for each word, as in the paper;
        ``"gibbs"`` and ``"hmc"`` sample it, ``"laplace"`` approximates it by the Gaussian at its
        mode, and ``"map"`` finds the mode. All but ``"vi"`` keep a table of all observed pairs of
        words; with ``negative_sampling="expected"`` these are all pairs of every period.
    n_periods : int or None, default=None
        Number of periods of equal length into which times are cut.
    bins : array-like or None, default=None
        Ends of the periods, one more than there are periods. A time equal to an end belongs to the
        later period, one equal to the last end to the last period. Without ``bins`` and
        ``n_periods``, times of documents must be integers or dates, and every integer or calendar
        year from the first to the last is a period; for a list of PairCounts, every different time.
    diffusion : float or "learned", default=1e-3
        Variance of a step of an entry of a vector per unit of time (a year for dates).
        ``"learned"`` gives it a prior (not with ``"map"`` and ``"laplace"``, whose joint mode is
        at vectors that do not move).
    hyperprior : (float, float) or None, default=None
        Shape and scale of the inverse-Gamma prior of a learned diffusion; None means (1, 1e-3).
    prior_precision : float, default=1.0
        Precision of every entry of every vector in every period.
    window : int, default=4
        Number of words on each side of a target that are its context. Not used for count matrices,
        where the context is the whole document.
    window_weights : {"linear", "dynamic", "uniform"}, default="linear"
        Weight of a context at distance d. ``"linear"``: ``(window - d + 1) / window``, the
        expectation of ``"dynamic"``, which is word2vec's random radius. ``"uniform"``: 1.
        With ``sample_weight``, and in intervals by units, ``"dynamic"`` is replaced by
        ``"linear"``.
    negative : float, default=1
        Number of negative observations per positive one.
    ns_exponent : float, default=0.75
        Exponent of the context frequencies of the period, from which negatives are drawn; from 0 to
        10.
    negative_sampling : {"expected", "sampled"}, default="expected"
        Expected counts, with an observation for every pair of words in every period
        (Bamler & Mandt 2017, supplement, eqs. 1-3), or sampled ones as in word2vec.
    min_count : int, default=5
        Words that occur less often, over all periods, are dropped.
    max_features : int or None, default=None
        Keep only the most frequent words.
    learning_method : {"batch", "filtering"}, default="batch"
        For ``"vi"``. ``"batch"`` fits all periods together. ``"filtering"`` learns them one after
        the other, as ``partial_fit`` does: the text of a period is read in the light of earlier
        periods only. Its vectors are then smoothed by later periods without reading its text again.
    uncertainty : {"documents", "model"}, default="documents"
        What intervals describe. It is read at every answer, so it may be changed after ``fit``.
        ``"documents"``: the sampling of the ``units`` given to ``fit`` (documents by default), and
        the prior. They are confidence intervals: of 100 samples of as many units, about 90
        (``prob=0.9``) give one that contains what very many units would give; the estimate of
        another sample is inside less often. ``"model"``: the posterior itself, for which every pair
        of words in every window is a separate observation. Intervals are the model's without
        documents (a single ``PairCounts`` in each period, filtering, ``partial_fit``, sampled
        negatives):
        ``posterior_.attrs["uncertainty"]`` says which they are, and
        ``posterior_.attrs["without_units"]`` why. ``posterior_`` and ``score`` are always the
        model's.
    pair_weights : {"token", "pairs"}, default="token"
        For count matrices. ``"token"`` counts every token once as a target: each pair of a document
        of N tokens has weight ``1 / (N - 1)``. ``"pairs"`` counts every pair 1, and thus a token
        as often as its document has other tokens.
    balance : bool, default=True
        Whether vectors are balanced when read: scaled so that ``rho' rho = alpha' alpha`` in the
        sum over periods, by one transformation for all periods. Each recorded draw has its own;
        draws of ``"vi"`` have that of the posterior means. The likelihood depends on
        ``rho_t alpha_t'`` only and leaves that scale to the prior, whose noise would otherwise be
        in cosines.
    target_accept : float, default=0.8
        Acceptance to which the step size of ``"hmc"`` is adapted.
    features : {"mean", "mean_std"}, default="mean"
        What ``transform`` returns: posterior means, or also their standard deviations.
    draws, warmup, chains, thin : int, default=1000, 500, 4, 1
        ``chains`` chains of ``warmup`` sweeps, then ``draws`` draws that are ``thin`` sweeps apart.
    keep_draws : {"auto", "all"} or list of words, default="auto"
        ``"auto"`` records all draws up to 1 GiB (128 MiB for ``"vi"``, whose answers draw anew from
        the approximation); beyond that, evenly spaced draws, and running means and variances over
        all. For a list of words, every draw of these words is also recorded, in
        ``posterior_.stats``.
    max_iter : int, default=2000
        Maximum number of gradients of ``"vi"``, or of iterations of the search for the mode.
    tol : float, default=1e-6
        Relative tolerance. The search for a mode ends when the largest entry of the gradient has
        fallen to this fraction of its initial value. ``"vi"`` ends when a sweep raises the bound by
        less than 100 times this fraction of it.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for documents given as strings.
    lowercase : bool, default=True
        Part of the analyzer, as in scikit-learn.
    stop_words : {"english"}, list of str or None, default=None
        Part of the analyzer.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Part of the analyzer.
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
        Number of threads. Chains run in parallel, or words if a chain is large.
    verbose : int, default=0
        1 shows the estimated cost of the fit (see `estimate_cost`), the progress of the chains and
        the time left for all of them. At any value, notes on the standard error stream say that
        numba is compiling, if that takes more than two seconds, and how far intervals by units
        have come, every half minute once they take longer than a minute.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of ``rho`` and ``alpha``, each (chain, draw, n_periods, n_words, n_components), and
        of a learned ``diffusion``.
    rho_, alpha_ : ndarray of shape (n_periods, n_words, n_components)
        Posterior means (the mode for ``solver="map"``) of target and context vectors, balanced
        unless ``balance=False``. All periods have the same frame, so vectors of different periods
        can be compared.
    n_units_ : ndarray of shape (n_words,)
        Effective number of units of sampling in which each word was a target, over all periods: the
        number of units if all have equally many of its pairs, one if a single unit has them all.
    dispersion_ : ndarray of shape (n_words,)
        Variance of a word's target vectors, given all contexts, by the units of sampling, divided
        by that of the model, averaged over periods. Above 1, the model's intervals are too narrow
        for text. NaN for words with fewer than two effective units. Computed at the mode when it is
        asked for; the warning of ``fit`` is about the fitted vectors.
    response_ : float
        As for `BayesianSGNS`, one number for all periods.
    words_ : ndarray of str of shape (n_words,)
        Words, most frequent first; for count matrices, in the order of the columns.
    vocabulary_ : dict
        Position of each word in ``words_``.
    periods_ : Periods
    units_name_ : str or None
        Name of the column of units (as of ``df["speaker"]``), used in sentences and tables; None
        if it has no name.
    observed_ : ndarray of shape (n_periods, n_words)
        Number of positive pairs of which each word was the target in each period. In texts, one use
        of a word makes as many as the weights of its window add up to: up to 5 (``window + 1``)
        with the default ``window=4`` and ``window_weights``, ``2 * window`` with ``"uniform"``, and
        fewer at the ends of documents. So 10 pairs are about two uses. In count matrices, a use
        makes one pair with ``pair_weights="token"``.
    n_iter_ : int
        Number of iterations of ``"vi"`` or of the search for the mode; 1 for samplers.
    approximation_ : object
        The Gaussian of ``"vi"`` and ``"laplace"``.
    elbo_ : ndarray of shape (n_rounds,)
        Bound on the log evidence after each round of gradient steps, for ``"vi"``.
    n_features_in_, feature_names_in_
        As in scikit-learn, if fitted to a count matrix.

    Raises
    ------
    ValueError
        For a parameter or input that is not allowed, before any work is done; if ``fit`` gets no
        times.
    MemoryError
        If the pairs or the draws would not fit in memory.

    See Also
    --------
    BayesianSGNS : One set of vectors for all times.
    skbayesembed.datasets.make_dynamic_sgns : Simulated pair counts of vectors that drift.

    Notes
    -----
    If ``times`` are not given to ``transform`` or ``score``, as in scikit-learn's searches unless
    metadata routing is enabled, features are averaged over periods, and predictive probabilities
    are mixtures over them, weighted by their shares of the observed training pairs.

    Times before and after the periods of ``fit`` belong to further periods, as wide as the first
    and the last. The prior gives their vectors, given those of the nearest period.

    A period without data, and a word in a period in which it was not seen, have the distribution
    that the prior gives them, given the periods around: wide intervals, not gaps.

    References
    ----------
    Bamler & Mandt (2017). Dynamic Word Embeddings, ICML. Giordano et al. (2019). A Swiss Army
    Infinitesimal Jackknife, AISTATS (intervals by units).

    Examples
    --------
    >>> from skbayesembed import DynamicSGNS
    >>> old, new = "the tape is in the deck", "the tape is on the box"
    >>> texts, years = [old, new] * 20, [1980, 1982] * 20
    >>> model = DynamicSGNS(1, solver="gibbs", diffusion=0.1, min_count=1, random_state=0)
    >>> model = model.set_params(draws=500, warmup=100, chains=2).fit(texts, times=years)
    >>> model.rho_.shape, model.periods_.labels
    ((3, 7, 1), [1980, 1981, 1982])
    >>> model.transform(["a tape", "a tape"], times=[1980, 1982]).shape
    (2, 1)
    >>> bool(0 <= model.drift("tape", 1980, 1982).mean <= 2)
    True
    """

    # scikit-learn's default requests: routed wherever they are passed
    __metadata_request__fit = {**_TIMES, "units": True}
    __metadata_request__partial_fit = _TIMES
    __metadata_request__transform = _TIMES
    __metadata_request__score = _TIMES

    _units_need = "a list of several PairCounts a period"
    # that a use of a word makes, at most
    _pairs_of_use: float | None = None
    _seen: Seen | None = None

    rho_ = Learned()
    alpha_ = Learned()
    _balanced = Learned()

    def __init__(
        self,
        n_components: int = 50,
        *,
        solver: str = "vi",
        n_periods: int | None = None,
        bins: ArrayLike | None = None,
        diffusion: float | str = 1e-3,
        hyperprior: tuple[float, float] | None = None,
        prior_precision: float = 1.0,
        window: int = 4,
        window_weights: str = "linear",
        negative: float = 1,
        ns_exponent: float = 0.75,
        negative_sampling: str = "expected",
        min_count: int = 5,
        max_features: int | None = None,
        learning_method: str = "batch",
        uncertainty: str = "documents",
        pair_weights: str = "token",
        balance: bool = True,
        target_accept: float = 0.8,
        features: str = "mean",
        draws: int = 1000,
        warmup: int = 500,
        chains: int = 4,
        thin: int = 1,
        keep_draws: str | Sequence[str] = "auto",
        max_iter: int = 2000,
        tol: float = 1e-6,
        analyzer: str | Callable = "word",
        lowercase: bool = True,
        stop_words: str | Sequence[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        feature_names: Sequence[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.n_periods = n_periods
        self.bins = bins
        self.diffusion = diffusion
        self.hyperprior = hyperprior
        self.prior_precision = prior_precision
        self.window = window
        self.window_weights = window_weights
        self.negative = negative
        self.ns_exponent = ns_exponent
        self.negative_sampling = negative_sampling
        self.min_count = min_count
        self.max_features = max_features
        self.learning_method = learning_method
        self.uncertainty = uncertainty
        self.pair_weights = pair_weights
        self.balance = balance
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
        y: Any = None,
        *,
        times: ArrayLike | None = None,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to dated text or counts.

        Parameters
        ----------
        X : list of str, list of lists of str, (n_documents, n_words) counts or list of PairCounts
            Documents as strings, token lists or a count matrix (sparse or dense); or existing pair
            counts, all of the same words, where those of one period are added up. Windows never
            cross the ends of documents.
        y : None
            Ignored, and not warned of: pipelines pass it. What texts are by belongs in ``units``.
        times : array-like of shape (n_documents,)
            Numbers or dates (also as ISO strings), in any order; one for each of a list of
            PairCounts. A period may have no documents.
        units : array-like of shape (n_documents,), optional
            Units of sampling, by which intervals are computed: a label for each document (speaker,
            author, work, country). A unit may have documents in several periods. By default every
            document is a unit, and so is each of a list of PairCounts if some period has two or
            more of them.
        sample_weight : array-like of shape (n_documents,), optional
            How often each document counts. ``min_count`` and ``max_features`` ignore the weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Without times, or if they make only one period; for ``units`` or ``sample_weight`` that
            are not one for each document, or for fewer than two units.

        Warns
        -----
        UserWarning
            With ``uncertainty="model"``, if some words have a ``dispersion_`` above 2; with
            ``"documents"``, if ``units`` are fewer than three.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, min_count=1, draws=20, random_state=0)
        >>> model.fit(texts, times=times).rho_.shape
        (2, 8, 2)
        """
        spine.check(self, ROOM)
        seeds = spine.seeds_of(self, ROOM)
        training = inputs.training_data(self, X, times, seeds["counts"], units, sample_weight)
        size = training.periods.n_periods * training.words.size**2
        work = size * float(self.n_components)
        cost.announce(
            self,
            ROOM,
            training,
            seeds,
            asked=seconds_of_question,
            advise=sooner_question,
            work=work,
        )
        found = spine.fit(self, ROOM, training, seeds)
        self._stream = None
        self._note(training, seeds["reading"])
        self._pairs_of_use = inputs.pairs_of_use(self, training)
        self._seen = Seen.of(training)
        self._count_seed, self.units_name_ = seeds["counts"], name_of(units)
        self._no_units, self._sampling = why_not(self, training), None
        self._set_fitted(found)
        if self._no_units is None:
            self._sampling = self._sampling_of(training, seeds)
            if units is not None:
                warn_of_few_units(self, training.units.n_units)
            by_period = np.argsort(training.index, kind="stable")
            tell_of_copies(self, training.sources, training.units, by_period)
            if self.uncertainty == "model":
                warn_of_dispersion(
                    SimpleNamespace(
                        _sampling=AtFit(self._sampling),
                        words_=self.words_,
                        units_name_=self.units_name_,
                    )
                )
        return self

    def _sampling_of(self, training, seeds):
        """What intervals need to know of how the text was sampled."""
        build = source_of(self, training, self.posterior_, seeds["counts"])
        arrays = {"rho": self.rho_, "alpha": self.alpha_}
        options = {"seed": seeds["units"], "n_jobs": self.n_jobs, "verbose": self.verbose}
        return DriftSampling(build, arrays, training.units.n_units, balance=self.balance, **options)

    @told_of_compiling
    def estimate_cost(
        self,
        X: Any,
        y: Any = None,
        *,
        times: ArrayLike | None = None,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Cost:
        """Estimate what ``fit`` would cost with these data on this machine, without fitting.

        All data are read and counted, and every part of a fit is run for a moment and scaled up:
        see `BayesianSGNS.estimate_cost` for the time and memory that this takes.

        Parameters
        ----------
        X, y, times, units, sample_weight
            As in ``fit``, with the same errors.

        Returns
        -------
        Cost
            A table of the parts, with ``seconds``, ``cpu_seconds`` and ``bytes`` of the whole.

        Examples
        --------
        >>> from skbayesembed import DynamicSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> times = [1900] * 15 + [1901] * 15
        >>> model = DynamicSGNS(2, min_count=1, draws=20, random_state=0)
        >>> model.estimate_cost(texts, times=times).solver
        'vi'
        """
        return cost.estimate(
            self,
            ROOM,
            lambda e, seeds: inputs.training_data(
                e, X, times, seeds["counts"], units, sample_weight
            ),
            asked=seconds_of_question,
            advise=sooner_question,
        )

    def _note(self, known, reading_seed):
        """Keep what the numbers of the posterior stand for.

        Parameters
        ----------
        known : inputs.Known
        reading_seed : numpy.random.SeedSequence
            For draws that are made when the posterior is read.
        """
        self.words_ = known.words
        self.vocabulary_ = known.vocabulary
        self.periods_ = known.periods
        self.observed_ = known.observed
        self._columns = known.columns
        self._prior = drift_prior(self, known.periods)
        self._shares = known.totals / max(known.totals.sum(), 1e-300)
        counts = getattr(known, "counts", None)
        self._negatives = None if counts is None else inputs.negatives_of(counts)
        self._reading_seed = reading_seed

    def _learned_from(self, posterior):
        self._note_uncertainty(posterior)
        if self.balance:
            rho, alpha, balance = balance_of(posterior)
        else:
            rho, alpha, balance = posterior.mean("rho"), posterior.mean("alpha"), None
        return {"rho_": rho, "alpha_": alpha, "_balanced": balance}


__all__ = ["DynamicSGNS"]
