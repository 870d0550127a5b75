"""
What an interval knows of the text
==================================

Two presidents' addresses differ more than two pairs of words in one address. The model behind word
vectors does not know that: it takes every pair in every window for an observation. Intervals by
documents do. Here both are laid side by side, and then the settings are changed, which no interval
knows of.

The inaugural addresses of presidents of the United States are not part of this package. The script
looks for ``inaugural/inaugural.csv.gz`` (year, president, text) in the folder that the environment
variable ``SKBAYESEMBED_DATA`` names, and takes the Python language reference where there is none.
On 2026-11-22, with the addresses, it printed::

    nearest to 'freedom'
    neighbour  cosine     90 % interval   P(top 8)    units
    faith       0.816  [ 0.665,  0.903]       0.70     19.3
    life        0.778  [ 0.529,  0.904]       0.50     19.3
    peace       0.776  [ 0.556,  0.894]       0.49     19.3
    human       0.772  [ 0.577,  0.884]       0.47     19.3
    spirit      0.753  [ 0.561,  0.868]       0.34     19.3
    world       0.752  [ 0.544,  0.872]       0.36     19.3
    home        0.722  [ 0.372,  0.892]       0.35     19.3
    earth       0.719  [ 0.473,  0.861]       0.29     16.9

    largest dispersion:  the 1.2, we 1.1, in 1.0, our 1.0, and 1.0, of 1.0
    smallest: cannot 0.3, domestic 0.3, governments 0.3, federal 0.3, done 0.3, business 0.3

    P(freedom is nearer to god than to law)
       10 components,  400 words: 0.32
       10 components,  800 words: 0.69
       20 components,  400 words: 0.36
       20 components,  800 words: 0.82
"""

# %%
# The text
# --------

import csv
import gzip
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import load_python_reference

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
path = Path(os.environ.get("SKBAYESEMBED_DATA", ".")) / "inaugural" / "inaugural.csv.gz"
if path.exists():
    csv.field_size_limit(10**7)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [row["text"] for row in csv.DictReader(lines)]
    word, nearer, farther = "freedom", "god", "law"
else:
    texts = load_python_reference().data
    word, nearer, farther = "class", "method", "module"

# %%
# By documents and by the model
# -----------------------------
# One fit serves both: ``uncertainty`` says how it is read. Words that are used evenly have wider
# intervals by the model, words that come in bursts have wider ones by documents. ``dispersion_`` is
# the ratio of variances.

model = BayesianSGNS(10, solver="laplace", max_features=300, draws=400, random_state=0).fit(texts)
table = model.most_similar(word, n=8)
print(table)
by_documents = [model.similarity(word, other) for other in table.words]
model.set_params(uncertainty="model")
by_model = [model.similarity(word, other) for other in table.words]

order = np.argsort(-np.nan_to_num(model.dispersion_))
print(
    "\nlargest dispersion: ",
    ", ".join(f"{model.words_[i]} {model.dispersion_[i]:.1f}" for i in order[:6]),
)
print("smallest:", ", ".join(f"{model.words_[i]} {model.dispersion_[i]:.1f}" for i in order[-6:]))

# %%
# Settings that no interval knows of
# ----------------------------------
# The vocabulary and the number of components are chosen, not sampled. What changes with them is no
# finding about the text.

sizes = (5, 10) if FAST else (10, 20)
vocabularies = (150, 250) if FAST else (400, 800)
print(f"\nP({word} is nearer to {nearer} than to {farther})")
for k in sizes:
    for n_words in vocabularies:
        fitted = BayesianSGNS(k, solver="map", max_features=n_words, random_state=0).fit(texts)
        found = fitted.similarity_difference((word, nearer), (word, farther))
        print(f"  {k:3} components, {n_words:4} words: {found.prob_positive:.2f}")

# %%
# The picture
# -----------

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
rows = np.arange(len(table))
for shift, found, colour, label in (
    (-0.15, by_documents, "C0", "by documents"),
    (0.15, by_model, "C1", "by the model"),
):
    low, high = np.transpose([one.interval for one in found])
    axis.hlines(rows + shift, low, high, color=colour, lw=3, label=label)
    axis.plot([one.mean for one in found], rows + shift, "o", color=colour, ms=4)
axis.set(yticks=rows, yticklabels=table.words, xlabel=f"cosine with {word}, 90 % intervals")
axis.invert_yaxis()
axis.legend()
