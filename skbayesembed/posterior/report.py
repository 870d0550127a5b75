"""What a paper says of a fit: one table of all facts, for every estimator and solver."""

from __future__ import annotations

import inspect
import json
import platform
import reprlib
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from ..common.mixing import FEW_DRAWS, RHAT_LIMIT
from ..corpus.embedding import described
from ..corpus.units import sampling_in_use
from .cells import share_of
from .results import About
from .sources import (
    THINNED_FROM,
    draws_afresh,
    interval_label,
    is_by_units,
    name_of_sampled,
    name_of_units,
    source_of,
)
from .tables import Column, Table
from .worst import NOT_KNOWN, worst_of

# Packages whose versions results depend on.
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
# Parameters that have rows of their own, and those that results do not depend on.
_WITH_ROWS = ("random_state", "embedding")
_WITHOUT_EFFECT = ("n_jobs", "verbose", "checkpoint", "warm_start")
# What models have a number of.
_NUMBERS = ("components", "senses", "topics")
# Letters of the value of a parameter.
_LETTERS = 60
_UNITS_LATER = "does not apply (units are passed to effects)"
# Solvers that run chains.
_CHAINS = ("gibbs", "hmc")
# Parameters of which reports tell how they came about.
_TOLD = ("solver", "prior_precision", "diffusion", "likelihood_power")
# What the path of `prior_precision="auto"` is, beside which `score` looks worse than it is.
_OF_PATH = (
    "mean log probability of held-out pairs of these words, by precision (guessing has -0.6931; "
    "score and score_units are nearer to it, as they count all words of the text and guess those "
    "left out)"
)


@dataclass(frozen=True, repr=False, eq=False)
class Report(Table):
    """Table of facts about a fitted estimator, with notes on what a solver does not provide.

    Attributes
    ----------
    items : list of str of length n_rows
    values : list of str of length n_rows

    Examples
    --------
    >>> from skbayesembed import BayesianSGNS
    >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
    >>> report = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts).report()
    >>> report.find("documents"), report.find("divergences")
    ('30', "does not apply (solver='map')")
    """

    items: list[str]
    values: list[str]

    def find(self, item: str) -> str:
        """Return the value of an item.

        Raises
        ------
        KeyError
            If there is no such item.

        Examples
        --------
        >>> from skbayesembed import BayesianSGNS
        >>> texts = ["the cat sat on the mat", "the dog ate the bone", "a cat and a mat"] * 10
        >>> model = BayesianSGNS(2, solver="map", min_count=1, random_state=0).fit(texts)
        >>> model.report().find("words")
        '9'
        """
        if item not in self.items:
            raise KeyError(f"unknown item {item!r}; available: {', '.join(self.items)}")
        return self.values[self.items.index(item)]

    def _columns(self):
        shown = [value.replace("\n", " | ") for value in self.values]
        return [
            Column("item", self.items, (), left=True),
            Column("value", shown, (), left=True),
        ]

    def _series(self):
        return {"item": np.array(self.items), "value": np.array(self.values, dtype=object)}


def report_of(estimator: Any) -> Report:
    """The `Report` of a fitted estimator."""
    posterior = estimator.posterior_
    attrs = posterior.attrs
    given = json.loads(attrs["given"]) if "given" in attrs else _given(estimator)
    rows = {
        "estimator": type(estimator).__name__,
        "skbayesembed": attrs.get("version", NOT_KNOWN),
        "other versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        # those of the fit: parameters may have been set since
        "random state": attrs.get("random_state", NOT_KNOWN),
        "settings besides defaults": attrs.get("settings", NOT_KNOWN),
        "solver": attrs["solver"],
        "why this solver": attrs.get("solver_reason") or given["how"]["solver"],
        **_sizes(estimator, attrs, given["numbers"]),
        **_vectors(estimator, attrs, given["vectors"]),
        **_priors(estimator, attrs, given),
        **_chains(posterior),
        "modes": _modes(attrs),
        **_intervals(estimator, attrs),
        "warnings of the fit": attrs.get("warnings", NOT_KNOWN) or "none",
    }
    return Report(list(rows), [str(value) for value in rows.values()])


def settings_of(estimator: Any) -> dict[str, str]:
    """Parameters that are not their defaults, the seed, and others, as entries of ``attrs``."""
    return {
        "settings": _settings(estimator),
        "random_state": repr(estimator.random_state),
        "given": json.dumps(_given(estimator)),
    }


