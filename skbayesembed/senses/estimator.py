"""`DiSCSenseModel`: the posterior of the senses of a word over time and genre."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .. import cost, spine
from ..common.compiling import told_of_compiling
from ..common.estimator import (
    DocumentTransformerMixin,
    FittedMixin,
    Learned,
    all_or_nothing,
)
from ..corpus.units import name_of
from ..cost import Cost
from ..posterior.sources import is_unmixed, source_of_posterior
from . import inputs
from .labels import note_all_known
from .loo import ComparisonMixin
from .predicting import PredictionMixin
from .priors import SensePrior
from .reading import SenseReadingMixin
from .solvers import ROOM
from .verdicts import told_of

_COVARIATES = {"times": True, "genres": True, "units": True}


class DiSCSenseModel(
    FittedMixin,
    PredictionMixin,
    SenseReadingMixin,
    ComparisonMixin,
    DocumentTransformerMixin,
    BaseEstimator,
):
    r"""Posterior of the senses of one word over time and genre.

    A snippet is the words around one use of the word, and has one sense z. The prevalences of the
    senses depend on genre g and period t. The probabilities of words depend on sense k and period
    t:

        p(z = k) = softmax_k(phi[g, t]),   p(word v | z = k) = softmax_v(psi[k, t])

    In ``model="disc"`` (Zafar & Nicholls 2022) ``psi[k, t] = chi[k] + theta[t]``, with Gaussian
    autoregressions over periods as priors.

    Parameters
    ----------
    n_senses : int, default=2
        Number of senses K.
    model : {"disc", "gasc", "scan", "interaction", "edisc"}, default="disc"
        ``"gasc"``: under each sense, the logit of every word follows a random walk over periods.
        ``"scan"``: the same with one genre; genres that are given are merged. ``"interaction"``:
        DiSC plus deviations for each sense and period, which are shrunk toward zero. ``"edisc"``:
        DiSC with word vectors from ``embedding``, so that similar words behave similarly under a
        sense (see Notes).
    embedding : mapping, DataFrame, path, fitted estimator, array or None, default=None
        Word vectors, for ``model="edisc"`` only: a dict or gensim's KeyedVectors; a pandas
        DataFrame with words as its index; the path of a file in word2vec's or GloVe's format; a
        fitted `BayesianSGNS`, whose posterior means ``rho_`` are used (wrap it in scikit-learn's
        FrozenEstimator if this estimator is cloned); or, for count matrices, an array (or a
        DataFrame without words as its index) with a row for each column. All but the array are
        matched to a count matrix by its column names (x0, x1, ... without names). Words without a
        vector are kept (see Notes).
    embedding_draws : int or None, default=None
        For ``model="edisc"`` with a fitted `BayesianSGNS`, or ``vectors_at(period)`` of a
        `DynamicSGNS`: number of joint draws of the word vectors over which the posterior is
        averaged, so that all intervals include the uncertainty of the vectors. ``draws`` must be a
        multiple of it. It costs one warm-up for each draw of the vectors, plus the first question
        of the embedding if its ``uncertainty`` is ``"documents"`` (see its ``estimate_cost``).
        Modes are searched for only once. None treats the posterior means as known.
    solver : {"hmc", "gibbs", "vi", "laplace", "map"}, default="hmc"
        ``"hmc"`` sums over the senses of snippets (eq. 9) and ``"gibbs"`` draws them (not for
        ``model="interaction"`` and ``"edisc"``); both sample the posterior. ``"vi"`` approximates
        it by independent Gaussians around its heaviest mode, ``"laplace"`` by the Gaussian at the
        point of highest density there. ``"map"`` finds a mode.
    kernel : str, default="auto"
        How the samplers move. With ``"hmc"``: ``"hmc"`` (used by ``"auto"``) follows trajectories
        of about one length, in coordinates in which the mode is round; ``"nuts"`` is the No-U-Turn
        sampler in the same coordinates; ``"blockwise"`` is the sampler of the paper, which mixes
        MALA and HMC moves of blocks of logits (not for ``model="interaction"`` and ``"edisc"``).
        With ``"gibbs"``: ``"metropolis"`` (used by ``"auto"``) proposes all logits of a word at
        once from the Gaussian of a Newton step; ``"polya-gamma"`` and ``"uniform"`` draw them with
        auxiliary variables (Appendix B); ``"approximate"`` (Chen et al. 2013) is not exact.
    n_periods : int or None, default=None
        Cut the times into this many periods of equal length.
    bins : array-like or None, default=None
        Edges of the periods, one more than there are periods. A time equal to an edge belongs to
        the later period, and one equal to the last edge to the last period. With neither ``bins``
        nor ``n_periods``, times are integers or dates, and each integer or calendar year from the
        first to the last is a period; ``fit`` warns if ten years or more, and a quarter of
        all, have no snippets.
    prior : SensePrior or None, default=None
        How large the logits of prevalences and of words are a priori, and how fast they change over
        periods. None is ``SensePrior()``, whose defaults are the paper's values; with ``units``,
        the variance of the steps of prevalences is learned.
    likelihood_power : float in (0, 1] or "auto", default=1.0
        Power of the likelihood of the snippets in the posterior. Below 1, snippets count for less
        than as many independent ones, and intervals widen (Zafar & Nicholls 2024). This suits words
        of a snippet that depend on each other, and snippets from few units. Given the parameters,
        the probabilities of senses and of words do not depend on it. Not below 1 with
        ``solver="gibbs"`` and ``kernel="blockwise"``. ``"auto"`` tries 0.02, 0.05, 0.1, 0.2, 0.5
        and 1, and takes the power under which a held-out fifth of the ``units`` (of the snippets,
        if units are not known) is most probable. It runs one chain for each power, from the
        heaviest mode that four starts find.
    n_starts : int or "auto", default="auto"
        Number of annealed starts that search for modes of the posterior. Chains and approximations
        then start from the heaviest mode. ``"auto"`` makes 24, and 24 more at a time up to 96,
        until the densest mode was found twice and fewer than 5 % of the starts ended in a mode that
        no other start found (about the probability that another start finds a new mode; Good 1953).
        With 24 starts or more, two senses also exchange their snippets, from some period on or
        within one, beginning at the densest starts and at the heaviest mode, for as long as this
        leads to denser modes; with three senses or more, two are also merged and one is split,
        beginning at the heaviest mode, until three rounds of tries from it find no heavier one
        (``fit`` warns if that does not come about). With more than 10,000 snippets, nothing begins
        at the heaviest mode: senses are not merged and split, and if all starts of three senses or
        more end in one mode, ``fit`` notes that a heavier one may be missed. For ``"map"``: number
        of searches, of which the best is taken; ``"auto"`` is 24.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for snippets given as strings.
    lowercase : bool, default=True
        Part of the analyzer.
    stop_words : {"english"}, list of str or None, default=None
        Part of the analyzer.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Part of the analyzer.
    min_count : int, default=1
        Drop words that occur less often. With 1, all columns of a count matrix stay, even empty
        ones, so that folds of the data have the same words.
    max_features : int or None, default=None
        Keep only the most frequent words.
    feature_names : list of str or None, default=None
        Words of the columns if X is a count matrix. None uses the column names of a DataFrame.
    draws, warmup, chains : int, default=1000, 200, 4
        Each of ``chains`` chains makes ``warmup`` transitions that are discarded, and then records
        ``draws`` draws.
    thin : int or "auto", default="auto"
        Transitions from draw to draw. ``"auto"`` begins with 2, and makes chains twice as long,
        with draws twice as far apart, up to 8, while a prevalence has fewer effective draws than a
        tenth of all (and the largest R-hat is at most 1.1, above which longer chains seldom help).
        ``posterior_.attrs["thin"]`` is what was taken.
    keep_draws : {"auto", "all"}, default="auto"
        ``"auto"`` records all draws up to 1 GiB; beyond that, evenly spaced draws, and running
        means over all.
    target_accept : float or None, default=None
        For ``"hmc"``: mean acceptance rate to which the step size is adapted, between 0 and 1. None
        is 0.65 for ``model="disc"`` and ``"edisc"`` without ``units``, 0.8 with them, for other
        models and for ``kernel="nuts"``. ``kernel="blockwise"`` has its own targets.
    max_iter : int, default=1000
        Maximum number of iterations of ``"map"``, ``"laplace"`` and ``"vi"``.
    tol : float, default=1e-8
        Relative tolerance of ``"map"`` and ``"laplace"``: the search for a mode ends when the
        largest entry of the gradient has fallen to this fraction of its value at the start. It has
        no part in ``"vi"``, whose bound is noisy: the ascent ends when 100 iterations have raised
        the bound by less than two standard errors.
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
        Chains run in parallel.
    verbose : int, default=0
        With 1, show the expected cost of the fit (see `estimate_cost`), when a search adds starts,
        the modes that were found, the progress of the chains and the time left for all of them. At
        any setting, a note on the standard error stream says if numba compiles for more than two
        seconds.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of ``prevalence`` (chain, draw, n_genres, n_periods, n_senses) and of the logits of
        words: ``chi`` (..., n_senses, n_words) and ``theta`` (..., n_periods, n_words), or ``psi``
        (..., n_senses, n_periods, n_words). For ``model="edisc"``: ``chi`` (..., n_senses, n_dims),
        ``theta`` (..., n_periods, n_dims) and ``sigma`` (..., n_words). Senses are aligned across
        draws and chains. If ``fit`` was given units, also ``phi`` (..., n_genres, n_periods,
        n_senses), the prevalence logits, ``unit_effects`` (..., n_units, n_senses), what each unit
        adds to them, and ``unit_sd`` (...), the standard deviation of ``unit_effects``.
    prevalence_ : ndarray of shape (n_senses, n_genres, n_periods)
        Posterior means of prevalences. If ``fit`` was given units, they are means over the
        population of units.
    words_ : ndarray of str of shape (n_words,)
        Most frequent first, except for count matrices, which keep their order.
    vocabulary_ : dict
        Maps each word to its index in ``words_``.
    periods_ : Periods
        The periods; a single one if ``fit`` got no times.
    genres_ : ndarray of shape (n_genres,) or None
        Labels of the genres; None if ``fit`` got none, or merged them.
    units_ : ndarray of shape (n_units,) or None
        Labels of the units; None if ``fit`` got none.
    units_name_ : str or None
        Name of the column of units (such as that of ``df["speaker"]``), used in sentences and
        tables; None if it has no name.
    likelihood_power_ : float
        Power of the likelihood in the posterior.
    likelihood_power_scores_, likelihood_power_checks_ : dict
        For ``likelihood_power="auto"``, for each power that was tried: mean log predictive
        probability of a held-out snippet; p-value of the posterior predictive check of the log
        likelihood, on the snippets that were not held out.
    likelihood_power_unrejected_ : float or None
        For ``likelihood_power="auto"``: the lowest power that this check does not reject at 10 %,
        which Zafar & Nicholls (2024) would choose; None if it rejects all.
    vectors_ : ndarray of shape (n_words, n_dims) or None
        For ``model="edisc"``: word vectors as the model uses them (see Notes).
    vector_draws_ : ndarray of shape (embedding_draws, n_words, n_dims) or None
        With ``embedding_draws``: draw ``i`` of each chain was made with vectors
        ``i % embedding_draws``.
    modes_ : sequence of Mode
        Modes of the posterior that were found, the heaviest first, with their ``share`` of it,
        ``log_likelihood``, the number ``n_starts`` of starts that ended there, and log ``mass``,
        which is None if only one mode was found. Empty for ``"map"``.
    n_iter_ : int
        Iterations of ``"map"``, ``"laplace"`` and ``"vi"``; 1 for samplers.
    approximation_ : ReadApproximation
        For ``"vi"`` and ``"laplace"``: ``mean``, a dict of the arrays of ``posterior_`` at the mean
        of the Gaussian, and ``sample(n, rng)``, a dict of independent draws of them. The Gaussian
        itself, in the coordinates of the model, is ``approximation_.flat``.
    elbo_ : ndarray of shape (n_windows,)
        For ``"vi"``: the bound on the log evidence, up to a constant, averaged over windows of
        iterations.
    n_features_in_, feature_names_in_
        As in scikit-learn, if fitted on a count matrix.

    Raises
    ------
    ValueError
        For a parameter or input that is not allowed, before any computation.
    MemoryError
        If the draws would not fit in memory.

    See Also
    --------
    skbayesembed.datasets.extract_snippets : Snippets of a target word from documents.

    Notes
    -----
    Methods that read new snippets average over periods or genres if ``times`` or ``genres`` are not
    given, with weights that are the shares of the training snippets. This is also what happens in
    scikit-learn's searches unless metadata routing is enabled.

    Words of new snippets that are not in the vocabulary are left out.

    If ``fit`` is given the ``units`` w of the snippets (works, authors, speakers), prevalences are
    ``softmax_k(phi[g, t] + u[w])``. The ``u`` are independent and normal, and their standard
    deviation s is learned, with a half-normal prior of scale ``unit_scale`` (see `SensePrior`). A
    unit may have snippets in several periods and genres. ``prevalence`` is the mean over all units,
    seen or not, E softmax(phi + u). `prevalence_interval` and `prevalence_info` also report on the
    units seen, or on a new one.

    In ``model="edisc"`` (Zafar & Nicholls 2023) the logits of words are ``psi[k, t] = rho (chi[k] +
    theta[t]) + sigma``, with given vectors rho (n_words, n_dims). Senses and periods weight the
    dimensions of the vectors. ``sigma``, with independent normal priors, is the part of a word's
    frequency that they do not explain. The vectors are centered at their mean over training tokens,
    scaled so that the median squared distance between two words is one, and rotated to the
    principal axes of the tokens, which does not change the model; the result is ``vectors_``. Words
    without a vector are put at the mean. Only ``sigma`` distinguishes them from each other, and
    they distinguish senses only by being rarer or more frequent than words with a vector.

    References
    ----------
    Zafar & Nicholls (2022). Measuring diachronic sense change: new models and Monte Carlo methods
    for Bayesian inference. Journal of the Royal Statistical Society C 71(5).

    Zafar & Nicholls (2023). An embedded diachronic sense change model with a case study from
    ancient Greek. arXiv:2311.00541.

    Zafar & Nicholls (2024). arXiv:2410.01475.

    Examples
    --------
    >>> from skbayesembed import DiSCSenseModel
    >>> snippets = ["river water flood", "money loan account"] * 20
    >>> years = [1810, 1810, 1811, 1811] * 10
    >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
    >>> model.predict_proba(["water of the river"], times=[1811]).round(1).max()
    np.float64(1.0)
    >>> model.prevalence_.shape
    (2, 1, 2)
    """

    # scikit-learn's default requests: routed wherever they are passed
    __metadata_request__fit = _COVARIATES
    __metadata_request__predict = _COVARIATES
    __metadata_request__predict_proba = _COVARIATES
    __metadata_request__transform = _COVARIATES
    __metadata_request__score = _COVARIATES

    prevalence_ = Learned()
    modes_ = Learned()
    likelihood_power_ = Learned()
    likelihood_power_scores_ = Learned()
    likelihood_power_checks_ = Learned()
    likelihood_power_unrejected_ = Learned()

    # None in files of earlier versions
    _fingerprints: tuple[str | None, str | None] | None = None

    def __init__(
        self,
        n_senses: int = 2,
        *,
        model: str = "disc",
        embedding: Any = None,
        embedding_draws: int | None = None,
        solver: str = "hmc",
        kernel: str = "auto",
        n_periods: int | None = None,
        bins: ArrayLike | None = None,
        prior: SensePrior | None = None,
        likelihood_power: float | str = 1.0,
        n_starts: int | str = "auto",
        analyzer: str | Callable = "word",
        lowercase: bool = True,
        stop_words: str | list[str] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        min_count: int = 1,
        max_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        draws: int = 1000,
        warmup: int = 200,
        chains: int = 4,
        thin: int | str = "auto",
        keep_draws: str = "auto",
        target_accept: float | None = None,
        max_iter: int = 1000,
        tol: float = 1e-8,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_senses = n_senses
        self.model = model
        self.embedding = embedding
        self.embedding_draws = embedding_draws
        self.solver = solver
        self.kernel = kernel
        self.n_periods = n_periods
        self.bins = bins
        self.prior = prior
        self.likelihood_power = likelihood_power
        self.n_starts = n_starts
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
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> Self:
        """Fit the model: learn the posterior from snippets.

        Parameters
        ----------
        X : (n_snippets, n_words) counts, list of str or list of lists of str
            Snippets without the word itself, as a count matrix (sparse, dense, DataFrame), as
            strings or as token lists. A snippet may be empty. Counts are whole: ``fit`` warns of
            weights, such as those of TF-IDF, with which intervals mean nothing.
        y : array-like of shape (n_snippets,), optional
            Known senses, integers from 0 to ``n_senses - 1``; -1 or NaN where unknown. In a
            `Pipeline` that ends in a classifier, the classifier's ``y`` arrives here: ``fit`` notes
            on the standard error stream if no sense is unknown.
        times : array-like of shape (n_snippets,), optional
            Numbers or dates (also as ISO strings). A period may have no snippets.
        genres : array-like of shape (n_snippets,), optional
            Labels of the genres. ``model="scan"`` merges them into one.
        units : array-like of shape (n_snippets,), optional
            Labels of the works, authors, or other units by which snippets were sampled. Prevalences
            then differ between units, and intervals allow for the dependence of snippets of one
            unit (see Notes). Not with ``kernel="blockwise"``, ``"uniform"`` and
            ``"approximate"``.

        Returns
        -------
        self

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> model.prevalence_.shape
        (2, 1, 2)
        """
        spine.check(self, ROOM)
        seeds = spine.seeds_of(self, ROOM)
        training = inputs.training_data(self, X, y, times, genres, units)
        note_all_known(training.data.labels)
        cost.announce(self, ROOM, training, seeds)
        found = spine.fit(self, ROOM, training, seeds)
        found.learned["modes_"].mixed = not is_unmixed(source_of_posterior(found.posterior))
        self._stream, self.units_name_ = None, name_of(units)
        self._note(training)
        self._set_fitted(found)
        return self

    def _learned_from(self, posterior):
        return {"prevalence_": posterior.mean("prevalence").transpose(2, 0, 1)}

    def _note(self, training):
        """Keep what the numbers of the posterior stand for."""
        data = training.data
        self.words_ = training.words
        self.vocabulary_ = {word: i for i, word in enumerate(training.words.tolist())}
        self.periods_ = training.periods
        self.genres_ = training.genres
        self.vectors_, self.vector_draws_ = data.vectors, training.vector_draws
        self._columns = training.columns
        self._timed, self._merged = training.timed, training.merged
        self.units_ = training.units
        self._cells, self._works = data.cells, None
        if data.works is not None:
            c = data.contexts
            self._works = np.column_stack([c.genres, c.periods, c.works, c.counts]).astype(np.int64)
        self._told_cells, self._told_works = told_of(data)
        lengths = np.rint(data.lengths).astype(np.int64)
        self._lengths = np.unique(lengths, return_counts=True)
        self._fingerprints = training.fingerprints

    @told_of_compiling
    def estimate_cost(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> Cost:
        """Estimate the cost of ``fit`` with these data and settings on this machine.

        Reads and counts all data, then runs every part of a fit for a moment and extrapolates. This
        takes a few seconds, or more if there is much text or single steps are slow; on large text,
        up to a fifth of the estimated time. With ``embedding_draws``, draws of the vectors of an
        embedding that nobody has asked yet take its first question with intervals by units, which
        may take longer than the fit: it is not tried, and a line below the table says so.

        Parameters
        ----------
        X, y, times, genres, units
            As in ``fit``; the same errors are raised.

        Returns
        -------
        Cost
            A table of the parts, with the totals ``seconds``, ``cpu_seconds`` and ``bytes``.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> model.estimate_cost(snippets, times=years).solver
        'map'
        """
        return cost.estimate(
            self, ROOM, lambda e, seeds: inputs.training_data(e, X, y, times, genres, units)
        )

    def fit_transform(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Fit to X, then return the probabilities of its senses.

        Parameters
        ----------
        X, y, times, genres, units
            As in ``fit``. An iterator is read once.

        Returns
        -------
        ndarray of shape (n_snippets, n_senses)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> model.fit_transform(snippets, times=years).shape
        (40, 2)
        """
        X = inputs.materialise(X)
        given = {"times": times, "genres": genres, "units": units}
        return self.fit(X, y, **given).transform(X, **given)


__all__ = ["DiSCSenseModel"]
