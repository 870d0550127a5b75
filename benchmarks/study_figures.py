"""Figures of the pages of studies, from the tables on those pages.

    python benchmarks/study_figures.py

reads doc/studies/*.md and writes doc/_static/studies/*.png, so that a figure shows the numbers that
stand beside it. Run it again after a table was written anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import MaxNLocator, NullFormatter  # noqa: E402

DOC = Path(__file__).parents[1] / "doc"
OUT = DOC / "_static" / "studies"
COLOURS = {"gibbs": "C0", "hmc": "C2", "laplace": "C1", "vi full": "C3", "map": "C7"}


def tables(page):
    """Tables of a page: (heading, last line before the table, header, rows of texts)."""
    heading = before = ""
    lines = (DOC / "studies" / f"{page}.md").read_text(encoding="utf-8").splitlines()
    found, at = [], 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("|"):
            block = []
            while at < len(lines) and lines[at].strip().startswith("|"):
                block.append([cell.strip() for cell in lines[at].strip().strip("|").split("|")])
                at += 1
            found.append((heading, before, block[0], block[2:]))
            continue
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line:
            before = line
        at += 1
    return found


def number(cell):
    """First number of a cell, NaN where there is none."""
    match = re.search(r"-?\d[\d,]*\.?\d*(e-?\d+)?", cell)
    return float(match.group().replace(",", "")) if match else np.nan


def column(header, rows, name):
    """Numbers of a column."""
    place = header.index(name)
    return np.array([number(row[place]) for row in rows])


def save(figure, name):
    """Write a figure at the width of a page."""
    figure.savefig(OUT / f"{name}.png", dpi=160)
    plt.close(figure)


def simulation():
    """Coverage of 90 % intervals over the number of observations."""
    wanted = "Coverage of P(w, v), percent: equal-tailed 90 % intervals, all pairs"
    cells = [t for t in tables("simulation_tables") if t[0] == wanted and "V = 100, uni" in t[1]]
    figure, axes = plt.subplots(1, 3, figsize=(7, 2.9), sharey=True, layout="constrained")
    for axis, (_, title, header, rows) in zip(axes, cells, strict=True):
        n = column(header, rows, "N")
        axis.axhline(90, color="0.6", lw=1)
        for solver in ("gibbs", "hmc", "laplace", "vi full"):
            axis.plot(
                n, column(header, rows, solver), "o-", ms=3, lw=1.2,
                color=COLOURS[solver], label=solver.removesuffix(" full"),
            )  # fmt: skip
        axis.set(xscale="log", title=title.split(",")[0], xlabel="observations")
    axes[0].set_ylabel("coverage, %")
    figure.legend(
        *axes[0].get_legend_handles_labels(), fontsize=8, frameon=False, ncols=4,
        loc="outside upper center",
    )  # fmt: skip
    save(figure, "simulation")


def heldout():
    """Held-out scores over the number of observations."""
    cells = [t for t in tables("heldout") if "MAP, tuned" in t[2]]
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    for axis, (title, _, header, rows) in zip(axes, cells, strict=True):
        n = column(header, rows, "N")
        tuned = next(name for name in header if name.startswith("predictive, ") and "=" not in name)
        for name, label, colour in (
            ("MAP, lambda=1", "MAP, precision 1", "C7"),
            ("MAP, tuned", "MAP, tuned", "C1"),
            (tuned, "posterior predictive", "C0"),
        ):
            axis.plot(n, column(header, rows, name), "o-", ms=4, color=colour, label=label)
        axis.axhline(-np.log(2), color="0.6", lw=1, ls="--", label="guessing")
        axis.set(xscale="log", title=title.split(" (")[0], xlabel="observations")
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel("held-out log probability")
    axes[0].legend(fontsize=8, frameon=False)
    save(figure, "heldout")


def similarity():
    """Agreement with people, and analogies, by method."""
    _, _, header, rows = tables("similarity")[0]
    methods = {
        "map, rho": "MAP of this package", "ppmi, power 0.5": "PPMI", "gensim": "gensim, 2 epochs",
    }  # fmt: skip
    rows = [row for row in rows if row[header.index("K")] == "100" and row[0] in methods]
    names = ["ws353", "simlex999", "rg65", "mc30", "yp130", "mturk287", "analogies"]
    places = np.arange(len(names))
    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for i, (row, colour) in enumerate(zip(rows, ("C0", "C7", "C1"), strict=True)):
        values = [number(row[header.index(name)]) for name in names]
        axis.plot(values, places + 0.2 * (i - 1), "o", color=colour, label=methods[row[0]])
    axis.set(yticks=places, yticklabels=names, xlim=(0, 100), xlabel="score, times 100")
    axis.grid(axis="x", lw=0.3)
    axis.invert_yaxis()
    axis.legend(fontsize=8, frameon=False)
    save(figure, "similarity")


def ard():
    """Components that stay on, over those that were offered."""
    _, _, header, rows = tables("ard")[0]
    k = column(header, rows, "K")
    low, middle, high = np.array(
        [[int(x) for x in row[1].split(",")] for row in rows], dtype=float
    ).T
    figure, axis = plt.subplots(figsize=(4.5, 2.8), layout="constrained")
    axis.axhline(10, color="0.6", lw=1, label="truth")
    axis.plot(k, k, color="0.8", lw=1, ls="--", label="all of them")
    axis.vlines(k, low, high, lw=3, color="C0")
    axis.plot(k, middle, "o", color="C0", label="on: median, range")
    axis.set(xlabel="components offered", ylabel="components on", ylim=(0, 22))
    axis.legend(fontsize=8, frameon=False)
    save(figure, "ard")


def senses():
    """Brier scores of ten seeds beside those of the authors' code."""
    cells = tables("senses")
    _, _, header, rows = next(t for t in cells if "seed" in t[2])
    figure, axis = plt.subplots(figsize=(6, 1.8), layout="constrained")
    ours = column(header, rows, "Brier")
    text = (DOC / "studies" / "senses.md").read_text(encoding="utf-8")
    said = re.search(r"do not agree with each other: ([\d., \n]+);", text).group(1)
    theirs = [float(x) for x in re.findall(r"\d\.\d+", said)]
    for y, values, colour in ((1, ours, "C0"), (0, theirs, "C1")):
        axis.plot(values, np.full(len(values), y), "o", color=colour, alpha=0.7)
    axis.set(
        yticks=[1, 0], ylim=(-0.5, 1.5),
        yticklabels=[f"this package, {len(ours)} seeds", f"R code, {len(theirs)} seeds"],
        xlabel="Brier score of the senses (less is better)",
    )  # fmt: skip
    save(figure, "senses")


