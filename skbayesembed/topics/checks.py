"""Checks of the parameters of `GaussianLDA`, before any work."""

from __future__ import annotations

import numpy as np

from ..common.checks import (
    as_floats,
    check_bool,
    check_chain_length,
    check_choice,
    check_feature_names,
    check_integer,
    check_iterations,
    check_keep_draws,
    check_learning,
    check_real,
    check_word_filters,
)
from ..common.power import check_power
from ..corpus.embedding import check_embedding_draws
from ..posterior.naming import given_names, place_of
from .model import count_parameters

KERNELS = ("auto", "sampled", "alias", "reference")
WORD_PROBAS = ("count", "density")
WORD_MODELS = ("gaussian", "dirichlet")
# Of the Gaussians: what else than the default has no part in Dirichlet priors of words.
_OF_GAUSSIANS = {
    "kernel": "auto", "likelihood_power": 1.0, "mean_prior": None, "mean_precision_prior": None,
    "degrees_of_freedom_prior": None, "covariance_prior": None,
}  # fmt: skip
_DIRICHLET_SOLVERS = ("gibbs", "vi")
LEARNED = ("symmetric", "asymmetric")
# A gradient by so many takes 10 to 30 ms, and a draw tens of gradients.
MAX_PARAMETERS = 20_000
# Dirichlet parameter of the background topic, where those of the others are chosen too.
BACKGROUND_ALPHA = 2.0


def check_parameters(estimator):
    """Raise a ValueError for the first parameter that is not allowed whatever the data."""
    e = estimator
    check_integer("n_components", e.n_components, 1)
    check_choice("kernel", e.kernel, KERNELS)
    if e.normalize is not None:
        check_choice("normalize", e.normalize, ("unit", "center"))
    check_power(e.likelihood_power)
    _check_topic_prior(e)
    _check_vector_priors(e)
    check_choice("word_proba", e.word_proba, WORD_PROBAS)
    check_choice("word_model", e.word_model, WORD_MODELS)
    check_bool("background", e.background)
    check_choice("init", e.init, ("auto", "documents", "words"))
    check_learning(e)
    _check_start(e)
    check_real("learning_offset", e.learning_offset, 0, strict=False)
    check_real("learning_decay", e.learning_decay, 0.5, high=1.0)
    check_choice("features", e.features, ("mean", "mean_std"))
    check_word_filters(e)
    check_feature_names(e.feature_names)
    check_chain_length(e, auto=True)
    check_embedding_draws(e)
    check_keep_draws(e.keep_draws)
    check_real("target_accept", e.target_accept, 0, high=0.999)
    check_iterations(e)
    if e.word_model == "dirichlet":
        _check_dirichlet(e)


def _check_dirichlet(e):
    """Raise a ValueError for what ``word_model="dirichlet"`` does not take."""
    if e.solver not in _DIRICHLET_SOLVERS:
        raise ValueError(
            f"solver={e.solver!r} is not available with word_model='dirichlet': use "
            + " or ".join(f"solver={name!r}" for name in _DIRICHLET_SOLVERS)
            + ", or word_model='gaussian'."
        )
    for name, default in _OF_GAUSSIANS.items():
        value = getattr(e, name)
        if value is not default and not (np.ndim(value) == 0 and value == default):
            raise ValueError(
                f"{name} applies to word_model='gaussian' only; leave it at {default!r} (in a "
                "search over both models give each a grid of its own: [{'word_model': "
                f"['gaussian'], {name!r}: [...]}}, {{'word_model': ['dirichlet']}}]), got "
                f"{value!r}."
            )


def _check_start(e):
    """Raise a ValueError for a start from documents where minibatches are read from the first."""
    if (e.init, e.learning_method, e.word_model) == ("documents", "online", "gaussian"):
        raise ValueError(
            "init='documents' is not available with learning_method='online' and "
            "word_model='gaussian', whose topics start from the words: use init='auto' or 'words', "
            "learning_method='batch', or word_model='dirichlet'."
        )


def _check_topic_prior(e):
    learned = e.learn_doc_topic_prior
    if learned is not False and not (isinstance(learned, str) and learned in LEARNED):
        raise ValueError(
            "learn_doc_topic_prior must be False, 'symmetric' or 'asymmetric', got "
            f"{e.learn_doc_topic_prior!r}."
        )
    if learned is not False and e.solver not in ("gibbs", "vi"):
        raise ValueError(
            f"learn_doc_topic_prior={learned!r} is not available with solver={e.solver!r}: use "
            "solver='gibbs' or 'vi'."
        )
    if learned is not False and e.solver == "gibbs" and e.warmup == 0:
        raise ValueError(
            f"learn_doc_topic_prior={learned!r} is learned while chains warm up: warmup must be 1 "
            "or more, got 0."
        )
    if not (isinstance(e.doc_topic_prior, str) and e.doc_topic_prior == "auto"):
        topic_prior(e)


