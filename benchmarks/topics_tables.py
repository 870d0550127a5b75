"""The page of the study of topics (`topics.py`), as Markdown, beside figures measured elsewhere.

`PEERS` were measured on the same data by others, one thread, with the programs that
users have: the Python package gaussianlda, the Java of Das et al. (2015), tomotopy and
scikit-learn. `PAPER` holds what Ozaki & Kobayashi (2022) print of NIPS in Table 2; the curves of
their Figure 2 come without numbers.
"""

from __future__ import annotations

import numpy as np
from parts import table

# Tokens per CPU-second at K = 20 and 40.
PEERS = {
    "tomotopy LDA": (16.8e6, 14.2e6),
    "scikit-learn LDA": (0.29e6, None),
    "gaussianlda": (3e3, None),
    "Java of Das et al.": (6e3, None),
    "SVI of the first program": (8e3, None),
}
# Least tokens per CPU-second that are asked for, at K = 20 and 40.
TARGETS = {
    "gibbs, reference": {20: 0.1e6, 40: 0.1e6},
    "gibbs, alias": {20: 2.5e6, 40: 2.5e6},
    "gibbs, sampled": {20: 9e6, 40: 6e6},
    "vi": {20: 9e6, 40: 6e6},
}
MEMORY_TARGET = 1.5
QUALITY_TARGETS = {"npmi": 0.26, "score": -8.05, "accuracy": 0.57, "density": -6.3}
# Mean PMI over the ten best topics of NIPS at K = 40, reference corpus Wikipedia (Table 2).
PAPER = {
    "Gaussian LDA": (
        11.3463, 9.4716, 6.8211, 6.7072, 4.8832, 4.4388, 4.2489, 3.6088, 3.4125, 3.3666,
    ),
    "LDA": (
        0.4945, 0.4302, 0.3506, 0.3232, 0.2280, 0.1759, -0.0473, -0.1412, -0.1784, -0.2415,
    ),
}  # fmt: skip
INTRODUCTION = """# Gaussian topics: speed and quality

Written by `python benchmarks/topics.py --table` from runs of {dates}. The corpora are those of
Ozaki & Kobayashi (2022), rebuilt: 20 Newsgroups (15,076 documents, 17,876 words, 1.47 million
tokens) and NIPS (1,392 papers, 11,041 words, 1.76 million tokens), with vectors of 50 dimensions
that were trained on the same documents, not with the paper's vectors of Wikipedia. One thread
where nothing else is said; numba's compilation is left out. Other work shared the machine's 2
cores, with a load of {load} at the start of the runs: seconds are CPU seconds, and ratios within
a run are worth more than absolute numbers.
"""


def select(results, part):
    """Results of a part."""
    return [r for r in results if r["part"] == part and "error" not in r]


def number(x, digits=3):
    """A number, or nothing."""
    return "" if x is None or not np.isfinite(x) else f"{x:.{digits}f}"


def millions(rate):
    """Tokens a second, in millions."""
    return f"{rate / 1e6:.3g}"


# ---------------------------------------------------------------------------------------------


def speed_section(results):
    """Part "speed"."""
    found = sorted(select(results, "speed"), key=lambda r: (r["item"]["K"], -r["item"]["tau"]))
    if not found:
        return ""
    head = ["program", *(f"K={r['item']['K']}, tau={r['item']['tau']:g}" for r in found)]
    names = sorted({name for r in found for name in r["rates"]}, key=list(found[0]["rates"]).index)
    rows = [[f"`{n}`" if n in TARGETS else n, *(rated(r, n) for r in found)] for n in names]
    moved = [
        ["tokens that change their topic in a sweep of `sampled`"]
        + [f"{100 * r['moved']['gibbs, sampled']:.1f} %" for r in found]
    ]
    elsewhere = "; ".join(
        f"{name} {' and '.join(millions(x) for x in rates if x is not None)}"
        for name, rates in PEERS.items()
    )
    return f"""
## Speed

Millions of tokens per CPU-second of a sweep, medians of
{len(next(iter(found[0]["rates"].values())))} in turn, after 40 sweeps of warm-up; in brackets
what is asked for, and the ratio to tomotopy's LDA in the same run. LDA has no tau. The slow ones
sweep over the first documents only.

{table(head, rows + moved)}
Measured elsewhere on the same data, millions at K = 20 (and 40): {elsewhere}.

{threads_table(found)}"""


