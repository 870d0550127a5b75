"""From a problem to its variational posterior: start, ascent or batches, approximation, draws."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ...common import trial
from ...common.memory import check_memory
from ...inference import checkpoint
from ...inference.approximations import drawn
from ...inference.chains import Workers
from ...inference.contracts import ROWS
from ...inference.mode import find_mode_only
from ...inference.threads import OneBlasThread
from ...inference.vi import batch_laps, coordinate_ascent, repeat_passes
from ...posterior.running_moments import RunningMoments
from ..data import TABLES_UPTO, ProductPairs
from ..exchange import Components, find_best_mode
from ..model import numerical_rank
from ..pairs import PairCounts
from ..recording import MOMENT_BYTES
from ..starting import search_start, searched
from .approximation import GaussianApproximation
from .axes import TYPICAL as TYPICAL_LOOKS
from .axes import nearest_axes, try_looks
from .climb import ClimbedVariational, climbs
from .maps import TYPICAL as TYPICAL_MAPS
from .maps import best_map
from .online import OnlineVI
from .variational import SGNSVariational

# The bound has settled when a sweep raises it by less than this many times ``tol``, relatively;
# components that switch off raise it by little. Of a climb each step counts once: where it rises
# slowly the bound hardly bends, and a small rise is a long way.
TOL_FACTOR = 100.0
TOL_FACTOR_ARD = 10.0
# Sweeps with diagonal covariances before those with full ones, at most.
_QUICK_SWEEPS = 10
# Relative rise of the bound below which these end: they only have to come near.
_QUICK_TOL = 1e-4
# A climb of the bound starts where a search for the mode is after so many steps, at most, or with
# this ``tol``.
_MODE_STEPS, _MODE_TOL = 40, 2e-7
# Most of them where ascent goes from the best mode.
_MOST_STEPS = 1000


def solve(estimator, problem, settings, seed):
    """Approximate the posterior by Gaussian factors of words, and draw from them: a `Result`.

    One chain of independent draws; exact means and (co)variances as moments; the
    `GaussianApproximation`, by coordinate ascent on all data, or by stochastic variational
    inference where ``problem.source`` yields minibatches.

    Raises
    ------
    ValueError
        If no document has a pair of words.
    MemoryError
        If the tables of factors would not fit.
    """
    if problem.source is not None:
        return read_passes(estimator, problem, settings, seed)
    start_seed, draw_seed = seed.spawn(2)
    # tables of the ascent are gone when draws are made
    approximation, facts = _ascended(estimator, problem.model, start_seed)
    return _drawn_from(estimator, approximation, settings, draw_seed, facts)


def _ascended(estimator, model, start_seed):
    """The approximation at the top of the bound, and facts about the way there."""
    factor = TOL_FACTOR_ARD if model.prior.learned == "component" else TOL_FACTOR
    climbed = climbs(estimator, isinstance(model.pairs, ProductPairs))
    if climbed:
        model = searched(model)
        variational, start = ClimbedVariational(model), _start_of_climb
        factor = float(variational.steps)
    else:
        variational = SGNSVariational(model, estimator.covariance, estimator.biases)
        start = _start
    rng = np.random.default_rng(start_seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        q = variational.init_q(start(estimator, model, rng, run))
        if variational.axes_matter and trial.current() is not None:
            looked = variational, q, run
            try_looks("axes", 1 if climbed else TYPICAL_LOOKS, nearest_axes, *looked)
            if climbed:
                try_looks("maps", TYPICAL_MAPS, best_map, *looked)
        facts = coordinate_ascent(
            variational,
            q,
            run,
            max_iter=estimator.max_iter,
            tol=factor * estimator.tol,
            verbose=estimator.verbose,
            stage=checkpoint.stage("ascent"),
        )
    variational.take_back(q)
    variational.sort_components(q)
    approximation = GaussianApproximation(variational, q, facts.pop("elbo"))
    return approximation, {
        "elbo": float(approximation.elbo[-1]),
        "learning_method": "batch",
        **facts,
        **model.approximated,
    }


def _start(estimator, model, rng, run):
    """Arrays to start from: the best mode, or random where there may be none that tells.

    From random vectors ascent takes five times the sweeps and ends in one of many maxima (State of
    the Union, 500 words, 20 components: 15 to 59 below the one near the best mode). For lists of
    pairs and full covariances random vectors are brought on the way first: a sweep costs a third
    with diagonal covariances, and the first sweeps have a long way to go.
    """
    if Components(model).can_differ:
        arrays = _near_mode(searched(model), rng.spawn(1)[0], run, _MOST_STEPS)
        if numerical_rank(arrays["alpha"]) == model.n_components:
            return arrays
    arrays = model.start(rng)
    if estimator.covariance == "diag" or model.pairs.dense:
        return arrays
    quick = SGNSVariational(model, "diag", estimator.biases, means_only=True)
    q = quick.init_q(arrays)
    limits = {"max_iter": _QUICK_SWEEPS, "tol": _QUICK_TOL}
    coordinate_ascent(quick, q, run, **limits, warn=False, keep=False)
    return {name: q.mean[side][:, : model.n_components] for side, name in enumerate(arrays)}


def _start_of_climb(estimator, model, rng, run):
    """Arrays near the mode, from where the bound is climbed in fewer and dearer steps."""
    return _near_mode(model, rng, run, _MODE_STEPS)


def _near_mode(model, rng, run, steps):
    """Arrays near the mode, after at most so many steps of the search."""
    limits = {"max_iter": steps, "tol": _MODE_TOL}
    start = checkpoint.remembered("spectral start", lambda: search_start(model, rng, run, **limits))

    def search():
        # streams of their own: what is remembered draws no numbers
        own, components, point = rng.spawn(1)[0], Components(model), model.pack(start)
        if not components.can_differ:
            return model.unpack(find_mode_only(model, point, run=run, **limits))
        theta, _ = find_best_mode(components, point, own, warn=False, run=run, **limits)
        return model.unpack(theta)

    return checkpoint.remembered("start", search)


def read_passes(estimator, problem, settings, seed):
    """Read the minibatches of ``problem.source`` ``n_passes`` times: a `Result`."""
    start_seed, order_seed, draw_seed = seed.spawn(3)
    rng = np.random.default_rng(order_seed)
    online = start_online(estimator, problem.words.size, problem.prior, start_seed)
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        counted = batch_laps(
            problem.source.n_documents or 1, estimator.batch_size, estimator.n_passes, run
        )

        def read():
            for batch in problem.source.batches(estimator.batch_size, rng):
                learn = online.learn_pairs if isinstance(batch, PairCounts) else online.learn
                learn(batch, run)
                if counted is not None and counted.enough():
                    break
            online.end_pass()

        facts = repeat_passes(
            online,
            read,
            rng,
            n_passes=estimator.n_passes,
            counted=counted,
            stage=checkpoint.stage("passes"),
            verbose=estimator.verbose,
        )
    if online.n_batches == 0:
        raise ValueError("X has no pair of words: every document has fewer than two.")
    return online_result(estimator, online, settings, draw_seed, facts)


def start_online(estimator, n_words, prior, seeds):
    """An `OnlineVI` by the estimator's options; feed it with ``learn``.

    Raises
    ------
    MemoryError
        If its tables would not fit.
    """
    d = estimator.n_components + 2 * estimator.biases
    tables = (2 + 3 * (estimator.covariance == "full")) * n_words * d * (d + 1) // 2
    expected = estimator.negative_sampling == "expected" and n_words <= TABLES_UPTO
    pairs = 48 * n_words**2 if expected else 0
    check_memory(
        8 * tables + pairs,
        f"The factors of {n_words} words",
        "Use covariance='diag', negative_sampling='sampled', fewer components or max_features.",
    )
    return OnlineVI(
        n_words,
        estimator.n_components,
        prior,
        seeds,
        covariance=estimator.covariance,
        biases=estimator.biases,
        negative=estimator.negative,
        ns_exponent=estimator.ns_exponent,
        negative_sampling=estimator.negative_sampling,
    )


def online_result(estimator, online, settings, seed, facts):
    """`Result` of what an `OnlineVI` has learned so far."""
    with OneBlasThread(), Workers(effective_n_jobs(estimator.n_jobs)) as run:
        variational, q = online.result(run)
    variational.sort_components(q)
    approximation = GaussianApproximation(variational, q, [])
    facts = {"learning_method": "online", "n_batches": online.n_batches, **facts}
    return _drawn_from(estimator, approximation, settings, seed, facts)


def _drawn_from(estimator, approximation, settings, seed, facts):
    """`Result` of a `GaussianApproximation`, with draws from it."""
    rng = np.random.default_rng(seed)
    with OneBlasThread():
        draws = approximation.sample(settings.recorded, rng)
        for name, index in (settings.rows or {}).items():
            draws[name + ROWS] = approximation.sample(settings.draws, rng, index)[name]
    n_words, k = approximation.mean["rho"].shape
    # of many words, diagonal ones are kept as variances
    kept = estimator.covariance == "full" or n_words <= TABLES_UPTO
    whole = kept and 8 * n_words * k**2 <= MOMENT_BYTES
    moments = {}
    for name in approximation.vectors:
        mean = approximation.mean[name]
        spread = {"variance": approximation.variance(name)}
        if whole and mean.ndim == 2:
            spread = {"covariance": approximation.covariance(name, np.arange(n_words))}
        moments[name] = RunningMoments.known(mean, **spread, count=max(2, settings.draws))
    facts = {
        "covariance": estimator.covariance,
        "n_on": approximation.n_on,
        "draws_made": settings.draws,
        **facts,
    }
    return drawn(draws, facts, approximation, moments=moments, learned={"anchors_": None})
