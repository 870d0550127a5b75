"""
Word features in a regression
=============================

Are addresses that are near to *economy*, *war* or *law* longer? The explanatory variables are
cosines between an address's vector and word vectors. Three things make the slopes uncertain, and
``regress`` allows for all of them:

- the sample of addresses, in which those of one president resemble each other;
- time: neighboring presidents resemble each other, too, and lengths rise and fall over decades;
- the word vectors: an error in a vector affects every address, so it does not average out, and it
  mostly draws slopes toward zero.
"""

# %%
# Features with their draws
# -------------------------
# ``units`` states what was sampled: presidents, for both the vectors and the regression.

import os
from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS, regress
from skbayesembed.datasets import fetch_state_of_the_union

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
# so small a model knows little of its features
ERROR = "berkson" if FAST else "auto"

addresses = fetch_state_of_the_union()
president, year = np.asarray(addresses.president), np.asarray(addresses.year, dtype=float)
model = BayesianSGNS(
    5 if FAST else 20, solver="map", max_features=200 if FAST else 1000, stop_words="english",
    random_state=0,
).fit(addresses.data, units=president)  # fmt: skip

words = ["economy", "war", "law"]
features = model.document_similarity(addresses.data, words=words)
print("features", features.mean.shape, "draws", features.draws.shape)

# %%
# Slopes
# ------
# Slopes are on the scale of the logarithm of the number of words, per standard deviation of a
# feature (``per``), so that they can be compared. They are corrected for the error in the features,
# since the draws show how far estimates are from the truth. ``features`` is the part of the
# standard error that comes from the vectors. With ``times``, slopes and intervals allow for
# presidents that resemble their neighbors; a line below the table says how much they do
# (:ref:`regressions-time`).

length = np.log([len(text.split()) for text in addresses.data])
slopes = partial(
    regress,
    outcome=length,
    units=president,
    names=words,
    outcome_name="log words",
    standardize=True,
)
table = slopes(features, times=year, error=ERROR)
print(table)
print(table.sentences["law"])

# %%
# What intervals would leave out
# ------------------------------
# If presidents count as independent of their neighbors, slopes pick up what drifts. If features
# are treated as known, too, which ``regress`` warns about, most slopes are drawn toward zero.

apart = slopes(features, error=ERROR)
naive = slopes(np.repeat(features.mean[None], 20, axis=0), error="berkson")
rows = np.arange(len(words))
figure, axes = plt.subplots(figsize=(3.4, 2.6), layout="constrained")
for shift, found, label in (
    (-0.2, table, "with times"),
    (0.0, apart, "without times"),
    (0.2, naive, "without times, vectors as if known"),
):
    reach = np.abs(found.interval.T - found.mean)
    axes.errorbar(found.mean, rows + shift, xerr=reach, fmt="o", ms=4, label=label)
axes.axvline(0.0, color="0.5", lw=0.8, ls="--")
axes.set_yticks(rows, words)
axes.set_ylim(len(words) - 0.5, -0.5)
axes.set_xlabel("log words for a standard deviation,\n90 % intervals")
figure.legend(loc="outside upper left", frameon=False, fontsize=8)
