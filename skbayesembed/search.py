"""What the candidates of a search over parameters resolve ``"auto"`` to, told before it is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ParameterSampler,
    RandomizedSearchCV,
    check_cv,
)
from sklearn.utils import Bunch

from .common.checks import check_bool, check_not_iterator
from .common.warnings import warn_user
from .corpus.kinds import materialise, take_documents
from .posterior.tables import Column, Table


@dataclass(frozen=True, repr=False, eq=False)
class Candidates(Table):
    """Candidates of a search, and what ``"auto"`` stands for in each of them.

    Attributes
    ----------
    params : list of dict
        Parameters of each candidate.
    solver : ndarray of str of shape (n_candidates,)
        Solver of the fit to all of X, to which the best candidate is refitted.
    fold_solver : ndarray of str of shape (n_candidates,)
        Solver of the fit to the smallest training part of the folds.
    prior_precision : ndarray of object of shape (n_candidates,)
        Prior precision of the fit to all of X: as given, or ``"auto"`` if not searched for.
    reason : list of str
        Why that solver was chosen.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.search import check_search
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    >>> model = BayesianSGNS(min_count=1, prior_precision=1.0)
    >>> search = GridSearchCV(model, {"n_components": [2, 3]}, cv=2)
    >>> candidates = check_search(search, texts)
    >>> candidates.params, candidates.solver.tolist()
    ([{'n_components': 2}, {'n_components': 3}], ['gibbs', 'gibbs'])
    """

    params: list[dict[str, Any]]
    solver: np.ndarray
    fold_solver: np.ndarray
    prior_precision: np.ndarray
    reason: list[str]

    @property
    def differ(self) -> bool:
        """Whether solvers differ between candidates, or between folds and all of X."""
        return np.unique([self.solver, self.fold_solver]).size > 1

    def _columns(self):
        shown = [", ".join(f"{k}={v}" for k, v in one.items()) for one in self.params]
        precision = [str(value) for value in self.prior_precision]
        return [
            Column("candidate", shown, ("candidate",), left=True),
            Column("solver", self.solver, ("solver",), left=True),
            Column("in folds", self.fold_solver, ("fold_solver",), left=True),
            Column("precision", precision, ("prior_precision",)),
            Column("why", self.reason, ("reason",), left=True),
        ]


def check_search(
    search: GridSearchCV | RandomizedSearchCV,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    precision: bool = False,
) -> Candidates:
    """Find what ``"auto"`` stands for in every candidate of a search, and warn if that differs.

    A candidate that samples and one that finds the mode differ in more than the parameters that are
    searched over, and a fit does not know of the other candidates.

    Parameters
    ----------
    search : GridSearchCV or RandomizedSearchCV
        Over a `BayesianSGNS`, or a pipeline that has one. It is neither fitted nor changed.
    X : documents or counts
        Data that the search will be fitted to.
    y : array-like of shape (n_documents,), optional
        For the folds.
    groups : array-like of shape (n_documents,), optional
        For the folds.
    precision : bool, default=False
        Whether to search for ``prior_precision="auto"``, with up to three searches for a mode per
        candidate (of little text, as many for each of five fifths); the rank of the mode found then
        also decides on the solver. Otherwise the solver depends only on sizes and parameters, at
        the cost of counting.

    Returns
    -------
    Candidates
        A table, one row per candidate.

    Raises
    ------
    TypeError
        If ``search`` is neither of the two, or has no estimator with a method ``resolve``.
    ValueError
        If a random search has no integer ``random_state``, which determines its candidates, or if
        its folds come from an iterator, of which nothing would be left for the search.

    Warns
    -----
    UserWarning
        If solvers differ between candidates, or between the smallest fold and all of X.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.search import check_search
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 10
    >>> model = BayesianSGNS(min_count=1, prior_precision=1.0)
    >>> search = GridSearchCV(model, {"n_components": [2, 3]}, cv=2)
    >>> check_search(search, texts).solver.tolist()
    ['gibbs', 'gibbs']
    """
    check_bool("precision", precision)
    candidates = list(_candidates(search))
    check_not_iterator("search.cv", search.cv)
    X = materialise(X)
    smallest = _smallest_part(search, X, y, groups)
    found, folded = [], []
    for params in candidates:
        estimator = clone(search.estimator).set_params(**params)
        found.append(_resolved(estimator, X, precision))
        folded.append(_resolved(estimator, smallest, precision))
    table = Candidates(
        candidates,
        np.array([one.solver for one in found]),
        np.array([one.solver for one in folded]),
        np.array([one.prior_precision for one in found], dtype=object),
        [one.solver_reason for one in found],
    )
    if table.differ:
        names = ", ".join(map(repr, np.unique([table.solver, table.fold_solver]).tolist()))
        warn_user(
            f"candidates of the search resolve solver='auto' differently ({names}): scores then "
            "compare solvers, too. Set solver=, or look at the table that check_search returns.",
            UserWarning,
        )
    return table


def _candidates(search) -> Iterator[dict[str, Any]]:
    if isinstance(search, GridSearchCV):
        return iter(ParameterGrid(search.param_grid))
    if not isinstance(search, RandomizedSearchCV):
        raise TypeError(
            "search must be a GridSearchCV or a RandomizedSearchCV, whose candidates are known "
            f"before it is run, got {type(search).__name__}."
        )
    seed = search.random_state
    if not isinstance(seed, int | np.integer):
        raise ValueError(
            "search must have an integer random_state, so that its candidates are known before it "
            f"is run, got {seed!r}."
        )
    return iter(ParameterSampler(search.param_distributions, search.n_iter, random_state=seed))


def _smallest_part(search, X, y, groups):
    """The smallest training part of the folds."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    folds = check_cv(search.cv, y, classifier=False).split(np.zeros(n), y, groups)
    rows = min((train for train, _ in folds), key=len)
    return take_documents(X, rows)


def _resolved(estimator, X, precision) -> Bunch:
    """What the estimator, or that of the pipeline, resolves ``"auto"`` to."""
    for place, (_, step) in enumerate(getattr(estimator, "steps", [("", estimator)])):
        if hasattr(step, "resolve"):
            before = estimator[:place] if place else None
            return step.resolve(
                X if before is None else before.fit_transform(X), precision=precision
            )
    raise TypeError(
        "search must have an estimator, or a pipeline with one, that has solver='auto': "
        f"{type(estimator).__name__} has none. Only BayesianSGNS has."
    )
