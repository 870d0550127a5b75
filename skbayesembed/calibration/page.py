"""The page of the documentation that the command writes."""

from __future__ import annotations

import datetime
import os
import platform
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..plotting.canvas import LIGHT, SMALL, pyplot, styles
from .bands import ecdf_band
from .suite import WHOLE, Calibration

_COLUMNS = 4
_WIDTH = 118

_COMMAND = "python -m skbayesembed.calibration --share {} --n-jobs 2 --page calibration.md"
_TESTS = """\
Each sampler has three tests:

- *Ranks* (simulation-based calibration, Talts et al. 2018). Parameters are drawn from the prior and
data given these parameters, and the estimator is fitted by its public `fit`. If draws and intervals
are right, the true values have uniform ranks among 31 thinned draws of the posterior. The ranked
quantities do not depend on rotations or on the order of components, and include the log likelihood,
which depends on all of the data. Each p-value tests a whole distribution function of ranks
(Säilynoja et al. 2022); the table shows the smallest over all quantities, with Bonferroni's
correction.

- *Joint* (Geweke 2004). A chain alternates between drawing data given parameters and moving
parameters given data by a single sweep or trajectory. Its parameters must have the distribution of
the prior. Means of the quantities and of their squares are compared with those of independent
draws, in standard errors. A dash marks samplers to which the test cannot be applied.

- *Corner*. The posterior is so small that draws from the prior, weighted by their likelihood, give
its means. The means of the estimator's draws are compared with these means.

The priors and likelihoods of the tests are written out in NumPy and SciPy, not taken from the
solvers. A p-value below .001 counts as an alarm."""
_HEAD = """\
| model | solver | ranks: p | joint: p, largest z | corner: p, largest z | weighted draws |
|---|---|---|---|---|---|"""
_MUTATIONS = """\
## Would the tests notice?

Each row is a deliberate mistake in a copy of the package, with the test that caught it. `python
benchmarks/mutations.py` reproduces the table."""


def write_page(
    path: Path,
    found: Sequence[Calibration],
    mutations: Path | None = None,
    figure: Path | None = None,
) -> None:
    """Write a page of what the tests found, and its figure.

    Parameters
    ----------
    path : Path
        Ending in ``.md``.
    found : sequence of Calibration
    mutations : Path or None, default=None
        File with a table of mutations, to be put at its end.
    figure : Path or None, default=None
        Of the figure; beside the page where None.
    """
    figure = path.with_suffix(".png") if figure is None else figure
    draw_ranks(found, figure)
    shown = Path(os.path.relpath(figure, path.parent)).as_posix()
    parts = [
        "# Calibration in public",
        f"![Distribution functions of ranks less what is expected, with 95 % bands]({shown})",
        _summary(found),
        f"    {_command(found)}",
        _run(found),
        *_TESTS.split("\n\n"),
        "\n".join([_HEAD, *map(_row, found)]),
    ]
    if mutations is not None:
        parts += [*_MUTATIONS.split("\n\n"), mutations.read_text(encoding="utf-8").rstrip()]
    path.write_text("\n\n".join(map(_filled, parts)) + "\n", encoding="utf-8")


def _filled(part):
    """Paragraphs in lines of one width; tables, code and headings as they are."""
    if part.startswith(("|", " ", "#", "!")) or "\n|" in part:
        return part
    indent = "  " if part.startswith("- ") else ""
    return textwrap.fill(
        part, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _summary(found):
    n_failed = sum(not one.passed for one in found)
    verdict = f"**{n_failed} of them failed**" if n_failed else "**None of them failed**"
    models = len({one.model for one in found})
    return (
        f"{verdict}: the draws of {len(found)} samplers of {models} models were tested for whether "
        "they come from the posterior. Each line in the figure is the distribution function of the "
        "ranks of one quantity. If ranks are uniform, a whole line stays in the gray band with a "
        "probability of 95 %. Anyone can reproduce this page, in whole or in part:"
    )


def _command(found):
    """The command that makes a page of as many replications."""
    return _COMMAND.format(f"{max(len(one.ranks) for one in found) / WHOLE['replications']:g}")


def _run(found):
    replications = _listed({len(one.ranks) for one in found})
    steps = _listed({one.n_steps for one in found if one.joint is not None})
    minutes = sum(one.seconds for one in found) / 60
    return (
        f"This run is from {datetime.date.today().isoformat()} ({_machine()}), with {replications} "
        f"replications and {steps} steps of the joint test for each sampler; a full run, `--share "
        f"1`, has {WHOLE['replications']:,} and {WHOLE['steps']:,}. It took {minutes:.0f} minutes "
        "of CPU time."
    )


def draw_ranks(found: Sequence[Calibration], path: Path) -> None:
    """Write a figure of all distribution functions of ranks, less what is expected.

    Parameters
    ----------
    found : sequence of Calibration
    path : Path

    Raises
    ------
    ImportError
        If matplotlib, in the extra ``plot``, is not installed.
    """
    plt = pyplot("draw_ranks")
    n_rows = -(-len(found) // _COLUMNS)
    size = (2.1 * _COLUMNS, 1.5 * n_rows + 0.3)
    figure, axes = plt.subplots(
        n_rows, _COLUMNS, figsize=size, sharex=True, squeeze=False, layout="constrained"
    )
    for ax in axes.ravel()[len(found) :]:
        ax.set_axis_off()
    for ax, one in zip(axes.ravel(), found, strict=False):
        places = np.arange(one.n_draws)
        share = (places + 1) / (one.n_draws + 1)
        low, high = ecdf_band(len(one.ranks), one.n_draws)
        ax.fill_between(share, low - share, high - share, color=LIGHT, lw=0)
        for ranks, (color, line) in zip(one.ranks.T, styles(), strict=False):
            ecdf = (ranks[:, None] <= places).mean(axis=0)
            ax.plot(share, ecdf - share, line, color=color, lw=0.8)
        ax.set_title(f"{one.model}\n{one.sampler}", fontsize=SMALL)
        ax.tick_params(labelsize=SMALL)
    figure.supxlabel("rank of the truth, as a share", fontsize=SMALL)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _row(one):
    ranks, joint, corner = one.worst
    mark = "" if one.passed else " **fails**"
    return (
        f"| {one.model} | `{one.sampler}`{mark} | {_p(ranks)} | {_p(joint)}{_z(one.joint)} | "
        f"{_p(corner)}{_z(one.corner)} | {one.weights:,.0f} |"
    )


def _p(p):
    return "-" if np.isnan(p) else f"{p:.2g}"


def _z(scores):
    return "" if scores is None else f", {np.nanmax(np.abs(scores)):.1f}"


def _listed(numbers):
    return " or ".join(f"{n:,}" for n in sorted(numbers)) or "no"


def _machine():
    return f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}"
