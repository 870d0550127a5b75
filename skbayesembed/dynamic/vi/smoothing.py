"""Skip-gram smoothing: the best independent Gaussian trajectories for all periods at once.

Bamler & Mandt (2017, supplement, algorithm 2) climb the bound by Adam on sampled gradients, in
thousands of steps. Here expectations over logits are worked out (`kernels`), so that the bound and
its gradient are exact functions of the factors. Rounds of two parts maximize it: a few L-BFGS steps
of the means, preconditioned by the covariance of their own factors; then the precisions of the
sites are set to the curvature of the expected log likelihood at the new means, which is where the
bound is stationary in the variances. From static vectors some thirty gradients are enough.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from ...common.interruption import tell_of_interruption
from ...common.trial import laps
from ...common.warnings import warn_user
from ...inference.ascent import Ascent
from ...sgns.pairs import PairCounts, RankOne, pooled_counts
from ..priors import DriftPrior
from . import kernels
from .expected import ExpectedPairs
from .sites import DriftSites, apply_precision, moments, pieces

# Steps of the rounds, the last for all that follow.
_ROUNDS = (5, 5, 10)
# The bound stands still when a round raises it by less than so many times ``tol`` of its size.
_GAIN = 100
# Of the static start at most so many gradients; a round that raises the bound by less than this
# share ends it.
_START_EVALUATIONS, _START_GAIN = 45, 1e-3
# Random vectors of the static start have this share of a prior standard deviation, or are so short
# that the standard deviation of their logits is the square of it.
_START_SCALE = 0.3
# Length of the first step from them: the curvature is only known once a step has been made.
_START_STEP = 0.3
# Slope of the logistic function at 0.
_SLOPE = 0.25
# A learned diffusion is found to this error of its logarithm.
_DIFFUSION_ERROR = 1e-3
# Share of a trajectory of the prior that is added to static vectors.
_STIR = 1e-2
# A learned diffusion changes at most by this factor in a round.
_MOST_CHANGE = 10.0
# What rounds change of `Smoothing`.
_CHANGING = ("prior", "point", "variance", "curvature", "tridiagonal", "lam", "bound_rest")
# Steps that an ascent takes: the median of benchmarks/cost.py.
_TYPICAL = 40


class Smoothing:
    """The bound as a function of the means, for `Ascent`, and the variances that go with it.

    Parameters
    ----------
    pairs : ExpectedPairs
    prior : DriftPrior
        A learned diffusion is set in it.
    mean : ndarray of float32 of shape (2, n_periods, n_words, n_components)
        Where to start; moved in place.
    lam : ndarray, likewise
        Precisions of sites to start with.
    run : callable
    known : tuple of two ndarray, optional
        Precisions and linear terms of sites that are known already, of data seen before; for a
        single period.

    Attributes
    ----------
    point : ndarray
        The means.
    bound_rest : float
        What the bound has besides the value of the means.
    """

    def __init__(self, pairs, prior, mean, lam, run, known=None):
        self.pairs, self.prior, self.point, self.run = pairs, prior, mean, run
        self._informed = known is not None
        self.known = known if self._informed else (np.zeros_like(mean), np.zeros_like(mean))
        self.variance = np.empty_like(mean)
        self.curvature = lam
        self.set_sites()

    def set_sites(self):
        """Give the sites the curvature that was met last, and the variances that follow."""
        self.tridiagonal = self.prior.tridiagonal()
        self.lam = self.curvature + self.known[0]
        nothing, spare = np.zeros_like(self.lam), np.empty_like(self.lam)
        sums = moments(self.tridiagonal, self.lam, nothing, spare, self.variance, self.run)
        self.bound_rest = self._rest(sums)

    def snapshot(self):
        """What further rounds depend on, after a round."""
        return {name: getattr(self, name) for name in _CHANGING}

    def restore(self, snapshot):
        """Go to where a snapshot was made."""
        vars(self).update(snapshot)

    def value_and_gradient(self):
        """What the bound has of the means; notes the curvature of the expected log likelihood."""
        value, gradient, self.curvature = self.pairs.evaluate(self.point, self.variance, self.run)
        places = pieces(self.point)
        found = np.empty(len(places))
        tasks = [
            (self, i, side, start, stop, gradient) for i, (side, start, stop) in enumerate(places)
        ]
        self.run(_prior_part, [(*task, found) for task in tasks])
        return value + float(found.sum()), gradient

    def precondition(self, x):
        """Multiply by the covariance of the factors, in place."""
        diagonal, off = self.tridiagonal.diagonal, self.tridiagonal.off
        tasks = [(a, b, diagonal, off, self.lam[s], x[s]) for s, a, b in pieces(x)]
        self.run(kernels.site_solve, tasks)

    def sites(self, elbo=()):
        """`DriftSites` with the means as they are, of the data of ``pairs`` alone."""
        return DriftSites(self.prior, *self.site_terms(), elbo, self.run)

    def site_terms(self):
        """Precisions and linear terms of those sites."""
        eta = apply_precision(self.tridiagonal, self.lam, self.point) - self.known[1]
        return self.lam - self.known[0], eta

    def learn_diffusion(self):
        """The diffusion with the largest evidence of the sites, as if they were observations."""
        eta = apply_precision(self.tridiagonal, self.lam, self.point)
        factors = self.point[:, 0].size

        def loss(log_diffusion):
            diffusion = float(np.exp(log_diffusion))
            tridiagonal = self.prior.tridiagonal(diffusion)
            parts = [
                kernels.site_evidence(
                    start, stop, tridiagonal.diagonal, tridiagonal.off, self.lam[side], eta[side]
                )
                for side, start, stop in pieces(eta)
            ]
            evidence = sum(parts) + 0.5 * factors * tridiagonal.log_determinant()
            return -(evidence + self.prior.log_hyperprior(diffusion))

        around, reach = np.log(self.prior.diffusion), np.log(_MOST_CHANGE)
        bounds = (around - reach, around + reach)
        found = minimize_scalar(
            loss, bounds=bounds, method="bounded", options={"xatol": _DIFFUSION_ERROR}
        )
        self.prior.diffusion = float(np.exp(found.x))

    def _rest(self, sums):
        """The bound's terms of variances alone, from sums at means of zero."""
        prior, factors = self.prior, self.point[:, 0].size
        steps = sums[2:].reshape(-1, 3).T
        value = prior.log_density(prior.diffusion, steps, factors)
        value -= 0.5 * sums[1] / prior.variance + 0.5 * sums[0]
        constant = 1.0 - np.log(prior.variance)
        value += 0.5 * factors * prior.n_periods * constant
        if self._informed:
            # one period: its prior is the stationary one times the known sites, normalised
            lam, eta = (a.astype(float) for a in self.known)
            level = np.sum(np.log1p(lam * prior.variance) - lam * self.variance)
            value += 0.5 * (level - np.sum(eta**2 / (1.0 / prior.variance + lam)))
        return float(value)


