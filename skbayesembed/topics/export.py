"""Topics among words: vectors of both in one space, for other programs."""

from __future__ import annotations

import numpy as np

from ..common.checks import check_list
from ..io.word_vectors import WordVectors
from ..posterior.naming import given_names
from .recording import background_of, has_gaussians


def vectors_of_topics(estimator):
    """Posterior means (n_topics, n_dims) and numbers of the topics that have a vector."""
    posterior = estimator.posterior_
    if has_gaussians(posterior):
        means = posterior.mean("mean")
        return means, np.arange(len(means))
    means, background = posterior.mean("topic_vector"), background_of(posterior)
    numbers = np.delete(np.arange(len(means)), [] if background is None else background)
    return means[numbers], numbers


def words_and_topics(estimator, names):
    """`WordVectors` of the vocabulary and, behind it, of the topics, called by ``names``."""
    means, numbers = vectors_of_topics(estimator)
    if names is None:
        known = given_names(estimator.posterior_, "topic")
        names = (
            [f"topic_{k}" for k in numbers]
            if known is None
            else [f"topic_{name}" for name in known[numbers]]
        )
    names = check_list("names", names, "str")
    n = len(means)
    if len(names) != n:
        raise ValueError(
            f"names must be one for each of the {n} topics with a vector (a background topic has "
            f"none), got {len(names)}."
        )
    vectors = np.vstack([estimator._vectors, means])
    return WordVectors([*estimator.words_.tolist(), *names], vectors)
