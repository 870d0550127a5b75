"""Effects of covariates of documents on a word's meaning: regression of its contexts' vectors.

An occurrence of a word is embedded *a la carte* (Khodak et al. 2018): the mean vector of the words
around it, times a matrix A that makes such means of all words as like their own vectors as least
squares can. The embeddings are regressed on the covariates (Rodriguez, Spirling & Stewart 2023).
Vectors and A are taken as known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..common.checks import check_integer, check_prob
from ..common.warnings import warn_user
from ..corpus.analysis import analyzer_of
from ..corpus.design import INTERCEPT, design_of, explained_by_others
from ..corpus.kinds import input_kind, materialise
from ..corpus.products import products_of
from ..corpus.rows import check_rows
from ..corpus.text import encode, keep_tokens
from ..corpus.times import Times, check_order
from ..corpus.units import check_units, name_of, units_of
from ..posterior.few_units import warn_of_few
from ..posterior.in_time import in_time_of, warn_of_alternation
from ..posterior.one_unit import warn_of_one_unit
from ..posterior.sources import FEW_UNITS, name_of_sampled, units_in_words
from .meaning_effects import LENGTH, MeaningEffects
from .pairs import PairCounts
from .questions.phrases import word_index
from .shards import PairShard
from .vector_regression import (
    in_time,
    independent,
    length,
    length_test,
    permutation_test,
    projection,
)

# Tokens whose contexts are worked on at a time.
_TOKENS = 2**18
# Share of the largest curvature of the least squares for A that is added to it.
_RIDGE = 1e-6
# Curvature below which vectors are zero but for rounding.
_LEAST = 1e-100
# Shares of the median length below which a vector has no direction.
_ZERO = 1e-6
# Of permutations, the same in every call and of each term.
_SEED = 20230101


class Occurrences(NamedTuple):
    """Occurrences of a word that have words around them.

    Attributes
    ----------
    documents : ndarray of int of shape (n,)
    vectors : ndarray of shape (n, n_components)
        Embedded a la carte.
    """

    documents: np.ndarray
    vectors: np.ndarray


def meaning_effects(
    estimator, X, design, units, *, times, word, axes, window, reference, n_permutations, prob
):
    """`MeaningEffects` of a word; as `ReadingMixin.effects`."""
    check_integer("window", window, 1)
    check_integer("n_permutations", n_permutations, 1)
    check_prob(prob)
    index = [word_index(estimator, one, "word") for one in _listed(word)]
    directions = _directions(estimator, axes)
    check_rows(X=X, design=design, units=units, times=times)
    if units is None:
        _tell_of_units(estimator)
    ids, offsets = _tokens(estimator, X)
    n = len(offsets) - 1
    units_name = name_of(units)
    design, units = design_of(design, n), check_units(units, n)
    if design.terms.size == 1:
        raise ValueError("design must have a covariate besides the constant, got the constant.")
    when = None if times is None else check_order(times, n)
    tokens = (ids, offsets) if reference is None else _reference_tokens(estimator, reference)
    matrix = contexts_to_vectors(estimator.rho_, *tokens, window)
    found = occurrences(estimator.rho_, ids, offsets, index, window, matrix)
    documents = np.unique(found.documents)
    if documents.size < 3:
        raise ValueError(
            f"word={word!r} must occur, with known words around it, in three documents or more, "
            f"got {documents.size}."
        )
    rows = design.rows(found.documents, "occurrences")
    labels = found.documents if units is None else units[found.documents]
    clusters = units_of(labels, None, labels.size, "occurrences")
    if when is None:
        fit = independent(rows.matrix, found.vectors, clusters.index)
    else:
        fit = in_time(rows.matrix, found.vectors, clusters.index, when[found.documents])
    terms = np.flatnonzero(rows.terms != INTERCEPT)
    summaries, permuted = [], []
    for j in terms:
        covariance = fit.influence[:, j].T @ fit.influence[:, j]
        at, freedom = fit.coefficients[j], fit.freedom_along(j)
        if when is None:
            # each its own: p does not hang on the order of terms
            rng = np.random.default_rng(_SEED)
            of = rows.matrix, j, found.vectors, clusters.index
            permuted.append(permutation_test(*of, n_permutations, rng))
            p = permuted[-1].p
        else:
            p = length_test(at, covariance, freedom)
        parts, free = [length(at, covariance, freedom, prob, p)], [freedom]
        for direction in directions.values():
            along = at @ direction, np.sqrt(direction @ covariance @ direction)
            free.append(fit.freedom_along(j, direction))
            parts.append(projection(*along, free[-1], prob))
        parts = [np.array(x) for x in zip(*parts, strict=True)]
        summaries.append((covariance, *parts, np.array(free)))
    covariances, mean, sd, interval, p_value, free = (
        np.stack(x) for x in zip(*summaries, strict=True)
    )
    # where one unit alone decides, permutations say nothing of other units either
    p_value = np.where(np.isnan(interval).any(axis=-1), np.nan, p_value)
    table = MeaningEffects(
        rows.terms[terms],
        [LENGTH, *directions],
        fit.coefficients[terms],
        covariances,
        mean,
        sd,
        interval,
        p_value,
        len(found.documents),
        documents.size,
        clusters.n_units,
        prob,
        word=_words(estimator, word),
        ends=_ends(estimator, axes),
        units_name=units_name,
        n_left_out=int(np.isin(ids, index).sum()) - len(found.documents),
        between_words=_between(estimator.rho_),
        zero_one=np.array([set(x) == {0.0, 1.0} for x in rows.matrix.T[terms]]),
        freedom=np.where(np.isnan(interval).any(axis=-1), np.nan, free),
        n_permutations=np.array([one.n for one in permuted]) if permuted else None,
        least_p=np.array([one.least for one in permuted]) if permuted else None,
        products=products_of(rows.matrix, rows.terms),
        explained=explained_by_others(rows.matrix)[terms],
        **fit.facts,
    )._resting_on("units")
    warn_of_alternation(in_time_of(table), table._sampled())
    warn_of_one_unit(table.terms, table.interval)
    if table.n_units >= FEW_UNITS:
        of = table._about(), table._sampled()
        warn_of_few(table.freedom, table.n_units, table.terms, "term", *of)
    return table


def _tell_of_units(estimator):
    """Warn where a fit knows of units, and effects are not told which documents are of which."""
    name, n_units = name_of_sampled(estimator), estimator.posterior_.attrs.get("n_units")
    if n_units is None or name == "document":
        return
    warn_user(
        f"effects was given no units and takes documents as independent, while fit was given "
        f"{units_in_words(n_units, name)}: pass units= here too, or intervals are too narrow and "
        "p-values too small where documents of one unit are alike.",
        UserWarning,
    )


def _listed(words):
    return words if isinstance(words, list | tuple | np.ndarray) else [words]


def _words(estimator, words):
    """Words that were given as such or by index, a tuple."""
    return tuple(
        str(estimator.words_[word_index(estimator, one, "word")]) for one in _listed(words)
    )


def _ends(estimator, axes):
    """Words at both ends of the axes, by their names."""
    return {
        str(name): (_words(estimator, low), _words(estimator, high))
        for name, (low, high) in (axes or {}).items()
    }


def _between(rho):
    """Root mean square distance between the vectors of two words."""
    return float(np.sqrt(2.0 * rho.var(axis=0, ddof=1).sum()))


def _directions(estimator, axes):
    """Unit vectors from the mean direction of some words to that of others, by the axes' names."""
    rho, found = estimator.rho_, {}
    if axes is not None and not isinstance(axes, Mapping):
        raise ValueError(f"axes must be a dict of pairs of words by name, got {axes!r}.")
    for name, ends in (axes or {}).items():
        if str(name) == LENGTH:
            raise ValueError(f"axes must not have the name {LENGTH!r}: the table has such a row.")
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise ValueError(
                f"axes[{name!r}] must be a pair of words or of lists of words, got {ends!r}."
            )
        means = []
        for end in ends:
            places = [word_index(estimator, one, f"axes[{name!r}]") for one in _listed(end)]
            # a word that is named twice counts once
            places = np.array(list(dict.fromkeys(places)))
            _check_direction(estimator, places, f"axes[{name!r}]")
            vectors = rho[places]
            means.append(np.mean(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), axis=0))
        difference = means[1] - means[0]
        length = np.linalg.norm(difference)
        if length < 1e-9:
            raise ValueError(f"axes[{name!r}] must have different ends, got {ends!r}.")
        found[str(name)] = difference / length
    return found


