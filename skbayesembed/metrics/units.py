"""Held-out scores of the units of sampling, by which settings are chosen."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.utils import Bunch
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ..common.checks import NothingToScoreError, check_integer
from ..common.compiling import waiting_time
from ..common.interruption import part_of_a_whole
from ..common.trial import duration
from ..common.warnings import (
    held_warnings,
    muted,
    note_user,
    only_scored,
    warn_of_parts,
    warn_user,
)
from ..corpus.kinds import plain_column, take_documents
from ..corpus.rows import check_rows
from ..corpus.units import as_labels, check_units
from ..io.digest import digest
from ..posterior.results import mixed
from .comparison import PAIR

# Seconds from which on it is told how long the first fit has taken.
_BRIEF = 5.0
# Units that a warning names.
_MOST_NAMED = 5


def score_units(
    estimator: Any,
    X: Any,
    units: ArrayLike | None = None,
    *,
    cv: int = 5,
    n_jobs: int | None = None,
    **covariates: Any,
) -> Bunch:
    """Score every unit of sampling with a fit that has not seen it.

    Units are split into folds (`sklearn.model_selection.GroupKFold`). For each fold, the estimator
    is fitted to all other folds, and scores each unit of the fold separately.

    Parameters
    ----------
    estimator : BayesianSGNS, DynamicSGNS, DiSCSenseModel or GaussianLDA
        The estimator; a clone is fitted.
    X : list of documents or counts of shape (n_documents, n_words)
    units : array-like of shape (n_documents,), optional
        The unit of each document: speaker, author, work; by default each document. Those that are
        given are passed on to ``fit`` if it takes units.
    cv : int, default=5
        Number of folds.
    n_jobs : int or None
        Number of folds to run in parallel.
    **covariates : array-like of shape (n_documents,)
        Further arguments of ``fit`` and ``score``: times, genres.

    Returns
    -------
    Bunch
        ``scores`` (n_units,), the mean log predictive probability of each unit; ``labels`` of the
        units; ``elpd``, the mean over units, with equal weights; ``se``, its standard error;
        ``scored``, what a score is per (``"pair of words"``, ``"snippet"``, ``"token"``);
        ``pointwise``, each unit's part of the mean, which `compare_models` uses; ``converged``, for
        estimators with chains: whether they have mixed in every fold; ``modes_that_matter``, for
        estimators that search for modes: the maximum over folds; ``vocabulary``, of scores that
        leave unknown words out: a digest of the words of every fold. Results for the same X, units
        and ``cv`` use the same folds.

    Raises
    ------
    ValueError
        If units or covariates are not one for each document, there are fewer units than folds, or
        fewer than two units have anything to score.
    KeyboardInterrupt
        If interrupted, also in a fit that keeps what it has by then.

    Warns
    -----
    ConvergenceWarning, UserWarning
        As fits and scores do, once for all folds, with the number of folds that warn; and of units
        that are left out, as they have fewer than two words that can be scored.

    Notes
    -----
    If the first fit takes more than some seconds, a note says how many there are, and how long it
    took once it has ended.

    Standard errors treat the units as a sample, and assume that fits to other folds would have been
    alike. Fits share most of their data, and no estimate allows for that (Bengio & Grandvalet
    2004), so treat a difference of less than two standard errors as none.

    References
    ----------
    Bengio & Grandvalet (2004). No Unbiased Estimator of the Variance of K-Fold Cross-Validation.
    Journal of Machine Learning Research 5.

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> from skbayesembed.metrics import compare_models, score_units
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug", "a dog and a cat"] * 6
    >>> speakers = [i % 6 for i in range(18)]
    >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0)
    >>> found = {
    ...     precision: score_units(
    ...         model.set_params(prior_precision=precision), texts, speakers, cv=3
    ...     )
    ...     for precision in (0.5, 2.0)
    ... }
    >>> table = compare_models(found)
    >>> table.difference.shape, bool(table.difference[1] < 0)
    ((2,), True)
    """
    check_integer("cv", cv, 2)
    check_rows(X=X, units=units, **covariates)
    X = plain_column(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if units is not None:
        _one_each("units", units, n)
    given_units = check_units(units, n)
    labels, index = np.unique(
        np.arange(n) if given_units is None else given_units, return_inverse=True
    )
    if labels.size < 2:
        raise ValueError(
            f"units must be two or more, of which some are held out, got {labels.size} "
            f"({labels.tolist()!r})."
        )
    if labels.size < cv:
        raise ValueError(f"cv must be at most the number of units, {labels.size}, got {cv}.")
    given = {name: _one_each(name, values, n) for name, values in covariates.items()}
    # a document that has no unit is one of its own, as far as estimators know of units
    of_units = None if given_units is None else index
    folds = GroupKFold(cv).split(np.zeros(n), groups=index)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_score_fold)(
            clone(estimator), X, index, of_units, given, train, test, cv if i == 0 else 0
        )
        for i, (train, test) in enumerate(folds)
    )
    parts, warned = zip(*found, strict=True)
    warn_of_parts(warned, "folds")
    scores, told = np.empty(labels.size), np.zeros(labels.size, bool)
    facts = [fact for _, fact in parts]
    for part, _ in parts:
        for unit, score in part.items():
            scores[unit], told[unit] = score, True
    _note_untold(labels[~told], labels.size)
    scores = scores[told]
    return Bunch(
        scores=scores,
        labels=labels[told],
        elpd=float(scores.mean()),
        se=float(scores.std(ddof=1) / np.sqrt(scores.size)),
        pointwise=scores / scores.size,
        **_scored(estimator),
        **_of_all(facts, "converged", all),
        **_of_all(facts, "modes_that_matter", max),
        **_of_all(facts, "vocabulary", digest),
    )


def _note_untold(labels, n):
    """Warn of units that have nothing to score; ValueError where fewer than two have."""
    if not labels.size:
        return
    named = ", ".join(map(repr, labels[:_MOST_NAMED].tolist()))
    more = ", ..." if labels.size > _MOST_NAMED else ""
    if n - labels.size < 2:
        raise ValueError(
            f"X must have two units with something to score, two words that fits to the others "
            f"know; {labels.size} of {n} ({named}{more}) have nothing."
        )
    warn_user(
        f"{labels.size} of {n} units ({named}{more}) have nothing to score, fewer than two words "
        "that can be, and are left out.",
        UserWarning,
    )


def _scored(estimator):
    """What an estimator's ``score`` is per, an entry; none where that is not known."""
    known = {"negative": PAIR, "n_senses": "snippet", "doc_topic_prior": "token"}
    per = next((per for name, per in known.items() if hasattr(estimator, name)), None)
    return {} if per is None else {"scored": per}


