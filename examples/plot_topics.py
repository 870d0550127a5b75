"""
Topics as clouds of words
=========================

Which topics does a text mix? In plain latent Dirichlet allocation a topic is a list of word
probabilities, each learned separately. Here a topic is a Gaussian in the space of word vectors
(Das, Zaheer & Dyer 2015). Words with similar vectors are probable together, and a word that the
topics have never seen has a topic as soon as it has a vector. The result is a posterior, so the
share of every topic, and the rank of every word in it, have an interval. The intervals may be
reported only where chains mix, which those of this example do not.

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
from skbayesembed.plotting import EffectsDisplay, TopicWordsDisplay

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
# Topics are learned only from words that occur 20 times or more and are not stop words. The vector
# of one word says so much about its topic that the rest of the document hardly counts; a likelihood
# power below one evens this out. Posteriors of topics have many modes, and at this power chains
# mostly do not mix: read the words and the documents, and the shares as points. The intervals of
# the tables below hold within the mode of this one chain: do not report them. For intervals to
# report take ``word_model="dirichlet"`` and two chains, as :ref:`the guide <topics-decide>` does
# with these texts.

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
# *words* is the effective number of words in a topic, *stability* the mean share of draws in which
# its six most probable words are among the first six, and *coherence* how much they occur in the
# same documents (NPMI, between -1 and 1).
#
# By count, the first words of a topic are those that are common everywhere. By density, they are
# the words nearest to its center:

TopicWordsDisplay.from_estimator(model, 6, by="density")

# %%
# Which topics came and went?
# ---------------------------
# The effect is the change per decade in the share of each topic. A paragraph is a document, but
# addresses were sampled, so they are passed as ``units``. Addresses resemble those of the years
# before, which ``times`` allows for. Intervals are for other addresses, given the topics of this
# one chain, which another chain would divide differently: read the effects as points, too.

decades = ((table[["year"]] - 1980) / 10).rename(columns={"year": "decade"})
effects = model.effects(table["text"], decades, units=table["year"], times=table["year"])
print(effects)
EffectsDisplay.from_result(effects)
