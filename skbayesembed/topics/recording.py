"""What is recorded of topics: sizes, labels, the order of topics, facts and diagnoses."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from ..common.mixing import (
    SHARE_RHAT_LIMIT,
    beyond,
    drifting,
    note_drift,
    note_few,
    note_mixing,
)
from ..common.warnings import warn_user
from ..inference.matching import match, similarity
from ..inference.pooling import bytes_of_runs, note_runs, within
from ..posterior.trend import drift
from ..posterior.worst import of_topics, shares_of
from ..spine import APPROXIMATE, CHAINS, Footprint
from .mixing import SAME, agreement, apart, longer, note_on_few
from .model import count_parameters

# Whole draws are recorded up to this many bytes unless all are asked for: they are copied once.
TOPIC_BUDGET = 2**28
# Bytes of the statistics of one draw.
_TRACE_BYTES = 80
# As many draws take the memory of what a chain, or an ascent, works with.
_COPIES = 4
# Tables of words and topics, and blocks of masses, that chains of Dirichlet priors work with.
_DIRICHLET_COPIES, _BLOCKS = 10, 4
# As many vectors of all parameters do searches for a mode, draws at a mode and trajectories work
# with, and numbers for each topic of each count in the start of all three. Measured.
_VECTORS = {"map": 60, "laplace": 100, "hmc": 140}
_OF_TOKENS = 2.5
# Share of the tokens in one topic above which there is a warning.
COLLAPSED = 0.5
# Share of all tokens above which there is one of a background, which is to be large.
BACKGROUND_COLLAPSED = 0.75
# Where there are fewer topics one may well be as large.
_SEVERAL = 5
# Topics named in a warning, and words that each is called by.
_NAMED, _FIRST_WORDS = 4, 3
# Power of the likelihood at which chains of the default length mixed (benchmarks/topics_mixing.py).
_SETTLES = 0.5
_DIMS = {
    "mean": ("topic", "dimension"),
    "covariance": ("topic", "dimension", "dimension_2"),
    "counts": ("topic", "word"),
    "alpha": ("topic",),
    "topic_vector": ("topic", "dimension"),
    "word_level": ("word",),
    "concentration": (),
    "topic_scale": (),
    "word_scale": (),
}


def footprint(estimator, training):
    """Bytes of a draw.

    Running moments are not kept: of few words and topics all draws fit, and where there are many,
    draws far apart say as much.
    """
    n_words, n_dims = training.vectors.shape
    k = int(estimator.n_components)
    if estimator.word_model == "dirichlet":
        draw = 8 * (k * (n_words + n_dims + 1) + n_words + 3)
        work = _DIRICHLET_COPIES * draw + _BLOCKS * 8 * k * n_dims**2
    else:
        draw = 8 * k * (n_words + n_dims + n_dims**2 + 1)
        work = _COPIES * draw + _marginal_work(estimator, training, k)
    if estimator.solver in CHAINS:
        work *= min(effective_n_jobs(estimator.n_jobs), estimator.chains)
    n_draws = int(estimator.draws) * (estimator.chains if estimator.solver in CHAINS else 1)
    approximate = estimator.solver in APPROXIMATE
    work += bytes_of_runs(training.vector_draws, n_draws * draw, approximate)
    return Footprint(draw=draw, trace=_TRACE_BYTES, budget=TOPIC_BUDGET, work=work)


def _marginal_work(estimator, training, k):
    """Bytes of solvers that work on all parameters at once, besides copies of a draw."""
    solver = estimator.solver
    if solver not in _VECTORS:
        return 0
    n_documents = training.counts.shape[0]
    vectors = _VECTORS[solver] + (2 * int(estimator.draws) if solver == "laplace" else 0)
    parameters = count_parameters(n_documents, k, training.vectors.shape[1])
    return int(8 * (_OF_TOKENS * training.counts.nnz * k + vectors * parameters))


def has_gaussians(posterior):
    """Whether a posterior of topics is of Gaussians, as against Dirichlet priors of words."""
    # without draws there are moments
    return "topic_vector" not in posterior and "topic_vector" not in posterior.moments


def background_of(posterior):
    """The topic that is the background of the others and has no vector, or None."""
    if has_gaussians(posterior) or posterior.mean("topic_vector")[0].any():
        return None
    return 0


def topic_shares(posterior):
    """Posterior means of the topics' shares of the training tokens, (n_topics,)."""
    tokens = posterior["counts"].sum(axis=-1).mean(axis=(0, 1))
    return tokens / max(tokens.sum(), 1e-300)


