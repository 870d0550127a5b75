"""The search for a mode: L-BFGS on the log density of the flat parameters of a model.

A model that knows most of its curvature (`Preconditioned`) is climbed by `Ascent`, in single
precision as far as that goes, which is further than most ask for, and in double from there. Others
are left to SciPy.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..common import trial
from ..common.interruption import tell_of_interruption
from ..common.searches import Unreached
from ..common.warnings import warn_user
from .ascent import Ascent
from .contracts import Corrected, LogDensity, Preconditioned, Run, require
from .threads import serial

# SciPy: steps that L-BFGS remembers; evaluations it may make for each iteration it is allowed; and
# the relative change of the log density at which it ends, as a share of ``tol``.
_MEMORY, _EVALUATIONS, _CHANGE = 20, 20, 1e-3
# Ascent: steps remembered; iterations over which the change is watched, and its share of ``tol``.
# With ``tol=1e-8`` cosines and P(w, v) end some 0.005 posterior standard deviations from those at
# the mode, and of 1,000 none further than 0.05 (benchmarks/mode_end.py: four texts).
_ASCENT_MEMORY, _WATCHED, _WATCHED_CHANGE = 6, 10, 0.15
# Iterations at which the preconditioner is brought up to date, the last number growing by half from
# there.
_REFRESHED = 1, 2, 4, 7, 11, 16, 25, 40
# The iteration at which what is approximated is made exact first, how many there are from one such
# correction to the next, and how many once those of ``_WATCHED`` gain less than a share of the log
# density: there what is left lies along few directions, along which approximations bend several
# times as much as the density, and eight steps bring most of what there is to gain by each.
_CORRECTED, _SELDOM, _OFTEN, _LATE = 16, 20, 8, 1e-6
# Errors of values relative to their size; the change below which single precision tells nothing
# more, and the one below which it tells nothing if changes no longer fall.
_ROUNDING = {np.float32: 1e-7, np.float64: 1e-15}
_SINGLE, _NOISE = 1e-10, 1e-9
# Iterations that a search takes, for a factor of ten of ``tol``: medians of benchmarks/cost.py and
# benchmarks/mode.py. Those of an ascent are 16; what refreshes its preconditioner, which no trial
# does after the first step, takes as long as 4 more.
_TYPICAL, _TYPICAL_ASCENT = 40, 20
# How many times as long searches with corrections take, which trials do without: twice as many
# iterations (290 with 20,000 words and 343 with 100,000, where 134 are usual), and 28 CPU seconds
# for a correction after each 20 of 6.5, in the second half after each eight (50,000 words).
_WITH_CORRECTIONS = 2.8
# In which an ascent goes on, one after the other.
_PRECISIONS = np.float32, np.float64
# SciPy's status of a search that its callback has ended.
_CUT_SHORT = 99


def find_mode(
    model: LogDensity,
    start: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-8,
    verbose: int = 0,
    warn: bool = True,
    keep: bool = False,
    run: Run = serial,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Maximize the log density of a model that offers `LogDensity`.

    Parameters
    ----------
    model : LogDensity
    start : ndarray of shape (n_parameters,)
    max_iter : int
        Most iterations of L-BFGS.
    tol : float
        The search has converged when the largest absolute entry of the gradient, each entry times
        the scale of its parameter, is at most ``tol`` times ``max(1, its value at the start)``, or
        when an iteration changes the log density by less than ``1e-3 * tol`` relatively, or ten
        by less than ``0.15 * tol`` where the model offers `Preconditioned`.
    verbose : int
        Above zero, one line is printed for the result.
    warn : bool
        Whether to warn if the mode was not reached; False where a point near it is good enough.
    keep : bool
        Whether Ctrl-C ends the search where it is; False where nothing but the mode will do.
    run : callable
        Maps a function over blocks of work, for models that cut theirs; `serial` by default.

    Returns
    -------
    theta : ndarray of shape (n_parameters,)
    facts : dict
        ``lp``, ``n_iter``, ``max_gradient`` (of the scaled parameters), ``converged``,
        ``interrupted``.

    Raises
    ------
    TypeError
        If the model does not offer `LogDensity`.
    KeyboardInterrupt
        If interrupted, unless ``keep`` and an iteration has ended.

    Warns
    -----
    ConvergenceWarning
        If the limit of iterations was reached first.
    RuntimeWarning
        If interrupted, and the point reached is kept.
    """
    require(model, LogDensity, "map")
    if isinstance(model, Preconditioned):
        theta, facts, allowed = _climb(model, start, max_iter, tol, run, keep)
    else:
        theta, facts, allowed = _minimize(model, start, max_iter, tol, keep)
    if facts["interrupted"]:
        tell_of_interruption(
            f"Interrupted: the point is that of {facts['n_iter']} iterations of the search, not "
            "the mode."
        )
        return theta, facts
    if verbose:
        print(
            f"mode: {facts['n_iter']} iterations, log density {facts['lp']:.6g}, "
            f"largest gradient {facts['max_gradient']:.3g}"
        )
    if warn and not facts["converged"]:
        warn_user(
            f"The mode was not reached in max_iter={max_iter} iterations (largest gradient entry "
            f"{facts['max_gradient']:.3g}, allowed {allowed:.3g}): raise max_iter, or tol.",
            Unreached,
        )
    return theta, facts


