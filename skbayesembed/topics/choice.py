"""What is chosen before a fit: the likelihood power, and where topics start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs

from ..common.power import POWER_GRID, best_power
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from ..inference.vi import coordinate_ascent
from ..posterior.posterior import Posterior
from .checks import topic_prior
from .data import Documents
from .inputs import Reading, halves
from .predict import FoldIn, TopicDraws, completion
from .problem import Problem, vector_prior
from .starts import document_clusters, kmeans_assignment
from .vi.solver import ascend

# Data that "auto" tries likelihood powers on.
POWER_TRAINING, POWER_HELD_OUT = 3000, 1000
# Most variational sweeps for each power, and the share of the bound at which they end.
POWER_SWEEPS, POWER_TOLERANCE = 40, 1e-6
# Sweeps after which the bounds of two starts are compared, and the most of them: there are more
# while the lower bound gains by half of them what it lacks.
START_SWEEPS, _MOST_SWEEPS = 10, 80
# Share of a bound that is rounding.
_ROUNDING = 1e-10
STARTS = ("words", "documents")
_FEWEST_DOCUMENTS = 5


@dataclass(frozen=True)
class Choice:
    """Power and start of a fit.

    Attributes
    ----------
    power : float
    init : {"auto", "documents", "words"}
        ``"auto"`` where the bound is to decide.
    scores : dict of float to float, or None
        Held-out score of every power, where the power was chosen.
    """

    power: float
    init: str
    scores: dict | None = None


def choose(estimator, training, seeds):
    """Choose the power, where it is ``"auto"``, and below 1 the start, where that is.

    Held-out halves of documents decide. At power 1 the start is left to the bounds on the evidence
    (``"auto"``). Below 1 the likelihood is no density, and a bound says less about the documents
    than they do themselves.

    Parameters
    ----------
    estimator : GaussianLDA
    training : inputs.Training
    seeds : numpy.random.SeedSequence

    Returns
    -------
    Choice

    Raises
    ------
    ValueError
        If ``likelihood_power="auto"`` and documents are too few to hold some out.
    """
    of_split, of_start = seeds.spawn(2)
    power, init = estimator.likelihood_power, starts_asked(estimator)
    asked = isinstance(power, str)
    if not asked and (init != "auto" or power == 1):
        return Choice(float(power), init)
    split = Split.of(training, np.random.default_rng(of_split))
    if split is None:
        if not asked:
            return Choice(float(power), init)
        raise ValueError(
            f"likelihood_power='auto' needs {_FEWEST_DOCUMENTS} documents with two tokens or more "
            "to hold some out, got fewer: give a number."
        )
    powers = POWER_GRID if asked else (float(power),)

    def score(p, start):
        problem = pose_documents(estimator, split.documents, Choice(p, start), of_start)
        return split.score(estimator, problem)

    candidates = [
        (p, start) for p in powers for start in (STARTS if init == "auto" and p < 1 else (init,))
    ]
    power, init, best = best_power(candidates, score)
    return Choice(power, init, best if asked else None)


def starts_asked(estimator):
    """The estimator's ``init``; minibatches start from words."""
    online = estimator.solver == "vi" and estimator.learning_method == "online"
    return "words" if online else estimator.init


def pose_documents(estimator, documents, choice, seed):
    """The `Problem` of some documents, with a start by k-means.

    Where the choice leaves the start open, it is the one from which `START_SWEEPS` variational
    sweeps, or more, reach the higher bound.
    """
    k, rng = estimator.n_components, np.random.default_rng(seed)
    problem = Problem(
        documents,
        k,
        vector_prior(estimator, documents.vectors, documents.totals),
        topic_prior(estimator),
        choice.power,
        estimator.learn_doc_topic_prior or None,
        kmeans_assignment(documents.vectors, documents.totals, k, rng),
        power_scores=choice.scores,
    )
    if choice.init == "words":
        return problem
    other = replace(problem, clusters=document_clusters(documents, k, rng))
    if choice.init == "documents" or other.clusters is None:
        return other
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        # ties to the words, as where there is one topic
        return _better_of((problem, other), run)


