"""Writes data as R's `save` does (XDR, version 3), from the description in "R Internals"."""

from __future__ import annotations

import bz2
import struct

import numpy as np

_ATTRIBUTED, _TAGGED = 512, 1024


def r_file(objects):
    """Bytes of an .rda file of named objects.

    They are lists of str, arrays, ranges, `Factor`, dicts of them (data frames), or bytes as they
    are to be.
    """
    head = b"RDX3\nX\n" + struct.pack(">3i", 3, 0x40000, 0x30500) + struct.pack(">i", 5) + b"UTF-8"
    return bz2.compress(head + _Writer().pairs(objects))


class _Writer:
    def __init__(self):
        self.symbols = []

    def pairs(self, items):
        return b"".join(
            self.integers(2 | _TAGGED) + self.symbol(name) + self.item(value)
            for name, value in items.items()
        ) + self.integers(254)

    def item(self, value):
        if isinstance(value, dict):
            columns = b"".join(self.item(column) for column in value.values())
            return (
                self.integers(19 | _ATTRIBUTED | 256, len(value))
                + columns
                + self.pairs({"names": list(value), "class": ["tbl_df", "data.frame"],
                              "row.names": np.array([-(2**31), -1])})
            )  # fmt: skip
        if isinstance(value, Factor):
            attributes = self.pairs({"levels": value.levels, "class": ["factor"]})
            return self.vector(13 | _ATTRIBUTED | 256, value.codes, ">i4") + attributes
        if isinstance(value, list):
            strings = b"".join(self.string(text) for text in value)
            return self.integers(16, len(value)) + strings
        if isinstance(value, range):
            name = self.pairs({"": "compact_intseq"})
            state = np.array([len(value), value[0], 1.0])
            return self.integers(238) + name + self.item(state) + self.integers(254)
        if isinstance(value, bytes):
            return value
        if isinstance(value, str):
            return self.symbol(value)
        kind, form = (14, ">f8") if value.dtype.kind == "f" else (13, ">i4")
        return self.vector(10 if value.dtype.kind == "b" else kind, value, form)

    def vector(self, flags, values, form):
        return self.integers(flags, len(values)) + np.asarray(values).astype(form).tobytes()

    def symbol(self, name):
        if name in self.symbols:
            return self.integers((self.symbols.index(name) + 1) << 8 | 255)
        self.symbols.append(name)
        return self.integers(1) + self.string(name)

    def string(self, text):
        if text is None:
            return self.integers(9, -1)
        latin = text.startswith("latin ")
        raw = text.encode("latin-1" if latin else "utf-8")
        return self.integers(9 | (4 if latin else 8) << 12, len(raw)) + raw

    def integers(self, *values):
        return struct.pack(f">{len(values)}i", *values)


class Factor:
    """Codes from 1, with the labels that they stand for."""

    def __init__(self, codes, levels):
        self.codes, self.levels = np.array(codes), levels
