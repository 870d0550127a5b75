"""What the estimator accepts, turned into snippets, with their periods, genres and known senses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ..common.checks import as_floats, check_not_iterator
from ..common.warnings import note_user, warn_of_intervals, warn_user
from ..corpus.count_matrix import forget_columns, frequent_columns, named_matrix
from ..corpus.kinds import input_kind, materialise
from ..corpus.known import known_counts
from ..corpus.periods import Periods, check_times, warn_of_empty
from ..corpus.rows import check_rows
from ..corpus.text import document_counts, frequent_corpus, warn_of_unread
from ..corpus.units import as_labels, check_units, sizes_of
from ..spine import CHAINS
from .data import Snippets
from .embedding import word_vectors
from .fingerprint import fingerprint_of_labels, fingerprint_of_snippets

# Single years or integers as periods, and snippets of each on average: with more of the former and
# fewer of the latter, most have next to no data, and what a fit takes grows with their number.
_MANY_PERIODS, _FEW_EACH = 50, 30
# Words of a sample, on average, beyond which it is no snippet: windows have 10 to 50.
_LONGEST = 100
_IN_PIPELINES = (
    "In a pipeline the y of a classifier arrives here: fit the senses first, without y, and put "
    "FrozenEstimator(model), from sklearn.frozen, into the pipeline."
)
# Snippets from which on it is told that the senses of all are known.
_MANY_KNOWN = 10
# Kernels of chains that draw the effects of units.
_OF_UNITS = {"hmc": ("hmc", "nuts"), "gibbs": ("metropolis", "polya-gamma")}


@dataclass(frozen=True)
class Training:
    """Snippets for a fit, and what their numbers stand for.

    Attributes
    ----------
    data : Snippets
    words : ndarray of str of shape (n_words,)
    columns : ndarray of int of shape (n_words,) or None
        Columns of the count matrix that are the words; None where fitted on text.
    periods : Periods
    genres : ndarray of shape (n_genres,) or None
        Labels of the genres; None where there are none.
    timed : bool
        Whether times were given.
    merged : bool
        Whether genres, given or not, are taken as one.
    units : ndarray of shape (n_works,) or None
        Labels of the units; None where ``fit`` got none.
    vector_draws : ndarray of shape (n_draws, n_words, n_dims) or None
        Of the word vectors; None where their uncertainty is left out.
    fingerprints : tuple of str
        Of the snippets, and of their known senses (None where none is known).
    """

    data: Snippets
    words: np.ndarray
    columns: np.ndarray | None
    periods: Periods
    genres: np.ndarray | None
    timed: bool
    merged: bool
    units: np.ndarray | None = None
    vector_draws: np.ndarray | None = None
    fingerprints: tuple[str | None, str | None] | None = None

    @property
    def advice(self):
        """With which settings a fit would take less, a text; empty where there is no need."""
        return _advice_on_periods(self.periods, self.data.n_snippets)

    @property
    def sizes(self):
        """Numbers of snippets, of tokens and, where they are known, of units: a dict."""
        sizes = sizes_of(self.data.indptr.size - 1, self.data.counts.sum())
        return sizes if self.units is None else sizes | {"n_units": int(self.units.size)}

    @property
    def drawn(self):
        """The snippets with each draw of the vectors, or as they are; a list."""
        if self.vector_draws is None:
            return [self.data]
        return [replace(self.data, vectors=vectors) for vectors in self.vector_draws]


@dataclass(frozen=True)
class Places:
    """Snippets to be read by a fitted model.

    Attributes
    ----------
    counts : csr_array of shape (n_snippets, n_words)
    periods, genres : ndarray of int64 of shape (n_snippets,) or None
        None where they are not known.
    works : ndarray of int64 of shape (n_snippets,) or None
        -1 for works that ``fit`` did not see; None where none is known.
    """

    counts: sparse.csr_array
    periods: np.ndarray | None
    genres: np.ndarray | None
    works: np.ndarray | None = None

    @property
    def n_snippets(self):
        """Number of snippets, empty ones among them."""
        return self.counts.shape[0]

    @property
    def lengths(self):
        """Words of each snippet, ndarray of shape (n_snippets,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=float).ravel()

    def take(self, chosen):
        """Some of the snippets, an index or a slice."""
        given = self.periods, self.genres, self.works
        return Places(self.counts[chosen], *(None if x is None else x[chosen] for x in given))


