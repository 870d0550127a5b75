"""Simulators that return the truth with the data, texts without network and texts downloaded."""

from __future__ import annotations

from .corpora import (
    fetch_brown,
    fetch_conll2000,
    fetch_convote,
    fetch_inaugural,
    fetch_movie_reviews,
    fetch_state_of_the_union,
    fetch_text8,
)
from .download import clear_data_home, fetch_file, get_data_home
from .dynamic import make_dynamic_sgns
from .load import load_python_reference
from .measures import (
    fetch_analogies,
    fetch_movielens,
    fetch_stop_words,
    fetch_word_similarity,
)
from .prepared import load_snippets
from .senses import make_senses
from .simulate import make_sgns
from .snippets import extract_snippets
from .text import make_text
from .topics import make_topics

__all__ = [
    "clear_data_home",
    "extract_snippets",
    "fetch_analogies",
    "fetch_brown",
    "fetch_conll2000",
    "fetch_convote",
    "fetch_file",
    "fetch_inaugural",
    "fetch_movie_reviews",
    "fetch_movielens",
    "fetch_state_of_the_union",
    "fetch_stop_words",
    "fetch_text8",
    "fetch_word_similarity",
    "get_data_home",
    "load_python_reference",
    "load_snippets",
    "make_dynamic_sgns",
    "make_senses",
    "make_sgns",
    "make_text",
    "make_topics",
]