def count_background(estimator):
    """1 where topic 0 is one of background words, which takes a second topic, else 0."""
    of_words = estimator.word_model == "dirichlet"
    return int(of_words and bool(estimator.background) and estimator.n_components > 1)


def automatic_prior(estimator):
    """Dirichlet parameters (K,) of ``doc_topic_prior="auto"``: one over K, more for background."""
    out = np.full(estimator.n_components, 1.0 / estimator.n_components)
    out[: count_background(estimator)] = BACKGROUND_ALPHA
    return out


def topic_prior(estimator):
    """Parameters (K,) of the Dirichlet prior of documents; ValueError where they are none."""
    value, k = estimator.doc_topic_prior, estimator.n_components
    if isinstance(value, str) and value == "auto":
        return automatic_prior(estimator)
    alpha = _numbers("doc_topic_prior", value)
    if alpha.shape not in ((), (k,)) or not alpha.min() > 0:
        raise ValueError(
            "doc_topic_prior must be 'auto', a number > 0 or n_components="
            f"{k} of them, got {value!r}."
        )
    return np.array(np.broadcast_to(alpha, k))


def _check_vector_priors(e):
    for name in ("mean_precision_prior", "degrees_of_freedom_prior"):
        if getattr(e, name) is not None:
            check_real(name, getattr(e, name), 0)
    if e.mean_prior is not None and _numbers("mean_prior", e.mean_prior).ndim != 1:
        raise ValueError(
            f"mean_prior must be None or an array of shape (n_dims,), got {e.mean_prior!r}."
        )
    if e.covariance_prior is not None:
        scale = _numbers("covariance_prior", e.covariance_prior)
        good = scale.ndim in (0, 2)
        if scale.ndim == 0:
            good = scale > 0
        elif scale.ndim == 2:
            good = scale.shape[0] == scale.shape[1] and np.allclose(scale, scale.T)
            good = good and np.linalg.eigvalsh(scale).min() > 0
        if not good:
            raise ValueError(
                "covariance_prior must be None, a number > 0 or a symmetric positive definite "
                f"matrix (n_dims, n_dims), got {e.covariance_prior!r}."
            )


def _numbers(name, value):
    """A float array of finite numbers."""
    try:
        out = as_floats(value)
    except ValueError:
        out = np.full(1, np.nan)
    if isinstance(value, str | bool) or not np.isfinite(out).all() or not out.size:
        raise ValueError(f"{name} must hold finite numbers, got {value!r}.")
    return out


def check_dimensions(estimator, n_dims):
    """Raise a ValueError where the priors of topics do not fit vectors of length ``n_dims``."""
    e = estimator
    for name, shape in (("mean_prior", (n_dims,)), ("covariance_prior", (n_dims, n_dims))):
        value = getattr(e, name)
        got = () if value is None else np.shape(value)
        if got and got != shape:
            raise ValueError(
                f"{name} must have shape {shape}, as the vectors have length {n_dims}, got {got}."
            )
    freedom = e.degrees_of_freedom_prior
    # without a covariance of its own the prior's mean of covariances must exist
    least = n_dims - 1 if e.covariance_prior is not None else n_dims + 1
    if freedom is not None and freedom <= least:
        raise ValueError(
            f"degrees_of_freedom_prior must be > {least} for vectors of length {n_dims}"
            + ("" if e.covariance_prior is not None else " without a covariance_prior")
            + f", got {freedom!r}."
        )


def check_size(estimator, n_documents, n_dims):
    """Raise a ValueError where more than ``MAX_PARAMETERS`` parameters are looked for at once."""
    solver, k = estimator.solver, estimator.n_components
    size = count_parameters(n_documents, k, n_dims)
    if size > MAX_PARAMETERS:
        raise ValueError(
            f"solver={solver!r} works on all parameters at once, and there are {size}: "
            f"{n_documents} documents times {k - 1} logits of topics, and "
            f"{k} topics with {n_dims} means and {n_dims * (n_dims + 1) // 2} entries "
            f"of a covariance. More than {MAX_PARAMETERS} take too long: use solver='gibbs', "
            "which is exact, or solver='vi'; or fewer documents, topics or dimensions."
        )


def document_weights(sample_weight, n_documents):
    """Weights (n_documents,) of the documents of a score; ValueError where they are none."""
    try:
        weights = as_floats(sample_weight)
    except ValueError as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from error
    if weights.shape != (n_documents,):
        raise ValueError(
            f"sample_weight must have one entry for each of the {n_documents} documents, got "
            f"shape {weights.shape}."
        )
    if not (np.isfinite(weights).all() and np.all(weights >= 0) and weights.any()):
        raise ValueError(
            f"sample_weight must hold finite numbers >= 0, not all of them 0, got {weights!r}."
        )
    return weights


def topic_index(estimator, topic):
    """Number of a topic, which may be asked for by its name."""
    names = given_names(estimator.posterior_, "topic")
    return place_of(names, len(estimator.components_), topic, "topic")
