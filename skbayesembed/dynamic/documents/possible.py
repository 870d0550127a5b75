"""Whether a fit can have intervals that know how the text was sampled."""

from __future__ import annotations


def why_not(estimator, training):
    """Why intervals cannot know how the text was sampled; None where they can."""
    e = estimator
    if e.learning_method == "filtering":
        return "learning_method='filtering'"
    if training.units is None:
        return "a single PairCounts in each period, whose documents are not known"
    if training.units.n_units < 2:
        return "one document only"
    if e.negative_sampling == "sampled" and not training.given:
        return "negative_sampling='sampled'"
    return None
