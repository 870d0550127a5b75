"""From documents to a posterior of topics: likelihood power, solvers, aligned labels, diagnoses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..common.spine import chain_settings
from ..common.warnings import COORDINATE_RHAT_LIMIT, warn_unless_mixed, warn_user
from ..inference.matching import match, similarity
from ..posterior.posterior import Posterior
from ..posterior.summary import rhat
from .checks import check_dimensions
from .choice import choose, pose
from .data import Documents
from .model import check_size
from .solvers import TABLE
from .vi.variational import TopicApproximation

# Draws recorded whole up to this many bytes unless all are asked for: they are copied once.
TOPIC_BUDGET = 2**28
# Chains whose topics resemble each other less than this are in different modes.
SAME = 0.8
_APPROXIMATE = ("laplace", "vi", "map")
_MARGINAL = ("hmc", "laplace", "map")
_DIMS = {
    "mean": ("topic", "dimension"),
    "covariance": ("topic", "dimension", "dimension_2"),
    "counts": ("topic", "word"),
    "alpha": ("topic",),
}


@dataclass
class Fitted:
    """What a solver leaves."""

    posterior: Posterior
    n_iter: int
    power: float
    power_scores: dict | None = None


def solve(estimator, training, seeds):
    """Run the estimator's solver.

    Parameters
    ----------
    estimator : GaussianLDA
    training : inputs.Training
    seeds : numpy.random.SeedSequence

    Returns
    -------
    Fitted
    """
    n_dims = training.vectors.shape[1]
    check_dimensions(estimator, n_dims)
    if estimator.solver in _MARGINAL:
        check_size(estimator.solver, training.counts.shape[0], estimator.n_components, n_dims)
    of_start, of_choice, of_solver = seeds.spawn(3)
    settings = plan_draws(estimator, training.vectors.shape)
    counts = training.counts
    if estimator.solver == "gibbs":
        counts = whole_tokens(counts)
    choice = choose(estimator, training, of_choice)
    documents = Documents.of(counts, training.vectors)
    problem = pose(estimator, documents, choice.power, choice.init, of_start)
    result = TABLE[estimator.solver](estimator, problem, settings, of_solver)
    posterior = assemble(estimator, result, settings, problem.power, training.words)
    posterior.attrs["init"] = "words" if problem.clusters is None else "documents"
    n_iter = max(1, int(result.facts.get("n_iter", 1)))
    return Fitted(posterior, n_iter, problem.power, choice.scores)


def plan_draws(estimator, shape):
    """Number of draws and what is recorded of them, after a look at the memory it takes.

    Whole draws are far apart where there are many: nothing is gained by running moments.
    """
    n_words, n_dims = shape
    size = estimator.n_components * (n_words + n_dims + n_dims**2 + 1)
    chains = 1 if estimator.solver in _APPROXIMATE else None
    settings = chain_settings(estimator, 8 * size, 0, 80, chains=chains, budget=TOPIC_BUDGET)
    return replace(settings, moments=False)


def whole_tokens(counts):
    """Counts rounded to whole tokens, with a warning where they were none."""
    rounded = np.rint(counts.data)
    if np.array_equal(rounded, counts.data):
        return counts
    warn_user(
        "X has counts that are no whole numbers; solver='gibbs' gives a topic to every token and "
        "takes them rounded. solver='vi' takes them as they are.",
        UserWarning,
    )
    counts = sparse.csr_array((rounded, counts.indices, counts.indptr), shape=counts.shape)
    if not rounded.any():
        raise ValueError("X has no tokens: all its counts are below one half.")
    counts.eliminate_zeros()
    return counts


# Posterior ----------------------------------------------------------------------------------------


def assemble(estimator, result, settings, power, words):
    """Draws with their labels aligned as a `Posterior`, after a look at how they were made."""
    approximation = result.facts.get("approximation")
    if estimator.solver in _APPROXIMATE:
        # draws of one approximation: its labels never change places
        order = sort_topics(result.draws)
        if isinstance(approximation, TopicApproximation):
            approximation.reorder(order)
    else:
        align_topics(result.draws)
    attrs = {
        "solver": estimator.solver,
        "likelihood_power": power,
        "stride": settings.stride,
        "interrupted": bool(result.facts.get("interrupted", False)),
    }
    for name in ("n_iter", "converged", "divergences", "saturated", "lp"):
        if name in result.facts:
            attrs[name] = result.facts[name]
    posterior = Posterior(
        result.draws,
        stats=result.stats,
        dims={name: dims for name, dims in _DIMS.items() if name in result.draws},
        coords={"word": words, "topic": np.arange(estimator.n_components)},
        attrs=attrs,
    )
    posterior.approximation = approximation
    check_topics(posterior)
    return posterior


def align_topics(draws):
    """Match the topics of all draws by their word distributions, in place; largest topic first.

    Each draw is matched with the sum of those before it, which starts from the last of the first
    chain, where the chain has come to rest.
    """
    counts = draws["counts"]
    total = _directions(counts[0, -1])
    orders = np.empty(counts.shape[:3], dtype=np.int64)
    sizes = np.zeros(counts.shape[2])
    for place in np.ndindex(counts.shape[:2]):
        weights = _directions(counts[place])
        orders[place] = match(total, weights)
        total += weights[orders[place]]
        sizes += counts[place].sum(axis=1)[orders[place]]
    _reorder(draws, orders[..., np.argsort(-sizes, kind="stable")])


def sort_topics(draws):
    """Put the largest topic of all draws together first, in place; returns the order (K,)."""
    counts = draws["counts"]
    order = np.argsort(-counts.sum(axis=(0, 1, 3)), kind="stable")
    _reorder(draws, np.broadcast_to(order, counts.shape[:3]))
    return order


def _reorder(draws, orders):
    unmoved = np.arange(orders.shape[2])
    for place in np.ndindex(orders.shape[:2]):
        if not np.array_equal(orders[place], unmoved):
            for values in draws.values():
                values[place] = values[place][orders[place]]


def _directions(counts):
    """Rows of unit length; zero for a topic without tokens."""
    length = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.divide(counts, length, out=np.zeros(counts.shape), where=length > 0)


def check_topics(posterior):
    """Warnings of topics without tokens, chains in different modes, chains that have not mixed."""
    counts = posterior["counts"]
    sizes = counts.sum(axis=-1)
    empty = np.flatnonzero(sizes.mean(axis=(0, 1)) < 1)
    posterior.attrs["n_empty"] = int(empty.size)
    if empty.size:
        warn_user(
            f"{empty.size} of {sizes.shape[-1]} topics hold less than one token on average: lower "
            "n_components.",
            ConvergenceWarning,
        )
    if posterior.attrs["solver"] in _APPROXIMATE:
        return
    if posterior.n_chains > 1:
        means = [_directions(chain.mean(axis=0)) for chain in counts]
        least = min(similarity(means[0], other) for other in means[1:])
        posterior.attrs["chain_similarity"] = least
        if least < SAME:
            warn_user(
                "The chains are in different modes of the posterior (the topics of two of them "
                f"have a cosine of {least:.2f}): their draws together are no posterior. Raise "
                "warmup, or take chains=1 or another n_components.",
                ConvergenceWarning,
            )
    shares = sizes / sizes.sum(axis=-1, keepdims=True)
    posterior.attrs["max_rhat"] = warn_unless_mixed(
        rhat(shares), "the shares of the topics in the tokens", COORDINATE_RHAT_LIMIT
    )