def labels(estimator, training, draws):
    """Names of the axes of recorded arrays, and what stands along them."""
    dims = {name: _DIMS[name] for name in draws}
    return dims, {"word": training.words, "topic": np.arange(estimator.n_components)}


# Facts and the order of topics --------------------------------------------------------------------


def of_chains(problem, result, kernel):
    """The result of a sampler, its topics aligned across draws, with what was chosen before."""
    align_topics(result.draws, problem.n_background)
    result.facts["kernel"] = kernel
    return _told(problem, result)


def of_approximation(problem, result):
    """The same of draws of one approximation, whose labels never change places."""
    return _told(problem, largest_first(result, problem.n_background))


def _told(problem, result):
    result.facts |= {"likelihood_power": problem.power, "init": problem.init}
    result.learned["likelihood_power_"] = problem.power
    if problem.power_scores is not None:
        result.learned["likelihood_power_scores_"] = problem.power_scores
    return result


def align_topics(draws, n_fixed=0):
    """Match the topics of all draws by their word distributions, in place; largest topic first.

    The first ``n_fixed`` stay where they are.

    Each draw is matched with the sum of those before it, which starts from the last of the first
    chain, where the chain has come to rest.
    """
    counts = draws["counts"]
    total = _directions(counts[0, -1, n_fixed:])
    orders = np.empty(counts.shape[:3], dtype=np.int64)
    orders[..., :n_fixed] = np.arange(n_fixed)
    sizes = np.zeros(counts.shape[2])
    for place in np.ndindex(counts.shape[:2]):
        weights = _directions(counts[place][n_fixed:])
        found = match(total, weights)
        total += weights[found]
        orders[place][n_fixed:] = found + n_fixed
        sizes += counts[place].sum(axis=1)[orders[place]]
    _reorder(draws, orders[..., _by_size(sizes, n_fixed)])


def reorder_like(result, counts, n_fixed=0):
    """Give topics of a `Result` the numbers of those that they resemble, in place.

    Parameters
    ----------
    result : Result
        With as many topics, each with one number in all draws.
    counts : ndarray of shape (n_topics, n_words)
        Mean counts of words of those.
    n_fixed : int
        So many stay where they are.
    """
    own = result.draws["counts"]
    mean = own.mean(axis=(0, 1))
    found = match(_directions(counts[n_fixed:]), _directions(mean[n_fixed:]))
    order = np.concatenate([np.arange(n_fixed), found + n_fixed])
    _reorder(result.draws, np.broadcast_to(order, own.shape[:3]))
    if result.approximation is not None:
        result.approximation.reorder(order)


def largest_first(result, n_fixed=0):
    """A `Result` with the topics of its draws and approximation in the order of `sort_topics`."""
    order = sort_topics(result.draws, n_fixed)
    if result.approximation is not None:
        result.approximation.reorder(order)
    return result


def sort_topics(draws, n_fixed=0):
    """Put the largest topic of all draws together first, in place; returns the order (K,).

    The first ``n_fixed`` stay where they are.
    """
    counts = draws["counts"]
    order = _by_size(counts.sum(axis=(0, 1, 3)), n_fixed)
    _reorder(draws, np.broadcast_to(order, counts.shape[:3]))
    return order


def _by_size(sizes, n_fixed):
    """The first ``n_fixed``, then the others, largest first."""
    largest = np.argsort(-sizes[n_fixed:], kind="stable") + n_fixed
    return np.concatenate([np.arange(n_fixed), largest])


def _reorder(draws, orders):
    unmoved = np.arange(orders.shape[2])
    of_topics = [draws[name] for name in draws if _DIMS[name][:1] == ("topic",)]
    for place in np.ndindex(orders.shape[:2]):
        if not np.array_equal(orders[place], unmoved):
            for values in of_topics:
                values[place] = values[place][orders[place]]


def _directions(counts):
    """Rows of unit length; zero for a topic without tokens."""
    length = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.divide(counts, length, out=np.zeros(counts.shape), where=length > 0)


# Diagnoses ----------------------------------------------------------------------------------------