def _check_direction(estimator, places, name):
    """Raise a ValueError for words whose vectors are zero, as those without pairs are."""
    lengths = np.linalg.norm(estimator.rho_, axis=1)
    none = places[lengths[places] <= _ZERO * np.median(lengths)]
    if none.size:
        raise ValueError(
            f"{name} must be of words with a direction, and the vector of "
            f"{str(estimator.words_[none[0]])!r} is zero: no other word is near it in the text."
        )


def _tokens(estimator, X):
    """Word ids of documents, without unknown words, and where documents begin."""
    X = materialise(X)
    if isinstance(X, (PairCounts, PairShard)) or input_kind(X) == "counts":
        raise TypeError("effects needs documents as text or tokens: counts have no contexts.")
    ids, offsets = encode(X, analyzer_of(estimator, input_kind(X)), estimator.vocabulary_)
    return keep_tokens(ids, offsets, ids >= 0)


def _reference_tokens(estimator, reference):
    """As `_tokens`; errors say which documents they are about."""
    try:
        return _tokens(estimator, reference)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"reference: {error}") from error


def context_means(rho, ids, offsets, window):
    """Mean vector of the words around each token (n_tokens, K), and how many words there are.

    Words up to ``window`` away in the same document, with equal weights.
    """
    sums = np.concatenate([np.zeros((1, rho.shape[1])), np.cumsum(rho[ids], axis=0)])
    place = np.arange(ids.size)
    first = np.repeat(offsets[:-1], np.diff(offsets))
    last = np.repeat(offsets[1:], np.diff(offsets))
    low, high = np.maximum(place - window, first), np.minimum(place + window + 1, last)
    around = high - low - 1
    means = sums[high] - sums[low] - rho[ids]
    return means / np.maximum(around, 1)[:, None], around


