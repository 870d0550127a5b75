"""The worst diagnostics of a posterior, which a thinned one keeps of all its draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy.special import expit

from ..common.mixing import rhat_text
from .naming import labels_in_words, shares_called
from .summary import diagnostics, ess, rhat
from .trend import drift

NOT_KNOWN = "not known"
# Facts of a thinned posterior: diagnostics of the draws before.
_FACTS = {name: (f"all_{name}_of", f"all_{name}") for name in ("rhat", "ess", "ess_tail")}
# The same of each topic's share, as text.
_BY_TOPIC = {name: f"all_{name}_by_topic" for name in ("rhat", "ess", "drift")}


def facts_on_worst(posterior: Any) -> dict[str, Any]:
    """Diagnostics of a posterior as facts, for one that has some of its draws."""
    facts: dict[str, Any] = {}
    for keys, found in zip(_FACTS.values(), worst_of(posterior), strict=True):
        facts |= dict(zip(keys, found, strict=True))
    if posterior.n_draws and "counts" in posterior:
        facts |= {key: json.dumps(of_topics(posterior, x).tolist()) for x, key in _BY_TOPIC.items()}
    return facts


def of_topics(posterior: Any, name: str) -> np.ndarray:
    """A diagnostic of each topic's share of the tokens; of a thinned posterior, of all draws.

    Parameters
    ----------
    posterior : Posterior
        Of topics.
    name : {"rhat", "ess", "drift"}

    Returns
    -------
    ndarray of shape (n_topics,)
        NaN where it is not known, as drifts where word vectors were drawn.
    """
    if _BY_TOPIC[name] in posterior.attrs:
        return np.array(json.loads(posterior.attrs[_BY_TOPIC[name]]), dtype=float)
    shares = shares_of(posterior["counts"])
    if name == "rhat":
        return rhat(shares, posterior.n_runs)
    if name == "ess":
        return ess(shares, n_runs=posterior.n_runs)
    return drift(shares) if posterior.n_runs == 1 else np.full(shares.shape[2], np.nan)


def shares_of(counts: np.ndarray) -> np.ndarray:
    """Shares of the topics in the tokens, of draws (..., topic, word) of their counts."""
    sizes = counts.sum(axis=-1)
    return sizes / sizes.sum(axis=-1, keepdims=True)


def _watched(posterior):
    """What does not depend on the frame or on labels, draws and labels of them; None without."""
    if "logit" in posterior.stats:
        labels = posterior.coords["monitored_logit"]
        return [f"P({label})" for label in labels], expit(posterior.stats["logit"])
    if not posterior.n_draws or not {"prevalence", "counts"} & set(posterior):
        return None
    if "prevalence" in posterior:
        draws = posterior["prevalence"]
        labels = labels_in_words(posterior, "prevalence", draws.shape[2:])
        return labels, draws.reshape(*draws.shape[:2], -1)
    return shares_called(posterior), shares_of(posterior["counts"])


def worst_of(posterior: Any) -> list[tuple[str, float]]:
    """The largest R-hat and the smallest effective sample sizes, of bulk and tails, and of what.

    For each a text, and the number, NaN where it is not known. Of a thinned posterior those of all
    draws.
    """
    if _FACTS["rhat"][0] in posterior.attrs:
        return [
            (posterior.attrs.get(of, NOT_KNOWN), posterior.attrs.get(value, np.nan))
            for of, value in _FACTS.values()
        ]
    found = _watched(posterior)
    known = posterior.attrs.get("max_rhat", np.nan)
    if found is None:
        text = NOT_KNOWN if np.isnan(known) else rhat_text(known)
        return [(text, known), (NOT_KNOWN, np.nan), (NOT_KNOWN, np.nan)]
    labels, draws = found
    texts, all_of = [], diagnostics(draws, posterior.n_runs)
    for name, pick, written in (
        ("rhat", np.nanargmax, rhat_text),
        ("ess_bulk", np.nanargmin, "{:.0f}".format),
        ("ess_tail", np.nanargmin, "{:.0f}".format),
    ):
        values = all_of[name]
        at = None if np.isnan(values).all() else pick(values)
        text = NOT_KNOWN if at is None else f"{written(values[at])}, of {labels[at]}"
        texts.append((text, np.nan if at is None else float(values[at])))
    return texts
