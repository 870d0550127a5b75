"""The sampling of units for models too large to know how all answers move: one answer at a time."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np
from joblib import effective_n_jobs

from ...common.compiling import working_time
from ...common.trial import duration, say_line
from ...common.warnings import note_user
from ...inference.chains import Workers
from ...inference.laplace import NotAMode, not_a_mode
from ...inference.mode import find_mode_only
from ...inference.profile import profile_along
from ...inference.threads import OneBlasThread
from ..balance import balancing, nearest_rotation
from ..laplace.approximation import NAMES
from ..laplace.hessian import Hessian
from ..laplace.orbits import canonical_frame
from ..starting import searched
from .adjoint import AskedDeviations
from .asked import seconds_by_answer
from .footprint import MOST_ENTRIES, check_room_by_answer, together_by_answer
from .refits import responding
from .response import mode_near
from .sampling import Mode, Sampling
from .scores import effective_units
from .systems import TOL, slope_along, systems_at

# The search for the mode from the solver's vectors. Of two cosines the softer one has a standard
# deviation within 3 % of that at the very mode, the other within 1 % (1,500 words, 30 components);
# ten times as large a tolerance leaves 9 %.
_SEARCH_ITERATIONS, _SEARCH_TOL = 3000, 2e-7
# Where it ended at a saddle, it goes on from the top of the direction that leads up; to a smaller
# tolerance, and some times. Not so where the log density rises by less along that direction, and
# this has less than a share of what is known by then of an answer's variance; the last time, less
# than all of it.
_HIGHER, _MUCH, _CLOSER, _MOST_MOVES = 1.0, 0.05, 0.05, 3
# How far a direction may reach, for a start: so many standard deviations by the size of its
# curvature, or a share of the vectors' length.
_FAR, _FURTHEST = 1.0, 0.25
# The searches with other weights of units, from where first order leads.
_REFIT_TOL = 1e-6
# Seconds of the first answer from which on a word is said of it.
_PATIENCE = 5.0
# Seconds between two lines about systems, and from which on they are told where none are asked for.
_BETWEEN, _LONG = 30.0, 60.0
# Answers of one question from which on it is said how long they take.
_MANY = 64
_NAME = "intervals by units, answer by answer"


class SamplingByAnswer(Sampling):
    """As `Sampling`, for models of so many words that answers are worked out one by one.

    The mode is searched for when the first question is asked, and kept. Not known are how much more
    words vary by unit than the model takes them to (``dispersion``, NaN) and how far refits of
    halves of the units move (``response``, 1). Where rare words meet by clusters, and an answer
    moves along a direction that is next to flat, refits with other weights of units tell how far
    (`refits`).
    """

    by_answer = True
    # whether answers were asked for one by one, where all could be worked out at once
    chosen = False
    _working = "deviations", "_at_mode", "_influences", "_hessian", "_room"
    response, response_error = 1.0, np.nan
    # searches that went on from a saddle, and from where the last one did
    _moved, _start = 0, None

    def __getstate__(self):
        state = super().__getstate__()
        for name in self._working:
            state.pop(name, None)
        return state | {"_moved": 0}

    @cached_property
    def _room(self):
        """Answers whose systems are solved together; checks that there is room for one."""
        n_words, k = self._arrays["rho"].shape
        given = n_words, k, self._build.n_entries, self._build.n_pairs
        check_room_by_answer(*given)
        return together_by_answer(*given)

    @cached_property
    def _influences(self):
        _ = self._room
        return self._build.influences()

    @cached_property
    @OneBlasThread()
    def _at_mode(self):
        """The mode and the linear systems there; third are the influences of units."""
        influences, model = self._influences, self._build()[0]
        self._announce(model)
        run = Workers(effective_n_jobs(self.n_jobs))
        return *self._near(model, run), influences

    def _near(self, model, threads):
        """The `Mode` that a search ends at, and its `Systems`."""
        start, tol = self._arrays, _SEARCH_TOL
        if self._start is not None:
            start, tol = dict(zip(NAMES, self._start, strict=True)), _CLOSER * tol
        with self._awaited.search(1, "mode"), threads as run:
            near, limits = searched(model, near=True), {"max_iter": _SEARCH_ITERATIONS, "tol": tol}
            theta = find_mode_only(near, model.pack(start), run=run, **limits)
            del near  # and its tables
            found = np.stack([model.unpack(theta)[name] for name in NAMES])
            vectors, _, orbit, rank = canonical_frame(model, found)
            systems = systems_at(model, vectors, orbit, run)
        held = model.prior.n_components - model.prior.free_components.size
        return Mode(vectors, orbit, rank + held), systems

    @OneBlasThread()
    def _go_on(self, direction):
        """Search on from a higher point: what the search ended at was no mode.

        Returns what `AskedDeviations` take of a mode.
        """
        mode, systems, influences = self._at_mode
        model, run = systems.model, systems.run
        self._say(
            f"{_NAME}: the search for the mode had ended at a saddle, and goes on from there. "
            "Answers before this one were worked out at the saddle: ask them again. Posterior "
            "means stay those of the fit; with solver='map' a smaller tol may end elsewhere."
        )
        self._start = mode.vectors + direction.reshape(mode.vectors.shape)
        self._moved += 1
        # all that was worked out there; a search that fails leaves nothing of it behind
        asked = self.__dict__.pop("deviations", None)
        for name in ("_at_mode", "_hessian", "rank", "problem"):
            self.__dict__.pop(name, None)
        del mode, systems
        self._at_mode = *self._near(model, run), influences
        form = self._form()
        if asked is not None:
            self.deviations = asked
        return form

    def _form(self):
        """Vectors of the mode as they are read, as systems have them, and maps between them."""
        vectors, reference = self._at_mode[0].vectors, [self._arrays[name] for name in NAMES]
        if self._balance:
            maps = balancing(vectors, reference)
        else:
            maps = [nearest_rotation(vectors, reference)] * 2
        return np.stack([x @ m for x, m in zip(vectors, maps, strict=True)]), vectors, maps

    def _say(self, text):
        say_line(text) if self.verbose else note_user(text)

    def _announce(self, model):
        with working_time() as clock:
            first, each = seconds_by_answer(model, self._build.pairs, clock)
        self._each = each
        if first + each < _PATIENCE and not self.verbose:
            return
        text = (
            f"{_NAME}: the first takes about {duration(first + each)} of processor time, each "
            f"further one about {duration(each)}, to a factor of 3, without refits. Answers "
            "without intervals by units are there at once after set_params(uncertainty='model')."
        )
        self._say(text)

    @cached_property
    def n_units(self):
        """Effective units of each word."""
        return effective_units(self._influences.unit_rows)

    @property
    def dispersion(self):
        """NaN: it takes as many systems as a question about all words."""
        return np.full(self._arrays["rho"].shape[0], np.nan)

    @cached_property
    @OneBlasThread()
    def deviations(self):
        """The `AskedDeviations`."""
        _ = self._at_mode
        _, _, of_prior, draws, _ = self._seeds()
        return AskedDeviations(
            *self._form(),
            self._balance,
            solve=self._solved,
            influences=self._along,
            information=self._information,
            prior=self._at_mode[1].model.prior,
            n_units=self.n_units,
            seeds=(of_prior, draws),
            together=self._room,
            n_sampling=self._number,
            note_number=self.note_number,
            note_near=self.note_near,
            respond=self._respond,
            go_on=self._go_on,
            second=self._arrays["rho"].size <= MOST_ENTRIES,
        )

    def _solved(self, gradients, observed):
        """Solutions of linear systems, with lines on how far they are.

        Raises
        ------
        NotAMode
            If the search ended at a saddle, from where it can go on.
        numpy.linalg.LinAlgError
            If it ended at no mode.
        """
        mode, systems, _ = self._at_mode
        gradients = mode.orbit.project(gradients)
        begun, first = time.monotonic(), systems.products
        told = begun

        def tell():
            nonlocal told
            now = time.monotonic()
            if now - told < _BETWEEN or not (self.verbose or now - begun > _LONG):
                return
            told, n = now, systems.products - first
            text = f"{_NAME}: {n} products of some {systems.usual}"
            text += f", for {len(gradients)}, {now - begun:.0f} s"
            self._say(text)

        systems.run.n_threads = effective_n_jobs(self.n_jobs)
        with OneBlasThread(), systems.run:
            bent = self._reach if observed else None
            try:
                return systems.solve(gradients, TOL, tell, observed, bent)
            except KeyboardInterrupt:
                if systems.goes_on and (n := systems.products - first):
                    self._say(f"{_NAME}: {n} products are kept; ask again to go on from there.")
                raise
            except (np.linalg.LinAlgError, RuntimeError) as error:
                known = isinstance(error, NotAMode) and error.direction is not None
                if observed and known and self._moved < _MOST_MOVES:
                    raise
                raise np.linalg.LinAlgError(
                    f"There is no interval by units of this answer: {error} Or take the model's, "
                    "set_params(uncertainty='model')."
                ) from error

    def _reach(self, direction, pull, known):
        """What the curvature is taken for along a direction in which the density bends upwards.

        Raises
        ------
        NotAMode
            If the search is to go on from the top, where its direction leads.
        """
        mode, systems, _ = self._at_mode
        far = _FURTHEST * np.linalg.norm(mode.vectors) / np.linalg.norm(direction)
        slope = slope_along(systems.model, mode.vectors, direction, systems.run)
        found = profile_along(slope, min(_FAR, far))
        part = pull * pull * found.variance
        much = _MUCH if self._moved < _MOST_MOVES else 1.0
        if found.gain > _HIGHER or part > much * known:
            raise not_a_mode(direction=found.top * direction)
        self._say(
            f"{_NAME}: where the search for the mode ended, the log density is flat along a "
            f"direction (its top is {found.gain:.2g} higher), and taken to be as wide there as it "
            f"is: {part / (known + part):.2g} of what is known by now of the answer's variance by "
            "the model."
        )
        return 1.0 / found.variance

    def _respond(self, i, influence, gradient, variance, answer):
        """Influences on one answer, as `refits` has them."""
        mode, systems, _ = self._at_mode
        steps = systems.steps[i] if systems.steps else []

        def refit(weights, step):
            self._say(
                f"{_NAME}: units move this answer along a direction in which the log density is "
                "nearly flat. A refit with other weights of units tells how far."
            )
            model = searched(self._build.reweighted(weights), near=True)
            arrays = dict(zip(NAMES, mode.vectors + step, strict=True))
            with self._awaited.search(3, "mode with other weights"), systems.run:
                return mode_near(model, arrays, self._balance, _REFIT_TOL, systems.run)

        systems.run.n_threads = effective_n_jobs(self.n_jobs)
        with OneBlasThread():
            return responding(influence, gradient, variance, steps, self._along, answer, refit)

    def _along(self, directions):
        mode, _, influences = self._at_mode
        with OneBlasThread(), Workers(effective_n_jobs(self.n_jobs)) as run:
            found = influences.along(mode.vectors, directions, run)
        # an infinitesimal jackknife, as of `deviations.sampling_weights`
        n = self._number
        return np.sqrt(n / (n - 1.0)) * (found - found.mean(axis=0))

    def _information(self, side, word):
        """Information of a word's pairs at the mode."""
        return self._hessian.information_of(side, [word])[0]

    @cached_property
    def _hessian(self):
        mode, systems, _ = self._at_mode
        return Hessian(systems.model, mode.vectors)

    def note_near(self, n_answers):
        """Say that second order of so many cosines near one takes a system for each component."""
        seconds = n_answers * self._arrays["rho"].shape[1] * self._each
        if seconds > _PATIENCE:
            self._say(
                f"{_NAME}: {n_answers} may be as near 1 or -1 as known, and so of second order, "
                f"which takes about {duration(seconds)} of processor time, to a factor of 3."
            )

    def note_number(self, n_answers):
        """Say how long so many answers take before they are worked out, where they are many."""
        if n_answers > _MANY:
            _ = self._at_mode
            text = (
                f"{_NAME}: {n_answers} answers take about {duration(n_answers * self._each)} of "
                "processor time, to a factor of 3."
            )
            if self.chosen:
                text += " set_params(by_answer=False) works out at once what all answers share."
            self._say(text)
