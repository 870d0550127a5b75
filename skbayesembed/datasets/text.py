"""Documents simulated token by token, with bursty words and lasting topics, and their truth."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from ..common.checks import check_choice, check_integer, check_real
from ..common.random import generators, seed_sequence
from ..sgns.counting import MOST_EXPONENT, expected_negatives
from .expected import Source, document_amounts, expected_pairs, window_amounts
from .limit import limit_vectors
from .senses import draw_categories
from .simulate import check_size, zipf_proba

_WINDOW_WEIGHTS = ("linear", "uniform")
_PAIR_WEIGHTS = ("token", "pairs")
_UNITS_SHARE = ("both", "words", "topics")


def make_text(
    n_documents: int = 300,
    *,
    n_words: int = 200,
    n_components: int | None = 8,
    n_topics: int = 10,
    mean_length: float = 200.0,
    length_shape: float = 2.0,
    stay: float = 0.9,
    topic_concentration: float = 1.0,
    word_concentration: float | None = 100.0,
    separation: float = 1.5,
    n_units: int | None = None,
    units_share: str = "both",
    window: int | None = 5,
    window_weights: str = "linear",
    pair_weights: str = "token",
    negative: float = 1.0,
    ns_exponent: float = 0.75,
    source: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate documents, and the word vectors at the limit of infinitely many documents.

    Unlike the pairs of :func:`make_sgns`, the pairs in this text are not independent observations.
    The windows of neighboring tokens overlap, a document keeps to a few topics, a topic lasts for
    several tokens, and a word that a document has used once tends to recur. So documents, or units
    of several documents, are what was sampled. The source has

    - topics phi_k, the probabilities of words: Zipf's, 1 / (rank + 2.7), times
      exp(``separation`` * e) with standard normal e, normalized;
    - lengths of documents: 1 plus a negative binomial number, that is, a Poisson number whose mean
      is drawn from a gamma distribution of shape ``length_shape``;
    - topics in documents: shares theta_d are drawn from a symmetric Dirichlet distribution. Each
      token has the topic of the token before with probability ``stay``, and otherwise one drawn
      from theta_d;
    - words in documents: a document has topics phi_dk of its own, drawn from Dirichlet(c phi_k)
      where c is ``word_concentration``. A token of topic k is drawn from phi_dk.

    Parameters
    ----------
    n_documents : int, default=300
        Number of documents, D.
    n_words : int, default=200
        Size of the vocabulary of the source, V. Some words may occur in no document.
    n_components : int or None, default=8
        Length of the word vectors that are returned, K. None returns none.
    n_topics : int, default=10
        Number of topics, T.
    mean_length : float, default=200.0
        Expected number of tokens of a document, above 1.
    length_shape : float, default=2.0
        The larger, the more similar the lengths. Their variance is
        ``(mean_length - 1) + (mean_length - 1)**2 / length_shape``.
    stay : float, default=0.9
        Probability that a token keeps the topic of the previous token, from 0 to 1.
    topic_concentration : float, default=1.0
        Sum of the ``n_topics`` equal parameters of the Dirichlet distribution of shares: the
        smaller, the fewer topics a document has.
    word_concentration : float or None, default=100.0
        The smaller, the burstier the words. With None, all documents use the topics of the source.
    separation : float, default=1.5
        Standard deviation of the logarithms in which topics differ.
    n_units : int or None, default=None
        Number of units (speakers, for example), at most ``n_documents``. Units consist of
        consecutive documents, equally many up to one. None makes each document a unit.
    units_share : {"both", "words", "topics"}, default="both"
        What the documents of a unit share: their phi_dk ("words"), their theta_d ("topics") or
        both.
    window, window_weights : int or None, {"linear", "uniform"}, default=5, "linear"
        How pairs are counted for the truth, as in :class:`skbayesembed.BayesianSGNS`. A window of
        None is the whole document, as for count matrices.
    pair_weights : {"token", "pairs"}, default="token"
        How pairs of a whole document are counted: "token" divides them by the length of the
        document minus one, "pairs" counts every pair.
    negative, ns_exponent : float, default=1.0, 0.75
        Negative pairs of the truth, as in :class:`skbayesembed.BayesianSGNS`.
    source : int or None, default=None
        Seed of the source (its topics) only. To get more text from the same source, with the same
        truth, use the same ``source`` and another ``random_state``. None draws the source from
        ``random_state``, too.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data every time; the source is then also the same for all numbers and
        lengths of documents.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        texts : list of list of str
            The tokens of each document, at least one.
        units : ndarray of shape (n_documents,), dtype int64
            Unit of each document, counted from 0.
        words : ndarray of shape (n_words,), dtype object
            The words of the source; word i of the arrays below is ``words[i]``. They are in
            descending order of Zipf's frequency, which topics then modify.
        positive : ndarray of shape (n_words, n_words)
            Expected number of pairs of target (row) and context (column) in a document.
        negative : RankOne of shape (n_words, n_words)
            Negative pairs implied by ``positive``.
        word_proba : ndarray of shape (n_topics, n_words)
            The topics phi_k of the source.
        rho, alpha : ndarray of shape (n_words, n_components)
            Only with ``n_components``: target and context vectors at the limit of infinite text
            from the source, of which the model is only an approximation. They are the estimand of
            an estimator, which its intervals should cover. They are balanced: both sides have the
            same singular values, in descending order.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    See Also
    --------
    make_sgns : Independent pairs, for which the model of BayesianSGNS holds exactly.

    Notes
    -----
    Expected counts are exact. For two tokens d apart, where theta has the prior of its document,

        P(z_i = k, z_(i+d) = l) = stay^d [k = l] E theta_k + (1 - stay^d) E theta_k theta_l,

    whatever happens between them. Given different topics, their words are independent, and w and v
    have probability phi_kw phi_lv. Given the same topic, even one that was left and returned to,
    they come from the same phi_dk, and have probability (c phi_kw phi_kv + [w = v] phi_kw) / (c +
    1). A document has E max(L - d, 0) such pairs of tokens.

    Examples
    --------
    >>> from skbayesembed.datasets import make_text
    >>> simulation = make_text(50, n_words=30, n_components=4, random_state=0)
    >>> len(simulation.texts), simulation.texts[0][:3]
    (50, ...)
    >>> simulation.positive.shape, simulation.rho.shape
    ((30, 30), (30, 4))
    """
    _check_sizes(n_documents, n_words, n_components, n_topics, n_units, units_share)
    _check_source(
        mean_length, length_shape, stay, topic_concentration, word_concentration, separation
    )
    _check_counts(window, window_weights, pair_weights, negative, ns_exponent)
    tables = 24 * int(n_words) * (int(n_words) + int(n_topics))
    check_size(tables, "Expected counts", ("n_words", "n_topics"))
    check_size(96 * n_documents * float(mean_length), "Tokens", ("n_documents", "mean_length"))
    source_rng, *document_rngs = generators(seed_sequence(random_state), 6)
    if source is not None:
        check_integer("source", source, 0)
        (source_rng,) = generators(np.random.SeedSequence(int(source)), 1)
    pattern = Source(
        _topics(n_words, n_topics, separation, source_rng),
        stay, topic_concentration, word_concentration, mean_length, length_shape,
    )  # fmt: skip
    documents = np.arange(n_documents)
    units = documents if n_units is None else documents * n_units // n_documents
    ids, offsets = _tokens(pattern, units, units_share, document_rngs)

    if window is None:
        amounts = document_amounts(pattern, pair_weights)
    else:
        amounts = window_amounts(pattern, window, window_weights)
    positive = expected_pairs(pattern, amounts)
    negatives = expected_negatives(positive, negative=negative, ns_exponent=ns_exponent)
    digits = len(str(n_words - 1))
    words = np.array([f"w{i:0{digits}}" for i in range(n_words)], dtype=object)
    tokens = words[ids].tolist()
    found = Bunch(
        texts=[tokens[a:b] for a, b in zip(offsets[:-1], offsets[1:], strict=True)],
        units=units,
        words=words,
        positive=positive,
        negative=negatives,
        word_proba=pattern.word_proba,
    )
    if n_components is not None:
        found.rho, found.alpha = limit_vectors(positive, negatives, n_components)
    return found


