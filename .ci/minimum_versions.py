"""Print the least versions of what the package and its tests need, as pyproject.toml states them.

python -m pip install $(python .ci/minimum_versions.py)
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
tools = {"ruff", "mypy", "hypothesis"}  # of no consequence to what is tested
for need in [*project["dependencies"], *extras["plot"], *extras["arviz"], *extras["test"]]:
    name, least = re.fullmatch(r"([\w-]+(?:\[[\w,]+\])?)(?:>=([\d.]+))?", need).groups()
    if least is not None and name not in tools:
        print(f"{name}=={least}")
