"""
Asking questions of a text
==========================

Is *freedom* nearer to *god* or to *law*? Do words for women go with the family, and words for men
with a career? Each question involves several vectors at once, whose shared errors cancel or add up
in the answer. The first question is about the inaugural addresses of presidents of the United
States. The second is about the Brown corpus, a million words from 1961, with published word lists.
"""

# %%
# Which is nearer?
# ----------------
# ``nearer`` compares words, or lists of words, by their similarity to one word. It gives how near
# each is, how much nearer the first is than the others, and each one's probability of being the
# nearest. 59 documents do not settle whether *god* or *law* is nearer to *freedom*, and the answer
# says so.

import os

from skbayesembed import BayesianSGNS
from skbayesembed.datasets import fetch_brown, fetch_inaugural
from skbayesembed.plotting import NearerDisplay, ProjectionsDisplay, WEATDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

addresses = fetch_inaugural()
model = BayesianSGNS(
    5 if FAST else 20, solver="map", max_features=400 if FAST else 800, stop_words="english",
    random_state=0,
)  # fmt: skip
model.fit(addresses.data)
others = ["god", "law", ["nation", "people"]]
print(model.nearer("freedom", others))
NearerDisplay.from_estimator(model, "freedom", others)

# %%
# Any two answers of a fit can be compared. Here two cosines within a tenth of each other count as
# practically equal:

god, law = model.similarity("freedom", "god"), model.similarity("freedom", "law")
found = model.contrast(god, law, low=-0.1, high=0.1)
print(found)
print(f"P(nearer) {found.prob_positive:.2f}, P(as good as equal) {found.prob_inside:.2f}")

# %%
# A word on an axis
# -----------------
# An axis goes from one word or list of words to another.

axis = model.axis(high=["peace", "justice"], low=["war", "force"])
ProjectionsDisplay.from_estimator(model, ["law", "god", "nation", "commerce", "union"], axis)

# %%
# An association test
# -------------------
# Attributes and targets are from Caliskan et al. (2017); the targets are the terms for men and
# women of their test of science and arts. The interval is about these words: how well the text
# determines the effect. The p-value is about the choice of words: how easily target words split
# into two lists at random would give a difference as large.

brown = fetch_brown()
texts = [[token.lower() for token in text if token.isalpha()] for text in brown.data]
reader = BayesianSGNS(
    5 if FAST else 20, solver="map", max_features=1000 if FAST else 4000, random_state=0
)
reader.fit(texts)

lists = {
    "male": "male man boy brother he him his son",
    "female": "female woman girl sister she her hers daughter",
    "career": "executive management professional corporation salary office business career",
    "family": "home parents children family cousins marriage wedding relatives",
}
known = [[w for w in words.split() if w in reader.vocabulary_] for words in lists.values()]
unknown = [w for words in lists.values() for w in words.split() if w not in reader.vocabulary_]
print("not among the words:", ", ".join(unknown))

found = reader.weat(*known)
low, high = found.interval
print(f"effect size {found.mean:.2f}, 90 % interval [{low:.2f}, {high:.2f}]")
print(f"p-value over words {found.p_value:.4f}, of {found.n_splits} splits")
WEATDisplay.from_estimator(reader, *known)
