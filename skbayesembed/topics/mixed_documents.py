"""Documents that are more mixed than the prior of their shares has it.

A prior that is too sparse for them (a small ``doc_topic_prior``) leads to Dirichlet topics that are
mixtures of those of the text, on whose shares effects are too large: no reading of documents under
these topics can mend that. Gaussian topics hardly follow the prior.
"""

from __future__ import annotations

import numpy as np

from ..common.warnings import warn_user
from .alpha import learn_alpha
from .draws import draws_of
from .inputs import vocabulary_reading
from .predict import FoldIn
from .recording import has_gaussians

# Learned over given prior, in all, from which on effects were 15 to 60 % too large in simulations
# (below 1.7, by 6 % at most).
_MORE = 2.0
# Documents that are looked at, and limits of the estimate.
_DOCUMENTS = 2_000
_LIMITS = {"max_iter": 200, "tol": 1e-3}


def warn_of_mixed_documents(estimator, counts):
    """Warn if the shares of documents say that ``doc_topic_prior`` is far too small.

    Parameters
    ----------
    estimator : GaussianLDA
    counts : csr_array of shape (n_documents, n_words)
        Of documents with tokens.

    Warns
    -----
    UserWarning
    """
    posterior = estimator.posterior_
    if has_gaussians(posterior):
        return
    given, learned = _priors(estimator, counts[:: -(-counts.shape[0] // _DOCUMENTS)])
    if learned < _MORE * given:
        return
    said = "learned" if estimator.learn_doc_topic_prior else "given"
    warn_user(
        f"Documents are more mixed than doc_topic_prior has it: its sum over topics would be "
        f"{learned:.2g} or more by their shares, and {given:.2g} was {said}. Topics may then be "
        "mixtures of those of the text, and effects on them too large. Fit with "
        f"{_advice(estimator, learned)}.",
        UserWarning,
    )


def _priors(estimator, counts):
    """Sum over topics of the prior of documents, and of that which their shares tell."""
    posterior = estimator.posterior_
    draw = np.array([len(posterior.flat("alpha")) // 2])
    draws = draws_of(estimator, chosen=draw)
    reading = vocabulary_reading(estimator, counts)
    (means,) = FoldIn(reading, draws, estimator.word_proba, estimator.n_jobs)
    alpha = np.asarray(draws.alpha(0), dtype=float)
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
    tokens = np.maximum(means * (lengths + alpha.sum()) - alpha, 0.0)
    return alpha.sum(), learn_alpha(tokens, alpha, **_LIMITS).sum()


def _advice(estimator, learned):
    """What to change, as code."""
    each = f"doc_topic_prior={learned / len(estimator.components_):.2g}"
    if estimator.learn_doc_topic_prior:
        return f"more documents, or {each} and learn_doc_topic_prior=False"
    return f"learn_doc_topic_prior='symmetric', or {each} or more"
