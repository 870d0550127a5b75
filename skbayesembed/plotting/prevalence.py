"""Prevalences of senses over time, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Self

import numpy as np

from ..common.checks import check_list, is_whole, listed
from ..posterior.naming import joint
from ..posterior.sources import interval_label, units_called
from ..senses.ends import ends
from ..senses.prevalences import Prevalences, whose
from .canvas import SHORT, Display, can, curves, legend_above, names_for, numbers_of
from .labels import label_times, wrapped, wrapped_each
from .marks import band

# Height of a panel, of what is around them, and of a line of the legend, in inches.
_PANEL, _ABOVE, _LINE = 1.25, 0.62, 0.13
_SIZE = 3.2
# Means in the units seen.
_CROSS = {"marker": "x", "ls": "none", "ms": 3.5, "mew": 0.9, "zorder": 4}
# Below figures in which some of these, of many units, lie outside their bands.
_OUTSIDE = (
    "crosses outside bands: the {units} seen differ\nfrom the mean over all {units}; report both"
)
_SEEN = "mean of {units} seen"
# Most words that a sense is called by, and letters of them.
_WORDS, _LETTERS = 3, 34
# Letters of a line of a legend in two columns.
_TWO_COLUMNS = 38
# How far senses are apart where there is one period, whose axis has a length of one; and how far
# the first and the last are at most.
_BESIDE, _WIDEST = 0.08, 0.9
# Letters of a line of a name that is given, and of the title of a legend.
_WRAPPED, _TITLE = 40, 46


class PrevalenceDisplay(Display):
    """Prevalences of senses over time, a panel for each genre: means as lines, with bands.

    A single period, and one with data between others without, has an upright line for the interval.
    In periods with almost no data of the genre (``few`` of ``prevalence_info``), means are hollow,
    lines dotted and bands pale: they rest mostly on neighboring periods. If ``fit`` was given
    units, crosses are the means over the units seen, each counted once (``by unit`` of
    ``prevalence_info``); a line below the time axis says so if means over three units or more lie
    outside their bands.

    Prevalences add up to one, so with two senses the second line mirrors the first; ``senses=[0]``
    in ``from_estimator``, ``from_result`` or ``plot`` shows only the first. If a fit divides one
    sense of the word between two, ``senses=[[0, 2], 1]`` in ``from_estimator`` shows both together
    as one line, whose band is that of their sum.

    Parameters
    ----------
    result : Prevalences
        Returned by ``prevalence_info``.
    names : list of str of shape (n_senses,), optional
        Names of the senses; by default those from ``name_senses``, or their numbers.

    Attributes
    ----------
    lines_ : list of list of matplotlib.lines.Line2D
        Posterior means over time, for each genre and sense.
    bands_ : list of list of matplotlib.collections.FillBetweenPolyCollection
        Intervals; empty lists for a point estimate.
    crosses_ : list of list of matplotlib.lines.Line2D
        Means over the units seen; empty lists if they are not known.
    axes_ : ndarray of Axes of shape (n_genres,)
    ax_ : matplotlib.axes.Axes
        The first of the axes.
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from skbayesembed import DiSCSenseModel
    >>> from skbayesembed.plotting import PrevalenceDisplay
    >>> snippets = ["river water flood", "money loan account"] * 20
    >>> years = [1810, 1810, 1811, 1811] * 10
    >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
    >>> display = PrevalenceDisplay.from_estimator(model, names=["bank", "shore"])
    >>> [line.get_label() for line in display.lines_[0]]
    ['bank', 'shore']
    """

    def __init__(self, result: Any, *, names: Sequence[str] | None = None) -> None:
        self.result, self.names = result, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        genres: Sequence | None = None,
        senses: Sequence[int | str | Sequence[int | str]] | None = None,
        names: Sequence[str] | None = None,
        prob: float = 0.9,
        units: str = "all",
        ax: Any = None,
    ) -> Self:
        """Show the prevalences of senses.

        Parameters
        ----------
        estimator : DiSCSenseModel
            Fitted.
        genres : list of labels, optional
            Which to show; all by default.
        senses : list of int, str or lists of these, optional
            Which to show, by number or name; all by default. Senses in a list of their own are
            added up, as in ``prevalence_info``. Each keeps its color, and several together have
            that of their first.
        names : list of str of shape (n_senses,), optional
            Names of the senses, or of the entries of ``senses`` if some are lists; by default those
            from ``name_senses``, or words that distinguish the senses from each other.
        prob : float, default=0.9
            Probability of the bands, in each period.
        units : {"all", "seen", "new"}, default="all"
            As in ``prevalence_info``.
        ax : matplotlib.axes.Axes or list of Axes, optional
            One for each genre; new axes by default.

        Returns
        -------
        PrevalenceDisplay

        Raises
        ------
        ValueError
            For an unknown genre or sense, or if the number of names is not that of senses.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import PrevalenceDisplay
        >>> display = PrevalenceDisplay.from_estimator(model, names=["shore", "bank"])
        >>> [line.get_label() for line in display.lines_[0]]
        ['shore', 'bank']
        """
        can(estimator, "prevalence_info", cls.__name__)
        added = _some_listed(senses)
        options = {"senses": senses} if added else {}
        table = estimator.prevalence_info(prob=prob, units=units, **options)
        if names is None and table.names is None:
            rows = _rows_of(table)
            texts = _first_words(estimator, rows)
            names = [f"{joint(None, row)}: {text}" for row, text in zip(rows, texts, strict=True)]
        chosen: Any = None if added else senses
        return cls(table, names=names).plot(ax, genres=genres, senses=chosen)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        names: Sequence[str] | None = None,
        senses: Sequence[int | str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Show the result of ``prevalence_info``.

        Parameters
        ----------
        result : Prevalences
        names : list of str of shape (n_senses,), optional
        senses : list of int or str, optional
            Which to show, by number or name; all by default. Each keeps its color.
        ax : matplotlib.axes.Axes or list of Axes, optional
            One for each genre; new axes by default.

        Returns
        -------
        PrevalenceDisplay

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import PrevalenceDisplay
        >>> display = PrevalenceDisplay.from_result(model.prevalence_info(prob=0.5))
        >>> len(display.lines_[0])
        2
        """
        return cls(result, names=names).plot(ax, senses=senses)

    def plot(
        self,
        ax: Any = None,
        *,
        genres: Sequence | None = None,
        senses: Sequence[int | str] | None = None,
    ) -> Self:
        """Draw the figure, on new axes or on those given.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or list of Axes, optional
            One for each genre.
        genres : list of labels, optional
            Which to show; all by default.
        senses : list of int or str, optional
            Which to show, by number or name; all by default. Each keeps its color.

        Returns
        -------
        PrevalenceDisplay

        Raises
        ------
        ValueError
            For an unknown genre or sense, or if the number of names is not that of senses.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from skbayesembed import DiSCSenseModel
        >>> snippets = ["river water flood", "money loan account"] * 20
        >>> years = [1810, 1810, 1811, 1811] * 10
        >>> model = DiSCSenseModel(2, solver="map", random_state=0).fit(snippets, times=years)
        >>> from skbayesembed.plotting import PrevalenceDisplay
        >>> display = PrevalenceDisplay(model.prevalence_info())
        >>> display.plot().ax_.get_ylabel()
        'prevalence'
        """
        found = self.result
        if not isinstance(found, Prevalences):
            raise ValueError(f"result must be that of prevalence_info, got {found!r}.")
        if _some_listed(senses):
            raise ValueError(
                f"senses must not hold lists here, got {senses!r}: the band of a sum needs draws, "
                "which the table does not have. Pass them to from_estimator or prevalence_info."
            )
        chosen, rows = self._chosen(genres), _rows_of(found)
        names = wrapped_each(self._names(), _WRAPPED)
        shown = self._shown(senses, rows)
        kinds = list(islice(curves(), max(map(max, rows)) + 1))
        looks = [(name, kinds[row[0]]) for name, row in zip(names, rows, strict=True)]
        times = {k: self._times(i, len(shown)) for i, k in enumerate(shown)}
        outside = bool(np.any(found.seen_outside[np.ix_(shown, chosen)]))
        kind = "band" if len(found.times) > 1 else "interval"
        title = interval_label(found.prob, found.source, kind, found)
        if found.units is not None:
            title = f"{whose(found.units, found.units_name)}, {title}"
        title = wrapped(title, _TITLE)
        lines = sum(1 + names[k].count("\n") for k in shown) + 2 * outside + title.count("\n")
        height = _PANEL * len(chosen) + _LINE * lines + _ABOVE
        panels = self._open(ax, height, len(chosen), sharex=True, sharey=True)
        self.lines_, self.bands_, self.crosses_, marks = [], [], [], []
        for axes, genre in zip(panels, chosen, strict=True):
            made = [self._line(axes, genre, k, times[k], *looks[k]) for k in shown]
            marks += made
            self.lines_.append([m.points for m in made])
            self.bands_.append([m.intervals for m in made if m.intervals is not None])
            self.crosses_.append(self._crosses(axes, genre, times, looks))
            axes.set_ylim(0.0, 1.0)
            several = len(found.genres) > 1
            axes.set_ylabel(f"prevalence,\n{found.genres[genre]}" if several else "prevalence")
        keys = self._keys(panels[0], bool(np.any(found.few[chosen])))
        label_times(panels[-1], found.times, found.periods)
        if len(found.times) == 1:
            panels[-1].set(xticks=found.times, xticklabels=[str(found.periods[0])])
            panels[-1].set_xlim(found.times[0] - 0.5, found.times[0] + 0.5)
        if outside:
            panels[-1].set_xlabel(f"{panels[-1].get_xlabel()}\n{self._of_units(_OUTSIDE)}")
        n_columns = self._columns(panels[0], [names[k] for k in shown], keys)
        legend_above(panels[0], title, marks, n_columns)
        return self._close()

    def _shown(self, senses, rows):
        """Which lines of the table are drawn: those of these senses, by number or name."""
        if senses is None or self.result.rows is None:
            return numbers_of(senses, len(rows), "sense", self._known())
        # a table of some senses has them in its own order
        several, names, found = listed(senses), self._known().tolist(), []
        if several == []:
            raise ValueError(f"senses must be of those in the table, {names or rows}, got none.")
        for one in [senses] if several is None else several:
            if is_whole(one) and [one] in rows:
                found.append(rows.index([one]))
            elif one in names:
                found.append(names.index(one))
            else:
                raise ValueError(
                    f"senses must be of those in the table, which has {names or rows}, got {one!r}."
                )
        return found

    def _times(self, place, n):
        """Where the points of a sense are; beside each other where there is one period."""
        times = self.result.times
        step = min(_BESIDE, _WIDEST / max(1, n - 1))
        return times + step * (place - (n - 1) / 2) if len(times) == 1 else times

    def _line(self, axes, genre, sense, times, name, style):
        found, (color, line, marker) = self.result, style
        look = {"source": found.source, "color": color, "line": line, "label": name}
        look |= {"marker": marker, "size": _SIZE}
        mean, seen = found.mean[sense, genre], ~found.few[genre]
        made = band(axes, times, mean, found.interval[sense, genre], seen=seen, **look)
        hollow = {"ms": _SIZE + 0.3, "color": color, "mfc": "white", "zorder": 3}
        axes.plot(times[~seen], mean[~seen], marker, ls="none", **hollow)
        return made

    def _crosses(self, axes, genre, times, looks):
        """Means in the units seen, a line of each sense that is shown, with its times."""
        found = self.result
        if found.seen_alike is None:
            return []
        lines = []
        for k, when in times.items():
            look = _CROSS | {"color": looks[k][1][0]}
            lines += axes.plot(when, found.seen_alike[k, genre], **look)
        return lines

    def _keys(self, axes, few):
        """Keys of the legend besides those of senses, a list of their labels."""
        looks = []
        if few:
            look = {"marker": "o", "ls": ":", "ms": _SIZE, "lw": 1.0, "mfc": "white"}
            looks.append(look | {"label": "few data"})
        if self.result.seen_alike is not None:
            looks.append(_CROSS | {"label": self._of_units(_SEEN)})
        for look in looks:
            axes.plot([], [], **look | {"color": "0.3"})
        return [look["label"] for look in looks]

    def _of_units(self, text):
        """A text in which units are called by their name."""
        return text.format(units=units_called(self.result.units_name))

    def _columns(self, axes, names, keys):
        """Two columns, of senses and of other keys, where long names leave room; or None."""
        longest = max(len(line) for name in names for line in name.split("\n"))
        others = max(map(len, keys), default=0)
        room = longest > SHORT and longest + others <= _TWO_COLUMNS
        if not (keys and self._owned and room and len(keys) <= len(names)):
            return None
        for _ in range(len(names) - len(keys)):
            axes.plot([], [], ls="none", label=" ")
        return 2

    def _chosen(self, genres):
        known = self.result.genres
        if genres is None:
            return list(range(len(known)))
        genres = check_list("genres", genres, f"some of {known}")
        missing = [genre for genre in genres if str(genre) not in known]
        if missing or not len(genres):
            raise ValueError(f"genres must be a list of some of {known}, got {genres!r}.")
        return [known.index(str(genre)) for genre in genres]

    def _names(self):
        return names_for(self.names, len(self.result.mean), "sense", self._known())

    def _known(self):
        """Labels of the table, where they are more than the numbers of all senses."""
        found = self.result
        return None if found.names is None and found.rows is None else found.labels


def _rows_of(table):
    """Numbers of the senses of each line."""
    return [[k] for k in range(len(table.mean))] if table.rows is None else table.rows


def _first_words(estimator, rows):
    """First words of the senses of each row; of both ends where they are others there."""
    words = estimator.sense_words(_WORDS, rank="relevant").words
    # of several the first words of each, in turn
    texts = _called([words[row].T.ravel() for row in rows])
    found = ends(estimator)
    for i, row in enumerate(rows):
        if len(row) == 1 and row[0] in found.changed:
            each = found.words[:, row[0]]
            both = ["; later ".join(", ".join(of[:n]) for of in each) for n in (1, 2)]
            texts[i] = both[len(both[1]) <= _WRAPPED]
    return texts


def _some_listed(senses):
    """Whether some of the senses asked for are to be added up."""
    return any(listed(one) is not None for one in listed(senses) or [])


def _called(words):
    """The first words of each sense, of all as many as have room in a legend."""
    for n in range(min(_WORDS, *map(len, words)), 0, -1):
        texts = [", ".join(map(str, of[:n])) for of in words]
        if max(map(len, texts)) <= _LETTERS:
            break
    return texts
