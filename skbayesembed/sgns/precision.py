r"""``prior_precision="auto"``: the precision whose mode predicts held-out units best.

A fifth of the units (documents) is held out, or of the pairs where no documents are known. The mode
of the others is followed along precisions that double or halve, each from the mode before, until
held-out pairs are predicted worse, and the parabola through the best score and its neighbors says
where between them the best precision is. At the upper end of the path is a mode of zero, which
guesses: what is chosen predicts at least as well.

What is held out is a matter of the data, not of ``random_state``: a choice that fell on either of
two neighbors would double or halve all intervals along directions that the data hardly know.
"""

from __future__ import annotations

import contextlib
import copy
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from joblib import effective_n_jobs

from ..common.memory import check_memory
from ..common.random import seed_sequence
from ..common.trial import current
from ..common.warnings import warn_user
from ..inference.chains import Workers
from ..inference.mode import find_mode_only
from ..inference.threads import OneBlasThread
from .data import pair_table, table_bytes
from .documents.asked import seconds_of_pass
from .documents.blocks import DocumentPairs
from .inputs import finish_counts
from .model import SGNSModel, numerical_rank
from .pairs import PairCounts, divided, pooled_counts
from .priors import build_prior
from .starting import MANY, search_start, searched

# For what is held out, and for where the searches start.
_SEED = seed_sequence(0).spawn(5)[-1]
# Share of the units that is held out; where the path begins, and how far it goes at most.
_SHARE, _BEGIN, _LEAST, _MOST = 0.2, 4.0, 2.0**-6, 2.0**20
# The searches for modes of the path: scores are compared to three digits.
_ITERATIONS, _TOL = 300, 2e-6
# A score that is better by less is not worth a smaller precision.
_GAIN = 1e-5
_NOTHING_HELD_OUT = (
    "prior_precision='auto' took 1.0: no pairs are left to fit or to predict where a fifth of the "
    "units is held out (too few of them, or all with the same words). Give a number instead."
)
# Searches for modes of a path, in units of the first: the median of benchmarks/cost.py.
_TYPICAL = 3


@dataclass(frozen=True)
class Chosen:
    """A precision and the path to it.

    Attributes
    ----------
    precision : float
    path : list of (float, float)
        Precisions, ascending, and the mean log probability of a held-out observation of each.
    mode : dict of ndarray or None
        ``rho`` and ``alpha`` near the mode of what was not held out.
    """

    precision: float
    path: list
    mode: dict | None


def choose_precision(estimator, training):
    """The `Chosen` precision of a fit.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
        With counts.
    """
    counts = training.counts
    clusters = counts.n_words >= MANY
    check_memory(
        sum(table_bytes(counts, whole=False, clusters=c) for c in (clusters, False)),
        f"The pair tables of {counts.n_words} words, to fit to and to predict,",
        "Give a number for prior_precision, a smaller max_features or a larger min_count.",
    )
    rng, trial = np.random.default_rng(_SEED), current()
    if trial is None or not isinstance(training.by_document, DocumentPairs):
        train, held = split_counts(estimator, training, rng)
    else:
        # tables of the same size, without two passes over all documents
        train = held = training.counts
        with trial.loop():
            trial.add("preparation", 2.0 * seconds_of_pass(training.by_document, trial.clock))
    if train is None or train.total == 0 or held.total == 0:
        warn_user(_NOTHING_HELD_OUT, UserWarning)
        return Chosen(1.0, [], None)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        tables = pair_table(train), pair_table(held)
        path = _Path(estimator, training.vocabulary, *tables, rng, run)
        if trial is None:
            best = _climb(path)
        else:
            best = _BEGIN
            path(best)
            trial.end_stage()
    mode = path.held.unpack(path.modes[best])
    between = best if path.is_zero(2.0 * best) else _between(best, path.scores)
    return Chosen(between, sorted(path.scores.items()), mode)


def _climb(path):
    """The best precision, up from where the path begins or else down."""
    best = _BEGIN
    for factor in (2.0, 0.5):
        least = 0.0 if factor > 1.0 else _GAIN
        while _LEAST < best < _MOST and path(best * factor) > path(best) + least:
            best *= factor
        if best > _BEGIN:
            break
    return best


def _between(best, scores):
    """Where the parabola through the scores of the best precision and its neighbors is highest.

    To two digits, on the scale of logarithms; the best one itself where a neighbor has no score.
    """
    if not {0.5 * best, 2.0 * best} <= set(scores):
        return best
    below, top, above = (scores[factor * best] for factor in (0.5, 1.0, 2.0))
    bend = 2.0 * top - below - above
    step = np.clip(0.5 * (above - below) / bend, -0.5, 0.5) if bend > 0.0 else 0.0
    return float(f"{best * 2.0**step:.2g}")