def find_mode_only(
    model: LogDensity, start: np.ndarray, *, max_iter: int, tol: float, run: Run = serial
) -> np.ndarray:
    """As `find_mode`, where a point near the mode is good enough and no facts are wanted.

    The log density in double precision, which takes as long as several iterations of a search in
    single precision, is evaluated only where that decides whether the search goes on.
    """
    require(model, LogDensity, "map")
    if isinstance(model, Preconditioned):
        return _climb(model, start, max_iter, tol, run, False, told=False)[0]
    return _minimize(model, start, max_iter, tol, False)[0]


def _counted(max_iter, tol, typical, threads=1):
    """`Laps` of a search in a trial; None outside of one."""
    most = typical * -math.log10(min(tol, 0.1))
    return trial.laps("search for a mode", min(max_iter, most), threads)


def _minimize(model, start, max_iter, tol, keep):
    """SciPy's L-BFGS: parameters, facts, and the gradient allowed."""
    gradient = np.empty(model.n_parameters)
    # L-BFGS moves theta / scale, in whose coordinates the posterior is about equally wide
    scale = model.scale

    def objective(scaled):
        value = model.logp_and_grad(scaled * scale, gradient)
        return -value, -gradient * scale

    start = start / scale
    gtol = tol * max(1.0, _largest(objective(start)[1]))
    limits = {"maxiter": max_iter, "maxfun": _EVALUATIONS * max_iter}
    options = {**limits, "gtol": gtol, "ftol": _CHANGE * tol, "maxcor": _MEMORY}
    counted = _counted(max_iter, tol, _TYPICAL)
    n_iter, reached = 0, start

    def after(x):
        nonlocal n_iter, reached
        n_iter, reached = n_iter + 1, x.copy()
        if counted is not None and counted.enough():
            raise StopIteration

    try:
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", options=options, callback=after
        )
    except KeyboardInterrupt:
        if not keep or n_iter == 0:
            raise
        value, slope = objective(reached)
        facts = {"lp": -float(value), "n_iter": n_iter, "max_gradient": _largest(slope)}
        return reached * scale, facts | {"converged": False, "interrupted": True}, gtol
    if counted is not None:
        counted.end(ended=found.status != _CUT_SHORT)
    facts = {
        "lp": -float(found.fun),
        "n_iter": int(found.nit),
        "max_gradient": _largest(found.jac),
        "converged": bool(found.success),
        "interrupted": False,
    }
    return found.x * scale, facts, gtol


