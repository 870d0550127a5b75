"""Adaptation of Hamiltonian samplers in warm-up: step size, metric, schedule."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from . import hmc_kernels as kernels
from .contracts import HamiltonianModel

# Draws of a window are kept up to this many bytes; beyond, only their means and variances are,
# and turns are left alone; so they are in blocks of more than so many numbers.
_WINDOW_BYTES = 2**28
_LARGEST_TURNING = 64
# A turn is followed where the posterior is this many times as wide as the variances say.
_LEAST_GAIN = 1.2
# Transitions after which the average step is trusted.
_LEAST_STEPS = 5
# Equivalent draws of the prior guess of a metric, as in Stan.
_GUESS = 5


def schedule(warmup: int) -> tuple[int, list[int]]:
    """Ends of the windows of metric adaptation, as numbers of transitions.

    Stan's plan: 15 % (at most 75) transitions that adapt the step size only, windows of 25
    transitions and twice as many each time, and 10 % (at most 50) with the final metric.

    Returns
    -------
    first : int
        Transitions before the first window.
    ends : list of int
        Empty below 20 transitions.
    """
    if warmup < 20:
        return warmup, []
    first, last = min(75, int(0.15 * warmup)), min(50, int(0.1 * warmup))
    ends, at, size = [], first, 25
    while at < warmup - last:
        # the last window takes what would not fill one of twice its size
        end = at + size if at + 3 * size <= warmup - last else warmup - last
        ends.append(end)
        at, size = end, 2 * size
    return first, ends


class StepSize:
    """Dual averaging of the logarithm of the step size (Hoffman & Gelman 2014, section 3.2)."""

    gamma, delay, decay = 0.05, 10.0, 0.75

    def __init__(self, target: float) -> None:
        self.target = target
        self.restart(1.0)

    def restart(self, step: float) -> None:
        """Begin anew around ``step``."""
        self.value = self._begun = step
        self._center = math.log(10 * step)
        self._error = self._average = 0.0
        self._count = 0

    def update(self, acceptance: float) -> None:
        """Take the acceptance of one transition into account."""
        self._count += 1
        weight = 1 / (self._count + self.delay)
        self._error += weight * (self.target - acceptance - self._error)
        log_step = self._center - math.sqrt(self._count) / self.gamma * self._error
        weight = self._count**-self.decay
        self._average += weight * (log_step - self._average)
        self.value = math.exp(log_step)

    def freeze(self) -> None:
        """Take the average of the steps tried as the step from now on.

        The first few are far too long on purpose: an average of them alone is no use, and the step
        begun with is taken instead.
        """
        if self._count:
            self.value = self._begun
        if self._count >= _LEAST_STEPS:
            self.value = math.exp(self._average)


@dataclass
class Metric:
    """The map ``theta = center + S u`` that makes the posterior round (see `hmc_kernels`).

    Attributes
    ----------
    center, scale : ndarray of shape (n,)
    factor : ndarray of shape (n_blocks, k, k)
        Lower triangular; in place of the scale for the first ``n_blocks * k`` entries.
    rows : ndarray of shape (m, k)
        Centre of the blocks that turn together, empty where none do.
    spread, inverse : ndarray of shape (k (k - 1) / 2, k (k - 1) / 2)
        ``Z`` of the map and of its inverse.
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
        """Parameters of whitened coordinates, into ``theta``."""
        m = self
        kernels.to_parameters(m.center, m.scale, m.factor, m.rows, m.spread, u, theta)

    def to_whitened(self, theta: np.ndarray, u: np.ndarray) -> None:
        """Whitened coordinates of parameters, into ``u``."""
        m = self
        kernels.to_whitened(m.center, m.scale, m.factor, m.rows, m.inverse, theta, u)

    def pull_back(self, gradient: np.ndarray, out: np.ndarray) -> None:
        """Gradient in whitened coordinates, into ``out``."""
        kernels.pull_back(self.scale, self.factor, self.rows, self.spread, gradient, out)


class MetricWindow:
    """Collects the draws of one window and makes the metric that they suggest.

    Parameters
    ----------
    model : HamiltonianModel
    kind : {"diag", "pooled", "block"}
        Variances of the draws; one width a block, from the gradients; covariances of blocks.
    length : int
        Number of draws to come.
    """

    def __init__(self, model: HamiltonianModel, kind: str, length: int) -> None:
        self.model, self.kind = model, kind
        self.n = 0
        self.mean = np.zeros(model.n_parameters)
        self.squares = np.zeros(model.n_parameters)
        fits = length * model.n_parameters * 8 <= _WINDOW_BYTES
        self.draws = np.empty((length, model.n_parameters)) if fits else None

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

    def metric(self) -> Metric:
        """The metric of the draws collected, drawn towards the model's own scale."""
        guess = self.model.scale**2
        blocks, k = _blocks(self.model)
        if self.kind == "pooled":
            variance = self._inverse_information(blocks, k)
        else:
            variance = self.squares / max(self.n - 1, 1)
        # only the relative sizes of the guess are meant; a chain that stood still says nothing
        guess = guess * (np.median(variance / guess) or 1.0)
        variance = np.maximum(variance, 1e-6 * guess)
        # in logarithms, so that a wrong guess of the relative sizes does little harm
        variance = guess * (variance / guess) ** (self.n / (self.n + _GUESS))
        metric = Metric(self.mean.copy(), np.sqrt(variance))
        if self.draws is None or not blocks:
            return metric
        centred = self.draws[: self.n] - self.mean
        if self.kind == "block":
            metric.factor = _block_factors(centred, variance, blocks, k)
        elif getattr(self.model, "turns", False) and 1 < k <= _LARGEST_TURNING:
            _learn_turns(metric, centred, blocks, k)
        return metric

    def _inverse_information(self, blocks, k):
        """Inverses of the mean squared gradients, averaged over each block.

        The mean of the outer product of gradients is the mean of minus the Hessian, which a chain
        that turns in a symmetry of the posterior does not blur as it blurs the variances.
        """
        information = self.squares / self.n
        part = information[: blocks * k].reshape(blocks, k)
        part[:] = part.mean(axis=1, keepdims=True)
        return 1.0 / np.maximum(information, 1e-300)


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
    # towards one width for all, as strongly as there are widths to learn
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
    # of the moves rows E_ij: column j is column i of the rows
    products = np.zeros((k, k, k, k))
    for j in range(k):
        weighted = rows / scale[:, j : j + 1] ** 2
        products[:, j, :, j] = rows.T @ weighted
    i, j = np.triu_indices(k, 1)
    half = products[i, j] - products[j, i]
    return half[:, i, j] - half[:, j, i]


def _blocks(model):
    k = getattr(model, "block_size", 1)
    blocked = getattr(model, "n_blocked", model.n_parameters)
    return (blocked // k, k) if k > 1 else (0, 1)


def _block_factors(centred, variance, blocks, k):
    """Cholesky factors of the blocks' covariances, their correlations drawn towards zero."""
    n = len(centred)
    part = centred[:, : blocks * k].reshape(n, blocks, k)
    part = part / np.maximum(np.sqrt(np.mean(part**2, axis=0)), 1e-300)
    correlation = np.einsum("nbi,nbj->bij", part, part) / (n + _GUESS + k)
    diagonal = np.arange(k)
    correlation[:, diagonal, diagonal] = 1.0
    scale = np.sqrt(variance[: blocks * k]).reshape(blocks, k, 1)
    return scale * np.linalg.cholesky(correlation)
