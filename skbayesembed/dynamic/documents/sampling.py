r"""What intervals of drifting vectors need to know of how the text was sampled.

All is as in `sgns.documents`, with the vectors of all periods in the place of those of one: a unit
d moves the mode by ``H^+ s_d``, where s_d has its influence on every period that it has documents
in, and the prior ties periods together in H. A period in which a word was not seen has there what
the prior makes of the periods around it, in the prior's part with the tridiagonal precision of
trajectories as Lambda.

Where the vector of a word in a period rests on fewer than two effective units
(`scores.resting_units`), what the model takes its pairs there to say is added (`deviations`).

What units do is multiplied by the response of `sgns.documents.response`. One factor serves levels
and changes over time: that of changes alone was a tenth larger in one text, a tenth smaller in
another, and halves of either text ask for about the same factor in both.
"""

from __future__ import annotations

import threading
from functools import cached_property
from itertools import chain

import numpy as np
from joblib import effective_n_jobs

from ...common.compiling import working_time
from ...inference.chains import Workers
from ...inference.threads import OneBlasThread
from ...sgns.documents.deviations import (
    FEWEST_UNITS,
    centred,
    numbers_of,
    sampling_weights,
)
from ...sgns.documents.response import half_weights
from ...sgns.documents.sampling import DISPERSION_SUMS, Sampling, as_read, mean_ratios
from ...sgns.documents.scores import effective_units
from ..laplace.approximation import DynamicLaplace
from ..model import SIDES, Curvature, by_side
from .asked import seconds_of_deviations, sooner
from .density import density_of
from .deviations import DriftDeviations, own_paths
from .footprint import AT_ONCE, TOGETHER, check_room
from .mode import mode_of
from .response import SEARCH_TOL, SPLITS, drift_changes
from .scores import resting_units

# The residual that linear systems are solved to, relative to their size. What it leaves makes
# standard deviations too small. UN debates, 600 words, 20 components, five periods: those of the
# distances that 400 words moved are .99 in the median, .95 for one in twenty (.94 and .75 at a
# residual of 1e-2), of what an exact solution has.
_TOL, _RAW_TOL = 2e-3, 1e-3
# Blocks of the Hessian up to so many rows are factorised: beyond, solutions to the residual above
# are had sooner through products.
_FACTORISED = 2000


