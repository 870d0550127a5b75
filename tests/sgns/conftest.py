"""What tests of the skip-gram model share."""

from __future__ import annotations

import pytest

from skbayesembed.sgns import exchange


@pytest.fixture(scope="module")
def first_mode():
    """Fits take the first mode that they find: most of a small fit is the search for others.

    For modules that are not about the mode, `test_exchange` and others are.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_ROUNDS", 0)
        yield