def training_data(estimator, X, y, times, genres, units=None):
    """`Training` of whatever ``fit`` accepts; notes the columns of a count matrix."""
    check_rows(X=X, y=y, times=times, genres=genres, units=units)
    counts, words, columns = _read(estimator, X)
    _warn_of_documents(counts)
    n = counts.shape[0]
    periods, index = _learn_periods(estimator, times, n)
    merged = estimator.model == "scan"
    labels, genre_index = _learn_genres(genres, n, merged)
    works, work_index = _learn_units(estimator, units, n)
    vectors = vector_draws = None
    if estimator.model == "edisc":
        n_columns = None if columns is None else estimator.n_features_in_
        totals = np.asarray(counts.sum(axis=0), dtype=float).ravel()
        given = estimator.embedding, words, columns, n_columns, totals
        vectors, vector_draws = word_vectors(*given, estimator.embedding_draws)
    known = known_senses(y, n, estimator.n_senses)
    data = Snippets.of(
        counts,
        index,
        genre_index,
        known,
        n_periods=periods.n_periods,
        n_genres=1 if labels is None else labels.size,
        vectors=vectors,
        works=work_index,
    )
    timed = times is not None
    fingerprints = (
        fingerprint_of_snippets(counts, index, genre_index, work_index),
        fingerprint_of_labels(known),
    )
    return Training(
        data, words, columns, periods, labels, timed, merged, works, vector_draws, fingerprints
    )


def places(estimator, X, times, genres, units=None):
    """`Places` of snippets for a fitted estimator."""
    check_rows(X=X, times=times, genres=genres, units=units)
    counts = known_counts(estimator, X)
    _warn_of_fractions(counts)
    return placed(estimator, counts, times, genres, units)


def placed(estimator, counts, times, genres, units=None):
    """`Places` of snippets, counts of whose words are known."""
    n = counts.shape[0]
    periods, genre = period_indices(estimator, times, n), genre_indices(estimator, genres, n)
    works = work_indices(estimator, units, n)
    if works is not None and (periods is None or genre is None):
        missing = "times" if periods is None else "genres"
        raise ValueError(
            f"units need {missing} of the snippets, too: what a unit adds to the prevalences of "
            "senses is known for a period and genre. Pass them, or leave units out."
        )
    return Places(counts, periods, genre, works)


def training_again(estimator, X, y, times, genres, units=None):
    """The snippets a fitted estimator was trained on, made anew from the same data.

    Raises
    ------
    ValueError
        If they are other snippets, or in another order, or known senses are others; or covariates
        are missing.
    """
    there = places(estimator, X, times, genres, units)
    labels = known_senses(y, there.n_snippets, cells_senses(estimator))
    names = "times and genres"
    if estimator._works is not None:
        if units is None:
            raise ValueError(
                f"fit was given units, {len(estimator.units_)} of them: pass units= here too, "
                "those of X that fit was given."
            )
        names = "times, genres and units"
    if not _same_snippets(estimator, there):
        raise ValueError(
            f"X, {names} must be the data that fit was given, in the same order: "
            f"{int(estimator._cells.sum())} snippets with their covariates; got "
            f"{there.n_snippets} snippets, or other words, {names.replace(' and', ' or')}."
        )
    _check_labels(estimator, labels)
    return there, labels


def _same_snippets(estimator, there):
    """Whether snippets are those of ``fit``, by their sizes and, where it is known, fingerprint."""
    cells, works = estimator._cells, estimator._works
    if there.n_snippets != cells.sum() or there.periods is None or there.genres is None:
        return False
    flat = there.genres * cells.shape[1] + there.periods
    if not np.array_equal(np.bincount(flat, minlength=cells.size), cells.ravel()):
        return False
    if works is not None:
        known = there.works is not None and (there.works >= 0).all()
        if not (known and np.array_equal(_contexts(there), works)):
            return False
    if estimator._fingerprints is None:
        # of a file of an earlier version
        return True
    given = there.counts, there.periods, there.genres, there.works
    return fingerprint_of_snippets(*given) == estimator._fingerprints[0]


