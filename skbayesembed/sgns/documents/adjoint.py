r"""Deviations of the answers that are asked for, of models too large for those of all vectors.

An answer with the gradient g moves with a unit's influence s_d by ``g' H^+ s_d``, which is
``s_d . z`` with ``z = H^+ g``: one linear system an answer tells of all units at once, exactly,
where `deviations` solves one for each random sum of units and then knows all answers. One more, by
the Hessian that is expected, tells of the prior.
"""

from __future__ import annotations

import threading

import numpy as np

from ...common.random import seed_at
from ...inference.krylov import inverse_root
from ...inference.laplace import NotAMode
from ..balance import along_transposed
from ..questions.operands import turned, values_at
from .deviations import FEWEST_UNITS, own_deviations, own_normals, prior_pull

# Random directions of the prior that answers share, so that their draws are joint; of each answer
# they are scaled to its prior part, which is known. Words whose entries are drawn together, and
# units whose normal numbers are.
_PRIOR_DRAWS, _TOGETHER, _UNITS = 64, 4096, 4096
_ASKING = threading.RLock()
# Of roots of the precision of words that are coupled.
_ROOT_TOL, _MOST_PRODUCTS = 1e-3, 1000
# Squared share of derivatives up to which others are these times a number.
_STRAIGHT = 1e-8


class MovedOn(Exception):
    """Raised where a search for the mode went on, and gradients are of where it had ended."""