def _given(estimator):
    """What reports tell of parameters besides, as they are now."""
    told = [name for name in _TOLD if hasattr(estimator, name)]
    numbers = {what: getattr(estimator, f"n_{what}", None) for what in _NUMBERS}
    prior, vectors = (getattr(estimator, name, None) for name in ("prior", "embedding"))
    return {
        "how": {name: _how(estimator, name) for name in told},
        "values": {name: str(getattr(estimator, name)) for name in told},
        "numbers": {what: str(n) for what, n in numbers.items() if n is not None},
        "vectors": None if vectors is None else described(vectors),
        "prior": "the default" if prior is None else repr(prior),
        "word_model": getattr(estimator, "word_model", "gaussian"),
    }


def _settings(estimator):
    """Parameters that are not their defaults."""
    defaults = inspect.signature(type(estimator)).parameters
    given = estimator.get_params(deep=False)
    parts = [
        f"{name}={_brief(value)}"
        for name, value in given.items()
        if name not in (*_WITH_ROWS, *_WITHOUT_EFFECT)
        and _brief(value) != _brief(defaults[name].default)
    ]
    return ", ".join(parts) or "none"


def _how(estimator, name):
    """How the value of a parameter came about."""
    value = getattr(estimator, name)
    if isinstance(value, str) and name != "solver":
        return f"{name}={value!r}"
    default = inspect.signature(type(estimator)).parameters[name].default
    return "the default" if _brief(value) == _brief(default) else "given"


def _brief(value):
    """The beginning of the text of a value, on one line."""
    # of long sequences and tables a few entries
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    text = " ".join(reprlib.repr(value).split())
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}.."


def _sizes(estimator, attrs, numbers):
    """Numbers of documents and what they are made of."""
    rows = getattr(estimator, "_rows_called", "documents")
    names = {rows: "n_documents", "tokens of these words": "n_tokens", "units": "n_units"}
    found = {item: attrs.get(name) for item, name in names.items()}
    sizes = {item: NOT_KNOWN if n is None else f"{n:g}" if n % 1 else str(int(n))
             for item, n in found.items()}  # fmt: skip
    if found["units"] is not None:
        name = name_of_units(estimator)
        sizes["units"] += "" if name is None else f" ({name})"
    elif found[rows] is not None:
        # of topics they are given where effects are asked for
        of_fit = "units" in inspect.signature(estimator.fit).parameters
        sizes["units"] = "none given" if of_fit else _UNITS_LATER
    periods = getattr(estimator, "periods_", None)
    labels = None if periods is None else ", ".join(map(str, periods.labels))
    words = getattr(estimator, "words_", None)
    return {
        "words": NOT_KNOWN if words is None else str(words.size),
        **numbers,
        **sizes,
        "periods": labels or f"does not apply ({type(estimator).__name__})",
    }


def _vectors(estimator, attrs, called):
    """Word vectors that the model takes as given; no rows where it takes none."""
    if called is None:
        return {}
    dimensions = estimator.posterior_.coords.get("dimension")
    n_dims = len(estimator._vectors[0]) if dimensions is None else len(dimensions)
    n_words = len(estimator.words_)
    # topics have no other words than those with a vector
    having = f"all {n_words} (others are left out)"
    if "words_without_vector" in attrs:
        n = round((1.0 - attrs["words_without_vector"]) * n_words)
        having = f"all {n_words}" if n == n_words else f"{n} of {n_words}"
    return {
        "vectors": called,
        "dimensions of the vectors": n_dims,
        "words with a vector": having,
    }


def _priors(estimator, attrs, given):
    """The prior, and how what of it was chosen was."""
    rows, how, values = {}, given["how"], given["values"]
    if "prior_precision" in how:
        found = getattr(estimator, "prior_precision_", values["prior_precision"])
        path = attrs.get("precision_path")
        if "prior_precision" in estimator.posterior_:
            means = np.ravel(estimator.posterior_.mean("prior_precision"))
            found = f"posterior means from {means.min():.3g} to {means.max():.3g}"
        chosen = f"; {_OF_PATH}: {path}" if path else ""
        if "precision_range" in attrs:
            chosen += f"; {attrs['precision_range']} predict as well, up to two standard errors"
        rows["precision of the prior"] = f"{found} ({how['prior_precision']}{chosen})"
    if "diffusion" in how:
        value = attrs.get("diffusion", values["diffusion"])
        rows["diffusion"] = f"{value} ({how['diffusion']})"
    if hasattr(estimator, "prior"):
        rows["prior"] = given["prior"]
    # Dirichlet priors of words have none
    if "likelihood_power" in how and given["word_model"] == "gaussian":
        asked = attrs.get("likelihood_power", values["likelihood_power"])
        used = getattr(estimator, "likelihood_power_", asked)
        rows["power of the likelihood"] = f"{used} ({how['likelihood_power']})"
    return rows