class _Path:
    """Scores of precisions; each search for a mode begins where the nearest one ended."""

    def __init__(self, estimator, vocabulary, train, held, rng, run):
        self.estimator, self.vocabulary, self.train = copy.copy(estimator), vocabulary, train
        self.rng, self.run, self.scores, self.modes = rng, run, {}, {}
        self.total = float(held.observations(0).sum())
        # next to no prior: its log density is that of the observations
        self.held = SGNSModel(held, estimator.n_components, 1e-300)
        self.gradient = np.empty(self.held.n_parameters)

    def __call__(self, precision):
        if precision not in self.scores:
            self.scores[precision] = self._score(precision)
        return self.scores[precision]

    def is_zero(self, precision):
        """Whether the mode of a precision is zero, as those of all larger ones are."""
        theta = self.modes.get(precision)
        return theta is not None and numerical_rank(self.held.unpack(theta)["alpha"]) == 0

    def _score(self, precision):
        self.estimator.prior_precision = precision
        prior = build_prior(self.estimator, self.vocabulary)
        model = searched(SGNSModel(self.train, self.estimator.n_components, prior))
        near = min(self.modes, key=lambda p: abs(np.log(p / precision)), default=None)
        limits, trial = {"max_iter": _ITERATIONS, "tol": _TOL}, current()
        if near is None:
            start = model.pack(search_start(model, self.rng, self.run, **limits))
        else:
            start = self.modes[near]
        with contextlib.nullcontext() if trial is None else trial.repeated(_TYPICAL):
            theta = find_mode_only(model, start, run=self.run, **limits)
        self.modes[precision] = theta
        return self.held.logp_and_grad(theta, self.gradient) / self.total


def split_counts(estimator, training, rng):
    """`PairCounts` to fit to and to predict: of some units and the others, or of pairs at random.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
    rng : numpy.random.Generator

    Returns
    -------
    train, held : PairCounts or None
    """
    units, pairs = training.units, training.by_document
    if units is None or units.n_units < 2:
        return _thinned(training.counts, rng)
    if isinstance(pairs, DocumentPairs):
        held = _held_documents(training, rng)
        both = [pairs.reweighted(chosen.astype(float)).total() for chosen in (~held, held)]
        if not all(positive.sum() for positive in both):
            return None, None
        return tuple(finish_counts(estimator, positive, training.words, rng) for positive in both)
    n_held = max(1, round(_SHARE * units.n_units))
    held = np.isin(units.index, rng.permutation(units.n_units)[:n_held])
    parts = [[], []]
    for part, out in zip(pairs.parts, held, strict=True):
        parts[int(out)].append(part)
    return tuple(pooled_counts(p) for p in parts)


def _held_documents(training, rng):
    """Which documents are held out, a fifth of the units at random, (n_documents,).

    By what they say, so that a document is on one side however often it is there, once with a
    weight or repeated.
    """
    units, pairs = training.units, training.by_document
    marks = _marks(pairs.source, training.words, rng.integers(2**63, dtype=np.uint64))
    if pairs.weights is not None:
        marks[pairs.weights == 0.0] = 0
    of_unit = np.zeros(units.n_units, np.uint64)
    np.maximum.at(of_unit, units.index, marks)
    least = np.full(units.n_units, np.iinfo(np.uint64).max)
    np.minimum.at(least, units.index[marks > 0], marks[marks > 0])
    # the largest of several is no longer uniform
    several = least < of_unit
    of_unit = np.where(several, _mixed(of_unit), of_unit)
    # the uppermost fifth, the topmost unit at least, and not all of few units
    known = np.unique(of_unit[of_unit > 0])
    cut = min(int((1.0 - _SHARE) * 2.0**64), int(known[-1]))
    if several.any() or known[0] >= cut:
        cut = known[-max(1, round(_SHARE * known.size))]
    return (of_unit >= cut)[units.index]


def _marks(source, words, seed):
    """Numbers of 64 bits by which documents are told apart: of their words, in any order."""
    # texts may have halves of pairs of surrogates, which are no characters
    raw = (str(word).encode(errors="surrogatepass") for word in words)
    of_word = np.array([crc32(word) for word in raw], np.uint64)
    of_word = _mixed(of_word + seed)
    if hasattr(source, "ids"):
        each = of_word[source.ids]
        each[source.ids < 0] = 0
        starts = source.offsets
    else:
        data = source.matrix.data.astype(float)
        whole = data == np.floor(data)
        times = np.where(whole, data.astype(np.uint64), _mixed(data.view(np.uint64)))
        each = of_word[source.matrix.indices] * times
        starts = source.matrix.indptr
    upto = np.zeros(each.size + 1, np.uint64)
    # sums overflow, and their differences are right all the same
    np.cumsum(each, out=upto[1:])
    return _mixed(np.diff(upto[starts]) + seed)


def _mixed(x):
    """The finalizer of splitmix64 (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _thinned(counts, rng):
    """Pairs apart at random, as if each observation went its own way."""
    kept = [divided(side, _SHARE, rng) for side in (counts.positive, counts.negative)]
    return tuple(PairCounts(p, n) for p, n in zip(*kept, strict=True))
