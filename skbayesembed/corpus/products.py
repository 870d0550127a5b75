"""Covariates that are products of others, interactions and powers, and effects beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

# Rows that tell whether a column is a product of others, at most.
_ROWS = 200
# Of two columns with two values each, at least: of few rows a third one is a product by chance.
_FEWEST = 20
# Share of a column that a product must leave of it at most, and by which columns differ.
_LEAST = 1e-8


class Product(NamedTuple):
    """A term that is the product of two others, or the square of one, but for a linear part.

    Attributes
    ----------
    term, first, second : str
        ``second`` is ``first`` for a square.
    first_at, second_at : float
        Where the linear part is zero: the coefficient of ``second`` is its effect where ``first``
        is ``first_at``, and the reverse.
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


def products_of(matrix: np.ndarray, terms: Sequence[str]) -> tuple[Product, ...]:
    """Find the terms of a design that are products of two others, or squares, as `Product`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_terms)
    terms : sequence of str of length n_terms

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
    some = matrix[np.unique(np.linspace(0, len(matrix) - 1, _ROWS).astype(int))]
    mean, sd = some.mean(axis=0), some.std(axis=0)
    varying = [j for j in range(len(terms)) if sd[j] > 0]
    scaled = (some - mean) / np.where(sd > 0, sd, 1.0)
    found: dict[frozenset[int], tuple] = {}
    for a, b in combinations_with_replacement(varying, 2):
        others = [j for j in varying if j not in (a, b)]
        if not others or not _can_tell(scaled[:, [a, b]]):
            continue
        weights, left = _explained(scaled, a, b, others)
        for j, w, rest in zip(others, weights.T, left, strict=True):
            if rest > _LEAST or abs(w[-1]) < _LEAST:
                continue
            if _explained((matrix - mean) / np.where(sd > 0, sd, 1.0), a, b, [j])[1][0] > _LEAST:
                continue
            at = (-0.5 * w[1] / w[2],) * 2 if a == b else (-w[2] / w[3], -w[1] / w[3])
            places = [_near(mean[k] + sd[k] * x, sd[k]) for k, x in zip((a, b), at, strict=True)]
            # of three columns each may be made of the others: the last one is the product
            one = Product(str(terms[j]), str(terms[a]), str(terms[b]), *places)
            found[frozenset((a, b, j))] = max(found.get(frozenset((a, b, j)), (-1,)), (j, one))
    return tuple(one for _, one in found.values())


def _base(x, a, b):
    """Columns that a product is made of."""
    columns = [np.ones(len(x)), x[:, a], *([] if a == b else [x[:, b]]), x[:, a] * x[:, b]]
    return np.column_stack(columns)


def _explained(x, a, b, others):
    """Weights (n_columns, n_others) of what products of a and b are made of, and what is left."""
    base = _base(x, a, b)
    weights = np.linalg.lstsq(base, x[:, others], rcond=None)[0]
    return weights, np.abs(x[:, others] - base @ weights).max(axis=0)


def _can_tell(pair):
    """Whether rows are enough to tell a product of two columns from any function of them."""
    base = _base(pair, 0, 1) if np.any(pair[:, 0] != pair[:, 1]) else _base(pair, 0, 0)
    sizes = np.linalg.svd(base, compute_uv=False)
    if sizes[-1] <= _LEAST * sizes[0]:
        return False
    distinct = len(np.unique(pair @ [1.0, 1.0j]))
    both_binary = all(len(np.unique(x)) == 2 for x in pair.T)
    return distinct > base.shape[1] or (both_binary and len(pair) >= _FEWEST)


def _near(x, sd):
    """A place, without what it is off a round number by rounding."""
    whole = float(np.round(x))
    return whole + 0.0 if abs(x - whole) < 1e-6 * sd else float(x)


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
    for one in products:
        if one.term == term and one.first == one.second:
            return f" (the square of {one.first!r}: how its effect changes with it)"
        if one.term == term:
            both = f"the product of {one.first!r} and {one.second!r}"
            return f" ({both}: how the effect of each changes with the other)"
    places = dict(one.factors[term] for one in products if term in one.factors)
    at = " and ".join(f"{other!r} = {x:.6g}" for other, x in places.items())
    return f"{f', at {at}' if at else ''}{', the other terms held constant' if several else ''}"


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
    lines = []
    for one in products:
        if one.first == one.second:
            what, at = f"square of {one.first}", [(one.first, one.first, one.first_at)]
        else:
            what = f"product of {one.first} and {one.second}"
            at = [(name, *other) for name, other in one.factors.items()]
        (name, other, x), *rest = at
        more = "".join(f", that of {name} at {other} = {x:.6g}" for name, other, x in rest)
        effect = f"the effect of {name} is that at {other} = {x:.6g}"
        lines.append(f"({one.term}, the {what}: {effect}{more})")
    return lines
