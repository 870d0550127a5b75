"""Warnings of the fits of a search over parameters: one for each search, and a count of the others.

A search of scikit-learn fits tens of candidates, often in worker processes, and each would warn at
length. The first that warns is named; those after it are counted. What a worker process counts the
others do not know of. The last fit, to all of the data, warns again that it has not converged; of
the data it has nothing to say that the first has not said.
"""

from __future__ import annotations

import inspect
import re
import threading
import time
from collections.abc import Iterable
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from joblib import Parallel
from sklearn.exceptions import ConvergenceWarning

# Seconds after which a search in a thread or process of its own counts as another one.
_ANOTHER = 60.0


class Unmixed(ConvergenceWarning):
    """Chains that longer ones would mend; issued as a ConvergenceWarning."""


class Unreached(ConvergenceWarning):
    """A mode or a bound that more iterations would reach; issued as a ConvergenceWarning."""


# What helps where a score is noisy because a fit of the search has not settled.
_ADVICE: dict[type[Warning], str] = {
    Unmixed: "raise warmup and draws, or search with solver='vi', which needs no mixing",
    Unreached: "raise max_iter",
}

# Fits that warned, by kind of warning, of a search; and when the last was of one without an object.
_SEARCHES: WeakKeyDictionary[Any, dict[Any, int]] = WeakKeyDictionary()
_APART: dict[Any, tuple[dict[Any, int], float]] = {}
_LOCK = threading.Lock()


def issued(category: type[Warning]) -> type[Warning]:
    """The category that users see of one that a search knows."""
    return ConvergenceWarning if category in _ADVICE else category


class Searched:
    """The search that a fit is part of, by the frames of the call, from the inside out.

    Attributes
    ----------
    candidate : bool
        Whether it is a candidate on a part of the data, not the fit to all of them.
    """

    def __init__(self, frames: Iterable[FrameType]) -> None:
        self.candidate, self._search, self._key = False, None, None
        for frame in frames:
            name = frame.f_code.co_name
            if name == "_fit_and_score":
                self.candidate = True
                parameters = frame.f_locals.get("parameters") or {}
                self._key = (type(frame.f_locals.get("estimator")).__name__, *sorted(parameters))
            # each search makes one
            own = [frame.f_locals.get("self"), frame.f_locals.get("parallel")]
            found = [one for one in own if isinstance(one, Parallel)]
            self._search = found[0] if found and self._search is None else self._search

    def _counts(self):
        """Fits of the search that warned, a dict by kind."""
        if self._search is not None:
            return _SEARCHES.setdefault(self._search, {})
        now = time.monotonic()
        counts, last = _APART.get(self._key, ({}, -_ANOTHER))
        counts = counts if now - last < _ANOTHER else {}
        _APART[self._key] = counts, now
        return counts

    def message(self, message: str, category: type[Warning], estimator: Any) -> str | None:
        """What to warn of, instead of ``message``; None where the search has warned of it."""
        kind = kind_of(message, category)
        with _LOCK:
            counts = self._counts()
            before = counts.get(kind, 0)
            counts[kind] = before + self.candidate
        if not self.candidate:
            if before and not issubclass(category, ConvergenceWarning):
                return None
            more = f" ({before} fits of the search did so before.)" if before else ""
            return f"{message}{more}{_in_brackets(estimator)}"
        if before:
            return None
        what = message
        if category in _ADVICE:
            first = re.split(r"[:.] ", message, maxsplit=1)[0].rstrip(".")
            advice = _ADVICE[category]
            what = f"{first}, in a fit of this search, whose score is noisy: {advice}."
        # a process or thread of its own knows of what happens there alone
        others = "the search" if self._search is not None else "this worker of the search"
        return f"{what} Other candidates of {others} that warn are not shown." + _in_brackets(
            estimator
        )


def kind_of(message: str, category: type[Warning]) -> Any:
    """What warnings of several fits have in common that are shown once.

    All fits that have not settled are of one kind, others of a posterior if they begin alike, and
    others if they differ in numbers alone.
    """
    if category in _ADVICE:
        return category
    numberless = re.sub(r"[\d.]*\d", "", message)
    if issubclass(category, ConvergenceWarning):
        numberless = re.split(r"[(:;.]", numberless, maxsplit=1)[0]
    return category, numberless


def _in_brackets(estimator):
    """An estimator with the short ones of its parameters that are not the defaults."""
    if not hasattr(estimator, "get_params"):
        return ""
    defaults = inspect.signature(type(estimator).__init__).parameters
    given = estimator.get_params(deep=False).items()
    told = [
        f"{name}={value!r}"
        for name, value in given
        if isinstance(value, str | bool | int | float | None) and defaults[name].default != value
    ]
    return f" [{type(estimator).__name__}({', '.join(told)})]"
