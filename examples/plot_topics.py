"""
Topics as clouds of words
=========================

Which topics does a text mix? In plain latent Dirichlet allocation a topic is a list of
probabilities of words, each learned by itself. Here a topic is a Gaussian in the space of word
vectors: words with like vectors are likely together, and a word that the topics have never seen has
a topic as soon as it has a vector (Das, Zaheer & Dyer 2015). What comes out is a posterior, so that
the share of every topic, and the place of every word in it, have an interval.

The texts are the paragraphs of the State of the Union addresses since 1945; the vectors are learned
from all addresses since 1790.
"""

# %%
# Documents and vectors
# ---------------------

import os
import warnings

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import ForestDisplay, TopicWordsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
if FAST:  # chains of 30 draws have not mixed, as fit would say
    warnings.simplefilter("ignore", ConvergenceWarning)

addresses = fetch_state_of_the_union()
table = pd.DataFrame({"text": addresses.data, "year": addresses.year})
table["text"] = table["text"].str.split("\n")
table = table[table["year"] >= 1945].explode("text")[:: 10 if FAST else 1]

vectors = BayesianSGNS(
    5 if FAST else 30, solver="map", max_features=1000 if FAST else 5000, random_state=0
)
vectors.fit(addresses.data)
print(f"{len(table)} paragraphs, {vectors.words_.size} words with vectors")

# %%
# Topics
# ------
# Only words seen 20 times or more, and no stop words, teach the topics. The vector of one word says
# so much of its topic that the rest of the document hardly counts; a likelihood power below one
# evens this out. Posteriors of topics have many modes: intervals are those of the one in which this
# one chain is.

model = GaussianLDA(
    6,
    embedding=vectors,
    likelihood_power=0.2,
    min_count=20,
    stop_words="english",
    warmup=30 if FAST else 1000,
    draws=30 if FAST else 200,
    thin=1 if FAST else 10,
    chains=1,
    random_state=0,
)
model.fit(table["text"])
print(f"largest R-hat of the shares {model.posterior_.attrs['max_rhat']:.2f}")
print(model.topic_info(6))

# %%
# *words* is how many words a topic has in effect, *stability* how sure the first six are to be the
# first six, *coherence* how much they occur in the same documents (NPMI, between -1 and 1).
#
# The first words of a topic by count are those that are common everywhere. By density they are the
# words nearest to its centre:

TopicWordsDisplay.from_estimator(model, 6, by="density")

# %%
# Which topics came and went?
# ---------------------------
# What a decade adds to the share of each topic. A paragraph is a document, an address is what was
# sampled: ``units``.

decades = ((table[["year"]] - 1980) / 10).rename(columns={"year": "decade"})
effects = model.effects(table["text"], decades, units=table["year"])
print(effects)
ForestDisplay.from_result(effects)
