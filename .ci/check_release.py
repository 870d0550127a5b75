"""Do tag, version, changelog and citation agree? ``python .ci/check_release.py v1.2.3``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def faults(tag):
    """What has to be mended before ``tag`` is a release, as sentences."""
    version = tag.removeprefix("v")
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    if project["version"] != version:
        yield f"pyproject.toml has version {project['version']}, the tag says {version}."
    if "Repository" not in project.get("urls", {}):
        yield "pyproject.toml has no address of the repository: add Repository to [project.urls]."
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE
    ):
        yield f"CHANGELOG.md has no heading '## [{version}] - YYYY-MM-DD'."
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if not re.search(rf'^version: "?{re.escape(version)}"?$', citation, re.MULTILINE):
        yield f"CITATION.cff has no line 'version: {version}'."


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if found := list(faults(sys.argv[1])):
        sys.exit("\n".join(found))
