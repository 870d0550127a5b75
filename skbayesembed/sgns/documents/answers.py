"""Answers with intervals that hold for the sampling of units: their changes along deviations."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, stdtrit
from sklearn.utils import Bunch

from ...common.warnings import warn_user
from ...inference.threads import OneBlasThread
from ...metrics.words import unit_vectors
from ..questions.kinds import Cosines, Differences, Probabilities, Turns
from ..questions.operands import CELLS, of_places, summed, together, turned, values_at
from ..questions.scales import PLAIN, PROBABILITY
from .adjoint import MovedOn
from .bends import bent, scale_near_end
from .deviations import Change, joint_draws, merged, spread_of

# Joint draws of answers. Those of one model belong together: a difference of two answers has the
# differences of their draws.
DRAWS = 1000
# Answers whose derivatives are worked on at a time, where there are many: what words have of their
# own takes memory.
_ANSWERS = 512
# Added to variances and numbers of units that may be zero.
_STILL = 1e-12
# Cosines beyond which directions may be as near as they are known, and squared standard deviations
# of one against the other, over the squared distance of both, from which on they are.
_NEAR, _AS_NEAR = 0.95, 1.0
# Directions in which turns are probed first where each takes a linear system, and the share of the
# squared distance of directions below which what these tell of their squared deviations is little.
_PROBES, _PROBED = 8, 0.25
# Standard deviations of first order, over the slope of the scale of cosines, beyond which second
# order may matter.
_CLOSE = 0.25
# Nodes of integrals over normal numbers.
_NODES = 61
# Numbers in a block of features along all deviations.
_FEATURES = 2**22


def answer(deviations, mean, centre, change, prob, scale=PLAIN, **more):
    """Summary of answers with intervals by units.

    Parameters
    ----------
    deviations : Deviations
    mean : ndarray of shape (*shape)
        Posterior means of the answers.
    centre : ndarray of shape (*shape)
        What intervals lie about, on the ``scale``.
    change : Change
        Of the answers on the scale.
    prob : float
        Probability of the intervals, which have as much of the rest on either side.
    scale : Scale
    **more
        Further entries of the result.

    Returns
    -------
    Bunch
        ``mean``; ``sd`` with its parts ``sd_sampling`` and ``sd_prior``, of answers that are
        normal on the scale, without the allowance of Student's t that ``draws`` have; ``interval``;
        ``draws``, joint with those of all other answers; ``freedom``, degrees of freedom of these;
        ``n_units``, the fewest effective units of the words in an answer.
    """
    spread = spread_of(deviations, change)
    reach = spread.total * stdtrit(spread.freedom, 0.5 + 0.5 * prob)
    ends = np.stack([centre - reach, centre + reach])
    draws = centre + spread.total * joint_draws(deviations, change, spread, DRAWS)
    draws = scale.backward(draws)
    sd = _sd_of_normal(scale, centre, spread.total)
    share = np.divide(sd, spread.total, out=np.zeros(sd.shape), where=spread.total > 0)
    return Bunch(
        mean=mean,
        sd=sd,
        interval=np.moveaxis(scale.backward(ends), 0, -1),
        draws=draws,
        sd_sampling=share * spread.sampling,
        sd_prior=share * spread.prior,
        freedom=spread.freedom,
        n_units=change.fewest,
        **more,
    )


def _sd_of_normal(scale, centre, total):
    """Standard deviation, on their own scale, of answers that are normal on another."""
    nodes, weights = hermegauss(_NODES)
    weights = weights / weights.sum()
    nodes = nodes.reshape(-1, *[1] * np.ndim(total))
    # less their middle, so that what does not vary has none to the last digit
    values = scale.backward(centre + total * nodes) - scale.backward(centre)
    mean = np.tensordot(weights, values, axes=1)
    return np.sqrt(np.tensordot(weights, (values - mean) ** 2, axes=1))


@OneBlasThread()
def about(deviations, question, mean, prob, draws=None):
    """Answers to a question, with intervals by units about their posterior means.

    Parameters
    ----------
    deviations : Deviations
    question : Question
    mean : ndarray of shape (n,)
        Posterior means of the answers.
    prob : float
    draws : object, optional
        Draws of the question's operands; not all questions need them.

    Returns
    -------
    Bunch
        As of `answer`.
    """
    change = change_of(deviations, question, draws)
    mean, centre, change, scale = _on_scale(deviations, question, change, mean, draws)
    return answer(deviations, mean, centre, change, prob, scale)


def _on_scale(deviations, question, change, mean, draws):
    """Means no further than they can be, what intervals lie about, change and scale of answers."""
    mean = mean + change.shift
    if change.end is not None and question.bends:
        mean = _held(question, mean, change.end)
        total = spread_of(deviations, change).total
        scale = scale_near_end(question.scale(mean), mean, total, question.bends)
        centre = scale.forward(mean)
    elif (near := _at_ends(question, mean, change)).any():
        centre = question.centre(draws, mean)
        total = np.where(near, spread_of(deviations, change).total, 0.0)
        if deviations.by_answer and not deviations.second:
            _warn_of_ends(question.scale(mean), mean, total)
        scale = scale_near_end(question.scale(mean), mean, total, 1)
        centre = np.where(near, scale.forward(mean), centre)
    else:
        scale, centre = question.scale(mean), question.centre(draws, mean)
    return mean, centre, change.times(1.0 / scale.slope(scale.backward(centre))), scale


def _warn_of_ends(scale, mean, total):
    """Warn of cosines that may be as near one as they are known, where second order is not."""
    n = np.unique(mean[total > _CLOSE * scale.slope(mean)]).size
    if n:
        warn_user(
            f"{n} of the cosines may be as near 1 or -1 as they are known, and intervals of "
            "answers one by one are of first order for so many words: they may be too narrow. "
            "Fewer words or components, or by_answer=False where it fits, allow for it.",
            UserWarning,
        )


def _at_ends(question, mean, change):
    """Which answers are cosines that may be as near one as they are known.

    That is by their means or by their gradients, which are at the mode: where the mean is nearer to
    one the slope of the scale is another.
    """
    if question.bends or not isinstance(question, Cosines):
        return np.zeros(len(question), bool)
    near = np.abs(mean) > _NEAR
    return near if change.end is None else near | np.isfinite(change.end)


def about_many(deviations, make, index, mean, prob):
    """`about` the questions ``make(index[part])`` of blocks of ``index``, put together."""
    parts = [slice(a, a + _ANSWERS) for a in range(0, len(index), _ANSWERS)]
    while True:
        at = deviations.vectors
        found = [about(deviations, make(index[p]), mean[p], prob) for p in parts]
        if deviations.vectors is at:
            break
        # on the way it was found that these were at no mode (`adjoint`)
    return Bunch(
        **{
            name: np.concatenate([one[name] for one in found], axis=1 if name == "draws" else 0)
            for name in found[0]
        }
    )


def change_of(deviations, question, draws=None, second=True):
    """`Change` of the answers to a question: its gradient along deviations of the operands.

    Parameters
    ----------
    deviations : Deviations
    question : Question
    draws : object, optional
        As of `about`.
    second : bool
        Whether gradients of cosines near one allow for second order: they hang on the deviations
        then, and are others for others.
    """
    operands, k = question.operands, deviations.vectors.shape[-1]
    if isinstance(question, Differences):
        return _change_of_difference(deviations, question, draws, second)
    if deviations.by_answer:
        return _asked_change(deviations, question, draws, second)
    at = values_at(operands, deviations.vectors)
    moved, n_units = _moved_operands(deviations, operands)
    turn = partial(_turns, deviations, moved=moved)
    pulls, end = _of_second_order(question, at, draws, turn, second)
    shared = np.empty((len(moved), len(question)))
    for part in question.parts(len(moved), k):
        picked = moved[:, question.index[part]]
        shared[:, part] = np.einsum("mirk,irk->mi", picked, pulls[part])
    fewest = n_units[question.index].min(axis=1)
    return Change(shared, _own(deviations, question, pulls), fewest, end)


def _asked_change(deviations, question, draws, second):
    """`change_of` answers that are worked out one by one."""
    while True:
        with contextlib.suppress(MovedOn):
            return _asked_at(deviations, question, draws, second, deviations.vectors)


def _asked_at(deviations, question, draws, second, here):
    """`_asked_change` with gradients at these vectors.

    Raises
    ------
    MovedOn
        If they are no mode.
    """
    turn = partial(_asked_turns, deviations, here=here)
    at, second = values_at(question.operands, here), second and deviations.second
    # one at a time: their turns have a row for each unit
    pulls, end = _of_second_order(question, at, draws, turn, second, at_once=1)
    shared, fewest = deviations.changes(question, pulls, here)
    own = _own(deviations, question, pulls)
    if deviations.vectors is not here:
        raise MovedOn
    return Change(shared, own, fewest, end)


def _of_second_order(question, at, draws, turn, second, at_once=None):
    """Gradients of answers, and what their posterior means are at most.

    ``turn(operands, index, at, sign)`` tells how directions turn, as of `_turns`, of ``at_once``
    answers together.
    """
    pulls = question.gradient(at, draws)
    if question.bends:
        return _bent(question, at, pulls, turn)
    if isinstance(question, Cosines) and second:
        return _near_ends(question, at, pulls, turn, at_once or _turned_at_once(at))
    return pulls, None


def _held(question, mean, end):
    """Posterior means no further than they can be."""
    return (np.minimum if question.bends > 0 else np.maximum)(mean, end)


def _change_of_difference(deviations, question, draws, second):
    """`change_of` differences: those of their parts, as far as these vary on their own scales.

    To its mean comes what is added to those of its parts, which end where they can be.
    """
    given = (None, None) if draws is None else draws
    parts = [one.repeated(len(question)) for one in (question.first, question.second)]
    while True:
        here = deviations.vectors
        (first, shift), (other, back) = (
            _part(deviations, part, own, second) for part, own in zip(parts, given, strict=True)
        )
        if deviations.vectors is here:
            # of one difference the prior's part is that of the same random directions
            return replace(first + (-other), shift=shift - back)


def _part(deviations, question, draws, second):
    """`Change` of the parts of differences, and what is added to their posterior means."""
    change = change_of(deviations, question, draws, second)
    at = values_at(question.operands, deviations.vectors)
    mean = question.at(at) if draws is None else question.value(draws).mean(axis=0)
    held, centre, on_scale, scale = _on_scale(deviations, question, change, mean, draws)
    sd = _sd_of_normal(scale, centre, spread_of(deviations, on_scale).total)
    total = spread_of(deviations, change).total
    share = np.divide(sd, total, out=np.ones(total.shape), where=total > 0)
    return change.times(share), held - mean


def _bent(question, at, pulls, turn):
    """`bent` for the answers to a question, some at a time: what turns one of them has K rows."""
    index, found, step = question.index, [], _turned_at_once(at)
    for part in (slice(a, a + step) for a in range(0, max(1, len(index)), step)):
        turns, n_noise = turn(question.operands, index[part], at)
        found.append(bent(at[index[part]], pulls[part], turns, n_noise, question.bends))
    gradients, ends = zip(*found, strict=True)
    return np.concatenate(gradients), np.concatenate(ends)


def _turned_at_once(at):
    """Answers whose turns, of K rows each, are worked out together."""
    return max(1, _ANSWERS // at.shape[1])


def _near_ends(question, at, pulls, turn, step):
    """Gradients of cosines that allow for second order where directions are as near as known.

    That is where one of them turns against the other, or against its opposite, by more than what is
    between them, in one standard deviation. With an array that is finite for these, and infinite
    for others; None where there are none.
    """
    cosines, index, out = question.at(at), question.index, pulls.copy()
    ends = np.full(len(index), np.inf)
    parts = [
        (sign, rows[a : a + step])
        for sign in (1.0, -1.0)
        for rows in [np.flatnonzero(sign * cosines > _NEAR)]
        for a in range(0, rows.size, step)
    ]
    for sign, rows in parts:
        turns, n_noise = turn(question.operands, index[rows], at, sign=sign)
        apart = 2.0 * (1.0 - np.abs(cosines[rows]))
        widest = np.array([np.linalg.norm(turns[:, i], 2) ** 2 for i in range(rows.size)])
        as_near = np.flatnonzero(widest > _AS_NEAR * apart)
        if not as_near.size:
            continue
        rows, turns = rows[as_near], turns[:, as_near]
        # of the opposite of the second direction: cosines, and their gradients by the first, with
        # the other sign
        picked, flip = at[index[rows]], np.array([[sign], [1.0]])
        picked = picked * flip[::-1]
        found, most = bent(picked, pulls[rows] * flip, turns, n_noise)
        out[rows], ends[rows] = found * flip, most
    return out, ends if np.isfinite(ends).any() else None


def _turns(deviations, operands, index, at, sign=1.0, *, moved):
    """How the second direction of cosines, times a sign, moves against the first, (rows, n, K).

    Rows are deviations: those that are noise of the estimate, which all places share or places have
    of their own, and then others. With the number of the former.
    """
    question = Turns(operands, np.repeat(index, at.shape[1], axis=0), sign)
    pulls = question.gradient(at)
    picked = pulls.reshape(len(index), at.shape[1], *pulls.shape[1:])
    shared = np.einsum("mirk,ijrk->mij", moved[:, index], picked)
    return _all_turns(deviations, question, pulls, shared)


def _asked_turns(deviations, operands, index, at, sign=1.0, *, here):
    """`_turns` of answers that are worked out one by one, a linear system a component.

    Those of directions that are not as near as they are known, by some random probes, are zero.
    """
    k = at.shape[1]
    rng = np.random.default_rng(0)
    probes = unit_vectors(rng.standard_normal((min(_PROBES, k), k)))
    cosines = Cosines(operands, index).at(at)
    asked = Turns(operands, np.repeat(index, len(probes), axis=0), sign, probes)
    pulls = asked.gradient(at)
    shared = deviations.changes(asked, pulls, here, keep=False)[0]
    own = sum(np.sum(change**2, axis=0) for *_, change in _own(deviations, asked, pulls))
    squares = np.sum(shared**2, axis=0) + own
    widest = k * np.mean(squares.reshape(len(index), len(probes)), axis=-1)
    near = np.flatnonzero(widest > _PROBED * 2.0 * (1.0 - np.abs(cosines)))
    if not near.size:
        return np.zeros((len(shared), len(index), k)), deviations.n_sampling
    deviations.note_near(near.size)
    question = Turns(operands, np.repeat(index[near], k, axis=0), sign)
    pulls = question.gradient(at)
    shared = deviations.changes(question, pulls, here, keep=False)[0].reshape(-1, near.size, k)
    found, n_noise = _all_turns(deviations, question, pulls, shared)
    out = np.zeros((len(found), len(index), k))
    out[:, near] = found
    return out, n_noise


def _all_turns(deviations, question, pulls, shared):
    """Turns along all deviations, and how many of these, the first ones, are noise."""
    noise, other = np.split(shared, [deviations.n_sampling])
    own = _own(deviations, question, pulls)
    rows = [change.reshape(len(change), *shared.shape[1:]) for *_, change in own]
    turns = np.concatenate([noise, *rows, other])
    return turns, len(turns) - len(other)


def _moved_operands(deviations, operands):
    """Deviations of sums (m, n, K), and the effective units that each rests on (n,).

    These are a harmonic mean over the places of a sum, by the shares that they have of its
    variance: those of the place where there is one.
    """
    n_rows, k = len(deviations.shifts), deviations.vectors.shape[-1]
    variance, over_units = np.zeros((2, len(operands)))
    out = np.zeros((n_rows, len(operands), k))
    for rows, side, unit, places, weights in operands.groups(max(1, CELLS // (n_rows * k))):
        moved = deviations.of(side, places)
        if unit:
            moved = turned(deviations.vectors[side][places], moved)
        out[:, rows] += summed(weights, moved)
        # a place that does not move counts as well
        part = weights.power(2) * (np.einsum("mik,mik->i", moved, moved) + _STILL)
        variance[rows] += np.asarray(part.sum(axis=1)).ravel()
        over_units[rows] += part @ (1.0 / np.maximum(deviations.n_units[places], _STILL))
    fewest = np.full(len(operands), np.inf)
    np.divide(variance, over_units, out=fewest, where=over_units > 0)
    ends = operands.weights.indptr
    alone = np.flatnonzero(np.diff(ends) == 1)
    fewest[alone] = deviations.n_units[operands.weights.indices[ends[alone]]]
    return out, fewest


def _own(deviations, question, pulls):
    """Derivatives of answers along what places have of their own."""
    operands, found = question.operands, []
    for rows, side, unit, places, weights in operands.groups(deviations.vectors.shape[1]):
        for i, place in enumerate(places.tolist()):
            if not deviations.has_own(place):
                continue
            mine = slice(*weights.indptr[i : i + 2])
            share = np.zeros(len(operands))
            share[rows[weights.indices[mine]]] = weights.data[mine]
            pull = np.einsum("ir,irk->ik", share[question.index], pulls)
            if unit:
                pull = turned(deviations.vectors[side][[place]], pull)
            found += deviations.own_changes(side, place, pull)
    return merged(found)


def cosine_change(deviations, a, b):
    """`Change` of the cosines between the targets at places ``a`` and ``b`` (n,)."""
    return change_of(deviations, _pairs(Cosines, deviations, a, b, 0), second=False)


def logit_change(deviations, a, b):
    """`Change` of the logits of targets with contexts, at places ``a`` and ``b`` (n,)."""
    question = _pairs(Probabilities, deviations, a, b, 1)
    at = [deviations.vectors[side][places] for side, places in enumerate((a, b))]
    slope = PROBABILITY.slope(expit(np.sum(at[0] * at[1], axis=1)))
    return change_of(deviations, question).times(1.0 / slope)


def _pairs(kind, deviations, a, b, side):
    n_places = deviations.vectors.shape[1]
    ends = of_places(a, n_places, unit=False), of_places(b, n_places, side, unit=False)
    return kind(together(*ends), np.arange(2 * len(a)).reshape(2, -1).T)


def feature_variance(deviations, weights):
    """Variance of weighted sums of target vectors, (n_documents, n_components).

    Parameters
    ----------
    deviations : Deviations
    weights : csr_array of shape (n_documents, n_words)
    """
    total = 0.0
    for shift in deviations.shifts[:, 0]:
        total = total + (weights @ shift.astype(np.float64)) ** 2
    for word, columns in deviations.own.items():
        share = weights[:, [word]].toarray()
        total = total + share**2 * np.sum(columns[0] ** 2, axis=1)
    return total


@OneBlasThread()
def feature_draws(deviations, weights, n):
    """Draws of weighted sums of target vectors less their mean, (n, n_documents, n_components).

    Normal, with the variances of `feature_variance`, and joint with the draws of all answers.

    Parameters
    ----------
    deviations : Deviations
    weights : csr_array of shape (n_documents, n_words)
    n : int
    """
    normals = deviations.normals(n)
    n_documents, k = weights.shape[0], deviations.vectors.shape[2]
    out = np.empty((n, n_documents, k))
    step = max(1, _FEATURES // (normals.shape[1] * k))
    for start in range(0, n_documents, step):
        rows = slice(start, start + step)
        part = weights[rows]
        moved = np.stack([part @ shift.astype(np.float64) for shift in deviations.shifts[:, 0]])
        out[:, rows] = np.tensordot(normals, moved, axes=1)
    by_word = weights.tocsc()
    for word, columns in deviations.own.items():
        entries = slice(*by_word.indptr[word : word + 2])
        documents, share = by_word.indices[entries], by_word.data[entries]
        if documents.size:
            keys = deviations.own_keys(word)
            z = np.concatenate([deviations.own_normals(n, 0, key) for key in keys], axis=1)
            out[:, documents] += share[:, None] * (z @ columns[0].T)[:, None]
    return out