def _blocks(offsets):
    """First document of each block of about as many tokens, and the one behind its last."""
    cuts = np.searchsorted(offsets, np.arange(_TOKENS, offsets[-1], _TOKENS))
    edges = np.unique(np.concatenate([[0], cuts, [len(offsets) - 1]]))
    return zip(edges[:-1], edges[1:], strict=True)


def contexts_to_vectors(rho, ids, offsets, window):
    """The matrix (K, K) that makes mean vectors of contexts, rows, as like words as it can.

    It is ``argmin_A sum_w log(1 + n_w) |rho_w - A' u_w|^2``, u_w the mean over the n_w occurrences
    of w of their contexts' means (Khodak et al. 2018, eq. 4; weights as in conText).
    """
    n_words, k = rho.shape
    total, n = np.zeros((n_words, k)), np.zeros(n_words)
    for a, b in _blocks(offsets):
        part = ids[offsets[a] : offsets[b]]
        means, around = context_means(rho, part, offsets[a : b + 1] - offsets[a], window)
        seen = np.flatnonzero(around > 0)
        places = part[seen], np.arange(seen.size)
        by_word = sparse.csr_array((np.ones(seen.size), places), shape=(n_words, seen.size))
        total += by_word @ means[seen]
        n += np.bincount(part[seen], minlength=n_words)
    u = total / np.maximum(n, 1)[:, None]
    weight = np.log1p(n)[:, None]
    moments = u.T @ (weight * u)
    size = np.linalg.norm(moments, 2)
    if not size > _LEAST:
        raise ValueError(
            "effects needs vectors of contexts, and those of this fit are next to zero: the prior "
            "outweighs the texts (prior_precision), or no word has another one around it."
        )
    moments += _RIDGE * size * np.eye(k)
    return np.linalg.solve(moments, u.T @ (weight * rho))


def occurrences(rho, ids, offsets, index, window, matrix):
    """`Occurrences` of the words ``index``, the means of their contexts times the matrix."""
    documents, vectors = [], []
    for a, b in _blocks(offsets):
        part = ids[offsets[a] : offsets[b]]
        means, around = context_means(rho, part, offsets[a : b + 1] - offsets[a], window)
        here = np.flatnonzero(np.isin(part, index) & (around > 0))
        documents.append(np.repeat(np.arange(a, b), np.diff(offsets[a : b + 1]))[here])
        vectors.append(means[here])
    return Occurrences(np.concatenate(documents), np.concatenate(vectors) @ matrix)


