"""What tests of the skip-gram model share."""

from __future__ import annotations

import pytest

from skbayesembed.inference import ascent
from skbayesembed.sgns import clustered, clusters, data, exchange, starting


@pytest.fixture(scope="module")
def first_mode():
    """Fits take the first mode that they find: most of a small fit is the search for others.

    For modules that are not about the mode, `test_exchange` and others are.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_ROUNDS", 0)
        yield


@pytest.fixture
def small(monkeypatch):
    """Rules under which few words have clusters, too."""
    monkeypatch.setattr(starting, "MANY", 100)
    # words of a simulation are about equally frequent
    monkeypatch.setattr(clustered, "_RARE", 0.5)
    monkeypatch.setattr(clustered, "_MOST_WORK", 9.0)
    monkeypatch.setattr(clusters, "_CLUSTERS", 6)


@pytest.fixture
def short_pieces(monkeypatch):
    """Sums in pieces, as they are made from some hundred thousand numbers on."""
    for module, name in ((ascent, "_LONG"), (ascent, "_SHORT"), (data, "_SUMMED")):
        monkeypatch.setattr(module, name, 100)
