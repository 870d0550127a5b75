"""Words that a user may have meant by one that is not known, for messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

# Words that are offered instead of an unknown one.
_OFFERED = 3
# Letters of one that are shown.
_LETTERS = 60
# Share of letters in common, as difflib has it, of a word that may have been meant.
_NEAR = 0.8


def offer(words: Iterable[str], word: Any) -> str:
    """What an unknown word might have been, a sentence behind a blank; empty where none is near.

    Parameters
    ----------
    words : iterable of str
        The known ones.
    word : object
        A str or what a user gave for one.

    Examples
    --------
    >>> from skbayesembed.corpus.spelling import offer
    >>> offer(["river", "duty"], "dutty"), offer(["river", "duty"], "River")
    (" Did you mean 'duty'?", " Did you mean 'river'? Words are case-sensitive.")
    >>> offer(["river", "duty"], "elephant")
    ''
    >>> offer(["Star Wars: Episode IV", "Star Trek", "Starship"], "Star Wars")
    " Did you mean 'Star Wars: Episode IV'?"
    """
    if not isinstance(word, str):
        return ""
    words = list(words)
    same = [known for known in words if known.casefold() == word.casefold()]
    if same:
        return f" Did you mean {same[0]!r}? Words are case-sensitive."
    near = difflib.get_close_matches(word.casefold(), words, _OFFERED, _NEAR)
    near = list(dict.fromkeys([*_that_begin_with(word, words), *near]))[:_OFFERED]
    shown = (name if len(name) <= _LETTERS else f"{name[: _LETTERS - 3]}..." for name in near)
    return f" Did you mean {' or '.join(map(repr, shown))}?" if near else ""


def _that_begin_with(word, words):
    """Names of several words that a text is the beginning of."""
    begun = word.casefold().strip()
    return [name for name in words if " " in name and begun and name.casefold().startswith(begun)]
