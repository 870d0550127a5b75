"""Word vectors as ``model="edisc"`` takes them."""

from __future__ import annotations

import numpy as np

from ..corpus.embedding import (
    WordVectors,
    draws_of,
    each_drawn,
    median_distance,
    note_missing,
    source_of,
    source_of_words,
)


def word_vectors(embedding, words, columns, n_columns, totals, n_draws=None):
    """`prepared` vectors of words, from what users call an embedding, and draws of them.

    Parameters
    ----------
    embedding : object
        See `corpus.embedding.source_of`.
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None for text.
    n_columns : int or None
        Columns of the count matrix in all.
    totals : ndarray of shape (n_words,)
        Occurrences of words.
    n_draws : int or None

    Returns
    -------
    vectors : ndarray of shape (n_words, n_dims)
    draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Each as if it were given by itself, in the axes of the vectors. None where none are asked
        for.

    Raises
    ------
    ValueError
        If vectors cannot be drawn, or do not fit the words.
    """
    source = source_of(embedding) if columns is not None else source_of_words(embedding)
    if isinstance(source, WordVectors):
        vectors, found = source.find(words.tolist())
    elif len(source) != n_columns:
        raise ValueError(
            f"embedding must have a row for each of the {n_columns} columns of X, got "
            f"{len(source)} rows."
        )
    else:
        vectors, found = source[columns], np.ones(words.size, dtype=bool)
    note_missing(words, found, totals, "are told apart by their frequencies alone")
    place = placing(vectors, found, totals)
    if n_draws is None:
        return place(vectors), None
    drawn = draws_of(source, words[found].tolist(), n_draws)
    return place(vectors), each_drawn(place, drawn, words.size)


def prepared(vectors, found, totals):
    """Vectors where `placing` puts them, (n_words, n_dims)."""
    return placing(vectors, found, totals)(vectors)


def placing(vectors, found, totals):
    """What centers vectors, scales them and turns them to their principal axes.

    Their center is the mean over training tokens, where words without a vector are put. They are
    scaled to a median squared distance of one between two words. Neither changes the model, in
    which only differences of logits count and priors are in units of this distance. In the axes the
    tokens' vectors are uncorrelated: the posterior is about independent over dimensions.

    Parameters
    ----------
    vectors : ndarray of shape (n_found, n_dims)
    found : ndarray of bool of shape (n_words,)
        Which words they are of.
    totals : ndarray of shape (n_words,)
        Occurrences of words.

    Returns
    -------
    callable
        Takes vectors (n_found, n_dims), these or others about them, to (n_words, n_dims): their own
        center and distance, in the axes of these.

    Raises
    ------
    ValueError
        If vectors do not differ.
    """
    if len(vectors) < 2:
        raise ValueError(
            f"embedding must have vectors of at least two words of X, got {len(vectors)} of "
            f"{found.size}; a larger max_features or a smaller min_count keeps more words, and "
            "analyzer or token_pattern may split them otherwise."
        )
    if not median_distance(vectors) > 0:
        raise ValueError(
            "embedding must have different vectors for different words: the median distance of "
            f"the {len(vectors)} vectors of words of X is zero."
        )
    weights = totals[found].astype(float)
    if not weights.any():
        weights[:] = 1.0

    def scaled(given):
        return (given - weights @ given / weights.sum()) / median_distance(given)

    here = scaled(vectors)
    _, axes = np.linalg.eigh(here.T @ (weights[:, None] * here))
    axes = axes[:, ::-1]
    # with the largest entry of an axis positive
    axes *= np.sign(np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0))

    def place(given):
        out = np.zeros((found.size, len(axes)))
        out[found] = scaled(given)
        return np.ascontiguousarray(out @ axes)

    return place


def asides_of(posterior):
    """What tables say of the word vectors of a fit, a list of lines; none where there were none."""
    attrs, lines = posterior.attrs, []
    words, tokens = (attrs.get(f"{what}_without_vector", 0.0) for what in ("words", "tokens"))
    if words:
        lines.append(
            f"({_percent(words)} of the words, {_percent(tokens)} of the tokens, have no vector)"
        )
    if "embedding_share" in attrs:
        share = _percent(attrs["embedding_share"])
        lines.append(f"(up to {share} of the variance of prevalences comes from the word vectors)")
    return lines


def _percent(share):
    return "below 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"
