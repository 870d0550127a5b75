"""Questions: smooth functions of a few sums of vectors, of which each states value and gradient.

Intervals, draws, probabilities and differences of answers follow from these alone: by draws from
the posterior (`asking`), or by derivatives along deviations of vectors (`documents.answers`).
"""

from __future__ import annotations

import copy

import numpy as np
from scipy.special import expit

from ...metrics.words import unit_vectors
from .operands import CELLS, together
from .scales import COSINE, COSINE_DISTANCE, PLAIN, PROBABILITY, bounded, clipped, of_distances

# Step of numerical derivatives, relative to the length of a sum.
_STEP = 1e-5
# Lengths are taken for at least as much.
_LEAST = 1e-12


class Question:
    """Smooth functions of sums of vectors.

    Parameters
    ----------
    operands : Operands
    index : ndarray of int of shape (n, r)
        The operands that each answer takes.

    Attributes
    ----------
    operands, index
        As given.
    invariant : bool
        Whether answers do not change where all targets are mapped by M and contexts by ``M^-T``.
    bends : {-1, 0, 1}
        Not zero where answers are often at an end of their range, about which their gradient says
        nothing of how far they vary (`documents.bends`): 1 for cosines, -1 for one less these.
    ends : (float, float)
        Least and largest value that an answer can have.
    """

    invariant, bends, ends = False, 0, (-np.inf, np.inf)

    def __init__(self, operands, index):
        self.operands, self.index = operands, np.asarray(index)

    def __len__(self):
        return len(self.index)

    def repeated(self, n):
        """The question itself; if it has a single answer, ``n`` times."""
        if len(self) == n:
            return self
        found = copy.copy(self)
        found.index = np.broadcast_to(self.index, (n, self.index.shape[1]))
        return found

    def taken(self, order):
        """The question with its answers in another order."""
        found = copy.copy(self)
        found.index = self.index[order]
        return found

    def of(self, picked, part):
        """Answers (..., n) of operands (..., n, r, K); ``part`` is a slice, of which answers."""
        raise NotImplementedError

    def scale(self, mean):
        """The `Scale` of intervals about answers with these means (n,)."""
        return PLAIN

    def centre(self, draws, mean):
        """What intervals lie about, on the scale: (n,).

        Parameters
        ----------
        draws : ndarray of shape (n_draws, len(operands), K) or None
            Those of `draws`.
        mean : ndarray of shape (n,)
        """
        return self.scale(mean).forward(mean)

    def parts(self, n_rows, k):
        """Slices of answers whose operands, ``n_rows`` times, fit a block of work."""
        step = max(1, CELLS // (max(1, n_rows) * self.index.shape[1] * k))
        return [slice(a, a + step) for a in range(0, len(self), step)]

    def draws(self, vectors):
        """Draws of operands, (n_draws, len(operands), K), of the `Vectors` of an estimator."""
        return vectors.sums(self.operands, self.invariant)

    def value(self, x):
        """Answers (m, n) of draws of operands (m, len(operands), K)."""
        out = np.empty((len(x), len(self)))
        for part in self.parts(len(x), x.shape[-1]):
            out[:, part] = self.of(x[:, self.index[part]], part)
        return out

    def at(self, x):
        """Answers (n,) of operands (len(operands), K)."""
        return self.value(x[None])[0]

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take, (n, r, K), at ``x``.

        Parameters
        ----------
        x : ndarray of shape (len(operands), K)
        draws : ndarray of shape (n_draws, len(operands), K) or None
        """
        picked, everything = x[self.index], slice(None)
        out = np.empty_like(picked)
        n, r, k = picked.shape
        for j in range(r):
            step = _STEP * np.maximum(np.linalg.norm(picked[:, j], axis=-1), 1e-300)
            for i in range(k):
                ends = []
                for sign in (1.0, -1.0):
                    moved = picked.copy()
                    moved[:, j, i] += sign * step
                    ends.append(self.of(moved, everything))
                out[:, j, i] = (ends[0] - ends[1]) / (2.0 * step)
        return out


class Turns(Question):
    """How far one direction is from another along a third: of two sums, and of directions given.

    Parameters
    ----------
    operands, index
        As of `Question`. Each cosine's operands stand as often as there are directions.
    sign : float
        What the second direction is multiplied by.
    along : ndarray of shape (n_directions, K), optional
        The axes by default.
    """

    def __init__(self, operands, index, sign=1.0, along=None):
        super().__init__(operands, index)
        self.sign, self.along = sign, along

    def _along(self, k):
        along = np.eye(k) if self.along is None else self.along
        return np.tile(along, (len(self) // len(along), 1))

    def of(self, picked, part):
        """Answers of operands."""
        along = self._along(picked.shape[-1])[part]
        first, second = (unit_vectors(picked[..., i, :]) for i in (0, 1))
        return np.einsum("...k,...k->...", self.sign * second - first, along)

    def gradient(self, x, draws=None):
        """Exact derivatives."""
        picked = x[self.index]
        length = np.maximum(np.linalg.norm(picked, axis=-1, keepdims=True), _LEAST)
        unit, along = picked / length, self._along(x.shape[1])[:, None]
        across = along - np.sum(unit * along, axis=-1, keepdims=True) * unit
        return across / length * np.array([-1.0, self.sign])[:, None]


class Cosines(Question):
    """Cosines of two sums."""

    ends = -1.0, 1.0

    def of(self, picked, part):
        """Answers of operands."""
        a, b = unit_vectors(picked[..., 0, :]), unit_vectors(picked[..., 1, :])
        return np.einsum("...k,...k->...", a, b)

    def scale(self, mean):
        """The inverse hyperbolic tangent."""
        return COSINE

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        picked = x[self.index]
        unit, length = unit_vectors(picked), np.linalg.norm(picked, axis=-1, keepdims=True)
        cosine = np.sum(unit[:, 0] * unit[:, 1], axis=-1)[:, None, None]
        pull = unit[:, ::-1] - cosine * unit
        return np.divide(pull, length, out=np.zeros_like(pull), where=length > 0)


class SelfCosines(Cosines):
    """Cosines of sums that are often the same: of a word in periods without data."""

    bends = 1


class CosineDistances(Cosines):
    """One less the cosines of two sums."""

    bends, ends = -1, (0.0, 2.0)

    def of(self, picked, part):
        """Answers of operands."""
        return 1.0 - super().of(picked, part)

    def scale(self, mean):
        """That of cosines, mirrored."""
        return COSINE_DISTANCE

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        return -super().gradient(x)


class Distances(Question):
    """Euclidean distances of two sums."""

    ends = 0.0, np.inf

    def of(self, picked, part):
        """Answers of operands."""
        return np.linalg.norm(picked[..., 1, :] - picked[..., 0, :], axis=-1)

    def scale(self, mean):
        """Logarithmic near zero, plain far from it."""
        return of_distances(mean)

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        picked = x[self.index]
        direction = unit_vectors(picked[:, 1] - picked[:, 0])
        return np.stack([-direction, direction], axis=1)


class Probabilities(Question):
    """``sigma(rho . alpha)`` of a sum of targets and one of contexts.

    Intervals lie about posterior means of logits; along deviations it is logits that are linear.
    """

    invariant, ends = True, (0.0, 1.0)

    @staticmethod
    def _logits(picked):
        return np.einsum("...k,...k->...", picked[..., 0, :], picked[..., 1, :])

    def of(self, picked, part):
        """Answers of operands."""
        return expit(self._logits(picked))

    def scale(self, mean):
        """The logit."""
        return PROBABILITY

    def centre(self, draws, mean):
        """Posterior means of logits."""
        out = np.empty(len(self))
        for part in self.parts(len(draws), draws.shape[-1]):
            out[part] = self._logits(draws[:, self.index[part]]).mean(axis=0)
        return out

    def gradient(self, x, draws=None):
        """Derivatives of answers: of logits, times the slope at the center."""
        centre = expit(self.centre(x[None] if draws is None else draws, None))
        return PROBABILITY.slope(centre)[:, None, None] * x[self.index][:, ::-1]


class Entries(Question):
    """Entries of vectors, all of one after those of another."""

    def __init__(self, operands, n_components):
        super().__init__(operands, np.repeat(np.arange(len(operands)), n_components)[:, None])
        self._entry = np.tile(np.arange(n_components), len(operands))

    def of(self, picked, part):
        """Answers of operands."""
        entry = self._entry[part]
        return np.take_along_axis(picked[..., 0, :], np.broadcast_to(
            entry[:, None], (*picked.shape[:-2], 1)), axis=-1)[..., 0]  # fmt: skip

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        return np.eye(x.shape[-1])[self._entry][:, None]


class Effects(Question):
    """Effect sizes of word embedding association tests (Caliskan et al. 2017).

    An answer takes unit vectors of the target words, those of the first list before those of the
    second, and as the last operand the mean unit vector of one list of attributes less that of the
    other: ``s`` of a target word is its product with that.

    Parameters
    ----------
    operands, index
        As of `Question`.
    n_first : int
        Words of the first list.
    """

    def __init__(self, operands, index, n_first):
        super().__init__(operands, index)
        self._first = n_first
        share = n_first / (self.index.shape[1] - 1)
        most = 1.0 / np.sqrt(share * (1.0 - share))
        self.ends = -most, most

    def of(self, picked, part):
        """Answers of operands."""
        return effect(associations(picked), self._first)

    def scale(self, mean):
        """That of what cannot be beyond plus or minus ``1 / sqrt(q (1 - q))``.

        With q the first list's share of the words; 2 for lists of the same length.
        """
        return bounded(self.ends[1])


def associations(picked):
    """Products of all operands but the last with the last, (..., r - 1)."""
    return np.einsum("...jk,...k->...j", picked[..., :-1, :], picked[..., -1, :])


def effect(s, n_first):
    """Difference of the means of two groups over the standard deviation of all, (...)."""
    difference = s[..., :n_first].mean(axis=-1) - s[..., n_first:].mean(axis=-1)
    spread = s.std(axis=-1)
    return np.divide(difference, spread, out=np.zeros_like(difference), where=spread > 0)


class Associations(Question):
    """``s`` of target words as `Effects` has it: products of two sums."""

    ends = -2.0, 2.0

    def of(self, picked, part):
        """Answers of operands."""
        return np.einsum("...k,...k->...", picked[..., 0, :], picked[..., 1, :])

    def scale(self, mean):
        """That of a difference of two cosines."""
        return bounded(2.0)

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        return x[self.index][:, ::-1]


class Differences(Question):
    """Answers of one question less those of another, of as many.

    Parameters
    ----------
    first, second : Question
        One that has a single answer is held against all of the other.

    Attributes
    ----------
    first, second
        As given.
    """

    def __init__(self, first, second):
        n = max(len(first), len(second))
        index = [np.broadcast_to(q.index, (n, q.index.shape[1])) for q in (first, second)]
        self._cut = len(first.operands)
        super().__init__(
            together(first.operands, second.operands),
            np.concatenate([index[0], index[1] + self._cut], axis=1),
        )
        self.first, self.second = first, second
        self.invariant = first.invariant and second.invariant
        (low, high), (least, most) = first.ends, second.ends
        self.ends = low - most, high - least

    def taken(self, order):
        """The question with its answers in another order."""
        return Differences(
            *(q if len(q) == 1 else q.taken(order) for q in (self.first, self.second))
        )

    def scale(self, mean):
        """The plain one, held between the ends of what a difference can be."""
        return clipped(*self.ends)

    def draws(self, vectors):
        """Draws of the operands of both questions, a pair."""
        return self.first.draws(vectors), self.second.draws(vectors)

    def value(self, x):
        """Answers of draws of operands."""
        return self.first.value(x[0]) - self.second.value(x[1])

    def at(self, x):
        """Answers of operands."""
        return self.first.at(x[: self._cut]) - self.second.at(x[self._cut :])

    def gradient(self, x, draws=None):
        """Derivatives of answers by the operands that they take."""
        ends, given = (x[: self._cut], x[self._cut :]), (None, None) if draws is None else draws
        asked = self.first, self.second
        first, second = (q.gradient(*both) for q, *both in zip(asked, ends, given, strict=True))
        n = len(self)
        parts = first, -second
        return np.concatenate([np.broadcast_to(g, (n, *g.shape[1:])) for g in parts], axis=1)
