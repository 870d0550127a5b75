"""
Words that drift
================

Presidents of the United States have reported on the State of the Union since 1790. Did two words
draw closer in these two centuries, and how sure is that? Here every word has a vector in each
decade, and what comes out is the posterior of all of them: a decade of few words has wide bands,
and "closer" has a probability (the model is that of Bamler & Mandt 2017, made stationary).

The addresses are read from the folder that the environment variable ``SKBAYESEMBED_DATA`` names.
Where there is none, pairs of words are simulated, and the truth is in the picture.
"""

# %%
# The addresses
# -------------
# A document is a paragraph, so that windows end with it; its time is the year of the address.
# Periods are decades, the last of which has had one address only.

import csv
import gzip
import os
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils import Bunch

from skbayesembed import DynamicSGNS
from skbayesembed.datasets import make_dynamic_sgns

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
FOLDER = os.environ.get("SKBAYESEMBED_DATA")


def addresses(path):
    """Paragraphs with their years, and what is asked of them."""
    csv.field_size_limit(sys.maxsize)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = [
            (paragraph, int(row["year"]))
            for row in csv.DictReader(lines)
            for paragraph in row["text"].split("\n")
            if paragraph.strip()
        ]
    rows = rows[::4] if FAST else rows
    options = {"bins": np.arange(1790, 2031, 40 if FAST else 10), "diffusion": 1e-3}
    if FAST:
        options |= {"n_components": 5, "max_features": 600, "tol": 1e-5}
    else:
        options |= {"n_components": 25, "max_features": 2000}
    return Bunch(
        X=[paragraph for paragraph, _ in rows],
        times=np.array([year for _, year in rows]),
        options=options,
        pairs=[("health", "care"), ("people", "government"), ("peace", "war")],
        between=(1850, 2010),
        rho=None,
        note="year",
    )


def simulated():
    """Pair counts from the model; the sixth of twelve periods has none."""
    made = make_dynamic_sgns(60, 4, 12, 20_000, empty_periods=[5], random_state=0)
    return Bunch(
        X=made.pairs,
        times=made.times,
        options={"n_components": 4, "diffusion": 0.02, "prior_precision": 4},
        pairs=[("x0", "x1"), ("x3", "x40"), ("x6", "x20")],
        between=(0, 11),
        rho=made.rho,
        note="period",
    )


path = Path(FOLDER or ".") / "state_of_the_union" / "state_of_the_union.csv.gz"
data = addresses(path) if FOLDER and path.exists() else simulated()

# %%
# The fit
# -------
# Smoothing: a word's trajectory is a Gaussian process given all that was said before and after. Few
# draws of all vectors are recorded. What is read about a word below comes from 1,000 draws of its
# own. Intervals are those of the model, for which every pair of words is an observation of its own;
# ``uncertainty="documents"`` with the addresses as ``units`` would take far longer at this size.

start = time.perf_counter()
model = DynamicSGNS(draws=20, uncertainty="model", n_jobs=2, random_state=0, **data.options)
model.fit(data.X, times=data.times)
seconds = time.perf_counter() - start
print(f"{model.words_.size} words in {model.periods_.n_periods} periods, ", end="")
print(f"{model.observed_.sum():.3g} pairs, {model.n_iter_} gradients in {seconds:.0f} s")

# %%
# Did they draw closer?
# ---------------------
# The interval is that of the *difference*. Much of what is uncertain about a similarity is the same
# in both periods and cancels: two bands may overlap and the change be sure.

first, last = data.between
print(f"\nchange of the cosine from {first} to {last}")
for a, b in data.pairs:
    change = model.similarity_change(a, b, first, last)
    low, high = change.interval
    print(f"{f'{a}, {b}':20} {change.mean:+.2f}  90 % interval [{low:+.2f}, {high:+.2f}]", end="")
    print(f"  P(closer) = {change.prob_increase:.2f}")

# %%
# The company that a word kept at either time says what kind of change it was.

word = data.pairs[0][1]
for year in (first, last):
    print(f"\n{year}: {model.most_similar(word, 6, period=year)}")

# %%
# Which words have changed?
# -------------------------
# All words, ranked by the probability that a word is further from what it was than the prior, which
# moves all vectors, expects of a word of which nothing is known. The last columns are the pairs
# that a word was seen in.

print()
print(model.most_changed(12, start=first, end=last))

# %%
# The picture
# -----------
# Posterior means of the cosine of two words, and 90 % bands. Below, how many pairs there are of the
# rarer of the two: where there are hardly any, the band is what the prior makes of the decades
# around.


def cosines(vectors, a, b):
    """Cosine of two words in every period."""
    x, y = (vectors[:, model.vocabulary_[word]] for word in (a, b))
    lengths = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    return np.einsum("tk,tk->t", x, y) / lengths


figure, axes = plt.subplots(
    2, 3, figsize=(10, 4.5), sharex=True, height_ratios=(4, 1), layout="constrained"
)
for (a, b), (axis, below) in zip(data.pairs, axes.T, strict=True):
    found = model.similarity(a, b)
    axis.fill_between(found.times, *found.interval.T, color="C0", alpha=0.25, lw=0)
    axis.plot(found.times, found.mean, "o-", ms=3, color="C0")
    if data.rho is not None:
        axis.plot(found.times, cosines(data.rho, a, b), "x", color="C3", label="truth")
    axis.sharey(axes[0, 0])
    axis.set_title(f"{a}, {b}")
    rarer = model.observed_[:, [model.vocabulary_[a], model.vocabulary_[b]]].min(axis=1)
    below.bar(found.times, rarer, 0.8 * model.periods_.gaps[0], color="0.6")
    below.set_xlabel(data.note)
axes[0, 0].set_ylabel("cosine")
axes[1, 0].set_ylabel("pairs")
if data.rho is not None:
    axes[0, 0].legend()

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=150)
    print(f"\nfigure written to {sys.argv[1]}")
