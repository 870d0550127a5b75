"""What a call with hostile values may end in: a finite result, or an error that names its cause."""

from __future__ import annotations

import contextlib
import re
import signal
import time
import traceback
import warnings
from numbers import Number
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

import skbayesembed
from skbayesembed.common.compiling import Compiling

# What public functions are documented to raise. A LinAlgError is a ValueError, and has to name
# what caused it like any other.
ALLOWED = (ValueError, TypeError, KeyError, MemoryError, NotFittedError)
# How messages begin where numbers are to blame that are valid one by one.
EXTREME = (
    "met numbers that it cannot compute with",
    "found no finite posterior",
    "no Gaussian around it",
)
# Warnings that are somebody's fault rather than information for a user.
_FAULTS = (RuntimeWarning, DeprecationWarning, FutureWarning, ResourceWarning, BytesWarning)
_OURS = Path(skbayesembed.__file__).parent
# CPU seconds that a call on data this small may take, and seconds after which it is ended; other
# work may be beside it.
SLOW, HUNG = 10.0, 240


class Hung(BaseException):
    """A call did not end; not an Exception, so that nothing on the way takes it for its own."""


@contextlib.contextmanager
def time_limit(seconds=HUNG):
    """Context that is left by `Hung` after so many seconds, where the system can do that."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        raise Hung(f"no end after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def complaint(call, names, finite=True, also=()):
    """What is wrong with the outcome of a call; None where nothing is.

    Parameters
    ----------
    call : callable
    names : iterable of str
        One of these has to be in the message of an error: names of what was hostile.
    finite : bool
        Whether the numbers of a result must be finite.
    also : tuple of type
        Errors that are allowed besides.
    """
    begun, compiling = time.process_time(), Compiling()
    with compiling, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with time_limit():
                result = call()
        except ALLOWED + tuple(also) as error:
            wrong = _wrong_message(error, names)
        except (Exception, Hung) as error:
            wrong = f"{type(error).__name__} {_place(error)}: {error}"
        else:
            wrong = "a result that is not finite" if finite and not all_finite(result) else None
    if wrong is None:
        wrong = next(filter(None, map(_fault, told)), None)
    spent = time.process_time() - begun - compiling.cpu_seconds
    if wrong is None and spent > SLOW:
        wrong = f"{spent:.0f} CPU seconds"
    return wrong


def _wrong_message(error, names):
    """That an error does not say what caused it, or None."""
    # what was to be computed, not an error of the packages below, which know of no parameter
    text = str(error)
    if any(re.search(rf"\b{re.escape(name)}\b", text) for name in (*names, *EXTREME)):
        return None
    return f"unclear {type(error).__name__} {_place(error)}: {text[:300]}"


def _place(error):
    """File and line of the package that an error came from last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).is_relative_to(_OURS)]
    if not ours:
        return "outside"
    return f"at {Path(ours[-1].filename).relative_to(_OURS)}:{ours[-1].lineno}"


def _fault(warning):
    """What is wrong with a warning, or None."""
    category, text = warning.category, str(warning.message)
    module = category.__module__.split(".")[0]
    ours = "Interrupted" in text or not issubclass(category, _FAULTS)
    if ours and module not in ("numba", "scipy"):
        return None
    # what a caller's own file does is not the package's
    return f"{category.__name__} {Path(warning.filename).name}:{warning.lineno}: {text[:200]}"


def all_finite(result):
    """Whether the numbers of a result are finite; what holds no numbers is."""
    if sparse.issparse(result):
        result = result.tocoo().data
    if isinstance(result, tuple | list):
        return all(map(all_finite, result))
    if isinstance(result, np.ndarray | Number):
        result = np.asarray(result)
        return result.dtype.kind not in "fc" or bool(np.isfinite(result).all())
    return True
