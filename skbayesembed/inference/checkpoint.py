"""Checkpoints: files from which the same call goes on after it was ended.

A fit has a digest of its data, parameters and seeds, and in the folder that a user names a file for
each of its *stages*: each chain, the ascent of a bound, a search whose result is worth keeping. A
stage writes its state every so often: whatever its further course depends on, the states of its
random generators included. What it draws from there is what it would have drawn without the break.

States are objects as `io.graph` writes them, without pickle. A file is replaced when the new one is
complete, so that a process may be killed at any moment.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..common.warnings import warn_user
from ..io.archive import array_of, header_of, package_version, write_archive
from ..io.digest import digest
from ..io.graph import Reader, Writer

# Seconds between two writings of a stage, which take no more than this share of the time.
INTERVAL = 30.0
_SHARE = 0.05
_FORMAT, _VERSION = "skbayesembed.checkpoint", 2
# Digits of the digest that file names have.
_DIGITS = 20
# Parameters that draws do not depend on, or that data and seeds stand for.
_OTHERWISE = (
    "by_answer", "checkpoint", "embedding", "n_jobs", "random_state", "verbose", "warm_start",
)  # fmt: skip

_T = TypeVar("_T")
_ACTIVE: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


class Refused(ValueError):
    """A file from which a fit cannot go on, and why."""


class Checkpoint:
    """The files of one fit.

    Parameters
    ----------
    folder : Path
    name : str
        What file names begin with.
    digest : str
        Of all that the fit depends on.

    Attributes
    ----------
    interval : float
        Seconds between two writings of a stage, at least.
    """

    def __init__(self, folder: Path, name: str, digest: str) -> None:
        self.folder, self.digest = folder, digest
        self._stem, self._part = f"{name}-{digest[:_DIGITS]}", ""
        self.interval = INTERVAL
        self._reset()

    def _reset(self):
        self._lock, self._failed = threading.Lock(), False

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_failed")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._reset()

    def stage(self, name: str) -> Stage:
        """One of the stages of the fit, each of which has a name of its own."""
        return Stage(self, self.folder / f"{self._stem}-{self._part}{name}.npz")

    def part(self, name: str) -> Checkpoint:
        """The same files for a fit within the fit, whose stages have names of their own."""
        found = copy.copy(self)
        found._part = f"{self._part}{name}-"
        return found

    def stages(self) -> list[str]:
        """Names of the stages that were written."""
        paths = self.folder.glob(f"{self._stem}-*.npz")
        return sorted(path.stem[len(self._stem) + 1 :] for path in paths)

    def check(self) -> None:
        """Raise a `Refused` if there are files of this fit, and one of them cannot be used."""
        for name in self.stages():
            self.stage(name).check()

    def remove(self) -> None:
        """Remove all files of this fit, also those that were not finished."""
        for path in self.folder.glob(f"{self._stem}-*"):
            with contextlib.suppress(OSError):
                path.unlink()

    def failed(self, error: OSError) -> None:
        """Warn, once, that nothing can be written."""
        with self._lock:
            first, self._failed = not self._failed, True
        if first:
            _warn_of(self.folder, error)


class Stage:
    """The file of one stage of a fit.

    Parameters
    ----------
    checkpoint : Checkpoint
    path : Path
    """

    def __init__(self, checkpoint: Checkpoint, path: Path) -> None:
        self.checkpoint, self.path = checkpoint, path
        self._due = time.monotonic() + checkpoint.interval

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._due

    def write(self, state: Any, arrays: Mapping[str, np.ndarray] | None = None) -> None:
        """Write a state; warn, once in a fit, where that is not possible.

        Parameters
        ----------
        state : object
            As `io.graph.Writer` takes it.
        arrays : dict of str to ndarray, optional
            Large ones, which `read` hands over one by one.
        """
        begun = time.monotonic()
        arrays, writer = arrays or {}, Writer({}, False)
        header = self._header() | {
            "state": writer.write(state, "the state"),
            "nodes": writer.nodes,
            "arrays": list(arrays),
        }
        named = {f"large_{i}": array for i, array in enumerate(arrays.values())}
        try:
            write_archive(self.path, header, named | dict(writer.named_arrays()))
        except OSError as error:
            self.checkpoint.failed(error)
        now = time.monotonic()
        self._due = now + max(self.checkpoint.interval, (now - begun) / _SHARE)

    def read(self, into: Callable[[Any], Callable[[str, np.ndarray], None]] | None = None) -> Any:
        """The state that was written last, or None where there is none.

        Parameters
        ----------
        into : callable, optional
            ``into(state)`` returns a function ``take(name, array)``, which is called with each of
            the large arrays.

        Raises
        ------
        Refused
            If the file is damaged, or was written by another version of the package.
        """

        def everything(archive, header):
            state = Reader.of(header["nodes"], archive).read(header["state"])
            take = None if into is None else into(state)
            if take is not None:
                for i, name in enumerate(header["arrays"]):
                    take(name, array_of(archive, f"large_{i}"))
            return state

        return self._opened(everything) if self.path.exists() else None

    def check(self) -> None:
        """Raise the errors of `read` as far as they show at the ends of the file."""
        self._opened(lambda archive, header: None)

    def _header(self):
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "package": package_version(),
            "digest": self.checkpoint.digest,
        }

    def _opened(self, read):
        try:
            with zipfile.ZipFile(self.path) as archive:
                header = header_of(archive)
                wrong = [k for k, v in self._header().items() if header[k] != v]
                found = None if wrong else read(archive, header)
        except (MemoryError, Refused):
            raise
        except Exception as error:
            raise Refused(
                f"checkpoint: the file {str(self.path)!r} is damaged. Remove it, and the fit "
                "begins this part anew."
            ) from error
        if not wrong:
            return found
        what = {
            "format": "is no checkpoint",
            "digest": "is of other data, parameters or seeds than its name says",
        }
        told = what.get(
            wrong[0],
            f"was written by skbayesembed {header['package']}, this is {package_version()}: draws "
            "would not be the same",
        )
        raise Refused(
            f"checkpoint: the file {str(self.path)!r} {told}. Remove it, and the fit begins anew."
        )


def of_fit(estimator: Any, training: Any, seeds: Mapping[str, Any]) -> Checkpoint | None:
    """The `Checkpoint` of a fit by its estimator's ``checkpoint``; None where there is none.

    Parameters
    ----------
    estimator : BaseEstimator
    training : object
        Data of the fit.
    seeds : dict of str to numpy.random.SeedSequence
        Before any number was drawn.

    Raises
    ------
    Refused
        If a file of this fit is damaged or was written by another version of the package.
    TypeError
        If data or parameters hold an object of which there is no digest.

    Warns
    -----
    UserWarning
        If nothing can be written to the folder. The fit then has no checkpoint.
    """
    given = getattr(estimator, "checkpoint", None)
    if given is None:
        return None
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        _warn_of(folder, error)
        return None
    name = type(estimator).__name__
    parameters = estimator.get_params(deep=False)
    kept = {k: v for k, v in sorted(parameters.items()) if k not in _OTHERWISE}
    if parameters.get("warm_start", False):
        del kept["draws"]
    try:
        given = {"class": name, "parameters": kept, "data": training, "seeds": dict(seeds)}
        of_fit = digest(given)
    except TypeError as error:
        raise TypeError(f"checkpoint must be None for this fit: {error}") from error
    found = Checkpoint(folder, name, of_fit)
    found.check()
    stages, verbose = found.stages(), getattr(estimator, "verbose", 0)
    if stages and verbose:
        print(f"checkpoint: the fit goes on from {', '.join(stages)} in {str(folder)!r}")
    return found


@contextlib.contextmanager
def active(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Context in which stages of this thread are kept."""
    token = _ACTIVE.set(checkpoint)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def current() -> Checkpoint | None:
    """The checkpoint of the fit that is made in this thread, or None."""
    return _ACTIVE.get()


def part(name: str) -> Checkpoint | None:
    """The checkpoint of a fit within the fit that is made in this thread; None without one."""
    checkpoint = current()
    return None if checkpoint is None else checkpoint.part(name)


def stage(name: str) -> Stage | None:
    """A stage of the fit that is made in this thread; None where it has no checkpoint."""
    checkpoint = current()
    return None if checkpoint is None else checkpoint.stage(name)


def remembered(name: str, make: Callable[[], _T]) -> _T:
    """What ``make()`` returns, or has returned before the fit was ended.

    Parameters
    ----------
    name : str
        Of a stage of its own.
    make : callable
    """
    kept = stage(name)
    if kept is None:
        return make()
    found = kept.read()
    if found is None:
        found = make()
        kept.write(found)
    return found


def _warn_of(folder, error):
    warn_user(
        f"checkpoint: {str(folder)!r} cannot be written to ({error}). The fit goes on, and if it "
        "is ended it has to begin anew, or from what was written before.",
        UserWarning,
    )
