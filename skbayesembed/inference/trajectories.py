"""Transitions of Hamiltonian samplers: NUTS, HMC with trajectories of a fixed length, and MALA.

All three follow trajectories in whitened coordinates (see `adaptation.Metric`) by a reversible,
volume-preserving integrator. They differ in where a trajectory ends and in which of its states
becomes the draw. Metric and step size are given here; chains that learn them are in `hmc`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import hmc_kernels as kernels
from .adaptation import Metric
from .contracts import HamiltonianModel

# An energy error beyond this is called a divergence, as in Stan.
_DIVERGENT = 1000.0
# Probability with which a single step of the first step size is accepted, and how often that is
# doubled or halved to find it (Hoffman & Gelman 2014, Algorithm 4; Stan's 0.8 for their 0.5).
_FIRST_ACCEPTANCE, _MOST_DOUBLINGS = 0.8, 60

# Integrators as (kicks, drifts) of one step, in units of its size. The kick of the two-stage one is
# that of the least energy error in stationarity (Blanes, Casas & Sanz-Serna 2014, section 4).
_KICK = 0.21178
_ONE, _TWO = ((0.5, 0.5), (1.0,)), ((_KICK, 1 - 2 * _KICK, _KICK), (0.5, 0.5))
_INTEGRATORS = {
    "leapfrog": _ONE,
    "two-stage": _TWO,
    "gaussian": _ONE,
    "gaussian-two-stage": _TWO,
}
_DEFAULTS = {"nuts": "leapfrog", "hmc": "two-stage", "mala": "leapfrog"}
# Acceptance that the step size is adapted to: Stan's, and the best of MALA in many dimensions
# (Roberts & Rosenthal 1998).
_TARGETS = {"nuts": 0.8, "hmc": 0.8, "mala": 0.574}


@dataclass(frozen=True)
class HamiltonianOptions:
    """How trajectories are made.

    Attributes
    ----------
    method : {"nuts", "hmc", "mala"}
        Trajectories that end when they turn back (the No-U-Turn sampler), trajectories of a fixed
        length, or of a single leapfrog step.
    target_accept : float or None
        Mean acceptance that the step size is adapted to. None is 0.8, and 0.574 for MALA.
    integrator : {"leapfrog", "two-stage", "gaussian", "gaussian-two-stage"} or None
        - "leapfrog" takes one gradient a step;
        - "two-stage" takes two, for steps of more than twice the size;
        - the other two do the same, but follow the standard Gaussian of the whitened coordinates
          exactly between gradients, so that only the rest of the log density acts as a force
          (Shahbaba et al. 2014, section 3). Where the metric fits, steps need not shrink as the
          number of parameters grows.

        None is "two-stage" for "hmc", where it is cheaper, and "leapfrog" for the others: NUTS
        does not see the turns of a trajectory in steps so large, and MALA is one leapfrog step by
        definition.
    metric : {"diag", "pooled", "block", "given"}
        - "diag" learns the variance of each parameter;
        - "pooled" learns one width for each block of the model, which stays the same when its
          components are rotated into each other;
        - "block" learns the covariance matrix of each block;
        - "given" is the model's ``scale``, for models that know their posterior better than the
          draws of a warm-up could tell.

        The first two also learn the widths along turns of all blocks together, where the model says
        that it ``turns``.
    max_depth : int
        How often NUTS may double a trajectory. Of "hmc", 2 to this power is the largest mean number
        of steps; its trajectories are cut where ``path_length`` would take more.
    path_length : float
        Of "hmc": length of a trajectory, in posterior standard deviations. The default is a quarter
        turn of a Gaussian that the metric fits, after which place and start are independent.
    jitter : float
        Of "hmc": each length is drawn uniformly from ``path_length`` times 1 - jitter to
        1 + jitter.

    Raises
    ------
    ValueError
        For a choice that does not exist.
    """

    method: str = "nuts"
    target_accept: float | None = None
    integrator: str | None = None
    metric: str = "diag"
    max_depth: int = 10
    path_length: float = 0.5 * math.pi
    jitter: float = 0.5

    def __post_init__(self) -> None:
        for name, allowed in (
            ("method", tuple(_TARGETS)),
            ("integrator", (None, *_INTEGRATORS)),
            ("metric", ("diag", "pooled", "block", "given")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                choices = ", ".join(map(repr, allowed))
                raise ValueError(f"{name} must be one of {choices}, got {value!r}.")

    @property
    def target(self) -> float:
        """The mean acceptance to be reached."""
        return _TARGETS[self.method] if self.target_accept is None else self.target_accept


class State:
    """A point of phase space, in parameters and in whitened coordinates.

    Attributes
    ----------
    theta, gradient : ndarray of shape (n_parameters,)
        Parameters, and the gradient of the log density there.
    logp : float
        The log density there.
    u, p : ndarray of shape (n_parameters,)
        Whitened coordinates and momentum.
    force : ndarray of shape (n_parameters,)
        What changes the momentum, see `Trajectories`.
    energy : float
        Kinetic energy minus log density.
    """

    __slots__ = ("theta", "gradient", "logp", "u", "p", "force", "energy")

    theta: np.ndarray
    gradient: np.ndarray
    logp: float
    u: np.ndarray
    p: np.ndarray
    force: np.ndarray
    energy: float

    @classmethod
    def like(cls, other: State) -> State:
        """A new state of as many parameters as ``other``, its arrays not yet filled."""
        new = cls()
        for name in ("theta", "gradient", "p", "force"):
            setattr(new, name, np.empty_like(other.theta))
        new.u = new.theta if other.u is other.theta else np.empty_like(other.u)
        return new

    @classmethod
    def of(cls, place: dict[str, Any]) -> State:
        """The state that `without_momentum` described."""
        new = cls()
        for name, value in place.items():
            setattr(new, name, value)
        return new

    def without_momentum(self) -> dict[str, Any]:
        """What a transition begins with, which draws its own momentum."""
        return {name: getattr(self, name) for name in ("theta", "gradient", "logp", "u", "force")}


@dataclass
class _Tree:
    """A run of states in the direction of travel.

    ``momenta`` is the sum of their momenta, ``chosen`` the state drawn from them, ``log_weight``
    the logarithm of their summed weights. ``halves`` are the two runs that it was joined from, as
    (summed momenta, first state, last state).
    """

    first: State
    last: State
    momenta: np.ndarray
    chosen: State
    log_weight: float
    halves: tuple = ()

    @property
    def run(self):
        """Summed momenta, first state, last state."""
        return self.momenta, self.first, self.last

    def reverse(self):
        """Turn the direction of travel around."""
        self.first, self.last = self.last, self.first
        self.halves = tuple((m, last, first) for m, first, last in self.halves[::-1])

    def turns_with(self, other):
        """Whether this run followed by ``other`` turns back.

        Besides the criterion of `hmc_kernels.turns`, the criterion is checked for runs of three
        quarters of the length. In many dimensions all coordinates turn at nearly the same time. If
        the step size makes a run a little less than half a period long, the next run, of twice the
        length, is nearly a whole period: it ends as it began, and seems never to have turned.
        """
        a, b = self, other
        if kernels.turns(a.momenta, b.momenta, a.first.p, a.last.p, b.first.p, b.last.p):
            return True
        if not (a.halves and b.halves):
            return False
        momenta, first, _ = a.halves[1]
        if kernels.span_turns(momenta, b.momenta, first.p, b.last.p):
            return True
        momenta, _, last = b.halves[0]
        return kernels.span_turns(a.momenta, momenta, a.first.p, last.p)


@dataclass
class Transition:
    """What one transition did.

    Attributes
    ----------
    state : State
        The draw.
    acceptance : float
        Mean over the new states of the probability that Metropolis would accept them from the
        start.
    n_leapfrog : int
        Number of gradients.
    divergent : bool
        Whether the energy error became so large that the trajectory was given up.
    depth : int
        How often NUTS doubled the trajectory; 0 for trajectories of a fixed length, or the largest
        depth where that length was cut.
    """

    state: State
    acceptance: float
    n_leapfrog: int
    divergent: bool
    depth: int


class Trajectories:
    """Transitions of one chain with a given metric and step size.

    Parameters
    ----------
    model : HamiltonianModel
    options : HamiltonianOptions
    rng : numpy.random.Generator
    metric : Metric

    Attributes
    ----------
    metric : Metric
        May be replaced; a state must then `enter` the new one.
    step : float
        Step size in whitened coordinates; may be changed between transitions.
    """

    def __init__(
        self,
        model: HamiltonianModel,
        options: HamiltonianOptions,
        rng: np.random.Generator,
        metric: Metric,
    ) -> None:
        self.model, self.options, self.rng, self.metric = model, options, rng, metric
        self.step = 1.0
        integrator = options.integrator or _DEFAULTS[options.method]
        self._kicks, self._drifts = _INTEGRATORS[integrator]
        self._gaussian = integrator.startswith("gaussian")

    def state_at(self, theta: np.ndarray) -> State:
        """The state at ``theta``, without momentum."""
        state = State()
        state.theta = theta
        state.gradient = np.empty_like(theta)
        state.logp = self.model.logp_and_grad(theta, state.gradient)
        self.enter(state)
        return state

    def enter(self, state: State) -> None:
        """Give a state its coordinates in the present metric."""
        state.u, state.force = np.empty_like(state.theta), np.empty_like(state.theta)
        if self.metric.identity:
            state.u = state.theta  # one array under two names: what moves u moves theta
        else:
            self.metric.to_whitened(state.theta, state.u)
        self._set_force(state)

    def _set_force(self, state):
        """Set what changes the momentum: the whitened gradient, or what is left of it.

        Integrators that follow the standard Gaussian exactly need the rest of the gradient only.
        """
        if self.metric.identity:
            state.force[:] = state.gradient
        else:
            self.metric.pull_back(state.gradient, state.force)
        if self._gaussian:
            kernels.add(state.u, state.force)

    def leap(self, start: State, step: float, new: State | None = None) -> State:
        """One step of the integrator from ``start``; written into ``new`` where that is given."""
        new = State.like(start) if new is None else new
        new.u[:], new.p[:], force = start.u, start.p, start.force
        flow = kernels.kick_and_turn if self._gaussian else kernels.kick_and_drift
        for kick, drift in zip(self._kicks[:-1], self._drifts, strict=True):
            flow(kick * step, drift * step, new.u, new.p, force)
            if not self.metric.identity:
                self.metric.to_parameters(new.u, new.theta)
            new.logp = self.model.logp_and_grad(new.theta, new.gradient)
            self._set_force(new)
            force = new.force
        new.energy = kernels.last_kick(self._kicks[-1] * step, force, new.p) - new.logp
        return new

    def refresh(self, state: State) -> None:
        """Draw a new momentum for a state."""
        state.p = self.rng.standard_normal(state.theta.size)
        state.energy = 0.5 * float(state.p @ state.p) - state.logp

    def first_step(self, state: State) -> None:
        """Set a step size at which a single step is accepted with probability about 0.8.

        The present step size is doubled or halved until that is crossed (Hoffman & Gelman 2014,
        Algorithm 4).
        """
        self.refresh(state)
        threshold = math.log(_FIRST_ACCEPTANCE)

        def gain(step):
            with np.errstate(all="ignore"):
                change = state.energy - self.leap(state, step).energy
            return change if math.isfinite(change) else -math.inf

        up = gain(self.step) > threshold
        for _ in range(_MOST_DOUBLINGS):
            trial = self.step * (2.0 if up else 0.5)
            if up and gain(trial) <= threshold:
                break
            self.step = trial
            if not up and gain(trial) > threshold:
                break

    def move(self, state: State) -> Transition:
        """One transition from ``state``, which leaves the posterior invariant."""
        self.refresh(state)
        with np.errstate(all="ignore"):
            return self._nuts(state) if self.options.method == "nuts" else self._fixed(state)

    def _fixed(self, start):
        options = self.options
        n_steps, depth = 1, 0
        if options.method == "hmc":
            spread = options.jitter * (2 * self.rng.random() - 1)
            depth = (
                options.max_depth if options.path_length > self.step * 2**options.max_depth else 0
            )
            mean = self.step * 2**depth if depth else options.path_length
            n_steps = max(1, round(mean * (1 + spread) / self.step))
        # the states on the way are not needed again: two arrays take turns
        end, room = start, [State.like(start) for _ in range(min(n_steps, 2))]
        for i in range(n_steps):
            end = self.leap(end, self.step, room[i % 2])
            change = start.energy - end.energy
            if not change > -_DIVERGENT:
                return Transition(start, 0.0, self._cost(i + 1), True, 0)
        acceptance = math.exp(min(0.0, change))
        state = end if self.rng.random() < acceptance else start
        return Transition(state, acceptance, self._cost(n_steps), False, depth)

    def _nuts(self, start):
        """Multinomial NUTS (Hoffman & Gelman 2014; Betancourt 2017, appendix A)."""
        walk = _Walk(start.energy)
        tree = _Tree(start, start, start.p, start, 0.0)  # in forward time
        depth = 0
        while depth < self.options.max_depth:
            forward = self.rng.random() < 0.5
            end, step = (tree.last, self.step) if forward else (tree.first, -self.step)
            new = self._subtree(walk, end, depth, step)
            if new is None:
                break
            depth += 1
            # biased progressive sampling: the new half is preferred
            if self._accepts(new.log_weight - tree.log_weight):
                tree.chosen = new.chosen
            if not forward:
                new.reverse()
            a, b = (tree, new) if forward else (new, tree)
            turned = a.turns_with(b)
            log_weight = np.logaddexp(tree.log_weight, new.log_weight)
            momenta, halves = a.momenta + b.momenta, (a.run, b.run)
            tree = _Tree(a.first, b.last, momenta, tree.chosen, log_weight, halves)
            if turned:
                break
        acceptance = walk.acceptance / max(walk.n_states, 1)
        n_leapfrog = self._cost(walk.n_states)
        return Transition(tree.chosen, acceptance, n_leapfrog, walk.divergent, depth)

    def _subtree(self, walk, start, depth, step):
        """The tree of ``2**depth`` steps from ``start``; None if it diverges or turns back."""
        if depth == 0:
            new = self.leap(start, step)
            change = walk.visit(new.energy)
            return None if walk.divergent else _Tree(new, new, new.p, new, change)
        a = self._subtree(walk, start, depth - 1, step)
        if a is None:
            return None
        b = self._subtree(walk, a.last, depth - 1, step)
        if b is None or a.turns_with(b):
            return None
        log_weight = np.logaddexp(a.log_weight, b.log_weight)
        chosen = b.chosen if self._accepts(b.log_weight - log_weight) else a.chosen
        momenta = a.momenta + b.momenta
        return _Tree(a.first, b.last, momenta, chosen, log_weight, (a.run, b.run))

    def _cost(self, n_steps):
        """Number of gradients that so many steps take."""
        return n_steps * len(self._drifts)

    def _accepts(self, log_ratio):
        return log_ratio >= 0 or self.rng.random() < math.exp(log_ratio)


class _Walk:
    """What is counted along the trajectory of one NUTS transition, from its energy at the start."""

    def __init__(self, energy):
        self.energy = energy
        self.acceptance = 0.0
        self.n_states = 0
        self.divergent = False

    def visit(self, energy):
        """Count a new state; returns its log weight relative to the start."""
        change = self.energy - energy
        self.n_states += 1
        if change > -_DIVERGENT:
            self.acceptance += math.exp(min(0.0, change))
        else:
            self.divergent = True
        return change
