"""Quasi-Newton ascent with a preconditioner that the model provides, in the precision of its point.

It is meant for tens of millions of parameters and models that know most of their curvature. SciPy's
L-BFGS takes no preconditioner, and works in double precision, in several times the memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .contracts import Run
from .threads import gathered, serial

# A step is taken if it gains the first share of what the slope promises (Nocedal & Wright 2006,
# section 3.1); otherwise it is shortened by the second factor, as long as it is above the third.
_SUFFICIENT, _SHORTER, _SHORTEST = 1e-4, 0.3, 1e-6
# Where the change of the value drowns in rounding, a step is taken unless the slope at its end
# falls by more than this share of the one at its start (Hager & Zhang 2005, eq. 4.1).
_STEEPEST_END = 0.8
# Steps along which the value bends by less than this say nothing: single precision has lost it. In
# double precision it is smaller by the ratio of the two roundings.
_LEAST_CURVATURE = 1e-10
# Numbers of long arrays that a thread takes, and of these what it goes through at a time, for which
# there is room in its cache.
_LONG, _SHORT = 2**20, 2**15


class Ascent:
    """Limited-memory BFGS that goes up the ``value`` of a model.

    Parameters
    ----------
    model : object
        ``model.point`` is an array of float32 or float64, in C order, that is moved in place;
        ``model.value_and_gradient()`` returns the value at that point and its gradient, a new
        array in C order;
        ``model.precondition(x)`` multiplies ``x`` in place by an approximation of the inverse of
        the negative Hessian.
    memory : int, default=6
        Number of steps remembered.
    rounding : float, default=0.0
        Error of the value, relative to its size. Steps that change it by less are judged by their
        slopes, which stay exact long after differences of values have drowned.
    run : callable
        Maps a function over blocks of work; `serial` by default.
    known : sequence of (ndarray, ndarray, float)
        What an ascent before has remembered, with the same curvature.

    Attributes
    ----------
    value : float
        The value at the present point.
    gradient : ndarray of the shape of the point
        The gradient there.
    gain : float
        What the last step gained, by the slopes at both its ends.
    n_evaluations : int
        How often the model was evaluated.
    known : list of (ndarray, ndarray, float)
        The last steps, the changes of the gradient along them, and the inverse of the product of
        both.

    References
    ----------
    Nocedal & Wright (2006), Numerical Optimization, algorithm 7.4. Hager & Zhang (2005), A new
    conjugate gradient method with guaranteed descent and an efficient line search, SIAM Journal on
    Optimization 16(1).
    """

    def __init__(
        self,
        model: Any,
        memory: int = 6,
        rounding: float = 0.0,
        run: Run = serial,
        known: Sequence[tuple[np.ndarray, np.ndarray, float]] = (),
    ) -> None:
        self._model, self._memory = model, memory
        self._rounding, self._run = rounding, run
        self._number = model.point.dtype.type
        share = np.finfo(model.point.dtype).eps / np.finfo(np.float32).eps
        self._least_curvature = _LEAST_CURVATURE * float(share)
        self.gain = 0.0
        self.known = list(known)
        self.n_evaluations = 0
        self.value, self.gradient = self._evaluate()

    def advance(self, first: float = 1.0) -> bool:
        """Take one step, shortened until it raises the value enough.

        Parameters
        ----------
        first : float, default=1.0
            Length of the very first step, relative to the preconditioned gradient.

        Returns
        -------
        bool
            False if no step along the direction raises the value: the maximum is reached as far as
            the precision of the point can tell. The point then stays where it was.
        """
        direction = self._direction()
        slope = self._dot(self.gradient, direction)
        length = 1.0 if self.known else first
        point = self._model.point
        old = point.copy()
        accepted = False
        try:
            while not accepted and slope > 0 and length > _SHORTEST:
                # in this thread: after an interruption others would still be at it
                _add(self._number(length), *(a.reshape(-1) for a in (old, direction, point)))
                value, gradient = self._evaluate()
                end = self._dot(gradient, direction)
                if abs(value - self.value) < self._rounding * abs(value):
                    accepted = end >= -_STEEPEST_END * slope
                else:
                    accepted = value >= self.value + _SUFFICIENT * length * slope
                if accepted:
                    self.gain = 0.5 * length * (slope + end)
                length *= _SHORTER
        finally:
            # an interruption leaves the last point that was accepted
            if not accepted:
                point[:] = old
        if accepted:
            # both arrays are needed no more
            step, change = old, self.gradient
            self._add(point, -1.0, old, out=step)
            self._add(change, -1.0, gradient, out=change)
            self._remember(step, change)
            self.value, self.gradient = value, gradient
        return accepted

    def _evaluate(self):
        self.n_evaluations += 1
        value, gradient = self._model.value_and_gradient()
        return value, np.ascontiguousarray(gradient)

    def _remember(self, step, change):
        curvature = self._dot(step, change)
        if not curvature > self._least_curvature:
            return
        self.known.append((step, change, 1.0 / curvature))
        del self.known[: -self._memory]

    def _direction(self):
        direction, known = self.gradient.copy(), self.known
        shares = []
        for step, change, inverse in reversed(known):
            shares.append(inverse * self._dot(step, direction))
            self._add(direction, -shares[-1], change, out=direction)
        self._model.precondition(direction)
        if known:
            # fits the preconditioner to the last step: without it steps are too long, and those
            # that are refused cost a fifth of all work (10,000 words)
            step, change, inverse = known[-1]
            scaled = change.copy()
            self._model.precondition(scaled)
            fit = 1.0 / max(inverse * self._dot(change, scaled), _LEAST_CURVATURE)
            direction *= self._number(fit)
        for (step, change, inverse), share in zip(known, reversed(shares), strict=True):
            share -= inverse * self._dot(change, direction)
            self._add(direction, share, step, out=direction)
        return direction

    def forget(self) -> None:
        """Evaluate the model where it is, and go on without the steps that are remembered."""
        self.known.clear()
        self.value, self.gradient = self._evaluate()

    def _dot(self, a, b):
        return sum(self._in_pieces(_dot, a, b))

    def _add(self, a, factor, b, out):
        """``a + factor b``, in ``out``, which may be either."""
        self._in_pieces(functools.partial(_add, self._number(factor)), a, b, out)

    def _in_pieces(self, function, *arrays):
        if arrays[0].size <= _LONG:  # small models have nothing but these to wait for
            return [function(*(a.reshape(-1) for a in arrays))]
        return gathered(self._run, function, zip(*(_pieces(a) for a in arrays), strict=True))


def _pieces(a):
    flat = a.reshape(-1)
    return [flat[i : i + _LONG] for i in range(0, flat.size, _LONG)]


def _dot(a, b):
    # of numbers beyond single precision it is infinite, and the step is not taken
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(a, b))


def _add(factor, a, b, out):
    moved = np.empty(min(_SHORT, a.size), a.dtype)
    for i in range(0, a.size, _SHORT):
        piece = slice(i, i + _SHORT)
        own = moved[: a[piece].size]
        np.multiply(b[piece], factor, out=own)
        np.add(a[piece], own, out=out[piece])
