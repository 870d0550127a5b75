"""What `regress` is given: features, outcome and names, checked."""

from __future__ import annotations

import numpy as np

from ..common.checks import as_floats, check_list, check_no_texts
from ..common.warnings import warn_user
from ..corpus.design import INTERCEPT

# Draws whose slopes have a covariance.
_FEWEST_DRAWS = 20


def draws_of(features):
    """Draws of features (n_draws, n_documents, n_features), checked.

    Those of an answer are NaN for documents without a known word.
    """
    answered = hasattr(features, "draws")
    if answered:
        features = features.draws
    try:
        draws = as_floats(features)
    except ValueError as error:
        raise ValueError(f"features must be an answer with draws, or numbers: {error}") from None
    if draws.ndim == 1:
        raise ValueError(
            "features must have draws, of shape (n_draws, n_documents) or (n_draws, n_documents, "
            f"n_features), got one number for each of {draws.size} documents: pass "
            "sample_transform(X) or what document_similarity answers; what is known without error "
            "belongs among covariates=."
        )
    draws = draws[..., None] if draws.ndim == 2 else draws
    if draws.ndim != 3 or 0 in draws.shape:
        raise ValueError(
            "features must be of shape (n_draws, n_documents, n_features), as sample_transform and "
            f"the draws of an answer are, got {draws.shape}."
        )
    finite = np.isfinite(draws).all(axis=(0, 2)) | (np.isnan(draws).all(axis=(0, 2)) & answered)
    if not finite.all():
        where = np.flatnonzero(~finite)[0]
        raise ValueError(
            f"features must be finite, got NaN or infinity in document {where}: leave documents "
            "without known words out."
        )
    return draws


def as_estimated(features, draws):
    """Draws of an answer by units with errors as large as estimated, and their degrees of freedom.

    Those of an answer are Student's t, which allows for how well the variance is known by as many
    units as there are. What attenuates slopes is the variance itself; the allowance is that of
    intervals, and has the median of the degrees of freedom.

    Parameters
    ----------
    features : object
    draws : ndarray of shape (n_draws, n_documents, n_features)
        As of `draws_of`.

    Returns
    -------
    draws : ndarray of shape (n_draws, n_documents, n_features)
    freedom : float
    """
    most = len(draws) - 1.0
    if getattr(features, "source", None) != "units" or not hasattr(features, "freedom"):
        return draws, most
    shape = draws.shape[1:]
    sd, freedom = (np.reshape(x, shape) for x in (features.sd, features.freedom))
    mean, wide = draws.mean(axis=0), draws.std(axis=0)
    known = np.isfinite(sd) & (wide > 0)
    ratio = np.divide(sd, wide, out=np.ones(shape), where=known)
    free = float(np.median(freedom[known])) if known.any() else most
    return mean + (draws - mean) * ratio, min(max(free, 1.0), most)


def check_number_of_draws(features, draws):
    """Raise a ValueError where there are too few draws for a covariance."""
    if getattr(features, "source", None) == "point":
        raise ValueError(
            "features must have draws, got an answer that is a point estimate, as solver='map' "
            "with uncertainty='model' gives: set uncertainty='documents' (intervals by units), or "
            "fit with another solver."
        )
    if len(draws) < _FEWEST_DRAWS:
        raise ValueError(
            f"features must have {_FEWEST_DRAWS} draws or more, got {len(draws)}: the first axis "
            "is that of draws."
        )


def with_words(draws):
    """Which documents have features, bool (n_documents,); others are left out.

    Raises
    ------
    ValueError
        If none has.

    Warns
    -----
    UserWarning
        Of those that are, and of those whose features are those of a document without words.
    """
    without = np.isnan(draws).all(axis=(0, 2))
    n, n_left_out = without.size, np.count_nonzero(without)
    if n_left_out == n:
        raise ValueError(
            f"features must have documents with a known word, got none among {n:,} documents."
        )
    if n_left_out:
        warn_user(
            f"features: {n_left_out:,} of {n:,} documents {'has' if n_left_out == 1 else 'have'} "
            "no known word and are left out.",
            UserWarning,
        )
    zero = np.all(draws == 0, axis=(0, 2))
    if zero.any() and not zero.all() and len(draws) > 1 and np.any(np.ptp(draws, axis=0) > 0):
        warn_user(
            f"features: {np.count_nonzero(zero):,} of {n:,} documents have features that are 0 in "
            "every draw, as sample_transform gives a document without a known word: they count as "
            f"data (the first is document {np.flatnonzero(zero)[0]}). Leave such documents out.",
            UserWarning,
        )
    return ~without


def outcome_of(outcome, n, shape):
    """The outcome (n,), checked; features have this shape."""
    given = outcome.to_numpy() if hasattr(outcome, "to_numpy") else outcome
    try:
        check_no_texts(given)
        y = as_floats(given)
    except ValueError as error:
        raise ValueError(
            f"outcome must hold numbers or truth values (such as party == 'Republican'): {error}"
        ) from None
    if y.shape != (n,):
        means = ""
        if len(shape) == 2 and y.shape == shape[:1]:
            means = (
                f" Features of shape {shape} are read as {shape[0]} draws of one feature of {n} "
                "documents: pass draws, sample_transform(X) or what document_similarity(X, words=) "
                "answers, not transform(X)."
            )
        raise ValueError(
            f"outcome must have a number for each of the {n} documents of the features, got shape "
            f"{y.shape}.{means}"
        )
    if not np.isfinite(y).all():
        where = np.flatnonzero(~np.isfinite(y))[0]
        raise ValueError(
            f"outcome must be finite, got {y[where]} in document {where}: leave such documents out "
            "(of features, outcome, units and all else that has a row for each)."
        )
    return y


def names_of(names, features, k, others):
    """Names of the ``k`` features, a list, and of the covariates (by default ``others``)."""
    if names is None:
        # words of document_similarity
        words = getattr(features, "axes", {}).get("word", [])
        return words if len(words) == k else [f"feature {i}" for i in range(k)], others
    names = [str(name) for name in check_list("names", names, "names of features")]
    free = [j for j, term in enumerate(others) if term != INTERCEPT]
    if len(names) not in (k, k + len(free)) or len(set(names)) < len(names):
        more = f", or of these and {len(free)} covariates" if free else ""
        raise ValueError(f"names must have {k} different names of features{more}, got {names!r}.")
    others = list(others)
    for j, name in zip(free, names[k:], strict=False):
        others[j] = name
    return names[:k], others
