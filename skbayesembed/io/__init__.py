"""Word vectors in and out, fitted models without pickle, the formats of other tools."""

from __future__ import annotations

from .models import load
from .projector import to_projector
from .vectors import load_vectors, save_vectors
from .word_vectors import WordVectors, to_keyed_vectors

__all__ = [
    "WordVectors",
    "load",
    "load_vectors",
    "save_vectors",
    "to_keyed_vectors",
    "to_projector",
]