def diagnose(estimator, training, posterior):
    """Warn of topics without tokens, chains in different modes and chains that have not mixed."""
    counts, attrs = posterior["counts"], posterior.attrs
    sizes = counts.sum(axis=-1)
    note_runs(attrs, sizes, "the sizes of topics")
    if posterior.n_runs > 1:
        _note_runs_apart(counts, attrs, posterior.n_runs)
    empty = np.flatnonzero(sizes.mean(axis=(0, 1)) < 1)
    attrs["n_empty"] = int(empty.size)
    if empty.size:
        warn_user(
            f"{empty.size} of {sizes.shape[-1]} topics {'holds' if empty.size == 1 else 'hold'} "
            "less than one token on average: lower n_components.",
            ConvergenceWarning,
        )
    _look_for_collapse(estimator, posterior)
    if attrs["solver"] not in CHAINS:
        return
    others = posterior.n_chains > 1 and _in_different_modes(counts, attrs)
    note_mixing(
        attrs,
        share_rhat(posterior),
        "the shares of the topics in the tokens",
        # shares of topics that are others in every chain are warned of already
        limit=np.inf if others else SHARE_RHAT_LIMIT,
        message=None if others else _not_mixed(posterior, getattr(estimator, "thin", "auto")),
    )
    labels = [f"the share of topic {k}" for k in range(sizes.shape[-1])]
    found, draws = _drifts(posterior)
    # at the end of a fit none has a name
    note_drift(attrs, found, [*labels, "the log density"][: len(draws)], draws)
    size = ess_of_shares(posterior)
    note_few(attrs, size, labels, sizes.shape[0] * sizes.shape[1])
    note_on_few(posterior, size, share_rhat(posterior))


def _drifts(posterior):
    """Drifts of the topics' shares, and of the log density where it is known; what they are of."""
    shares = shares_of(posterior["counts"])
    draws = list(np.moveaxis(shares, 2, 0))
    found = of_topics(posterior, "drift")
    if "lp" in posterior.stats and posterior.n_runs == 1:
        # of all draws, of which counts may not be recorded
        found = np.append(found, drift(posterior.stats["lp"]))
        draws.append(posterior.stats["lp"])
    return found, draws


def _look_for_collapse(estimator, posterior):
    """Warn where one of several topics holds most tokens, or a background nearly all."""
    sizes = topic_shares(posterior)
    posterior.attrs["largest_share"] = float(sizes.max())
    if sizes.size < _SEVERAL:
        return
    n, where = int(background_of(posterior) is not None), ""
    if n and sizes[0] > BACKGROUND_COLLAPSED:
        k, share = 0, sizes[0]
    else:
        others = sizes[n:] / max(sizes[n:].sum(), 1e-300)
        k, share = n + int(np.argmax(others)), others.max()
        where = " outside the background" if n else ""
        if share <= COLLAPSED:
            return
    warn_user(
        f"Topic {k} ({_called(posterior, k)}) holds {100 * share:.0f} % of the tokens{where}: "
        "the topics hardly tell documents apart. Leave out words that all documents share "
        f"(stop_words), or take {_against_collapse(estimator, posterior, k < n)}.",
        ConvergenceWarning,
    )


def _against_collapse(estimator, posterior, of_background):
    """What to change where one topic holds most tokens."""
    advice = "another n_components, or a doc_topic_prior that is smaller for that topic"
    if has_gaussians(posterior):
        advice = "another likelihood_power, or word_model='dirichlet', which has a background topic"
    elif of_background:
        advice = "a smaller doc_topic_prior for it, or background=False"
    learned = getattr(estimator, "learn_doc_topic_prior", False)
    return ("learn_doc_topic_prior=False, " if learned else "") + advice


def _called(posterior, k):
    """The first words of a topic."""
    counts = posterior["counts"][:, :, k].mean(axis=(0, 1))
    words = posterior.coords.get("word", np.arange(counts.size).astype(str))
    return " ".join(words[np.argsort(-counts, kind="stable")[:_FIRST_WORDS]])


def share_rhat(posterior):
    """Split R-hat of each topic's share of the tokens, (n_topics,)."""
    return of_topics(posterior, "rhat")


def ess_of_shares(posterior):
    """Effective draws of each topic's share of the tokens, (n_topics,), as `report` has them."""
    return of_topics(posterior, "ess")


def rhat_of_shares(posterior):
    """Split R-hat of the topics' shares, (n_topics,); None of draws that are no chains."""
    return share_rhat(posterior) if posterior.attrs.get("solver") in CHAINS else None


def unmixed_topics(posterior):
    """Topics whose shares have not mixed, ndarray of int; none of draws that are no chains.

    Those of large R-hat, and those that drift: all where the log density does, or chains are in
    different modes.
    """
    return np.flatnonzero(np.logical_or(*_unmixed(posterior)))


def topics_apart(posterior):
    """Of `unmixed_topics` those that have but a large R-hat of their shares, ndarray of int.

    Chains are in one mode and go nowhere: answers may agree between them all the same.
    """
    apart, moving = _unmixed(posterior)
    return np.flatnonzero(apart & ~moving)


