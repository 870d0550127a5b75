"""What topics are called: words that tell one from the others, and marks of those unmixed."""

from __future__ import annotations

import numpy as np

from ..common.mixing import COORDINATE_RHAT_LIMIT, FEW_DRAWS, RHAT_LIMIT, beyond
from ..numeric.relevance import first_words
from ..posterior.naming import given_names, named
from ..posterior.sentences import joined
from .recording import ess_of_shares, rhat_of_shares, topic_shares, unmixed_topics

_UNMIXED = f"R-hat above {COORDINATE_RHAT_LIMIT}, or still drifting"
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
    return [f"(* chains not mixed ({_UNMIXED}): read topics {which} as points without intervals)"]


def notes_on_mixing(posterior, topics=None):
    """The same for tables without marks, and `notes_on_rough`; ``topics`` as there."""
    unmixed = _shown(unmixed_topics(posterior), topics)
    if not unmixed.size:
        return notes_on_rough(posterior, topics)
    return [
        f"({_listed(posterior, unmixed)}: chains not mixed ({_UNMIXED}); read "
        "as points without intervals)",
        *notes_on_rough(posterior, topics),
    ]


def notes_on_rough(posterior, topics=None):
    """Lines on topics whose R-hat is too large for exact intervals, but not for any; a list.

    Another is on the fewest effective draws of their shares.

    Parameters
    ----------
    posterior : Posterior
    topics : array-like of int, optional
        Those that the table shows; all by default.
    """
    found = rhat_of_shares(posterior)
    if found is None:
        return []
    few = _note_on_few(posterior, topics)
    # comparisons with NaN are False
    rough = np.flatnonzero(found > RHAT_LIMIT)
    index = _shown(np.setdiff1d(rough, unmixed_topics(posterior)), topics)
    if not index.size:
        return few
    values = joined([beyond(found[k], RHAT_LIMIT) for k in index])
    return [
        f"({_listed(posterior, index)}: R-hat {values}, above {RHAT_LIMIT}; intervals are rough)",
        *few,
    ]


def rough_topics(posterior):
    """Why intervals of some topics are rough, in brackets of a sentence, a dict by topic."""
    found = rhat_of_shares(posterior)
    if found is None:
        return {}
    size, unmixed = ess_of_shares(posterior), unmixed_topics(posterior)
    why = {}
    for k in np.setdiff1d(np.arange(found.size), unmixed).tolist():
        parts = [f"R-hat {beyond(found[k], RHAT_LIMIT)}"] if found[k] > RHAT_LIMIT else []
        parts += [f"{size[k]:.0f} effective draws"] * bool(size[k] < FEW_DRAWS)
        if parts:
            why[k] = joined(parts)
    return why


def _note_on_few(posterior, topics):
    """Line on the fewest effective draws of a share that is shown, if they are few; a list."""
    size = ess_of_shares(posterior)
    # of those that have not mixed there are no intervals
    mixed = np.setdiff1d(np.arange(size.size), unmixed_topics(posterior))
    shown = _shown(mixed, topics)
    if not shown.size or np.isnan(size[shown]).all():
        return []
    k = int(shown[np.nanargmin(size[shown])])
    if size[k] >= FEW_DRAWS:
        return []
    return [
        f"({_listed(posterior, np.array([k]))}: {size[k]:.0f} effective draws of the share, the "
        f"fewest; intervals ask for {FEW_DRAWS})"
    ]


def _shown(index, topics):
    return index if topics is None else np.intersect1d(index, topics)


def _listed(posterior, index):
    """Some topics in words, as ``"topics 3 and 5"``."""
    names = named(given_names(posterior, "topic"), index)
    return f"topic{'s' if index.size > 1 else ''} {joined([str(k) for k in names])}"
