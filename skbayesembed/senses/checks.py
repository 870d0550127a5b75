"""Checks of the parameters of `DiSCSenseModel`, and of what its methods are asked for."""

from __future__ import annotations

from ..common.checks import (
    check_chain_length,
    check_choice,
    check_feature_names,
    check_integer,
    check_iterations,
    check_keep_draws,
    check_real,
    check_word_filters,
    is_whole,
    listed,
)
from ..corpus.analysis import why_unknown
from ..corpus.embedding import check_embedding_draws, source_of
from ..corpus.known import check_place
from ..corpus.spelling import offer
from ..posterior.naming import given_names, named, place_of
from ..posterior.sentences import joined
from .priors import prior_of

# What a solver may be asked to move by, its own choice first.
KERNELS = {
    "hmc": ("hmc", "nuts", "blockwise"),
    "gibbs": ("metropolis", "polya-gamma", "uniform", "approximate"),
}

# Seeds of starts are numbered up to there: those of what follows them begin behind.
_MOST_STARTS = 2**20

# Models whose word logits have parts that are not drawn one by one.
_NOT_BLOCKWISE = ("interaction", "edisc")


def check_parameters(estimator):
    """Raise a ValueError for the first parameter that is not allowed whatever the data."""
    e = estimator
    check_integer("n_senses", e.n_senses, 1)
    prior = prior_of(e)
    if e.solver == "gibbs" and e.model in _NOT_BLOCKWISE:
        raise ValueError(
            f"solver='gibbs' is not available for DiSCSenseModel with model={e.model!r}: use "
            "solver='hmc'."
        )
    _check_embedding(e)
    if e.solver == "gibbs" and prior.flat:
        raise ValueError(
            f"solver='gibbs' needs a finite prior.{prior.flat[0]}: under a flat prior of the first "
            "period the posterior is improper, and a sense without snippets has no distribution to "
            "draw from."
        )
    _check_kernel(e)
    _check_power(e)
    if not (isinstance(e.n_starts, str) and e.n_starts == "auto"):
        check_integer("n_starts", e.n_starts, 1, "'auto' or ", high=_MOST_STARTS)
    check_word_filters(e)
    check_feature_names(e.feature_names)
    check_chain_length(e, auto=True)
    check_embedding_draws(e)
    check_keep_draws(e.keep_draws)
    if e.target_accept is not None:
        check_real("target_accept", e.target_accept, 0, high=0.999)
    check_iterations(e)


def _check_kernel(e):
    check_choice("kernel", e.kernel, ("auto", *KERNELS["hmc"], *KERNELS["gibbs"]))
    allowed = KERNELS.get(e.solver, ())
    if e.kernel != "auto" and e.kernel not in allowed:
        choices = " or ".join(repr(name) for name in ("auto", *allowed))
        raise ValueError(
            f"kernel={e.kernel!r} is not available for DiSCSenseModel with solver={e.solver!r}: "
            f"use {choices}."
        )
    if e.kernel == "blockwise" and e.model in _NOT_BLOCKWISE:
        raise ValueError(
            f"kernel='blockwise' is not available for DiSCSenseModel with model={e.model!r}: use "
            "'hmc' or 'nuts'."
        )


def _check_power(e):
    by_sense = "solver='gibbs'" if e.solver == "gibbs" else "kernel='blockwise'"
    if e.likelihood_power != 1 and (e.solver == "gibbs" or e.kernel == "blockwise"):
        raise ValueError(
            f"{by_sense} needs likelihood_power=1, got {e.likelihood_power!r}: it draws with the "
            "likelihood of eq. 9 as it is. Use solver='hmc' with kernel='hmc' or 'nuts'."
        )


def _check_embedding(e):
    """That vectors are given where they are used; which, only words tell."""
    if e.model == "edisc":
        source_of(e.embedding)
    elif e.embedding is not None:
        raise ValueError(
            f"embedding must be None with model={e.model!r}, which has no word vectors, got "
            f"{type(e.embedding).__name__}: use model='edisc'."
        )
    elif e.embedding_draws is not None:
        raise ValueError(
            f"embedding_draws must be None with model={e.model!r}, which has no word vectors, got "
            f"{e.embedding_draws!r}: use model='edisc'."
        )


def kernel_of(estimator):
    """The kernel asked for, or the solver's own; None where it has none."""
    if estimator.kernel != "auto":
        return estimator.kernel
    return KERNELS.get(estimator.solver, (None,))[0]


def sense_index(estimator, sense, what="sense"):
    """Number of a sense, which may be asked for by its name; ``what`` is the argument's."""
    names = given_names(estimator.posterior_, "sense")
    return place_of(names, estimator.prevalence_.shape[0], sense, what)


def sense_indices(estimator, sense, what="sense"):
    """Numbers of one sense, or of several whose prevalences are added up, a list.

    All senses together always have the prevalence one, and are refused. ``what`` is the name of the
    argument, for errors.
    """
    several = listed(sense)
    if several is None:
        return [sense_index(estimator, sense, what)]
    found = [sense_index(estimator, one, what) for one in several]
    n_senses = estimator.prevalence_.shape[0]
    if not 0 < len(set(found)) == len(found) < n_senses:
        raise ValueError(
            f"{what} must be one sense, or a list of different ones but not of all {n_senses}, got "
            f"{sense!r}."
        )
    return found


def sense_rows(estimator, senses):
    """Senses that are asked for in a table, a list for each row; None where all are.

    Parameters
    ----------
    estimator : DiSCSenseModel
        Fitted.
    senses : list or None
        Senses by number or name; a list among them is of senses that are added up.
    """
    if senses is None:
        return None
    asked = listed(senses)
    if not asked:
        raise ValueError(
            f"senses must be a list of senses, or of lists of those to add up, got {senses!r}."
        )
    rows = [sense_indices(estimator, one, "an entry of senses") for one in asked]
    together = [sense for row in rows for sense in row]
    twice = sorted({sense for sense in together if together.count(sense) > 1})
    if twice:
        names = given_names(estimator.posterior_, "sense")
        which = joined([str(name) for name in named(names, twice)])
        raise ValueError(
            f"senses must have each sense in one row at most, so that rows can be added up, got "
            f"{senses!r}, which has {which} more than once: ask for each table by itself."
        )
    return rows


def word_index(estimator, word):
    """Place of a word (or of an integer index) in the vocabulary; KeyError where there is none."""
    n_words = estimator.words_.size
    if is_whole(word) and 0 <= word < n_words:
        check_place(estimator, int(word), "word")
        return int(word)
    found = estimator.vocabulary_.get(word) if isinstance(word, str) else None
    if found is None:
        nameless = "x0" in estimator.vocabulary_ and estimator.feature_names is None
        hint = offer(estimator.words_.tolist(), word)
        hint += " Name the columns of X by feature_names=." if nameless else ""
        raise KeyError(
            f"word={word!r} is not in the vocabulary of {n_words} words "
            f"({why_unknown(estimator, word, means=False)}); allowed is a word of vocabulary_ as a "
            f"str, or its index as an int.{hint}"
        )
    return found