class DriftSampling(Sampling):
    """Deviations of fitted trajectories with the units that were sampled.

    Parameters
    ----------
    build : TextSource or PairSource
    arrays : dict of ndarray of shape (n_periods, n_words, n_components)
        ``rho`` and ``alpha`` near the mode, in the frame that they are read in.
    n_units, balance, seed, n_jobs, verbose
        As of `sgns.documents.sampling.Sampling`.

    Attributes
    ----------
    deviations : DriftDeviations
        Its ``n_units`` are those that the vector of a place rests on.
    n_units : ndarray of shape (n_words,)
        Effective units of each word in all periods together.
    dispersion : ndarray of shape (n_words,)
        As of `sgns.documents.sampling.Sampling`: the mean over periods, each with the share that it
        has of a word's pairs.
    rank : int
        Components that are not zero at the mode.
    problem : str or None
        Why there are no deviations.
    response : float
        As of `sgns.documents.sampling.Sampling`.
    """

    def __init__(self, build, arrays, n_units, *, balance, seed, n_jobs, verbose=0):
        self._periods, self._words, k = arrays["rho"].shape
        flat = {name: arrays[name].reshape(-1, k) for name in SIDES}
        options = {"seed": seed, "n_jobs": n_jobs, "verbose": verbose}
        super().__init__(build, flat, n_units, balance=balance, **options)

    @property
    def _shape(self):
        return self._periods, 2, self._words, self._arrays["rho"].shape[-1]

    @cached_property
    @OneBlasThread()
    def _at_mode(self):
        """The Gaussian at the mode, and the scores of units there."""
        density, arrays, make_scores = self._made()
        shape, self._waiting = self._shape, None
        awaited = self._awaited
        awaited.announce(
            density.n_parameters // 2,
            lambda: self._seconds(density, arrays),
            lambda seconds: sooner(seconds, density.shape, self._number),
        )
        threads = Workers(effective_n_jobs(self.n_jobs))
        with awaited.search(1, "mode"), threads as run:
            theta = mode_of(density, density.pack(arrays), run)
            method = "blocks" if 2 * shape[2] * shape[3] <= _FACTORISED else "rough"
            gaussian = DynamicLaplace(density, density.vectors(theta), method)
            scores = make_scores(gaussian.vectors, run)
        return gaussian, density, scores

    def _made(self):
        """The density of the counts, the vectors that the fit found, and how scores are made."""
        shape, build = self._shape, self._build
        check_room(shape, self._number, build.places, build.given, self.n_jobs)
        counts, make_scores = build()
        arrays = {name: x.reshape(shape[0], *shape[2:]) for name, x in self._arrays.items()}
        return density_of(counts, build.prior, arrays), arrays, make_scores

    def _seconds(self, density, arrays):
        with working_time() as clock:
            return seconds_of_deviations(density, arrays, self._number, clock)

    @cached_property
    @OneBlasThread()
    def dispersion(self):
        """Variance of a word's targets by the units over that by the model, (n_words,)."""
        gaussian, density, scores = self._at_mode
        return self._dispersion(density, gaussian.vectors, scores, self.n_units)

    def _dispersion(self, density, vectors, scores, n_units):
        rng = np.random.default_rng(self._seeds()[0])
        weights = sampling_weights(self._number, rng, most=DISPERSION_SUMS)
        influences = centred(scores, weights)
        curvature = Curvature(density, vectors)
        total, ratio = np.zeros((2, self._words))
        for p, (slope, _) in zip(density.periods, curvature.pairs, strict=True):
            alpha = curvature.x[p.period, 1]
            squares = (alpha[:, :, None] * alpha[:, None]).reshape(self._words, -1)
            information = (slope @ squares).reshape(self._words, *[alpha.shape[1]] * 2)
            seen = np.asarray(scores.rows[p.period].sum(axis=0)).ravel()
            ratio += seen * mean_ratios(influences[:, p.period, 0], information)
            total += seen
        ratio = np.divide(ratio, total, out=np.zeros_like(ratio), where=total > 0)
        return np.where(n_units >= FEWEST_UNITS, ratio, np.nan)

    @cached_property
    @OneBlasThread()
    def deviations(self):
        """The `DriftDeviations`; what they were worked out with is not kept."""
        gaussian, density, scores = self._at_mode
        # read before the scores are let go of
        _, _, _ = self.n_units, self.rank, self.dispersion
        _, *seeds, draws, halves = self._seeds()
        of_units, of_prior = (np.random.default_rng(seed) for seed in seeds)
        of_halves = np.random.default_rng(halves)
        size = density.n_parameters // 2
        halves = half_weights(self._number, size, of_halves, SPLITS)
        differences = 0.5 * (halves[:, 0] - halves[:, 1])
        most, n_prior = numbers_of(size)
        weights = sampling_weights(self._number, of_units, most)
        firsts = range(0, len(weights), AT_ONCE)
        sums = (weights[a : a + AT_ONCE] for a in firsts)
        of_data = (centred(scores, part) for part in chain(sums, [differences]))
        vectors = gaussian.vectors
        # made when its turn has come
        prior = (prior_influences(density, vectors, of_prior, n) for n in [n_prior])
        total = len(weights) + len(differences) + n_prior + 1
        *shifts, predicted, by_prior = self._moved(gaussian, (of_data, prior), total)
        shifts = np.concatenate([*shifts, by_prior, predicted])
        curvature = Curvature(density, gaussian.vectors)
        resting = resting_units(
            scores.rows, density.precision.dense(), mean_information(curvature)[:, 0]
        )
        roots, paths = own_paths(curvature, resting)
        reference = [self._arrays[name] for name in SIDES]
        vectors, roots = as_read(by_side(vectors), shifts, roots, reference, self._balance)
        # the tables of all units, before those of halves are made
        del self._at_mode, gaussian, density, scores, curvature, of_data, prior, by_prior
        shifts, predicted = np.split(shifts, [-len(differences)])
        known = vectors, shifts, len(weights), self._number <= most, resting.ravel(), {}, draws
        found = DriftDeviations(*known, roots, paths, self._words)
        return self._responding(found, predicted, halves, of_halves)

    def _moved(self, gaussian, stages, total):
        """What all ``total`` influences do to the mode, a list of parts as of `solved`.

        Those of the first of the ``stages`` by the observed Hessian, then by the expected one.
        """
        tol, shifts, done = _TOL if self._balance else _RAW_TOL, [], []
        awaited, one_by_one = self._awaited, threading.Lock()
        awaited.solving()

        def told(n):
            with one_by_one:
                done.append(n)
                awaited.solved(sum(done), total)

        of_data, of_prior = stages
        with Workers(effective_n_jobs(self.n_jobs)) as run:
            for parts, expected in ((of_data, False), (of_prior, True)):
                if expected:
                    gaussian.expect()
                gaussian.at_product(lambda: awaited.product(total))
                for rows in parts:
                    shifts.append(solved(gaussian, rows, run, tol, told))
        return shifts

    _half_tol = SEARCH_TOL

    def _changes(self, places, rng):
        return drift_changes(places, self._words, rng)

    def _shaped(self, arrays):
        return {name: x.reshape(self._periods, self._words, -1) for name, x in arrays.items()}

    def _reweighted(self, weights, arrays):
        return density_of(self._build.reweighted(weights), self._build.prior, arrays)


