"""What is given about each snippet: its period, genre, work, known sense and weight."""

from __future__ import annotations

import numpy as np

from ..common.checks import as_floats, check_not_iterator
from ..common.warnings import note_user, warn_of_intervals, warn_user
from ..corpus.periods import Periods, check_times, warn_of_empty
from ..corpus.units import as_labels, check_units
from ..spine import CHAINS

# Single years or integers as periods, and snippets of each on average: with more of the former and
# fewer of the latter, most have next to no data, and what a fit takes grows with their number.
_MANY_PERIODS, _FEW_EACH = 50, 30
_IN_PIPELINES = (
    "In a pipeline the y of a classifier arrives here: fit the senses first, without y, and put "
    "FrozenEstimator(model), from sklearn.frozen, into the pipeline."
)
# Snippets from which on it is told that the senses of all are known.
_MANY_KNOWN = 10
# Kernels of chains that draw the effects of units.
_OF_UNITS = {"hmc": ("hmc", "nuts"), "gibbs": ("metropolis", "polya-gamma")}

# Periods ----------------------------------------------------------------------------------------


def learn_periods(estimator, times, n):
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


def advice_on_periods(periods, n_snippets):
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


def learn_genres(genres, n, merged):
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


def learn_units(estimator, units, n):
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
