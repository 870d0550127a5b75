"""The table of `regress`: slopes with their intervals, and what is to be known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .common.warnings import warn_user
from .posterior.sentences import (
    Step,
    effect,
    ended,
    p_value,
    side_of_zero,
    step_of,
    with_signs,
)
from .posterior.sources import TOO_NARROW
from .posterior.tables import Column, Table, p_values

if TYPE_CHECKING:
    import pandas as pd

# Degrees of freedom below which t-tests of clusters reject too often (Pustejovsky & Tipton 2018),
# and documents a slope below which least squares is not to be trusted (Austin & Steyerberg 2015).
_FEWEST_FREE, _FEWEST_DOCUMENTS = 4.0, 2
# One-sided level of the test of units next to each other.
LEVEL = 0.05
# Units below which the test detects hardly half of those autocorrelated: of 20 with .5
# from one to the next 67 %, of 13 46 % (`benchmarks/regression.py power`).
_TELLING = 20
_HARDLY = f"fewer than {_TELLING} {{}} are too few to test for autocorrelation"
# Terms that notes of figures name.
_FEW_TERMS = 4
# Share of a term that others explain, above which it is said.
_MUCH = 0.8
# What tables say of the error of features.
_TAKEN = {
    "classical": "classical, estimates about the truth; slopes are corrected for it",
    "berkson": "Berkson's, the truth about posterior means; slopes need no correction",
}
# What to do where units are autocorrelated.
_WHAT_TO_DO = (
    "Regress differences of neighbours (differences=True), or give {}coarser units=, of which "
    f"{_TELLING} or more remain; the chapter on regressions says which to choose."
)
_WHAT_OF_OPPOSED = (
    "This is expected of differences of units that are independent, or less autocorrelated than a "
    "random walk. Regress the units themselves, too, without differences=True: if they are found "
    "to be autocorrelated, report both regressions, and that the intervals of both are too narrow; "
    "if not, report that of the units."
)
_WHAT_OF_DIFFERENCES = f"Give coarser units=, such as eras, {_TELLING} or more."
_WHAT_OF_TIME = (
    "The outcome is the time itself: slopes describe when features had which values, and are no "
    "evidence of more. Coarser units=, such as eras, are less autocorrelated. How nearness changes "
    "over time is a question for DynamicSGNS; the chapter on regressions says more."
)
_OF_OPPOSED = "(negative autocorrelation: expected of differences of units that are independent)"
_WHEN = "(the outcome is the time itself: slopes describe when features had which values, not why)"
# What residuals that are those of no independent units are.
_ALIKE, _OPPOSED = "autocorrelated", "negatively autocorrelated"
# Before the names of what differences are of.
CHANGE = "change of "
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
        Parts due to the sampling of units, and to the uncertainty of the features.
    freedom : ndarray of shape (n_terms,)
        Degrees of freedom of Student's t.
    interval : ndarray of shape (n_terms, 2)
    p_value : ndarray of shape (n_terms,)
        For no effect.
    reliability : ndarray of shape (n_terms,)
        Share of a feature's variance, given the covariates, that is not error; 1 for covariates.
    partial_reliability : ndarray of shape (n_terms,)
        The same given the other features, too: the reliability of what slopes rest on.
    explained : ndarray of shape (n_terms,)
        Share of the variation of a term (of a feature, its mean) that the other terms explain, a
        column of data frames; ``1 / (1 - explained)`` is the variance inflation factor.
    covariance : ndarray of shape (n_terms, n_terms)
    error : str
        Assumed error of the features, ``"classical"`` or ``"berkson"``.
    verdict : ndarray of str of shape (n_terms,)
        ``"positive"`` or ``"negative"`` if the interval excludes zero, ``"positive (too narrow)"``
        or ``"negative (too narrow)"`` if it is also known to be too narrow, else ``"not decided"``.
    too_narrow_terms : ndarray of bool of shape (n_terms,)
        Intervals that are known to be too narrow, since both the residuals and the term are
        autocorrelated over units in the order of time, positively or negatively; ``too_narrow`` in
        data frames.
    sentences : list of str
        Each term in words, to be copied.
    n_documents, n_units : int
    units_name : str or None
        Name of the column of units, as of ``df["president"]``.
    fit_units : tuple of (int, str or None) or None
        Number and name of the units that the draws of features assume to be sampled anew; None if
        the features do not say.
    constant, constant_sd : float or None
        The constant, the mean outcome if all terms are zero (also with ``standardize=True``), and
        its standard error, of units and of features; None without one.
    r_squared : float
        R-squared of least squares of the outcome on the mean features and the covariates, as for
        features without error. It does not use slopes corrected for classical error, and it would
        be larger if the features were known.
    prob : float
        Probability of the intervals.
    outcome : str
        Name of the outcome.
    scale : ndarray of shape (n_terms,)
        Unit of the slopes: 1, or the standard deviation of each term if they are standardized.
    standardized : bool
    term_sd : ndarray of shape (n_terms,)
        Standard deviations of the terms over documents; 1 for covariates with two values.
    truth_value : bool
        Whether the outcome is a truth value, and slopes are changes of a probability.
    differences : bool
        Whether rows are differences of units next to each other in time.
    outcome_is_time : bool
        Whether the outcome is the given time, so that slopes say when features had which values.
    zero_one : ndarray of bool of shape (n_terms,)
        Covariates whose values are 0 and 1, so that slopes are differences of the two.
    lag_correlation : float or None
        Correlation of the mean residual of a unit (of a document without units) with that of the
        next in time; None without ``times``, NaN if there are no residuals.
    lag_p_value, lag_p_value_below : float or None
        Probabilities that it is as large, and as small, in a random order of the units.
    term_autocorrelated, term_anticorrelated : ndarray of bool of shape (n_terms,) or None
        Whether, by the same tests, a term given the others is positively or negatively
        autocorrelated. If the residuals are too, its interval is too narrow.

    Notes
    -----
    Units are treated as independent. If units in the order of time are autocorrelated, both in the
    outcome and in a feature, intervals are too narrow: see `regress`.
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
    explained: np.ndarray
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
    differences: bool = False
    outcome_is_time: bool = False
    zero_one: np.ndarray | None = None
    units_name: str | None = None
    fit_units: tuple[int, str | None] | None = None
    constant: float | None = None
    constant_sd: float | None = None
    r_squared: float | None = None
    lag_correlation: float | None = None
    lag_p_value: float | None = None
    lag_p_value_below: float | None = None
    term_autocorrelated: np.ndarray | None = None
    term_anticorrelated: np.ndarray | None = None

    @property
    def title(self) -> str:
        """What the slopes are of."""
        return f"slopes of {self.outcome}{' per standard deviation' if self.standardized else ''}"

    @property
    def verdict(self) -> np.ndarray:
        """Sign of each slope, or that it is not decided, (n_terms,)."""
        side = side_of_zero(self.interval, "positive", "negative")
        rough = self.too_narrow_terms & (side != "not decided")
        return np.where(rough, np.char.add(side, TOO_NARROW), side)

    @property
    def too_narrow_terms(self) -> np.ndarray:
        """Whether each interval is known to be too narrow, (n_terms,)."""
        near = self._near()
        if near is None or near[1] is None:
            return np.zeros(self.terms.size, dtype=bool)
        return np.asarray(near[1], dtype=bool)

    @property
    def sentences(self) -> list[str]:
        """Each slope in words, to be copied."""
        return [self._sentence(j) for j in range(self.terms.size)]

    def _sentence(self, j):
        mean, low, high = with_signs(self.mean[j], self.interval[j], _digits_of(self.sd[j]))
        another, rows = f"{self._sampled()} of the same kind", self._about()
        if self.units_name is not None:
            another = f"{self.n_units} units{self._called()}"
            of = "differences of neighbours in time order" if self.differences else "documents"
            rows = f"{self._n_rows()} {of}"
        sides = ("higher", "lower") if self.truth_value else ("larger", "smaller")
        side = str(side_of_zero(self.interval[j], *sides))
        about = "; ".join(filter(None, (
            rows,
            "slope corrected for error in the features" if self.error == "classical" else "",
            "linear probability model" if self.truth_value else "",
            self._on_independence(),
        )))  # fmt: skip
        of_difference = " of the difference" if side in sides else ""
        brackets = (
            f"({100 * self.prob:g} % interval{of_difference} {low} to {high}, for another sample "
            f"of {another}, {p_value(self.p_value[j])}; {about})"
        )
        text = effect(
            self._of_what(),
            self._step(j),
            held=self.terms.size > 1,
            figures=(mean, brackets),
            side=side if side in sides else None,
            sides=sides,
        )
        return ended(text + self._on_time(j), None)

    def _of_what(self):
        """What slopes are of, in a sentence."""
        if self.truth_value:
            return f"the probability of {self.outcome!r}"
        if self.differences:
            return f"the mean change of {self.outcome.removeprefix(CHANGE)!r}"
        return f"the mean of {self.outcome!r}"

    def _step(self, j):
        """What a slope is for, in a sentence; terms that have two values keep their unit."""
        name, sd = str(self.terms[j]), 1.0 if self.term_sd is None else self.term_sd[j]
        more, aside = "one", "" if sd == 1.0 else f" (its standard deviation is {sd:.3g})"
        if self.standardized and sd != 1.0:
            more, aside = f"one standard deviation ({sd:.3g})", ""
        if self.zero_one is not None and self.zero_one[j]:
            where = f"where {name!r} is 1 instead of 0"
            return Step(f"W{where[1:]}", where, "")
        if not self.differences:
            return step_of(repr(name), more, aside)
        change = f"change of {name.removeprefix(CHANGE)!r}"
        return Step(
            f"With a {change} that is larger by {more}{aside}",
            f"with a larger {change}{aside}",
            f"with {more} more ",
        )

    def _on_independence(self):
        """What brackets of a sentence end with, where nothing is known to be amiss; or empty."""
        if self.lag_correlation is None:
            return f"{self._sampled()} treated as independent"
        if self._near() is None and not np.isnan(self.lag_correlation) and self._too_few_to_tell():
            return f"{self._rows()} treated as independent: {self._hardly()}"
        return ""

    def _on_time(self, j):
        """What a sentence ends with, about units next to each other."""
        if self.lag_correlation is None or self._near() is None:
            return ""
        near, terms = self._near()
        so = "so this interval is too narrow"
        if terms is not None and not terms[j]:
            so = f"and this interval is too narrow if {str(self.terms[j])!r} is {near} too"
        return (
            f"; residuals of {self._rows()} are {near} in time ({self.lag_correlation:.2f}), {so}"
        )

    def _too_few_to_tell(self):
        """Whether so few units, or differences of them, are in the order of time."""
        return self.n_units - self.differences < _TELLING

    def _hardly(self):
        return _HARDLY.format(self._rows())

    def too_narrow(self) -> str | None:
        """Return which intervals are too narrow and why, as below figures, or None.

        Examples
        --------
        >>> import warnings
        >>> import numpy as np
        >>> from skbayesembed import regress
        >>> walks = np.cumsum(np.random.default_rng(0).normal(size=(2, 40)), axis=1)
        >>> draws = walks[0] + 0.1 * np.random.default_rng(1).normal(size=(50, 40))
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     table = regress(draws, walks[1], times=np.arange(40), names=["war"])
        >>> table.too_narrow()
        'too narrow, since documents are autocorrelated in time: war'
        """
        near = self._near()
        if near is None or near[1] is None or not near[1].any():
            return None
        terms = ", ".join(self.terms[near[1]])
        if near[1].sum() > _FEW_TERMS:
            terms = f"{near[1].sum()} of {self.terms.size} terms"
        return f"too narrow, since {self._rows()} are {near[0]} in time: {terms}"

    def _near(self):
        """How rows are autocorrelated, in words, and which terms are, too; None if they are not."""
        if self.lag_p_value is not None and self.lag_p_value <= LEVEL:
            return _ALIKE, self.term_autocorrelated
        if self.lag_p_value_below is not None and self.lag_p_value_below <= LEVEL:
            return _OPPOSED, self.term_anticorrelated
        return None

    def _n_rows(self):
        return self.n_units - 1 if self.differences else self.n_documents

    def _about(self):
        """What the rows are that were regressed."""
        if self.differences:
            units = f"{self.n_units} {self._sampled()}{self._called()}"
            return f"{self._n_rows()} differences of {units} in time order"
        return f"{self.n_documents} documents of {self.n_units} units{self._called()}"

    def _called(self):
        return "" if self.units_name is None else f" ({self.units_name})"

    def _rows(self):
        return "differences" if self.differences else self._sampled()

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

    def _series(self):
        return super()._series() | {
            "explained": self.explained, "too_narrow": self.too_narrow_terms
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            ``attrs`` has facts about the whole table: ``outcome``, ``n_documents``, ``n_units``,
            ``units_name``, ``constant``, ``constant_se``, ``r_squared`` and ``prob``.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import regress
        >>> rng = np.random.default_rng(0)
        >>> share = rng.normal(size=60)
        >>> draws = share + 0.2 * rng.normal(size=(100, 60))
        >>> frame = regress(draws, 2 * share + rng.normal(size=60)).to_frame()
        >>> sorted(frame.attrs)[:3], 0.5 < frame.attrs["r_squared"] < 1
        (['constant', 'constant_se', 'n_documents'], True)
        """
        frame = super().to_frame()
        names = "outcome", "n_documents", "n_units", "units_name", "constant", "r_squared", "prob"
        frame.attrs |= {name: getattr(self, name) for name in names}
        frame.attrs["constant_se"] = self.constant_sd
        return frame

    def _title(self):
        return f"{self.title}, {self._about()}"

    def _notes(self):
        known = _TAKEN[self.error]
        per = ["(per: standard deviation of a term; 1 of those that have two values)"]
        return [
            *(per if self.standardized else []),
            "(se: of units, CR2, and of features together)",
            *self._note_on_whole(),
            self._note_on_time(),
            *self._note_on_units(),
            *([_OF_OPPOSED] if (self._near() or ("",))[0] == _OPPOSED else []),
            *([_WHEN] if self.outcome_is_time else []),
            f"(error in the features: {known})",
            "(df: few where few units tell of a slope; more than units where the draws of features "
            "add most of se)",
            "(reliability: share of a feature that is not error, given the covariates; beside: "
            "given the other features, too)",
            *self._note_on_terms(),
            *([] if _enough(self) else [_FEW]),
        ]

    def _note_on_whole(self):
        """A line, in a list, on the constant and R-squared."""
        if self.r_squared is None:
            return []
        found = [f"R-squared at the mean features: {self.r_squared:.2f}"]
        if self.constant is not None:
            found.insert(0, f"constant: {self.constant:.4g}, se {self.constant_sd:.3g}")
        return [f"({'; '.join(found)})"]

    def _note_on_units(self):
        """A line, in a list, where features are for another sample of other units than slopes."""
        if self.fit_units is None:
            return []
        n, name = self.fit_units
        other = None not in (name, self.units_name) and name != self.units_name
        if n == self.n_units and not other:
            return []
        called = "" if name is None else f" ({name})"
        return [
            f"(draws of features are for another sample of {n} units{called}, slopes for one of "
            f"{self.n_units}{self._called()}: the units of fit are others than those of the "
            "regression, or of more documents)"
        ]

    def _note_on_terms(self):
        """A line, in a list, on terms that the others explain; none where they explain none."""
        much = np.flatnonzero(self.explained > _MUCH)
        if not much.size:
            return []
        shares = ", ".join(f"{100 * self.explained[j]:.0f} % of {self.terms[j]}" for j in much)
        return [f"(explained by the other terms: {shares}; slopes rest on what is left)"]

    def _note_on_time(self):
        if self.lag_correlation is None:
            return (
                f"({self._sampled()} are treated as independent: if they are autocorrelated in "
                "time, intervals are too narrow; times= tests for it)"
            )
        if np.isnan(self.lag_correlation):
            return (
                "(the terms explain the outcome exactly: there are no residuals by which to test "
                f"whether {self._rows()} are autocorrelated in time)"
            )
        near, said = self._near(), "treated as independent"
        if self._too_few_to_tell():
            said += f", but {self._hardly()}"
        p = self.lag_p_value
        if near is not None:
            said = f"intervals of terms that are {near[0]} too are too narrow"
            if near[0] == _OPPOSED:
                p = self.lag_p_value_below
        return (
            f"(autocorrelation of residuals of {self._rows()} in time: "
            f"{self.lag_correlation:.2f}, {p_value(p)}; {said})"
        )


