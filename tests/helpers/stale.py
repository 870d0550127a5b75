"""Compiled kernels whose sources have changed since."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import skbayesembed

PACKAGE = Path(skbayesembed.__file__).parent


@cache
def imports(source):
    """Sources of the package that a source of it names."""
    found = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = source.parents[node.level - 1]
            module = folder.joinpath(*(node.module or "").split("."))
            names = [module / alias.name for alias in node.names]
            found += [p for n in (module, *names) if (p := n.with_suffix(".py")).is_file()]
    return found


@cache
def imported(path):
    """Sources that a source imports, itself among them, by way of others."""
    found, todo = set(), [path]
    while todo:
        source = todo.pop()
        if source not in found:
            found.add(source)
            todo += imports(source)
    return found


def forget_stale_kernels():
    """Drop compiled kernels where their source, or any that it imports, is newer.

    Numba looks at the file of a kernel alone, not at those of the kernels that it calls.
    """
    for compiled in PACKAGE.rglob("__pycache__/*.nb[ic]"):
        source = compiled.parents[1] / f"{compiled.name.split('.')[0]}.py"
        try:
            made = compiled.stat().st_mtime
            stale = not source.is_file() or any(p.stat().st_mtime > made for p in imported(source))
        except FileNotFoundError:  # another process was faster
            continue
        if stale:
            compiled.unlink(missing_ok=True)
