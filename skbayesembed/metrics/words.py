"""Measures of word vectors: distance from the truth, similarity of words, analogies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import rankdata

from ..common.checks import check_list, check_prob
from ..posterior.results import About, Result, titled
from ..posterior.sources import source_of
from ..posterior.summary import hdi_interval
from .checks import check_numbers

# Logits or cosines are worked out in blocks of this many, 32 MB.
_CELLS = 4_000_000


def rmse_cooccurrence(estimate: Any, truth: Any) -> float:
    """Root mean squared difference between the co-occurrence probabilities of two models.

    ``sqrt(mean over all (w, v) of (P(w, v) - P'(w, v))^2)``, with
    ``P(w, v) = sigma(rho_w . alpha_v)`` (Yrjänäinen et al. 2025, eq. 12). It does not change if the
    vectors of a model are rotated.

    Parameters
    ----------
    estimate, truth : (rho, alpha), fitted estimator, Posterior or simulated data
        A pair of arrays of shape (n_words, n_components), or an object with the attributes ``rho_``
        and ``alpha_`` (posterior means, as in the paper) or ``rho`` and ``alpha``. For a pair of
        arrays of shape (n_draws, n_words, n_components), or a Posterior, P is averaged over the
        draws. The two models may have different numbers of components. If both know their words,
        these are matched; otherwise they are taken to be in the same order.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    TypeError
        If an argument is none of these.
    ValueError
        If shapes do not fit, both models know their words and these differ, or a model has biases
        or one vector for each period.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.metrics import rmse_cooccurrence
    >>> rho, alpha, turn = np.eye(2), np.ones((2, 2)), np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> rmse_cooccurrence((rho, alpha), (rho @ turn, alpha @ turn))
    0.0
    """
    pairs = [_draws_of_model(m, n) for m, n in ((estimate, "estimate"), (truth, "truth"))]
    words = [
        _words_of(m, rho.shape[1]) for m, (rho, _) in zip((estimate, truth), pairs, strict=True)
    ]
    order = _places_of_words(*words)
    if order is not None:
        pairs[1] = tuple(array[:, order] for array in pairs[1])
    sizes = [(rho.shape[1], alpha.shape[1]) for rho, alpha in pairs]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"estimate and truth must be of the same words, got {sizes[0]} and {sizes[1]} target "
            "and context vectors."
        )
    n_targets, n_contexts = sizes[0]
    step = max(1, _CELLS // n_contexts)
    total = 0.0
    for start in range(0, n_targets, step):
        first, second = (
            _mean_probability(rho, alpha, slice(start, start + step)) for rho, alpha in pairs
        )
        total += float(np.sum((first - second) ** 2))
    return float(np.sqrt(total / (n_targets * n_contexts)))


def word_similarity(
    vectors: Any,
    pairs: Iterable[Sequence[str]],
    scores: ArrayLike,
    *,
    words: Iterable[str] | None = None,
    prob: float = 0.9,
) -> Result:
    """Spearman correlation of cosine similarities with human scores of word pairs.

    Parameters
    ----------
    vectors : fitted estimator or array-like of shape (n_words, n_components)
        Word vectors; for an estimator, the target vectors.
    pairs : list of (str, str)
        Word pairs. Those with a word that has no vector are left out.
    scores : array-like of shape (n_pairs,)
        Human similarity scores of the pairs.
    words : array-like of str of shape (n_words,), optional
        The words of an array of vectors.
    prob : float, default=0.9
        Probability of the interval.

    Returns
    -------
    Result
        With the attributes ``correlation``, ``n_covered`` (pairs whose words have vectors) and
        ``n_pairs``. For an estimator with draws, ``correlation`` uses the posterior mean cosines,
        and there are also ``draws`` (n_draws,) of the correlation, with their ``mean``, ``sd`` and
        highest density ``interval`` (low, high).

    Raises
    ------
    ValueError
        If lengths do not fit, or fewer than two pairs are covered.

    Notes
    -----
    The interval covers only the uncertainty of the vectors: how the correlation varies over the
    posterior. It does not include that the pairs are only a sample of all pairs, nor, whatever the
    estimator's ``uncertainty``, that documents are a sample of all documents (``source``).

    Examples
    --------
    >>> from skbayesembed.metrics import word_similarity
    >>> vectors, words = [[1, 0], [1, 1], [0, 1], [-1, 0]], ["a", "b", "c", "d"]
    >>> found = word_similarity(
    ...     vectors, [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")], [9, 5, 1, 3], words=words
    ... )
    >>> round(found.correlation, 6), found.n_covered, found.n_pairs
    (1.0, 3, 4)
    """
    check_prob(prob)
    pairs = _tuples(pairs, "pairs", 2)
    scores = check_numbers(scores, "scores")
    if scores.shape != (len(pairs),):
        raise ValueError(f"scores must have shape ({len(pairs)},), got {scores.shape}.")
    draws, index = _vectors_and_index(vectors, words)
    covered = np.array([a in index and b in index for a, b in pairs], dtype=bool)
    if covered.sum() < 2:
        raise ValueError(
            f"pairs must have at least two pairs whose words have vectors, got {covered.sum()} "
            f"of {len(pairs)}."
        )
    known = [pair for pair, there in zip(pairs, covered, strict=True) if there]
    first, second = ([index[pair[side]] for pair in known] for side in (0, 1))
    cosines = np.array([_row_cosines(v[first], v[second]) for v in draws])
    scores = scores[covered]
    known_by = source_of(vectors) if hasattr(vectors, "posterior_") else None
    out = Result(about=About("Spearman correlation with scores", prob=prob, source=known_by))
    out.update(
        correlation=float(_spearman(cosines.mean(axis=0), scores)),
        n_covered=int(covered.sum()),
        n_pairs=len(pairs),
    )
    if len(draws) > 1:
        each = _spearman(cosines, scores)
        out.update(draws=each, mean=float(each.mean()), sd=float(each.std(ddof=1)))
        out.update(interval=hdi_interval(each, prob=prob))
    return out


def analogies(
    vectors: Any,
    questions: Iterable[Sequence[str]],
    *,
    words: Iterable[str] | None = None,
    categories: Iterable[str] | None = None,
) -> Result:
    """Share of analogies a : b :: c : d that vector arithmetic completes correctly.

    The answer is the word whose vector has the largest cosine with ``b - a + c``, where a, b and c
    are scaled to unit length (the method 3CosAdd); the three words of the question are left out.

    Parameters
    ----------
    vectors : fitted estimator or array-like of shape (n_words, n_components)
        Word vectors; for an estimator, the posterior means of the target vectors.
    questions : list of (a, b, c, d)
        Analogies. Those with a word that has no vector are left out.
    words : array-like of str of shape (n_words,), optional
        The words of an array of vectors.
    categories : list of str of shape (n_questions,), optional
        The category of each question.

    Returns
    -------
    Result
        With the attributes ``accuracy`` (over the questions covered; NaN if there are none),
        ``n_covered``, ``n_questions``, and the boolean arrays ``correct`` and ``covered``
        (n_questions,). With ``categories`` also ``by_category``, a dict from category to a Result
        with its ``accuracy``, ``n_covered`` and ``n_questions``.

    Raises
    ------
    ValueError
        If lengths do not fit.

    Examples
    --------
    >>> from skbayesembed.metrics import analogies
    >>> vectors = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]]
    >>> words = ["man", "king", "woman", "queen"]
    >>> analogies(vectors, [("man", "king", "woman", "queen")], words=words).accuracy
    1.0
    """
    questions = _tuples(questions, "questions", 4)
    if categories is not None:
        categories = [str(c) for c in categories]
        if len(categories) != len(questions):
            raise ValueError(
                f"categories must name the category of each of the {len(questions)} questions, "
                f"got {len(categories)}."
            )
    draws, index = _vectors_and_index(vectors, words, mean=True)
    unit = unit_vectors(draws[0])
    covered = np.array([all(w in index for w in q) for q in questions], dtype=bool)
    asked = np.array(
        [[index[w] for w in q] for q, there in zip(questions, covered, strict=True) if there],
        dtype=np.int64,
    ).reshape(-1, 4)
    correct = np.zeros(len(questions), dtype=bool)
    correct[covered] = _complete(unit, asked[:, :3]) == asked[:, 3]
    out = _share(correct, covered, np.ones(len(questions), dtype=bool))
    out.update(correct=correct, covered=covered)
    if categories is not None:
        labels = np.array(categories, dtype=object)
        out["by_category"] = {
            name: _share(correct, covered, labels == name) for name in dict.fromkeys(categories)
        }
    return out


# ---------------------------------------------------------------------------------------------


def _tuples(values, name, size):
    """List of tuples of words; a ValueError unless each has ``size`` of them."""
    values = check_list(name, values, f"{size} words each")
    values = [tuple(v) if hasattr(v, "__len__") and not isinstance(v, str) else v for v in values]
    for value in values:
        if not isinstance(value, tuple) or len(value) != size:
            raise ValueError(f"{name} must be a list of {size} words each, got {value!r}.")
    return values


def _draws_of_model(model, name):
    """Arrays rho and alpha, each (n_draws, n_words, n_components), of anything that has them."""
    if hasattr(model, "posterior_"):
        _check_logits(model.posterior_, name)
    # every array has an attribute of that name, too
    if hasattr(model, "flat") and not isinstance(model, np.ndarray | np.generic):
        _check_logits(model, name)
        rho, alpha = model.flat("rho"), model.flat("alpha")
    elif hasattr(model, "rho_"):
        rho, alpha = model.rho_, model.alpha_
    elif hasattr(model, "rho"):
        rho, alpha = model.rho, model.alpha
    elif isinstance(model, tuple | list) and len(model) == 2:
        rho, alpha = model
    else:
        raise TypeError(
            f"{name} must be (rho, alpha), a fitted estimator, a Posterior or simulated data, "
            f"got {type(model).__name__}."
        )
    rho, alpha = check_numbers(rho, f"{name}'s rho"), check_numbers(alpha, f"{name}'s alpha")
    if rho.ndim == 2 and alpha.ndim == 2:
        rho, alpha = rho[None], alpha[None]
    fits = rho.ndim == alpha.ndim == 3 and len(rho) == len(alpha) and rho.size and alpha.size
    if not fits or rho.shape[2] != alpha.shape[2]:
        raise ValueError(
            f"{name} must have rho and alpha of shape (n_words, n_components), or both with the "
            f"same number of draws before, got {rho.shape} and {alpha.shape}."
        )
    return rho, alpha


def _check_logits(posterior, name):
    """Raise a ValueError where logits are no dot products of a word's one target vector."""
    if "rho_bias" in posterior:
        raise ValueError(
            f"{name} has biases, which its vectors leave out: pass (rho, alpha) with the columns "
            "[rho, bias, 1] and [alpha, 1, bias]."
        )
    if "period" in posterior.coords:
        raise ValueError(
            f"{name} has vectors for each period: pass (rho, alpha) of one, as rho_[t], alpha_[t]."
        )


def _words_of(model, n_words):
    """The words of a fitted estimator or a Posterior, a list; None of what knows none."""
    words = getattr(model, "words_", None)
    if words is None:
        words = getattr(model, "coords", {}).get("word")
    if words is None or len(words) != n_words:
        return None
    return [str(word) for word in words]


def _places_of_words(words, others):
    """Where ``words`` are among ``others``; None where either is not known, or both are the same.

    Raises
    ------
    ValueError
        If they are not the same words.
    """
    if words is None or others is None or words == others:
        return None
    only = [sorted(set(a) - set(b)) for a, b in ((words, others), (others, words))]
    if any(only):
        raise ValueError(
            f"estimate and truth must be of the same words, got {len(only[0])} that truth lacks "
            f"({only[0][:3]}) and {len(only[1])} that estimate lacks ({only[1][:3]}): fit both "
            "with one vocabulary."
        )
    place = {word: i for i, word in enumerate(others)}
    return np.array([place[word] for word in words])


def _mean_probability(rho, alpha, rows):
    """Co-occurrence probabilities of some target words with all contexts, averaged over draws."""
    total = 0.0
    for r, a in zip(rho, alpha, strict=True):
        total = total + expit(r[rows] @ a.T)
    return total / len(rho)


def _vectors_and_index(vectors, words, mean=False):
    """Vectors (n_draws, n_words, n_components), and a mapping from words to their rows."""
    if getattr(getattr(vectors, "rho_", None), "ndim", 2) != 2:
        raise ValueError(
            f"vectors must be of one period, got a fitted {type(vectors).__name__} with those of "
            "all: pass its vectors_at(period)."
        )
    own = hasattr(vectors, "vocabulary_")
    if own and words is not None:
        raise ValueError("words must be None where vectors is an estimator, which has its own.")
    if own and not hasattr(vectors, "posterior_"):
        vectors, words = vectors.rho_, list(vectors.vocabulary_)
    if hasattr(vectors, "posterior_"):
        # as the estimator reads them: balanced draws are had one after the other
        read = getattr(vectors, "_balanced", None)
        draws = vectors.posterior_.flat("rho") if read is None else read
        draws = vectors.rho_[None] if mean else draws
        return draws, vectors.vocabulary_
    if words is None:
        raise ValueError("words must name the rows of vectors, got None.")
    vectors = check_numbers(vectors, "vectors")
    words = [str(w) for w in check_list("words", words, "words")]
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise ValueError(
            f"vectors must have shape ({len(words)}, n_components) for {len(words)} words, "
            f"got {vectors.shape}."
        )
    index = {word: i for i, word in enumerate(words)}
    if len(index) != len(words):
        raise ValueError("words must be unique.")
    return vectors[None], index


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Scale vectors, along the last axis, to unit length; vectors of zeros stay."""
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, norm, out=np.zeros_like(vectors), where=norm > 0)


def _row_cosines(a, b):
    """Cosine of each row of ``a`` with the same row of ``b``."""
    return np.einsum("ij,ij->i", unit_vectors(a), unit_vectors(b))


def _spearman(x, y):
    """Spearman correlation of ``x`` (..., n) with ``y`` (n,); 0 where one of them is constant.

    Equal values share the mean of their ranks.
    """
    x, y = rankdata(x, axis=-1), rankdata(y)
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean()
    scale = np.sqrt(np.sum(x * x, axis=-1) * np.sum(y * y))
    return np.divide(x @ y, scale, out=np.zeros_like(scale), where=scale > 0)


def _complete(unit, questions):
    """Answers, as rows of ``unit``, to questions given as rows (n, 3)."""
    answers = np.empty(len(questions), dtype=np.int64)
    step = max(1, _CELLS // len(unit))
    for start in range(0, len(questions), step):
        block = questions[start : start + step]
        a, b, c = block.T
        cosine = (unit[b] - unit[a] + unit[c]) @ unit.T
        np.put_along_axis(cosine, block, -np.inf, axis=1)
        answers[start : start + step] = np.argmax(cosine, axis=1)
    return answers


def _share(correct, covered, chosen):
    """Accuracy over the chosen questions that are covered."""
    known = covered & chosen
    accuracy = float(correct[known].mean()) if known.any() else float("nan")
    return titled(
        "analogies completed",
        accuracy=accuracy,
        n_covered=int(known.sum()),
        n_questions=int(chosen.sum()),
    )
