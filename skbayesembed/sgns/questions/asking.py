"""From a question to its answer: by draws from the posterior, or by units about its mean."""

from __future__ import annotations

import re
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ...common.checks import (
    check_prob,
    is_number,
)
from ...inference.threads import OneBlasThread
from ...posterior.deciding import MIXING, MOST_ERRORS, errors_and_mixing
from ...posterior.results import About, Result
from ...posterior.sentences import behind, joined
from ...posterior.sources import (
    name_of_sampled,
    name_of_units,
    note_on_thinned,
    note_on_units,
    source_of,
)
from ...posterior.summary import summarise
from ..documents import answers
from .kinds import Cosines, Differences, Effects
from .operands import values
from .verdicts import AGAINST, few_pairs, sum_up

# Length of vectors that are zero but for rounding, relative to others.
_ZERO = 1e-6
# Differences of answers that are smaller than this in every draw are none.
_ROUNDING = 1e-12
# Below answers about vectors of one component, whose sign no derivative tells of.
_OF_ONE = (
    "(with n_components=1 vectors have a sign and no direction, and intervals by units know "
    "nothing of how sure that is: take 2 or more, or uncertainty='model')"
)
# Names of what is held against one period.
_IN_ONE = re.compile(r" in \S+$")


class Vectors:
    """Draws of the vectors of a fitted estimator, joint over all that is asked with them.

    Parameters
    ----------
    read : callable
        ``read(side, places, invariant)``: draws (n_draws, len(places), K); where ``invariant``
        they need not be balanced, since answers do not change.
    n_draws : int
    n_components : callable
        ``n_components(invariant)``: K, with which vectors are read.
    each : int, default=1
        Numbers that are read for one of the K.
    """

    def __init__(self, read, n_draws, n_components, each=1):
        self._read, self._n, self._k, self._each = read, n_draws, n_components, each

    def sums(self, operands, invariant):
        """Draws of `Operands`, (n_draws, len(operands), K)."""

        def read(side, places):
            return self._read(side, places, invariant)

        return values(operands, read, (self._n, self._k(invariant)), self._each)


class Answer(Result):
    """A `Result` that records what was asked, so that it can be compared with other answers.

    It prints as a table, shows as HTML in notebooks, and becomes a pandas DataFrame. Its entries
    are attributes: ``mean``, ``sd``, ``interval``, ``draws`` and any others of the method. A copy
    has only the entries.

    Attributes
    ----------
    title : str or None
        What was asked.
    axes : dict of str to list
        Names of the axes of the entries, and the labels along them.
    prob : float
        Probability of the interval.
    source : str
        What the interval rests on: ``"units"`` (the sampling of documents, speakers, works),
        ``"model"`` (draws of chains), ``"vi"`` and ``"laplace"`` (approximations), ``"point"``
        (one draw, no interval).

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
    >>> answer = model.similarity("cat", "mat")
    >>> answer.title, answer.source, answer.draws.shape
    ("similarity of 'cat' and 'mat'", 'units', (1000,))
    >>> list(answer.to_frame().columns)
    ['a', 'b', 'mean', 'sd', 'low', 'high', 'sd_sampling', 'sd_prior', 'n_units']
    """

    def __init__(self, entries, question, posterior, about=None):
        super().__init__(entries, about)
        object.__setattr__(self, "_asked", (question, weakref.ref(posterior)))

    def __getattr__(self, name):
        if name == "verdict" and name not in self and self.source == "point":
            raise AttributeError(
                "verdict needs an interval, and this answer is a point estimate, of solver='map' "
                "without intervals by units: set uncertainty='documents', or use another solver."
            )
        if name in MIXING and name not in self:
            asks = self.source == "units"
            way = "; ask again after set_params(uncertainty='model')" if asks else ""
            raise AttributeError(
                f"{name} is of answers by chains (solver='gibbs' or 'hmc'; up to {MOST_ERRORS} at "
                f"once), and this one rests on {self.source!r}{way}."
            )
        return super().__getattr__(name)


