"""Skip-gram filtering: period after period, each with the prior that the ones before leave.

Bamler & Mandt (2017, supplement, algorithm 1). What a period says is kept as sites, so that the
trajectories in the end are the prior times the sites of all periods: periods before are smoothed by
those after in closed form, by the tridiagonal factors of `DriftSites`.
"""

from __future__ import annotations

import copy

import numpy as np

from ...inference import checkpoint
from ..priors import DriftPrior
from .expected import ExpectedPairs
from .sites import DriftSites
from .smoothing import Smoothing, climb, static_start, warn_of_end

# Standard deviations by which the start in a later period is off its predicted means. These are a
# saddle where both sides are near zero: of new words, and of components that no period has used.
# Among 25 simulated data sets, smaller ones, and fewer rounds of the search, left some near it.
_STIR, _ROUNDS = 0.3, 4


def begin(estimator, n_words, rng):
    """A `Filtering` that has met no period."""
    e = estimator
    return Filtering(n_words, e.n_components, e.prior_precision, e.diffusion, rng)


def filtered(estimator, problem, rng, run):
    """`DriftSites` learned from one period after the other, and the facts of the search."""
    training = problem.training
    filtering = begin(estimator, training.words.size, rng)
    times, interrupted = training.periods.centres, False
    try:
        learn_periods(
            estimator, filtering, times, training.counts, run, checkpoint.stage("periods")
        )
    except KeyboardInterrupt:
        # the periods learned are kept; those after them have the prior given these
        if not filtering.elbo:
            raise
        interrupted = True
        warn_of_end(estimator, filtering.converged, interrupted)
    return filtering.sites(times, run), {**filtering.facts(), "interrupted": interrupted}


def learn_periods(estimator, filtering, times, counts, run, stage=None):
    """Take in the counts of periods at increasing ``times``; warns if a bound still rose.

    Periods are written to a ``stage`` of the fit's checkpoint, where there is one.
    """
    before, filtering.converged = filtering.converged, True
    found = None if stage is None else stage.read()
    if found is not None:
        vars(filtering).update(found["filtering"])
    begun = 0 if found is None else found["done"]
    for i, (time, period) in enumerate(zip(times, counts, strict=True)):
        if i < begun:
            continue
        filtering.learn(
            float(time), period, run,
            max_iter=estimator.max_iter, tol=estimator.tol, verbose=estimator.verbose,
        )  # fmt: skip
        if stage is not None and (stage.due or i + 1 == len(counts)):
            stage.write({"filtering": vars(filtering), "done": i + 1})
    # of these periods: what was warned of before is not said again
    warn_of_end(estimator, filtering.converged, interrupted=False)
    filtering.converged = filtering.converged and before


class Filtering:
    """Sites of the periods met so far, and the vectors' distribution in the last of them.

    Parameters
    ----------
    n_words, n_components : int
    prior_precision, diffusion : float
    rng : numpy.random.Generator
        For the start in the first period with data.

    Attributes
    ----------
    n_words : int
    n_iter : int
        Gradients evaluated.
    elbo : list of float
        The bound on the log evidence of each period with data, given those before.
    converged : bool
        Whether the bound stood still in every period.
    """

    def __init__(self, n_words, n_components, prior_precision, diffusion, rng):
        self.n_words, self.n_components = n_words, n_components
        self._precision, self._diffusion, self._rng = prior_precision, diffusion, rng
        self._sites, self._time = {}, None
        self._mean = self._variance = None
        self.n_iter, self.elbo, self.converged = 0, [], True

    def copy(self):
        """One that can go on without changing this; arrays, which are never changed, are shared."""
        other = copy.copy(self)
        other._sites, other.elbo = dict(self._sites), list(self.elbo)
        other._rng = copy.deepcopy(self._rng)
        return other

    def add_words(self, n):
        """Add words, never seen before: their vectors have the prior in every period so far."""
        self.n_words += n
        if self._mean is None or n == 0:
            return
        self._mean = _padded(self._mean, n, 0.0)
        self._variance = _padded(self._variance, n, 1.0 / self._precision)
        for time, arrays in self._sites.items():
            self._sites[time] = tuple(_padded(a, n, 0.0) for a in arrays)

    def learn(self, time, counts, run, *, max_iter, tol, verbose=0):
        """Take in the counts of a period.

        Parameters
        ----------
        time : float
            Later than those before.
        counts : PairCounts
            A period without pairs changes nothing.
        run : callable
        max_iter, tol, verbose
            As `climb` has them.
        """
        if counts.total == 0:
            return
        pairs, prior = ExpectedPairs([counts]), DriftPrior([], self._precision)
        options = {"max_iter": max_iter, "tol": tol, "verbose": verbose}
        if self._time is None:
            mean, lam = static_start([counts], self.n_components, self._precision, self._rng, run)
            smoothing = Smoothing(pairs, prior, mean, lam, run)
        else:
            mean, known = self._predict(time - self._time)
            start = mean + _STIR * self._noise(known[0])
            smoothing = Smoothing(pairs, prior, start, np.zeros_like(mean), run, known)
            options["least"] = _ROUNDS
        elbo, n_iter, converged, _ = climb(smoothing, keep=False, **options)
        self._sites[time] = tuple(terms[:, 0] for terms in smoothing.site_terms())
        smoothing.set_sites()
        self._mean, self._variance, self._time = smoothing.point, smoothing.variance, time
        self.n_iter, self.converged = self.n_iter + n_iter, self.converged and converged
        self.elbo.append(elbo[-1])

    def _noise(self, known):
        """A draw of what is not known of vectors in a period, beyond their means."""
        noise = self._rng.standard_normal(known.shape, dtype=np.float32)
        return noise / np.sqrt(self._precision + known)

    def facts(self):
        """Facts of the search so far for ``posterior_.attrs``."""
        return {"n_iter": self.n_iter, "converged": self.converged}

    def sites(self, times, run):
        """`DriftSites` over the periods ``times``, those met among them.

        Raises
        ------
        ValueError
            If no period had a pair.
        """
        if not self._sites:
            raise ValueError(
                "X has no pair of words: every document has fewer than two words of the vocabulary."
            )
        shape = (2, len(times), self.n_words, self.n_components)
        lam, eta = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        for t, time in enumerate(times):
            if time in self._sites:
                lam[:, t], eta[:, t] = self._sites[time]
        prior = DriftPrior(np.diff(times), self._precision, self._diffusion)
        return DriftSites(prior, lam, eta, self.elbo, run)

    def _predict(self, gap):
        """Means in a later period, and what is known of it besides the prior: sites."""
        variance = 1.0 / self._precision
        kept = float(np.exp(-0.5 * self._diffusion * gap / variance))
        mean = np.float32(kept) * self._mean
        ahead = variance + kept**2 * (self._variance.astype(float) - variance)
        known = 1.0 / ahead - self._precision, mean / ahead
        return mean, tuple(a.astype(np.float32) for a in known)


def _padded(array, n, value):
    """The array with ``n`` more words."""
    shape = (*array.shape[:-2], n, array.shape[-1])
    return np.concatenate([array, np.full(shape, value, array.dtype)], axis=-2)