# ---------------------------------------------------------------------------------------------


def _check_sizes(n_documents, n_words, n_components, n_topics, n_units, units_share):
    sizes = {"n_documents": n_documents, "n_words": n_words, "n_topics": n_topics}
    for name, value in sizes.items():
        check_integer(name, value, 1)
    for name, value, most, of in (
        ("n_components", n_components, n_words, "n_words"),
        ("n_units", n_units, n_documents, "n_documents"),
    ):
        if value is None:
            continue
        check_integer(name, value, 1)
        if value > most:
            raise ValueError(f"{name} must be at most {of}={most}, got {value!r}.")
    check_choice("units_share", units_share, _UNITS_SHARE)


def _check_source(mean_length, length_shape, stay, topics, words, separation):
    check_real("mean_length", mean_length, 1)
    check_real("length_shape", length_shape, 0)
    check_real("stay", stay, 0, strict=False, high=1)
    check_real("topic_concentration", topics, 0)
    if words is not None:
        check_real("word_concentration", words, 0)
    check_real("separation", separation, 0, strict=False)


def _check_counts(window, window_weights, pair_weights, negative, ns_exponent):
    if window is not None:
        check_integer("window", window, 1)
    check_choice("window_weights", window_weights, _WINDOW_WEIGHTS)
    check_choice("pair_weights", pair_weights, _PAIR_WEIGHTS)
    check_real("negative", negative, 0)
    check_real("ns_exponent", ns_exponent, -MOST_EXPONENT, strict=False, high=MOST_EXPONENT)


