"""Files that were damaged: readers take them, or say that they are no files of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import strategies as st

import skbayesembed
from skbayesembed import PairShard, Posterior, Vocabulary, build_vocabulary, count_pairs
from skbayesembed.datasets.r_files import read_r_file
from skbayesembed.io import WordVectors, load_vectors, save_vectors
from tests.fuzz import values
from tests.fuzz.estimators import CASES
from tests.helpers.r_writer import Factor, r_file

_TEXTS = ["cat dog cat", "dog sat mat", "mat cat é"] * 3
_VECTORS = WordVectors(["cat", "dog", "é"], np.arange(6.0).reshape(3, 2))


def _model(path):
    CASES["sgns-map"].fit().save(path)


def _posterior(path):
    CASES["sgns-vi"].fit().posterior_.save(path)


def _vectors(form):
    return lambda path: save_vectors(path, _VECTORS, format=form)


def _vocabulary():
    return build_vocabulary(_TEXTS, min_count=1, token_pattern=r"\w+")


def _r(path):
    objects = {"a": ["x", "y"], "b": {"c": np.arange(3.0), "d": Factor([1, 1], ["u"])}}
    path.write_bytes(r_file(objects))


# What writes a file, what reads it, and the end of its name.
READERS = {
    "model": (_model, skbayesembed.load, ".npz"),
    "posterior": (_posterior, Posterior.load, ".npz"),
    "vocabulary": (lambda path: _vocabulary().save(path), Vocabulary.load, ".npz"),
    "shard": (lambda path: count_pairs(_TEXTS, _vocabulary()).save(path), PairShard.load, ".npz"),
    "word2vec": (_vectors("word2vec"), load_vectors, ".txt"),
    "binary": (_vectors("word2vec-binary"), load_vectors, ".bin"),
    "r": (_r, read_r_file, ".rda"),
    "glove": (_vectors("glove"), load_vectors, ".txt"),
}  # fmt: skip


@cache
def written(kind):
    """The bytes of a good file."""
    write, _, end = READERS[kind]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"good{end}"
        write(path)
        return path.read_bytes()


@dataclass(frozen=True)
class Read:
    """A file with changes: (what, place as a share of the file, bytes), one after the other."""

    kind: str
    changes: list

    # what is wrong is in the file, which the message names; it may be one of another kind
    names = ("damaged", "path", "file", "bad", "good")
    also = (OSError, EOFError)

    def damaged(self, content):
        """The bytes of a file after the changes."""
        raw = bytearray(content)
        for what, share, given in self.changes:
            place = int(share * len(raw))
            if what == "cut":
                del raw[place:]
            elif what == "flip" and raw:
                raw[min(place, len(raw) - 1)] ^= given[0] | 1
            elif what == "insert":
                raw[place:place] = given
            elif what == "overwrite":
                raw[place : place + len(given)] = given
            elif what == "drop":
                del raw[place : place + len(given)]
        return bytes(raw)

    def __call__(self):
        _, read, end = READERS[self.kind]
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"damaged{end}"
            path.write_bytes(self.damaged(written(self.kind)))
            read(path)


def damaged_files():
    """Files of every kind that is read, damaged in one to three places."""
    return st.builds(Read, st.sampled_from(list(READERS)), values.damages())
