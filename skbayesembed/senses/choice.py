"""The power of the likelihood, chosen before a fit by what was held out, with a check beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from ..common.compiling import waiting_time
from ..common.power import POWER_GRID, best_power
from ..common.random import generators
from ..common.trial import current, duration, say_line
from ..inference import checkpoint
from ..inference.mode_mass import Walker
from ..inference.threads import OneBlasThread
from ..posterior.posterior import Posterior
from .data import Snippets
from .inputs import Places
from .mode_model import ModeModel
from .predict import SnippetReader, sample_together
from .starts import find_modes

# Share of the works, or snippets, that are held out.
_HELD_OUT = 0.2
_FEWEST = 5
# Starts for each power, moves of its chain that are discarded, and draws and moves between them.
_STARTS, _WARMUP, _DRAWS, _BETWEEN = 4, 100, 100, 4
# Largest p-value at which the check rejects a power (Zafar & Nicholls 2024).
REJECTED = 0.1


@dataclass(frozen=True)
class PowerChoice:
    """What was found for each power that was tried.

    Attributes
    ----------
    power : float
        The one that predicts best.
    scores : dict of float to float
        Mean log predictive probability of a snippet held out, by power.
    checks : dict of float to float
        P-values of the posterior predictive check, by power.
    """

    power: float
    scores: dict[float, float]
    checks: dict[float, float]

    @property
    def unrejected(self) -> float | None:
        """The lowest power that the check does not reject; None where it rejects all."""
        return min((p for p, value in self.checks.items() if value > REJECTED), default=None)


def choose(estimator, training, prior, seeds):
    """`PowerChoice` of a sense model, by a chain for each power on the snippets not held out.

    Of the units, or of the snippets where no units are known, a fifth is held out. The check is
    that of the log likelihood of the snippets fitted: the p-value is the probability that it is at
    least that of snippets drawn anew given the same parameters (Zafar & Nicholls 2024). A power so
    low that the posterior does not know the snippets makes it small.

    Parameters
    ----------
    estimator : DiSCSenseModel
    training : Training
    prior : ModelPrior
    seeds : numpy.random.SeedSequence

    Returns
    -------
    PowerChoice or None
        None in a trial.

    Raises
    ------
    ValueError
        If there are too few units or snippets to hold some out.
    """
    of_split, *of_powers = seeds.spawn(1 + len(POWER_GRID))
    there, held = _split(training.data, np.random.default_rng(of_split))
    given = dict(zip(POWER_GRID, of_powers, strict=True))
    options = {"n_starts": _STARTS, "n_jobs": estimator.n_jobs}
    if current() is not None:
        with current().repeated(len(POWER_GRID)):
            find_modes(there, estimator.n_senses, prior, of_split, **options)
        return None
    checks: dict[float, float] = {}
    if estimator.verbose:
        say_line(
            f"likelihood_power='auto': {len(POWER_GRID)} powers are tried before the fit, each by "
            f"a search from {_STARTS} starts and a chain of {_WARMUP + _DRAWS * _BETWEEN} moves on "
            f"{there.n_snippets:,} snippets"
        )

    def score(power, _):
        here = replace(prior, likelihood_power=power)
        of_modes, of_chain = given[power].spawn(2)
        mode = find_modes(there, estimator.n_senses, here, of_modes, **options)[0]
        (rng,) = generators(of_chain, 1)
        read = _reader_of(ModeModel(there, estimator.n_senses, here, mode), rng)
        checks[power] = _check(read, _places(there, there.works), rng)
        # works of snippets held out are others
        value = float(read(_places(held, None)).log_predictive().mean())
        if estimator.verbose:
            n, of = len(checks), len(POWER_GRID)
            left = clock() * (of - n) / n
            say_line(
                f"likelihood_power {power:g} ({n} of {of} powers): held out {value:.4g}, p-value "
                f"{checks[power]:.2g}{f', about {duration(left)} left' if n < of else ''}"
            )
        return value

    # the stages of these searches are none of the fit's
    with checkpoint.active(None), waiting_time() as clock:
        power, _, scores = best_power([(p, None) for p in POWER_GRID], score)
    return PowerChoice(power, scores, checks)


def _split(data, rng):
    """Snippets to fit and those held out, whose works are none of the others'."""
    groups = np.arange(data.n_snippets) if data.works is None else data.works
    n = int(groups.max(initial=-1)) + 1
    if n < _FEWEST:
        what = "snippets" if data.works is None else "units"
        raise ValueError(
            f"likelihood_power='auto' needs {_FEWEST} {what} to hold some out, got {n}: give a "
            "number."
        )
    held = np.isin(groups, rng.permutation(n)[: round(_HELD_OUT * n)])
    return _taken(data, ~held), _taken(data, held)


def _taken(data, chosen):
    """Some of the snippets, with works numbered anew."""
    works = None
    if data.works is not None:
        works = np.unique(data.works[chosen], return_inverse=True)[1]
    return Snippets.of(
        _counts(data)[chosen], data.periods[chosen], data.genres[chosen], data.labels[chosen],
        n_periods=data.n_periods, n_genres=data.n_genres, vectors=data.vectors, works=works,
    )  # fmt: skip


def _counts(data):
    shape = data.n_snippets, data.n_words
    return sparse.csr_array((data.counts, data.words, data.indptr), shape=shape)


def _reader_of(model, rng):
    """Function that reads snippets with their `Places`, by draws of a chain in the model's mode."""
    with OneBlasThread():
        walker = Walker(model, rng, model.init(rng))
        draws = []
        for i in range(_WARMUP + _DRAWS * _BETWEEN):
            if i == _WARMUP:
                walker.freeze()
            walker.move()
            if i >= _WARMUP and (i - _WARMUP) % _BETWEEN == 0:
                draws.append(model.observe(walker.state.theta))
    posterior = Posterior(
        {name: np.array([draw[name] for draw in draws])[None] for name in draws[0]}
    )
    data = model.data
    known = SimpleNamespace(posterior_=posterior, vectors_=data.vectors, _cells=data.cells)
    return partial(SnippetReader, known)


def _places(data, works):
    return Places(_counts(data), data.periods, data.genres, works)


def _check(read, places, rng):
    """Share of draws under which the snippets are at least as probable as snippets drawn anew."""
    reader, passed = read(places), 0
    seen = reader.log_densities().sum(axis=0)
    for s, value in enumerate(seen):
        anew = read(replace(places, counts=sample_together(reader, s, rng)))
        (joint,) = anew.joints([s])
        passed += value >= logsumexp(joint, axis=0).sum()
    return float(passed / len(seen))
