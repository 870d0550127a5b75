"""What intervals need to know of how the text was sampled, worked out when first asked for."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ...common.compiling import working_time
from ...common.random import seed_at
from ...inference.chains import Workers
from ...inference.mode import find_mode_only
from ...inference.threads import OneBlasThread
from ..balance import along, balancing, nearest_rotation
from ..laplace.approximation import NAMES
from ..laplace.curvature import seek_mode, seen_through_products
from ..laplace.hessian import Hessian
from ..laplace.orbits import canonical_frame
from .asked import said_of_one, seconds_of_all
from .awaited import Awaited
from .deviations import (
    FEWEST_UNITS,
    LARGEST,
    Deviations,
    centred,
    numbers_of,
    own_deviations,
    prior_noise,
    prior_pull,
    sampling_weights,
)
from .footprint import TOGETHER, check_room
from .response import half_weights, mode_near, pair_changes, respond, search_tol
from .scores import effective_units

# The residual that linear systems are solved to, relative to their size. What it leaves is along
# scales of both sides, which balancing takes away; without it cosines would have standard
# deviations some 10 % too small.
_TOL, _RAW_TOL = 5e-3, 5e-4
# What it is for the largest models, whose few sums of units tell standard deviations within 9.4 %:
# it leaves them 3 % too small, for four fifths of the products, and the response makes up for that.
_LARGEST_TOL = 1e-2
# Of them so few are solved first, for the rest to learn from: at 5,000 words, 50 components each of
# the first takes 22 products and each of the rest 6, or 5 where 16 went first.
_LARGEST_FIRST = 8
# Directions in which the Hessian is soft that the first of them show all others, at most.
_SOFT = 64
# Random sums of units from which the dispersion of words is estimated: within sqrt(2 / 64 K).
DISPERSION_SUMS = 64
# The search for the mode from the solver's vectors, before Newton's method.
_SEARCH_ITERATIONS, _SEARCH_TOL = 3000, 2e-8
# Newton steps: where the prior weighs next to nothing, as with all pairs of a count matrix, the way
# is long and curved (183 steps from the end of 5,000 iterations at 1,000 words, 20 components).
_NEWTON_STEPS = 1000
# What a Newton step of the largest models may leave of the gradient, where 1e-3 takes three times
# the products: the mode then is within a thousandth of a posterior standard deviation, of all
# vectors together.
_LARGEST_RESIDUAL = 0.1
# Share of the largest curvature of a word below which a precision is lost to rounding.
_RESOLVED = 1e-6


@dataclass(frozen=True, eq=False)
class Mode:
    """The mode that deviations are taken at.

    Attributes
    ----------
    vectors : ndarray of shape (2, n_words, n_components)
    orbit : Orbit
    rank : int
        Components that are not zero there.
    """

    vectors: np.ndarray
    orbit: Any
    rank: int


def find_mode_near(model, arrays, run):
    """The `Mode` of a model without anchors, from vectors near it.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not reached.
    """
    theta = find_mode_only(
        model, model.pack(arrays), max_iter=_SEARCH_ITERATIONS, tol=_SEARCH_TOL, run=run
    )
    options = {"residual": _LARGEST_RESIDUAL} if _largest(model) else {}
    found, _ = seek_mode(model, model.unpack(theta), run, max_iter=_NEWTON_STEPS, **options)
    vectors, _, orbit, rank = canonical_frame(model, found)
    held = model.prior.n_components - model.prior.free_components.size
    return Mode(vectors, orbit, rank + held)


class Sampling:
    """Deviations of a fitted model with the units that were sampled.

    Parameters
    ----------
    build : callable
        ``build() -> (model, make_scores)``: the `SGNSModel` of all counts, without anchors and
        with a prior that is known, and ``make_scores(vectors, run)`` of `scores`.
    arrays : dict of ndarray
        ``rho`` and ``alpha`` near its mode, in the frame that they are read in.
    n_units : int
    balance : bool
        Whether deviations are those of balanced vectors.
    seed : numpy.random.SeedSequence
    n_jobs : int or None
    verbose : int, default=0
        1 prints how far the searches and the linear systems are.

    Attributes
    ----------
    deviations : Deviations
    dispersion : ndarray of shape (n_words,)
        Variance of a word's target given all contexts, by the units over that by the model: the
        mean eigenvalue of ``I^-1 J``, J the covariance of the units' influences on its gradient, I
        the information that the model takes its pairs to have. NaN for words of fewer than two
        effective units.
    n_units : ndarray of shape (n_words,)
        Effective units of each word, as of `scores.effective_units`.
    n_sampled : int
        Units that were sampled.
    rank : int
        Components that are not zero at the mode.
    problem : str or None
        Why there are no deviations.
    response : float
        Standard errors by units over those of first order (`response`); there once they are.
    response_error : float
        Its standard error; NaN of few splits.
    of_model : bool
        Whether intervals are the model's, and all that is worked out is whether these are too
        narrow.
    twin : Sampling or None
        Of the same text, which works answers out one by one where this one does not, or the other
        way round.
    """

    _waiting: Awaited | None = None
    of_model, twin = False, None
    _working: tuple[str, ...] = ("_at_mode",)
    # Whether answers are worked out one by one (`by_answer`).
    by_answer = False

    def __init__(self, build, arrays, n_units, *, balance, seed, n_jobs, verbose=0):
        self.verbose = verbose
        self._build, self._arrays, self._number = build, arrays, n_units
        self._balance, self._seed, self.n_jobs = balance, seed, n_jobs

    def __getstate__(self):
        state = self.__dict__ | {"_at_mode": None, "_waiting": None}
        del state["_at_mode"], state["_waiting"]
        return state

    def in_use(self, by_answer):
        """Itself, or its twin: the one that knows all answers, or else that which is asked for.

        Parameters
        ----------
        by_answer : bool or "auto"
            Whether answers are worked out one by one; ``"auto"`` is this one.
        """
        if self.twin is None:
            return self
        whole, single = (self.twin, self) if self.by_answer else (self, self.twin)
        if "deviations" in vars(whole):
            return whole
        if isinstance(by_answer, str):
            return self
        return single if by_answer else whole

    def leave_to(self, found):
        """Let the other one of the two, which is not ``found``, go of what it works with."""
        if self.twin is None:
            return
        other = self.twin if found is self else self
        other.rest()
        if "deviations" in vars(found) and not found.by_answer:
            # it is not asked again
            other._build = None

    def rest(self):
        """Let go of what is only worked with."""
        for name in self._working:
            self.__dict__.pop(name, None)

    @property
    def countable(self):
        """Whether answers could be worked out one by one: units are texts that are counted."""
        return hasattr(self._build, "influences")

    @property
    def n_sampled(self):
        """Number of units that were sampled."""
        return self._number

    @property
    def _awaited(self):
        """Tells those who wait, all along the steps of the work."""
        if self._waiting is None:
            self._waiting = Awaited(self.verbose)
        self._waiting.verbose, self._waiting.of_model = self.verbose, self.of_model
        return self._waiting

    @cached_property
    @OneBlasThread()
    def _at_mode(self):
        """The mode, its Hessian and the scores of units there."""
        n_words, k = self._arrays["rho"].shape
        sizes = n_words, k, self._number, self._build.n_entries, self._build.has_tables
        check_room(*sizes, alone=self.countable)
        model, make_scores = self._build()
        self._waiting = None
        awaited = self._awaited
        awaited.announce(n_words * k, lambda: self._seconds(model), said_of_one)
        threads = Workers(effective_n_jobs(self.n_jobs))
        with awaited.search(1, "mode"), threads as run:
            mode = find_mode_near(model, self._arrays, run)
            scores = make_scores(mode.vectors, run)
        hessian = Hessian(model, mode.vectors)
        hessian.prior = resolved(model.prior, hessian)
        return mode, hessian, scores

    def _seconds(self, model):
        """CPU seconds that all will take, by products of the model at hand."""
        pairs = getattr(self._build, "pairs", None)
        with working_time() as clock:
            return seconds_of_all(model, self._number, pairs, clock)

    def _seeds(self):
        return seed_at(self._seed).spawn(5)

    @cached_property
    def rank(self):
        """Components that are not zero at the mode."""
        return self._at_mode[0].rank

    @cached_property
    def problem(self):
        """Why there are no deviations at this mode, a sentence; None where there are."""
        try:
            rank = self.rank
        except np.linalg.LinAlgError as error:
            return str(error)
        if rank >= min(2, self._arrays["rho"].shape[1]):
            return None
        return (
            f"the mode has rank {rank} of n_components={self._arrays['rho'].shape[1]}, and the "
            "cosines of its vectors do not move with the documents. Lower n_components or "
            "prior_precision, or pass more text."
        )

    @cached_property
    def n_units(self):
        """Effective units of each word."""
        return effective_units(self._at_mode[2].unit_rows)

    @cached_property
    @OneBlasThread()
    def dispersion(self):
        """Variance of a word's target by the units over that by the model."""
        _, hessian, scores = self._at_mode
        rng = np.random.default_rng(self._seeds()[0])
        weights = sampling_weights(self._number, rng, most=DISPERSION_SUMS)
        influences = centred(scores, weights, np.float32)[:, 0]
        ratio = mean_ratios(influences, hessian.information(0))
        return np.where(self.n_units >= FEWEST_UNITS, ratio, np.nan)

    @cached_property
    @OneBlasThread()
    def deviations(self):
        """The `Deviations`; what they were worked out with is not kept."""
        mode, hessian, scores = self._at_mode
        model = hessian.model
        # read before the scores are let go of
        n_units, _, _ = self.n_units, self.dispersion, self.rank
        _, *seeds, draws, halves = self._seeds()
        of_units, of_prior = (np.random.default_rng(seed) for seed in seeds)
        of_halves = np.random.default_rng(halves)
        halves = half_weights(self._number, model.n_words * model.n_components, of_halves)
        differences = 0.5 * (halves[:, 0] - halves[:, 1])
        most, n_prior = numbers_of(model.n_words * model.n_components)
        weights = sampling_weights(self._number, of_units, most)
        with Workers(effective_n_jobs(self.n_jobs)) as run:
            shifts = np.concatenate(
                [
                    centred(scores, weights, np.float32),
                    prior_noise(model.prior, of_prior, n_prior, np.float32),
                    prior_pull(model.prior, mode.vectors)[None].astype(np.float32),
                    centred(scores, differences, np.float32),
                ]
            )
            self._solve(hessian, mode.orbit, shifts, slice(len(weights), -len(differences)), run)
            own = _own(hessian, n_units)
        reference = [self._arrays[name] for name in NAMES]
        vectors, own = as_read(mode.vectors, shifts, own, reference, self._balance)
        del self._at_mode
        by_unit = self._number <= most
        shifts, predicted = np.split(shifts, [-len(differences)])
        found = Deviations(vectors, shifts, len(weights), by_unit, n_units, own, draws)
        return self._responding(found, predicted, halves, of_halves)

    def _solve(self, hessian, orbit, rows, of_prior, run):
        """What rows do to the mode, in place: of the prior by the Hessian that is expected."""
        tol, awaited = _tolerance(hessian.model, self._balance), self._awaited
        is_prior = np.zeros(len(rows), bool)
        is_prior[of_prior] = True
        awaited.solving()
        before = 0
        for which, curvature in ((~is_prior, hessian), (is_prior, hessian.expected())):
            curvature.run = run
            solve_in_place(
                curvature,
                orbit,
                rows,
                tol,
                which=np.flatnonzero(which),
                told=lambda n, before=before: awaited.solved(before + n, len(rows)),
            )
            before += np.count_nonzero(which)

    def _responding(self, deviations, predicted, halves, rng):
        """The deviations of first order times the response, in place."""
        awaited, numbers = self._awaited, itertools.count(1)
        of = f"of {2 * len(halves)}, of half of the units"
        with Workers(effective_n_jobs(self.n_jobs)) as run:

            def mode_of(weights):
                arrays = self._shaped(dict(zip(NAMES, deviations.vectors, strict=True)))
                model = self._reweighted(weights, arrays)
                with awaited.search(3, f"mode {next(numbers)} {of}"):
                    return mode_near(model, arrays, self._balance, self._half_tol, run)

            found = respond(deviations, predicted, halves, mode_of, self._changes, rng)
            self.response, self.response_error = found
        self._build = self._waiting = self.twin = None
        return deviations

    # What the modes of halves are searched with, and asked.
    _changes = staticmethod(pair_changes)

    @property
    def _half_tol(self):
        return search_tol(self._arrays["rho"].size)

    def _shaped(self, arrays):
        return arrays

    def _reweighted(self, weights, arrays):
        return self._build.reweighted(weights)


