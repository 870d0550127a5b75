"""Topics over draws of the word vectors, where their uncertainty counts."""

from __future__ import annotations

from dataclasses import replace

from ..inference.pooling import run_each
from .dirichlet.problem import DirichletProblem
from .recording import largest_first, reorder_like


def over_vectors(solve):
    """A solver that is given each draw of the word vectors, where there are any.

    Topics keep the priors and the start that they have by the means of the vectors; those of a run
    are matched with those of the first.
    """

    def solved(estimator, problem, settings, seed):
        if problem.vector_draws is None:
            return solve(estimator, problem, settings, seed)
        first = []

        def solve_one(run, settings, seed):
            given = with_vectors(problem, problem.vector_draws[run])
            result = solve(estimator, given, settings, seed)
            if first:
                reorder_like(result, first[0], problem.n_background)
            else:
                first.append(result.draws["counts"].mean(axis=(0, 1)))
            return result

        return largest_first(
            run_each(solve_one, len(problem.vector_draws), settings, seed), problem.n_background
        )

    return solved


def with_vectors(problem, vectors):
    """The problem with other vectors of the words."""
    documents = replace(problem.documents, vectors=vectors)
    if isinstance(problem, DirichletProblem):
        measures = problem.measures.with_vectors(vectors)
        return replace(problem, documents=documents, measures=measures, vector_draws=None)
    return replace(problem, documents=documents, vector_draws=None)
