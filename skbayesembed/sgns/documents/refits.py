"""How far one answer moves with the units along soft directions, beside what first order says.

First order knows the density's curvature where the search for the mode ended. Along a direction in
which that is next to none it promises movements that the model cannot make: the curvature soon
grows. Smaller models have `response` for this, from refits of halves of the units.

For one answer, the directions of the conjugate gradients that solved for it are turned to those
along which units move the mode most, in standard deviations by the model. Along those that promise
many of these the mode is searched for again, with the weights of units moved by their influences
on it, one standard error to either side: no other weights that differ as little move the mode as
far (those of Efron's ABC intervals; DiCiccio & Efron 1992, Biometrika 79(2)). What the answer does
there, over what it should do, is the response of that part of the influences. The searches begin
where first order leads, so one that ends early says that the answer moves too far rather than not
far enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# First order is taken to hold where units move an answer by no more than so many standard
# deviations by the model, squared. Directions that are looked at promise so many, and have at least
# such a share of the variance by units; there are so many at most.
_PLAIN, _FAR, _SHARE, _MOST = 4.0, 100.0, 0.05, 2
# Directions whose influences are worked out together.
_TOGETHER = 4


def responding(
    influence: np.ndarray,
    gradient: np.ndarray,
    variance: float,
    steps: list[tuple[np.ndarray, float]],
    along: Callable[[np.ndarray], np.ndarray],
    answer: Callable[[np.ndarray], float],
    refit: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Influences of units on an answer, with what first order overstates taken off.

    Parameters
    ----------
    influence : ndarray of shape (n_units,)
        To first order, with sums of squares that are variances (of a jackknife).
    gradient : ndarray of shape (2, n_words, n_components)
        Of the answer.
    variance : float
        Of the answer by the model.
    steps : list of (ndarray, float)
        Conjugate directions (2, n_words, n_components) and their curvatures.
    along : callable
        Influences of units along directions, scaled as the others, (n_units, m).
    answer : callable
        The answer at vectors as they are read.
    refit : callable
        ``refit(weights, step)``: vectors, as they are read, at the mode with units of these
        weights, which is searched for from ``step`` away.
    """
    size = np.vdot(influence, influence)
    steps = [(d, curvature) for d, curvature in steps if curvature > 0.0]
    if size <= _PLAIN * variance or not steps:
        return influence
    lengths = np.sqrt([curvature for _, curvature in steps])
    parts = [steps[i : i + _TOGETHER] for i in range(0, len(steps), _TOGETHER)]
    by_unit = np.hstack([along(np.stack([d for d, _ in part])) for part in parts]) / lengths
    pulls = np.array([np.vdot(d, gradient) for d, _ in steps]) / lengths
    squares, basis = np.linalg.eigh(by_unit.T @ by_unit)
    pulls = pulls @ basis
    told = np.sqrt(np.maximum(squares, 0.0)) * pulls
    soft = (squares > _FAR) & (told**2 > _SHARE * size)
    # influences are those of a jackknife, which is wider by so much than what weights do
    out, scale = influence.copy(), np.sqrt(len(influence) / (len(influence) - 1.0))
    for i in np.flatnonzero(soft)[: -1 - _MOST : -1]:
        far = np.sqrt(squares[i])
        direction = sum(c * d for c, (d, _) in zip(basis[:, i] / lengths, steps, strict=True))
        share = by_unit @ basis[:, i] / far
        ends = [
            answer(refit(np.maximum(1.0 + sign * share, 0.0), sign * far * direction))
            for sign in (1.0, -1.0)
        ]
        response = np.clip(scale * 0.5 * (ends[0] - ends[1]) / told[i], 0.0, 1.0)
        out -= (1.0 - response) * told[i] * share
    return out