def _check_labels(estimator, labels):
    """Raise a ValueError if known senses are not those of ``fit``."""
    if estimator._fingerprints is None:
        return
    given, known = fingerprint_of_labels(labels), estimator._fingerprints[1]
    if given != known:
        was = "none" if known is None else "known senses"
        got = "none" if given is None else "other ones" if known is not None else "some"
        raise ValueError(
            f"y must be what fit was given, which was {was}; got {got}. Snippets of known sense "
            "count with their sense."
        )


def _contexts(there):
    """Genre, period and work of every context, and its snippets, as a fit keeps them."""
    labels = np.column_stack([there.periods, there.genres, there.works])
    found, counts = np.unique(labels, axis=0, return_counts=True)
    return np.column_stack([found[:, 1], found[:, 0], found[:, 2], counts])


def cells_senses(estimator):
    """Number of senses of a fitted estimator."""
    return estimator.posterior_["prevalence"].shape[-1]


# Words ------------------------------------------------------------------------------------------


def _read(estimator, X):
    """Counts of words in snippets, the words, and their columns where X is a count matrix."""
    X = materialise(X)
    kind = input_kind(X)
    warn_of_unread(estimator, kind)
    if kind == "counts":
        counts, names = named_matrix(estimator, X)
        _warn_of_fractions(counts)
        columns = frequent_columns(estimator, counts)
        return counts[:, columns], names[columns], columns
    forget_columns(estimator)
    corpus = frequent_corpus(estimator, X, kind)
    counts = document_counts(corpus.ids, corpus.offsets, corpus.words.size)
    return counts, np.asarray(corpus.words, dtype=str), None


def _warn_of_documents(counts):
    """Warn of samples too long to be the words around one use of a target word."""
    mean = counts.sum() / max(counts.shape[0], 1)
    if mean > _LONGEST:
        warn_user(
            f"Samples of X have {mean:.0f} words on average. DiSCSenseModel takes snippets, the "
            "words around each use of one target word, and gives each snippet one sense: "
            "datasets.extract_snippets cuts them out of documents.",
            UserWarning,
        )


def _warn_of_fractions(counts):
    """Warn of counts that are no whole numbers, which scikit-learn's checks of estimators pass."""
    fraction = counts.data != np.round(counts.data)
    if fraction.any():
        warn_user(
            f"X has counts that are no whole numbers, such as {counts.data[fraction][0]:.4g}. Each "
            "word of a snippet is one draw of the model; with weights, such as those of TF-IDF, "
            "words tell more or less than they do, and probabilities of senses and intervals mean "
            "nothing. Use raw counts.",
            UserWarning,
        )


# Periods ----------------------------------------------------------------------------------------


def _learn_periods(estimator, times, n):
    """`Periods` and the period of each snippet; a single one where there are no times."""
    if times is None:
        for name in ("n_periods", "bins"):
            if getattr(estimator, name) is not None:
                raise ValueError(f"{name} was given, but fit got no times: pass times=.")
        return Periods.learn(np.zeros(1)), np.zeros(n, dtype=np.int64)
    numbers = _line(times, n)
    # of the times themselves, as dates and numbers are cut into different periods
    periods = Periods.learn(times, estimator.n_periods, estimator.bins)
    if estimator.bins is None:
        warn_of_empty(periods, numbers)
    return periods, periods.index(numbers)


def _advice_on_periods(periods, n_snippets):
    """What joins periods, where single years or integers are many and have few snippets each."""
    n = periods.n_periods
    if periods.edges is not None or n <= _MANY_PERIODS or n_snippets >= _FEW_EACH * n:
        return ""
    first, last = periods.labels[0], periods.labels[-1]
    of = "year" if periods.years else "integer"
    each = f"about {n_snippets / n:.1g}" if n_snippets < n else f"about {n_snippets / n:.0f}"
    return (
        f"times= has made each {of} from {first} to {last} a period of its own: {n} periods, of "
        f"{each} snippets each. A fit with so many may take hours instead of minutes; n_periods= "
        "or bins= joins them"
    )