def resolved(prior, hessian):
    """The prior of a Hessian that single precision resolves, with its precision raised if need be.

    Along the scales of both sides the likelihood is flat and the prior's precision all there is.
    Balanced vectors do not move there; where the precision of a word would drown in the rounding of
    its curvature, as with all pairs of a count matrix, a share of that curvature changes no answer.
    """
    held = []
    for side in (0, 1):
        # blocks of vectors of one component, the lengths, are the traces of those of all
        lengths = np.linalg.norm(hessian.x[1 - side], axis=1, keepdims=True)
        diagonal = prior.diagonal(side)
        traces = hessian.pair_blocks(side, lengths)[:, 0, 0] + diagonal.sum(axis=1)
        more = np.maximum(_RESOLVED * traces[:, None] - diagonal, 0.0)
        extra, pull = prior.held[side] or (0.0, np.zeros_like(diagonal))
        held.append((extra + more, pull) if more.any() else prior.held[side])
    if all(new is old for new, old in zip(held, prior.held, strict=True)):
        return prior
    raised = copy.copy(prior)
    raised.held = tuple(held)
    return raised


def _largest(model):
    return model.n_words * model.n_components > LARGEST


def _tolerance(model, balance):
    if not balance:
        return _RAW_TOL
    return _LARGEST_TOL if _largest(model) else _TOL


