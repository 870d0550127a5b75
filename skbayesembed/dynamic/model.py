"""The dynamic skip-gram posterior: its data, prior, units of work, starts and frame.

log p = sum_t sum_wv n+_wvt log sigma(rho_wt . alpha_vt) + n-_wvt log sigma(-rho_wt . alpha_vt)
        + log prior of the trajectories                          (Bamler & Mandt 2017; `prior`)

One rotation of all vectors of all periods leaves it as it is, and nothing more does: the prior ties
the periods together.
"""

from __future__ import annotations

import numpy as np

from ..inference.mode import find_mode
from ..sgns.data import pair_table
from ..sgns.model import SGNSModel, canonical_rotation, pivot_contexts
from .data import PeriodPairs, pooled_counts

# Targets and contexts, in the order of the sides of all arrays.
SIDES = ("rho", "alpha")
# Coordinates of target vectors that are traced.
COORDINATES = 50
# Near the mode will do for a start.
_START_ITERATIONS = 200


class DynamicModel:
    """Posterior of trajectories ``rho`` and ``alpha``, both (n_periods, n_words, K).

    Parameters
    ----------
    pairs : PeriodPairs
    n_components : int
    prior : DriftPrior
        Of as many periods as ``pairs``.
    pivots : ndarray of int of shape (n_components,)
        Contexts that define the frame of recorded draws.
    start : dict of ndarray of shape (n_words, n_components)
        ``rho`` and ``alpha`` around which chains start in every period, as `static_mode` has them.

    Raises
    ------
    ValueError
        If ``prior`` has another number of periods than ``pairs``.
    """

    def __init__(self, pairs, n_components, prior, pivots, start):
        if prior.n_periods != pairs.n_periods:
            raise ValueError(
                f"prior must be of the {pairs.n_periods} periods of the counts, "
                f"got gaps between {prior.n_periods}."
            )
        self.pairs = pairs
        self.n_components = n_components
        self.prior = prior
        self.pivots = pivots
        self.center = start
        self.units = pairs.units(n_components)

    @classmethod
    def of_counts(cls, counts, n_components, prior, rng):
        """The posterior of counts of every period, with starts and pivots from their static mode.

        Parameters
        ----------
        counts : list of PairCounts
        n_components : int
        prior : DriftPrior
        rng : numpy.random.Generator
            For the start of the search for that mode.
        """
        pairs = PeriodPairs(counts)
        start = static_mode(counts, n_components, 1.0 / prior.variance, rng)
        pivots = pivot_contexts(start["alpha"], pairs.observations(1))
        return cls(pairs, n_components, prior, pivots, start)

    @property
    def n_words(self):
        return self.pairs.n_words

    @property
    def n_periods(self):
        return self.pairs.n_periods

    def start_near(self, rng):
        """A random start: dict of arrays (n_periods, n_words, K).

        The static vectors in every period, plus a trajectory of the prior with a spread of the
        scale of the posterior: as smooth as the prior has them, so that a learned diffusion is not
        misled.
        """
        deviation = np.sqrt(self.prior.variance)
        shape = (self.n_words, self.n_components)
        arrays = {}
        for side, name in enumerate(("rho", "alpha")):
            seen = 1.0 / self.prior.variance + self.pairs.observations(side) / 16
            shrink = np.minimum(0.5, 2.0 / np.sqrt(seen) / deviation)[:, None]
            arrays[name] = self.center[name] + shrink * self.prior.sample(rng, shape)
        return arrays

    def in_frame(self, alpha, *vectors):
        """Arrays of vectors turned by one rotation, the same in all periods.

        The frame is that in which the pivots' context vectors, averaged over periods, are lower
        triangular with a positive diagonal.

        Parameters
        ----------
        alpha : ndarray of shape (n_periods, n_words, n_components)
        *vectors : ndarray of shape (..., n_components)
        """
        rotation = canonical_rotation(alpha[:, self.pivots].mean(axis=0))
        return tuple(v @ rotation for v in vectors)

    def traces(self, monitored, rho, alpha):
        """What chains record of every draw, to see whether they mix.

        Returns
        -------
        dict
            ``logit`` of the ``monitored`` (period, target, context), and ``coordinate``: one
            component of the targets of the first of them, in the frame of recorded draws.
        """
        t, w, v = monitored.T
        logit = np.einsum("ij,ij->i", rho[t, w], alpha[t, v])
        (seen,) = self.in_frame(alpha, rho[t[:COORDINATES], w[:COORDINATES]])
        places = np.arange(len(seen))
        return {"logit": logit, "coordinate": seen[places, places % self.n_components]}


def static_mode(counts, n_components, prior_precision, rng):
    """The mode of static skip-gram on the counts of all periods together, or near it.

    Parameters
    ----------
    counts : list of PairCounts
    n_components : int
    prior_precision : float
    rng : numpy.random.Generator

    Returns
    -------
    dict of ndarray of shape (n_words, n_components)
    """
    model = SGNSModel(pair_table(pooled_counts(counts)), n_components, prior_precision)
    theta, _ = find_mode(
        model, model.pack(model.start(rng)), max_iter=_START_ITERATIONS, tol=1e-4, warn=False
    )
    return model.unpack(theta)