def _better_of(problems, run):
    """The problem from whose start some sweeps reach the higher bound.

    The first of those that are equal but for rounding.
    """
    climbs = [_Climb(problem, run) for problem in problems]
    n = START_SWEEPS
    while True:
        bounds = [climb.to(n) for climb in climbs]
        last = [bound[-1] for bound in bounds]
        lower = bounds[int(np.argmin(last))]
        gained, apart = lower[-1] - lower[(len(lower) - 1) // 2], max(last) - min(last)
        little = _ROUNDING * abs(lower[-1])
        if n >= _MOST_SWEEPS or gained <= max(apart, little):
            return problems[int(np.argmax(last)) if apart > little else 0]
        n *= 2


class _Climb:
    """Coordinate ascent from the start of a problem, which goes on where it ended."""

    def __init__(self, problem, run):
        self._problem, self._run, self._at = problem, run, None
        self._bounds, self._ended = [], False

    def to(self, n):
        """The bounds of ``n`` sweeps."""
        options = {"max_iter": n - len(self._bounds), "tol": 0.0}
        options |= {"warn": False, "keep": False}
        if self._at is None:
            *self._at, facts = ascend(self._problem, self._run, **options)
        elif self._ended:
            return self._bounds
        else:
            facts = coordinate_ascent(*self._at, self._run, **options)
        self._bounds += list(facts["elbo"])
        self._ended = facts["converged"]
        return self._bounds


@dataclass(frozen=True)
class Split:
    """Documents to fit, and the two halves of others.

    A fifth of the documents with two tokens or more, at most ``POWER_HELD_OUT``, is held out; at
    most ``POWER_TRAINING`` of the others are fitted.

    Attributes
    ----------
    documents : Documents
    first : inputs.Reading
        First halves of the documents held out.
    second : scipy.sparse.csr_array
        Their second halves.
    """

    documents: Documents
    first: Reading
    second: object

    @classmethod
    def of(cls, training, rng):
        """The split of training data; None where documents are too few."""
        lengths = np.asarray(training.counts.sum(axis=1)).ravel()
        usable = rng.permutation(np.flatnonzero(lengths >= 2))
        if usable.size < _FEWEST_DOCUMENTS:
            return None
        n_held = min(usable.size // 5, POWER_HELD_OUT)
        held = np.sort(usable[:n_held])
        rest = np.sort(usable[n_held:][:POWER_TRAINING])
        first, second = halves(training.counts[held])
        reading = Reading(first, training.vectors, np.arange(first.shape[1]))
        return cls(Documents.of(training.counts[rest], training.vectors), reading, second)

    def score(self, estimator, problem):
        """Mean log probability of a token held out, after `POWER_SWEEPS` variational sweeps."""
        limits = {"max_iter": POWER_SWEEPS, "tol": POWER_TOLERANCE}
        with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
            _, q, _ = ascend(problem, run, **limits, warn=False, keep=False)
        draws = {"mean": q.niw.mean, "covariance": _covariances(q.niw)}
        draws |= {"counts": q.counts.T, "alpha": q.alpha}
        posterior = Posterior({name: value[None, None] for name, value in draws.items()})
        draws = TopicDraws(posterior, problem.power)
        fold = FoldIn(self.first, draws, estimator.word_proba, estimator.n_jobs)
        return completion(fold, self.second, _tables(draws, estimator.word_proba, self.first))


def _covariances(niw):
    """Means of the covariances; where there is none, the inverse of that of the precision."""
    rest = niw.nu - niw.n_dims - 1
    return niw.scale / np.where(rest > 0, rest, niw.nu)[:, None, None]


def _tables(draws, by, reading):
    return lambda s: draws.word_proba(s, by, reading.vectors).T