def _prior_part(smoothing, i, side, start, stop, gradient, found):
    found[i] = kernels.prior_gradient(
        start, stop, smoothing.tridiagonal.diagonal, smoothing.tridiagonal.off,
        smoothing.known[0][side], smoothing.known[1][side],
        smoothing.point[side], gradient[side],
    )  # fmt: skip


def climb(
    smoothing, *, max_iter, tol, first=1.0, least=2, turn=None, verbose=0, keep=True, stage=None
):
    """Rounds of steps of the means, each followed by new sites, until the bound stands still.

    Parameters
    ----------
    smoothing : Smoothing
    max_iter : int
        Most evaluations of the gradient; two at least, without which there is no bound.
    tol : float
        Converged when a round raises the bound by less than ``100 tol`` of its size.
    first : float, default=1.0
        Length of the first step of the first round.
    least : int, default=2
        Rounds before it can converge: from near a saddle the first ones gain little.
    turn : callable, optional
        Called between rounds.
    verbose : int
    keep : bool, default=True
        Whether Ctrl-C ends the rounds where they are; False where something else is to follow.
    stage : Stage, optional
        Of the fit's checkpoint, to which rounds are written.

    Returns
    -------
    elbo : list of float
        The bound after every round.
    n_iter : int
    converged : bool
    interrupted : bool

    Raises
    ------
    KeyboardInterrupt
        If interrupted, unless ``keep`` and a round has ended.
    """
    found = None if stage is None else stage.read()
    elbo, n_iter, converged = [], 1, False
    if found is not None:
        smoothing.restore(found["smoothing"])
        elbo, n_iter, converged = found["course"]
    counted = laps("ascent", min(max_iter, _TYPICAL), getattr(smoothing.run, "n_threads", 1))
    cut = False
    try:
        if not elbo:
            smoothing.value_and_gradient()
        while not elbo or (not converged and not cut and n_iter < max_iter):
            if elbo and turn is not None:
                turn(smoothing)
                smoothing.value_and_gradient()
                n_iter += 1
            if elbo and smoothing.prior.learned:
                smoothing.learn_diffusion()
            smoothing.set_sites()
            ascent = Ascent(smoothing, run=smoothing.run)
            steps = _ROUNDS[min(len(elbo), len(_ROUNDS) - 1)]
            while steps and ascent.n_evaluations + n_iter < max_iter:
                if not ascent.advance(first):
                    smoothing.value_and_gradient()
                    break
                steps -= 1
                cut = counted is not None and counted.enough()
                if cut:
                    break
            n_iter += ascent.n_evaluations
            first = 1.0
            elbo.append(ascent.value + smoothing.bound_rest)
            gain = np.inf if len(elbo) < 2 else elbo[-1] - elbo[-2]
            converged = bool(len(elbo) >= least and gain < _GAIN * tol * abs(elbo[-1]))
            if stage is not None and (stage.due or converged):
                course = elbo, n_iter, converged
                stage.write({"smoothing": smoothing.snapshot(), "course": course})
            if verbose:
                print(f"vi: {n_iter} gradients, bound {elbo[-1]:.8g}")
    except KeyboardInterrupt:
        if not keep or not elbo:
            raise
        return elbo, n_iter, converged, True
    if counted is not None:
        counted.end(ended=not cut)
    return elbo, n_iter, converged, False


