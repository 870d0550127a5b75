"""
Topics with a background, shaped by word vectors
================================================

A topic is a distribution over words here, as in plain latent Dirichlet allocation, and word vectors
shape its prior: where a word was seen often its counts decide, where it was seen rarely its vector
says in which topics it belongs. A topic of its own takes the words that all documents share, so
that they do not head the others.

The texts are the paragraphs of the State of the Union addresses since 1945; the vectors are learned
from all addresses since 1790.
"""

# %%
# Documents and vectors
# ---------------------

import os
import re
import warnings

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import TopicWordsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

addresses = fetch_state_of_the_union()
vectors = BayesianSGNS(
    5 if FAST else 30, solver="map", max_features=1000 if FAST else 5000, random_state=0
)
vectors.fit([re.findall(r"[a-z]{2,}", text.lower()) for text in addresses.data])

# %%
# Stop words are left out, and five words that the topics shall not see: they have vectors alone.

HIDDEN = ["inflation", "teachers", "soviet", "oil", "taxes"]
left_out = ENGLISH_STOP_WORDS.union(HIDDEN)
table = pd.DataFrame({"text": addresses.data, "year": addresses.year})
table["text"] = table["text"].str.split("\n")
table = table[table["year"] >= 1945].explode("text")[:: 10 if FAST else 1]
documents = [
    [word for word in re.findall(r"[a-z]{2,}", text.lower()) if word not in left_out]
    for text in table["text"]
]
print(f"{len(documents)} paragraphs, {vectors.words_.size} words with vectors")

# %%
# Topics
# ------
# Shares of topics hardly mix in a corpus of this size, as ``fit`` would say. What follows are
# words, with intervals of the mode that this one chain is in, and shares as points.

warnings.simplefilter("ignore", ConvergenceWarning)
model = GaussianLDA(
    8,
    embedding=vectors,
    word_model="dirichlet",
    warmup=20 if FAST else 400,
    draws=20 if FAST else 200,
    chains=1,
    random_state=0,
)
model.fit(documents)
print(model.topic_info(6))

# %%
# Topic 0 is the background. *words* is how many words a topic has in effect.

TopicWordsDisplay.from_estimator(model, 6)

# %%
# Words that no training text had
# -------------------------------
# Their vectors say in which topics they belong. Shares of a document of such a word alone, repeated
# ten times, and the first words of the topic with the largest:

first = [" ".join(words) for words in model.top_words(4).words]
shares = model.transform([[word] * 10 for word in HIDDEN])
best = shares.argmax(axis=1)
print(
    pd.DataFrame(
        {"share": shares.max(axis=1).round(2), "topic": [first[k] for k in best]}, index=HIDDEN
    )
)

# %%
# Which topics came and went?
# ---------------------------
# Mean shares of the paragraphs of each decade, the background left out. :doc:`plot_topics` has
# effects of a decade with intervals, which know how addresses were sampled.

decade = table["year"].to_numpy() // 10 * 10
mean = pd.DataFrame(model.transform(documents)).groupby(decade).mean().drop(columns=0)
order = mean.idxmax().sort_values(kind="stable").index
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
image = axes.imshow(mean[order].T, cmap="Blues", aspect="auto", vmin=0)
axes.set_yticks(range(len(order)), [first[k] for k in order])
axes.set_xticks(range(len(mean)), [f"{start}s" for start in mean.index], rotation=45)
figure.colorbar(image, label="mean share of the topic")
plt.show()
