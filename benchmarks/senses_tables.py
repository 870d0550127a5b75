"""The page of the study of senses (`senses.py`), as Markdown, beside the published figures.

The published figures are those of Zafar & Nicholls (2022), Tables 7 and 9, section 9 and appendix
F. Those of their R code come from running it (4.2.2, two cores): seed 1500, 10,000 iterations, the
first half dropped.
"""

from __future__ import annotations

import numpy as np
from parts import table

# Effective draws per CPU hour, CPU seconds per 1000 iterations, and the fewest of 5000 draws.
R_CODE = {"prevalence": 423, "words": 627, "seconds": 169, "draws": 5000, "ess_min": 10.6}
R_CODE_MIN = R_CODE["ess_min"] * 3600 / (R_CODE["seconds"] * R_CODE["draws"] / 1000)
# Brier scores of three seeds and of their chains together; cells by its file ``reference_phi.csv``.
R_CODE_MODES = """The authors' R code, three seeds that do not agree with each other: 0.406, 0.453,
0.460; their chains pooled 0.422. Bands of the first overlap in 53 of 54 cells.
"""
PAPER_BRIER = {
    ("synth_scan_100", "disc"): "0.017",
    ("synth_scan_100", "scan"): "did not converge",
    ("synth_scan_500", "disc"): "0.0065",
    ("synth_scan_500", "scan"): "0.0072",
    ("synth_interaction1", "disc"): "0.382",
    ("synth_interaction1", "scan"): "0.387",
    ("synth_interaction2", "disc"): "0.386",
    ("synth_interaction2", "scan"): "0.350",
    ("synth_interaction3", "disc"): "0.252",
    ("synth_interaction3", "scan"): "0.210",
}
PAPER_KOSMOS = {
    "G = 1": "0.47",
    "G = 2": "0.41",
    "GASC, G = 2": "did not converge; best 0.73",
    "all snippets, K = 4": "0.38",
}
INTRODUCTION = """# Senses of kosmos

Written by `python benchmarks/senses.py --table` from runs of {dates}. The data are those of Zafar &
Nicholls (2022): 1144 snippets of the ancient Greek word *kosmos*, 968 words, 9 centuries of which
one has no snippets, 2 genres, 3 senses labelled by experts; and their simulated sets. Labels are
used for scores alone. Scores leave out the 7 empty snippets, as the paper's do. CPU seconds are of
all threads together, on a machine that other work shared; numba's compilation is left out. R-hat is
split R-hat, rank-normalised, the largest over all prevalences; ESS is of the bulk, over all chains
together.
"""


def select(results, part):
    """Results of a part, in the order of their items."""
    found = [r for r in results if r["part"] == part and "error" not in r]
    return sorted(found, key=lambda r: str(r["item"]))


def lengths(result):
    """How long the chains of a result are, in words."""
    thin = result.get("thin", 1)
    apart = f" draws {thin} apart" if thin > 1 else ""
    return (
        f"{result['chains']} chains of {result['warmup']} + {result['draws']}{apart}, "
        f"{result['n_starts']} starts"
    )


def per_cent(share):
    """A share as per cent, small ones as a power of ten."""
    return f"{100 * share:.3g}" if share >= 1e-4 else f"{100 * share:.0e}"


def described_mode(mode, best):
    """Share, distance of the log mass, starts and Brier score of a mode."""
    text = f"{per_cent(mode['share'])} %"
    if mode["log_mass"] is not None and mode is not best:
        error = (mode["error"] ** 2 + best["error"] ** 2) ** 0.5
        text += f", {mode['log_mass'] - best['log_mass']:+.1f} ± {error:.1f}"
    return text + f" ({mode['n_starts']}; {mode['brier']:.3f})"


