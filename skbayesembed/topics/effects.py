"""Effects of covariates of documents on the shares of topics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import Bunch

from ..corpus.design import INTERCEPT, note_on_names
from ..corpus.products import Product, note_on_products
from ..posterior.cells import dashed, p_values
from ..posterior.few_units import note_on_few_terms
from ..posterior.in_time import (
    InTime,
    clause_on_time,
    in_time_of,
    note_on_time,
)
from ..posterior.naming import called, named
from ..posterior.one_unit import known_errors, note_on_one_unit, with_sample
from ..posterior.regressed import (
    RegressedTable,
    note_on_explained,
    spec_of_effects,
    texts_by_row,
)
from ..posterior.sentences import (
    Sentences,
    capital,
    effect,
    ended,
    interval_in_words,
    joined,
    p_value,
    rounded,
    side_of_zero,
    with_signs,
)
from ..posterior.sources import VECTORS
from ..posterior.tables import Column
from .labels import marked, mixed_of, notes_on_unmixed

if TYPE_CHECKING:
    import pandas as pd

_SIDES = ("larger", "smaller")
# Share of documents above which sentences say that they are left out.
_MANY = 0.03
# Digits after the point that are enough in print where they show the standard errors.
_DIGITS = 4
_BY_VI = "the uncertainty of the topics is by variational inference, and probably too small"
_SETTLED = "chains have not mixed on the share of the topic, but agree on the effect"
_KNOWN = "topics are taken as known: intervals leave out their uncertainty"


@dataclass(frozen=True, repr=False, eq=False)
class TopicEffects(RegressedTable):
    """Table of the effects of covariates on topic shares, with a row for each term and topic.

    With ``times``, printed tables and data frames have no rows of the constant: the level that
    autocorrelated residuals vary about is hardly known. The arrays have it.

    Attributes
    ----------
    terms : ndarray of str of shape (n_terms,)
    mean : ndarray of shape (n_terms, n_topics)
        Change in the share of a topic when the covariate increases by one, with the other
        covariates held constant.
    sd, sd_sampling, sd_topics : ndarray of shape (n_terms, n_topics)
        Standard errors, and their two parts: from the sampling of units, and from the uncertainty
        of the topics.
    interval : ndarray of shape (n_terms, n_topics, 2)
        From Student's t with ``freedom`` degrees of freedom.
    p_value : ndarray of shape (n_terms, n_topics)
        Two-sided, for the hypothesis of no effect.
    freedom : ndarray of shape (n_terms, n_topics)
    sentences : dict of (int, str) to str
        Each effect in words, to be copied, by its topic and term; not those of the constant. Topics
        that have names go by these, and by their numbers as well.
    draws : ndarray of shape (n_draws, n_terms, n_topics)
        Joint draws, normal given the topics.
    words : ndarray of str of shape (n_topics,)
        Top words of the topics.
    n_units, n_documents : int
        Numbers behind the figures.
    n_left_out : int
        Documents without a known word, which are left out.
    variational : bool
        Whether topics were fitted with ``solver="vi"``, so that ``sd_topics`` is probably too
        small.
    prob : float
        Probability of the intervals.
    unmixed : ndarray of int or None
        Topics whose shares had not mixed when the fit ended; do not rely on their ``sd_topics``.
    settled : ndarray of bool of shape (n_terms, n_topics) or None
        Effects on these topics on which chains agree all the same: by so little that, if they
        differed by half of ``sd`` (a standard deviation), it would be more in three of four cases.
    withheld : ndarray of bool of shape (n_terms, n_topics)
        Effects on these topics that are not settled. Print and figures mark them, and have no
        intervals and p-values of them; ``interval``, ``p_value`` and data frames keep the numbers,
        with a column ``mixed``.
    autocorrelation, autocorrelated, residual_correlation : ndarray of shape (n_topics,) or None
    trend, alternating : ndarray of shape (n_topics,) or None
        Of the residuals of each topic over time, as of a `Regression`; None without ``times``.
    known_topics : bool
        Whether there is one draw of the topics only, as of ``solver="map"``.
    rough : dict of int to str
        Topics whose chains have mixed well enough for rough intervals only, and why: an R-hat of
        the share above 1.05, or fewer than 100 effective draws of it. Sentences say so.
    names : ndarray of str of shape (n_topics,) or None
        Names of the topics, if they were given (`GaussianLDA.name_topics`).
    zero_one : ndarray of bool of shape (n_terms,) or None
        Which terms are 0 or 1: sentences compare the two.
    off_zero : ndarray of bool of shape (n_terms,) or None
        Terms that are above zero in all documents, or below, as years are: the constant is then
        that of no document, and a line below the table says so if it is no share.
    products : tuple of Product
        Terms that are products of two others, or squares of one, as interactions are.
    units_name : str or None
        Name of the column of units, if it has one.
    explained : ndarray of shape (n_terms,) or None
        Share of the variation of a term that the other terms explain; NaN of the constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed import GaussianLDA
    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat([[0.0, 3.0], [3.0, 0.0]], 6, axis=0) + rng.normal(size=(12, 2))
    >>> counts = rng.poisson(2, size=(40, 12))
    >>> model = GaussianLDA(2, embedding=vectors, solver="vi", random_state=0).fit(counts)
    >>> effects = model.effects(counts, np.arange(40.0)[:, None])
    >>> effects.mean.shape, effects.interval.shape
    ((2, 2), (2, 2, 2))
    >>> effects.sentences[0, "x0"].split(" (")[0]
    'The mean share of topic 0'
    """

    terms: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    sd_sampling: np.ndarray
    sd_topics: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    freedom: np.ndarray
    draws: np.ndarray
    words: np.ndarray
    n_units: int
    n_documents: int
    prob: float
    unmixed: np.ndarray | None = None
    autocorrelation: np.ndarray | None = None
    trend: np.ndarray | None = None
    names: np.ndarray | None = None
    zero_one: np.ndarray | None = None
    units_name: str | None = None
    autocorrelated: np.ndarray | None = None
    residual_correlation: np.ndarray | None = None
    alternating: np.ndarray | None = None
    n_left_out: int = 0
    variational: bool = False
    known_topics: bool = False
    rough: dict[int, str] = field(default_factory=dict)
    off_zero: np.ndarray | None = None
    products: tuple[Product, ...] = ()
    settled: np.ndarray | None = None
    explained: np.ndarray | None = None

    @property
    def withheld(self) -> np.ndarray:
        """Effects without intervals in print, as chains differ on them, (n_terms, n_topics)."""
        unmixed = np.tile(~mixed_of(self.unmixed, self.mean.shape[1]), (len(self.terms), 1))
        return unmixed if self.settled is None else unmixed & ~self.settled

    @property
    def sentences(self) -> dict[tuple[int | str, str], str]:
        """Each effect in words, to be copied, by its topic and term; not the constant's.

        Topics that have names go by these, and by their numbers as well.
        """
        terms = [(j, str(term)) for j, term in enumerate(self.terms) if term != INTERCEPT]
        topics = range(self.mean.shape[1])
        texts = {(self._key(k), term): self._told(k, j) for j, term in terms for k in topics}
        numbered = {(k, term): (self._key(k), term) for _, term in terms for k in topics}
        return Sentences(texts, numbered)

    def _shown_terms(self):
        """Places of the terms that are shown: all, or in time all but the constant."""
        in_time = self.autocorrelation is not None
        shown = [j for j, term in enumerate(self.terms) if not (in_time and term == INTERCEPT)]
        return shown or list(range(len(self.terms)))

    def _key(self, topic):
        return topic if self.names is None else str(self.names[topic])

    def _called(self, topic):
        """A topic in a sentence: its name, or its number and words."""
        name = called(self.names, "topic", topic)
        return f"{name} ({self.words[topic]})" if name == f"topic {topic}" else name

    def _told(self, topic, j):
        """An effect in words; a point alone where chains differ on it, as in the table."""
        if not self.withheld[j, topic]:
            return self._sentence(topic, j)
        (mean,) = rounded([self.mean[j, topic]], "+", 2, 4)
        text = f"The mean share of {self._called(topic)} differs by {mean} (no interval) "
        return ended(f"{text}{self._step(j)}", "unmixed")

    def _sentence(self, topic, j):
        sd = self.sd[j, topic]
        mean, low, high = with_signs(self.mean[j, topic], self.interval[j, topic], sd)
        side, p = str(side_of_zero(self.interval[j, topic], *_SIDES)), self.p_value[j, topic]
        of = " of the difference" if side in _SIDES else ""
        interval = interval_in_words(low, high, self.prob, of)
        text = effect(
            f"the mean share of {self._called(topic)}",
            self._step(j),
            figures=(mean, f"({interval}, {p_value(p)})"),
            side=side if side in _SIDES else None,
            p=p,
        )
        # units are told of already
        rows = self._about() if np.isnan(p) else self._rows()
        rest = with_sample(self._sample(), f"the regression has {rows}", p)
        if self.n_left_out > _MANY * (self.n_left_out + self.n_documents):
            rest += f", and leaves out {self._left_out()}"
        known = f"{rest}. {capital('; '.join(self._assumed(j, topic)))}"
        return ended(f"{text}. {known}", None)

    def _beside_unmixed(self):
        """A clause, in a list, on topics beside those with intervals, of which chains differ."""
        n = 0 if self.unmixed is None else len(self.unmixed)
        if n in (0, self.mean.shape[1]):
            return []
        have, them = ("has", "it") if n == 1 else ("have", "them")
        return [
            f"{n} of {self.mean.shape[1]} topics {have} not mixed, and what is said of others "
            f"holds beside {them} as these chains have {them}"
        ]

    def _left_out(self):
        one = self.n_left_out == 1
        return f"{self.n_left_out:,} {'document' if one else 'documents'} without a known word"

    def _assumed(self, j, topic):
        """What an effect rests on, clauses of a sentence."""
        of_vectors = (
            "the uncertainty of the word vectors is included"
            if self._has_draws()
            else "word vectors are taken as known"
        )
        of_topic = InTime(*(None if x is None else x[topic] for x in in_time_of(self)))
        of_topics = [_BY_VI] * self.variational + [_KNOWN] * self.known_topics
        if self.settled is not None and self.settled[j, topic]:
            of_topics.append(_SETTLED)
        if topic in self.rough:
            of_topics.append(f"the interval is rough (share of the topic: {self.rough[topic]})")
        of_topics += [note.strip("()") for note in self._notes_on_few()]
        of_time = clause_on_time(of_topic, self._sampled())
        return [of_vectors, *of_topics, *self._beside_unmixed(), *filter(None, [of_time])]

    def _notes_on_few(self):
        """A line, in a list, on units that are few for the terms; none where they are not."""
        varying = self.terms != INTERCEPT
        return note_on_few_terms(self.freedom[varying], self.n_units, "term")

    def _has_draws(self):
        """Whether word vectors were drawn."""
        return VECTORS in (self.source or "")

    def _vectors(self):
        return "draws of vectors" if self._has_draws() else "vectors taken as known"

    def _mixed(self):
        return ~self.withheld[self._shown_terms()].ravel()

    def _marked(self):
        """Topics with effects that are withheld among those that are shown."""
        return np.flatnonzero(self.withheld[self._shown_terms()].any(axis=0))

    def _note_on_settled(self):
        """A line, in a list, on topics that have not mixed and have effects with intervals."""
        if self.settled is None or not self.settled[self._shown_terms()].any():
            return []
        of = np.flatnonzero(self.settled[self._shown_terms()].any(axis=0))
        which = joined([str(self._key(topic)) for topic in of.tolist()])
        return [
            f"(topic{'s' * (of.size > 1)} {which}: chains have not mixed on the share, but agree "
            "on the effects that have intervals, within what the sampling of "
            f"{self._sampled()} leaves open)"
        ]

    def _in_a_row(self):
        """Effects in a row, without the constant's, as `over_settings` compares them."""
        terms = [j for j, term in enumerate(self.terms) if term != INTERCEPT]
        topics = [called(self.names, "topic", k) for k in range(self.mean.shape[1])]
        mixed = ~self.withheld[terms].ravel()
        asides = [_BY_VI] * self.variational + [_KNOWN] * self.known_topics
        rough = [f"topic {k}: rough, {why}" for k, why in self.rough.items()]
        return Bunch(
            terms=[f"{self.terms[j]}, {topic}" for j in terms for topic in topics],
            of_kinds=[(str(self.terms[j]), k) for j in terms for k in range(len(topics))],
            mean=self.mean[terms].ravel(),
            interval=np.where(mixed[:, None], self.interval[terms].reshape(-1, 2), np.nan),
            p_value=np.where(mixed, self.p_value[terms].ravel(), np.nan),
            verdict=np.where(
                mixed,
                side_of_zero(self.interval[terms].reshape(-1, 2), "positive", "negative"),
                "",
            ),
            prob=self.prob,
            title="effects on topic shares",
            sources=[(self.source or "units") if one else "unmixed" for one in mixed],
            of_units=self.n_units,
            units_name=self.units_name,
            _units_called=self._units_called,
            note=" ".join(f"{capital(text)}." for text in [*asides, *rough]),
        )

    def _series(self):
        terms = self._shown_terms()
        low, high = self.interval[terms].reshape(-1, 2).T
        known = {"low": low, "high": high, "p_value": self.p_value[terms].ravel()}
        return super()._series() | known | {"mixed": self._mixed()}

    def to_frame(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each term and topic. ``low``, ``high`` and ``p_value`` are numbers for all
            topics; where ``mixed`` is False, do not use them.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from skbayesembed import GaussianLDA
        >>> from skbayesembed.datasets import make_topics
        >>> data = make_topics(n_documents=40, n_words=60, n_topics=2, n_dims=3, random_state=0)
        >>> model = GaussianLDA(2, embedding=data.vectors, solver="vi", random_state=0)
        >>> effects = model.fit(data.counts).effects(data.counts, {"year": range(40)})
        >>> frame = effects.to_frame()
        >>> frame["term"].tolist()
        ['(intercept)', '(intercept)', 'year', 'year']
        >>> frame.columns.tolist()
        ['term', 'topic', 'mean', 'sd', 'df', 'low', 'high', 'p_value', 'mixed']
        """
        return super().to_frame()

    def _columns(self):
        terms, n_topics, mixed = self._shown_terms(), self.mean.shape[1], self._mixed()
        sd, freedom = known_errors(self.sd, self.freedom)[terms], self.freedom[terms]
        of_terms = zip(sd, self.mean[terms], strict=True)
        specs = np.repeat([spec_of_effects(*of, _DIGITS) for of in of_terms], n_topics).tolist()
        signed = [f"+{spec}" for spec in specs]
        mean = self.mean[terms].ravel()
        interval = np.where(mixed[:, None], self.interval[terms].reshape(-1, 2), np.nan)
        p = np.where(mixed, p_values(self.p_value[terms].ravel()), "-")
        topics = named(self.names, np.tile(np.arange(n_topics), len(terms)))
        return [
            Column("topic", topics, ("topic",), marked(self._marked(), self.names)),
            Column("effect", mean, ("mean",), texts=texts_by_row(mean, signed)),
            Column("se", sd.ravel(), ("sd",), texts=texts_by_row(sd.ravel(), specs)),
            Column("interval", interval, (), left=True, texts=texts_by_row(interval, signed)),
            Column("df", freedom.ravel(), ("df",), dashed(".1f")),
            Column("p", p.tolist(), ()),
            Column("relevant words", list(np.tile(self.words, len(terms))), (), left=True),
        ]

    def _title(self):
        return f"effects on topic shares, {100 * self.prob:g} % intervals"

    def _groups(self):
        return "term", np.repeat(self.terms[self._shown_terms()], self.mean.shape[1])

    def _notes(self):
        left_out = [f"{self._left_out()} left out"] * (self.n_left_out > 0)
        notes = [
            f"({'; '.join([self._about(), *left_out, self._vectors()])})",
            *[f"({_BY_VI})"] * self.variational,
            *[f"({_KNOWN})"] * self.known_topics,
            note_on_time(in_time_of(self), self._sampled(), "effects", ", by topic"),
            *note_on_names(self.terms),
            *note_on_products(self.products),
            *note_on_explained(self.terms, self.explained, "effects"),
            *self._note_on_freedom(),
        ]
        notes += note_on_one_unit(self.terms, self.freedom)
        notes += self._notes_on_few()
        notes += self._note_on_constant()
        notes += [f"({clause})" for clause in self._beside_unmixed()]
        notes += self._note_on_settled()
        partly = self.settled is not None and bool(self.settled[self._shown_terms()].any())
        notes += notes_on_unmixed(self._marked(), self.names, partly)
        return notes + list(self._asides)

    def _note_on_freedom(self):
        """A line, in a list, where there are more degrees of freedom than units."""
        if not np.any(self.freedom[self._shown_terms()] > self.n_units):
            return []
        return [
            f"(df: degrees of freedom; more than {self._sampled()} where part of se comes from "
            "the topics, which have degrees of freedom of their own)"
        ]

    def _note_on_constant(self):
        """A line, in a list, on topics whose constant has an interval beyond 0 to 1."""
        shown = self.terms[self._shown_terms()]
        beyond = [
            topic
            for j in np.flatnonzero(self.terms == INTERCEPT)
            for topic in np.flatnonzero(~self.withheld[j]).tolist()
            if np.min(self.interval[j, topic]) < 0 or np.max(self.interval[j, topic]) > 1
        ]
        if INTERCEPT not in shown or not beyond:
            return []
        which = joined([str(self._key(topic)) for topic in beyond])
        which = f"topic{'s' * (len(beyond) > 1)} {which}"
        far = [] if self.off_zero is None else self.terms[self.off_zero].tolist()
        if far:
            return [_note_on_centering(far, which)]
        return [
            "(constant, the mean share where all terms are zero: the interval of "
            f"{which} reaches beyond 0 to 1, limits that a linear regression does not know: cut it "
            "there, or center the terms)"
        ]


def _note_on_centering(far, which):
    """A line on a constant that is none of documents, as of the year 0, and what makes it one."""
    terms = joined([repr(term) for term in far])
    it, their = ("it is", "its") if len(far) == 1 else ("they are", "their")
    return (
        f"(constant, the mean share where {terms} {'is' if len(far) == 1 else 'are'} zero, as "
        f"{it} in no document: no share of {which}; subtract {their} mean to have that of an "
        "average document)"
    )
