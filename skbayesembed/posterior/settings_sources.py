"""What intervals of several settings rest on, where it is not the same for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .sentences import joined
from .sources import INDEPENDENT, ONE_MODE, OTHERS, THINNED, VECTORS, is_unmixed, units_called

_RESTS_ON = {
    "units": "the sampling of units",
    "units and features": "the sampling of units and of features",
    "model": "the model",
    "posterior": "the model",
    "vi": "variational inference, by which they may be too narrow,",
    "laplace": "the Laplace approximation",
    "known topics": "the documents, with topics taken as known,",
}
# What is behind it in a source: of some settings, and what all intervals do where all have it.
_BESIDES = {
    VECTORS: "with the uncertainty of word vectors",
    OTHERS: "for other units of the same kind",
    INDEPENDENT: "with snippets treated as independent",
    THINNED: "from the draws that were kept",
    ONE_MODE: ONE_MODE,
}
_EVERY = {
    VECTORS: "include the uncertainty of word vectors",
    OTHERS: "allow for other {units}",
    INDEPENDENT: "treat snippets as independent",
    THINNED: "are from the draws that were kept",
    ONE_MODE: "are of one mode, beside which others matter",
}


def number_of(n: int, what: str) -> str:
    """A number of things, as ``"1 setting"``."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def on_sources(
    sources: Mapping[str, str | None], units_name: str | None = None, *, unmixed_too: bool = True
) -> list[str]:
    """What intervals rest on, clauses that begin with a small letter; none where all are alike.

    Parameters
    ----------
    sources : mapping of setting to source
        As of `sources.source_of`; None of settings without an answer.
    units_name : str or None
        Name of the column of units.
    unmixed_too : bool
        Whether to tell of chains that have not mixed.

    Examples
    --------
    >>> from skbayesembed.posterior.settings_sources import on_sources
    >>> on_sources({"a": "vi", "b": "vi"})
    []
    >>> on_sources({"a": "posterior, other units", "b": "unmixed, other units"})
    ['intervals rest on the model in 1 setting, and allow for other units', \
'in 1 setting the chains have not mixed: its interval is not of the posterior, and these \
answers are compared with no others']
    """
    known = [source for source in sources.values() if source is not None]
    points, mixed = known.count("point"), [s for s in known if s != "point" and not is_unmixed(s)]
    unmixed = sum(map(is_unmixed, known))
    parts = [source.split(", ") for source in mixed]
    shared = [what for what in _BESIDES if parts and all(what in source for source in parts)]
    counts = Counter(tuple(what for what in source if what not in shared) for source in parts)
    lines, called = [], units_called(units_name)
    if len(counts) > 1 or (unmixed and mixed):
        on = [f"on {_rests_on(*kind)} in {number_of(n, 'setting')}" for kind, n in counts.items()]
        lead = "; all " if len(counts) > 1 else ", and "
        every = (
            lead + joined([_EVERY[what].format(units=called) for what in shared]) if shared else ""
        )
        lines.append(f"intervals rest {joined(on)}{every}")
    if unmixed and mixed and unmixed_too:
        whose = "its interval is" if unmixed == 1 else "their intervals are"
        lines.append(
            f"in {number_of(unmixed, 'setting')} the chains have not mixed: {whose} not of the "
            "posterior, and these answers are compared with no others"
        )
    if points and len(known) > points:
        has = "has a point estimate" if points == 1 else "have point estimates"
        lines.append(f"{number_of(points, 'setting')} {has}, without interval")
    return lines


def _rests_on(base, *besides):
    """What intervals rest on, by the parts of a source, in words."""
    text = _RESTS_ON.get(base, base)
    return text + "".join(f" {_BESIDES.get(what, what)}," for what in besides)
