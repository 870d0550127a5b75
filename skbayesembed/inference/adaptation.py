"""What a Hamiltonian sampler learns during warm-up: its step size, its metric, and when.

A trajectory is cheap where the posterior is about equally wide in all directions. The metric is the
linear map to coordinates in which it is; it is learned from the draws of windows of the warm-up,
whose ends are the `schedule`. The step size is adapted throughout.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from . import hmc_kernels as kernels
from .contracts import HamiltonianModel

# The draws of a window are kept if they take at most this many bytes. Of more, only means and
# variances are known, and widths along turns (see `Metric`) cannot be learned.
_WINDOW_BYTES = 2**28
# Nor are they learned where a block has more numbers than this: a turn has k (k - 1) / 2 entries.
_LARGEST_TURNING = 64
# A turn enters the metric if the posterior is this many times as wide along it as the variances of
# the single parameters say.
_LEAST_GAIN = 1.2
# Transitions after which the average step is trusted.
_LEAST_STEPS = 5
# Equivalent draws of the prior guess of a metric, as in Stan.
_GUESS = 5
# Variances are at least this share of the guess, so that a chain that stood still has a metric.
_LEAST_VARIANCE = 1e-6
# Stands in for zero where it would be divided by.
_TINY = 1e-300

# Stan's schedule of warm-up (Stan Reference Manual, "Automatic Parameter Tuning"), in numbers of
# transitions and in shares of the warm-up. The first part and the last adapt the step size alone;
# between them are windows, each twice as long as the one before. A warm-up shorter than the least
# has no windows.
_LEAST_WARMUP = 20
_FIRST_PART, _FIRST_SHARE = 75, 0.15
_LAST_PART, _LAST_SHARE = 50, 0.1
_FIRST_WINDOW = 25

# Constants of dual averaging, all of Hoffman & Gelman (2014, section 3.2): how strongly the step is
# drawn to its centre (gamma), how much the first transitions are held back (t0), how fast early
# steps are forgotten in the average (kappa), and how many times the first step the centre is.
_SHRINKAGE, _DELAY, _DECAY, _AMBITION = 0.05, 10.0, 0.75, 10


def schedule(warmup: int) -> tuple[int, list[int]]:
    """Ends of the windows of metric adaptation, as numbers of transitions.

    Stan's plan: 15 % of the transitions (at most 75) adapt the step size only; then come windows of
    25 transitions and twice as many each time; 10 % (at most 50) run with the final metric.

    Parameters
    ----------
    warmup : int
        Number of transitions of the warm-up.

    Returns
    -------
    first : int
        Transitions before the first window.
    ends : list of int
        The transition after which each window ends; empty for a warm-up of less than 20.
    """
    if warmup < _LEAST_WARMUP:
        return warmup, []
    first = min(_FIRST_PART, int(_FIRST_SHARE * warmup))
    last = min(_LAST_PART, int(_LAST_SHARE * warmup))
    ends: list[int] = []
    at, size = first, _FIRST_WINDOW
    while at < warmup - last:
        # the last window takes what would not fill one of twice its size
        end = at + size if at + 3 * size <= warmup - last else warmup - last
        ends.append(end)
        at, size = end, 2 * size
    return first, ends


class StepSize:
    """Dual averaging of the logarithm of the step size (Hoffman & Gelman 2014, section 3.2).

    Parameters
    ----------
    target : float
        Mean acceptance to be reached.

    Attributes
    ----------
    value : float
        The step size to be used next.
    """

    def __init__(self, target: float) -> None:
        self.target = target
        self.restart(1.0)

    def restart(self, step: float) -> None:
        """Begin anew around ``step``."""
        self.value = self._begun = step
        self._center = math.log(_AMBITION * step)
        self._error = self._average = 0.0
        self._count = 0

    def update(self, acceptance: float) -> None:
        """Take the acceptance of one transition into account."""
        self._count += 1
        weight = 1 / (self._count + _DELAY)
        self._error += weight * (self.target - acceptance - self._error)
        log_step = self._center - math.sqrt(self._count) / _SHRINKAGE * self._error
        weight = self._count**-_DECAY
        self._average += weight * (log_step - self._average)
        self.value = math.exp(log_step)

    def freeze(self) -> None:
        """Take the average of the steps tried as the step from now on.

        The first few steps tried are far too long on purpose. After fewer than five transitions
        their average is of no use, and the step begun with is taken instead.
        """
        if self._count:
            self.value = self._begun
        if self._count >= _LEAST_STEPS:
            self.value = math.exp(self._average)


@dataclass
class Metric:
    """The map ``theta = center + S u`` that makes the posterior round.

    ``S`` is a product of widths and, where the model has blocks of k numbers (word vectors, say)
    that one rotation turns together, of a factor that stretches along such turns: see
    `hmc_kernels` for the formula.

    Attributes
    ----------
    center, scale : ndarray of shape (n_parameters,)
        Mean and width of each parameter.
    factor : ndarray of shape (n_blocks, k, k)
        Lower triangular matrices that stand in place of the scale for the first ``n_blocks * k``
        parameters; none by default.
    rows : ndarray of shape (m, k)
        Means of the m blocks that turn together; empty where none do.
    spread, inverse : ndarray of shape (k (k - 1) / 2, k (k - 1) / 2)
        The matrix ``Z`` of the map and that of its inverse; empty where no blocks turn.
    """

    center: np.ndarray
    scale: np.ndarray
    factor: np.ndarray = field(default_factory=lambda: np.empty((0, 1, 1)))
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 1)))
    spread: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    inverse: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    @functools.cached_property
    def identity(self) -> bool:
        """Whether parameters and whitened coordinates are the same."""
        plain = not self.factor.size and not self.rows.size
        return plain and bool(np.all(self.scale == 1.0) and not np.any(self.center))

    def to_parameters(self, u: np.ndarray, theta: np.ndarray) -> None:
        """Write the parameters that belong to whitened coordinates into ``theta``."""
        m = self
        kernels.to_parameters(m.center, m.scale, m.factor, m.rows, m.spread, u, theta)

    def to_whitened(self, theta: np.ndarray, u: np.ndarray) -> None:
        """Write the whitened coordinates of parameters into ``u``."""
        m = self
        kernels.to_whitened(m.center, m.scale, m.factor, m.rows, m.inverse, theta, u)

    def pull_back(self, gradient: np.ndarray, out: np.ndarray) -> None:
        """Write the gradient by whitened coordinates, ``S' gradient``, into ``out``."""
        kernels.pull_back(self.scale, self.factor, self.rows, self.spread, gradient, out)


