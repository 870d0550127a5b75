"""The table of `regress`: slopes with their intervals, and what is to be known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .common.warnings import warn_user
from .posterior.sentences import effect, ended, p_value, side_of_zero, with_signs
from .posterior.tables import Column, Table, p_values

# Degrees of freedom below which t-tests of clusters reject too often (Pustejovsky & Tipton 2018),
# and documents a slope below which least squares is not to be trusted (Austin & Steyerberg 2015).
_FEWEST_FREE, _FEWEST_DOCUMENTS = 4.0, 2
# One-sided level of the test of units next to each other.
LEVEL = 0.05
# What tables say of the error of features.
_TAKEN = {
    "classical": "classical, estimates about the truth; slopes are corrected for it",
    "berkson": "Berkson's, the truth about posterior means; slopes need no correction",
}
# What to do where units next to each other are alike.
_WHAT_TO_DO = (
    "Regress differences of neighbours (means of units in the order of time), or give the time "
    "among covariates= or coarser units=; the chapter on regressions says which."
)
_WHAT_OF_TIME = (
    "The outcome is the time itself: slopes describe when features were what, and are no evidence "
    "of more. Coarser units=, such as eras, are less alike. How nearness changes over time is a "
    "question for DynamicSGNS; the chapter on regressions says more."
)
_WHEN = "(the outcome is the time itself: slopes say when features were what, not why)"
_FEW = (
    f"(fewer than {_FEWEST_FREE:g} df or {_FEWEST_DOCUMENTS} documents a slope: neither intervals "
    "nor p-values are to be trusted)"
)


@dataclass(frozen=True, repr=False, eq=False)
class Regression(Table):
    """Slopes of an outcome on features of documents, a row for each feature and covariate.

    Attributes
    ----------
    terms : ndarray of str of shape (n_terms,)
        Features, then covariates, without the constant.
    mean : ndarray of shape (n_terms,)
        Slopes: change of the outcome with one more of the feature, or ``scale`` more.
    sd : ndarray of shape (n_terms,)
        Standard errors, of both parts together.
    sd_units, sd_features : ndarray of shape (n_terms,)
        What comes of the units that were sampled, and of what is not known of the features.
    freedom : ndarray of shape (n_terms,)
        Degrees of freedom of Student's t.
    interval : ndarray of shape (n_terms, 2)
    p_value : ndarray of shape (n_terms,)
        Of no effect.
    reliability : ndarray of shape (n_terms,)
        Share of the variance of a feature, beside covariates, that is not error; 1 for covariates.
    partial_reliability : ndarray of shape (n_terms,)
        The same beside the other features, too: of what slopes rest on.
    covariance : ndarray of shape (n_terms, n_terms)
    error : str
        What the error of features was taken to be, ``"classical"`` or ``"berkson"``.
    verdict : ndarray of str of shape (n_terms,)
        ``"positive"`` or ``"negative"`` where the interval leaves zero out, ``"not decided"`` where
        it does not.
    sentences : list of str
        Of each term, to be copied.
    n_documents, n_units : int
    prob : float
        Probability of the intervals.
    outcome : str
        What the outcome is called.
    scale : ndarray of shape (n_terms,)
        What slopes are for: 1, or the standard deviation of each term if they are standardised.
    standardized : bool
    term_sd : ndarray of shape (n_terms,)
        Standard deviations of the terms over documents; 1 of covariates that have two values.
    truth_value : bool
        Whether the outcome is one, and slopes are changes of a probability.
    outcome_is_time : bool
        Whether the outcome is the time that was given, so that slopes say when features were what.
    lag_correlation : float or None
        Correlation of the mean residual of a unit (of a document without units) with that of the
        next in time; None without ``times``, NaN where there are no residuals.
    lag_p_value : float or None
        Probability that it is as large in a random order of the units.
    term_alike : ndarray of bool of shape (n_terms,) or None
        Whether by the same test units next to each other are alike in a term, beside the others:
        where they are in both, the interval is too narrow.

    Notes
    -----
    Units count as independent of each other. Of units that follow each other in time and are alike,
    in the outcome and in a feature, intervals are too narrow: see `regress`.
    """

    terms: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    sd_units: np.ndarray
    sd_features: np.ndarray
    freedom: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    reliability: np.ndarray
    partial_reliability: np.ndarray
    covariance: np.ndarray
    error: str
    n_documents: int
    n_units: int
    prob: float
    outcome: str = "outcome"
    scale: np.ndarray | None = None
    standardized: bool = False
    term_sd: np.ndarray | None = None
    truth_value: bool = False
    outcome_is_time: bool = False
    lag_correlation: float | None = None
    lag_p_value: float | None = None
    term_alike: np.ndarray | None = None

    @property
    def title(self) -> str:
        """What the slopes are of."""
        return f"slopes of {self.outcome}{' per standard deviation' if self.standardized else ''}"

    @property
    def verdict(self) -> np.ndarray:
        """Of which sign each slope is, or that it is not decided, (n_terms,)."""
        return side_of_zero(self.interval, "positive", "negative")

    @property
    def sentences(self) -> list[str]:
        """What each slope says, to be copied."""
        return [self._sentence(j) for j in range(self.terms.size)]

    def _sentence(self, j):
        # terms that have two values keep their unit
        more, term = "one", repr(str(self.terms[j]))
        if self.term_sd is not None and self.term_sd[j] != 1.0:
            if self.standardized:
                more = f"one standard deviation ({self.term_sd[j]:.3g})"
            else:
                term += f" (its standard deviation is {self.term_sd[j]:.3g})"
        mean, low, high = with_signs(self.mean[j], self.interval[j], _digits_of(self.sd[j]))
        decided, above = self.verdict[j] != "not decided", None
        outcome, interval = self.outcome, f"{100 * self.prob:g} % interval"
        if self.truth_value:
            outcome, above = f"the probability of {self.outcome!r}", bool(self.mean[j] > 0)
            if decided:
                mean, interval = mean[1:], f"{interval} of the difference"
        of = f"{self.n_documents} documents of {self.n_units} units"
        of += "; slope corrected for error in the features" if self.error == "classical" else ""
        of += "; linear probability model" if self.truth_value else ""
        brackets = (
            f"({interval} {low} to {high}, for another sample of "
            f"{self._sampled()} of the same kind, {p_value(self.p_value[j])}; {of})"
        )
        text = effect(
            outcome,
            term,
            more,
            held=self.terms.size > 1,
            figures=(mean, brackets),
            decided=decided,
            above=above,
        )
        return ended(text + self._on_time(j), None)

    def _on_time(self, j):
        """What a sentence ends with, about units next to each other."""
        if self.lag_correlation is None:
            return f" ({self._sampled()} taken as independent)"
        if not self._alike():
            return ""
        so = "so that this interval is too narrow"
        if self.term_alike is not None and not self.term_alike[j]:
            so = f"and this interval is too narrow if they are alike in {str(self.terms[j])!r}, too"
        return (
            f"; {self._sampled()} next to each other in time are alike (correlation of residuals "
            f"{self.lag_correlation:.2f}), {so}"
        )

    def _alike(self):
        """Whether units next to each other are more alike than independent ones."""
        return self.lag_p_value is not None and self.lag_p_value <= LEVEL

    def _sampled(self):
        return "documents" if self.n_units == self.n_documents else "units"

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        per = [Column("per", self.scale, ("scale",), ".3g")] if self.standardized else []
        return [
            Column("term", list(self.terms), ("term",), left=True),
            *per,
            Column("slope", self.mean, ("slope",), ".4g"),
            Column("se", self.sd, ("se",), ".3g"),
            Column("units", self.sd_units, ("se_units",), ".3g"),
            Column("features", self.sd_features, ("se_features",), ".3g"),
            Column(interval, self.interval, ("low", "high"), ".4g", left=True),
            Column("df", self.freedom, ("df",), ".1f"),
            Column("p", self.p_value, ("p_value",), p_values),
            Column("verdict", list(self.verdict), ("verdict",), left=True),
            Column("reliability", self.reliability, ("reliability",), ".2f"),
            Column("beside", self.partial_reliability, ("partial_reliability",), ".2f"),
        ]

    def _title(self):
        about = f"{self.n_documents} documents of {self.n_units} units"
        return f"{self.title}, {about}"

    def _notes(self):
        known = _TAKEN[self.error]
        per = ["(per: standard deviation of a term; 1 of those that have two values)"]
        return [
            *(per if self.standardized else []),
            "(se: of units, CR2, and of features together)",
            self._note_on_time(),
            *([_WHEN] if self.outcome_is_time else []),
            f"(error in the features: {known})",
            "(df: few where few units tell of a slope; more than units where the draws of features "
            "add most of se)",
            "(reliability: share of a feature that is not error, given the covariates; beside: "
            "given the other features, too)",
            *([] if _enough(self.freedom, self.n_documents) else [_FEW]),
        ]

    def _note_on_time(self):
        if self.lag_correlation is None:
            return (
                f"({self._sampled()} count as independent of each other: where those that follow "
                "each other in time are alike, intervals are too narrow; times= tells)"
            )
        if np.isnan(self.lag_correlation):
            return (
                "(the terms tell the outcome without a rest: there are no residuals that tell "
                f"whether {self._sampled()} next to each other in time are alike)"
            )
        found = f"{self.lag_correlation:.2f}, {p_value(self.lag_p_value)}"
        said = "they count as independent"
        if self._alike():
            said = "intervals of terms that are alike, too, are too narrow"
        return (
            f"(residuals of {self._sampled()} next to each other in time: correlation {found}; "
            f"{said})"
        )


def _digits_of(sd):
    """Digits after the point that two significant digits of a standard error need."""
    return max(0, min(5, 1 - int(np.floor(np.log10(sd))))) if 0 < sd < np.inf else 0


def _enough(freedom, n_documents):
    return np.min(freedom) >= _FEWEST_FREE and n_documents >= _FEWEST_DOCUMENTS * freedom.size


def warn_of(table: Regression) -> None:
    """Warn of units that are alike, and of too few documents or units, of a table."""
    _warn_of_few(table)
    _warn_of_time(table)


def _warn_of_time(table):
    """Warn where residuals of units next to each other are alike."""
    if table._alike():
        of = table._sampled()
        advice = _WHAT_OF_TIME if table.outcome_is_time else _WHAT_TO_DO
        warn_user(
            f"{of.capitalize()} next to each other in time are alike: their residuals correlate "
            f"at {table.lag_correlation:.2f} ({p_value(table.lag_p_value)} for independent ones), "
            f"and intervals are too narrow where features are alike, too. {advice}",
            UserWarning,
        )


def _warn_of_few(table):
    """Warn where documents or units are too few for so many slopes."""
    if _enough(table.freedom, table.n_documents):
        return
    j = int(np.argmin(table.freedom))
    warn_user(
        f"{table.n_documents} documents of {table.n_units} units are few for "
        f"{table.terms.size} slopes: that of {str(table.terms[j])!r} has {table.freedom[j]:.1f} "
        f"degrees of freedom. Below {_FEWEST_FREE:g}, and below {_FEWEST_DOCUMENTS} documents a "
        "slope, neither intervals nor p-values are to be trusted: take fewer features.",
        UserWarning,
    )
