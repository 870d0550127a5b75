"""What a fit keeps of its training data, so that influences are worked out when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ...common.interruption import of_a_part
from ...common.warnings import warn_user
from ...corpus.copies import of_counts, of_tokens, warn_of_copies
from ...posterior.sources import FEW_UNITS, name_of_units, one_unit_called, units_in_words
from ..batches import CorpusBatches, MatrixBatches
from ..checks import one_by_one
from ..counting import expected_negatives
from ..data import pair_table
from ..model import SGNSModel
from ..pairs import PairCounts, pooled_counts, times
from ..priors import InformativePrior, Prior, build_prior
from .by_answer import SamplingByAnswer
from .footprint import goes_by_answer, keeps_tables, n_places
from .influences import Influences
from .sampling import Sampling
from .scores import ExpectedScores, GivenScores


@dataclass(frozen=True, eq=False)
class TextSource:
    """Documents, their units, and how pairs are made of them.

    Attributes
    ----------
    pairs : DocumentPairs
    units : Units
    prior : Prior
        With a precision that is known.
    negative, ns_exponent : float
    n_pairs : int
        Different pairs of words.
    """

    pairs: Any
    units: Any
    prior: Prior
    negative: float
    ns_exponent: float
    n_pairs: int = 0

    @property
    def n_entries(self):
        """Words of units that influences are worked out for."""
        return n_places(self.pairs.source, self.units.index)

    @property
    def has_tables(self):
        """Whether counts of all pairs are kept."""
        return keeps_tables(self.prior.n_words, given=False)

    def __call__(self):
        """The posterior without anchors, and a function that makes scores at its mode."""

        def scores(vectors, run):
            return ExpectedScores(self.pairs, self.units, vectors, run=run, **self._negatives)

        return self._model(self.pairs), scores

    def reweighted(self, weights):
        """The posterior with units' pairs times ``weights`` (n_units,)."""
        return self._model(self.pairs.reweighted(weights[self.units.index]))

    def influences(self):
        """The `Influences` of units along directions that are given."""
        given = self.pairs, self.units, self.prior.n_words
        return Influences(*given, **self._negatives)

    @property
    def _negatives(self):
        return {"negative": self.negative, "ns_exponent": self.ns_exponent}

    def _model(self, pairs):
        positive = pairs.total()
        counts = PairCounts(positive, expected_negatives(positive, **self._negatives))
        return SGNSModel(pair_table(counts), self.prior.n_components, self.prior)


@dataclass(frozen=True, eq=False)
class PairSource:
    """`PairCounts` of units, whose negative pairs are their own.

    Attributes
    ----------
    groups : list of list of PairCounts
        Those of each unit, weighted already.
    prior : Prior
    """

    groups: list
    prior: Prior
    # sums of products are no product
    has_tables = True

    @property
    def n_entries(self):
        """As of `TextSource`."""
        return len(self.groups) * self.prior.n_words

    def __call__(self):
        """As of `TextSource`."""

        def scores(vectors, run):
            return GivenScores(map(pooled_counts, self.groups), vectors)

        return self.reweighted(np.ones(len(self.groups))), scores

    def reweighted(self, weights):
        """As of `TextSource`."""
        parts = [
            times(one, float(weight))
            for group, weight in zip(self.groups, weights, strict=True)
            for one in group
            if weight > 0
        ]
        return SGNSModel(pair_table(pooled_counts(parts)), self.prior.n_components, self.prior)


def balances(estimator):
    """Whether vectors are read balanced: as asked, but never with an informative prior."""
    return estimator.balance and not isinstance(estimator.prior, InformativePrior)


# Words named in a warning.
_NAMED = 5
# Variances by units beyond so many times the model's are warned of.
_DISPERSED = 2.0


def tell_of_copies(estimator, sources, units, order=slice(None)):
    """Warn of documents that are copies of others, where intervals are by units.

    Parameters
    ----------
    estimator : BayesianSGNS or DynamicSGNS
    sources : list
        Of pairs.
    units : Units
    order : ndarray of int of shape (n_documents,), optional
        In which ``sources`` have the documents of ``units``.
    """
    if estimator.uncertainty != "documents":
        return
    documents = []
    for source in sources:
        if isinstance(source, CorpusBatches):
            documents.append(of_tokens(source.ids, source.offsets))
        elif isinstance(source, MatrixBatches):
            documents.append(of_counts(source.matrix))
        else:
            return
    weights = None if units.weights is None else units.weights[order]
    warn_of_copies(chain.from_iterable(documents), units.index[order], weights)


