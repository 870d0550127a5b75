"""What topics are called: words that tell one from the others, and which is the background."""

from __future__ import annotations

from ..numeric.relevance import first_words
from .recording import has_gaussians


def topic_shares(posterior):
    """Posterior means of the topics' shares of the training tokens, (n_topics,)."""
    tokens = posterior["counts"].sum(axis=-1).mean(axis=(0, 1))
    return tokens / tokens.sum()


def label_words(estimator, n):
    """The ``n`` words that are most relevant to each topic, (n_topics, n)."""
    shares = topic_shares(estimator.posterior_)
    return estimator.words_[first_words(estimator.components_, shares, n, "relevant")]


def background_of(posterior):
    """The topic that is the background of the others, or None."""
    if has_gaussians(posterior) or posterior["topic_vector"][0, 0, 0].any():
        return None
    return 0