class MetricWindow:
    """Collects the draws of one window and makes the metric that they suggest.

    Parameters
    ----------
    n_parameters : int
    kind : {"diag", "pooled", "block"}
        ``"diag"`` takes the variance of each parameter; ``"pooled"`` one width for all numbers of
        a block, from the gradients; ``"block"`` the covariance matrix of each block.
    length : int
        Number of draws to come.
    """

    def __init__(self, n_parameters: int, kind: str, length: int) -> None:
        self.kind = kind
        self.n = 0
        self.mean = np.zeros(n_parameters)
        self.squares = np.zeros(n_parameters)
        fits = length * n_parameters * 8 <= _WINDOW_BYTES
        self.draws = np.empty((length, n_parameters)) if fits else None

    def add(self, theta: np.ndarray, gradient: np.ndarray) -> None:
        """Take a draw into account."""
        if self.draws is not None:
            self.draws[self.n] = theta
        self.n += 1
        change = theta - self.mean
        self.mean += change / self.n
        if self.kind == "pooled":
            self.squares += gradient**2
        else:
            self.squares += change * (theta - self.mean)

    def metric(self, model: HamiltonianModel) -> Metric:
        """The `Metric` of the draws collected, drawn toward the model's own scale."""
        guess = model.scale**2
        blocks, k = _blocks(model)
        if self.kind == "pooled":
            variance = self._inverse_information(blocks, k)
        else:
            variance = self.squares / max(self.n - 1, 1)
        # only the relative sizes of the guess count; the median is 0 if the chain stood still
        guess = guess * (np.median(variance / guess) or 1.0)
        variance = np.maximum(variance, _LEAST_VARIANCE * guess)
        # in logarithms, so that a wrong guess of the relative sizes does little harm
        variance = guess * (variance / guess) ** (self.n / (self.n + _GUESS))
        metric = Metric(self.mean.copy(), np.sqrt(variance))
        if self.draws is None or not blocks:
            return metric
        centred = self.draws[: self.n] - self.mean
        if self.kind == "block":
            metric.factor = _block_factors(centred, variance, blocks, k)
        elif getattr(model, "turns", False) and 1 < k <= _LARGEST_TURNING:
            _learn_turns(metric, centred, blocks, k)
        return metric

    def _inverse_information(self, blocks, k):
        """Inverses of the mean squared gradients, averaged over each block.

        The mean of the outer product of gradients equals the mean of minus the Hessian. Where the
        posterior hardly changes under rotations and the chain wanders along them, the variances of
        single parameters grow with the way gone; the squared gradients do not.
        """
        information = self.squares / self.n
        part = information[: blocks * k].reshape(blocks, k)
        part[:] = part.mean(axis=1, keepdims=True)
        return 1.0 / np.maximum(information, _TINY)


