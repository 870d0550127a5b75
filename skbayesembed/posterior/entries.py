"""The table of a posterior's entries: means, intervals and diagnostics, a row each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..common.checks import check_integer, check_list, check_prob
from . import summary as summaries
from .entry_table import Summary, entry_labels
from .sources import source_of_posterior
from .summary import hdi_interval
from .worst import worst_of

# The dimension of words, in every room.
_WORD = "word"
# Rows that a summary has at most unless others are asked for.
_MOST_ROWS = 10_000


class SummaryMixin:
    """The table of a `Posterior`'s entries."""

    def summary(
        self,
        names: str | Iterable[str] | None = None,
        *,
        words: str | Iterable[str] | None = None,
        prob: float = 0.9,
        max_rows: int | None = _MOST_ROWS,
    ) -> Summary:
        """Return a table of means, intervals and diagnostics, one row for each entry.

        Parameters
        ----------
        names : str or list of str, optional
            Parameters; all by default, including those that have only moments, which have NaN in
            the columns that need draws. Or statistics in ``stats``: of chains of word vectors
            ``"logit"`` has the logits of the pairs of words that `fit` checks.
        words : str or list of str, optional
            Show only the entries of these words, for the parameters with a dimension ``word``; all
            words by default, or the first ones if there are more than ``max_rows`` entries.
        prob : float, default=0.9
            Probability in the interval, strictly between 0 and 1.
        max_rows : int or None, default=10_000
            About as many rows are worked out at most where ``words`` are not named; None for all.
            Of a larger posterior, the table has the first words (or first places along the first
            dimension) of each large parameter, and a line below it says so.

        Returns
        -------
        Summary
            Columns ``mean``, ``sd``, ``low``, ``high``, ``mcse``, ``ess_bulk``, ``ess_tail`` and
            ``rhat``.

        Raises
        ------
        KeyError
            If a name is unknown.
        ValueError
            If ``prob`` is not in (0, 1), ``max_rows`` is not a positive integer or None, a word is
            unknown, or words are given and no parameter has words.

        Notes
        -----
        Takes about a millisecond for each row with 4 chains of 1000 draws: some ten seconds for the
        default of ``max_rows``.

        Examples
        --------
        >>> import numpy as np
        >>> from skbayesembed import Posterior
        >>> draws = np.random.default_rng(0).normal(size=(4, 200, 3))
        >>> posterior = Posterior({"x": draws})
        >>> posterior.summary("x").labels.tolist()
        ['x[0]', 'x[1]', 'x[2]']
        """
        return _table(self, names, words, prob, max_rows)


def _table(posterior, names, words, prob, max_rows):
    """`Summary` of a posterior, with one row for each entry."""
    check_prob(prob)
    if max_rows is not None:
        check_integer("max_rows", max_rows, 1)
    names = posterior._names(names, moments=True)
    chosen = _selected(posterior, names, words, max_rows)
    parts, labels = [], []
    for name, (axis, places) in chosen.items():
        dims, shape, coords = posterior.dims[name], list(posterior._shapes[name]), posterior.coords
        if axis is not None:
            shape[axis] = places.size
            if dims[axis] in coords:
                coords = coords | {dims[axis]: coords[dims[axis]][places]}
        parts.append(_columns_of(posterior, name, prob, axis, places))
        labels += entry_labels(name, dims, shape, coords)
    columns = {c: np.concatenate([[], *(p[c] for p in parts)]) for c in Summary.columns}
    starts = posterior.attrs.get("starts_by_mode")
    notes = []
    if starts is not None:
        notes.append(f"starts that met each mode, the heaviest first: {starts}")
    if posterior.attrs.get("solver_reason") is not None:
        notes.append(f"solver='auto' took {posterior.attrs['solver']!r}")
    notes += _of_answers(posterior, chosen)
    notes += _left_out(posterior, chosen, words)
    labels = np.array(labels, dtype=str)
    table = Summary(labels=labels, prob=float(prob), facts=tuple(notes), **columns)
    return table._resting_on(source_of_posterior(posterior))


