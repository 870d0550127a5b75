"""Loaders of texts that are downloaded when they are first asked for."""

from __future__ import annotations

import gzip
import os
import re

import numpy as np
from sklearn.utils import Bunch

from ..common.checks import check_choice, check_integer
from .download import fetch_file
from .fetching import COPIES, loader, options_of, texts_of
from .named import NamedList
from .prepared import PRESIDENT, prepared_brown, prepared_file, prepared_speeches, told_apart
from .r_files import read_r_file

_INAUGURAL = """\
Inaugural addresses of the presidents of the United States, 1789 to 2021
------------------------------------------------------------------------

{n} addresses, one document each, as in NLTK's corpus `inaugural` (nltk_data, commit 5db857e6).
Licence: public domain (works of the government of the United States).
"""
_SOTU = """\
State of the Union addresses of the presidents of the United States
-------------------------------------------------------------------

{n} addresses, one document each; {source}.
Licence: the texts are public domain (works of the government of the United States).
"""
_BROWN = """\
Brown corpus of American English, 1961
--------------------------------------

{n} texts of 15 categories, as tokens, punctuation among them (nltk_data, commit 5db857e6).
Licence: redistribution is permitted, for non-commercial use (Francis & Kucera 1979).
"""
_REVIEWS = """\
Reviews of films, by sentiment
------------------------------

{n} reviews, tokenised and lower-case, as many negative as positive ones: the polarity data 2.0 of
Pang & Lee (2004), "A Sentimental Education", ACL (nltk_data, commit 5db857e6).
Licence: see movie_reviews.xml of nltk_data; given out for research.
"""
_CONVOTE = """\
Debates of the House of Representatives of the United States, 2005
------------------------------------------------------------------

{n} sentences, tokenised and lower-case, by the party of the speaker: the training part of convote
1.1 of Thomas, Pang & Lee (2006), "Get out the vote", EMNLP (dbamman/anlp19, commit 954e3afe).
Licence: none is stated; text of the Congressional Record.
"""
_CHUNKS = """\
CoNLL-2000: sentences with parts of speech and chunks
-----------------------------------------------------

{n} sentences of the Wall Street Journal, tokenised (Tjong Kim Sang & Buchholz 2000; nltk_data,
commit 5db857e6). Licence: none is stated; given out freely by the shared task.
"""
_TEXT8 = """\
text8: the start of the English Wikipedia, 2006
-----------------------------------------------

17 million words, lower-case letters a to z only, without the ends of articles: documents are pieces
of {length} words ({n} of them). Matt Mahoney, http://mattmahoney.net/dc/textdata.html.
Licence: text of Wikipedia, CC BY-SA.
"""