def warn_of_end(estimator, converged, interrupted):
    """Warn of a fit that was interrupted or did not converge."""
    if interrupted:
        tell_of_interruption("Interrupted: the estimator is fitted as far as it had come.")
    elif not converged:
        warn_user(
            f"The bound still rose by more than {_GAIN} tol={_GAIN * estimator.tol:g} of its size "
            f"in the last round of max_iter={estimator.max_iter} gradients: raise max_iter, or "
            "tol.",
            ConvergenceWarning,
        )


def static_start(counts, n_components, prior_precision, rng, run):
    """Static vectors and sites of the counts of all periods together, in their principal axes.

    Returns
    -------
    mean, lam : ndarray of float32 of shape (2, 1, n_words, n_components)
    """
    pairs = ExpectedPairs([_together(counts)])
    scale = _START_SCALE * min(prior_precision**-0.5, n_components**-0.25)
    shape = (2, 1, pairs.n_words, n_components)
    mean = (scale * rng.standard_normal(shape)).astype(np.float32)
    lam = np.broadcast_to(_SLOPE * scale**2 * pairs.seen[..., None], shape).astype(np.float32)
    smoothing = Smoothing(pairs, DriftPrior([], prior_precision), mean, lam, run)

    def turn(smoothing):
        principal_axes(smoothing.point, pairs.seen)

    options = {"max_iter": _START_EVALUATIONS, "tol": _START_GAIN / _GAIN, "first": _START_STEP}
    climb(smoothing, turn=turn, keep=False, **options)
    turn(smoothing)
    smoothing.value_and_gradient()
    return smoothing.point, smoothing.curvature


def _together(counts):
    """Counts of all periods as those of one; products become the product of their margins."""
    products = [c.negative for c in counts if isinstance(c.negative, RankOne)]
    if len(products) < len(counts):
        return pooled_counts(counts)
    positive = sum((c.positive for c in counts[1:]), counts[0].positive)
    left = sum(p.left * p.right.sum() for p in products)
    right = sum(p.right * p.left.sum() for p in products)
    return PairCounts(positive, RankOne(left, right / max(right.sum(), 1e-300)))


def principal_axes(mean, seen):
    """Turn all vectors, in place, so that their components are uncorrelated over observations.

    Independent components then lose the least, and steps need the fewest.
    """
    n = mean.shape[-1]
    weight = (seen / seen.sum(axis=(1, 2), keepdims=True))[..., None]
    gram = (mean * np.sqrt(weight)).reshape(-1, n).astype(float)
    _, axes = np.linalg.eigh(gram.T @ gram)
    axes = axes[:, ::-1].astype(np.float32)
    mean[:] = (mean.reshape(-1, n) @ axes).reshape(mean.shape)


def dynamic_start(static, pairs, prior, rng):
    """Static vectors in every period, stirred, with sites by its share of a word's observations.

    Where what periods say cancels out in their sum, static vectors are a saddle.
    """
    mean, lam = static
    total = np.maximum(pairs.seen.sum(axis=1, keepdims=True), 1e-30)
    share = (pairs.seen / total)[..., None].astype(np.float32)
    mean = np.repeat(mean, prior.n_periods, axis=1)
    for side in mean:
        side += (_STIR * prior.sample(rng, side.shape[1:])).astype(np.float32)
    return mean, share * lam