def rated(result, name):
    """Median rate with its target and its ratio to tomotopy's."""
    if name not in result["rates"]:
        return ""
    rate = np.median(result["rates"][name])
    notes = []
    if name in TARGETS and result["item"]["K"] in TARGETS[name]:
        notes.append(f"{millions(TARGETS[name][result['item']['K']])}")
    if "tomotopy LDA" in result["rates"] and name != "tomotopy LDA":
        notes.append(f"{rate / np.median(result['rates']['tomotopy LDA']):.2g}x")
    return millions(rate) + (f" ({', '.join(notes)})" if notes else "")


def threads_table(found):
    """Wall-clock time with one and two threads."""
    rows = []
    for r in found:
        for name, seconds in r["threads"].items():
            one, two = (np.array(seconds[n]) for n in ("1", "2"))
            rows.append([
                f"`{name}`, K={r['item']['K']}, tau={r['item']['tau']:g}",
                number(np.median(one)), number(np.median(two)),
                f"{np.median(one) / np.median(two):.2f}", f"{one.min() / two.min():.2f}",
                " to ".join(f"{load:.1f}" for load in r["load"]) if "load" in r else "",
            ])  # fmt: skip
    head = ("sweep", "s, 1 thread", "s, 2 threads", "ratio of medians", "of the fastest", "load")
    return f"""Wall-clock time of a sweep with one thread and two in turn. On a machine that is busy
with other work the second thread has no core of its own, and the ratio says nothing of the
program.

{table(head, rows)}"""


def memory_section(results):
    """Part "memory"."""
    found = select(results, "memory")
    if not found:
        return ""
    rows = [
        [
            f"`{r['item']['name']}`", r["item"]["K"], number(r["before"], 2), number(r["fit"], 2),
            f"{r['all']:.2f} ({MEMORY_TARGET})",
            f"{r['recorded'][0]} x {r['recorded'][1]} of {r['draws']}", f"{r['cpu']:.0f}",
        ]
        for r in found
    ]  # fmt: skip
    head = ("fit", "K", "data read", "after fit", "after transform", "draws recorded", "CPU s")
    return f"""
## Memory

Peak of a process, GB, in which 20 Newsgroups is read, fitted, transformed, and its first words are
listed; draws are recorded up to 256 MiB, so that longer chains do not take more.

{table(head, rows)}"""


def quality_section(results):
    """Part "quality"."""
    found = select(results, "quality")
    if not found:
        return ""
    found.sort(key=lambda r: (r["item"]["K"], r["item"]["seed"]))
    rows = []
    for r in found:
        name = r["item"]["name"]
        if "auto" in name:
            name += f" ({r['tau']:g})"
        rows.append([
            r["item"]["K"],
            (name if "LDA" in name else f"`{name}`")
            + (f", seed {r['item']['seed']}" if r["item"]["seed"] else ""),
            number(r["npmi"]), number(r.get("npmi_density")), number(r["npmi_report"]),
            number(r["score_count"]), number(r.get("score_density"), 2),
            number(r.get("density"), 2), number(r["accuracy"]), f"{r['smallest']:,.0f}",
            f"{r['cpu']:.0f}",
        ])  # fmt: skip
    t = QUALITY_TARGETS
    head = (
        "K", "model", f"NPMI ({t['npmi']})", "by density", "in report",
        f"log p(w), counts ({t['score']})", "density", "log density",
        f"accuracy ({t['accuracy']})", "smallest topic", "CPU s",
    )  # fmt: skip
    lengths = sorted({(r["warmup"], r["draws"]) for r in found if "draws" in r})
    lengths = " or ".join(f"{warmup} + {draws}" for warmup, draws in lengths)
    return f"""
## Quality on 20 Newsgroups

The documents with two tokens or more are split at random: 70 % to fit, 15 % to tune, 15 % to
report. Chains are one of {lengths} sweeps. Unless a start is named, it is what
`init="auto"` chooses among the documents of the fit. In brackets what is asked for at K = 20.

- *NPMI*: of the ten first words of each topic, by counts and by density, with documents of the
  fit as reference; and by counts with the report documents, fewer and unseen, where words that
  never meet count as -1.
- *log p(w)*: per token of the second half of a report document, given the first. *Counts*: words
  have the probabilities of the tokens that a topic holds, as in a plain LDA. *Density*: of the
  powered density at the word's vector, normalised over the vocabulary.
- *Log density*: per token of the second half, of the vectors as the model sees them. Raw vectors
  and vectors of unit length have different scales; {t["density"]} is asked for with raw ones at
  tau = 1.
- *Accuracy*: of a logistic regression of the 20 groups on the shares of topics, its penalty chosen
  on the tuning documents out of 1, 10 and 100.
- *Smallest topic*: tokens out of about one million. The plain LDAs get their shares by the same
  fold-in, halves and regression as the others.

{table(head, rows)}
{chosen(found)}"""


