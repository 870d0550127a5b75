"""Simulators that return the truth with the data, a text without network, snippets of a corpus."""

from __future__ import annotations

from .dynamic import make_dynamic_sgns
from .load import load_python_reference
from .senses import make_senses
from .simulate import make_sgns
from .snippets import extract_snippets
from .text import make_text
from .topics import make_topics

__all__ = [
    "extract_snippets",
    "load_python_reference",
    "make_dynamic_sgns",
    "make_senses",
    "make_sgns",
    "make_text",
    "make_topics",
]
