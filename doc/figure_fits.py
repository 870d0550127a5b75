"""Data of the page on figures: real where SKBAYESEMBED_DATA names a folder, else made up."""

from __future__ import annotations

import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

FOLDER = os.environ.get("SKBAYESEMBED_DATA")
# What the page says of its data.
SAYS = (
    "inaugural addresses of the presidents of the United States, 1789 to 2021"
    if FOLDER
    else "made-up texts, since this page was built without the inaugural addresses"
)
_WORDS = """freedom liberty god people government war peace constitution union states nation law
power hope duty world force fear danger justice congress country bless citizens""".split()


def inaugural():
    """Inaugural addresses and their years."""
    if not FOLDER:
        rng = np.random.default_rng(0)
        halves = _WORDS[::2], _WORDS[1::2]
        texts = [" ".join(rng.choice(halves[i % 2], 300)) for i in range(58)]
        return texts, 1789 + 4 * np.arange(58)
    csv.field_size_limit(sys.maxsize)
    path = Path(FOLDER) / "inaugural" / "inaugural.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [row["text"] for row in rows], np.array([int(row["year"]) for row in rows])


def kosmos():
    """Snippets of the Greek word kosmos as lists of lemmas, their centuries and genres.

    Centuries count from the seventh before the common era, which is 0.
    """
    if not FOLDER:
        rng = np.random.default_rng(0)
        halves = _WORDS[:12], _WORDS[12:]
        snippets = [list(rng.choice(halves[i % 2], 6)) for i in range(200)]
        return snippets, list(np.arange(200) // 25), ["verse", "prose"] * 100
    folder = Path(FOLDER) / "senses" / "kosmos_all"
    tables = []
    for name in ("snippets", "vocab"):
        with open(folder / f"{name}.csv", encoding="utf-8", newline="") as lines:
            tables.append(list(csv.DictReader(lines)))
    rows, lemmas = tables[0], [row["lemma"] for row in tables[1]]
    snippets = [[lemmas[int(i)] for i in row["words"].split()] for row in rows]
    return snippets, [int(row["time"]) for row in rows], [row["genre_name"] for row in rows]


def newsgroups():
    """A sixth of 20 Newsgroups: lists of words, whether on politics or sport, a vector a word."""
    if not FOLDER:
        rng = np.random.default_rng(0)
        parts = [_WORDS[i : i + 6] for i in range(0, 24, 6)]
        documents = [list(rng.choice(parts[i % 4], 30)) for i in range(200)]
        centres = rng.normal(size=(4, 8))
        vectors = {w: centres[i // 6] + 0.3 * rng.normal(size=8) for i, w in enumerate(_WORDS)}
        kinds = {"politics": [int(i % 4 == 0) for i in range(200)]}
        return documents, kinds | {"sport": [int(i % 4 == 1) for i in range(200)]}, vectors
    folder = Path(FOLDER) / "topics" / "20ng"
    counts = sparse.load_npz(folder / "dtm.npz")[::6, :3000]
    words = (folder / "vocab.txt").read_text().split()[:3000]
    documents = [
        [words[j] for j, n in zip(row.indices, row.data, strict=True) for _ in range(n)]
        for row in counts
    ]
    names = (folder / "label_names.txt").read_text().split()
    groups = np.array(names)[np.loadtxt(folder / "labels.txt", dtype=int)[::6]]
    kinds = {"politics": "talk.politics", "sport": "rec.sport"}
    kinds = {kind: np.char.startswith(groups, start).astype(int) for kind, start in kinds.items()}
    return documents, kinds, dict(zip(words, np.load(folder / "vectors.npy"), strict=False))
