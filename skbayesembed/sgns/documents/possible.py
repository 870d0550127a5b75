"""Whether a fit can have intervals that know how the text was sampled."""

from __future__ import annotations


def why_not(estimator, training):
    """Why intervals cannot know how the text was sampled; None where they can."""
    e = estimator
    if e.learning_method == "online":
        return "learning_method='online'"
    if training.units is None:
        return "a single PairCounts or a PairShard without units, whose documents are not known"
    if training.units.n_units < 2:
        return "one unit only"
    if e.negative_sampling == "sampled" and not hasattr(training.by_document, "parts"):
        return "negative_sampling='sampled'"
    if e.biases:
        return "biases=True"
    if isinstance(e.prior, str) and e.prior == "ard":
        return "prior='ard'"
    return None