def _selected(posterior, names, words, max_rows):
    """Axis of each parameter, and places along it, that a table shows; None for all."""
    axes = {
        name: posterior.dims[name].index(_WORD) if _WORD in posterior.dims[name] else 0
        for name in names
        if posterior.dims[name]
    }
    if words is None:
        shapes = {name: posterior._shapes[name] for name in names}
        first = summaries.places_within(shapes, axes, max_rows)
        return {
            name: (axes[name], np.arange(first[name])) if name in first else (None, None)
            for name in names
        }
    places = _places_of(posterior, words)
    found = {name: (axes[name], places) for name in names if _WORD in posterior.dims[name]}
    if not found:
        raise ValueError(f"words must be None: {', '.join(names)} have no dimension {_WORD!r}.")
    return found


def _of_answers(posterior, chosen):
    """Line on the mixing of what does not depend on the frame of vectors; none where not known."""
    if "monitored_logit" not in posterior.coords or not {"rho", "alpha"} & set(chosen):
        return []
    (rhat, at), (ess, _), _ = worst_of(posterior)
    if not np.isfinite(at):
        return []
    return [
        f"(of the P(w, v) that fit checks, which unlike coordinates do not depend on the frame: "
        f"largest rhat {rhat}; smallest ess_bulk {ess})"
    ]


def _left_out(posterior, chosen, words):
    """Line below a table that does not have all entries; none of one that has, or of words."""
    parts = {}
    for name, (axis, places) in chosen.items() if words is None else ():
        if axis is not None:
            n, dim = posterior._shapes[name][axis], posterior.dims[name][axis]
            of = f"the first {places.size:,} of {n:,} ({dim})"
            parts.setdefault(of, []).append(name)
    if not parts:
        return []
    shown = "; ".join(f"{', '.join(names)}: {of}" for of, names in parts.items())
    return [
        f"(not all entries are shown: {shown}. words= asks for others, max_rows=None for all; "
        "the lines above are about the rows shown)"
    ]


def _places_of(posterior, words):
    """Places of words along their dimension, ndarray of int."""
    known = {str(w): i for i, w in enumerate(posterior.coords.get(_WORD, ()))}
    words = [words] if isinstance(words, str) else check_list("words", words, "words")
    missing = [repr(w) for w in words if not isinstance(w, str) or w not in known]
    if missing or not words:
        raise ValueError(
            "words must be labels of the dimension 'word', got "
            f"{', '.join(missing) if words else 'an empty list'}, "
            f"not among its {len(known)} labels."
        )
    return np.array([known[w] for w in words], dtype=np.intp)


def _columns_of(posterior, name, prob, axis=None, chosen=None):
    """Columns of the summary of one parameter, a dict of flat arrays.

    With an ``axis``, of the ``chosen`` places along it alone.
    """
    of_stats = name not in {*posterior, *posterior.moments}
    if of_stats:
        draws = posterior.stats[name]
        flat = draws.reshape(-1, *draws.shape[2:])
        mean, sd = flat.mean(axis=0), flat.std(axis=0, ddof=int(len(flat) > 1))
    else:
        mean, sd = posterior.mean(name), posterior.std(name)
    if axis is not None:
        mean, sd = (np.take(x, chosen, axis=axis) for x in (mean, sd))
    columns = {"mean": mean, "sd": sd}
    if of_stats or (name in posterior._draws and posterior.n_draws):
        draws = posterior._recorded(name)
        draws = draws if axis is None else np.take(draws, chosen, axis=axis + 2)
        interval = hdi_interval(draws.reshape(-1, *draws.shape[2:]), prob=prob)
        columns.update(low=interval[..., 0], high=interval[..., 1])
        columns.update(summaries.diagnostics(draws, posterior.n_runs))
    nothing = np.full(mean.shape, np.nan)
    return {c: np.ravel(columns.get(c, nothing)) for c in Summary.columns}
