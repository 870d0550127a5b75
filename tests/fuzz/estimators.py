"""Calls of the estimators: fits with hostile parameters or data, and what the fitted are asked."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from skbayesembed import GraphPrior, GroupedPrior, InformativePrior, PairCounts, SensePrior
from tests.fuzz import values
from tests.test_contract import CASES as CONTRACT

# A brief fit: hostile values are met by the way, not by long chains.
BRIEF = {"draws": 4, "warmup": 4, "chains": 2, "max_iter": 30, "n_starts": 1, "n_passes": 2}
CASES = {
    name: case
    for name, case in CONTRACT.items()
    if not name.startswith("toy") and not name.endswith("-drawn")
}
# Parameters of which a large value is a long run that was asked for, or a file that is made.
_WORK = ("draws", "warmup", "chains", "thin", "n_starts", "n_passes", "max_iter", "n_components",
         "n_senses", "n_jobs", "n_periods", "batch_size")  # fmt: skip
_MOST = 9
# Choices that take another way through the code.
_CHOICES = {
    "prior": ["normal", "ard"],
    "prior_precision": ["auto", "learned", 1.0],
    "diffusion": ["learned", 0.01],
    "anchors": ["pivot", "last", None, ["x0", "x1"]],
    "negative_sampling": ["expected", "sampled"],
    "subsample": [1e-3, None],
    "window_weights": ["linear", "dynamic", "uniform"],
    "covariance": ["full", "diag"],
    "biases": [True],
    "balance": [False],
    "uncertainty": ["documents", "model"],
    "features": ["mean", "mean_std"],
    "keep_draws": ["auto", "all", ["x0"]],
    "learning_method": ["batch", "online", "filtering"],
    "max_features": [2, None],
    "min_count": [1, 5],
    "model": ["disc", "gasc", "scan", "interaction"],
    "kernel": ["auto", "metropolis", "polya-gamma", "nuts", "blockwise", "alias", "reference"],
    "likelihood_power": [0.5, "auto"],
    "doc_topic_prior": [0.1, [0.1, 0.2]],
    "learn_doc_topic_prior": ["symmetric", "asymmetric"],
    "init": ["documents", "words"],
    "normalize": ["center", None],
    "word_proba": ["density"],
    "word_model": ["dirichlet"],
    "solver": ["auto", "gibbs", "hmc", "vi", "laplace", "map"],
    "n_components": [1, 3, 12],
    "n_periods": [1, 2],
    "bins": [[0, 1, 2, 9], 2],
    "verbose": [0],
    "random_state": [0, np.random.RandomState(3)],
}


def parameters_of(estimator):
    """Names of the parameters of an estimator."""
    return [p for p in inspect.signature(type(estimator).__init__).parameters if p != "self"]


def _is_whole(value):
    # NumPy counts spans of time among the integers
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def _possible(name, value):
    """Whether a value may be tried: it asks for no long run, and names no file."""
    if name in _WORK and _is_whole(value):
        # more than memory holds has to be an error; between, it is work that was asked for
        enormous = int(value) >= 10**12 and name in ("draws", "chains", "n_components", "n_senses")
        return int(value) <= _MOST and (name != "n_jobs" or value >= -2) or enormous
    if name == "checkpoint":
        return not isinstance(value, str)
    # those of a user may take any time
    return name != "token_pattern" or len(str(value)) < 20


@st.composite
def _priors(draw):
    """Priors with one hostile argument."""
    value = draw(values.hostile())
    kind = draw(st.sampled_from([GraphPrior, GroupedPrior, InformativePrior]))
    good = {
        GraphPrior: {"graph": [("x0", "x1")], "strength": 1.0, "side": "both"},
        GroupedPrior: {"groups": {"a": ["x0", "x1"]}, "strength": 1.0, "side": "both"},
        InformativePrior: {"values": {"x0": {0: 1.0}}, "precision": 9.0, "side": "both"},
    }[kind]
    good[draw(st.sampled_from(list(good)))] = value
    return kind(**good)


@st.composite
def _sense_priors(draw):
    name = draw(st.sampled_from([f.name for f in fields(SensePrior)]))
    return SensePrior(**{name: draw(st.one_of(values.numbers(), values.hostile()))})


@st.composite
def value_for(draw, name, estimator):
    """A hostile value of a parameter, or another of its choices."""
    options = [values.hostile(), values.hostile(), values.numbers()]
    if name in _CHOICES:
        options.append(st.sampled_from(_CHOICES[name]))
    if name == "prior":
        options += 3 * [_sense_priors() if hasattr(estimator, "n_senses") else _priors()]
    if name == "hyperprior":
        options += 2 * [st.tuples(values.numbers(), values.numbers())]
    if name in ("embedding", "covariance_prior", "mean_prior", "doc_topic_prior"):
        options += 2 * [values.arrays(max_dims=2)]
    return draw(st.one_of(options).filter(lambda value: _possible(name, value)))


@dataclass(frozen=True)
class Fit:
    """A fit of a case of the contract with parameters and data of one's own."""

    name: str
    parameters: dict
    data: dict = field(default_factory=dict)

    @property
    def names(self):
        """One of these has to be in the message of an error."""
        known = {p.removesuffix("_") for p in self.parameters}
        return known | {n for key in self.data for n in WORDS_FOR.get(key, (key,))}

    def __call__(self):
        case = CASES[self.name]
        model = copy.deepcopy(case.estimator)
        for key, value in (BRIEF | self.parameters).items():
            if key in self.parameters or hasattr(model, key):
                setattr(model, key, value)
        model.fit(**({"X": case.X} | case.covariates | self.data))
        return [np.asarray(model.posterior_[name]) for name in model.posterior_]


