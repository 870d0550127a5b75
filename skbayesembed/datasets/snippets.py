"""Snippets of a corpus: the words around each occurrence of a target word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_extraction.text import CountVectorizer

from ..common.checks import check_bool, check_forms, check_integer, check_not_iterator
from ..common.warnings import warn_user
from ..corpus.analysis import Analyzer, make_analyzer
from ..corpus.kinds import input_kind, materialise
from ..corpus.periods import check_times
from ..corpus.rows import check_rows
from ..corpus.spelling import offer
from ..corpus.text import (
    Corpus,
    build_corpus,
    distinct_words,
    document_counts,
    keep_tokens,
    restrict,
)
from ..corpus.units import as_labels, check_none_missing, is_missing, name_of
from ..corpus.vocabulary import Vocabulary
from .named import NamedArray
from .snippet_table import Snippets

# Where a sentence ends: a mark, closing quotes or brackets and a blank; or an empty line.
_END = re.compile(r"[.!?\u2026][\"'\u2019\u201d)\]]*\s+|\n\s*\n")
# Forms without an occurrence for which near spellings are looked for.
_LOOKED_UP = 5


def extract_snippets(
    documents: Iterable[Any],
    target: str | Iterable[str],
    *,
    window: int = 14,
    times: ArrayLike | None = None,
    genres: ArrayLike | None = None,
    units: ArrayLike | None = None,
    stop_words: str | Iterable[str] | None = None,
    min_count: int = 2,
    max_features: int | None = None,
    analyzer: str | Analyzer = "word",
    lowercase: bool = True,
    token_pattern: str = r"(?u)\b\w\w+\b",
    vocabulary: Iterable[str] | Vocabulary | None = None,
) -> Snippets:
    r"""Extract the snippets around a target word from a corpus.

    Every occurrence of the target makes one snippet: the ``window / 2`` tokens before it and the
    ``window / 2`` after it, across sentences but never across documents. Stop words and rare words
    are dropped afterwards, as in Zafar & Nicholls (2022, section 3). So a snippet has at most
    ``window`` words, often far fewer, and sometimes none.

    Parameters
    ----------
    documents : iterable of str or of lists of str
        Texts, or token lists (of lemmas, for example), one for each document.
    target : str or sequence of str
        The target word, or all its forms. Lower-cased if the documents are. Each is one token, no
        phrase and no pattern; join phrases in the texts first (see the guide's recipes).
    window : int, default=14
        Number of tokens on both sides together, even: 14 means 7 before and 7 after.
    times : array-like of shape (n_documents,) or None, default=None
        Time of each document, a number or a date in the formats of `fit` of `DiSCSenseModel`;
        copied unchanged to its snippets.
    genres : array-like of shape (n_documents,) or None, default=None
        Genre of each document, copied unchanged to its snippets.
    units : array-like of shape (n_documents,) or None, default=None
        Label of the unit that each document belongs to, such as a speaker or a work, copied to its
        snippets for use as ``units`` in ``fit`` of `DiSCSenseModel`. None may be missing.
    stop_words : {"english"}, iterable of str or None, default=None
        Words to drop, also from token lists; "english" is scikit-learn's list. Lower-cased if the
        documents are.
    min_count : int, default=2
        Drop words with fewer occurrences over all snippets: 2 drops those that occur once. If two
        windows overlap, a word in both counts twice.
    max_features : int or None, default=None
        Keep only this many words, the most frequent over all snippets.
    analyzer : "word" or callable, default="word"
        How texts are split into tokens; a callable takes a text and returns its tokens. Unused for
        token lists.
    lowercase : bool, default=True
        Whether to lower-case texts (only for ``analyzer="word"``).
    token_pattern : str, default ``r"(?u)\b\w\w+\b"``
        Regular expression of a token (only for ``analyzer="word"``). What does not match takes up
        no position in the window; with the default, these are words of one letter.
    vocabulary : iterable of str, dict of str to int, Vocabulary or None, default=None
        Keep exactly these words, in this order, such as the ``words`` of other snippets or the
        ``feature_names`` of a model that is to read these. ``min_count`` and ``max_features`` are
        then not used.

    Returns
    -------
    bunch : Snippets
        Dictionary-like (a :class:`~sklearn.utils.Bunch`). It prints as a short table, and
        ``to_frame()`` makes a DataFrame of it. It has the attributes

        counts : csr_array of shape (n_snippets, n_words)
            How often each word occurs in each snippet; rows may be empty.
        words : ndarray of str of shape (n_words,)
            The words, by descending frequency over all snippets, then alphabetically; or the
            ``vocabulary``.
        snippets : list of str
            The words kept of each snippet, in the order of the text, joined by spaces.
        passages : list of str
            Readable text of each snippet: the text from the first token of the window to the last,
            including the target, stop words and punctuation. For token lists, and with a callable
            ``analyzer``, the tokens joined by spaces.
        sentences : list of str
            The whole sentence of each occurrence, for quoting. A sentence ends at a period,
            question or exclamation mark followed by a space (including the period of an
            abbreviation), or at an empty line. Where passages are joined tokens, the same as
            passages.
        times, genres, units : ndarray of shape (n_snippets,) or None
            Those of the documents. If units are a pandas Series, a Series of the same name, and if
            they have another ``name``, as the presidents of `fetch_state_of_the_union`, an array
            with this attribute; tables and sentences call units by it.
        document : ndarray of shape (n_snippets,), dtype int64
            Index of the document of each snippet.
        positions : ndarray of shape (n_snippets,), dtype int64
            Position of the target among all tokens of its document.

    Raises
    ------
    TypeError
        If ``documents`` is neither texts nor token lists.
    ValueError
        If the target does not occur, no word is left, ``times``, ``genres`` or ``units`` have the
        wrong length, a time or a unit is missing, a time is neither number nor date, or an option
        is out of range.

    Warns
    -----
    UserWarning
        If a form of the target does not occur.

    Notes
    -----
    The occurrence that a snippet is built around is not among its words. Another occurrence of the
    target within the window is, like any other word (as in the paper's data), and also has its own
    snippet. To drop it, list the target among ``stop_words``.

    References
    ----------
    Zafar & Nicholls (2022), "Measuring diachronic sense change: new models and Monte Carlo methods
    for Bayesian inference", Journal of the Royal Statistical Society C 71(5).

    Examples
    --------
    >>> from skbayesembed.datasets import extract_snippets
    >>> texts = ["We sat on the bank of the river.", "The bank by the river lends money: a bank!"]
    >>> bunch = extract_snippets(
    ...     texts, "bank", window=6, times=[1850, 1990], stop_words="english", min_count=1
    ... )
    >>> bunch.snippets
    ['sat river', 'river', 'river lends money']
    >>> bunch.passages[0]
    'sat on the bank of the river'
    >>> bunch.sentences[0]
    'We sat on the bank of the river.'
    >>> bunch.words.tolist(), bunch.counts.toarray().tolist()
    (['river', 'lends', 'money', 'sat'],
     [[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    >>> bunch.times.tolist(), bunch.positions.tolist()
    ([1850, 1990, 1990], [4, 1, 7])
    """
    check_integer("window", window, 2)
    if window % 2:
        raise ValueError(f"window must be even, half of it on each side, got {window}.")
    check_bool("lowercase", lowercase)
    if not callable(analyzer) and analyzer != "word":
        raise ValueError(f"analyzer must be 'word' or a callable, got {analyzer!r}.")
    check_rows(documents=documents, times=times, genres=genres, units=units)
    documents = materialise(documents)
    texts = input_kind(documents) == "text"
    lower = texts and lowercase and not callable(analyzer)
    forms = [f.lower() if lower else f for f in check_forms("target", target)]
    stops = _stop_words(stop_words, lower)
    analyze = (
        make_analyzer(analyzer, lowercase=lowercase, token_pattern=token_pattern) if texts else None
    )
    corpus = build_corpus(documents, analyze)
    n_documents = len(corpus.offsets) - 1
    if times is not None:
        check_times(times, n_documents)
    times = _covariate(times, "times", n_documents)
    genres = _covariate(genres, "genres", n_documents)
    named, units = units, _covariate(units, "units", n_documents)
    if units is not None:
        check_none_missing(units, "documents")

    centres = np.flatnonzero(np.isin(corpus.ids, _ids(corpus.words, forms)))
    _check_found(forms, corpus.words, analyze, n_documents)
    document = np.searchsorted(corpus.offsets, centres, side="right") - 1
    half = int(window) // 2
    ids, offsets = _windows(corpus, centres, document, half, _ids(corpus.words, stops))
    if not ids.size:
        raise ValueError("no word is left: there are no tokens but stop words around the target.")
    if vocabulary is None:
        kept = _ranked(ids, offsets, corpus.words)
        kept = restrict(kept, min_count=min_count, max_features=max_features)
    else:
        kept = _of_vocabulary(ids, offsets, corpus.words, distinct_words(vocabulary))
    positions = centres - corpus.offsets[document]
    pattern = token_pattern if texts and not callable(analyzer) else None
    passages, sentences = _quotations(corpus, documents, document, positions, half, pattern, lower)
    return Snippets(
        counts=document_counts(kept.ids, kept.offsets, len(kept.words)),
        words=kept.words,
        snippets=_joined(kept),
        passages=passages,
        sentences=sentences,
        times=None if times is None else times[document],
        genres=None if genres is None else genres[document],
        units=None if units is None else _picked(named, units, document),
        document=document,
        positions=positions,
    )


# ---------------------------------------------------------------------------------------------


def _stop_words(stop_words, lower):
    """Stop words as a collection of strings."""
    if stop_words is None:
        return []
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError(
                f"stop_words must be 'english', a list of str or None, got {stop_words!r}."
            )
        return CountVectorizer(stop_words="english").get_stop_words()
    try:
        words = list(stop_words)
    except TypeError as error:
        raise ValueError(f"stop_words must be 'english', a list of str or None: {error}") from error
    if not all(isinstance(word, str) for word in words):
        raise ValueError("stop_words must be 'english', a list of str or None, got other entries.")
    return [word.lower() for word in words] if lower else words


def _covariate(values, name, n_documents):
    """Times, genres or units as an array with one entry for each document."""
    if values is None:
        return None
    check_not_iterator(name, values)
    # what is missing beside texts stays so
    labels = as_labels(values)
    missing = labels.dtype == object and any(map(is_missing, labels.ravel().tolist()))
    values = labels if missing else np.asarray(values)
    if values.ndim != 1 or len(values) != n_documents:
        raise ValueError(
            f"{name} must have one entry for each of the {n_documents} documents, got shape "
            f"{values.shape}."
        )
    return values


def _picked(named, units, document):
    """Units of snippets, with the name of their column; a Series stays one."""
    if not (hasattr(named, "iloc") and hasattr(named, "reset_index")):
        name = name_of(named)
        return units[document] if name is None else NamedArray.of(units[document], name)
    return named.iloc[document].reset_index(drop=True)


def _ids(words, chosen):
    """Ids of those words that are among the chosen ones."""
    chosen = set(chosen)
    return np.flatnonzero([word in chosen for word in words])


def _windows(corpus, centres, document, half, stops):
    """Ids of the tokens around each center, in the order of the text, and their offsets."""
    around = np.concatenate([np.arange(-half, 0), np.arange(1, half + 1)])
    places = centres[:, None] + around
    inside = places >= corpus.offsets[document][:, None]
    inside &= places < corpus.offsets[document + 1][:, None]
    # what is read for places outside the document does not matter, as they are masked
    ids = corpus.ids[np.where(inside, places, 0)]
    inside &= ~np.isin(ids, stops)
    offsets = np.zeros(len(centres) + 1, dtype=np.int64)
    np.cumsum(inside.sum(axis=1), out=offsets[1:])
    return ids[inside], offsets


def _ranked(ids, offsets, words):
    """Corpus of the snippets, its words by descending frequency, as `restrict` expects them."""
    used, ids, frequency = np.unique(ids, return_inverse=True, return_counts=True)
    words = words[used]
    alphabetical = np.argsort(words, kind="stable")
    order = alphabetical[np.argsort(-frequency[alphabetical], kind="stable")]
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return Corpus(rank[ids], offsets, words[order], frequency[order])


def _of_vocabulary(ids, offsets, words, vocabulary):
    """Corpus of the snippets with these words alone, in this order."""
    place = {word: i for i, word in enumerate(vocabulary.tolist())}
    new = np.array([place.get(word, -1) for word in words.tolist()], dtype=np.int32)[ids]
    new, offsets = keep_tokens(new, offsets, new >= 0)
    return Corpus(new, offsets, vocabulary, np.bincount(new, minlength=vocabulary.size))


def _check_found(forms, words, analyze, n_documents):
    """Raise a ValueError if no form of the target occurs; warn of those that do not."""
    known = set(words.tolist())
    missing = [form for form in dict.fromkeys(forms) if form not in known]
    if not missing:
        return
    several = [form for form in missing if analyze is not None and list(analyze(form)) != [form]]
    hint = ""
    if several:
        hint = (
            f" {several[0]!r} is not one token of these texts, and a target is one, no phrase and "
            "no pattern: join phrases in the texts first, as national_bank."
        )
    others = words[~np.isin(words, forms)].tolist()
    hint += "".join(dict.fromkeys(offer(others, form) for form in missing[:_LOOKED_UP]))
    if len(missing) == len(set(forms)):
        are = "is" if len(missing) == 1 else "are"
        raise ValueError(
            f"target must occur in the documents, but {_quoted(missing)} {are} in none of the "
            f"{n_documents:,}.{hint}"
        )
    warn_user(f"target has forms that do not occur: {_quoted(missing)}.{hint}", UserWarning)


def _joined(corpus):
    """Words of each snippet, joined by blanks."""
    tokens = corpus.words[corpus.ids].tolist()
    ends = corpus.offsets.tolist()
    return [" ".join(tokens[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def _quotations(corpus, documents, document, positions, half, pattern, lower):
    """The text of each window, and the sentence of each occurrence: two lists of str.

    Tokens of the window, joined, where ``pattern`` is None or does not tell where they stand.
    """
    documents = list(documents)
    passages, sentences, last, spans = [], [], None, None
    for d, place in zip(document.tolist(), positions.tolist(), strict=True):
        start, end = corpus.offsets[d : d + 2]
        first, stop = max(place - half, 0), min(place + half + 1, int(end - start))
        if d != last:
            text = None if pattern is None else str(documents[d])
            spans, last = _spans(text, pattern, lower, end - start), d
            if spans is not None:
                ends = np.array([0, *(m.end() for m in _END.finditer(text)), len(text)])
        if spans is None:
            tokens = corpus.ids[start + first : start + stop]
            passages.append(" ".join(corpus.words[tokens].tolist()))
            sentences.append(passages[-1])
            continue
        passages.append(text[spans[first][0] : spans[stop - 1][1]])
        after = np.searchsorted(ends, spans[place][0], side="right")
        sentences.append(text[ends[after - 1] : ends[min(after, len(ends) - 1)]].strip())
    return passages, sentences


def _spans(text, pattern, lower, n_tokens):
    """Where tokens stand in a text; None where that is not known."""
    if text is None:
        return None
    pattern, lowered = re.compile(pattern), text.lower() if lower else text
    found = [match.span(pattern.groups) for match in pattern.finditer(lowered)]
    if len(found) != n_tokens:
        return None
    if len(lowered) == len(text):
        return found
    # few letters change their length in lower case
    place = np.repeat(np.arange(len(text)), [len(letter.lower()) for letter in text])
    if place.size != len(lowered):
        return None
    return [(int(place[a]), int(place[b - 1]) + 1) for a, b in found]


def _quoted(forms):
    shown = ", ".join(map(repr, forms[:5]))
    return shown + (", ..." if len(forms) > 5 else "")
