"""What a model offers and what a solver returns: the contracts of the package.

A model implements those of the protocols below that it can; a solver names the one it needs, and
`require` says so where the model does not offer it. None of them is a base class: they document the
methods and let their names be checked. A model just has the methods.

Below them are the names that all solvers use for what they record: ``STATS`` and ``ATTRS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..posterior.running_moments import RunningMoments

# Maps a function over a list of argument tuples, one for each block of work.
Run = Callable[[Callable[..., Any], list[tuple]], None]


@runtime_checkable
class LogDensity(Protocol):
    """Needed by ``solver="map"``, and wherever else the mode is searched for.

    Attributes
    ----------
    n_parameters : int
        Length of the flat vector of free parameters.
    scale : ndarray of shape (n_parameters,)
        Rough posterior standard deviations of the flat parameters, up to a common factor.
    """

    n_parameters: int
    scale: np.ndarray

    def logp_and_grad(self, theta: np.ndarray, out: np.ndarray) -> float:
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""

    def pack(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Flat vector (n_parameters,) of the free parameters among the named arrays."""

    def unpack(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Named arrays, fixed entries included, that belong to the flat vector."""


class Surface(Protocol):
    """What `inference.ascent.Ascent` climbs: a density in the precision of its point.

    Attributes
    ----------
    point : ndarray
        The free parameters in some shape, moved in place by who climbs.
    """

    point: np.ndarray

    def value_and_gradient(self) -> tuple[float, np.ndarray]:
        """Log density at the point, up to a constant, and its gradient, a new array."""

    def precondition(self, x: np.ndarray) -> None:
        """Multiply ``x`` in place by an approximation of the inverse negative Hessian."""

    def refresh(self) -> None:
        """Bring the preconditioner up to date with the point, which was evaluated last."""

    def end(self) -> np.ndarray:
        """Flat parameters at the point, or at a higher one that is known without a search."""


@runtime_checkable
class Corrected(Protocol):
    """A `Surface` that is approximated, and exact where it was corrected last.

    Attributes
    ----------
    rounding : float
        Error of the value, relative to its size.
    """

    rounding: float

    def correct(self) -> tuple[float, np.ndarray]:
        """Make the gradient at the point exact; returns what `value_and_gradient` does then."""


@runtime_checkable
class Preconditioned(Protocol):
    """Offered beside `LogDensity` by models that know most of their curvature.

    The search for the mode is then faster by far. ``logp_and_grad`` takes a keyword ``run``, too,
    as `surface` does.
    """

    def surface(self, theta: np.ndarray, dtype: type, run: Run) -> Surface:
        """The density around flat parameters, in single or double precision.

        ``run(function, tasks)`` calls the function with each of a list of argument tuples, one for
        each block of work, perhaps in several threads.
        """


@runtime_checkable
class Conditionals(Protocol):
    """Needed by ``solver="gibbs"``.

    ``rngs`` is a list of ``n_streams`` generators: the first for what concerns the whole chain,
    then one for each block of work, so that draws do not depend on how blocks are spread over
    threads.

    Attributes
    ----------
    n_streams : int
        Number of generators that a chain needs.
    """

    n_streams: int

    def init_state(self, rngs: list[np.random.Generator]) -> Any:
        """State to start a chain from: an object that `sweep` changes.

        It holds all that sweeps depend on besides the model, as `io.graph` can write it: a
        chain then goes on from its checkpoint.
        """

    def sweep(self, state: Any, rngs: list[np.random.Generator], run: Run) -> None:
        """Change the state in place by one sweep, which leaves the posterior invariant.

        ``run(function, tasks)`` calls the function with each of a list of argument tuples, one for
        each block of work, perhaps in several threads.
        """

    def tune(self, state: Any, step: int, warmup: int) -> None:
        """Adapt the sampler after sweep number ``step`` (from 0) of ``warmup`` of warm-up."""

    def observe(self, state: Any) -> dict[str, np.ndarray]:
        """Named arrays to record for this draw, brought to the frame that all draws share."""

    def trace(self, state: Any) -> dict[str, Any]:
        """Dict of named statistics of this draw, recorded for every draw."""


@runtime_checkable
class HamiltonianModel(Protocol):
    """Needed by ``solver="hmc"``.

    Attributes
    ----------
    n_parameters : int
        Length of the flat vector of free parameters.
    scale : ndarray of shape (n_parameters,)
        Rough posterior standard deviations of the flat parameters, up to a common factor.
    block_size, n_blocked : int, optional
        The first ``n_blocked`` parameters come in blocks of ``block_size`` that belong together,
        such as the components of a word vector.
    turns : bool, optional
        Whether one rotation of all blocks together changes the density so little that the posterior
        is much wider along rotations than the variances of single parameters say.
    """

    n_parameters: int
    scale: np.ndarray

    def logp_and_grad(self, theta: np.ndarray, out: np.ndarray) -> float:
        """Log posterior density, up to a constant, at ``theta``; its gradient in ``out``."""

    def init(self, rng: np.random.Generator) -> np.ndarray:
        """Flat vector (n_parameters,) to start a chain from."""

    def observe(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """Named arrays to record for this draw."""

    def trace(self, theta: np.ndarray) -> dict[str, Any]:
        """Dict of named statistics of this draw, recorded for every draw."""


@runtime_checkable
class Variational(Protocol):
    """Needed by ``solver="vi"``.

    ``run`` maps a function over a list of argument tuples, one for each block of work.
    """

    def init_q(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """Factors of the approximation, centered at named arrays to start from."""

    def update(self, q: Any, run: Run) -> float:
        """Update all factors in place; returns the lower bound on the log evidence.

        A model may take the bound at any moment of the sweep, when some factors are updated and
        others not yet, as long as it is the same moment of every sweep: then the bound never falls
        from one sweep to the next. It may by little, near the top, where sweeps go by an
        approximation.
        """

    def settled(self, q: Any) -> bool:
        """Whether all factors are free to move; some may be held back in the first sweeps."""

    def sample_q(self, q: Any, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Named arrays with ``n`` independent draws of the approximation along axis 0."""


class Approximation(Protocol):
    """What ``solver="vi"`` and ``solver="laplace"`` leave in ``approximation_``.

    Attributes
    ----------
    mean : dict of str to ndarray
        Means of the named arrays that are drawn.
    elbo : ndarray of shape (n_iter,)
        That of ``"vi"`` only: the lower bound on the log evidence after every iteration; empty
        where it was learned from minibatches.
    """

    mean: dict[str, np.ndarray]

    def sample(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Arrays by the names of ``mean``, with ``n`` independent draws along axis 0."""


class Coordinates(Protocol):
    """Coordinates of a part of a model, chosen so that its posterior is about equally wide in all.

    The flat vector of a model is put together from several of these.

    Attributes
    ----------
    size : int
        Number of coordinates.
    """

    size: int

    def inform(
        self, information: np.ndarray, power: float, arrays: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Fit the coordinates to the expected information, and to means where they are given."""

    def coordinates(self, arrays: Mapping[str, np.ndarray], out: np.ndarray) -> None:
        """Write the coordinates of named arrays into the flat ``out``."""

    def logits(self, y: np.ndarray) -> dict[str, np.ndarray]:
        """Named arrays (logits) that belong to flat coordinates; reverses `coordinates`."""

    def log_volume(self) -> float:
        """Logarithm of the determinant of the derivatives of the arrays by the coordinates."""


# Rows of an array that are recorded at every draw are named after it, with this at the end.
ROWS = "_rows"

# The vocabulary of ``posterior_.stats``: statistics of every draw, arrays (chain, draw, ...).
STATS = {
    "lp": "log posterior density up to a constant",
    "log_likelihood": "log likelihood of the data given the draw",
    "acceptance": "share of the moves since the draw before that were accepted",
    # Hamiltonian trajectories
    "energy": "total energy at the state drawn",
    "divergent": "how many of the trajectories that led to the draw diverged",
    "n_leapfrog": "gradients that led to the draw",
    "tree_depth": "how often the longest trajectory was doubled; 0 for those of fixed length "
    "that were not cut",
    "step_size": "of the integrator",
    # word vectors
    "logit": "logits of the monitored pairs of words",
    "coordinate": "one coordinate of the target vector of each monitored pair",
    "log_diffusion": "logarithm of a learned diffusion",
    # senses
    "kappa_phi": "learned variance of the steps of prevalence logits",
    "tau": "overall size of the deviations of an interaction",
    "switched": "whether senses had changed their places, which was undone",
    # topics
    "moved": "share of the tokens that changed their topic",
    "smallest": "tokens of the smallest topic",
}

# The vocabulary of ``posterior_.attrs``: facts about the run.
ATTRS = {
    # always there
    "solver": "the solver, as asked for or as 'auto' stood for it",
    "n_iter": "iterations of the search for a mode or a bound (passes or batches where learned "
    "online); 1 where there is no search",
    "converged": "whether the chains have mixed by R-hat, or the search ended by its tolerance; "
    "None where that is not known",
    "interrupted": "whether Ctrl-C ended the run early",
    "draws_made": "draws made in each chain, recorded whole or not",
    "stride": "one draw out of so many is recorded whole",
    "version": "version of the package that made the fit",
    # of fits, as far as they are known
    "settings": "parameters that were not their defaults, of those that results depend on, without "
    "the seed and the embedding",
    "random_state": "the seed that was given",
    "given": "what reports tell of other parameters, in JSON",
    "warnings": "texts of the warnings that the fit gave, a line each",
    "n_documents": "documents (snippets of senses) that were given",
    "n_tokens": "their tokens, of words of the vocabulary",
    "n_units": "units of sampling that they belong to",
    # of chains
    "kernel": "how the sampler moves",
    "warmup": "sweeps or trajectories discarded",
    "thin": "sweeps or trajectories from draw to draw",
    "max_rhat": "largest split R-hat of what does not depend on the frame or on labels",
    "max_rhat_rho": "largest split R-hat of monitored coordinates of target vectors",
    "max_rhat_diffusion": "split R-hat of the logarithm of a learned diffusion",
    "max_rhat_likelihood": "split R-hat of the log likelihood, where it is looked at",
    "max_drift": "largest difference of first and last draws of what is watched, a normal deviate",
    "drifts": "what differs most between first and last draws, where chains drift together",
    "min_ess": "smallest effective sample size of what does not depend on the frame or on labels",
    "chain_similarity": "least cosine between two chains, their labels matched",
    "run_similarity": "least cosine between topics with the first draw of the vectors and another",
    "divergences": "how many trajectories diverged after warm-up",
    "standstill": "most draws of a chain in a row that are one state",
    "saturated": "share of draws whose trajectory was cut at the largest tree depth",
    # of searches
    "lp": "log posterior density at the mode, up to a constant",
    "zero": "whether the mode is zero; else it is not there",
    "max_gradient": "largest entry of the scaled gradient where the search ended",
    "elbo": "last bound on the log evidence",
    "clustered_words": "rare words that met by clusters on the way; where the search has converged "
    "its end is that of all pairs",
    "newton_steps": "steps of Newton's method that led to the mode",
    "decrement": "squared distance to the mode before the last of them, in standard deviations",
    "learning_method": "whether all data were used in every iteration",
    "n_batches": "minibatches learned from",
    # of approximations
    "method": "how draws of the Gaussian at the mode were made",
    "moments": "whether covariances are exact or estimated from draws",
    "covariance": "form of the covariance matrices of a variational approximation",
    "products": "mean number of products with the Hessian that a draw took",
    "draw_error": "largest estimated relative error of a draw",
    "null_directions": "dimension of the orbit of rotations through the mode",
    # of the models
    "anchored": "whether context vectors were held fixed",
    "rank": "rank of the vectors at the mode",
    "n_on": "components that are switched on",
    "diffusion": "the diffusion, given or learned",
    "n_modes": "modes of the posterior that were found",
    "modes_that_matter": "those of them that hold a share worth naming, or may be the heaviest",
    "mode_share": "share of the posterior that the heaviest of them holds",
    "mode_starts": "starts that led to it",
    "starts_by_mode": "starts that led to each of them, the heaviest first, of how many",
    "likelihood_power": "power of the likelihood",
    "embedding_draws": "draws of the word vectors that draws of the posterior were made with",
    "embedding_share": "largest share of a variance that is between draws of the word vectors",
    "words_without_vector": "share of the words that have no vector",
    "tokens_without_vector": "share of the tokens whose words have none",
    "init": "what the topics start from",
    "largest_share": "largest share of the tokens in one topic",
    "n_empty": "topics that hold less than one token on average",
    # of what was "auto"
    "solver_reason": "why this solver was taken",
    "precision_path": "precisions tried, each with the mean log probability of held-out pairs",
    "precision_range": "the smallest and the largest of these that predict as well as the best",
    # of intervals
    "uncertainty": "what intervals know of: documents (the units of sampling) or the model alone",
    "without_units": "why intervals cannot know of units of sampling",
}
ATTRS_ALWAYS = (
    "solver", "n_iter", "converged", "interrupted", "draws_made", "stride", "version",
)  # fmt: skip


@dataclass
class Result:
    """What every solver returns.

    Attributes
    ----------
    draws : dict of str to ndarray of shape (chain, draw, ...)
        Those whose names end in ``ROWS`` may have more draws than the others.
    stats : dict of str to ndarray of shape (chain, draw, ...)
        Per-draw statistics, named as in ``STATS``.
    moments : dict of str to RunningMoments
        Moments over every draw made, recorded or not.
    facts : dict
        What is to be known of the run, named as in ``ATTRS``.
    approximation : Approximation or None
        What the draws were drawn from.
    learned : dict of str to object
        Further fitted attributes of the estimator, by their names.
    monitored : dict of str to ndarray of int of shape (n_entries, n_indices)
        What the entries of a statistic are of: target and context, words both, and before them
        the period where there are three.
    states : list of dict
        Of each chain, where it can go on (`chains.run_chains`).
    """

    draws: dict[str, np.ndarray]
    stats: dict[str, np.ndarray] = field(default_factory=dict)
    moments: dict[str, RunningMoments] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    approximation: Approximation | None = None
    learned: dict[str, Any] = field(default_factory=dict)
    monitored: dict[str, np.ndarray] = field(default_factory=dict)
    states: list[Any] = field(default_factory=list)


def require(model: object, contract: type, solver: str) -> None:
    """Raise a TypeError that names model and solver unless ``model`` offers ``contract``.

    Parameters
    ----------
    model : object
    contract : type
        One of the protocols above.
    solver : str
        The solver that needs it.
    """
    if not isinstance(model, contract):
        raise TypeError(
            f"solver={solver!r} needs a model that offers {contract.__name__}, which "
            f"{type(model).__name__} does not."
        )
