"""The table of `regress`: slopes with their intervals, and what is to be known of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..corpus.design import note_on_names
from ..corpus.products import Product, note_on_products
from ..posterior.cells import dashed, number, p_values
from ..posterior.few_units import note_on_few_terms, warn_of_few
from ..posterior.in_time import clause_on_time, in_time_of, note_on_time, warn_of_alternation
from ..posterior.one_unit import known_errors, note_on_one_unit, warn_of_one_unit, with_sample
from ..posterior.regressed import RegressedTable, note_on_explained, texts_by_row
from ..posterior.sentences import (
    Sentences,
    capital,
    decimals,
    digits_to_tell,
    effect,
    ended,
    interval_in_words,
    p_value,
    side_of_zero,
    step_of,
    sure_of,
    with_signs,
)
from ..posterior.sources import later_name, units_in_words
from ..posterior.tables import Column

if TYPE_CHECKING:
    import pandas as pd

# Digits after the point in print, beyond which numbers have an exponent.
_MOST_DIGITS = 6
# What tables say of the error of features.
_TAKEN = {
    "classical": "classical, estimates about the truth; slopes are corrected for it",
    "berkson": "Berkson's, the truth about posterior means; slopes need no correction",
}


@dataclass(frozen=True, repr=False, eq=False)
class Regression(RegressedTable):
    """Slopes of an outcome on features of documents, a row for each feature and covariate.

    Attributes
    ----------
    terms : ndarray of str of shape (n_terms,)
        Features, then covariates, without the constant.
    mean : ndarray of shape (n_terms,)
        Slopes: change of the outcome with one more of the feature, or ``scale`` more. `slope` is
        the same.
    sd : ndarray of shape (n_terms,)
        Standard errors, of both parts together. `se` is the same.
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
        column of data frames; ``1 / (1 - explained)`` is the variance inflation factor. It is that
        of the terms as they are, also with ``times``, while reliabilities are then of what is left
        after autocorrelation.
    covariance : ndarray of shape (n_terms, n_terms)
    error : str
        Assumed error of the features, ``"classical"`` or ``"berkson"``.
    verdict : ndarray of str of shape (n_terms,)
        ``"positive"`` or ``"negative"`` if the interval excludes zero, else ``"not decided"``.
        Printed tables and sentences say "probably" where a 95 % interval would contain zero.
    sentences : dict of str to str
        Each slope in words, to be copied, by its term.
    n_documents, n_units : int
    n_left_out : int
        Documents without a known word, which are left out.
    units_name : str or None
        Name of the column of units, as of ``df["president"]``.
    fit_units : tuple of (int, str or None) or None
        Number and name of the units that the draws of features assume to be sampled anew; None if
        the features do not say.
    constant, constant_sd : float or None
        The constant, the mean outcome if all terms are zero (also with ``standardize=True``), and
        its standard error, of units and of features; None without one. With ``times`` the standard
        error is NaN: the level that autocorrelated residuals vary about is hardly known. So it is
        if one unit alone decides on the constant. Printed tables have the constant if its standard
        error is known and slopes are not standardized.
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
    zero_one : ndarray of bool of shape (n_terms,)
        Covariates whose values are 0 and 1, so that slopes are differences of the two.
    products : tuple of Product
        Terms that are products of two others, or squares of one, as interactions are.
    autocorrelation : float or None
        How much more the mean residuals of units (of documents without units) correlate with those
        of the next in time than if units were independent, about their mean or line: the mean of
        its posterior, in which there are no negative ones. None without ``times``, NaN if there are
        no residuals.
    autocorrelation_interval : ndarray of shape (2,) or None
        Its posterior quantiles, with probability ``prob`` between them; from zero where
        independence is not excluded.
    autocorrelated : float or None
        Posterior probability that units are autocorrelated; before the data, one half.
    residual_correlation : float or None
        Correlation of the mean residuals of units, of least squares, with those of the next in
        time, as it is found without a model. Of independent units it is about ``-1 / n_units``.
    alternating : bool
        Whether neighboring units are clearly less alike than independent ones, as one in a hundred
        of independent series is. Intervals are then too wide for terms that change slowly, and too
        narrow for terms that alternate as well.
    trend : float or None
        Posterior probability that residuals rise or fall along a straight line in time, which then
        is one more covariate; NaN if a term is nearly that line, or units are too few for one.

    Notes
    -----
    Without ``times``, units are treated as independent. If units in the order of time are
    autocorrelated, both in the outcome and in a feature, intervals are then too narrow: see
    `regress`.
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
    zero_one: np.ndarray | None = None
    units_name: str | None = None
    fit_units: tuple[int, str | None] | None = None
    constant: float | None = None
    constant_sd: float | None = None
    r_squared: float | None = None
    autocorrelation: float | None = None
    autocorrelation_interval: np.ndarray | None = None
    trend: float | None = None
    autocorrelated: float | None = None
    residual_correlation: float | None = None
    alternating: bool = False
    n_left_out: int = 0
    products: tuple[Product, ...] = ()

    @property
    def slope(self) -> np.ndarray:
        """Slopes, as ``mean``, by the name of their column."""
        return self.mean

    @property
    def se(self) -> np.ndarray:
        """Standard errors, as ``sd``, by the name of their column."""
        return self.sd

    @property
    def of(self) -> str:
        """What the slopes are of, in print: the outcome, or of a truth value its probability."""
        return f"P({self.outcome!r} is true)" if self.truth_value else self.outcome

    @property
    def title(self) -> str:
        """What the slopes are of."""
        return f"slopes of {self.of}{' per standard deviation' if self.standardized else ''}"

    @property
    def verdict(self) -> np.ndarray:
        """Sign of each slope, or that it is not decided, (n_terms,)."""
        return side_of_zero(self.interval, "positive", "negative")

    @property
    def sentences(self) -> dict[str, str]:
        """Each slope in words, to be copied, by its term."""
        return Sentences({str(term): self._sentence(j) for j, term in enumerate(self.terms)})

    def _sentence(self, j):
        mean, low, high = with_signs(self.mean[j], self.interval[j], self.sd[j])
        sides = ("higher", "lower") if self.truth_value else ("larger", "smaller")
        side = str(side_of_zero(self.interval[j], *sides))
        of = " of the difference" if side in sides else ""
        interval = interval_in_words(low, high, self.prob, of)
        text = effect(
            self._of_what(),
            self._step(j),
            figures=(mean, f"({interval}, {p_value(self.p_value[j])})"),
            side=side if side in sides else None,
            p=self.p_value[j],
            sides=sides,
        )
        return ended(f"{text}. {self._known(self.p_value[j])}", None)

    def _known(self, p):
        """What is to be known of slopes, sentences without the last full stop."""
        # units are told of already
        rows = self._about() if np.isnan(p) else self._rows()
        how = ["the slope is corrected for error in the features"] * (self.error == "classical")
        how += ["the model is a linear probability model"] * self.truth_value
        if clause := clause_on_time(in_time_of(self), self._sampled()):
            how.append(clause)
        few = note_on_few_terms(self.freedom, self.n_units, "slope")
        how += [note.strip("()") for note in few]
        told = f". {capital('; '.join(how))}" if how else ""
        return f"{with_sample(self._sample(), f'the regression has {rows}', p)}{told}"

    def _of_what(self):
        """What slopes are of, in a sentence."""
        if self.truth_value:
            return f"the probability that {self.outcome!r} is true"
        return f"the mean of {self.outcome!r}"

    def _change(self, j):
        """What a slope is for, in a sentence; terms that have two values keep their unit."""
        sd = 1.0 if self.term_sd is None else self.term_sd[j]
        if sd == 1.0 or (self.zero_one is not None and self.zero_one[j]):
            return super()._change(j)
        return step_of(repr(str(self.terms[j])), sd, standardized=self.standardized)

    def _columns(self):
        interval = f"{100 * self.prob:g} % interval"
        per = [Column("per", self.scale, ("scale",), ".3g")] if self.standardized else []
        return [
            Column("term", list(self.terms), ("term",), left=True),
            *per,
            self._alike("slope", self.mean, "slope"),
            self._alike("se", known_errors(self.sd, self.freedom), "se"),
            self._alike("units", known_errors(self.sd_units, self.freedom), "se_units"),
            self._alike("features", self.sd_features, "se_features"),
            self._alike(interval, self.interval, "low", "high", left=True),
            Column("df", self.freedom, ("df",), dashed(".1f")),
            Column("p", self.p_value, ("p_value",), p_values),
            Column("verdict", self._surely(), ("verdict",), left=True),
            Column("reliability", self.reliability, ("reliability",), ".2f"),
            Column("beside", self.partial_reliability, ("partial_reliability",), ".2f"),
        ]

    def _alike(self, head, values, *names, left=False):
        """A column whose numbers have as many digits after the point as others of their row."""
        specs = [
            _spec_of(sd if 0 < sd < np.inf else abs(mean), interval)
            for sd, mean, interval in zip(self.sd, self.mean, self.interval, strict=True)
        ]
        return Column(head, values, names, left=left, texts=texts_by_row(values, specs))

    def _surely(self):
        """Verdicts in print."""
        only = (self.verdict != "not decided") & ~sure_of(self.p_value)
        return [f"{'probably ' if o else ''}{v}" for o, v in zip(only, self.verdict, strict=True)]

    def _series(self):
        return super()._series() | {"explained": self.explained}

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
        per = ["(per: one standard deviation of the term, or 1 for a term with two values)"]
        return [
            *(per if self.standardized else []),
            "(se: of units, CR2, and of features together)",
            *self._note_on_whole(),
            note_on_time(in_time_of(self), self._sampled(), "slopes"),
            *self._note_on_units(),
            *self._note_on_left_out(),
            *note_on_names(self.terms),
            *note_on_products(self.products),
            *self._note_on_features(),
            f"(error in the features: {known})",
            "(df: degrees of freedom; few where a slope rests on few units, more than units where "
            "most of se comes from the features)",
            "(reliability: share of a feature that is not error, given the covariates; beside: "
            "given the other features, too)",
            *note_on_explained(self.terms, self.explained, "slopes"),
            *note_on_one_unit(self.terms, self.freedom),
            *note_on_few_terms(self.freedom, self.n_units, "slope"),
        ]

    def _note_on_whole(self):
        """A line, in a list, on the constant and R-squared.

        Not on a constant at zeros that are far from standardized terms, or without standard error.
        """
        if self.r_squared is None:
            return []
        found = [f"R-squared at the mean features: {self.r_squared:.2f}"]
        if self.constant is not None and not (self.standardized or np.isnan(self.constant_sd)):
            spec = _spec_of(self.constant_sd or abs(self.constant), ())
            values = number(self.constant, spec), number(self.constant_sd, spec)
            beyond = self.truth_value and not 0.0 <= self.constant <= 1.0
            found.insert(
                0,
                f"constant, the {'probability' if self.truth_value else 'mean'} where all terms "
                f"are zero: {values[0]}, se {values[1]}"
                + ", beyond 0 to 1, so that no documents are like that: center the terms"
                * beyond,
            )
        return [f"({'; '.join(found)})"]

    def _note_on_features(self):
        """A line, in a list, where features have no name but their number."""
        unnamed = [str(term) for term in self.terms if re.fullmatch(r"feature \d+", str(term))]
        what = "features without names; names= gives them"
        if len(unnamed) == 1:
            what = "a feature without a name; names= gives it one"
        return [f"({', '.join(unnamed)}: {what})"] if unnamed else []

    def _note_on_units(self):
        """A line, in a list, where features allow for the sampling of other units than slopes."""
        if self.fit_units is None:
            return []
        n, name = self.fit_units
        other = None not in (name, self.units_name) and name != self.units_name
        if n == self.n_units and not other:
            return []
        of_fit = units_in_words(n, name)
        of_slopes = units_in_words(self.n_units, self.units_name if other else later_name(name))
        if self.units_name is None and self.n_units == self.n_documents:
            of_slopes = f"{self.n_documents:,} documents"
        return [
            f"(draws of features allow for the sampling of {of_fit}, slopes for that of "
            f"{of_slopes}: the units of fit are others than those of the regression, or of more "
            "documents)"
        ]

    def _note_on_left_out(self):
        """A line, in a list, on documents without a known word."""
        n = self.n_left_out
        what = "1 document" if n == 1 else f"{n:,} documents"
        return [f"({what} without a known word left out)"] if n else []


def _spec_of(size, interval):
    """Format of the numbers of a row: three significant digits of its standard error.

    Or more, where an end of its interval would be rounded to zero.
    """
    digits = decimals(size / 10.0, most=_MOST_DIGITS + 1)
    if digits > _MOST_DIGITS:
        return ".2e"
    ends = [abs(end) for end in interval if np.isfinite(end)]
    return f".{digits_to_tell(ends, digits, _MOST_DIGITS)}f"


def warn_of(table: Regression) -> None:
    """Warn where units are too few for the slopes of a table, or alternate in time."""
    warn_of_alternation(in_time_of(table), table._sampled())
    warn_of_one_unit(table.terms, table.freedom)
    warn_of_few(
        table.freedom, table.n_units, table.terms, "slope", table._about(), table._sampled()
    )
