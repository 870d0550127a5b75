"""
Questions to a text, with intervals
===================================

Is *freedom* nearer to *god* or to *law*? Do words for women go with the family, and words for men
with a career? Each is a question about several vectors at once, and what they share cancels, or
adds up, in the answer. Here the first is asked of the inaugural addresses of presidents of the
United States and the second of a million words of Wikipedia, with published lists of words.

The texts are not part of this package. The script looks for ``inaugural/inaugural.csv.gz`` (year,
president, text) and ``text/wikipedia_en_2015.txt.xz`` (a line a sentence, articles apart by empty
lines) in the folder that the environment variable ``SKBAYESEMBED_DATA`` names, and takes the Python
language reference where they are missing. On 2026-11-22, with both, it printed::

    nearest to 'freedom', of these
    word            cosine     90 % interval  P(nearest)  lower than the first by    units
    nation, people   0.573  [ 0.076,  0.842]        0.66                              19.3
    god              0.441  [-0.006,  0.741]        0.13   0.132 [-0.105,  0.368]     19.3
    law              0.239  [-0.236,  0.622]        0.21   0.333 [-0.466,  1.133]     18.2

    freedom: god less law: 0.20 [-0.59  0.99]
    P(nearer) 0.71, P(as good as equal) 0.16

    on the axis war, force -> peace, justice
    word      projection     90 % interval  P(> 0)    units
    nation         0.272  [-0.647,  0.869]    0.69     23.7
    god            0.265  [-0.191,  0.627]    0.84     23.7
    law            0.053  [-0.601,  0.664]    0.54     18.2
    commerce      -0.038  [-0.410,  0.345]    0.44     14.6

    not among the words: boy, girl, hers, salary, cousins, wedding, relatives

    effect size 0.39, 90 % interval [-1.    1.48]
    p-value over words 0.2751, of 1716 splits
"""

# %%
# Which is nearer?
# ----------------
# ``nearer`` holds words, or lists of words, against one: how near each is, how much nearer the
# first is than the others, and the probability of being the nearest of them. 59 documents do not
# settle whether *god* or *law* is nearer to *freedom*, and the answer says so.

import csv
import gzip
import lzma
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import load_python_reference

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
folder = Path(os.environ.get("SKBAYESEMBED_DATA", "."))
addresses = folder / "inaugural" / "inaugural.csv.gz"
if addresses.exists():
    csv.field_size_limit(10**7)
    with gzip.open(addresses, "rt", encoding="utf-8") as lines:
        texts = [row["text"] for row in csv.DictReader(lines)]
    word, others = "freedom", ["god", "law", ["nation", "people"]]
    high, low, placed = ["peace", "justice"], ["war", "force"], ["law", "god", "nation", "commerce"]
else:
    texts = load_python_reference().data
    word, others = "class", ["method", "module", ["list", "tuple"]]
    high, low, placed = ["class", "instance"], ["module", "import"], ["method", "name", "list"]

n_words = 300 if FAST else 1300
model = BayesianSGNS(10 if FAST else 20, solver="map", max_features=n_words, random_state=0)
model.fit(texts)
print(model.nearer(word, others))

# %%
# Any two answers of a fit can be compared. Within a tenth of each other the two
# cosines would be as good as equal:

first, second = (model.similarity(word, other) for other in others[:2])
found = model.contrast(first, second, low=-0.1, high=0.1)
print(f"\n{word}: {others[0]} less {others[1]}: {found.mean:.2f} {found.interval.round(2)}")
print(f"P(nearer) {found.prob_positive:.2f}, P(as good as equal) {found.prob_inside:.2f}\n")

# %%
# A word on an axis
# -----------------
# An axis goes from one word, or list of words, to another.

axis = model.axis(high, low)
projections = model.project(placed, axis)
print(projections)

# %%
# An association test
# -------------------
# The attributes are those of Caliskan et al. (2017), and so are the targets, the terms for men and
# women of their test of science and arts. The interval is about these words: how well the text
# tells the effect. The p-value is about words: how easily target words that were dealt out into two
# lists at random would give as large a difference. Here a million words are not enough to tell.

lists = {
    "male": ["male", "man", "boy", "brother", "he", "him", "his", "son"],
    "female": ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"],
    "career": [
        "executive", "management", "professional", "corporation", "salary", "office", "business",
        "career",
    ],
    "family": [
        "home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives",
    ],
}  # fmt: skip
articles = folder / "text" / "wikipedia_en_2015.txt.xz"
if articles.exists() and not FAST:
    documents, current, total = [], [], 0
    with lzma.open(articles, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                current += line.split()
            elif current:
                documents.append(current)
                total, current = total + len(current), []
                if total >= 1_000_000:
                    break
    reader = BayesianSGNS(20, solver="map", max_features=2100, random_state=0).fit(documents)
else:
    reader = model
    lists = {"male": high, "female": low, "career": placed[:1], "family": placed[1:2]}
unknown = [w for words in lists.values() for w in words if w not in reader.vocabulary_]
print("\nnot among the words:", ", ".join(unknown) or "none")
known = {name: [w for w in words if w in reader.vocabulary_] for name, words in lists.items()}
found = reader.weat(*known.values())
print(f"\neffect size {found.mean:.2f}, 90 % interval {found.interval.round(2)}")
print(f"p-value over words {found.p_value:.4f}, of {found.n_splits} splits")

# %%
# The picture
# -----------
# What each target word contributes: its cosines with the one list of attributes less those with the
# other.

figure, panel = plt.subplots(figsize=(6, 4.2), layout="constrained")
associations, rows = found.association, np.arange(found.words.size)
n_first = len(known["male"])
for group, colour in ((rows < n_first, "C0"), (rows >= n_first, "C1")):
    left, right = associations.interval[group].T
    panel.hlines(rows[group], left, right, color=colour, lw=3)
    panel.plot(associations.mean[group], rows[group], "o", color=colour, ms=4)
panel.axvline(0.0, color="0.6", lw=0.8)
label = "association, 90 % intervals"
panel.set(yticks=rows, yticklabels=found.words, xlabel=label)
panel.invert_yaxis()