@OneBlasThread()
def ask(
    estimator: Any,
    question: Any,
    prob: float,
    shape: Any = None,
    *,
    title: str | None = None,
    whole: str | None = None,
    axes: Any = None,
    asked: Any = None,
    **more: Any,
) -> Answer:
    """The `Answer` to a question.

    Parameters
    ----------
    estimator : BayesianSGNS or DynamicSGNS
        Fitted.
    question : Question
    prob : float
        Probability of intervals.
    shape : tuple of int, optional
        Of the answers; by default all in a row.
    title : str, optional
        What the answers are called.
    whole : str, optional
        The same in sentences and data frames, with all words of lists; ``title`` by default.
    axes : mapping of str to sequence, optional
        Names and labels of the axes of ``shape``.
    asked : mapping of str to object, optional
        Words and periods, by the names of arguments, for columns of data frames.
    **more
        Further entries.

    Returns
    -------
    Answer
        ``mean`` and ``sd`` (*shape), ``interval`` (*shape, 2), ``draws`` (n_draws, *shape); by
        units also ``sd_sampling``, ``sd_prior`` and ``n_units`` (*shape); by draws of the posterior
        also ``interval_mcse`` (*shape, 2), for up to 200 answers at once; by draws of chains also
        ``rhat``, ``ess`` and ``ess_tail`` (*shape).

    Raises
    ------
    ValueError
        By units, for a word without pairs.
    """
    if np.any(question.operands.unit) or isinstance(question, Cosines):
        check_not_zero(estimator)
    deviations = estimator._deviations()
    # documents, which are neither, have other words
    named = question.operands.unit | question.invariant
    check_seen(estimator, question.operands.weights[named].indices)
    operands = question.draws(estimator._vectors(question.operands, question.invariant))
    draws = question.value(operands)
    if deviations is None:
        found = summarise(draws, prob)
        if 1 < len(draws) and len(question) <= MOST_ERRORS:
            found |= errors_and_mixing(estimator.posterior_, draws, prob)
    else:
        found = answers.about(deviations, question, draws.mean(axis=0), prob, operands)
    if shape is not None:
        found = _shaped(found, shape)
    source, lent = source_of(estimator, deviations is not None), hasattr(estimator, "periods_")
    of = {} if deviations is None else units_asked_of(estimator)
    called = of.get("units_name")
    if called is not None:
        of |= {"units_name": name_of_units(estimator), "units_called": called}
    asides = note_on_units(estimator, of.get("of_units"))
    why = estimator.posterior_.attrs.get("without_units")
    if why is not None and source == "point" and estimator.uncertainty == "documents":
        asides.append(f"(no intervals by units: {why})")
    if deviations is not None:
        asides += note_on_thinned(estimator.posterior_)
        if deviations.vectors.shape[-1] == 1 and not question.invariant:
            asides.append(_OF_ONE)
    about = About(title, axes or {}, prob, source, asides=asides, lent=lent, asked=asked or {},
                  whole=whole, **of)  # fmt: skip
    return Answer(found | more, question, estimator.posterior_, about)


def without_pairs(estimator):
    """Words without pairs whose mode is zero, (n_words,), by units; None where there are none.

    The mode of others is where a prior that couples or knows words has them.
    """
    deviations = estimator._deviations()
    if deviations is None or hasattr(estimator, "periods_"):
        return None
    found = ~(deviations.n_units > 0)
    if found.any():
        length = np.linalg.norm(deviations.vectors, axis=-1).max(axis=0)
        found &= length <= _ZERO * np.median(length)
    return found if found.any() else None


def check_not_zero(estimator):
    """Raise a ValueError where directions are asked for of a mode without any."""
    if estimator.posterior_.attrs.get("zero"):
        raise ValueError(
            "The MAP estimate is zero, so that words have no directions, and cosines would be "
            "those of rounding: lower prior_precision, pass more text, or use solver='gibbs'."
        )


def check_seen(estimator, places):
    """Raise a ValueError where intervals by units are asked for of words without pairs.

    Their mode is zero, where cosines have no derivatives and intervals no width.
    """
    unknown = without_pairs(estimator)
    if unknown is None:
        return
    names = estimator.words_[np.unique(places[unknown[places]])].tolist()
    if names:
        has = f"{names[0]!r} has" if len(names) == 1 else f"{joined(map(repr, names))} have"
        raise ValueError(
            f"{has} no pairs with other words in the text, so that intervals by units know nothing "
            "of what is asked: leave such words out, or call set_params(uncertainty='model'), by "
            "which the prior answers."
        )


def units_asked_of(estimator):
    """Number of units that were sampled and what they are called, a dict; None where unknown.

    Of intervals by units of a fit; `About` and tables have attributes of these names.
    """
    sampling = getattr(estimator, "_sampling", None)
    n = None if sampling is None else sampling.n_sampled
    return {"of_units": n, "units_name": None if n is None else name_of_sampled(estimator)}


def _shaped(found, shape):
    """Answers in a row, in another shape."""
    out = {}
    for name, value in found.items():
        end = (2,) if name.startswith("interval") else ()
        ahead = value.shape[:1] if name == "draws" else ()
        out[name] = value.reshape((*ahead, *shape, *end))
        if out[name].ndim == 0:
            out[name] = out[name][()]
    return Bunch(**out)


