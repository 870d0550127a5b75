"""Comparison of models by the expected log predictive densities of the same observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..posterior.psis import MOST_PARAMETERS
from ..posterior.result_table import note_on_score
from ..posterior.tables import Column, Table

# Standard errors below this share of a score are those of rounding.
_ROUNDING = 1e-10
# Sums over observations that differ by less are of models that predict alike, whatever the standard
# error, which is itself unreliable there (Sivula et al. 2020).
_ALIKE = 4.0
# Standard errors of a difference below which models are not told apart.
_ERRORS = 2.0
# What word vectors are scored per.
PAIR = "pair of words"
# Names of models in the line below the table.
_MOST_NAMES = 5
# Share of observations with a bad Pareto k above which a sum is no estimate of what left-out
# observations would say.
_MOST_BAD = 0.02
# Verdicts where there is none, the first that holds.
_WITHHELD = ("not reliable", "not mixed", "one of several modes")


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Table):
    """Table of compared models, best first. A column is an attribute.

    Attributes
    ----------
    names : ndarray of str of shape (n_models,)
    elpd, se : ndarray of shape (n_models,)
        Expected log predictive densities, and their standard errors. Those from ``loo`` and
        ``waic`` are sums over observations, those from `score_units` means over units.
    difference, se_difference : ndarray of shape (n_models,)
        ``elpd`` minus that of the best model, and its standard error, computed from the differences
        observation by observation; 0 for the best.
    bad_share : ndarray of shape (n_models,)
        Share of observations whose densities are unreliable.
    converged : ndarray of object of shape (n_models,)
        Whether the chains have mixed, as ``fit`` noted; None if unknown. The table marks models
        whose chains have not: drop these first of all.
    modes_that_matter : ndarray of object of shape (n_models,)
        Number of modes that hold a share of the posterior worth naming, one of which the draws come
        from (with folds, the maximum); None if modes were not searched for. The table marks models
        with more than one.
    p_share : ndarray of shape (n_models,)
        Effective number of parameters (``p_loo``, ``p_waic``), divided by the number of
        observations; NaN for means over units.
    n : int
        Number of observations, or of units.
    of_units : bool
        Whether scores are means over units, as from `score_units`, or sums over observations.
    n_units : int or None
        For sums, the number of units that ``fit`` was given, for which they do not allow.
    scored : str or None
        For means over units, what a score is per: ``"pair of words"``, ``"snippet"``, ``"token"``.
    note : str or None
        A caveat about sums, if ``n_units`` is known.
    reliable : ndarray of bool of shape (n_models,)
        Whether a score is a reliable estimate: False for sums with ``bad_share`` above 0.02 or
        ``p_share`` above 0.2.
    gain : ndarray of shape (n_models,)
        For scores per pair of words, ``elpd`` minus that of guessing, log 1/2; NaN for others.
        Pairs with words that the model left out count as guessed.
    verdict : ndarray of str of shape (n_models,)
        ``"best"``; ``"not told apart"`` from the best, if the difference is below two of its
        standard errors; for sums, ``"alike"`` if the difference is above that and below four; and
        ``"worse"``. Instead of these, ``"not reliable"`` if the score of the model or of the best
        is not ``reliable``, ``"not mixed"`` if the chains of one of them have not mixed, and
        ``"one of several modes"`` if more than one of its modes matters. Verdicts are printed as a
        line below the table.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from skbayesembed.metrics import compare_models
    >>> a = Bunch(elpd=-6.0, se=1.0, pointwise=[-1.0, -2.0, -3.0])
    >>> b = Bunch(elpd=-7.5, se=1.0, pointwise=[-1.5, -2.5, -3.5])
    >>> table = compare_models({"b": b, "a": a})
    >>> table.names.tolist(), table.difference.tolist()
    (['a', 'b'], [0.0, -1.5])
    """

    names: np.ndarray
    elpd: np.ndarray
    se: np.ndarray
    difference: np.ndarray
    se_difference: np.ndarray
    bad_share: np.ndarray
    converged: np.ndarray
    modes_that_matter: np.ndarray
    p_share: np.ndarray
    n: int
    of_units: bool
    n_units: int | None = None
    scored: str | None = None
    note: str | None = None

    @property
    def reliable(self) -> np.ndarray:
        """Whether scores are reliable estimates, an ndarray of bool of shape (n_models,)."""
        # what is not known is NaN, and speaks against none
        return ~((self.bad_share > _MOST_BAD) | (self.p_share > MOST_PARAMETERS))

    @property
    def gain(self) -> np.ndarray:
        """``elpd`` minus that of guessing, an ndarray of shape (n_models,); NaN if not known."""
        if not (self.of_units and self.scored == PAIR):
            return np.full(self.elpd.size, np.nan)
        return self.elpd - np.log(0.5)

    @property
    def verdict(self) -> np.ndarray:
        """Verdicts on the differences from the best, an ndarray of str of shape (n_models,)."""
        size = np.abs(self.difference)
        found = np.full(size.size, "worse", dtype="<U20")
        if not self.of_units:
            found[size < _ALIKE] = "alike"
        found[size <= _ERRORS * self.se_difference] = "not told apart"
        of_fits = (~self.reliable, self._unmixed(), self._n_modes() > 1)
        for name, holds in reversed(list(zip(_WITHHELD, of_fits, strict=True))):
            found[holds | holds[0]] = name
        if found[0] not in _WITHHELD:
            # beside none that it can be compared with, it is the best of nothing
            found[0] = found[1] if np.isin(found[1:], _WITHHELD).all() else "best"
        return found

    def _columns(self):
        # sums over observations, or means of log probabilities
        digits = f".{self._digits()}f"
        columns = [
            Column("model", list(self.names), ("model",), left=True),
            Column("elpd", self.elpd, ("elpd",), digits),
            Column("se", self.se, ("se",), digits),
            Column("difference", self.difference, ("difference",), digits),
            Column("se of difference", self.se_difference, ("se_difference",), digits),
        ]
        if not np.isnan(self.bad_share).all():
            columns.append(Column("bad k", self.bad_share, (), _shares))
        marks = [
            ", ".join(["not mixed"] * int(unmixed) + [f"1 of {n} modes"] * int(n > 1))
            for unmixed, n in zip(self._unmixed(), self._n_modes(), strict=True)
        ]
        if any(marks):
            columns.append(Column("fit", marks, (), left=True))
        return columns

    def _digits(self):
        """Digits after the point: as many as show every standard error of a difference."""
        least = 1 if np.abs(self.elpd).max() >= 10 else 4
        errors = self.se_difference[self.se_difference > _ROUNDING * np.abs(self.elpd).max()]
        if not errors.size:
            return least
        least = max(least, -int(np.floor(np.log10(errors.min()))))
        # and more, where a difference in print would be two standard errors in print
        return next((d for d in (least, least + 1) if self._shows_sides(d)), least + 2)

    def _shows_sides(self, digits):
        """Whether differences are above or below two standard errors in print as they are."""
        size, errors = np.abs(self.difference[1:]), self.se_difference[1:]
        shown = np.round(size, digits) - _ERRORS * np.round(errors, digits)
        sides = np.sign(np.round(shown, digits + 1)) == np.sign(size - _ERRORS * errors)
        return bool(np.all(sides | (size <= _ROUNDING * np.abs(self.elpd).max())))

    def _unmixed(self):
        return np.array([found is False for found in self.converged])

    def _n_modes(self):
        return np.array([n or 1 for n in self.modes_that_matter], dtype=int)

    def _notes(self):
        notes = [self._scale(), self._verdict_line(), *self._gains(), *super()._notes()]
        if self._unmixed().any():
            notes.append(
                "(not mixed: elpd is that of the part of the posterior that chains are in; leave "
                "such models out before comparing the others)"
            )
        if (self._n_modes() > 1).any():
            notes.append(
                "('1 of 2 modes': more than one mode of the posterior matters, and elpd "
                "is that of the one found heaviest; others may rank models otherwise. See modes_)"
            )
        return notes

    def _scale(self):
        if self.of_units:
            per = self.scored or "pair of words, snippet or token"
            scale = f"(elpd: the mean over {self.n} units of their scores, per {per}"
            guess = f"; probabilities of 1/2 for all pairs score {np.log(0.5):.{self._digits()}f}"
            return f"{scale}{guess if self.scored == PAIR else ''})"
        scale = f"(elpd: a sum over {self.n:,} observations)"
        return scale if self.note is None else f"{scale}\n{self.note}"

    def _gains(self):
        """A line, in a list, on what models gain over guessing; none where that is not known."""
        best, others = self.gain[0], self.gain[1:]
        if np.isnan(best):
            return []
        if best <= 0:
            return ["(gain over guessing: none)"]
        texts = [
            f"{str(name)!r} has {100 * gain / best:.0f} %"
            for name, gain in zip(self.names[1:], others, strict=True)
        ]
        if len(texts) > _MOST_NAMES:
            texts[_MOST_NAMES - 1 : -1] = [".."]
        shares = ", ".join(texts)
        gain = f"{best:.{self._digits()}f} of {str(self.names[0])!r}"
        return [f"(gain over guessing: {gain}, of which {shares})"]

    def _verdict_line(self):
        """What differences come to, a line."""
        best, verdict = repr(str(self.names[0])), self.verdict
        near, alike = (self.names[verdict == name] for name in ("not told apart", "alike"))
        parts = [f"{best} scores best"] if near.size or alike.size else []
        if near.size:
            below = f"{_differences(near)} below two standard errors"
            parts.append(f"{_listed(near, ' and ')} cannot be distinguished from it ({below})")
        if alike.size:
            predict = "predicts" if alike.size == 1 else "predict"
            below = f"{_differences(alike)} below {_ALIKE:g}"
            parts.append(f"{_listed(alike, ' and ')} {predict} alike ({below})")
        worse = verdict == "worse"
        if not parts and worse.all(where=np.arange(worse.size) > 0):
            parts = [f"{best} predicts best, by more than two standard errors of each difference"]
        elif not parts and worse.any():
            parts = [
                f"worse than {best}, by more than two standard errors of the difference: "
                f"{_listed(self.names[worse])}"
            ]
        return f"verdict: {'; '.join([*parts, *self._withheld(verdict)])}"

    def _withheld(self, verdict):
        """Why there is no verdict on some models, or on any, parts of a line."""
        parts = []
        if not self.reliable.all():
            parts.append(
                f"not reliable: {_listed(self.names[~self.reliable])} ({self._reasons()}); use "
                "score_units, which holds out units, or score on observations held out"
            )
        whose = {_WITHHELD[1]: self._unmixed(), _WITHHELD[2]: self._n_modes() > 1}
        for name, holds in whose.items():
            if (verdict == name).any():
                parts.append(f"none on {_listed(self.names[holds])} ({name})")
        return parts

    def _reasons(self):
        """Why scores of some models are not to be relied on."""
        reasons = []
        if (self.bad_share > _MOST_BAD).any():
            reasons.append(f"bad k above {100 * _MOST_BAD:g} %")
        if (self.p_share > MOST_PARAMETERS).any():
            reasons.append(f"more than {MOST_PARAMETERS:g} effective parameters per observation")
        return " or ".join(reasons)

    def _series(self):
        names = (
            "gain", "verdict", "reliable", "bad_share", "p_share", "converged", "modes_that_matter"
        )  # fmt: skip
        return super()._series() | {name: getattr(self, name) for name in names}


def _shares(values):
    """Texts of shares; one that is small is not printed as none."""
    return ["<0.01" if 0 < value < 0.01 else f"{value:.2f}" for value in values]


def compare_models(found: Mapping[str, Any]) -> Comparison:
    """Compare models by their results of ``loo`` or `score_units`.

    Parameters
    ----------
    found : mapping of str to Result
        Two or more results, by model name. All must come from one kind of model, fitted to the same
        data. Results of ``waic`` also work, but not together with others. Results of `score_units`
        must be for the same units and folds.

    Returns
    -------
    Comparison
        A table, the best model first, and a verdict below it. Models whose difference from the best
        is below two of its standard errors are not told apart.

        There is no verdict if a score is not reliable: if more than 2 % of the observations of a
        model have a bad Pareto k, or its effective number of parameters is above a fifth of the
        number of observations. Leave-one-out densities are then those of the posterior that
        includes the observation, and differences may be several times too large. Nor is there a
        verdict on models whose chains have not mixed, or that were drawn from one of several modes.

        Scores of ``loo`` and ``waic`` are sums over observations. A difference below four means
        that models predict alike, also where it is more than two standard errors (Sivula et al.
        2020). Observations are treated as independent, which the pairs of words of one text are
        not: for text, rely on differences of `score_units`. These are means over units of log
        probabilities per pair of words (snippet, token), which differ by hundredths or less: only
        their standard errors say whether there is a difference.

    Raises
    ------
    ValueError
        If there are fewer than two results, densities of single observations are missing, or
        observations are not the same.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Statistics and Computing 27, sections 2 and 5. Sivula,
    Magnusson, Matamoros & Vehtari (2020), arXiv:2008.10296.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from skbayesembed.metrics import compare_models
    >>> a = Bunch(elpd=-6.0, se=1.0, pointwise=[-1.0, -2.0, -3.0])
    >>> b = Bunch(elpd=-7.5, se=1.0, pointwise=[-1.5, -2.5, -3.5])
    >>> compare_models({"a": a, "b": b}).difference
    array([ 0. , -1.5])
    """
    if not isinstance(found, Mapping) or len(found) < 2:
        raise ValueError(f"found must map two or more names to results of loo, got {found!r}.")
    _check(found)
    names = sorted(found, key=lambda name: -found[name].elpd)
    best = found[names[0]]
    ordered = [found[name] for name in names]
    n = float(np.sum(best.get("weight", np.ones(len(best.pointwise)))))
    of_units = _of_units(best)
    parameters = np.array([_parameters(one) for one in ordered])
    knowing = [] if of_units else [one for one in ordered if one.get("n_units")]
    knows = max(knowing, key=lambda one: one["n_units"], default=None)
    return Comparison(
        np.array([str(name) for name in names]),
        np.array([one.elpd for one in ordered], dtype=float),
        np.array([one.se for one in ordered], dtype=float),
        np.array([one.elpd - best.elpd for one in ordered], dtype=float),
        np.array([_error(one, best) for one in ordered]),
        np.array([one.get("bad_share", np.nan) for one in ordered], dtype=float),
        np.array([one.get("converged") for one in ordered], dtype=object),
        np.array([one.get("modes_that_matter") for one in ordered], dtype=object),
        np.full(len(ordered), np.nan) if of_units else parameters / n,
        round(n),
        of_units,
        None if knows is None else knows["n_units"],
        best.get("scored"),
        "\n".join(_notes_on(best, knows)) or None,
    )


def _notes_on(best, knows):
    """Lines on what the observations are, and how many of them were evaluated."""
    notes = [] if knows is None else [note_on_score(knows)]
    if best.get("n_drawn", 0):
        notes.append(
            f"({best['n_evaluated']:,} different pairs were evaluated, drawn at random, which "
            "adds to standard errors: loo(max_pairs=) evaluates more)"
        )
    return notes


def _parameters(one):
    """Effective number of parameters, NaN where that is not known."""
    return float(one.get("p_loo", one.get("p_waic", np.nan)))


def _of_units(one):
    """Whether a result is one of `score_units`."""
    return "scores" in one


def _differences(names):
    return "difference" if len(names) == 1 else "differences"


def _listed(names, last=", "):
    """Names of models in a line, those that have room; `last` stands before the last of them."""
    texts = [repr(str(name)) for name in names[:_MOST_NAMES]]
    more = len(names) - len(texts)
    if more:
        return f"{', '.join(texts)} and {more} more"
    return last.join([*([", ".join(texts[:-1])] if texts[1:] else []), texts[-1]])


def _check(found):
    first_name = next(iter(found))
    for name, one in found.items():
        if "pointwise" not in one:
            raise ValueError(
                f"{name!r} has no densities of single observations: pass what "
                "loo(..., pointwise=True) returns, or score_units."
            )
        first, same = found[first_name], len(one.pointwise) == len(found[first_name].pointwise)
        alike = _of_units(one) == _of_units(first)
        same = same and alike
        for rows in ("labels", "rows"):
            # of units, and of snippets
            if same and rows in one and rows in first:
                same = np.array_equal(one[rows], first[rows])
        same = same and ("pairs" in one) == ("pairs" in first)
        if same and "pairs" in one:
            same = np.array_equal(one.pairs, first.pairs)
            same = same and np.allclose(one.weight, first.weight)
        if alike and ("p_waic" in one) != ("p_waic" in first):
            raise ValueError(
                f"{name!r} and {first_name!r} must be of one criterion, got loo and waic: they "
                "differ for one model. Take loo of both."
            )
        per = [each["scored"] for each in (first, one) if "scored" in each]
        if len(set(per)) > 1:
            raise ValueError(
                f"{name!r} and {first_name!r} are scored by different observations, {per[1]!r} and "
                f"{per[0]!r}: such scores cannot be compared."
            )
        words = [each["vocabulary"] for each in (first, one) if "vocabulary" in each]
        if same and len(set(words)) > 1:
            raise ValueError(
                f"{name!r} and {first_name!r} have different words: their scores leave out those "
                "that they do not know, and the fewer these are the better they look. Give both "
                "the same vocabulary (min_count, max_features, stop_words, words with vectors)."
            )
        if not same:
            raise ValueError(
                f"{name!r} and {first_name!r} must be of the same observations: fit both to the "
                "same data, with the same vocabulary and random_state, and take loo of both or "
                "score_units of both."
            )


def _error(one, other):
    """Standard error of the difference of two sums over the same observations."""
    d = np.asarray(one.pointwise) - np.asarray(other.pointwise)
    weight = np.asarray(one.get("weight", np.ones(d.size)))
    n = weight.sum()
    variance = _variance(d, weight) * n
    if one.get("n_drawn", 0):
        # what was drawn corrects a sum over all observations
        rest = d - (np.asarray(one.proxy) - np.asarray(other.proxy))
        variance += _variance(rest, weight) * n**2 / one.n_drawn
    return float(np.sqrt(variance))


def _variance(values, weight):
    n = weight.sum()
    mean = np.sum(weight * values) / n
    return np.sum(weight * (values - mean) ** 2) / max(n - 1, 1e-300)
