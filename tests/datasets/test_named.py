"""Labels keep the name of their column: in parts, in copies and in another process."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from joblib import hash as digest

from skbayesembed.datasets.named import NamedArray, NamedList

LABELS = ["Adams", "Taft", "Polk"]
COPIES = {
    "pickle": lambda labels: pickle.loads(pickle.dumps(labels)),
    "old pickle": lambda labels: pickle.loads(pickle.dumps(labels, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "own copy": lambda labels: labels.copy(),
    "slice": lambda labels: labels[:],
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("kind", ["list", "array", "objects"])
def test_copies_keep_the_name(kind, how):
    labels = NamedList(LABELS, "president")
    if kind != "list":
        dtype = object if kind == "objects" else None
        labels = NamedArray.of(np.array(LABELS, dtype=dtype), "president")
    found = COPIES[how](labels)
    assert type(found) is type(labels) and found.name == "president"
    assert list(found) == LABELS and found is not labels
    assert digest(found) == digest(labels)


def test_an_entry_is_no_list():
    assert NamedList(LABELS, "president")[-1] == "Polk"
    assert NamedList(LABELS, "president")[::2].name == "president"