def _unmixed(posterior):
    """Topics of large R-hat, and those in different modes or on their way, bool (n_topics,) each.

    Empty of draws that are no chains.
    """
    if posterior.attrs.get("solver") not in CHAINS:
        return np.zeros((2, 0), bool)
    found = drifting(_drifts(posterior)[0])
    n = posterior["counts"].shape[2]
    # of chains in different modes draws together are no posterior, however alike shares are
    together = found[n:].any() or posterior.attrs.get("chain_similarity", 1.0) < SAME
    apart = np.isin(np.arange(n), _of_large(share_rhat(posterior)))
    return apart, together | found[:n]


def _of_large(found):
    """Topics of large R-hat, by that of each."""
    return np.flatnonzero(np.nan_to_num(found) > SHARE_RHAT_LIMIT)


def _not_mixed(posterior, thin="auto"):
    """What to say of topics whose shares have not mixed, with ``thin`` given; None of none."""
    found = share_rhat(posterior)
    index = _of_large(found)
    if index.size == 0:
        return None
    worst = index[np.argsort(-found[index], kind="stable")][:_NAMED]
    named = [f"{k} ({_called(posterior, k)}; {beyond(found[k], SHARE_RHAT_LIMIT)})" for k in worst]
    more = f" and {index.size - _NAMED} more" if index.size > _NAMED else ""
    return (
        f"The {'chain has' if posterior.n_chains == 1 else 'chains have'} not mixed: the split "
        f"R-hat of the share of the tokens is above {SHARE_RHAT_LIMIT} for {index.size} of "
        f"{found.size} topics: {', '.join(named)}{more}. {agreement(posterior)}The "
        f"{_shares_of(index)}. Where topics are "
        f"features, or settings are searched for, solver='vi' needs no mixing; else: "
        f"{_to_mix(posterior, index, thin)}."
        f"{within(posterior)}"
    )


def _shares_of(index):
    if index.size == 1:
        return "share of this topic has no interval, and effects on it only where chains agree"
    return "shares of these topics have no intervals, and effects on them only where chains agree"


def _to_mix(posterior, index, thin):
    """What to change where shares of topics ``index`` have not mixed."""
    if not apart(share_rhat(posterior)):
        by_itself = "" if thin == "auto" else "thin='auto', which goes on while that helps, "
        return f"{longer(posterior, index)}, {by_itself}or lower n_components"
    one = posterior.n_chains == 1
    where = "half of the R-hats are so large that "
    where += "the chain is far from settled" if one else "chains are in different places"
    where += ", which more sweeps hardly change: "
    if not has_gaussians(posterior):
        return where + "lower n_components"
    if posterior.attrs.get("likelihood_power", 1.0) < _SETTLES:
        where += f"raise likelihood_power, at {_SETTLES:g} tokens settle far sooner than at 0.2, "
    return where + "take word_model='dirichlet' or lower n_components"


def _note_runs_apart(counts, attrs, n_runs):
    """Warn where topics with one draw of the vectors are others than with the first."""
    runs = counts.reshape(len(counts), -1, n_runs, *counts.shape[2:])
    first, *others = (_directions(runs[:, :, i].mean(axis=(0, 1))) for i in range(n_runs))
    alike = np.array([similarity(first, other) for other in others])
    attrs["run_similarity"] = float(alike.min())
    n_apart = int(np.sum(alike < SAME))
    if n_apart:
        warn_user(
            f"With {n_apart} of embedding_draws={n_runs} draws of the word vectors topics are "
            f"others than with the first (a cosine of {alike.min():.2f} at least): intervals are "
            "those of several modes of the posterior together, and not of the uncertainty of the "
            "vectors alone. Take another n_components, or embedding_draws=None for those of one.",
            UserWarning,
        )


def _in_different_modes(counts, attrs):
    """Whether the words of the topics of two chains differ, which is warned of."""
    means = [_directions(chain.mean(axis=0)) for chain in counts]
    least = min(similarity(means[0], other) for other in means[1:])
    attrs["chain_similarity"] = least
    if least < SAME:
        attrs["converged"] = False
        warn_user(
            "The chains are in different modes of the posterior (the topics of two of them "
            f"have a cosine of {least:.2f}): their draws together are no posterior. Take another "
            "n_components, or raise warmup in case they are still on their way. Each chain by "
            "itself, as with chains=1, tells of one mode of several.",
            ConvergenceWarning,
        )
    return least < SAME
