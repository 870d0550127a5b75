"""
Senses of a word over time
==========================

A word has several senses, and each use of it has one of them, which nobody has written down. All
there is are *snippets*: the words around each use, its century, and its genre. How common was each
sense in each century, and how sure is that? The answer is a posterior of prevalences; beside it
stands what those would have found who read and labelled every snippet.

The model is DiSC, the picture at the end the one that its authors draw for the ancient Greek word
*kosmos* (Zafar & Nicholls 2022, Figure 3). The snippets are simulated, about as many and as short
as theirs. Where the environment variable ``SKBAYESEMBED_DATA`` names a folder with their data, a
second picture is of *kosmos* itself.
"""

# %%
# The snippets
# ------------
# Three senses, two genres, nine centuries. The second has no snippets at all, as in the data on
# *kosmos*: it is a period nevertheless, and its prevalences are what the neighbours say of it.

import csv
import os
import sys
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import make_senses
from skbayesembed.metrics import brier_score, interval_overlap, match_senses

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
FOLDER = os.environ.get("SKBAYESEMBED_DATA")


def simulated():
    """Snippets from the model, without those of the second century."""
    made = make_senses(
        400 if FAST else 1200,
        80 if FAST else 300,
        n_periods=9,
        n_genres=2,
        mean_length=4.3,
        random_state=3,
    )
    kept = made.times != 1
    parts = {name: made[name][kept] for name in ("counts", "times", "genres", "senses")}
    names = {"sense_names": ["a", "b", "c"], "genre_names": ["genre 0", "genre 1"]}
    return Bunch(centuries=np.arange(1, 10), truth=made.prevalence, **parts, **names)