def warn_of_few_units(estimator, n):
    """Warn where there are too few units in all for intervals by units."""
    if estimator.uncertainty == "documents" and n < FEW_UNITS:
        warn_user(
            f"There are {units_in_words(n, name_of_units(estimator))} in all: intervals that "
            f"allow for the sampling of units are rough with fewer than {FEW_UNITS}. Take text of "
            "more units, or uncertainty='model' for these texts alone.",
            UserWarning,
        )


def warn_of_dispersion(estimator):
    """Warn where the model's intervals are far too narrow for how the text was sampled."""
    sampling = estimator._sampling
    if sampling.by_answer or one_by_one(estimator):
        # there it is not known
        return
    sampling.of_model = True
    try:
        if sampling.problem is not None:
            return
        _ = sampling.dispersion
    except MemoryError:
        # a fit that goes without intervals by units does not fail for want of room for them
        return
    except KeyboardInterrupt:
        if of_a_part():
            raise
        warn_user(
            "Interrupted after the fit, which is whole: whether its intervals are too narrow for "
            "how the text was sampled was not looked at (dispersion_ says it).",
            RuntimeWarning,
        )
        return
    finally:
        # what was worked out on the way is made anew if intervals by units are asked for after all
        sampling.__dict__.pop("_at_mode", None)
    above = np.flatnonzero(np.nan_to_num(sampling.dispersion) > _DISPERSED)
    if above.size == 0:
        return
    order = above[np.argsort(-sampling.dispersion[above])]
    names = ", ".join(
        f"{estimator.words_[w]} ({sampling.dispersion[w]:.1f})" for w in order[:_NAMED]
    )
    of = one_unit_called(name_of_units(estimator))
    warn_user(
        f"The intervals of uncertainty='model' are too narrow for {above.size} of "
        f"{estimator.words_.size} words, which vary more than {_DISPERSED:g} times as much from "
        f"{of} to {of} as the model takes them to: {names}. Use uncertainty='documents'.",
        UserWarning,
    )


def check_countable(estimator, training):
    """Raise a ValueError where answers are to be worked out one by one, and cannot be."""
    given = hasattr(training.by_document, "parts") and estimator.uncertainty == "documents"
    if given and one_by_one(estimator):
        raise ValueError(
            "by_answer must be False or 'auto' for a list of PairCounts, got True: influences of "
            "units are then those of all words. Pass texts, or a PairShard with units."
        )


def sampling_of(estimator, training, posterior, seed):
    """The `Sampling` of a fit that has one.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
    posterior : Posterior
    seed : numpy.random.SeedSequence
    """
    e = estimator
    prior = build_prior(e, training.vocabulary)
    if prior.learned is not None:
        known = float(np.mean(posterior.mean("prior_precision")))
        prior = Prior(prior.n_words, prior.n_components, known, couplings=prior.couplings)
    pairs, units = training.by_document, training.units
    if hasattr(pairs, "parts"):
        groups = [np.flatnonzero(units.index == u) for u in range(units.n_units)]
        if units.weights is not None:
            groups = [g[units.weights[g] > 0] for g in groups]
        build = PairSource([[pairs.parts[i] for i in group] for group in groups], prior)
        kind, twin = Sampling, None
    else:
        n_pairs = int(training.counts.positive.nnz)
        build = TextSource(pairs, units, prior, float(e.negative), float(e.ns_exponent), n_pairs)
        n_words, k = prior.n_words, prior.n_components
        by_answer = goes_by_answer(n_words, k, units.n_units, lambda: build.n_entries)
        kind = SamplingByAnswer if by_answer else Sampling
        twin = Sampling if by_answer else SamplingByAnswer
    arrays = {name: posterior.mean(name) for name in ("rho", "alpha")}
    options = {"seed": seed, "n_jobs": e.n_jobs, "verbose": e.verbose, "balance": balances(e)}
    found = kind(build, arrays, units.n_units, **options)
    if twin is not None:
        found.twin = twin(build, arrays, units.n_units, **options)
        found.twin.chosen = True
    return found
