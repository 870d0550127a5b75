"""Variational inference with an independent Gaussian for every parameter.

It needs nothing of a model but the gradient of its log density (automatic differentiation
variational inference, ADVI: Kucukelbir et al. 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.searches import Unreached
from ..common.trial import laps
from ..common.warnings import warn_user
from .checkpoint import Stage
from .contracts import LogDensity, require

# Iterations between looks at the bound.
WINDOW = 100
# Adam (Kingma & Ba 2015): its step, which falls as the square root of the number of windows; the
# decay of the mean gradient and of the mean square (0.99 for their 0.999, a memory of one window);
# and what keeps it from dividing by zero.
_STEP, _DECAY, _TINY = 0.05, (0.9, 0.99), 1e-8
# The bound has settled once a window raised it by less than so many standard errors.
_ERRORS = 2
# Iterations that it takes: the median of benchmarks/cost.py.
_TYPICAL = 800


@dataclass
class MeanField:
    """Independent normal distributions, N(mean, deviation^2).

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_parameters,)
    elbo : ndarray of shape (n_windows,)
        Average bound on the log evidence, up to the constant of the model's log density, over
        each window of a hundred iterations.
    """

    mean: np.ndarray
    deviation: np.ndarray
    elbo: np.ndarray

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of shape (n, n_parameters)
        """
        noise = rng.standard_normal((n, self.mean.size))
        return self.mean + self.deviation * noise


def mean_field(
    model: LogDensity,
    start: np.ndarray,
    rng: np.random.Generator,
    *,
    max_iter: int = 2000,
    verbose: int = 0,
    stage: Stage | None = None,
) -> tuple[MeanField, dict[str, Any]]:
    """Fit `MeanField` to a model in coordinates in which its posterior is about standard normal.

    Every iteration estimates the gradient of the bound from one draw and its mirror image
    (Kucukelbir et al. 2017, eqs. 7-9), the entropy taken at the draw as well (Roeder et al. 2017),
    and takes a step of Adam. The search ends when a window of 100 iterations has not raised the
    bound by more than two standard errors. Means and log deviations are averaged over the last
    window.

    Parameters
    ----------
    model : LogDensity
    start : ndarray of shape (n_parameters,)
        Means to begin with; the deviations begin at the model's ``scale``.
    rng : numpy.random.Generator
    max_iter : int
        Most iterations, of two gradients each; at least two windows of 100 are made.
    verbose : int
        Above zero, a line is printed for every window.
    stage : Stage, optional
        Of the fit's checkpoint, to which windows are written.

    Returns
    -------
    approximation : MeanField
    facts : dict
        ``n_iter``, ``converged``.

    Raises
    ------
    TypeError
        If the model does not offer `LogDensity`.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached before the bound had settled.
    """
    require(model, LogDensity, "vi")
    n = model.n_parameters
    x = np.concatenate([start, np.log(model.scale)])
    first, second, gradient = np.zeros(2 * n), np.zeros(2 * n), np.empty(2 * n)
    room, converged, i = np.empty(n), False, 0
    windows: list[tuple[float, float]] = []
    found = None if stage is None else stage.read()
    if found is not None:
        x, first, second, total = found["arrays"]
        i, windows, converged = found["i"], found["windows"], found["converged"]
        rng.bit_generator.state = found["rng"].bit_generator.state
    counted, cut = laps("ascent", max(2 * WINDOW, min(max_iter, _TYPICAL))), False
    while not converged and not cut and (i < max_iter or len(windows) < 2):
        bounds, total = [], np.zeros(2 * n)
        for _ in range(WINDOW):
            i += 1
            bounds.append(_bound(model, x, rng, room, gradient))
            first += (1 - _DECAY[0]) * (gradient - first)
            second += (1 - _DECAY[1]) * (gradient**2 - second)
            rate = _STEP / math.sqrt(1 + i / WINDOW)
            correction = math.sqrt(1 - _DECAY[1] ** i) / (1 - _DECAY[0] ** i)
            x = x + rate * correction * first / (np.sqrt(second) + _TINY)
            total += x
            cut = counted is not None and counted.enough()
            if cut:
                break
        windows.append((np.mean(bounds), np.std(bounds) / math.sqrt(WINDOW)))
        if verbose:
            print(f"vi: {i} iterations, bound {windows[-1][0]:.6g}")
        if len(windows) > 1:
            (before, error), (now, other) = windows[-2:]
            converged = bool(now - before < _ERRORS * math.hypot(error, other))
        if stage is not None and (stage.due or converged or i >= max_iter):
            arrays = x, first, second, total
            state = {"arrays": arrays, "i": i, "windows": windows, "rng": rng}
            stage.write(state | {"converged": converged})
    if counted is not None:
        counted.end(ended=not cut)
    if not converged:
        warn_user(
            f"The bound still rose after max_iter={max_iter} iterations: raise max_iter.",
            Unreached,
        )
    average = total / WINDOW
    found = MeanField(average[:n], np.exp(average[n:]), np.array([w[0] for w in windows]))
    return found, {"n_iter": i, "converged": converged}


def _bound(model, x, rng, room, gradient):
    """An unbiased estimate of the bound at means and log deviations ``x``, and its gradient."""
    n = model.n_parameters
    mean, deviation = x[:n], np.exp(x[n:])
    noise = rng.standard_normal(n)
    # The entropy is taken at this draw, not in its mean: its noise is opposite to that of the log
    # density, so that their sum has less and less of it as the Gaussian comes to fit.
    value, squares = 0.0, noise**2
    gradient[:] = 0.0
    for sign in (0.5, -0.5):
        value += 0.5 * model.logp_and_grad(mean + 2 * sign * deviation * noise, room)
        gradient[:n] += 0.5 * room
        gradient[n:] += sign * room * noise
    gradient[n:] *= deviation
    gradient[n:] += squares
    return value + float(np.sum(x[n:]) + 0.5 * squares.sum()) + 0.5 * n * math.log(2 * math.pi)
