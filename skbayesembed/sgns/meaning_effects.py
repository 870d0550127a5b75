"""The table of effects of covariates on the vector of a word."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import Bunch

from ..corpus.design import note_on_names
from ..corpus.products import Product, note_on_products
from ..posterior.cells import dashed, p_values, repeated
from ..posterior.few_units import note_on_few_terms
from ..posterior.in_time import clause_on_time, in_time_of, note_on_time
from ..posterior.one_unit import known_errors, note_on_one_unit, with_sample
from ..posterior.regressed import (
    RegressedTable,
    note_on_explained,
    spec_of_effects,
    texts_by_row,
)
from ..posterior.sentences import (
    Sentences,
    effect,
    ended,
    interval_in_words,
    joined,
    p_value,
    rounded,
    side_of_zero,
    with_signs,
)
from ..posterior.sources import FEW_UNITS
from ..posterior.tables import Column

# What the length of a coefficient is called beside the axes.
LENGTH = "length"
# Words of an end of an axis that are named.
_NAMED = 3
# Digits after the point that are enough in print where they show the standard errors.
_DIGITS = 3
# Below tables, and in sentences.
_FEW = f"(fewer than {FEW_UNITS} units: do not rely on intervals and p-values)"


@dataclass(frozen=True, repr=False, eq=False)
class MeaningEffects(RegressedTable):
    """Effects of covariates on the vector of a word, a row for each term and each axis.

    Data frames have a column ``word`` with what was asked, and columns ``from`` and ``to`` with the
    words at the ends of the axes.

    Attributes
    ----------
    terms : ndarray of str of shape (n_terms,)
        Covariates, without the constant.
    axes : list of str
        ``"length"``, then the given axes.
    coefficients : ndarray of shape (n_terms, n_components)
        Change of the word's vector with one more of the covariate.
    covariance : ndarray of shape (n_terms, n_components, n_components)
        Covariances of the coefficients, by units.
    mean, sd : ndarray of shape (n_terms, n_axes)
        Lengths of the coefficients, less what noise adds to them, NaN where one unit alone decides,
        as noise is not known then; their projections on the axes, which have length one; and
        standard errors, NaN of lengths, which are not distributed about an estimate. A projection
        is positive where the word moves towards the second end of the axis.
    interval : ndarray of shape (n_terms, n_axes, 2)
        That of a length is cut off at zero.
    p_value : ndarray of shape (n_terms, n_axes)
        For no effect: of a length by a permutation test, or with ``times`` by an F test; of a
        projection by Student's t. The tests of a length are not made of its interval: p may be
        small where the interval begins at zero. Where it is not below ``1 - prob``, sentences say
        that it is not decided whether the vector differs.
    n_occurrences, n_documents, n_units : int
        Numbers of occurrences of the word, and of documents and units with it.
    prob : float
        Probability of the intervals.
    word : tuple of str
        The word, or the words whose occurrences are combined.
    ends : dict of str to (tuple of str, tuple of str)
        Words at both ends of each axis, by its name.
    autocorrelation, autocorrelated, residual_correlation, trend : float or None
        Of the residuals of units over time, as of a `Regression`, averaged over directions of the
        vectors by how much units vary along them; None without ``times``.
    alternating : bool
        Whether neighboring units are clearly less alike than independent ones.
    n_left_out : int
        Further occurrences, without a known word around them, which are left out.
    freedom : ndarray of shape (n_terms, n_axes) or None
        Degrees of freedom; NaN where one unit alone decides.
    n_permutations : ndarray of int of shape (n_terms,) or None
        Those that each length is tested by: all there are where units are few. None with ``times``.
    least_p : ndarray of shape (n_terms,) or None
        Smallest p-value that these permutations can give.
    between_words : float or None
        Root mean square distance between the vectors of two words of the model, which lengths can
        be held against: a length has no unit of its own.
    zero_one : ndarray of bool of shape (n_terms,) or None
        Which terms are 0 or 1: sentences compare the two.
    products : tuple of Product
        Terms that are products of two others, or squares of one, as interactions are.
    explained : ndarray of shape (n_terms,) or None
        Share of the variation of a term over occurrences that the other terms explain.
    sentences : dict of (str, str) to str
        Each effect in words, to be copied, by its axis and term.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> year = {"year": range(15)}
    >>> effects = model.effects(texts, year, word="cat", axes={"pets": ("sat", "dog")})
    >>> effects.axes, effects.mean.shape
    (['length', 'pets'], (1, 2))
    >>> effects.sentences["length", "year"].split(" with")[0]
    "It is not decided whether the vector of 'cat' differs"
    >>> effects.to_frame()[["word", "axis", "from", "to"]].values.tolist()
    [['cat', 'length', '', ''], ['cat', 'pets', 'sat', 'dog']]
    """

    terms: np.ndarray
    axes: list
    coefficients: np.ndarray
    covariance: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    n_occurrences: int
    n_documents: int
    n_units: int
    prob: float
    word: tuple[str, ...] = ()
    ends: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    units_name: str | None = None
    autocorrelation: float | None = None
    autocorrelated: float | None = None
    residual_correlation: float | None = None
    trend: float | None = None
    alternating: bool = False
    zero_one: np.ndarray | None = None
    n_left_out: int = 0
    between_words: float | None = None
    freedom: np.ndarray | None = None
    n_permutations: np.ndarray | None = None
    least_p: np.ndarray | None = None
    products: tuple[Product, ...] = ()
    explained: np.ndarray | None = None

    @property
    def undecided(self) -> np.ndarray:
        """Terms of which the test of the length does not decide that there is one, (n_terms,)."""
        return ~(self.p_value[:, 0] < 1.0 - self.prob)

    @property
    def of(self) -> str:
        """What effects are on, in print: the vector of the word, or of the words together."""
        together = " together" if len(self.word) > 1 else ""
        return f"the vector of {joined([repr(one) for one in self.word])}{together}"

    @property
    def sentences(self) -> dict[tuple[str, str], str]:
        """Each effect in words, to be copied, by its axis and term."""
        return Sentences(
            {
                (axis, str(term)): self._sentence(j, i)
                for j, term in enumerate(self.terms)
                for i, axis in enumerate(self.axes)
            }
        )

    def _in_a_row(self):
        """Effects in a row, as `over_settings` compares them."""
        return Bunch(
            terms=[f"{term}, {axis}" for term in self.terms for axis in self.axes],
            mean=self.mean.ravel(),
            interval=self.interval.reshape(-1, 2),
            p_value=self.p_value.ravel(),
            verdict=np.column_stack(
                [
                    np.where(self.undecided, "not decided", "differs"),
                    side_of_zero(self.interval[:, 1:], "positive", "negative"),
                ]
            ).ravel(),
            prob=self.prob,
            title=f"effects on {self.of}",
            sources=["units"] * self.mean.size,
            of_units=self.n_units,
            units_name=self.units_name,
            _units_called=self._units_called,
        )

    def _sentence(self, j, i):
        of, sides, sign, what = self._of(self.axes[i])
        mean, low, high = with_signs(self.mean[j, i], self.interval[j, i], self.sd[j, i], sign)
        if sides is None:
            side, decided = "longer", not self.undecided[j]
        else:
            side = str(side_of_zero(self.interval[j, i], *sides))
            decided = side in sides
        of_difference = " of the difference" if decided and sides is not None else ""
        interval = interval_in_words(low, high, self.prob, of_difference)
        if decided and sides is None and self.interval[j, 0, 0] == 0:
            interval = f"{100 * self.prob:g}% interval up to {high}"
        p = self.p_value[j, i]
        text = effect(
            of,
            self._step(j),
            figures=(f"{what}{mean}", f"({interval}, {p_value(p)}{self._least(j, i)})"),
            side=side if decided else None,
            p=p,
            sides=sides,
        )
        # units are told of already
        rows = self._about() if np.isnan(p) else self._rows()
        rest = with_sample(self._sample(), f"the regression has {rows}", p)
        known = ["The vectors of its contexts are taken as known"]
        if i == 0 and self.between_words is not None:
            text += f"; {self._apart()}"
        if i == 0:
            known += self._of_another_test(j)
        known += [note.strip("()") for note in self._notes_on_few()]
        known += filter(None, [clause_on_time(in_time_of(self), self._sampled())])
        return ended(f"{text}. {rest}. {'; '.join(known)}", None)

    def _of(self, axis):
        """What an effect is of, words for above and below zero, a positive sign, its unit."""
        if axis == LENGTH:
            return self.of, None, "", "a vector of length "
        below, above = (f"further towards {_some(end)}" for end in self.ends[axis])
        return f"on the axis {axis!r} {self.of}", (above, below), "+", ""

    def _apart(self):
        """What lengths can be held against, a clause."""
        (distance,) = rounded([self.between_words])
        return f"the vectors of two words are {distance} apart (root mean square)"

    def _test(self):
        if self.autocorrelation is not None:
            return "an F test"
        if self.n_permutations is None:
            return "a permutation test"
        fewest, most = np.min(self.n_permutations), np.max(self.n_permutations)
        n = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
        return f"a permutation test ({n} permutations)"

    def _least(self, j, i):
        """Behind a p that no permutation comes up to, that it is the smallest there can be."""
        p = self.p_value[j, i]
        if i or self.least_p is None or not p <= self.least_p[j]:
            return ""
        return f", the smallest that {self.n_permutations[j]:,} permutations can give"

    def _of_another_test(self, j):
        """A clause, in a list, where the interval of a length and its p say different things."""
        p, low = self.p_value[j, 0], self.interval[j, 0, 0]
        if np.isnan(p) or (low == 0) == self.undecided[j]:
            return []
        which = "which decides" if self.undecided[j] else "and the interval is cut off at 0"
        return [f"p is of {self._test().partition(' (')[0]}, {which}"]

    def _columns(self):
        sd, n = known_errors(self.sd, self.interval[..., 0]), len(self.terms)
        sizes = np.where(np.isnan(sd), np.ptp(self.interval, axis=-1) / 4.0, sd)
        of_terms = zip(sizes, self.mean, strict=True)
        specs = [spec_of_effects(*of, _DIGITS) for of in of_terms for _ in self.axes]
        signs = ["", *["+"] * (len(self.axes) - 1)] * n
        signed = [f"{sign}{spec}" for sign, spec in zip(signs, specs, strict=True)]
        mean, interval = self.mean.ravel(), self.interval.reshape(-1, 2)
        return [
            Column("axis", list(self.axes) * n, ("axis",), left=True),
            Column("effect", mean, (), texts=texts_by_row(mean, signed)),
            Column("se", sd.ravel(), ("sd",), texts=texts_by_row(sd.ravel(), specs)),
            Column("interval", interval, (), left=True, texts=texts_by_row(interval, signed)),
            Column("df", self._free(), ("df",), dashed(".1f")),
            Column("p", self.p_value.ravel(), ("p_value",), p_values),
        ]

    def _series(self):
        n = len(self.terms)
        first, second = (
            ["", *(", ".join(self.ends[axis][i]) for axis in self.axes[1:])] for i in (0, 1)
        )
        low, high = self.interval.reshape(-1, 2).T
        series = super()._series()
        return {
            "word": repeated(", ".join(self.word), n * len(self.axes)),
            "term": series["term"],
            "axis": np.array(series["axis"], dtype=object),
            "from": np.array(first * n, dtype=object),
            "to": np.array(second * n, dtype=object),
            "mean": self.mean.ravel(),
            "sd": series["sd"],
            "low": low,
            "high": high,
            "df": series["df"],
            "p_value": series["p_value"],
        }

    def _free(self):
        if self.freedom is None:
            return np.full(self.p_value.size, np.nan)
        return self.freedom.ravel()

    def _title(self):
        return f"effects on {self.of}, {100 * self.prob:g} % intervals"

    def _groups(self):
        return "term", np.repeat(self.terms, len(self.axes))

    def _rows(self):
        return f"{self.n_occurrences:,} occurrences in {self.n_documents:,} documents"

    def _notes(self):
        of_axes = [
            f"({axis}: from {_some(low)}, below 0, to {_some(high)}, above 0)"
            for axis, (low, high) in self.ends.items()
        ]
        left_out = f"; {self.n_left_out:,} more, without a known word around them, left out"
        return [
            f"({self._about()}{left_out if self.n_left_out else ''})",
            f"(length: of the change of the vector, less what noise adds to it; p is of "
            f"{self._test()}; the interval is cut off at 0, and may begin there where p is small)",
            *([] if self.between_words is None else [f"({self._apart()})"]),
            *of_axes,
            note_on_time(in_time_of(self), self._sampled(), "effects"),
            *note_on_names(self.terms),
            *note_on_products(self.products),
            *note_on_explained(self.terms, self.explained, "effects"),
            *note_on_one_unit(self.terms, self.interval),
            *self._notes_on_few(),
        ]

    def _notes_on_few(self):
        """A line, in a list, on units that are few; none where they are not."""
        if self.n_units < FEW_UNITS:
            return [_FEW]
        if self.freedom is None:
            return []
        return note_on_few_terms(self.freedom, self.n_units, "term")


def _some(words):
    """Words of an end of an axis, the first of many."""
    named = [repr(word) for word in words[:_NAMED]]
    more = len(words) - _NAMED
    return joined([*named, f"{more} more"] if more > 0 else named)