def _line(times, n):
    try:
        return check_times(times, n)
    except ValueError as error:
        # what has times are called documents there
        raise ValueError(str(error).replace("documents", "snippets")) from None


def period_indices(estimator, times, n):
    """Period of each snippet; None where it is not known.

    Warns
    -----
    UserWarning
        If snippets are of times before the first period or after the last, as which they count.
    """
    if times is None:
        return np.zeros(n, dtype=np.int64) if estimator.periods_.n_periods == 1 else None
    if not estimator._timed:
        raise ValueError(
            "times must be None, as the estimator was fitted without times: pass times= to fit."
        )
    index, outside = estimator.periods_.nearest(_line(times, n))
    if outside.any():
        labels = estimator.periods_.labels
        warn_user(
            f"{outside.sum()} of {n} snippets are of times before the first period ({labels[0]}) "
            f"or after the last ({labels[-1]}): they are read as of that period. bins can cover "
            "times that have no data.",
            UserWarning,
        )
    return index


# Genres -----------------------------------------------------------------------------------------


def _genre_values(genres, n):
    """Labels one by one, after a look at their number and for missing ones."""
    check_not_iterator("genres", genres)
    try:
        values = as_labels(genres)
    except ValueError as error:
        raise ValueError(f"genres must be a list or array of labels: {error}") from error
    if values.ndim != 1 or len(values) != n:
        raise ValueError(
            f"genres must have one label for each of the {n} snippets, got shape {values.shape}."
        )
    for i, value in enumerate(values.tolist()):
        if _missing(value):
            raise ValueError(f"genres must have no missing labels, got genres[{i}] = {value!r}.")
        if isinstance(value, bytes):
            raise ValueError(
                f"genres must be labels that are no bytes, got genres[{i}] = {value!r}: decode "
                "them to str first."
            )
    listed = values.dtype == object and not hasattr(genres, "dtype")
    if listed and any(isinstance(value, str) for value in values):
        # as NumPy has numbers beside texts of a list
        values = np.array([str(value) for value in values])
    return values


def _missing(value):
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def _learn_genres(genres, n, merged):
    """Labels of the genres, or None, and the genre of each snippet."""
    index = np.zeros(n, dtype=np.int64)
    if genres is None:
        return None, index
    values = _genre_values(genres, n)
    if merged:
        return None, index
    try:
        labels, index = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise ValueError("genres must be of one kind, such as all str or all int.") from error
    return labels, index.astype(np.int64)


def genre_indices(estimator, genres, n):
    """Genre of each snippet; None where it is not known."""
    labels = estimator.genres_
    if genres is None:
        return np.zeros(n, dtype=np.int64) if labels is None or labels.size == 1 else None
    values = _genre_values(genres, n)
    if estimator._merged:
        return np.zeros(n, dtype=np.int64)
    if labels is None:
        raise ValueError(
            "genres must be None, as the estimator was fitted without genres: pass genres= to fit."
        )
    return np.array([genre_index(estimator, value) for value in values.tolist()], dtype=np.int64)


def genre_index(estimator, label):
    """Place of one genre; ValueError for a label that ``fit`` did not see."""
    known = [] if estimator.genres_ is None else estimator.genres_.tolist()
    try:
        return known.index(label)
    except (TypeError, ValueError):  # things that cannot be compared among them
        raise ValueError(f"genres must be among those of fit, {known}, got {label!r}.") from None


# Works ------------------------------------------------------------------------------------------


