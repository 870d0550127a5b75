"""
Topics as clouds of words
=========================

Which topics does a text mix? In plain latent Dirichlet allocation a topic is a list of
probabilities of words, each learned by itself. Here a topic is a Gaussian in the space of word
vectors: words with like vectors are likely together, and a word that the topics have never seen has
a topic as soon as it has a vector (Das, Zaheer & Dyer 2015). What comes out is a posterior, so that
the share of every topic, and the place of every word in it, have an interval.

The text is the Python language reference, which every CPython carries; the vectors are learned from
it, too.
"""

# %%
# Documents and vectors
# ---------------------
# The help texts are long, and each is about many things: they are cut into pieces of a hundred
# words, which are the documents. The vectors are those of `BayesianSGNS`, at its mode for speed.

import os
import re
import sys
import time
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skbayesembed import BayesianSGNS, GaussianLDA
from skbayesembed.datasets import load_python_reference

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))
PIECE = 100

reference = load_python_reference()
texts = [re.findall(r"[a-z_]{2,}", text.lower()) for text in reference.data]
texts = texts[:15] if FAST else texts
documents = [" ".join(words[i : i + PIECE]) for words in texts for i in range(0, len(words), PIECE)]

start = time.perf_counter()
vectors = BayesianSGNS(
    5 if FAST else 15, solver="map", prior_precision=5, min_count=5, random_state=0
).fit(texts)
seconds = time.perf_counter() - start
print(f"{len(vectors.vocabulary_)} words with vectors, learned in {seconds:.0f} s")

# %%
# Topics
# ------
# Only words seen 15 times or more, and no stop words, teach the topics. The vector of one word says
# so much of its topic that the rest of the document hardly counts; a likelihood power below one
# evens this out. Topics of tokens change slowly, so only every fifth sweep is kept.

length: dict[str, Any] = (
    {"warmup": 50, "draws": 50} if FAST else {"warmup": 2000, "draws": 500, "thin": 5}
)
model = GaussianLDA(
    4 if FAST else 6,
    embedding=vectors,
    likelihood_power=0.1,
    min_count=15,
    stop_words="english",
    chains=2,
    n_jobs=2,
    random_state=0,
    **length,
)
start = time.perf_counter()
with warnings.catch_warnings():
    if FAST:  # chains of 50 draws have not mixed, as fit would say
        warnings.simplefilter("ignore", ConvergenceWarning)
    model.fit(documents)
seconds = time.perf_counter() - start
print(f"{len(documents)} documents, {len(model.words_)} words, fitted in {seconds:.0f} s")
print(f"largest R-hat of the shares {model.posterior_.attrs['max_rhat']:.2f}\n")
print(model.topic_info(6))

# %%
# *words* is how many words a topic has in effect, *stability* how sure the first six are to be the
# first six, *coherence* how much they occur in the same documents (NPMI, between -1 and 1).
#
# Words that the topics have never seen
# -------------------------------------
# The vectors are of words seen 5 times, too. Such a word is in no topic's list; its vector places
# it all the same. Here are the eight whose topic is surest, each taken as a document of its own in
# which it stands twenty times.

known = set(ENGLISH_STOP_WORDS) | set(model.vocabulary_)
unseen = [word for word in vectors.vocabulary_ if word not in known]
theta = model.transform([" ".join([word] * 20) for word in unseen])
first = model.top_words(3).words
print("\nnot seen in training  topic  share of it")
for i in np.argsort(-theta.max(axis=1))[:8]:
    k = int(np.argmax(theta[i]))
    print(f"{unseen[i]:20}  {k:5d}  {theta[i, k]:11.2f}  ({', '.join(first[k])}, ...)")

# %%
# The picture
# -----------
# A panel for each topic, the most common first: its first words with their probabilities, and 90 %
# intervals. The darker a point, the surer the word is to be among the first eight.

table, shares = model.top_words(8), model.topic_info()
rows = len(table) // 2
figure, axes = plt.subplots(rows, 2, figsize=(8, 2.2 * rows), layout="constrained")
place = np.arange(table.words.shape[1])[::-1]
for k, axis in enumerate(axes.ravel()):
    axis.hlines(place, *table.interval[k].T, color="0.6")
    axis.scatter(
        table.mean[k], place, c=table.prob_top[k], cmap="Blues", vmin=0, vmax=1, edgecolor="0.3",
        zorder=2,
    )  # fmt: skip
    axis.set(yticks=place, yticklabels=table.words[k], xlim=(0, None))
    low, high = shares.interval[k]
    axis.set_title(f"topic {k}: {shares.share[k]:.0%} of the text [{low:.0%}, {high:.0%}]")
for axis in axes[-1]:
    axis.set_xlabel("probability of the word, 90 % interval")

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=150)
    print(f"\nfigure written to {sys.argv[1]}")