def modes_section(results):
    """Part "modes"."""
    found = sorted(select(results, "modes"), key=lambda r: r["item"]["seed"])
    if not found:
        return ""
    rows = []
    for r in found:
        best = r["modes"][0]
        rows.append([
            r["item"]["seed"],
            "; ".join(described_mode(mode, best) for mode in r["modes"]),
            f"{r['brier']:.3f}", f"{r['rhat']:.3f}", f"{r['ess_min']:.0f}",
            f"{round(r['overlap'] * r['cells'])} of {r['cells']}",
            f"{r['cpu']:.0f} ({r['cpu_modes']:.0f})", f"{r['wall']:.0f}",
        ])  # fmt: skip
    scores = [r["brier"] for r in found]
    head = (
        "seed", "modes: share, log mass beside the first's (starts; Brier)", "Brier", "R-hat",
        "least ESS", "cells", "CPU s (modes)", "s",
    )  # fmt: skip
    text = f"""
## Modes, from several seeds

Fits with {lengths(found[0])}. Each mode with its share of the posterior; how far its log
mass is from that of the first, with the standard error of the difference; and, in brackets, how
many starts ended in it and its own Brier score. *Cells*: in how many of the cells of sense, genre
and century the 95 % band of prevalence overlaps the band learned from the labels. *CPU s*: of the
whole fit, and of the search for modes within it.

{table(head, rows)}
Brier score of the posterior over the seeds: {min(scores):.3f} to {max(scores):.3f}.
"""
    return text + R_CODE_MODES


def speed_section(results):
    """Part "speed"."""
    found = select(results, "speed")
    if not found:
        return ""
    rows = [
        ["R code", "after warm-up", R_CODE["prevalence"], f"{R_CODE_MIN:.0f}", R_CODE["words"], ""]
    ]
    notes = []
    for r in found:
        name = r["item"]["sampler"]
        for key, what in (("after_warmup", "after warm-up"), ("whole", "whole fit")):
            if key in r:
                rows.append([name if key == "after_warmup" else "", what, *rated(r[key])])
        if "seconds_per_1000" in r:
            notes.append(yardstick_note(r))
        else:
            notes.append(
                f"`DiSCSenseModel`, {lengths(r)}: {r['cpu']:.0f} CPU s, {r['cpu_modes']:.0f} of "
                "them in the search for modes; the rest is split between warm-up and draws by "
                "their numbers."
            )
    head = ("sampler", "counting", "prevalence: median", "least", "words: median", "least")
    return f"""
## Speed

Effective draws per CPU hour of the 54 prevalences and of the probabilities, in every century, of
the 20 most probable words of each sense (540), median and least; in brackets the ratio to the R
code.

{table(head, rows)}
""" + "\n".join(f"- {note}" for note in notes) + "\n"  # fmt: skip


def rated(rate):
    """Rates with their ratios to the R code's."""
    pairs = (
        ("prevalence_median", R_CODE["prevalence"]), ("prevalence_min", R_CODE_MIN),
        ("words_median", R_CODE["words"]), ("words_min", None),
    )  # fmt: skip
    return [
        f"{rate[name]:,.0f}" + ("" if base is None else f" ({rate[name] / base:,.1f})")
        for name, base in pairs
    ]


def yardstick_note(result):
    """What the yardstick took, and whether it counts."""
    seconds = result["seconds_per_1000"]
    counts = "so it counts" if seconds <= R_CODE["seconds"] else "so it is VOID"
    rates = ", ".join(f"{k} {v:.2f}" for k, v in result["acceptance"].items())
    return (
        f"numpy MALA, {result['warmup_iterations']:,} + {result['iterations']:,} iterations from a "
        f"state in the heaviest mode: {seconds:.0f} CPU s per 1000 iterations beside the R code's "
        f"{R_CODE['seconds']}, {counts}; acceptance {rates}. Effective sizes of one chain that "
        "moves this slowly are themselves uncertain."
    )


