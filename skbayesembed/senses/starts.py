"""Where chains start: the modes of a sense posterior, found from annealed starts and weighed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.optimize import linear_sum_assignment
from sklearn.utils.parallel import Parallel, delayed

from ..common.random import generators
from ..common.trial import current, duration, say_line
from ..common.warnings import note_user
from ..inference.checkpoint import remembered
from ..inference.matching import clusters, similarities, similarity
from ..inference.mode_mass import OPTIONS, Mass, Walker, log_mass, mean_mass
from ..inference.threads import OneBlasThread
from .exchanges import LED, REPEATED, SAME, TRIES, Exchanging, exchanges, regroupings, settled
from .model import SenseModel, permuted
from .modes import groups_joined

# Powers of the likelihood through which a start is annealed, moves at each, and moves after them.
_POWERS = np.geomspace(0.1, 1.0, 20)
_MOVES, _SETTLING = 8, 40
# A start is annealed on so many snippets at most; all of them join where it settles.
_ANNEALED = 10_000
# First step size of a start, in coordinates whose scale is one; adapted from the first move on.
_FIRST_STEP = 0.2
# Its trajectories have some 2**8 steps at most, five times what text needs: counts or variances
# beyond all bounds, to which coordinates do not fit, would take four times as long.
_HURRIED = replace(OPTIONS, max_depth=8)
# Moves that a mode's means and information are taken from, in rounds: each improves the next.
_ROUNDS = (50, 100, 200)
_KEPT = 8
# Modes that are explored and weighed: the median of benchmarks/cost.py.
_TYPICAL_MODES = 3
# Exchanges that a trial makes, and how many take as long as a regrouping.
_TRIED, _OF_REGROUPING = 4, 5
# A mode matters with more than this share of the posterior. Those that may, within so many standard
# errors, are weighed again, by more pairs of runs, one down and one up. Runs are short: long ones
# leave the part of the posterior that the coordinates are made for.
WORTH_NAMING, _CLEAR, _PAIRS = 0.01, 4.0, (1, 2, 2)
# With n_starts="auto" so many starts at a time, and at most. Modes met once, as a share of all
# starts, are about the probability that the next meets a new one (Good 1953, Biometrika 40).
BATCH, _MOST, UNSEEN = 24, 96, 0.05
# Seconds that a batch takes where those who asked for no lines are told of the next.
_PATIENCE = 10.0
# Starts of a batch from which senses are exchanged, at most: the densest of each mode.
_MOST_JOINTS = 6
# From the heaviest mode so many modes beside it are explored, and weighed where they are not less
# dense by more than this; as long as one is heavier, for so many rounds at most.
_BESIDE, _FAR, _ROUNDS_BESIDE = 3, 30.0, 4
# States as similar as this are of one part of a mode.
_IDENTICAL = 0.97
# Where their seeds begin.
_JOINTS = 2**20
# Least probability of a known sense, whose logarithm is taken.
_SMALLEST = 1e-300


@dataclass(repr=False)
class Mode:
    """A mode of the posterior.

    Attributes
    ----------
    arrays : dict of ndarray
        A state in it.
    weights : ndarray of shape (n_senses, n_snippets)
        Its mean probabilities of senses.
    means, information : dict of ndarray
        Of the logits; what its frame is made of.
    states : list of dict of ndarray
        Some of the states that they were taken from.
    mass : Mass or None
        Logarithm of the posterior mass of the mode, up to a constant common to all modes, with its
        standard error; None where it was not weighed, as where there is one mode alone.
    n_starts : int
        How many starts ended in it.
    n_exchanges : int
        How many series of exchanges of senses led to it from another mode.
    n_groups : int
        In how many groups the starts were that ended in it, before chains explored them.
    log_likelihood : float
        Mean over the last round.
    log_density : float
        Mean of the log posterior density, of its start while it settled, then over the last round.
    share : float
        Of the posterior, among the modes found.
    """

    arrays: dict
    weights: np.ndarray
    n_starts: int
    means: dict = field(default_factory=dict)
    information: dict = field(default_factory=dict)
    states: list = field(default_factory=list)
    mass: Mass | None = None
    log_likelihood: float = np.nan
    log_density: float = np.nan
    share: float = 1.0
    n_exchanges: int = 0
    n_groups: int = 0

    def __repr__(self):
        return (
            f"Mode(share={self.share:.3g}, log_likelihood={self.log_likelihood:.1f}, "
            f"n_starts={self.n_starts})"
        )

    def frame(self, model):
        """Make the coordinates of ``model`` those in which this mode is round; returns it."""
        model.inform(self.means, self.information)
        return model

    def permute(self, order):
        """Put the senses in another order."""
        self.weights = self.weights[order]
        for part in (self.arrays, self.means, self.information, *self.states):
            part.update(permuted(part, order))


def annealed(data, n_senses, prior, rng):
    """One start: a draw of the prior, taken through rising powers of the likelihood.

    Of many snippets, a part takes it there: modes stand apart long before all are seen.

    Returns
    -------
    Mode
    """
    arrays, step, some = None, _FIRST_STEP, data.some(_ANNEALED, rng)
    for power in _POWERS:
        model = SenseModel(some, n_senses, prior, power=power)
        theta = model.init(rng) if arrays is None else model.pack(arrays)
        walker = Walker(model, rng, theta, step, _HURRIED)
        for _ in range(_MOVES):
            walker.move()
        arrays, step = model.unpack(walker.state.theta), walker.sampler.step
    arrays |= permuted(arrays, order_of_labels(data, n_senses, prior, arrays))
    if some is not data:
        model = SenseModel(data, n_senses, prior)
        walker = Walker(model, rng, model.pack(arrays), step, _HURRIED)
    else:
        walker.enter(model.pack(arrays))
    arrays, weights, density = settled(walker, _SETTLING)
    return Mode(arrays, weights, 1, log_density=density)


def rejoined(mode, data, n_senses, prior, rng, tries=TRIES):
    """The mode that exchanges of senses lead to from another; None where they lead to none."""
    some = data.some(_ANNEALED, rng)
    of_some = Exchanging(some, n_senses, prior, rng, _HURRIED)
    found = mode.arrays, mode.weights, mode.log_density
    if some is not data:
        found = of_some.settled(mode.arrays, _SETTLING)
    new = of_some.improved(found, tries)
    if new is found or similarity(found[1], new[1], of_some.model.binding) > SAME:
        return None
    if some is not data:
        new = Exchanging(data, n_senses, prior, rng, _HURRIED).settled(new[0], _SETTLING)
    return _led_to(new)


def beside(mode, data, n_senses, prior, rng, alone=False):
    """Explored modes that an exchange or a regrouping of senses leads to from one: a list.

    Where it is ``alone``, exchanges from starts have led nowhere.
    """
    if data.n_snippets > _ANNEALED:
        return []

    def divide(some, rng):
        return annealed(some, 2, prior, rng).weights.argmax(axis=0) == 1

    exchanging = Exchanging(data, n_senses, prior, rng, _HURRIED)
    found = mode.arrays, mode.weights, mode.log_density
    states = [] if alone else exchanging.around(found, _BESIDE)
    states += exchanging.regrouped(found, _BESIDE, divide)
    made = [explore(_led_to(state), data, n_senses, prior, rng) for state in states]
    # of others weighing would tell no more
    return [
        new
        for new in made
        if new.log_density > mode.log_density - _FAR
        and similarity(mode.weights, new.weights, exchanging.model.binding) < _IDENTICAL
    ]


def _led_to(state):
    """The mode of a state, as of `settled`, that exchanges led to."""
    arrays, weights, density = state
    return Mode(arrays, weights, 0, log_density=density, n_exchanges=1)


def order_of_labels(data, n_senses, prior, arrays):
    """The order of senses that explains the known ones best.

    Few known senses do not keep a start from calling them by other names: the words of the rest
    outweigh them until the likelihood is whole, and then the chain does not find its way back.
    """
    known = np.flatnonzero(data.labels >= 0)
    if known.size == 0:
        return np.arange(n_senses)
    proba = SenseModel(data.unlabelled(), n_senses, prior).sense_proba(arrays)
    score = np.zeros((n_senses, n_senses))
    np.add.at(score, data.labels[known], np.log(np.maximum(proba[known], _SMALLEST)))
    return linear_sum_assignment(-score)[1]


def explore(mode, data, n_senses, prior, rng, rounds=_ROUNDS):
    """Fill in means and information of a mode from chains within it; returns the mode."""
    model = SenseModel(data, n_senses, prior)
    model.inform(mode.arrays, model.information_at(mode.arrays))
    for n_moves in rounds:
        walker = Walker(model, rng, model.pack(mode.arrays))
        seen = _Averages()
        for i in range(n_moves):
            walker.move()
            if 4 * i < n_moves:
                continue
            arrays = model.unpack(walker.state.theta)
            sums = model.sums(arrays)
            # a chain may exchange two senses that are alike
            order = model.order_of(mode.weights, sums.weights)
            arrays |= permuted(arrays, order)
            seen.add(model, arrays, sums.permuted(order), walker.state.logp)
            if i % max(1, n_moves // _KEPT) == 0:
                seen.states.append(arrays)
        mode.arrays, mode.states = arrays, seen.states
        mode.means, mode.information = seen.mean(seen.arrays), seen.mean(seen.information)
        mode.weights = seen.weights / seen.n
        mode.log_likelihood, mode.log_density = seen.value / seen.n, seen.density / seen.n
        mode.frame(model)
    return mode


def explore_again(mode, data, n_senses, prior, rng):
    """`explore` from a mode that was found with somewhat different data."""
    with OneBlasThread():
        return explore(mode, data, n_senses, prior, rng)


class _Averages:
    """Running sums of what a mode is explored for."""

    def __init__(self):
        self.n, self.weights, self.value, self.density = 0, 0.0, 0.0, 0.0
        self.arrays, self.information, self.states = {}, {}, []

    def add(self, model, arrays, sums, density):
        self.n += 1
        self.weights = self.weights + sums.weights
        self.value += sums.value
        self.density += density
        information = model.information_at(arrays, sums)
        for totals, values in ((self.arrays, arrays), (self.information, information)):
            for name, x in values.items():
                totals[name] = totals.get(name, 0.0) + x

    def mean(self, totals):
        return {name: total / self.n for name, total in totals.items()}


def weigh(mode, data, n_senses, prior, rng, upward):
    """The log mass of a mode by one run, comparable with that of others."""
    model = mode.frame(SenseModel(data, n_senses, prior))
    start = None if upward else model.pack(mode.states[rng.integers(len(mode.states))])
    mass = log_mass(model, start, rng)
    return Mass(mass.value + model.log_volume(), mass.error)


def find_modes(data, n_senses, prior, seeds, *, n_starts, n_jobs=None, verbose=0):
    """Modes of the posterior, the heaviest first.

    Parameters
    ----------
    data : Snippets
    n_senses : int
    prior : ModelPrior
    seeds : numpy.random.SeedSequence
    n_starts : int or "auto"
        Number of annealed starts.
    n_jobs : int or None
    verbose : int

    Returns
    -------
    list of Mode
        With their shares of the posterior; senses in the order of their prevalence.
    """
    rngs = generators(seeds, first_starts(n_starts))
    given = data, n_senses, prior
    if current() is not None:
        return _try_search(current(), given, rngs, n_starts, effective_n_jobs(n_jobs))

    def side_by_side(function, tasks):
        return parallel(delayed(_alone)(function, *task) for task in tasks)

    begun, told = time.monotonic(), bool(verbose)
    with OneBlasThread():
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", max_nbytes=None)
        starts = remembered(
            "starts", lambda: side_by_side(annealed, [(*given, rng) for rng in rngs])
        )
        binding = SenseModel(*given).binding
        joined = _joined(starts, given, binding, seeds, side_by_side, 0)
        while n_starts == "auto" and len(starts) < _MOST and not _met(starts, binding):
            n = len(starts)
            gone = time.monotonic() - begun
            if verbose or gone > _PATIENCE:
                told = True
                line = f"{_on_going_on(starts, binding)}, about {duration(gone * BATCH / n)}"
                (say_line if verbose else note_user)(line)
            tasks = [(*given, rng) for rng in generators(seeds, BATCH)]
            starts += remembered(f"starts-{n}", partial(side_by_side, annealed, tasks))
            joined += _joined(starts[n:], given, binding, seeds, side_by_side, n)
        modes = _grouped([*starts, *joined], binding)
        for mode in modes:
            mode.n_groups = int(mode.n_starts > 0)
        # generators of its own for each phase: those of a process would come back unused
        rngs = generators(seeds, len(modes))
        tasks = [(mode, *given, rng) for mode, rng in zip(modes, rngs, strict=True)]
        explored = remembered("modes", lambda: side_by_side(explore, tasks))
        modes = _grouped(explored, binding)
        if len(modes) > 1:
            _weigh_all(modes, given, seeds, side_by_side)
        if len(starts) >= BATCH:
            modes = _with_those_beside(modes, given, binding, seeds, side_by_side)
    modes.sort(key=lambda mode: -mode.share)
    if told and groups_joined(modes):
        (say_line if verbose else note_user)(groups_joined(modes))
    for mode in modes:
        if not (data.labels >= 0).any():
            mode.permute(np.argsort(-mode.weights.sum(axis=1), kind="stable"))
        if verbose:
            print(
                f"mode: {100 * mode.share:.3g} % of the posterior, {mode.n_starts} of "
                f"{len(starts)} starts, log likelihood {mode.log_likelihood:.1f}"
            )
    return modes


def _joined(starts, given, binding, seeds, side_by_side, n_before):
    """Modes that exchanges of senses lead to from a batch of starts."""
    if len(starts) < BATCH:
        return []
    groups = _grouped([replace(start) for start in starts], binding)
    chosen = sorted(groups, key=lambda mode: -mode.log_density)[:_MOST_JOINTS]
    # where all starts agree, a look is enough
    tries = TRIES if len(groups) > 1 else TRIES // 3
    rngs = generators(_own(seeds, 0, n_before), len(chosen))
    tasks = [(mode, *given, rng, tries) for mode, rng in zip(chosen, rngs, strict=True)]
    found = remembered(f"joints-{n_before}", partial(side_by_side, rejoined, tasks))
    return [mode for mode in found if mode is not None]


def _with_those_beside(modes, given, binding, seeds, side_by_side):
    """Modes and those beside the heaviest, all weighed, until none beside it is heavier."""
    for n in range(_ROUNDS_BESIDE):
        first = max(modes, key=lambda mode: mode.share)
        rng = generators(_own(seeds, 1, n), 1)[0]
        task = (first, *given, rng, len(modes) == 1)
        (found,) = remembered(f"beside-{n}", partial(side_by_side, beside, [task]))
        if not found:
            break
        modes = [*modes, *found]
        _weigh_all(modes, given, _own(seeds, 2, n), side_by_side)
        # parts of one mode that chains hardly leave: the heaviest stands for all
        modes = _grouped(modes, binding, "share")
        _share_out(modes)
        if max(modes, key=lambda mode: mode.share) is first:
            break
    return modes


def _own(seeds, *key):
    """Seeds of a phase of its own: other phases have the same generators with it and without."""
    return np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, _JOINTS, *key))


def first_starts(n_starts):
    """How many starts there are, or how many at first where ``"auto"`` may add others."""
    return BATCH if n_starts == "auto" else n_starts


def _met(starts, binding):
    """Whether starts have met what there is: few modes once, and the densest more than once."""
    modes = _grouped([replace(start) for start in starts], binding)
    densest = max(modes, key=lambda mode: mode.log_density)
    return share_met_once(modes) < UNSEEN and densest.n_starts > 1


def _on_going_on(starts, binding):
    """A line for those who wait: there are to be more starts."""
    modes = _grouped([replace(start) for start in starts], binding)
    met = ", ".join(str(n) for n in sorted((mode.n_starts for mode in modes), reverse=True))
    return (
        f"{len(starts)} starts are in {len(modes)} groups ({met}), and may not have met all modes: "
        f"{BATCH} more starts (n_starts='auto' makes {_MOST} at most)"
    )


def share_met_once(modes):
    """Modes that one start alone has met, as a share of all starts."""
    n_starts = [mode.n_starts for mode in modes]
    return n_starts.count(1) / sum(n_starts)


def _alone(function, *task):
    """``function(*task)`` with one BLAS thread, also where it runs in another process."""
    with OneBlasThread():
        return function(*task)


class _Expected(NamedTuple):
    """How much of each a search makes.

    Attributes
    ----------
    starts, joints : int
        Joints are modes that exchanges are tried from, each of so many ``tries``.
    modes : int
        Explored ones, and runs that weigh a mode, which take about as long.
    beside : int
        Tries of exchanges from the heaviest mode, and what regroupings from it take of those.
    """

    starts: int
    joints: int
    tries: int
    modes: int
    beside: int

    def seconds(self, start, attempt, within, n_jobs):
        """CPU seconds of starts, exchanges and modes, and the threads that can share each."""
        # those beside the heaviest are looked for in one thread
        tries = self.joints * self.tries, self.beside
        return (
            ("starts", self.starts * start, min(n_jobs, self.starts)),
            ("exchanges", tries[0] * attempt, min(n_jobs, max(1, self.joints))),
            ("exchanges", tries[1] * attempt, 1),
            ("modes", self.modes * within, min(n_jobs, self.modes)),
        )


def _expected(n_starts, n_exchanges, n_regroupings=0):
    """What a search is expected to make, and at least and at most.

    Parameters
    ----------
    n_starts : int or "auto"
    n_exchanges, n_regroupings : int
        That are possible.

    Returns
    -------
    tuple of _Expected

    Notes
    -----
    The usual are between what searches made for *capital*, *interest*, *bank*, *power* and *force*
    in State of the Union addresses, two and three senses: 24 to 72 starts, exchanges from 1 to 12
    modes, 1 to 15 explored and up to 54 runs that weigh one.
    """
    if n_starts != "auto" and n_starts < BATCH:
        usual = _Expected(n_starts, 0, 0, min(n_starts, _TYPICAL_MODES), 0)
        return usual, usual, usual
    first = first_starts(n_starts)
    regrouped = _OF_REGROUPING * min(TRIES, REPEATED * n_regroupings)
    regrouped += min(LED, n_regroupings) * min(TRIES, 2 * n_exchanges)
    least = _Expected(first, 1, min(TRIES // 3, n_exchanges), 1, regrouped)
    if not n_exchanges:
        # one sense, or one period
        few = least._replace(joints=0, modes=_TYPICAL_MODES)
        return few, few, few._replace(starts=_MOST) if n_starts == "auto" else few
    starts, joints, modes = (36, 7, 20) if n_starts == "auto" else (n_starts, 4, 15)
    usual = _Expected(starts, joints, min(TRIES, 2 * n_exchanges), modes, TRIES + regrouped)
    if n_starts != "auto":
        return usual, usual, usual
    more = {"modes": 3 * modes, "beside": 2 * usual.beside}
    most = usual._replace(starts=_MOST, joints=_MOST // BATCH * _MOST_JOINTS, **more)
    return usual, least, most


def _try_search(trial, given, rngs, n_starts, n_jobs):
    """Tell a trial what `find_modes` costs, by one start, some exchanges and moves in its mode."""
    data, n_senses, prior = given
    numbers = (len(exchanges(data, n_senses, rngs[0])), len(regroupings(n_senses, rngs[0])))
    expected, attempt = _expected(n_starts, *numbers), 0.0
    with trial.loop(), OneBlasThread():
        # the first move compiles
        model = SenseModel(*given)
        Walker(model, rngs[0], model.init(rngs[0]), _FIRST_STEP).move()
        begun = trial.clock()
        mode = annealed(*given, rngs[0])
        start = trial.clock() - begun
        if expected[0].joints:
            some = data.some(_ANNEALED, rngs[0])
            exchanging = Exchanging(some, n_senses, prior, rngs[0], _HURRIED)
            found = exchanging.settled(mode.arrays, 2)
            begun = trial.clock()
            exchanging.improved(found, _TRIED)
            attempt = (trial.clock() - begun) / _TRIED
        begun = trial.clock()
        mode = explore(mode, *given, rngs[0], rounds=_ROUNDS[:1])
        within = (trial.clock() - begun) * sum(_ROUNDS) / _ROUNDS[0]
    usual, least, most = (one.seconds(start, attempt, within, n_jobs) for one in expected)
    for i, part in enumerate(usual):
        if part[1] > 0:
            ends = [one[i][1] / one[i][2] for one in (least, most)]
            trial.add(*part, between=ends)
    return [mode]


def _grouped(modes, binding, order="log_density"):
    """Modes that are the same taken together, each the densest of its group, or the heaviest.

    Where a mode has parts that chains hardly leave, starts that ended in the lighter ones would
    stay there.
    """
    labels = clusters(similarities([mode.weights for mode in modes], binding), SAME)
    kept = []
    for label in range(labels.max() + 1):
        group = [modes[i] for i in np.flatnonzero(labels == label)]
        densest = max(group, key=attrgetter(order))
        densest.n_starts = sum(mode.n_starts for mode in group)
        densest.n_exchanges = sum(mode.n_exchanges for mode in group)
        densest.n_groups = sum(mode.n_groups for mode in group)
        kept.append(densest)
    return kept


def _weigh_all(modes, given, seeds, side_by_side):
    """Set masses and shares; those that may matter are weighed more closely."""
    rivals, runs = list(range(len(modes))), [[] for _ in modes]
    for n_pairs in _PAIRS:
        places = [(i, upward) for i in rivals for upward in (False, True) * n_pairs]
        rngs = generators(seeds, len(places))
        tasks = [(modes[i], *given, rng, up) for (i, up), rng in zip(places, rngs, strict=True)]
        for (i, _), mass in zip(places, side_by_side(weigh, tasks), strict=True):
            runs[i].append(mass)
        for i in rivals:
            modes[i].mass = mean_mass(runs[i])
        best = max(modes, key=lambda mode: mode.mass.value)
        rivals = [i for i, mode in enumerate(modes) if may_matter(mode, best)]
        if len(rivals) < 2:
            break
    _share_out(modes)


def _share_out(modes):
    """Set shares by masses."""
    values = np.array([mode.mass.value for mode in modes])
    shares = np.exp(values - values.max())
    for mode, share in zip(modes, shares / shares.sum(), strict=True):
        mode.share = float(share)


def that_matter(modes):
    """Places of the modes that matter, and of those of them that may be the heaviest.

    The first matters, and others that hold more than ``WORTH_NAMING`` of the posterior, or that may
    be the heaviest within the errors of log masses.
    """
    first, others = modes[0], range(1, len(modes))
    unsure = [i for i in others if may_matter(modes[i], first, 1.0)]
    return [0, *(i for i in others if i in unsure or modes[i].share > WORTH_NAMING)], unsure


def may_matter(mode, best, least=WORTH_NAMING):
    """Whether a mode may have ``least`` times the mass of the ``best``, within their errors.

    Not where it was not weighed.
    """
    if mode.mass is None or best.mass is None:
        return False
    error = np.hypot(mode.mass.error, best.mass.error)
    return mode.mass.value + _CLEAR * error > best.mass.value + np.log(least)
