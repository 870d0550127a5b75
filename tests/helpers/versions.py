"""Tests of what later versions of other packages do."""

from __future__ import annotations

import pytest
import sklearn
from sklearn.utils.fixes import parse_version


def needs_sklearn(version, reason):
    """A mark that skips a test where scikit-learn is older."""
    older = parse_version(sklearn.__version__) < parse_version(version)
    return pytest.mark.skipif(older, reason=f"scikit-learn < {version} {reason}")
