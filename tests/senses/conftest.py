"""A search for modes that is short, for tests of what is done with its end."""

from __future__ import annotations

from functools import partial

import pytest

from skbayesembed.senses import starts
from skbayesembed.senses.mode import explore


@pytest.fixture(scope="module")
def explored_briefly():
    """Chains of 55 moves within a mode, not 350: whatever they find, fits go on from it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(starts, "explore", partial(explore, rounds=(10, 15, 30)))
        yield