def solve_in_place(hessian, orbit, rows, tol=_TOL, *, which=None, told=None):
    """``H^+`` times rows (m, 2, n_words, K), at right angles to the orbit of rotations.

    Of ``which`` of them, all by default; ``told(n)`` is called whenever n of these are done.
    """
    which = np.arange(len(rows)) if which is None else which
    gaussian = seen_through_products(hessian, tol, _SOFT, hessian.run).rough
    first = _LARGEST_FIRST if _largest(hessian.model) else TOGETHER
    ends = [*range(first, len(which), TOGETHER), len(which)]
    for start, end in itertools.pairwise([0, *ends]):
        part = rows[which[start:end]].astype(np.float64)
        orbit.project(part)
        part = gaussian.solve(part).astype(np.float64)
        rows[which[start:end]] = orbit.project(part)
        if told is not None:
            told(end)


def _own(hessian, n_units):
    """Own deviations of the words of too few units, by word."""
    words = np.flatnonzero(n_units < FEWEST_UNITS)
    if words.size == 0:
        return {}
    parts, diagonal = [], np.arange(hessian.x.shape[2])
    for side in (0, 1):
        information = hessian.information(side)[words]
        blocks = information.copy()
        blocks[:, diagonal, diagonal] += hessian.prior.diagonal(side)[words]
        parts.append(own_deviations(blocks, information))
    return {int(w): np.stack([p[i] for p in parts]) for i, w in enumerate(words)}


def as_read(vectors, shifts, own, reference, balance):
    """Vectors in the form and the frame that they are read in, and their own deviations.

    The shifts are changed in place.
    """
    if balance:
        maps = balancing(vectors, reference)
    else:
        maps = [nearest_rotation(vectors, reference)] * 2
    vectors = np.stack([x @ m for x, m in zip(vectors, maps, strict=True)])
    for shift in shifts:
        for side, m in enumerate(maps):
            shift[side] = shift[side] @ m
    own = {
        word: np.stack([m.T @ d for m, d in zip(maps, both, strict=True)])
        for word, both in own.items()
    }
    if balance:
        along(vectors, shifts)
    return vectors, own


def mean_ratios(influences, information):
    """Mean eigenvalue of ``I^-1 J`` by word, of influences (m, n_words, K)."""
    ratio = np.zeros(len(information))
    for word, block in enumerate(information):
        mine = influences[:, word]
        values, basis = np.linalg.eigh(block)
        seen = values > 1e-8 * values[-1]
        if seen.any():
            ratio[word] = np.mean(np.sum((mine @ basis[:, seen]) ** 2, axis=0) / values[seen])
    return ratio