def chosen(found):
    """What the tuning documents would choose, and what that gives in the report."""
    lines = []
    for k in sorted({r["item"]["K"] for r in found}):
        for solver in ("gibbs", "vi"):
            tried = [
                r for r in found
                if r["item"]["K"] == k and r["item"]["name"].startswith(f"{solver}, tau=")
                and r["item"]["seed"] == 0
                and r["item"]["name"].count(",") == 1 and "auto" not in r["item"]["name"]
            ]  # fmt: skip
            if len(tried) < 2:
                continue
            best = max(tried, key=lambda r: r["score_count_tuning"])
            lines.append(
                f"- K = {k}, `{solver}`: log p(w) of the tuning documents chooses tau = "
                f"{best['tau']:g}: log p(w) {best['score_count']:.3f}, NPMI {best['npmi']:.3f}, "
                f"accuracy {best['accuracy']:.3f} in the report."
            )
    return "\n".join(lines) + "\n" if lines else ""


def nips_section(results):
    """Part "nips"."""
    found = select(results, "nips")
    if not found:
        return ""
    whole = [r for r in found if r["item"]["solver"] != "svi"]
    online = [r for r in found if r["item"]["solver"] == "svi"]
    ours, plain = PAPER["Gaussian LDA"], PAPER["LDA"]
    text = f"""
## NIPS

The paper's Figure 2 draws the mean PMI of the ten first words for K = 20 to 60 and gives no
numbers; its Table 2 has the ten best topics at K = 40, of the paper's SVI with batches of 4,
kappa 1 and tau0 1024: {np.mean(ours):.2f} on average, from {max(ours):.2f} to {min(ours):.2f},
and {np.mean(plain):.2f} for plain LDA. Its reference corpus is Wikipedia, ours are the papers
themselves, where words meet in most documents and PMI is smaller: levels do not compare, the order
of models and of K does.
"""
    if whole:
        whole.sort(key=lambda r: (-r["item"]["tau"], r["item"]["solver"], r["item"]["K"]))
        head = (
            "tau", "solver", "K", "PMI", "ten best topics", "NPMI", "PMI by density",
            "ten best topics", "smallest topic", "CPU s",
        )  # fmt: skip
        rows = [
            [
                f"{r['item']['tau']:g}", f"`{r['item']['solver']}`", r["item"]["K"],
                *coherences(r), f"{r['smallest']:,.0f}", f"{r['cpu']:.0f}",
            ]
            for r in whole
        ]  # fmt: skip
        text += "\n" + table(head, rows)
    if online:
        text += online_table(online)
    return text


def coherences(r):
    """Cells of PMI and NPMI."""
    return [
        number(r["pmi_count"]), number(r["pmi_best_count"]), number(r["npmi_count"]),
        number(r["pmi_density"]), number(r["pmi_best_density"]),
    ]  # fmt: skip


def online_table(online):
    """Batch and step sizes."""
    item = online[0]["item"]
    online.sort(key=lambda r: [r["item"][n] for n in ("batch_size", "decay", "offset")])
    offsets = sorted({r["item"]["offset"] for r in online})
    cells = {(r["item"]["batch_size"], r["item"]["decay"], r["item"]["offset"]): r for r in online}
    rows = []
    for size, decay in sorted({key[:2] for key in cells}):
        row = [size, f"{decay:g}"]
        for offset in offsets:
            r = cells.get((size, decay, offset))
            row.append("" if r is None else f"{r['npmi_count']:.3f} / {r['pmi_best_count']:.2f}")
        rows.append(row)
    head = ("batch", "kappa", *(f"tau0 = {offset}" for offset in offsets))
    return f"""
One pass of stochastic VI, K = {item["K"]}, likelihood power {item["tau"]:g}: NPMI / PMI of the
ten best topics, by batch size, `learning_decay` (kappa) and `learning_offset` (tau0). The start,
clusters by k-means, is taken out of what is reported, which the paper's SVI does not do.

{table(head, rows)}"""


def page(results):
    """The whole page."""
    dates = " and ".join(sorted({r["date"] for r in results}))
    loads = [x for r in results for x in np.atleast_1d(r.get("load", []))]
    load = f"{min(loads):.0f} to {max(loads):.0f}" if loads else "unknown size"
    sections = (speed_section, memory_section, quality_section, nips_section)
    return INTRODUCTION.format(dates=dates, load=load) + "".join(s(results) for s in sections)
