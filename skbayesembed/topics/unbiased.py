"""Shares of topics in documents that the prior does not draw to its mean.

Posterior means of theta lie between the document's own shares and the prior's mean, the nearer to
the latter the shorter the document, and topics with words in common are taken for each other. How
much of topic j is read as topic k, a matrix B with

    E[posterior mean | theta] = B theta,

is found from documents that are simulated from the fit, as long as those at hand, and ``B^-1``
times the posterior means has theta for its mean. That is how shares of categories are corrected for
misclassification (Buonaccorsi 2010, Measurement Error, sect. 3; Hopkins & King 2010, AJPS 54(1)).

Least squares on the words need no prior in the first place, but words of real documents are not
expected at ``theta' phi``: shares that are not kept between 0 and 1 then go far beyond.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from ..common.random import seed_at
from ..inference.threads import OneBlasThread
from .draws import draws_of
from .inputs import vocabulary_reading
from .predict import FoldIn

# Groups of documents by length, each with a matrix of its own, from so many simulated documents,
# but fewer where these have more tokens in all; and more, up to a number, where there are more of
# them at hand, whose effects are better known.
_GROUPS = 6
_MOST, _LEAST, _TOKENS, _UPTO = 4_000, 400, 400_000, 20_000
# Tokens of a simulated document, at most: the prior weighs next to nothing beside as many, and
# memory is that of all tokens of a group.
_LONGEST = 10_000
# Draws with matrices of their own, which others share: what matrices differ by, with the topics
# and with the documents that were simulated, is in how effects differ from draw to draw.
_MATRICES = 5
# Groups of fewer documents have the shares of all for those that are simulated.
_FEW = 100
# So many documents of one topic alone, that are read as what they are, are added to those of each
# topic: of topics that hardly any document has nothing is learned.
_ADDED = 0.1
# Key of the random numbers of simulated documents.
_STREAM = 1729
# Differences of topics are given up that change what is read by less than this share.
_ALIKE = 0.01
# Size of the shares that are kept, at most.
_KEPT_BYTES = 2**26


class _Found(NamedTuple):
    """Shares that were found, and what for."""

    key: tuple[Any, ...]
    inverses: list[dict[int, np.ndarray]]
    shares: list[np.ndarray] | None


# What was found last. Questions with other designs are often of the same documents.
_LAST: WeakKeyDictionary[Any, _Found] = WeakKeyDictionary()


def unbiased_shares(estimator, counts, chosen):
    """Shares of topics that documents with theta have theta for their mean, under some draws.

    They add up to one in each document, and may be negative. Those that were found last are kept,
    up to 64 MiB, and the matrices of more.

    Parameters
    ----------
    estimator : GaussianLDA
    counts : csr_array of shape (n_documents, n_words)
        Of documents with tokens.
    chosen : ndarray of int

    Yields
    ------
    ndarray of shape (n_documents, n_components)
        Read-only.
    """
    key, posterior = _key(estimator, counts, chosen), estimator.posterior_
    last = _LAST.get(posterior)
    if last is None or last.key != key:
        last = _Found(key, _all_inverses(estimator, counts, chosen), None)
    if last.shares is not None:
        yield from last.shares
        return
    found: list[np.ndarray] = []
    for shares in _shares(estimator, counts, chosen, last.inverses):
        shares.flags.writeable = False
        if shares.nbytes * chosen.size <= _KEPT_BYTES:
            found.append(shares)
        yield shares
    _LAST.clear()
    _LAST[posterior] = last._replace(shares=found or None)


def _key(estimator, counts, chosen):
    """What shares under one posterior depend on; documents by their content."""
    digest = hashlib.blake2b()
    for part in (counts.indptr, counts.indices, counts.data):
        digest.update(f"{part.dtype.str} {part.size} ".encode())
        digest.update(np.ascontiguousarray(part))
    return digest.digest(), counts.shape, chosen.tobytes(), estimator.word_proba


def _by_length(counts):
    """Group of each document by its length, and lengths, each (n_documents,)."""
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    shares = np.linspace(0.0, 1.0, _GROUPS + 1)[1:-1]
    edges = np.unique(np.quantile(lengths, shares, method="nearest"))
    return np.searchsorted(edges, lengths), lengths


def _blocks(chosen):
    """Draws that share matrices: how documents are read hardly hangs on the draw."""
    return np.array_split(chosen, min(_MATRICES, chosen.size))


def _all_inverses(estimator, counts, chosen):
    """`_inverses` of each block of draws, a list."""
    groups, lengths = _by_length(counts)
    with OneBlasThread():
        return [
            _inverses(estimator, counts, lengths, groups, block[[block.size // 2]], stream)
            for stream, block in enumerate(_blocks(chosen))
        ]


def _shares(estimator, counts, chosen, inverses):
    """Yield the shares under each draw by the matrices of its block."""
    groups, _ = _by_length(counts)
    folded = iter(_fold(estimator, counts, chosen))
    for block, own_inverses in zip(_blocks(chosen), inverses, strict=True):
        for _ in block:
            # what regresses the shares in between has all threads
            with OneBlasThread():
                means = next(folded)
            out = np.empty_like(means)
            for group, inverse in own_inverses.items():
                own = groups == group
                out[own] = means[own] @ inverse.T
            # where a difference was given up a sum may be off
            yield out + (1.0 - out.sum(axis=1, keepdims=True)) / out.shape[1]


def _fold(estimator, counts, chosen):
    """`FoldIn` of documents under the ``chosen`` draws."""
    draws = draws_of(estimator, chosen=chosen)
    reading = vocabulary_reading(estimator, counts)
    return FoldIn(reading, draws, estimator.word_proba, estimator.n_jobs)


def _inverses(estimator, counts, lengths, groups, draw, stream):
    """``B^-1`` (K, K) of each group of documents under a draw, a dict."""
    fold = _fold(estimator, counts, draw)
    (means,) = fold
    # a stream of its own beside those of intervals
    rng = np.random.default_rng(seed_at(estimator._reading_seed, _STREAM, stream))
    tokens = means * (lengths[:, None] + fold.draws.alpha(0).sum())
    proba, found = fold.draws.token_proba(0), {}
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        n = int(np.clip(_TOKENS / lengths[own].mean(), _LEAST, _MOST))
        n = max(n, min(own.size, _UPTO))
        long = np.minimum(rng.choice(lengths[own], n), _LONGEST)
        whole = np.maximum(np.ceil(long - 1e-9), 1).astype(np.int64)
        like = rng.choice(own if own.size >= _FEW else lengths.size, n)
        theta = _drawn(tokens[like], proba, rng)
        made = simulated(theta, whole, proba, rng)
        # fractional tokens tell of shares as those at hand do
        made.data *= np.repeat(long / whole, np.diff(made.indptr))
        (read,) = _fold(estimator, made, draw)
        matrix = confusion(theta, read)
        rcond = _ALIKE / np.linalg.norm(matrix, 2)
        found[group] = np.linalg.pinv(matrix, rcond=rcond)
    return found


def _drawn(tokens, proba, rng):
    """Draws of theta (n, K) from Dirichlet distributions; topics without tokens have no share."""
    # gammas of tiny shares may all be zero
    theta = np.maximum(rng.standard_gamma(tokens), 1e-300) * (proba.sum(axis=1) > 0)
    return theta / theta.sum(axis=1, keepdims=True)


def simulated(theta, lengths, proba, rng):
    """Documents with shares theta (n, K) and so many tokens, csr_array (n, n_words).

    Parameters
    ----------
    theta : ndarray of shape (n, K)
    lengths : ndarray of int of shape (n,)
    proba : ndarray of shape (K, n_words)
        Probabilities of words; of a topic that has a share none is zero throughout.
    rng : numpy.random.Generator

    Returns
    -------
    csr_array of shape (n, n_words)
    """
    rows, words = [], []
    for n, row in zip(rng.multinomial(lengths, theta).T, proba, strict=True):
        if not n.any():
            continue
        cumulative = np.cumsum(row)
        # rounding may reach the end
        at = np.minimum(rng.random(n.sum()) * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
        rows.append(np.repeat(np.arange(n.size), n))
        words.append(np.searchsorted(cumulative, at, side="right"))
    places = np.concatenate(rows), np.concatenate(words)
    return sparse.csr_array((np.ones(places[0].size), places), shape=(len(theta), proba.shape[1]))


def confusion(theta, read):
    """B (K, K), by least squares of what is ``read`` (n, K) on theta (n, K); columns add to one."""
    inner = theta.T @ theta
    inner[np.diag_indices(len(inner))] += _ADDED
    return np.eye(len(inner)) + np.linalg.solve(inner, theta.T @ (read - theta)).T
