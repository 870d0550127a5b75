"""What topics are called: words that tell one from the others, and marks of those unmixed."""

from __future__ import annotations

import numpy as np

from ..common.mixing import COORDINATE_RHAT_LIMIT
from ..numeric.relevance import first_words
from ..posterior.naming import named
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


def marked(unmixed, names=None):
    """How a column of topics is printed: those whose shares have not mixed with a mark.

    Parameters
    ----------
    unmixed : ndarray of int or None
    names : ndarray of str or None
        Names of the topics, where the column has names.

    Returns
    -------
    str or callable
        As a `Column` takes it.
    """
    if unmixed is None or not len(unmixed):
        return "d"
    which = set(named(names, unmixed).tolist())
    return lambda values: [f"{k}{'*' if k in which else ' '}" for k in values]


def mixed_of(unmixed, n):
    """Whether each of ``n`` topics has mixed, a column of data frames; all without chains."""
    return ~np.isin(np.arange(n), [] if unmixed is None else unmixed)


def notes_on_unmixed(unmixed, names=None):
    """Lines below a table of topics, some of which have not mixed; a list."""
    if unmixed is None or not len(unmixed):
        return []
    which = ", ".join(map(str, named(names, unmixed)))
    return [
        f"(* chains not mixed, R-hat above {COORDINATE_RHAT_LIMIT}: read topics {which} as points "
        "without intervals)"
    ]
