"""Word vectors as users have them, looked up by word or by column."""

from __future__ import annotations

import os

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..common.checks import as_floats, check_integer
from ..common.trial import does_without
from ..common.warnings import warn_user
from ..io.vectors import find_vectors
from ..io.word_vectors import is_frame_of_words
from .units import is_unasked

_FIRST_QUESTION = (
    "draws of the embedding's vectors, which once take its first question with intervals by units; "
    "its own estimate_cost says how long that is"
)
# Words from whose pairs the median distance is taken: half a million pairs.
_WORDS_OF_PAIRS = 1000
_ALLOWED = (
    "a mapping from words to vectors (a dict or gensim's KeyedVectors), a pandas DataFrame with "
    "words as its index, the path of a file of vectors (word2vec's formats or GloVe's), a fitted "
    "BayesianSGNS (wrapped in scikit-learn's FrozenEstimator where the estimator is cloned), "
    "vectors_at(period) of a fitted DynamicSGNS, or an array with a row for each column of X"
)


class WordVectors:
    """Vectors that are looked up by word.

    Parameters
    ----------
    has : callable
        Whether a word has a vector.
    get : callable
        The vector of a word.
    sample : callable or None
        ``sample(words, n_draws)`` makes joint draws of their vectors, (n_draws, n_words, n_dims);
        None where nothing is known of their uncertainty.
    unasked : bool
        Whether the first draws take the first question by units, which may take long.
    """

    def __init__(self, has, get, sample=None, unasked=False):
        self._has, self._get, self.sample, self.unasked = has, get, sample, unasked

    def find(self, words):
        """Vectors of those words that have one.

        Returns
        -------
        vectors : ndarray of shape (n_found, n_dims)
            None where no word has a vector.
        found : ndarray of bool of shape (n_words,)
        """
        found = np.array([bool(self._has(word)) for word in words], dtype=bool)
        if not found.any():
            return None, found
        names = [word for word, there in zip(words, found, strict=True) if there]
        vectors = [np.asarray(self._get(word)) for word in names]
        shapes = {vector.shape for vector in vectors}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise ValueError(
                "embedding must have vectors of one length, got shapes "
                f"{sorted(shapes, key=str)[:3]}."
            )
        return check_vectors(np.stack(vectors), names), found


class FileVectors(WordVectors):
    """Vectors of a file, which is read anew for the words that are looked up."""

    sample = None

    def __init__(self, path):
        self.path = path

    def find(self, words):
        """As of `WordVectors`."""
        found = np.zeros(len(words), dtype=bool)
        there = find_vectors(self.path, words) if len(words) else None
        if there is None:
            return None, found
        found[:] = [word in there for word in words]
        return check_vectors([there[word] for word in words if word in there]), found


class FrameVectors(WordVectors):
    """Vectors of a DataFrame of pandas', whose index holds the words.

    Raises
    ------
    ValueError
        If the index has a word twice.
    """

    sample = None

    def __init__(self, frame):
        if not frame.index.is_unique:
            twice = frame.index[frame.index.duplicated()].tolist()
            raise ValueError(
                "embedding must have each word once in the index of a DataFrame, got "
                f"{twice[0]!r} more than once ({len(twice)} rows too many)."
            )
        self._frame = frame

    def find(self, words):
        """As of `WordVectors`."""
        places = np.asarray(self._frame.index.get_indexer(list(words)))
        found = places >= 0
        if not found.any():
            return None, found
        names = [word for word, there in zip(words, found, strict=True) if there]
        return check_vectors(self._frame.iloc[places[found]].to_numpy(), names), found


def source_of(embedding):
    """What users call an embedding: `WordVectors`, or an array (n_columns, n_dims).

    Raises
    ------
    TypeError
        If it is none of what is allowed.
    ValueError
        If it is missing, an array that holds anything but finite numbers, or a DataFrame that has
        a word twice.
    """
    if embedding is None:
        raise ValueError(f"embedding must be given: {_ALLOWED}.")
    if isinstance(embedding, bytes | bytearray):
        raise TypeError(f"embedding must be {_ALLOWED}, got {embedding!r:.60}: decode it to str.")
    if isinstance(embedding, str | os.PathLike):
        if not os.path.isfile(embedding):
            raise ValueError(f"embedding must be {_ALLOWED}; there is no file {str(embedding)!r}.")
        return FileVectors(embedding)
    if is_frame_of_words(embedding):
        return FrameVectors(embedding)
    # scikit-learn's FrozenEstimator
    inner = getattr(embedding, "estimator", embedding)
    if hasattr(type(inner), "rho_") or hasattr(inner, "rho_"):
        if hasattr(inner, "fit"):
            _check_fitted(inner)
        places, rho = inner.vocabulary_, inner.rho_
        if rho.ndim != 2:
            raise ValueError(
                f"embedding must have one vector for a word, got a {type(inner).__name__} with "
                "one for each period: use fitted.vectors_at(period)."
            )
        sample = getattr(inner, "sample_vectors", None)
        unasked = is_unasked(getattr(inner, "_estimator", inner))
        return WordVectors(places.__contains__, lambda word: rho[places[word]], sample, unasked)
    vectors = getattr(embedding, "wv", embedding)  # a whole model of gensim's
    if hasattr(vectors, "key_to_index") and hasattr(vectors, "__getitem__"):
        return WordVectors(vectors.key_to_index.__contains__, vectors.__getitem__)
    if hasattr(vectors, "shape") or isinstance(vectors, list | tuple):
        _check_in_order(vectors)
        return check_vectors(vectors)
    if hasattr(vectors, "__getitem__") and hasattr(vectors, "__contains__"):
        return WordVectors(vectors.__contains__, vectors.__getitem__)
    raise TypeError(f"embedding must be {_ALLOWED}, got {type(embedding).__name__}.")


