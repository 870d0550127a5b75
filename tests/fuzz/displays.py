"""Figures that are asked for with hostile arguments."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st
from matplotlib import pyplot

from skbayesembed import BayesianSGNS, plotting
from tests.fuzz import values
from tests.fuzz.estimators import _ASSOCIATION, Made, argument, fitted
from tests.test_contract import DOCUMENTS

# A fitted model that each display is of, where the first will not do.
_OF = {
    "ChangesDisplay": "dynamic-vi", "ComponentScaleDisplay": "sgns-learned",
    "DriftDisplay": "dynamic-vi", "ELBODisplay": "sgns-vi", "PrevalenceDisplay": "senses-hmc",
    "SenseWordsDisplay": "senses-hmc", "TopicWordsDisplay": "topics-gibbs",
    "EffectsDisplay": "topics-gibbs",
}  # fmt: skip
_USUAL = {
    "word": "x0", "others": ["x1", "x2"], "words": ["x0", "x1", "x2"], "pairs": [("x0", "x1")],
    "n": 3, "prob": 0.8, "kind": "density", "label": 2, "start": 0, "names": None, "ax": None,
    "axis": Made(lambda model: model.axis(["x0"], ["x1"])), **_ASSOCIATION,
}  # fmt: skip
# What is drawn from answers is given one, of word vectors whatever the display is of.
_ANSWERS = {
    "result": Made(lambda _: vectors().most_similar("x0", n=3)),
    "answer": Made(lambda _: vectors().weat(**_ASSOCIATION)),
    "answers": Made(lambda _: {"a": vectors().similarity("x0", "x1")}),
    "posterior": Made(lambda model: model.posterior_),
}
_OF_RESULT = {
    "PrevalenceDisplay": Made(lambda model: model.prevalence_info()),
    "ChangesDisplay": Made(lambda model: model.most_changed(n=3, distance="cosine")),
    "DriftDisplay": Made(lambda model: {"a": model.similarity("x0", "x1")}),
    "SenseWordsDisplay": Made(lambda model: model.sense_words(3)),
    "TopicWordsDisplay": Made(lambda model: model.top_words(3)),
    "EffectsDisplay": Made(lambda model: model.effects(DOCUMENTS, range(len(DOCUMENTS)))),
}


def vectors():
    """Fitted word vectors."""
    return fitted("sgns-metropolis")


def makers():
    """Pairs of the name of a display and of a class method that makes it."""
    for name in plotting.__all__:
        for method, _ in inspect.getmembers(getattr(plotting, name), inspect.ismethod):
            if method.startswith("from_"):
                yield name, method


MAKERS = list(makers())


@cache
def of_documents():
    """A model that knows its documents."""
    model = BayesianSGNS(2, solver="map", min_count=1, prior_precision=1.0, random_state=0)
    return model.fit(DOCUMENTS * 5)


@dataclass(frozen=True)
class Draw:
    """A call that draws a figure."""

    display: str
    method: str
    hostile: dict

    @property
    def names(self):
        """One of these has to be in the message of an error."""
        # of models and answers that have nothing of the kind, what they lack
        known = {"estimator", "solver", "answer", "answers", "result", "units", "prior", "axes"}
        # words are those of `similarity`, which a drifting model has for a period
        known |= {"a", "b", "word", "period", "dispersion_"}
        return known | set(self.hostile)

    @property
    def also(self):
        """What models raise that do not know their documents."""
        return (AttributeError,) if self.display == "DispersionDisplay" else ()

    def __call__(self):
        model = fitted(_OF[self.display]) if self.display in _OF else vectors()
        if self.display == "DispersionDisplay":
            model = of_documents()
        make = getattr(getattr(plotting, self.display), self.method)
        usual = {"estimator": model} | _USUAL | _ANSWERS
        if self.display in _OF_RESULT:
            usual |= dict.fromkeys(("result", "answers"), _OF_RESULT[self.display])
        parameters = inspect.signature(make).parameters
        given = {p: usual[p] for p in parameters if p in usual} | self.hostile
        given = {k: v.make(model) if isinstance(v, Made) else v for k, v in given.items()}
        arguments = []
        if self.display == "DriftDisplay" and "word" in given:
            # its other words are arguments of their own
            arguments = [given.pop("estimator"), given.pop("word"), *_listed(given.pop("others"))]
        try:
            display = make(*arguments, **given)
            display.plot()
            display.figure_.canvas.draw()
        finally:
            pyplot.close("all")


def _listed(value):
    return value if isinstance(value, list | tuple) else [value]


@st.composite
def hostile_displays(draw):
    """A display with one or two hostile arguments."""
    display, method = draw(st.sampled_from(MAKERS))
    parameters = inspect.signature(getattr(getattr(plotting, display), method)).parameters
    known = [p for p, v in parameters.items() if v.kind is not v.VAR_KEYWORD]
    hostile = {}
    for key in draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True)):
        if key in _ANSWERS:
            hostile[key] = draw(
                st.one_of(values.hostile(), st.sampled_from(list(_ANSWERS.values())))
            )
        elif key == "estimator":
            others = ["sgns-map", "dynamic-map", "senses-map", "topics-map", "topics-gibbs"]
            models = st.sampled_from(others).map(lambda name: Made(lambda _: fitted(name)))
            hostile[key] = draw(st.one_of(values.hostile(), models))
        else:
            hostile[key] = draw(argument())
    return Draw(display, method, hostile)
