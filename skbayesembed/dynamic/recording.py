"""What is recorded of draws: their size, dimensions, traces and diagnoses."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..common.mixing import COORDINATE_RHAT_LIMIT, note_few, note_mixing, warn_if_stuck
from ..inference.contracts import ROWS
from ..posterior.summary import ess, rhat
from ..spine import DRAW_BUDGET, Footprint
from .model import COORDINATES, SIDES

_MONITORED = 100
# Bytes of whole draws of an approximation that are recorded: readings draw from it afresh.
_DRAWN_BUDGET = 2**27


def footprint(estimator, known):
    """`Footprint` of draws of both sides in all periods."""
    k = int(estimator.n_components)
    rows, n_kept = None, 0
    if not isinstance(estimator.keep_draws, str):
        index = np.array([known.vocabulary[w] for w in estimator.keep_draws], dtype=int)
        rows, n_kept = dict.fromkeys(SIDES, (slice(None), index)), index.size
    n_periods = known.periods.n_periods
    size = n_periods * known.words.size * k
    return Footprint(
        # in single precision, beside the noise of one side that they are made of
        draw=(12 if estimator.solver == "vi" else 16) * size,
        trace=8 * (_MONITORED + COORDINATES + 1) + 16 * n_periods * k * n_kept,
        moments=32 * size,
        covariance=False,
        rows=rows,
        budget=_DRAWN_BUDGET if estimator.solver == "vi" else DRAW_BUDGET,
    )


def monitored_places(model):
    """Places (period, target, context) whose logits are traced, ndarray of shape (n, 3).

    Half among the most observed words, half anywhere.
    """
    rng = np.random.default_rng(0)
    n, half = model.n_words, _MONITORED // 2
    weight = model.pairs.observations(0)
    frequent = np.argsort(-weight, kind="stable")[: max(10, n // 10)]
    words = np.vstack([rng.choice(frequent, (half, 2)), rng.integers(n, size=(half, 2))])
    period = rng.integers(model.n_periods, size=len(words))
    # shuffled: of the first of them a coordinate is traced, too
    return rng.permutation(np.unique(np.column_stack([period, words]), axis=0))


def labels(estimator, known, draws):
    """Dimensions of recorded arrays, and the labels along them.

    Words that are kept by name have a dimension of their own, ``kept_word``.
    """
    dims = {
        name: ("period", "kept_word" if name.endswith(ROWS) else "word", "component")
        for name in draws
        if name.startswith(SIDES)
    }
    coords = {
        "period": np.array([str(label) for label in known.periods.labels]),
        "word": known.words,
        "component": np.arange(draws["rho"].shape[-1]),
    }
    if any(name.endswith(ROWS) for name in draws):
        coords["kept_word"] = np.asarray(list(estimator.keep_draws), dtype=str)
    return dims, coords


def diagnose(estimator, known, posterior):
    """Warn unless chains have mixed; there is nothing to say of approximations.

    Co-occurrence probabilities are what any frame agrees on; the coordinates of vectors are what
    ``rho_`` and ``transform`` average.
    """
    stats, attrs = posterior.stats, posterior.attrs
    if "acceptance" in stats:
        warn_if_stuck(float(stats["acceptance"].mean()), "raise target_accept")
    if "logit" not in stats:
        return
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
        "transform average while cosines and probabilities may be fine,",
        name="max_rhat_rho",
        limit=COORDINATE_RHAT_LIMIT,
    )
    if "log_diffusion" in stats:
        note_mixing(
            attrs,
            rhat(stats["log_diffusion"]),
            "the diffusion (posterior_.stats['log_diffusion'])",
            name="max_rhat_diffusion",
        )
    names = [f"P({label})" for label in posterior.coords["monitored_logit"]]
    note_few(attrs, ess(proba), names, proba[..., 0].size)