def solvers_section(results):
    """Part "solvers"."""
    found = {r["item"]["name"]: r for r in select(results, "solvers")}
    if "hmc" not in found:
        return ""
    mean, sd = (np.array(found["hmc"][name]) for name in ("mean", "sd"))
    rows = []
    for name, r in found.items():
        away = np.sqrt(np.mean(((np.array(r["mean"]) - mean) / sd) ** 2))
        width = np.median(np.array(r["sd"]) / sd)
        sampled = name.startswith(("hmc", "gibbs"))
        rows.append([
            name, f"{away:.2f}", f"{width:.2f}", f"{r['brier']:.3f}",
            f"{r['rhat']:.3f}" if sampled else "", f"{r['ess_min']:.0f}" if sampled else "",
            f"{r['cpu']:.0f} ({r['cpu_modes']:.0f})",
        ])  # fmt: skip
    head = (
        "solver", "difference of means", "ratio of sds", "Brier", "R-hat", "least ESS",
        "CPU s (modes)",
    )  # fmt: skip
    return f"""
## Solvers

The 54 prevalences beside those of `"hmc"`, {lengths(found["hmc"])}: the root mean square of the
difference of means, in standard deviations, and the median ratio of standard deviations. All but
`"map"` begin with the same search for modes.

{table(head, rows)}"""


def synthetic_section(results):
    """Part "synthetic"."""
    found = sorted(
        select(results, "synthetic"),
        key=lambda r: (r["item"]["set"], ("disc", "scan", "interaction").index(r["item"]["model"])),
    )
    if not found:
        return ""
    rows = [
        [
            r["item"]["set"], r["item"]["model"], f"{r['brier']:.4f}",
            PAPER_BRIER.get((r["item"]["set"], r["item"]["model"]), ""),
            *mixing(r),
        ]
        for r in found
    ]  # fmt: skip
    head = ("set", "model", "Brier", "paper", *MIXING)
    return f"""
## Simulated sets

The paper's own. `synth_scan_*` are drawn from SCAN, with 100 and 500 snippets a period; in
`synth_interaction*` words change their frequency differently under different senses, more from set
to set.

{table(head, rows)}"""


MIXING = ("R-hat", "least ESS", "modes: shares in %", "CPU s", "chains")


def mixing(result):
    """Convergence, modes and cost of a fit, as cells."""
    shares = ", ".join(per_cent(mode["share"]) for mode in result["modes"][:4])
    more = len(result["modes"]) - 4
    return [
        f"{result['rhat']:.3f}", f"{result['ess_min']:.0f}",
        shares + (f" and {more} more" if more > 0 else ""),
        f"{result['cpu']:.0f}", lengths(result),
    ]  # fmt: skip


def kosmos_section(results):
    """Part "kosmos-models"."""
    found = select(results, "kosmos-models")
    if not found:
        return ""
    rows = [
        [
            r["item"]["name"], f"{r['brier']:.3f}", extremes(r.get("brier_of_parts")),
            PAPER_KOSMOS.get(r["item"]["name"], ""),
            f"{r['elpd']:.1f} ± {r['se']:.1f} ({per_cent(r['bad_share'])} %)", *mixing(r),
        ]
        for r in found
    ]  # fmt: skip
    head = ("model", "Brier", "of parts", "paper", "elpd by loo (bad Pareto k)", *MIXING)
    return f"""
## Other models of kosmos

*elpd* compares rows of the same snippets; with many bad Pareto k it is only a rough guide. The row
of K = 4 is about all 1469 snippets, its Brier score about those that can be told from their
context, over the three senses that match a label (appendix F). *Of parts*: the least and the
largest score of a tenth of a chain. Where they differ much, chains move between regions of the
posterior, and a short one may report a region and not the posterior.

{table(head, rows)}"""


def extremes(values):
    """ "0.38 to 0.52"."""
    return f"{min(values):.2f} to {max(values):.2f}" if values else ""


def page(results):
    """The whole page."""
    dates = " and ".join(sorted({r["date"] for r in results}))
    sections = (
        modes_section, speed_section, solvers_section, synthetic_section, kosmos_section,
    )  # fmt: skip
    return INTRODUCTION.format(dates=dates) + "".join(section(results) for section in sections)
