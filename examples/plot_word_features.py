"""
Word features in a regression
=============================

How near is an address to *economy*, to *war*, to *law*, and what does that tell of its year? The
explaining variables are cosines of an address's vector with vectors of words. Two things make the
slopes uncertain: which addresses there are, where those of one president resemble each other, and
what is not known of the vectors. The first is a cluster-robust standard error. The second is how
far the slopes move when all features are drawn anew: an error of a vector is an error of every
address, so that it does not average out. The variances of both add up. On 2026-11-22 the script
printed::

    features (240, 3) draws (1000, 240, 3)
    years for a tenth of cosine    slope  se units  se vectors     se
    economy                         22.2       2.3         2.7    3.6
    war                            -12.4       4.3         4.2    6.0
    law                             -4.7       3.5         4.4    5.6
    reliability [0.98 0.82 0.98]

Both parts come from the same presidents; that they may go together is left out.
"""

# %%
# Features with their draws
# -------------------------
# ``units`` says what was sampled, presidents, for the vectors and for the regression alike.

import os

import matplotlib.pyplot as plt
import numpy as np

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_state_of_the_union

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

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
# Slopes under one draw of the features
# -------------------------------------
# Ordinary least squares with a covariance that lets documents of a unit depend on each other (CR1).
# Any package that does this will do in its place.


def slopes(X, y, units):
    """Slopes (n_features,) and their cluster-robust covariance."""
    Z = np.column_stack([np.ones(len(y)), X])
    bread = np.linalg.inv(Z.T @ Z)
    found = bread @ Z.T @ y
    scores = Z * (y - Z @ found)[:, None]
    sums = np.array([scores[units == unit].sum(axis=0) for unit in np.unique(units)])
    n = len(sums)
    return found[1:], n / (n - 1) * (bread @ sums.T @ sums @ bread)[1:, 1:]


# %%
# Both parts of the standard error
# --------------------------------
# The slopes are those of posterior means. A slope is in years for a tenth of cosine.

decades = year / 10.0  # so that a tenth of cosine has its slope in years
slope, by_units = slopes(features.mean, decades, president)
drawn = np.array([slopes(X, decades, president)[0] for X in features.draws[:500]])
by_vectors = np.cov(drawn.T)
se_units, se_vectors = np.sqrt(np.diag(by_units)), np.sqrt(np.diag(by_vectors))
se = np.hypot(se_units, se_vectors)
print("years for a tenth of cosine    slope  se units  se vectors     se")
for i, word in enumerate(words):
    print(f"{word:30}{slope[i]:6.1f}{se_units[i]:10.1f}{se_vectors[i]:12.1f}{se[i]:7.1f}")

# %%
# How reliable the features are
# -----------------------------
# The share of a feature's variance that is not error. Where it is well below one, slopes are drawn
# towards zero, and the matrix of the guide's page on regressions corrects them.

error = np.mean(features.sd**2, axis=0)
print("reliability", np.round(1 - error / (error + features.mean.var(axis=0)), 2))

# %%
# Intervals with and without what is not known of the vectors
# -----------------------------------------------------------

rows = np.arange(len(words))
figure, axes = plt.subplots(figsize=(3.4, 1.8), layout="constrained")
axes.errorbar(slope, rows, xerr=1.645 * se, fmt="o", ms=4, label="units and vectors")
axes.errorbar(slope, rows + 0.2, xerr=1.645 * se_units, fmt="o", ms=4, label="units alone")
axes.axvline(0.0, color="0.5", lw=0.8, ls="--")
axes.set_yticks(rows, words)
axes.set_ylim(len(words) - 0.5, -0.5)
axes.set_xlabel("years for a tenth of cosine, 90 % intervals")
axes.legend(frameon=False, fontsize=7)
