"""`DiSCSenseModel`: the posterior of the senses of a word over time and genre."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import cost, spine
from ..common.checks import (
    check_integer,
)
from ..common.compiling import told_of_compiling
from ..common.estimator import (
    DocumentTransformerMixin,
    FittedMixin,
    Learned,
    check_room,
    recorded_draws,
)
from ..common.memory import check_memory
from ..common.random import seed_sequence
from ..corpus.text import document_counts
from ..corpus.units import name_of
from ..cost import Cost
from ..posterior.sources import source_of_posterior
from . import inputs
from .loo import ComparisonMixin
from .predict import SnippetReader, sample_snippets
from .priors import SensePrior
from .reading import SenseReadingMixin
from .solvers import ROOM

_COVARIATES = {"times": True, "genres": True, "units": True}


class DiSCSenseModel(
    FittedMixin, SenseReadingMixin, ComparisonMixin, DocumentTransformerMixin, BaseEstimator
):
    r"""Posterior of the senses of one word over time and genre.

    A snippet consists of the words around one use of the word, and has one sense z. Prevalences
    of senses depend on genre g and period t, probabilities of words on sense k and period t:

        p(z = k) = softmax_k(phi[g, t]),   p(word v | z = k) = softmax_v(psi[k, t])

    In ``model="disc"`` (Zafar & Nicholls 2022) ``psi[k, t] = chi[k] + theta[t]``, with Gaussian
    priors that are autoregressions over periods.

    Parameters
    ----------
    n_senses : int, default=2
        Number of senses K.
    model : {"disc", "gasc", "scan", "interaction", "edisc"}, default="disc"
        ``"gasc"``: every word's logit follows a random walk over periods under each sense.
        ``"scan"``: the same with one genre; those given are merged. ``"interaction"``: DiSC with
        deviations of each sense and period, shrunk towards none. ``"edisc"``: DiSC with word
        vectors, ``embedding``: words that are alike are alike under a sense (see Notes).
    embedding : mapping, path, fitted estimator, array or None, default=None
        Vectors of words, of ``model="edisc"`` alone: a dict or gensim's KeyedVectors; the path of a
        file in word2vec's formats or GloVe's; a fitted `BayesianSGNS`, wrapped in scikit-learn's
        FrozenEstimator where this estimator is cloned, which stands for its posterior means
        ``rho_``; or, for count matrices, an array with a row for each column. A mapping or file
        finds the columns of a count matrix by their names (x0, x1, ... without names). Words
        without a vector are kept (see Notes).
    embedding_draws : int or None, default=None
        Of ``model="edisc"`` with a fitted `BayesianSGNS`, or ``vectors_at(period)`` of a
        `DynamicSGNS`: the posterior is the average of those given so many joint draws of the word
        vectors, which brings their uncertainty into all intervals; ``draws`` is a multiple of it.
        The cost is that of so many warm-ups, and of the first question of the embedding where
        its ``uncertainty`` is ``"documents"`` (see its ``estimate_cost``); modes are looked for
        once. None takes the posterior means for known.
    solver : {"hmc", "gibbs", "vi", "laplace", "map"}, default="hmc"
        ``"hmc"`` sums over the senses of snippets (eq. 9), ``"gibbs"`` draws them (not for
        ``model="interaction"`` and ``"edisc"``); both sample the posterior. ``"vi"`` approximates
        it by independent Gaussians around its heaviest mode, ``"laplace"`` by the Gaussian at the
        point of largest density there, ``"map"`` finds a mode.
    kernel : str, default="auto"
        How samplers move. With ``"hmc"``: ``"hmc"`` (what ``"auto"`` takes) follows trajectories of
        about one length in coordinates in which the mode is round; ``"nuts"`` those of the
        No-U-Turn sampler in the same coordinates; ``"blockwise"`` is the sampler of the paper,
        mixed MALA and HMC moves of blocks of logits (not for ``model="interaction"`` and
        ``"edisc"``). With ``"gibbs"``: ``"metropolis"`` (what ``"auto"`` takes) proposes all logits
        of a word at once from the Gaussian of a Newton step; ``"polya-gamma"`` and ``"uniform"``
        draw them by way of auxiliary variables (Appendix B); ``"approximate"`` (Chen et al. 2013)
        is not exact.
    n_periods : int or None, default=None
        Cut times into this many periods of equal length.
    bins : array-like or None, default=None
        Ends of the periods, one more than there are periods. A time equal to an end belongs to the
        later period, one equal to the last end to the last period. With neither, times are integers
        or dates, and each integer or calendar year from the first to the last is a period.
    prior : SensePrior or None, default=None
        How large the logits of prevalences and of words are a priori and how fast they change over
        periods. None is ``SensePrior()``, whose defaults are the paper's values;
        with ``units`` the variance of the steps of prevalences is learned.
    likelihood_power : float in (0, 1] or "auto", default=1.0
        Power of the likelihood of the snippets in the posterior. Below 1 snippets count for less
        than so many independent ones, as they may where words of a snippet depend on each other or
        snippets come from few units: intervals widen (Zafar & Nicholls 2024). Probabilities of
        senses and of words given parameters are those of the model whatever it is. Not below 1 with
        ``solver="gibbs"`` and ``kernel="blockwise"``. ``"auto"`` takes that of 0.02, 0.05, 0.1,
        0.2, 0.5 and 1 under which a fifth of the ``units``, or of the snippets where units
        are not known, is most probable given the others, by a chain for each from the heaviest of
        the modes that four starts find.
    n_starts : int or "auto", default="auto"
        Number of annealed starts from which modes of the posterior are looked for; chains and
        approximations then start from the heaviest mode. With ``"auto"`` there are 24, and 24 more,
        up to 96, until those that met a mode of their own are less than 5 % of all (about the
        probability that another start meets a mode that none has met; Good 1953) and the densest
        mode was met twice. From 24 starts on, two senses exchange their snippets from a period on,
        or within one, beginning at the densest starts and at the heaviest mode, as long as that
        leads to denser modes; of three senses or more, two are also joined and one is divided, from
        the heaviest mode on. For ``"map"``: number of searches, the best of which is taken; 24
        with ``"auto"``.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        scikit-learn's analyzer for snippets given as strings.
    lowercase : bool, default=True
        Part of the analyzer.
    stop_words : {"english"}, list of str or None, default=None
        Part of the analyzer.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Part of the analyzer.
    min_count : int, default=1
        Words seen less often are dropped. With 1 every column of a count matrix stays, seen or
        not, so that folds of the data have the same words.
    max_features : int or None, default=None
        Keep only the most frequent words.
    feature_names : list of str or None, default=None
        Words of the columns where X is a count matrix; None takes the names of its columns, where
        it is a DataFrame.
    draws, warmup, chains, thin : int, default=1000, 200, 4, 2
        Each of ``chains`` chains makes ``warmup`` transitions that are discarded, and then
        ``draws`` draws that are ``thin`` transitions apart.
    keep_draws : {"auto", "all"}, default="auto"
        ``"auto"`` records all draws up to 1 GiB; beyond, evenly spaced ones and running means
        over all.
    target_accept : float or None, default=None
        Of ``"hmc"``: mean acceptance that the step size is adapted to, between 0 and 1. None is
        0.65 for ``model="disc"``, and 0.8 for other models and for ``kernel="nuts"``.
        ``kernel="blockwise"`` has targets of its own.
    max_iter : int, default=1000
        Most iterations of ``"map"``, ``"laplace"`` and ``"vi"``.
    tol : float, default=1e-8
        Relative tolerance. The search for a mode ends when the largest entry of the gradient has
        fallen to this share of that at the start; ascent of the bound (``"vi"``) when a sweep
        raises it by less than 100 times this share of it. The bound of this estimator is noisy,
        and its ascent ends when the noise is larger than the rise, whatever ``tol``.
    checkpoint : str, path-like or None, default=None
        A folder to which the state of the fit is written about every 30 seconds: chains with their
        draws, the ascent of ``"vi"``. If the fit is ended, by whatever means, the same call goes on
        from there, and its draws are those of a fit that was never ended. Files are named after a
        digest of data, parameters and seed, so that fits share a folder; they are removed when
        their fit is done. It needs a ``random_state``.
    warm_start : bool, default=False
        Files of ``checkpoint`` stay when the fit is done, and a call with more ``draws``, all else
        being the same, appends to those that were made: the draws are those of a fit that was asked
        for all of them at once.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same draws for every ``n_jobs`` and joblib backend.
    n_jobs : int or None, default=None
        Chains run in parallel.
    verbose : int, default=0
        1 shows what the fit is going to cost (see `estimate_cost`), when a search adds starts, its
        modes, the progress of the chains and the time left for all of them. Whatever it is, a note
        on the standard error stream says that numba is compiling, where it takes longer than two
        seconds.

    Attributes
    ----------
    posterior_ : Posterior
        Draws of ``prevalence`` (chain, draw, n_genres, n_periods, n_senses) and of the logits of
        words: ``chi`` (..., n_senses, n_words) and ``theta`` (..., n_periods, n_words), or ``psi``
        (..., n_senses, n_periods, n_words). Of ``model="edisc"``: ``chi`` (..., n_senses, n_dims),
        ``theta`` (..., n_periods, n_dims) and ``sigma`` (..., n_words). Senses are aligned across
        draws and chains. Where ``fit`` was told of units: ``phi`` (..., n_genres, n_periods,
        n_senses) and ``works`` (..., n_units, n_senses), logits of prevalence and what units add to
        them, and ``work_sd`` (...), the deviation of the latter.
    prevalence_ : ndarray of shape (n_senses, n_genres, n_periods)
        Posterior means of prevalences; where ``fit`` was told of units, of means over all units
        that there might be.
    words_ : ndarray of str of shape (n_words,)
        Most frequent first, except for count matrices, which keep their order.
    vocabulary_ : dict
        Word to place in ``words_``.
    periods_ : Periods
        One period where ``fit`` got no times.
    genres_ : ndarray of shape (n_genres,) or None
        Labels of the genres; None where ``fit`` got none, or merged them.
    units_ : ndarray of shape (n_units,) or None
        Labels of the units; None where ``fit`` got none.
    units_name_ : str or None
        What the column of units is called (as of ``df["speaker"]``), which sentences and tables
        say; None where it has no name.
    likelihood_power_ : float
        Power of the likelihood in the posterior.
    likelihood_power_scores_, likelihood_power_checks_ : dict
        Of ``likelihood_power="auto"``, for each power that was tried: mean log predictive
        probability of a snippet held out; p-value of the posterior predictive check of the log
        likelihood, by snippets that were not.
    likelihood_power_unrejected_ : float or None
        Of ``likelihood_power="auto"``: the lowest power that this check does not reject at 10 %,
        which Zafar & Nicholls (2024) would take; None where it rejects all.
    vectors_ : ndarray of shape (n_words, n_dims) or None
        Of ``model="edisc"``: word vectors as the model takes them (see Notes).
    vector_draws_ : ndarray of shape (embedding_draws, n_words, n_dims) or None
        Of ``embedding_draws``: draw ``i`` of each chain is one with vectors
        ``i % embedding_draws``.
    modes_ : sequence of Mode
        Modes of the posterior that were found, the heaviest first, with their ``share`` of it,
        ``log_likelihood``, ``n_starts`` that ended in each, and log ``mass``, which is None where
        a single mode was found; empty for ``"map"``.
    n_iter_ : int
        Iterations of ``"map"``, ``"laplace"`` and ``"vi"``; 1 for samplers.
    approximation_ : ReadApproximation
        Of ``"vi"`` and ``"laplace"``: ``mean``, a dict of the arrays of ``posterior_`` at the mean
        of the Gaussian, and ``sample(n, rng)``, a dict of independent draws of them. The Gaussian
        itself, in the coordinates of the model, is ``approximation_.flat``.
    elbo_ : ndarray of shape (n_windows,)
        Of ``"vi"``: the bound on the log evidence, up to a constant, averaged over windows of
        iterations.
    n_features_in_, feature_names_in_
        As in scikit-learn, where fitted on a count matrix.

    Raises
    ------
    ValueError
        For a parameter or input that is not allowed, before any work.
    MemoryError
        If the draws would not fit.

    See Also
    --------
    skbayesembed.datasets.extract_snippets : Snippets of a target word from documents.

    Notes
    -----
    Where ``times`` or ``genres`` are not given to a method that reads new snippets, as
    scikit-learn's searches do unless metadata routing is enabled, the snippet is a mixture over
    periods or genres with their shares of the training snippets as weights.

    Words of new snippets that are not in the vocabulary are left out.

    Where ``fit`` is told the ``units`` w that snippets are from (works, authors, speakers),
    prevalences are ``softmax_k(phi[g, t] + u[w])``, with independent normal ``u`` whose deviation s
    is learned; its prior is half-normal, with the scale ``work_scale`` of the prior. A unit may
    have snippets in several periods and genres. ``prevalence`` is the mean over units, seen or not,
    E softmax(phi + u); `prevalence_interval` and `prevalence_info` also tell of the units seen, or
    of a new one.

    In ``model="edisc"`` (Zafar & Nicholls 2023) logits of words are ``psi[k, t] = rho (chi[k] +
    theta[t]) + sigma``, with given vectors rho (n_words, n_dims): senses and periods weight their
    dimensions, and ``sigma``, with independent normal priors, is what they do not explain of a
    word's frequency. Vectors are centred at their mean over training tokens, scaled so that the
    median squared distance of two words is one, and turned to the principal axes of the tokens,
    none of which changes the model: ``vectors_``. Words without a vector are put at the mean, so
    that ``sigma`` alone tells them from others, and they tell no sense from another but by being
    rarer or more frequent than words with a vector.

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
        thin: int = 2,
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
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> Self:
        """Learn the posterior.

        Parameters
        ----------
        X : (n_snippets, n_words) counts, list of str or list of lists of str
            Snippets without the word itself, as a count matrix (sparse, dense, DataFrame), as
            strings or as token lists. A snippet may be empty.
        y : array-like of shape (n_snippets,), optional
            Senses that are known, integers from 0 to ``n_senses - 1``; -1 or NaN where not. In a
            `Pipeline` that ends in a classifier, its ``y`` is what comes here.
        times : array-like of shape (n_snippets,), optional
            Numbers or dates (also as ISO texts). A period may have no snippets.
        genres : array-like of shape (n_snippets,), optional
            Labels. ``model="scan"`` takes them all as one genre.
        units : array-like of shape (n_snippets,), optional
            Labels of the works, authors, or whatever snippets were sampled by. Prevalences then
            differ from unit to unit, and intervals know that snippets of one unit are not
            independent (see Notes). Not with ``solver="gibbs"`` and ``kernel="blockwise"``.

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
        cost.announce(self, ROOM, training, seeds)
        found = spine.fit(self, ROOM, training, seeds)
        found.learned["modes_"].mixed = source_of_posterior(found.posterior) != "unmixed"
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
        lengths = np.rint(data.lengths).astype(np.int64)
        self._lengths = np.unique(lengths, return_counts=True)

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
        """What ``fit`` would cost with these data and settings on this machine, without fitting.

        All data are read and counted, and every part of a fit is run for a moment and scaled: a
        few seconds, more where there is much text or single steps take that long, on large text up
        to a fifth of what is estimated.

        Parameters
        ----------
        X, y, times, genres, units
            As in ``fit``, whose errors it raises.

        Returns
        -------
        Cost
            A table of the parts, with ``seconds``, ``cpu_seconds`` and ``bytes`` of all together.

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
        """Fit to X, then transform it.

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

    def predict_proba(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Probabilities of the senses of snippets.

        Parameters
        ----------
        X : snippets, as in ``fit``
        times, genres : array-like of shape (n_snippets,), optional
            Averaged over where not given, with shares of the training snippets as weights.
        units : array-like of shape (n_snippets,), optional
            Units of the snippets, where ``fit`` was told of units: those that it saw have
            prevalences of their own. Other units, and all where not given, are averaged over all
            that there might be, each snippet by itself.

        Returns
        -------
        ndarray of shape (n_snippets, n_senses)
            Posterior means of eq. 5. Senses that ``fit`` was told are not taken into account.

        Raises
        ------
        ValueError
            If a time is outside of the periods of ``fit``, a genre is not among its genres, or
            units are given without times or genres.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> model.predict_proba(["river flood", "loan"]).shape
        (2, 2)
        """
        return self._reader(X, times, genres, units).sense_proba()

    def predict(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Most probable senses of snippets.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of int of shape (n_snippets,)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets)
        >>> river, loan = model.predict(["river flood", "loan"])
        >>> bool(river != loan)
        True
        """
        return self.predict_proba(X, times=times, genres=genres, units=units).argmax(axis=1)

    def transform(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Probabilities of senses as features; the same as ``predict_proba``.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_snippets, n_senses)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.transform(["water flood", "money"]).shape
        (2, 2)
        """
        return self.predict_proba(X, times=times, genres=genres, units=units)

    def _sampled_features(self, X, n_draws, times=None, genres=None, units=None):
        reader = self._reader(X, times, genres, units)
        check_room(n_draws, reader.places.n_snippets, self._n_features_out)
        return reader.sense_proba_draws(recorded_draws(self, n_draws))

    def score_samples(
        self,
        X: Any,
        *,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> np.ndarray:
        """Log posterior predictive probability of each snippet's words.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_snippets,)
            Log mean over draws of eq. 9, of the words in the order in which they stand; 0 for a
            snippet without known words.

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.score_samples(["water flood", "money"]).shape
        (2,)
        """
        return self._reader(X, times, genres, units).log_predictive()

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        times: ArrayLike | None = None,
        genres: ArrayLike | None = None,
        units: ArrayLike | None = None,
    ) -> float:
        """Mean log posterior predictive probability per snippet.

        Words outside the vocabulary are left out: scores compare between models with the same
        words.

        Parameters
        ----------
        X, times, genres, units
            As in ``predict_proba``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_snippets,), optional
            Weights of the snippets in the mean.

        Returns
        -------
        float

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> model = DiSCSenseModel(2, solver="laplace", n_starts=2, draws=20, random_state=0)
        >>> model = model.fit(snippets)
        >>> model.score(["water flood"]) < 0
        True
        """
        found = self.score_samples(X, times=times, genres=genres, units=units)
        if sample_weight is None:
            return float(found.mean())
        weight = inputs.snippet_weights(sample_weight, found.size)
        return float(np.average(found, weights=weight))

    def sample(
        self,
        n_samples: int = 1,
        *,
        times: Any = None,
        genres: Any = None,
        units: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Draw snippets from the posterior predictive distribution.

        Each snippet comes from a draw of the posterior of its own, and has as many words as a
        training snippet taken at random.

        Parameters
        ----------
        n_samples : int, default=1
        times, genres : array-like of shape (n_samples,) or one for all, optional
            Drawn by the shares of training snippets where not given.
        units : array-like of shape (n_samples,) or one for all, optional
            As in ``predict_proba``; a snippet of no unit that ``fit`` saw comes from one of its
            own.
        random_state : int, RandomState instance or None, default=None
            None takes the estimator's.

        Returns
        -------
        X : csr_array of shape (n_samples, n_features)
            Counts, in the columns of the matrix given to ``fit``; of ``words_`` where that was
            text.
        senses : ndarray of int of shape (n_samples,)

        Examples
        --------
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> counts, senses = model.sample(3, times=[1810, 1810, 1811], random_state=0)
        >>> counts.shape, senses.shape
        ((3, 6), (3,))
        """
        check_is_fitted(self, "posterior_")
        check_integer("n_samples", n_samples, 1)
        # counts of words, and what they are drawn from
        check_memory(8 * n_samples * self.words_.size, "n_samples samples", "Ask for fewer.")
        times, genres, units = (
            [x] * n_samples if x is not None and np.ndim(x) == 0 else x
            for x in (times, genres, units)
        )
        counts = sparse.csr_array((n_samples, self.words_.size))
        places = inputs.placed(self, counts, times, genres, units)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        words, offsets, senses = sample_snippets(self, places, np.random.default_rng(seed))
        n_features = self.words_.size
        if self._columns is not None:
            words, n_features = self._columns[words], self.n_features_in_
        return document_counts(words, offsets, n_features), senses

    def _reader(self, X, times, genres, units):
        check_is_fitted(self, "posterior_")
        return SnippetReader(self, inputs.places(self, X, times, genres, units))

    @property
    def _n_features_out(self):
        return self.posterior_["prevalence"].shape[-1]


__all__ = ["DiSCSenseModel"]
