"""
Intervals by documents and by the model
=======================================

Two presidents' addresses differ more than two pairs of words in one address. The model behind word
vectors ignores this, because it counts every pair in every window as an observation. Intervals by
documents allow for it. This example compares both, and then changes the settings, which no interval
covers. The texts are the inaugural addresses of presidents of the United States.
"""

# %%
# Both intervals from one fit
# ---------------------------
# ``uncertainty`` selects the kind of interval. For cosines the two are of about the same width
# here; for one pair the first is wider, for another the second.

import os

import matplotlib.pyplot as plt

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_inaugural
from skbayesembed.plotting import DispersionDisplay, SimilarityDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

addresses = fetch_inaugural()
model = BayesianSGNS(
    10, solver="laplace", max_features=150 if FAST else 300, draws=400, random_state=0
)
model.fit(addresses.data)
table = model.most_similar("freedom", n=6)
print(table)

pairs = [("freedom", word) for word in table.words]
figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharex=True, layout="constrained")
for ax, uncertainty in zip(axes, ("documents", "model"), strict=True):
    model.set_params(uncertainty=uncertainty)
    SimilarityDisplay.from_estimator(model, pairs, ax=ax)

# %%
# ``dispersion_`` is the ratio of the two variances of a word's vector. Above one, the vector varies
# more from address to address than the model assumes, as that of a word that comes in bursts may.
# The ratio does not carry over to cosines: nearly all words are below one here, and yet intervals
# of cosines by documents are about as wide as those by the model.

model.set_params(uncertainty="documents")
DispersionDisplay.from_estimator(model)

# %%
# Settings that no interval covers
# --------------------------------
# The vocabulary and the number of components are chosen, not sampled. A result that changes with
# them is not a finding about the text.

sizes = (5, 10) if FAST else (10, 20)
vocabularies = (150, 250) if FAST else (400, 800)
print("P(freedom is nearer to god than to law)")
for k in sizes:
    for n_words in vocabularies:
        fitted = BayesianSGNS(
            k, solver="map", max_features=n_words, stop_words="english", random_state=0
        ).fit(addresses.data)
        found = fitted.similarity_difference(("freedom", "god"), ("freedom", "law"))
        print(f"  {k:3} components, {n_words:4} words: {found.prob_positive:.2f}")