def _digits_of(sd):
    """Digits after the point that two significant digits of a standard error need."""
    return max(0, min(5, 1 - int(np.floor(np.log10(sd))))) if 0 < sd < np.inf else 0


def _enough(table):
    least = _FEWEST_DOCUMENTS * table.terms.size
    return np.min(table.freedom) >= _FEWEST_FREE and table._n_rows() >= least


def warn_of(table: Regression, time_given: bool) -> None:
    """Warn of autocorrelated units, and of too few documents or units, of a table.

    ``time_given`` says whether the time is a covariate.
    """
    _warn_of_few(table)
    _warn_of_time(table, time_given)


def _warn_of_time(table, time_given):
    """Warn of autocorrelated residuals; of negative autocorrelation where these are differences."""
    near = table._near()
    if near is None or (near[0] == _OPPOSED and not table.differences):
        return
    p = table.lag_p_value
    advice = _WHAT_TO_DO.format("" if time_given else "the time among covariates= or ")
    if near[0] == _OPPOSED:
        p, advice = table.lag_p_value_below, _WHAT_OF_OPPOSED
    elif table.outcome_is_time or table.differences:
        advice = _WHAT_OF_TIME if table.outcome_is_time else _WHAT_OF_DIFFERENCES
    warn_user(
        f"Residuals of {table._rows()} are {near[0]} in time ({table.lag_correlation:.2f}, "
        f"{p_value(p)} for independent ones): intervals of features that are {near[0]} too are too "
        f"narrow. {advice}",
        UserWarning,
    )


def _warn_of_few(table):
    """Warn where documents or units are too few for so many slopes."""
    if _enough(table):
        return
    j = int(np.argmin(table.freedom))
    warn_user(
        f"{table._about()} are few for "
        f"{table.terms.size} slopes: that of {str(table.terms[j])!r} has {table.freedom[j]:.1f} "
        f"degrees of freedom. Below {_FEWEST_FREE:g}, and below {_FEWEST_DOCUMENTS} documents a "
        "slope, neither intervals nor p-values are to be trusted: take fewer features.",
        UserWarning,
    )
