"""The vectors that answers are made of: draws of them, and their deviations by units."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_choice
from ..common.warnings import warn_user
from ..corpus.units import sampling_in_use
from .checks import UNCERTAINTIES, check_by_answer, one_by_one
from .predict import with_biases
from .priors import AUTO
from .questions.asking import Vectors

_SIDES = ("rho", "alpha")


def vectors_of(estimator, operands, invariant):
    """`Vectors` of a `BayesianSGNS`: balanced, of the whole draws that were recorded.

    Or as the solver drew them, where nothing is balanced or it makes no difference, and then every
    draw where all the words were kept by name.
    """
    posterior = estimator.posterior_
    balanced = estimator._balanced is not None and not invariant
    biased = "rho_bias" in posterior
    if balanced or biased or not all_kept(estimator, operands):

        def read(side, places, invariant):
            name = _SIDES[side]
            if estimator._balanced is not None and not invariant:
                return estimator._balanced.of(name, places)
            found = posterior.flat(name)[:, places]
            if biased and invariant:
                found = _with_bias(found, posterior.flat(f"{name}_bias")[:, places], side)
            return found

        n_draws = len(posterior.flat("rho"))
    else:

        def read(side, places, invariant):
            return kept_draws(estimator, _SIDES[side], places)

        n_draws = int(np.prod(posterior.stats["rho_rows"].shape[:2]))
    k = estimator.rho_.shape[1]
    return Vectors(read, n_draws, lambda invariant: k + 2 * (biased and invariant))


def _with_bias(vectors, bias, side):
    """Vectors of one side with the two columns that make logits of the bias."""
    none = np.zeros_like(bias)
    both = (vectors, vectors, bias, none) if side == 0 else (vectors, vectors, none, bias)
    return with_biases(*both)[side]


def all_kept(estimator, operands):
    """Whether every draw of all the words that operands take was kept by name."""
    if "rho_rows" not in estimator.posterior_.stats:
        return False
    kept = {estimator.vocabulary_[w] for w in estimator.posterior_.coords["kept_word"].tolist()}
    places = np.unique(operands.weights.indices) % estimator.words_.size
    return kept.issuperset(places.tolist())


def deviations_of(estimator):
    """`Deviations` with the units of sampling where intervals are to know of them, else None.

    Raises
    ------
    ValueError
        Where ``uncertainty``, which may have been set after the fit, is not allowed.

    Warns
    -----
    UserWarning
        Where the mode does not allow for them.
    """
    check_choice("uncertainty", estimator.uncertainty, UNCERTAINTIES)
    check_by_answer(getattr(estimator, "by_answer", AUTO))
    sampling = sampling_in_use(estimator)
    if estimator.uncertainty != "documents" or sampling is None:
        return None
    _check_countable(estimator, sampling)
    estimator._sampling.leave_to(sampling)
    # as they are set now, which may be after the fit
    sampling.verbose, sampling.n_jobs = estimator.verbose, estimator.n_jobs
    sampling.of_model = False
    try:
        if sampling.problem is None:
            found = sampling.deviations
            estimator._sampling.leave_to(sampling)
            _note_units(estimator.posterior_.attrs)
            return found
    except (np.linalg.LinAlgError, RuntimeError) as error:
        sampling.problem = str(error)
    facts = estimator.posterior_.attrs
    facts |= {"uncertainty": "model", "without_units": sampling.problem}
    warn_user(f"Intervals are the model's: {sampling.problem}", UserWarning)
    return None


def _note_units(facts):
    """Intervals know of units, also where they did not when they were worked out otherwise."""
    if facts.pop("without_units", None) is not None:
        facts["uncertainty"] = "documents"


def _check_countable(estimator, sampling):
    """Raise a ValueError where answers are asked for one by one, and cannot be worked out so."""
    known = sampling.by_answer or "deviations" in vars(sampling)
    if known or not one_by_one(estimator):
        return
    raise ValueError(
        f"by_answer={estimator.by_answer} needs units whose text fit has counted, or a PairShard "
        "with units, got counts of pairs, or a model of an earlier version: leave "
        "by_answer='auto'."
    )


def kept_draws(estimator, name, index):
    """Every draw of words that were kept by name, (n_draws, ..., len(index), n_components).

    None where there is one of them that was not.
    """
    posterior = estimator.posterior_
    kept = posterior.coords.get("kept_word")
    if f"{name}_rows" in posterior.stats and kept is not None:
        place = {int(estimator.vocabulary_[w]): i for i, w in enumerate(np.asarray(kept).tolist())}
        if all(i in place for i in index):
            rows = posterior.stats[f"{name}_rows"][..., [place[i] for i in index], :]
            return rows.reshape(-1, *rows.shape[2:])
    return None


def target_draws(estimator):
    """Draws of all target vectors as they are read, one after the other."""
    balanced = estimator._balanced
    return estimator.posterior_.flat("rho") if balanced is None else balanced


class UnitsMixin:
    """What estimators tell of the units of sampling that their words were seen in.

    ``fit`` leaves ``_sampling``, None where intervals cannot know of units, and ``_no_units``, why
    they cannot.
    """

    # what attributes about units need, for messages
    _units_need: str
    # of the estimator
    uncertainty: str
    _sampling: Any
    _no_units: Any
    _deviations: Any

    @property
    def n_units_(self) -> np.ndarray:
        """Effective number of units of sampling in which each word was a target, (n_words,)."""
        return self._seen_sampling("n_units_").n_units

    @property
    def dispersion_(self) -> np.ndarray:
        """Variance of a word's target by the units, divided by that of the model, (n_words,)."""
        return self._seen_sampling("dispersion_").dispersion

    @property
    def response_(self) -> float:
        """Median ratio of standard errors by units to those of first order, by refits of halves."""
        sampling = self._seen_sampling("response_")
        if self._deviations() is None:
            reason = sampling.problem or "set uncertainty='documents'"
            raise AttributeError(f"response_ needs intervals by units: {reason}")
        return float(sampling.response)

    def _seen_sampling(self, name):
        check_is_fitted(self, "posterior_")
        check_choice("uncertainty", self.uncertainty, UNCERTAINTIES)
        if self._sampling is None:
            raise AttributeError(
                f"{name} needs documents, or {self._units_need}, and was fitted with "
                f"{self._no_units}."
            )
        check_by_answer(getattr(self, "by_answer", AUTO))
        sampling = sampling_in_use(self)
        self._sampling.leave_to(sampling)
        sampling.of_model = self.uncertainty == "model"
        return sampling

    def _note_uncertainty(self, posterior):
        """Say in the posterior what intervals know of."""
        by_units = self.uncertainty == "documents" and self._no_units is None
        posterior.attrs["uncertainty"] = "documents" if by_units else "model"
        if self._no_units is not None:
            posterior.attrs["without_units"] = self._no_units