@loader
def fetch_inaugural(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load the inaugural addresses of the presidents of the United States, 1789 to 2021.

    59 documents, 138 thousand words; a download of 0.3 MB.

    Parameters
    ----------
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            One text for each address, in the order of years.
        year : ndarray of int of shape (n_documents,)
            Year of each address.
        president : list of str
            Family names, with initials if two presidents share one, so that they can serve as
            units: ``"J. Adams"`` and ``"J. Q. Adams"``. There are 40, since both terms of a
            president have one label. The list has the attribute ``name``, ``"president"``, by which
            answers call them.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.

    Notes
    -----
    Licence: public domain.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_inaugural
    >>> addresses = fetch_inaugural()  # doctest: +SKIP
    >>> addresses.year[:2], addresses.president[0]  # doctest: +SKIP
    (array([1789, 1793]), 'Washington')
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    copy = prepared_file(COPIES["fetch_inaugural"], data_home)
    if copy is not None:
        found = prepared_speeches(copy)
    else:
        # one of the files is in another encoding than the others
        encoding = {True: "big5", False: "utf-8"}
        found = _speeches("inaugural.zip", lambda name: encoding["2005" in name], options)
    return Bunch(**found, DESCR=_INAUGURAL.format(n=len(found["data"])))


@loader
def fetch_state_of_the_union(
    *,
    version: str = "sotu",
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load the State of the Union addresses of the presidents of the United States.

    Parameters
    ----------
    version : {"sotu", "nltk"}, default="sotu"
        ``"sotu"``: 240 addresses, 1790 to 2020, 1.97 million words, from the R package sotu, with
        party and kind (2.7 MB). ``"nltk"``: 65 addresses, 1945 to 2006, from NLTK (0.8 MB).
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            One text for each address, in the order of years.
        year : ndarray of int of shape (n_documents,)
            Year of each address.
        president : list of str
            Names; family names with ``"nltk"``. The list has the attribute ``name``,
            ``"president"``, by which answers call units.
        party, type : list of str
            Only with ``"sotu"``: the party, and whether the address was written or a speech.
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
    Licence: the texts are public domain; the R package is GPL-2.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_state_of_the_union
    >>> addresses = fetch_state_of_the_union()  # doctest: +SKIP
    >>> len(addresses.data), addresses.type[0]  # doctest: +SKIP
    (240, 'speech')
    """
    check_choice("version", version, ("sotu", "nltk"))
    options = options_of(data_home, download_if_missing, n_retries, delay)
    if version == "nltk":
        found = _speeches("state_union.zip", lambda name: "iso-8859-2", options)
        source = "as in NLTK's corpus `state_union` (nltk_data, commit 5db857e6)"
    else:
        copy = prepared_file(COPIES["fetch_state_of_the_union"], data_home)
        found = _sotu(options) if copy is None else prepared_speeches(copy)
        source = "of the R package sotu (statsmaths/sotu, commit 05221572)"
    return Bunch(**found, DESCR=_SOTU.format(n=len(found["data"]), source=source))


@loader
def fetch_brown(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load the Brown corpus of American English.

    500 texts from 1961 in 15 categories, 1.16 million tokens; a download of 3.3 MB.

    Parameters
    ----------
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of list of str
            The tokens of each text, including punctuation.
        category : list of str
            Category of each text, such as ``"news"``.
        name : list of str
            Name of each text, such as ``"ca01"``.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.

    Notes
    -----
    Licence: redistribution is permitted for non-commercial use.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_brown
    >>> brown = fetch_brown()  # doctest: +SKIP
    >>> brown.data[0][:3], brown.category[0]  # doctest: +SKIP
    (['The', 'Fulton', 'County'], 'news')
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    copy = prepared_file(COPIES["fetch_brown"], data_home)
    found = _brown(options) if copy is None else prepared_brown(copy)
    return Bunch(**found, DESCR=_BROWN.format(n=len(found["data"])))


@loader
def fetch_movie_reviews(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load negative and positive movie reviews.

    2,000 texts, 1.5 million tokens; a download of 4 MB.

    Parameters
    ----------
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            The texts.
        target : ndarray of int of shape (n_documents,)
            0 for negative reviews, 1 for positive ones.
        target_names : list of str
            ``"neg"`` and ``"pos"``.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.

    Notes
    -----
    Licence: released for research; see ``movie_reviews.xml`` of nltk_data.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_movie_reviews
    >>> reviews = fetch_movie_reviews()  # doctest: +SKIP
    >>> reviews.target.mean(), reviews.target_names  # doctest: +SKIP
    (0.5, ['neg', 'pos'])
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    files = texts_of("movie_reviews.zip", r"(neg|pos)/cv.*\.txt", "utf-8", options)
    names = ["neg", "pos"]
    target = np.array([names.index(name[:3]) for name in sorted(files)])
    data = [files[name] for name in sorted(files)]
    return Bunch(data=data, target=target, target_names=names, DESCR=_REVIEWS.format(n=len(data)))


@loader
def fetch_convote(
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load debates of the House of Representatives of the United States by party, 2005.

    35,954 sentences, 0.77 million words; downloads of 4.7 MB.

    Parameters
    ----------
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            Sentences, tokens separated by blanks.
        party : list of str
            ``"D"`` or ``"R"`` for each sentence.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.

    Notes
    -----
    Licence: none is stated; the text is from the Congressional Record.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_convote
    >>> debates = fetch_convote()  # doctest: +SKIP
    >>> sorted(set(debates.party))  # doctest: +SKIP
    ['D', 'R']
    """
    options = options_of(data_home, download_if_missing, n_retries, delay)
    data, party = [], []
    for letter, name in (("D", "dem.convote.txt"), ("R", "repub.convote.txt")):
        text = fetch_file(name, **options).read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        data += lines
        party += [letter] * len(lines)
    return Bunch(data=data, party=party, DESCR=_CONVOTE.format(n=len(data)))


@loader
def fetch_conll2000(
    *,
    subset: str = "train",
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load sentences with parts of speech and chunks, from the shared task of CoNLL-2000.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        Part of the data: 8,936 or 2,012 sentences; a download of 0.8 MB for both.
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of list of str
            Tokens of each sentence.
        pos, chunks : list of list of str
            Part of speech of each token, and its chunk (``"B-NP"``, ``"I-NP"``, ``"O"``).
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.
    ValueError
        If ``subset`` is unknown.

    Notes
    -----
    Licence: none is stated; released freely by the organizers of the shared task.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_conll2000
    >>> sentences = fetch_conll2000()  # doctest: +SKIP
    >>> len(sentences.data), sentences.chunks[0][:2]  # doctest: +SKIP
    (8936, ['B-NP', 'B-PP'])
    """
    check_choice("subset", subset, ("train", "test"))
    options = options_of(data_home, download_if_missing, n_retries, delay)
    copy = prepared_file(COPIES["fetch_conll2000"].format(subset=subset), data_home)
    if copy is not None:
        text = gzip.decompress(copy.read_bytes()).decode()
    else:
        text = texts_of("conll2000.zip", rf"{subset}\.txt", "utf-8", options)[f"{subset}.txt"]
    columns: list[list[list[str]]] = [[], [], []]
    for sentence in re.split(r"\n\s*\n", text.strip()):
        rows = [line.split() for line in sentence.splitlines()]
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.append(list(values))
    data, pos, chunks = columns
    return Bunch(data=data, pos=pos, chunks=chunks, DESCR=_CHUNKS.format(n=len(data)))


@loader
def fetch_text8(
    *,
    document_length: int = 10_000,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Load the first 100 million characters of the English Wikipedia of 2006, cleaned.

    17 million words; a download of 31 MB.

    Parameters
    ----------
    document_length : int, default=10_000
        Number of words in a document. The ends of articles are not known, so documents are pieces
        of this length.
    <download>

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of str
            Documents of ``document_length`` words; the last one has the rest.
        DESCR : str
            Source and license.

    Raises
    ------
    OSError
        If the data are missing and cannot be downloaded.
    ValueError
        If ``document_length`` is not an integer of at least 1.

    Notes
    -----
    Licence: text from Wikipedia, CC BY-SA.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_text8
    >>> fetch_text8().data[0][:23]  # doctest: +SKIP
    'anarchism originated as'
    """
    check_integer("document_length", document_length, 1)
    options = options_of(data_home, download_if_missing, n_retries, delay)
    words = texts_of("text8.zip", "text8", "ascii", options)["text8"].split()
    starts = range(0, len(words), document_length)
    data = [" ".join(words[i : i + document_length]) for i in starts]
    return Bunch(data=data, DESCR=_TEXT8.format(length=document_length, n=len(data)))


def _speeches(name, encoding, options):
    """Texts, years and presidents of an archive whose files are named after them."""
    files = texts_of(name, r"\d{4}-[A-Za-z]+(-\d)?\.txt", encoding, options)
    names = sorted(files)
    parts = [file.removesuffix(".txt").split("-") for file in names]
    year = np.array([int(part[0]) for part in parts])
    return {
        "data": [files[file].strip() for file in names],
        "year": year,
        "president": told_apart([part[1] for part in parts], year),
    }


def _brown(options):
    """Tokens, categories and names of the texts of the archive."""
    files = texts_of("brown.zip", r"c[a-r]\d\d|cats\.txt", "utf-8", options)
    category = dict(line.split()[:2] for line in files.pop("cats.txt").splitlines() if line)
    names = sorted(files)
    return {
        "data": [[word.rsplit("/", 1)[0] for word in files[name].split()] for name in names],
        "category": [category[name] for name in names],
        "name": names,
    }


def _sotu(options):
    """Texts of the R package, with what is known of each."""
    texts = read_r_file(fetch_file("sotu_text.rda", **options))["sotu_text"]
    meta = read_r_file(fetch_file("sotu_meta.rda", **options))["sotu_meta"]
    return {
        "data": [str(text).strip() for text in texts],
        "year": np.asarray(meta["year"]).astype(np.int64),
        "president": NamedList(map(str, meta["president"]), PRESIDENT),
        "party": [str(name) for name in meta["party"]],
        "type": [str(name) for name in meta["sotu_type"]],
    }