# What messages call the data that they are about, besides by the name of the argument.
WORDS_FOR = {
    "X_ref": ("X_ref", "X", "documents"),
    "genre": ("genre", "genres"),
    "other_times": ("other_times", "times"),
    "X": ("X", "documents", "vocabulary", "counts", "Found array", "tokens", "words", "times",
          "units", "period", "sample", "vectors", "min_count"),
    "times": ("times", "periods", "period", "bins"),
}  # fmt: skip


@st.composite
def hostile_parameters(draw):
    """A fit to good data with one or two hostile parameters."""
    name = draw(st.sampled_from(list(CASES)))
    estimator = CASES[name].estimator
    every = parameters_of(estimator)
    given = {}
    for parameter in draw(st.lists(st.sampled_from(every), min_size=1, max_size=2, unique=True)):
        given[parameter] = draw(value_for(parameter, estimator))
    return Fit(name, given)


@st.composite
def pair_counts(draw, n_words=12):
    """Pair counts, or lists of them, with hostile entries."""

    def one():
        tables = []
        for _ in range(2):
            table = np.random.RandomState(draw(st.integers(0, 3))).poisson(1.0, (n_words, n_words))
            table = table.astype(float)
            for _ in range(draw(st.integers(0, 2))):
                place = tuple(draw(st.lists(st.integers(0, n_words - 1), min_size=2, max_size=2)))
                table[place] = draw(st.sampled_from([0.0, 0.5, 1e-300, 1e9, 1e15]))
            tables.append((table * draw(st.sampled_from([1, 1, 1, 0, 1e-9, 1e5]))).clip(0, 1e14))
        return PairCounts(*map(sparse.csr_array, tables))

    size = draw(st.integers(0, 4))
    parts = [one() for _ in range(max(size, 1))]
    return parts[0] if size == 0 else parts


@st.composite
def hostile_data(draw):
    """A fit with hostile data or covariates."""
    name = draw(st.sampled_from(list(CASES)))
    case = CASES[name]
    given, parameters = {}, {}
    paired = name.startswith(("sgns", "dynamic"))
    accepted = [p for p in inspect.signature(case.estimator.fit).parameters if p != "X"]
    hostile = draw(st.sampled_from(["X", "X", "covariate", "both"]))
    n = case.X.shape[0] if hasattr(case.X, "shape") else 6
    if hostile != "covariate":
        n_words = 12 if paired else case.X.shape[1]
        kinds = [values.count_matrices(n, n_words), values.documents(), values.hostile()]
        if paired:
            kinds += [pair_counts()]
        given["X"] = draw(st.one_of(*kinds))
        parameters = {"min_count": 1}
    elif paired:
        given["X"] = [" ".join(f"x{(i * j) % 7}" for j in range(1, 9)) for i in range(n)]
        parameters = {"min_count": 1}
    if "times" in accepted and paired:
        given["times"] = np.arange(n) % 3
    if hostile != "X":
        for key in draw(st.lists(st.sampled_from(accepted), max_size=2, unique=True)):
            given[key] = draw(values.labels(n))
    return Fit(name, parameters, given)


# -- methods -------------------------------------------------------------------------------------


class Made:
    """An argument that is made by the fitted estimator."""

    def __init__(self, make):
        self.make = make

    def __repr__(self):
        return "Made()"


