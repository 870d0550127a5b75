"""Interactions and powers among covariates."""

from __future__ import annotations

import numpy as np
import pytest

from skbayesembed.corpus.products import held, note_on_products, products_of


@pytest.mark.parametrize("shift", [0.0, 1985.0])
def test_effects_are_those_where_the_other_factor_is_at_its_place(shift):
    """The slope of a surface at that place is the coefficient, by numbers."""
    rng = np.random.default_rng(0)
    party, year = np.arange(80.0) % 2, rng.uniform(1950, 2020, 80)
    both = 3.0 * party * (year - shift) + 2.0 * year - 7.0
    matrix = np.column_stack([np.ones(80), party, year, both])
    (found,) = products_of(matrix, ["(intercept)", "party", "year", "both"])
    place = found.factors["party"][1]
    b = rng.normal(size=4)
    ends = [b @ [1.0, x, place, 3.0 * x * (place - shift) + 2.0 * place - 7.0] for x in (0.0, 1.0)]
    assert ends[1] - ends[0] == pytest.approx(b[1])
    # of the second factor where the first is at its own: what the product has of it alone is zero
    at = found.factors["year"][1]
    assert 3.0 * at + 2.0 == pytest.approx(0.0, abs=1e-6)


def test_squares_and_cubes():
    year = np.linspace(1790.0, 2019.0, 230)
    matrix = np.column_stack([year, (year - 1900.0) ** 2])
    (found,) = products_of(matrix, ["year", "year2"])
    assert found == ("year2", "year", "year", 1900.0, 1900.0)
    assert "at 'year' = 1900, the other terms" in held("year", [found], True)
    assert "square of 'year'" in held("year2", [found], True)
    cubes = products_of(np.column_stack([year, year**2, year**3]), ["y", "y2", "y3"])
    assert [one[:3] for one in cubes] == [("y2", "y", "y"), ("y3", "y", "y2")]
    assert held("y", cubes, True).startswith(", at 'y' = 0, the other")
    assert len(note_on_products(cubes)) == 2


def test_what_is_no_product():
    """Dummies of one category, columns with few values, and rows too few to tell."""
    rng = np.random.default_rng(1)
    category = rng.integers(0, 4, 200)
    dummies = np.column_stack([category == k for k in (1, 2, 3)]).astype(float)
    assert products_of(dummies, list("abc")) == ()
    assert products_of(rng.integers(0, 3, (300, 6)).astype(float), list("abcdef")) == ()
    assert products_of(rng.integers(0, 2, (8, 5)).astype(float), list("abcde")) == ()
    assert products_of(rng.normal(size=(6, 4)), list("abcd")) == ()
    # authors are few, however many texts each has: any third column is a function of two
    female, american, born = [0.0, 1, 0, 1], [0.0, 0, 1, 1], [1900.0, 1950, 1930, 1981]
    authors = np.repeat(np.column_stack([female, american, born]), 25, axis=0)
    assert products_of(authors, ["female", "american", "born"]) == ()
    year = rng.uniform(1900, 2000, 100)
    assert products_of(np.column_stack([authors, year]), list("fabt")) == ()
    almost = rng.normal(size=(50, 2))
    third = almost.prod(axis=1) + 1e-4 * rng.normal(size=50)
    assert products_of(np.column_stack([almost, third]), list("abc")) == ()


def test_a_product_among_the_first_rows_alone_is_none():
    """Columns are looked at whole, however many rows there are."""
    rng = np.random.default_rng(2)
    pair = rng.normal(size=(1000, 2))
    third = pair.prod(axis=1)
    assert len(products_of(np.column_stack([pair, third]), list("abc"))) == 1
    third[1] += 1.0
    assert products_of(np.column_stack([pair, third]), list("abc")) == ()


def test_products_of_three():
    """What holds at a value of the third factor is told of both others and of their product."""
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=(3, 200))
    matrix = np.column_stack([x, y, z, x * y, x * z, y * z, x * y * z])
    found = products_of(matrix, ["x", "y", "z", "xy", "xz", "yz", "xyz"])
    assert held("x", found, True) == ", at 'y' = 0 and 'z' = 0, the other terms held constant"
    assert held("xy", found, True).endswith("the other), at 'z' = 0")
    assert len(note_on_products(found)) == 4


