"""Files of the statistics language R (.rda, .RData), read without R.

The format is that of `saveRDS` and `save` with XDR, described in "R Internals", section 1.8. Only
what data consist of is read: vectors, lists, factors and data frames, not functions.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from pathlib import Path
from typing import Any

import numpy as np

_NOTHING, _PAIRLIST, _SYMBOL, _CHARACTER = (254,), 2, 1, 9
_LOGICAL, _INTEGER, _REAL, _STRINGS, _LIST, _REFERENCE, _ALTERNATIVE = 10, 13, 14, 16, 19, 255, 238
_NULL = 0
_MISSING_INTEGER = -(2**31)
_UNPACK = ((b"BZh", bz2.decompress), (b"\x1f\x8b", gzip.decompress), (b"\xfd7zXZ", lzma.decompress))


def read_r_file(path: Path) -> dict[str, Any]:
    """Objects of a file that R has saved, by their names.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to object
        Vectors are arrays (of objects for strings; None where one is missing), factors arrays of
        their labels, lists with names and data frames dicts, other lists lists.

    Raises
    ------
    ValueError
        If the file is none that R has saved, or has objects that are no data.
    """
    data = Path(path).read_bytes()
    unpack = next((f for magic, f in _UNPACK if data.startswith(magic)), bytes)
    try:
        data = unpack(data)
        if data[:5] not in (b"RDX2\n", b"RDX3\n") or data[5:7] != b"X\n":
            raise ValueError("the head is not that of R's XDR format")
        found = _Reader(data[7:]).objects()
    except (OSError, EOFError, lzma.LZMAError, struct.error, IndexError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is damaged: {error}.") from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error}.") from None
    return found


class _Reader:
    """Reads the serialized objects of a file, one after the other."""

    def __init__(self, data):
        self._data, self._at, self._known = data, 0, []

    def objects(self):
        """The objects by their names."""
        version, _, _ = self._integers(3)
        if version == 3:
            self._take(self._integer())  # the encoding of strings that do not name theirs
        return dict(self._item())

    def _take(self, n):
        if n < 0 or self._at + n > len(self._data):
            raise EOFError("it ends too early")
        self._at += n
        return self._data[self._at - n : self._at]

    def _integers(self, n):
        return struct.unpack(f">{n}i", self._take(4 * n))

    def _integer(self):
        return self._integers(1)[0]

    def _item(self):
        flags = self._integer()
        kind, attributed, tagged = flags & 255, flags & 512, flags & 1024
        if kind in (_NULL, *_NOTHING):
            return None
        if kind == _REFERENCE:
            place = flags >> 8 or self._integer()
            return self._known[place - 1]
        if kind == _SYMBOL:
            self._known.append(self._item())
            return self._known[-1]
        if kind == _PAIRLIST:
            return self._pairs(attributed, tagged)
        if kind == _CHARACTER:
            return self._character(flags)
        if kind == _ALTERNATIVE:
            return self._alternative()
        value = self._vector(kind)
        return _labelled(value, dict(self._item()) if attributed else {})

    def _pairs(self, attributed, tagged):
        """Pairs of a name and a value; a list ends in nothing."""
        found = []
        while True:
            if attributed:
                self._item()
            name = self._item() if tagged else None
            found.append((name, self._item()))
            flags = self._integer()
            if flags & 255 in (_NULL, *_NOTHING):
                return found
            if flags & 255 != _PAIRLIST:
                raise ValueError("a list of pairs that does not end")
            attributed, tagged = flags & 512, flags & 1024

    def _character(self, flags):
        length = self._integer()
        if length == -1:
            return None
        raw = self._take(length)
        # the encoding is in the flags: latin-1, UTF-8, or ASCII
        return raw.decode("latin-1" if flags >> 12 & 4 else "utf-8")

    def _vector(self, kind):
        if kind not in (_LOGICAL, _INTEGER, _REAL, _STRINGS, _LIST):
            raise ValueError(f"an object of R's type {kind}, which is no data")
        length = self._integer()
        if kind in (_STRINGS, _LIST):
            items = []
            for _ in range(length):
                items.append(self._item())
            if kind == _LIST:
                return items
            out = np.empty(length, dtype=object)
            out[:] = items
            return out
        if kind == _REAL:
            return np.frombuffer(self._take(8 * length), ">f8").astype(np.float64)
        values = np.frombuffer(self._take(4 * length), ">i4").astype(np.int64)
        if np.any(values == _MISSING_INTEGER):
            return np.where(values == _MISSING_INTEGER, np.nan, values)
        return values.astype(bool) if kind == _LOGICAL else values

    def _alternative(self):
        """Vectors in compact forms: ranges, and those that are wrapped."""
        facts, state, attributes = self._item(), self._item(), self._item()
        name = facts[0][1]
        attributes = dict(attributes) if attributes else {}
        if name in ("compact_intseq", "compact_realseq"):
            n, first, step = state.tolist()
            values = first + step * np.arange(int(n))
            return _labelled(values.astype(np.int64 if "int" in name else float), attributes)
        if name.startswith("wrap_"):
            wrapped = state[0] if isinstance(state, list) else state
            wrapped = wrapped[1] if isinstance(wrapped, tuple) else wrapped
            return _labelled(wrapped, attributes)
        raise ValueError(f"a vector in R's form {name!r}")


def _labelled(value, attributes):
    """A vector or list as its attributes make it: a factor, a matrix, a list with names."""
    levels, names = attributes.get("levels"), attributes.get("names")
    if levels is not None:
        known = np.append(levels, None)
        places = np.where(np.isnan(value.astype(float)), 0, value).astype(np.int64) - 1
        return known[places]
    if isinstance(value, list):
        return value if names is None else dict(zip(names.tolist(), value, strict=True))
    if "dim" in attributes:
        return value.reshape(attributes["dim"].tolist(), order="F")
    return value