def topics():
    """Held-out log probability and coherence beside plain LDA, K = 20."""
    _, _, header, rows = next(t for t in tables("topics") if "model" in t[2])
    chosen = {
        "`gibbs, tau=1`": "gibbs, power 1",
        "`gibbs, tau=0.1`": "gibbs, power 0.1",
        "`gibbs, tau=0.2`": "gibbs, power 0.2",
        "`vi, tau=0.2`": "vi, power 0.2",
        "tomotopy LDA": "plain LDA, random start",
        "LDA, same start": "plain LDA, same start",
    }
    rows = [row for row in rows if row[0] == "20" and row[1] in chosen]
    at = 1 + next(i for i, row in enumerate(rows) if row[1] == "tomotopy LDA")
    rows.insert(at, _lda_from_the_same_start(header))
    figure, axes = plt.subplots(1, 3, figsize=(7, 2.2), sharey=True, layout="constrained")
    measures = [name for name in header if name.startswith(("NPMI", "log p", "accuracy"))]
    labels = ["coherence (NPMI)", "log p(w), held out", "accuracy of groups"]
    for axis, name, label in zip(axes, measures, labels, strict=True):
        plain = ["LDA" in row[1] for row in rows]
        axis.scatter(column(header, rows, name), range(len(rows)), c=np.where(plain, "C1", "C0"))
        axis.set(xlabel=label)
        axis.grid(lw=0.3)
    axes[0].set(yticks=range(len(rows)), yticklabels=[chosen[row[1]] for row in rows])
    save(figure, "topics")


def _lda_from_the_same_start(header):
    """Its row of the table of Dirichlet topics, under the names of columns of the first table."""
    _, _, names, found = next(t for t in tables("topics") if t[1] == "**Quality, K = 20**")
    row = dict(zip(names, next(row for row in found if row[0] == "LDA, same start"), strict=True))
    numbers = {"NPMI": row["npmi"], "log p": row["score"], "accuracy": row["accuracy"]}
    measured = [next((v for k, v in numbers.items() if name.startswith(k)), "") for name in header]
    return ["20", row["model"], *measured[2:]]


def dynamic():
    """Held-out scores of State of the Union addresses, and words that changed in UN debates."""
    cells = tables("dynamic")
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    _, _, header, rows = next(t for t in cells if "held-out score" in t[2])
    left.plot(column(header, rows, "held-out score"), range(len(rows)), "o", color="C0")
    left.set(yticks=range(len(rows)), yticklabels=[row[0] for row in rows])
    left.set(xlabel="held-out log probability", title="State of the Union")
    left.grid(axis="x", lw=0.3)
    left.xaxis.set_major_locator(MaxNLocator(3))
    left.invert_yaxis()
    _, _, header, rows = next(t for t in cells if header_of_changes(t))
    enough = [row for row in rows if min(map(float, row[4].split(", "))) >= 50]
    rows = enough[:10]
    ends = np.array([[number(x) for x in row[2].strip("[]").split(",")] for row in rows])
    right.hlines(range(10), *ends.T, color="C0", lw=2)
    right.plot(column(header, rows, "distance"), range(10), "o", ms=4, color="C0")
    right.set(yticks=range(10), yticklabels=[row[0] for row in rows], title="UN debates")
    right.axvline(threshold(), color="0.5", ls="--", lw=1)
    right.set(xlabel="distance, 1946-52 to 2016-22")
    right.invert_yaxis()
    save(figure, "dynamic")


def header_of_changes(table):
    """Whether a table is one of words that changed."""
    return table[2][:2] == ["word", "distance"]


def threshold():
    """What the prior lets a word go of which nothing is known."""
    text = (DOC / "studies" / "dynamic.md").read_text(encoding="utf-8")
    return float(re.search(r"euclidean distance, threshold ([\d.]+)", text).group(1))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    for draw in (simulation, heldout, similarity, ard, senses, topics, dynamic):
        draw()
