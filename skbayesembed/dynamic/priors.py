"""The prior of trajectories: one stationary process in elapsed time, shared by all solvers.

Every component of every word, as target and as context, follows on its own

    x_1 ~ N(0, s),   x_{t+1} = a_t x_t + N(0, s (1 - a_t^2)),   a_t = exp(-diffusion gap_t / (2 s)),

with ``s = 1 / prior_precision``: an Ornstein-Uhlenbeck process. A step over a short gap has the
variance ``diffusion * gap`` of the walk of Bamler & Mandt (2017); unlike theirs, whose tridiagonal
precision (supplement, eq. 11) changes with every period put in, the law of the other periods stays
what it is when an empty one is put in or taken out, and every period has the static model's prior.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from ..common.checks import check_real
from ..numeric.tridiagonal import Tridiagonal

LEARNED = "learned"
HYPERPRIOR = (1.0, 1e-3)
# Steps out of a slice, each of some posterior standard deviations: more are never needed but where
# a chain starts far away, and few enough to end.
_STEPS_OUT = 100


class DriftPrior:
    """Prior of the trajectories of all words.

    Parameters
    ----------
    gaps : array-like of shape (n_periods - 1,)
        Elapsed times between consecutive periods, > 0.
    prior_precision : float, default=1.0
        Precision of every entry in every period, > 0.
    diffusion : float or "learned", default=1e-3
        Variance of a step per unit of elapsed time, for gaps that are short against
        ``1 / (prior_precision * diffusion)``; > 0.
    hyperprior : tuple of float or None, default=None
        Shape and scale of the inverse-Gamma prior of a learned diffusion; None is (1, 1e-3).

    Attributes
    ----------
    gaps : ndarray of shape (n_periods - 1,)
    n_periods : int
    variance : float
        ``1 / prior_precision``.
    learned : bool
    diffusion : float
        Its value where fixed; where it starts if learned, the mode of its logarithm.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from skbayesembed.dynamic.priors import DriftPrior
    >>> prior = DriftPrior([1.0, 2.5], prior_precision=2.0, diffusion=0.1)
    >>> prior.tridiagonal().n
    3
    """

    def __init__(self, gaps, prior_precision=1.0, diffusion=1e-3, hyperprior=None):
        self.gaps = _check_gaps(gaps)
        check_drift(prior_precision, diffusion, hyperprior)
        self.variance = 1.0 / prior_precision
        self.learned = isinstance(diffusion, str)
        self.hyperprior = HYPERPRIOR if hyperprior is None else tuple(map(float, hyperprior))
        shape, scale = self.hyperprior
        self.diffusion = scale / shape if self.learned else float(diffusion)

    @property
    def n_periods(self):
        return self.gaps.size + 1

    def tridiagonal(self, diffusion=None):
        """Precision of one component of one trajectory, a `Tridiagonal` of ``n_periods``.

        ``diffusion`` replaces the prior's own.
        """
        return Tridiagonal.ornstein_uhlenbeck(self.gaps, self.rate(diffusion), self.variance)

    def sample(self, rng, shape=(), diffusion=None):
        """Trajectories from the prior: ndarray of shape (n_periods, *shape)."""
        return self.tridiagonal(diffusion).sample(rng, shape)

    def statistics(self, *trajectories):
        """All that a learned diffusion depends on.

        Parameters
        ----------
        *trajectories : ndarray of shape (n_periods, ...)

        Returns
        -------
        sums : ndarray of shape (3, n_periods - 1)
            Of ``d^2``, ``d x_t`` and ``x_t^2`` over all components, with the steps
            ``d = x_{t+1} - x_t``: as good as the products of neighbors, without their
            cancellation where steps are small.
        n : int
            Number of components of all ``trajectories``.
        """
        sums = np.zeros((3, self.gaps.size))
        for x in trajectories:
            x = x.reshape(self.n_periods, -1)
            step, before = np.diff(x, axis=0), x[:-1]
            for total, pair in zip(
                sums, ((step, step), (step, before), (before,) * 2), strict=True
            ):
                total += np.einsum("ti,ti->t", *pair)
        return sums, sum(x.size // self.n_periods for x in trajectories)

    def log_density(self, diffusion, sums, n):
        """Log density of trajectories with these `statistics`, up to what no diffusion changes."""
        angle = self.rate(diffusion) * self.gaps
        fresh, lost = -np.expm1(-2 * angle), -np.expm1(-angle)
        squares = sums[0] + 2 * lost * sums[1] + lost**2 * sums[2]
        return -0.5 * float(np.sum(n * np.log(fresh) + squares / (self.variance * fresh)))

    def log_hyperprior(self, diffusion):
        """Log density of the logarithm of a learned diffusion, up to a constant."""
        shape, scale = self.hyperprior
        return -shape * np.log(diffusion) - scale / diffusion

    def draw_diffusion(self, current, sums, n, rng):
        """A learned diffusion given the trajectories: a slice-sampling update of its logarithm.

        Parameters
        ----------
        current : float
        sums, n
            `statistics` of the trajectories.
        rng : numpy.random.Generator

        Returns
        -------
        float
        """

        def log_posterior(log_diffusion):
            diffusion = np.exp(log_diffusion)
            return self.log_hyperprior(diffusion) + self.log_density(diffusion, sums, n)

        # twice the posterior standard deviation if every step is seen: the curvature is half the
        # number of steps
        width = 2.0 / np.sqrt(0.5 * n * self.gaps.size + self.hyperprior[0])
        return float(np.exp(slice_update(log_posterior, np.log(current), width, rng)))

    def rate(self, diffusion=None):
        """Rate of the process: vectors keep exp(-rate * gap) of themselves over a gap.

        ``diffusion``, a number or an array, replaces the prior's own.
        """
        return 0.5 * (self.diffusion if diffusion is None else diffusion) / self.variance


def drift_prior(estimator, periods):
    """The `DriftPrior` that the parameters of a `DynamicSGNS` ask for, of its `Periods`."""
    e = estimator
    return DriftPrior(periods.gaps, e.prior_precision, e.diffusion, e.hyperprior)


def check_drift(prior_precision, diffusion, hyperprior=None):
    """Raise a ValueError unless these are parameters of a `DriftPrior`."""
    check_real("prior_precision", prior_precision, 0)
    named = isinstance(diffusion, str)
    if (named and diffusion != LEARNED) or not (named or isinstance(diffusion, Real)):
        raise ValueError(f"diffusion must be a number > 0 or 'learned', got {diffusion!r}.")
    if not isinstance(diffusion, str):
        check_real("diffusion", diffusion, 0)
    if hyperprior is None:
        return
    if not isinstance(hyperprior, tuple | list) or len(hyperprior) != 2:
        raise ValueError(
            f"hyperprior must be None or a pair (shape, scale) of numbers > 0, got {hyperprior!r}."
        )
    for name, value in zip(("shape", "scale"), hyperprior, strict=True):
        check_real(f"hyperprior's {name}", value, 0)


def slice_update(log_density, x, width, rng):
    """One slice-sampling update by stepping out and shrinking (Neal 2003, figures 3 and 5).

    Parameters
    ----------
    log_density : callable
        Of a float.
    x : float
        Current value.
    width : float
        Of the first interval and of each step out.
    rng : numpy.random.Generator

    Returns
    -------
    float
    """
    level = log_density(x) - rng.exponential()
    low = x - width * rng.random()
    high = low + width
    below = int(rng.integers(_STEPS_OUT))
    above = _STEPS_OUT - 1 - below
    while below > 0 and log_density(low) > level:
        low -= width
        below -= 1
    while above > 0 and log_density(high) > level:
        high += width
        above -= 1
    while True:
        new = low + (high - low) * rng.random()
        # not >=: at the current value itself rounding must not go on for ever
        if log_density(new) > level or new == x:
            return new
        if new < x:
            low = new
        else:
            high = new


def _check_gaps(gaps):
    gaps = np.array(gaps, dtype=np.float64)
    if gaps.ndim != 1:
        raise ValueError(f"gaps must be 1-D, got {gaps.ndim} dimension(s).")
    bad = ~(np.isfinite(gaps) & (gaps > 0))
    if bad.any():
        raise ValueError(f"gaps must be finite and > 0, got {gaps[bad][0]:g}.")
    return gaps
