"""Fits whose counts are spread over the workers of a dask cluster."""

from __future__ import annotations

import copy
import threading
import weakref
from asyncio import CancelledError as AsyncioCancelled
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

import joblib

from .common.checks import check_choice
from .inference import blocks
from .inference.threads import OneBlasThread
from .sgns.estimator import BayesianSGNS
from .sgns.pairs import PairCounts
from .sgns.priors import GraphPrior, GroupedPrior
from .sgns.shards import PairShard

__all__ = ["fit"]

_SOLVERS = ("map", "vi", "gibbs")
# How often the steps of blocks that were lost with their worker are repeated.
_ATTEMPTS = 10
# What is of a block travels with its step; dask warns of megabytes, which are meant here.
_CONFIGURED = {"distributed.admin.large-graph-warning-threshold": "1TB"}


def fit(estimator: BayesianSGNS, shards: Any, client: Any) -> BayesianSGNS:
    """Fit `BayesianSGNS` to counts that are spread over the workers of a dask cluster.

    Given the vectors of one side, all words of the other are independent, so each worker keeps the
    counts of some of them, which are not sent with every step. In every half-sweep the vectors of
    one side go to all workers, and those of the other come back. Draws are the same as those of
    ``estimator.fit(sum(shards))``, whatever the number of workers. If a worker is lost, only the
    last step of its blocks is repeated.

    Parameters
    ----------
    estimator : BayesianSGNS
        With ``solver="map"``, ``"vi"``, or ``"gibbs"`` and ``kernel="polya-gamma"``. Fitted in
        place. ``n_jobs`` sets how many chains run side by side.
    shards : PairShard, PairCounts, a future of one, or list of PairShard or of futures
        What `count_pairs` has counted; futures of the client are added up on the workers.
    client : distributed.Client
        Must not be asynchronous. Its workers need this package.

    Returns
    -------
    BayesianSGNS
        The estimator.

    Raises
    ------
    TypeError
        If the estimator, the shards or the client are of another type.
    ValueError
        For an asynchronous client, for a solver, kernel, prior or learning method that cannot be
        distributed, and for whatever ``fit`` refuses.
    RuntimeError
        If blocks are lost repeatedly.

    Examples
    --------
    >>> from distributed import Client                            # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")                   # doctest: +SKIP
    >>> shards = client.map(count_pairs, parts, vocabulary=words) # doctest: +SKIP
    >>> model = fit(BayesianSGNS(100, solver="map"), shards, client)  # doctest: +SKIP
    """
    _check(estimator)
    parts = _checked(shards)
    _check_client(client)
    import dask

    # for all threads at once: settings are those of the process
    with dask.config.set(_CONFIGURED):
        counts = _summed(parts, client)
        # chains hold the client, which stays in this process
        with joblib.parallel_config(backend="threading"), blocks.active(DaskEngine(client)):
            return estimator.fit(counts)


def _check(estimator):
    """Raise an error for an estimator whose fit does not go by parts."""
    if not isinstance(estimator, BayesianSGNS):
        raise TypeError(f"estimator must be a BayesianSGNS, got {type(estimator).__name__}.")
    e, instead = estimator, "use the estimator's own fit"
    check_choice("solver of a distributed fit", e.solver, _SOLVERS)
    if e.solver == "gibbs" and e.kernel != "polya-gamma":
        raise ValueError(
            f"kernel must be 'polya-gamma' in a distributed fit with solver='gibbs', got "
            f"{e.kernel!r}: 'metropolis' learns of all pairs together; {instead} for it."
        )
    if isinstance(e.prior, GraphPrior | GroupedPrior):
        raise ValueError(
            f"prior={type(e.prior).__name__} couples words, which are then not independent given "
            f"the other side: {instead}, or another prior."
        )
    if e.learning_method != "batch":
        raise ValueError(
            f"learning_method must be 'batch' in a distributed fit, got {e.learning_method!r}."
        )