def _topics(n_words, n_topics, separation, rng):
    """Probabilities of words under the topics of a source, (n_topics, n_words)."""
    noise = rng.standard_normal((n_topics, n_words))
    proba = zipf_proba(n_words) * np.exp(separation * noise)
    return proba / proba.sum(axis=1, keepdims=True)


def _tokens(source, units, units_share, rngs):
    """Ids of the words of all documents, one after the other, and where documents begin and end."""
    length_rng, theta_rng, z_rng, phi_rng, word_rng = rngs
    documents = np.arange(units.size)
    speech = units if units_share in ("both", "words") else documents
    matter = units if units_share in ("both", "topics") else documents

    shape = source.length_shape
    expected = length_rng.gamma(shape, (source.mean_length - 1) / shape, size=documents.size)
    offsets = np.concatenate([[0], np.cumsum(1 + length_rng.poisson(expected))])
    theta = theta_rng.dirichlet(source.topic_parameters, size=matter[-1] + 1)
    z = _draw_topics(theta[matter], offsets, source.stay, z_rng)
    if source.word_concentration is None:
        return draw_categories(source.word_proba, z, word_rng), offsets
    # speakers have consecutive documents
    first = np.append(np.searchsorted(speech, np.arange(speech[-1] + 1)), documents.size)
    ends = offsets[first]
    ids = np.empty(z.size, dtype=np.int64)
    for a, b in zip(ends[:-1], ends[1:], strict=True):
        own = [phi_rng.dirichlet(source.word_concentration * phi) for phi in source.word_proba]
        ids[a:b] = draw_categories(np.array(own), z[a:b], word_rng)
    return ids, offsets


def _draw_topics(theta, offsets, stay, rng):
    """Topic of each token: that of the token before, or a new one of the document's."""
    new = rng.random(offsets[-1]) >= stay
    new[offsets[:-1]] = True
    documents = np.repeat(np.arange(len(theta)), np.diff(offsets))
    drawn = draw_categories(theta, documents[new], rng)
    return drawn[np.cumsum(new) - 1]
