"""Quasi-Newton ascent in single precision with a preconditioner that the model provides.

It is meant for tens of millions of parameters and models that know most of their curvature. SciPy's
L-BFGS takes no preconditioner, and works in double precision, in several times the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# A step is taken if it gains the first share of what the slope promises (Nocedal & Wright 2006,
# section 3.1); otherwise it is shortened by the second factor, as long as it is above the third.
_SUFFICIENT, _SHORTER, _SHORTEST = 1e-4, 0.3, 1e-6
# Steps along which the value bends by less than this say nothing: single precision has lost it.
_LEAST_CURVATURE = 1e-10


class Ascent:
    """Limited-memory BFGS that goes up the ``value`` of a model.

    Parameters
    ----------
    model : object
        ``model.point`` is a float32 array that is moved in place;
        ``model.value_and_gradient()`` returns the value at that point and its gradient, a new
        array;
        ``model.precondition(x)`` multiplies ``x`` in place by an approximation of the inverse of
        the negative Hessian.
    memory : int, default=6
        Number of steps remembered.

    Attributes
    ----------
    value : float
        The value at the present point.
    gradient : ndarray of the shape of the point
        The gradient there.
    n_evaluations : int
        How often the model was evaluated.

    References
    ----------
    Nocedal & Wright (2006), Numerical Optimization, algorithm 7.4.
    """

    def __init__(self, model: Any, memory: int = 6) -> None:
        self._model, self._memory = model, memory
        self._steps: list[np.ndarray] = []
        self._changes: list[np.ndarray] = []
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
            single precision can tell. The point then stays where it was.
        """
        direction = self._direction()
        slope = _dot(self.gradient, direction)
        length = 1.0 if self._steps else first
        old = self._model.point.copy()
        accepted = False
        try:
            while not accepted and slope > 0 and length > _SHORTEST:
                np.multiply(direction, np.float32(length), out=self._model.point)
                self._model.point += old
                value, gradient = self._evaluate()
                accepted = value >= self.value + _SUFFICIENT * length * slope
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
        if not _dot(step, change) > _LEAST_CURVATURE:
            return
        self._steps.append(step)
        self._changes.append(change)
        if len(self._steps) > self._memory:
            del self._steps[0], self._changes[0]

    def _direction(self):
        direction = self.gradient.copy()
        known = [(s, y, 1.0 / _dot(s, y)) for s, y in zip(self._steps, self._changes, strict=True)]
        shares = []
        for step, change, inverse in reversed(known):
            shares.append(inverse * _dot(step, direction))
            direction -= np.float32(shares[-1]) * change
        self._model.precondition(direction)
        if known:
            step, change, inverse = known[-1]
            scaled = change.copy()
            self._model.precondition(scaled)
            direction *= np.float32(1.0 / max(inverse * _dot(change, scaled), _LEAST_CURVATURE))
        for (step, change, inverse), share in zip(known, reversed(shares), strict=True):
            direction += np.float32(share - inverse * _dot(change, direction)) * step
        return direction


def _dot(a, b):
    return float(np.dot(a.ravel(), b.ravel()))