def _check_in_order(vectors):
    """Raise a ValueError for a DataFrame whose index numbers its rows, but in another order."""
    if not hasattr(vectors, "iloc"):
        return
    index, order = np.asarray(vectors.index), np.arange(len(vectors))
    if index.dtype.kind in "iu" and np.any(index != order) and np.all(np.sort(index) == order):
        raise ValueError(
            "embedding must be a DataFrame with words as its index, or with rows in the order of "
            f"the columns of X, got one with an index that begins with {index[:3].tolist()}: "
            "sort_index() if that numbers the columns, reset_index(drop=True) if rows are in order."
        )


def described(embedding):
    """What an embedding is, in a few words: its solver and texts, its file, or how many words.

    Examples
    --------
    >>> from skbayesembed.corpus.embedding import described
    >>> described({"cat": [0.0, 1.0], "dog": [1.0, 0.0]}), described("vectors/glove.txt")
    ('dict of 2 words', 'the file glove.txt')
    """
    if isinstance(embedding, str | os.PathLike):
        return f"the file {os.path.basename(embedding)}"
    if is_frame_of_words(embedding):
        return f"{type(embedding).__name__} of {len(embedding):,} words"
    inner = getattr(embedding, "estimator", embedding)
    kind = type(inner).__name__
    if hasattr(inner, "posterior_"):
        attrs = inner.posterior_.attrs
        sizes = ((attrs.get("n_documents"), "documents"), (attrs.get("n_tokens"), "tokens"))
        of = [f"{n:,} {what}" for n, what in sizes if n is not None]
        return ", ".join([f"{kind} with solver={attrs['solver']!r}", *of])
    if hasattr(inner, "label"):
        return str(inner)
    vectors = getattr(inner, "wv", inner)
    if hasattr(vectors, "shape") or isinstance(vectors, list | tuple):
        return f"array of {len(vectors):,} vectors"
    of = f" of {len(vectors):,} words" if hasattr(vectors, "__len__") else ""
    return f"{type(vectors).__name__}{of}"


def _check_fitted(estimator):
    """Raise a NotFittedError that says how a fitted estimator stays so in a search."""
    try:
        check_is_fitted(estimator, "rho_")
    except NotFittedError as error:
        raise NotFittedError(
            f"embedding must be fitted, got a {type(estimator).__name__} that is not. Searches and "
            "cross-validation clone it without its fit: pass FrozenEstimator(fitted), from "
            "sklearn.frozen, there."
        ) from error


def check_embedding_draws(estimator):
    """Raise a ValueError for ``embedding_draws`` that ``draws`` or the solver do not allow."""
    e = estimator
    if e.embedding_draws is None:
        return
    check_integer("embedding_draws", e.embedding_draws, 2, "None or ")
    if e.solver == "map":
        raise ValueError(
            f"embedding_draws={e.embedding_draws!r} needs draws of the posterior, and "
            "solver='map' has one point alone: use another solver, or embedding_draws=None."
        )
    if e.draws % e.embedding_draws:
        raise ValueError(
            f"draws must be a multiple of embedding_draws={e.embedding_draws!r}, got {e.draws!r}: "
            "each draw of the vectors has as many."
        )


def draws_of(source, words, n_draws):
    """Joint draws of the vectors of words that a source has, (n_draws, n_words, n_dims).

    For an estimate of costs that would have to ask the first question by units, means instead.

    Parameters
    ----------
    source : WordVectors or ndarray
        As `source_of` returns it.
    words : list of str
    n_draws : int

    Raises
    ------
    ValueError
        If the source knows nothing of their uncertainty.
    """
    if getattr(source, "sample", None) is None:
        raise ValueError(
            f"embedding_draws={n_draws} needs an embedding that knows how uncertain it is, a "
            "fitted BayesianSGNS or vectors_at(period) of a DynamicSGNS: other vectors are taken "
            "as they are, with embedding_draws=None."
        )
    if source.unasked and does_without(_FIRST_QUESTION):
        # what a fit costs does not depend on where its vectors are
        return np.repeat(source.find(words)[0][None], n_draws, axis=0)
    try:
        return source.sample(words, n_draws)
    except ValueError as error:
        raise ValueError(
            f"embedding_draws={n_draws} needs draws of the embedding's vectors: {error}"
        ) from error


