"""The worst diagnostics of a posterior, which a thinned one keeps of all its draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from .entry_table import entry_labels
from .naming import shares_called
from .summary import ess, rhat

NOT_KNOWN = "not known"
# Facts of a thinned posterior: diagnostics of the draws before.
_RHAT, _RHAT_OF, _ESS, _ESS_OF = "all_rhat", "all_rhat_of", "all_ess", "all_ess_of"


def facts_on_worst(posterior: Any) -> dict[str, Any]:
    """Diagnostics of a posterior as facts, for one that has some of its draws."""
    (worst, largest), (least, smallest) = worst_of(posterior)
    return {_RHAT_OF: worst, _RHAT: largest, _ESS_OF: least, _ESS: smallest}


def _watched(posterior):
    """What does not depend on the frame or on labels, draws and labels of them; None without."""
    if "logit" in posterior.stats:
        labels = posterior.coords["monitored_logit"]
        return [f"P({label})" for label in labels], expit(posterior.stats["logit"])
    if not posterior.n_draws or not {"prevalence", "counts"} & set(posterior):
        return None
    if "prevalence" in posterior:
        draws = posterior["prevalence"]
        dims = posterior.dims["prevalence"]
        labels = entry_labels("prevalence", dims, draws.shape[2:], posterior.coords)
        return labels, draws.reshape(*draws.shape[:2], -1)
    sizes = posterior["counts"].sum(axis=-1)
    shares = sizes / sizes.sum(axis=-1, keepdims=True)
    return shares_called(posterior), shares


def worst_of(posterior: Any) -> list[tuple[str, float]]:
    """The largest R-hat and the smallest effective sample size, and what they are of.

    For each a text, and the number, NaN where it is not known. Of a thinned posterior those of all
    draws.
    """
    if _RHAT_OF in posterior.attrs:
        return [
            (posterior.attrs[of], posterior.attrs[value])
            for of, value in ((_RHAT_OF, _RHAT), (_ESS_OF, _ESS))
        ]
    found = _watched(posterior)
    known = posterior.attrs.get("max_rhat", np.nan)
    if found is None:
        text = NOT_KNOWN if np.isnan(known) else f"{known:.3f}"
        return [(text, known), (NOT_KNOWN, np.nan)]
    labels, draws = found
    texts = []
    for values, pick, spec in (
        (rhat(draws, posterior.n_runs), np.nanargmax, ".3f"),
        (ess(draws, n_runs=posterior.n_runs), np.nanargmin, ".0f"),
    ):
        at = None if np.isnan(values).all() else pick(values)
        text = NOT_KNOWN if at is None else f"{values[at]:{spec}}, of {labels[at]}"
        texts.append((text, np.nan if at is None else float(values[at])))
    return texts
