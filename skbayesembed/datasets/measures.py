"""Loaders of word similarities, analogies and ratings, downloaded when they are first asked for."""

from __future__ import annotations

import csv
import io
import os
import zipfile

import numpy as np
from sklearn.utils import Bunch

from ..common.checks import check_choice
from .download import fetch_file
from .fetching import loader, options_of, texts_of

_SIMILARITY = {
    "ws353": ("EN-WS-353-ALL.txt", "WordSim-353 (Finkelstein et al. 2001)", "0 to 10"),
    "ws353-similarity": ("EN-WS-353-SIM.txt", "WordSim-353 (Agirre et al. 2009)", "0 to 10"),
    "ws353-relatedness": ("EN-WS-353-REL.txt", "WordSim-353 (Agirre et al. 2009)", "0 to 10"),
    "simlex999": ("EN-SIMLEX-999.txt", "SimLex-999 (Hill et al. 2015)", "0 to 10"),
    "rg65": ("EN-RG-65.txt", "RG-65 (Rubenstein & Goodenough 1965)", "0 to 4"),
    "mc30": ("EN-MC-30.txt", "MC-30 (Miller & Charles 1991)", "0 to 4"),
    "mturk287": ("EN-MTurk-287.txt", "MTurk-287 (Radinsky et al. 2011)", "1 to 5"),
    "yp130": ("EN-YP-130.txt", "YP-130, verbs (Yang & Powers 2006)", "0 to 4"),
}
_SCORES = """\
Similarity of word pairs, as people see it: {what}
{line}

{n} pairs, scores from {scale}; as in mfaruqui/eval-word-vectors, commit 94b3dd9f.
Licence: the repository's is MIT; the pairs are their authors', given out for research.
"""
_ANALOGIES = """\
Analogies: a is to b as c is to d
---------------------------------

{n} questions of 14 categories (Mikolov et al. 2013), questions-words.txt of tmikolov/word2vec,
commit 20c129af. Licence: Apache-2.0.
"""
_RATINGS = """\
MovieLens {version}: ratings of films
{line}

{n} ratings, of GroupLens. Licence: for research; no redistribution without permission, no
commercial use (README of GroupLens). Cite Harper & Konstan (2015), "The MovieLens Datasets:
History and Context", ACM TiiS 5(4).
"""
_STOP_WORDS = """\
Stop words: {language}
------------

{n} words, of NLTK's corpus `stopwords` (nltk_data, commit 5db857e6). Licence: none is stated.
"""


