"""Words that have changed between two periods: distances of their vectors, and a table of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..metrics.words import unit_vectors
from ..posterior.summary import summarise
from ..posterior.tables import Column, Table
from ..sgns.reading import deviations_of, units_columns, units_notes
from .documents import answers
from .predict import diffusion_draws, squares_as_read, sweep_chunk, sweep_draws


def cosines(a, b):
    """Cosines of vectors along the last axis; zero where one has no length."""
    return np.einsum("...k,...k->...", unit_vectors(a), unit_vectors(b))


def distances_of(kind, a, b):
    """Distances of vectors along the last axis."""
    if kind == "cosine":
        return 1.0 - cosines(a, b)
    return np.linalg.norm(a - b, axis=-1)


def prior_distance(estimator, at):
    """Root mean square of the distance of a word's vectors in two periods under the prior."""
    variance = estimator._prior.variance
    gap = abs(np.diff(estimator.periods_.centres[list(at)])[0])
    moved = -np.expm1(-estimator._prior.rate(diffusion_draws(estimator)) * gap)
    return float(np.sqrt(2.0 * squares_as_read(estimator).sum() * variance * np.mean(moved)))


def places_of(estimator, periods, word):
    """Places of a word, or of words, in periods (see `documents.deviations`), ndarray of int."""
    return np.asarray(periods) * estimator.words_.size + np.asarray(word)


@dataclass(frozen=True, repr=False, eq=False)
class Changes(Table):
    """Words ranked by how surely they have changed between two periods.

    Attributes
    ----------
    words : ndarray of str of shape (n,)
        By the probability of a distance above the threshold, largest first; those that share it by
        the lower end of the interval.
    mean, sd : ndarray of shape (n,)
        Of the distance between a word's targets in the two periods.
    interval : ndarray of shape (n, 2)
        Of the distance.
    prob_exceeds : ndarray of shape (n,)
        Probability that the distance is above ``threshold``.
    count_start, count_end : ndarray of shape (n,)
        Positive pairs that the word was the target of in the two periods.
    periods : tuple
        Labels of the two periods.
    distance : {"euclidean", "cosine"}
    threshold : float
    prob : float
        Probability of the intervals.
    n_draws : int
        Draws behind the figures; 1 for a point estimate.
    n_units : ndarray of shape (n,) or None
        Effective units of sampling that the vector rests on in the period that has fewer; None
        where intervals are the model's.
    """

    words: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    interval: np.ndarray
    prob_exceeds: np.ndarray
    count_start: np.ndarray
    count_end: np.ndarray
    periods: tuple
    distance: str
    threshold: float
    prob: float
    n_draws: int
    n_units: np.ndarray | None = None

    def _notes(self):
        return super()._notes() + units_notes(self)

    # what is printed; a data frame has counts and standard deviations besides
    def _columns(self):
        pairs = [f"{a:.4g}, {b:.4g}" for a, b in zip(self.count_start, self.count_end, strict=True)]
        above = f"P(> {self.threshold:.3g})"
        columns = [
            Column("word", self.words, (), left=True),
            Column("distance", self.mean, ()),
            Column(f"{100 * self.prob:g} % interval", self.interval, (), "6.3f"),
            Column(f"{above:>9}", self.prob_exceeds, (), ".2f"),
            Column("pairs", pairs, (), left=True),
        ]
        return columns + units_columns(self, ())

    def _series(self):
        units = {} if self.n_units is None else {"n_units": self.n_units}
        return {
            "word": self.words,
            "mean": self.mean,
            "sd": self.sd,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "prob_exceeds": self.prob_exceeds,
            "count_start": self.count_start,
            "count_end": self.count_end,
            **units,
        }

    def _title(self):
        start, end = self.periods
        return f"most changed from {start} to {end}, by {self.distance} distance"


def most_changed(estimator, n, at, distance, threshold, prob):
    """`Changes` of the words that have most surely changed between the periods ``at``.

    Block by block of words: memory does not grow with the vocabulary. For cosines without a
    threshold, which takes all words to find, distances are worked out twice.
    """
    n_words = estimator.words_.size
    step = sweep_chunk(estimator, 2)
    blocks = [np.arange(a, min(a + step, n_words)) for a in range(0, n_words, step)]

    deviations = deviations_of(estimator)

    def distances(index):
        draws = sweep_draws(estimator, "rho", at, index).astype(np.float64, copy=False)
        return distances_of(distance, draws[:, 0], draws[:, 1])

    def summary(index):
        found = distances(index)
        if deviations is None:
            return summarise(found, prob)
        places = (places_of(estimator, t, index) for t in at)
        return answers.distances(deviations, distance, *places, found.mean(axis=0), prob)

    if threshold is None and distance == "euclidean":
        threshold = prior_distance(estimator, at)
    elif threshold is None:
        means = [distances(index).mean(axis=0, dtype=np.float64) for index in blocks]
        threshold = float(np.median(np.concatenate(means)))
    parts = []
    for index in blocks:
        found = summary(index)
        draws = found.pop("draws")
        found.update(above=np.mean(draws > threshold, axis=0), n_draws=len(draws))
        parts.append(found)
    names = ["mean", "sd", "interval", "above"] + ["n_units"] * (deviations is not None)
    columns = {name: np.concatenate([p[name] for p in parts]) for name in names}
    order = np.lexsort((-columns["interval"][:, 0], -columns["above"]))[:n]
    labels = estimator.periods_.labels
    mean, sd, interval, above, *n_units = (columns[name][order] for name in columns)
    return Changes(
        estimator.words_[order], mean, sd, interval, above,
        *(estimator.observed_[t, order] for t in at),
        tuple(labels[t] for t in at), distance, threshold, prob, parts[0].n_draws, *n_units,
    )  # fmt: skip