def each_drawn(function, drawn, n_words):
    """``function`` of each draw (n_found, n_dims) of vectors, (n_draws, n_words, n_dims).

    Written into one array, as a list of them would be a copy more.
    """
    out = np.empty((len(drawn), n_words, drawn.shape[2]))
    for i, one in enumerate(drawn):
        out[i] = function(one)
    return out


def check_vectors(vectors, names=None, name="embedding"):
    """Float64 array (n_words, n_dims) of finite numbers; ValueError otherwise."""
    try:
        vectors = np.array(as_floats(vectors), order="C")
    except ValueError as error:
        raise ValueError(f"{name} must hold vectors of numbers: {error}") from error
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise ValueError(
            f"{name} must be a 2-D array with a row for each word and at least one column, got "
            f"shape {vectors.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        which = f"row {bad[0]}" if names is None else repr(str(names[bad[0]]))
        raise ValueError(
            f"{name} must hold finite numbers, got NaN or infinity in {bad.size} vector(s), "
            f"the first that of {which}."
        )
    return vectors


def vectors_of_columns(embedding, names):
    """Vectors of the columns of a count matrix, all of which must have one."""
    source = source_of(embedding)
    if not isinstance(source, WordVectors):
        if len(source) != len(names):
            raise ValueError(
                f"embedding must have a row for each of the {len(names)} columns of X, got "
                f"{len(source)} rows."
            )
        return source
    vectors, found = source.find(names)
    if not found.all():
        lacking = [str(name) for name in np.asarray(names)[~found][:3]]
        raise ValueError(
            f"embedding has no vector for {int((~found).sum())} of the {len(names)} columns of X, "
            f"{lacking} among them. "
            + ("Name the columns by feature_names=; drop" if "x0" in lacking else "Drop")
            + " columns without a vector (keep = np.isin(names, vectors.words_), X[:, keep], "
            "feature_names=names[keep]); or pass documents, whose words without one are dropped."
        )
    return vectors


def missing_file(embedding):
    """The path of an embedding's file that is not there (any more), or None."""
    is_path = isinstance(embedding, str | os.PathLike)
    return os.fspath(embedding) if is_path and not os.path.isfile(embedding) else None


def warn_of_missing_file(path, words):
    """Warn of words that are left out, as the file that may have their vectors is not there."""
    some = ", ".join(map(repr, words[:3]))
    warn_user(
        f"embedding is the file {path!r}, which is not there: words of X that are not in the "
        f"vocabulary are left out, even if it has a vector for them ({len(words)}: {some}"
        f"{', ...' if len(words) > 3 else ''}). If the file was moved, say where to: "
        "model.set_params(embedding=path).",
        UserWarning,
    )


def source_of_words(embedding):
    """`WordVectors` for documents, whose words an array cannot be aligned with."""
    source = source_of(embedding)
    if not isinstance(source, WordVectors):
        raise ValueError(
            "embedding must be a mapping from words to vectors where X holds documents, got an "
            f"array of shape {source.shape}, which is for the columns of a count matrix. Within a "
            "pipeline give this step what those before it return: "
            "pipe['topics'].estimate_cost(pipe[0].transform(texts))."
        )
    return source


def note_missing(words, found, frequency, fate):
    """Look at the words of X without a vector.

    Parameters
    ----------
    words : ndarray of str of shape (n_words,)
    found : ndarray of bool of shape (n_words,)
        Which have one.
    frequency : ndarray of shape (n_words,)
        Occurrences of the words.
    fate : str
        What becomes of those without, for the warning.

    Raises
    ------
    ValueError
        If no word has one.

    Warns
    -----
    UserWarning
        If more than half of the tokens have none.
    """
    if not found.any():
        raise ValueError(
            f"embedding has no vector for any of the {found.size} words of X, such as "
            f"{words[:3].tolist()}: were they tokenized and lower-cased like the words of the "
            "embedding?"
        )
    n_tokens, lost = frequency.sum(), frequency[~found].sum()
    if 2 * lost > n_tokens:
        warn_user(
            f"{100 * lost / n_tokens:.0f} % of the tokens of X ({int((~found).sum())} of "
            f"{found.size} words) have no vector in the embedding and {fate}.",
            UserWarning,
        )


def median_distance(vectors):
    """Median Euclidean distance of two words; zero where there is one word alone.

    Of 1,000 words evenly spaced over the rows, where there are more.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, n_dims)

    Returns
    -------
    float
    """
    if len(vectors) < 2:
        return 0.0
    places = np.linspace(0, len(vectors) - 1, min(len(vectors), _WORDS_OF_PAIRS)).astype(int)
    return float(np.median(pdist(vectors[places])))
