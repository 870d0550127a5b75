"""The room of topics: what is posed to every solver, and the table of the solvers."""

from __future__ import annotations

from dataclasses import replace

from ..spine import Room
from .checks import check_parameters, check_size, topic_prior
from .choice import choose, pose_documents
from .data import Documents
from .dirichlet.problem import pose_dirichlet
from .dirichlet.solver import solve_gibbs, solve_vi
from .gibbs.solver import solve as gibbs
from .hmc import solve as hmc
from .inputs import whole_tokens
from .laplace import solve as laplace
from .map import solve as point
from .over_vectors import over_vectors
from .recording import diagnose, footprint, labels
from .vi.solver import solve as vi

# Those that look for all parameters at once, with the topics of tokens summed out.
_MARGINAL = ("hmc", "laplace", "map")


def pose(estimator, training, seeds):
    """`Problem` of the training documents, after the choice of power and start.

    A `DirichletProblem` where ``word_model="dirichlet"``.

    Parameters
    ----------
    estimator : GaussianLDA
    training : inputs.Training
    seeds : dict of str to numpy.random.SeedSequence
    """
    if estimator.solver in _MARGINAL:
        check_size(estimator, training.counts.shape[0], training.vectors.shape[1])
    counts = training.counts
    if estimator.solver == "gibbs":
        counts = whole_tokens(counts, "solver='gibbs' (unlike 'vi')")
        if counts.nnz == 0:
            raise ValueError("X has no tokens: all its counts are below one half.")
    documents = Documents.of(counts, training.vectors)
    if estimator.word_model == "dirichlet":
        problem = pose_dirichlet(estimator, documents, topic_prior(estimator), seeds["start"])
    else:
        choice = choose(estimator, replace(training, counts=counts), seeds["choice"])
        problem = pose_documents(estimator, documents, choice, seeds["start"])
    return replace(problem, vector_draws=training.vector_draws)


def _gibbs(estimator, problem, settings, seed):
    """The sampler of the word model."""
    solve = solve_gibbs if estimator.word_model == "dirichlet" else gibbs
    return solve(estimator, problem, settings, seed)


def _vi(estimator, problem, settings, seed):
    """The factors of the word model."""
    solve = solve_vi if estimator.word_model == "dirichlet" else vi
    return solve(estimator, problem, settings, seed)


SOLVERS = {
    name: over_vectors(solve)
    for name, solve in {
        "gibbs": _gibbs, "vi": _vi, "hmc": hmc, "laplace": laplace, "map": point,
    }.items()
}  # fmt: skip
ROOM = Room(
    solvers=SOLVERS,
    check=check_parameters,
    footprint=footprint,
    pose=pose,
    labels=labels,
    diagnose=diagnose,
    streams=("start", "choice", "solve", "reading"),
)
