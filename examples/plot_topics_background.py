"""
Topics with a background, shaped by word vectors
================================================

Here a topic is a distribution over words, as in plain latent Dirichlet allocation, but word vectors
shape its prior. For a frequent word the counts decide; for a rare word its vector indicates the
topics it belongs to. A separate background topic takes the words that all documents share, so that
they do not head the other topics.

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
# Stop words are left out, as are five words that the topics are not to see: these only have
# vectors.

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
# Shares of topics mix slowly in a corpus of this size, and this one chain is too short to report
# their intervals: a line below the table has the topics with few effective draws. The intervals are
# for the mode that the chain is in. Read words and documents, and the shares as points.
# :ref:`topics-decide` has the chains that intervals need. (Warnings of ``fit`` that say the same
# are silenced.)

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
# Topic 0 is the background. *words* is the effective number of words in a topic.

TopicWordsDisplay.from_estimator(model, 6)

# %%
# Words in no training text
# -------------------------
# Their vectors indicate the topics they belong to. For a document with only such a word, repeated
# ten times, here are the largest share and the first words of its topic. A vector is only a hint:
# *oil* goes to the topic of the budget, although another topic is about energy.

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
# Mean shares over the paragraphs of each decade, without the background. :doc:`plot_topics` has
# effects per decade with intervals that allow for the sampling of addresses. Most decades have 10
# to 13 addresses here, but the 1940s have six, those since 1945, and the 2020s have one. The
# darkest cell rests on that single address and shows no trend.

decade = table["year"].to_numpy() // 10 * 10
mean = pd.DataFrame(model.transform(documents)).groupby(decade).mean().drop(columns=0)
order = mean.idxmax().sort_values(kind="stable").index
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
image = axes.imshow(mean[order].T, cmap="Blues", aspect="auto", vmin=0)
axes.set_yticks(range(len(order)), [first[k] for k in order])
axes.set_xticks(range(len(mean)), [f"{start}s" for start in mean.index], rotation=45)
figure.colorbar(image, label="mean share of the topic")
plt.show()
