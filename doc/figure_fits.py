"""Data of the page on figures: real where SKBAYESEMBED_DATA names a folder, else made up."""

from __future__ import annotations

import os

import numpy as np

from skbayesembed.datasets import fetch_inaugural

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
    """Inaugural addresses, their years and presidents; paragraphs end with a line break."""
    if FOLDER:
        addresses = fetch_inaugural()
        return addresses.data, addresses.year, addresses.president
    rng = np.random.default_rng(0)
    halves = _WORDS[::2], _WORDS[1::2]
    texts = [
        "\n".join(" ".join(rng.choice(halves[(i + j) % 2], 60)) for j in range(5))
        for i in range(58)
    ]
    return texts, 1789 + 4 * np.arange(58), [f"president {i // 2}" for i in range(58)]
