"""Quasi-Newton ascent with a preconditioner that the model provides, in the precision of its point.

It is meant for tens of millions of parameters and models that know most of their curvature. SciPy's
L-BFGS takes no preconditioner, and works in double precision, in several times the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# A step is taken if it gains the first share of what the slope promises (Nocedal & Wright 2006,
# section 3.1); otherwise it is shortened by the second factor, as long as it is above the third.
_SUFFICIENT, _SHORTER, _SHORTEST = 1e-4, 0.3, 1e-6
# Where the change of the value drowns in rounding, a step is taken unless the slope at its end
# falls by more than this share of the one at its start (Hager & Zhang 2005, eq. 4.1).
_STEEPEST_END = 0.8
# Steps along which the value bends by less than this say nothing: single precision has lost it. In
# double precision it is smaller by the ratio of the two roundings.
_LEAST_CURVATURE = 1e-10


class Ascent:
    """Limited-memory BFGS that goes up the ``value`` of a model.

    Parameters
    ----------
    model : object
        ``model.point`` is an array of float32 or float64 that is moved in place;
        ``model.value_and_gradient()`` returns the value at that point and its gradient, a new
        array;
        ``model.precondition(x)`` multiplies ``x`` in place by an approximation of the inverse of
        the negative Hessian.
    memory : int, default=6
        Number of steps remembered.
    rounding : float, default=0.0
        Error of the value, relative to its size. Steps that change it by less are judged by their
        slopes, which stay exact long after differences of values have drowned.

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

    References
    ----------
    Nocedal & Wright (2006), Numerical Optimization, algorithm 7.4. Hager & Zhang (2005), A new
    conjugate gradient method with guaranteed descent and an efficient line search, SIAM Journal on
    Optimization 16(1).
    """

    def __init__(self, model: Any, memory: int = 6, rounding: float = 0.0) -> None:
        self._model, self._memory = model, memory
        self._rounding = rounding
        self._scratch = np.empty_like(model.point)
        self._number = model.point.dtype.type
        share = np.finfo(model.point.dtype).eps / np.finfo(np.float32).eps
        self._least_curvature = _LEAST_CURVATURE * float(share)
        self.gain = 0.0
        # steps, the changes of the gradient along them, and the inverse of the product of both
        self._known: list[tuple[np.ndarray, np.ndarray, float]] = []
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
        slope = _dot(self.gradient, direction)
        length = 1.0 if self._known else first
        old = self._model.point.copy()
        accepted = False
        try:
            while not accepted and slope > 0 and length > _SHORTEST:
                np.multiply(direction, self._number(length), out=self._model.point)
                self._model.point += old
                value, gradient = self._evaluate()
                end = _dot(gradient, direction)
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
                self._model.point[:] = old
        if accepted:
            self._remember(self._model.point - old, self.gradient - gradient)
            self.value, self.gradient = value, gradient
        return accepted

    def _evaluate(self):
        self.n_evaluations += 1
        return self._model.value_and_gradient()

    def _remember(self, step, change):
        curvature = _dot(step, change)
        if not curvature > self._least_curvature:
            return
        self._known.append((step, change, 1.0 / curvature))
        del self._known[: -self._memory]

    def _direction(self):
        direction, known = self.gradient.copy(), self._known
        shares = []
        for step, change, inverse in reversed(known):
            shares.append(inverse * _dot(step, direction))
            self._add(direction, -shares[-1], change)
        self._model.precondition(direction)
        if known:
            # fits the preconditioner to the last step: without it steps are too long, and those
            # that are refused cost a fifth of all work (10,000 words)
            step, change, inverse = known[-1]
            scaled = change.copy()
            self._model.precondition(scaled)
            direction *= self._number(1.0 / max(inverse * _dot(change, scaled), _LEAST_CURVATURE))
        for (step, change, inverse), share in zip(known, reversed(shares), strict=True):
            self._add(direction, share - inverse * _dot(change, direction), step)
        return direction

    def _add(self, direction, factor, other):
        np.multiply(other, self._number(factor), out=self._scratch)
        direction += self._scratch


def _dot(a, b):
    # of numbers beyond single precision it is infinite, and the step is not taken
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(a.ravel(), b.ravel()))
