"""`GaussianLDA` with ``word_model="dirichlet"`` as the suite takes it: few words, each seen often.

Prior means of words' levels come from how often words are seen. So data are looked at whose words
are seen as often as they are meant to be, of which ranks hold like of all: prior and data are drawn
together until they are such. Chains over parameters and data take all data, as a sweep is given the
levels' means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import gammaln, softmax
from scipy.stats import invgamma, norm

from ..common.random import seeds_from
from ..topics.data import Documents
from ..topics.dirichlet.conditionals import DirichletTopics
from ..topics.dirichlet.measure import Base, BaseMeasures
from ..topics.dirichlet.moves import Metric
from ..topics.estimator import GaussianLDA
from .models import Arrays, Lengths, Mover, estimated, flat
from .topics import assigned

_VECTORS = np.array([[0.8, -0.6], [-0.9, 0.1], [0.2, 1.1], [-0.3, -0.7]])
# Of documents; the first is that of the background.
_ALPHA = np.array([1.0, 0.5, 0.5])
_TOPICS = _ALPHA.size
# Shape of the priors of both variances, scale of that of levels, deviation of log concentration.
_SHAPE, _LEVEL_SCALE, _LOG_SD = 2.0, 0.25, 2.0
_SMOOTHING = 0.5
# Sizes of steps of trajectories, in turn; of their masses.
_STEPS, _MASS = (0.15, 0.5), 2.0
# Draws of prior and data at a time, of which few have the words that are asked for.
_BLOCK = 4000


@dataclass(frozen=True)
class WordTokens:
    """Words of tokens, one after the other.

    Attributes
    ----------
    words, documents : ndarray of int of shape (n_tokens,)
    n_words : int
        Of the vocabulary.
    """

    words: np.ndarray
    documents: np.ndarray
    n_words: int

    @property
    def counts(self) -> sparse.csr_array:
        """Count matrix."""
        table = np.zeros((int(self.documents[-1]) + 1, self.n_words))
        np.add.at(table, (self.documents, self.words), 1.0)
        return sparse.csr_array(table)


@dataclass(frozen=True)
class DirichletWords:
    """A background and two topics over four words with vectors.

    Attributes
    ----------
    totals : tuple of int
        Tokens of each word, which levels have their prior means from.
    n_documents : int
        Of equally many tokens.
    given : bool
        Whether prior and data are drawn until words have ``totals``.
    shuffled : bool
        Whether data are the tokens of ``totals`` at random places, whatever the parameters.
    """

    totals: tuple = (9, 7, 7, 5)
    n_documents: int = 4
    given: bool = True
    shuffled: bool = False

    name: ClassVar = "GaussianLDA, Dirichlet"
    samplers: ClassVar = {"gibbs": 12}
    joint: ClassVar = ("gibbs",)
    quantities: ClassVar = (
        "log concentration", "log topic scale", "log word scale", "log size of topic vectors",
        "log distance of topics", "P(first word), background", "P(last word), topics",
        "log density of tokens and their topics",
    )  # fmt: skip

    @property
    def _vectors(self):
        return _VECTORS[: len(self.totals)]

    @property
    def _offset(self):
        """Prior means of levels."""
        logs = np.log(np.array(self.totals) + _SMOOTHING)
        return logs - logs.mean()

    @property
    def _topic_scale(self):
        """Scale of the prior of the variance of topics' vectors."""
        return 1.0 / np.mean(np.sum(self._vectors**2, axis=1))

    @property
    def _documents(self):
        return np.repeat(np.arange(self.n_documents), sum(self.totals) // self.n_documents)

    def prior(self, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Base measures, and topics and words of tokens."""
        if not self.given:
            return self._drawn(n, rng)
        found: list[dict] = []
        while sum(len(one["z"]) for one in found) < n:
            one = self._drawn(_BLOCK, rng)
            totals = _one_hot(one["words"], len(self.totals)).sum(axis=1)
            kept = np.all(totals == self.totals, axis=1)
            found.append({name: values[kept] for name, values in one.items()})
        return {name: np.concatenate([one[name] for one in found])[:n] for name in found[0]}

    def _drawn(self, n, rng):
        shape = (n, _TOPICS - 1, self._vectors.shape[1])
        topic_scale = np.sqrt(self._topic_scale / rng.gamma(_SHAPE, size=n))
        word_scale = np.sqrt(_LEVEL_SCALE / rng.gamma(_SHAPE, size=n))
        levels = self._offset + word_scale[:, None] * rng.normal(size=(n, len(self.totals)))
        log_concentration = np.log(len(self.totals)) + _LOG_SD * rng.normal(size=n)
        theta = rng.dirichlet(_ALPHA, size=(n, self.n_documents))
        arrays = {
            "topic_vector": topic_scale[:, None, None] * rng.normal(size=shape),
            "word_level": levels, "concentration": np.exp(log_concentration),
            "topic_scale": topic_scale, "word_scale": word_scale,
            "z": assigned(theta[:, self._documents], rng),
        }  # fmt: skip
        return arrays | {"words": self._words(arrays, rng)}

    def _words(self, arrays, rng):
        """Words of tokens given their topics and base measures, (n, n_tokens)."""
        shapes = arrays["concentration"][:, None, None] * self._measure(arrays)
        # logarithms of gamma draws, as those of small shapes are below all numbers
        logs = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
        proba = softmax(logs, axis=2)
        own = np.take_along_axis(proba, arrays["z"][..., None], axis=1)
        return assigned(own, rng)

    def _measure(self, arrays):
        """Base measures of topics, (n, n_topics, n_words); the first has no vector."""
        logits = arrays["topic_vector"] @ self._vectors.T
        logits = np.concatenate([np.zeros_like(logits[:, :1]), logits], axis=1)
        return softmax(logits + arrays["word_level"][:, None], axis=2)

    def data(self, arrays: Arrays, rng: np.random.Generator) -> WordTokens:
        """The words that were drawn with the parameters, or others given their topics."""
        if self.shuffled:
            words = rng.permutation(np.repeat(np.arange(len(self.totals)), self.totals))
        elif "words" in arrays:
            words = arrays["words"]
        else:
            words = self._words({name: x[None] for name, x in arrays.items()}, rng)[0]
        return WordTokens(words, self._documents, len(self.totals))

    def look(self, arrays: Arrays, data: WordTokens) -> np.ndarray:
        """Test quantities of draws; the last knows the topics of all tokens."""
        t, measure = arrays["topic_vector"], self._measure(arrays)
        if "lp" in arrays:
            tokens = arrays["lp"] - self._log_prior(arrays)
        else:
            tokens = self._log_topics(arrays["z"]) + self.log_likelihood(arrays, data)
        return np.column_stack([
            np.log(arrays["concentration"]), np.log(arrays["topic_scale"]),
            np.log(arrays["word_scale"]), np.log((t**2).sum(axis=(1, 2))),
            np.log(np.linalg.norm(t[:, 0] - t[:, 1], axis=1)), measure[:, 0, 0],
            measure[:, 1:, -1].sum(axis=1), tokens,
        ])  # fmt: skip

    def _log_prior(self, arrays):
        """Log density of base measures and of both variances."""
        t, topic, word = arrays["topic_vector"], arrays["topic_scale"], arrays["word_scale"]
        levels = norm.logpdf(arrays["word_level"], self._offset, word[:, None]).sum(axis=1)
        log_mean = np.log(len(self.totals))
        return (
            norm.logpdf(t, 0.0, topic[:, None, None]).sum(axis=(1, 2)) + levels
            + norm.logpdf(np.log(arrays["concentration"]), log_mean, _LOG_SD)
            + invgamma.logpdf(topic**2, _SHAPE, scale=self._topic_scale)
            + invgamma.logpdf(word**2, _SHAPE, scale=_LEVEL_SCALE)
        )  # fmt: skip

    def _log_topics(self, z):
        """Log probability of the topics of tokens, shares of documents summed out."""
        of_documents = _one_hot(z, _TOPICS).reshape(len(z), self.n_documents, -1, _TOPICS)
        return _log_polya(of_documents.sum(axis=2), _ALPHA).sum(axis=1)

    def log_likelihood(self, arrays: Arrays, data: WordTokens) -> np.ndarray:
        """Of draws with the topics of their tokens."""
        topics = _one_hot(arrays["z"], _TOPICS)
        counts = topics.swapaxes(1, 2) @ _one_hot(data.words, len(self.totals))
        shapes = arrays["concentration"][:, None, None] * self._measure(arrays)
        return _log_polya(counts, shapes).sum(axis=1)

    def posterior(
        self, data: WordTokens, sampler: str, lengths: Lengths, seed: int, **options: Any
    ) -> dict[str, np.ndarray]:
        """Draws of `GaussianLDA`."""
        model = GaussianLDA(
            _TOPICS, embedding=self._vectors, word_model="dirichlet", normalize=None, min_count=1,
            doc_topic_prior=_ALPHA,
        )  # fmt: skip
        found = estimated(model, lengths, seed, sampler, **options).fit(data.counts).posterior_
        names = ("topic_vector", "word_level", "concentration", "topic_scale", "word_scale")
        out = {name: flat(found[name]) for name in names}
        # the background's is zero
        out["topic_vector"] = out["topic_vector"][:, 1:]
        return out | {"lp": flat(found.stats["lp"])}

    def mover(self, sampler: str, rng: np.random.Generator) -> Mover:
        """A sweep of `DirichletTopics`."""
        measures = BaseMeasures(self._vectors, self._offset, _TOPICS, 1)
        n_dims = self._vectors.shape[1]
        masses = np.tile(_MASS * np.eye(n_dims), (_TOPICS - 1, 1, 1))
        diagonal = np.full(measures.n_free - measures.n_own, _MASS)
        metric = Metric(np.linalg.cholesky(masses), np.linalg.inv(masses), diagonal)
        streams, n_moves = [np.random.default_rng(seeds_from(rng))], 0

        def sweep(arrays, data):
            nonlocal n_moves
            # as a count matrix has them
            order = np.lexsort((data.words, data.documents))
            documents = Documents.of(data.counts, self._vectors)
            model = DirichletTopics(documents, measures, _ALPHA, None)
            theta = np.concatenate([
                arrays["topic_vector"].ravel(), arrays["word_level"],
                [np.log(arrays["concentration"])],
            ])  # fmt: skip
            base = Base(theta, float(arrays["topic_scale"]) ** 2, float(arrays["word_scale"]) ** 2)
            state = model.state_of(arrays["z"][order].astype(np.int32), base)
            state.metric, state.step.value = metric, _STEPS[n_moves % 2]
            n_moves += 1
            model.sweep(state, streams, None)
            z = np.empty_like(arrays["z"])
            z[order] = state.z
            out = model.observe(state)
            moved = {name: np.array(out[name]) for name in arrays if name in out}
            return moved | {"topic_vector": out["topic_vector"][1:], "z": z}

        return sweep

    def brief(self) -> DirichletWords:
        """The same tokens, of any words."""
        return replace(self, given=False)

    def corner(self) -> DirichletWords:
        """Two documents of two tokens, of three words."""
        return replace(self, totals=(2, 1, 1), n_documents=2, given=False, shuffled=True)


def _one_hot(values, n):
    """Indicators along a new last axis."""
    return (values[..., None] == np.arange(n)).astype(float)


def _log_polya(counts, shapes):
    """Log probability of a sequence with these counts, its shares Dirichlet; last axes summed."""
    value = (gammaln(shapes + counts) - gammaln(shapes)).sum(axis=-1)
    total = shapes.sum(axis=-1)
    return value + gammaln(total) - gammaln(total + counts.sum(axis=-1))