@loader
def fetch_word_similarity(
    name: str = "ws353",
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load pairs of words with human ratings of their similarity.

    Parameters
    ----------
    name : str, default="ws353"
        ``"ws353"`` (353 pairs), its parts ``"ws353-similarity"`` and ``"ws353-relatedness"``,
        ``"simlex999"``, ``"rg65"``, ``"mc30"``, ``"mturk287"`` or ``"yp130"``.
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        pairs : list of (str, str)
            Pairs of words, in the case in which they are published.
        scores : ndarray of shape (n_pairs,)
            Similarity ratings; higher means more similar.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.
    ValueError
        If ``name`` is unknown.

    See Also
    --------
    skbayesembed.metrics.word_similarity : Correlation of a model with these scores.

    Notes
    -----
    Licence: the repository is MIT; the pairs belong to their authors, and were released for
    research.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_word_similarity
    >>> people = fetch_word_similarity()  # doctest: +SKIP
    >>> people.pairs[0], people.scores[0]  # doctest: +SKIP
    (('love', 'sex'), 6.77)
    """
    check_choice("name", name, tuple(_SIMILARITY))
    options = options_of(data_home, download_if_missing, n_retries, delay)
    file, what, scale = _SIMILARITY[name]
    text = fetch_file(file, **options).read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line.strip()]
    title = _SCORES.partition("\n")[0].format(what=what)
    return Bunch(
        pairs=[(row[0], row[1]) for row in rows],
        scores=np.array([float(row[2]) for row in rows]),
        DESCR=_SCORES.format(what=what, line="-" * len(title), n=len(rows), scale=scale),
    )


@loader
def fetch_analogies(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load analogy questions: a is to b as c is to d.

    19,544 questions in 14 categories; a download of 0.6 MB.

    Parameters
    ----------
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        questions : list of (str, str, str, str)
            The words of each question, in the case in which they are published.
        categories : list of str
            Category of each question.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.

    See Also
    --------
    skbayesembed.metrics.analogies : The share of these that a model completes.

    Notes
    -----
    Licence: Apache-2.0.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_analogies
    >>> analogies = fetch_analogies()  # doctest: +SKIP
    >>> analogies.questions[0]  # doctest: +SKIP
    ('Athens', 'Greece', 'Baghdad', 'Iraq')
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    questions, categories, category = [], [], ""
    text = fetch_file("questions-words.txt", **options).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith(":"):
            category = line[1:].strip()
        elif line.strip():
            a, b, c, d = line.split()
            questions.append((a, b, c, d))
            categories.append(category)
    descr = _ANALOGIES.format(n=f"{len(questions):,}")
    return Bunch(questions=questions, categories=categories, DESCR=descr)


@loader
def fetch_movielens(
    *,
    version: str = "100k",
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load ratings of movies by users, from GroupLens.

    Parameters
    ----------
    version : {"100k", "1m", "latest-small"}, default="100k"
        100,000 ratings from 1998, a million from 2000, or 100,836 from 2018; downloads of 2, 6 and
        1 MB. GroupLens may replace the last one, which is then rejected.
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        user, item : ndarray of int of shape (n_ratings,)
            Their IDs at GroupLens.
        rating : ndarray of shape (n_ratings,)
            Number of stars.
        timestamp : ndarray of int of shape (n_ratings,)
            Seconds since 1970.
        titles : dict of int to str
            Titles of movies by ID.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.
    ValueError
        If ``version`` is unknown.

    Notes
    -----
    Licence: for research; no redistribution without permission, no commercial use.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_movielens
    >>> ratings = fetch_movielens()  # doctest: +SKIP
    >>> ratings.rating.size, ratings.titles[1]  # doctest: +SKIP
    (100000, 'Toy Story (1995)')
    """
    check_choice("version", version, ("100k", "1m", "latest-small"))
    options = options_of(data_home, download_if_missing, n_retries, delay)
    if version == "100k":
        ratings, films = (
            fetch_file(f"ml-100k.{part}", **options).read_text(encoding="latin-1")
            for part in ("u.data", "u.item")
        )
        rows = [line.split("\t") for line in ratings.splitlines() if line]
        names = [line.split("|") for line in films.splitlines() if line]
    elif version == "1m":
        files = texts_of("ml-1m.zip", r"(ratings|movies)\.dat", "latin-1", options)
        rows, names = (
            [line.split("::") for line in files[f"{part}.dat"].splitlines() if line]
            for part in ("ratings", "movies")
        )
    else:
        files = texts_of("ml-latest-small.zip", r"(ratings|movies)\.csv", "utf-8", options)
        rows, names = (
            list(csv.reader(io.StringIO(files[f"{part}.csv"])))[1:]
            for part in ("ratings", "movies")
        )
    table = np.array([[float(x) for x in row[:4]] for row in rows])
    title = f"MovieLens {version}: ratings of films"
    return Bunch(
        user=table[:, 0].astype(np.int64),
        item=table[:, 1].astype(np.int64),
        rating=table[:, 2],
        timestamp=table[:, 3].astype(np.int64),
        titles={int(row[0]): row[1] for row in names},
        DESCR=_RATINGS.format(version=version, line="-" * len(title), n=f"{len(table):,}"),
    )


@loader
def fetch_stop_words(
    language: str = "english",
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load the stop words of a language from NLTK; a download of 34 kB for all languages.

    Parameters
    ----------
    language : str, default="english"
        Name of the language, in English and lower case, such as ``"french"`` or ``"greek"``.
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            Stop words, for ``stop_words=`` of the estimators.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.
    ValueError
        If there are none for the language; the message lists the languages.

    Notes
    -----
    Licence: none is stated.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_stop_words
    >>> fetch_stop_words("german").data[:3]  # doctest: +SKIP
    ['aber', 'alle', 'allem']
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    with zipfile.ZipFile(fetch_file("stopwords.zip", **options)) as archive:
        names = {n.split("/", 1)[-1]: n for n in archive.namelist() if not n.endswith("/")}
        known = sorted(name for name in names if name != "README")
        check_choice("language", language, known)
        words = archive.read(names[language]).decode("utf-8").split()
    return Bunch(data=words, DESCR=_STOP_WORDS.format(language=language, n=len(words)))
