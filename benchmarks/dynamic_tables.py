"""The page of the study of drifting embeddings."""

from __future__ import annotations

import numpy as np

HEAD = """# Embeddings that drift: State of the Union, UN debates, simulated drift

Figures of {date}, by `benchmarks/dynamic.py` (two cores; seconds of a machine shared with others).

"""

UNION = """## State of the Union, 1790-2020, by decade

5,000 words, 50 components, prior precision 1, window 4; the defaults of `DynamicSGNS` otherwise. A
tenth of the paragraphs is held out; scores are mean log predictive probabilities of a pair, every
decade with negatives by its own frequencies (guessing: -0.693). *Static* is the mode of
`BayesianSGNS` for the same paragraphs; *independent* are fits of every decade on its own, as a
diffusion of 1e6 a year makes them. Models of one run share a process: memory is its largest so far.

"""

LATER = """## A decade not seen

Learned from the decades before, scored on all paragraphs of the next one.

"""

SOLVERS = """## Solvers against the truth and against gibbs

Simulated drift, T = 8, V = 100, K = 5, 20,000 observations a period, period 4 empty. Coverage of
P_t(w, v) by 90 % intervals, of all periods and of the empty one; root mean squared difference of
posterior means of P from those of gibbs, and the median ratio of standard deviations.

"""

ADAM = """## The published algorithm

The same simulated drift. Adam on sampled gradients with the paper's rates (5,000 steps of 0.01,
then 1,000 of 0.001; full batches), against this package's smoothing from scratch, its static start
included in the time and not in the gradients. Bounds by one estimate for both, 20 samples.

"""

PERIODS = """## Cost over the number of periods

CPU milliseconds of a sweep of gibbs and a gradient of vi; V = 100, K = 5, 20,000 observations a
period.

"""


def page(results, table):
    """The page; ``table`` makes a Markdown table of a head and rows."""
    by_part = {}
    for r in results:
        by_part.setdefault(r["part"], []).append(r)
    date = max(r["date"] for r in results) if results else "no day yet"
    sections = {
        "union": _union, "later": _later, "debates": _debates, "solvers": _solvers,
        "adam": _adam, "periods": _periods,
    }  # fmt: skip
    parts = [sections[name](by_part[name], table) for name in sections if name in by_part]
    return HEAD.format(date=date) + "\n".join(parts)


def _name(item):
    more = f", diffusion {item['diffusion']:g}" if "diffusion" in item else ""
    return item["model"] + more


def _union(results, table):
    rows = [
        [_name(r["item"]), f"{r['score']:.4f}", r.get("n_iter", ""), f"{r['seconds']:.0f}",
         f"{r['cpu']:.0f}", f"{r['rss'] / 2**30:.2f}"]
        for r in results
    ]  # fmt: skip
    head = [
        "model", "held-out score", "gradients", "seconds", "CPU seconds",
        "largest memory so far, GiB",
    ]  # fmt: skip
    return UNION + table(head, rows)


def _later(results, table):
    before = sorted({r["item"]["before"] for r in results})
    score = {(r["item"]["model"], r["item"]["before"]): r["score"] for r in results}
    models = list(dict.fromkeys(r["item"]["model"] for r in results))
    rows = [[m, *(f"{score[m, b]:.4f}" if (m, b) in score else "" for b in before)] for m in models]
    return LATER + table(["model", *(f"{b}s" for b in before)], rows)


def _debates(results, table):
    r = results[-1]
    text = (
        "## UN general debate, 1946-2022\n\n"
        f"{r['item']['periods']} periods of equal length, {r['n_words']} words of letters alone "
        f"(paragraphs of the early speeches are numbered), fitted in {r['seconds']:.0f} seconds. "
        "`most_changed` of all words, the first period against the last. Intervals are the\n"
        "model's (`uncertainty='model'`), for which every pair of words is an observation. With\n"
        "countries as units (1,500 words, 5 periods) that of *climate* is three times as wide,\n"
        "and its verdict depends on the number of components: see the chapter on drift.\n\n"
    )
    for kind, found in r["reading"].items():
        ranks = found["function"]
        highest = ", ".join(f"{rank} ({word})" for rank, word in ranks[:3])
        text += (
            f"By {kind} distance, threshold {found['threshold']:.3f}, in {found['seconds']:.0f} "
            f"seconds: {found['sure']} words are above it with more than 95 %. Of {len(ranks)} "
            f"function words the highest ranks are {highest}, the median "
            f"{int(np.median([rank for rank, _ in ranks]))}.\n\n"
        )
        rows = [
            [w, f"{mean:.3f}", f"[{low:.3f}, {high:.3f}]", f"{p:.2f}", f"{n0:.0f}, {n1:.0f}"]
            for w, mean, low, high, p, n0, n1 in found["top"]
        ]
        text += table(["word", "distance", "90 % interval", "P(> threshold)", "pairs"], rows)
        text += "\n"
    return text


def _solvers(results, table):
    rows = []
    for solver in results[0]["figures"]:
        found = [r["figures"][solver] for r in results if solver in r["figures"]]
        coverage = [100 * f["coverage"] for f in found]
        error = f" ± {np.std(coverage, ddof=1) / len(found) ** 0.5:.1f}" if len(found) > 1 else ""
        rows.append(
            [solver, len(found), f"{np.mean(coverage):.1f}{error}",
             f"{100 * np.mean([f['empty'] for f in found]):.1f}",
             f"{np.mean([f['error_mean'] for f in found]):.4f}",
             f"{np.mean([f['ratio_sd'] for f in found]):.3f}",
             f"{np.median([f['cpu'] for f in found]):.1f}"]
        )  # fmt: skip
    head = ["solver", "data sets", "coverage, %", "empty period", "difference of means",
            "ratio of sds", "CPU seconds"]  # fmt: skip
    return SOLVERS + table(head, rows)


def _adam(results, table):
    rows = []
    for name in ("published", "own"):
        for f in results[0][name]:
            rows.append([name, f["steps"], f"{f['cpu']:.1f}", f"{f['bound']:.0f}"])
    return ADAM + table(["algorithm", "gradients", "CPU seconds", "bound"], rows)


def _periods(results, table):
    rows = [
        [r["item"]["periods"], f"{1e3 * r['gibbs']:.0f}", f"{1e3 * r['vi']:.1f}"] for r in results
    ]
    return PERIODS + table(["periods", "gibbs", "vi"], rows)
