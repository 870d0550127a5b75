"""Files that are complete or not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def npz_path(path: str | os.PathLike[str]) -> Path:
    """The path, with ``.npz`` at its end."""
    path = Path(path)
    return path if path.name.endswith(".npz") else path.with_name(f"{path.name}.npz")


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
    """
    path = Path(path)
    partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
