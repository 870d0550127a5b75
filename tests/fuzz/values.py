"""Hostile values: strategies of hypothesis for parameters, data, covariates and arguments."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

# Whole numbers beyond 64 bits, no numbers, signed zeros, numbers of other packages and classes.
NUMBERS = [
    0, 1, -1, 2, 3, 7, True, False, 0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 1e-12, 1e-300, 5e-324, 1e12,
    1e300, 1.7e308, np.nan, np.inf, -np.inf, 2**31, 2**53 + 1, 2**63, -(2**64), 10**30, 10**400,
    Fraction(1, 3), Fraction(10**400, 3), Decimal("0.1"), Decimal("NaN"), Decimal("1e999"), 1j,
    np.float16(0.5), np.float32(np.inf), np.float64(2.5), np.int8(-1), np.int8(9), np.uint8(3),
    np.int64(2), np.uint64(2**64 - 1),
    np.longdouble("1e-4000"), np.longdouble("1e4000"), np.bool_(True),
    np.complex128(1), np.array(1.0), np.array(2),
]  # fmt: skip
TEXTS = [
    "", " ", "x0", "x1", "auto", "all", "nan", "None", "1", "é", "e\u0301", "\ud800", "\x00", "(",
    "the", "\u202eabc", "😀", "a" * 5000, "2000-01-01", b"x0", np.str_("x1"),
]  # fmt: skip
DATES = [
    datetime.date(1, 1, 1), datetime.date(2000, 1, 1), datetime.datetime(9999, 12, 31),
    datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC), datetime.timedelta(3),
    np.datetime64("NaT"), np.datetime64("2000-01-01"), np.datetime64(2**62, "Y"),
    np.timedelta64(3, "D"),
]  # fmt: skip
THINGS = [
    None, ..., NotImplemented, object, len, (), [], {}, set(), frozenset({"x0"}), range(3),
    slice(None), [None], [[]], [[1], [1, 2]], ["x0"], ["x0", "x0"], ("x0", "x1"), {"x0": 1.0},
    {"x0": ["x1"]}, [np.nan, 1], [("x0", "x1")], [1, "x0", None], [0.5, 0.5], (1, 1), (0, 0),
    (np.nan, 1), (1, 10**400), np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.ones(3),
    np.ones((2, 2)), np.ones((2, 2, 2)), np.array(["x0", "x1"]), np.array([None, 1], dtype=object),
    np.array("x0"), np.array([[1, np.nan]]), np.ma.masked, sparse.csr_array((2, 2)),
    np.zeros(2, dtype=[("a", float)]), memoryview(b"x0"),
]  # fmt: skip


class Odd:
    """Has no order, no truth, no length that is one, and its hash changes nothing."""

    def __repr__(self):
        return "Odd()"

    def __bool__(self):
        raise TypeError("has no truth")

    def __eq__(self, other):
        raise TypeError("cannot be compared")

    __hash__ = None


def iterators():
    """Iterators, which a second reading finds empty; made anew for every call."""
    return st.sampled_from([["x0", "x1"], [], [1.0, np.nan], [["x0"], ["x1"]]]).map(iter)


def scalars():
    """Values of all kinds that are one thing."""
    return st.one_of(
        st.sampled_from(NUMBERS),
        st.sampled_from(TEXTS),
        st.sampled_from(THINGS),
        st.sampled_from(DATES),
        st.builds(Odd),
        st.floats(),
        st.integers(-10, 10),
        st.text(max_size=4),
        iterators(),
    )


def hostile():
    """Values of all kinds, and lists, tuples, dicts and arrays of them."""
    inner = scalars()
    return st.one_of(
        inner,
        inner,
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from(["x0", "x1", 0, None]), inner, max_size=2),
        st.lists(inner, min_size=1, max_size=3).map(_objects),
        arrays(),
    )


def _objects(values):
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def numbers():
    """Numbers that are valid here or there, small and large."""
    return st.one_of(st.sampled_from(NUMBERS), st.floats(), st.integers(-3, 20))


_ENTRIES = [0, 0, 1, 1, 2, 3, 0.5, -1, np.nan, np.inf, -np.inf, 1e-300, 1e9, 1e300, 2**53]
_FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]
_TYPES = ["f8", "f4", "f2", "i8", "i1", "u8", "?", "c16", "O", "U5", "S3", "M8[D]"]


@st.composite
def arrays(draw, max_dims=3, entries=_ENTRIES):
    """Arrays of few numbers, of many types and shapes, empty ones among them."""
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=max_dims)))
    size = int(np.prod(shape))
    flat = draw(st.lists(st.sampled_from(entries), min_size=size, max_size=size))
    kind = draw(st.sampled_from(_TYPES))
    out = np.array(flat, dtype=float).reshape(shape)
    if kind in ("f8", "f4", "f2", "c16", "O"):
        with np.errstate(all="ignore"):
            return out.astype(kind)
    if kind in ("U5", "S3"):
        return out.astype("U9").astype(kind)
    return np.nan_to_num(out).clip(0, 100).astype("i8").astype(kind)


@st.composite
def count_matrices(draw, n_rows, n_columns):
    """Count matrices near what is allowed: one entry, row, shape, type or format is hostile."""
    seed = draw(st.integers(0, 9))
    table = np.random.RandomState(seed).poisson(1.0, (n_rows, n_columns)).astype(float)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, n_rows - 1)), draw(st.integers(0, n_columns - 1))
        what = draw(st.sampled_from(["entry", "row", "column", "all"]))
        value = draw(st.sampled_from(_ENTRIES))
        where = {"entry": place, "row": (place[0],), "column": (slice(None), place[1]), "all": ...}
        table[where[what]] = value
    form = draw(st.sampled_from(["dense", "fortran", "matrix", "frame", "list", *_FORMATS]))
    kind = draw(st.sampled_from(["f8", "f8", "f8", "f4", "i8", "i4", "O", "?", "f2", "u1", "c16"]))
    if kind not in ("f8", "f4", "f2", "O", "c16"):
        table = np.nan_to_num(table).clip(0, 100)
    with np.errstate(all="ignore"):
        table = table.astype(kind)
    rows = draw(st.sampled_from([n_rows, n_rows, n_rows, n_rows, 1, 0, 2]))
    columns = draw(st.sampled_from([n_columns, n_columns, n_columns, 1, 0, 2]))
    table = table[:rows, :columns]
    if form in _FORMATS and kind in ("f8", "f4", "i8", "i4", "?"):
        return _odd_sparse(draw, sparse.coo_array(table).asformat(form))
    if form == "fortran":
        return np.asfortranarray(table)
    return table.tolist() if form == "list" else table


def _odd_sparse(draw, matrix):
    """Stored zeros, entries that are there twice, indices in no order."""
    if matrix.format == "coo" and matrix.nnz and draw(st.booleans()):
        twice = [np.concatenate([c, c[::-1]]) for c in matrix.coords]
        return sparse.coo_array((np.tile(matrix.data, 2), twice), matrix.shape)
    if matrix.format == "csr" and matrix.nnz and draw(st.booleans()):
        matrix.data[0] = 0
    return matrix


_TOKENS = ["cat", "dog", "sat", "the", "mat", "x0", "x1", "", " ", "é", "\ud800", "\x00", "a" * 999]


def documents():
    """Lists of documents as strings and as tokens, some of which are neither."""
    word = st.sampled_from(_TOKENS)
    text = st.lists(word, max_size=8).map(" ".join)
    tokens = st.lists(word, max_size=8)
    odd = st.sampled_from(
        [None, 3, b"cat", np.nan, ["cat", None], [1, 2], ("cat", "dog"), {}, [[]]]
    )
    return st.one_of(
        st.lists(text, max_size=6),
        st.lists(tokens, max_size=6),
        st.lists(st.one_of(text, odd), max_size=5),
        st.lists(st.one_of(tokens, odd), max_size=5),
        st.lists(text, min_size=1, max_size=5).map(np.array),
        st.lists(text, max_size=5).map(tuple),
        st.lists(text, max_size=5).map(iter),
        st.lists(tokens, max_size=5).map(lambda x: (t for t in x)),
        st.sampled_from(["cat dog", ["cat"], [["cat"]], ["cat"] * 3, [["cat"] * 3], [""], [[]]]),
    )


def labels(n):
    """Lists of about ``n`` labels or times: of one kind, of several, of a wrong number."""
    length = st.sampled_from([n, n, n, n, n, 0, 1, n - 1, n + 1, 2 * n])
    kinds = st.one_of(
        st.sampled_from(NUMBERS),
        st.sampled_from(TEXTS),
        st.sampled_from(DATES),
        st.floats(),
        st.integers(0, 3),
        st.sampled_from([0, 1, 2]),
        scalars(),
    )

    @st.composite
    def build(draw):
        size = max(draw(length), 0)
        usual = draw(st.sampled_from([[0, 1, 2], ["a", "b"], [1.5], DATES[1:2], [1e308, -1e308]]))
        out = [usual[i % len(usual)] for i in range(size)]
        for _ in range(draw(st.integers(0, 2))):
            if out:
                out[draw(st.integers(0, size - 1))] = draw(kinds)
        form = draw(st.sampled_from(["list", "list", "tuple", "object", "array"]))
        if form == "object":
            return _objects(out) if out else np.empty(0, dtype=object)
        if form == "array":
            try:
                return np.array(out)
            except (ValueError, TypeError, OverflowError):
                return out
        return tuple(out) if form == "tuple" else out

    return st.one_of(build(), build(), build(), hostile())


def damages():
    """One to three changes of a file: (what, place as a share of the file, bytes)."""
    given = st.one_of(
        st.binary(min_size=1, max_size=9),
        st.sampled_from([b"\n", b" ", b"nan ", b"1e999 ", b"-1", b"99999999999 ", b"\xff" * 8]),
    )
    what = st.sampled_from(["cut", "flip", "flip", "insert", "overwrite", "drop"])
    # the beginning of a file says what it is, and the end of an archive what is in it
    share = st.one_of(st.floats(0, 1), st.floats(0, 0.02), st.floats(0.95, 1))
    return st.lists(st.tuples(what, share, given), min_size=1, max_size=3)