def _learn_units(estimator, units, n):
    """Labels of the works, and that of each snippet; None where there are none."""
    found = check_units(units, n, "snippets")
    if found is None:
        return None, None
    allowed = _OF_UNITS.get(estimator.solver)
    if allowed and estimator.kernel not in ("auto", *allowed):
        use = " or ".join(repr(name) for name in allowed)
        raise ValueError(
            f"kernel={estimator.kernel!r} is not available with units, whose effects it does not "
            f"draw: use {use}."
        )
    labels, index = np.unique(found, return_inverse=True)
    if labels.size < 2:
        raise ValueError(
            f"units must be two or more, got {labels.size} ({labels.tolist()!r}) for {n} "
            "snippets: how units differ cannot be seen in one. Leave units out."
        )
    if estimator.solver not in CHAINS:
        warn_of_intervals(
            f"solver={estimator.solver!r} makes the differences between units too small, as modes "
            "and approximations do not find the variance of a hierarchy, and intervals for other "
            "units with them: use solver='hmc' or 'gibbs' with units.",
        )
    return labels, index.astype(np.int64)


def _kind_of_labels(labels):
    """Labels of one kind can be ordered, and be equal."""
    kind = labels.dtype.kind
    return "numbers" if kind in "iuf" else kind if kind in "bM" else "texts"


def work_indices(estimator, units, n):
    """Work of each snippet, -1 for one that ``fit`` did not see; None where it is not known."""
    found = check_units(units, n, "snippets")
    if found is None:
        return None
    known = estimator.units_
    if known is None:
        raise ValueError(
            "units must be None, as the estimator was fitted without units: pass units= to fit."
        )
    if _kind_of_labels(known) != _kind_of_labels(found):
        raise ValueError(
            f"units must be labels like those of fit, such as {known.tolist()[0]!r}, got "
            f"{found.tolist()[0]!r}."
        )
    place = np.minimum(np.searchsorted(known, found), known.size - 1)
    return np.where(known[place] == found, place, -1).astype(np.int64)


# Senses -----------------------------------------------------------------------------------------


def known_senses(y, n, n_senses):
    """Known senses as int64, -1 where unknown; None where ``y`` is."""
    if y is None:
        return None
    allowed = f"integers from 0 to n_senses - 1 = {n_senses - 1}, or -1 (or NaN) where unknown"
    check_not_iterator("y", y)
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise ValueError(
            f"y must have one entry for each of the {n} snippets, got shape {values.shape}."
        )
    if values.dtype.kind == "O":
        values = np.array([np.nan if _missing(v) else v for v in values.tolist()])
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"y must hold {allowed}; got {values.tolist()[:1]}. Turn names into numbers first: "
            "codes, names = pandas.factorize(labels), in which missing ones are -1; "
            "name_senses(dict(enumerate(names))) gives the names back. y is of known senses alone: "
            f"times=, genres= and units= are passed by name. {_IN_PIPELINES}"
        )
    values = np.where(np.isnan(values), -1, values) if values.dtype.kind == "f" else values
    bad = (values != np.round(values)) | (values < -1) | (values >= n_senses)
    if bad.any():
        raise ValueError(f"y must hold {allowed}; got {values[bad].tolist()[0]}. {_IN_PIPELINES}")
    return values.astype(np.int64)


def note_all_known(labels):
    """Tell that the senses of all snippets are known, as those of a classifier's ``y`` are.

    Parameters
    ----------
    labels : ndarray of int of shape (n_snippets,)
        Known senses, -1 where unknown.
    """
    if labels.size >= _MANY_KNOWN and (labels >= 0).all():
        note_user(
            f"all {labels.size:,} snippets have a known sense in y, so that no sense is learned "
            f"from the words alone. {_IN_PIPELINES}"
        )


def snippet_weights(sample_weight, n):
    """Weights of snippets, finite and at least 0, as floats."""
    try:
        weight = as_floats(sample_weight)
    except ValueError as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from error
    if weight.ndim != 1 or len(weight) != n:
        raise ValueError(
            f"sample_weight must have one entry for each of the {n} snippets, got shape "
            f"{weight.shape}."
        )
    if not np.isfinite(weight).all() or weight.min() < 0 or weight.sum() == 0:
        raise ValueError(
            "sample_weight must hold finite numbers >= 0 with a positive sum, got numbers from "
            f"{weight.min():g} to {weight.max():g}."
        )
    return weight
