r"""``prior_precision="auto"``: the precision whose mode predicts held-out units best.

A fifth of the units (documents) is held out, or of the pairs where no documents are known. The mode
of the others is followed along precisions that double or halve, each from the mode before, until
held-out pairs are predicted worse, and the parabola through the best score and its neighbors says
where between them the best precision is. At the upper end of the path is a mode of zero, which
guesses: what is chosen predicts at least as well.

Little text does not tell precisions apart by a fifth of it: where the best one is hardly better
than its neighbors, each of the five fifths of the units is held out in turn, where there are some.

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
_FOLDS = round(1.0 / _SHARE)
# Held-out nats by which the best precision is to be better than both its neighbors. Of independent
# pairs 20 would leave the top of a parabola within a sixth of a doubling; those of a document are
# not (58 inaugural addresses: with more than 20 nats each, fifths chose 3.7 to 6.1).
_TOLD = 200.0
# Precisions whose scores are within so many standard errors, over fifths, of the best are alike.
_ALIKE = 2.0
# Different units from which on all fifths are held out: with fewer, what others say of one is next
# to nothing, and the precision that predicts it best is one at which the mode is zero.
_FEWEST = 20
# Pairs of words times components, and bytes of their tables, up to which all fifths are held out.
_MOST_WORK, _MOST_BYTES = 1e8, 2.0**28
# Observations below which this is expected.
_LITTLE = 3e6
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
    alike : tuple of float or None
        The smallest and the largest precision, of this one and those of the path, that predict as
        well as the best of the path, up to two standard errors of the difference over fifths; None
        where one fifth was enough.
    mode : dict of ndarray or None
        ``rho`` and ``alpha`` near the mode of what was not held out.
    """

    precision: float
    path: list
    alike: tuple[float, float] | None
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
        # tables of the same size, without two passes over all documents for each that is held out
        train = held = training.counts
        with trial.loop():
            passes = 2.0 * _expected(estimator, training)
            trial.add("preparation", passes * seconds_of_pass(training.by_document, trial.clock))
    if train is None or train.total == 0 or held.total == 0:
        warn_user(_NOTHING_HELD_OUT, UserWarning)
        return Chosen(1.0, [], None, None)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        path = _Path(estimator, training.vocabulary, run, _expected(estimator, training))
        path.add(train, held, rng)
        if trial is None:
            best = _climb(path)
            if path.is_flat(best) and _may_have_all(estimator, counts):
                for fold in range(1, _FOLDS):
                    again = np.random.default_rng(_SEED)
                    path.add(*split_counts(estimator, training, again, fold), again)
                best = _climb(path)
        else:
            best = _BEGIN
            path(best)
            trial.end_stage()
    between = best if path.is_zero(2.0 * best) else _between(best, path.scores)
    alike = path.alike(best)
    if alike is not None:
        alike = min(*alike, between), max(*alike, between)
    return Chosen(between, sorted(path.scores.items()), alike, path.mode(best))


def _expected(estimator, training):
    """Fifths that are held out, as far as sizes tell."""
    n_units = 0 if training.units is None else training.units.n_units
    little = training.counts.total < _LITTLE and n_units >= _FEWEST
    return _FOLDS if little and _may_have_all(estimator, training.counts) else 1


def _may_have_all(estimator, counts):
    """Whether time and memory allow for all fifths."""
    tables = table_bytes(counts, whole=False, clusters=False)
    work = counts.n_words**2 * estimator.n_components
    return work <= _MOST_WORK and _FOLDS * tables <= _MOST_BYTES


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
    """Mean scores of precisions over what is held out; each is worked out once."""

    def __init__(self, estimator, vocabulary, run, expected):
        self._estimator, self._vocabulary, self._run = copy.copy(estimator), vocabulary, run
        # searches of which the first is one, where that is all a trial makes
        self._folds, self._times = [], _TYPICAL * expected

    def add(self, train, held, rng):
        """Hold out something else, too; nothing where either part has no pairs."""
        if train is not None and train.total > 0 and held.total > 0:
            tables = pair_table(train), pair_table(held)
            n_components = self._estimator.n_components
            self._folds.append(_Fold(*tables, n_components, rng, self._run, self._times))

    def __call__(self, precision):
        if unknown := [fold for fold in self._folds if precision not in fold.scores]:
            self._estimator.prior_precision = precision
            prior = build_prior(self._estimator, self._vocabulary)
            for fold in unknown:
                fold.find(precision, prior)
        return self.scores[precision]

    @property
    def _total(self):
        return sum(fold.total for fold in self._folds)

    @property
    def scores(self):
        """Of the precisions at which nothing is missing, a dict."""
        known = set.intersection(*(set(fold.scores) for fold in self._folds))
        return {p: sum(fold.scores[p] for fold in self._folds) / self._total for p in known}

    def is_flat(self, best):
        """Whether the best precision is hardly better than one of its neighbors."""
        scores = self.scores
        beside = [scores[p] for p in (0.5 * best, 2.0 * best) if p in scores]
        return self._total * (scores[best] - max(beside, default=-np.inf)) < _TOLD

    def alike(self, best):
        """The smallest and the largest precision that predict about as well as the best."""
        n, alike = len(self._folds), [best]
        if n == 1:
            return None
        for p in self.scores:
            lost = np.array([fold.scores[best] - fold.scores[p] for fold in self._folds])
            if lost.sum() <= _ALIKE * np.sqrt(n) * lost.std(ddof=1):
                alike.append(p)
        return min(alike), max(alike)

    def is_zero(self, precision):
        """Whether all modes of a precision are zero, as those of all larger ones are."""
        return all(fold.is_zero(precision) for fold in self._folds)

    def mode(self, precision):
        """``rho`` and ``alpha`` of the mode of what was not held out first."""
        return self._folds[0].vectors(precision)


