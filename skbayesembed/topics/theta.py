"""Draws of the topic shares of documents, by Gibbs sampling of their tokens under drawn topics."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from ..common.estimator import spaced
from ..common.random import generators, seed_at
from ..inference.chains import Workers
from ..inference.threads import OneBlasThread
from .draws import draws_of
from .gibbs.kernels import Entries, count_documents, draw_assignments
from .inputs import Reading, whole_tokens
from .predict import FoldIn

# Sweeps over the tokens before the first draw, and between two of them. Tokens start from the means
# that `predict.FoldIn` finds.
_FIRST_SWEEPS, _SWEEPS = 20, 5


def theta_draws(estimator, reading, n_draws):
    """Draws of theta, each under a draw of the topics.

    Given the topics a document's tokens are drawn with theta summed out,

        P(z_t = k | rest) proportional to (n_dk without t + alpha_k) p(w_t | k),

    and theta from Dirichlet(alpha + n_d).

    Parameters
    ----------
    estimator : GaussianLDA
    reading : inputs.Reading
        Counts are rounded to whole tokens.
    n_draws : int

    Returns
    -------
    ndarray of shape (n_draws, n_documents, K)
    """
    reading = _whole(reading)
    posterior, by, n_jobs = estimator.posterior_, estimator.word_proba, estimator.n_jobs
    chosen = spaced(posterior, n_draws)
    draws = draws_of(estimator, chosen=chosen)
    fold = FoldIn(reading, draws_of(estimator, chosen=chosen[:1]), by, n_jobs)
    documents, blocks = fold.documents, fold.blocks
    entries = Entries.of(documents)
    rngs = generators(seed_at(estimator._reading_seed), len(blocks))
    jobs = min(effective_n_jobs(n_jobs), len(blocks))
    out, z = None, np.empty(documents.n_tokens, np.int32)
    # threads of this process under every backend: blocks write into shared arrays
    with OneBlasThread(), Workers(jobs) as run:
        start = next(iter(fold))
        # topics of tokens go on from draw to draw, and are others where the word vectors are
        runs = posterior.runs_of(chosen)
        before = None
        for s in np.argsort(runs, kind="stable"):
            anew = before is None or runs[s] != runs[before]
            if anew or chosen[s] != chosen[before]:
                weights, alpha = draws.weights(s, reading, by), draws.alpha(s)
            if before is None:
                out = np.empty((n_draws, documents.n_documents, alpha.size))
                for block, rng in zip(blocks, rngs, strict=True):
                    _start(*block, entries, weights, start, rng, z)
            sweeps, before = _FIRST_SWEEPS if anew else _SWEEPS, s
            shared = entries, weights, alpha
            tasks = zip(blocks, rngs, strict=True)
            run(_draw, [(*block, *shared, rng, z, sweeps, out[s]) for block, rng in tasks])
    return out


def start_topics(fold, rng, z):
    """Draw topics of the tokens of a `FoldIn` of whole counts of one draw, into ``z``."""
    documents = fold.documents
    entries = Entries.of(documents)
    weights, theta = fold.draws.weights(0, fold.reading, fold.by), next(iter(fold))
    for block in fold.blocks:
        _start(*block, entries, weights, theta, rng, z)


def _whole(reading):
    whole = whole_tokens(reading.counts, "a draw of shares")
    return reading if whole is reading.counts else Reading(whole, reading.vectors, reading.places)


def _start(first, last, entries, weights, theta, rng, z):
    """Draw the topics of tokens of documents first..last under the means of theta (M, K)."""
    here = slice(entries.indptr[first], entries.indptr[last])
    of_entry = np.repeat(np.arange(first, last), np.diff(entries.indptr[first : last + 1]))
    proba = np.cumsum(weights[entries.words[here]] * theta[of_entry], axis=1)
    counts = entries.counts[here]
    u = rng.random(int(counts.sum())) * np.repeat(proba[:, -1], counts)
    z[entries.ends[first] : entries.ends[last]] = np.sum(
        u[:, None] >= np.repeat(proba[:, :-1], counts, axis=0), axis=1
    )


def _draw(first, last, entries, weights, alpha, rng, z, sweeps, out):
    """Sweep over the tokens of documents first..last, and draw theta into ``out`` (M, K)."""
    moved = np.zeros(1, np.int64)
    for _ in range(sweeps):
        draw_assignments(first, last, entries, weights, alpha, rng, z, moved)
    counts = np.empty((last - first, alpha.size), np.int32)
    count_documents(entries.ends[first : last + 1], z, counts)
    draws = rng.standard_gamma(counts + alpha)
    total = draws.sum(axis=1)
    # an empty document under a tiny alpha: theta is next to a corner, and gammas are lost
    lost = np.flatnonzero(total == 0)
    draws[lost, rng.choice(alpha.size, lost.size, p=alpha / alpha.sum())] = 1.0
    out[first:last] = draws / draws.sum(axis=1, keepdims=True)
