"""Documents simulated from topics over word vectors, together with the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import Bunch

from ..common.checks import check_choice, check_integer, check_real
from ..common.random import generators, seed_sequence
from ..corpus.text import document_counts
from .senses import draw_categories
from .simulate import check_size


def make_topics(
    n_documents: int = 200,
    n_words: int | None = 300,
    n_topics: int = 5,
    *,
    n_dims: int = 5,
    mean_length: float = 50.0,
    alpha: ArrayLike = 0.2,
    separation: float = 3.0,
    degrees_of_freedom: float | None = None,
    likelihood_power: float = 1.0,
    word_model: str = "gaussian",
    concentration: float = 1000.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Simulate documents whose topics are Gaussians over word vectors.

    The covariance Sigma_k of a topic is drawn from an inverse Wishart distribution with mean I, and
    its mean mu_k from N(0, s^2 Sigma_k), where s is ``separation``. The topic shares theta_d of a
    document are drawn from a Dirichlet distribution, its number of tokens from a Poisson
    distribution, and the topic z of each token from theta_d. What a token is depends on
    ``n_words``:

    - None is the model of Das et al. (2015) itself: every token is a word of its own, with a vector
      from N(mu_z, Sigma_z).
    - A number makes a vocabulary, as text has one. The vector of each word is drawn from a topic,
      from all topics equally often, and a token of topic k is word w with a probability
      proportional to N(v_w; mu_k, Sigma_k)^likelihood_power.

    With ``word_model="dirichlet"``, vectors x_v are drawn from N(0, I / E). Topics have vectors t_k
    from N(0, s^2 I), and words have levels s_v from N(0, 1). The word probabilities of topic k come
    from a Dirichlet distribution with parameters ``concentration`` times softmax(x_v' t_k + s_v).

    Parameters
    ----------
    n_documents : int, default=200
        Number of documents, D.
    n_words : int or None, default=300
        Size of the vocabulary, V. Some words may not occur in any document.
    n_topics : int, default=5
        Number of topics, K.
    n_dims : int, default=5
        Length of the vectors, E.
    mean_length : float, default=50.0
        Expected number of tokens in a document. A document may be empty.
    alpha : float or array-like of shape (n_topics,), default=0.2
        Parameters of the Dirichlet distribution of shares.
    separation : float, default=3.0
        Spread of the means, in standard deviations of a topic.
    degrees_of_freedom : float or None, default=None
        Degrees of freedom of the inverse Wishart distribution, above ``n_dims + 1``; None is
        ``n_dims + 10``.
    likelihood_power : float, default=1.0
        Above 0 and at most 1; the smaller, the less a word of a vocabulary says about its topic.
    word_model : {"gaussian", "dirichlet"}, default="gaussian"
        Kind of topics, as in `GaussianLDA`. ``"dirichlet"`` needs a vocabulary, and does not use
        ``degrees_of_freedom`` and ``likelihood_power``.
    concentration : float, default=1000.0
        For ``"dirichlet"``: the larger, the closer topics are to what the vectors imply.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data every time; topics and vectors of a vocabulary are then also the
        same for all numbers and lengths of documents.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        Dictionary-like, with the attributes

        counts : csr_array of shape (n_documents, n_words)
            How often each word occurs in each document.
        vectors : ndarray of shape (n_words, n_dims)
            Vectors of the words, the embedding.
        means : ndarray of shape (n_topics, n_dims)
            True means of the topics.
        covariances : ndarray of shape (n_topics, n_dims, n_dims)
            True covariances of the topics.
        topic_vectors, word_levels : ndarray of shape (n_topics, n_dims) and (n_words,)
            Instead of means and covariances with ``word_model="dirichlet"``.
        theta : ndarray of shape (n_documents, n_topics)
            True shares of topics.
        topic_counts : ndarray of shape (n_documents, n_topics), dtype int64
            True number of tokens of each topic.
        word_counts : ndarray of shape (n_topics, n_words), dtype int64
            True number of tokens of each word in each topic.
        word_proba : ndarray of shape (n_topics, n_words) or None
            True probabilities of the words; None if every token is its own word.
        alpha : ndarray of shape (n_topics,)
            Parameters of the Dirichlet distribution.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Das, Zaheer & Dyer (2015). Gaussian LDA for Topic Models with Word Embeddings. ACL.

    Examples
    --------
    >>> from skbayesembed.datasets import make_topics
    >>> simulation = make_topics(n_documents=20, n_words=50, n_topics=3, random_state=0)
    >>> simulation.counts.shape, simulation.vectors.shape, simulation.theta.shape
    ((20, 50), (50, 5), (20, 3))
    """
    alpha, freedom = _check(
        n_documents, n_words, n_topics, n_dims, mean_length, alpha, separation,
        degrees_of_freedom, likelihood_power,
    )  # fmt: skip
    _check_word_model(word_model, concentration, n_words)
    topics_rng, words_rng, theta_rng, length_rng, z_rng, tokens_rng = generators(
        seed_sequence(random_state), 6
    )
    theta = theta_rng.dirichlet(alpha, size=n_documents)
    lengths = length_rng.poisson(mean_length, size=n_documents)
    documents = np.repeat(np.arange(n_documents), lengths)
    z = draw_categories(theta, documents, z_rng)
    if word_model == "dirichlet" and n_words is not None:
        vectors = words_rng.standard_normal((n_words, n_dims)) / np.sqrt(n_dims)
        truth, proba = _tilted(vectors, n_topics, separation, concentration, topics_rng)
        words = draw_categories(proba, z, tokens_rng)
    else:
        means, roots = _topics(n_topics, n_dims, separation, freedom, topics_rng)
        truth = {"means": means, "covariances": roots @ roots.transpose(0, 2, 1)}
        proba = None
        if n_words is None:
            vectors, words = _vectors(means, roots, z, tokens_rng), np.arange(z.size)
        else:
            of_words = np.arange(n_words) % n_topics
            vectors = _vectors(means, roots, of_words, words_rng)
            proba = _word_proba(means, roots, vectors, likelihood_power)
            words = draw_categories(proba, z, tokens_rng)
    n_types = len(vectors)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Bunch(
        counts=document_counts(words, offsets, n_types),
        vectors=vectors,
        theta=theta,
        topic_counts=_table(documents, z, (n_documents, n_topics)),
        word_counts=_table(z, words, (n_topics, n_types)),
        word_proba=proba,
        alpha=alpha,
        **truth,
    )