class AtFit:
    """The dispersion of a `DriftSampling` at the vectors that the fit found: enough for a warning.

    The search for the mode takes several times as long. (State of the Union addresses, 500 words,
    10 components: dispersions by the means of ``"vi"`` are within 17 % of those at the mode.)
    """

    problem, by_answer = None, False

    def __init__(self, sampling):
        self._sampling = sampling

    @cached_property
    @OneBlasThread()
    def dispersion(self):
        """As of `DriftSampling`."""
        sampling = self._sampling
        density, arrays, make_scores = sampling._made()
        vectors = density.vectors(density.pack(arrays))
        with Workers(effective_n_jobs(sampling.n_jobs)) as run:
            scores = make_scores(vectors, run)
        n_units = effective_units(scores.unit_rows)
        return sampling._dispersion(density, vectors, scores, n_units)


def prior_influences(density, vectors, rng, n):
    """Random vectors whose squares add up to the prior's precision, and its pull on levels.

    The pull is that at the means of ``vectors`` over time. What the diffusion takes off moves is a
    condition of the claim: with its pull, intervals of the distances that simulated words moved
    held the truth 97 times of 100 where the prior was right, without it 92 to 94 times.

    Returns
    -------
    ndarray of shape (n + 1, *density.shape)
    """
    root = np.linalg.cholesky(density.precision.dense()) / np.sqrt(n)
    z = rng.standard_normal((n, *density.shape))
    noise = np.einsum("ts,nsdwk->ntdwk", root, z)
    levels = np.broadcast_to(vectors.mean(axis=0), vectors.shape)
    return np.concatenate([noise, density.precision.apply(levels)[None]])


def solved(gaussian, rows, run, tol, told=None):
    """``H^+`` times vectors (m, n_periods, 2, n_words, K), by side in single precision.

    ``told(n)`` is called whenever n of them are done.
    """
    _, periods, _, n_words, k = rows.shape
    out = np.empty((len(rows), 2, periods * n_words, k), np.float32)

    def fill(part):
        out[part] = by_side(gaussian.solve(rows[part], tol))
        if told is not None:
            told(len(rows[part]))

    # the first before all others, which learn from them
    fill(slice(0, TOGETHER))
    run(fill, [(slice(a, a + TOGETHER),) for a in range(TOGETHER, len(rows), TOGETHER)])
    return out


def mean_information(curvature):
    """What the data say of an entry of a vector at the mode, (n_periods, 2, n_words)."""
    n_periods, _, n_words, _ = curvature.x.shape
    out = np.zeros((n_periods, 2, n_words))
    for p, (slope, _) in zip(curvature.density.periods, curvature.pairs, strict=True):
        out[p.period] = p.sums(slope, np.mean(curvature.x[p.period] ** 2, axis=-1))
    return out
