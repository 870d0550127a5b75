"""Files of word vectors: word2vec's and GloVe's formats, and arrays with words."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..common.checks import check_choice, check_integer, check_path, listed
from ..common.files import complete_file, file_path
from .reading import FORMATS, Request, format_of, read_binary, read_npz, read_text
from .word_vectors import WordVectors

_BY_SUFFIX = {".npz": "npz", ".bin": "word2vec-binary"}


def load_vectors(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    words: Iterable[str] | None = None,
    limit: int | None = None,
    encoding: str = "utf-8",
    errors: str = "raise",
    dtype: DTypeLike = np.float32,
) -> WordVectors:
    r"""Read word vectors from a file.

    Parameters
    ----------
    path : str or path-like
        Path of the file, which may be compressed by gzip.
    format : {"auto", "word2vec", "word2vec-binary", "glove", "npz"}, default="auto"
        ``"word2vec"`` is text whose first line has the numbers of words and dimensions (also
        fastText's ``.vec``); ``"glove"`` is the same without that line; ``"npz"`` are the arrays
        ``words`` and ``vectors`` of NumPy. ``"auto"`` detects the format from the content of the
        file.
    words : iterable of str, optional
        Read only these words. Other words take no memory and are not checked. Reading ends when all
        are found.
    limit : int, optional
        Read only this many words from the start of the file, which in most files are the most
        frequent.
    encoding : str, default="utf-8"
        Encoding of the words.
    errors : {"raise", "skip"}, default="raise"
        What to do with a word that cannot be read (not in the encoding, another number of
        dimensions, NaN, the same word twice): ``"skip"`` leaves it out and warns. A file that ends
        too early or is of another kind always raises an error.
    dtype : numpy.float32 or numpy.float64, default=numpy.float32
        Type of the vectors.

    Returns
    -------
    WordVectors
        In the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file has none of these formats, is damaged or has none of the words; the message
        names the file and the line, or the number of the word.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skbayesembed.io import load_vectors
    >>> path = Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> _ = path.write_text("the 0.1 0.2\nriver 0.5 -1\nbank 0.4 -0.8\n")
    >>> vectors = load_vectors(path, words=["river", "bank", "loan"])
    >>> vectors
    WordVectors: 2 words, 2 dimensions, float32
    >>> vectors["river"].tolist(), "loan" in vectors
    ([0.5, -1.0], False)
    """
    request = _request(path, words, limit, encoding, errors, dtype)
    found = read_vectors(request, format)
    if found is None:
        raise ValueError(
            f"{str(path)!r} has "
            + ("no words." if words is None else f"none of the {len(request.words)} words asked.")
        )
    return found


def find_vectors(path: str | os.PathLike[str], words: Iterable[str]) -> WordVectors | None:
    """Those words of a file, of any of the formats, that it has; None where it has none."""
    return read_vectors(_request(path, words, None, "utf-8", "raise", np.float32), "auto")


def read_vectors(request: Request, format: str) -> WordVectors | None:
    """What is requested of a file; None where there is nothing."""
    check_choice("format", format, ("auto", *FORMATS))
    try:
        if format == "auto":
            format = format_of(request.path)
        if format == "npz":
            rows = read_npz(request)
        elif format == "word2vec-binary":
            rows = read_binary(request)
        else:
            rows = read_text(request, header=format == "word2vec")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{str(request.path)!r} cannot be unpacked by gzip: {error}.") from None
    words, vectors = rows.finish()
    return None if vectors is None else WordVectors(words, vectors)


def save_vectors(
    path: str | os.PathLike[str],
    source: Any,
    *,
    format: str = "auto",
    side: str = "target",
    period: Any = None,
) -> None:
    """Write word vectors to a file that other tools can read.

    Parameters
    ----------
    path : str or path-like
        Compressed by gzip if it ends in ``.gz``. An existing file is replaced only when the new one
        is complete.
    source : WordVectors, fitted estimator, KeyedVectors or mapping
        As in `WordVectors.of`; for an estimator the posterior means are written.
    format : {"auto", "word2vec", "word2vec-binary", "glove", "npz"}, default="auto"
        As in `load_vectors`. ``"auto"`` uses the file extension: ``.npz``, ``.bin``, and word2vec's
        text for all others. The binary format has single precision; the others are exact.
    side : {"target", "context"}, default="target"
        For an estimator: ``rho_`` or ``alpha_``.
    period : number, date or str, optional
        For a `DynamicSGNS`: a time in the period, or its label.

    Raises
    ------
    TypeError, ValueError
        As in `WordVectors.of`; also ValueError if a word contains white space, which only ``"npz"``
        can store.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skbayesembed.io import WordVectors, save_vectors
    >>> path = Path(tempfile.mkdtemp()) / "vectors.txt"
    >>> save_vectors(path, WordVectors(["tree", "forest"], [[1.0, 0.5], [0.9, 0.6]]))
    >>> print(path.read_text())
    2 2
    tree 1.0 0.5
    forest 0.9 0.6
    """
    check_choice("format", format, ("auto", *FORMATS))
    if isinstance(source, str | os.PathLike) and not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"path comes first, and the vectors after it: save_vectors({os.fspath(source)!r}, "
            f"vectors), got a {type(path).__name__} as path."
        )
    vectors = WordVectors.of(source, side=side, period=period)
    path = file_path(path)
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    if format == "auto":
        format = _BY_SUFFIX.get(plain.suffix, "word2vec")
    if format == "npz":
        if plain != path:
            raise ValueError(f"path must end in .npz for format='npz', got {path.name!r}.")
        with complete_file(path) as part, open(part, "wb") as file:
            np.savez(file, words=vectors.words.astype(str), vectors=vectors.vectors)
        return
    for word in vectors.words.tolist():
        if not word or any(c in word for c in " \t\n\r\v\f"):
            raise ValueError(
                f"words must have no blanks in format={format!r}, got {word!r}: join them by "
                "'_', or use format='npz'."
            )
    with complete_file(path) as part, (gzip.open if plain != path else open)(part, "wb") as file:
        _write(file, vectors, format)


def _write(file, vectors, format):
    """Write words and vectors in one of word2vec's formats or GloVe's."""
    if format != "glove":
        file.write(b"%d %d\n" % vectors.vectors.shape)
    for word, row in zip(vectors.words.tolist(), vectors.vectors, strict=True):
        if format == "word2vec-binary":
            file.write(word.encode() + b" " + row.astype("<f4").tobytes() + b"\n")
        else:
            # as text, each number has the fewest digits that tell it from all others
            file.write(f"{word} {' '.join(row.astype(str).tolist())}\n".encode())


def _request(path, words, limit, encoding, errors, dtype):
    """`Request` of what a user asks for."""
    check_choice("errors", errors, ("raise", "skip"))
    if limit is not None:
        check_integer("limit", limit, 1)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype!r}.")
    try:
        "".encode(encoding)
    except (LookupError, TypeError):
        raise ValueError(f"encoding must be one that Python knows, got {encoding!r}.") from None
    if words is not None:
        wanted = listed(words)
        if not wanted or not all(isinstance(word, str) for word in wanted):
            raise ValueError(f"words must be a list of str or None, got {words!r:.60}.")
        words = frozenset(wanted)
    return Request(check_path("path", path), words, limit, encoding, errors, np.dtype(dtype))
