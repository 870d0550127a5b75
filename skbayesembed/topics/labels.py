"""What topics are called: words that tell one from the others, and marks of those unmixed."""

from __future__ import annotations

import numpy as np

from ..common.mixing import FEW_DRAWS, RHAT_LIMIT, SHARE_RHAT_LIMIT, beyond
from ..numeric.relevance import first_words
from ..posterior.naming import given_names, named
from ..posterior.sentences import joined
from .recording import ess_of_shares, rhat_of_shares, topic_shares, unmixed_topics

_UNMIXED = f"R-hat above {SHARE_RHAT_LIMIT}, or still drifting"
# Words of a topic in a row of a table that is about something else.
_SHORT = 4
# Topics up to which a line has the effective draws of each, and not their range.
_EACH = 4


def label_words(estimator, n):
    """The ``n`` words that are most relevant to each topic, (n_topics, n)."""
    shares, proba = topic_shares(estimator.posterior_), estimator._word_proba(estimator.word_proba)
    return estimator.words_[first_words(proba, shares, n, "relevant")]


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


def notes_on_unmixed(unmixed, names=None, partly=False):
    """Lines below a table of topics, some of which have not mixed; a list.

    Where they have intervals ``partly``, what has none is read as a point.
    """
    if unmixed is None or not len(unmixed):
        return []
    which = ", ".join(map(str, named(names, unmixed)))
    read = f"topic {which} as a point" if len(unmixed) == 1 else f"topics {which} as points"
    if partly:
        return [f"(* chains not mixed ({_UNMIXED}): read what has no interval as a point)"]
    return [f"(* chains not mixed ({_UNMIXED}): read {read} without intervals)"]


def notes_on_mixing(posterior, topics=None):
    """The same for tables without marks, and `notes_on_rough`; ``topics`` as there."""
    unmixed = _shown(unmixed_topics(posterior), topics)
    if not unmixed.size:
        return notes_on_rough(posterior, topics)
    return [
        f"({_listed(posterior, unmixed)}: chains not mixed ({_UNMIXED}); read as "
        f"{'a point' if unmixed.size == 1 else 'points'} without intervals)",
        *notes_on_rough(posterior, topics),
    ]


def notes_on_rough(posterior, topics=None):
    """Lines on the topics of `rough_topics`: on large R-hats and on few effective draws; a list.

    Parameters
    ----------
    posterior : Posterior
    topics : array-like of int, optional
        Those that the table shows; all by default.
    """
    known = _mixed_badly(posterior)
    if known is None:
        return []
    found, size, large, few = known
    large, few = _shown(large, topics), _shown(few, topics)
    notes = []
    if large.size:
        values = joined([beyond(found[k], RHAT_LIMIT) for k in large])
        notes = [_note(posterior, large, f"R-hat {values}, above {RHAT_LIMIT}")]
    if few.size:
        fewest = _sizes_in_words(size[few])
        said = f"{fewest} effective draws of the share, below {FEW_DRAWS}"
        notes.append(_note(posterior, few, said))
    return notes


def rough_topics(posterior):
    """Why intervals of some topics are rough, in brackets of a sentence, a dict by topic."""
    known = _mixed_badly(posterior)
    if known is None:
        return {}
    found, size, large, few = known
    why = {}
    for k in np.union1d(large, few).tolist():
        parts = [f"R-hat {beyond(found[k], RHAT_LIMIT)}"] if k in large else []
        if k in few:
            parts.append(f"{_sizes_in_words(size[[k]])} effective draws")
        why[k] = joined(parts)
    return why


def _mixed_badly(posterior):
    """R-hats and effective draws of shares, and the topics whose intervals are rough by either.

    None of draws that are no chains. Topics that have not mixed have no intervals, and are none of
    these.
    """
    found = rhat_of_shares(posterior)
    if found is None:
        return None
    size = ess_of_shares(posterior)
    # comparisons with NaN are False
    by_each = (found > RHAT_LIMIT, size < FEW_DRAWS)
    unmixed = unmixed_topics(posterior)
    return found, size, *(np.setdiff1d(np.flatnonzero(rough), unmixed) for rough in by_each)


def _sizes_in_words(size):
    """Effective draws that are few, those of each topic or their range."""
    whole = [int(min(round(x), FEW_DRAWS - 1)) for x in size]
    if len(whole) <= _EACH:
        return joined([str(x) for x in whole])
    low, high = min(whole), max(whole)
    return str(low) if low == high else f"{low} to {high}"


def _note(posterior, index, said):
    return f"({_listed(posterior, index)}: {said}; intervals are rough)"


def _shown(index, topics):
    return index if topics is None else np.intersect1d(index, topics)


def _listed(posterior, index):
    """Some topics in words, as ``"topics 3 and 5"``."""
    names = named(given_names(posterior, "topic"), index)
    return f"topic{'s' if index.size > 1 else ''} {joined([str(k) for k in names])}"
