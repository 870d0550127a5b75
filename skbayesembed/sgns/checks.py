"""Checks of the parameters of the skip-gram estimators, before any work."""

from __future__ import annotations

import numpy as np

from ..common.checks import (
    check_bool,
    check_chain_length,
    check_choice,
    check_feature_names,
    check_integer,
    check_iterations,
    check_learning,
    check_real,
    check_word_filters,
    is_number,
    is_whole,
    listed,
)
from .counting import MOST_EXPONENT
from .priors import AUTO, LEARNED, SPECIFICATIONS, InformativePrior

# What intervals may know of: the units of sampling, or the texts alone.
UNCERTAINTIES = ("documents", "model")


def check_parameters(estimator):
    """Raise a ValueError for the first parameter that is not allowed whatever the data."""
    e = estimator
    check_integer("n_components", e.n_components, 1)
    check_choice("kernel", e.kernel, ("auto", "metropolis", "polya-gamma"))
    check_choice("covariance", e.covariance, ("full", "diag"))
    check_learning(e)
    check_choice("uncertainty", e.uncertainty, UNCERTAINTIES)
    check_choice("pair_weights", e.pair_weights, ("token", "pairs"))
    check_bool("balance", e.balance)
    check_by_answer(e.by_answer)
    check_bool("biases", e.biases)
    if e.biases and e.solver not in ("vi", AUTO):
        raise ValueError(f"biases=True is available with solver='vi' only, got {e.solver!r}.")
    check_real("target_accept", e.target_accept, 0, high=0.999)
    _check_prior(e)
    check_choice("features", e.features, ("mean", "mean_std"))
    check_integer("window", e.window, 1)
    check_choice("window_weights", e.window_weights, ("linear", "dynamic", "uniform"))
    check_choice("negative_sampling", e.negative_sampling, ("expected", "sampled"))
    check_real("negative", e.negative, 0)
    check_real("ns_exponent", e.ns_exponent, 0, strict=False, high=MOST_EXPONENT)
    if e.subsample is not None:
        check_real("subsample", e.subsample, 0)
    check_word_filters(e)
    check_iterations(e)
    check_chain_length(e)
    _check_anchors(e.anchors, e.n_components)
    check_kept(e.keep_draws)
    check_feature_names(e.feature_names)


def check_by_answer(value):
    """Raise a ValueError for a ``by_answer`` that is not allowed."""
    if not (isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == AUTO)):
        raise ValueError(f"by_answer must be True, False or 'auto', got {value!r}.")


def one_by_one(estimator):
    """Whether answers are asked for one by one, whatever the sizes; not of what has no choice."""
    by_answer = getattr(estimator, "by_answer", AUTO)
    return not isinstance(by_answer, str) and bool(by_answer)


def _check_prior(e):
    """Check ``prior``, ``prior_precision`` and ``hyperprior``, and what goes with them."""
    if isinstance(e.prior, SPECIFICATIONS):
        e.prior.check()
    elif not isinstance(e.prior, str) or e.prior not in ("normal", "ard"):
        raise ValueError(
            "prior must be 'normal', 'ard', a GraphPrior, a GroupedPrior or an InformativePrior, "
            f"got {e.prior!r}."
        )
    learned = isinstance(e.prior_precision, str) and e.prior_precision == LEARNED
    if not learned:
        if not isinstance(e.prior_precision, str):
            check_real("prior_precision", e.prior_precision, 0)
        elif e.prior_precision != AUTO:
            raise ValueError(
                "prior_precision must be a number > 0, 'auto' or 'learned', got "
                f"{e.prior_precision!r}."
            )
    _check_hyperprior(e.hyperprior)
    ard = isinstance(e.prior, str) and e.prior == "ard"
    what = "prior='ard'" if ard else "prior_precision='learned'"
    if (ard or learned) and e.solver in ("map", "laplace"):
        raise ValueError(
            f"{what} is not available with solver={e.solver!r}: the joint density of vectors and "
            "their precision has its mode at vectors of zero. Use solver='gibbs', 'hmc' or 'vi'."
        )
    informative = isinstance(e.prior, InformativePrior)
    if informative and learned:
        raise ValueError(
            "prior_precision='learned' is not available with an InformativePrior: give a number."
        )
    named = e.anchors is not None and not isinstance(e.anchors, str)
    if named and (ard or learned or informative):
        what = "an InformativePrior" if informative else what
        raise ValueError(f"anchors must be 'pivot' or None with {what}, got {e.anchors!r}.")


def _check_hyperprior(value):
    if value is None:
        return
    good = isinstance(value, tuple | list) and len(value) == 2
    if good:
        good = all(map(is_number, value))
    if not good or not all(0 < v < np.inf for v in value):
        raise ValueError(
            f"hyperprior must be None or a pair (shape, rate) of numbers > 0, got {value!r}."
        )


def _check_anchors(anchors, n_components):
    if anchors is None or (isinstance(anchors, str) and anchors in ("pivot", "last")):
        return
    allowed = "'pivot', 'last', None or a list of words"
    words = listed(anchors)
    if words is None or not all(isinstance(w, str) or is_whole(w) for w in words):
        raise ValueError(f"anchors must be {allowed}, got {anchors!r}.")
    if len(words) != n_components:
        raise ValueError(
            f"anchors must name n_components={n_components} words, got {len(words)}: {words!r}."
        )


def check_kept(keep_draws):
    """Raise a ValueError unless ``keep_draws`` is ``"auto"``, ``"all"`` or a list of words."""
    if isinstance(keep_draws, str) and keep_draws in ("auto", "all"):
        return
    words = listed(keep_draws)
    if not words or not all(isinstance(w, str) for w in words):
        raise ValueError(
            f"keep_draws must be 'auto', 'all' or a list of words, got {keep_draws!r}."
        )


def check_words(estimator, vocabulary):
    """Raise a ValueError unless ``anchors`` and ``keep_draws`` name different known words."""
    for name in ("anchors", "keep_draws"):
        check_known(name, getattr(estimator, name), vocabulary)


def check_known(name, value, vocabulary):
    """Raise a ValueError if ``value`` is a list, unless of different known words."""
    if value is None or isinstance(value, str):
        return
    value = list(value)
    index = [vocabulary.get(w) if isinstance(w, str) else int(w) for w in value]
    unknown = [
        w for w, i in zip(value, index, strict=True) if i is None or not 0 <= i < len(vocabulary)
    ]
    if unknown:
        raise ValueError(
            f"{name} has words outside the vocabulary of {len(vocabulary)}: {unknown[:5]!r}."
        )
    if len(set(index)) != len(index):
        raise ValueError(f"{name} must name different words, got {value!r}.")