# ---------------------------------------------------------------------------------------------


def _check(n_documents, n_words, n_topics, n_dims, mean_length, alpha, separation, freedom, power):
    """Checked ``alpha`` (n_topics,) and degrees of freedom."""
    for name, value in (("n_documents", n_documents), ("n_topics", n_topics), ("n_dims", n_dims)):
        check_integer(name, value, 1)
    if n_words is not None:
        check_integer("n_words", n_words, 1)
    check_real("mean_length", mean_length, 0)
    _check_sizes(n_documents, n_words, n_topics, n_dims, n_documents * float(mean_length))
    check_real("separation", separation, 0, strict=False)
    check_real("likelihood_power", power, 0, high=1.0)
    freedom = n_dims + 10 if freedom is None else freedom
    check_real("degrees_of_freedom", freedom, n_dims + 1)
    values = np.asarray(alpha)
    good = values.dtype.kind in "iuf" and values.shape in ((), (n_topics,))
    if not good or not np.isfinite(values).all() or not np.all(values > 0):
        raise ValueError(f"alpha must be a number > 0 or {n_topics} of them, got {alpha!r}.")
    return np.array(np.broadcast_to(values, n_topics), dtype=float), float(freedom)


def _check_sizes(n_documents, n_words, n_topics, n_dims, n_tokens):
    check_size(24 * n_tokens, "Tokens", ("n_documents", "mean_length"))
    check_size(24 * int(n_documents) * int(n_topics), "Shares", ("n_documents", "n_topics"))
    n_vectors = n_tokens if n_words is None else int(n_words)
    size = 24 * int(n_dims) * (n_vectors + int(n_topics) * int(n_dims))
    names = ("n_words", "n_dims", "n_topics", "mean_length")
    check_size(size, "Vectors and covariances", names)


def _check_word_model(word_model, concentration, n_words):
    check_choice("word_model", word_model, ("gaussian", "dirichlet"))
    check_real("concentration", concentration, 0)
    if word_model == "dirichlet" and n_words is None:
        raise ValueError("word_model='dirichlet' needs a vocabulary: n_words must be a number.")


def _tilted(vectors, n_topics, separation, concentration, rng):
    """Vectors of topics and levels of words, and the probabilities (n_topics, n_words)."""
    topics = separation * rng.standard_normal((n_topics, vectors.shape[1]))
    levels = rng.standard_normal(len(vectors))
    logits = topics @ vectors.T + levels
    measure = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    proba = np.array([rng.dirichlet(np.maximum(concentration * row, 1e-300)) for row in measure])
    return {"topic_vectors": topics, "word_levels": levels}, proba


def _topics(n_topics, n_dims, separation, freedom, rng):
    """Means of topics and roots R of their covariances, Sigma = R R'."""
    # Bartlett's decomposition gives a Wishart matrix A A' with A lower triangular; its inverse is
    # scaled so that its mean is I
    factor = np.tril(rng.standard_normal((n_topics, n_dims, n_dims)), -1)
    diagonal = np.arange(n_dims)
    factor[:, diagonal, diagonal] = np.sqrt(
        rng.chisquare(freedom - diagonal, size=(n_topics, n_dims))
    )
    roots = np.sqrt(freedom - n_dims - 1) * np.linalg.inv(factor).transpose(0, 2, 1)
    noise = rng.standard_normal((n_topics, n_dims, 1))
    return separation * (roots @ noise)[..., 0], roots


def _vectors(means, roots, topics, rng):
    """Draw a vector for each word from its topic."""
    noise = rng.standard_normal((topics.size, means.shape[1]))
    out = np.empty_like(noise)
    for k in range(len(means)):
        chosen = topics == k
        out[chosen] = means[k] + noise[chosen] @ roots[k].T
    return out


def _word_proba(means, roots, vectors, power):
    """Densities to a power, normalized over words, (n_topics, n_words)."""
    out = np.empty((len(means), len(vectors)))
    for k, (mean, root) in enumerate(zip(means, roots, strict=True)):
        white = np.linalg.solve(root, (vectors - mean).T)
        out[k] = -0.5 * power * np.sum(white**2, axis=0)
    return np.exp(out - logsumexp(out, axis=1, keepdims=True))


def _table(rows, columns, shape):
    """How often each pair of row and column occurs."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)
