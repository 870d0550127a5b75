"""Scales on which intervals are symmetric: those on which an answer has no ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

# Answers are held away from the ends of their range by this much.
_EDGE = 1e-9


class Scale(NamedTuple):
    """The scale on which intervals are symmetric.

    Attributes
    ----------
    forward, backward : callable
        To that scale, and from it.
    slope : callable
        Derivative of ``backward``, as a function of what it returns.
    """

    forward: object
    backward: object
    slope: object


PLAIN = Scale(np.asarray, np.asarray, np.ones_like)
PROBABILITY = Scale(lambda p: logit(np.clip(p, _EDGE, 1.0 - _EDGE)), expit, lambda p: p * (1.0 - p))
# Of one less a cosine.
COSINE_DISTANCE = Scale(
    lambda d: np.arctanh(np.clip(d, _EDGE, 2.0 - _EDGE) - 1.0),
    lambda z: 1.0 + np.tanh(z),
    lambda d: d * (2.0 - d),
)


def bounded(most):
    """The `Scale` of answers from ``-most`` to ``most``."""
    return Scale(
        lambda x: np.arctanh(np.clip(x / most, _EDGE - 1.0, 1.0 - _EDGE)),
        lambda z: most * np.tanh(z),
        lambda x: most * (1.0 - (x / most) ** 2),
    )


COSINE = bounded(1.0)


def clipped(low, high):
    """The plain `Scale` of answers that are rarely near the ends of their range, held inside it."""
    return Scale(np.asarray, lambda x: np.clip(x, low, high), np.ones_like)


def of_distances(mean):
    """The `Scale` of distances with these means, ndarray (n,).

    Logarithmic near zero, plain far from it, where logarithms would have no end of an interval that
    is wide: the inverse of ``log(1 + exp(z))``, with the mean as unit.
    """
    size = np.maximum(mean, _EDGE)
    return Scale(
        lambda d: np.log(np.expm1(np.maximum(d / size, _EDGE))),
        lambda z: size * np.logaddexp(0.0, z),
        lambda d: -size * np.expm1(-d / size),
    )