def test_products_as_data_have_them():
    """In single precision, of rare columns, of coded effects, before their factors, and many."""
    rng = np.random.default_rng(4)
    year, q = rng.integers(1790, 2021, 3000).astype(float), rng.normal(size=3000)
    rare = np.zeros(3000)
    rare[[17, 700, 701, 1500, 2900, 2999]] = 1.0
    single = (q * year).astype(np.float32)
    assert (
        products_of(np.column_stack([q, year, single]), ["q", "year", "q:year"])[0][0] == "q:year"
    )
    assert products_of(np.column_stack([rare, q, rare * q]), ["r", "q", "rq"])[0][0] == "rq"
    a, b = rng.choice([-1.0, 1.0], (2, 3000))
    (found,) = products_of(np.column_stack([a * b, a, b, q]), ["a:b", "a", "b", "q"])
    assert found == ("a:b", "a", "b", 0.0, 0.0)
    many = np.column_stack([rng.normal(size=(300, 200)), q[:300], year[:300]])
    names = [f"f{i}" for i in range(200)]
    both = np.column_stack([many, many[:, 3] * year[:300]])
    (found,) = products_of(both, [*names, "q", "year", "f3:year"], [200, 201, 202])
    assert found.term == "f3:year" and {found.first, found.second} == {"f3", "year"}
    assert products_of(both, [*names, "q", "year", "f3:year"]) == ()


@pytest.mark.parametrize("name", ["treated:post", "did", "treated_post"])
def test_two_times_two(name):
    """The design of differences in differences has four different rows, whatever its size."""
    rng = np.random.default_rng(5)
    treated, post = rng.integers(0, 2, (2, 300)).astype(float)
    matrix = np.column_stack([np.ones(300), treated, post, treated * post])
    (found,) = products_of(matrix, ["(intercept)", "treated", "post", name])
    assert found == (name, "treated", "post", 0.0, 0.0)
    # less their means, in these rows or in others
    centered = treated - treated[:200].mean(), post - post[:200].mean()
    matrix = np.column_stack([treated, post, centered[0] * centered[1]])
    found = products_of(matrix, ["treated", "post", name])
    if name == "did":
        assert found == ()
    else:
        assert found[0].second_at == pytest.approx(post[:200].mean())


def test_names_that_are_parts_of_others():
    rng = np.random.default_rng(6)
    a, b = rng.choice([-1.0, 1.0], (2, 300))
    matrix = np.column_stack([a, b, a * b, rng.normal(size=300)])
    (found,) = products_of(matrix, ["a", "bar", "r", "x"])
    assert found[:3] == ("r", "a", "bar")


def test_places_of_data_in_single_precision():
    """They are zero, or where powers are next to collinear not told."""
    rng = np.random.default_rng(7)
    year, x = rng.uniform(1900, 2000, 300).astype(np.float32), rng.normal(size=300)
    x = x.astype(np.float32)
    matrix = np.column_stack([year, year**2, year**3, x, year * x]).astype(float)
    found = products_of(matrix, ["year", "year2", "year3", "x", "year:x"])
    places = [at for one in found for at in (one.first_at, one.second_at)]
    assert len(found) == 3 and all(at == 0.0 or np.isnan(at) for at in places)
    assert places[:2] == [0.0, 0.0] and places[-2:] == [0.0, 0.0]


def test_few_units_with_whole_numbers():
    """A dummy is no square, and five units are too few to tell."""
    wave = np.arange(300.0) % 4
    assert products_of(np.column_stack([wave, wave % 3 == 0]), ["wave", "ends"]) == ()
    units = [[2, 0, 3, 0, 1], [0, 2, 2, 2, 2], [1, 0, 0, 0, 1]]
    matrix = np.repeat(np.array(units, dtype=float).T, 20, axis=0)
    assert products_of(matrix, ["age", "class", "born_here"]) == ()