def _of_all(facts, name, combine):
    """An entry of all folds, a dict of it; empty where a fold has none."""
    values = [fact.get(name) for fact in facts]
    return {} if None in values else {name: combine(values)}


def _one_each(name, values, n):
    # what is missing stays so, for fit to refuse
    values = as_labels(values)
    if values.ndim != 1 or values.size != n:
        raise ValueError(
            f"{name} must be one for each of the {n} documents, got the shape {values.shape}."
        )
    return values


def _score_fold(estimator, X, index, of_units, given, train, test, n_folds):
    """What a fold comes to, and its warnings; the first of ``n_folds`` tells how long it took."""
    with (
        held_warnings() as warned,
        only_scored(),
        muted(not n_folds),
        _told_of_first(estimator, n_folds),
        waiting_time() as clock,
    ):
        found = _scores_of_fold(estimator, X, index, of_units, given, train, test)
        took = clock()
    if n_folds and took > _BRIEF:
        note_user(
            f"score_units: the first of {n_folds} fits took {duration(took)}; one after the "
            f"other, the others take about {duration((n_folds - 1) * took)}"
        )
    return found, warned


@contextlib.contextmanager
def _told_of_first(estimator, n_folds):
    """Context of a fold, of whose fit it is told that it goes on once it takes long."""
    if not n_folds:
        yield
        return
    before = ""
    if hasattr(estimator, "estimate_cost"):
        before = f"; estimate_cost of the {type(estimator).__name__} tells it beforehand"
    text = f"score_units: {n_folds} fits; once the first has ended, a line tells its time{before}"
    # as silent as the caller
    timer = threading.Timer(_BRIEF, contextvars.copy_context().run, [note_user, text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _scores_of_fold(estimator, X, index, of_units, given, train, test):
    """Scores of the units of a fold, dict by their numbers; and what `mixed` says of the fit."""
    covariates = {name: values[train] for name, values in given.items()}
    if of_units is not None and has_fit_parameter(estimator, "units"):
        covariates["units"] = of_units[train]
    with part_of_a_whole():
        estimator.fit(take_documents(X, train), **covariates)
    found = {}
    for unit in np.unique(index[test]):
        rows = test[index[test] == unit]
        here = {name: values[rows] for name, values in given.items()}
        with contextlib.suppress(NothingToScoreError):
            found[unit] = estimator.score(take_documents(X, rows), **here)
    posterior, words = (getattr(estimator, name, None) for name in ("posterior_", "words_"))
    facts = {} if posterior is None else mixed(posterior)
    # of pairs all are scored alike, others by the words that are known
    if words is not None and not hasattr(estimator, "negative"):
        facts["vocabulary"] = digest(sorted(map(str, words)))
    return found, facts
