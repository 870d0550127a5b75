"""What a fit keeps of its training data, so that influences are worked out when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...corpus.units import Units
from ...sgns.counting import expected_negatives
from ...sgns.documents.blocks import DocumentPairs
from ...sgns.documents.scores import ExpectedScores, GivenScores
from ...sgns.pairs import PairCounts, pooled_counts, times
from ..priors import DriftPrior
from .footprint import places_of
from .scores import PeriodScores


@dataclass(frozen=True, eq=False)
class TextSource:
    """Documents of every period, their units, and how pairs are made of them.

    Attributes
    ----------
    sources : list of CorpusBatches or MatrixBatches
        Documents of each period.
    index : ndarray of int of shape (n_documents,)
        Period of each document.
    units : Units
    prior : DriftPrior
        With a diffusion that is known.
    seed : numpy.random.SeedSequence
    negative, ns_exponent : float
    """

    sources: list
    index: np.ndarray
    units: Units
    prior: DriftPrior
    seed: Any
    negative: float
    ns_exponent: float
    given = False

    @property
    def places(self):
        """Words of units that influences are worked out for, of each period."""
        return places_of(self.sources, self.index, self.units, self.given)

    def __call__(self):
        """Counts of each period, None where it has none, and a function that makes scores."""
        pairs = self._pairs()
        counts = self._counts(pairs)

        def scores(vectors, run):
            found = []
            for t, one in enumerate(pairs):
                if counts[t] is None:
                    continue
                units = units_among(self.units, self.index == t)
                options = {"run": run, **self._negatives}
                found.append((t, ExpectedScores(one, units, vectors[t], **options), None))
            return PeriodScores(found, vectors.shape, self.units.n_units)

        return counts, scores

    def reweighted(self, weights):
        """Counts of each period with units' pairs times ``weights`` (n_units,)."""
        weights = weights[self.units.index]
        pairs = self._pairs()
        return self._counts(
            [one.reweighted(weights[self.index == t]) for t, one in enumerate(pairs)]
        )

    @property
    def _negatives(self):
        return {"negative": self.negative, "ns_exponent": self.ns_exponent}

    def _pairs(self):
        """`DocumentPairs` of each period."""
        return [
            period_pairs(source, self.units, self.index == t, self.seed)
            for t, source in enumerate(self.sources)
        ]

    def _counts(self, pairs):
        positives = [one.total() for one in pairs]
        return [
            PairCounts(one, expected_negatives(one, **self._negatives)) if one.sum() > 0 else None
            for one in positives
        ]


def units_among(units, chosen):
    """`Units` of some of the documents, of which there are as many as of all of them."""
    weights = None if units.weights is None else units.weights[chosen]
    return Units(units.index[chosen], units.labels, weights)


def period_pairs(source, units, chosen, seed):
    """`DocumentPairs` of the documents of a period, which are those ``chosen``."""
    return DocumentPairs(source, units_among(units, chosen).weights, seed)


@dataclass(frozen=True, eq=False)
class PairSource:
    """`PairCounts` of units in periods, whose negative pairs are their own.

    Attributes
    ----------
    sources : list of list of PairCounts
        Of each period, weighted already.
    index : ndarray of int of shape (n_counts,)
        Period of each of them.
    units : Units
    prior : DriftPrior
        With a diffusion that is known.
    """

    sources: list
    index: np.ndarray
    units: Units
    prior: DriftPrior
    given = True

    @property
    def places(self):
        """As of `TextSource`."""
        return places_of(self.sources, self.index, self.units, self.given)

    def __call__(self):
        """As of `TextSource`."""
        parts = []
        for t, given in enumerate(self.sources):
            unit = units_among(self.units, self.index == t)
            used = [i for i, one in enumerate(given) if one.total > 0]
            present = np.unique(unit.index[used])
            parts.append(
                (present, [_together(given, used, unit.index == u) for u in present.tolist()])
            )

        def scores(vectors, run):
            found = [
                (t, GivenScores(pooled, vectors[t]), present)
                for t, (present, pooled) in enumerate(parts)
                if pooled
            ]
            return PeriodScores(found, vectors.shape, self.units.n_units)

        return self.reweighted(np.ones(self.units.n_units)), scores

    def reweighted(self, weights):
        """As of `TextSource`."""
        counts = []
        for t, given in enumerate(self.sources):
            mine = weights[self.units.index[self.index == t]].tolist()
            used = [
                times(one, weight)
                for one, weight in zip(given, mine, strict=True)
                if weight * one.total > 0
            ]
            counts.append(pooled_counts(used) if used else None)
        return counts


def _together(given, used, chosen):
    return pooled_counts([given[i] for i in used if chosen[i]])


def source_of(estimator, training, posterior, seed):
    """The `TextSource` or `PairSource` of a fit whose intervals can know of units."""
    e = estimator
    if "diffusion" in posterior:
        known = np.mean(posterior.mean("diffusion"))
    else:
        known = posterior.attrs.get("diffusion", e.diffusion)
    prior = DriftPrior(training.periods.gaps, e.prior_precision, float(known))
    data = training.sources, training.index, training.units, prior
    if training.given:
        return PairSource(*data)
    return TextSource(*data, seed, float(e.negative), float(e.ns_exponent))
