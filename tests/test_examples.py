"""Every public function and method shows how it is called, by an example that the doctests run."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import skbayesembed

INDEX = Path(__file__).parents[1] / "doc" / "api" / "index.rst"
# ArviZ is not installed everywhere.
WITHOUT = {
    "dynamic.datatree.to_datatree",
    "posterior.posterior.Posterior.to_datatree",
    "senses.loo.to_datatree",
    "sgns.datatree.to_datatree",
    "topics.datatree.to_datatree",
}


def public():
    """What the reference of the documentation lists."""
    for name in re.findall(r"^   ([\w.]+)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE):
        found, path = skbayesembed, "skbayesembed"
        for part in name.split("."):
            path = f"{path}.{part}"
            found = getattr(found, part, None) or importlib.import_module(path)
        yield found


def functions(found):
    """A function itself; the public methods of a class that are of this package."""
    if inspect.isfunction(found):
        return [found]
    if not inspect.isclass(found):
        return []
    methods = inspect.getmembers(found, lambda m: inspect.isfunction(m) or inspect.ismethod(m))
    return [m for name, m in methods if name[0] != "_" and m.__module__.startswith("skbayesembed")]


def test_examples():
    everything = {
        f"{f.__module__}.{f.__qualname__}".removeprefix("skbayesembed."): f
        for found in public()
        for f in functions(found)
    }
    assert len(everything) > 200
    missing = {name for name, f in everything.items() if ">>>" not in (f.__doc__ or "")}
    assert missing == WITHOUT


@pytest.mark.parametrize("name", ["BayesianSGNS", "DiSCSenseModel", "DynamicSGNS", "GaussianLDA"])
def test_errors_of_arguments_name_methods_and_no_mixins(name):
    estimator = getattr(skbayesembed, name)()
    for method in ("report", "save", "transform", "score"):
        with pytest.raises(TypeError) as raised:
            getattr(estimator, method)(no_such_argument=1)
        assert "Mixin" not in str(raised.value) and f"{method}() " in str(raised.value)
