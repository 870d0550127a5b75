"""
Questions to a text, with intervals
===================================

Is *freedom* nearer to *god* or to *law*? Do words for women go with the family, and words for men with
a career? Each is a question about several vectors at once, and what they share cancels, or adds up,
in the answer. Here both are asked of the inaugural addresses of presidents of the United States and of
a million words of Wikipedia, with the word lists of the published association test.

The texts are not part of this package. The script looks for ``inaugural/inaugural.csv.gz`` (year,
president, text) and ``text/wikipedia_en_2015.txt.xz`` (a line a sentence, articles apart by empty
lines) in the folder that the environment variable ``SKBAYESEMBED_DATA`` names, and takes the Python
language reference where they are missing. On 2026-11-22, with both, it printed::

@@PRINTED@@
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

settings = {"solver": "map", "max_features": 300 if FAST else 1300, "random_state": 0}
model = BayesianSGNS(10 if FAST else 20, **settings).fit(texts)
print(model.nearer(word, others))

# %%
# Any two answers of a fit can be held against each other. Within a tenth of each other the two
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
# The lists are those of Caliskan et al. (2017), with terms for men and women as in the WEFE library.
# The interval is about these words: how well the text tells the effect. The p-value is about words:
# how easily sixteen words, dealt out into two lists at random, would give as large a difference.

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
    known = {name: [w for w in words if w in reader.vocabulary_] for name, words in lists.items()}
    missing = {name: set(words) - set(known[name]) for name, words in lists.items()}
    print("\nnot among the words:", {name: sorted(words) for name, words in missing.items() if words})
else:
    reader = model
    known = dict(zip(lists, (["class", "instance"], ["module", "import"], ["method"], ["file"])))
    if addresses.exists():
        known = dict(zip(lists, (["peace", "justice"], ["war", "force"], ["god"], ["law"])))
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
colours = np.where(rows < n_first, "C0", "C1")
panel.hlines(rows, *associations.interval.T, colors=colours, lw=3)
panel.scatter(associations.mean, rows, c=colours, s=16, zorder=3)
panel.axvline(0.0, color="0.6", lw=0.8)
label = "association, 90 % intervals"
panel.set(yticks=rows, yticklabels=found.words, xlabel=label)
panel.invert_yaxis()
