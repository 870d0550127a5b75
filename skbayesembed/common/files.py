"""Files that are complete or not there."""

from __future__ import annotations

import json
import os
import secrets
import threading
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EISDIR, ENOENT
from pathlib import Path
from typing import IO, Any

import numpy as np

from .checks import check_path

# What the headers of files begin with, by the class whose ``load`` reads them.
FORMATS = {
    "PairShard": "skbayesembed.pairs",
    "Vocabulary": "skbayesembed.vocabulary",
    "Posterior": "skbayesembed.Posterior",
}
# Held while NumPy reads headers of arrays, as Python literals: in Python 3.11.7 threads that do so
# at a time disturb each other ("AST constructor recursion depth mismatch").
HEADERS = threading.RLock()
# Of deflate: higher levels take several times as long for files that are little smaller.
_LEVEL = 1
# An array is compressed if that makes this share, or less, of the first so many bytes of it. Draws
# of reals hardly shrink, and counts of words, most of them zero, to a tenth or less.
_PAYS, _SAMPLE = 0.8, 2**18


def file_path(path: str | os.PathLike[str]) -> Path:
    """The path; an error unless it names a file."""
    found = check_path("path", path)
    if not found.name:
        raise ValueError(f"path must name a file, got {path!r}.")
    return found


def npz_path(path: str | os.PathLike[str]) -> Path:
    """The path, with ``.npz`` at its end."""
    path = file_path(path)
    return path if path.name.endswith(".npz") else path.with_name(f"{path.name}.npz")


def stored_path(path: str | os.PathLike[str]) -> Path:
    """The path of a file to read: with ``.npz``, or as it is given where only that is there.

    Raises
    ------
    IsADirectoryError
        If a folder is there instead.
    """
    full, given = npz_path(path), Path(path)
    if full.exists() or not given.exists():
        return full
    if given.is_dir():
        raise IsADirectoryError(EISDIR, "path must be a file, and is a folder", str(given))
    return given


@contextmanager
def complete_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which takes the place of ``path`` when all went well.

    Until then a file of that name stays as it is; whatever goes wrong, what was written is removed.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    Path
        In the same folder, of a name that no other thread or process has.

    Raises
    ------
    OSError
        If the file cannot be written; it names ``path``, not the file in its place.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, "path must be in a folder that exists", str(path))
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        if error.filename is not None and os.fspath(error.filename) == str(partial):
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        partial.unlink(missing_ok=True)


def write_arrays(file: IO[bytes], arrays: Mapping[str, Any], *, compress: bool) -> None:
    """Write what `numpy.load` reads, as `numpy.savez` does.

    Parameters
    ----------
    file : binary file
    arrays : dict of str to ndarray
    compress : bool
        Whether arrays that shrink are compressed.
    """
    with zipfile.ZipFile(file, "w", compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            array = np.asanyarray(array)
            # that of the next member
            shrinks = compress and _shrinks(array)
            archive.compression = zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _shrinks(array):
    """Whether compression is worth its time."""
    sample = array.ravel(order="K")[: max(1, _SAMPLE // max(array.itemsize, 1))].tobytes()
    return len(zlib.compress(sample, _LEVEL)) <= _PAYS * len(sample)


def write_npz(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
) -> None:
    """Write arrays and what JSON can hold to one ``.npz`` file, without pickle.

    Parameters
    ----------
    path : str or path-like
        ``.npz`` is appended if it is missing.
    kind, version : str, int
        What `read_npz` must find.
    header : mapping
        Of what JSON can hold.
    arrays : mapping of str to ndarray
        Of numbers.
    """
    text = json.dumps({"format": kind, "version": version, **header})
    with complete_file(npz_path(path)) as part, open(part, "wb") as file:
        np.savez(file, header=np.frombuffer(text.encode(), np.uint8), **arrays)


def read_npz(
    path: str | os.PathLike[str], kind: str, version: int, what: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file that `write_npz` has written; nothing in it is executed.

    Parameters
    ----------
    path : str or path-like
        With or without ``.npz``.
    kind, version : str, int
        As of `write_npz`.
    what : str
        What the file should be, in messages.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file, or it is a folder.
    ValueError
        If it is something else, is damaged, or has another version.
    """
    path = stored_path(path)
    with open(path, "rb") as file:
        try:
            with HEADERS, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = json.loads(arrays.pop("header").tobytes())
            found = {kind: header.pop("version")}[header.pop("format")]
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(f"path {str(path)!r} is not a saved {what}, or is damaged.") from error
    if found != version:
        raise ValueError(
            f"path {str(path)!r} has format version {found!r}; this version of skbayesembed reads "
            f"version {version}: upgrade it."
        )
    return header, arrays
