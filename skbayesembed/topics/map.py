"""``solver="map"``: the mode that the start leads to, as a posterior of one draw."""

from __future__ import annotations

from ..inference.contracts import Result
from ..inference.mode import find_mode
from ..inference.threads import OneBlasThread
from .model import MarginalTopics
from .recording import of_approximation


def solve(estimator, problem, settings, seed):
    """`Result` of the mode."""
    with OneBlasThread():
        model, theta, facts = mode(estimator, problem)
        values = model.expected(theta)
    draws = {name: value[None, None] for name, value in values.items()}
    return of_approximation(problem, Result(draws, facts=facts))


def mode(estimator, problem):
    """The model, its mode and the facts of the search for that."""
    model = MarginalTopics(*problem.model, power=problem.power, start=problem.start)
    theta, facts = find_mode(
        model,
        model.start(),
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        verbose=estimator.verbose,
        keep=estimator.solver == "map",
    )
    return model, theta, facts
