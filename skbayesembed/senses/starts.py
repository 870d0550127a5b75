"""Where chains start: the modes of a sense posterior, found from annealed starts and weighed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed

from ..common.compiling import waiting_time
from ..common.random import generators, seed_at
from ..common.trial import Steps, current, duration, say_line
from ..common.warnings import note_user, warn_user
from ..inference.chains import return_as
from ..inference.checkpoint import remembered
from ..inference.matching import clusters, similarities, similarity
from ..inference.mode_mass import Walker, mean_mass
from ..inference.threads import OneBlasThread
from .exchanges import SAME, TRIES, Exchanging, exchanges
from .mode import (
    ANNEALED,
    BESIDE,
    FIRST_STEP,
    HURRIED,
    POWERS,
    ROUNDS,
    annealed,
    around,
    explore,
    led_on,
    led_to,
    moves_of_start,
    regroup,
    rejoined,
    weigh,
)
from .model import SenseModel
from .modes import groups_joined
from .regroupings import EXCHANGED, LED, QUIET, Tally, apart, regroupings, tries_of_round

# Modes that are explored and weighed: the median of benchmarks/cost.py.
_TYPICAL_MODES = 3
# Exchanges that a trial makes, and how many take as long as a regrouping.
_TRIED, _OF_REGROUPING = 4, 6
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
# Modes beside the heaviest are weighed where they are not less dense by more than this; they are
# looked for in so many rounds at most.
_FAR, _ROUNDS_BESIDE = 30.0, 8
# States as similar as this are of one part of a mode.
_IDENTICAL = 0.97
# Seconds that starts take together from which on it is told after the first.
_LONG = 30.0
_AFTER = "; the fit comes after, and estimate_cost tells its time"
# Where their seeds begin.
_JOINTS = 2**20
# CPU seconds of a start from which on a trial makes a part of one and no exchange, and the share of
# them that an exchange takes: .20 to .31 in simulated data of 4 to 230 periods. Moves that it makes
# to settle then, and within the mode.
_DEAR, _SHARE, _FEWEST_MOVES = 10.0, 0.25, 4


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

    told = bool(verbose)
    abreast = min(effective_n_jobs(n_jobs), len(rngs))

    def tell(n_starts):
        tell_first(clock(), abreast, n_starts, _AFTER)

    def side_by_side(function, tasks, first=None):
        tasks, found = list(tasks), []
        steps = Steps("search for modes", len(tasks), exact=True, say=say_line if verbose else str)
        for one in parallel(delayed(_alone)(function, *task) for task in tasks):
            found.append(one)
            if first is not None and len(found) == abreast:
                first(len(tasks))
            steps.enough()
        return found

    with OneBlasThread(), waiting_time() as clock:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", max_nbytes=None, return_as=return_as())
        starts = remembered(
            "starts",
            lambda: side_by_side(
                annealed, [(*given, rng) for rng in rngs], None if verbose else tell
            ),
        )
        binding = SenseModel(*given).binding
        joined = _joined(starts, given, binding, seeds, side_by_side, 0)
        while n_starts == "auto" and len(starts) < _MOST and not _met(starts, binding):
            n = len(starts)
            if verbose or clock() > _PATIENCE:
                told = True
                line = _on_going_on(starts, binding, duration(clock() * BATCH / n))
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
    if len(modes) == 1:
        # what it was weighed against has turned out to be a part of it
        modes[0].mass = None
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


def tell_first(took, n_first, n_starts, after=""):
    """A note after the first starts on how long all take, where that is long."""
    whole = took * n_starts / n_first
    if whole > _LONG:
        first = "the first" if n_first == 1 else f"the first {n_first}"
        note_user(
            f"{n_starts} starts of the search for modes take about {duration(whole)} ({first} took "
            f"{duration(took)}){after}; verbose=1 shows progress"
        )


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
    """Modes and those beside the heaviest, all weighed, until rounds find none that is heavier."""
    data, n_senses, _ = given
    if data.n_snippets > ANNEALED:
        _note_of_many(modes, data, n_senses)
        return modes
    rng = generators(_own(seeds, 3), 1)[0]
    tally, quiet = Tally(n_senses, rng), 0
    for n in range(_ROUNDS_BESIDE):
        first = max(modes, key=attrgetter("share"))
        own = _own(seeds, 1, n)
        begun = _around(n, first, given, own, side_by_side) if len(modes) > 1 and not quiet else []
        begun += _regrouped(n, first, modes, given, own, side_by_side, tally)
        found = _explored_beside(n, first, begun, given, own, side_by_side)
        if found:
            modes = [*modes, *found]
            _weigh_all(modes, given, _own(seeds, 2, n), side_by_side)
            # parts of one mode that chains hardly leave: the heaviest stands for all
            modes = _grouped(modes, binding, "share")
            _share_out(modes)
        if max(modes, key=attrgetter("share")) is first:
            quiet += 1
            first.n_quiet = tally.n_tried
            if quiet == QUIET or not tally.of_round():
                return modes
        else:
            tally, quiet = Tally(n_senses, rng), 0
    _warn_of_no_end()
    return modes


def _note_of_many(modes, data, n_senses):
    """Tell that there are no regroupings, where starts that agree would have had some."""
    met = [mode.n_starts for mode in modes if mode.n_starts]
    if len(met) == 1 and n_senses > 2 and (data.labels < 0).any():
        note_user(
            f"all {met[0]} starts ended in one mode; with more than {ANNEALED:,} snippets, modes "
            "beside it are not looked for by regroupings of senses, and a heavier one may be missed"
        )


def _around(n, first, given, seeds, side_by_side):
    """Modes that one exchange leads to from the heaviest."""
    task = first, *given, *generators(seeds, 1)
    return remembered(f"around-{n}", lambda: side_by_side(around, [task]))[0]


def _regrouped(n, first, modes, given, seeds, side_by_side, tally):
    """Modes that a round of regroupings leads to from the heaviest, beside those that are known."""
    which = tally.of_round()
    tasks = [
        (first, *given, rng, one)
        for rng, one in zip(generators(seeds, len(which)), which, strict=True)
    ]
    states = remembered(f"regroupings-{n}", lambda: side_by_side(regroup, tasks))
    for one, state in zip(which, states, strict=True):
        tally.note(one, state is not None)
    model, known = SenseModel(*given), [mode.weights for mode in modes]
    least = first.log_density - np.sqrt(0.5 * model.n_parameters)
    found = apart(states, known, model.binding, least)[:BESIDE]
    rngs = generators(seeds, min(LED, len(found)))
    tasks = [(state, *given, rng) for (state, _), rng in zip(found, rngs, strict=False)]
    led = remembered(f"led-{n}", lambda: side_by_side(led_on, tasks))
    # of those that met where it began, one was led further
    others = [
        (new, count if similarity(state[1], new[1], model.binding) >= SAME else 1)
        for (state, count), new in zip(found, led, strict=False)
    ]
    return [led_to(*one) for one in (*others, *found[LED:])]


def _explored_beside(n, first, begun, given, seeds, side_by_side):
    """Those of modes, explored, that may be heavier than the heaviest, or matter beside it."""
    tasks = [
        (mode, *given, rng) for mode, rng in zip(begun, generators(seeds, len(begun)), strict=True)
    ]
    made = remembered(f"beside-{n}", lambda: side_by_side(explore, tasks))
    binding, kept = SenseModel(*given).binding, []
    for new in made:
        alike = similarity(first.weights, new.weights, binding)
        # of others weighing would tell no more
        if new.log_density > first.log_density - _FAR and alike < _IDENTICAL:
            # what comes back to another part of the same mode has not found it
            new.n_exchanges *= int(alike < SAME)
            kept.append(new)
    return kept


def _warn_of_no_end():
    warn_user(
        f"The search for modes of the posterior made {_ROUNDS_BESIDE} rounds of exchanges and "
        "regroupings of senses and still found heavier modes at its end: there may be others. See "
        "modes_; try another random_state, label some snippets (y), or choose another n_senses.",
        ConvergenceWarning,
    )


def _own(seeds, *key):
    """Seeds of a phase of its own: other phases have the same generators with it and without."""
    return seed_at(seeds, _JOINTS, *key)


def first_starts(n_starts):
    """How many starts there are, or how many at first where ``"auto"`` may add others."""
    return BATCH if n_starts == "auto" else n_starts


def _met(starts, binding):
    """Whether starts have met what there is: few modes once, and the densest more than once."""
    modes = _grouped([replace(start) for start in starts], binding)
    densest = max(modes, key=lambda mode: mode.log_density)
    return share_met_once(modes) < UNSEEN and densest.n_starts > 1


def _on_going_on(starts, binding, more):
    """A line for those who wait: there are to be more starts, which take so long."""
    modes = _grouped([replace(start) for start in starts], binding)
    met = _first_of(sorted((mode.n_starts for mode in modes), reverse=True))
    return (
        f"{BATCH} more starts for modes, about {more} (the fit comes after): {len(starts)} of at "
        f"most {_MOST} ended in {len(modes)} places ({met} in each), so that there may be "
        "modes that none has found. Chains then find which places are one mode, and modes_ shows "
        "what they come to; a warning says if one start alone found the heaviest mode"
    )


def _first_of(numbers, most=6):
    """The first numbers as a text."""
    texts = [str(n) for n in numbers[:most]]
    return ", ".join(texts + ["..."] if len(numbers) > most else texts)


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
    beside, regrouped : int
        Tries of exchanges from the heaviest mode, and what regroupings from it take of those.
    """

    starts: int
    joints: int
    tries: int
    modes: int
    beside: int
    regrouped: int = 0

    def seconds(self, start, attempt, within, n_jobs):
        """CPU seconds of starts, exchanges and modes, and the threads that can share each."""
        # exchanges from the heaviest are tried in one thread
        return (
            ("starts", self.starts * start, min(n_jobs, self.starts)),
            ("exchanges", self.joints * self.tries * attempt, min(n_jobs, max(1, self.joints))),
            ("exchanges", self.beside * attempt, 1),
            ("exchanges", self.regrouped * attempt, min(n_jobs, tries_of_round(1))),
            ("modes", self.modes * within, min(n_jobs, self.modes)),
        )


