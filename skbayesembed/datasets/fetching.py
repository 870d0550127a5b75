"""What functions that download texts have in common: their parameters, and texts in archives."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from typing import Any

from .download import fetch_file

_DOWNLOAD = """data_home : str or path-like, optional
        As in `get_data_home`.<prepared>
    download_if_missing : bool, default=True
        Whether to download; if False, missing data raise an error.
    n_retries : int, default=3
        Number of retries if the connection fails.
    delay : float, default=1.0
        Seconds to wait before each retry."""

_PREPARED = """ If it is not given and the environment variable
        ``SKBAYESEMBED_DATA`` names a folder with ``{file}``, that copy is read and nothing is
        downloaded."""

# Copies that are read where SKBAYESEMBED_DATA names a folder that has them.
COPIES = {
    "fetch_inaugural": "inaugural/inaugural.csv.gz",
    "fetch_state_of_the_union": "state_of_the_union/state_of_the_union.csv.gz",
    "fetch_brown": "text/brown.tsv.gz",
    "fetch_conll2000": "chunking/{subset}.tsv.gz",
}


def loader(describe: Callable) -> Callable:
    """Put the parameters of downloads into a docstring, where it says ``<download>``."""
    copy = COPIES.get(describe.__name__)
    text = _DOWNLOAD.replace("<prepared>", _PREPARED.format(file=copy) if copy else "")
    describe.__doc__ = (describe.__doc__ or "").replace("<download>", text)
    return describe


def options_of(data_home, download_if_missing, n_retries, delay):
    """Options of `fetch_file`."""
    return {
        "data_home": data_home,
        "download_if_missing": download_if_missing,
        "n_retries": n_retries,
        "delay": delay,
    }


def texts_of(name: str, pattern: str, encoding: Any, options: dict[str, Any]) -> dict[str, str]:
    """Texts in a zip archive whose names, without the first folder, are of a pattern."""
    out = {}
    with zipfile.ZipFile(fetch_file(name, **options)) as archive:
        for info in archive.infolist():
            inside = info.filename.split("/", 1)[-1]
            if re.fullmatch(pattern, inside):
                chosen = encoding(inside) if callable(encoding) else encoding
                out[inside] = archive.read(info).decode(chosen, errors="replace")
    return out
