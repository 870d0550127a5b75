"""From snippets to a problem that solvers read, and the table of solvers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..common.random import generators
from ..common.warnings import warn_user
from ..inference import checkpoint
from ..inference.pooling import run_each
from ..spine import Room
from . import hmc, laplace, map, recording, vi
from .checks import check_parameters
from .choice import PowerChoice, choose
from .data import Snippets
from .gibbs import solver as gibbs
from .mode import explore_again
from .priors import ModelPrior, prior_of
from .recording import with_modes
from .starts import BATCH, UNSEEN, find_modes, share_met_once, that_matter

# Of as many starts and more, one that met the heaviest mode alone is reported.
_ENOUGH_STARTS = 4
# Modes that a warning describes, the heaviest; `modes_` has the rest.
_DESCRIBED = 4


@dataclass(frozen=True)
class Problem:
    """What every solver is given.

    Attributes
    ----------
    data : Snippets
    n_senses : int
    prior : ModelPrior
    modes : list of Mode
        Modes of the posterior that were found, the heaviest first; empty for ``"map"``.
    seed : numpy.random.SeedSequence
        Of the searches of ``"map"``.
    choice : PowerChoice or None
        What was found of each likelihood power, where one was chosen.
    drawn : list of Snippets
        ``data`` with each draw of the word vectors; empty where they are taken for known.
    """

    data: Snippets
    n_senses: int
    prior: ModelPrior
    modes: list
    seed: np.random.SeedSequence
    choice: PowerChoice | None = None
    drawn: list = field(default_factory=list)


def pose(estimator, training, seeds):
    """State the `Problem`, after a search for the modes of its posterior."""
    data, seed = training.data, seeds["starts"]
    prior = prior_of(estimator, data.works is not None)
    if prior.flat:
        warn_user(
            "With a flat prior of the first period (first_phi or first_psi infinite) the posterior "
            "is improper: draws drift, and no interval of them means anything.",
            UserWarning,
        )
    choice = None
    if isinstance(estimator.likelihood_power, str):
        choice = choose(estimator, training, prior, seeds["choice"])
        prior = prior if choice is None else replace(prior, likelihood_power=choice.power)
    modes = []
    if estimator.solver != "map":
        options = {n: getattr(estimator, n) for n in ("n_starts", "n_jobs", "verbose")}
        modes = find_modes(data, estimator.n_senses, prior, seed, **options)
        warn_of_modes(modes)
    drawn = [] if training.vector_draws is None else training.drawn
    return Problem(data, estimator.n_senses, prior, modes, seed, choice, drawn)


def warn_of_modes(modes):
    """ConvergenceWarning where a second mode matters, or starts may have missed the heaviest.

    A second mode matters where it holds more than a hundredth of the posterior, or where it may be
    the heaviest within the errors of log masses. One that no start has met is likely where many
    have met a mode of their own, or one alone, or one series of exchanges of senses, has met the
    heaviest; not where regroupings from it have then led to no heavier one.
    """
    first, n_starts = modes[0], sum(mode.n_starts for mode in modes)
    alone = first.n_starts + first.n_exchanges == 1 and not (first.n_exchanges and first.n_quiet)
    matter, unsure = that_matter(modes)
    if len(matter) > 1:
        described = "; ".join(_describe(i, modes[i]) for i in matter[:_DESCRIBED])
        rest = f"; and {len(matter) - _DESCRIBED} more" if len(matter) > _DESCRIBED else ""
        warn_user(
            f"The posterior has {len(matter)} modes that matter: {described}{rest}. The chains run "
            f"in mode 0. {_unsure(unsure)}See modes_; raise n_starts for surer shares, label some "
            "snippets (y), or choose another n_senses.",
            ConvergenceWarning,
        )
    elif alone and n_starts >= _ENOUGH_STARTS:
        met = f"{first.n_starts} of n_starts={n_starts} starts met"
        if first.n_exchanges:
            met += ", and 1 series of exchanges of senses led to,"
        warn_user(
            f"{met} the heaviest of {len(modes)} modes of the posterior: there may be a heavier "
            "one that no start has met. See modes_; raise n_starts until several meet the first, "
            "label some snippets (y), or choose another n_senses.",
            ConvergenceWarning,
        )
    elif n_starts >= BATCH and share_met_once(modes) >= UNSEEN:
        warn_user(
            f"{100 * share_met_once(modes):.0f} % of {n_starts} starts met a mode of their own: "
            "the posterior has many modes, and there may be a heavier one that no start has met. "
            "See modes_; raise n_starts, label some snippets (y), or choose another n_senses.",
            ConvergenceWarning,
        )


def _unsure(places):
    """What to say of modes that may be heavier than the first; nothing where there are none."""
    if not places:
        return ""
    names = ", ".join(str(place) for place in places)
    return (
        f"Within the errors of the log masses the heaviest may also be mode {names}, and another "
        "with another random_state: read the weights of all of them. "
    )


def _describe(place, mode):
    mass = mode.mass
    weighed = "" if mass is None else f"log mass {mass.value:.1f} +- {mass.error:.1f}, "
    return (
        f"mode {place} ({100 * mode.share:.3g} % of the posterior, {weighed}mean log likelihood "
        f"{mode.log_likelihood:.1f}, {_met_by(mode)})"
    )


def _met_by(mode):
    """How a mode was found."""
    starts = "1 start" if mode.n_starts == 1 else f"{mode.n_starts} starts"
    return starts if mode.n_starts else "found from other modes"


def _with_power(solve):
    """A solver whose result tells of the likelihood power, and how it was chosen."""

    def solved(estimator, problem, settings, seed):
        result = solve(estimator, problem, settings, seed)
        result.learned["likelihood_power_"] = problem.prior.likelihood_power
        found = problem.choice
        if found is not None:
            result.facts["likelihood_power"] = found.power
            result.learned |= {
                "likelihood_power_scores_": found.scores,
                "likelihood_power_checks_": found.checks,
                "likelihood_power_unrejected_": found.unrejected,
            }
        return result

    return solved


def _with_vectors(solve):
    """A solver that is given each draw of the word vectors, where their uncertainty counts."""

    def solved(estimator, problem, settings, seed):
        if not problem.drawn:
            return solve(estimator, problem, settings, seed)

        def solve_one(run, settings, seed):
            of_mode, of_solver = seed.spawn(2)
            data, (rng,) = problem.drawn[run], generators(of_mode, 1)
            given = replace(problem.modes[0]), data, problem.n_senses, problem.prior, rng
            mode = checkpoint.remembered("mode", lambda: explore_again(*given))
            one = replace(problem, data=data, modes=[mode])
            return solve(estimator, one, settings, of_solver)

        result = run_each(solve_one, len(problem.drawn), settings, seed)
        return with_modes(result, problem.modes)

    return solved


SOLVERS = {
    name: _with_power(_with_vectors(solve))
    for name, solve in {
        "hmc": hmc.solve,
        "gibbs": gibbs.solve,
        "vi": vi.solve,
        "laplace": laplace.solve,
        "map": map.solve,
    }.items()
}

ROOM = Room(
    solvers=SOLVERS,
    check=check_parameters,
    footprint=recording.footprint,
    pose=pose,
    labels=recording.labels,
    diagnose=recording.diagnose,
    streams=("starts", "solve", "choice"),
    auto_thin=2,
)
