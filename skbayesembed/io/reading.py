"""Reading files of word vectors, a word at a time.

A file may be far larger than what is kept of it: what is not asked for is passed over unread.
"""

from __future__ import annotations

import codecs
import gzip
import io
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from ..common.warnings import warn_user

FORMATS = ("word2vec", "word2vec-binary", "glove", "npz")
# Lines and words longer than this are taken for those of a file of another kind.
_LONGEST_LINE, _LONGEST_WORD = 2**24, 2**12
_MOST_DIMS = 10**6
# Rows that are gathered before they are put with the others.
_CHUNK = 4096
# What files of other kinds begin with.
_OTHER_FILES = {
    b"PK": "a zip archive: unpack it, and load the file inside",
    b"BZh": "compressed by bzip2: unpack it first",
    b"\xfd7zXZ": "compressed by xz: unpack it first",
    b"\xba\x16O/": "a model in fastText's own format: load the text file of its vectors, .vec",
}


class BadRowError(Exception):
    """What is wrong with one word of a file."""


@dataclass
class Request:
    """What is wanted of a file.

    Attributes
    ----------
    path : Path
    words : frozenset of str or None
        None wants all words.
    limit : int or None
        How many words from the start of the file are looked at.
    encoding : str
    errors : {"raise", "skip"}
    dtype : numpy dtype
    starts : set of bytes or None
        What lines of ``words`` begin with.
    """

    path: Path
    words: frozenset[str] | None
    limit: int | None
    encoding: str
    errors: str
    dtype: np.dtype
    starts: set[bytes] | None = field(init=False, default=None)

    def __post_init__(self):
        # words may hold blanks, and of a line the first field is looked at first
        if self.words is not None:
            self.starts = {
                word.encode(self.encoding, "ignore").split(b" ")[0] for word in self.words
            }


class Rows:
    """The words and vectors gathered from a file; ``unit`` is what it is counted in."""

    def __init__(self, request, unit):
        self.request, self.unit = request, unit
        self.words, self.place, self.skipped = [], {}, []
        self._full, self._rows = [], None
        self.n_seen = 0

    @property
    def complete(self):
        """Whether no further word can be wanted."""
        wanted, limit = self.request.words, self.request.limit
        return (limit is not None and self.n_seen >= limit) or (
            wanted is not None and len(self.words) == len(wanted)
        )

    def add(self, number, parse):
        """Take in the row of a number; ``parse()`` returns its word, in bytes, and its vector."""
        try:
            raw, row = parse()
            word = self._word(raw)
            if self.request.words is not None and word not in self.request.words:
                return
            if word in self.place:
                raise BadRowError(f"{word!r} is there twice, first in {self._at(self.place[word])}")
            with np.errstate(over="ignore"):
                row = row.astype(self.request.dtype)
            if not np.isfinite(row).all():
                raise BadRowError(f"the vector of {word!r} has NaN or infinity")
        except BadRowError as error:
            if self.request.errors == "raise":
                raise self.error(number, f"{error}; errors='skip' leaves such words out") from None
            self.skipped.append(f"{self._at(number)}: {error}")
            return
        self.place[word] = number
        self._keep(word, row)

    def error(self, number, message):
        """A ValueError for a place in the file."""
        return ValueError(f"{str(self.request.path)!r}, {self._at(number)}: {message}.")

    def finish(self):
        """Words, a list, and vectors (n_words, n_dims); None where no word was found."""
        if self.skipped:
            warn_user(
                f"{len(self.skipped)} word(s) of {str(self.request.path)!r} were left out, the "
                f"first in {self.skipped[0]}.",
                UserWarning,
            )
        if not self.words:
            return [], None
        last = self._rows[: len(self.words) - _CHUNK * len(self._full)]
        return self.words, np.concatenate([*self._full, last])

    def _at(self, number):
        return f"{self.unit} {number}"

    def _word(self, raw):
        if not raw:
            raise BadRowError("there is no word before the numbers")
        try:
            return raw.decode(self.request.encoding)
        except UnicodeDecodeError as error:
            raise BadRowError(
                f"the word {raw[:40]!r} is not in {self.request.encoding} ({error.reason}); "
                "encoding= names another"
            ) from None

    def _keep(self, word, row):
        inside = len(self.words) % _CHUNK
        if not inside:
            if self._rows is not None:
                self._full.append(self._rows)
            self._rows = np.empty((_CHUNK, len(row)), self.request.dtype)
        self._rows[inside] = row
        self.words.append(word)


def open_vectors(path):
    """A file opened for reading bytes, unpacked if gzip has packed it, behind a mark of UTF-8."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    file = io.BufferedReader(gzip.open(path), 2**20) if packed else open(path, "rb")
    if file.peek(3).startswith(codecs.BOM_UTF8):
        file.read(3)
    return file


def format_of(path):
    """The format that a file has by its content; a ValueError where it has none of them."""
    with open_vectors(path) as file:
        start = file.read(2**16)
    if not start:
        raise ValueError(f"{str(path)!r} is empty.")
    if start[:4] == b"PK\x03\x04" and is_npz(path):
        return "npz"
    for magic, what in _OTHER_FILES.items():
        if start.startswith(magic):
            raise ValueError(f"{str(path)!r} is {what}.")
    first, _, rest = start.partition(b"\n")
    if header_of(first) is None:
        return "glove"
    n_dims = header_of(first)[1]
    # in whatever way numbers are apart: `read_text` says which way they are to be
    fields = rest.partition(b"\n")[0].split()
    text = len(fields) > 1 and all(map(is_number, fields[1:][-min(n_dims, 8) :]))
    return "word2vec" if text else "word2vec-binary"


def is_npz(path):
    """Whether a file is an archive of NumPy's with words and vectors."""
    try:
        # opened here, since NumPy leaves a file open that it cannot read
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            return {"words", "vectors"} <= set(stored.files)
    except Exception:  # of whatever else is in a zip archive
        return False