def difference(estimator, first, second, prob, shape=(), **about):
    """The `Answer` of one question less that of another, and how probably it is positive.

    ``about`` are ``title``, ``whole``, ``axes`` and ``asked`` of `ask`.
    """
    found = ask(estimator, Differences(first, second), prob, shape, **about)
    found.prob_positive = share_above(found, 0.0, prob)
    return zero_where_same(found)


def zero_where_same(found):
    """Make differences, in place, exactly zero where they are rounding errors in every draw.

    How probably they are positive is then NaN.
    """
    same = np.all(np.abs(found.draws) < _ROUNDING, axis=0)
    if not np.any(same):
        return found
    _fill(found, same, 0.0)
    found.prob_positive = np.where(same, np.nan, found.prob_positive)[()]
    return found


def blank(found, where):
    """Make answers, in place, NaN ``where`` (as the mean) there is nothing that they are about."""
    if np.any(where):
        _fill(found, where, np.nan)
        for name in ("n_units", "prob_positive", "prob_inside"):
            if name in found:
                found[name] = np.where(where, np.nan, found[name])[()]
    return found


def _fill(found, where, value):
    """Give answers, in place, one value where they are told to have it."""
    for name in MIXING:
        if name in found:
            found[name] = np.where(where, np.nan, found[name])[()]
    for name in ("mean", "sd", "interval", "draws", "sd_sampling", "sd_prior", "interval_mcse"):
        if name in found:
            ends = where[..., None] if name.startswith("interval") else where
            found[name] = np.where(ends, value, found[name])[()]


def contrast(estimator, a, b, low, high, prob):
    """The difference of two answers, from joint draws."""
    check_prob(prob)
    # of tables in which answers are rows
    a, b = (getattr(x, "answer", x) for x in (a, b))
    first, second = (_asked(estimator, x, name) for x, name in ((a, "a"), (b, "b")))
    order = _other_order(a.axes, b.axes)
    if order is not None:
        second, b = second.taken(order), _ordered(b, order)
    shapes = np.shape(a.mean), np.shape(b.mean)
    if shapes[0] != shapes[1] and min(np.prod(s) for s in shapes) > 1:
        raise ValueError(
            f"a and b must have as many answers, or one of them a single one, got the shapes "
            f"{shapes[0]} and {shapes[1]}."
        )
    shape = max(shapes, key=lambda s: (np.prod(s), len(s)))
    ends = _ends(low, high)
    axes = max((a.axes, b.axes), key=lambda axes: np.prod([len(x) for x in axes.values()]))
    axes = axes if tuple(len(x) for x in axes.values()) == shape else unnamed(shape)
    axes = _both_labels(axes, a.axes, b.axes)
    own = _own_labels(a.axes, b.axes), _own_labels(b.axes, a.axes)
    title, whole = (
        [name and _with_label(name, end) for name, end in zip(names, own, strict=True)]
        for names in ((a.title, b.title), (a._whole, b._whole))
    )
    titles = {"title": _less(*title), "whole": _less(*whole)}
    asked = {"a": whole[0], "b": whole[1]}
    found = difference(estimator, first, second, prob, shape, **titles, axes=axes, asked=asked)
    if ends is not None:
        low, high = ends
        above, beyond = (share_above(found, end, prob) for end in ends)
        inside = np.maximum(above - beyond, 0.0)
        # what is the same in every draw has a value, and no interval that it is held to
        share = _share((found.draws > ends[0]) & (found.draws < ends[1]))
        found.prob_inside = np.where(found.sd == 0, share, inside)[()]
    blank(found, _of_both_shapes(np.isnan(a.mean), np.isnan(b.mean), shape))
    few = few_pairs(a), few_pairs(b)
    few = _of_both_shapes(*few, shape) if np.any(few[0]) or np.any(few[1]) else False
    of_periods = [x for x in (a, b) if "times" in x and np.shape(x.mean) == shape]
    if of_periods and of_periods[0].axes == axes:
        found.times = of_periods[0].times
    if "n_units" in found and np.any(few):
        # they would be those of other periods
        found.n_units = np.where(few, np.nan, found.n_units)[()]
    signed = any(isinstance(one, Differences | Effects) for one in (first, second))
    found = sum_up(found, *asked.values(), few, ends, signed)
    carried = list(dict.fromkeys([*a._about.carried, *b._about.carried]))
    found.sentence += behind(carried)
    return found._carrying(*carried)


def _other_order(first, second):
    """Order of the rows of an answer that gives them the labels of another, in its order, or None.

    None where they have it, or other labels.
    """
    if list(first) != list(second) or len(first) != 1:
        return None
    wanted, given = (
        [str(x) for labels in axes.values() for x in labels] for axes in (first, second)
    )
    places = {label: i for i, label in enumerate(given)}
    if wanted == given or sorted(wanted) != sorted(places):
        return None
    return np.array([places[label] for label in wanted])


