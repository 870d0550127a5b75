"""
Words that drift
================

Presidents of the United States have reported on the State of the Union since 1790. Did two words
draw closer in these two centuries, and how sure is that? Here every word has a vector in each
period, and what comes out is the posterior of all of them: a period of few words has wide bands,
and "closer" has a probability (the model is that of Bamler & Mandt 2017, made stationary).
"""

# %%
# The fit
# -------
# Smoothing: a word's trajectory is a Gaussian process given all that was said before and after.
# Intervals are for another sample of such addresses: an address is a unit, and counts once.

import os

from skbayesembed import DynamicSGNS
from skbayesembed.datasets import fetch_state_of_the_union
from skbayesembed.plotting import ChangesDisplay, DriftDisplay, NeighborsDisplay

FAST = bool(os.environ.get("SKBAYESEMBED_EXAMPLE_FAST"))

addresses = fetch_state_of_the_union()
model = DynamicSGNS(
    5 if FAST else 10,
    bins=range(1790, 2031, 40),
    max_features=200 if FAST else 500,
    stop_words="english",
    random_state=0,
)
model.fit(addresses.data, times=addresses.year)
print(f"{model.words_.size} words in {model.periods_.n_periods} periods")

# %%
# Did they draw closer?
# ---------------------
# The interval is that of the *difference*. Much of what is uncertain about a similarity is the same
# in both periods and cancels: two bands may overlap and the change be sure.

first, last = 1800, 2000
for other in ("freedom", "war"):
    print(model.similarity_change("peace", other, first, last), end="\n\n")
DriftDisplay.from_estimator(model, "peace", "freedom", "war")

# %%
# The company that a word kept at either time says what kind of change it was.

for year in (first, last):
    display = NeighborsDisplay.from_estimator(model, "peace", 6, period=year)
    display.ax_.set_title(f"nearest to 'peace', {year}", loc="left", fontsize=8)

# %%
# Which words have changed?
# -------------------------
# All words, ranked by the probability that a word is further from what it was than the prior, which
# moves all vectors, expects of a word of which nothing is known. *false* is the share of the rows
# down to this one that are expected to be no further.

print(model.most_changed(12, start=first, end=last))
ChangesDisplay.from_estimator(model, 12, start=first, end=last)
