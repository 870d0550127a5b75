"""Snippets that show what a sense is: the most probable ones, or some drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..common.checks import check_forms, check_integer, check_prob
from ..corpus.kinds import input_kind, materialise
from ..posterior.naming import given_names
from ..posterior.representatives import (
    Representatives,
    check_not_a_group,
    largest,
    texts_of,
)
from ..posterior.sources import source_of
from ..posterior.summary import hdi_interval
from .checks import sense_index
from .embedding import asides_of
from .inputs import places
from .predict import SnippetReader

# Characters of a text that have room for a word, and for dots on both sides.
_NARROWEST = 20


class Choice(NamedTuple):
    """Which snippets to show, and how.

    Attributes
    ----------
    sense : int or None
        None for all.
    n : int
        Number for each sense, or in all if they are drawn at random.
    period : object or None
        A time or a label; None for all periods.
    random : int or None
        A seed; None for the most probable snippets.
    target : str, list of str or None
        The target word of the snippets, or its forms.
    width : int
        Number of characters printed.
    prob : float
    """

    sense: Any
    n: Any
    period: Any
    random: Any
    target: Any
    width: Any
    prob: Any


def representative_snippets(estimator, X, covariates, texts, choice):
    """`Representatives` of one sense, or of all; or of snippets drawn at random.

    ``covariates`` are the times, genres and units of the snippets, or None.
    """
    check_not_a_group(X, "snippets", "sense")
    target, n_senses = _check(choice), estimator.posterior_["prevalence"].shape[-1]
    senses = range(n_senses) if choice.sense is None else [sense_index(estimator, choice.sense)]
    times, _, units = covariates
    X = materialise(X)
    there = places(estimator, X, *covariates)
    texts = texts_of(X, input_kind(X), texts, there.n_snippets, "snippets")
    usable = _usable(estimator, there, times, choice.period)
    mean = SnippetReader(estimator, there).sense_proba()
    copies = None
    if texts is not None:
        known = [x for x in (there.periods, there.genres) if x is not None]
        first, copies = _alike(texts, zip(*known, strict=True) if known else [()] * len(texts))
        usable &= first
    timed, per_period = times is not None and estimator.periods_.n_periods > 1, None
    if choice.random is not None:
        flat, groups = _drawn(mean, senses, usable, choice)
    elif timed and choice.period is None:
        flat, groups, per_period = _spread(mean, senses, usable, choice.n, there.periods)
    else:
        flat, groups = _best(mean, senses, usable, choice.n)
    reader = SnippetReader(estimator, there.take(flat))
    draws = reader.sense_proba_draws(np.arange(len(reader)))
    draws = draws[:, np.arange(flat.size), groups]
    return Representatives(
        "sense", groups, flat, mean[flat, groups], hdi_interval(draws, prob=choice.prob),
        None if texts is None else texts[flat], choice.prob, len(draws),
        times=None if times is None else np.asarray(times)[flat],
        copies=None if copies is None else copies[flat],
        drawn=choice.random is not None, target=target, width=choice.width,
        periods=_labels(estimator.periods_, there.periods[flat]) if timed else None,
        units=None if units is None else np.asarray(units)[flat],
        per_period=per_period,
        names=given_names(estimator.posterior_, "sense"),
    )._resting_on(source_of(estimator), asides_of(estimator.posterior_))  # fmt: skip


def _check(choice):
    """Check what is asked for; returns the forms of the target, a tuple."""
    check_prob(choice.prob)
    check_integer("width", choice.width, _NARROWEST)
    target = () if choice.target is None else check_forms("target", choice.target, "None, ")
    check_integer("n", choice.n, 1)
    if choice.random is not None:
        check_integer("random", choice.random, 0, "None or ")
    return tuple(target)


def _usable(estimator, there, times, period):
    """Snippets with a known word, of the period that is asked for; an error where none is."""
    usable = there.lengths > 0
    if not usable.any():
        raise ValueError("X has no snippet with a word of the vocabulary.")
    if period is None:
        return usable
    at = estimator.periods_.find(period, "period")
    if there.periods is None:
        raise ValueError(f"period={period!r} needs times= of the snippets, got None.")
    usable &= there.periods == at
    if not usable.any():
        raise ValueError(
            f"period must have a snippet of X with a word of the vocabulary, got {period!r}, "
            "which has none."
        )
    return usable


def _labels(periods, index):
    """Labels of some periods, an ndarray of object."""
    out = np.empty(len(index), dtype=object)
    out[:] = [periods.labels[t] for t in index]
    return out


def _alike(texts, places):
    """Which snippets are the first of those of one text and place, and how many these are."""
    keys = {}
    numbers = [
        keys.setdefault((" ".join(str(text).split()), place), len(keys))
        for text, place in zip(texts, places, strict=True)
    ]
    _, at, index, counts = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    first = np.zeros(len(texts), bool)
    first[at] = True
    return first, counts[index]


def _best(mean, senses, usable, n):
    """The most probable snippets of each sense, and that sense."""
    rows = largest(mean, senses, usable, n)
    return rows.ravel(), np.repeat(np.asarray(senses), rows.shape[1])


def _spread(mean, senses, usable, n, periods):
    """As `_best`, of no period more than its part; and these parts, by sense.

    The part is n over the number of periods with a snippet whose most probable sense it is,
    rounded up. What periods with fewer leave is filled up from the others.
    """
    best = mean.argmax(axis=1)
    found, parts = [], {}
    for sense in senses:
        order = largest(mean, [sense], usable, mean.shape[0])[0]
        with_sense = np.unique(periods[usable & (best == sense)]).size
        parts[sense] = part = -(-n // max(with_sense, 1))
        behind = (_places_within(periods[order]) >= part) | (best[order] != sense)
        # the first n, those of the parts ahead; then again by probability
        taken = np.sort(np.argsort(behind, kind="stable")[:n])
        found.append(order[taken])
    groups = np.repeat(np.asarray(senses), [len(rows) for rows in found])
    return np.concatenate(found), groups, parts


def _places_within(labels):
    """How many entries before each have its label."""
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    out = np.empty(len(labels), dtype=int)
    out[order] = np.arange(len(labels)) - np.repeat(starts, counts)
    return out


def _drawn(mean, senses, usable, choice):
    """Snippets at random of those whose most probable sense is among some, and that sense."""
    best = mean.argmax(axis=1)
    rows = np.flatnonzero(usable & np.isin(best, list(senses)))
    if rows.size == 0:
        raise ValueError(f"no snippet of X has the most probable sense {list(senses)}.")
    rows = np.random.default_rng(choice.random).permutation(rows)[: choice.n]
    rows = rows[np.argsort(best[rows], kind="stable")]
    return rows, best[rows]