def _ordered(answer, order):
    """An answer with its rows in another order."""
    entries = {
        name: value[:, order]
        if name == "draws"
        else np.asarray(value)[order]
        if np.shape(value)[:1] == (order.size,)
        else value
        for name, value in answer.items()
    }
    ((name, labels),) = answer.axes.items()
    about = replace(answer._about, axes={name: np.asarray(labels)[order]})
    return Result(entries, about)


def _of_both_shapes(first, second, shape):
    """Where one of two holds, of the shape of both; that of a single answer holds for all."""
    first, second = (np.ravel(x)[0] if np.size(x) == 1 else x for x in (first, second))
    return np.broadcast_to(np.logical_or(first, second), shape)


def _both_labels(axes, first, second):
    """Axes of a difference: rows of answers with other labels, but as many, have both labels."""
    if not list(axes) == list(first) == list(second):
        return axes
    return {name: _joined(labels, first[name], second[name]) for name, labels in axes.items()}


def _joined(labels, first, second):
    if len(first) != len(second):
        return labels
    return [a if a == b else f"{a}{AGAINST}{b}" for a, b in zip(first, second, strict=True)]


def _own_labels(mine, others):
    """What ends the name of a single answer that is held against several: where it is itself."""
    if list(mine) != list(others):
        return ""
    single = (
        name
        for name in mine
        if len(mine[name]) == 1
        and (len(others[name]) > 1 or str(mine[name][0]) != str(others[name][0]))
    )
    return "".join(f" {'in' if name == 'period' else 'for'} {mine[name][0]}" for name in single)


def _with_label(name, end):
    """A name with the label of its row behind it, apart from a period that it ends in."""
    return f"{name},{end}" if end and _IN_ONE.search(name) else f"{name}{end}"


def _less(a, b):
    """Title of a difference; None where one has none."""
    return f"{a}, less {b}" if a and b else None


def unnamed(shape):
    """Numbered axes of a shape, for answers whose rows have no names."""
    return {f"axis_{i}": range(n) for i, n in enumerate(shape)}


def share_above(found: Any, value: float, prob: float) -> Any:
    """Probability that answers are above a value, float or ndarray of shape (...).

    Intervals by units are exact quantiles, and draws a sample: the share of draws is held to what
    the interval says of the value.

    Parameters
    ----------
    found : Bunch
        With ``draws`` (n_draws, ...) and ``interval`` (..., 2); ``n_units`` by units.
    value : float
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.utils import Bunch
    >>> from skbayesembed.sgns.questions.asking import share_above
    >>> draws = np.r_[-np.ones(6), np.ones(94)]
    >>> found = Bunch(draws=draws, interval=np.array([0.1, 0.9]), n_units=9.0)
    >>> share_above(found, 0.0, 0.9)
    0.95
    """
    share = _share(found.draws > value)
    if len(found.draws) == 1:
        return np.full(np.shape(share), np.nan)[()]
    if "n_units" not in found:
        return share
    tail = 0.5 - 0.5 * prob
    above, below = found.interval[..., 0] > value, found.interval[..., 1] < value
    least = np.where(above, 1.0 - tail, np.where(below, 0.0, tail))
    most = np.where(above, 1.0, np.where(below, tail, 1.0 - tail))
    share = np.clip(share, least, most)
    return float(share) if np.ndim(share) == 0 else share


def _share(true):
    share = true.mean(axis=0)
    return float(share) if np.ndim(share) == 0 else share


def _ends(low, high):
    """Both ends of what a difference is to be inside of; None where there is none."""
    if low is None and high is None:
        return None
    ends = []
    for name, value, default in (("low", low, -np.inf), ("high", high, np.inf)):
        value = default if value is None else value
        if not is_number(value):
            raise ValueError(f"{name} must be a number or None, got {value!r}.")
        ends.append(float(value))
    if not ends[0] < ends[1]:
        raise ValueError(f"low must be below high, got low={ends[0]:g} and high={ends[1]:g}.")
    return ends


def _asked(estimator, answer, name):
    """The question of an answer of this fit."""
    question, posterior = getattr(answer, "_asked", (None, None))
    if question is None:
        raise ValueError(
            f"{name} must be an answer of this estimator, as similarity returns it, and not a copy "
            f"of one, got {type(answer).__name__}."
        )
    if posterior() is not estimator.posterior_:
        raise ValueError(
            f"{name} must be an answer of this fit, got one of another: answers of two fits have "
            "no joint draws. Ask this one again: after fit, or of the model that was loaded."
        )
    return question