class AskedDeviations:
    """Deviations of answers, worked out when they are asked for.

    Parameters
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
        The mode in the form that is read (balanced).
    mode : ndarray of shape (2, n_words, n_components)
        As the linear systems have it.
    maps : pair of ndarray of shape (n_components, n_components)
        From ``mode`` to ``vectors``, of both sides.
    balance : bool
        Whether deviations are those of balanced vectors.
    solve : callable
        ``solve(gradients, observed)``: ``H^+`` times gradients (m, 2, n_words, K) by ``mode``, H
        observed or expected.
    influences : callable
        ``influences(directions)``: influences of units along these, (n_units, m), scaled to sums
        of squares that are variances.
    information : callable
        ``information(side, word)``: of the pairs of a word, at ``mode``, (K, K).
    prior : Prior
    n_units : ndarray of shape (n_words,)
        Effective units of each word.
    seeds : pair of numpy.random.SeedSequence
        For directions of the prior, and for draws.
    together : int
        Answers whose systems are solved in step.
    note_number, note_near : callable
        Told how many answers a question has before they are worked out, and of how many of these
        second order is.
    respond : callable
        ``respond(i, influence, gradient, variance, answer)``: as of `refits.responding`, for the
        answer of row i of what was solved for last.
    go_on : callable
        ``go_on(direction)``: ``vectors``, ``mode`` and ``maps`` of a mode that is searched for from
        a step away, the direction of a `NotAMode`.
    second : bool, default=True
        Whether cosines near one are of second order, which takes a linear system for each
        component.

    Attributes
    ----------
    n_sampling : int
        Units that were sampled.
    by_unit, by_answer, exact_prior : bool
        Each unit has a deviation of its own, the prior's part is known: True.
    second : bool
        As given.
    """

    by_unit = by_answer = exact_prior = True

    def __init__(
        self, vectors, mode, maps, balance, *, solve, influences, information, prior, n_units,
        seeds, together, n_sampling, note_number, note_near, respond, go_on, second=True,
    ):  # fmt: skip
        self.vectors, self.n_units, self.n_sampling = vectors, n_units, n_sampling
        self._mode, self._maps, self._balance = mode, maps, balance
        self._solve, self._influences, self._information = solve, influences, information
        self._prior, self._together = prior, together
        self._prior_seed, self.seed = seeds
        self.note_near, self._respond, self._go_on = note_near, respond, go_on
        self.second, self._note_number = second, note_number
        # derivatives of the answers so far, by their gradients
        self._known = {}
        # of those that are worked on, by what they are: the part of the units, once it is there
        self._of_units = None

    def changes(self, question, pulls, here, keep=True):
        """Derivatives of answers along deviations, and the effective units each rests on.

        Parameters
        ----------
        question : Question
        pulls : ndarray of shape (n, r, n_components)
            Gradients of the answers by the operands that they take, at ``here``.
        here : ndarray
            ``vectors``, when these were asked for.
        keep : bool
            Whether the derivatives are remembered.

        Returns
        -------
        shared : ndarray of shape (n_sampling + 65, n)
        fewest : ndarray of shape (n,)

        Raises
        ------
        MovedOn
            If these are no longer the vectors of the mode.
        """
        # threads that ask at the same time share what systems are solved with
        with _ASKING:
            if self.vectors is not here:
                raise MovedOn
            try:
                shared = self._changes(question, pulls, self._known if keep else {})
            except NotAMode as error:
                direction = error.direction
                if direction is None:
                    raise
            else:
                return shared, self._fewest(question.operands)[question.index].min(axis=1)
            # by now the error has let go of what was worked with
            self.vectors, self._mode, self._maps = self._go_on(direction)
            self._known.clear()
            self._of_units = None
            raise MovedOn

    def _changes(self, question, pulls, known):
        places = [self._by_place(question, i, pull) for i, pull in enumerate(pulls)]
        keys = [_key_of(gradient) for gradient in places]
        first: dict = {}
        for i, key in enumerate(keys):
            first.setdefault(key, i)
        new = [i for key, i in first.items() if key not in known]
        self._note_number(len(new))
        read = self._on_scale(question, pulls)
        for a in range(0, len(new), self._together):
            part = new[a : a + self._together]
            asked = [read(i) for i in part]
            mine = [keys[i] for i in part]
            columns = self._along(mine, self._by_mode([places[i] for i in part]), asked).T
            known.update(zip(mine, columns, strict=True))
        return np.stack([known[key] for key in keys], axis=1)

    def _by_place(self, question, i, pulls):
        """Gradient of an answer by vectors as they are read: sides, places and rows, a list."""
        operands, found = question.operands, []
        for operand, pull in zip(question.index[i], pulls, strict=True):
            row = operands.weights[[operand]]
            places, side = row.indices, int(operands.side[operand])
            each = row.data[:, None] * pull
            if operands.unit[operand]:
                each = turned(self.vectors[side][places], each)
            found.append((side, places, each))
        return found

    def _by_mode(self, gradients):
        """Gradients of answers, of `_by_place`, by the vectors of the mode, (m, 2, n_words, K)."""
        out = np.zeros((len(gradients), *self.vectors.shape))
        for one, gradient in zip(out, gradients, strict=True):
            for side, places, rows in gradient:
                np.add.at(one[side], places, rows)
        if self._balance:
            along_transposed(self.vectors, out)
        for one in out:
            for side, m in enumerate(self._maps):
                one[side] = one[side] @ m.T
        return out

    def _on_scale(self, question, pulls):
        """``read(i)(vectors)``: an answer at vectors, as straight as its scale makes it.

        At ``self.vectors`` it has the derivatives ``pulls`` of the answer, whose slope may be that
        at posterior means. None of an answer whose derivatives are others, of second order.
        """

        def at(vectors):
            return question.at(values_at(question.operands, vectors))

        here = at(self.vectors)
        scale = question.scale(here)
        plain = question.gradient(values_at(question.operands, self.vectors))
        squares = np.sum(plain**2, axis=(1, 2))
        times = np.ones(here.shape)
        np.divide(np.sum(pulls * plain, axis=(1, 2)), squares, out=times, where=squares > 0.0)
        slope = times * scale.slope(here)
        apart = np.sum((pulls - times[:, None, None] * plain) ** 2, axis=(1, 2))
        straight = apart <= _STRAIGHT * np.sum(pulls**2, axis=(1, 2))

        def read(i):
            if straight[i]:
                return lambda vectors: slope[i] * scale.forward(at(vectors))[i]
            return None

        return read

    def _along(self, keys, gradients, answers):
        """Derivatives along units, directions of the prior and its pull, of answers."""
        if self._of_units is None or self._of_units[0] != keys:
            self._of_units = keys, self._along_units(gradients, answers)
        influences = self._of_units[1]
        solutions = self._solve(gradients, observed=False)
        known = [
            sum(np.vdot(z[side], self._prior.apply(side, z[side])) for side in (0, 1))
            for z in solutions
        ]
        noise = self._along_prior(solutions)
        drawn = np.sum(noise**2, axis=0)
        noise *= np.sqrt(np.divide(known, drawn, out=np.zeros_like(drawn), where=drawn > 0))
        pull = prior_pull(self._prior, self._mode)
        pulled = [np.vdot(z, pull.astype(z.dtype)) for z in solutions]
        self._of_units = None
        return np.vstack([influences, noise, pulled])

    def _along_units(self, gradients, answers):
        """Derivatives of answers along units, (n_units, m)."""
        solutions = self._solve(gradients, observed=True)
        influences = self._influences(solutions)
        rows = zip(influences.T, gradients, solutions, answers, strict=True)
        for i, (own, gradient, z, answer) in enumerate(rows):
            if answer is not None:
                own[:] = self._respond(i, own, gradient, float(np.vdot(gradient, z)), answer)
        return influences

    def _along_prior(self, solutions):
        """Random directions of the prior's precision times solutions, (64, m)."""
        out = np.zeros((_PRIOR_DRAWS, len(solutions)))
        shape = self._prior.n_words, self._prior.n_components
        for side in (0, 1):
            rng = np.random.default_rng(seed_at(self._prior_seed, side))
            z = solutions[:, side]
            if self._prior.neighbours(side) is not None:
                z = np.stack([_coupled_root(self._prior, side, one) for one in z])
            else:
                z = z * np.sqrt(self._prior.diagonal(side)).astype(np.float32)
            for a in range(0, shape[0], _TOGETHER):
                part = z[:, a : a + _TOGETHER].reshape(len(z), -1)
                noise = rng.standard_normal((_PRIOR_DRAWS, part.shape[1]), dtype=np.float32)
                out += noise @ part.T
        return out

    def _fewest(self, operands):
        """Effective units that sums of vectors rest on: a harmonic mean over their places.

        The variance of a place is not known here, and taken to go down with its units.
        """
        units = np.maximum(self.n_units, 1e-12)
        squares = operands.weights.power(2)
        over, above = squares @ (1.0 / units), squares @ (1.0 / units**2)
        return np.divide(over, above, out=np.full(len(over), np.inf), where=above > 0)

    def has_own(self, place):
        """Whether the word at a place has deviations of its own."""
        return self.n_units[place] < FEWEST_UNITS

    def own_changes(self, side, place, gradients):
        """As of `deviations.Deviations`."""
        information = self._information(side, place)[None]
        blocks = information + np.diag(self._prior.diagonal(side)[place])
        own = self._maps[side].T @ own_deviations(blocks, information)[0]
        return [(side, place, own.T @ gradients.T)]

    def drawn(self, n, shared):
        """Sums of deviations with standard normal numbers, those of units the same for all."""
        out = np.zeros((n, shared.shape[1]))
        for i, a in enumerate(range(0, len(shared), _UNITS)):
            # beside those of words' own, which begin with a side
            rng = np.random.default_rng(seed_at(self.seed, 2, i))
            part = shared[a : a + _UNITS]
            out += rng.standard_normal((n, len(part))) @ part
        return out

    def own_normals(self, n, side, word):
        """As of `deviations.Deviations`."""
        return own_normals(self.seed, n, side, word, self.vectors.shape[2])


def _key_of(gradient):
    return tuple((side, places.tobytes(), rows.tobytes()) for side, places, rows in gradient)


def _coupled_root(prior, side, x):
    """A root of the prior's precision of coupled words times ``x`` (n_words, K)."""
    matrix = prior.neighbours(side)

    def product(rows):
        return rows + (matrix @ rows.T).T

    rows = np.ascontiguousarray(x.T, dtype=np.float64)
    root, _ = inverse_root(product, rows, tol=_ROOT_TOL, max_iter=_MOST_PRODUCTS)
    return (product(root).T * np.sqrt(prior.tau)).astype(np.float32)