class _Fold:
    """Scores of what is held out; each search for a mode begins where the nearest one ended."""

    def __init__(self, train, held, n_components, rng, run, times):
        self.train, self.rng, self.run, self.times = train, rng, run, times
        self.scores, self.modes = {}, {}
        self.total = float(held.observations(0).sum())
        # next to no prior: its log density is that of the observations
        self.held = SGNSModel(held, n_components, 1e-300)
        self.gradient = np.empty(self.held.n_parameters)

    def find(self, precision, prior):
        """Find the mode of a precision, and the log probability of what is held out there."""
        self.modes[precision] = theta = self._search(precision, prior)
        self.scores[precision] = self.held.logp_and_grad(theta, self.gradient)

    def is_zero(self, precision):
        """As of `_Path`."""
        return precision in self.modes and numerical_rank(self.vectors(precision)["alpha"]) == 0

    def vectors(self, precision):
        """``rho`` and ``alpha`` of the mode."""
        return self.held.unpack(self.modes[precision])

    def _search(self, precision, prior):
        model = searched(SGNSModel(self.train, self.held.n_components, prior))
        near = min(self.modes, key=lambda p: abs(np.log(p / precision)), default=None)
        limits, trial = {"max_iter": _ITERATIONS, "tol": _TOL}, current()
        if near is None:
            start = model.pack(search_start(model, self.rng, self.run, **limits))
        else:
            start = self.modes[near]
        with contextlib.nullcontext() if trial is None else trial.repeated(self.times):
            return find_mode_only(model, start, run=self.run, **limits)


def split_counts(estimator, training, rng, fold=0):
    """`PairCounts` to fit to and to predict: of some units and the others, or of pairs at random.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
    rng : numpy.random.Generator
    fold : int, default=0
        Which fifth is held out: none is in two, for generators in the same state.

    Returns
    -------
    train, held : PairCounts or None
        None where either would have no pairs, and for a second fifth of fewer than 20 units.
    """
    units, pairs = training.units, training.by_document
    if units is None or units.n_units < 2:
        return _thinned(training.counts, rng) if fold == 0 else (None, None)
    if isinstance(pairs, DocumentPairs):
        held = _held_documents(training, rng, fold)
        if not held.any():
            return None, None
        both = [pairs.reweighted(chosen.astype(float)).total() for chosen in (~held, held)]
        if not all(positive.sum() for positive in both):
            return None, None
        return tuple(finish_counts(estimator, positive, training.words, rng) for positive in both)
    n_held = max(1, round(_SHARE * units.n_units))
    if fold > 0 and units.n_units < _FEWEST:
        return None, None
    order = rng.permutation(units.n_units)
    chosen = [order[:n_held], *np.array_split(order[n_held:], _FOLDS - 1)][fold]
    held = np.isin(units.index, chosen)
    parts = [[], []]
    for part, out in zip(pairs.parts, held, strict=True):
        parts[int(out)].append(part)
    if not all(parts):
        return None, None
    return tuple(pooled_counts(p) for p in parts)


def _held_documents(training, rng, fold=0):
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
    return _in_fold(of_unit, fold, by_rank=several.any())[units.index]


def _in_fold(marks, fold, by_rank):
    """Which marks are in the uppermost fifth, or one below; those of zero are in none."""
    known = np.unique(marks[marks > 0])
    if fold > 0 and known.size < _FEWEST:
        return np.zeros(marks.size, bool)
    # the topmost one at least, and not all of few
    cut = min(int((1.0 - _SHARE) * 2.0**64), int(known[-1]))
    if by_rank or known[0] >= cut:
        from_top = known.size - 1 - np.searchsorted(known, marks)
        first = max(1, round(_SHARE * known.size))
        others = 1 + (from_top - first) * (_FOLDS - 1) // max(known.size - first, 1)
        return (marks > 0) & (np.where(from_top < first, 0, others) == fold)
    if fold == 0:
        return marks >= cut
    low, high = (int((1.0 - _SHARE * f) * 2.0**64) for f in (fold + 1, fold))
    return (marks >= max(low, 1)) & (marks < min(high, cut))


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
