"""
Word features in a regression
=============================

How near is an address to *economy*, to *war*, to *law*, and what does that say about its year? The
explanatory variables are cosines between an address's vector and word vectors. Two things make the
slopes uncertain, and ``regress`` allows for both:

- the sample of addresses, in which those of one president resemble each other;
- the word vectors: an error in a vector affects every address, so it does not average out, and it
  draws slopes towards zero.

The regression describes when addresses were near to these words, not why. Years rise from president
to president, as does whatever else has changed, and ``regress`` assumes that presidents are
independent of each other. Given ``times``, it warns that they are not: residuals of neighbouring
presidents correlate. :ref:`regressions-time` explains what to do if the outcome is not time itself.
"""

# %%
# Features with their draws
# -------------------------
# ``units`` states what was sampled: presidents, for both the vectors and the regression.

import os

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
# Slopes are in years per standard deviation of a feature (``per``), so that they can be compared.
# They are corrected for the error in the features, since the draws show how far estimates are from
# the truth. ``features`` is the part of the standard error that comes from the vectors. With
# ``times``, a warning and a sentence say that neighbouring presidents are alike.

table = regress(
    features, year, units=president, times=year, names=words, outcome_name="year",
    standardize=True, error=ERROR,
)  # fmt: skip
print(table)
print(table.sentences[0])

# %%
# Intervals with and without the error of the vectors
# ---------------------------------------------------
# If the features are treated as known, which ``regress`` warns about, slopes are drawn towards zero
# and intervals are too narrow.

known = np.repeat(features.mean[None], 20, axis=0)
naive = regress(known, year, units=president, names=words, standardize=True)
rows = np.arange(len(words))
figure, axes = plt.subplots(figsize=(3.4, 1.8), layout="constrained")
for shift, found, label in ((0.0, table, "units and vectors"), (0.2, naive, "as if known")):
    reach = np.abs(found.interval.T - found.mean)
    axes.errorbar(found.mean, rows + shift, xerr=reach, fmt="o", ms=4, label=label)
axes.axvline(0.0, color="0.5", lw=0.8, ls="--")
axes.set_yticks(rows, words)
axes.set_ylim(len(words) - 0.5, -0.5)
axes.set_xlabel("years for a standard deviation,\n90 % intervals")
axes.legend(frameon=False, fontsize=7)
