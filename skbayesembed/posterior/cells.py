"""Texts of cells, and of numbers in sentences and figures."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Digits of a probability, beyond those that are printed, that are not rounding errors.
_MEANT = 8
# Words of a list that stand for it in print, and what stands between words and ends of an axis.
_LISTED, _COMMA, _ARROW = 3, ", ", " -> "
# First words of a topic or sense that are printed in a row.
_PRINTED_WORDS = 6


def repeated(value: Any, n: int) -> np.ndarray:
    """A column with the same value in ``n`` rows, whatever it is."""
    out = np.empty(n, dtype=object)
    out[:] = [value] * n
    return out


def false_shares(probability: np.ndarray) -> np.ndarray:
    """Expected share of false discoveries down to each row, where a table is cut below it.

    Parameters
    ----------
    probability : ndarray of shape (n_rows,)
        That what a row claims is true, in the order of the table.

    Returns
    -------
    ndarray of shape (n_rows,)
        Mean of what is missing to one over this row and those above it.
    """
    return np.cumsum(1.0 - probability) / np.arange(1, probability.size + 1)


def share_of(value: float) -> str:
    """A share of the posterior as text; of one that is nearly all that it is nearly all.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import share_of
    >>> share_of(0.99967), share_of(1.0), share_of(0.123456)
    ('>0.999', '1', '0.123')
    """
    text = f"{value:.3g}"
    return ">0.999" if text == "1" and value < 1 else text


def bounded(values: Iterable[float], digits: int = 2, *, both: bool = True) -> list[str]:
    """Texts of probabilities, which rounding does not make impossible or certain.

    What is halfway between two texts becomes the even one, so that the texts of a probability and
    of its complement add up to one.

    Parameters
    ----------
    values : iterable of float
        From 0 to 1; NaN is a dash.
    digits : int, default=2
        After the point.
    both : bool, default=True
        Whether those near 1 are bounded as those near 0 are.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from skbayesembed.posterior.cells import bounded
    >>> bounded([0.0, 0.25, 1.0]), bounded([0.015, 0.985])
    (['<0.01', '0.25', '>0.99'], ['0.02', '0.98'])
    """
    least = 10.0**-digits

    def text(value):
        if np.isnan(value):
            return "-"
        if value < least:
            return f"<{least:.{digits}f}"
        if both and value > 1.0 - least:
            return f">{1.0 - least:.{digits}f}"
        # of the decimal number that is meant, not of the binary one next to it
        return f"{np.rint(round(value / least, _MEANT)) * least:.{digits}f}"

    return [text(value) for value in values]


def number(value: Any, spec: str) -> str:
    """A number by a format specification; what rounds to zero has no sign.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import number
    >>> number(-0.0004, "+.3f"), number(-0.0006, "+.3f"), number(float("nan"), "+.3f")
    ('0.000', '-0.001', 'nan')
    """
    text = f"{value:{spec}}"
    digits = text.partition("e")[0]
    return text.lstrip("+-") if not digits.strip("+-0.,") or text == "+nan" else text


def dashed(spec: str) -> Callable[[Iterable[float]], list[str]]:
    """How a column is printed whose entries may be missing: by ``spec``, and NaN as a dash.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import dashed
    >>> dashed(".1f")([2.0, float("nan")])
    ['2.0', '-']
    """
    return lambda values: ["-" if np.isnan(value) else number(value, spec) for value in values]


def cut_list(label: str) -> str:
    """A list of words as tables print it: its first three words, and how many others there are.

    Of an axis, as ``"low -> high"``, each end is a list.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import cut_list
    >>> cut_list("oak, elm, ash, yew, fir"), cut_list("oak"), cut_list("a, b, c, d -> e")
    ('oak, elm, ash (+2)', 'oak', 'a, b, c (+1) -> e')
    """
    ends = []
    for end in label.split(_ARROW):
        words = end.split(_COMMA)
        more = f" (+{len(words) - _LISTED})" if len(words) > _LISTED else ""
        ends.append(f"{_COMMA.join(words[:_LISTED])}{more}")
    return _ARROW.join(ends)


def in_figure(label: str) -> str:
    """A list of words, or an axis, as figures have it.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import in_figure
    >>> in_figure("oak, elm"), in_figure("a, b, c, d -> e")
    ('oak, elm', 'a, b, c and 1 more → e')
    """
    return re.sub(r" \(\+(\d+)\)", r" and \1 more", cut_list(label)).replace(_ARROW, " → ")


def quoted_each(label: str) -> str:
    """A list of words with each of them in quotation marks.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import quoted_each
    >>> quoted_each("oak, elm")
    "'oak', 'elm'"
    """
    return _COMMA.join(repr(word) for word in label.split(_COMMA))


def cut_lists(labels: Iterable[str]) -> list[str]:
    """The same of each label of a column; different lists that are cut alike are there in full.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import cut_lists
    >>> cut_lists(["oak, elm, ash, yew", "sea, bay", "sea, bay, ice, fog", "sea, bay, ice, rain"])
    ['oak, elm, ash (+1)', 'sea, bay', 'sea, bay, ice, fog', 'sea, bay, ice, rain']
    """
    labels = [str(label) for label in labels]
    short = {label: cut_list(label) for label in labels}
    times = Counter(short.values())
    return [short[label] if times[short[label]] == 1 else label for label in labels]


def amounts(values: Iterable[float]) -> list[str]:
    """Texts of numbers of pairs and units: three digits, or all those before the point.

    Examples
    --------
    >>> from skbayesembed.posterior.cells import amounts
    >>> amounts([0.0, 17.25, 838.5, 12345.0])
    ['0', '17.2', '838', '12345']
    """
    return ["-" if np.isnan(v) else f"{v:.0f}" if v >= 100 else f"{v:.3g}" for v in values]


def both_amounts(first: Iterable[float], second: Iterable[float]) -> list[str]:
    """The same of two periods, in one cell."""
    return [", ".join(texts) for texts in zip(amounts(first), amounts(second), strict=True)]


def p_values(values: Iterable[float]) -> list[str]:
    """Texts of p-values: those below a thousandth as ``"<0.001"``."""
    return bounded(values, 3, both=False)


def labels_in_print(values: ArrayLike) -> list[str]:
    """Texts of labels; dates have no time of day where they have none.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.posterior.cells import labels_in_print
    >>> labels_in_print(np.array(["1790-01-08"], "datetime64[ns]")), labels_in_print([1850])
    (['1790-01-08'], ['1850'])
    """
    given = np.asarray(values)
    if given.dtype.kind == "M" and np.datetime_data(given.dtype)[0] not in ("Y", "M"):
        return [str(text) for text in np.datetime_as_string(given, unit="auto")]
    dated = (datetime.datetime, np.datetime64)
    texts = (str(x).removesuffix(" 00:00:00") if isinstance(x, dated) else str(x) for x in given)
    return list(texts)


def first_printed(texts: Iterable[str]) -> list[str]:
    """As many words of each text as have room in print."""
    return [" ".join(text.split()[:_PRINTED_WORDS]) for text in texts]


def readable_numbers(values: np.ndarray) -> list[str]:
    """Texts of numbers, in fixed point where that shows all of them."""
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    # fixed point where it shows every entry, otherwise significant digits
    plain = not size.size or (size.max() < 1e6 and size.max() >= 1e-2)
    return [number(v, ".3f" if plain else ".3g") for v in values]
