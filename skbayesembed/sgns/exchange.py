"""Modes that differ in a component: from the one that a search has found to a better one.

Where the weakest component that the mode has and the strongest that it lacks are about as strong,
either makes a mode, and searches from one start or another end in one or the other: of the
addresses on the State of the Union (1,000 words, 20 components) one search in four ended 12 below
the best log density, at standard errors of some cosines that were twice as large. A mode of more
components has both. Once the weakest of these are left out, a search from there decides.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..common.trial import current
from ..common.warnings import note_user
from ..inference.mode import find_mode
from .balance import in_principal_axes
from .model import SGNSModel, numerical_rank
from .priors import Prior
from .spectral import extended

# Pairs of words times components (and periods) up to which it is done: searches take two to three
# times as long, and one alone ten seconds at most.
MOST_WORK = 4e8
# To which the searches in between go.
_ROUGH = 1e-5
# Rounds, each of which begins at a better mode than the one before.
_ROUNDS = 5
# Subspaces whose least cosine is above this are those of one mode.
_SAME = 0.95
# Gains of log density that are rounding, relative to it and at least.
_GAIN, _LEAST_GAIN = 1e-9, 1e-2


@dataclass(frozen=True)
class Components:
    """What exchanges ask of an `SGNSModel`.

    Vectors are those of both sides, (2, n, n_components).
    """

    model: Any
    # Components that are added for a while, and which of them is kept for the last one then: the
    # strongest that are left, or the next.
    trials = ((1, 0), (1, 1), (3, 0))
    # What all searches together take, in units of the first.
    typical = 3.0

    @property
    def n_components(self):
        """Number of components."""
        return self.model.n_components

    @property
    def can_differ(self):
        """Whether modes may differ in components that can be exchanged."""
        model, k = self.model, self.n_components
        free = model.anchors is None and model.prior.rotates and model.prior.learned is None
        return free and 2 <= k <= model.n_words - 3 and model.n_words**2 * k <= MOST_WORK

    def vectors(self, theta):
        """Those of flat parameters."""
        arrays = self.model.unpack(theta)
        return np.stack([arrays["rho"], arrays["alpha"]])

    def parameters(self, vectors):
        """The inverse of `vectors`."""
        return self.model.pack(dict(zip(("rho", "alpha"), vectors, strict=True)))

    def wider(self, more):
        """The same posterior with ``more`` components."""
        model, prior = self.model, self.model.prior
        k = self.n_components + more
        prior = Prior(model.n_words, k, prior.tau[0], couplings=prior.couplings)
        return Components(SGNSModel(model.pairs, k, prior))

    def extended(self, vectors, more, rng, run):
        """Vectors of `wider` about where its mode is, from those of a mode."""
        return extended(self.model, vectors, more, rng, run)


def find_best_mode(components, start, rng, *, tol, max_iter, keep=False, run, **options):
    """As `find_mode`, and from there to the best mode that exchanges lead to.

    Parameters
    ----------
    components : Components
    start : ndarray of shape (n_parameters,)
    rng : numpy.random.Generator
        For the decompositions that components are taken from.
    tol, max_iter, keep, run, **options
        As of `find_mode`; Ctrl-C during exchanges keeps the mode.
    """
    several, trial = components.can_differ, current()
    times = contextlib.nullcontext()
    if several and trial is not None:
        times = trial.repeated(components.typical)
    limits = {"tol": tol, "max_iter": max_iter, "keep": keep, "run": run}
    with times:
        theta, facts = find_mode(components.model, start, **limits, **options)
    if not several:
        return theta, facts
    return exchanged(components, theta, facts, rng, **limits)


def exchanged(components, theta, facts, rng, *, tol, max_iter, keep=False, run):
    """The best mode that exchanges of components lead to: parameters and the facts of its search.

    Parameters
    ----------
    components : Components
    theta : ndarray of shape (n_parameters,)
        A mode.
    facts : dict
        Of the search that found it; where that did not converge, or the mode lacks components,
        nothing is done.
    rng : numpy.random.Generator
        For the decompositions that components are taken from.
    tol, max_iter
        As of `find_mode`, for each search.
    keep : bool
        Whether Ctrl-C ends the exchanges and keeps the mode.
    run : callable
        As of `find_mode`.
    """
    if current() is not None or not facts["converged"]:
        return theta, facts
    if numerical_rank(components.vectors(theta)[1]) < components.n_components:
        return theta, facts
    search = _Search(components, rng, tol, {"max_iter": max_iter, "warn": False, "run": run})
    best, cut = search.known(theta, facts), False
    try:
        for _ in range(_ROUNDS):
            better = max(search.beside(best), key=lambda mode: mode.lp, default=best)
            if better.lp <= best.lp + max(_LEAST_GAIN, _GAIN * abs(best.lp)):
                break
            best = better
    except KeyboardInterrupt:
        if not keep:
            raise
        cut = True
        note_user("Interrupted: the mode is kept, and better ones were not looked for any further.")
    return best.theta, best.facts | {"n_iter": search.n_iter, "interrupted": cut}


class _Mode:
    """A mode: parameters, facts, vectors, and the subspace of its targets."""

    def __init__(self, components, theta, facts):
        self.theta, self.facts, self.lp = theta, facts, facts["lp"]
        self.vectors = components.vectors(theta)
        self.basis, _ = np.linalg.qr(self.vectors[0])

    def is_near(self, other):
        """Whether both are about the same mode."""
        return np.linalg.svd(self.basis.T @ other.basis, compute_uv=False)[-1] > _SAME


class _Search:
    """Searches for modes around those that are known."""

    def __init__(self, components, rng, tol, limits):
        self.components, self.rng, self.tol, self.limits = components, rng, tol, limits
        self.modes, self.n_iter = [], 0

    def known(self, theta, facts):
        """A mode that need not be found again."""
        self.n_iter += facts["n_iter"]
        self.modes.append(_Mode(self.components, theta, facts))
        return self.modes[-1]

    def beside(self, mode):
        """Modes that were not known, around a mode."""
        k, wide = self.components.n_components, {}
        for more, last in self.components.trials:
            if more not in wide:
                wide[more] = self._wider(mode, more)
            found = self._settled(wide[more][:, :, [*range(k - 1), k - 1 + last]])
            if found is not None:
                yield found

    def _wider(self, mode, more):
        """Vectors of more components near a mode of theirs, the strongest first."""
        components = self.components.wider(more)
        start = self.components.extended(mode.vectors, more, self.rng, self.limits["run"])
        theta, facts = self._search(components, start, _ROUGH)
        self.n_iter += facts["n_iter"]
        return in_principal_axes(components.vectors(theta))

    def _settled(self, vectors):
        """The mode near some vectors; None for one that is known."""
        theta, facts = self._search(self.components, vectors, _ROUGH)
        self.n_iter += facts["n_iter"]
        rough = _Mode(self.components, theta, facts)
        if any(rough.is_near(mode) for mode in self.modes):
            return None
        return self.known(*self._search(self.components, rough.vectors, self.tol))

    def _search(self, components, vectors, tol):
        start = components.parameters(vectors)
        return find_mode(components.model, start, tol=max(tol, self.tol), **self.limits)
