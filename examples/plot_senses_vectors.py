"""
Senses told apart by word vectors
=================================

A sense of a word is told by the words around it, most of which are next to it only a few times.
Elsewhere in the same text they are frequent. The embedded model (EDiSC; Zafar & Nicholls 2023)
takes their vectors from there: words with similar vectors are taken to be about as common around a
sense. Are its senses of *power*, in the addresses of presidents of the United States, those that
the model without vectors finds (:doc:`plot_senses`)?
"""

# %%
# Vectors of the text that the snippets are from
# ----------------------------------------------
# ``extract_snippets`` finds the uses of the word, ``BayesianSGNS`` the vectors. Words without a
# vector are kept, but all senses take them for equally distinct; so let ``max_features`` be large.

import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, DiSCSenseModel
from skbayesembed.datasets import extract_snippets, fetch_state_of_the_union
from skbayesembed.plotting import PrevalenceDisplay, SenseWordsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
if FAST:  # chains of 40 draws have not mixed, as fit would say
    warnings.simplefilter("ignore", ConvergenceWarning)

addresses = fetch_state_of_the_union()
texts, years = (addresses.data[-60:], addresses.year[-60:]) if FAST else (
    addresses.data, addresses.year
)  # fmt: skip
presidents = addresses.president[-len(texts) :]
uses = extract_snippets(
    texts, "power", times=years, units=presidents, stop_words="english", min_count=3
)
vectors = BayesianSGNS(
    5 if FAST else 20,
    solver="map",
    prior_precision=4.0,
    max_features=500 if FAST else 5000,
    random_state=0,
)
vectors.fit(texts)

# %%
# Two models of the same snippets
# -------------------------------

options = {
    "bins": range(1950, 2031, 40) if FAST else range(1790, 2031, 40),
    "feature_names": uses.words,
    "draws": 40 if FAST else 500,
    "warmup": 40 if FAST else 500,
    "chains": 2,
    "n_starts": 2 if FAST else 8,
    "random_state": 0,
}
embedded = DiSCSenseModel(3, model="edisc", embedding=vectors, **options)
plain = DiSCSenseModel(3, **options)
for model in (embedded, plain):
    model.fit(uses.counts, times=uses.times, units=uses.units)
    print(model.sense_info(), end="\n\n")

# %%
# The words of the senses
# -----------------------

SenseWordsDisplay.from_estimator(embedded, 8)

# %%
# The same senses?
# ----------------
# Snippets by their most probable sense, in rows by the model with vectors, in columns by the one
# without. Were the senses the same, each row would have one large number. If they are not and both
# fits have converged, the text has two readings of the word: read snippets of both, and name the
# one you report.

senses = [model.predict(uses.counts, times=uses.times) for model in (embedded, plain)]
table = np.zeros((3, 3), int)
np.add.at(table, tuple(senses), 1)
print(table)

# %%
# Prevalence by both
# ------------------

figure, axes = plt.subplots(2, figsize=(8, 7), layout="constrained", sharex=True)
for model, ax, name in zip((embedded, plain), axes, ("vectors", "no vectors"), strict=True):
    PrevalenceDisplay.from_estimator(model, ax=ax)
    ax.set_title(name)
