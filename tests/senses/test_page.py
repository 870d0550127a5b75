"""The code of the chapter on senses, too long to run here: every name is made before its use."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from pathlib import Path

DOC = Path(__file__).parents[2] / "doc"
_BLOCK = re.compile(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)")


def code_of_page():
    """The first program, which the page includes, and the blocks behind it in their order."""
    page = (DOC / "user_guide" / "senses.rst").read_text(encoding="utf-8")
    blocks = [textwrap.dedent(found) for found in _BLOCK.findall(page)]
    assert len(blocks) > 10 and "literalinclude:: ../first/senses.py" in page
    return [(DOC / "first" / "senses.py").read_text(encoding="utf-8"), *blocks]


def names(tree, kind):
    """Names that a statement reads (``ast.Load``) or makes (``ast.Store``)."""
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, kind)}
    if kind is ast.Store:
        found |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        found |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        aliases = [n for n in ast.walk(tree) if isinstance(n, ast.alias)]
        found |= {n.asname or n.name.split(".")[0] for n in aliases}
    return found


def undefined(blocks):
    """Names that a block reads and that neither it nor one before has made."""
    known, missing = set(vars(builtins)), []
    for statement in (line for block in blocks for line in ast.parse(block).body):
        known |= names(statement, ast.Store)
        missing += sorted(names(statement, ast.Load) - known)
    return missing


def test_blocks_run_in_their_order():
    assert undefined(["import numpy as np\nprint(np, x)", "x = 1"]) == ["x"]
    assert not undefined(code_of_page())
