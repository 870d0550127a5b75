"""Which words are nearest to a direction: cosines, intervals and probabilities of rank."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..common.checks import check_integer, check_prob
from ..metrics.words import unit_vectors
from ..posterior.deciding import errors_of
from ..posterior.sources import draws_afresh, note_on_thinned, source_of
from ..posterior.summary import summarise
from .documents import answers
from .documents.answers import DRAWS
from .neighbours import Analogies, Neighbours
from .questions.asking import check_not_zero, check_seen, units_asked_of, without_pairs
from .questions.kinds import Cosines
from .questions.operands import CELLS, of_places, together
from .questions.phrases import operands_of, phrase_of
from .word_tables import unknown_where

# Of how many words draws afresh decide which are nearest, by those that were recorded, whose means
# may be .07 off: so many times those that are shown, and more.
_TIMES, _BESIDES = 4, 50


def most_similar(estimator, word, n, prob, shift=0, period=None, few=None):
    """`Neighbours` of a word, a list or an axis, among the targets at places from ``shift`` on.

    These are of a ``period``, if there are any, in which there is too little text of the words
    that are ``few`` (n_words,).
    """
    check_prob(prob)
    check_integer("n", n, 1)
    phrase = phrase_of(estimator, word, "word")
    others, left_out = _others(estimator, phrase, few)
    rows = ranked(estimator, phrase, others, n, n, prob, shift)
    found = Neighbours(phrase.label, *rows, period=period, n_left_out=left_out)
    return _by_units(estimator, found)


def analogy(estimator, a, b, c, n, prob, shift=0, too_few=None, few=None):
    """`Analogies` that the sum of unit vectors ``b - a + c`` gives.

    ``too_few`` as of `nearer`, ``few`` as of `most_similar`.
    """
    check_prob(prob)
    check_integer("n", n, 1)
    a, b, c = (phrase_of(estimator, x, name) for x, name in ((a, "a"), (b, "b"), (c, "c")))
    phrase = b.less(a, "").plus(c, "")
    labels = a.label, b.label, c.label
    others, left_out = _others(estimator, phrase, few)
    rows = ranked(estimator, phrase, others, n, 1, prob, shift)
    found = Analogies(labels, *rows, n_left_out=left_out)
    if too_few is not None:
        of_question = np.full(len(found.words), too_few([a, b, c]))
        proba = unknown_where(found.prob_answer, of_question)
        found = replace(found, few=of_question, prob_answer=proba)
    return _by_units(estimator, found)


def _by_units(estimator, table):
    """A table with what its intervals rest on, and the units that they are for."""
    by_units = table.n_units is not None
    found = replace(table, **units_asked_of(estimator)) if by_units else table
    asides = note_on_thinned(estimator.posterior_) if by_units else []
    return found._resting_on(source_of(estimator, by_units), asides)


def _others(estimator, phrase, few):
    """Words that a phrase is held against, not its own nor the ``few``, and how many of the latter.

    The prior alone would rank words with too little text.
    """
    check_not_zero(estimator)
    others = np.delete(np.arange(estimator.words_.size), phrase.index)
    few = without_pairs(estimator) if few is None else few
    known = others if few is None else others[~few[others]]
    return known, others.size - known.size


def ranked(estimator, phrase, others, n, top, prob, shift):
    """Those ``n`` of some words that are nearest to a phrase, with probabilities of rank.

    Returns
    -------
    tuple
        Words, mean, sd, interval, probability of being among the ``top`` nearest, ``prob``, number
        of draws, and effective units or None; of draws also the errors of intervals.
    """
    deviations = estimator._deviations()
    n, top = min(n, others.size), min(top, others.size)
    if deviations is None:
        return _ranked_by_draws(estimator, phrase, others, n, top, prob, shift)
    if not others.size:
        # where all words have too little text there is nothing to ask
        none = np.zeros(0)
        return estimator.words_[:0], none, none, none.reshape(0, 2), none, prob, DRAWS, none
    check_seen(estimator, phrase.index)
    mean, _ = _pass(estimator._target_draws(shift), phrase, others, 0)
    chosen, drawn = _nearest(estimator, phrase, others, mean, n, shift)
    if drawn is None and deviations.by_answer:
        # of those that are shown alone: each takes a linear system
        others, mean, chosen = others[chosen], mean[chosen], np.arange(n)
    cosines = partial(_asked_of, estimator, phrase, shift)
    found = answers.about_many(deviations, cosines, others + shift, mean, prob)
    rank = np.zeros(others.size)
    for draw in found.draws:
        rank[_largest(draw, top)] += 1
    if deviations.by_answer:
        rank[:] = np.nan
    return (
        estimator.words_[others[chosen]],
        mean[chosen],
        found.sd[chosen],
        found.interval[chosen],
        rank[chosen] / len(found.draws),
        prob,
        len(found.draws),
        found.n_units[chosen],
    )


def _nearest(estimator, phrase, others, mean, n, shift):
    """Places of the ``n`` words that are nearest, by their means, nearest first.

    Where `similarity` draws afresh, by its draws, which are returned with them, (n_draws, n); the
    means of all words that may be nearest become those of these draws, in place.
    """
    order = np.argsort(-mean, kind="stable")
    if n == 0 or not draws_afresh(estimator.posterior_):
        return order[:n], None
    order = order[: _TIMES * n + _BESIDES]
    drawn = _drawn_afresh(estimator, phrase, others[order], shift)
    mean[order] = drawn.mean(axis=0)
    chosen = np.argsort(-mean[order], kind="stable")[:n]
    return order[chosen], drawn[:, chosen]


def _asked_of(estimator, phrase, shift, places):
    """The `Question` of the cosines of a phrase with what is at some places."""
    n_places = estimator._n_places
    ends = operands_of([phrase], n_places, shift), of_places(places, n_places)
    index = np.zeros((places.size, 2), int)
    index[:, 1] = np.arange(1, places.size + 1)
    return Cosines(together(*ends), index)


def _drawn_afresh(estimator, phrase, words, shift):
    """Draws of cosines of a phrase with some words, (n_draws, n), those that `similarity` has."""
    step = max(1, CELLS // (estimator._n_drawn * estimator.rho_.shape[-1]))
    found = []
    for start in range(0, words.size, step):
        question = _asked_of(estimator, phrase, shift, words[start : start + step] + shift)
        vectors = estimator._vectors(question.operands, question.invariant)
        found.append(question.value(question.draws(vectors)))
    return np.concatenate(found, axis=1)


def _ranked_by_draws(estimator, phrase, others, n, top, prob, shift):
    """As of `ranked`, of draws from the posterior, which are gone through twice.

    Where `similarity` draws afresh, the rows have its draws, and ranks those of all words.
    """
    draws = estimator._target_draws(shift)
    mean, rank = _pass(draws, phrase, others, top)
    order, cosines = _nearest(estimator, phrase, others, mean, n, shift)
    if cosines is None:
        cosines = np.array([_cosines(rho, phrase, others[order]) for rho in draws])
    chosen, found = others[order], summarise(cosines, prob)
    words = estimator.words_[chosen]
    of = found.mean, found.sd, found.interval
    share, errors = rank[order] / len(draws), None
    if len(draws) == 1:
        # a point estimate has no probabilities
        share[:] = np.nan
    else:
        errors = errors_of(estimator.posterior_, cosines, prob)
    return words, *of, share, prob, len(draws), None, errors


def _pass(draws, phrase, others, top):
    """Means of cosines over draws of targets, and how often each was among the ``top`` nearest."""
    total, rank = np.zeros((2, others.size))
    for rho in draws:
        cosine = _cosines(rho, phrase, others)
        total += cosine
        rank[_largest(cosine, top)] += 1
    return total / len(draws), rank


def _largest(values, n):
    """Places of the ``n`` largest of some values, in any order."""
    return np.argpartition(-values, n - 1)[:n] if n else []


def _cosines(vectors, phrase, words):
    """Cosines of some words' vectors with the direction of a phrase."""
    direction = phrase.weights @ unit_vectors(vectors[phrase.index])
    direction = unit_vectors(direction)
    x = vectors[words]
    norm = np.linalg.norm(x, axis=1)
    dot = x @ direction
    return np.divide(dot, norm, out=np.zeros_like(dot), where=norm > 0)
