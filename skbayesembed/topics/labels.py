"""What topics are called: words that tell one from the others."""

from __future__ import annotations

import numpy as np

from ..numeric.relevance import first_words
from .recording import topic_shares

# Words of a topic in a row of a table that is about something else.
_SHORT = 4


def label_words(estimator, n):
    """The ``n`` words that are most relevant to each topic, (n_topics, n)."""
    shares = topic_shares(estimator.posterior_)
    return estimator.words_[first_words(estimator.components_, shares, n, "relevant")]


def labels_of(estimator):
    """The first of these words in one text, (n_topics,)."""
    return np.array([" ".join(words) for words in label_words(estimator, _SHORT)])
