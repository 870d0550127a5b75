"""The data folder, and files downloaded into it: resumed, checked, complete or not there."""

from __future__ import annotations

import errno
import hashlib
import os
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

from ..common.checks import check_bool, check_choice, check_integer, check_real
from ..common.warnings import warn_user
from .prepared import ENVIRONMENT
from .remote import FILES, RemoteFile

_ENVIRONMENT, _FOLDER = "SKBAYESEMBED_DATA_HOME", "~/skbayesembed_data"
_CHUNK = 2**16
# A connection that brings fewer bytes than this within its timeout has stalled.
_LEAST_BYTES = 1024
# Files of which a folder of prepared data may have a copy, which is read instead.
_COPIED = ("inaugural.zip", "sotu_text.rda", "sotu_meta.rda", "brown.zip", "conll2000.zip")
# Answers of a server that may be others later; with all others there is no use in asking again.
_PASSING = (408, 425, 429, 500, 502, 503, 504)


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder for downloaded data; it is created if missing.

    Parameters
    ----------
    data_home : str or path-like, optional
        By default the environment variable ``SKBAYESEMBED_DATA_HOME``, or otherwise the folder
        ``skbayesembed_data`` in the user's home directory.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from skbayesembed.datasets import get_data_home
    >>> get_data_home(tempfile.mkdtemp()).is_dir()
    True
    """
    folder = os.environ.get(_ENVIRONMENT, _FOLDER) if data_home is None else data_home
    path = Path(folder).expanduser()
    path.mkdir(parents=True, exist_ok=True)
    return path


def clear_data_home(data_home: str | os.PathLike[str] | None = None) -> None:
    """Delete the downloaded files, and nothing else.

    Parameters
    ----------
    data_home : str or path-like, optional
        As in `get_data_home`.

    Examples
    --------
    >>> import tempfile
    >>> from skbayesembed.datasets import clear_data_home
    >>> clear_data_home(tempfile.mkdtemp())
    """
    folder = get_data_home(data_home)
    for name in FILES:
        for path in (folder / name, _part_of(folder / name)):
            path.unlink(missing_ok=True)


def fetch_file(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    timeout: float = 30.0,
) -> Path:
    """Download one of the files that the loaders read, unless it is already there.

    An interrupted download resumes where it stopped. A file is stored only if it is complete and
    has the known SHA-256.

    Parameters
    ----------
    name : str
        A key of ``skbayesembed.datasets.remote.FILES``, which lists addresses, sizes and SHA-256.
    data_home : str or path-like, optional
        As in `get_data_home`.
    download_if_missing : bool, default=True
        Whether to download; if False, a missing file raises an error.
    n_retries : int, default=3
        Number of retries if the connection fails.
    delay : float, default=1.0
        Seconds to wait before each retry.
    timeout : float, default=30.0
        Seconds without data after which a connection is given up.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        If the file is missing and is not, or cannot be, downloaded. The message gives the address,
        the place where the file belongs, and its SHA-256.
    ValueError
        If a parameter is not allowed.

    Examples
    --------
    >>> from skbayesembed.datasets import fetch_file
    >>> fetch_file("ml-100k.zip").name  # doctest: +SKIP
    'ml-100k.zip'
    """
    check_choice("name", name, tuple(FILES))
    check_bool("download_if_missing", download_if_missing)
    check_integer("n_retries", n_retries, 0)
    check_real("delay", delay, 0, strict=False)
    check_real("timeout", timeout, 0)
    remote, path = FILES[name], get_data_home(data_home) / name
    if path.exists() and _is_right(path, remote):
        return path
    if not download_if_missing:
        state = "is not the right one" if path.exists() else "is missing"
        advice = _advice(remote, path, data_home)
        raise OSError(f"{path} {state}, and download_if_missing=False. {advice}")
    for attempt in range(n_retries + 1):
        try:
            _download(remote, _part_of(path), timeout)
            os.replace(_part_of(path), path)
            return path
        except (OSError, HTTPException) as error:
            passing = not isinstance(error, urllib.error.HTTPError) or error.code in _PASSING
            if attempt == n_retries or not passing or _is_ours(error):
                # what urllib went through says no more than the reason
                raise OSError(
                    f"{remote.url} could not be downloaded: {_say(error)}. "
                    f"{_advice(remote, path, data_home)}"
                ) from None
            warn_user(f"{remote.url}: {_say(error)}; trying again.", UserWarning)
            time.sleep(delay)
    raise AssertionError("unreachable")


class _WrongContentError(OSError):
    """What came is not the file."""


def _download(remote, part, timeout):
    """Bring the rest of a file, and check the whole."""
    have = part.stat().st_size if part.exists() else 0
    if have > remote.n_bytes:
        part.unlink()
        have = 0
    if have < remote.n_bytes:
        request = urllib.request.Request(remote.url, headers={"User-Agent": "skbayesembed"})
        if have:
            request.add_header("Range", f"bytes={have}-")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                _receive(response, remote, part, have, timeout)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 416:
                raise
            # the server has no such part: it is begun anew
            part.unlink(missing_ok=True)
            raise _WrongContentError("the server refused to go on with a part") from None
    if not _is_right(part, remote):
        part.unlink()
        raise _WrongContentError(
            f"what came does not have the SHA-256 {remote.sha256}: it was damaged on the way, or "
            "the file at this address is another now"
        )


def _receive(response, remote, part, have, timeout):
    """Write what a server sends behind what is there, or anew where it sends all of it."""
    begun = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
    resumed = have > 0 and response.status == 206 and begun
    have = have if resumed else 0
    with open(part, "ab" if resumed else "wb") as file:
        since, gained = time.monotonic(), 0
        while data := response.read1(_CHUNK):
            file.write(data)
            have += len(data)
            if have > remote.n_bytes:
                break
            gained += len(data)
            if time.monotonic() - since > timeout:
                if gained < _LEAST_BYTES:
                    raise TimeoutError(f"only {gained} bytes in {timeout:g} seconds")
                since, gained = time.monotonic(), 0
    if have < remote.n_bytes:
        raise OSError(f"the connection ended after {have} of {remote.n_bytes} bytes")


def _is_right(path, remote):
    """Whether a file has the SHA-256 that it must have."""
    if path.stat().st_size != remote.n_bytes:
        return False
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == remote.sha256


def _is_ours(error):
    """Whether an error is one of writing, which another try does not mend."""
    if not isinstance(error, OSError) or isinstance(error, urllib.error.URLError):
        return False
    return error.filename is not None or error.errno in (errno.ENOSPC, errno.EDQUOT)


def _part_of(path):
    return path.with_name(f"{path.name}.part")


def _say(error: Any) -> str:
    """An error in words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} ({error.reason})"
    reason = getattr(error, "reason", error)
    return str(reason) or type(reason).__name__


def _advice(remote: RemoteFile, path: Path, data_home: Any) -> str:
    copied = data_home is None and remote.filename in _COPIED
    prepared = (
        f" Where a folder has prepared copies of the data already, name it by the environment "
        f"variable {ENVIRONMENT} ({_set_to(os.environ.get(ENVIRONMENT))})."
    )
    return (
        f"Try again later; or bring the file by other means, {remote.n_bytes:,} bytes with the "
        f"SHA-256 {remote.sha256}, from {remote.url} to {path}."
        f"{prepared if copied else ''}"
    )


def _set_to(folder: str | None) -> str:
    return f"{folder!r} has none of this" if folder else "it is not set"
