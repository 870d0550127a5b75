"""Probabilities of documents given the topics of all others, where topics' words are summed out.

Documents are not independent given base measures, as words of topics phi, which all share, are
summed out. Given a draw of phi they are, but most tokens of a rare word may be of one document, on
which phi hangs so much that importance weights 1 / p(document | phi) have no variance. Here theta,
phi and the document's own topics are summed out, and given are the topics of the tokens of *other*
documents,

    p(w_d | z_-d, w_-d, base measures, alpha),

whose inverse is the weight of a draw in the posterior without the document (Vehtari et al. 2016,
JMLR 17(103), call that integrated importance sampling).

A draw records tokens of words in topics, not the topics of documents. Those are drawn again: words
of topics from Dirichlet(eta g + n), topics of tokens given these by Gibbs sampling, which makes
another draw of the same posterior.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..gibbs.kernels import Entries, count_anew, draw_assignments
from .left_out_kernels import move_tokens, read_document

# Sweeps over the tokens before the first draw, and between two of them.
FIRST_SWEEPS, SWEEPS = 20, 5
# Groups that the particles of a document are in.
_GROUPS = 4


def redraw_topics(documents, pseudo, counts, alpha, z, n_sweeps, rng):
    """Draw topics of tokens given tokens of words in topics, in place.

    Parameters
    ----------
    documents : Documents
        Whole counts.
    pseudo, counts : ndarray of shape (V, K)
        eta g, and tokens of words in topics.
    alpha : ndarray of shape (K,)
    z : ndarray of int32 of shape (n_tokens,)
        Topics that sweeps start from.
    n_sweeps : int
    rng : numpy.random.Generator
    """
    phi = rng.standard_gamma(pseudo + counts)
    phi /= np.maximum(phi.sum(axis=0), 1e-300)
    # a word that is next to nothing in every topic still needs one
    table = np.maximum(phi, 1e-300)
    table /= table.max(axis=1, keepdims=True)
    entries, moved = Entries.of(documents), np.zeros(1, np.int64)
    for _ in range(n_sweeps):
        draw_assignments(0, documents.n_documents, entries, table, alpha, rng, z, moved)


def left_out_likelihood(documents, pseudo, concentration, alpha, z, n_points, rng):
    """Log probability of each document given the topics of all others.

    Parameters
    ----------
    documents : Documents
        Whole counts.
    pseudo : ndarray of shape (V, K)
    concentration : float
        eta, the sum over words of each column of ``pseudo``.
    alpha : ndarray of shape (K,)
    z : ndarray of int32 of shape (n_tokens,)
    n_points : int
        Particles, in `_GROUPS` that know nothing of each other: their differences tell the error.
    rng : numpy.random.Generator

    Returns
    -------
    values, spread : ndarray of shape (n_documents,)
        Log probabilities, and particles times the relative variance of the probability.
    """
    entries = Entries.of(documents)
    table = np.zeros(pseudo.shape)
    count_anew(np.arange(documents.n_documents), entries, z, table)
    sizes = concentration + table.sum(axis=0)
    table += pseudo
    values = np.zeros((_GROUPS, documents.n_documents))
    n_each, indptr, ends = max(1, n_points // _GROUPS), entries.indptr, entries.ends
    shape = n_each, alpha.size
    work = *(np.empty(shape) for _ in range(4)), np.empty(n_each), np.empty(n_each, np.int64)
    for d in range(documents.n_documents):
        part = slice(indptr[d], indptr[d + 1])
        own = entries.words[part], entries.counts[part]
        topics = z[ends[d] : ends[d + 1]]
        move_tokens(*own, topics, table, sizes, -1)
        for group in range(_GROUPS):
            values[group, d] = read_document(*own, table, sizes, alpha, rng, work)
        move_tokens(*own, topics, table, sizes, 1)
    mean = logsumexp(values, axis=0) - np.log(_GROUPS)
    variance = np.exp(values - mean).var(axis=0, ddof=1) / _GROUPS
    return mean, _GROUPS * n_each * variance