def _check_client(client):
    """Raise an error for what is no client, or one that does not wait for results."""
    if not (hasattr(client, "submit") and hasattr(client, "scatter")):
        raise TypeError(
            f"client must be a distributed.Client, got {client!r:.60}: Client(address) makes one."
        )
    if getattr(client, "asynchronous", False):
        raise ValueError(
            "client must not be asynchronous, got one that is: fit waits for results. Make it "
            "without asynchronous=True."
        )


def _checked(shards):
    """A list of what is to be added up."""
    one = isinstance(shards, PairShard | PairCounts) or hasattr(shards, "result")
    parts = [shards] if one else list(shards)
    wrong = [x for x in parts if not isinstance(x, PairShard) and not hasattr(x, "result")]
    if not one and (wrong or not parts):
        found = f"an item of type {type(wrong[0]).__name__}" if wrong else "an empty list"
        raise TypeError(
            "shards must be a PairShard, PairCounts, or a list of PairShard or futures, got "
            f"{found}."
        )
    return parts


def _summed(parts, client):
    """All shards added up: by pairs, so that workers share the work where there are futures."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [client.submit(_add, *pair) for pair in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0].result() if hasattr(parts[0], "result") else parts[0]


def _add(a, b):
    return a + b


class DaskEngine:
    """`blocks.Engine` over a ``distributed.Client``.

    A block of data is sent to one worker when it is first needed and stays there. What all blocks
    of a step share goes to all workers, what belongs to a block to the worker that has it, and
    results come back. A block that is lost with its worker is sent again, and its step repeated.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        # by what holds the blocks: futures of blocks by their places; of chains side by side, too
        self._placed: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._placing = threading.Lock()

    def over(
        self, function: Callable[..., Any], held: blocks.Held, shared: tuple, own: Sequence[tuple]
    ) -> list:
        """As of `blocks.over`."""
        found: dict[int, Any] = {}
        for _ in range(_ATTEMPTS):
            missing = [i for i in range(len(held)) if i not in found]
            if not missing:
                return [found[i] for i in range(len(held))]
            found |= self._try(function, held, shared, {i: own[i] for i in missing})
        raise RuntimeError(
            f"blocks were lost {_ATTEMPTS} times with the workers that kept them, the last time "
            f"{len(held) - len(found)} of {len(held)}: look at the workers' logs, and their memory."
        )

    def _try(self, function, held, shared, own):
        """Results of some blocks by their places; those lost on the way are left out."""
        client, found = self._client, {}
        try:
            at = self._place(held, own)
            # a task and no data: what is lost of it with a worker is made again by itself
            told = client.submit(_same, _Packed(shared), pure=False)
            futures = {
                i: client.submit(_step, function, at[i], told, _Packed(mine), pure=False)
                for i, mine in own.items()
            }
        except _lost():
            return found
        for i, future in futures.items():
            try:
                found[i] = future.result()
            except _lost():
                self._forget(held, i, at[i])
        return found

    def _place(self, held, needed):
        """Futures of blocks of ``held``, those ``needed``; they are sent where they are not yet.

        A future whose worker is gone has been lost, or will turn out to be.
        """
        with self._placing:
            at = self._placed.setdefault(held, {})
            absent = [i for i in needed if i not in at or at[i].status != "finished"]
            if absent:
                data = [_Packed((held[i],)) for i in absent]
                at.update(zip(absent, self._client.scatter(data, hash=False), strict=True))
            return {i: at[i] for i in needed}

    def _forget(self, held, i, lost):
        """Send block ``i`` again next time, unless another chain has done so."""
        with self._placing:
            at = self._placed[held]
            if at.get(i) is lost:
                del at[i]


class _Packed:
    """Arguments that travel as one object, in which dask does not look for futures."""

    def __init__(self, arguments):
        self.arguments = arguments


def _same(thing):
    return thing


def _step(function, block, shared, own):
    # an own argument is changed, and a step may be repeated where nothing was copied on the way
    with OneBlasThread():
        return function(*block.arguments, *shared.arguments, *copy.deepcopy(own.arguments))


def _lost():
    """Errors that tell of workers that are gone."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    # nobody may be there for a while, before a worker's successor is
    return KilledWorker, CommClosedError, CancelledError, AsyncioCancelled, TimeoutError
