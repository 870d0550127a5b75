"""
Senses without labels, beside those of readers
==============================================

The ancient Greek word *kosmos* means decoration, order, or the world. Zafar & Nicholls (2022) had
experts read 1,144 uses of it. Here the model sees the words around each use, its century and its
genre, but no labels. The same model with the labels is shown for comparison.

The snippets are not part of this package, and no loader downloads them. ``load_snippets`` reads
them from the folder named by the environment variable ``SKBAYESEMBED_DATA``, and says where they
come from.
"""

# %%
# A fit without labels
# --------------------
# The data span nine centuries. The second has no snippets; it is still a period, whose prevalences
# are inferred from its neighbors.

import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import DiSCSenseModel
from skbayesembed.datasets import load_snippets
from skbayesembed.metrics import brier_score, interval_overlap, match_senses
from skbayesembed.plotting import PrevalenceDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
if FAST:  # chains of 40 draws have not mixed, as fit would say
    warnings.simplefilter("ignore", ConvergenceWarning)

kosmos = load_snippets("kosmos_collocates")
genres = [kosmos.genre_names[genre] for genre in kosmos.genres]
model = DiSCSenseModel(
    3,
    draws=40 if FAST else 300,
    warmup=40 if FAST else 120,
    chains=2,
    n_starts=2 if FAST else 8,
    min_count=1,
    n_jobs=2,
    random_state=0,
)
model.fit(kosmos.data, times=kosmos.times, genres=genres)

# %%
# How well are single uses classified?
# ------------------------------------
# Guessing has a Brier score of 2/3. The model's senses have no names, so they are matched to the
# labels by the uses they share.

proba = model.predict_proba(kosmos.data, times=kosmos.times, genres=genres)
order = match_senses(proba, kosmos.senses)
print(f"Brier score {brier_score(proba[:, order], kosmos.senses):.2f}")
for name, words in zip(kosmos.sense_names, model.sense_words(8).words[order], strict=True):
    print(f"{name:10}", *words)

# %%
# How common were they, and when?
# -------------------------------
# Above: without labels. Below: with labels. Bands that are wide overlap whatever they are of; how
# often the bands without labels contain the mean learned from the labels is the harder question.
# It falls far short of 90 %: the model's senses are not quite those of the readers (:ref:`the guide
# <senses-bands>`).

labeled = clone(model).set_params(n_starts=1)
labeled.fit(kosmos.data, order[kosmos.senses], times=kosmos.times, genres=genres)

names = [kosmos.sense_names[label] for label in np.argsort(order)]
figure, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained", sharex=True)
labels = ("without labels", "with labels")
for fitted, row, label in zip((model, labeled), axes, labels, strict=True):
    PrevalenceDisplay.from_estimator(fitted, names=names, ax=row)
    row[0].set_ylabel(f"{label}\n{row[0].get_ylabel()}")
axes[0, 1].set_xlabel("")
for axis in axes[1]:
    axis.set_xticks(list(kosmos.period_names), kosmos.period_names.values(), rotation=45)
    axis.set_xlabel("century")

with_labels = labeled.prevalence_interval(prob=0.9)
low, high = np.moveaxis(model.prevalence_interval(prob=0.9), -1, 0)
inside = np.mean((low <= labeled.prevalence_) & (labeled.prevalence_ <= high))
overlap = interval_overlap(np.stack([low, high], axis=-1), with_labels)
print(f"90 % bands overlap in {overlap:.0%} of the cells")
print(f"those without labels contain the mean learned from the labels in {inside:.0%}")
