"""Archives of NumPy's arrays with a header in JSON: the format of all files without pickle."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..common.files import HEADERS, complete_file, write_arrays
from ..common.memory import check_memory


def package_version() -> str:
    """The version of this package, which files note."""
    return sys.modules[__name__.split(".")[0]].__version__


def write_archive(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    compress: bool = False,
) -> None:
    """Write a file that is complete or not there, also after a power cut.

    Parameters
    ----------
    path : str or path-like
    header : dict
        Of what JSON knows.
    arrays : dict of str to ndarray
        None of them of objects.
    compress : bool, default=False
        Whether arrays that shrink are compressed, without loss.
    """
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with complete_file(path) as part, open(part, "wb") as file:
        write_arrays(file, {"header": text, **arrays}, compress=compress)
        # before the file gets its name: power may fail
        file.flush()
        os.fsync(file.fileno())


def header_of(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The header of a file.

    Raises
    ------
    Exception
        Of any kind where the file is not one of `write_archive`; also from `array_of`.
    """
    return json.loads(bytes(array_of(archive, "header")))


def array_of(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array of a file, of which no more memory is taken than there is."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("arrays are stored as they are, or deflated")
    if info.file_size > info.compress_size:
        # a small file may announce what no machine holds
        check_memory(info.file_size, "An array of the file", "It may not be a file of yours.")
    with HEADERS, archive.open(info) as member:
        shape, _, dtype = _array_header(member)
    if dtype.hasobject or dtype.itemsize * int(np.prod(shape, dtype=object)) > info.file_size:
        raise ValueError("an array that is not in the file")
    with HEADERS, archive.open(info) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _array_header(member):
    version = np.lib.format.read_magic(member)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    return read[version](member)