def _expected(n_starts, n_exchanges, n_regroupings=0, beside=True):
    """What a search is expected to make, and at least and at most.

    Parameters
    ----------
    n_starts : int or "auto"
    n_exchanges, n_regroupings : int
        That are possible.
    beside : bool
        Whether modes beside the heaviest are looked for from there.

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
    a_round = _OF_REGROUPING * tries_of_round(n_regroupings)
    a_round += min(LED, n_regroupings) * min(EXCHANGED, n_exchanges)
    a_round, around = (a_round, TRIES) if beside else (0, 0)
    least = _Expected(first, 1, min(TRIES // 3, n_exchanges), 1, 0, a_round)
    if not n_exchanges:
        # one sense, or one period
        few = least._replace(joints=0, modes=_TYPICAL_MODES)
        return few, few, few._replace(starts=_MOST) if n_starts == "auto" else few
    starts, joints, modes = (36, 7, 20) if n_starts == "auto" else (n_starts, 4, 15)
    tries = min(TRIES, 2 * n_exchanges)
    usual = _Expected(starts, joints, tries, modes, around, QUIET * a_round)
    if n_starts != "auto":
        return usual, usual, usual
    more = {"modes": 3 * modes, "beside": 2 * around, "regrouped": 2 * usual.regrouped}
    most = usual._replace(starts=_MOST, joints=_MOST // BATCH * _MOST_JOINTS, **more)
    return usual, least, most


def _try_search(trial, given, rngs, n_starts, n_jobs):
    """Tell a trial what `find_modes` costs, by one start, some exchanges and moves in its mode."""
    data, n_senses, prior = given
    numbers = (len(exchanges(data, n_senses, rngs[0])), len(regroupings(n_senses, rngs[0])))
    expected = _expected(n_starts, *numbers, beside=data.n_snippets <= ANNEALED)
    attempt = 0.0
    trial.told("search for modes")
    with trial.loop(), OneBlasThread():
        # the first move compiles
        model = SenseModel(*given)
        walker = Walker(model, rngs[0], model.init(rngs[0]), FIRST_STEP)
        walker.move()
        begun = trial.clock()
        walker.move()
        dear = (trial.clock() - begun) * moves_of_start() > _DEAR
        taken = (POWERS[-1:], _FEWEST_MOVES) if dear else ()
        begun = trial.clock()
        mode = annealed(*given, rngs[0], *taken)
        start = (trial.clock() - begun) * moves_of_start() / moves_of_start(*taken)
        if dear:
            attempt = _SHARE * start
        elif expected[0].joints:
            some = data.some(ANNEALED, rngs[0])
            exchanging = Exchanging(some, n_senses, prior, rngs[0], HURRIED)
            found = exchanging.settled(mode.arrays, 2)
            begun = trial.clock()
            exchanging.improved(found, _TRIED)
            attempt = (trial.clock() - begun) / _TRIED
        begun = trial.clock()
        moves = _FEWEST_MOVES if dear else ROUNDS[0]
        mode = explore(mode, *given, rngs[0], rounds=(moves,))
        within = (trial.clock() - begun) * sum(ROUNDS) / moves
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
    """Set masses and shares; those that may matter are weighed more closely.

    What a mode was weighed by before counts.
    """
    rivals = list(modes)
    for n_pairs, n_runs in zip(_PAIRS, 2 * np.cumsum(_PAIRS), strict=True):
        fewer = [mode for mode in rivals if len(mode.runs) < n_runs]
        places = [(mode, upward) for mode in fewer for upward in (False, True) * n_pairs]
        rngs = generators(seeds, len(places))
        tasks = [(mode, *given, rng, up) for (mode, up), rng in zip(places, rngs, strict=True)]
        for (mode, _), mass in zip(places, side_by_side(weigh, tasks), strict=True):
            mode.runs.append(mass)
        for mode in fewer:
            mode.mass = mean_mass(mode.runs)
        best = max(modes, key=lambda mode: mode.mass.value)
        rivals = [mode for mode in modes if may_matter(mode, best)]
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