def _learn_turns(metric, centred, blocks, k):
    """Give the metric the widths of the posterior along turns of all blocks together."""
    rows = metric.center[: blocks * k].reshape(blocks, k).copy()
    scale = metric.scale[: blocks * k].reshape(blocks, k)
    lower = np.linalg.cholesky(_turn_products(rows, scale))
    n, r = len(centred), len(lower)
    coordinates = np.empty((n, r))
    for draw, out in zip(centred, coordinates, strict=True):
        kernels.turn_coordinates(rows, draw / metric.scale**2, out)
    coordinates = linalg.solve_triangular(lower, coordinates.T, lower=True)
    covariance = coordinates @ coordinates.T
    # drawn toward one width for all turns, the more strongly the more widths there are to learn
    guess = np.trace(covariance) / (n * r)
    covariance = (covariance + (r + _GUESS) * guess * np.eye(r)) / (n + r + _GUESS)
    widths, vectors = np.linalg.eigh(covariance)
    gain = np.sqrt(widths)
    gain[gain < _LEAST_GAIN] = 1.0
    vectors = linalg.solve_triangular(lower, vectors, lower=True, trans="T")
    metric.rows = rows
    metric.spread = (vectors * (gain - 1.0)) @ vectors.T
    metric.inverse = (vectors * (1.0 / gain - 1.0)) @ vectors.T


def _turn_products(rows, scale):
    """``W W'`` of `hmc_kernels`: inner products of the turns in whitened coordinates."""
    k = rows.shape[1]
    # inner products of the moves rows E_ij, whose column j is column i of the rows
    products = np.zeros((k, k, k, k))
    for j in range(k):
        weighted = rows / scale[:, j : j + 1] ** 2
        products[:, j, :, j] = rows.T @ weighted
    i, j = np.triu_indices(k, 1)
    half = products[i, j] - products[j, i]
    return half[:, i, j] - half[:, j, i]


def _blocks(model):
    """Number of blocks of a model and the numbers in each; (0, 1) where there are none."""
    k = getattr(model, "block_size", 1)
    blocked = getattr(model, "n_blocked", model.n_parameters)
    return (blocked // k, k) if k > 1 else (0, 1)


def _block_factors(centred, variance, blocks, k):
    """Cholesky factors of the blocks' covariances, their correlations drawn toward zero."""
    n = len(centred)
    part = centred[:, : blocks * k].reshape(n, blocks, k)
    part = part / np.maximum(np.sqrt(np.mean(part**2, axis=0)), _TINY)
    correlation = np.einsum("nbi,nbj->bij", part, part) / (n + _GUESS + k)
    diagonal = np.arange(k)
    correlation[:, diagonal, diagonal] = 1.0
    scale = np.sqrt(variance[: blocks * k]).reshape(blocks, k, 1)
    return scale * np.linalg.cholesky(correlation)
