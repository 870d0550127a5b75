"""Covariates that are products of others, interactions and powers, and effects beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

# Rows that tell whether a column is a product of others: spread over all, and in each column over
# those that differ from its median; and the fewest by which most columns are ruled out.
_ROWS, _OWN_ROWS, _FEW_ROWS = 200, 20, 12
# Different rows of a design, at least, for a product of columns that have two values each: a third
# column is a function of such two by chance in few rows.
_FEWEST = 8
# Pairs of columns that are looked at, at most.
_MOST_PAIRS = 1_000
# Share of a column that a product must leave of it at most, as of single precision, and by which
# columns and places differ.
_LEAST = 1e-5
# Errors of places, in standard deviations, from which on they are not told.
_VISIBLE = 0.01


class Product(NamedTuple):
    """A term that is the product of two others, or the square of one, but for a linear part.

    Attributes
    ----------
    term, first, second : str
        ``second`` is ``first`` for a square.
    first_at, second_at : float
        Where the linear part is zero: the coefficient of ``second`` is its effect where ``first``
        is ``first_at``, and the reverse. NaN where data in single precision do not tell.
    """

    term: str
    first: str
    second: str
    first_at: float
    second_at: float

    @property
    def factors(self) -> dict[str, tuple[str, float]]:
        """For each factor the other one, and where its effect is that of its coefficient."""
        return {
            self.first: (self.second, self.second_at),
            self.second: (self.first, self.first_at),
        }


def products_of(
    matrix: np.ndarray, terms: Sequence[str], factors: Sequence[int] | None = None
) -> tuple[Product, ...]:
    """Find the terms of a design that are products of two others, or squares, as `Product`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_terms)
    terms : sequence of str of length n_terms
    factors : sequence of int, optional
        Columns of which one at least is a factor of each product; all by default. With more than
        1,000 pairs of factors none is looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from skbayesembed.corpus.products import products_of
    >>> year, party = np.arange(1990.0, 2020.0), np.arange(30.0) % 2
    >>> design = np.column_stack([party, year, party * (year - 2000.0)])
    >>> (found,) = products_of(design, ["party", "year", "party:year"])
    >>> found.factors["party"], found.factors["year"]
    (('year', 2000.0), ('party', 0.0))
    """
    some = matrix[_telling_rows(matrix)]
    mean, sd = some.mean(axis=0), some.std(axis=0)
    varying = [j for j in range(len(terms)) if sd[j] > 0]
    wanted = set(varying if factors is None else factors)
    pairs = [p for p in combinations_with_replacement(varying, 2) if wanted & set(p)]
    if len(varying) < 2 or len(pairs) > _MOST_PAIRS:
        return ()
    scaled = (some - mean) / np.where(sd > 0, sd, 1.0)
    few = scaled[np.unique(np.linspace(0, len(scaled) - 1, _FEW_ROWS).astype(int))]
    found: dict[frozenset[int], list] = {}
    for a, b in pairs:
        others = [j for j in varying if j not in (a, b)]
        if not others or np.min(_explained(few, a, b, others)[1]) > _LEAST:
            continue
        weights, left, least = _explained(scaled, a, b, others)
        if least <= _LEAST:
            continue
        for j, w in zip(np.array(others)[left <= _LEAST], weights.T[left <= _LEAST], strict=True):
            error = _left(matrix, mean, sd, a, b, j)
            if abs(w[-1]) < _LEAST or error > _LEAST:
                continue
            at = (-0.5 * w[1] / w[2],) * 2 if a == b else (-w[2] / w[3], -w[1] / w[3])
            near = error * (1.0 + np.max(np.abs(at))) / (least * abs(w[-1]))
            places = [
                _near(mean[k] + sd[k] * x, sd[k], near) for k, x in zip((a, b), at, strict=True)
            ]
            one = Product(str(terms[j]), str(terms[a]), str(terms[b]), *places)
            if _is_called(*one[:3]) or _is_no_accident(some, scaled, a, b, j, places):
                found.setdefault(frozenset((a, b, int(j))), []).append((int(j), one))
    return tuple(_likeliest(several) for several in found.values())


def _telling_rows(matrix):
    """Places of rows in which columns vary, also those that do in few rows."""
    places = [np.linspace(0, len(matrix) - 1, _ROWS).astype(int)]
    for column in matrix.T:
        other = np.flatnonzero(column != np.median(column))
        if other.size:
            places.append(other[np.linspace(0, other.size - 1, _OWN_ROWS).astype(int)])
    return np.unique(np.concatenate(places))


def _explained(x, a, b, others):
    """What products of a and b tell of other columns.

    Weights (n_columns, n_others) of what products are made of, what is left of each column, and the
    smallest singular value of what they are made of, for one row: zero where a product is no news.
    """
    columns = [np.ones(len(x)), x[:, a], *([] if a == b else [x[:, b]]), x[:, a] * x[:, b]]
    base = np.column_stack(columns)
    weights, _, _, sizes = np.linalg.lstsq(base, x[:, others], rcond=None)
    left = np.abs(x[:, others] - base @ weights).max(axis=0)
    return weights, left, sizes[-1] / np.sqrt(len(x))


def _left(matrix, mean, sd, a, b, j):
    """What products of a and b leave of a column in any row."""
    columns = [a, b, j]
    x = (matrix[:, columns] - mean[columns]) / sd[columns]
    return _explained(x, 0, 0 if a == b else 1, [2])[1][0]


def _is_called(term, *factors):
    """Whether the name of a term has those of factors, as words."""
    words = (rf"(?<![^\W_]){re.escape(factor)}(?![^\W_])" for factor in factors)
    return all(re.search(word, term) for word in words)


def _is_no_accident(rows, scaled, a, b, j, places):
    """Whether a column that goes by no such name is a product, and not any function of two others.

    Of two columns that have two values each every column is a function that is alike in their four
    cells: it is their product where both are 0 or 1, or else, where there are several rows of
    others, where effects are told at one of the values or midway between them.
    """
    n_columns = 3 if a == b else 4
    n_pairs = len(np.unique(scaled[:, [a, b]] @ [1.0, 1.0j]))
    if a == b or not (_binary(rows[:, a]) and _binary(rows[:, b])):
        return n_pairs > (2 * n_columns if _binary(rows[:, j]) else n_columns)
    if places == [0.0, 0.0] and rows[:, [a, b]].min() == 0.0:
        return True
    low, high = rows[:, [a, b]].min(axis=0), rows[:, [a, b]].max(axis=0)
    apart = np.abs(np.array([low, high, 0.5 * (low + high)]) - places).min(axis=0)
    return len(np.unique(scaled, axis=0)) >= _FEWEST and bool(
        np.all(apart <= _LEAST * (high - low))
    )


def _binary(x):
    return len(np.unique(x)) == 2


def _likeliest(several):
    """Of three columns each may be made of the others: that which is called so, or the last."""
    named = [one for one in several if _is_called(*one[1][:3])]
    return max(named or several)[1]


def _near(x, sd, error):
    """A place, without what it is off zero or a whole number by rounding.

    NaN where it is not known to a hundredth of ``sd``, by its ``error`` in that unit.
    """
    if abs(x) <= max(_LEAST, min(error, _VISIBLE)) * sd:
        return 0.0
    if error > _VISIBLE:
        return np.nan
    whole = float(np.round(x))
    return whole if abs(x - whole) < _LEAST * sd else float(x)


def _told(place):
    """A place in print."""
    return f"{place:.0f}" if place == round(place) and abs(place) < 1e15 else f"{place:.6g}"


def _places(one, products):
    """By factors of a product the other one and its place; not where that is a product itself."""
    made = {each.term for each in products}
    return {
        factor: (other, x)
        for factor, (other, x) in one.factors.items()
        if other not in made and np.isfinite(x)
    }


def held(term: str, products: Iterable[Product], several: bool) -> str:
    """What else an effect is for, behind its step: at which values, and with what held constant.

    Parameters
    ----------
    term : str
    products : iterable of Product
    several : bool
        Whether there are other terms.

    Examples
    --------
    >>> from skbayesembed.corpus.products import Product, held
    >>> product = Product("party:year", "party", "year", 0.0, 2000.0)
    >>> held("party", [product], True)
    ", at 'year' = 2000, the other terms held constant"
    >>> held("party:year", [product], True)
    " (the product of 'party' and 'year': how the effect of each changes with the other)"
    >>> held("war", [product], True), held("war", [], False)
    (', the other terms held constant', '')
    """
    products = tuple(products)
    places = dict(at[term] for at in (_places(one, products) for one in products) if term in at)
    at = " and ".join(f"{other!r} = {_told(x)}" for other, x in places.items())
    at = f", at {at}" if at else ""
    one = next((one for one in products if one.term == term), None)
    if one is None:
        return f"{at}{', the other terms held constant' if several else ''}"
    if one.first == one.second:
        return f" (the square of {one.first!r}: how its effect changes with it){at}"
    both = f"the product of {one.first!r} and {one.second!r}"
    return f" ({both}: how the effect of each changes with the other){at}"


def note_on_products(products: Iterable[Product]) -> list[str]:
    """Lines below a table on terms that are products, and on the effects of their factors.

    Examples
    --------
    >>> from skbayesembed.corpus.products import Product, note_on_products
    >>> note_on_products([Product("year2", "year", "year", 1950.0, 1950.0)])
    ['(year2, the square of year: the effect of year is that at year = 1950)']
    >>> note_on_products([Product("party:year", "party", "year", 0.0, 2000.0)])
    ['(party:year, the product of party and year: the effect of party is that at year = 2000, \
that of year at party = 0)']
    """
    products = tuple(products)
    lines: dict[str, str] = {}
    for one in products:
        what = f"product of {one.first} and {one.second}"
        if one.first == one.second:
            what = f"square of {one.first}"
        at = [
            (name, f"at {other} = {_told(x)}")
            for name, (other, x) in _places(one, products).items()
        ]
        told = [f"the effect of {name} is that {where}" for name, where in at[:1]]
        told += [f"that of {name} {where}" for name, where in at[1:]]
        effects = f": {', '.join(told)}" if told else ""
        # a product of three is that of each and the product of the others
        lines.setdefault(one.term, f"({one.term}, the {what}{effects})")
    return list(lines.values())
