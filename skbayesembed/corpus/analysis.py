"""How the parameters of an estimator say that documents are cut into tokens, by scikit-learn."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from ..common.checks import listed, other_than_default
from ..common.warnings import warn_user

# Cuts a document into its tokens.
Analyzer = Callable[[Any], list[str]]

_ANALYZERS = ("word", "char", "char_wb")
# Parameters by which texts are read that other kinds of input make no use of, and what is said of
# these. By the others an estimator fitted on token lists reads later texts.
_UNREAD = {
    "text": (),
    "tokens": ("stop_words",),
    "counts": ("analyzer", "lowercase", "stop_words", "token_pattern"),
}
# Parameters that say which words of another kind of input are pairs, and what they are in this one.
_IN_WINDOWS = ("pair_weights",), "pairs are those of a window, which window_weights weighs"
_IN_ROWS = (
    ("window", "window_weights", "subsample"),
    "all tokens of a row are pairs, which pair_weights weighs",
)
_OTHER_PAIRS = {"text": _IN_WINDOWS, "tokens": _IN_WINDOWS, "counts": _IN_ROWS}
_SAID = {"text": "text", "tokens": "token lists", "counts": "a count matrix"}
_MADE_BY = {"tokens": "makes the tokens", "counts": "counts, such as CountVectorizer"}


def make_analyzer(
    analyzer: str | Analyzer = "word",
    *,
    lowercase: bool = True,
    stop_words: str | Iterable[str] | None = None,
    token_pattern: str = r"(?u)\b\w\w+\b",
) -> Analyzer:
    r"""Make the function that cuts a document into tokens, as scikit-learn's vectorizers do.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        A callable takes a document and returns its tokens; the other parameters are then unused.
    lowercase : bool, default=True
        Whether documents are lower-cased first.
    stop_words : {"english"}, list of str or None, default=None
        Words to drop (only for ``analyzer="word"``); "english" is scikit-learn's list.
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Regular expression of a token (only for ``analyzer="word"``).

    Returns
    -------
    analyze : callable
        ``analyze(document) -> list of str``.

    Raises
    ------
    ValueError
        If ``analyzer`` or ``stop_words`` is a string with no meaning, a stop word is no string, or
        ``token_pattern`` is not a regular expression with at most one group.

    Examples
    --------
    >>> from skbayesembed.corpus.analysis import make_analyzer
    >>> make_analyzer()("The cat sat; the dog ran.")
    ['the', 'cat', 'sat', 'the', 'dog', 'ran']
    """
    if not callable(analyzer) and not (isinstance(analyzer, str) and analyzer in _ANALYZERS):
        raise ValueError(
            f"analyzer must be a callable or one of {', '.join(map(repr, _ANALYZERS))}, "
            f"got {analyzer!r}."
        )
    stop_words = _checked_stops(stop_words)
    if analyzer == "word" and not isinstance(token_pattern, str):
        raise ValueError(
            f"token_pattern must be a str (a regular expression), got {token_pattern!r}."
        )
    vectorizer = CountVectorizer(
        analyzer=analyzer, lowercase=lowercase, stop_words=stop_words, token_pattern=token_pattern
    )
    try:
        return vectorizer.build_analyzer()
    except Exception as error:
        raise ValueError(
            f"analyzer={analyzer!r}, stop_words={stop_words!r} and token_pattern={token_pattern!r} "
            f"do not make an analyzer: {error}"
        ) from error


def _checked_stops(stop_words):
    """``stop_words`` as scikit-learn takes them; a ValueError for what it has no use for."""
    if stop_words is None or (isinstance(stop_words, str) and stop_words == "english"):
        return stop_words
    stops = list(stop_words) if isinstance(stop_words, Mapping) else listed(stop_words)
    allowed = "stop_words must be 'english', a list of str or None"
    if stops is None:
        raise ValueError(f"{allowed}, got {reprlib.repr(stop_words)}.")
    other = next((word for word in stops if not isinstance(word, str)), None)
    if other is not None:
        decode = ": decode it to str" if isinstance(other, bytes) else ""
        raise ValueError(f"{allowed}, got {reprlib.repr(other)} among them{decode}.")
    return stops


def analyzer_of(estimator: Any, kind: str) -> Analyzer | None:
    """The analyzer that an estimator's parameters ask for; None if documents are token lists.

    Parameters
    ----------
    estimator : estimator
        With ``analyzer``, ``lowercase``, ``stop_words`` and ``token_pattern``.
    kind : str
        As of `input_kind`.
    """
    if kind != "text":
        return None
    return make_analyzer(
        estimator.analyzer,
        lowercase=estimator.lowercase,
        stop_words=estimator.stop_words,
        token_pattern=estimator.token_pattern,
    )


def warn_of_unread(estimator: Any, kind: str) -> None:
    """Warn of parameters of an estimator that say how another kind of input is read.

    Parameters
    ----------
    estimator : estimator
        With ``feature_names`` and what `analyzer_of` reads.
    kind : str
        Of what it is fitted on, as of `input_kind`.
    """
    if kind != "counts" and estimator.feature_names is not None:
        warn_user(
            f"feature_names is not used for X, which is {_SAID[kind]}, whose words are those that "
            "occur: it names the columns of a count matrix. Leave it out.",
            UserWarning,
        )
    given = other_than_default(estimator, _UNREAD[kind])
    if given:
        are, say, them = ("are", "they say", "them") if len(given) > 1 else ("is", "it says", "it")
        warn_user(
            f"{' and '.join(given)} {are} not used for X, which is {_SAID[kind]}: {say} how texts "
            f"are cut into words. Give {them} to what {_MADE_BY[kind]}, or pass texts.",
            UserWarning,
        )
    _warn_of_other_pairs(estimator, kind)


def _warn_of_other_pairs(estimator, kind):
    """Warn of parameters that say which words of another kind of input are pairs."""
    names, instead = _OTHER_PAIRS[kind]
    names = [name for name in names if hasattr(estimator, name)]
    if given := other_than_default(estimator, names):
        are, them = ("are", "them") if len(given) > 1 else ("is", "it")
        warn_user(
            f"{' and '.join(given)} {are} not used for X, which is {_SAID[kind]}: {instead}. Leave "
            f"{them} out.",
            UserWarning,
        )


def why_unknown(estimator: Any, word: Any, *, means: bool = True) -> str:
    """Why a word may be missing from the vocabulary of an estimator, for messages.

    Parameters
    ----------
    estimator : estimator
        With ``stop_words``, ``min_count`` and ``max_features``.
    word : object
        A str or what a user gave for one.
    means : bool, default=True
        Whether a list of words is allowed, and stands for their mean.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.corpus.analysis import why_unknown
    >>> why_unknown(BayesianSGNS(stop_words=["sea"], min_count=2), "Sea")
    'it is one of the stop_words, which are left out'
    >>> why_unknown(BayesianSGNS(stop_words="english", min_count=2), "sea")
    'min_count=2 drops rare words'
    >>> why_unknown(BayesianSGNS(min_count=1), "sea")
    'it is not among the words of fit, none of which were dropped as rare'
    """
    if isinstance(word, str):
        stops = CountVectorizer(stop_words=estimator.stop_words).get_stop_words() or ()
        if word in stops or (estimator.lowercase and word.lower() in stops):
            named = f" of {estimator.stop_words!r}" if isinstance(estimator.stop_words, str) else ""
            return f"it is one of the stop_words{named}, which are left out"
        if len(parts := word.split()) > 1 and _is_phrase(estimator, parts):
            mean = f"pass the list {parts}, which stands for their mean, or " if means else ""
            return (
                f"it is {len(parts)} words: {mean}join such phrases before fit, as in "
                f"{'_'.join(parts)!r}"
            )
    drop = [f"min_count={estimator.min_count}"] * (estimator.min_count > 1)
    if estimator.max_features is not None:
        drop.append(f"max_features={estimator.max_features}")
    if not drop:
        return "it is not among the words of fit, none of which were dropped as rare"
    return f"{' and '.join(drop)} {'drop' if len(drop) > 1 else 'drops'} rare words"


def _is_phrase(estimator, parts):
    """Whether a text is words in a row: it may be part of a name where known ones have blanks."""
    known = getattr(estimator, "vocabulary_", {})
    return all(part in known for part in parts) or not any(" " in name for name in known)