# What methods are asked for, by the names of their parameters.
_ARGUMENTS = {
    "word": "x0", "a": "x0", "b": "x1", "c": "x2", "words": ["x0", "x1"], "others": ["x1", "x2"],
    "pairs": [("x0", "x1")], "first": ("x0", "x1"), "second": ("x1", "x2"), "n": 3, "n_draws": 5,
    "prob": 0.8, "high": ["x0"], "low": ["x1"], "period": 0, "start": 0, "end": 1, "sense": 0,
    "topic": 0, "threshold": 0.3, "n_samples": 3, "max_pairs": 50, "window": 2,
    "tests": {"t": (["x0", "x1"], ["x2", "x3"], ["x4"], ["x5"])}, "n_permutations": 5,
    "distance": "cosine", "which": "target", "reference": 1, "max_bytes": 2**30,
    "shares": "posterior", "measure": "npmi", "n_points": 10,
    "axis": Made(lambda model: model.axis(["x0"], ["x1"])),
}  # fmt: skip
_ASSOCIATION = {"X": ["x0", "x1"], "Y": ["x2", "x3"], "A": ["x4"], "B": ["x5"]}
_CONTRAST = {
    "a": Made(lambda model: model.similarity("x0", "x1")),
    "b": Made(lambda model: model.similarity("x1", "x2")),
    "low": -0.1,
    "high": 0.1,
}
# Write files or run elsewhere, or are scikit-learn's own.
_LEFT_OUT = (
    "fit", "fit_transform", "save", "get_params", "set_params", "get_metadata_routing",
    "get_feature_names_out", "to_pyldavis", "estimate_cost", "resolve", "set_output",
)  # fmt: skip
_DOCUMENTS = ("X", "other", "X_ref")
_PER_DOCUMENT = ("times", "other_times", "genres", "units", "sample_weight", "y", "texts")


def methods_of(estimator):
    """Names of the public methods that are tried."""
    names = [n for n, _ in inspect.getmembers(type(estimator)) if not n.startswith("_")]
    names = [n for n in names if n not in _LEFT_OUT and not n.endswith("_request")]
    return [n for n in names if callable(getattr(estimator, n, None))]


@cache
def fitted(name):
    """The case of a name, fitted."""
    return CASES[name].fit(draws=6, warmup=6)


@dataclass(frozen=True)
class Ask:
    """A call of a method of a fitted estimator."""

    name: str
    method: str
    hostile: dict
    arguments: dict

    @property
    def names(self):
        """One of these has to be in the message of an error."""
        known = {n for key in self.hostile for n in WORDS_FOR.get(key, (key,))}
        # answers that this solver, model or input does not have at all say so
        # of usual documents, of which there are few
        known |= {
            "partial_fit": {"min_count", "times"}, "loo": {"min_count"},
            "document_similarity": {"times"}, "effects": {"word"}
        }.get(self.method, set())  # fmt: skip
        return known | {"solver", "enable_metadata_routing", "model", "draws", "units", "embedding"}

    def __call__(self):
        model = fitted(self.name)
        if self.method == "partial_fit":
            model = copy.deepcopy(model)
        given = self.arguments
        made = {k: v.make(model) if isinstance(v, Made) else v for k, v in given.items()}
        return getattr(model, self.method)(**made)


def usual_arguments(case, method):
    """Arguments that a method of a case answers, and all parameters that it has."""
    found = inspect.signature(getattr(type(case.estimator), method)).parameters
    known = [p for p, v in found.items() if p != "self" and v.kind is not v.VAR_KEYWORD]
    X, covariates = case.documents, case.of_documents
    if X is None:
        X, covariates = case.counts, case.covariates
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    usual = _ARGUMENTS | {"X": X, "design": [[float(i % 2)] for i in range(n)]} | covariates
    usual |= _ASSOCIATION if "Y" in known else {}
    if method == "to_datatree":
        usual["X"] = None
    if method == "effects":
        usual["reference"] = X
    usual |= _CONTRAST if method == "contrast" else {}
    if method == "sample":
        usual |= {"times": None, "genres": None}
    return {p: usual[p] for p in known if p in usual}, known, X


@st.composite
def hostile_arguments(draw):
    """A call of a method of a fitted estimator, with one or two hostile arguments."""
    name = draw(st.sampled_from(list(CASES)))
    method = draw(st.sampled_from(methods_of(CASES[name].estimator)))
    arguments, known, X = usual_arguments(CASES[name], method)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    hostile = {}
    if known:
        for key in draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True)):
            if key in _DOCUMENTS and "Y" not in known:
                shape = X.shape if hasattr(X, "shape") else (n, 12)
                kinds = [values.documents(), values.count_matrices(*shape), values.hostile()]
                hostile[key] = draw(st.one_of(kinds))
            elif key in _PER_DOCUMENT:
                hostile[key] = draw(values.labels(n))
            else:
                hostile[key] = draw(argument())
    return Ask(name, method, hostile, arguments | hostile)


def argument():
    """A hostile value, or one that may be right, but no number that asks for much work."""
    known = st.sampled_from(["x0", "x1", "x0 x1", 0, 1, ["x0", "x2"], ("x0", "x1"), ["x0", "x0"]])
    return st.one_of(values.hostile(), values.numbers(), known).filter(is_short)


def is_short(value):
    """Whether a value is not a number that asks for much work."""
    return not _is_whole(value) or not 99 < value < 10**12