class MeaningMixin:
    """Effects of covariates on the meaning of words."""

    # of the estimator
    rho_: Any

    def effects(
        self,
        X: Any,
        design: Any,
        units: Any = None,
        *,
        times: Times | None = None,
        word: Any,
        axes: Mapping[str, Any] | None = None,
        window: int = 6,
        reference: Any = None,
        n_permutations: int = 999,
        prob: float = 0.9,
    ) -> MeaningEffects:
        """Estimate effects of covariates of documents on the meaning of a word.

        Every occurrence of the word is embedded by the mean vector of the words around it, times a
        least-squares matrix that makes such means as similar as possible to the words' own vectors.
        These embeddings are regressed on the covariates, as in conText.

        Parameters
        ----------
        X : documents, as strings or token lists
            Documents of training or others.
        design : array-like, Series, DataFrame or dict
            Covariates, numbers or truth values, of shape (n_documents,) or (n_documents, n_terms).
            Columns of a DataFrame and keys of a dict of columns name the terms, as in
            ``{"Republican": df["party"] == "Republican"}``. They must vary. A constant is added
            unless there is one: a column of ones that is called "intercept" or "const", or is the
            first of an array without names.
        units : array-like of shape (n_documents,), optional
            Units of sampling: speakers, authors, works; each document by default, also where
            ``fit`` was given units, of which a warning then tells.
        times : array-like of shape (n_documents,), optional
            Numbers or dates, where units may be autocorrelated in time, each at the mean of its
            documents (see Notes). By default, units are treated as independent.
        word : str, int or list of them
            Occurrences of several words are combined.
        axes : dict of str to pair, optional
            Axes from one word, or list of words, to another; effects are projected on each, and
            are positive towards the second.
        window : int, default=6
            Number of words on either side, with equal weights.
        reference : documents, optional
            Documents from which the matrix is learned; X by default. From little text, it shrinks.
        n_permutations : int, default=999
            Random permutations for the test of a length; none with ``times``. Where units are so
            few that there are no more than 10,000 in all (up to 7 units, or 13 where the covariate
            differs within units), all are taken.
        prob : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        MeaningEffects
            A table. For each covariate, the length of its coefficient, with a permutation test, and
            its projections on the axes; ``coefficients`` (n_terms, n_components). The interval of a
            length is cut off at zero, and its p-value is of another test, so that p may be small
            where the interval begins at zero.

        Raises
        ------
        KeyError
            For an unknown word, or an index that may be the name of another word.
        TypeError
            If X holds counts.
        ValueError
            If the design or the units are not allowed, an axis does not have two ends or is called
            "length", or the word
            occurs in fewer than three documents; if ``times`` cannot be read, are the same for all
            units, or there are fewer units than two more than terms.

        Warns
        -----
        UserWarning
            If ``fit`` was given units and ``units`` is None; if residuals of neighboring units in
            time are clearly negatively correlated; or if a term has fewer than four degrees of
            freedom or two units.

        Notes
        -----
        Standard errors are cluster-robust (CR2). Vectors and matrix are treated as known:
        intervals are about the documents of X. Even noise has a positive squared length, and what
        noise adds on average is subtracted. What other covariates do not explain of a covariate is
        permuted over units, where it is the same in all occurrences of a unit, and lengths are in
        units of their standard errors, as units with few occurrences are noisier (DiCiccio & Romano
        2017); elsewhere the signs of what units add to the coefficient are changed at random
        (Hemerik, Goeman & Finos 2020).

        Without ``times``, units are treated as independent. If units that follow each other in time
        are alike, and a covariate changes slowly, intervals are then too narrow, and permutation
        tests reject too often: of random walks over 40 units in half of all cases, at the level of
        a tenth (``benchmarks/effects.py meaning-time``). With ``times``, coefficients are those of
        generalized least squares, averaged over the probable correlations of residuals in time as
        by `regress`, in each principal direction of the units' mean vectors by itself. Permuting
        whitened residuals would reject too often, since errors in the correlations are much the
        same in all directions; the test of a length is therefore an F test with the degrees of
        freedom of one direction (Box 1954). Where units are independent, it finds fewer effects
        than the permutation test.

        References
        ----------
        DiCiccio & Romano (2017). Robust Permutation Tests For Correlation And Regression
        Coefficients. Journal of the American Statistical Association 112(519).
        Khodak, Saunshi, Liang, Ma, Stewart & Arora (2018). A La Carte Embedding. ACL.
        Rodriguez, Spirling & Stewart (2023). Embedding Regression: Models for Context-Specific
        Description and Inference. American Political Science Review 117(4).
        Hemerik, Goeman & Finos (2020). Robust Testing in Generalized Linear Models by Sign
        Flipping Score Contributions. Journal of the Royal Statistical Society B 82(3).
        Box (1954). Some Theorems on Quadratic Forms Applied in the Study of Analysis of Variance
        Problems, I. Annals of Mathematical Statistics 25(2).

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a cat and a dog"] * 5
        >>> model = BayesianSGNS(2, solver="map", prior_precision=0.1, min_count=1, random_state=0)
        >>> model = model.fit(texts)
        >>> effects = model.effects(texts, [[float(i)] for i in range(15)], word="cat")
        >>> effects.mean.shape
        (1, 1)
        """
        check_is_fitted(self, "posterior_")
        return meaning_effects(
            self,
            X,
            design,
            units,
            times=times,
            word=word,
            axes=axes,
            window=window,
            reference=reference,
            n_permutations=n_permutations,
            prob=prob,
        )