def header_of(line):
    """Number of words and of dimensions in the first line of a file; None if it has others."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 16 for field in fields):
        return None
    return int(fields[0]), int(fields[1])


def is_number(field):
    """Whether bytes are a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def read_text(request, header):
    """`Rows` of a text file, with a line of two numbers before the others or without."""
    rows = Rows(request, "line")
    with open_vectors(request.path) as file:
        n_words, n_dims = _text_header(file, rows) if header else (None, None)
        number = 1 if header else 0
        for line in _lines(file, rows, number):
            number += 1
            line = line.rstrip(b" \r\n")
            if not line:
                continue
            if n_dims is None:
                n_dims = _numbers_at_end(line.split(b" "))
                if not n_dims:
                    raise rows.error(1, f"no numbers after a word, got {line[:60]!r}")
            rows.n_seen += 1
            if n_words is not None and rows.n_seen > n_words:
                raise rows.error(number, f"more words than the {n_words} that line 1 announces")
            start = line.split(b" ", 1)[0]
            if request.starts is None or start in request.starts:
                rows.add(number, lambda line=line, k=n_dims: _parsed(line, k))
            if rows.complete:
                return rows
    if n_words is not None and rows.n_seen != n_words:
        raise rows.error(
            number,
            f"the file ends after {rows.n_seen} of the {n_words} words that line 1 announces",
        )
    return rows


def read_binary(request):
    """`Rows` of a file of word2vec's binary format."""
    rows = Rows(request, "word")
    with open_vectors(request.path) as file:
        n_words, n_dims = _text_header(file, rows)
        for number in range(1, n_words + 1):
            try:
                word = _word_before_blank(file)
                raw = file.read(4 * n_dims)
            except BadRowError as error:
                raise rows.error(number, str(error)) from None
            if word is None or len(raw) < 4 * n_dims:
                raise rows.error(
                    number,
                    f"the file ends before the vector of this word does, of the {n_words} words of "
                    f"{n_dims} dimensions that it announces",
                )
            rows.n_seen += 1
            if request.starts is None or word.split(b" ")[0] in request.starts:
                rows.add(number, lambda word=word, raw=raw: (word, np.frombuffer(raw, "<f4")))
            if rows.complete:
                return rows
    return rows


def read_npz(request):
    """`Rows` of an archive of NumPy's."""
    request = replace(request, encoding="utf-8")
    rows = Rows(request, "row")
    try:
        with open(request.path, "rb") as file, np.load(file, allow_pickle=False) as stored:
            words, vectors = stored["words"], stored["vectors"]
    except Exception as error:
        raise ValueError(
            f"{str(request.path)!r} must hold the arrays 'words', strings, and 'vectors': {error}."
        ) from None
    if words.ndim != 1 or words.dtype.kind != "U" or vectors.dtype.kind != "f":
        raise ValueError(
            f"{str(request.path)!r} must hold words, a list of strings, and vectors, floats; got "
            f"shape {words.shape} of {words.dtype} and {vectors.dtype}."
        )
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise ValueError(
            f"{str(request.path)!r} must hold a vector for each of the {len(words)} words, got "
            f"shape {vectors.shape}."
        )
    for number, (word, row) in enumerate(zip(words.tolist(), vectors, strict=True)):
        rows.n_seen += 1
        rows.add(number, lambda word=word, row=row: (word.encode(request.encoding), row))
        if rows.complete:
            break
    return rows


def _text_header(file, rows):
    """Number of words and of dimensions, from the first line."""
    line = file.readline(_LONGEST_LINE)
    header = header_of(line)
    if header is None:
        raise rows.error(
            1,
            f"expected the number of words and of dimensions, got {line[:60]!r}; "
            "format='glove' is for files without",
        )
    if not 1 <= header[1] <= _MOST_DIMS:
        raise rows.error(1, f"expected 1 to {_MOST_DIMS} dimensions, got {header[1]}")
    return header


def _lines(file, rows, number):
    """Lines of a file; a ValueError where one has no end."""
    while True:
        number += 1
        line = file.readline(_LONGEST_LINE)
        if len(line) >= _LONGEST_LINE:
            raise rows.error(number, "the line has no end: is this a text file?")
        if not line:
            return
        yield line


def _numbers_at_end(fields):
    """How many fields at the end of a line, but not the first, are numbers."""
    return sum(1 for _ in takewhile(is_number, reversed(fields[1:])))


def _parsed(line, n_dims):
    """The word of a line, in bytes, and its vector."""
    fields = line.split(b" ")
    word, values = fields[:-n_dims], fields[-n_dims:]
    # a word may hold blanks, but no number after one
    if len(fields) <= n_dims or (len(word) > 1 and is_number(word[-1])):
        found = _numbers_at_end(fields)
        raise BadRowError(f"{fields[0][:40]!r} has {found} number(s), expected {n_dims}")
    try:
        return b" ".join(word), np.array(list(map(float, values)))
    except ValueError:
        bad = next(value for value in values if not is_number(value))
        raise BadRowError(f"{bad[:40]!r} in the vector of {word[0][:40]!r} is no number") from None


def _word_before_blank(file):
    """The bytes up to a blank, which is read too; None at the end of the file."""
    word = b""
    while True:
        ahead = file.peek(64)
        if not ahead:
            return None
        end = ahead.find(b" ")
        word += file.read(end + 1 if end >= 0 else len(ahead))
        if end >= 0:
            return word[:-1].lstrip(b"\n")
        if len(word) > _LONGEST_WORD:
            raise BadRowError("no blank after a word: this is not word2vec's binary format")