def _climb(model, start, max_iter, tol, run, keep, told=True):
    """`Ascent` in single precision, then in double: parameters, facts, and the gradient allowed.

    Where facts are not ``told``, they are empty.
    """
    gradient, scale = np.empty(model.n_parameters), model.scale

    @functools.cache
    def allowed():
        # few searches end by their gradients, and this takes as long as several of their iterations
        model.logp_and_grad(start, gradient, run=run)
        return tol * max(1.0, _largest(gradient * scale))

    theta, n_iter, wanted = start.copy(), 0, _WATCHED_CHANGE * tol
    value, largest, settled, interrupted = -np.inf, np.inf, False, False
    counted = _counted(max_iter, tol, _TYPICAL_ASCENT, getattr(run, "n_threads", 1))
    for dtype in _PRECISIONS:
        least = wanted if dtype is np.float64 else max(wanted, _SINGLE)
        surface = model.surface(theta, dtype, run)
        if counted is not None and isinstance(surface, Corrected):
            counted.typical *= _WITH_CORRECTIONS
        gains: list[float] = []
        try:
            ascent = _started(surface, run)
            steps, settled = _ascend(surface, ascent, least, max_iter - n_iter, gains, counted)
        except KeyboardInterrupt:
            # the point is the last one that was accepted
            steps, settled, interrupted = len(gains), False, True
            if not keep or n_iter + steps == 0:
                raise
        n_iter += steps
        theta = surface.end()
        surface = ascent = None  # their tables, before the next ones have their own
        settled = settled and least == wanted
        cut = interrupted or (counted is not None and counted.cut)
        over = cut or settled or n_iter >= max_iter
        if not told and (over or dtype is _PRECISIONS[-1]):
            break
        value = model.logp_and_grad(theta, gradient, run=run)
        largest = _largest(gradient * scale)
        if over or largest <= allowed():
            break
    if counted is not None:
        counted.end(ended=not counted.cut)
    if not told:
        return theta, {}, math.nan
    facts = {
        "lp": float(value),
        "n_iter": n_iter,
        "max_gradient": largest,
        "converged": settled or (not cut and largest <= allowed()),
        "interrupted": interrupted,
    }
    return theta, facts, math.nan if settled or cut else allowed()


def _ascend(surface, ascent, least, most, gains, counted=None):
    """Climb until ``_WATCHED`` steps gain less than ``least`` relatively: steps, whether so.

    In double precision the top is also reached where no step gains anything. Single precision is
    left where no step does, and where gains are as small as its noise and no longer fall. A surface
    that is approximated is corrected now and then, and has gained as little since then. The gain of
    every step is added to ``gains``.
    """
    is_single = surface.point.dtype == np.float32
    refreshed, following, fresh = set(_REFRESHED), _REFRESHED[-1], False
    corrections = _Corrections(surface)
    for step in range(1, most + 1):
        if step > following:
            following += following // 2
            refreshed.add(following)
        if corrections.due(step):
            ascent.value, ascent.gradient = surface.correct()
            corrections.made(step, len(gains))
        if step in refreshed and (step == 1 or trial.current() is None):
            surface.refresh()
        if counted is not None and counted.enough():
            return step, False
        if not ascent.advance():
            if fresh:
                return step, not is_single
            ascent.forget()
            surface.refresh()
            fresh = True
            continue
        fresh = False
        gains.append(ascent.gain)
        size = max(1.0, abs(ascent.value))
        watched = corrections.watched(len(gains))
        if len(gains) >= watched and sum(gains[-watched:]) <= least * size:
            return step, True
        corrections.hasten(step, gains, size)
        window = corrections.window
        recent, before = sum(gains[-window:]), sum(gains[-2 * window : -window])
        noise = is_single and recent <= _NOISE * size
        if noise and len(gains) >= 2 * window and recent >= before:
            return step, False
    return most, False


class _Corrections:
    """When a surface is corrected, and over which gains of its steps the end of a search is told.

    Without corrections, where the surface needs none or in a trial, over the last ones.

    Attributes
    ----------
    window : int
        Gains of which any two runs have seen as many corrections.
    """

    def __init__(self, surface):
        self._needed = isinstance(surface, Corrected) and trial.current() is None
        self._next, self._often = _CORRECTED, _SELDOM
        self._last = 0  # gains before the last one
        self.window = 2 * _OFTEN if self._needed else _WATCHED

    def due(self, step):
        return self._needed and step >= self._next

    def made(self, step, n_gains):
        self._next, self._last = step + self._often, n_gains

    def watched(self, n_gains):
        """How many gains tell: all since the last correction; infinitely many if nothing does."""
        if not self._needed:
            return _WATCHED
        since = n_gains - self._last
        return max(_WATCHED, since) if self._last and since >= _OFTEN else math.inf

    def hasten(self, step, gains, size):
        """Correct more often from where little is gained."""
        if len(gains) >= _WATCHED and sum(gains[-_WATCHED:]) <= _LATE * size:
            self._often = _OFTEN
            since = len(gains) - self._last
            self._next = min(self._next, step + 1 + max(0, _OFTEN - since))


def _started(surface, run):
    rounding = getattr(surface, "rounding", _ROUNDING[surface.point.dtype.type])
    return Ascent(surface, _ASCENT_MEMORY, rounding, run)


def _largest(gradient):
    return float(np.max(np.abs(gradient), initial=0.0))
