"""What is recorded of draws: its size, the names of its dimensions, traces and diagnoses."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit

from ..common.mixing import COORDINATE_RHAT_LIMIT, note_few, note_mixing, warn_if_stuck
from ..inference.contracts import ROWS
from ..posterior.summary import ess, rhat
from ..spine import CHAINS, DRAW_BUDGET, Footprint
from .data import is_expected
from .vi.climb import climb_bytes, climbs
from .vi.factors import factor_bytes

# Covariances of all words' factors above this size are left to the approximation that has them.
MOMENT_BYTES = 2**28
# Pairs whose logits are recorded at every draw, at most.
_MONITORED = 100
# Bytes of a search for the mode, for each number of the vectors of one side: steps remembered,
# gradients, the preconditioner and sums by block in single precision, parameters in double.
_SEARCH_BYTES = 400
# Bytes of the states of a trajectory that a chain keeps, for each number of vectors of one side:
# 120 of them, in double precision, of both sides. Measured; a chain at its largest depth has more.
_TRAJECTORY_BYTES = 120 * 16
# Draws that are recorded whole if they take no more than so many times the budget.
_FEWEST_DRAWS, _MOST_BUDGETS = 200, 4


def monitored_pairs(model):
    """Pairs whose logits are traced: half among the most observed words, half anywhere."""
    rng = np.random.default_rng(0)
    weight = model.pairs.observations(0)
    frequent = np.argsort(-weight, kind="stable")[: max(10, model.n_words // 10)]
    half = _MONITORED // 2
    chosen = [rng.choice(frequent, (half, 2)), rng.integers(model.n_words, size=(half, 2))]
    return np.unique(np.vstack(chosen), axis=0)


def footprint(estimator, training):
    """Bytes that draws of all words take, and the words of ``keep_draws``: a `Footprint`."""
    k = estimator.n_components
    size = training.words.size * k
    rows, trace = None, 8 * (_MONITORED + 1)
    if not isinstance(estimator.keep_draws, str):
        index = np.array([training.vocabulary[w] for w in estimator.keep_draws], dtype=int)
        rows = {"rho": index, "alpha": index}
        trace += 16 * k * index.size
    moments = 16 * size * k
    if estimator.solver == "vi" and 8 * size * k > MOMENT_BYTES:
        moments = 32 * size  # means and variances; covariances are left to the approximation
    # a few draws more than fit, since intervals need them
    budget = max(DRAW_BUDGET, min(_FEWEST_DRAWS * 16 * size, _MOST_BUDGETS * DRAW_BUDGET))
    return Footprint(
        16 * size, trace, moments, rows=rows, budget=budget, work=_work(estimator, training)
    )


def _work(estimator, training):
    """Bytes that a solver works with besides pairs and draws, as far as it does not tell itself."""
    n_words = training.words.size
    if estimator.solver == "map":
        return _SEARCH_BYTES * n_words * estimator.n_components
    if estimator.solver == "hmc":
        chains = min(effective_n_jobs(estimator.n_jobs), int(estimator.chains))
        return _TRAJECTORY_BYTES * n_words * int(estimator.n_components) * chains
    if estimator.solver == "vi" and estimator.learning_method == "batch":
        counts = training.counts
        if counts is not None and climbs(estimator, is_expected(counts)):
            return climb_bytes(n_words, estimator.n_components)
        size = estimator.n_components + 2 * estimator.biases
        return factor_bytes(n_words, size, estimator.covariance == "full")
    return 0


def labels(estimator, training, draws):
    """Names of the dimensions of recorded arrays, and the labels along them."""
    dims = {}
    for name in draws:
        if name.startswith(("rho", "alpha")):
            word = "kept_word" if name.endswith(ROWS) else "word"
            dims[name] = (word,) if "bias" in name else (word, "component")
    coords = {"word": training.words, "component": np.arange(draws["rho"].shape[-1])}
    if any(name.endswith(ROWS) for name in draws):
        coords["kept_word"] = np.asarray(list(estimator.keep_draws), dtype=str)
    return dims, coords


def diagnose(estimator, training, posterior):
    """Warn unless chains have moved and mixed.

    The co-occurrence probabilities of the monitored pairs are what any frame agrees on; the
    coordinates of vectors are what ``rho_`` and ``transform`` average. Anchored chains can mix in
    the first and not in the second.
    """
    stats, attrs = posterior.stats, posterior.attrs
    if attrs["solver"] not in CHAINS:
        return
    advice = "use kernel='polya-gamma'" if attrs["solver"] == "gibbs" else "raise target_accept"
    warn_if_stuck(float(stats["acceptance"].mean()), advice)
    proba = expit(stats["logit"])
    note_mixing(
        attrs,
        rhat(proba),
        "the co-occurrence probabilities (posterior_.stats['logit'])",
    )
    note_mixing(
        attrs,
        rhat(stats["coordinate"]),
        "the coordinates of target vectors (posterior_.stats['coordinate']), which rho_ and "
        "transform average while cosines and probabilities may be fine"
        + (" (anchors=None often mixes faster)," if attrs["anchored"] else ","),
        name="max_rhat_rho",
        limit=COORDINATE_RHAT_LIMIT,
    )
    names = [f"P({label})" for label in posterior.coords["monitored_logit"]]
    note_few(attrs, ess(proba), names, proba[..., 0].size)
