"""Copies of data in a folder of one's own, which loaders read before they download anything.

The folder is the one that the environment variable ``SKBAYESEMBED_DATA`` names. Tables in it are
CSV or tab-separated files, packed by gzip.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .named import NamedList

ENVIRONMENT = "SKBAYESEMBED_DATA"

# What answers call units that are speakers of addresses.
PRESIDENT = "president"

# Presidents of one family name: the first year of the second, and what they are called here.
_NAMESAKES = {
    "Adams": (1825, "J. Adams", "J. Q. Adams"),
    "Harrison": (1889, "W. H. Harrison", "B. Harrison"),
    "Roosevelt": (1933, "T. Roosevelt", "F. D. Roosevelt"),
    "Bush": (2001, "G. H. W. Bush", "G. W. Bush"),
}


# Columns of a table of snippets, and what is written where there is no sense.
_OF_SNIPPETS = "words", "time", "period", "genre", "genre_name", "sense", "sense_name"
_NOT_SAID = "", "NA"


def prepared_file(name: str, data_home: Any = None) -> Path | None:
    """Path of a prepared copy, or None where there is none or a download folder was asked for."""
    folder = os.environ.get(ENVIRONMENT)
    if not folder or data_home is not None:
        return None
    path = Path(folder) / name
    return path if path.exists() else None


def columns_of(path: Path, delimiter: str = ",") -> dict[str, list[str]]:
    """Columns of a table of texts with a header, packed by gzip or not."""
    csv.field_size_limit(sys.maxsize)  # a text is one field
    unpack = gzip.open if path.suffix == ".gz" else open
    # tables of spreadsheets begin with a mark of UTF-8
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as lines:
        if delimiter == ",":
            reader = csv.reader(lines)
        else:  # quotation marks are text
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        header = next(reader)
        rows = [row for row in reader if row]
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def prepared_speeches(path: Path) -> dict[str, Any]:
    """Texts with their years and speakers, and what else is known of each."""
    columns = columns_of(path)
    data, year = columns.pop("text"), np.array(columns.pop("year"), dtype=np.int64)
    columns["president"] = told_apart(columns["president"], year)
    return {"data": data, "year": year, **columns}


def told_apart(names: list[str], years: np.ndarray) -> NamedList:
    """Family names of presidents, with initials where two presidents share one."""
    out = []
    for name, year in zip(names, years, strict=True):
        second, *both = _NAMESAKES.get(name, (0, name, name))
        out.append(both[int(year >= second)])
    return NamedList(out, PRESIDENT)


def prepared_brown(path: Path) -> dict[str, Any]:
    """Tokens, names and categories of the texts of a file of sentences."""
    table = columns_of(path, "\t")
    texts: dict[str, list[str]] = {}
    for name, sentence in zip(table["file"], table["sentence"], strict=True):
        texts.setdefault(name, []).extend(sentence.split())
    category = dict(zip(table["file"], table["category"], strict=True))
    names = sorted(texts)
    return {
        "data": [texts[name] for name in names],
        "category": [category[name] for name in names],
        "name": names,
    }


def load_snippets(folder: str | os.PathLike[str]) -> Bunch:
    r"""Load snippets of one word with their times, genres and the senses that readers assigned.

    Parameters
    ----------
    folder : str or path-like
        A folder with ``snippets.csv`` and ``vocab.csv``, or the name of one, such as
        ``"kosmos_collocates"``, in the folder `senses` of the folder that the environment variable
        ``SKBAYESEMBED_DATA`` names. Columns of ``snippets.csv``: ``words``, numbers of words
        separated by spaces; ``time`` and ``genre``, integers from 0; ``sense``, an integer from 0,
        or empty or NA; and their names, ``period``, ``genre_name``, ``sense_name``. ``vocab.csv``
        has a column ``lemma``, and one ``word_id`` if words have other numbers than those of their
        rows, from 0; of words with the same lemma, the second is called
        ``lemma_2``, and so on. Files ``vectors_100.npy`` and the like have a row for each word.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : list of list of str
            Words of each snippet.
        words : list of str
            All words, in the order of ``vocab.csv``.
        vectors : dict of int to ndarray of shape (n_words, n_dims)
            Word vectors, by their number of dimensions; empty if there are none. With 100 of them
            ``embedding=dict(zip(bunch.words, bunch.vectors[100]))``.
        times, genres : ndarray of int of shape (n_snippets,)
            Time and genre of each snippet.
        senses : ndarray of int of shape (n_snippets,)
            Labeled sense of each snippet, -1 if there is none.
        genre_names, sense_names : list of str
            Names, by number.
        period_names : dict of int to str
            Names of the times that occur.

    Raises
    ------
    FileNotFoundError
        If there is no such folder; the message says where to get such data.
    ValueError
        If a column is not there, or a word of a snippet has no row in ``vocab.csv``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skbayesembed.datasets import load_snippets
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> header = "time,period,genre,genre_name,sense,sense_name,words"
    >>> _ = (folder / "snippets.csv").write_text(header + "\n0,1900s,0,news,0,money,1 0\n")
    >>> _ = (folder / "vocab.csv").write_text("word_id,lemma\n0,loan\n1,credit\n")
    >>> snippets = load_snippets(folder)
    >>> snippets.data, snippets.sense_names
    ([['credit', 'loan']], ['money'])
    """
    path = Path(folder)
    if not (path / "snippets.csv").exists():
        path = prepared_file(f"senses/{folder}") or path
    if not (path / "snippets.csv").exists():
        raise FileNotFoundError(
            f"folder={str(folder)!r} holds no snippets.csv, and is no name of a folder in `senses` "
            f"of the folder that the environment variable {ENVIRONMENT} names. Snippets of kosmos "
            "with senses are on GitHub, schyanzafar/DiSC."
        )
    rows = _checked_columns(path / "snippets.csv", _OF_SNIPPETS)
    vocabulary = _checked_columns(path / "vocab.csv", ("lemma",))
    words, place = _told_apart(vocabulary["lemma"]), _places(vocabulary, path / "vocab.csv")
    senses = np.array([-1 if k in _NOT_SAID else int(k) for k in rows["sense"]])
    return Bunch(
        data=[[words[i] for i in _listed(listed, place)] for listed in rows["words"]],
        words=words,
        vectors={v.shape[1]: v for v in map(np.load, sorted(path.glob("vectors_*.npy")))},
        times=np.array(rows["time"], dtype=np.int64),
        genres=np.array(rows["genre"], dtype=np.int64),
        senses=senses,
        genre_names=_names(rows["genre"], rows["genre_name"]),
        sense_names=_names(rows["sense"], rows["sense_name"]),
        period_names={int(t): p for t, p in zip(rows["time"], rows["period"], strict=True)},
    )


def _checked_columns(path, needed):
    """Columns of a table; ValueError where one that is needed is not there."""
    columns = columns_of(path)
    if lacking := [name for name in needed if name not in columns]:
        raise ValueError(f"{path} must have the columns {list(needed)}; it lacks {lacking}.")
    return columns


def _places(vocabulary, path):
    """Places of words by what snippets call them: their ``word_id``, or the number of their row."""
    called = vocabulary.get("word_id", map(str, range(len(vocabulary["lemma"]))))
    place = {name.strip(): i for i, name in enumerate(called)}
    if len(place) < len(vocabulary["lemma"]):
        raise ValueError(f"{path} must have a word_id of its own for each word.")
    return place


def _listed(words, place):
    """Places of the words of a snippet; ValueError for one that is in no row of the vocabulary."""
    names = words.split()
    if unknown := [name for name in names if name not in place]:
        raise ValueError(
            f"words of snippets.csv must be among the {len(place)} of vocab.csv, from "
            f"{next(iter(place))!r} to {list(place)[-1]!r}, got {unknown[0]!r}."
        )
    return [place[name] for name in names]


def _told_apart(lemmas):
    """Lemmas of which those that come again have a number."""
    seen: Counter[str] = Counter()
    found = []
    for lemma in lemmas:
        seen[lemma] += 1
        found.append(lemma if seen[lemma] == 1 else f"{lemma}_{seen[lemma]}")
    return found


def _names(numbers, names):
    """Names by their numbers; a number that does not occur is called by itself."""
    both = zip(numbers, names, strict=True)
    known = {int(k): name for k, name in both if k not in _NOT_SAID}
    return [known.get(k, str(k)) for k in range(max(known, default=-1) + 1)]