def kosmos(folder):
    """The 1144 snippets whose sense experts could tell from the context."""
    with (Path(folder) / "snippets.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    texts = [[int(word) for word in row["words"].split()] for row in rows]
    ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    words = np.concatenate([np.array(text, dtype=int) for text in texts])
    with (Path(folder) / "vocab.csv").open(encoding="utf-8", newline="") as lines:
        lemmas = [row["lemma"] for row in csv.DictReader(lines)]
    return Bunch(
        counts=sparse.csr_array((np.ones(words.size), words, ends)),
        lemmas=np.array(lemmas),
        times=np.array([int(row["time"]) for row in rows]),
        genres=np.array([int(row["genre"]) for row in rows]),
        senses=np.array([int(row["sense"]) for row in rows]),
        sense_names=["decoration", "order", "world"],
        genre_names=["narrative", "non-narrative"],
        centuries=np.array([-7, -6, -5, -4, -3, -2, -1, 1, 2]),
        truth=None,
    )


# %%
# Two fits
# --------
# The first sees words, centuries and genres. Its chains begin in the heaviest of the modes of the
# posterior; if a second one held more than 1 % of it, ``fit`` would say so. The second fit is given
# the senses as well: with them known, all that is left to learn is how common they are, and its
# bands are as narrow as bands from so many snippets can be.

length = {"draws": 60, "warmup": 40} if FAST else {"draws": 300, "warmup": 120}
options = {"chains": 2, "n_starts": 2 if FAST else 8, "n_jobs": 2, "random_state": 0} | length


def fits(data):
    """Fits without and with labels; senses of the first in the order of the labels."""
    given = {"times": data.times, "genres": data.genres}
    start = time.perf_counter()
    with warnings.catch_warnings():
        if FAST:  # chains of 60 draws have not mixed, as fit would say
            warnings.simplefilter("ignore", ConvergenceWarning)
        model = DiSCSenseModel(3, **options).fit(data.counts, **given)
        labelled = DiSCSenseModel(3, **options | {"n_starts": 1})
        labelled.fit(data.counts, data.senses, **given)
    seconds = time.perf_counter() - start
    proba = model.predict_proba(data.counts, **given)
    order = match_senses(proba, data.senses)
    shares = ", ".join(f"{100 * mode.share:.3g} %" for mode in model.modes_)
    print(f"{len(data.senses)} snippets, {data.counts.shape[1]} words, {seconds:.0f} s")
    print(f"modes of the posterior: {shares}")
    print(f"Brier score of the senses: {brier_score(proba[:, order], data.senses):.3f}")
    print(f"  one that knows nothing:  {1 - 1 / 3:.3f}")
    bands = model.prevalence_interval(prob=0.95)[order]
    overlap = interval_overlap(bands, labelled.prevalence_interval(prob=0.95))
    print(f"bands overlap in {round(overlap * bands[..., 0].size)} of {bands[..., 0].size} cells")
    if data.truth is not None:
        truth = data.truth.transpose(2, 0, 1)
        covered = (bands[..., 0] <= truth) & (truth <= bands[..., 1])
        print(f"and hold the truth in {covered.sum()}")
    return model, labelled, order


# %%
# The picture
# -----------
# Bars are the shares of the labelled senses, dots the posterior means, lines the 95 % bands: blue
# without the labels, grey with them. Where a century has few snippets of a genre, or none, the
# shares say little, or nothing, and both bands are wide.


def picture(data, model, labelled, order):
    """Prevalence of senses over time, a panel for each sense and genre."""
    at = np.arange(9)
    counts = np.zeros((3, 2, 9))
    np.add.at(counts, (data.senses, data.genres, data.times), 1)
    totals = counts.sum(axis=0)
    share = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 5), sharex=True, sharey=True, layout="constrained"
    )
    found = (
        ("labels", labelled.prevalence_, labelled.prevalence_interval(prob=0.95), "0.4", -0.13),
        (
            "no labels",
            model.prevalence_[order],
            model.prevalence_interval(prob=0.95)[order],
            "C0",
            0.13,
        ),
    )
    for g, k in np.ndindex(axes.shape):
        axis = axes[g, k]
        axis.bar(at, share[k, g], 0.8, color="0.88", label="share of the labels")
        for name, mean, band, color, shift in found:
            axis.vlines(at + shift, *band[k, g].T, color=color, lw=2)
            axis.plot(at + shift, mean[k, g], "o", ms=4, color=color, label=f"posterior, {name}")
        if data.truth is not None:
            axis.plot(at, data.truth[g, :, k], "x", color="C3", ms=5, label="truth")
        axis.set(ylim=(0, 1), xticks=at, xticklabels=data.centuries)
        if g == 0:
            axis.set_title(f"sense “{data.sense_names[k]}”")
        if k == 0:
            axis.set_ylabel(f"prevalence, {data.genre_names[g]}")
    for axis in axes[1]:
        axis.set_xlabel("century")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


data = simulated()
fitted = fits(data)
figure = picture(data, *fitted)

# %%
# What else can be asked
# ----------------------
# Take the sense that grew most in the second genre. How sure is it that it grew at all? And in
# which century did it first make up half of all uses?

model, _, order = fitted
sense = int(np.argmax(model.prevalence_[:, 1, -1] - model.prevalence_[:, 1, 0]))
change = model.prevalence_change(sense, 0, 8, genre=1)
name = data.sense_names[order.tolist().index(sense)]
print(f"\nsense {name}, genre 1, from the first to the last century: {change.mean:+.2f}")
print(f"90 % interval {change.interval.round(2)}, P(it grew) = {change.prob_increase:.2f}")
first = model.emergence(sense, 0.5, genre=1)
print("first century above one half:")
print(" ".join(f"{c}: {p:.2f}" for c, p in zip(data.centuries, first.proba, strict=True)))
print(f"none: {first.never:.2f}")

# %%
# Kosmos
# ------
# The same with the data of the paper, where they are at hand.

folder = Path(FOLDER or ".") / "senses" / "kosmos_collocates"
if FOLDER and folder.exists() and not FAST:
    print("\nkosmos")
    real = kosmos(folder)
    real_fits = fits(real)
    for k, words in enumerate(real_fits[0].sense_words(8).words[real_fits[2]]):
        # words of a count matrix are x0, x1, ...
        print(f"{real.sense_names[k]:10}", *real.lemmas[[int(w[1:]) for w in words]])
    figure = picture(real, *real_fits)

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=150)
    print(f"\nfigure written to {sys.argv[1]}")
