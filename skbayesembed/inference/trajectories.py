"""Hamiltonian trajectories and the transitions made of them: NUTS, fixed-length HMC and MALA."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import hmc_kernels as kernels
from .adaptation import Metric
from .contracts import HamiltonianModel

# An energy error beyond this is called a divergence, as in Stan.
_DIVERGENT = 1000.0


# (kicks, drifts) of one step, in units of its size. The kick of the second has the least energy
# error in stationarity (Blanes, Casas & Sanz-Serna 2014, section 4).
_KICK = 0.21178


_ONE, _TWO = ((0.5, 0.5), (1.0,)), ((_KICK, 1 - 2 * _KICK, _KICK), (0.5, 0.5))


_INTEGRATORS = {
    "leapfrog": _ONE,
    "two-stage": _TWO,
    "gaussian": _ONE,
    "gaussian-two-stage": _TWO,
}


_DEFAULTS = {"nuts": "leapfrog", "hmc": "two-stage", "mala": "leapfrog"}


_TARGETS = {"nuts": 0.8, "hmc": 0.8, "mala": 0.574}


@dataclass(frozen=True)
class HamiltonianOptions:
    """How trajectories are made.

    Attributes
    ----------
    method : {"nuts", "hmc", "mala"}
        No-U-turn trajectories, trajectories of a fixed length, or of one leapfrog step.
    target_accept : float or None
        Acceptance that the step size is adapted to: 0.8, for MALA 0.574, where None.
    integrator : {"leapfrog", "two-stage", "gaussian", "gaussian-two-stage"} or None
        One gradient a step, or two gradients a step of more than twice the size; the last two
        follow the standard Gaussian of the whitened coordinates exactly between their gradients,
        so that only what is not Gaussian kicks (Shahbaba et al. 2014, section 3): steps
        need not shrink with the number of parameters where the metric fits. None is the
        second for "hmc", where it is cheaper, and the first for the others: steps so large hide
        the turns of a trajectory from NUTS, and MALA is one leapfrog step by definition.
    metric : {"diag", "pooled", "block", "given"}
        Variances; one width for each block of the model, which turning its components into each
        other does not change; or covariances of blocks. The first two also learn the widths along
        turns where the model ``turns``. The last is the model's ``scale``, for models that know
        their posterior better than the draws of a warm-up could tell.
    max_depth : int
        NUTS doubles its trajectories at most so often.
    path_length : float
        Of "hmc": length of a trajectory in posterior standard deviations; a quarter turn of a
        Gaussian that the metric fits is pi / 2.
    jitter : float
        Of "hmc": the length is uniform within this share of ``path_length`` around it.

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
        """The acceptance aimed at."""
        return _TARGETS[self.method] if self.target_accept is None else self.target_accept


class State:
    """A point of phase space, in parameters and in whitened coordinates."""

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
        """Room for a state of as many parameters."""
        new = cls()
        for name in ("theta", "gradient", "p", "force"):
            setattr(new, name, np.empty_like(other.theta))
        new.u = new.theta if other.u is other.theta else np.empty_like(other.u)
        return new


@dataclass
class _Tree:
    """A run of states, in the direction of travel: the state drawn from it, its ends, its halves.

    ``halves`` are the two runs that it was joined from, as (momenta summed, first, last state).
    """

    first: State
    last: State
    momenta: np.ndarray
    chosen: State
    log_weight: float
    halves: tuple = ()

    @property
    def run(self):
        """Momenta summed, first and last state."""
        return self.momenta, self.first, self.last

    def reverse(self):
        """Turn the direction of travel around."""
        self.first, self.last = self.last, self.first
        self.halves = tuple((m, last, first) for m, first, last in self.halves[::-1])

    def turns_with(self, other):
        """Whether this run followed by ``other`` turns back.

        Besides the criterion of `hmc_kernels.turns`, runs of three quarters of the length are
        looked at. In many dimensions all turn at nearly one time, and where the step size makes
        a run a little less than half a period long, the next one of twice the length is nearly
        a whole period: it ends as it began and seems never to have turned.
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

    ``acceptance`` is the mean over its new states of the Metropolis ratio to the start;
    ``n_leapfrog`` counts gradients.
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
        self._move = {"nuts": self._nuts, "hmc": self._fixed, "mala": self._fixed}[options.method]

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
            state.u = state.theta  # one array: whoever moves the first moves the second
        else:
            self.metric.to_whitened(state.theta, state.u)
        self._set_force(state)

    def _set_force(self, state):
        """What kicks the momentum: the gradient, less the Gaussian's where that is followed."""
        if self.metric.identity:
            state.force[:] = state.gradient
        else:
            self.metric.pull_back(state.gradient, state.force)
        if self._gaussian:
            kernels.add(state.u, state.force)

    def leap(self, start: State, step: float, new: State | None = None) -> State:
        """One step of the integrator from ``start``: a new state, or ``new`` written over."""
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
        """Draw a new momentum."""
        state.p = self.rng.standard_normal(state.theta.size)
        state.energy = 0.5 * float(state.p @ state.p) - state.logp

    def first_step(self, state: State) -> None:
        """A step size that a single step accepts with probability about 0.8.

        Powers of two from the present step size (Hoffman & Gelman 2014, Algorithm 4).
        """
        self.refresh(state)
        threshold = math.log(0.8)

        def gain(step):
            with np.errstate(all="ignore"):
                change = state.energy - self.leap(state, step).energy
            return change if math.isfinite(change) else -math.inf

        up = gain(self.step) > threshold
        for _ in range(60):
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
            return self._move(state)

    def _fixed(self, start):
        options = self.options
        n_steps = 1
        if options.method == "hmc":
            spread = options.jitter * (2 * self.rng.random() - 1)
            n_steps = max(1, round(options.path_length * (1 + spread) / self.step))
        # nobody looks back at the states between: two take turns
        end, room = start, [State.like(start) for _ in range(min(n_steps, 2))]
        for i in range(n_steps):
            end = self.leap(end, self.step, room[i % 2])
            change = start.energy - end.energy
            if not change > -_DIVERGENT:
                return Transition(start, 0.0, self._cost(i + 1), True, 0)
        acceptance = math.exp(min(0.0, change))
        state = end if self.rng.random() < acceptance else start
        return Transition(state, acceptance, self._cost(n_steps), False, 0)

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
        """The tree of ``2**depth`` steps from ``start``; None if it diverges or turns within."""
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
        """Gradients of so many steps."""
        return n_steps * len(self._drifts)

    def _accepts(self, log_ratio):
        return log_ratio >= 0 or self.rng.random() < math.exp(log_ratio)


class _Walk:
    """Counts of one NUTS transition."""

    def __init__(self, energy):
        self.energy = energy
        self.acceptance = 0.0
        self.n_states = 0
        self.divergent = False

    def visit(self, energy):
        """Log weight of a new state relative to the start."""
        change = self.energy - energy
        self.n_states += 1
        if change > -_DIVERGENT:
            self.acceptance += math.exp(min(0.0, change))
        else:
            self.divergent = True
        return change
