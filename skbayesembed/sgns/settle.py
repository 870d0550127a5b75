"""What ``"auto"`` stands for: the solver and the prior's precision of a fit."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from .. import spine
from ..common.checks import check_bool
from . import inputs
from .data import is_dense
from .documents.possible import why_not
from .model import numerical_rank
from .precision import Chosen, choose_precision
from .priors import AUTO, LEARNED
from .solvers import ROOM

# Chains are run where all of their sweeps together, each of about n_pairs K^2 operations, are no
# more than this: a minute on two processors.
_CHAIN_WORK = 1e12


@dataclass(frozen=True)
class Settled:
    """An estimator in which nothing is ``"auto"`` any more.

    Attributes
    ----------
    estimator : BayesianSGNS
        A shallow copy.
    facts : dict
        ``solver_reason`` and ``precision_path`` where they were chosen.
    """

    estimator: Any
    facts: dict[str, Any]


class ResolvingMixin:
    """What ``"auto"`` stands for, without a fit."""

    def resolve(
        self,
        X: Any,
        y: None = None,
        *,
        units: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        precision: bool = False,
    ) -> Bunch:
        """Find what ``"auto"`` stands for in a fit to these data, without fitting.

        Parameters
        ----------
        X, y, units, sample_weight
            As in ``fit``, with the same errors.
        precision : bool, default=False
            Whether to search for ``prior_precision="auto"``, with up to three searches for a mode
            (of little text, with as many for each of five fifths); the rank of the mode found then
            also decides on the solver.

        Returns
        -------
        Bunch
            ``solver``, ``solver_reason`` (``"given"`` if it was) and ``prior_precision``, which
            stays ``"auto"`` if it was not searched for.

        See Also
        --------
        skbayesembed.search.check_search : The same for all candidates of a search.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 10
        >>> BayesianSGNS(2, min_count=1, random_state=0).resolve(texts).solver
        'gibbs'
        """
        check_bool("precision", precision)
        # a copy, since reading notes the columns of a count matrix
        e = copy.copy(self)
        spine.check(e, ROOM)
        seeds = spine.seeds_of(e, ROOM)
        training = inputs.training_data(e, X, seeds["counts"], units, sample_weight)
        return resolved(e, training, precision)


def settle(estimator, training):
    """The `Settled` estimator of a fit.

    Parameters
    ----------
    estimator : BayesianSGNS
        With parameters that are checked.
    training : inputs.Training

    Raises
    ------
    MemoryError
        If tables or draws would not fit, before any search.
    """
    e, facts = copy.copy(estimator), {}
    automatic = e.solver == AUTO
    if automatic:
        e.solver, facts["solver_reason"] = choose_solver(e, training)
    # what does not fit in memory is said before the search for a precision
    spine.plan(e, ROOM, training)
    if e.prior_precision == AUTO and e.prior != "ard":
        chosen = Chosen(1.0, [], None, None)
        if training.counts is not None:
            chosen = choose_precision(e, training)
            facts["precision_path"] = ", ".join(f"{p:g}: {s:.5f}" for p, s in chosen.path)
            if chosen.alike is not None:
                facts["precision_range"] = "{:g} to {:g}".format(*chosen.alike)
        e.prior_precision = chosen.precision
        _tell(e, f"prior_precision='auto': {chosen.precision:g}")
        if automatic and chosen.mode is not None:
            rank = numerical_rank(chosen.mode["alpha"])
            e.solver, facts["solver_reason"] = choose_solver(e, training, rank)
    if automatic:
        _tell(e, f"solver='auto': {e.solver!r}, since {facts['solver_reason']}")
    return Settled(e, facts)


def resolved(estimator, training, precision):
    """What ``"auto"`` stands for, by sizes alone or after the search for a ``precision``: Bunch."""
    e = estimator
    reason = "given"
    if precision:
        settled = settle(e, training)
        e, reason = settled.estimator, settled.facts.get("solver_reason", reason)
        solver = e.solver
    elif isinstance(e.solver, str) and e.solver == AUTO:
        solver, reason = choose_solver(e, training)
    else:
        solver = e.solver
    return Bunch(solver=solver, solver_reason=reason, prior_precision=e.prior_precision)


def _tell(estimator, message):
    if estimator.verbose:
        print(message, flush=True)


def choose_solver(estimator, training, rank=None):
    """The solver that ``"auto"`` stands for, and why: by sizes and parameters, never by the clock.

    Parameters
    ----------
    estimator : BayesianSGNS
    training : inputs.Training
    rank : int or None
        Components of the mode that are not zero, where known.

    Returns
    -------
    solver, reason : str
    """
    e = estimator
    if e.learning_method == "online":
        return "vi", "learning_method='online'"
    if e.biases:
        return "vi", "biases=True"
    sweeps = e.chains * (e.warmup + e.thin * e.draws)
    work = float(sweeps) * _pairs(training.counts) * e.n_components**2
    if work <= _CHAIN_WORK:
        return "gibbs", f"{sweeps} sweeps of its chains are cheap at this size"
    dear = f"{sweeps} sweeps of chains are dear at {training.counts.n_words} words"
    if e.prior_precision == LEARNED or e.prior == "ard":
        return "vi", f"{dear}, and a precision that is learned has no mode"
    without = "uncertainty='model'" if e.uncertainty == "model" else why_not(e, training)
    if without is None and rank is not None and rank < min(2, e.n_components):
        without = f"the mode has rank {rank}"
    if without is None:
        return "map", f"{dear}, and intervals by units need the mode alone"
    return "vi", f"{dear}, and there are no intervals by units ({without})"


def _pairs(counts):
    """Pairs of words that a sweep goes over."""
    if is_dense(counts):
        return counts.n_words**2
    return counts.positive.nnz + counts.negative.nnz