def _chains(posterior):
    """How chains ran, and the worst of their diagnostics."""
    attrs = posterior.attrs
    none = f"does not apply (solver={attrs['solver']!r})"
    draws = none if attrs["solver"] == "map" else _draws(posterior)
    converged = {True: f"yes{_within(attrs)}", False: "no", None: NOT_KNOWN}[attrs["converged"]]
    rows = {"draws": draws, "converged": converged}
    names = ("warm-up", "largest R-hat", "smallest effective sample size",
             "effective sample size of tails", "divergences", "moves accepted")  # fmt: skip
    if attrs["solver"] not in _CHAINS:
        return rows | dict.fromkeys(names, none)
    steps = "1 step" if attrs["thin"] == 1 else f"{attrs['thin']} steps"
    warmup = f"{attrs['warmup']}, {steps} from draw to draw"
    (worst, largest), (least, smallest), (ends, of_ends) = worst_of(posterior)
    fewest = np.fmin(smallest, of_ends)
    if attrs["converged"] and (largest > RHAT_LIMIT or fewest < FEW_DRAWS):
        rows["converged"] = (
            f"yes{_within(attrs)}, but intervals ask for R-hat of at most {RHAT_LIMIT} and "
            f"{FEW_DRAWS} effective draws"
        )
    if attrs["converged"] and attrs.get("divergences"):
        rows["converged"] += f"; {attrs['divergences']} trajectories diverged (see the warnings)"
    if "drifts" in attrs:
        rows["converged"] = f"no: {attrs['drifts']} drifts, from the first draws to the last"
    divergences = attrs.get("divergences", none)
    found = warmup, worst, least, ends, divergences, _accepted(posterior)
    return rows | dict(zip(names, found, strict=True))


def _draws(posterior):
    """How many draws were made, how many are kept, and whether answers are of them."""
    attrs, n_chains = posterior.attrs, posterior.n_chains
    kept = f"; {posterior.n_draws} of them are kept" if THINNED_FROM in attrs else ""
    if attrs["solver"] in _CHAINS:
        chains = "1 chain" if n_chains == 1 else f"each of {n_chains} chains"
        return f"{attrs['draws_made']} in {chains}{kept}{kept and ', diagnostics are of all'}"
    afresh = "; answers about words draw afresh from it" if draws_afresh(posterior) else ""
    return f"{attrs['draws_made']} of an approximation, independent of each other{kept}{afresh}"


def _accepted(posterior):
    """Shares of moves that chains accepted, and for how long one of them stood still."""
    attrs = posterior.attrs
    if "acceptance" not in posterior.stats:
        return f"does not apply (solver={attrs['solver']!r})"
    by_chain = posterior.stats["acceptance"].reshape(posterior.n_chains, -1).mean(axis=1)
    text = f"{', '.join(f'{share:.2f}' for share in by_chain)} (mean of each chain)"
    if "standstill" in attrs:
        draws = "1 draw" if attrs["standstill"] == 1 else f"{attrs['standstill']} draws"
        text += f"; none stood still for more than {draws}"
    return text


def _within(attrs):
    """Behind a "yes": that draws are of one mode alone where several matter."""
    matter = attrs.get("modes_that_matter", 1)
    return f" within one mode, of {matter} that matter" if matter > 1 else ""


def _modes(attrs):
    if "n_modes" not in attrs:
        return "not searched for"
    if attrs["n_modes"] == 1:
        return f"1 found, by these of the starts: {attrs['starts_by_mode']}"
    matter = attrs["modes_that_matter"]
    return (
        f"{attrs['n_modes']} found, {matter} of which matter{'s' if matter == 1 else ''}; the "
        f"heaviest has {share_of(attrs['mode_share'])} of the posterior; starts that met each: "
        f"{attrs['starts_by_mode']}"
    )


def _intervals(estimator, attrs):
    """What intervals are for; the response of those by units, once it is known."""
    by_units = is_by_units(estimator)
    of_works = getattr(estimator, "units_", None) is not None and hasattr(estimator, "n_senses")
    source = source_of(estimator, by_units, True if of_works else None)
    units = About(units_name=name_of_sampled(estimator))
    label = interval_label(0.9, source, "intervals", units)
    said = label.partition("(")[2].removesuffix(")") or label
    response = "does not apply"
    if by_units:
        sampling = sampling_in_use(estimator)
        known = vars(sampling)
        response = "worked out with the first question"
        if sampling.by_answer:
            response = (
                "not measured (answers one by one): taken as 1, but along soft directions of an "
                "answer where words are so many that rare ones meet by clusters"
            )
        if "response" in known:
            response = f"{known['response']:.3f}"
            error = known.get("response_error", np.nan)
            if not np.isnan(error):
                response += f" (standard error {error:.3f})"
            response += ": refits on halves of the units move by so much of what first order says"
    return {"intervals": said, "response of intervals by units": response}
