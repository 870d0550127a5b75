"""What is kept in files: places and arguments of savers, and checkpoints that were damaged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from hypothesis import strategies as st

import skbayesembed
from skbayesembed import Posterior, Vocabulary, build_vocabulary
from skbayesembed.calibration import calibrate
from skbayesembed.common.checks import is_number
from skbayesembed.inference import checkpoint
from skbayesembed.io import WordVectors, load_vectors, save_vectors
from tests.fuzz import values
from tests.fuzz.estimators import argument, fitted
from tests.fuzz.readers import Read
from tests.helpers.breaking import Broken, break_after
from tests.test_backends import digest
from tests.test_contract import CASES

_TEXTS = ["cat dog cat", "dog sat mat"] * 3
_VECTORS = WordVectors(["cat", "dog"], [[1.0, 2.0], [3.0, 4.0]])


def _save(path, draws):
    fitted("sgns-metropolis").save(path, draws=draws)
    return skbayesembed.load(path).posterior_["rho"]


def _save_posterior(path):
    fitted("sgns-vi").posterior_.save(path)
    return Posterior.load(path)["rho"]


def _save_vocabulary(path):
    build_vocabulary(_TEXTS, min_count=1).save(path)
    Vocabulary.load(path)


def _save_vectors(path, format):
    save_vectors(path, _VECTORS, format=format)
    return load_vectors(path).vectors


def _load(**parameters):
    with TemporaryDirectory() as folder:
        CASES["sgns-map"].fit().save(Path(folder) / "model")
        skbayesembed.load(Path(folder) / "model", **parameters)


def _calibrate(**given):
    # no run: what is not refused for another reason is for its share
    calibrate(**({"share": 0} | given))


# Functions, with arguments that they take.
SAVERS = [
    (_save, {"path": "model", "draws": None}),
    (_save_posterior, {"path": "posterior"}),
    (_save_vocabulary, {"path": "vocabulary"}),
    (_save_vectors, {"path": "vectors.txt", "format": "word2vec"}),
    (_load, {"analyzer": "word", "draws": 10, "random_state": 0}),
    (_calibrate, {"model": "GaussianLDA", "sampler": "gibbs", "share": 0, "n_jobs": 1,
                  "random_state": 0}),
]  # fmt: skip


@dataclass(frozen=True)
class Keep:
    """A call that writes a file and reads it again."""

    place: int
    hostile: dict

    # places that no system takes
    also = (OSError, EOFError)

    @property
    def names(self):
        """One of these has to be in the message of an error."""
        return {"path", "share", "parameter", "parameters", *self.hostile}

    def __call__(self):
        function, usual = SAVERS[self.place]
        try:
            return function(**(usual | self.hostile))
        except OSError as error:
            raise OSError(f"path: {error}") from error


def _tried(name, value):
    """Whether an argument may be tried: a number is a file that is open, as standard output is."""
    if name == "share":
        return not (is_number(value) and value > 0)
    return name != "path" or not isinstance(value, int | bool)


@st.composite
def hostile_keeping(draw):
    """A call of a saver with one or two hostile arguments."""
    place = draw(st.integers(0, len(SAVERS) - 1))
    usual = list(SAVERS[place][1])
    hostile = {}
    for name in draw(st.lists(st.sampled_from(usual), min_size=1, max_size=2, unique=True)):
        kinds = [argument(), values.hostile()]
        hostile[name] = draw(st.one_of(kinds).filter(lambda value, n=name: _tried(n, value)))
    return Keep(place, hostile)


# -- checkpoints ---------------------------------------------------------------------------------

# Fits whose checkpoints are damaged, and after how many writings they are broken off.
_BROKEN = {"sgns-metropolis": 9, "sgns-vi": 5, "senses-hmc": 8, "topics-gibbs": 9}


@cache
def left(name):
    """Files that a fit left when it was broken off, by name, and the digest of the whole fit."""
    with TemporaryDirectory() as folder:
        try:
            # every sweep is written
            often = mock.patch.multiple(checkpoint, INTERVAL=0.0, _SHARE=float("inf"))
            with often, break_after(_BROKEN[name]):
                CASES[name].fit(checkpoint=folder)
        except Broken:
            pass
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return files, digest(CASES[name].fit())


@dataclass(frozen=True)
class Resume:
    """A fit that goes on from files of which one was damaged: it ends the same, or refuses."""

    name: str
    which: int
    changes: list

    names = ("checkpoint",)

    def __call__(self):
        files, expected = left(self.name)
        damaged = sorted(files)[self.which % len(files)]
        with TemporaryDirectory() as folder, mock.patch("os.fsync"):
            for name, content in files.items():
                raw = content if name != damaged else Read("model", self.changes).damaged(content)
                (Path(folder) / name).write_bytes(raw)
            if digest(CASES[self.name].fit(checkpoint=folder)) != expected:
                raise AssertionError("other draws than without the damage")


@st.composite
def damaged_checkpoints(draw):
    """Checkpoints of broken fits, one file damaged in one to three places."""
    changes = draw(values.damages())
    return Resume(draw(st.sampled_from(list(_BROKEN))), draw(st.integers(0, 9)), changes)
