"""Regressions on features of documents that are known by draws.

Two things make slopes uncertain: which units there are, and what is not known of the features. The
first is the cluster-robust covariance of `numeric.regression`, at the mean features; the second the
covariance of what errors of the features do to the slopes. Both add up. Units in the order of time
are whitened by `numeric.autocorrelation` first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ..common.checks import check_bool, check_choice, check_prob
from ..common.warnings import warn_user
from ..corpus.design import INTERCEPT, check_rank, design_of, explained_by_others
from ..corpus.products import products_of
from ..corpus.rows import check_rows
from ..corpus.times import Times, check_order
from ..corpus.units import Units, check_units, name_of, units_of
from ..numeric.regression import NO_REST, has_rest, residuals
from .in_time import SlopesInTime
from .inputs import (
    as_estimated,
    check_number_of_draws,
    draws_of,
    names_of,
    outcome_of,
    with_words,
)
from .reliability import check_reliable, warn_of_guess
from .slopes import Regression, warn_of

ERRORS = ("auto", "classical", "berkson")
_FEWEST_UNITS = 4


def regress(
    features: Any,
    outcome: Any,
    units: Any = None,
    *,
    times: Times | None = None,
    covariates: Any = None,
    names: Sequence[str] | None = None,
    outcome_name: str | None = None,
    standardize: bool = False,
    error: str = "auto",
    prob: float = 0.9,
) -> Regression:
    """Regress an outcome on features of documents, allowing for the uncertainty of the features.

    Parameters
    ----------
    features : Answer or array-like of shape (n_draws, n_documents, n_features)
        Draws of features: an answer of ``document_similarity`` (documents without a known word are
        left out, with a warning), or draws of ``sample_transform`` of
        any estimator (for shares of topics, which add up to one, leave one out). An array of shape
        (n_draws, n_documents) is one feature.
    outcome : array-like of shape (n_documents,)
        Numbers or truth values (also as 0 and 1); for truth values slopes are changes of a
        probability. Features
        explain the outcome. Where nearness is to be explained, use other methods (see Notes).
        ``df.party == "Whig"`` is still called "party": name it by ``outcome_name="Whig"``, and a
        covariate like it by a dict, ``{"Whig": df.party == "Whig"}``.
    units : array-like of shape (n_documents,), optional
        Units of sampling: speakers, authors, works; each document by default.
    times : array-like of shape (n_documents,), optional
        Numbers or dates, as `corpus.periods.check_times` reads them, where units may be
        autocorrelated in time, each at the mean of its documents. Residuals are then modeled as
        autocorrelated, and as rising or falling along a straight line, as far as they show it (see
        Notes). By default, units are treated as independent.
    covariates : array-like, Series, DataFrame or dict, optional
        Covariates known without error, of shape (n_documents,) or (n_documents, n_covariates).
        Columns of a DataFrame, keys of a dict ``{"year": years, "woman": women}`` and fields of a
        structured array name the terms. They must vary; the constant is added.
    names : sequence of str, optional
        Names of the features, or of the features and then the covariates. By default, features are
        the words of an answer of ``document_similarity(X, words=...)``, else "feature 0",
        "feature 1", ..., and covariates without names "x0", "x1", ...
    outcome_name : str, optional
        Name of the outcome in tables and figures; by default that of a Series, else "outcome".
    standardize : bool, default=False
        Whether slopes are per standard deviation of a term instead of per 1, so that those of
        different features can be compared. The standard deviation is that of the mean features, or
        of the covariate, over documents. Covariates with two values, such as truth values, are
        left as they are. The outcome keeps its unit.
    error : {"auto", "classical", "berkson"}, default="auto"
        How draws relate to the truth. ``"classical"``: features are estimates, the truth plus an
        error, as for word vectors with uncertainty from the sampling of documents. Slopes on them
        are attenuated by the reliability, and are corrected for it. ``"berkson"``: features are
        posterior means, and the truth varies about them, as for shares of topics; slopes are not
        corrected. ``"auto"``: classical for an answer with intervals by units, and berkson for all
        else, with a warning if it matters and an array leaves it open. Use ``"classical"`` with
        ``sample_transform`` of `BayesianSGNS` and `DynamicSGNS` if ``uncertainty="documents"``, and
        ``"berkson"`` with that of other estimators.
    prob : float, default=0.9
        Probability of the intervals.

    Returns
    -------
    Regression
        A table.

    Raises
    ------
    ValueError
        If shapes do not fit, there are fewer than 20 draws or four units (with ``times``, fewer
        than two more than slopes and the constant), ``times`` are all the same or the outcome
        itself, an entry is not a finite number, columns depend on each other,
        the outcome is the same for all documents or a covariate (or a combination of these), or
        features to be corrected are mostly error.

    Warns
    -----
    UserWarning
        If features are an answer with intervals by fewer units than there are documents, and no
        ``units`` are given; if features are nearly too uncertain to be accepted, or so alike that
        the others leave less than a twentieth of one; if a slope has fewer than four degrees of
        freedom, or there are fewer than two units per slope; if residuals of neighboring units in
        time are clearly negatively correlated; if ``error="auto"`` is given an array with a feature
        of which more than a tenth is error; and if all draws of a feature are the same, as if it
        were known.

    Notes
    -----
    Slopes are those of least squares on the mean features. Their covariance has two parts: that by
    units, CR2 with Satterthwaite's degrees of freedom (Pustejovsky & Tipton 2018), and the
    first-order effect on the slopes of the errors of the features, as given by the draws. The
    second includes only what units share, since a unit's own part is in its residuals already.
    Degrees of freedom of the sum weight those of both (Welch-Satterthwaite): units have fewer than
    their number, draws of features one less than draws (of an answer by units those that its
    intervals have), so the sum may have more than units. With S
    the covariance of the mean features given the covariates and E that of their error, slopes with
    classical error are multiplied by ``(S - E)^-1 S`` (Carroll et al. 2006, chapter 4); on average
    this leaves them up to a tenth too large if reliabilities are below .9. The dependence between
    the two parts is left out; it arises if vectors were learned from the documents of the
    regression.

    Without ``times``, units (documents, if no units are given) are treated as independent. Units in
    the order of time seldom are. If a feature and the outcome are both autocorrelated, or both
    trend, slopes between unrelated quantities are then decided far too often: for random walks over
    40 units, 90 % intervals cover zero in 30 % of data sets (``benchmarks/regression.py time``).

    With ``times``, slopes are those of generalized least squares. The mean residual of a unit is
    the sum of a process in time, with the correlation ``exp(-|t - s| / length)`` between units at
    times s and t, and an error of its own. Lengths between half a median step from one time to the
    next and 25 times the span of all times, shares of the process up to .9995 (together a random
    walk), independence, and a straight line in time (unless it is a covariate) are averaged over by
    their posterior probabilities, from the restricted likelihood (Harville 1974) and a prior in
    which independence and a line each have one half, and lengths, on a logarithmic grid, go by
    1 / sqrt(length). There are no negative correlations: where units alternate, as parties do,
    `regress` warns, and what alternates belongs among the covariates. Differences within units
    count as without ``times``; where units are independent and of one size, so does everything. The
    covariance by units is CR2 on the whitened rows, so that it does not rest on the probable
    correlations being right, and twice what slopes differ in between correlations is added: added
    once, 90 % intervals cover in 87 % of random walks over 40 units. With 40 units, they cover zero
    in 90 to 92 % of data sets of unrelated quantities, be they independent, autocorrelated, random
    walks or trending, and are as long as others where units are independent. Those of the slope of
    the time itself do in 90 % (independent), 88 to 92 % (autocorrelated) and 71 % (random walks).
    Rows are whitened from the first to the last and back, and the covariance is the average of
    both. `autocorrelation` of the table is what was found, `autocorrelated` its probability, and
    `trend` that of the line.

    An outcome that is the time itself is refused with ``times``. How nearness depends on time is
    the reverse question: see `DynamicSGNS` for words, `BayesianSGNS.effects` for the contexts of a
    word and `GaussianLDA.effects` for topics.

    References
    ----------
    Austin & Steyerberg (2015). The number of subjects per variable required in linear regression
    analyses. Journal of Clinical Epidemiology 68(6).
    Carroll, Ruppert, Stefanski & Crainiceanu (2006). Measurement Error in Nonlinear Models, 2nd ed.
    Harville (1974). Bayesian inference for variance components using only error contrasts.
    Biometrika 61(2).
    Pustejovsky & Tipton (2018). Small-Sample Methods for Cluster-Robust Variance Estimation.
    Journal of Business & Economic Statistics 36(4).

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed import regress
    >>> rng = np.random.default_rng(0)
    >>> share = rng.normal(size=60)
    >>> draws = share + 0.2 * rng.normal(size=(100, 60))
    >>> table = regress(draws, 2 * share + rng.normal(size=60), names=["health"])
    >>> table.terms.tolist(), bool(table.interval[0, 0] > 0)
    (['health'], True)

    Slopes that can be compared, and a covariate with a name:

    >>> covariates = {"year": np.arange(60)}
    >>> table = regress(
    ...     draws, share, covariates=covariates, names=["health"], standardize=True
    ... )
    >>> table.terms.tolist(), table.scale.shape
    (['health', 'year'], (2,))

    A slope in words:

    >>> table.sentences["health"].split(" by ")[0]
    "The mean of 'outcome' is larger"
    >>> table.verdict.tolist()
    ['positive', 'not decided']

    Two random walks that have nothing to do with each other, without their times and with them:

    >>> walks = np.cumsum(np.random.default_rng(2).normal(size=(2, 60)), axis=1)
    >>> draws = walks[0] + 0.2 * rng.normal(size=(100, 60))
    >>> regress(draws, walks[1], names=["war"]).verdict.tolist()
    ['negative']
    >>> table = regress(draws, walks[1], names=["war"], times=np.arange(60))
    >>> table.verdict.tolist(), round(table.autocorrelation, 1)
    (['not decided'], 0.8)
    """
    check_prob(prob)
    check_bool("standardize", standardize)
    check_choice("error", error, ERRORS)
    source = getattr(features, "source", None)
    guessed = error == "auto" and source is None
    if error == "auto":
        error = "classical" if source == "units" else "berkson"
    draws, of_features, y, known, clusters, when, names, others, n_left_out = _posed(
        features, outcome, units, times, covariates, names
    )
    matrix = np.column_stack([draws.mean(axis=0), known])
    check_rank(matrix, [*names, *others], name="features and covariates")
    if units is None and source == "units":
        _warn_of_units(getattr(features, "of_units", None), len(y))
    _warn_of_known(draws, names)
    fit = SlopesInTime(draws, known, y, clusters.index, error == "classical", when)
    check_reliable(fit, names, error)
    if guessed:
        warn_of_guess(names, fit.reliabilities[1])
    called = getattr(outcome, "name", None) if outcome_name is None else outcome_name
    keep = np.array([j for j, term in enumerate([*names, *others]) if term != INTERCEPT])
    scale, zero_one = _scales(fit.plain.matrix, len(names))
    per = scale[keep] if standardize else np.ones(keep.size)
    table = _table(
        np.array([*names, *others])[keep],
        per * fit.slopes[keep],
        np.outer(per, per) * fit.by_units[np.ix_(keep, keep)],
        np.outer(per, per) * fit.by_features[np.ix_(keep, keep)],
        (fit.freedom[keep], of_features),
        [np.append(of, np.ones(len(others)))[keep] for of in fit.reliabilities],
        explained_by_others(fit.plain.matrix)[keep],
        {
            "error": error,
            "n_documents": len(y),
            "n_left_out": n_left_out,
            "n_units": clusters.n_units,
            "prob": prob,
            "outcome": "outcome" if called is None else str(called),
            "scale": per,
            "standardized": standardize,
            "term_sd": scale[keep],
            "truth_value": _is_truth_value(outcome),
            "zero_one": zero_one[keep],
            "products": products_of(matrix, [*names, *others], range(len(names), matrix.shape[1])),
            "units_name": name_of(units),
            "fit_units": _units_of_features(features, source),
            "r_squared": _r_squared(fit.plain.least.basis, y),
            **_constant_of(fit, others, len(names), when is not None),
            **fit.in_time(prob),
        },
    )
    warn_of(table)
    return table


class _Posed(NamedTuple):
    """What is regressed on what: arrays of the documents that have a known word."""

    draws: np.ndarray
    of_features: float
    y: np.ndarray
    known: np.ndarray
    clusters: Units
    when: np.ndarray | None
    names: list[str]
    others: list[str]
    n_left_out: int


def _posed(features, outcome, units, times, covariates, names):
    check_rows(outcome=outcome, units=units, times=times, covariates=covariates)
    draws, freedom = as_estimated(features, draws_of(features))
    n = draws.shape[1]
    y = outcome_of(outcome, n, np.shape(getattr(features, "draws", features)))
    labels = check_units(units, n)
    when = None if times is None else _check_not_time(check_order(times, n), y)
    known, others = np.ones((n, 1)), [INTERCEPT]
    if covariates is not None:
        design = design_of(covariates, n, name="covariates")
        known, others = design.matrix, design.terms.tolist()
    kept = with_words(draws)
    if not kept.all():
        draws, y, known = draws[:, kept], y[kept], known[kept]
        labels, when = (None if given is None else given[kept] for given in (labels, when))
        n = len(y)
    names, others = names_of(names, features, draws.shape[2], others)
    if both := set(names) & set(others):
        raise ValueError(f"features and covariates must have different names, got {both} in both.")
    clusters = units_of(np.arange(n) if labels is None else labels, None, n, "documents")
    if clusters.n_units < _FEWEST_UNITS:
        what = (
            "features must have four documents" if labels is None else "units must have four labels"
        )
        raise ValueError(f"{what} or more, got {clusters.n_units}.")
    check_number_of_draws(features, draws)
    _check_open(y, known, others)
    return _Posed(draws, freedom, y, known, clusters, when, names, others, int(kept.size - n))


def _scales(matrix, n_features):
    """Standard deviations of terms (of two values: 1), and whether these are 0 and 1."""
    scale, zero_one = matrix.std(axis=0, ddof=1), np.zeros(matrix.shape[1], bool)
    for j in range(n_features, matrix.shape[1]):
        values = np.unique(matrix[:, j])
        scale[j] = 1.0 if values.size <= 2 else scale[j]
        zero_one[j] = np.array_equal(values, [0.0, 1.0])
    return scale, zero_one


def _r_squared(basis, y):
    """Share of the variation of the outcome that least squares on mean features explains.

    By an orthonormal basis, as other solvers drop columns that are small beside the others.
    """
    left = residuals(basis, y)
    return float(1.0 - np.sum(left**2) / np.sum((y - y.mean()) ** 2))


def _is_truth_value(outcome):
    """Whether every entry of an outcome is True or False, or 0 or 1."""
    given = np.asarray(outcome.to_numpy() if hasattr(outcome, "to_numpy") else outcome)
    try:
        return set(np.unique(given.astype(float))) == {0.0, 1.0}
    except (TypeError, ValueError):
        return False


def _constant_of(fit, others, n_features, in_time):
    """The constant and its standard error, by the names of a `Regression`; nothing without one.

    In time there is no standard error of use: the level of what is autocorrelated is hardly known.
    Nor is there one where one unit alone decides.
    """
    if INTERCEPT not in others:
        return {}
    j = n_features + others.index(INTERCEPT)
    of_no_use = in_time or np.isnan(fit.freedom[j])
    variance = np.nan if of_no_use else fit.by_units[j, j] + fit.by_features[j, j]
    return {"constant": float(fit.slopes[j]), "constant_sd": float(np.sqrt(variance))}


def _units_of_features(features, source):
    """How many units features allow for the sampling of, and their name; None of others."""
    n_units = getattr(features, "of_units", None) if source == "units" else None
    return None if n_units is None else (n_units, getattr(features, "units_name", None))


def _warn_of_units(n_units, n):
    """Warn where features rest on fewer units than there are documents, and none are given."""
    if n_units is not None and n_units < n:
        warn_user(
            f"features rest on {n_units} units, and documents count as {n} of their own: pass "
            "units=, what was sampled, as to fit; without them standard errors are mostly too "
            "small.",
            UserWarning,
        )


def _is_time(y, when):
    """Whether an outcome is the time, or its year, but for unit and sign."""
    if np.ptp(y) == 0:
        return False
    of = [time for time in (when, np.floor(when)) if np.ptp(time) > 0]
    return any(abs(np.corrcoef(y, time)[0, 1]) >= 1.0 - NO_REST for time in of)


def _check_not_time(when, y):
    """Times that are not the outcome."""
    if _is_time(y, when):
        raise ValueError(
            "outcome must not be the time itself where times= are given: along a straight line in "
            "time nothing is left to explain. To ask how features change over time, make the time "
            "a covariate: effects(X, {'year': year}, times=year) of GaussianLDA, for topics, and "
            "of BayesianSGNS, for the contexts of a word; or see DynamicSGNS, and the chapter on "
            "regressions for documents."
        )
    return when


def _check_open(y, known, terms):
    """Raise a ValueError where covariates alone tell the outcome, so that features cannot."""
    if has_rest(np.linalg.qr(known)[0], y):
        return
    if np.ptp(y) <= NO_REST * np.max(np.abs(y)):
        raise ValueError(f"outcome must vary, got {y[0]:.10g} alone.")
    same = [term for term, x in zip(terms, known.T, strict=True) if np.array_equal(x, y)]
    given = ", ".join(repr(term) for term in terms if term != INTERCEPT)
    found = f"the covariate {same[0]!r} itself" if same else f"a linear combination of {given}"
    raise ValueError(
        f"outcome must not be told by covariates alone, got {found}: nothing is left that features "
        "could explain. Leave it out of covariates."
    )


def _warn_of_known(draws, names):
    """Warn of features whose draws are all the same."""
    spread = np.max(np.ptp(draws, axis=0), axis=0)
    known = [
        name
        for name, of, most in zip(names, spread, np.max(np.abs(draws), axis=(0, 1)), strict=True)
        if of <= NO_REST * most
    ]
    if known:
        warn_user(
            f"Features do not vary over draws, {', '.join(map(repr, known))}: they count as known "
            "without error, and standard errors leave out their uncertainty. Pass "
            "draws (sample_transform, or what document_similarity answers); what is known, as a "
            "year is, belongs among covariates=.",
            UserWarning,
        )


def _table(terms, slopes, by_units, by_features, freedoms, reliabilities, explained, facts):
    """The `Regression` of slopes and the two parts of their covariance."""
    units, features = np.diag(by_units), np.diag(by_features)
    total = units + features
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / (units**2 / freedoms[0] + features**2 / freedoms[1])
    # outcomes that the features tell without a rest
    freedom = np.where(total > 0, freedom, freedoms[0])
    sd = np.sqrt(total)
    reach = stdtrit(freedom, 0.5 + 0.5 * facts["prob"]) * sd
    ratio = np.divide(-np.abs(slopes), sd, out=np.full(sd.size, -np.inf), where=sd > 0)
    return Regression(
        terms=terms,
        mean=slopes,
        sd=sd,
        sd_units=np.sqrt(units),
        sd_features=np.sqrt(features),
        freedom=freedom,
        interval=np.column_stack([slopes - reach, slopes + reach]),
        p_value=np.where((sd == 0) & (slopes == 0), 1.0, 2.0 * stdtr(freedom, ratio)),
        reliability=reliabilities[0],
        partial_reliability=reliabilities[1],
        explained=explained,
        covariance=by_units + by_features,
        **facts,
    )._resting_on("units and features")
