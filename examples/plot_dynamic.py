"""
Words that drift
================

Presidents of the United States have reported on the State of the Union since 1790. Did two words
draw closer in these two centuries, and how certain is that? Every word has a vector in each period,
and the fit gives the posterior of all of them. A period with few words has wide bands, and "closer"
has a probability. The model is a stationary version of that of Bamler & Mandt (2017).
"""

# %%
# The fit
# -------
# A word's trajectory is a Gaussian process, smoothed given all texts before and after. Intervals
# allow for the sampling of presidents: addresses of one president are no independent evidence.

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
model.fit(addresses.data, times=addresses.year, units=addresses.president)
print(f"{model.words_.size} words in {model.periods_.n_periods} periods")

# %%
# Did they draw closer?
# ---------------------
# The interval is for the *difference*. Much of the uncertainty about a similarity is the same in
# both periods and cancels, so two bands may overlap although the change is certain.

first, last = 1800, 2000
for other in ("freedom", "war"):
    print(model.similarity_change("peace", other, first, last), end="\n\n")
DriftDisplay.from_estimator(model, "peace", "freedom", "war")

# %%
# A word's neighbors at both times show what kind of change it was.

for year in (first, last):
    NeighborsDisplay.from_estimator(model, "peace", 6, period=year)

# %%
# Which words have changed?
# -------------------------
# The prior moves all vectors. Words are ranked by the probability of having moved further than a
# word would move under the prior alone. *false* is the share of the rows down to this
# one that are expected not to have moved further.

print(model.most_changed(12, start=first, end=last))
ChangesDisplay.from_estimator(model, 12, start=first, end=last)
