"""What users pass where a word is taken: a word, its index, a list of either, or an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...common.checks import is_whole
from ...common.warnings import warn_user
from ...corpus.analysis import why_unknown
from ...corpus.known import check_place
from ...corpus.spelling import offer as offer_of
from ...posterior.cells import cut_list
from .operands import Operands

# Unknown words of a list for which others are looked for, and those that are named.
_LOOKED_UP, _NAMED = 5, 20
# Digits of weights that are not rounding errors.
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Phrase:
    """Words of the vocabulary with weights, and what they are called.

    Attributes
    ----------
    label : str
        Of a list all its words; `cut_list` makes of it what is printed.
    index : ndarray of int of shape (n,)
    weights : ndarray of shape (n,)
        Of unit vectors.
    """

    label: str
    index: np.ndarray
    weights: np.ndarray

    @property
    def is_mean(self) -> bool:
        """Whether it stands for the mean of several words."""
        return self.index.size > 1 and bool(np.all(self.weights > 0))

    @property
    def direction(self) -> frozenset:
        """Its words with their weights: that of two phrases is equal where they say the same.

        Empty for an axis from words to themselves.
        """
        places, row = np.unique(self.index, return_inverse=True)
        weights = np.bincount(row, self.weights, places.size).round(_DIGITS).tolist()
        return frozenset((i, w) for i, w in zip(places.tolist(), weights, strict=True) if w)

    def named(self, *, cut: bool = False) -> str:
        """What titles and sentences call it, of a list with all words unless it is ``cut``.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed.sgns.questions.phrases import Phrase
        >>> Phrase("war, peace", np.array([0, 1]), np.full(2, 0.5)).named()
        "the mean of 'war, peace'"
        """
        label = cut_list(self.label) if cut else self.label
        return f"{'the mean of ' if self.is_mean else ''}{label!r}"

    def less(self, other, label):
        """The `Phrase` of the difference of two."""
        return Phrase(
            label,
            np.concatenate([self.index, other.index]),
            np.concatenate([self.weights, -other.weights]),
        )

    def plus(self, other, label):
        """The `Phrase` of the sum of two."""
        return self.less(Phrase("", other.index, -other.weights), label)


def phrase_of(estimator, what, name):
    """The `Phrase` of what a user passed as the argument ``name``.

    A word has its unit vector, a list the mean of the unit vectors of its words, each counted once;
    an axis the mean of its one end less that of the other.

    Raises
    ------
    KeyError
        For a word that is not in the vocabulary, and a list without one that is.
    ValueError
        For an empty list, and an axis from words to themselves.

    Warns
    -----
    UserWarning
        Where words of a list are left out.
    """
    if isinstance(what, Axis):
        high, low = (phrase_of(estimator, end, name) for end in (what.high, what.low))
        axis = high.less(low, what.label)
        if not axis.direction:
            raise ValueError(
                f"{name} must go from some words to others, got {what!r}: from words to themselves "
                "there is no direction."
            )
        return axis
    if is_list(what):
        index = list_index(estimator, what, name)
        label = label_of(estimator.words_[index])
        return Phrase(label, index, np.full(index.size, 1.0 / index.size))
    index = word_index(estimator, what, name)
    return Phrase(str(estimator.words_[index]), np.array([index]), np.ones(1))


def are_same(a, b):
    """Whether two phrases are the same, so that their cosine is 1 whatever the vectors."""
    return a.direction == b.direction


def is_list(what):
    """Whether an argument is a list of words."""
    return isinstance(what, list | tuple | set | frozenset) or (
        isinstance(what, np.ndarray) and what.ndim == 1
    )


def label_of(words):
    """What a list of words is called; tables print it as of `cut_list`."""
    return ", ".join(map(str, words))


def word_index(estimator, word, name):
    """Place of a word (or of an integer index) in the vocabulary; KeyError where there is none."""
    if is_whole(word):
        if 0 <= word < estimator.words_.size:
            check_place(estimator, int(word), name)
            return int(word)
        meant = f" For the word {str(word)!r} pass a str." * (str(word) in estimator.vocabulary_)
        raise KeyError(
            f"{name}={word!r} is out of range: the vocabulary has {estimator.words_.size} words."
            f"{meant}"
        )
    if is_list(word):
        raise KeyError(
            f"{name} has a list in the place of a word, {word!r:.60}, which is not in the "
            "vocabulary: pass words, each as a str or an int."
        )
    found = estimator.vocabulary_.get(word) if isinstance(word, str) else None
    if found is None:
        why = why_unknown(estimator, word)
        raise KeyError(
            f"{name}={word!r} is not in the vocabulary of {estimator.words_.size} words "
            f"({why}); pass a word that is in vocabulary_, as a str, or its index, as an int"
            f"{_to_keep(estimator) if why.endswith('rare words') else ''}."
            f"{offer_of(estimator.words_.tolist(), word)}"
        )
    return found


def _to_keep(estimator):
    """What keeps more words at the next fit, behind a message."""
    ways = ["raise max_features"] * (estimator.max_features is not None)
    ways += ["lower min_count"] * (estimator.min_count > 1)
    return f"; to have rarer words, {', or '.join(ways)}, and fit again"


def list_index(estimator, words, name):
    """Places of those words of a list that are in the vocabulary, each once, in their order."""
    given = sorted(words) if isinstance(words, set | frozenset) else list(words)
    if not given:
        raise ValueError(f"{name} must name at least one word, got an empty list.")
    found, missing = [], []
    for word in given:
        # an index out of range and what is no word are errors, not words that are missing
        if isinstance(word, str) and word not in estimator.vocabulary_:
            missing.append(word)
        else:
            found.append(word_index(estimator, word, name))
    if missing:
        report = _report(estimator, missing, len(given), name)
        if not found:
            raise KeyError(report)
        warn_user(f"{report} The others are taken.", UserWarning)
    return np.array(list(dict.fromkeys(found)))


def _report(estimator, missing, n, name):
    """Which words of a list are missing, and what they might have been."""
    named = []
    for i, word in enumerate(missing[:_NAMED]):
        why = why_unknown(estimator, word)
        offer = offer_of(estimator.words_.tolist(), word)[1:] if i < _LOOKED_UP else ""
        offer = "a stop word" if "stop_words" in why else offer
        named.append(f"{word!r} ({offer})" if offer else repr(word))
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return (
        f"{name}: {len(missing)} of {n} words are not in the vocabulary of "
        f"{estimator.words_.size} words: {', '.join(named)}{more}."
    )


def operands_of(phrases, n_places, shift=0, side=0):
    """`Operands` of phrases, whose words are at the places ``shift + index``."""
    sizes = [p.index.size for p in phrases]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    index = np.concatenate([p.index for p in phrases]) + shift
    weights = np.concatenate([p.weights for p in phrases])
    # a word that stands at both ends of an axis has the sum of its weights
    rows = np.repeat(np.arange(len(phrases)), sizes)
    array = sparse.coo_array((weights, (rows, index)), shape=(offsets.size - 1, n_places)).tocsr()
    array.sum_duplicates()
    array.eliminate_zeros()
    n = len(phrases)
    return Operands(array, np.full(n, side), np.ones(n, bool))


def known_axis(estimator, high, low):
    """The `Axis` between the words of two ends that are in the vocabulary."""
    ends = []
    for name, end in (("high", high), ("low", low)):
        if isinstance(end, Axis):
            raise ValueError(f"{name} must be a word or a list of words, got the axis {end!r}.")
        index = phrase_of(estimator, end, name).index
        words = estimator.words_[index].tolist()
        ends.append(words if is_list(end) else words[0])
    axis = Axis(*ends)
    phrase_of(estimator, axis, "axis")
    return axis


class Axis:
    """The direction from one word, or list of words, to another.

    An axis can be used wherever a word can. A similarity with it is the projection of a word on it:
    the cosine with the mean of the unit vectors of ``high`` less that of ``low``.

    Parameters
    ----------
    high, low : str, int or list of either

    Attributes
    ----------
    high, low
        As given.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
    >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
    >>> model = model.fit(texts)
    >>> axis = model.axis("dog", "cat")
    >>> model.similarity("mat", axis).interval.shape
    (2,)
    """

    def __init__(self, high, low):
        self.high, self.low = high, low

    @property
    def label(self) -> str:
        """Name of the axis in tables."""
        high, low = (label_of(end) if is_list(end) else str(end) for end in (self.high, self.low))
        return f"{low} -> {high}"

    def __repr__(self) -> str:
        return f"Axis({self.high!r}, {self.low!r})"
