"""Calls of public functions and classes, with one or two hostile arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import strategies as st

from skbayesembed import PairCounts, Posterior, build_vocabulary, count_pairs, datasets, metrics
from skbayesembed.corpus.periods import Periods, check_times
from skbayesembed.io import WordVectors
from skbayesembed.posterior import RunningMoments, hdi_interval
from tests.fuzz import values
from tests.fuzz.estimators import argument, fitted

_TEXTS = ["cat dog cat", "dog sat mat", "mat cat the"] * 3


@cache
def _vocabulary():
    return build_vocabulary(_TEXTS, min_count=1)


def _posterior():
    return fitted("sgns-metropolis").posterior_


def _asked(name):
    """A method of a posterior, as a function."""

    def call(**arguments):
        return getattr(_posterior(), name)(**arguments)

    call.__name__ = f"Posterior.{name}"
    return call


def _moments(shape, covariance):
    RunningMoments(shape, covariance)


def _count(**given):
    return count_pairs(vocabulary=_vocabulary(), **given).pair_counts()


def _learn(times, n_periods, bins):
    return Periods.learn(times, n_periods, bins)


# Functions with arguments that they answer.
FUNCTIONS = [
    (build_vocabulary, {"texts": _TEXTS, "min_count": 1, "max_features": 4, "analyzer": "word",
                        "lowercase": True, "stop_words": None}),
    (_count, {"texts": _TEXTS, "window": 2, "window_weights": "linear", "units": None}),
    (PairCounts, {"positive": np.ones((2, 2)), "negative": np.ones((2, 2)), "words": ["a", "b"]}),
    (WordVectors, {"words": ["a", "b"], "vectors": np.eye(2)}),
    (Posterior, {"draws": {"x": np.ones((1, 4, 2))}, "dims": None, "coords": None}),
    (hdi_interval, {"x": np.arange(9.0), "prob": 0.5, "axis": 0}),
    (_moments, {"shape": (2,), "covariance": True}),
    (check_times, {"times": [0, 1, 2], "n": 3}),
    (_learn, {"times": [0, 1, 2, 3], "n_periods": 2, "bins": None}),
    (metrics.brier_score, {"probabilities": [[0.5, 0.5], [1, 0]], "labels": [0, 1]}),
    (metrics.match_senses, {"probabilities": [[0.5, 0.5], [1, 0]], "labels": [0, 1]}),
    (metrics.coverage, {"intervals": [[0, 1], [1, 2]], "truth": [0.5, 3]}),
    (metrics.interval_overlap, {"a": [0.0, 1.0], "b": [0.5, 2.0]}),
    (metrics.rmse_cooccurrence, {"estimate": np.eye(2) / 2, "truth": np.eye(2) / 2}),
    (metrics.coherence, {"topics": [["cat", "dog"]], "X_ref": _TEXTS, "n": 2, "measure": "npmi",
                         "vocabulary": None}),
    (metrics.word_similarity, {"vectors": {"cat": [1.0, 0], "dog": [1, 1.0], "sat": [0, 1.0]},
                               "pairs": [("cat", "dog"), ("dog", "sat"), ("cat", "sat")],
                               "scores": [1, 2, 3], "words": None, "prob": 0.8}),
    (metrics.interaction_level, {"counts": np.ones((8, 3)), "senses": [0, 1] * 4,
                                 "times": [0, 0, 0, 0, 1, 1, 1, 1], "level": 0.05}),
    (datasets.extract_snippets, {"documents": _TEXTS, "target": "cat", "window": 2, "times": None,
                                 "genres": None, "stop_words": None, "min_count": 1}),
    (datasets.make_sgns, {"n_words": 5, "n_components": 2, "n_pairs": 50, "zipf": False,
                          "random_state": 0}),
    (datasets.make_dynamic_sgns, {"n_words": 5, "n_components": 2, "n_periods": 2, "n_pairs": 50,
                                  "diffusion": 0.1, "random_state": 0}),
    (datasets.make_senses, {"n_snippets": 9, "n_words": 6, "n_senses": 2, "n_periods": 2,
                            "mean_length": 3.0, "model": "disc", "random_state": 0}),
    (datasets.make_topics, {"n_documents": 4, "n_words": 8, "n_topics": 2, "n_dims": 2,
                            "mean_length": 5.0, "alpha": 0.2, "separation": 2.0}),
    (datasets.make_text, {"n_documents": 4, "n_words": 9, "n_components": 2, "n_topics": 2,
                          "mean_length": 9.0, "stay": 0.5, "window": 2, "random_state": 0}),
    *((_asked(name), {"name": "rho"}) for name in ("mean", "std", "covariance", "flat")),
    (_asked("hdi"), {"names": "rho", "prob": 0.5}),
    (_asked("rhat"), {"names": ["rho"]}),
    (_asked("ess"), {"names": "rho", "method": "bulk"}),
    (_asked("summary"), {"names": "rho", "words": ["x0"], "prob": 0.8}),
    (_asked("thinned"), {"n_draws": 3}),
]  # fmt: skip
# What messages call arguments besides.
_ALSO = {
    "texts": ("X", "documents", "pairs", "document", "vocabulary"), "X_ref": ("X",),
    "documents": ("X", "document", "vocabulary", "target"), "name": ("draws",),
    "names": ("draws",), "draws": ("x",), "method": ("draws",), "n_words": ("size",),
    "counts": ("X", "senses"), "level": ("senses",), "pairs": ("scores",), "words": ("vectors",),
    "estimate": ("truth",), "truth": ("estimate",), "topics": ("topic",), "n": ("times",),
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A call of a function."""

    place: int
    hostile: dict

    @property
    def names(self):
        """One of these has to be in the message of an error."""
        return {n for name in self.hostile for n in (name, *_ALSO.get(name, ()))}

    def __repr__(self):
        return f"{FUNCTIONS[self.place][0].__name__}({self.hostile!r})"

    def __call__(self):
        function, usual = FUNCTIONS[self.place]
        # a posterior may be asked what its few draws do not tell; what is made must be finite
        function(**(usual | self.hostile))


@st.composite
def hostile_calls(draw):
    """A call of a public function with one or two hostile arguments."""
    place = draw(st.integers(0, len(FUNCTIONS) - 1))
    usual = FUNCTIONS[place][1]
    names = draw(st.lists(st.sampled_from(list(usual)), min_size=1, max_size=2, unique=True))
    hostile = {}
    for name in names:
        kinds = [argument()]
        if name in ("texts", "documents", "X_ref"):
            kinds.append(values.documents())
        elif np.ndim(usual[name]) or name in ("times", "units", "genres"):
            kinds += [values.arrays(), values.labels(max(np.size(usual[name]), 1))]
        hostile[name] = draw(st.one_of(kinds))
    return Call(place, hostile)
